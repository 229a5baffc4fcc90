//! Acceptance intervals computed a second time, from the ends of their operands, in binary64: in
//! the behaviour of the reference, and in that of WGSL's text. What lies between the least and the
//! largest result is accepted.
#![expect(clippy::float_cmp, reason = "ends of intervals are compared for being the same number")]

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;

/// From the least to the largest; `None` where anything is accepted.
type Span = Option<(f64, f64)>;

/// What the reference does that the text does not say.
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a deed of its own")]
pub struct StepRules {
    /// Operands and exact results are rounded to the values on either side of them before anything
    /// is done with them, and errors are counted from there.
    pub rounds: bool,
    /// The unit of zero and of subnormals is the smallest normal value.
    pub normal_units: bool,
    /// acosh is also computed from a product in place of a square.
    pub products: bool,
    /// The product of three in refract is multiplied in the order that it is written in alone.
    pub one_order: bool,
    /// Anything goes where units are too many to be counted in the format, and where the root in
    /// refract may be that of zero or a subnormal, or be none.
    pub gives_up: bool,
}

impl StepRules {
    pub const REFERENCE: StepRules = StepRules {
        rounds: true,
        normal_units: true,
        products: true,
        one_order: true,
        gives_up: true,
    };
    pub const TEXT: StepRules = StepRules {
        rounds: false,
        normal_units: false,
        products: false,
        one_order: false,
        gives_up: false,
    };
}

/// Arithmetic of intervals in one format.
pub struct Steps {
    behaviour: StepRules,
    /// Number of explicit bits of the significand.
    fraction: i32,
    /// Exponents of the smallest and of the largest normal value.
    least: i32,
    most: i32,
}

impl Steps {
    pub fn new(layout: FloatLayout, behaviour: StepRules) -> Steps {
        Steps {
            behaviour,
            fraction: layout.fraction as i32,
            least: 1 - layout.bias(),
            most: layout.bias(),
        }
    }

    /// What is accepted of each component of a result; `None` for functions that are not known
    /// here.
    pub fn of(&self, function: Function, operands: &[f64]) -> Option<Vec<Span>> {
        let one = |value: f64| Some((value, value));
        let x = one(operands[0]);
        let y = || one(operands[1]);
        Some(vec![match function {
            Function::Div => self.divide(x, y()),
            Function::Sqrt => self.sqrt(x),
            Function::Exp => self.exponential(x, f64::exp),
            Function::Log => self.log(x, f64::ln),
            Function::Sin => self.wave(x, f64::sin),
            Function::Tan => self.unary(x, |x| {
                self.divide(self.wave(one(x), f64::sin), self.wave(one(x), f64::cos))
            }),
            Function::Atan2 => self.atan2(x, y()),
            Function::Acosh => self.acosh(x),
            Function::Pow => self.binary(x, y(), |x, y| {
                self.exponential(self.multiply(one(y), self.log(one(x), f64::log2)), f64::exp2)
            }),
            Function::Normalize => return Some(self.normalize(operands)),
            Function::Refract => return Some(self.refract(operands)),
            _ => return None,
        }])
    }

    fn power(exponent: i32) -> f64 {
        2f64.powi(exponent)
    }

    fn largest(&self) -> f64 {
        Steps::power(self.most) * (2.0 - Steps::power(-self.fraction))
    }

    fn is_subnormal(&self, value: f64) -> bool {
        value != 0.0 && value.abs() < Steps::power(self.least)
    }

    /// What a number may be read as: rounded to either side, or zero where it may be flushed; NaN
    /// beyond the largest.
    fn values(&self, number: f64) -> Vec<f64> {
        if number.is_nan() || number.abs() > self.largest() {
            return vec![f64::NAN];
        }
        let mut values = if self.behaviour.rounds { self.neighbours(number) } else { vec![number] };
        if values.iter().any(|value| self.is_subnormal(*value)) {
            values.push(0.0);
        }
        values
    }

    fn neighbours(&self, number: f64) -> Vec<f64> {
        let unit = Steps::power(exponent(number).max(self.least) - self.fraction);
        vec![(number / unit).floor() * unit, (number / unit).ceil() * unit]
    }

    fn ends(span: (f64, f64)) -> Vec<f64> {
        if span.0 == span.1 { vec![span.0] } else { vec![span.0, span.1] }
    }

    fn finite(&self, span: Span) -> Span {
        span.filter(|(lo, hi)| lo.abs() <= self.largest() && hi.abs() <= self.largest())
    }

    fn readings(&self, span: (f64, f64)) -> Vec<f64> {
        Steps::ends(span).into_iter().flat_map(|end| self.values(end)).collect()
    }

    fn unary(&self, x: Span, step: impl Fn(f64) -> Span) -> Span {
        self.finite(hull(self.readings(x?).into_iter().map(step)))
    }

    fn binary(&self, x: Span, y: Span, step: impl Fn(f64, f64) -> Span) -> Span {
        let (xs, ys) = (self.readings(x?), self.readings(y?));
        self.finite(hull(xs.iter().flat_map(|x| ys.iter().map(|y| step(*x, *y)))))
    }

    fn rounded(&self, exact: f64) -> Span {
        if exact.is_nan() || exact.abs() > self.largest() {
            return None;
        }
        hull(self.neighbours(exact).into_iter().map(|value| Some(self.flushed((value, value)))))
    }

    /// The span and zero, where an end may be flushed.
    fn flushed(&self, (lo, hi): (f64, f64)) -> (f64, f64) {
        let zero = |end: f64| if self.is_subnormal(end) { 0.0 } else { end };
        (lo.min(zero(lo)).min(zero(hi)), hi.max(zero(hi)).max(zero(lo)))
    }

    fn add(&self, x: Span, y: Span) -> Span {
        self.binary(x, y, |x, y| self.rounded(sum(x, y)))
    }

    fn subtract(&self, x: Span, y: Span) -> Span {
        self.add(x, y.map(|(lo, hi)| (-hi, -lo)))
    }

    fn multiply(&self, x: Span, y: Span) -> Span {
        self.binary(x, y, |x, y| self.rounded(x * y))
    }

    /// The unit of a value of the format: of what may be flushed, the smallest normal value.
    fn unit(&self, value: f64) -> f64 {
        if value == 0.0 || self.is_subnormal(value) {
            return Steps::power(
                self.least - if self.behaviour.normal_units { 0 } else { self.fraction },
            );
        }
        let exponent = exponent(value);
        let power = value.abs() == Steps::power(exponent) && exponent > self.least;
        Steps::power(exponent - i32::from(power) - self.fraction)
    }

    /// What lies within some units of exact results, given with their units.
    fn within_units(&self, results: impl Iterator<Item = (f64, f64)>) -> Span {
        let results: Vec<(f64, f64)> = results.collect();
        let mut spans: Vec<Span> = results
            .iter()
            .map(|(exact, units)| {
                let gives_up = self.behaviour.gives_up && *units > self.largest();
                if gives_up { None } else { self.within(*exact, |value| units * self.unit(value)) }
            })
            .collect();
        if !self.behaviour.rounds {
            // Above a power of two the unit doubles.
            let (lo, hi) = results.iter().fold((f64::MAX, f64::MIN), |(lo, hi), (exact, _)| {
                (lo.min(*exact), hi.max(*exact))
            });
            let units = results.iter().map(|(_, units)| *units).fold(f64::MAX, f64::min);
            for (near, far, sign) in [(lo, hi, 1.0), (-hi, -lo, -1.0)] {
                let own = Steps::power(exponent(near));
                let power = if near == own { own } else { 2.0 * own };
                if near > 0.0 && near >= Steps::power(self.least) && power < far {
                    spans.push(self.within(sign * power.next_up(), |_| {
                        units * Steps::power(exponent(power) - self.fraction)
                    }));
                }
            }
        }
        self.finite(hull(spans.into_iter()))
    }

    fn within(&self, exact: f64, distance: impl Fn(f64) -> f64) -> Span {
        if self.behaviour.rounds {
            return self.unary(Some((exact, exact)), |value| {
                let distance = distance(value);
                (!value.is_nan()).then(|| self.flushed((value - distance, value + distance)))
            });
        }
        let distance = distance(exact);
        self.finite(
            (!exact.is_nan()).then(|| self.flushed((sum(exact, -distance), sum(exact, distance)))),
        )
    }

    fn is_half(&self) -> bool {
        self.most == 15
    }

    /// What a function with an error counted in units gives.
    fn erring(&self, x: Span, function: impl Fn(f64) -> f64, units: impl Fn(f64) -> f64) -> Span {
        self.within_units(self.readings(x?).into_iter().map(|x| (function(x), units(x))))
    }

    fn exponential(&self, x: Span, function: fn(f64) -> f64) -> Span {
        let exact = |x: f64| match function(x) {
            // Binary64 loses the difference.
            one if one == 1.0 && x != 0.0 && !self.behaviour.rounds => {
                if x < 0.0 {
                    one.next_down()
                } else {
                    one.next_up()
                }
            }
            value => value,
        };
        self.erring(x, exact, |x| if self.is_half() { 1.0 } else { 3.0 } + 2.0 * x.abs())
    }

    fn divide(&self, x: Span, y: Span) -> Span {
        let (lo, hi) = y?;
        let range = Steps::power(self.least)..=Steps::power(-self.least);
        if lo * hi <= 0.0 || !range.contains(&lo.abs()) || !range.contains(&hi.abs()) {
            return None;
        }
        let (xs, ys) = (self.readings(x?), self.readings(y?));
        self.within_units(
            xs.iter().flat_map(|x| {
                ys.iter().map(move |y| (if *y == 0.0 { f64::NAN } else { x / y }, 2.5))
            }),
        )
    }

    fn sqrt(&self, x: Span) -> Span {
        let root = |x: Span| {
            let root = self.erring(x, |x| 1.0 / x.sqrt(), |_| 2.0);
            self.divide(Some((1.0, 1.0)), root)
        };
        if self.behaviour.rounds { self.unary(x, |x| root(Some((x, x)))) } else { root(x) }
    }

    fn log(&self, x: Span, function: fn(f64) -> f64) -> Span {
        let (lo, hi) = x.filter(|(lo, _)| *lo > 0.0)?;
        let near_one = |x: f64| (0.5..=2.0).contains(&x);
        if !near_one(lo) && !near_one(hi) {
            return self.erring(x, function, |_| 3.0);
        }
        let distance = Steps::power(if self.is_half() { -7 } else { -21 });
        self.unary(x, |x| {
            if near_one(x) {
                self.within(function(x), |_| distance)
            } else {
                self.erring(Some((x, x)), function, |_| 3.0)
            }
        })
    }

    fn wave(&self, x: Span, function: fn(f64) -> f64) -> Span {
        // The value of the format next to pi, whichever side it lies on.
        let pi = if self.is_half() { 3.140_625 } else { f64::from(std::f32::consts::PI) };
        self.unary(x, |x| {
            if x.abs() > pi {
                return None;
            }
            self.within(function(x), |_| Steps::power(if self.is_half() { -7 } else { -11 }))
        })
    }

    fn atan2(&self, y: Span, x: Span) -> Span {
        let range = Steps::power(self.least)..=Steps::power(-self.least);
        let stated = range.contains(&x?.0.abs()) && y?.0.abs() >= Steps::power(self.least);
        if !stated {
            return None;
        }
        let units = if self.is_half() { 5.0 } else { 4096.0 };
        self.binary(y, x, |y, x| self.within_units(std::iter::once((y.atan2(x), units))))
    }

    fn acosh(&self, x: Span) -> Span {
        let one = Some((1.0, 1.0));
        let of = |inner: &dyn Fn(Span) -> Span| {
            self.unary(x, |x| {
                let x = Some((x, x));
                self.log(self.add(x, self.sqrt(inner(x))), f64::ln)
            })
        };
        let products = of(&|x| self.multiply(self.subtract(x, one), self.add(x, one)));
        let squares = of(&|x| self.subtract(self.multiply(x, x), one));
        if self.behaviour.products { hull([products, squares].into_iter()) } else { squares }
    }

    /// In every order.
    fn dot(&self, x: &[f64], y: &[f64]) -> Span {
        let products: Vec<Span> =
            x.iter().zip(y).map(|(x, y)| self.multiply(Some((*x, *x)), Some((*y, *y)))).collect();
        let sums = orders(products.len()).into_iter().map(|order| {
            let mut terms = order.into_iter().map(|index| products[index]);
            let first = terms.next()?;
            terms.fold(first, |sum, term| self.add(sum, term))
        });
        self.finite(hull(sums))
    }

    fn normalize(&self, x: &[f64]) -> Vec<Span> {
        self.vector(x, |x| {
            let length = self.vector(x, |x| vec![self.sqrt(self.dot(x, x))])[0];
            x.iter().map(|x| self.divide(Some((*x, *x)), length)).collect()
        })
    }

    fn refract(&self, operands: &[f64]) -> Vec<Span> {
        let width = operands.len() / 2;
        let (incident, normal) = operands[..2 * width].split_at(width);
        let [one, ratio] = [1.0, operands[2 * width]].map(|value| Some((value, value)));
        let nothing = vec![None; width];
        let dot = self.dot(normal, incident);
        let sine = self.subtract(one, self.multiply(dot, dot));
        let squared = self.multiply(self.multiply(ratio, ratio), sine);
        let product = if self.behaviour.one_order {
            squared
        } else {
            hull([squared, self.multiply(ratio, self.multiply(ratio, sine))].into_iter())
        };
        let k = self.subtract(one, product);
        let Some((lo, hi)) = k else { return nothing };
        let zero = |end: f64| end == 0.0 || self.is_subnormal(end);
        if self.behaviour.gives_up && (zero(lo) || zero(hi) || lo * hi < 0.0) {
            return nothing;
        }
        if hi < 0.0 {
            return vec![Some((0.0, 0.0)); width];
        }
        let t = self.add(self.multiply(ratio, dot), self.sqrt(k));
        let component = |(x, y): (&f64, &f64)| {
            self.subtract(self.multiply(Some((*x, *x)), ratio), self.multiply(Some((*y, *y)), t))
        };
        let result: Vec<Span> = incident.iter().zip(normal).map(component).collect();
        if result.contains(&None) { nothing } else { result }
    }

    /// A function of every combination of readings of a vector; where one component is anything,
    /// all are.
    fn vector(&self, x: &[f64], function: impl Fn(&[f64]) -> Vec<Span>) -> Vec<Span> {
        let mut readings: Vec<Vec<f64>> = vec![Vec::new()];
        for component in x {
            let longer = |head: &Vec<f64>| {
                self.values(*component)
                    .into_iter()
                    .map(|value| [head.as_slice(), &[value]].concat())
                    .collect::<Vec<_>>()
            };
            readings = readings.iter().flat_map(longer).collect();
        }
        let results: Vec<Vec<Span>> = readings.iter().map(|reading| function(reading)).collect();
        let parts: Vec<Span> = (0..results[0].len())
            .map(|part| self.finite(hull(results.iter().map(|result| result[part]))))
            .collect();
        if parts.contains(&None) { vec![None; parts.len()] } else { parts }
    }
}

/// A sum; where binary64 loses some of it, a number on the right side of what is left.
fn sum(x: f64, y: f64) -> f64 {
    let sum = x + y;
    let lost = if x.abs() < y.abs() { x - (sum - y) } else { y - (sum - x) };
    match lost {
        lost if lost > 0.0 => sum.next_up(),
        lost if lost < 0.0 => sum.next_down(),
        _ => sum,
    }
}

fn exponent(value: f64) -> i32 {
    (value.abs().to_bits() >> 52) as i32 - 1023
}

fn hull(spans: impl Iterator<Item = Span>) -> Span {
    spans.reduce(|a, b| Some((a?.0.min(b?.0), a?.1.max(b?.1)))).flatten()
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    (0..count).fold(vec![Vec::new()], |orders, next| {
        let insert = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|at| [&order[..at], &[next], &order[at..]].concat())
                .collect::<Vec<_>>()
        };
        orders.iter().flat_map(insert).collect()
    })
}
