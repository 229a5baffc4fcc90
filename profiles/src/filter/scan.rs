//! Loops over many results at once, compiled for the instructions of several processors and chosen when they run.

use pulp::Arch;

/// Lanes of the accumulators: two registers of AVX-512.
const LANES: usize = 16;

/// What a scan found of the distances of results from a function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Scan {
    /// Smallest distance.
    pub(crate) least: f64,
    /// Largest distance; a NaN's is left out.
    pub(crate) most: f64,
    /// How many results are not within the tolerance.
    pub(crate) outside: u64,
}

/// Writes down how far binary32 results lie from exact ones, given by their place. Outside are those farther than `distance`, larger
/// than `limit`, and NaNs.
#[expect(clippy::inline_always, reason = "so that each function has its own loop")]
#[inline(always)]
pub(crate) fn scan(
    arch: Arch,
    exact: impl Fn(i32) -> f64,
    results: &[u32],
    distances: &mut [f64],
    distance: f64,
    limit: f64,
) -> Scan {
    arch.dispatch(
        #[inline(always)]
        || {
            let (mut least, mut most, mut outside) = ([f64::INFINITY; LANES], [0_f64; LANES], [0_u64; LANES]);
            let mut one = |lane: usize, place: i32, result: u32, to: &mut f64| {
                let value = f64::from(f32::from_bits(result));
                let found = (exact(place) - value).abs();
                *to = found;
                least[lane] = if found < least[lane] { found } else { least[lane] };
                most[lane] = if found > most[lane] { found } else { most[lane] };
                outside[lane] += u64::from(!((found <= distance) & (value.abs() <= limit)));
            };
            let (rows, rest) = results.as_chunks::<LANES>();
            let (to, to_rest) = distances.as_chunks_mut::<LANES>();
            let mut place = 0;
            for (row, to) in rows.iter().zip(to) {
                for lane in 0..LANES {
                    one(lane, place + lane as i32, row[lane], &mut to[lane]);
                }
                place += LANES as i32;
            }
            for (lane, (result, to)) in rest.iter().zip(to_rest).enumerate() {
                one(lane, place + lane as i32, *result, to);
            }
            Scan {
                least: least.into_iter().fold(f64::INFINITY, f64::min),
                most: most.into_iter().fold(0.0, f64::max),
                outside: outside.into_iter().sum(),
            }
        },
    )
}

/// How many distances are no less than this; NaNs are not.
pub(crate) fn count_from(arch: Arch, distances: &[f64], from: f64) -> u64 {
    arch.dispatch(
        #[inline(always)]
        || distances.iter().map(|distance| u64::from(*distance >= from)).sum(),
    )
}

/// How many results are normal numbers no larger than `limit`, and how many of those are negative.
pub(crate) fn count_normal(arch: Arch, results: &[u32], limit: f32) -> (u64, u64) {
    const LEAST: u32 = 0x0080_0000;
    let most = limit.to_bits().min(0x7f7f_ffff);
    arch.dispatch(
        #[inline(always)]
        || {
            let (mut normal, mut negative) = (0_u32, 0_u32);
            for result in results {
                let is = u32::from((result & 0x7fff_ffff).wrapping_sub(LEAST) <= most - LEAST);
                normal += is;
                negative += is & (result >> 31);
            }
            (u64::from(normal), u64::from(negative))
        },
    )
}

/// How many results at the beginning have the bits of the first.
pub(crate) fn run(results: &[u32]) -> usize {
    prefix(results, |result| *result == results[0])
}

/// The first place from one on whose distance is no less than this when `error` is added; NaNs are not.
pub(crate) fn next_from(arch: Arch, distances: &[f64], from: usize, error: f64, least: f64) -> Option<usize> {
    let below = |distance: &f64| (distance + error < least) | distance.is_nan();
    let place = from
        + arch.dispatch(
            #[inline(always)]
            || prefix(&distances[from..], below),
        );
    (place < distances.len()).then_some(place)
}

/// How many at the beginning are such. Rows are looked at as a whole: that is done many at once.
#[inline(always)]
fn prefix<T>(all: &[T], is: impl Fn(&T) -> bool) -> usize {
    const ROW: usize = 64;
    let (rows, _) = all.as_chunks::<ROW>();
    let whole = |row: &&[T; ROW]| row.iter().fold(true, |whole, one| whole & is(one));
    let before = ROW * rows.iter().take_while(whole).count();
    before + all[before..].iter().take_while(|one| is(one)).count()
}
