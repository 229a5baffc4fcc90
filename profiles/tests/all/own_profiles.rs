//! The documentation of profiles names every key and value that the parser knows, and its worked
//! example works.

use std::collections::BTreeSet;
use std::path::Path;

use fpprobe_profiles::coverage::Surveyor;
use fpprobe_profiles::profile::{Rule, built_in_ids, built_in_text};
use fpprobe_profiles::{Level, Profile};

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The text under a heading, up to the next.
fn section(heading: &str) -> String {
    let document = read("../docs/profiles.md");
    let (_, rest) = document
        .split_once(&format!("{heading}\n"))
        .unwrap_or_else(|| panic!("no section {heading}"));
    rest.split("\n## ").next().and_then(|text| text.split("\n### ").next()).unwrap().to_owned()
}

const HEAD: &str = "id = \"mine\"\ntitle = \"Mine\"\nversion = \"1\"\nextends = \"d3d11\"\n";
const RULE: &str = "[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f32\"\noperations = [\"sqrt\"]\n";

/// What the parser would have expected in place of a mistake.
fn expected(text: &str) -> Vec<String> {
    let message = Profile::parse("mine.toml", &format!("{HEAD}{text}\n"), &built_in_text)
        .unwrap_err()
        .to_string();
    let (_, known) = message.rsplit_once("expected ").unwrap_or_else(|| panic!("{message}"));
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_of_every_table_is_documented() {
    for (heading, mistake) in [
        ("## The profile", "nonsense = 1".to_owned()),
        ("## `[[group]]`", "[[group]]\nnonsense = 1".to_owned()),
        ("## `[environment.FORMAT]`", "[environment.f32]\nnonsense = 1".to_owned()),
        ("## `[operation.NAME]`", "[operation.x]\nnonsense = 1".to_owned()),
        ("## `[[rule]]`", format!("{RULE}nonsense = 1")),
        ("### `lanes`", format!("{RULE}lanes = {{ nonsense = 1 }}")),
    ] {
        let known = expected(&mistake);
        assert!(known.len() >= 3, "{heading} {known:?}");
        let text = section(heading);
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let documented: Vec<&str> = rows.collect();
        let unknown: Vec<&&str> =
            documented.iter().filter(|key| !known.contains(&(**key).to_owned())).collect();
        assert!(unknown.is_empty(), "{heading}: {unknown:?} is no key");
        let missing: Vec<&String> =
            known.iter().filter(|key| !documented.contains(&key.as_str())).collect();
        assert!(missing.is_empty(), "{heading}: {missing:?} is not documented");
    }
}

#[test]
fn every_value_is_documented() {
    let named = |key: &str| (key.to_owned(), format!("[environment.f32]\n{key} = \"nonsense\""));
    let environments =
        expected("[environment.f32]\nnonsense = 1").into_iter().filter(|key| key != "pole_nan");
    for (key, mistake) in environments.map(|key| named(&key)) {
        let text = section("## `[environment.FORMAT]`");
        let row = text.lines().find(|line| line.starts_with(&format!("| `{key}`"))).unwrap();
        let missing: Vec<String> = expected(&mistake)
            .into_iter()
            .filter(|value| !row.contains(&format!("`{value}`")))
            .collect();
        assert!(missing.is_empty(), "{key}: {missing:?}");
    }
    for (heading, mistake) in [
        ("## The profile", "ulp = \"nonsense\"".to_owned()),
        ("## `[[rule]]`", format!("{RULE}level = \"nonsense\"")),
        ("## `[[rule]]`", format!("{RULE}area = \"nonsense\"")),
        ("## `[[rule]]`", format!("{RULE}judges = \"nonsense\"")),
        ("### `lanes`", format!("{RULE}lanes = {{ any = [\"nonsense\"] }}")),
        ("### `lanes`", format!("{RULE}lanes = {{ result = \"nonsense\" }}")),
        ("### `requirement`", format!("{RULE}requirement = \"nonsense\"")),
    ] {
        let text = section(heading);
        let known = expected(&mistake);
        assert!(known.len() >= 2, "{mistake}");
        let missing: Vec<String> =
            known.into_iter().filter(|value| !text.contains(&format!("`{value}`"))).collect();
        assert!(missing.is_empty(), "{heading}: {missing:?} is not documented");
    }
}

/// What a profile leaves out is guessed from the format; a built-in one leaves nothing to guess.
#[test]
fn every_built_in_rule_names_its_area() {
    let has_area = |line: &str| line.starts_with("area = ");
    let mut rules = 0;
    for id in built_in_ids() {
        let (_, text) = built_in_text(id).unwrap();
        for table in text.split("\n[[").filter(|table| table.starts_with("rule]]")) {
            assert!(table.lines().any(has_area), "{id}: {table}");
            rules += 1;
        }
    }
    assert!(rules > 200, "{rules} rules");
}

#[test]
fn every_form_of_accuracy_is_documented() {
    let error = "nonsense".parse::<fpprobe_profiles::accuracy::Accuracy>().unwrap_err();
    let (_, forms) = error.split_once("write ").unwrap();
    let forms: BTreeSet<&str> = forms.split('`').skip(1).step_by(2).collect();
    let text = section("### Accuracies");
    // A table's cell cannot hold a bar.
    let text = text.replace("\\|", "|");
    let documented: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(documented, forms);
    assert!(forms.iter().all(|form| form.parse::<fpprobe_profiles::accuracy::Accuracy>().is_ok()));
}

fn example() -> Profile {
    Profile::parse("engine.toml", &read("examples/engine.toml"), &built_in_text).unwrap()
}

#[test]
fn the_worked_example_changes_adds_and_drops_rules() {
    let (example, base) =
        (example(), fpprobe_profiles::profile::built_in("d3d11").unwrap().unwrap());
    let title = |profile: &Profile, id: &str| profile.rule(id).map(|rule| rule.title.clone());
    assert!(title(&base, "S-01").is_some() && title(&example, "S-01").is_none());
    assert!(title(&base, "E-01").is_none() && title(&example, "E-01").is_some());
    assert_ne!(title(&base, "D32-27"), title(&example, "D32-27"));
    assert_eq!(title(&base, "D32-06"), title(&example, "D32-06"));
    // 1 ulp around 1/3, and no more; the lowerings of d3d11's own rules changed with the operation.
    let accepts = |profile: &Profile| {
        let (accepted, _) = fpprobe_profiles::accepts::accepts(
            profile,
            &"f32.rcp".parse().unwrap(),
            &[0x4040_0000],
        );
        let set = &accepted.alternatives()[0][0];
        (0x3eaa_aaa0..0x3eaa_aab8).filter(|bits| set.contains(*bits)).count()
    };
    assert_eq!((accepts(&example), accepts(&base) > 4), (2, true));
    let rsq = |profile: &Profile| profile.rule("D32-06").unwrap().parts[0].lowerings.len();
    assert_eq!((rsq(&base), rsq(&example)), (1, 2));
}

#[test]
fn every_rule_of_the_worked_example_can_fail() {
    let example = example();
    let mut surveyor = Surveyor::default();
    let own = |rule: &&Rule| {
        rule.id.starts_with("E-") || ["D32-27", "D32-40"].contains(&rule.id.as_str())
    };
    for rule in example.rules.iter().filter(own).filter(|rule| rule.level == Level::Required) {
        assert!(surveyor.rule(rule).statistics().rejected() > 0, "{}", rule.id);
    }
}
