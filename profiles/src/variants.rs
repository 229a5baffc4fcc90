//! The same question asked in several ways: by another route, of vectors, through another front
//! end. What is the same computation should have the same result; where it has not, both answers
//! are a finding.
//!
//! Neither answer need be wrong: a rule may allow both. It is what programs trip over that fold one
//! operand and compute the other. A rule looks at both.

use foldhash::HashMap;
use fpprobe_spirv::kernel::Shape;
use fpprobe_spirv::{Cases, FloatLayout, Kernel};

use crate::encoding::{Encoding, components};
use crate::observation::Observation;
use crate::parallel;

/// What two kernels answered that ask the same.
#[derive(Clone, Debug)]
pub struct VariantPair<'a> {
    /// The kernel that asks in another way.
    pub other: &'a Observation,
    /// The kernel that it is compared with.
    pub plain: &'a Observation,
    /// How many cases both were asked.
    pub compared: usize,
    /// Cases of the other kernel that the plain one answers otherwise, each with that answer. NaNs
    /// count as one value.
    pub differing: Vec<(usize, Vec<u64>)>,
    /// Cases of the other kernel that the plain one is not known to answer with the same bits.
    pub unlike: Vec<usize>,
}

impl VariantPair<'_> {
    /// The other kernel's answers that are not known to be the plain one's.
    pub fn own_answers(&self) -> Observation {
        let VariantPair { other, unlike, .. } = self;
        let width = other.kernel.outputs();
        let of = |values: &[u64]| {
            unlike.iter().flat_map(|case| values[case * width..][..width].to_vec()).collect()
        };
        let cases: Vec<u64> =
            unlike.iter().flat_map(|case| other.cases.case(*case).to_vec()).collect();
        Observation {
            kernel: other.kernel,
            cases: Cases::new("", other.kernel.arity(), cases),
            outcome: other.outcome,
            detail: String::new(),
            out: of(&other.out),
            second: other.second.as_deref().map(of),
        }
    }
}

/// Every kernel that ran beside the one it should answer like, in the order of the observations.
/// Where either answered in two ways there is nothing to compare.
pub fn pairs(observations: &[Observation]) -> Vec<VariantPair<'_>> {
    beside(observations, |other, ran| other.counterpart().filter(|plain| ran.contains_key(plain)))
}

/// Every path of texels beside the first path by which the device converts the same. What texts say
/// of one path they need not say of another, so no rule looks at these.
pub fn paths(observations: &[Observation]) -> Vec<VariantPair<'_>> {
    beside(observations, |other, ran| {
        let routes =
            other.op.code.routes(other.format).iter().filter(|_| other.op.code.is_of_texels());
        let mut firsts = routes.map(|route| Kernel { route: *route, ..*other });
        firsts.find(|first| ran.contains_key(first)).filter(|first| first != other)
    })
}

/// Every kernel that ran beside another one.
fn beside(
    observations: &[Observation],
    counterpart: impl Fn(&Kernel, &HashMap<Kernel, usize>) -> Option<Kernel>,
) -> Vec<VariantPair<'_>> {
    let ran = observations.iter().filter(|one| one.outcome.answered());
    let ran: Vec<&Observation> = ran.collect();
    let index: HashMap<Kernel, usize> =
        ran.iter().enumerate().map(|(place, one)| (one.kernel, place)).collect();
    let plain_of = |other: &Observation| {
        counterpart(&other.kernel, &index).and_then(|plain| index.get(&plain).copied())
    };
    let paired =
        ran.iter().enumerate().filter_map(|(place, other)| Some((plain_of(other)?, place)));
    let mut paired: Vec<(usize, usize)> = paired.collect();
    paired.sort_unstable();
    // Lists are long: each is indexed once, and no longer than it takes.
    let alike: Vec<&[(usize, usize)]> = paired.chunk_by(|one, other| one.0 == other.0).collect();
    let pairs = parallel::map(&alike, |alike| {
        let plain = ran[alike[0].0];
        let cases = plain.cases.iter().zip(0..).collect();
        let pair = |(_, place): &(usize, usize)| (*place, compare(ran[*place], plain, &cases));
        alike.iter().map(pair).collect::<Vec<_>>()
    });
    let mut pairs: Vec<(usize, VariantPair<'_>)> = pairs.into_iter().flatten().collect();
    pairs.sort_by_key(|(place, _)| *place);
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

fn compare<'a>(
    other: &'a Observation,
    plain: &'a Observation,
    cases: &HashMap<&[u64], usize>,
) -> VariantPair<'a> {
    let encodings = Encoding::of_result(&other.kernel);
    let mut pair =
        VariantPair { other, plain, compared: 0, differing: Vec::new(), unlike: Vec::new() };
    for case in 0..other.cases.len() {
        let (Some(answer), Some(expected)) =
            (other.steady(case), expected(other, plain, cases, case))
        else {
            pair.unlike.push(case);
            continue;
        };
        pair.compared += 1;
        if answer == expected {
            continue;
        }
        pair.unlike.push(case);
        let parts = [answer, &expected].map(|answer| components(&other.kernel, answer));
        let same = |((one, another), encoding): ((&u64, &u64), &Encoding)| {
            let nan = |layout: &FloatLayout| layout.is_nan(*one) && layout.is_nan(*another);
            one == another || matches!(encoding, Encoding::Float(layout) if nan(layout))
        };
        if !parts[0].iter().zip(&parts[1]).zip(&encodings).all(same) {
            pair.differing.push((case, expected));
        }
    }
    pair
}

/// What the plain kernel answers to the parts of a case of the other one.
fn expected(
    other: &Observation,
    plain: &Observation,
    cases: &HashMap<&[u64], usize>,
    case: usize,
) -> Option<Vec<u64>> {
    let operands = other.cases.case(case);
    if other.kernel.width == plain.kernel.width {
        return plain.steady(*cases.get(operands)?).map(<[u64]>::to_vec);
    }
    // The values of each result lie side by side.
    let width = other.kernel.width as usize;
    let scalars = scalars(&other.kernel, operands);
    let answers: Option<Vec<&[u64]>> =
        scalars.map(|scalar| plain.steady(*cases.get(&scalar[..])?)).collect();
    let answers = answers?;
    (0..other.kernel.outputs())
        .map(|part| answers[part % width].get(part / width).copied())
        .collect()
}

/// Lanes of a kernel, case and part of the result, that ask one of these of the one it should
/// answer like; `unlike` as in [`VariantPair`].
pub fn sharing<'a>(
    other: &'a Observation,
    plain: &Kernel,
    unlike: &'a [usize],
    is_one: impl Fn(&[u64], usize) -> bool + 'a,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let parts = Encoding::of_result(plain).len();
    let same_width = other.kernel.width == plain.width;
    let width = other.kernel.width as usize;
    let lanes = move |case: usize| -> Vec<(usize, usize)> {
        let operands = other.cases.case(case);
        if same_width {
            return (0..parts)
                .filter(|part| is_one(operands, *part))
                .map(|part| (case, part))
                .collect();
        }
        // The values of each result lie side by side.
        let scalars = scalars(&other.kernel, operands).enumerate();
        let of_scalar = |(component, scalar): (usize, Vec<u64>)| {
            let failing: Vec<usize> = (0..parts).filter(|part| is_one(&scalar, *part)).collect();
            failing.into_iter().map(move |part| (case, part * width + component))
        };
        scalars.flat_map(of_scalar).collect()
    };
    (0..other.cases.len()).filter(|case| unlike.binary_search(case).is_err()).flat_map(lanes)
}

/// A case of vectors component by component.
fn scalars(kernel: &Kernel, operands: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let params = kernel.params();
    (0..kernel.width as usize).map(move |component| {
        let of = |(_, own): (Shape, &[u64])| {
            own.get(component).or(own.first()).copied().unwrap_or_default()
        };
        Shape::split(&params, operands).map(of).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(kernel: &str, cases: &[&[u64]], out: &[u64]) -> Observation {
        let kernel: Kernel = kernel.parse().unwrap();
        let cases = Cases::new("", kernel.arity(), cases.concat());
        Observation::ran(kernel, cases, out.into())
    }

    #[test]
    fn paths_of_one_format_are_compared_with_the_first_that_ran() {
        let store = "b10g11r11.store:route=";
        let case: &[u64] = &[0x7f80_0000, 0x3f80_0000, 0x7fc0_0000];
        // Infinity, 1 and a NaN; infinity turned into a NaN; another NaN.
        let [right, wrong, other_nan] =
            [0x7c0, 0x7ff, 0x7c0].map(|red| red | 0x3c0 << 11 | 0x3e1 << 22);
        let all = [
            observed(&format!("{store}attachment"), &[case], &[wrong]),
            observed(&format!("{store}clear"), &[case], &[right]),
            observed(&format!("{store}blit"), &[case], &[other_nan + (1 << 22)]),
        ];
        let found = paths(&all);
        let text: Vec<(String, String, usize)> = found
            .iter()
            .map(|pair| {
                (pair.other.kernel.to_string(), pair.plain.kernel.to_string(), pair.differing.len())
            })
            .collect();
        let clear = format!("{store}clear");
        let expected =
            [(format!("{store}attachment"), clear.clone(), 1), (format!("{store}blit"), clear, 0)];
        assert_eq!(text, expected);
        assert!(pairs(&all).is_empty());
    }

    #[test]
    fn parts_of_vectors_and_of_two_results_are_compared_each_with_its_own() {
        let (one, two, nan, other_nan) = (0x3f80_0000, 0x4000_0000, 0x7fc0_0000, 0x7fc0_0001);
        let scalars = observed("f32.modf", &[&[one], &[two], &[nan]], &[0, one, 1, two, nan, nan]);
        let right = observed(
            "f32.modf:width=2",
            &[&[one, two], &[nan, one]],
            &[0, 1, one, two, other_nan, 0, nan, one],
        );
        let wrong = observed(
            "f32.modf:width=2",
            &[&[one, two], &[3, one]],
            &[0, 1, two, two, 0, 0, 0, one],
        );
        let all = [scalars.clone(), right];
        let found = pairs(&all);
        assert_eq!((found.len(), found[0].compared, found[0].differing.len()), (1, 2, 0));
        // Another NaN is another answer all the same.
        let own = found[0].own_answers();
        assert_eq!(
            (own.cases.len(), own.cases.case(0), own.answer(0)),
            (1, &[nan, one][..], &[other_nan, 0, nan, one][..])
        );
        let all = [wrong, scalars];
        let found = pairs(&all);
        // The second case has no counterpart.
        assert_eq!((found[0].compared, &found[0].differing), (1, &vec![(0, vec![0, 1, one, two])]));
        assert_eq!(found[0].unlike, [0, 1]);
    }
}
