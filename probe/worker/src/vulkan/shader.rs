//! Shader modules, and the outcome of creating a pipeline of them.

use std::sync::Arc;

use ash::vk;
use fpprobe_spirv::Stage;

use super::error::{CallName, VulkanError};
use super::handles::{Logical, OwnedHandle};

/// What a call to create one pipeline gave.
pub(super) fn made(
    logical: &Arc<Logical>,
    call: &'static str,
    code: vk::Result,
    pipeline: vk::Pipeline,
) -> Result<OwnedHandle<vk::Pipeline>, VulkanError> {
    // Destroying a null handle is allowed, so the guard may hold it on the way out.
    let pipeline = OwnedHandle::new(logical, pipeline);
    match code {
        vk::Result::SUCCESS if pipeline.raw() == vk::Pipeline::null() => {
            Err(VulkanError::missing(call, "pipeline, although the driver reports success"))
        }
        vk::Result::SUCCESS => Ok(pipeline),
        code => Err(VulkanError::result(call, code)),
    }
}

/// A module of these words.
pub(super) fn shader_module(
    logical: &Arc<Logical>,
    words: &[u32],
) -> Result<OwnedHandle<vk::ShaderModule>, VulkanError> {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: the words live until after the call. That they are valid SPIR-V is for
    // `fpprobe-spirv` to see to; a driver that crashes on them takes down a worker process, not
    // the program.
    let module =
        unsafe { logical.raw().create_shader_module(&info, None) }.named("vkCreateShaderModule")?;
    Ok(OwnedHandle::new(logical, module))
}

/// Vulkan's bit for a stage.
pub(super) fn stage_of(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::Geometry => vk::ShaderStageFlags::GEOMETRY,
    }
}
