//! What the routes beside the storage buffer need: a uniform buffer of windows, push constants, specialisation constants.

use ash::vk;
use fpprobe_spirv::plan::window::{Dispatch, PUSH_BYTES, UNIFORM_BINDING, UNIFORM_BYTES};
use fpprobe_spirv::{Format, Plan, Route};

use super::device::Device;
use super::error::VulkanError;
use super::memory::Buffer;
use super::pipeline::Pipeline;

/// The values of a plan's specialisation constants.
pub(super) struct Specialisation {
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
}

impl Specialisation {
    /// Lays them out one after the other, each in eight bytes.
    pub(super) fn new(plan: &Plan) -> Specialisation {
        let mut specialisation = Specialisation { entries: Vec::new(), data: Vec::new() };
        for (number, constant) in plan.specialised().into_iter().enumerate() {
            // A truth value is a VkBool32 ("Specialization Constants").
            let size = if constant.format == Format::Bool { 4 } else { constant.format.bits() as usize / 8 };
            let entry = vk::SpecializationMapEntry::default()
                .constant_id(number as u32)
                .offset(specialisation.data.len() as u32)
                .size(size);
            specialisation.entries.push(entry);
            specialisation.data.extend(constant.bits.to_le_bytes());
        }
        specialisation
    }

    /// Of a module without such constants.
    pub(super) fn none() -> Specialisation {
        Specialisation { entries: Vec::new(), data: Vec::new() }
    }

    /// The structure for a pipeline's stage; `None` where nothing is specialised.
    pub(super) fn info(&self) -> Option<vk::SpecializationInfo<'_>> {
        let info = vk::SpecializationInfo::default().map_entries(&self.entries).data(&self.data);
        (!self.entries.is_empty()).then_some(info)
    }
}

/// The descriptor of a plan's windows: its binding, for plans that have them in a uniform buffer.
pub(super) fn uniform(plan: &Plan) -> Option<(u32, vk::DescriptorType)> {
    (plan.route() == Some(Route::Uniform)).then_some((UNIFORM_BINDING, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC))
}

/// The push constants of a plan.
pub(super) fn push_range(plan: &Plan) -> Option<vk::PushConstantRange> {
    let range = vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(PUSH_BYTES);
    (plan.route() == Some(Route::Push)).then_some(range)
}

/// The windows of all dispatches side by side, for a uniform buffer; empty on other routes.
pub(super) fn bytes(plan: &Plan, dispatches: &[Dispatch]) -> Vec<u8> {
    let windows = if uniform(plan).is_some() { dispatches } else { &[] };
    windows.iter().flat_map(|dispatch| &dispatch.window).flat_map(|word| word.to_le_bytes()).collect()
}

impl Device {
    /// Refuses what the device has no room for.
    pub(super) fn check_windows(&self, plan: &Plan, dispatches: &[Dispatch]) -> Result<(), VulkanError> {
        let limits = &self.limits;
        let [most_x, most_y, _] = limits.max_compute_work_group_count;
        if let Some(one) = dispatches.iter().find(|one| one.columns > most_x || one.rows > most_y) {
            let what = format!("{} x {} work groups; at most {most_x} x {most_y}", one.columns, one.rows);
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

    /// The buffer of windows, filled; `None` on routes without one.
    pub(super) fn fill_windows(&mut self, bytes: &[u8]) -> Result<(), VulkanError> {
        if bytes.is_empty() {
            return Ok(());
        }
        Buffer::fit(&mut self.windows, &self.logical, bytes.len())?.write(bytes)
    }

    /// Records the dispatches of a module, each with its window.
    ///
    /// # Safety
    /// The command buffer is recording; the pipeline is this plan's and, like what its set describes, lives until the
    /// submission has been waited for; `check_windows` has found no fault with the dispatches.
    pub(super) unsafe fn record_dispatches(&self, plan: &Plan, pipeline: &Pipeline, dispatches: &[Dispatch]) {
        let (device, commands) = (self.logical.raw(), self.commands);
        let (point, layout, sets) = (vk::PipelineBindPoint::COMPUTE, pipeline.layout(), [pipeline.set()]);
        // SAFETY: the caller's promise. Offsets are multiples of every alignment that a device may ask for.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline.raw());
            for (number, dispatch) in (0..).zip(dispatches) {
                let offset = uniform(plan).map(|_| number * UNIFORM_BYTES);
                if offset.is_some() || number == 0 {
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &sets, offset.as_slice());
                }
                if let Some(range) = push_range(plan) {
                    let bytes: Vec<u8> = dispatch.window.iter().flat_map(|word| word.to_le_bytes()).collect();
                    device.cmd_push_constants(commands, layout, range.stage_flags, range.offset, &bytes);
                }
                device.cmd_dispatch(commands, dispatch.columns, dispatch.rows, 1);
            }
        }
    }
}
