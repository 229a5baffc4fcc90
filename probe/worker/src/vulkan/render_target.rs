//! Where shaders draw: attachments that a triangle covers, one that has a point for each slot, or
//! one pixel without any.

use std::sync::Arc;

use ash::vk;
use fpprobe_spirv::module::triangle::viewport;
use fpprobe_spirv::module::vertex_shader;
use fpprobe_spirv::op::{Blend, Code, FixedFunctionState};
use fpprobe_spirv::route::SAMPLES;
use fpprobe_spirv::{Plan, Route, Stage};

use super::error::{CallName, VulkanError};
use super::handles::{Logical, OwnedHandle};
use super::image::{DeviceImage, ImageSpec, vulkan_format};
use super::shader::{made, shader_module, stage_of};

/// A render pass and its framebuffer.
pub(super) struct RenderTarget {
    // Fields drop in order.
    pub(super) frame: OwnedHandle<vk::Framebuffer>,
    pub(super) pass: OwnedHandle<vk::RenderPass>,
    /// What is drawn on, where the attachments are what that is resolved to.
    pub(super) samples: Vec<DeviceImage>,
    pub(super) extent: vk::Extent2D,
    /// What texels of several samples are before they are drawn on: another number for another
    /// variant, so that those that are not drawn on differ from run to run.
    pub(super) cleared: f32,
}

/// Layout of a plan's attachments.
pub(super) fn attached(plan: &Plan) -> vk::ImageLayout {
    if plan.image().is_some_and(|image| image.format.is_depth()) {
        vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL
    } else {
        vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL
    }
}

/// Samples of what a plan draws on.
fn samples(plan: &Plan) -> vk::SampleCountFlags {
    let count = if plan.route() == Some(Route::Resolve) { SAMPLES } else { 1 };
    vk::SampleCountFlags::from_raw(count)
}

/// The attachments of a plan: all that is drawn on, and what that is resolved to.
fn attachments(plan: &Plan) -> [Vec<vk::AttachmentDescription>; 2] {
    let layout = attached(plan);
    let drawn = plan.images().filter(|image| image.route.is_drawn());
    let formats: Vec<vk::Format> = drawn.filter_map(|image| vulkan_format(image.format)).collect();
    let kept = vk::AttachmentDescription::default()
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::LOAD)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
        .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(layout)
        .final_layout(layout);
    let sampled = kept
        .samples(samples(plan))
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(vk::ImageLayout::UNDEFINED);
    let each =
        |one: vk::AttachmentDescription| formats.iter().map(|format| one.format(*format)).collect();
    if plan.route() == Some(Route::Resolve) {
        [each(sampled), each(kept)]
    } else {
        [each(kept), Vec::new()]
    }
}

impl RenderTarget {
    /// For a plan that draws; `images` are the attachments, if it is to have any.
    pub(super) fn new(
        logical: &Arc<Logical>,
        physical: vk::PhysicalDevice,
        plan: &Plan,
        images: &[DeviceImage],
    ) -> Result<RenderTarget, VulkanError> {
        let layout = attached(plan);
        let [drawn, resolved] = attachments(plan);
        let attachments = [&drawn[..], &resolved[..]].concat();
        let references: Vec<_> = (0..)
            .zip(&attachments)
            .map(|(index, _)| vk::AttachmentReference { attachment: index, layout })
            .collect();
        let (drawn, resolved) = references.split_at(drawn.len());
        let subpass =
            vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS);
        let subpass = match drawn {
            [depth] if layout == vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL => {
                subpass.depth_stencil_attachment(depth)
            }
            _ => subpass.color_attachments(drawn),
        };
        let subpasses =
            [if resolved.is_empty() { subpass } else { subpass.resolve_attachments(resolved) }];
        // What is resolved is written as a colour attachment, too.
        let info =
            vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        // SAFETY: here and below, what an info structure points to lives until after the call, and
        // its handles are this device's and alive.
        let pass =
            unsafe { logical.raw().create_render_pass(&info, None) }.named("vkCreateRenderPass")?;
        let pass = OwnedHandle::new(logical, pass);
        let [width, height] = plan.extent();
        let extent = vk::Extent2D { width, height };
        let several = plan.images().take(resolved.len()).map(|image| {
            let spec = ImageSpec::of(&image, vk::ImageUsageFlags::COLOR_ATTACHMENT)?;
            DeviceImage::new(logical, physical, &ImageSpec { samples: samples(plan), ..spec })
        });
        let several = several.collect::<Result<Vec<_>, _>>()?;
        let views: Vec<_> = several.iter().chain(images).map(DeviceImage::view).collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass.raw())
            .attachments(&views)
            .width(extent.width)
            .height(extent.height)
            .layers(1);
        // SAFETY: see above.
        let frame = unsafe { logical.raw().create_framebuffer(&info, None) }
            .named("vkCreateFramebuffer")?;
        let cleared = if plan.variant.reversed { 0.25 } else { 0.75 };
        Ok(RenderTarget {
            frame: OwnedHandle::new(logical, frame),
            pass,
            samples: several,
            extent,
            cleared,
        })
    }

    /// The pipeline of a plan's module.
    pub(super) fn pipeline(
        &self,
        logical: &Arc<Logical>,
        words: &[u32],
        plan: &Plan,
        layout: vk::PipelineLayout,
    ) -> Result<OwnedHandle<vk::Pipeline>, VulkanError> {
        let own = (shader_module(logical, words)?, plan.shader());
        let mut modules = vec![own];
        let before = vertex_shader(plan)
            .map_err(|error| VulkanError::argument("vkCreateShaderModule", error.to_string()))?;
        if let Some(words) = before {
            modules.push((shader_module(logical, &words)?, Stage::Vertex));
        }
        let stage = |(module, stage): &(OwnedHandle<vk::ShaderModule>, Stage)| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage_of(*stage))
                .module(module.raw())
                .name(c"main")
        };
        let stages: Vec<_> = modules.iter().map(stage).collect();

        let attributes = plan.images().filter(|image| !image.is_written()).filter_map(|image| {
            let format = vulkan_format(image.format)?;
            let (number, stride) = (image.number, image.texel() as u32);
            let binding =
                vk::VertexInputBindingDescription::default().binding(number).stride(stride);
            let attribute =
                vk::VertexInputAttributeDescription::default().location(number).binding(number);
            Some((binding, attribute.format(format)))
        });
        let (bindings, attributes): (Vec<_>, Vec<_>) = attributes.unzip();
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let topology = if plan.covers() || plan.has_triangles() {
            vk::PrimitiveTopology::TRIANGLE_LIST
        } else {
            vk::PrimitiveTopology::POINT_LIST
        };
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
        let [[x, y], [width, height]] = viewport(plan);
        let viewports = [vk::Viewport { x, y, width, height, min_depth: 0.0, max_depth: 1.0 }];
        let scissors = [vk::Rect2D::default().extent(self.extent)];
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .depth_clamp_enable(plan.image().is_some_and(|image| image.code == Code::DepthClamp))
            .rasterizer_discard_enable(plan.shader() != Stage::Fragment)
            .polygon_mode(vk::PolygonMode::FILL)
            .cull_mode(vk::CullModeFlags::NONE)
            .line_width(1.0);
        let multisample =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples(plan));
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(true)
            .depth_compare_op(vk::CompareOp::ALWAYS);
        // The same for all attachments: others would be the feature `independentBlend`.
        let colours = plan.images().filter(|image| image.is_written() && !image.format.is_depth());
        let blended: Vec<_> = colours.map(|image| blending(image.code)).collect();
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blended);
        let set = dynamic(plan);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(set.as_slice());
        let info = vk::GraphicsPipelineCreateInfo::default()
            .dynamic_state(&dynamic)
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(self.pass.raw());
        let mut pipeline = vk::Pipeline::null();
        // Directly, as for compute pipelines.
        // SAFETY: one structure and room for one handle; what the structure refers to lives until
        // after the call.
        let code = unsafe {
            let device = logical.raw();
            let create = device.fp_v1_0().create_graphics_pipelines;
            create(
                device.handle(),
                vk::PipelineCache::null(),
                1,
                &raw const info,
                std::ptr::null(),
                &raw mut pipeline,
            )
        };
        made(logical, "vkCreateGraphicsPipelines", code, pipeline)
    }
}

/// What a plan's pipeline leaves to be set before each draw.
pub(super) fn dynamic(plan: &Plan) -> Option<vk::DynamicState> {
    match plan.image()?.state()? {
        FixedFunctionState::MinDepth | FixedFunctionState::MaxDepth => {
            Some(vk::DynamicState::VIEWPORT)
        }
        FixedFunctionState::BlendConstants => Some(vk::DynamicState::BLEND_CONSTANTS),
        FixedFunctionState::BorderColor => None,
    }
}

/// How what is put out is combined with what is there.
fn blending(code: Code) -> vk::PipelineColorBlendAttachmentState {
    let written = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    let (color, alpha) = match code {
        Code::State(_) => (vk::BlendFactor::CONSTANT_COLOR, vk::BlendFactor::CONSTANT_ALPHA),
        Code::Blend(_) => (vk::BlendFactor::ONE, vk::BlendFactor::ONE),
        _ => return written,
    };
    let there =
        if code == Code::Blend(Blend::Add) { vk::BlendFactor::ONE } else { vk::BlendFactor::ZERO };
    written
        .blend_enable(true)
        .src_color_blend_factor(color)
        .src_alpha_blend_factor(alpha)
        .dst_color_blend_factor(there)
        .dst_alpha_blend_factor(there)
}
