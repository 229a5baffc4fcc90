//! The `wgsl` profile against acceptance intervals computed by the WebGPU CTS, on every case of
//! them.
//!
//! `data/wgsl-intervals` holds them as that suite (BSD 3-Clause) computed them: for each case what
//! is accepted as intervals of numbers, which are taken as sets of the format's values. Ours is the
//! same set, or the difference is of a class of which the text says that the reference is wrong, or
//! says more than it must ([`classes`]).

mod classes;
mod reference;
mod steps;

use std::path::Path;

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::{Profile, parallel, profile};

use classes::{CLASSES, Difference};
use reference::File;

/// What became of the parts of results in one file.
#[derive(Default)]
struct Counts {
    same: usize,
    /// Of these, parts of which anything is accepted.
    open: usize,
    explained: [usize; CLASSES.len()],
    unexplained: Vec<String>,
}

/// The same without flushing.
const KEEPS: &str = r#"
id = "keeps"
title = "subnormals are kept"
version = "1"
extends = "wgsl"
[environment.f32]
subnormal_inputs = "keep"
subnormal_results = "keep"
[environment.f16]
subnormal_inputs = "keep"
subnormal_results = "keep"
"#;

fn statistics(profile: &Profile, keeps: &Profile, file: &File) -> Counts {
    let mut statistics = Counts::default();
    for case in file.cases() {
        let (accepted, _) = accepts(profile, &file.kernel, &case.operands);
        for (part, ours) in accepted.alternatives()[0].iter().enumerate() {
            let sets = case.alternatives.iter().map(|parts| &parts[part]);
            let theirs = sets.fold(Set::nothing(ours.encoding()), |set, one| set.or(one));
            if *ours == theirs {
                statistics.same += 1;
                statistics.open += usize::from(theirs.is_everything());
                continue;
            }
            let kept =
                accepts(keeps, &file.kernel, &case.operands).0.alternatives()[0][part].clone();
            let difference = Difference { file, case: &case, part, ours, kept, theirs };
            match CLASSES.iter().position(|class| (class.explains)(&difference)) {
                Some(class) => statistics.explained[class] += 1,
                None => statistics.unexplained.push(format!(
                    "{} {:x?}, part {part}: ours {}, reference {}",
                    file.name,
                    case.operands,
                    ours.to_json(),
                    difference.theirs.to_json()
                )),
            }
        }
    }
    statistics
}

#[test]
fn accepted_sets_are_those_of_the_reference_or_the_text_says_why_not() {
    let files =
        reference::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wgsl-intervals"));
    let profile = profile::built_in("wgsl").unwrap().unwrap();
    let keeps = Profile::parse("keeps.toml", KEEPS, &profile::built_in_text).unwrap();
    let all_statistics = parallel::map(&files, |file| statistics(&profile, &keeps, file));
    let mut explained = [0; CLASSES.len()];
    let (mut same, mut open, mut unexplained) = (0, 0, Vec::new());
    for (file, statistics) in files.iter().zip(&all_statistics) {
        println!(
            "{} ({}): {} the same, {} of them anything",
            file.name, file.kernel, statistics.same, statistics.open
        );
        for (class, count) in
            CLASSES.iter().zip(statistics.explained).filter(|(_, count)| *count > 0)
        {
            println!("    {count} {}", class.name);
        }
        explained.iter_mut().zip(statistics.explained).for_each(|(sum, count)| *sum += count);
        (same, open) = (same + statistics.same, open + statistics.open);
        unexplained.extend(&statistics.unexplained);
    }
    println!("in all {same} the same, {open} of them anything");
    for (class, count) in CLASSES.iter().zip(explained) {
        println!("{count} {}\n    {}", class.name, class.text);
    }
    let first = &unexplained[..unexplained.len().min(20)];
    assert!(unexplained.is_empty(), "{} are not explained:\n{first:#?}", unexplained.len());
    let idle: Vec<&str> = CLASSES
        .iter()
        .zip(explained)
        .filter(|(_, count)| *count == 0)
        .map(|(class, _)| class.name)
        .collect();
    assert!(idle.is_empty(), "explain nothing: {idle:?}");
}
