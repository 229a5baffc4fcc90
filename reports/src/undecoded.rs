//! Compressed images that a dispatch does not read as a blit does.
//!
//! Both read the same image, filled by the same copy: what `vkCmdBlitImage` decodes was uploaded
//! right, so a shader that gets other values for most blocks reads what was never decoded.

use fpprobe_profiles::judge::Observations;
use fpprobe_spirv::{Format, Kernel};

use crate::evidence::other_answer;
use crate::model::Finding;
use crate::values::{encode_case, eval_command};

/// A finding for each such format.
pub(crate) fn findings(index: &Observations<'_>) -> impl Iterator<Item = Finding> {
    Format::PACKED
        .iter()
        .filter(|format| format.is_block())
        .filter_map(|format| finding(index, *format))
}

fn finding(index: &Observations<'_>, format: Format) -> Option<Finding> {
    let by = |route: &str| {
        let kernel: Kernel = format!("{format}.load:route={route}").parse().ok()?;
        index.get(&kernel).filter(|one| one.outcome.answered())
    };
    let (sampled, blit) = (by("sampled")?, by("blit")?);
    if sampled.cases != blit.cases {
        return None;
    }
    let width = sampled.kernel.outputs();
    let differs = |case: &usize| {
        let block = case * width..(case + 1) * width;
        sampled.runs().all(|run| run.get(block.clone()) != Some(blit.answer(*case)))
    };
    let count = sampled.cases.len();
    let differing: Vec<usize> = (0..count).filter(differs).collect();
    // Other rounding makes others of some blocks.
    let first = *differing.first().filter(|_| differing.len() * 2 > count)?;
    let case = sampled.cases.case(first);
    let command = eval_command(&sampled.kernel.to_string(), &encode_case(&sampled.kernel, case));
    Some(Finding {
        kind: "path".to_owned(),
        text: format!(
            "{format}: a dispatch reads {} of {count} blocks otherwise than vkCmdBlitImage reads the same image: the driver does not \
             decode it for dispatches; `{command}` gives none of the evidence's values",
            differing.len()
        ),
        evidence: vec![other_answer(blit, case, blit.answer(first), sampled.answer(first))],
    })
}

#[cfg(test)]
mod tests {
    use fpprobe_profiles::{Observation, Outcome};
    use fpprobe_spirv::Cases;

    use super::*;

    #[test]
    fn blocks_that_only_a_blit_decodes_are_a_finding() {
        let of = |route: &str, out: u64, second: Option<u64>| {
            let kernel: Kernel = format!("bc6h_ufloat.load:route={route}").parse().unwrap();
            let values = |value: u64| vec![value; kernel.outputs()].into();
            let outcome = if second.is_some() { Outcome::Flaky } else { Outcome::Ran };
            let cases = Cases::new("", kernel.arity(), vec![3; kernel.arity()]);
            Observation {
                kernel,
                cases,
                outcome,
                detail: String::new(),
                out: values(out),
                second: second.map(values),
            }
        };
        for (sampled, second, found) in
            [(7, None, 0), (8, None, 1), (8, Some(9), 1), (8, Some(7), 0)]
        {
            let all = [of("blit", 7, None), of("sampled", sampled, second)];
            assert_eq!(findings(&Observations::new(&all)).count(), found, "{sampled} {second:?}");
        }
        let finding = findings(&Observations::new(&[of("blit", 7, None), of("sampled", 8, None)]))
            .next()
            .unwrap();
        assert!(
            finding.text.starts_with("bc6h_ufloat: a dispatch reads 1 of 1 blocks"),
            "{}",
            finding.text
        );
    }
}
