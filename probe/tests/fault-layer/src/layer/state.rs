//! What the layer knows: the statements, and the instances and devices of this process.

use std::collections::HashMap;
use std::ffi::CString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ash::vk::{self, Handle};

use super::objects::{BufferRange, GivenQueue, LastResults, Launch, Recording};
use super::process::{self, fail};
use crate::action::{Action, DEVICE_LOST};
use crate::call::CALLS;
use crate::statement::{Kind, parse};
use crate::trigger::{Armed, Module};

/// Everything that outlives a call.
pub(super) struct State {
    /// The statements that apply to this process's driver.
    pub(super) armed: Vec<Armed>,
    instances: Mutex<HashMap<usize, Arc<Instance>>>,
    devices: Mutex<HashMap<usize, Arc<Device>>>,
    turns: Mutex<HashMap<Vec<String>, u64>>,
    modules: AtomicU64,
}

/// An instance.
pub(super) struct Instance {
    pub(super) handle: vk::Instance,
    /// The next layer's or the driver's.
    pub(super) get: vk::PFN_vkGetInstanceProcAddr,
    /// The next functions, looked up while the instance is made: afterwards the loader's own
    /// lookup, which is the last in the chain, finds the first.
    next: HashMap<String, unsafe extern "system" fn()>,
}

/// A device, and what is known of its objects.
pub(super) struct Device {
    pub(super) handle: vk::Device,
    /// The next layer's or the driver's.
    pub(super) get: vk::PFN_vkGetDeviceProcAddr,
    pub(super) modules: Mutex<HashMap<vk::ShaderModule, Arc<Module>>>,
    pub(super) pipelines: Mutex<HashMap<vk::Pipeline, Arc<Module>>>,
    pub(super) recordings: Mutex<HashMap<vk::CommandBuffer, Recording>>,
    /// What was submitted with a fence, and is not over.
    pub(super) fences: Mutex<HashMap<vk::Fence, Vec<Launch>>>,
    /// How often pipelines were submitted.
    pub(super) submitted: Mutex<HashMap<vk::Pipeline, u64>>,
    /// What pipelines left.
    pub(super) left: Mutex<LastResults>,
    /// Queues that were given out.
    pub(super) queues: Mutex<Vec<GivenQueue>>,
    /// Where buffers lie.
    pub(super) places: Mutex<HashMap<vk::Buffer, (vk::DeviceMemory, u64)>>,
    /// Addresses of memory.
    pub(super) mapped: Mutex<HashMap<vk::DeviceMemory, usize>>,
    /// Sizes.
    pub(super) buffers: Mutex<HashMap<vk::Buffer, u64>>,
    pub(super) sets: Mutex<HashMap<vk::DescriptorSet, HashMap<u32, BufferRange>>>,
    lost: AtomicBool,
}

/// What a mutex guards, whoever panicked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state, made from the environment at its first use.
pub(super) fn state() -> &'static State {
    static STATE: OnceLock<State> = OnceLock::new();
    STATE.get_or_init(|| State::read().unwrap_or_else(|error| fail(&error)))
}

impl State {
    fn read() -> Result<State, String> {
        let variable = |name: &str| std::env::var(name).ok();
        let text = variable("FPPROBE_FAULTS")
            .ok_or("FPPROBE_FAULTS is not set; leave it empty to ask for no fault")?;
        let text = match text.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| format!("FPPROBE_FAULTS: {path}: {error}"))?,
            None => text,
        };
        let folder = variable("FPPROBE_FAULTS_STATE");
        let driver = variable("VK_DRIVER_FILES")
            .or_else(|| variable("VK_ICD_FILENAMES"))
            .unwrap_or_default();
        let statements = parse(&text).map_err(|error| format!("FPPROBE_FAULTS: {error}"))?;
        let armed = statements.into_iter().enumerate().map(|(number, statement)| {
            Armed::new(statement, number, folder.as_deref().map(Path::new))
        });
        let armed: Vec<Armed> = armed.collect::<Result<_, _>>()?;
        Ok(State {
            armed: armed.into_iter().filter(|armed| driver.contains(&armed.statement.on)).collect(),
            instances: Mutex::default(),
            devices: Mutex::default(),
            turns: Mutex::default(),
            modules: AtomicU64::new(0),
        })
    }

    /// A module of these kernels, and its running number in this process.
    pub(super) fn module(&self, kernels: Vec<String>) -> (Module, u64) {
        let mut set = kernels.clone();
        // fpprobe's second run has the same kernels in reverse order.
        set.sort_unstable();
        let mut turns = lock(&self.turns);
        let turn = turns.entry(set).or_default();
        *turn += 1;
        (Module { kernels, turn: *turn }, self.modules.fetch_add(1, Ordering::Relaxed))
    }
}

/// Whether a statement strikes.
pub(super) fn strikes(armed: &Armed, modules: &[&Module]) -> bool {
    armed.strikes(modules).unwrap_or_else(|error| fail(&format!("FPPROBE_FAULTS_STATE: {error}")))
}

/// What happens first in a call. A result is what the call returns, without asking the driver.
pub(super) fn before(name: &str, modules: &[&Module]) -> Option<vk::Result> {
    let mut answer = None;
    for armed in &state().armed {
        if let Kind::Act(action, call) = &armed.statement.kind
            && call.name == name
            && answer.is_none()
            && strikes(armed, modules)
        {
            if let Action::Return(code) = action {
                answer = Some(vk::Result::from_raw(*code));
            } else {
                process::act(action);
            }
        }
    }
    answer
}

/// What tells objects of different instances and devices apart: the loader's dispatch table, to
/// which every dispatchable object's first word points.
///
/// # Safety
/// The handle is that of a living dispatchable object.
unsafe fn key(handle: impl Handle) -> usize {
    // SAFETY: the caller's promise; see above.
    unsafe { *(handle.as_raw() as *const usize) }
}

/// Keeps an instance.
///
/// # Safety
/// It is alive.
pub(super) unsafe fn keep_instance(instance: Instance) {
    // SAFETY: the caller's promise.
    let key = unsafe { key(instance.handle) };
    lock(&state().instances).insert(key, Arc::new(instance));
}

/// The instance of an instance or physical device.
///
/// # Safety
/// It is alive.
pub(super) unsafe fn instance(handle: impl Handle) -> Arc<Instance> {
    // SAFETY: the caller's promise.
    let key = unsafe { key(handle) };
    lock(&state().instances).get(&key).cloned().unwrap_or_else(|| fail("an instance is not known"))
}

/// Keeps a device.
///
/// # Safety
/// It is alive.
pub(super) unsafe fn keep_device(device: Device) {
    // SAFETY: the caller's promise.
    let key = unsafe { key(device.handle) };
    lock(&state().devices).insert(key, Arc::new(device));
}

/// The device of a device, queue or command buffer.
///
/// # Safety
/// It is alive.
pub(super) unsafe fn device(handle: impl Handle) -> Arc<Device> {
    // SAFETY: the caller's promise.
    let key = unsafe { key(handle) };
    lock(&state().devices).get(&key).cloned().unwrap_or_else(|| fail("a device is not known"))
}

impl Instance {
    /// An instance that is just being made.
    ///
    /// # Safety
    /// `get` is the next in the chain's for this instance.
    pub(super) unsafe fn new(handle: vk::Instance, get: vk::PFN_vkGetInstanceProcAddr) -> Instance {
        let next = CALLS.iter().filter_map(|call| {
            let expected = CString::new(call.name).unwrap_or_default();
            // SAFETY: the caller's promise; the name ends in NUL.
            let found = unsafe { get(handle, expected.as_ptr()) }?;
            Some((call.name.to_owned(), found))
        });
        Instance { handle, get, next: next.collect() }
    }

    /// The next function of this name, one of [`CALLS`].
    pub(super) fn next(&self, name: &str) -> unsafe extern "system" fn() {
        self.next.get(name).copied().unwrap_or_else(|| fail(&format!("the driver has no {name}")))
    }
}

impl Device {
    /// A device of which nothing is known yet.
    pub(super) fn new(handle: vk::Device, get: vk::PFN_vkGetDeviceProcAddr) -> Device {
        Device {
            handle,
            get,
            modules: Mutex::default(),
            pipelines: Mutex::default(),
            recordings: Mutex::default(),
            fences: Mutex::default(),
            submitted: Mutex::default(),
            left: Mutex::default(),
            queues: Mutex::default(),
            places: Mutex::default(),
            mapped: Mutex::default(),
            buffers: Mutex::default(),
            sets: Mutex::default(),
            lost: AtomicBool::new(false),
        }
    }

    /// The next function of this name.
    pub(super) fn next(&self, name: &str) -> unsafe extern "system" fn() {
        let expected = CString::new(name).unwrap_or_default();
        // SAFETY: the next in the chain gave this function for this device; the name ends in NUL.
        let found = unsafe { (self.get)(self.handle, expected.as_ptr()) };
        found.unwrap_or_else(|| fail(&format!("the driver has no {name}")))
    }

    /// As [`before`]. A device that is lost stays lost ("Lost Device").
    pub(super) fn before(&self, name: &str, modules: &[&Module]) -> Option<vk::Result> {
        let answer = before(name, modules);
        if answer == Some(vk::Result::from_raw(DEVICE_LOST)) {
            self.lost.store(true, Ordering::Relaxed);
            self.idle();
        }
        let is_reported = matches!(name, "vkQueueSubmit" | "vkWaitForFences");
        answer.or_else(|| (is_reported && self.is_lost()).then_some(vk::Result::ERROR_DEVICE_LOST))
    }

    /// Waits for what was submitted. On a lost device it counts as complete ("Lost Device"), so
    /// that its objects may be destroyed; the driver, which knows nothing of the loss, must be
    /// done with them.
    fn idle(&self) {
        // SAFETY: the function has the type of its name. fpprobe uses its queues from one thread at
        // a time, which is here; under stress no test loses a device.
        let _ = unsafe {
            let next: vk::PFN_vkDeviceWaitIdle = std::mem::transmute(self.next("vkDeviceWaitIdle"));
            next(self.handle)
        };
    }

    /// Whether a statement has lost it.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}
