//! Models by name: those of units whose products were published, and plain ones.

use fpprobe_spirv::cases::matrix::ProductLayouts;
use fpprobe_spirv::layout::{BINARY16, BINARY32};
use fpprobe_spirv::{FloatLayout, Kernel};

use super::sequential::SequentialModel;
use super::{MODELS, MatrixModel};

/// A model that a measured unit may follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitModel {
    /// Terms aligned to the largest of their group.
    Aligned(MatrixModel),
    /// One summand after the other.
    Sequential(SequentialModel),
}

const fn sequential(name: &'static str, fused: bool, c_first: bool, single: bool) -> UnitModel {
    UnitModel::Sequential(SequentialModel { name, fused, c_first, single })
}

/// Where several give the same, the first gives its name: products of binary16 are exact in
/// binary32, fused or not.
const SEQUENTIAL: [UnitModel; 6] = [
    sequential("multiply and add in order, C last", false, false, false),
    sequential("multiply and add in order, C first", false, true, false),
    sequential("fma in order, C last", true, false, false),
    sequential("fma in order, C first", true, true, false),
    sequential("multiply and add in order in f32, C last", false, false, true),
    sequential("multiply and add in order in f32, C first", false, true, true),
];

impl UnitModel {
    /// Every model that says something of a kernel that multiplies matrices of floats.
    pub fn all(kernel: &Kernel) -> Vec<UnitModel> {
        let Some(layouts) = ProductLayouts::of(kernel) else { return Vec::new() };
        let ProductLayouts { factors, added, result } = layouts;
        let is_published = |model: &MatrixModel| {
            model.input(factors).is_some()
                && added == result
                && [BINARY16, BINARY32].contains(&result)
        };
        MODELS.into_iter().filter(is_published).map(UnitModel::Aligned).chain(SEQUENTIAL).collect()
    }

    /// The model of this id.
    pub fn find(id: &str) -> Option<UnitModel> {
        MODELS.into_iter().map(UnitModel::Aligned).chain(SEQUENTIAL).find(|model| model.id() == id)
    }

    /// Its name as the value of a trait: `a100_ada`.
    pub fn id(&self) -> String {
        self.name().to_lowercase().replace(", ", "_").replace(' ', "_")
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            UnitModel::Aligned(model) => model.name,
            UnitModel::Sequential(model) => model.name,
        }
    }

    /// The result of a kernel on a case by the model. `None` where it says nothing: of what is no
    /// number, and of subnormal numbers, which units flush or keep whatever their sums.
    pub fn element(&self, kernel: &Kernel, case: &[u64]) -> Option<u64> {
        let (layouts, k) = (ProductLayouts::of(kernel)?, kernel.matrix?.k as usize);
        let ([a, b], c) = ([&case[..k], &case[k..2 * k]], *case.last()?);
        let is_normal =
            |layout: FloatLayout, bits: &u64| layout.is_normal(*bits) || layout.is_zero(*bits);
        let normal = a.iter().chain(b).all(|bits| is_normal(layouts.factors, bits))
            && is_normal(layouts.added, &c);
        if !normal {
            return None;
        }
        let result = match self {
            UnitModel::Aligned(model) => {
                model.element(model.input(layouts.factors)?, layouts.result, a, b, c)?
            }
            UnitModel::Sequential(model) => model.element(layouts, a, b, c)?,
        };
        Some(result).filter(|bits| is_normal(layouts.result, bits))
    }
}
