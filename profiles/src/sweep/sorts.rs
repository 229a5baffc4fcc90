//! Operands that no rule and no accuracy distinguishes, but by their values.

use std::collections::HashMap;

use fpprobe_spirv::FloatLayout;

use super::EncodingClass;
use super::lane::SweepRule;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::interval::Interval;
use crate::lanes;
use crate::oracle::Operand;

/// Encodings of an operand of 16 bits by sorts: their class, which classes of
/// [`lanes::OperandClass`] they belong to that rules look at, and which conditions of accuracies
/// hold.
#[derive(Debug)]
pub(super) struct Sorts {
    of: Vec<u8>,
    classes: Vec<EncodingClass>,
    /// Consecutive encodings of one sort: where each run ends.
    ends: Vec<u32>,
}

impl Sorts {
    /// Most sorts that there may be.
    pub(super) const MOST: usize = 64;

    /// The sorts of an operand, by its number; `None` where an accuracy depends on more than one
    /// operand, or there are too many.
    pub(super) fn new(rules: &[SweepRule], operand: usize, layout: FloatLayout) -> Option<Sorts> {
        let looked = rules
            .iter()
            .flat_map(|rule| &rule.of.lanes)
            .flat_map(lanes::LaneSelection::classes)
            .collect::<Vec<_>>();
        let accuracies = rules.iter().flat_map(|rule| &rule.demands).map(|demand| &demand.accuracy);
        let stated = accuracies.filter_map(|accuracy| match accuracy {
            Accuracy::Stated(stated) => Some(stated.conditions.iter().chain(&stated.zero)),
            _ => None,
        });
        let conditions: Vec<_> = stated.flatten().collect();
        if conditions.iter().any(|condition| condition.compares()) {
            return None;
        }
        let mut known: HashMap<(EncodingClass, Vec<bool>), u8> = HashMap::new();
        let mut classes = Vec::new();
        let mut of = Vec::with_capacity(1 << layout.bits());
        for bits in 0..1_u64 << layout.bits() {
            let class = EncodingClass::of(Encoding::Float(layout), bits);
            let value = Interval::point(Operand { layout: Some(layout), bits }.double());
            let looked = looked.iter().map(|looked| looked.holds(layout, bits));
            let own = conditions.iter().filter(|condition| condition.operand() == operand);
            let holds = own.map(|condition| condition.holds(&[value; 3], layout));
            let next =
                u8::try_from(known.len()).ok().filter(|next| usize::from(*next) < Sorts::MOST)?;
            let sort = *known.entry((class, looked.chain(holds).collect())).or_insert(next);
            if sort == next {
                classes.push(class);
            }
            of.push(sort);
        }
        let ends =
            (1..).zip(of.windows(2)).filter(|(_, pair)| pair[0] != pair[1]).map(|(end, _)| end);
        let ends = ends.chain([1 << layout.bits()]).collect();
        Some(Sorts { of, classes, ends })
    }

    /// The sort of an encoding.
    pub(super) fn of(&self, bits: u32) -> u8 {
        self.of[bits as usize]
    }

    /// The class of an encoding.
    pub(super) fn class(&self, bits: u32) -> EncodingClass {
        self.classes[usize::from(self.of(bits))]
    }

    /// The first encoding behind this one that is of another sort, or the number of encodings.
    pub(super) fn end(&self, bits: u32) -> u32 {
        self.ends[self.ends.partition_point(|end| *end <= bits)]
    }
}
