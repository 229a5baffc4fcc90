//! Dot products in steps, value by value: what any order of multiplications and additions gives,
//! each rounded and flushed, a product fused into a sum or not; or the whole rounded once (D3D11.3
//! functional specification, 3.1.3.2). Those of bfloat16 are computed in binary32, and rounded
//! after each step or at the end alone (`SPV_KHR_bfloat16`, FP Encoding).

use fpprobe_spirv::layout::{BFLOAT16, BINARY32};
use fpprobe_spirv::op::Function;

use super::{Demand, Operand, accepted_on, inherited};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Contraction, Environment, Subnormals};

/// Numbers from key to key.
type KeyRange = (i64, i64);

/// How many neighbours are taken one by one; of more than that the ends tell.
const FEW: u64 = 4;

/// The sum of the products of the first half of the operands and the second, no NaN among them,
/// each step as accurate as `step`.
pub(super) fn in_steps(
    encoding: Encoding,
    operands: &[Operand],
    step: &Accuracy,
    demand: &Demand,
) -> Set {
    let demand = Demand { accuracy: step.clone(), ..demand.clone() };
    if encoding != Encoding::Float(BFLOAT16) {
        return sum(&Steps { encoding, operand: operands[0], demand, narrow: None }, operands);
    }
    let wide = Steps {
        encoding: Encoding::Float(BINARY32),
        operand: Operand { layout: Some(BINARY32), ..operands[0] },
        demand: Demand { accuracy: Accuracy::EitherNeighbour, ..demand.clone() },
        narrow: Some(demand),
    };
    wide.narrowed(&sum(&wide, operands))
}

/// The sum of products by these steps.
fn sum(steps: &Steps, operands: &[Operand]) -> Set {
    let encoding = steps.encoding;
    let (x, y) = operands.split_at(operands.len() / 2);
    let products: Vec<Set> =
        x.iter().zip(y).map(|(x, y)| steps.of(Function::Mul, &[*x, *y])).collect();
    // For each set of terms, what may come of it.
    let mut sums: Vec<Set> = vec![Set::nothing(encoding); 1 << products.len()];
    for terms in 1..sums.len() {
        let first = terms & terms.wrapping_neg();
        // The first term is in the first half: an addition does not tell its operands apart.
        let halves = (1..terms).filter(|half| half & terms == *half && half & first != 0);
        let mut sum = halves.fold(Set::nothing(encoding), |sum, half| {
            sum.or(&steps
                .across(&sums[half], &sums[terms & !half], |a, b| steps.of(Function::Add, &[a, b])))
        });
        for (term, product) in
            products.iter().enumerate().filter(|(term, _)| terms >> term & 1 == 1)
        {
            let rest = terms & !(1 << term);
            sum = sum.or(&if rest == 0 {
                product.clone()
            } else {
                // What is infinite already is as without fusing.
                let rest = sums[rest].and(&Set::finite(encoding));
                let one = Set::one(encoding, 0);
                steps.across(&one, &rest, |_, rest| {
                    steps.of(Function::MulAdd, &[x[term], y[term], rest])
                })
            });
        }
        sums[terms] = sum;
    }
    let serial = sums.pop().unwrap_or_else(|| Set::everything(encoding));
    let zeros = Set::zeros(encoding);
    let cancels = products.iter().any(|product| product.and(&zeros).is_empty());
    if !cancels || !operands.iter().all(|operand| operand.is_finite()) {
        return serial;
    }
    let whole = Demand { operands: Environment::IEEE, ..steps.demand.clone() };
    serial.or(&inherited::defined(encoding, &operands.iter().copied().collect(), &whole))
}

/// How steps are carried out.
struct Steps {
    encoding: Encoding,
    /// One of the format.
    operand: Operand,
    demand: Demand,
    /// How a step's result may be rounded to bfloat16, of which every value is one of binary32.
    narrow: Option<Demand>,
}

impl Steps {
    /// What one step may give.
    fn of(&self, function: Function, operands: &[Operand]) -> Set {
        let mut demand = Demand { function, ..self.demand.clone() };
        demand.results.contraction = Contraction::Fused;
        let set = accepted_on(self.encoding, &operands.iter().copied().collect(), &demand);
        if self.narrow.is_none() {
            return set;
        }
        // Rounded or not: everything between, of which few steps leave more than one value.
        let rounded = self.narrowed(&set);
        let widened = rounded.ranges().iter().flat_map(|(from, to)| [*from, *to]).map(|key| {
            let bits = rounded.encoding().at(key) << (BINARY32.bits() - BFLOAT16.bits());
            Set::one(self.encoding, bits)
        });
        self.hull(&widened.fold(set, |all, one| all.or(&one)))
    }

    /// What becomes of these in bfloat16.
    fn narrowed(&self, set: &Set) -> Set {
        let encoding = Encoding::Float(BFLOAT16);
        let Some(demand) = &self.narrow else { return set.clone() };
        let demand = Demand { function: Function::ToFloat, ..demand.clone() };
        let at = |key: i64| {
            let operand = Operand { bits: self.encoding.at(key), ..self.operand };
            accepted_on(encoding, &[operand].into_iter().collect(), &demand)
        };
        set.ranges().iter().fold(Set::nothing(encoding), |all, (from, to)| {
            let ends = if from == to { at(*from) } else { at(*from).or(&at(*to)) };
            let numbers = ends.minus(&Set::nan(encoding));
            let (least, most) = (numbers.ranges().first(), numbers.ranges().last());
            let between =
                least.zip(most).map(|(least, most)| Set::range(encoding, least.0, most.1));
            all.or(&ends).or(&between.unwrap_or_else(|| Set::nothing(encoding)))
        })
    }

    /// What a step that grows with both of its operands may give on what they may be.
    fn across(&self, left: &Set, right: &Set, step: impl Fn(Operand, Operand) -> Set) -> Set {
        let nan = Set::nan(self.encoding);
        let mut set = left.or(right).and(&nan);
        set = if set.is_empty() { set } else { nan.clone() };
        let at = |key: i64| Operand { bits: self.encoding.at(key), ..self.operand };
        for a in self.ranges(left) {
            for b in self.ranges(right) {
                let least = step(at(a.0), at(b.0));
                set = set.or(&if a.0 == a.1 && b.0 == b.1 {
                    least
                } else {
                    self.hull(&least.or(&step(at(a.1), at(b.1))))
                });
            }
        }
        set
    }

    /// The numbers of a set: ranges of many finite ones; few of them, and infinities, each by
    /// itself.
    fn ranges(&self, set: &Set) -> Vec<KeyRange> {
        let finite = set.and(&Set::finite(self.encoding));
        let infinite = set.minus(&Set::nan(self.encoding)).minus(&finite);
        let ranges = finite.ranges().iter().chain(infinite.ranges());
        let split = |(from, to): &KeyRange| {
            if to.abs_diff(*from) < FEW {
                (*from..=*to).map(|key| (key, key)).collect()
            } else {
                vec![(*from, *to)]
            }
        };
        ranges.flat_map(split).collect()
    }

    /// Everything between the numbers of a set, and its NaNs.
    fn hull(&self, set: &Set) -> Set {
        let ranges = self.ranges(set);
        let ends =
            (ranges.iter().map(|range| range.0).min(), ranges.iter().map(|range| range.1).max());
        let (Some(from), Some(to)) = ends else { return set.clone() };
        let between = set.or(&Set::range(self.encoding, from, to));
        match self.demand.results.subnormal_results {
            Subnormals::Flush => between.minus(&Set::subnormals(self.encoding)),
            _ => between,
        }
    }
}
