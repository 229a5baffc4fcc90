//! Specialisation constants: one for each value that an operand of a module's kernels takes.

use std::collections::BTreeSet;

use crate::format::Format;
use crate::plan::Plan;
use crate::route::Route;

/// A specialisation constant; its `SpecId` is its place in [`Plan::specialised`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SpecialisationConstant {
    /// Which component of the operands takes the value, counted through a case: equal values of
    /// two operands are two constants.
    pub component: usize,
    /// Format of the constant.
    pub format: Format,
    /// The value it is given when the pipeline is made.
    pub bits: u64,
}

impl SpecialisationConstant {
    /// The value that the module itself gives it: another one, so that a driver that does not
    /// specialise shows.
    pub fn default_bits(self) -> u64 {
        !self.bits & self.format.mask()
    }
}

impl Plan {
    /// The specialisation constants of the module, each once, in order; none on other routes.
    pub fn specialised(&self) -> Vec<SpecialisationConstant> {
        let mut constants = BTreeSet::new();
        for placed in self.placed.iter().filter(|placed| placed.kernel.route == Route::Spec) {
            let params = placed.kernel.params();
            let formats: Vec<Format> =
                params.iter().flat_map(|shape| vec![shape.format; shape.width as usize]).collect();
            for values in placed.values.chunks(formats.len()) {
                let case = values.iter().zip(&formats).enumerate();
                constants.extend(case.map(|(component, (bits, format))| SpecialisationConstant {
                    component,
                    format: *format,
                    bits: *bits,
                }));
            }
        }
        constants.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::plan::{LayoutRequest, Variant};

    #[test]
    fn each_value_of_each_operand_is_one_constant() {
        let kernel: Kernel = "f32.select:route=spec".parse().unwrap();
        let request =
            LayoutRequest { kernel, slots: 2, operands: 0, values: vec![1, 7, 7, 0, 7, 8].into() };
        let constants = Plan::sharing(&[request], true, Variant::default()).specialised();
        let constants: Vec<_> =
            constants.iter().map(|one| (one.component, one.format, one.bits)).collect();
        let (flag, float) = (Format::Bool, Format::F32);
        assert_eq!(
            constants,
            [(0, flag, 0), (0, flag, 1), (1, float, 7), (2, float, 7), (2, float, 8)]
        );
    }

    #[test]
    fn the_module_has_another_value() {
        for (format, bits) in
            [(Format::Bool, 1), (Format::F16, 0x3c00), (Format::F64, 0), (Format::I32, 0xffff_ffff)]
        {
            let constant = SpecialisationConstant { component: 0, format, bits };
            assert_ne!(constant.default_bits(), bits);
            assert_eq!(constant.default_bits() & !format.mask(), 0);
        }
    }
}
