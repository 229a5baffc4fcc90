//! Every id of the rules has a rule, another path or a reason, and the catalogue names the ids that
//! the rules have.

use std::collections::BTreeMap;
use std::path::Path;

use fpprobe_profiles::catalogue::{Catalogue, IdStatus};
use fpprobe_profiles::profile;

use crate::built_in::profiles;

#[test]
fn every_id_has_a_rule_another_path_or_a_reason() {
    let gaps: Vec<String> =
        Catalogue::built_in().unwrap().gaps(profiles()).iter().map(ToString::to_string).collect();
    assert!(gaps.is_empty(), "{}", gaps.join("\n"));
}

/// Ids by section, as the catalogue has them.
fn ids() -> BTreeMap<String, Vec<String>> {
    let sections = Catalogue::built_in().unwrap().sections;
    let ids = sections
        .into_iter()
        .map(|section| (section.name, section.entries.into_iter().map(|e| e.id).collect()));
    ids.collect()
}

/// Ids by section, as the specifications' rules have them: a line `SECTION ID` for each. Regenerate
/// with `UPDATE=1` where the rules lie beside the repository.
fn rule_ids() -> BTreeMap<String, Vec<String>> {
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in include_str!("../data/rule-ids.txt").lines() {
        let (section, id) = line.split_once(' ').unwrap();
        ids.entry(section.to_owned()).or_default().push(id.to_owned());
    }
    ids
}

#[test]
fn the_ids_are_those_of_the_rules() {
    let theirs = rule_ids();
    let mut ours = ids();
    // Sections of other documents have longer names, or come after.
    ours.retain(|section, _| theirs.contains_key(section));
    assert!(theirs.values().map(Vec::len).sum::<usize>() > 100 && theirs["W"].len() > 10);
    assert_eq!(ours, theirs);
}

#[test]
fn the_committed_ids_are_those_of_the_rules_beside_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join("../../shared/spec").join(name)).ok();
    let (Some(rules), Some(wgsl)) = (read("rules.md"), read("wgsl.md")) else { return };
    let mut text = String::new();
    let mut section = "";
    for line in rules.lines() {
        if let Some((letter, _)) =
            line.strip_prefix("## ").and_then(|heading| heading.split_once('.'))
        {
            section = letter;
        }
        if let Some((id, _)) =
            line.strip_prefix("### ").and_then(|heading| heading.split_once(" — "))
        {
            text.extend([section, " ", id, "\n"]);
        }
    }
    let rows = wgsl.lines().filter_map(|line| line.strip_prefix("| W-")?.split_once(" |"));
    text.extend(rows.map(|(number, _)| format!("W W-{number}\n")));
    let copy = root.join("tests/data/rule-ids.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&copy, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(copy).unwrap(), text);
}

const HEAD: &str = "[[section]]\nname = \"A\"\ntitle = \"t\"\nprofile = \"d3d11\"\nids = [\"D32-01\", \"D99-1\"]\n";

#[test]
fn what_is_not_testable_needs_a_citation() {
    let read = |table: &str| Catalogue::parse("mine.toml", &format!("{HEAD}[id.D99-1]\n{table}"));
    let refused = |table: &str| read(table).unwrap_err().to_string();
    let citation =
        "mine.toml:6: `id.D99-1`: `not_testable` needs a `citation`: where the text says so";
    assert_eq!(refused("not_testable = \"Nobody can see it.\"\n"), citation);
    assert_eq!(refused("not_testable = \"Nobody can see it.\"\ncitation = \" \"\n"), citation);
    assert!(refused("not_testable = \"\"\ncitation = \"l.1\"\n").contains("gives no reason"));
    assert!(refused("other_paths = \"\"\n").contains("names none"));
    assert!(refused("rules = []\n").contains("names none"));
    assert!(
        refused("rules = [\"D32-01\"]\nother_paths = \"clears\"\n")
            .contains("give `profile` and `rules`, or")
    );
    assert!(refused("citation = \"l.1\"\n").contains("give `profile` and `rules`, or"));
    assert!(refused("reason = \"x\"\n").contains("unknown key `reason`"));
    let text = format!("{HEAD}[id.D98-1]\nother_paths = \"clears\"\n");
    let error = Catalogue::parse("mine.toml", &text).unwrap_err().to_string();
    assert_eq!(error, "mine.toml:6: `id.D98-1`: no section has this id among its `ids`");
    let entries =
        &read("not_testable = \"No.\"\ncitation = \"l.1\"\n").unwrap().sections[0].entries;
    let (reason, citation) = ("No.".to_owned(), "l.1".to_owned());
    assert_eq!(entries[1].standing, IdStatus::NotTestable { reason, citation });
}

/// The gaps of d3d11 in a catalogue of two ids and more, but for those of rules that it does not
/// name.
fn gaps(after: &str) -> Vec<String> {
    let catalogue = Catalogue::parse("mine.toml", &format!("{HEAD}{after}")).unwrap();
    let d3d11 = [profile::built_in("d3d11").unwrap().unwrap()];
    let gaps = catalogue.gaps(&d3d11).into_iter().map(|gap| gap.to_string());
    gaps.filter(|gap| !gap.ends_with("no id of the catalogue")).collect()
}

#[test]
fn gaps_are_found() {
    let lacking = "D99-1: d3d11 has no rule `D99-1`";
    assert_eq!(gaps(""), [lacking]);
    let table = |text: &str| gaps(&format!("[id.D99-1]\n{text}\n"));
    assert_eq!(table("other_paths = \"clears\""), Vec::<String>::new());
    assert_eq!(table("rules = [\"D32-02\"]"), Vec::<String>::new());
    assert_eq!(table("rules = [\"D32-02\", \"D32-99\"]"), ["D99-1: d3d11 has no rule `D32-99`"]);
    assert_eq!(
        table("profile = \"d3d10\"\nrules = [\"D32-02\"]"),
        ["D99-1: d3d10 has no rule `D32-02`"]
    );
    let other = gaps("[id.D32-01]\nother_paths = \"clears\"\n");
    assert_eq!(other, ["D32-01: is a rule of d3d11, but is said to be none", lacking]);
    let seen = "formats = [\"f32\", \"f16\"]\noperations = [\"fadd\", \"tan\"]\n";
    let unseen = gaps(seen);
    let unseen: Vec<&str> = unseen.iter().map(|gap| gap.split(':').next().unwrap()).collect();
    assert_eq!(unseen, ["D99-1", "f32.tan", "f16.tan"]);
    let error = Catalogue::parse("mine.toml", &format!("{HEAD}operations = [\"fad\"]\n"))
        .unwrap_err()
        .to_string();
    assert!(
        error
            .starts_with("mine.toml:6: `operations`: unknown operation `fad`; did you mean `fadd`"),
        "{error}"
    );
    let error = Catalogue::parse("mine.toml", &format!("{HEAD}formats = [\"f23\"]\n"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("mine.toml:6: `formats`: unknown format `f23`; did you mean `f32`"),
        "{error}"
    );
    // Rules whose ids begin with it stand for it.
    let text = HEAD.replace("D99-1", "S-08");
    let d3d11 = [profile::built_in("d3d11").unwrap().unwrap()];
    let catalogue = Catalogue::parse("mine.toml", &text).unwrap();
    let entry = &catalogue.sections[0].entries[1];
    assert_eq!(entry.looked_at(&d3d11), [("d3d11", vec!["S-08", "S-08-special"])]);
    assert!(!catalogue.gaps(&d3d11).iter().any(|gap| gap.of.starts_with("S-08")));
    // A rule that the catalogue does not know, unless the section says that its document numbers
    // none.
    let unknown = |after: &str| {
        let catalogue = Catalogue::parse("mine.toml", &format!("{HEAD}{after}")).unwrap();
        catalogue
            .gaps(&d3d11)
            .iter()
            .filter(|gap| gap.problem.ends_with("no id of the catalogue"))
            .count()
    };
    // D32-01 and D32-01-rcp are known.
    assert_eq!((unknown(""), unknown("unnumbered = true\n")), (d3d11[0].rules.len() - 2, 0));
}

/// The gaps of kernels in a catalogue that gives these reasons in place of its own.
fn unjudged(change: impl Fn(&str) -> String) -> Vec<String> {
    let text = include_str!("../../data/catalogue.toml");
    let catalogue = Catalogue::parse("mine.toml", &change(text)).unwrap();
    catalogue.gaps(profiles()).iter().map(ToString::to_string).collect()
}

#[test]
fn every_operation_is_judged_or_has_a_reason_and_reasons_are_not_stale() {
    assert_eq!(unjudged(str::to_owned), Vec::<String>::new());
    let without = unjudged(|text| text.replace("\"*.determinant\"", "\"f32.determinant\""));
    assert_eq!(
        without,
        ["f16", "f64"]
            .map(|format| {
                format!("{format}.determinant: no required rule of any profile looks at it, and no reason says why")
            })
            .into_iter()
            .chain(["f16", "f64"].map(|format| {
                format!("{format}.determinant: no required rule of d3d11 looks at it, and no reason says why")
            }))
            .collect::<Vec<_>>()
    );
    let without = unjudged(|text| text.replace("\"*.tan\", ", ""));
    assert_eq!(
        without,
        ["f16", "f32"].map(|format| {
            format!("{format}.tan: no required rule of d3d11 looks at it, and no reason says why")
        })
    );
    let stale = unjudged(|text| text.replace("\"*.tan\"", "\"*.tan\", \"f32.fadd\""));
    assert_eq!(stale, ["f32.fadd: a required rule looks at it, but a reason says that none does"]);
}

#[test]
fn a_reason_names_kernels_and_a_citation() {
    let read = |table: &str| {
        Catalogue::parse("mine.toml", &format!("section = []\n[[unjudged]]\n{table}"))
    };
    let refused = |table: &str| read(table).unwrap_err().to_string();
    let none = refused("kernels = [\"f32.nothing\"]\nreason = \"r\"\ncitation = \"c\"\n");
    assert_eq!(none, "mine.toml:3: `unjudged`: there is no kernel `f32.nothing`");
    assert!(
        refused("kernels = [\"f64.exp\"]\nreason = \"r\"\ncitation = \"c\"\n")
            .contains("no kernel `f64.exp`")
    );
    let uncited = refused("kernels = [\"f32.tan\"]\nreason = \"r\"\ncitation = \" \"\n");
    assert_eq!(uncited, "mine.toml:3: `unjudged`: `f32.tan` needs a `reason` and a `citation`");
    assert_eq!(
        read("kernels = [\"*.tan\"]\nreason = \"r\"\ncitation = \"c\"\n").unwrap().unjudged.len(),
        1
    );
}
