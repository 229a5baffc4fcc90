//! Which memory a dispatch may write, and how some more of it gets written.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::ffi::c_void;
use std::mem::transmute;

use ash::vk;

use super::objects::BufferRange;
use super::state::{Device, device, lock};
use crate::statement::Damage;

/// Whether this is a binding of results in fpprobe's modules.
pub(super) fn is_result(binding: u32) -> bool {
    matches!(binding, 4..=7 | 9)
}

/// What is written.
const FILLER: u32 = 0xdead_beef;

/// The layer's function of this name.
pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
    Some(match name {
        // SAFETY: function pointers all have one size, and whoever asks by name knows the type.
        "vkCreateBuffer" => unsafe {
            transmute::<vk::PFN_vkCreateBuffer, unsafe extern "system" fn()>(vkCreateBuffer)
        },
        // SAFETY: as above.
        "vkDestroyBuffer" => unsafe {
            transmute::<vk::PFN_vkDestroyBuffer, unsafe extern "system" fn()>(vkDestroyBuffer)
        },
        // SAFETY: as above.
        "vkBindBufferMemory" => unsafe {
            transmute::<vk::PFN_vkBindBufferMemory, unsafe extern "system" fn()>(vkBindBufferMemory)
        },
        // SAFETY: as above.
        "vkMapMemory" => unsafe {
            transmute::<vk::PFN_vkMapMemory, unsafe extern "system" fn()>(vkMapMemory)
        },
        // SAFETY: as above.
        "vkUpdateDescriptorSets" => unsafe {
            transmute::<vk::PFN_vkUpdateDescriptorSets, unsafe extern "system" fn()>(
                vkUpdateDescriptorSets,
            )
        },
        _ => return None,
    })
}

unsafe extern "system" fn vkCreateBuffer(
    handle: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    created: *mut vk::Buffer,
) -> vk::Result {
    const NAME: &str = "vkCreateBuffer";
    // SAFETY: handle and structure are the caller's.
    let (device, mut info) = unsafe { (device(handle), *info) };
    if let Some(code) = device.before(NAME, &[]) {
        return code;
    }
    // For `overrun` and `scribble`, which fill parts of it.
    info.usage |= vk::BufferUsageFlags::TRANSFER_DST;
    // SAFETY: the function has the type of its name.
    let code = unsafe {
        let next: vk::PFN_vkCreateBuffer = transmute(device.next(NAME));
        next(handle, &raw const info, callbacks, created)
    };
    if code == vk::Result::SUCCESS {
        // SAFETY: it was just written.
        let created = unsafe { *created };
        lock(&device.buffers).insert(created, info.size);
    }
    code
}

unsafe extern "system" fn vkDestroyBuffer(
    handle: vk::Device,
    buffer: vk::Buffer,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    const NAME: &str = "vkDestroyBuffer";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    let _ = device.before(NAME, &[]);
    lock(&device.buffers).remove(&buffer);
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkDestroyBuffer = transmute(device.next(NAME));
        next(handle, buffer, callbacks);
    }
}

unsafe extern "system" fn vkBindBufferMemory(
    handle: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    const NAME: &str = "vkBindBufferMemory";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    device.before(NAME, &[]).unwrap_or_else(|| {
        lock(&device.places).insert(buffer, (memory, offset));
        // SAFETY: the function has the type of its name, and gets what this one got.
        unsafe {
            let next: vk::PFN_vkBindBufferMemory = transmute(device.next(NAME));
            next(handle, buffer, memory, offset)
        }
    })
}

unsafe extern "system" fn vkMapMemory(
    handle: vk::Device,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    flags: vk::MemoryMapFlags,
    out: *mut *mut c_void,
) -> vk::Result {
    const NAME: &str = "vkMapMemory";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    device.before(NAME, &[]).unwrap_or_else(|| {
        // SAFETY: the function has the type of its name, and gets what this one got; the pointer
        // was written where it succeeds.
        unsafe {
            let next: vk::PFN_vkMapMemory = transmute(device.next(NAME));
            let code = next(handle, memory, offset, size, flags, out);
            if code == vk::Result::SUCCESS {
                lock(&device.mapped).insert(memory, *out as usize - offset as usize);
            }
            code
        }
    })
}

unsafe extern "system" fn vkUpdateDescriptorSets(
    handle: vk::Device,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    const NAME: &str = "vkUpdateDescriptorSets";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    let _ = device.before(NAME, &[]);
    for index in 0..count as usize {
        // SAFETY: that many writes are there.
        let write = unsafe { &*writes.add(index) };
        if write.descriptor_type == vk::DescriptorType::STORAGE_BUFFER && write.descriptor_count > 0
        {
            // SAFETY: descriptors of that type have this array; fpprobe's arrays have one element.
            let info = unsafe { *write.p_buffer_info };
            let bound = BufferRange { buffer: info.buffer, offset: info.offset, range: info.range };
            lock(&device.sets).entry(write.dst_set).or_default().insert(write.dst_binding, bound);
        }
    }
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkUpdateDescriptorSets = transmute(device.next(NAME));
        next(handle, count, writes, copy_count, copies);
    }
}

/// Records that memory is overwritten after what was recorded before.
///
/// # Safety
/// The command buffer is this device's and recording, and the set is alive.
pub(super) unsafe fn overwrite(
    device: &Device,
    commands: vk::CommandBuffer,
    set: vk::DescriptorSet,
    damage: Damage,
) {
    let bindings = lock(&device.sets).get(&set).cloned().unwrap_or_default();
    let sizes = lock(&device.buffers);
    let size = |bound: &BufferRange| sizes.get(&bound.buffer).copied().unwrap_or(0);
    let expected: Vec<(BufferRange, u64, u64)> = match damage {
        Damage::Overrun(bytes) => {
            let results = bindings.iter().filter(|(binding, _)| is_result(**binding));
            results.map(|(_, bound)| (*bound, bound.offset + bound.range, bytes)).collect()
        }
        Damage::Scribble { binding, offset, bytes } => bindings
            .get(&binding)
            .map(|bound| (*bound, bound.offset + offset, bytes))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    };
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE);
    // SAFETY: both functions have the types of their names; the command buffer is recording,
    // outside a render pass; each range is within its buffer, which can be filled
    // (`vkCreateBuffer`), and a multiple of four.
    unsafe {
        let fence: vk::PFN_vkCmdPipelineBarrier = transmute(device.next("vkCmdPipelineBarrier"));
        let fill: vk::PFN_vkCmdFillBuffer = transmute(device.next("vkCmdFillBuffer"));
        let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::TRANSFER);
        let (none, flags) = (std::ptr::null(), vk::DependencyFlags::empty());
        fence(commands, from, to, flags, 1, &raw const barrier, 0, none, 0, std::ptr::null());
        for (bound, offset, bytes) in expected {
            let start = offset.next_multiple_of(4);
            let end = (start + bytes.next_multiple_of(4)).min(size(&bound) & !3);
            if start < end {
                fill(commands, bound.buffer, start, end - start, FILLER);
            }
        }
    }
}
