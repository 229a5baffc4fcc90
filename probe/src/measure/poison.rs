//! Poison: what result memory holds before a run, so that a result that was not written shows.
//!
//! Random by kernel, case and component, so that no constant answer can hide it; always different in the two runs of
//! a lane, so that no answer that both runs agree on can be poison; and where an element is wider than the result, with
//! bits set that no result has.

use fpprobe_spirv::cases::random;
use fpprobe_spirv::{Cases, Kernel};

/// Seed of everything random about a kernel (FNV-1a of its id): the same in every run of the program.
pub fn seed(kernel: &Kernel) -> u64 {
    hash(&kernel.to_string())
}

/// FNV-1a of a text.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Poison of a lane (case and component) in run 0 or 1, for an element and a result of these widths in bits.
pub fn of(seed: u64, run: u32, lane: u64, element: u32, result: u32) -> u64 {
    let mask = u64::MAX >> (64 - element);
    let first = random(seed ^ lane) & mask;
    let mut value = first;
    if run > 0 {
        let step = random(!seed ^ lane) & mask;
        value ^= if step == 0 { 1 } else { step };
    }
    if result < element {
        // Which of the upper bits are set is random too, but the topmost always is.
        value |= 1 << (element - 1);
    }
    value
}

/// Where case `index` lies in a run: run 0 keeps the order, run 1 shuffles it, for all kernels of these cases alike.
pub fn slots(cases: &Cases, run: u32) -> Vec<u32> {
    let count = cases.len();
    let seed = hash(&cases.name);
    let mut slots: Vec<u32> = (0..count as u32).collect();
    if run > 0 {
        // Fisher and Yates, from the top.
        for last in (1..count).rev() {
            let other = random(seed.rotate_left(17) ^ last as u64) % (last as u64 + 1);
            slots.swap(last, other as usize);
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_never_share_poison_and_narrow_results_never_look_like_it() {
        for lane in 0..10_000 {
            for element in [16, 32, 64] {
                assert_ne!(of(7, 0, lane, element, element), of(7, 1, lane, element, element));
            }
            for (run, result) in [(0, 1), (1, 1), (0, 16), (1, 16)] {
                assert_ne!(of(7, run, lane, 32, result) >> result, 0);
            }
        }
    }

    #[test]
    fn slots_are_a_permutation_that_moves_most_cases() {
        let mut slots = slots(&Cases::new("some", 1, vec![0; 1000]), 1);
        let kept = slots.iter().enumerate().filter(|(index, slot)| *index == **slot as usize).count();
        assert!(kept < 20, "{kept}");
        slots.sort_unstable();
        assert!(slots.iter().enumerate().all(|(index, slot)| index == *slot as usize));
    }
}
