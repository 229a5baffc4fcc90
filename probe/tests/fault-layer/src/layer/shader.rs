//! Shader modules and pipelines: which kernels they hold, and arithmetic rewritten on its way to
//! the driver.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::mem::transmute;
use std::sync::Arc;

use ash::vk;

use super::state::{Device, device, lock};
use super::{chain, rewriting};
use crate::trigger::Module;

/// The layer's function of this name.
pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
    Some(match name {
        // SAFETY: function pointers all have one size, and whoever asks by name knows the type.
        "vkCreateShaderModule" => unsafe {
            transmute::<vk::PFN_vkCreateShaderModule, unsafe extern "system" fn()>(
                vkCreateShaderModule,
            )
        },
        // SAFETY: as above.
        "vkDestroyShaderModule" => unsafe {
            transmute::<vk::PFN_vkDestroyShaderModule, unsafe extern "system" fn()>(
                vkDestroyShaderModule,
            )
        },
        // SAFETY: as above.
        "vkCreateComputePipelines" => unsafe {
            transmute::<vk::PFN_vkCreateComputePipelines, unsafe extern "system" fn()>(
                vkCreateComputePipelines,
            )
        },
        // SAFETY: as above.
        "vkCreateGraphicsPipelines" => unsafe {
            transmute::<vk::PFN_vkCreateGraphicsPipelines, unsafe extern "system" fn()>(
                vkCreateGraphicsPipelines,
            )
        },
        // SAFETY: as above.
        "vkDestroyPipeline" => unsafe {
            transmute::<vk::PFN_vkDestroyPipeline, unsafe extern "system" fn()>(vkDestroyPipeline)
        },
        _ => return None,
    })
}

/// The words of a module.
///
/// # Safety
/// The structure is valid.
unsafe fn words<'a>(info: &vk::ShaderModuleCreateInfo<'a>) -> &'a [u32] {
    // SAFETY: it points to that many bytes, and their number is a multiple of four.
    unsafe { std::slice::from_raw_parts(info.p_code, info.code_size / 4) }
}

unsafe extern "system" fn vkCreateShaderModule(
    handle: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    created: *mut vk::ShaderModule,
) -> vk::Result {
    const NAME: &str = "vkCreateShaderModule";
    // SAFETY: handle and structure are the caller's.
    let (device, mut info) = unsafe { (device(handle), *info) };
    // SAFETY: see above.
    let (module, rewrite) = rewriting::module(unsafe { words(&info) });
    if let Some(code) = device.before(NAME, &[&module]) {
        return code;
    }
    let rewritten = rewrite(&module);
    if let Some(words) = &rewritten {
        info.p_code = words.as_ptr();
        info.code_size = words.len() * 4;
    }
    // SAFETY: the function has the type of its name; the words live until after the call.
    let code = unsafe {
        let next: vk::PFN_vkCreateShaderModule = transmute(device.next(NAME));
        next(handle, &raw const info, callbacks, created)
    };
    if code == vk::Result::SUCCESS {
        // SAFETY: it was just written.
        let created = unsafe { *created };
        lock(&device.modules).insert(created, Arc::new(module));
    }
    code
}

unsafe extern "system" fn vkDestroyShaderModule(
    handle: vk::Device,
    module: vk::ShaderModule,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    const NAME: &str = "vkDestroyShaderModule";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    let known = lock(&device.modules).remove(&module);
    let _ = device.before(NAME, &known.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkDestroyShaderModule = transmute(device.next(NAME));
        next(handle, module, callbacks);
    }
}

/// Words that replace those of a structure in the caller's chain until this is dropped.
struct Replaced {
    info: *mut vk::ShaderModuleCreateInfo<'static>,
    before: (*const u32, usize),
    _words: Vec<u32>,
}

impl Replaced {
    /// # Safety
    /// The structure may be written as long as the result lives.
    unsafe fn new(info: &mut vk::ShaderModuleCreateInfo<'_>, words: Vec<u32>) -> Replaced {
        let before = (info.p_code, info.code_size);
        info.p_code = words.as_ptr();
        info.code_size = words.len() * 4;
        Replaced { info: (&raw mut *info).cast(), before, _words: words }
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        // SAFETY: `new` was promised that it may be written.
        unsafe { ((*self.info).p_code, (*self.info).code_size) = self.before };
    }
}

/// The module of a stage: the one it names, or the one chained to it (`VK_KHR_maintenance5`,
/// `VK_EXT_graphics_pipeline_library`).
///
/// # Safety
/// The stage is valid, and its chain may be written as long as the replacement lives.
unsafe fn staged(device: &Device, stage: &vk::PipelineShaderStageCreateInfo<'_>) -> Staged {
    if let Some(module) = lock(&device.modules).get(&stage.module) {
        return (Some(Arc::clone(module)), None);
    }
    // SAFETY: the caller's promise.
    let Some(info) = (unsafe { chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) })
    else {
        return (None, None);
    };
    // SAFETY: the caller's promise.
    let (module, rewrite) = rewriting::module(unsafe { words(info) });
    // SAFETY: the caller's promise.
    let replaced = rewrite(&module).map(|words| unsafe { Replaced::new(info, words) });
    (Some(Arc::new(module)), replaced)
}

unsafe extern "system" fn vkCreateComputePipelines(
    handle: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    created: *mut vk::Pipeline,
) -> vk::Result {
    const NAME: &str = "vkCreateComputePipelines";
    // SAFETY: handle and structures are the caller's; the replacements go when this call is over;
    // the function has the type of its name, and gets what this one got; there is room for that
    // many pipelines.
    unsafe {
        let device = device(handle);
        let selected = std::slice::from_raw_parts(infos, count as usize);
        let stages: Vec<_> =
            selected.iter().map(|info| vec![staged(&device, &info.stage)]).collect();
        pipelines(&device, NAME, &stages, created, || {
            let next: vk::PFN_vkCreateComputePipelines = transmute(device.next(NAME));
            next(handle, cache, count, infos, callbacks, created)
        })
    }
}

unsafe extern "system" fn vkCreateGraphicsPipelines(
    handle: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    created: *mut vk::Pipeline,
) -> vk::Result {
    const NAME: &str = "vkCreateGraphicsPipelines";
    // SAFETY: as above.
    unsafe {
        let device = device(handle);
        let selected = std::slice::from_raw_parts(infos, count as usize);
        let of = |info: &vk::GraphicsPipelineCreateInfo<'_>| {
            let stages = std::slice::from_raw_parts(info.p_stages, info.stage_count as usize);
            stages.iter().map(|stage| staged(&device, stage)).collect::<Vec<_>>()
        };
        let stages: Vec<_> = selected.iter().map(of).collect();
        pipelines(&device, NAME, &stages, created, || {
            let next: vk::PFN_vkCreateGraphicsPipelines = transmute(device.next(NAME));
            next(handle, cache, count, infos, callbacks, created)
        })
    }
}

/// What a stage's module is, and what stands in its place.
type Staged = (Option<Arc<Module>>, Option<Replaced>);

/// Has pipelines of these stages made, and keeps the first module of each.
///
/// # Safety
/// `created` has room for as many pipelines; `next` writes them.
unsafe fn pipelines(
    device: &Device,
    name: &'static str,
    stages: &[Vec<Staged>],
    created: *mut vk::Pipeline,
    next: impl FnOnce() -> vk::Result,
) -> vk::Result {
    let modules: Vec<&Module> =
        stages.iter().flatten().filter_map(|(module, _)| module.as_deref()).collect();
    if let Some(code) = device.before(name, &modules) {
        for index in 0..stages.len() {
            // SAFETY: there is room for that many. A pipeline that was not made is null ("Multiple
            // Pipeline Creation").
            unsafe { *created.add(index) = vk::Pipeline::null() };
        }
        return code;
    }
    let code = next();
    if code == vk::Result::SUCCESS {
        for (index, stages) in stages.iter().enumerate() {
            // SAFETY: that many were just written.
            let pipeline = unsafe { *created.add(index) };
            if let Some(module) = stages.iter().find_map(|(module, _)| module.as_ref()) {
                lock(&device.pipelines).insert(pipeline, Arc::clone(module));
            }
        }
    }
    code
}

unsafe extern "system" fn vkDestroyPipeline(
    handle: vk::Device,
    pipeline: vk::Pipeline,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    const NAME: &str = "vkDestroyPipeline";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    let known = lock(&device.pipelines).remove(&pipeline);
    // Its handle may be another's from here on.
    lock(&device.submitted).remove(&pipeline);
    lock(&device.left).remove(&pipeline);
    let _ = device.before(NAME, &known.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkDestroyPipeline = transmute(device.next(NAME));
        next(handle, pipeline, callbacks);
    }
}
