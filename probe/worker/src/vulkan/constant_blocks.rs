//! Constant blocks, which the routes beside the storage buffer need: uniform, push and
//! specialisation constants.

use ash::vk;
use fpprobe_spirv::plan::constant_block::{Dispatch, PUSH_BYTES, UNIFORM_BINDING};
use fpprobe_spirv::{Format, Plan, Route};

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
            let size = if constant.format == Format::Bool {
                4
            } else {
                constant.format.bits() as usize / 8
            };
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

/// The descriptor of a plan's blocks: its binding, for plans that have them in a uniform buffer.
pub(super) fn uniform(plan: &Plan) -> Option<(u32, vk::DescriptorType)> {
    (plan.route() == Some(Route::Uniform))
        .then_some((UNIFORM_BINDING, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC))
}

/// The push constants of a plan.
pub(super) fn push_range(plan: &Plan) -> Option<vk::PushConstantRange> {
    let range = vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .size(PUSH_BYTES);
    (plan.route() == Some(Route::Push)).then_some(range)
}

/// The blocks of all dispatches side by side, for a uniform buffer; empty on other routes.
pub(super) fn bytes(plan: &Plan, dispatches: &[Dispatch]) -> Vec<u8> {
    let blocks = if uniform(plan).is_some() { dispatches } else { &[] };
    blocks
        .iter()
        .flat_map(|dispatch| &dispatch.constant_block)
        .flat_map(|word| word.to_le_bytes())
        .collect()
}
