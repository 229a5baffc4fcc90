//! A device that meets every profile without any control: a driver, and statements that put right
//! what it lacks.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use fpprobe_profiles::accepted::Accepted;
use fpprobe_profiles::accepts::KernelDemands;
use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::components;
use fpprobe_profiles::oracle::{Demand, Signature};
use fpprobe_profiles::{Profile, profile};
use fpprobe_spirv::{Kernel, cases};
use serde_json::Value;

use crate::faulty;

/// The driver.
pub const DRIVER: &str = "lavapipe-25";

/// Binary32 keeps subnormals (D32-18), and logarithms and powers take them for neither number nor
/// zero (D32-02, S-04-special).
pub const FLUSH: &str = "flush f32 operands\nflush f32 results\n";

/// The reciprocal square root of binary16 is an ulp off here and there (D16-08), and halves are
/// packed to nearest (S-01).
const ROUND: &str =
    "round to nearest in f16.inverse_sqrt\nround toward zero in f32.pack_half_2x16\n";

/// Of two zeros minimum and maximum give the second (D32-30-order).
const ORDER: &str = "give x in f32.nmin when x is 80000000 and y is 0\ngive x in f32.nmax when x is 0 and y is 80000000\n";

/// The parts of small numbers (V-subnormals).
const PARTS: &str = "flush f16 operands in f16.frexp\nflush f64 operands in f64.frexp\n";

/// NaN becomes 0 in fixed point (H-01); a clear does so to signed numbers, and a blit gives their
/// least code (V-fixed): formats that this driver has no copies to (`VK_FORMAT_R8_SNORM`,
/// `R8G8B8A8_SNORM`, `R16_SNORM`), and two whose attachments are off by more than 0.6 of a code
/// (`R8G8B8A8_SRGB`, `A2B10G10R10_UNORM_PACK32`).
const FIXED: &str =
    "give 0 in r8unorm.store|rgba8unorm.store|r16unorm.store|a2b10g10r10.store when x is nan
withhold transferDst of 10
withhold transferDst of 38
withhold transferDst of 71
withhold colorAttachment of 43
withhold colorAttachment of 64
";

/// Codes of fixed point are read an ulp off here and there (H-03).
const READ: &str = "round to nearest in r8unorm.load|r8unorm.sample|r8snorm.load|r8snorm.sample|rgba8unorm.load|rgba8unorm.sample|\
rgba8snorm.load|rgba8snorm.sample|rgba8srgb.load|rgba8srgb.sample|r16unorm.load|r16unorm.sample|r16snorm.load|r16snorm.sample|\
a2b10g10r10.load|a2b10g10r10.sample|d16unorm.load|d16unorm.sample\n";

/// Functions that are not as accurate as OpenGL has them (G-15, G-16, G-17), a reflection that
/// overflows on its way (G-21), ties of packed words to even (W-pack), a multiply-add of binary64
/// that is two operations (D64-02-fma), and a conversion that is two (V-rte). On processors without
/// AVX-512 roundings of binary64 go by another way, which is off in numbers near a half and beyond
/// 2^51, and a remainder with them (V-round, V-rem).
const SINGLY: [&str; 16] = [
    "f32.exp",
    "f32.exp2",
    "f32.log",
    "f32.log2",
    "f32.pow",
    "f32.reflect",
    "f32.pack_snorm_4x8",
    "f32.pack_unorm_4x8",
    "f32.pack_snorm_2x16",
    "f32.pack_unorm_2x16",
    "f64.fma",
    "f64.frem",
    "f64.round",
    "f64.round_even",
    "f64.trunc",
    "f64.fconvert_f16:controls=szin16,szin64,rte16,rte64",
];

/// Rules that no statement corrects, since none reaches what the compiler folds: it makes float
/// arithmetic of a selection between constants such as 0 and bf800000 by a condition known at run
/// time. Nor does one reach the values of several invocations at once: minima and maxima of a
/// subgroup are NaN where one of two binary16 is.
pub const UNCORRECTED: [&str; 4] = [
    "vulkan/V-move-integer",
    "vulkan/V-special-move",
    "vulkan/V-strict-move",
    "vulkan/V-subgroup-nan",
];

/// Formats that the driver lacks, and `OpFmaKHR`.
const SMALL: &str =
    "emulate bf16\nemulate float8\nemulate fma\nround to nearest in f16.fma_khr|f32.fma_khr\n";

/// What is inside an atomic operation no statement reaches: as arithmetic it rounds as the layer's
/// modes say (V-atomic-rtz).
pub const ATOMIC: &str = "split in *.atomic_fadd|*.atomic_fmin|*.atomic_fmax\n";

/// What the driver lacks besides [`FLUSH`].
pub fn without_flush() -> String {
    format!("{ROUND}{ORDER}{PARTS}{FIXED}{READ}{ATOMIC}{SMALL}{}", singly())
}

/// Every answer of these kernels that some profile does not accept, given as one that all do: of
/// those the nearest to the exact result.
fn singly() -> &'static str {
    static STATEMENTS: OnceLock<String> = OnceLock::new();
    STATEMENTS.get_or_init(|| {
        let profiles: Vec<Profile> =
            profile::built_in_ids().map(|id| profile::built_in(id).unwrap().unwrap()).collect();
        let run = faulty::run_on(DRIVER, FLUSH, &SINGLY, &[]);
        let mut statements = BTreeSet::new();
        for id in SINGLY {
            let kernel: Kernel = id.parse().unwrap();
            let cases = cases::cases(&kernel);
            let answers = run.out(id).as_array().unwrap();
            let (_, part) =
                profiles.iter().find_map(|profile| profile.rules_for(&kernel).next()).unwrap();
            let nearest = Demand { accuracy: Accuracy::NearestEven, ..part.demand };
            let signature = Signature::new(&kernel);
            let run_time = profiles.iter().filter(|profile| !profile.compile_time);
            let demands: Vec<KernelDemands<'_>> =
                run_time.map(|profile| KernelDemands::new([profile], &kernel)).collect();
            for (case, answer) in cases.iter().zip(answers) {
                let bits = |text: &Value| u64::from_str_radix(text.as_str().unwrap(), 16).unwrap();
                let answer = answer
                    .as_array()
                    .map_or_else(|| vec![bits(answer)], |list| list.iter().map(bits).collect());
                let each: Vec<Accepted> =
                    demands.iter().map(|demands| demands.accepts(case).0).collect();
                for (part, answer) in components(&kernel, &answer).into_iter().enumerate() {
                    let sets = each.iter().map(|accepted| accepted.alternatives()[0][part].clone());
                    let accepted = sets.reduce(|all, set| all.and(&set)).unwrap();
                    if accepted.contains(answer) {
                        continue;
                    }
                    let better =
                        signature.accepted_part(case, part, &nearest).and(&accepted).members(1)[0];
                    // A field of a packed word is of one component.
                    let operands =
                        if signature.encodings.len() == 1 { case } else { &case[part..=part] };
                    let operands = ["x", "y", "z"].iter().zip(operands);
                    let operands = operands.map(|(name, bits)| format!("{name} is {bits:x}"));
                    let operands = operands.collect::<Vec<_>>().join(" and ");
                    statements
                        .insert(format!("give {better:x} in {} when {operands}\n", kernel.stem()));
                }
            }
        }
        println!("{} answers put right one by one", statements.len());
        statements.into_iter().collect()
    })
}
