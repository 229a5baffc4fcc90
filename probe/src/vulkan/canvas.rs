//! Where shaders draw points, one for each slot: an attachment, or one pixel without any.

use std::sync::Arc;

use ash::vk;
use fpprobe_spirv::module::points::points;
use fpprobe_spirv::{Plan, Stage, plan};

use super::device::Device;
use super::error::{Named, VulkanError};
use super::handles::{Logical, Owned};
use super::image::{Image, vulkan_format};
use super::pipeline::{Pipeline, made, shader_module, stage_of};

/// A render pass and its framebuffer.
pub(super) struct Canvas {
    // Fields drop in order.
    frame: Owned<vk::Framebuffer>,
    pass: Owned<vk::RenderPass>,
    extent: vk::Extent2D,
}

impl Canvas {
    /// For a plan that draws; `image` is the attachment, if it is to have one.
    pub(super) fn new(logical: &Arc<Logical>, plan: &Plan, image: Option<&Image>) -> Result<Canvas, VulkanError> {
        let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let format =
            plan.image.and_then(|image| vulkan_format(image.format)).map_or(vk::Format::UNDEFINED, |(raw, _)| raw);
        let attachments = image.map(|_| {
            vk::AttachmentDescription::default()
                .format(format)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
                .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
                .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
                .initial_layout(layout)
                .final_layout(layout)
        });
        let references = image.map(|_| vk::AttachmentReference::default().attachment(0).layout(layout));
        let subpasses = [vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(references.as_slice())];
        let info = vk::RenderPassCreateInfo::default().attachments(attachments.as_slice()).subpasses(&subpasses);
        // SAFETY: here and below, what an info structure points to lives until after the call, and its handles are this
        // device's and alive.
        let pass = unsafe { logical.raw().create_render_pass(&info, None) }.named("vkCreateRenderPass")?;
        let pass = Owned::new(logical, pass);
        let extent = image.map_or(vk::Extent2D { width: 1, height: 1 }, |image| {
            let vk::Extent3D { width, height, .. } = image.extent();
            vk::Extent2D { width, height }
        });
        let views = image.map(Image::view);
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass.raw())
            .attachments(views.as_slice())
            .width(extent.width)
            .height(extent.height)
            .layers(1);
        // SAFETY: see above.
        let frame = unsafe { logical.raw().create_framebuffer(&info, None) }.named("vkCreateFramebuffer")?;
        Ok(Canvas { frame: Owned::new(logical, frame), pass, extent })
    }

    /// The pipeline of a plan's module.
    pub(super) fn pipeline(
        &self,
        logical: &Arc<Logical>,
        words: &[u32],
        plan: &Plan,
        layout: vk::PipelineLayout,
    ) -> Result<Owned<vk::Pipeline>, VulkanError> {
        let own = (shader_module(logical, words)?, plan.shader());
        let mut modules = vec![own];
        if plan.shader() == Stage::Fragment {
            let words =
                points(plan).map_err(|error| VulkanError::argument("vkCreateShaderModule", error.to_string()))?;
            modules.push((shader_module(logical, &words)?, Stage::Vertex));
        }
        let stage = |(module, stage): &(Owned<vk::ShaderModule>, Stage)| {
            vk::PipelineShaderStageCreateInfo::default().stage(stage_of(*stage)).module(module.raw()).name(c"main")
        };
        let stages: Vec<_> = modules.iter().map(stage).collect();

        let texel = plan.image.filter(|image| !image.is_written());
        let attribute = texel.and_then(|image| {
            let (format, _) = vulkan_format(image.format)?;
            let binding = vk::VertexInputBindingDescription::default().stride(image.format.bits() / 8);
            Some((binding, vk::VertexInputAttributeDescription::default().format(format)))
        });
        let (bindings, attributes): (Vec<_>, Vec<_>) = attribute.into_iter().unzip();
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::POINT_LIST);
        let vk::Extent2D { width, height } = self.extent;
        let viewports = [vk::Viewport::default().width(width as f32).height(height as f32).max_depth(1.0)];
        let scissors = [vk::Rect2D::default().extent(self.extent)];
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .rasterizer_discard_enable(plan.shader() == Stage::Vertex)
            .polygon_mode(vk::PolygonMode::FILL)
            .cull_mode(vk::CullModeFlags::NONE)
            .line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        // Unblended.
        let blended = plan
            .image
            .filter(plan::Image::is_written)
            .map(|_| vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA));
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(blended.as_slice());
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(self.pass.raw());
        let mut pipeline = vk::Pipeline::null();
        // Directly, as for compute pipelines.
        // SAFETY: one structure and room for one handle; what the structure refers to lives until after the call.
        let code = unsafe {
            let device = logical.raw();
            let create = device.fp_v1_0().create_graphics_pipelines;
            create(device.handle(), vk::PipelineCache::null(), 1, &raw const info, std::ptr::null(), &raw mut pipeline)
        };
        made(logical, "vkCreateGraphicsPipelines", code, pipeline)
    }
}

impl Device {
    /// Records the drawing of a plan's points.
    ///
    /// # Safety
    /// The command buffer is recording; pipeline and canvas are this plan's and, like what the set describes and the attachment,
    /// live until the submission has been waited for; the attachment has its layout.
    pub(super) unsafe fn record_draw(&self, plan: &Plan, pipeline: &Pipeline, canvas: &Canvas) {
        let (device, commands, point) = (self.logical.raw(), self.commands, vk::PipelineBindPoint::GRAPHICS);
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(canvas.pass.raw())
            .framebuffer(canvas.frame.raw())
            .render_area(vk::Rect2D::default().extent(canvas.extent));
        // SAFETY: the caller's promise. Attributes are fetched within the texels, of which there are as many as slots.
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, point, pipeline.raw());
            device.cmd_bind_descriptor_sets(commands, point, pipeline.layout(), 0, &[pipeline.set()], &[]);
            if let (Some(texels), true) = (&self.texels, plan.image.is_some_and(|image| !image.is_written())) {
                device.cmd_bind_vertex_buffers(commands, 0, &[texels.raw()], &[0]);
            }
            device.cmd_draw(commands, plan.vertices(), plan.rows, 0, 0);
            device.cmd_end_render_pass(commands);
        }
    }
}
