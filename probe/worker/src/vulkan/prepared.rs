//! What the dispatches of one module have in common.

use ash::vk;

use super::error::VulkanError;
use super::handles::OwnedHandle;
use super::image::DeviceImage;
use super::pipeline::Pipeline;
use super::render_target::RenderTarget;

/// What a shader gets at the texels of texel kernels by: images, or views of buffers, one for each
/// kernel.
pub(super) struct TexelAccess<'a> {
    pub(super) images: &'a [DeviceImage],
    pub(super) views: Vec<OwnedHandle<vk::BufferView>>,
    pub(super) sampler: Option<OwnedHandle<vk::Sampler>>,
}

/// What the dispatches of one module have in common.
pub(super) struct DispatchResources {
    // Fields drop in order.
    pub(super) pipeline: Pipeline,
    pub(super) target: Option<RenderTarget>,
    pub(super) images: Vec<DeviceImage>,
}

impl DispatchResources {
    /// A pipeline that neither draws nor has images.
    pub(super) fn plain(pipeline: Pipeline) -> DispatchResources {
        DispatchResources { pipeline, target: None, images: Vec::new() }
    }

    /// Whether it is one.
    pub(super) fn is_plain(&self) -> bool {
        self.target.is_none() && self.images.is_empty()
    }
}

/// There is no module to be run again.
pub(super) fn unprepared() -> VulkanError {
    VulkanError::argument("vkCmdBindPipeline", "no module has been dispatched before")
}
