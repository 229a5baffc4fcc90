//! What developers of translation layers, emulators and compute runtimes ask about a device: each question answered in
//! one plain sentence, from observations, with the lanes that show it.

mod conversions;
mod look;
mod rounding;
mod routes;
mod special;
mod subnormals;

use fpprobe_profiles::judge::Observations;
use fpprobe_spirv::Kernel;

use crate::model::Answer;
use look::ObservationView;

/// One question.
struct Question {
    id: &'static str,
    text: &'static str,
    answer: fn(&ObservationView<'_>) -> String,
}

/// The question whose results are compared: no text demands anything of them, so that no rule notices a change.
pub(crate) const UNDEFINED: &str = "Q19";

const QUESTIONS: [Question; 19] = [
    Question {
        id: "Q01",
        text: "32 to 16 bits, by each way: rounding, overflow, subnormals, NaN?",
        answer: conversions::to_half,
    },
    Question { id: "Q02", text: "Is 32 to 16 to 32 bits elided by the compiler?", answer: conversions::elided },
    Question {
        id: "Q03",
        text: "What becomes of 32-bit subnormals by default, and does DenormPreserve for 16 bits change it?",
        answer: subnormals::single,
    },
    Question {
        id: "Q04",
        text: "Do 16-bit subnormals survive arithmetic, with and without DenormPreserve?",
        answer: subnormals::half,
    },
    Question {
        id: "Q05",
        text: "Which sign has a flushed zero; do fabs, fnegate, select and phi flush?",
        answer: subnormals::moved,
    },
    Question {
        id: "Q06",
        text: "fmin, fmax, fclamp against nmin, nmax, nclamp with NaN, by controls?",
        answer: special::extremes,
    },
    Question {
        id: "Q07",
        text: "Is isnan or x != x folded away; are negated comparisons right?",
        answer: special::tests,
    },
    Question {
        id: "Q08",
        text: "rsq(-0), rsq(subnormal), sqrt(-subnormal), fract(+-inf), log(subnormal)?",
        answer: special::edges,
    },
    Question {
        id: "Q09",
        text: "B10G11R11 stores: rounding, 65280, NaN, subnormals, negatives?",
        answer: conversions::packed,
    },
    Question { id: "Q10", text: "UNORM and SNORM stores of NaN and of ties?", answer: conversions::norm },
    Question {
        id: "Q11",
        text: "Float to integer: saturation, NaN; unsigned to float?",
        answer: conversions::integers,
    },
    Question { id: "Q12", text: "sin and cos beyond pi: largest absolute error by range?", answer: rounding::angles },
    Question { id: "Q13", text: "x/y with |y| > 2^126, x/x, x/1: one step or two?", answer: rounding::division },
    Question {
        id: "Q14",
        text: "Rounding without execution mode; do RoundingModeRTE and RTZ take effect?",
        answer: rounding::modes,
    },
    Question { id: "Q15", text: "Does FPFastMathDefault None hold for every operation?", answer: special::fast_math },
    Question { id: "Q16", text: "Is NoContraction honoured; is fma fused?", answer: rounding::contraction },
    Question { id: "Q17", text: "Does folding at compile time agree with run time?", answer: routes::folding },
    Question { id: "Q18", text: "Do vector widths and shader stages agree?", answer: routes::widths },
    Question {
        id: UNDEFINED,
        text: "Results that OpenGL, WGSL and Vulkan leave undefined: log(-1), log(subnormal), pow(+-0, +-0), acosh(0)?",
        answer: special::undefined,
    },
];

/// The answers of one device.
pub fn answers(observations: &Observations<'_>) -> Vec<Answer> {
    let look = ObservationView::new(observations);
    QUESTIONS
        .iter()
        .map(|question| {
            let answer = (question.answer)(&look);
            Answer { id: question.id.into(), question: question.text.into(), answer, evidence: look.shown() }
        })
        .collect()
}

/// The kernels that the questions look at, in order of first mention.
pub fn kernels() -> Vec<Kernel> {
    let nothing = Observations::default();
    let look = ObservationView::new(&nothing);
    for question in &QUESTIONS {
        (question.answer)(&look);
    }
    look.required()
}

#[cfg(test)]
mod tests {
    use fpprobe_profiles::{Observation, Outcome};
    use fpprobe_spirv::Cases;

    use super::*;

    #[test]
    fn questions_name_kernels_that_exist() {
        let nothing = Observations::default();
        let look = ObservationView::new(&nothing);
        for question in &QUESTIONS {
            (question.answer)(&look);
        }
        assert_eq!(look.unknown(), Vec::<String>::new());
        assert!(look.required().len() > 40);
    }

    fn observed(kernel: &str, case: &[u64], out: u64, second: Option<u64>) -> Observation {
        let kernel: Kernel = kernel.parse().unwrap();
        let (cases, outcome) = (Cases::new("", kernel.arity(), case), second.map_or(Outcome::Ran, |_| Outcome::Flaky));
        let second = second.map(|bits| [bits].into());
        Observation { kernel, cases, outcome, detail: String::new(), out: [out].into(), second }
    }

    fn answer(id: &str, observations: &[Observation]) -> Answer {
        answers(&Observations::new(observations)).into_iter().find(|answer| answer.id == id).unwrap()
    }

    #[test]
    fn channels_that_differ_are_distinguished() {
        let (nan, case) = (0x7fc0_0000, [0x7fc0_0000, 0x3eab_e437, 0x3f2d_1379, 0x7fc0_0000]);
        let store = |texel| observed("rgba8unorm.store:route=clear", &case, texel, None);
        let said = answer("Q10", &[store(0x80ac_5600)]).answer;
        assert!(said.contains("rgba8unorm by clear: NaN becomes 00 (0) in red, 80 (0.5019608) in alpha"), "{said}");
        let said = answer("Q10", &[store(0x00ac_5600)]).answer;
        assert!(said.contains("rgba8unorm by clear: NaN becomes 00 (0), "), "{said}");
        let said = answer("Q10", &[observed("f32.pack_unorm_4x8", &[nan, 0, 0, nan], 0xff00_0000, None)]).answer;
        assert!(said.contains("pack_unorm_4x8 of NaN: 00 in x, ff in w"), "{said}");
    }

    #[test]
    fn strict_arithmetic_holds_or_does_not() {
        let kernel = "f32.floor:controls=fastmath0";
        let floor = |way: &str, second| observed(&format!("{kernel}{way}"), &[0x2f2d_598c], 0, second);
        let answer_text = answer("Q15", &[floor("", None)]).answer;
        assert!(answer_text.starts_with("as far as measured, yes: 1 answers are right"), "{answer_text}");
        // Folded, it is now +0 and now -0.
        let lost = answer("Q15", &[floor("", None), floor(";route=spec", Some(0x8000_0000))]);
        assert!(
            lost.answer.starts_with("no: 1 of 2 answers that it governs are wrong (V-strict-arithmetic), of"),
            "{lost:?}"
        );
        assert!(lost.answer.ends_with(&format!("{kernel};route=spec")), "{lost:?}");
        assert_eq!(lost.evidence[0].out, serde_json::from_str(r#""80000000""#).unwrap());
    }

    #[test]
    fn a_flushed_operand_is_named_as_it_was() {
        let said = answer("Q05", &[observed("f32.fnegate", &[0x8040_0000], 0, None)]).answer;
        assert!(said.contains("fnegate: gives 00000000 for 80400000"), "{said}");
    }

    #[test]
    fn other_ways_of_asking_are_asked() {
        let selected = kernels();
        for id in ["f32.fadd:route=spec", "f32.fadd:route=literal", "f32.fadd:width=3", "f32.sin:stage=fragment"] {
            assert!(selected.contains(&id.parse().unwrap()), "{id}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_was_not_measured() {
        for answer in answers(&Observations::default()) {
            assert!(answer.answer.contains("not measured"), "{}: {}", answer.id, answer.answer);
            assert!(answer.evidence.is_empty(), "{}", answer.id);
        }
    }
}
