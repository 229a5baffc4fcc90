//! The processor, which decides what code a CPU driver such as llvmpipe generates.

use std::collections::BTreeSet;
use std::fs;

/// Model and sorted instruction-set flags of this machine's processor; `None` where the kernel does
/// not tell.
pub(super) fn cpu() -> Option<String> {
    describe(&fs::read_to_string("/proc/cpuinfo").ok()?)
}

/// The first processor of `/proc/cpuinfo`: `MODEL: flag flag ...`.
fn describe(cpuinfo: &str) -> Option<String> {
    let block = cpuinfo.split("\n\n").next()?;
    let lines: Vec<(&str, &str)> = block
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let value = |name: &str| lines.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let model = value("model name").map(ToOwned::to_owned).or_else(|| {
        // Arm has no model name but numbers: implementer and part.
        let (implementer, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("implementer {implementer} part {part}"))
    });
    // x86 calls them flags, Arm Features, RISC-V isa.
    let flags = ["flags", "Features", "isa"].into_iter().find_map(value).unwrap_or_default();
    let flags: BTreeSet<&str> = flags.split_whitespace().collect();
    let flags: Vec<&str> = flags.into_iter().collect();
    match (model, flags.is_empty()) {
        (None, true) => None,
        (Some(model), true) => Some(model),
        (model, false) => {
            Some(format!("{}: {}", model.unwrap_or_else(|| "unknown".to_owned()), flags.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_sorted_and_only_the_first_processor_counts() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: sse2 avx fma avx\n\nprocessor\t: 1\nflags\t\t: mmx\n";
        assert_eq!(describe(text).as_deref(), Some("Some CPU @ 2.00GHz: avx fma sse2"));
    }

    #[test]
    fn processors_without_a_name_are_described_too() {
        let text =
            "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n";
        assert_eq!(describe(text).as_deref(), Some("implementer 0x41 part 0xd0c: asimd fp"));
        assert_eq!(describe("processor : 0\n"), None);
        assert_eq!(describe(""), None);
    }
}
