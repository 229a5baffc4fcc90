//! A function over consecutive encodings of one exponent, as a polynomial with a bound on its
//! error.
//!
//! On `x = c + h t`, `-1 <= t <= 1`, the polynomial of degree 5 through six nodes `t_k` differs
//! from f by no more than `max |f⁽⁶⁾| / 6! h⁶ max |(t - t_0) ... (t - t_5)|`. The nodes are
//! Chebyshev's, rounded to multiples of 2^-12, so that every `c + h t_k` is a binary64 number
//! exactly; the product over them is below 2^-4 (over Chebyshev's own 2^-5). With Cauchy's estimate
//! in discs of radius r ([`largest`]) that is `M (h / r)⁶ 2^-4`.
//!
//! Rounding, u being 2^-53 and F the largest value at a node: values at nodes are within u F of f.
//! A divided difference of order k doubles what is wrong with two of order k - 1 and divides it by
//! the distance of nodes, the least of which are 0.25, 0.7, 1.2, 1.6, 1.9 for orders 1 to 5: with
//! the roundings of each order that is below 150 u F for all. Making sums of powers of it
//! multiplies by products of `1 + |t_k|`, in all by no more than 25: below 2^12 u F for all
//! coefficients together. Horner's rule adds no more than 2^4 u times the sum of their magnitudes.

use fpprobe_spirv::op::Function;

use super::analytic::{computed, is_monotonic, largest, limits};

/// Number of nodes.
const NODES: usize = 6;
/// Its highest power.
pub(crate) const HIGHEST: usize = NODES - 1;
/// cos((2k + 1) pi / 12) to a multiple of 2^-12.
const AT: [f64; NODES] = [
    -3956.0 / 4096.0,
    -2896.0 / 4096.0,
    -1060.0 / 4096.0,
    1060.0 / 4096.0,
    2896.0 / 4096.0,
    3956.0 / 4096.0,
];

/// A function over `x_i = first + i step`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polynomial {
    /// Of powers of `t = (i - middle) scale`, lowest first.
    pub(crate) coefficients: [f64; NODES],
    pub(crate) middle: f64,
    pub(crate) scale: f64,
    /// Whether the coefficients of the fourth and the fifth power are left out.
    pub(crate) cubic: bool,
    /// Not less than the distance of the polynomial as [`Polynomial::at`] computes it from the
    /// function.
    pub(crate) error: f64,
    /// The function lies between these.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Polynomial {
    /// Over `count` numbers, at least two, of one sign; `None` where the function has no bound
    /// around them.
    pub(crate) fn new(
        function: Function,
        first: f64,
        step: f64,
        count: usize,
    ) -> Option<Polynomial> {
        let compute = computed(function)?;
        let half = count.next_power_of_two() as f64 / 2.0;
        let middle = (count - 1) as f64 / 2.0;
        let (center, width) = (first + middle * step, half * step.abs());
        let values = AT.map(|t| compute(center + t * half * step));
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(*value), high.max(*value))
            });
        let most = low.abs().max(high.abs());
        let radii = [0.25, 0.5, 1.0, 2.0, 4.0]
            .into_iter()
            .chain([0.25, 0.5, 1.0].map(|part| part * center.abs()));
        let remainder = |radius: f64| {
            let ratio = width / radius;
            largest(function, center, radius + width) * (ratio * ratio * ratio).powi(2) / 16.0
        };
        let remainder = radii.map(remainder).fold(f64::INFINITY, f64::min);
        let coefficients = powers(&values);
        let sum: f64 = coefficients.iter().map(|one| one.abs()).sum();
        let rounding = f64::EPSILON * (2048.0 * most + 8.0 * sum);
        // What is far below the roundings need not be computed.
        let high: f64 = coefficients[4].abs() + coefficients[5].abs();
        let cubic = high <= rounding / 8.0;
        let error =
            remainder + rounding + if cubic { high * (1.0 + f64::EPSILON) } else { 0.0 } + 1e-300;
        if !error.is_finite() {
            return None;
        }
        let (low, high) = if is_monotonic(function) {
            let ends = [first, first + (count - 1) as f64 * step].map(compute);
            (ends[0].min(ends[1]).next_down(), ends[0].max(ends[1]).next_up())
        } else {
            let rest = sum - coefficients[0].abs();
            (coefficients[0] - rest - 2.0 * error, coefficients[0] + rest + 2.0 * error)
        };
        let (least, greatest) = limits(function, first < 0.0);
        let (low, high) = (low.max(least), high.min(greatest));
        Some(Polynomial { coefficients, middle, scale: half.recip(), cubic, error, low, high })
    }

    /// One number for all, of a function that lies between these.
    pub(crate) fn flat(low: f64, high: f64) -> Polynomial {
        let mut coefficients = [0.0; NODES];
        coefficients[0] = low;
        let error = (high - low).next_up();
        Polynomial { coefficients, middle: 0.0, scale: 0.0, cubic: true, error, low, high }
    }

    /// Its value at the number of this place, as far as the power `DEGREE`: the third where it is
    /// cubic, else [`HIGHEST`].
    #[expect(
        clippy::inline_always,
        reason = "the loop around it is compiled for the processor's instructions"
    )]
    #[inline(always)]
    pub(crate) fn at<const DEGREE: usize>(&self, place: i32) -> f64 {
        let t = (f64::from(place) - self.middle) * self.scale;
        let [first, rest @ ..] = &self.coefficients;
        rest[..DEGREE].iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * t) + first
    }
}

/// The polynomial through values at the nodes, by Newton's divided differences, as a sum of powers.
fn powers(values: &[f64; NODES]) -> [f64; NODES] {
    let mut differences = *values;
    for order in 1..NODES {
        for k in (order..NODES).rev() {
            differences[k] = (differences[k] - differences[k - 1]) / (AT[k] - AT[k - order]);
        }
    }
    let mut powers = [0.0; NODES];
    for k in (0..NODES).rev() {
        // powers * (t - t_k) + differences[k]
        for power in (1..NODES).rev() {
            powers[power] = powers[power - 1] - AT[k] * powers[power];
        }
        powers[0] = differences[k] - AT[k] * powers[0];
    }
    powers
}
