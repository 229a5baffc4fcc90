//! Functions of devices in which something can happen and that are otherwise left alone.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::mem::transmute;

use ash::vk::{self, AllocationCallbacks as Callbacks, Device as D};

use super::state::device;

/// Declares functions that return a result, functions that return nothing, and `find` for all of
/// them.
macro_rules! plain {
    (
        results { $($result:ident($handle:ident: $kind:ty $(, $argument:ident: $type:ty)*);)* }
        others { $($other:ident($others_handle:ident: $others_kind:ty $(, $others_argument:ident: $others_type:ty)*);)* }
    ) => {
        $(
            unsafe extern "system" fn $result($handle: $kind $(, $argument: $type)*) -> vk::Result {
                // SAFETY: the handle is the caller's.
                let device = unsafe { device($handle) };
                device.before(stringify!($result), &[]).unwrap_or_else(|| {
                    // SAFETY: the function has the type of its name, and gets what this one got.
                    unsafe {
                        let next: unsafe extern "system" fn($kind $(, $type)*) -> vk::Result =
                            transmute(device.next(stringify!($result)));
                        next($handle $(, $argument)*)
                    }
                })
            }
        )*
        $(
            unsafe extern "system" fn $other($others_handle: $others_kind $(, $others_argument: $others_type)*) {
                // SAFETY: the handle is the caller's.
                let device = unsafe { device($others_handle) };
                let _ = device.before(stringify!($other), &[]);
                // SAFETY: the function has the type of its name, and gets what this one got.
                unsafe {
                    let next: unsafe extern "system" fn($others_kind $(, $others_type)*) =
                        transmute(device.next(stringify!($other)));
                    next($others_handle $(, $others_argument)*);
                }
            }
        )*

        /// The layer's function of this name.
        pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
            Some(match name {
                // SAFETY: function pointers all have one size; who asks by name knows the type.
                $(stringify!($result) => unsafe {
                    transmute::<unsafe extern "system" fn($kind $(, $type)*) -> vk::Result, unsafe extern "system" fn()>(
                        $result,
                    )
                },)*
                // SAFETY: as above.
                $(stringify!($other) => unsafe {
                    transmute::<unsafe extern "system" fn($others_kind $(, $others_type)*), unsafe extern "system" fn()>(
                        $other,
                    )
                },)*
                _ => return None,
            })
        }
    };
}

plain! {
    results {
        vkAllocateCommandBuffers(handle: D, info: *const vk::CommandBufferAllocateInfo<'_>, out: *mut vk::CommandBuffer);
        vkAllocateDescriptorSets(handle: D, info: *const vk::DescriptorSetAllocateInfo<'_>, out: *mut vk::DescriptorSet);
        vkAllocateMemory(
            handle: D, info: *const vk::MemoryAllocateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::DeviceMemory
        );
        vkBindImageMemory(handle: D, image: vk::Image, memory: vk::DeviceMemory, offset: vk::DeviceSize);
        vkCreateBufferView(
            handle: D, info: *const vk::BufferViewCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::BufferView
        );
        vkCreateFramebuffer(
            handle: D, info: *const vk::FramebufferCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::Framebuffer
        );
        vkCreateRenderPass(
            handle: D, info: *const vk::RenderPassCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::RenderPass
        );
        vkCreateSampler(
            handle: D, info: *const vk::SamplerCreateInfo<'_>, callbacks: *const Callbacks<'_>, out: *mut vk::Sampler
        );
        vkCreateCommandPool(
            handle: D, info: *const vk::CommandPoolCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::CommandPool
        );
        vkCreateDescriptorPool(
            handle: D, info: *const vk::DescriptorPoolCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::DescriptorPool
        );
        vkCreateDescriptorSetLayout(
            handle: D, info: *const vk::DescriptorSetLayoutCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::DescriptorSetLayout
        );
        vkCreateFence(
            handle: D, info: *const vk::FenceCreateInfo<'_>, callbacks: *const Callbacks<'_>, out: *mut vk::Fence
        );
        vkCreateImage(
            handle: D, info: *const vk::ImageCreateInfo<'_>, callbacks: *const Callbacks<'_>, out: *mut vk::Image
        );
        vkCreateImageView(
            handle: D, info: *const vk::ImageViewCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::ImageView
        );
        vkCreatePipelineLayout(
            handle: D, info: *const vk::PipelineLayoutCreateInfo<'_>, callbacks: *const Callbacks<'_>,
            out: *mut vk::PipelineLayout
        );
        vkResetCommandPool(handle: D, pool: vk::CommandPool, flags: vk::CommandPoolResetFlags);
        vkResetFences(handle: D, count: u32, fences: *const vk::Fence);
    }
    others {
        vkFreeMemory(handle: D, memory: vk::DeviceMemory, callbacks: *const Callbacks<'_>);
        vkGetBufferMemoryRequirements(handle: D, buffer: vk::Buffer, out: *mut vk::MemoryRequirements);
        vkUnmapMemory(handle: D, memory: vk::DeviceMemory);
    }
}
