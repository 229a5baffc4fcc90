//! An accepted set as conditions of a script, which all have to hold.

use fpprobe_profiles::accepted::{Accepted, Set};
use fpprobe_profiles::encoding::{assemble, components};
use fpprobe_spirv::Kernel;
use fpprobe_spirv::emit::Expectation;

/// Why conditions accept more than the accepted set.
const UNION: &str = "a script has no `or`: of a set with gaps, its ends are checked, and that the result is not the recorded one";
/// Likewise, for numbers that lie side by side in a word.
const PACKED: &str =
    "a script compares whole words: the word is only checked not to be the recorded one";
/// Likewise, for sets that this version cannot read.
const UNKNOWN: &str = "what is accepted depends on other results: the result is only checked not to be the recorded one";

/// What a script expects of a failing lane. The recorded result fails it; every accepted result
/// passes.
pub(super) struct ExpectedResult {
    /// Conditions of each component of all results.
    pub components: Vec<Vec<Expectation>>,
    /// Why some results pass that are not accepted, where that is so.
    pub weaker: Option<&'static str>,
}

impl ExpectedResult {
    /// Of what was observed, and what is accepted, where that is known.
    pub fn new(kernel: &Kernel, observed: &[u64], accepted: Option<&Accepted>) -> ExpectedResult {
        let not_recorded = |why| ExpectedResult {
            components: observed.iter().map(|bits| vec![Expectation::Differs(*bits)]).collect(),
            weaker: Some(why),
        };
        let Some(accepted) = accepted else { return not_recorded(UNKNOWN) };
        let parts = components(kernel, observed);
        // What any of the alternatives accepts in each part.
        let mut sets: Vec<Set> = Vec::new();
        for alternative in accepted.alternatives() {
            sets = match sets.len() {
                0 => alternative.clone(),
                _ => sets.iter().zip(alternative).map(|(set, other)| set.or(other)).collect(),
            };
        }
        let is_alone = accepted.alternatives().len() == 1;
        if sets.iter().zip(&parts).all(|(set, bits)| set.contains(*bits)) {
            // Only together are they not accepted.
            return not_recorded(UNION);
        }
        if parts.len() == observed.len() {
            let of_part = |(set, bits): (&Set, &u64)| conditions(set, *bits);
            let (components, exact): (Vec<_>, Vec<bool>) =
                sets.iter().zip(&parts).map(of_part).unzip();
            let is_exact = is_alone && exact.into_iter().all(|exact| exact);
            return ExpectedResult { components, weaker: (!is_exact).then_some(UNION) };
        }
        let single: Option<Vec<u64>> = sets.iter().map(single).collect();
        match single {
            Some(parts) => ExpectedResult {
                components: assemble(kernel, &parts)
                    .into_iter()
                    .map(|bits| vec![Expectation::Equal(bits)])
                    .collect(),
                weaker: None,
            },
            None => not_recorded(PACKED),
        }
    }
}

/// The one member of a set.
fn single(set: &Set) -> Option<u64> {
    match set.codes()[..] {
        [(first, last)] if first == last => Some(first),
        _ => None,
    }
}

/// Conditions that every member of a set meets, and the observed bits do not where they are no
/// member; also whether only members meet them.
fn conditions(set: &Set, observed: u64) -> (Vec<Expectation>, bool) {
    let codes = set.codes();
    let (Some((first, _)), Some((_, last))) = (codes.first(), codes.last()) else {
        return (vec![Expectation::Differs(observed)], false);
    };
    if set.is_everything() {
        return (Vec::new(), true);
    }
    if first == last {
        return (vec![Expectation::Equal(*first)], true);
    }
    let most = u64::MAX >> (64 - set.encoding().bits());
    let mut conditions = Vec::new();
    conditions.extend((*first > 0).then_some(Expectation::AtLeast(*first)));
    conditions.extend((*last < most).then_some(Expectation::AtMost(*last)));
    if !set.contains(observed) && conditions.iter().all(|condition| condition.holds(observed)) {
        conditions.push(Expectation::Differs(observed));
    }
    let has_gaps = codes.windows(2).any(|pair| pair[0].1 + 1 < pair[1].0);
    (conditions, !has_gaps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpprobe_profiles::encoding::Encoding;
    use serde_json::json;

    fn expected(kernel: &str, observed: &[u64], accepts: &serde_json::Value) -> ExpectedResult {
        let kernel: Kernel = kernel.parse().unwrap();
        let accepted = Accepted::from_json(&Encoding::of_result(&kernel), accepts);
        let expected = ExpectedResult::new(&kernel, observed, accepted.as_ref());
        let fails = |(conditions, bits): (&Vec<Expectation>, &u64)| {
            conditions.iter().any(|one| !one.holds(*bits))
        };
        assert!(
            expected.components.iter().zip(observed).any(fails),
            "the recorded result passes: {accepts}"
        );
        expected
    }

    #[test]
    fn accepted_results_pass_and_the_recorded_one_fails() {
        use Expectation::{AtLeast, AtMost, Differs, Equal};
        for (kernel, observed, accepts, components, is_exact) in [
            ("f32.fadd", vec![1], json!({ "bits": ["00000000"] }), vec![vec![Equal(0)]], true),
            // Negative numbers descend.
            (
                "f16.fadd",
                vec![0xbc05],
                json!({ "bits": ["bc02", "bc01", "bc00"] }),
                vec![vec![AtLeast(0xbc00), AtMost(0xbc02)]],
                true,
            ),
            (
                "f16.fadd",
                vec![1],
                json!({ "bits": ["0000", "8000"] }),
                vec![vec![AtMost(0x8000), Differs(1)]],
                false,
            ),
            ("f16.fadd", vec![0], json!({ "nan": true }), vec![vec![AtLeast(0x7c01)]], false),
            (
                "f16.fadd:width=2",
                vec![5, 1],
                json!([{ "any": true }, { "bits": ["0000"] }]),
                vec![vec![], vec![Equal(0)]],
                true,
            ),
            ("f32.ford_equal", vec![1], json!({ "bits": ["0"] }), vec![vec![Equal(0)]], true),
            (
                "f32.pack_half_2x16",
                vec![0x0001_0000],
                json!([{ "bits": ["0000"] }, { "bits": ["0000"] }]),
                vec![vec![Equal(0)]],
                true,
            ),
            (
                "f32.pack_half_2x16",
                vec![0x0001_0000],
                json!([{ "any": true }, { "bits": ["0000"] }]),
                vec![vec![Differs(0x0001_0000)]],
                false,
            ),
            ("f32.fadd", vec![7], json!("as another kernel"), vec![vec![Differs(7)]], false),
        ] {
            let expected = expected(kernel, &observed, &accepts);
            assert_eq!(
                (expected.components, expected.weaker.is_none()),
                (components, is_exact),
                "{kernel} {accepts}"
            );
        }
    }

    #[test]
    fn of_pairs_the_recorded_one_fails() {
        let accepts = json!({ "alts": [[{ "bits": ["3c00"] }, { "bits": ["00000000"] }], [{ "bits": ["3800"] }, { "bits": ["00000001"] }]] });
        let expected = expected("f16.frexp", &[0x3c00, 1], &accepts);
        assert!(expected.weaker.is_some());
    }
}
