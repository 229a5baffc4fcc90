//! Which blocks of which kernels are run, and in which order.

use std::collections::VecDeque;
use std::time::Duration;

use fpprobe_profiles::Profile;
use fpprobe_profiles::sweep::Verifier;
use fpprobe_spirv::catalogue;
use fpprobe_spirv::sweep::Domain;

use crate::cli::{Shard, SweepArgs};
use crate::{profiles, select};
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// What runs on every device.
pub struct SweepPlan {
    /// The kernels, each once.
    pub domains: Vec<Domain>,
    /// What judges each of them; none where fingerprints are taken.
    pub verifiers: Vec<Verifier>,
    /// The profiles that it judges by, by id.
    pub profiles: Vec<String>,
    /// One part of several.
    shard: Option<Shard>,
    /// Time for each kernel.
    pub budget: Option<Duration>,
    seed: u64,
}

impl SweepPlan {
    /// From the command line.
    pub fn new(args: &SweepArgs) -> anyhow::Result<SweepPlan> {
        let swept = |kernel: &fpprobe_spirv::Kernel| Domain::of(kernel).is_ok();
        let known = catalogue::plain().into_iter().filter(swept).collect();
        let kernels = select::kernels(&args.kernel, known)?;
        let mut domains =
            kernels.iter().map(Domain::of).collect::<Result<Vec<_>, _>>().or_usage()?;
        let (mut verifiers, mut profiles) = (Vec::new(), Vec::new());
        if !args.fingerprint && !args.raw {
            let judging = profiles::for_devices(&args.profile)?;
            (domains, verifiers) = verified(domains, &judging)?;
            profiles.extend(judging.into_iter().map(|profile| profile.id));
        }
        let budget = args.budget.map(|budget| budget / domains.len() as u32);
        Ok(SweepPlan { domains, verifiers, profiles, shard: args.shard, budget, seed: args.seed })
    }

    /// The blocks of a kernel, by its place, that are asked.
    pub fn blocks(&self, place: usize) -> VecDeque<u64> {
        let blocks = self.domains[place].blocks();
        if self.budget.is_some() {
            return spread(blocks, self.seed).collect();
        }
        let Some(Shard { number, of }) = self.shard else { return (0..blocks).collect() };
        // A part is a piece of the blocks of all kernels side by side.
        let before: u64 = self.domains[..place].iter().map(Domain::blocks).sum();
        let all: u64 = self.domains.iter().map(Domain::blocks).sum();
        let part = all * (number - 1) / of..all * number / of;
        (0..blocks).filter(|block| part.contains(&(before + block))).collect()
    }
}

/// The kernels that can be judged, each with what judges it; an error where there is none.
fn verified(
    domains: Vec<Domain>,
    profiles: &[Profile],
) -> anyhow::Result<(Vec<Domain>, Vec<Verifier>)> {
    let (mut judged, mut refused) = (Vec::new(), Vec::new());
    for domain in domains {
        match Verifier::new(domain.kernel(), profiles) {
            Ok(verifier) => judged.push((domain, verifier)),
            Err(why) => refused.push(why.to_string()),
        }
    }
    if judged.is_empty() {
        return Err(usage_error(refused.join("; ")));
    }
    for why in refused {
        say(&format!("note: {why}"));
    }
    Ok(judged.into_iter().unzip())
}

/// The numbers below a power of two, each once, so that any first few of them are spread evenly:
/// bits in reverse order (van der Corput's sequence), turned by the seed.
pub fn spread(count: u64, seed: u64) -> impl Iterator<Item = u64> {
    let bits = count.trailing_zeros();
    let turn = fpprobe_spirv::cases::random(seed) % count.max(1);
    (0..count).map(move |number| number.reverse_bits().checked_shr(64 - bits).unwrap_or(0) ^ turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(shard: Option<Shard>) -> SweepPlan {
        let domains =
            ["f16.sin", "f32.sqrt", "f16.cos"].map(|id| Domain::of(&id.parse().unwrap()).unwrap());
        let (verifiers, profiles) = (Vec::new(), Vec::new());
        SweepPlan { domains: domains.to_vec(), verifiers, profiles, shard, budget: None, seed: 0 }
    }

    #[test]
    fn parts_are_the_whole() {
        for of in [1, 2, 3, 7, 4096] {
            for place in 0..3 {
                let parts =
                    (1..=of).flat_map(|number| plan(Some(Shard { number, of })).blocks(place));
                assert_eq!(
                    parts.collect::<VecDeque<u64>>(),
                    plan(None).blocks(place),
                    "{place} of {of}"
                );
            }
        }
    }

    #[test]
    fn a_spread_has_every_block_once_and_its_beginning_everywhere() {
        for seed in [0, 1, 99] {
            let order: Vec<u64> = spread(4096, seed).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..4096).collect::<Vec<_>>());
            let mut eighths: Vec<u64> = order[..8].iter().map(|block| block / 512).collect();
            eighths.sort_unstable();
            assert_eq!(eighths, (0..8).collect::<Vec<_>>());
        }
        assert_ne!(spread(4096, 0).next(), spread(4096, 1).next());
        assert_eq!(spread(1, 5).collect::<Vec<_>>(), [0]);
    }
}
