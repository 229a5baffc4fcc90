//! A logical device, shared by everything made from it, and the guard that owns each of its
//! objects.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use gpu_allocator::vulkan::Allocator;

use super::error::{ErrorKind, VulkanError};
use super::fault;
use super::instance::Instance;

/// A logical device and its memory. Whoever made an object from it holds it, so it goes last.
pub(super) struct Logical {
    raw: ash::Device,
    instance: Arc<Instance>,
    allocator: Mutex<Option<Allocator>>,
    abandoned: AtomicBool,
    explains: bool,
    submitting: Mutex<()>,
}

impl Logical {
    /// Takes over a device that was just created; it has no memory yet. `explains`: with
    /// `VK_EXT_device_fault`.
    pub(super) fn new(raw: ash::Device, instance: Arc<Instance>, explains: bool) -> Logical {
        let (allocator, submitting) = (Mutex::new(None), Mutex::new(()));
        Logical {
            raw,
            instance,
            allocator,
            abandoned: AtomicBool::new(false),
            explains,
            submitting,
        }
    }

    /// The same error, and where it tells of a lost device what the driver says of that.
    pub(super) fn explain(&self, error: VulkanError) -> VulkanError {
        if error.kind != ErrorKind::DeviceLost || !self.explains {
            return error;
        }
        let text = fault::describe(&self.instance, &self.raw);
        let detail: Vec<&str> =
            [&*error.detail, &*text].into_iter().filter(|part| !part.is_empty()).collect();
        let detail = detail.join("; ");
        error.about(detail)
    }

    /// ash's device; valid as long as `self`.
    pub(super) fn raw(&self) -> &ash::Device {
        &self.raw
    }

    /// The instance it was made from.
    pub(super) fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Its memory; `None` until it has been set up.
    pub(super) fn allocator(&self) -> MutexGuard<'_, Option<Allocator>> {
        self.allocator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to submit: two threads may share a queue, and one at a time may use it
    /// ("vkQueueSubmit", host synchronization).
    pub(super) fn submitting(&self) -> MutexGuard<'_, ()> {
        self.submitting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves all objects to the end of the process: the device may still be using them, and
    /// destroying an object in use is undefined ("Object Lifetime").
    pub(super) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    /// Whether a dispatch never ended.
    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }
}

impl Drop for Logical {
    fn drop(&mut self) {
        let allocator = self.allocator().take();
        if self.is_abandoned() {
            mem::forget(allocator);
            mem::forget(Arc::clone(&self.instance));
            return;
        }
        drop(allocator);
        // SAFETY: every object made from the device holds it in an `Arc`, so all are gone, and so
        // is its memory; nothing runs on it, since each submission was waited for (or the
        // device is lost, which ends them).
        unsafe { self.raw.destroy_device(None) };
    }
}

/// Something made from a logical device.
pub(super) trait Handle: Copy {
    /// Destroys it.
    ///
    /// # Safety
    /// It was made from this device, is not in use by it, and is not used afterwards.
    unsafe fn destroy(self, device: &ash::Device);
}

macro_rules! handles {
    ($($handle:ident: $destroy:ident,)*) => {$(
        impl Handle for vk::$handle {
            unsafe fn destroy(self, device: &ash::Device) {
                // SAFETY: the caller's promise is what the call requests.
                unsafe { device.$destroy(self, None) }
            }
        }
    )*};
}

handles! {
    Buffer: destroy_buffer,
    BufferView: destroy_buffer_view,
    CommandPool: destroy_command_pool,
    DescriptorPool: destroy_descriptor_pool,
    DescriptorSetLayout: destroy_descriptor_set_layout,
    Fence: destroy_fence,
    Framebuffer: destroy_framebuffer,
    Image: destroy_image,
    ImageView: destroy_image_view,
    Pipeline: destroy_pipeline,
    PipelineLayout: destroy_pipeline_layout,
    RenderPass: destroy_render_pass,
    Sampler: destroy_sampler,
    ShaderModule: destroy_shader_module,
}

/// Owns an object of a logical device.
pub(super) struct OwnedHandle<H: Handle> {
    raw: H,
    logical: Arc<Logical>,
}

impl<H: Handle> OwnedHandle<H> {
    /// Takes over an object that was just made from this device.
    pub(super) fn new(logical: &Arc<Logical>, raw: H) -> OwnedHandle<H> {
        OwnedHandle { raw, logical: Arc::clone(logical) }
    }

    /// The handle; valid as long as `self`.
    pub(super) fn raw(&self) -> H {
        self.raw
    }
}

impl<H: Handle> Drop for OwnedHandle<H> {
    fn drop(&mut self) {
        if !self.logical.is_abandoned() {
            // SAFETY: `new` was given an object of this device and nobody else owns it. The device
            // does not use it: whatever was submitted has been waited for, else the
            // device would have been abandoned.
            unsafe { self.raw.destroy(self.logical.raw()) };
        }
    }
}
