//! Numbers that are state: one draw with each viewport and each set of blend constants, one
//! dispatch with each border colour.

use std::time::Duration;

use ash::vk;
use fpprobe_spirv::Plan;
use fpprobe_spirv::op::FixedFunctionState;
use fpprobe_spirv::plan::{self, PlacedKernel};

use super::device::LogicalDevice;
use super::error::VulkanError;
use super::image::vulkan_format;
use super::pipeline::Pipeline;
use super::prepared::TexelAccess;
use super::render_target::dynamic;
use super::sampler::sampler;

/// The state of each slot, component by component; none where the operands are no state.
pub(super) fn states(plan: &Plan, buffers: &[Vec<u8>]) -> Vec<Vec<u64>> {
    let state = plan.image().and_then(|image| image.state());
    let (Some(_), [PlacedKernel { slots, params, .. }]) = (state, &plan.placed[..]) else {
        return Vec::new();
    };
    let of_slot = |slot: u32| {
        let values = params.iter().flat_map(|region| {
            let bytes = &buffers[region.buffer];
            (0..region.shape.width).map(move |part| plan::read(plan, bytes, region, slot, part))
        });
        values.collect()
    };
    (0..*slots).map(of_slot).collect()
}

/// Four components of binary32; those that are missing are 0.
fn quad(values: &[u64]) -> [f32; 4] {
    let mut quad = [0.0; 4];
    for (part, bits) in quad.iter_mut().zip(values) {
        *part = f32::from_bits(*bits as u32);
    }
    quad
}

impl LogicalDevice {
    /// Records a draw of each slot's point under its state.
    ///
    /// # Safety
    /// The command buffer is recording, within a render pass of this extent, and the plan's
    /// pipeline is bound.
    pub(super) unsafe fn record_states(
        &self,
        plan: &Plan,
        extent: vk::Extent2D,
        states: &[Vec<u64>],
    ) {
        let (device, commands) = (self.logical.raw(), self.commands);
        let viewport =
            vk::Viewport::default().width(extent.width as f32).height(extent.height as f32);
        for (point, values) in (plan.idle()..).zip(states) {
            let values = quad(values);
            // SAFETY: the caller's promise; depths lie between 0 and 1.
            unsafe {
                match dynamic(plan) {
                    Some(vk::DynamicState::VIEWPORT) => {
                        let viewport = match plan.image().and_then(|image| image.state()) {
                            Some(FixedFunctionState::MaxDepth) => {
                                viewport.min_depth(0.0).max_depth(values[0])
                            }
                            _ => viewport.min_depth(values[0]).max_depth(1.0),
                        };
                        device.cmd_set_viewport(commands, 0, &[viewport]);
                    }
                    Some(_) => device.cmd_set_blend_constants(commands, &values),
                    None => {}
                }
                device.cmd_draw(commands, 1, plan.instances(), point, 0);
            }
        }
    }

    /// Runs a plan once with each slot's border colour, and keeps that slot's result.
    pub(super) fn border_colors(
        &mut self,
        plan: &Plan,
        pipeline: &Pipeline,
        access: &mut TexelAccess<'_>,
        states: &[Vec<u64>],
        buffers: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), VulkanError> {
        let format = plan.image().and_then(|image| vulkan_format(image.format));
        let dispatches = plan.dispatches();
        let mut left = buffers.to_vec();
        for (slot, values) in (0..).zip(states) {
            let color = vk::ClearColorValue { float32: quad(values) };
            self.fill(buffers)?;
            access.sampler = Some(sampler(&self.logical, format.map(|format| (color, format)))?);
            self.describe(plan, pipeline, access);
            self.record(plan, pipeline, &dispatches, access.images, None)?;
            self.submit(timeout)?;
            self.read_back(plan, &mut left)?;
            for region in plan.placed.iter().flat_map(|placed| &placed.results) {
                for part in 0..region.shape.width {
                    let bits = plan::read(plan, &left[region.buffer], region, slot, part);
                    plan::write(plan, &mut buffers[region.buffer], region, slot, part, bits);
                }
            }
        }
        Ok(())
    }
}
