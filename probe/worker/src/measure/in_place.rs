//! Texels that are an operand and the result: what was there may be the right answer, so it shows
//! nothing. Such a kernel is asked one case more, whose texel must change whatever the format.

use fpprobe_spirv::{Cases, Kernel};

use super::KernelCases;

/// 1 in binary32.
const ONE: u64 = 0x3f80_0000;

/// Whether a kernel's result memory holds an operand, and so no poison.
pub fn watched(kernel: &Kernel) -> bool {
    kernel.op.code.is_blended()
}

/// The same with a case more where that is needed: ones over a texel of zeros.
pub fn with_witness(work: &KernelCases) -> KernelCases {
    if !watched(&work.kernel) {
        return work.clone();
    }
    let arity = work.kernel.arity();
    let mut values: Vec<u64> = work.cases.iter().flatten().copied().collect();
    values.extend(std::iter::repeat_n(ONE, arity - 1));
    values.push(0);
    KernelCases { kernel: work.kernel, cases: Cases::new(work.cases.name.clone(), arity, values) }
}
