//! How runs of the same kernels differ: by their number, and by the seed of the whole run.

use fpprobe_spirv::Route;
use fpprobe_spirv::cases::random;
use fpprobe_spirv::plan::{GROUP, Variant};

/// Local sizes, one of them no power of two; every device offers those up to 128.
const GROUPS: [u32; 5] = [32, GROUP, 128, 256, 96];
/// Work groups in front of the first slot: at most N in a first run, and as many more in a second.
const SHIFTS: u64 = 3;

/// One dispatch of kernels among several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The run's seed.
    pub seed: u64,
    /// Number of the dispatch; each has poison of its own.
    pub number: u32,
    /// Number of the order that its cases have; that of the pipeline's first dispatch where the
    /// operands are part of the code.
    pub order: u32,
}

/// What a device can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most invocations of a work group.
    pub invocations: u32,
    /// The sizes that a compute pipeline may require of its subgroups, least and most; `None`
    /// where it cannot choose.
    pub subgroups: Option<[u32; 2]>,
    /// Most subgroups of a work group.
    pub most_subgroups: u32,
    /// Invocations of a subgroup, unless a pipeline requires another number.
    pub subgroup: u32,
}

impl Default for Limits {
    /// What every device offers.
    fn default() -> Limits {
        Limits { invocations: 128, subgroups: None, most_subgroups: 0, subgroup: 1 }
    }
}

impl Turn {
    /// A dispatch of a pipeline that is new.
    pub fn new(seed: u64, number: u32) -> Turn {
        Turn { seed, number, order: number }
    }

    /// A further dispatch of the pipeline of turn 0.
    pub fn again(seed: u64, number: u32, route: Route) -> Turn {
        Turn { seed, number, order: if route.is_folded() { 0 } else { number } }
    }
}

/// Spreads a seed over all bits; the default seed, 0, changes nothing.
pub fn spread(seed: u64) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The layouts of two runs of a module whose first kernel has this seed: with other local sizes, in
/// other places, the kernels in opposite orders. With the default seed the first is the default
/// layout.
pub fn variants(seed: u64, kernel: u64, limits: Limits) -> [Variant; 2] {
    let draw = |salt: u64, below: u64| random(kernel.rotate_left(31) ^ salt) % below;
    let chosen = |salt: u64, below: u64| if seed == 0 { 0 } else { draw(salt, below) };
    let groups: Vec<u32> =
        GROUPS.into_iter().filter(|group| *group <= limits.invocations.max(GROUP)).collect();
    let count = groups.len() as u64;
    let default = groups.iter().position(|group| *group == GROUP).unwrap_or(0) as u64;
    let first = (default + chosen(1, count)) % count;
    let second = (first + 1 + draw(2, count - 1)) % count;
    let shift = chosen(3, SHIFTS) as u32;
    let reversed = chosen(4, 2) == 1;
    let group = groups[second as usize];
    [
        Variant { shift, reversed, group: groups[first as usize], subgroup: None },
        Variant {
            shift: shift + 1 + (kernel % SHIFTS) as u32,
            reversed: !reversed,
            group,
            subgroup: subgroup(group, limits, draw(5, u64::MAX)),
        },
    ]
}

/// The same for a kernel of matrices or across a subgroup: its work group is one subgroup.
pub fn of_subgroups(variants: [Variant; 2], limits: Limits) -> [Variant; 2] {
    let group = limits.subgroup;
    let subgroup =
        limits.subgroups.filter(|[least, most]| (*least..=*most).contains(&group)).map(|_| group);
    variants.map(|variant| Variant { group, subgroup, ..variant })
}

/// A size of subgroups that a work group of this size can be made of.
fn subgroup(group: u32, limits: Limits, number: u64) -> Option<u32> {
    let [least, most] = limits.subgroups?;
    let fits = |size: &u32| size.saturating_mul(limits.most_subgroups) >= group;
    let sizes: Vec<u32> = (0..32)
        .map(|bit| 1 << bit)
        .filter(|size| (least..=most).contains(size))
        .filter(fits)
        .collect();
    sizes.get(number as usize % sizes.len().max(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Limits =
        Limits { invocations: 1024, subgroups: Some([8, 32]), most_subgroups: 16, subgroup: 16 };

    #[test]
    fn two_runs_differ_in_local_size_place_and_order() {
        for seed in 0..200 {
            for limits in [Limits::default(), LARGE] {
                let [first, second] = variants(seed, random(seed), limits);
                assert_ne!(first.group, second.group);
                assert_ne!(first.reversed, second.reversed);
                assert!(second.shift > first.shift);
                assert!(first.group.max(second.group) <= limits.invocations);
            }
        }
    }

    #[test]
    fn the_default_seed_begins_with_the_default_layout_and_others_reach_every_size() {
        assert_eq!(variants(0, 77, LARGE)[0], Variant::default());
        let mut seen: Vec<u32> = (1..100)
            .flat_map(|seed| variants(seed, random(seed), LARGE))
            .map(|v| v.group)
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [32, 64, 96, 128, 256]);
    }

    #[test]
    fn subgroups_have_a_size_that_the_device_offers_and_the_work_group_can_be_made_of() {
        let mut seen: Vec<u32> =
            (0..100).filter_map(|number| subgroup(256, LARGE, number)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [16, 32]);
        assert_eq!(subgroup(256, Limits::default(), 7), None);
    }
}
