//! Recording a draw: of a triangle or of points, into a render target.

use ash::vk;
use fpprobe_spirv::Plan;

use super::device::LogicalDevice;
use super::pipeline::Pipeline;
use super::render_target::RenderTarget;

impl LogicalDevice {
    /// Records the drawing of a plan's triangle or points; each under its state, where there are
    /// states.
    ///
    /// # Safety
    /// The command buffer is recording; pipeline and render target are this plan's and, like what
    /// the set describes and the attachments, live until the submission has been waited for;
    /// the attachments have their layout.
    pub(super) unsafe fn record_draw(
        &self,
        plan: &Plan,
        pipeline: &Pipeline,
        target: &RenderTarget,
        states: &[Vec<u64>],
    ) {
        let (device, commands, point) =
            (self.logical.raw(), self.commands, vk::PipelineBindPoint::GRAPHICS);
        let color = vk::ClearColorValue { float32: [target.cleared; 4] };
        let clears = vec![vk::ClearValue { color }; target.samples.len()];
        let begin = vk::RenderPassBeginInfo::default()
            .clear_values(&clears)
            .render_pass(target.pass.raw())
            .framebuffer(target.frame.raw())
            .render_area(vk::Rect2D::default().extent(target.extent));
        // SAFETY: the caller's promise. Attributes are fetched within the texels: each kernel has
        // one for every vertex.
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, point, pipeline.raw());
            device.cmd_bind_descriptor_sets(
                commands,
                point,
                pipeline.layout(),
                0,
                &[pipeline.set()],
                &[],
            );
            for (image, texels) in plan.images().zip(self.texels.iter().flatten()) {
                if !image.is_written() {
                    device.cmd_bind_vertex_buffers(commands, image.number, &[texels.raw()], &[0]);
                }
            }
            if states.is_empty() {
                device.cmd_draw(commands, plan.vertices(), plan.instances(), 0, 0);
            } else {
                self.record_states(plan, target.extent, states);
            }
            device.cmd_end_render_pass(commands);
        }
    }
}
