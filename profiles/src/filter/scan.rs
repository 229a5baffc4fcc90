//! How far many results lie from exact ones, compiled for the instructions of several processors
//! and chosen when it runs.

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

/// Writes down how far binary32 results lie from exact ones, given by their place. Outside are
/// those farther than `distance`, larger than `limit`, and NaNs.
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
            let (mut least, mut most, mut outside) =
                ([f64::INFINITY; LANES], [0_f64; LANES], [0_u64; LANES]);
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
