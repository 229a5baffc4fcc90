//! What becomes of results after a dispatch: bits flip, or those of an earlier dispatch come back.
//! fpprobe's buffers lie in memory that the host has mapped, so it is done there, when a fence says
//! that the dispatch is over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use ash::vk;
use fpprobe_profiles::matrix::UnitModel;
use fpprobe_spirv::Kernel;
use fpprobe_spirv::plan::{self, Plan, Region, Variant};
use fpprobe_spirv::sweep::{Digest, Domain, LANES};

use super::memory::is_result;
use super::objects::{BufferRange, Launch};
use super::state::{Device, lock, state, strikes};
use crate::statement::{Damage, Kind};

/// Most slots of a dispatch that is looked for by the sizes of its buffers.
const MOST_SLOTS: u32 = 4096;
/// Bytes that a buffer may be larger than its contents.
const SLACK: usize = 16;

impl Damage {
    /// Whether it is done to results after the dispatch.
    pub(super) fn comes_after(self) -> bool {
        matches!(
            self,
            Damage::Flip { .. }
                | Damage::Strike { .. }
                | Damage::WrongAgain
                | Damage::WrongElsewhere
                | Damage::Stale
                | Damage::Unit(_)
        )
    }

    fn is_about(self, launch: &Launch) -> bool {
        match self {
            Damage::Flip { .. } | Damage::Strike { .. } | Damage::Unit(_) => true,
            Damage::WrongAgain | Damage::Stale => launch.again,
            Damage::WrongElsewhere => launch.elsewhere,
            _ => false,
        }
    }
}

/// Harms what these dispatches have left.
pub(super) fn harm(device: &Device, launches: &[Launch]) {
    let damages = || {
        state().armed.iter().filter_map(|armed| match armed.statement.kind {
            Kind::Damage(damage) if damage.comes_after() => Some((armed, damage)),
            _ => None,
        })
    };
    if damages().next().is_none() {
        return;
    }
    for launch in launches {
        let mut results: Vec<&mut [u8]> = buffers(device, launch.set)
            .into_iter()
            .filter(|(place, _)| is_result(*place))
            .map(|one| one.1)
            .collect();
        let left = results.iter().map(|bytes| bytes.to_vec()).collect();
        let before = lock(&device.left).insert(launch.pipeline, left);
        for (armed, damage) in damages() {
            if damage.is_about(launch) && strikes(armed, &[&launch.module]) {
                if let Damage::Unit(model) = damage {
                    follow(device, launch, model);
                    continue;
                }
                results.iter_mut().enumerate().for_each(|(place, bytes)| match damage {
                    Damage::Flip { threshold, sums } => flip(bytes, threshold, sums),
                    Damage::Strike { threshold, lane } => {
                        strike(bytes, launch, f64::from(threshold) / 2_f64.powi(32), lane);
                    }
                    Damage::Stale => {
                        let old = before.as_ref().and_then(|before| before.get(place));
                        if let Some(old) = old.filter(|old| old.len() == bytes.len()) {
                            bytes.copy_from_slice(old);
                        }
                    }
                    _ => bytes.iter_mut().step_by(4).for_each(|byte| *byte ^= 1),
                });
            }
        }
    }
}

/// Puts the results of a model in the place of the device's, where it says something, for kernels
/// that multiply matrices.
fn follow(device: &Device, launch: &Launch, model: UnitModel) {
    let [id] = &launch.module.kernels[..] else { return };
    let Ok(kernel) = id.parse::<Kernel>() else { return };
    let mut buffers = buffers(device, launch.set);
    // A layout of N slots has buffers of these sizes.
    let fits = |plan: &Plan| {
        plan.buffers.len() == buffers.len()
            && plan.buffers.iter().zip(&buffers).all(|(own, (place, bytes))| {
                own.binding() == *place
                    && own.bytes() <= bytes.len()
                    && bytes.len() < own.bytes() + SLACK
            })
    };
    let plans = [true, false].into_iter().flat_map(|storage16| {
        (1..MOST_SLOTS)
            .map(move |slots| Plan::new(&[(kernel, slots)], storage16, Variant::default()))
    });
    let Some(plan) = plans.into_iter().find(fits) else { return };
    let placed = &plan.placed[0];
    for slot in 0..placed.slots {
        let value = |region: &Region, component| {
            plan::read(&plan, buffers[region.buffer].1, region, slot, component)
        };
        let operands = placed
            .params
            .iter()
            .flat_map(|region| (0..region.shape.width).map(move |one| (region, one)));
        let case: Vec<u64> = operands.map(|(region, component)| value(region, component)).collect();
        if let Some(bits) = model.element(&kernel, &case) {
            let region = &placed.results[0];
            plan::write(&plan, buffers[region.buffer].1, region, slot, 0, bits);
        }
    }
}

/// Flips one bit of each word with this probability, in units of 2^-32; `sums`: not of every fourth
/// word, which counts invocations in digests.
fn flip(bytes: &mut [u8], threshold: u32, sums: bool) {
    for (place, word) in bytes.chunks_exact_mut(4).enumerate() {
        let drawn = random();
        if (drawn as u32) < threshold && !(sums && place % 4 == 3) {
            let bit = (drawn >> 32) as usize % 32;
            word[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Makes each result another one with this probability; where they are digests, those that these
/// are of.
fn strike(bytes: &mut [u8], launch: &Launch, rate: f64, lane: Option<u32>) {
    let domain = launch.module.kernels.first().and_then(|id| Domain::vast(&id.parse().ok()?).ok());
    let digests = bytes.chunks_exact(4 * Digest::WORDS).map(|digest| &digest[12..]);
    let are_sums = digests.clone().any(|lanes| lanes == LANES.to_le_bytes())
        && digests.into_iter().all(|lanes| lanes == LANES.to_le_bytes() || lanes == [0; 4]);
    let word = |bytes: &mut [u8], change: &dyn Fn(u32) -> u32| {
        let old = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        bytes.copy_from_slice(&change(old).to_le_bytes());
    };
    let strikes = |place: u32| lane.is_none_or(|lane| (place ^ launch.turn) % 32 == lane);
    let Some(domain) = domain.filter(|_| are_sums) else {
        for (_, bytes) in (0..).zip(bytes.chunks_exact_mut(4)).filter(|(place, _)| strikes(*place))
        {
            if uniform() < rate {
                let bit = random() % 16;
                word(bytes, &|old| old ^ 1 << bit);
            }
        }
        return;
    };
    // A result that is another one adds something to the sum of hashes, to that of the steps left,
    // and to that of the lanes.
    let (results, steps) =
        (domain.block() as f64 / lane.map_or(1.0, |_| 32.0), domain.block() as u32 / LANES);
    for digest in bytes.chunks_exact_mut(4 * Digest::WORDS) {
        let mut left = uniform().ln();
        // As many as Poisson's distribution has of this mean.
        while left > -results * rate {
            let (change, step, mut place) =
                (random() as u32, random() as u32 % steps, random() as u32 % LANES);
            if let Some(lane) = lane {
                place = (place & !31 | lane) ^ launch.turn;
            }
            for (sum, weight) in digest.chunks_exact_mut(4).zip([1, steps - step, place]) {
                word(sum, &|old| old.wrapping_add(change.wrapping_mul(weight)));
            }
            left += uniform().ln();
        }
    }
}

/// A number between 0 and 1.
fn uniform() -> f64 {
    (random() as u32).max(1) as f64 / 2_f64.powi(32)
}

/// Other numbers in each process.
fn random() -> u64 {
    static STATE: AtomicU64 = AtomicU64::new(0);
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    if STATE.load(Ordering::Relaxed) == 0 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        STATE.store(
            now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(32),
            Ordering::Relaxed,
        );
    }
    // SplitMix64.
    let mut z = STATE.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The buffers that a set names, each with its binding, where the host has them.
#[expect(
    clippy::mut_from_ref,
    reason = "the memory is the driver's; the device's record only says where it lies"
)]
fn buffers(device: &Device, set: vk::DescriptorSet) -> Vec<(u32, &mut [u8])> {
    let bindings = lock(&device.sets).get(&set).cloned().unwrap_or_default();
    let mut bindings: Vec<(u32, BufferRange)> = bindings.into_iter().collect();
    bindings.sort_unstable_by_key(|(binding, _)| *binding);
    let (places, mapped) = (lock(&device.places), lock(&device.mapped));
    let bytes = |(binding, bound): (u32, BufferRange)| {
        let (memory, offset) = places.get(&bound.buffer)?;
        let start = mapped.get(memory)? + (offset + bound.offset) as usize;
        // SAFETY: fpprobe keeps its memory mapped from the start on, and the buffer lies there; the
        // dispatch is over, and fpprobe waits for this call before it looks.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(start as *mut u8, bound.range as usize) };
        Some((binding, bytes))
    };
    bindings.into_iter().filter_map(bytes).collect()
}
