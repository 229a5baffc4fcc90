//! Recording compute dispatches, each with its constant block.

use ash::vk;
use fpprobe_spirv::Plan;
use fpprobe_spirv::plan::constant_block::{Dispatch, PUSH_BYTES, UNIFORM_BYTES};

use super::constant_blocks::{push_range, uniform};
use super::device::LogicalDevice;
use super::error::VulkanError;
use super::memory::DeviceBuffer;
use super::pipeline::Pipeline;

impl LogicalDevice {
    /// Refuses what the device has no room for.
    pub(super) fn check_blocks(
        &self,
        plan: &Plan,
        dispatches: &[Dispatch],
    ) -> Result<(), VulkanError> {
        let limits = &self.limits;
        let [most_x, most_y, _] = limits.max_compute_work_group_count;
        if let Some(one) = dispatches.iter().find(|one| one.columns > most_x || one.rows > most_y) {
            let what =
                format!("{} x {} work groups; at most {most_x} x {most_y}", one.columns, one.rows);
            return Err(VulkanError::limit("vkCmdDispatch", what));
        }
        let most = limits.max_uniform_buffer_range;
        if uniform(plan).is_some() && most < UNIFORM_BYTES {
            let what = format!("uniform buffer of {UNIFORM_BYTES} bytes; at most {most}");
            return Err(VulkanError::limit("vkUpdateDescriptorSets", what));
        }
        let most = limits.max_push_constants_size;
        if push_range(plan).is_some() && most < PUSH_BYTES {
            let what = format!("{PUSH_BYTES} bytes of push constants; at most {most}");
            return Err(VulkanError::limit("vkCreatePipelineLayout", what));
        }
        Ok(())
    }

    /// The buffer of constant blocks, filled; `None` on routes without one.
    pub(super) fn fill_blocks(&mut self, bytes: &[u8]) -> Result<(), VulkanError> {
        if bytes.is_empty() {
            return Ok(());
        }
        DeviceBuffer::fit(&mut self.blocks, &self.logical, bytes.len())?.write(bytes)
    }

    /// Records the dispatches of a module, each with its constant block.
    ///
    /// # Safety
    /// The command buffer is recording; the pipeline is this plan's and, like what its set
    /// describes, lives until the submission has been waited for; `check_blocks` has found no
    /// fault with the dispatches.
    pub(super) unsafe fn record_dispatches(
        &self,
        plan: &Plan,
        pipeline: &Pipeline,
        dispatches: &[Dispatch],
    ) {
        let (device, commands) = (self.logical.raw(), self.commands);
        let (point, layout, sets) =
            (vk::PipelineBindPoint::COMPUTE, pipeline.layout(), [pipeline.set()]);
        // SAFETY: the caller's promise. Offsets are multiples of every alignment that a device may
        // request.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline.raw());
            for (number, dispatch) in (0..).zip(dispatches) {
                let offset = uniform(plan).map(|_| number * UNIFORM_BYTES);
                if offset.is_some() || number == 0 {
                    device.cmd_bind_descriptor_sets(
                        commands,
                        point,
                        layout,
                        0,
                        &sets,
                        offset.as_slice(),
                    );
                }
                if let Some(range) = push_range(plan) {
                    let bytes: Vec<u8> = dispatch
                        .constant_block
                        .iter()
                        .flat_map(|word| word.to_le_bytes())
                        .collect();
                    device.cmd_push_constants(
                        commands,
                        layout,
                        range.stage_flags,
                        range.offset,
                        &bytes,
                    );
                }
                device.cmd_dispatch(commands, dispatch.columns, dispatch.rows, 1);
            }
        }
    }
}
