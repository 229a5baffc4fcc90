//! What developers of translation layers, emulators and compute runtimes ask about a device: each question answered in
//! one plain sentence, from observations, with the lanes that show it.

mod conversions;
mod look;
mod rounding;
mod routes;
mod special;
mod subnormals;

use fpprobe_profiles::Observation;
use fpprobe_profiles::ways::Pair;
use fpprobe_spirv::Kernel;

use crate::model::Answer;
use look::Look;

/// One question.
struct Question {
    id: &'static str,
    text: &'static str,
    answer: fn(&Look<'_>) -> String,
}

const QUESTIONS: [Question; 18] = [
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
];

/// The answers of one device; `pairs` are its kernels that ask the same in several ways.
pub fn answers(observations: &[Observation], pairs: &[Pair<'_>]) -> Vec<Answer> {
    let look = Look::new(observations, pairs);
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
    let look = Look::new(&[], &[]);
    for question in &QUESTIONS {
        (question.answer)(&look);
    }
    look.wanted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_name_kernels_that_exist() {
        let look = Look::new(&[], &[]);
        for question in &QUESTIONS {
            (question.answer)(&look);
        }
        assert_eq!(look.unknown(), Vec::<String>::new());
        assert!(look.wanted().len() > 40);
    }

    #[test]
    fn nothing_is_said_of_what_was_not_measured() {
        for answer in answers(&[], &[]) {
            assert!(answer.answer.contains("not measured"), "{}: {}", answer.id, answer.answer);
            assert!(answer.evidence.is_empty(), "{}", answer.id);
        }
    }
}
