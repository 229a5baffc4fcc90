//! Buffers that the host reads and writes directly, and the memory of buffers and images.
//!
//! There is no staging: for a storage buffer every device has a memory type that is host-visible
//! and host-coherent ("Resource Memory Association", on `memoryTypeBits`). A module's data are a
//! few hundred kilobytes and pass once in each direction, so nothing is gained by copying them into
//! device memory first. Host-cached memory is preferred, as every byte is read back.

use std::ptr;
use std::sync::Arc;

use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationSizes, MemoryLocation};

use super::error::{CallName, VulkanError};
use super::handles::{Logical, OwnedHandle};

/// Size of a block of device memory, in bytes; a request that does not fit gets a block of its own.
const BLOCK: u64 = 4 << 20;
/// Buffers grow in steps of this many bytes, so that the next module finds room in the same one.
const STEP: u64 = 64 << 10;

/// Bytes behind what was requested, which nothing may touch.
const GUARD: usize = 256;
/// What they hold.
const UNTOUCHED: u8 = 0xa5;

/// Sets up a device's memory. gpu-allocator trusts the driver's counts, so they are looked at
/// first.
pub(super) fn allocator(
    logical: &Logical,
    physical: vk::PhysicalDevice,
) -> Result<Allocator, VulkanError> {
    let mut memory = vk::PhysicalDeviceMemoryProperties::default();
    let function = logical.instance().raw().fp_v1_0().get_physical_device_memory_properties;
    // SAFETY: the device was made from this physical device of this instance; the result outlives
    // the call.
    unsafe { function(physical, &raw mut memory) };
    let types = memory.memory_types.get(..memory.memory_type_count as usize);
    let sound = |types: &[vk::MemoryType]| {
        types.iter().all(|one| one.heap_index < memory.memory_heap_count)
    };
    if !types.is_some_and(sound) || memory.memory_heap_count as usize > vk::MAX_MEMORY_HEAPS {
        let (types, heaps) = (memory.memory_type_count, memory.memory_heap_count);
        let what = format!("sound list of memory types ({types} types, {heaps} heaps)");
        return Err(VulkanError::missing("vkGetPhysicalDeviceMemoryProperties", what));
    }
    Allocator::new(&AllocatorCreateDesc {
        instance: logical.instance().raw().clone(),
        device: logical.raw().clone(),
        physical_device: physical,
        debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
        buffer_device_address: false,
        allocation_sizes: AllocationSizes::new(BLOCK, BLOCK),
    })
    .map_err(|error| VulkanError::allocation(&error))
}

/// Memory that a buffer or image is bound to; it must outlive that.
pub(super) struct BoundMemory {
    allocation: Option<Allocation>,
    logical: Arc<Logical>,
}

impl BoundMemory {
    /// Memory for these requirements; `linear` is true for buffers.
    pub(super) fn new(
        logical: &Arc<Logical>,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
    ) -> Result<BoundMemory, VulkanError> {
        let name = if linear { "buffer" } else { "image" };
        let scheme = AllocationScheme::GpuAllocatorManaged;
        let spec = AllocationCreateDesc {
            name,
            requirements,
            location,
            linear,
            allocation_scheme: scheme,
        };
        let mut allocator = logical.allocator();
        let allocator = allocator
            .as_mut()
            .ok_or_else(|| VulkanError::missing("vkAllocateMemory", "allocator"))?;
        let allocation = allocator.allocate(&spec).map_err(|error| {
            VulkanError::allocation(&error)
                .about(format!("{} bytes for {name}: {error}", requirements.size))
        })?;
        Ok(BoundMemory { allocation: Some(allocation), logical: Arc::clone(logical) })
    }

    /// Where to bind to.
    pub(super) fn place(&self) -> (vk::DeviceMemory, vk::DeviceSize) {
        let place = self.allocation.as_ref().map(|allocation| {
            // SAFETY: the handle is used for binding only, and the allocation is freed after what
            // is bound to it.
            (unsafe { allocation.memory() }, allocation.offset())
        });
        place.unwrap_or_default()
    }

    /// Its address on the host, if at least this many bytes of it can be reached there.
    fn mapped(&self, bytes: usize) -> Result<*mut u8, VulkanError> {
        let allocation =
            self.allocation.as_ref().filter(|allocation| bytes as u64 <= allocation.size());
        let pointer =
            allocation.and_then(Allocation::mapped_ptr).map(|pointer| pointer.as_ptr().cast());
        pointer
            .ok_or_else(|| VulkanError::missing("vkMapMemory", format!("mapping of {bytes} bytes")))
    }
}

impl Drop for BoundMemory {
    fn drop(&mut self) {
        if self.logical.is_abandoned() {
            return;
        }
        let mut allocator = self.logical.allocator();
        if let (Some(allocator), Some(allocation)) = (allocator.as_mut(), self.allocation.take()) {
            // It fails only for an allocation of another allocator, and then nothing is left to be
            // done.
            let _ = allocator.free(allocation);
        }
    }
}

/// A buffer in host memory that the device can use as storage buffer, as uniform, texel or vertex
/// buffer and as either end of a copy.
pub(super) struct DeviceBuffer {
    // Fields drop in order: the buffer goes before its memory.
    raw: OwnedHandle<vk::Buffer>,
    memory: BoundMemory,
    capacity: u64,
}

impl DeviceBuffer {
    fn new(logical: &Arc<Logical>, capacity: u64) -> Result<DeviceBuffer, VulkanError> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(capacity).usage(usage);
        // SAFETY: the structure lives until after the call; size and usage are not empty.
        let raw = unsafe { logical.raw().create_buffer(&info, None) }
            .named("vkCreateBuffer")
            .map_err(|error| error.about(format!("{capacity} bytes")))?;
        let raw = OwnedHandle::new(logical, raw);
        // SAFETY: the buffer is this device's.
        let requirements = unsafe { logical.raw().get_buffer_memory_requirements(raw.raw()) };
        if requirements.size < capacity {
            let what =
                format!("memory of {capacity} bytes for such a buffer, but {}", requirements.size);
            return Err(VulkanError::missing("vkGetBufferMemoryRequirements", what));
        }
        let memory = BoundMemory::new(logical, requirements, MemoryLocation::GpuToCpu, true)?;
        let (block, offset) = memory.place();
        // SAFETY: the buffer is unbound; the memory was allocated for its requirements and belongs
        // to nobody else.
        unsafe { logical.raw().bind_buffer_memory(raw.raw(), block, offset) }
            .named("vkBindBufferMemory")?;
        Ok(DeviceBuffer { raw, memory, capacity })
    }

    /// A buffer of at least this size in `place`: the one that is there, or a new one.
    pub(super) fn fit<'a>(
        place: &'a mut Option<DeviceBuffer>,
        logical: &Arc<Logical>,
        bytes: usize,
    ) -> Result<&'a mut DeviceBuffer, VulkanError> {
        let needed = ((bytes + GUARD) as u64).next_multiple_of(STEP);
        if place.as_ref().is_none_or(|buffer| buffer.capacity < needed) {
            *place = None;
            *place = Some(DeviceBuffer::new(logical, needed)?);
        }
        place.as_mut().ok_or_else(|| VulkanError::missing("vkCreateBuffer", "buffer"))
    }

    /// The handle; valid as long as `self`.
    pub(super) fn raw(&self) -> vk::Buffer {
        self.raw.raw()
    }

    /// Writes its first bytes, and a guard behind them. The device must not be using it.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), VulkanError> {
        let to = self.memory.mapped(bytes.len() + GUARD)?;
        // SAFETY: `to` is the start of at least that many mapped bytes, which nobody else on the
        // host refers to; the memory is coherent, and submitting makes the bytes visible to
        // the device ("Host Write Ordering Guarantees").
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
            ptr::write_bytes(to.add(bytes.len()), UNTOUCHED, GUARD);
        }
        Ok(())
    }

    /// Writes this into each of its first bytes, and a guard behind them. The device must not be
    /// using it.
    pub(super) fn fill(&mut self, byte: u8, bytes: usize) -> Result<(), VulkanError> {
        let to = self.memory.mapped(bytes + GUARD)?;
        // SAFETY: as for `write`.
        unsafe {
            ptr::write_bytes(to, byte, bytes);
            ptr::write_bytes(to.add(bytes), UNTOUCHED, GUARD);
        }
        Ok(())
    }

    /// Its first bytes, as many as were written before, in place; otherwise as `read`.
    pub(super) fn bytes(&self, bytes: usize) -> Result<&[u8], VulkanError> {
        let from = self.memory.mapped(bytes + GUARD)?;
        // SAFETY: as for `read`; who borrows the buffer keeps everybody from writing to it or
        // handing it to the device.
        let (bytes, guard) =
            unsafe { std::slice::from_raw_parts(from, bytes + GUARD) }.split_at(bytes);
        unbroken(guard, bytes.len())?;
        Ok(bytes)
    }

    /// Reads its first bytes, as many as were written before. The device must have made them
    /// visible to the host, and must not be using it. Fails where the guard behind them was
    /// overwritten.
    pub(super) fn read(&self, bytes: &mut [u8]) -> Result<(), VulkanError> {
        let from = self.memory.mapped(bytes.len() + GUARD)?;
        let mut guard = [0; GUARD];
        // SAFETY: as for `write`; every byte was written by `write` before, so it is initialised.
        unsafe {
            ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len());
            ptr::copy_nonoverlapping(from.add(bytes.len()), guard.as_mut_ptr(), GUARD);
        }
        unbroken(&guard, bytes.len())
    }

    /// Checks that its first bytes are still these, which the device was only to read.
    pub(super) fn holds(&self, bytes: &[u8]) -> Result<(), VulkanError> {
        let mut found = vec![0; bytes.len()];
        self.read(&mut found)?;
        match found.iter().zip(bytes).filter(|(found, bytes)| found != bytes).count() {
            0 => Ok(()),
            count => Err(VulkanError::stray(format!("{count} bytes of a buffer of operands"))),
        }
    }
}

/// Fails where the guard behind N bytes was overwritten.
fn unbroken(guard: &[u8], bytes: usize) -> Result<(), VulkanError> {
    match guard.iter().filter(|byte| **byte != UNTOUCHED).count() {
        0 => Ok(()),
        count => Err(VulkanError::stray(format!(
            "{count} bytes behind a buffer's range of {bytes} bytes"
        ))),
    }
}
