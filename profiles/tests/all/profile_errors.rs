//! A broken profile is refused with file, line and key.

use fpprobe_profiles::Profile;
use fpprobe_profiles::profile::built_in_text;

fn refused(text: &str) -> String {
    let parsed =
        Profile::parse("mine.toml", text, &built_in_text).map(|_| format!("not refused:\n{text}"));
    parsed.unwrap_or_else(|error| error.to_string())
}

const HEAD: &str = "id = \"mine\"\ntitle = \"Mine\"\nversion = \"1\"\nextends = \"d3d11\"\n";

#[test]
fn an_extension_may_add_drop_and_change_rules() {
    let text = format!(
        "{HEAD}without = [\"D32-40\"]\n[[rule]]\nid = \"M-1\"\ntitle = \"sqrt is exact\"\ncitation = \"me\"\nformat = \"f32\"\n\
         operations = [\"sqrt\"]\nlanes = {{ all = [\"normal\"], none = [\"negative\"] }}\naccuracy = {{ sqrt = \"nearest even\" }}\n"
    );
    let profile = Profile::parse("mine.toml", &text, &built_in_text).unwrap();
    assert!(
        profile.rule("M-1").is_some()
            && profile.rule("D32-40").is_none()
            && profile.rule("D32-18").is_some()
    );
}

/// Mistakes: text after the head, which has four lines, or in its place; the line, and how the
/// message begins there.
const MISTAKES: &[(&str, &str)] = &[
    // The form of the document.
    ("=id = ]", "1: missing array opening, expected `[`: `id = ]`"),
    ("=id = 3", "1: `id`: invalid type: integer `3`, expected a string"),
    ("=title = \"t\"\nversion = \"1\"", "1: missing key `id`"),
    ("=id = \"\"\ntitle = \"t\"\nversion = \"1\"", "1: `id`: `` is no name"),
    (
        "=title = \"t\"\nversion = \"1\"\nid = \"a:b\"",
        "3: `id`: `a:b` is no name; write letters, digits",
    ),
    ("title = \"u\"", "5: duplicate key: `title = \"u\"`"),
    ("colour = 3", "5: unknown key `colour`, expected one of `id`, `title`, `version`, `extends`"),
    ("ulp = \"large\"", "5: `ulp`: unknown value `large`, expected `binade` or `vulkan`"),
    ("modes = \"ftz32\"", "5: `modes`: invalid type: string \"ftz32\", expected a list"),
    (
        "modes = [\"szin32\", \"ftz31\"]",
        "5: `modes`: unknown control `ftz31`; did you mean `ftz32`",
    ),
    (
        "rounding_modes = [\"rte32\", \"ftz32\"]",
        "5: `rounding_modes`: `ftz32` does not round; it goes into `modes`",
    ),
    ("rounding_modes = [\"rte32\", \"rte32\"]", "5: `rounding_modes`: `rte32` is named twice"),
    ("modes = [\n\"szin32\",\n3]", "7: `modes`: invalid type: integer `3`, expected a string"),
    ("without = \"D32-40\"", "5: `without`: invalid type: string \"D32-40\", expected a list"),
    (
        "without = [\"D99-1\"]",
        "5: `without`: the profile that this one extends has no rule `D99-1`",
    ),
    // Groups.
    ("[group]\nid = \"x\"", "5: `group`: invalid type: table, expected a list: write `[[group]]`"),
    ("[[group]]\nid = \"x\"\nformat = \"f16\"", "5: `group`: missing key `title`"),
    (
        "[[group]]\nid = \"x\"\ntitle = \"x\"\nformat = \"f23\"",
        "8: `group.format`: unknown format `f23`; did you mean",
    ),
    // Environments.
    (
        "[environment.f33]\nzero_sign = \"exact\"",
        "5: `environment.f33`: unknown format `f33`; did you mean `f32`?",
    ),
    (
        "[environment.f32]\nzero_sing = \"exact\"",
        "6: `environment.f32`: unknown key `zero_sing`, expected one of",
    ),
    (
        "[environment.f32]\n\nzero_sign = \"wrong\"",
        "7: `environment.f32.zero_sign`: unknown value `wrong`, expected `exact` or `either`",
    ),
    (
        "[environment.f32]\npole_nan = \"yes\"",
        "6: `environment.f32.pole_nan`: invalid type: string \"yes\", expected a boolean",
    ),
    (
        "[environment]\nf32 = \"keep\"",
        "6: `environment.f32`: invalid type: string \"keep\", expected a table",
    ),
    (
        "=id = \"a\"\ntitle = \"t\"\nversion = \"1\"\n[environment.f32]\nsubnormal_inputs = \"keep\"",
        "4: `environment.f32`: missing key `subnormal_results`",
    ),
    // Operations.
    ("[operations.x]\nlowerings = [\"sqrt\"]", "5: unknown key `operations`, expected one of"),
    ("[operation.x]\naccuracy.any = \"1 ulp\"", "5: `operation.x`: missing key `lowerings`"),
    (
        "[operation.x]\nlowerings = [\"reflect\"]\nwidths = [0, 4]",
        "7: `operation.x.widths`: give the least and the largest, from 1 to 4",
    ),
    (
        "[operation.x]\nlowerings = [\"reflect\"]\nwidths = [3, 2]",
        "7: `operation.x.widths`: give the least and the largest, from 1 to 4",
    ),
    (
        "[operation.x]\nlowerings = [\"sqrt\"]\nwidths = [2, 2]",
        "7: `operation.x.widths`: give the least and the largest, from 1 to 1",
    ),
    ("[operation.x]\nlowerings = []", "5: `operation.x.lowerings` is empty: name at least one"),
    (
        "[operation.x]\nlowerings = \"sqrt\"",
        "6: `operation.x.lowerings`: invalid type: string \"sqrt\", expected a list",
    ),
    (
        "[operation.x]\nlowerings = [\"squrt\"]",
        "6: `operation.x.lowerings`: unknown operation `squrt`; did you mean `sqrt`",
    ),
    (
        "[operation.x]\nlowerings = [\"f33.sqrt\"]",
        "6: `operation.x.lowerings`: unknown format `f33`; did you mean `f32`",
    ),
    (
        "[operation.x]\nlowerings = [\"sqrt\", \"f64.exp\"]",
        "6: `operation.x.lowerings`: kernel `f64.exp`: `exp` exists for f16, f32 only",
    ),
    (
        "[operation.x]\nlowerings = [\"d32f.load:route=vertex\"]",
        "6: `operation.x.lowerings`: kernel `d32f.load:route=vertex`: `load` of a packed format goes through an image",
    ),
    (
        "[operation.x]\nlowerings = [\"f32.sqrt:width=2\"]",
        "6: `operation.x.lowerings`: `f32.sqrt:width=2`: a lowering is",
    ),
    (
        "[operation.x]\nlowerings = [\"sqrt\"]\naccuracy = \"1 ulp\"",
        "7: `operation.x.accuracy`: invalid type: string \"1 ulp\", expected a table",
    ),
    (
        "[operation.x]\nlowerings = [\"sqrt\"]\naccuracy.f32 = \"good\"",
        "7: `operation.x.accuracy.f32`: `good` is not an accuracy; write `nearest even`",
    ),
    (
        "[operation.x]\nlowerings = [\"sqrt\"]\naccuracy.f33 = \"1 ulp\"",
        "7: `operation.x.accuracy.f33`: unknown format `f33`; did you mean `f32`?; or write `any`",
    ),
    (
        "[operation.x]\nlowerings = [\"sqrt\"]\nenvironment.zero_sign = \"wrong\"",
        "7: `operation.x.environment.zero_sign`: unknown value `wrong`",
    ),
    // Rules.
    ("[rule]\nid = \"M\"", "5: `rule`: invalid type: table, expected a list: write `[[rule]]`"),
    ("[[rule]]\nid = \"M\"", "5: `rule`: missing key `title`"),
    ("RULE\nRULE", "11: rule `M` is written twice"),
    (
        "RULE\nid2 = \"N\"",
        "11: `rule`: unknown key `id2`, expected one of `id`, `title`, `area`, `citation`, `note`, `quote`, `matters`, `level`",
    ),
    (
        "RULE\nlevel = \"must\"",
        "11: `rule.level`: unknown value `must`, expected one of `required`, `recommended`",
    ),
    (
        "RULE\njudges = \"nans\"",
        "11: `rule.judges`: unknown value `nans`, expected one of `subnormals`",
    ),
    (
        "RULE\nlanes = { every = [\"nan\"] }",
        "11: `rule.lanes`: unknown key `every`, expected one of `any`, `all`",
    ),
    (
        "RULE\nlanes = { any = [\"nam\"] }",
        "11: `rule.lanes.any`: unknown value `nam`, expected one of `zero`",
    ),
    (
        "RULE\nlanes = { any = \"nan\" }",
        "11: `rule.lanes.any`: invalid type: string \"nan\", expected a list",
    ),
    (
        "RULE\nlanes = { result = \"huge\" }",
        "11: `rule.lanes.result`: unknown value `huge`, expected one of `tiny`",
    ),
    ("RULE\nlanes = \"nan\"", "11: `rule.lanes`: invalid type: string \"nan\", expected a table"),
    (
        "RULE\nlanes = { first = [] }",
        "11: `rule.lanes.first`: the list is empty: name a class, or leave the key out",
    ),
    (
        "RULE\nlanes = { result = \"tiny\", result_not = \"tiny\" }",
        "5: rule `M`: `lanes`: `result` and `result_not` are the same, so that no lane is left",
    ),
    (
        "RULE\nlanes = [{}, { any = [\"nan\"], none = [\"infinite\", \"nan\"] }]",
        "5: rule `M`: `lanes`: `none` excludes every class of `any`, so that no lane is left",
    ),
    ("RULE\nlanes = []", "5: rule `M`: `lanes` is empty, and a rule without cannot fail"),
    (
        "RULE\nrequirement = []",
        "5: rule `M`: `requirement` is empty, and a rule without cannot fail",
    ),
    (
        "RULE\nrequirement = \"exact\"",
        "11: `rule.requirement`: unknown value `exact`, expected one of `result`",
    ),
    (
        "RULE\nenvironment = { overflow = \"wrap\" }",
        "11: rule `M`: `environment.overflow`: unknown value `wrap`",
    ),
    (
        "RULE\nenvironment.overflows = \"round\"",
        "11: rule `M`: `environment`: unknown key `overflows`, expected one of",
    ),
    (
        "RULE\naccuracy = \"1 ulp\"",
        "11: `rule.accuracy`: invalid type: string \"1 ulp\", expected a table",
    ),
    (
        "RULE\naccuracy = { sqrt = 1 }",
        "11: `rule.accuracy.sqrt`: invalid type: integer `1`, expected a string",
    ),
    (
        "RULE\naccuracy = { sqrt = \"1ulp\" }",
        "11: rule `M`: `accuracy.sqrt`: `1ulp` is not an accuracy; write",
    ),
    (
        "RULE\naccuracy = { rsq = \"1 ulp\" }",
        "11: rule `M`: `accuracy.rsq`: the rule does not look at `rsq`",
    ),
];

#[test]
fn errors_name_file_line_and_key() {
    let rule = "[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f32\"\noperations = [\"sqrt\"]";
    for (text, expected) in MISTAKES {
        let text = match text.strip_prefix('=') {
            Some(whole) => whole.to_owned(),
            None => format!("{HEAD}{}\n", text.replace("RULE", rule)),
        };
        let message = refused(&text);
        assert!(
            message.starts_with(&format!("mine.toml:{expected}")),
            "{message}\ninstead of {expected}\n{text}"
        );
    }
    // What the rule names: its formats and operations.
    for (from, to, expected) in [
        ("\"f32\"", "\"f33\"", "9: rule `M`: `format`: unknown format `f33`; did you mean `f32`"),
        ("\"f32\"", "32", "9: `rule.format`: invalid type: integer `32`, expected"),
        ("\"f32\"", "[]", "5: rule `M`: `format` is empty"),
        (
            "\"f32\"",
            "\"bool\"",
            "9: rule `M`: `format`: none of its `operations` has a kernel of `bool`",
        ),
        (
            "\"f32\"",
            "[\"f32\", \"i32\"]",
            "9: rule `M`: `format`: none of its `operations` has a kernel of `i32`",
        ),
        (
            "[\"sqrt\"]",
            "[\"sqrt\", \"fixed_store\"]",
            "10: rule `M`: `operations`: `fixed_store` has no kernel of its `format`",
        ),
        (
            "[\"sqrt\"]",
            "\"sqrt\"",
            "10: `rule.operations`: invalid type: string \"sqrt\", expected a list",
        ),
        ("[\"sqrt\"]", "[]", "5: rule `M`: `operations` is empty"),
        (
            "[\"sqrt\"]",
            "[\"sqrd\"]",
            "10: rule `M`: `operations`: unknown operation `sqrd`; did you mean `sqrt`",
        ),
        ("\"M\"", "\"\"", "5: rule ``: `id` is empty"),
        ("citation = \"c\"\n", "", "5: `rule`: missing key `citation`"),
    ] {
        let message = refused(&format!("{HEAD}{}\n", rule.replace(from, to)));
        assert!(
            message.starts_with(&format!("mine.toml:{expected}")),
            "{message}\ninstead of {expected}"
        );
    }
    let text =
        "id = \"a\"\ntitle = \"t\"\nversion = \"1\"\n[operation.sqrt]\nlowerings = [\"sqrt\"]\n";
    let message = refused(&format!("{text}{rule}\n"));
    assert!(
        message
            .contains("rule `M`: operation `sqrt`: there is no `environment.f32`, which it needs"),
        "{message}"
    );
    // A profile that extends none has operations of its own only.
    let message = refused(&format!("{}{rule}\n", HEAD.replace("extends = \"d3d11\"\n", "")));
    assert!(message.contains("no profile here has a table `operation.sqrt`"), "{message}");
    let message = refused(&HEAD.replace("d3d11", "d3d12"));
    assert!(
        message.starts_with("mine.toml:4: `extends`: no profile `d3d12`; there are d3d11"),
        "{message}"
    );
}

#[test]
fn mistakes_that_hide_no_other_are_told_at_once() {
    let wrong = |id: &str, lanes: &str| {
        rule("[\"sqrt\"]", &format!("lanes = {lanes}")).replace("\"M\"", &format!("\"{id}\""))
    };
    let (one, two) = ("{ result = \"tiny\", result_not = \"tiny\" }", "[]");
    let message =
        refused(&format!("{HEAD}{}{}{}", wrong("A", one), wrong("B", "{}"), wrong("C", two)));
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 2, "{message}");
    assert!(
        lines[0].starts_with("mine.toml:5: rule `A`")
            && lines[1].starts_with("mine.toml:19: rule `C`"),
        "{message}"
    );
    let operation = |name: &str| format!("[operation.{name}]\nlowerings = [\"squrt\"]\n");
    let message = refused(&format!("{HEAD}{}{}", operation("x"), operation("y")));
    assert_eq!(message.lines().count(), 2, "{message}");
    // Of very many the first ones.
    let many: String = (0..100).map(|n| wrong(&format!("M{n}"), two)).collect();
    assert_eq!(refused(&format!("{HEAD}{many}")).lines().count(), 16);
}

#[test]
fn endless_extension_and_size_are_bounded() {
    let itself = |_: &str| Some(("loop.toml".to_owned(), HEAD.to_owned()));
    let error = Profile::parse("loop.toml", HEAD, &itself).unwrap_err().to_string();
    assert!(error.contains("extend one another"), "{error}");
    assert!(refused(&" ".repeat(2 << 20)).contains("bytes at most"));
}

#[test]
fn controls_that_cannot_be_requested_are_refused() {
    let head = HEAD.replace("d3d11", "vulkan");
    for (controls, parts) in [
        ("\"ftz23\"", vec!["ftz23", "ftz32"]),
        ("\"flush\"", vec!["flush"]),
        ("\"dp\", \"dp\"", vec!["`dp` is named twice"]),
        ("\"ftz\", \"dp\"", vec!["ftz32", "dp32", "one denormal mode"]),
        ("\"szin16\"", vec!["szin16", "f32.fadd", "no float of that width"]),
    ] {
        let message =
            refused(&format!("{head}{}", rule("[\"fadd\"]", &format!("controls = [{controls}]"))));
        for part in parts.iter().chain(&["rule `M`", "controls"]) {
            assert!(message.contains(part), "no `{part}` in: {message}");
        }
    }
    // A recipe is carried by what a rule requests as well.
    let message = refused(&format!(
        "{head}modes = [\"dp32\"]\n{}",
        rule("[\"fadd\"]", "controls = [\"ftz\"]")
    ));
    assert!(message.contains("a recipe may ask for `dp32`"), "{message}");
}

#[test]
fn a_group_is_of_a_format_a_control_or_a_need() {
    for (member, part) in [
        ("", "`format`, `control` or `need`"),
        ("format = \"f16\"\ncontrol = \"ftz16\"\n", "`format`, `control` or `need`"),
        ("format = \"f15\"\n", "group.format"),
        ("control = \"ftz15\"\n", "group.control"),
    ] {
        let message = refused(&format!("{HEAD}[[group]]\nid = \"g\"\ntitle = \"\"\n{member}"));
        assert!(message.contains(part), "{message}");
    }
}

/// A rule `M` on these operations, with more keys.
fn rule(operations: &str, more: &str) -> String {
    format!(
        "[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f32\"\noperations = {operations}\n{more}\n"
    )
}

#[test]
fn what_multiplies_is_bounded() {
    let quoted = |names: &[&str]| {
        format!("[{}]", names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", "))
    };
    for (text, parts) in [
        (
            rule(&quoted(&["sqrt", "add", "sqrt"]), ""),
            vec!["rule `M`: `operations`: `sqrt` is named twice"],
        ),
        (
            rule(&quoted(&["sqrt"]), "").replace("\"f32\"", "[\"f32\", \"f32\"]"),
            vec!["rule `M`: `format`", "named twice"],
        ),
        (
            format!("modes = {}\n", quoted(&["ftz32", "szin32", "ftz32"])),
            vec!["`modes`: `ftz32` is named twice"],
        ),
        (
            format!(
                "modes = {}\n",
                quoted(&[
                    "ftz16", "ftz32", "ftz64", "dp16", "dp32", "dp64", "szin16", "szin32",
                    "szin64", "rte16", "rte32", "rte64", "rtz16"
                ])
            ),
            vec!["`modes`: more than 12 are named"],
        ),
        (
            format!("[operation.sqrt]\nlowerings = {}\n", quoted(&["sqrt", "sqrt"])),
            vec!["lowerings`: `sqrt` is named twice"],
        ),
        (
            format!(
                "[operation.sqrt]\nlowerings = [{}]\n",
                (0..17).map(|n| format!("\"a{n}\"")).collect::<Vec<_>>().join(", ")
            ),
            vec!["lowerings`: more than 16 are named"],
        ),
    ] {
        let message = refused(&format!("{HEAD}{text}"));
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    // Forty thousand looks at one operation, each of them small.
    let many: String = (0..5000)
        .map(|n| rule("[\"add\", \"sub\"]", "").replace("\"M\"", &format!("\"M{n}\"")))
        .collect();
    let message = refused(&format!("{HEAD}{many}"));
    assert!(message.contains("more than 4096 times"), "{message}");
}

#[test]
fn depth_is_bounded() {
    for deep in [
        format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("x = {}{}", "{ a = ".repeat(100_000), "}".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
        format!("{}a = 1", "a.".repeat(100_000)),
        format!("[environment.f32]\n{}a = 1", "a.".repeat(100_000)),
    ] {
        let message = refused(&format!("{HEAD}{deep}\n"));
        assert!(message.len() < 1000, "{} bytes of message", message.len());
    }
}

#[test]
fn accuracies_that_the_judge_cannot_follow_are_refused() {
    for (operation, accuracy, part) in [
        // A negated exponent would leave its type.
        ("rcp", "relative 2^--2147483648", "is not an accuracy"),
        ("rcp", "relative 2^-1075", "2^-1074 at least"),
        ("add", "x * (1/y), reciprocal 1 ulp", "another operation"),
        ("add", "absolute 1 in [-2, 2], else in [-1, 1]", "another operation"),
        ("div", "x * (1/y), reciprocal 1 ulp for second normal", "no conditions"),
        ("add", "inherited", "without formulas"),
        ("add", "1 ulp or inherited", "without formulas"),
        ("div", "x * (1/y), reciprocal 65 ulp", "too wide"),
        ("mad", "65 ulp", "too wide"),
        ("mad", "absolute 1", "too wide"),
    ] {
        let text = rule(
            &format!("[\"{operation}\"]"),
            &format!("accuracy = {{ {operation} = \"{accuracy}\" }}"),
        );
        let message = refused(&format!("{HEAD}{text}"));
        assert!(message.contains("rule `M`") && message.contains(part), "{message}");
    }
}

#[test]
fn a_formula_has_the_operands_of_its_operation_and_no_others() {
    let head = HEAD.replace("d3d11", "wgsl");
    for (lowering, formula, names) in
        [("pow", "exp2(y * log2(z))", "`x`, `y`"), ("sqrt", "1 / inverse_sqrt(y)", "`x`")]
    {
        let text =
            format!("[operation.own]\nlowerings = [\"{lowering}\"]\ninherits = \"{formula}\"\n");
        let message = refused(&format!("{head}{text}{}", rule("[\"own\"]", "")));
        assert!(message.starts_with("mine.toml:7: `operation.own.inherits`"), "{message}");
        assert!(message.contains(&format!("is none of the operands {names}")), "{message}");
    }
}

#[test]
fn lowerings_and_relations_must_have_what_judging_reads() {
    let operation = |lowerings: &str| format!("[operation.mine]\nlowerings = {lowerings}\n");
    for (text, part) in [
        (operation("[\"fadd\", \"sqrt\"]") + &rule("[\"mine\"]", ""), "`f32.fadd` and `f32.sqrt`"),
        (
            operation("[\"sqrt\"]") + &rule("[\"mine\"]", "requirement = \"round_trip\""),
            "`round_trip` is about stores",
        ),
        (
            operation("[\"b10g11r11.load\"]")
                + &rule("[\"mine\"]", "requirement = [\"result\", \"every_code\"]"),
            "`every_code` is about stores",
        ),
    ] {
        let message = refused(&format!("{HEAD}{text}"));
        assert!(message.contains("rule `M`") && message.contains(part), "{message}");
    }
}

#[test]
fn what_a_profile_changes_holds_for_the_rules_it_takes_over() {
    let accepts = |profile: &str| {
        let profile = fpprobe_profiles::profile::built_in(profile).unwrap().unwrap();
        let kernel = "f32.mul_then_add".parse().unwrap();
        // 1 * (1 + ulp) + ulp/2, a tie: the even value where products and sums are rounded to
        // nearest (D32-15). Where 1 ULP is enough for each (D32-16), the product is 1 to 1
        // + 2 ulp, and the sum 1 ulp further to either side.
        let case = [0x3f80_0000, 0x3f80_0001, 0x3380_0000];
        let (accepted, _) = fpprobe_profiles::accepts::accepts(&profile, &kernel, &case);
        let set = &accepted.alternatives()[0][0];
        (0x3f7f_fffe..0x3f80_0005).filter(|bits| set.contains(*bits)).collect::<Vec<u64>>()
    };
    assert_eq!(accepts("d3d11"), [0x3f80_0002]);
    assert_eq!(accepts("d3d10"), [0x3f7f_ffff, 0x3f80_0000, 0x3f80_0001, 0x3f80_0002, 0x3f80_0003]);
}
