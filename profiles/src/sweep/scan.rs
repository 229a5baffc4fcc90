//! Loops over many results at once, compiled for the instructions of several processors and chosen
//! when they run.

use pulp::Arch;

/// How many distances are no less than this; NaNs are not.
pub(super) fn count_from(arch: Arch, distances: &[f64], from: f64) -> u64 {
    arch.dispatch(
        #[inline(always)]
        || distances.iter().map(|distance| u64::from(*distance >= from)).sum(),
    )
}

/// How many results are normal numbers no larger than `limit`, and how many of those are negative.
pub(super) fn count_normal(arch: Arch, results: &[u32], limit: f32) -> (u64, u64) {
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
pub(super) fn run(results: &[u32]) -> usize {
    prefix(results, |result| *result == results[0])
}

/// The first place from one on whose distance is no less than this when `error` is added; NaNs are
/// not.
pub(super) fn next_from(
    arch: Arch,
    distances: &[f64],
    from: usize,
    error: f64,
    least: f64,
) -> Option<usize> {
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
