//! The same question asked in several ways: by another route, of vectors, through another front end. What is the same
//! computation should have the same result; where it has not, both answers are a finding.
//!
//! Neither answer need be wrong: a rule may allow both. It is what programs trip over that fold one operand and compute the
//! other.

use std::collections::HashMap;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::kernel::Shape;
use fpprobe_spirv::op::Components;
use fpprobe_spirv::{Kernel, Route, Via};

/// What two kernels answered that ask the same.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The kernel that asks in another way.
    pub other: &'a Observation,
    /// The kernel that it is compared with.
    pub plain: &'a Observation,
    /// How many cases both were asked.
    pub compared: usize,
    /// Cases of the other kernel that the plain one answers otherwise, each with that answer.
    pub differing: Vec<(usize, Vec<u64>)>,
}

/// The kernel that this one should answer like: by buffers, built directly, and one component at a time where it works
/// component by component. `None` for a kernel that is its own.
pub fn plain(kernel: &Kernel) -> Option<Kernel> {
    let width = if kernel.op.components == Components::Each { 1 } else { kernel.width };
    let route = if Route::OTHERS.contains(&kernel.route) { Route::Buffer } else { kernel.route };
    let plain = Kernel { route, width, via: Via::Spirv, ..*kernel };
    (plain != *kernel).then_some(plain)
}

/// Every kernel that ran beside the one it should answer like, in the order of the observations. NaNs count as one value;
/// where either answered in two ways there is nothing to compare.
pub fn pairs(observations: &[Observation]) -> Vec<Pair<'_>> {
    let ran = observations.iter().filter(|one| matches!(one.outcome, Outcome::Ran | Outcome::Flaky));
    let ran: Vec<&Observation> = ran.collect();
    let index: HashMap<Kernel, usize> = ran.iter().enumerate().map(|(place, one)| (one.kernel, place)).collect();
    let plain_of = |other: &Observation| plain(&other.kernel).and_then(|plain| index.get(&plain).copied());
    let asked = ran.iter().enumerate().filter_map(|(place, other)| Some((plain_of(other)?, place)));
    let mut asked: Vec<(usize, usize)> = asked.collect();
    asked.sort_unstable();
    let mut pairs: Vec<(usize, Pair<'_>)> = Vec::with_capacity(asked.len());
    // Lists are long: only one is indexed at a time.
    for alike in asked.chunk_by(|one, other| one.0 == other.0) {
        let plain = ran[alike[0].0];
        let cases = (0..plain.cases.len()).map(|case| (plain.cases.case(case), case)).collect();
        pairs.extend(alike.iter().map(|(_, place)| (*place, compare(ran[*place], plain, &cases))));
    }
    pairs.sort_by_key(|(place, _)| *place);
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

fn compare<'a>(other: &'a Observation, plain: &'a Observation, cases: &HashMap<&[u64], usize>) -> Pair<'a> {
    let formats: Vec<_> = other.kernel.output_formats().collect();
    let mut pair = Pair { other, plain, compared: 0, differing: Vec::new() };
    for case in 0..other.cases.len() {
        let (Some(answer), Some(expected)) = (other.steady(case), expected(other, plain, cases, case)) else {
            continue;
        };
        pair.compared += 1;
        let same = |((one, another), format): ((&u64, &u64), &fpprobe_spirv::Format)| {
            one == another || format.float().is_some_and(|layout| layout.is_nan(*one) && layout.is_nan(*another))
        };
        if !answer.iter().zip(&expected).zip(&formats).all(same) {
            pair.differing.push((case, expected));
        }
    }
    pair
}

/// What the plain kernel answers to the parts of a case of the other one.
fn expected(other: &Observation, plain: &Observation, cases: &HashMap<&[u64], usize>, case: usize) -> Option<Vec<u64>> {
    let operands = other.cases.case(case);
    if other.kernel.width == plain.kernel.width {
        return plain.steady(*cases.get(operands)?).map(<[u64]>::to_vec);
    }
    // Component by component; the values of each result lie side by side.
    let width = other.kernel.width as usize;
    let params = other.kernel.params();
    let answers: Option<Vec<&[u64]>> = (0..width)
        .map(|component| {
            let of = |(_, own): (Shape, &[u64])| own.get(component).or(own.first()).copied();
            let scalar: Option<Vec<u64>> = Shape::split(&params, operands).map(of).collect();
            plain.steady(*cases.get(scalar?.as_slice())?)
        })
        .collect();
    let answers = answers?;
    (0..other.kernel.outputs()).map(|part| answers[part % width].get(part / width).copied()).collect()
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Cases;

    use super::*;

    fn observed(kernel: &str, cases: &[&[u64]], out: &[u64]) -> Observation {
        let kernel: Kernel = kernel.parse().unwrap();
        let cases = Cases::new("", kernel.arity(), cases.concat());
        Observation { kernel, cases, outcome: Outcome::Ran, detail: String::new(), out: out.into(), second: None }
    }

    #[test]
    fn what_each_kernel_is_compared_with() {
        for (kernel, expected) in [
            ("f32.fadd:route=spec", Some("f32.fadd")),
            ("f32.fadd:controls=szin32;width=3", Some("f32.fadd:controls=szin32")),
            ("f32.fadd:via=glsl", Some("f32.fadd")),
            ("f32.dot:width=3", None),
            ("f32.dot:route=push;width=3", Some("f32.dot:width=3")),
            ("f32.fadd", None),
            ("b10g11r11.store:route=storage_image", None),
        ] {
            let kernel: Kernel = kernel.parse().unwrap();
            assert_eq!(plain(&kernel).map(|plain| plain.to_string()).as_deref(), expected, "{kernel}");
        }
    }

    #[test]
    fn parts_of_vectors_and_of_two_results_are_compared_each_with_its_own() {
        let (one, two, nan, other_nan) = (0x3f80_0000, 0x4000_0000, 0x7fc0_0000, 0x7fc0_0001);
        let scalars = observed("f32.modf", &[&[one], &[two], &[nan]], &[0, one, 1, two, nan, nan]);
        let right =
            observed("f32.modf:width=2", &[&[one, two], &[nan, one]], &[0, 1, one, two, other_nan, 0, nan, one]);
        let wrong = observed("f32.modf:width=2", &[&[one, two], &[3, one]], &[0, 1, two, two, 0, 0, 0, one]);
        let all = [scalars.clone(), right];
        let found = pairs(&all);
        assert_eq!((found.len(), found[0].compared, found[0].differing.len()), (1, 2, 0));
        let all = [wrong, scalars];
        let found = pairs(&all);
        // The second case has no counterpart.
        assert_eq!((found[0].compared, &found[0].differing), (1, &vec![(0, vec![0, 1, one, two])]));
    }
}
