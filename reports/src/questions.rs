//! What developers of translation layers, emulators and compute runtimes ask about a device: each
//! question answered by the traits of the device that it is about.

use crate::model::{Answer, DeviceTrait};

/// One question.
struct Question {
    id: &'static str,
    text: &'static str,
    /// Ids of the traits that answer it; `*` stands for anything.
    traits: &'static [&'static str],
}

const fn question(
    id: &'static str,
    text: &'static str,
    traits: &'static [&'static str],
) -> Question {
    Question { id, text, traits }
}

const QUESTIONS: [Question; 19] = [
    question(
        "Q01",
        "32 to 16 bits, by each way: rounding, overflow, subnormals, NaN?",
        &["f32.to_f16_*", "f32.pack_half_*", "f32.quantize_*", "rgba16f.store_*"],
    ),
    question("Q02", "Is 32 to 16 to 32 bits removed by the compiler?", &["f32.narrow_and_widen*"]),
    question(
        "Q03",
        "What becomes of 32-bit subnormals by default, and does DenormPreserve for 16 bits change it?",
        &["f32.subnormal_*"],
    ),
    question(
        "Q04",
        "Do 16-bit subnormals survive arithmetic, with and without DenormPreserve?",
        &["f16.subnormal_*"],
    ),
    question(
        "Q05",
        "Which sign has a flushed zero; do fabs, fnegate, select and phi flush?",
        &[
            "f32.flushed_zero_sign",
            "f32.fabs_of_subnormal",
            "f32.fnegate_of_subnormal",
            "f32.select_of_subnormal",
            "f32.phi_of_subnormal",
        ],
    ),
    question(
        "Q06",
        "fmin, fmax, fclamp against nmin, nmax, nclamp with NaN, by controls?",
        &["f32.fmin_*", "f32.fmax_*", "f32.fclamp_*", "f32.nmin_*", "f32.nmax_*", "f32.nclamp_*"],
    ),
    question(
        "Q07",
        "Is isnan or x != x folded away; are negated comparisons right?",
        &["f32.is_nan*", "f32.nan_differs_*", "f32.not_less_*"],
    ),
    question(
        "Q08",
        "rsq(-0), rsq(subnormal), sqrt(-subnormal), fract(+-inf), log(subnormal)?",
        &[
            "f32.rsq_of_*",
            "f32.sqrt_of_*",
            "f32.fract_of_*",
            "f32.log_of_subnormal",
            "f32.log2_of_subnormal",
        ],
    ),
    question(
        "Q09",
        "B10G11R11 stores: rounding, 65280, infinity, NaN, subnormals, negatives?",
        &["b10g11r11.store_*"],
    ),
    question(
        "Q10",
        "UNORM and SNORM stores of NaN and of ties?",
        &[
            "*norm.store_nan",
            "*norm.store_of_one_half",
            "*norm.store_rounding",
            "f32.pack_*norm_of_nan",
        ],
    ),
    question(
        "Q11",
        "Float to integer: saturation, NaN; integer to float?",
        &["f32.to_i32_*", "f32.to_u32_*", "f32.from_*"],
    ),
    question(
        "Q12",
        "sin and cos beyond pi: largest absolute error by range?",
        &["f32.sin_error_*", "f32.cos_error_*"],
    ),
    question(
        "Q13",
        "x/y with |y| > 2^126, x/x, x/1: one step or two?",
        &["f32.division_by_*", "f32.rounding_of_quotients"],
    ),
    question(
        "Q14",
        "Rounding without execution mode; do RoundingModeRTE and RTZ take effect?",
        &["*.rounding", "*.rounding_under_*"],
    ),
    question(
        "Q15",
        "Does FPFastMathDefault None hold for every operation?",
        &["strict_arithmetic"],
    ),
    question(
        "Q16",
        "Is NoContraction honoured; is fma fused?",
        &["*.mul_then_add*", "*.fma", "*.fma_under_*"],
    ),
    question("Q17", "Does folding at compile time agree with run time?", &["constants_agree"]),
    question("Q18", "Do vector widths and shader stages agree?", &["widths_agree", "stages_agree"]),
    question(
        "Q19",
        "Results that OpenGL, WGSL and Vulkan leave undefined: log(-1), log(subnormal), pow(+-0, +-0), acosh(0)?",
        &[
            "f32.log_of_*",
            "f32.log2_of_*",
            "f32.rsq_of_negative",
            "f32.pow_of_*",
            "f32.acosh_*",
            "f32.asin_*",
        ],
    ),
];

/// How many lanes one answer shows.
const SHOWN: usize = 12;

/// What is said where no trait has a value.
const UNMEASURED: &str = "not measured";

/// The answers of a device with these traits.
pub fn answers(traits: &[DeviceTrait]) -> Vec<Answer> {
    QUESTIONS.iter().map(|question| question.answer(traits)).collect()
}

impl Question {
    fn answer(&self, traits: &[DeviceTrait]) -> Answer {
        let own: Vec<&DeviceTrait> = traits.iter().filter(|one| self.is_about(&one.id)).collect();
        let values = own.iter().flat_map(|one| one.scopes()).filter_map(|(_, value)| value);
        let mut evidence = Vec::new();
        // The first lane of each, then the second of each.
        let lanes: Vec<_> = values.map(|value| &value.evidence).collect();
        for place in 0..lanes.iter().map(|list| list.len()).max().unwrap_or(0) {
            evidence.extend(lanes.iter().filter_map(|list| list.get(place)).cloned());
        }
        evidence.truncate(SHOWN);
        Answer {
            id: self.id.to_owned(),
            question: self.text.to_owned(),
            answer: sentence(&own),
            evidence,
        }
    }

    fn is_about(&self, id: &str) -> bool {
        self.traits.iter().any(|pattern| match pattern.split_once('*') {
            Some((head, rest)) => id.strip_prefix(head).is_some_and(|id| ends(id, rest)),
            None => *pattern == id,
        })
    }
}

/// Whether a text ends so; a last `*` stands for anything after it.
fn ends(text: &str, end: &str) -> bool {
    end.strip_suffix('*').map_or_else(|| text.ends_with(end), |part| text.contains(part))
}

/// The values of traits in words; those of one value share it.
fn sentence(traits: &[&DeviceTrait]) -> String {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for one in traits {
        let value = one.describe();
        match said.iter_mut().find(|(same, _)| *same == value) {
            Some((_, ids)) => ids.push(&one.id),
            None => said.push((value, vec![&one.id])),
        }
    }
    if said.is_empty() {
        return UNMEASURED.to_owned();
    }
    let clauses: Vec<String> =
        said.into_iter().map(|(value, ids)| format!("{}: {value}", ids.join(", "))).collect();
    clauses.join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::TraitValue;
    use crate::traits::definitions;

    fn value(text: &str) -> TraitValue {
        TraitValue { value: text.to_owned(), lanes: 1, shares: Vec::new(), evidence: Vec::new() }
    }

    fn one(id: &str, run_time: &str) -> DeviceTrait {
        DeviceTrait { id: id.to_owned(), run_time: Some(value(run_time)), constants: None }
    }

    fn answer(id: &str, traits: &[DeviceTrait]) -> String {
        answers(traits).into_iter().find(|answer| answer.id == id).unwrap().answer
    }

    #[test]
    fn every_pattern_names_a_trait() {
        let ids: BTreeSet<String> = definitions().map(|one| one.id()).collect();
        for Question { id, traits, .. } in QUESTIONS {
            for pattern in traits {
                let alone = Question { id, text: "", traits: std::slice::from_ref(pattern) };
                assert!(ids.iter().any(|id| alone.is_about(id)), "{id}: {pattern}");
            }
        }
        let of = |id: &str| {
            QUESTIONS.iter().filter(|one| one.is_about(id)).map(|one| one.id).collect::<Vec<_>>()
        };
        assert_eq!(of("rgba8snorm.store_of_one_half"), ["Q10"]);
        assert_eq!(of("f64.rounding_under_rtz"), ["Q14"]);
        assert_eq!(of("f32.rounding_of_quotients"), ["Q13"]);
        assert_eq!(of("f32.mul_then_add_under_no_contraction"), ["Q16"]);
        assert_eq!(of("f32.subnormal_results_under_preserve_16"), ["Q03"]);
    }

    #[test]
    fn traits_of_one_value_share_it() {
        let both = [one("f32.fabs_of_subnormal", "kept"), one("f32.phi_of_subnormal", "kept")];
        assert_eq!(answer("Q05", &both), "f32.fabs_of_subnormal, f32.phi_of_subnormal: kept");
        let other = [one("f32.fabs_of_subnormal", "kept"), one("f32.phi_of_subnormal", "flushed")];
        assert_eq!(
            answer("Q05", &other),
            "f32.fabs_of_subnormal: kept; f32.phi_of_subnormal: flushed"
        );
    }

    #[test]
    fn constants_are_named_where_they_differ() {
        let fma = |constants| DeviceTrait {
            constants: Some(value(constants)),
            ..one("f32.fma", "fused")
        };
        assert_eq!(answer("Q16", &[fma("fused")]), "f32.fma: fused");
        assert_eq!(answer("Q16", &[fma("split")]), "f32.fma: fused (constants: split)");
        let alone = DeviceTrait {
            constants: Some(value("no")),
            id: "constants_agree".to_owned(),
            run_time: None,
        };
        assert_eq!(answer("Q17", &[alone]), "constants_agree: no");
    }

    #[test]
    fn nothing_is_said_of_what_was_not_measured() {
        for answer in answers(&[]) {
            assert_eq!(answer.answer, "not measured", "{}", answer.id);
            assert!(answer.evidence.is_empty(), "{}", answer.id);
        }
    }
}
