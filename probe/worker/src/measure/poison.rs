//! Poison: what result memory holds before a run, so that a result that was not written shows.
//!
//! Random by kernel, case and component, so that no constant answer can hide it; always different
//! in the first run of a lane and any other, so that no answer that both agree on can be poison;
//! and where an element is wider than the result, with bits set that no result has.

use fpprobe_spirv::cases::random;
use fpprobe_spirv::{Cases, Kernel};

use super::vary::{Turn, spread};

/// Seed of everything random about a kernel (FNV-1a of its id): the same in every run with this
/// seed.
pub fn seed(kernel: &Kernel, run: u64) -> u64 {
    hash(&kernel.to_string()) ^ spread(run)
}

/// FNV-1a of a text.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Poison of a lane (case and component) in the dispatch of this number, for an element and a
/// result of these widths in bits. That of dispatch 0 is never another's.
pub fn of(seed: u64, number: u32, lane: u64, element: u32, result: u32) -> u64 {
    let mask = u64::MAX >> (64 - element);
    let first = random(seed ^ lane) & mask;
    let mut value = first;
    if number > 0 {
        let step = random((!seed).rotate_left(number - 1) ^ lane) & mask;
        value ^= if step == 0 { 1 } else { step };
    }
    if result < element {
        // Which of the upper bits are set is random too, but the topmost always is.
        value |= 1 << (element - 1);
    }
    value
}

/// Where case `index` lies in a dispatch: the first keeps the order where the run has the default
/// seed, all others shuffle it, for all kernels of these cases alike.
pub fn slots(cases: &Cases, turn: Turn) -> Vec<u32> {
    let count = cases.len();
    let mut seed = hash(&cases.name) ^ spread(turn.seed);
    if turn.order != 1 {
        seed ^= random(u64::from(turn.order));
    }
    let mut slots: Vec<u32> = (0..count as u32).collect();
    if turn.order > 0 || turn.seed != 0 {
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
                for other in 1..4 {
                    assert_ne!(
                        of(7, 0, lane, element, element),
                        of(7, other, lane, element, element)
                    );
                }
            }
            for (run, result) in [(0, 1), (1, 1), (0, 16), (1, 16)] {
                assert_ne!(of(7, run, lane, 32, result) >> result, 0);
            }
        }
    }

    #[test]
    fn slots_are_a_permutation_that_moves_most_cases() {
        let mut slots = slots(&Cases::new("some", 1, vec![0; 1000]), Turn::new(0, 1));
        let kept =
            slots.iter().enumerate().filter(|(index, slot)| *index == **slot as usize).count();
        assert!(kept < 20, "{kept}");
        slots.sort_unstable();
        assert!(slots.iter().enumerate().all(|(index, slot)| index == *slot as usize));
    }

    #[test]
    fn orders_and_poison_follow_the_seed() {
        let cases = Cases::new("some", 1, vec![0; 1000]);
        let turns = [(0, 1), (0, 2), (5, 0), (5, 1), (6, 0)]
            .map(|(seed, number)| slots(&cases, Turn::new(seed, number)));
        for (number, one) in turns.iter().enumerate() {
            assert!(turns[..number].iter().all(|other| other != one), "{number}");
        }
        let kernel: Kernel = "f32.sqrt".parse().unwrap();
        assert_ne!(seed(&kernel, 0), seed(&kernel, 1));
        assert_eq!(slots(&cases, Turn::new(5, 1)), turns[3]);
    }
}
