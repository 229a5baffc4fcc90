//! Queues: which is the first, and more of them than the driver has.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::mem::transmute;
use std::sync::{Mutex, MutexGuard};

use ash::vk::{self, Handle as _};

use super::objects::GivenQueue;
use super::state::{Device, device, lock, state};
use crate::statement::Kind;

/// How many queues each family is to announce.
pub(super) fn announced() -> Option<u32> {
    state().armed.iter().rev().find_map(|armed| match armed.statement.kind {
        Kind::Queues(count) => Some(count),
        _ => None,
    })
}

/// The queues to ask the driver for: one of each family where more are announced.
///
/// # Safety
/// `info` is valid.
pub(super) unsafe fn existing<'a>(
    info: &vk::DeviceCreateInfo<'a>,
) -> Vec<vk::DeviceQueueCreateInfo<'a>> {
    // SAFETY: it points to that many.
    let expected = unsafe {
        std::slice::from_raw_parts(info.p_queue_create_infos, info.queue_create_info_count as usize)
    };
    let mut queues = expected.to_vec();
    if announced().is_some() {
        for queue in &mut queues {
            queue.queue_count = 1;
        }
    }
    queues
}

/// The right to submit: queues that are one cannot be used at the same time.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    lock(&TURN)
}

/// The driver's queue that a queue is, and whether another was given out before.
pub(super) fn own(device: &Device, queue: vk::Queue) -> (vk::Queue, bool) {
    let given = lock(&device.queues);
    let place = given.iter().position(|one| one.queue == queue);
    (place.map_or(queue, |place| given[place].own), place.is_some_and(|place| place > 0))
}

/// The layer's function of this name.
pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
    // SAFETY: function pointers all have one size, and whoever asks by name knows the type.
    let own = unsafe {
        transmute::<vk::PFN_vkGetDeviceQueue, unsafe extern "system" fn()>(vkGetDeviceQueue)
    };
    (name == "vkGetDeviceQueue").then_some(own)
}

unsafe extern "system" fn vkGetDeviceQueue(
    handle: vk::Device,
    family: u32,
    number: u32,
    out: *mut vk::Queue,
) {
    const NAME: &str = "vkGetDeviceQueue";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    let _ = device.before(NAME, &[]);
    let announced = announced().is_some() && number > 0;
    // SAFETY: the function has the type of its name, and gets what this one got, or a queue that
    // there is; the result is written.
    let own = unsafe {
        let next: vk::PFN_vkGetDeviceQueue = transmute(device.next(NAME));
        next(handle, family, if announced { 0 } else { number }, out);
        *out
    };
    let queue = if announced {
        // A dispatchable object is a pointer to the loader's table, which the loader writes there.
        let object: &'static mut [usize; 2] = Box::leak(Box::new([0; 2]));
        vk::Queue::from_raw(object.as_mut_ptr() as u64)
    } else {
        own
    };
    let mut given = lock(&device.queues);
    if given.iter().all(|one| one.queue != queue) {
        given.push(GivenQueue { queue, own });
    }
    // SAFETY: the caller has room for it.
    unsafe { *out = queue };
}
