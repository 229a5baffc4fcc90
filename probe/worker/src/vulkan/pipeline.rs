//! The pipeline of one module and the descriptor set it reads. Both live for the dispatches of that
//! module; there is no pipeline cache, so that every module is compiled by the driver each time.

use std::sync::Arc;

use ash::vk;
use fpprobe_spirv::Plan;

use super::constant_blocks::{Specialisation, push_range, uniform};
use super::error::{CallName, VulkanError};
use super::handles::{Logical, OwnedHandle};
use super::image::descriptor;
use super::render_target::RenderTarget;
use super::shader::{made, shader_module, stage_of};

/// A pipeline with its layout and descriptor set.
pub(super) struct Pipeline {
    raw: Arc<OwnedHandle<vk::Pipeline>>,
    layout: Arc<OwnedHandle<vk::PipelineLayout>>,
    set: vk::DescriptorSet,
    _pool: OwnedHandle<vk::DescriptorPool>,
    // A set may be updated only as long as the layout it was allocated with ("Object Lifetime").
    set_layout: Arc<OwnedHandle<vk::DescriptorSetLayout>>,
}

/// The bindings of a plan's descriptor set.
fn bindings(plan: &Plan) -> Vec<vk::DescriptorSetLayoutBinding<'static>> {
    let mut stages = stage_of(plan.shader());
    if plan.has_triangles() {
        stages |= vk::ShaderStageFlags::VERTEX;
    }
    let binding = |binding: u32, kind: vk::DescriptorType| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(stages)
    };
    let buffers =
        plan.buffers.iter().map(|one| binding(one.binding(), vk::DescriptorType::STORAGE_BUFFER));
    let images =
        plan.images().filter_map(|image| Some(binding(image.binding(), descriptor(&image)?)));
    let blocks = uniform(plan).map(|(place, kind)| binding(place, kind));
    buffers.chain(images).chain(blocks).collect()
}

impl Pipeline {
    /// Compiles a module; `words` must be the plan's.
    /// `target`: where it draws, for modules that are no compute shaders.
    pub(super) fn new(
        logical: &Arc<Logical>,
        words: &[u32],
        plan: &Plan,
        target: Option<&RenderTarget>,
    ) -> Result<Pipeline, VulkanError> {
        let device = logical.raw();
        let bindings = bindings(plan);
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: here and below, what an info structure points to lives until after the call, and
        // its handles are this device's and alive.
        let set_layout = unsafe { device.create_descriptor_set_layout(&info, None) };
        let set_layout =
            OwnedHandle::new(logical, set_layout.named("vkCreateDescriptorSetLayout")?);
        let set_layouts = [set_layout.raw()];
        let push = push_range(plan);
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(push.as_slice());
        // SAFETY: see above.
        let layout = unsafe { device.create_pipeline_layout(&info, None) };
        let layout = OwnedHandle::new(logical, layout.named("vkCreatePipelineLayout")?);

        let raw = match target {
            Some(target) => target.pipeline(logical, words, plan, layout.raw())?,
            None => compile(
                logical,
                words,
                &Specialisation::new(plan),
                layout.raw(),
                plan.variant.subgroup,
            )?,
        };
        let (pool, set) = descriptors(logical, &bindings, &set_layouts)?;
        let (raw, layout, set_layout) = (Arc::new(raw), Arc::new(layout), Arc::new(set_layout));
        Ok(Pipeline { raw, layout, set, _pool: pool, set_layout })
    }

    /// The same pipeline with a descriptor set of its own, for a dispatch at the same time.
    pub(super) fn beside(
        &self,
        logical: &Arc<Logical>,
        plan: &Plan,
    ) -> Result<Pipeline, VulkanError> {
        let (pool, set) = descriptors(logical, &bindings(plan), &[self.set_layout.raw()])?;
        let (raw, layout) = (Arc::clone(&self.raw), Arc::clone(&self.layout));
        Ok(Pipeline { raw, layout, set, _pool: pool, set_layout: Arc::clone(&self.set_layout) })
    }

    /// The handle; valid as long as `self`, as are the others.
    pub(super) fn raw(&self) -> vk::Pipeline {
        self.raw.raw()
    }

    /// Its layout.
    pub(super) fn layout(&self) -> vk::PipelineLayout {
        self.layout.raw()
    }

    /// Its descriptor set.
    pub(super) fn set(&self) -> vk::DescriptorSet {
        self.set
    }
}

/// The pipeline of a compute shader, with subgroups of this size where there is one, which the
/// device offers.
pub(super) fn compile(
    logical: &Arc<Logical>,
    words: &[u32],
    specialisation: &Specialisation,
    layout: vk::PipelineLayout,
    subgroup: Option<u32>,
) -> Result<OwnedHandle<vk::Pipeline>, VulkanError> {
    let device = logical.raw();
    let module = shader_module(logical, words)?;
    let specialisation = specialisation.info();
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module.raw())
        .name(c"main");
    if let Some(info) = &specialisation {
        stage = stage.specialization_info(info);
    }
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    if let Some(subgroup) = subgroup {
        size = size.required_subgroup_size(subgroup);
        stage = stage.push_next(&mut size);
    }
    let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
    let mut pipeline = vk::Pipeline::null();
    // Called directly, since ash's wrapper hands out uninitialised handles where a driver fails
    // without writing them. SAFETY: one structure and room for one handle; what the structure
    // refers to lives until after the call.
    let code = unsafe {
        let create = device.fp_v1_0().create_compute_pipelines;
        create(
            device.handle(),
            vk::PipelineCache::null(),
            1,
            &raw const info,
            std::ptr::null(),
            &raw mut pipeline,
        )
    };
    made(logical, "vkCreateComputePipelines", code, pipeline)
}

pub(super) fn descriptors(
    logical: &Arc<Logical>,
    bindings: &[vk::DescriptorSetLayoutBinding],
    layouts: &[vk::DescriptorSetLayout],
) -> Result<(OwnedHandle<vk::DescriptorPool>, vk::DescriptorSet), VulkanError> {
    let device = logical.raw();
    let size = |binding: &vk::DescriptorSetLayoutBinding| {
        vk::DescriptorPoolSize::default().ty(binding.descriptor_type).descriptor_count(1)
    };
    let sizes: Vec<_> = bindings.iter().map(size).collect();
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
    // SAFETY: the sizes live until after the call.
    let pool =
        unsafe { device.create_descriptor_pool(&info, None) }.named("vkCreateDescriptorPool")?;
    let pool = OwnedHandle::new(logical, pool);
    let info =
        vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.raw()).set_layouts(layouts);
    // SAFETY: pool and layouts are this device's; the pool has room for one such set, which goes
    // with it.
    let sets =
        unsafe { device.allocate_descriptor_sets(&info) }.named("vkAllocateDescriptorSets")?;
    let set = sets.first().copied().unwrap_or_default();
    Ok((pool, set))
}
