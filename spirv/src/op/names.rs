//! What operations are called elsewhere: in SPIR-V, GLSL, HLSL, WGSL, C and CUDA.
//!
//! SPIR-V's and GLSL's names follow from the table of operations, but for those of texels. The
//! others are listed here: an operation has the name of each function or operator that a compiler
//! may lower to it.

use super::{Code, Inst, Op};

/// A language that names operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Language {
    /// SPIR-V and its instruction set GLSL.std.450.
    Spirv,
    /// GLSL.
    Glsl,
    /// HLSL.
    Hlsl,
    /// WGSL.
    Wgsl,
    /// C.
    C,
    /// CUDA, beside C's names.
    Cuda,
}

impl Language {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Spirv => "SPIR-V",
            Language::Glsl => "GLSL",
            Language::Hlsl => "HLSL",
            Language::Wgsl => "WGSL",
            Language::C => "C",
            Language::Cuda => "CUDA",
        }
    }
}

/// Operations with their names in HLSL and in WGSL.
const NAMES: [(&str, &[&str], &[&str]); 97] = [
    ("fadd", &["+"], &["+"]),
    ("fsub", &["-"], &["-"]),
    ("fmul", &["*"], &["*"]),
    ("fdiv", &["/"], &["/"]),
    ("fnegate", &["-"], &["-"]),
    ("rcp", &["rcp"], &[]),
    ("fma", &["fma", "mad"], &["fma"]),
    ("mul_then_add", &["mad"], &["fma"]),
    ("frem", &["fmod", "%"], &["%"]),
    ("ford_equal", &["=="], &["=="]),
    ("funord_not_equal", &["!="], &["!="]),
    ("ford_less_than", &["<"], &["<"]),
    ("ford_greater_than", &[">"], &[">"]),
    ("ford_less_than_equal", &["<="], &["<="]),
    ("ford_greater_than_equal", &[">="], &[">="]),
    ("is_nan", &["isnan"], &[]),
    ("is_inf", &["isinf"], &[]),
    ("fmin", &["min"], &["min"]),
    ("fmax", &["max"], &["max"]),
    ("fclamp", &["clamp"], &["clamp"]),
    ("nmin", &["min"], &["min"]),
    ("nmax", &["max"], &["max"]),
    ("nclamp", &["clamp"], &["clamp"]),
    ("saturate", &["saturate"], &["saturate"]),
    ("saturate_fclamp", &["saturate"], &["saturate"]),
    ("fabs", &["abs"], &["abs"]),
    ("fsign", &["sign"], &["sign"]),
    ("floor", &["floor"], &["floor"]),
    ("ceil", &["ceil"], &["ceil"]),
    ("trunc", &["trunc"], &["trunc"]),
    ("round_even", &["round"], &["round"]),
    ("fract", &["frac"], &["fract"]),
    ("modf", &["modf"], &["modf"]),
    ("frexp", &["frexp"], &["frexp"]),
    ("fmix", &["lerp"], &["mix"]),
    ("step", &["step"], &["step"]),
    ("smooth_step", &["smoothstep"], &["smoothstep"]),
    ("ldexp", &["ldexp"], &["ldexp"]),
    ("sqrt", &["sqrt"], &["sqrt"]),
    ("inverse_sqrt", &["rsqrt"], &["inverseSqrt"]),
    ("exp", &["exp"], &["exp"]),
    ("exp2", &["exp2"], &["exp2"]),
    ("log", &["log"], &["log"]),
    ("log2", &["log2"], &["log2"]),
    ("sin", &["sin"], &["sin"]),
    ("cos", &["cos"], &["cos"]),
    ("tan", &["tan"], &["tan"]),
    ("asin", &["asin"], &["asin"]),
    ("acos", &["acos"], &["acos"]),
    ("atan", &["atan"], &["atan"]),
    ("atan2", &["atan2"], &["atan2"]),
    ("sinh", &["sinh"], &["sinh"]),
    ("cosh", &["cosh"], &["cosh"]),
    ("tanh", &["tanh"], &["tanh"]),
    ("asinh", &[], &["asinh"]),
    ("acosh", &[], &["acosh"]),
    ("atanh", &[], &["atanh"]),
    ("radians", &["radians"], &["radians"]),
    ("degrees", &["degrees"], &["degrees"]),
    ("pow", &["pow"], &["pow"]),
    ("dot", &["dot"], &["dot"]),
    ("length", &["length"], &["length"]),
    ("distance", &["distance"], &["distance"]),
    ("normalize", &["normalize"], &["normalize"]),
    ("cross", &["cross"], &["cross"]),
    ("face_forward", &["faceforward"], &["faceForward"]),
    ("reflect", &["reflect"], &["reflect"]),
    ("refract", &["refract"], &["refract"]),
    ("transpose", &["transpose"], &["transpose"]),
    ("determinant", &["determinant"], &["determinant"]),
    ("matrix_times_vector", &["mul"], &["*"]),
    ("matrix_times_matrix", &["mul"], &["*"]),
    ("fconvert_f16", &["f32tof16", "half", "float16_t"], &["f16"]),
    ("fconvert_f32", &["f16tof32", "float"], &["f32"]),
    ("quantize_to_f16", &[], &["quantizeToF16"]),
    ("pack_half_2x16", &["f32tof16"], &["pack2x16float"]),
    ("unpack_half_2x16", &["f16tof32"], &["unpack2x16float"]),
    ("pack_snorm_4x8", &[], &["pack4x8snorm"]),
    ("pack_unorm_4x8", &[], &["pack4x8unorm"]),
    ("unpack_snorm_4x8", &[], &["unpack4x8snorm"]),
    ("unpack_unorm_4x8", &[], &["unpack4x8unorm"]),
    ("bitcast", &["asuint"], &["bitcast"]),
    ("select", &["select", "?:"], &["select"]),
    ("subgroup_fmin", &["WaveActiveMin"], &["subgroupMin"]),
    ("subgroup_fmax", &["WaveActiveMax"], &["subgroupMax"]),
    ("subgroup_fadd", &["WaveActiveSum"], &["subgroupAdd"]),
    ("subgroup_inclusive_fadd", &[], &["subgroupInclusiveAdd"]),
    ("subgroup_exclusive_fadd", &["WavePrefixSum"], &["subgroupExclusiveAdd"]),
    ("subgroup_fmul", &["WaveActiveProduct"], &["subgroupMul"]),
    ("subgroup_inclusive_fmul", &[], &["subgroupInclusiveMul"]),
    ("subgroup_exclusive_fmul", &["WavePrefixProduct"], &["subgroupExclusiveMul"]),
    ("dpdx", &["ddx"], &["dpdx"]),
    ("dpdy", &["ddy"], &["dpdy"]),
    ("dpdx_fine", &["ddx_fine"], &["dpdxFine"]),
    ("dpdy_fine", &["ddy_fine"], &["dpdyFine"]),
    ("dpdx_coarse", &["ddx_coarse"], &["dpdxCoarse"]),
    ("dpdy_coarse", &["ddy_coarse"], &["dpdyCoarse"]),
];

/// Names in one language.
const NAMES_IN: [(&str, Language, &[&str]); 97] = [
    ("load", Language::Glsl, &["texelFetch", "imageLoad"]),
    ("load", Language::Hlsl, &["Load"]),
    ("load", Language::Wgsl, &["textureLoad"]),
    ("sample", Language::Glsl, &["texture", "textureLod"]),
    ("sample", Language::Hlsl, &["Sample", "SampleLevel"]),
    ("sample", Language::Wgsl, &["textureSample", "textureSampleLevel"]),
    ("store", Language::Glsl, &["imageStore"]),
    ("store", Language::Wgsl, &["textureStore"]),
    ("convert_f_to_s", Language::Hlsl, &["int", "ftoi"]),
    ("convert_f_to_u", Language::Hlsl, &["uint", "ftou"]),
    ("convert_s_to_f", Language::Hlsl, &["itof"]),
    ("convert_u_to_f", Language::Hlsl, &["utof"]),
    ("dot", Language::Hlsl, &["dp2", "dp3", "dp4"]),
    ("fadd", Language::Cuda, &["__fadd_rn", "__dadd_rn", "__hadd"]),
    ("fsub", Language::Cuda, &["__fsub_rn", "__dsub_rn", "__hsub"]),
    ("fmul", Language::Cuda, &["__fmul_rn", "__dmul_rn", "__hmul"]),
    ("fdiv", Language::Cuda, &["__fdiv_rn", "__fdividef", "__ddiv_rn", "__hdiv"]),
    ("rcp", Language::Cuda, &["__frcp_rn", "__drcp_rn", "hrcp"]),
    ("fma", Language::C, &["fma", "fmaf"]),
    ("fma", Language::Cuda, &["__fmaf_rn", "__fma_rn", "__hfma"]),
    ("frem", Language::C, &["fmod", "fmodf"]),
    ("fmin", Language::C, &["fmin", "fminf"]),
    ("nmin", Language::C, &["fmin", "fminf"]),
    ("fmax", Language::C, &["fmax", "fmaxf"]),
    ("nmax", Language::C, &["fmax", "fmaxf"]),
    ("saturate", Language::Cuda, &["__saturatef"]),
    ("fabs", Language::C, &["fabs", "fabsf"]),
    ("round_even", Language::C, &["rint", "rintf", "nearbyint", "nearbyintf"]),
    ("round", Language::C, &["round", "roundf"]),
    ("sqrt", Language::Cuda, &["__fsqrt_rn", "__dsqrt_rn", "hsqrt"]),
    ("inverse_sqrt", Language::Cuda, &["rsqrt", "rsqrtf", "__frsqrt_rn", "hrsqrt"]),
    ("exp", Language::Cuda, &["__expf", "hexp"]),
    ("log", Language::Cuda, &["__logf", "hlog"]),
    ("log2", Language::Cuda, &["__log2f", "hlog2"]),
    ("sin", Language::Cuda, &["__sinf", "hsin"]),
    ("cos", Language::Cuda, &["__cosf", "hcos"]),
    ("tan", Language::Cuda, &["__tanf"]),
    ("pow", Language::Cuda, &["powf", "__powf"]),
    ("fconvert_f16", Language::Cuda, &["__float2half_rn"]),
    ("fconvert_f32", Language::Cuda, &["__half2float", "__bfloat162float"]),
    ("fconvert_bf16", Language::Cuda, &["__float2bfloat16_rn"]),
    ("convert_f_to_s", Language::Cuda, &["__float2int_rz"]),
    ("dpdx", Language::Glsl, &["dFdx"]),
    ("dpdy", Language::Glsl, &["dFdy"]),
    ("dpdx_fine", Language::Glsl, &["dFdxFine"]),
    ("dpdy_fine", Language::Glsl, &["dFdyFine"]),
    ("dpdx_coarse", Language::Glsl, &["dFdxCoarse"]),
    ("dpdy_coarse", Language::Glsl, &["dFdyCoarse"]),
    ("fadd_fconvert_f16", Language::Glsl, &["float16_t(x + y)"]),
    ("fadd_fconvert_f16", Language::Hlsl, &["half(x + y)"]),
    ("fadd_fconvert_f16", Language::Wgsl, &["f16(x + y)"]),
    ("fadd_fconvert_f16", Language::Cuda, &["__float2half_rn(x + y)"]),
    ("fadd_fconvert_f32", Language::Glsl, &["float(x + y)"]),
    ("fadd_fconvert_f32", Language::Hlsl, &["float(x + y)"]),
    ("fadd_quantize_to_f16", Language::Wgsl, &["quantizeToF16(x + y)"]),
    ("fadd_pack_half_2x16", Language::Glsl, &["packHalf2x16(x + y)"]),
    ("fadd_pack_half_2x16", Language::Hlsl, &["f32tof16(x + y)"]),
    ("fadd_pack_half_2x16", Language::Wgsl, &["pack2x16float(x + y)"]),
    ("fmul_fconvert_f16", Language::Glsl, &["float16_t(x * y)"]),
    ("fmul_fconvert_f16", Language::Hlsl, &["half(x * y)"]),
    ("fmul_fconvert_f16", Language::Wgsl, &["f16(x * y)"]),
    ("fmul_fconvert_f16", Language::Cuda, &["__float2half_rn(x * y)"]),
    ("fmul_fconvert_f32", Language::Glsl, &["float(x * y)"]),
    ("fmul_fconvert_f32", Language::Hlsl, &["float(x * y)"]),
    ("fmul_quantize_to_f16", Language::Wgsl, &["quantizeToF16(x * y)"]),
    ("fmul_pack_half_2x16", Language::Glsl, &["packHalf2x16(x * y)"]),
    ("fmul_pack_half_2x16", Language::Hlsl, &["f32tof16(x * y)"]),
    ("fmul_pack_half_2x16", Language::Wgsl, &["pack2x16float(x * y)"]),
    ("fadd_narrow_f16_fadd", Language::Glsl, &["float(float16_t(x + y)) + z"]),
    ("fadd_narrow_f16_fadd", Language::Hlsl, &["float(half(x + y)) + z"]),
    ("fadd_narrow_f16_fadd", Language::Wgsl, &["f32(f16(x + y)) + z"]),
    ("fadd_narrow_f32_fadd", Language::Glsl, &["double(float(x + y)) + z"]),
    ("fadd_narrow_f32_fadd", Language::Hlsl, &["double(float(x + y)) + z"]),
    ("fadd_quantize_fadd", Language::Wgsl, &["quantizeToF16(x + y) + z"]),
    ("fadd_widen_fadd", Language::Glsl, &["float16_t(float(x + y) + float(z))"]),
    ("fadd_widen_fadd", Language::Hlsl, &["half(float(x + y) + float(z))"]),
    ("fadd_widen_fadd", Language::Wgsl, &["f16(f32(x + y) + f32(z))"]),
    ("fmul_widen_f32_fadd", Language::Glsl, &["float(x * y) + z"]),
    ("fmul_widen_f32_fadd", Language::Hlsl, &["float(x * y) + z"]),
    ("fmul_widen_f32_fadd", Language::Wgsl, &["f32(x * y) + z"]),
    ("fmul_widen_f64_fadd", Language::Glsl, &["double(x * y) + z"]),
    ("fmul_widen_f64_fadd", Language::Hlsl, &["double(x * y) + z"]),
    ("input_flat", Language::Spirv, &["Flat"]),
    ("input_flat", Language::Glsl, &["flat"]),
    ("input_flat", Language::Hlsl, &["nointerpolation"]),
    ("input_flat", Language::Wgsl, &["@interpolate(flat)"]),
    ("input_smooth", Language::Glsl, &["smooth"]),
    ("input_smooth", Language::Hlsl, &["linear"]),
    ("input_smooth", Language::Wgsl, &["@interpolate(perspective)"]),
    ("input_noperspective", Language::Spirv, &["NoPerspective"]),
    ("input_noperspective", Language::Glsl, &["noperspective"]),
    ("input_noperspective", Language::Hlsl, &["noperspective"]),
    ("input_noperspective", Language::Wgsl, &["@interpolate(linear)"]),
    ("input_centroid", Language::Spirv, &["Centroid"]),
    ("input_centroid", Language::Glsl, &["centroid"]),
    ("input_centroid", Language::Hlsl, &["centroid"]),
    ("input_centroid", Language::Wgsl, &["@interpolate(perspective, centroid)"]),
];

impl Op {
    /// What it is called in other languages.
    pub fn names(&self) -> Vec<(Language, String)> {
        let spirv = match self.code {
            Code::Inst(Inst::Core(op) | Inst::Saturated(op))
            | Code::Subgroup(op, _)
            | Code::Atomic(op, _)
            | Code::Derivative(op) => Some(format!("Op{op:?}")),
            Code::Inst(Inst::Ext(op)) => Some(format!("{op:?}")),
            _ => None,
        };
        let mut names: Vec<(Language, String)> =
            spirv.into_iter().map(|name| (Language::Spirv, name)).collect();
        names.extend(self.glsl.and_then(spelled).map(|name| (Language::Glsl, name)));
        if let Some((_, hlsl, wgsl)) = NAMES.iter().find(|(name, ..)| *name == self.name) {
            names.extend(hlsl.iter().map(|name| (Language::Hlsl, (*name).to_owned())));
            names.extend(wgsl.iter().map(|name| (Language::Wgsl, (*name).to_owned())));
        }
        for (_, language, own) in NAMES_IN.iter().filter(|(name, ..)| *name == self.name) {
            names.extend(own.iter().map(|name| (*language, (*name).to_owned())));
        }
        names
    }
}

/// The function or operator of a spelling: `min` of `min($0, $1)`, `+` of `$0 + $1`.
fn spelled(spelling: &str) -> Option<String> {
    if let Some((name, _)) = spelling.split_once('(').filter(|(name, _)| !name.is_empty()) {
        return name.chars().all(char::is_alphanumeric).then(|| name.to_owned());
    }
    let mut words = spelling.split(' ');
    match (words.next()?, words.next(), words.next(), words.next()) {
        ("-$0", None, ..) => Some("-".to_owned()),
        ("$0", Some(operator), Some("$1"), None) => Some(operator.to_owned()),
        ("$0", Some("?"), ..) => Some("?:".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OPS;

    #[test]
    fn the_table_names_operations_that_exist_once_and_in_their_order() {
        let place = |name: &str| OPS.iter().position(|op| op.name == name);
        let mut names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.iter().find(|name| place(name).is_none()), None);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(NAMES_IN.iter().find(|(name, ..)| place(name).is_none()), None);
    }

    #[test]
    fn operations_have_their_names() {
        let names = |op: &str| -> Vec<String> {
            let names = Op::find(op).unwrap().names();
            names.iter().map(|(language, name)| format!("{} {name}", language.name())).collect()
        };
        assert_eq!(
            names("fmul"),
            [
                "SPIR-V OpFMul",
                "GLSL *",
                "HLSL *",
                "WGSL *",
                "CUDA __fmul_rn",
                "CUDA __dmul_rn",
                "CUDA __hmul"
            ]
        );
        assert_eq!(names("nmin"), ["SPIR-V NMin", "HLSL min", "WGSL min", "C fmin", "C fminf"]);
        assert_eq!(
            names("inverse_sqrt")[..4],
            ["SPIR-V InverseSqrt", "GLSL inversesqrt", "HLSL rsqrt", "WGSL inverseSqrt"]
        );
        assert_eq!(names("x_minus_x"), [""; 0]);
        assert_eq!(names("add_sub"), [""; 0]);
    }
}
