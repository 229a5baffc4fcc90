//! Which kernels a device can run, and what is missing for the others: a pure function of its
//! claims.

use std::collections::BTreeSet;

use fpprobe_spirv::needs::needs;
use fpprobe_spirv::{AtomicFeature, Control, Controls, Format, Kernel, Need, Use, products};

use crate::model::Claims;

/// The claim that the queue in use can draw and blit.
pub const GRAPHICS: &str = "graphicsQueue";
/// The claim of `VK_EXT_custom_border_color`.
pub const CUSTOM_BORDER_COLORS: &str = "customBorderColors";

/// The claim of `VK_KHR_cooperative_matrix`.
pub const COOPERATIVE_MATRIX: &str = "cooperativeMatrix";

/// The claim that modules may have bfloat16 (`VK_KHR_shader_bfloat16`).
pub const BFLOAT16: &str = "shaderBFloat16Type";

/// The claim that there are dot products of bfloat16.
pub const BFLOAT16_DOT: &str = "shaderBFloat16DotProduct";

/// The claim that matrices may have elements of bfloat16.
pub const BFLOAT16_MATRIX: &str = "shaderBFloat16CooperativeMatrix";

/// The claim that modules may have float8 (`VK_EXT_shader_float8`).
pub const FLOAT8: &str = "shaderFloat8";

/// The claim that matrices may have elements of float8.
pub const FLOAT8_MATRIX: &str = "shaderFloat8CooperativeMatrix";

/// The claims that modules may have `OpFmaKHR` of 16, 32 and 64 bits (`VK_KHR_shader_fma`).
pub const FMA: [&str; 3] = ["shaderFmaFloat16", "shaderFmaFloat32", "shaderFmaFloat64"];

/// The claim of operations over subgroups in compute shaders.
pub const SUBGROUP_ARITHMETIC: &str = "subgroupArithmetic";
/// The same over clusters.
pub const SUBGROUP_CLUSTERED: &str = "subgroupClustered";
/// The claim of operations over subgroups on 16-bit floats.
pub const SUBGROUP_EXTENDED_TYPES: &str = "shaderSubgroupExtendedTypes";

/// What a device offers.
#[derive(Clone, Debug, Default)]
pub struct Support {
    /// Features and formats.
    pub offers: BTreeSet<Need>,
    /// `denormBehaviorIndependence`.
    pub denorm_independence: Independence,
    /// `roundingModeIndependence`.
    pub rounding_independence: Independence,
    /// Products of matrices.
    pub matrices: Vec<Kernel>,
}

/// The products of matrices that a device enumerates.
pub fn matrices(properties: &[String]) -> Vec<Kernel> {
    properties.iter().filter_map(|property| products::product(property)).collect()
}

/// Whether the modes of different widths may differ (`VkShaderFloatControlsIndependence`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Independence {
    /// Every width may have its own.
    #[default]
    All,
    /// 16 and 64 bits must agree.
    Only32,
    /// All widths must agree.
    None,
}

impl Support {
    /// Of a device with these claims.
    pub fn new(claims: &Claims) -> Support {
        let independence = |text: &str| match text {
            "32-bit-only" => Independence::Only32,
            "none" => Independence::None,
            _ => Independence::All,
        };
        Support {
            offers: offers(claims),
            denorm_independence: independence(&claims.denorm_behavior_independence),
            rounding_independence: independence(&claims.rounding_mode_independence),
            matrices: matrices(&claims.matrices),
        }
    }

    /// Of a device that offers everything.
    pub fn everything() -> Support {
        let formats = uses().map(|(format, used)| Need::Use(format, used));
        let features = [
            Need::Float16,
            Need::Float64,
            Need::Storage16,
            Need::ExtendedFormats,
            Need::CompressionBc,
            Need::Graphics,
            Need::SubgroupArithmetic,
            Need::SubgroupClustered,
            Need::SubgroupExtendedTypes,
        ];
        let controls = Control::all().map(Need::Control);
        Support {
            offers: features
                .into_iter()
                .chain(AtomicFeature::all().map(Need::Atomic))
                .chain(formats)
                .chain(controls)
                .collect(),
            ..Support::default()
        }
    }

    /// The sets of controls that can be made of these modes.
    pub fn control_sets(&self, modes: &[Control]) -> Vec<Controls> {
        let able =
            |mode: &Control| mode.claim().is_none() || self.offers.contains(&Need::Control(*mode));
        let modes: Vec<Control> = modes.iter().copied().filter(able).collect();
        Controls::subsets(&modes)
    }

    /// Whether 16-bit values may lie in storage buffers as such.
    pub fn storage16(&self) -> bool {
        self.offers.contains(&Need::Storage16)
    }

    /// What the device lacks for a kernel; `None` where it can run.
    pub fn lacks(&self, kernel: &Kernel) -> Option<String> {
        let missing: Vec<String> = needs(kernel)
            .iter()
            .filter(|need| !self.offers.contains(need))
            .map(Need::to_string)
            .collect();
        if !missing.is_empty() {
            return Some(format!("the device lacks {}", missing.join(", ")));
        }
        // Loads and stores are of any product with these matrices.
        let has = |product: &Kernel| {
            product.matrix == kernel.matrix
                && (product.op != kernel.op || product.format == kernel.format)
        };
        if kernel.matrix.is_some() && !self.matrices.iter().any(has) {
            return Some(
                "the device does not enumerate this product of matrices (`fpprobe list -v`)"
                    .to_owned(),
            );
        }
        let denorms = |control| match control {
            Control::Ftz(width) => Some((width, false)),
            Control::Dp(width) => Some((width, true)),
            _ => None,
        };
        let roundings = |control| match control {
            Control::Rte(width) => Some((width, false)),
            Control::Rtz(width) => Some((width, true)),
            _ => None,
        };
        let denorms = clash(kernel, self.denorm_independence, denorms).map(|(a, b)| {
            format!("denormBehaviorIndependence forbids different denormal modes for {a} and {b} bits (VUID-RuntimeSpirv-denormBehaviorIndependence-06289, -06290)")
        });
        denorms.or_else(|| {
            let (a, b) = clash(kernel, self.rounding_independence, roundings)?;
            Some(format!("roundingModeIndependence forbids different rounding modes for {a} and {b} bits (VUID-RuntimeSpirv-roundingModeIndependence-06291, -06292)"))
        })
    }
}

/// Name of the claim that a packed format has a use; `None` for formats that are no image formats.
pub fn format_claim(format: Format, used: Use) -> Option<String> {
    format.vulkan().map(|(_, name)| format!("{name} {}", used.name()))
}

/// Every use of every packed format.
fn uses() -> impl Iterator<Item = (Format, Use)> {
    Format::PACKED.iter().flat_map(|format| Use::ALL.map(|used| (*format, used)))
}

/// What kernels may use on a device with these claims.
fn offers(claims: &Claims) -> BTreeSet<Need> {
    let claimed = |name: &str| claims.flags.get(name).copied().unwrap_or(false);
    let features = [
        (Need::Float16, "shaderFloat16"),
        (Need::Float64, "shaderFloat64"),
        (Need::Storage16, "storageBuffer16BitAccess"),
        (Need::CompressionBc, "textureCompressionBC"),
        (Need::ExtendedFormats, "shaderStorageImageExtendedFormats"),
        (Need::Graphics, GRAPHICS),
        (Need::FragmentStores, "fragmentStoresAndAtomics"),
        (Need::VertexStores, "vertexPipelineStoresAndAtomics"),
        (Need::GeometryShader, "geometryShader"),
        (Need::DepthClamp, "depthClamp"),
        (Need::CustomBorderColors, CUSTOM_BORDER_COLORS),
        (Need::CooperativeMatrix, COOPERATIVE_MATRIX),
        (Need::Int8, "shaderInt8"),
        (Need::Int16, "shaderInt16"),
        (Need::Bfloat16, BFLOAT16),
        (Need::Bfloat16Dot, BFLOAT16_DOT),
        (Need::Bfloat16Matrix, BFLOAT16_MATRIX),
        (Need::Float8, FLOAT8),
        (Need::Float8Matrix, FLOAT8_MATRIX),
        (Need::Fma(16), FMA[0]),
        (Need::Fma(32), FMA[1]),
        (Need::Fma(64), FMA[2]),
        (Need::SubgroupArithmetic, SUBGROUP_ARITHMETIC),
        (Need::SubgroupClustered, SUBGROUP_CLUSTERED),
        (Need::SubgroupExtendedTypes, SUBGROUP_EXTENDED_TYPES),
    ];
    let features = features.into_iter().filter(|(_, name)| claimed(name)).map(|(need, _)| need);
    let controls =
        Control::all().filter(|control| control.claim().is_some_and(claimed)).map(Need::Control);
    let formats = uses()
        .filter(|(format, used)| format_claim(*format, *used).is_some_and(|claim| claimed(&claim)));
    let atomics = AtomicFeature::all().filter(|feature| claimed(&feature.to_string()));
    features
        .chain(atomics.map(Need::Atomic))
        .chain(controls)
        .chain(formats.map(|(format, used)| Need::Use(format, used)))
        .collect()
}

/// Two widths whose modes differ though they must not. Widths without a mode leave the choice to
/// the driver.
fn clash(
    kernel: &Kernel,
    independence: Independence,
    mode: impl Fn(Control) -> Option<(u32, bool)>,
) -> Option<(u32, u32)> {
    let modes: Vec<(u32, bool)> = kernel.controls.iter().filter_map(mode).collect();
    let bound = |width: u32| match independence {
        Independence::All => false,
        Independence::Only32 => width != 32,
        Independence::None => true,
    };
    let bound: Vec<(u32, bool)> = modes.into_iter().filter(|(width, _)| bound(*width)).collect();
    let first = bound.first()?;
    bound
        .iter()
        .find(|(_, value)| *value != first.1)
        .map(|other| (first.0.min(other.0), first.0.max(other.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(independence: Independence) -> Support {
        let mut offers: BTreeSet<Need> = Control::all().map(Need::Control).collect();
        offers.extend([Need::Float16, Need::Float64]);
        Support {
            offers,
            denorm_independence: independence,
            rounding_independence: independence,
            ..Support::default()
        }
    }

    fn lacks(support: &Support, id: &str) -> Option<String> {
        support.lacks(&id.parse().unwrap())
    }

    fn claiming(names: &[&str]) -> Claims {
        Claims {
            flags: names.iter().map(|name| ((*name).to_owned(), true)).collect(),
            ..Claims::default()
        }
    }

    #[test]
    fn a_device_offers_what_it_claims_and_nothing_else() {
        assert!(offers(&claiming(&[])).is_empty());
        let some =
            offers(&claiming(&["shaderFloat16", "shaderDenormPreserveFloat32", "shaderInt64"]));
        assert_eq!(some, BTreeSet::from([Need::Float16, Need::Control(Control::Dp(32))]));
        let fast = offers(&claiming(&["shaderFloatControls2"]));
        assert_eq!(fast, BTreeSet::from([Need::Control(Control::FastMath0)]));
        let packed = offers(&claiming(&["B10G11R11_UFLOAT_PACK32 storageImage"]));
        assert_eq!(packed, BTreeSet::from([Need::Use(Format::B10g11r11, Use::StorageImage)]));
    }

    #[test]
    fn missing_features_are_named() {
        let bare = Support::default();
        assert_eq!(lacks(&bare, "f16.fadd").unwrap(), "the device lacks shaderFloat16");
        assert!(
            lacks(&bare, "f32.fadd:controls=ftz32")
                .unwrap()
                .contains("shaderDenormFlushToZeroFloat32")
        );
        assert_eq!(lacks(&bare, "f32.fadd:controls=nocontract"), None);
        assert!(
            lacks(&bare, "b10g11r11.load:route=storage_image")
                .unwrap()
                .contains("shaderStorageImageExtendedFormats")
        );
    }

    #[test]
    fn dependent_modes_are_refused_with_the_rule() {
        let (all, only32, none) =
            (device(Independence::All), device(Independence::Only32), device(Independence::None));
        let mixed = "f32.fadd:controls=ftz32,dp16";
        assert_eq!(lacks(&all, mixed), None);
        assert_eq!(lacks(&only32, mixed), None);
        assert!(lacks(&none, mixed).unwrap().contains("16 and 32 bits"));
        assert!(lacks(&only32, "f32.fadd:controls=dp16,ftz64").unwrap().contains("16 and 64 bits"));
        assert_eq!(lacks(&none, "f32.fadd:controls=ftz16,ftz32,rte32"), None);
        assert!(
            lacks(&none, "f32.fadd:controls=rte16,rtz32")
                .unwrap()
                .contains("roundingModeIndependence")
        );
    }
}
