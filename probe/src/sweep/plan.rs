//! Which blocks of which kernels are run, and in which order.

use std::ops::Range;
use std::time::Duration;

use fpprobe_profiles::Profile;
use fpprobe_profiles::sweep::Verifier;
use fpprobe_spirv::catalogue;
use fpprobe_spirv::sweep::Domain;

use super::estimate::MOMENT;
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
    /// Whether that time is for an estimate.
    pub is_estimate: bool,
    seed: u64,
}

impl SweepPlan {
    /// From the command line.
    pub fn new(args: &SweepArgs) -> anyhow::Result<SweepPlan> {
        let swept = |kernel: &fpprobe_spirv::Kernel| Domain::of(kernel).is_ok();
        let known = catalogue::plain().into_iter().filter(swept).collect();
        let kernels = select::kernels(&args.kernel, known)?;
        let mut domains =
            kernels.iter().map(Domain::vast).collect::<Result<Vec<_>, _>>().or_usage()?;
        if let Some(vast) = domains.iter().find(|domain| domain.is_vast())
            && args.shard.is_none()
            && args.budget.is_none()
            && args.plan.is_none()
        {
            return Err(usage_error(format!(
                "{} has 2^{} inputs, which take one device days or years: divide them with --shard I/N, run a subset with --budget TIME, or see how long N devices take with --plan N",
                vast.kernel(),
                vast.bits()
            )));
        }
        let (mut verifiers, mut profiles) = (Vec::new(), Vec::new());
        if !args.fingerprint && !args.raw {
            let judging = profiles::for_devices(&args.profile)?;
            (domains, verifiers) = verified(domains, &judging)?;
            profiles.extend(judging.into_iter().map(|profile| profile.id));
        }
        let is_estimate = args.plan.is_some();
        let budget = args.budget.map(|budget| budget / domains.len() as u32);
        let budget = if is_estimate { Some(MOMENT) } else { budget };
        let (shard, seed) = (args.shard, args.seed);
        Ok(SweepPlan { domains, verifiers, profiles, shard, budget, is_estimate, seed })
    }

    /// Whether the blocks of a kernel that there is time for are spread over its domain. Those of a
    /// domain that one process sweeps run faster side by side.
    fn is_spread(&self, place: usize) -> bool {
        self.budget.is_some() && (!self.is_estimate || self.domains[place].is_vast())
    }

    /// The blocks of a kernel, by its place, in the order in which they run.
    pub fn blocks(&self, place: usize) -> Box<dyn Iterator<Item = u64> + Send> {
        if self.is_spread(place) {
            return Box::new(spread(self.domains[place].blocks(), self.seed));
        }
        Box::new(self.part(place))
    }

    /// How many blocks of a kernel run, if there is time for all of them.
    pub fn count(&self, place: usize) -> u64 {
        let Range { start, end } = self.part(place);
        end - start
    }

    /// The bundles of a kernel's blocks in the order in which they run, see [`Domain::bundle`].
    pub fn bundles(&self, place: usize) -> Vec<u64> {
        let own = &self.domains[place];
        if self.is_spread(place) {
            return spread(own.bundles(), self.seed).collect();
        }
        let Range { start, end } = self.part(place);
        (start / own.bundle()..end / own.bundle()).collect()
    }

    /// The blocks of a kernel that are of this part: a part is a piece of the blocks of all kernels
    /// side by side, cut between bundles.
    fn part(&self, place: usize) -> Range<u64> {
        let own = &self.domains[place];
        let Some(Shard { number, of }) = self.shard else { return 0..own.blocks() };
        let before: u64 = self.domains[..place].iter().map(Domain::blocks).sum();
        let all: u64 = self.domains.iter().map(Domain::blocks).sum();
        let cut = |number: u64| {
            let block = (all * number / of).saturating_sub(before).min(own.blocks());
            block / own.bundle() * own.bundle()
        };
        cut(number - 1)..cut(number)
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
        plan_of(domains.to_vec(), shard)
    }

    fn plan_of(domains: Vec<Domain>, shard: Option<Shard>) -> SweepPlan {
        let (verifiers, profiles) = (Vec::new(), Vec::new());
        let (budget, is_estimate) = (None, false);
        SweepPlan { domains, verifiers, profiles, shard, budget, is_estimate, seed: 0 }
    }

    #[test]
    fn parts_are_the_whole() {
        for of in [1, 2, 3, 7, 4096] {
            for place in 0..3 {
                let parts =
                    (1..=of).flat_map(|number| plan(Some(Shard { number, of })).blocks(place));
                assert!(parts.eq(plan(None).blocks(place)), "{place} of {of}");
            }
        }
    }

    #[test]
    fn parts_of_a_vast_domain_are_whole_bundles() {
        let fma = || Domain::vast(&"f16.fma".parse().unwrap()).unwrap();
        let sine = || Domain::of(&"f32.sin".parse().unwrap()).unwrap();
        for of in [1, 3, 1000, 4096] {
            let mut next = [0, 0];
            for number in 1..=of {
                let plan = plan_of(vec![sine(), fma()], Some(Shard { number, of }));
                for (place, next) in next.iter_mut().enumerate() {
                    let Range { start, end } = plan.part(place);
                    assert_eq!((start, start % plan.domains[place].bundle()), (*next, 0));
                    assert_eq!(plan.count(place), end - start);
                    *next = end;
                }
            }
            assert_eq!(next, [1 << 12, 1 << 28]);
        }
        let budget = Some(Duration::from_secs(1));
        let sampled = SweepPlan { budget, seed: 7, ..plan_of(vec![fma()], None) };
        assert!(sampled.blocks(0).take(4096).all(|block| block < 1 << 28));
        assert_eq!(sampled.bundles(0).len(), 1 << 20);
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
