//! A broken profile is refused with file, line and key.

use fpprobe_profiles::Profile;
use fpprobe_profiles::profile::built_in_text;

fn refused(text: &str) -> String {
    Profile::parse("mine.toml", text, &built_in_text).unwrap_err().to_string()
}

const HEAD: &str = "id = \"mine\"\ntitle = \"Mine\"\nversion = \"1\"\nextends = \"d3d11\"\n";

#[test]
fn an_extension_may_add_drop_and_change_rules() {
    let text = format!(
        "{HEAD}without = [\"D32-40\"]\n[[rule]]\nid = \"M-1\"\ntitle = \"sqrt is exact\"\ncitation = \"me\"\nformat = \"f32\"\n\
         operations = [\"sqrt\"]\nlanes = {{ all = [\"normal\"], none = [\"negative\"] }}\naccuracy = {{ sqrt = \"nearest even\" }}\n"
    );
    let profile = Profile::parse("mine.toml", &text, &built_in_text).unwrap();
    assert!(profile.rule("M-1").is_some() && profile.rule("D32-40").is_none() && profile.rule("D32-18").is_some());
}

#[test]
fn errors_name_file_line_and_key() {
    for (text, line, parts) in [
        (format!("{HEAD}colour = 3\n"), 5, vec!["colour"]),
        ("title = \"Mine\"\nid = ]\n".to_owned(), 2, vec![]),
        (format!("{HEAD}modes = [\"szin32\", \"ftz31\"]\n"), 5, vec!["modes", "ftz31", "ftz32"]),
        (HEAD.replace("d3d11", "d3d12"), 4, vec!["extends", "d3d12", "d3d11"]),
        (format!("{HEAD}without = [\"D99-1\"]\n"), 5, vec!["without", "D99-1"]),
        (format!("{HEAD}[environment.f32]\nzero_sign = \"wrong\"\n"), 5, vec!["environment.f32", "zero_sign", "exact"]),
        (format!("{HEAD}[operation.sqrt]\nlowerings = [\"squirt\"]\n"), 6, vec!["operation.sqrt.lowerings", "squirt"]),
        (
            format!("{HEAD}[operation.sqrt]\nlowerings = [\"sqrt\"]\naccuracy.f32 = \"good\"\n"),
            7,
            vec!["operation.sqrt.accuracy", "good", "2.5 ulp"],
        ),
        (
            format!(
                "{HEAD}[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f32\"\noperations = [\"sqrd\"]\n"
            ),
            10,
            vec!["M", "operations", "sqrd", "sqrt"],
        ),
        (
            format!(
                "{HEAD}[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f33\"\noperations = [\"sqrt\"]\n"
            ),
            9,
            vec!["format", "f33", "f32"],
        ),
        (
            format!("{HEAD}[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f32\"\noperations = []\n"),
            5,
            vec!["M", "operations"],
        ),
    ] {
        let message = refused(&text);
        assert!(message.starts_with(&format!("mine.toml:{line}: ")), "{message}\n{text}");
        for part in parts {
            assert!(message.contains(part), "no `{part}` in: {message}");
        }
    }
}

#[test]
fn endless_extension_and_size_are_bounded() {
    let itself = |_: &str| Some(("loop.toml".to_owned(), HEAD.to_owned()));
    let error = Profile::parse("loop.toml", HEAD, &itself).unwrap_err().to_string();
    assert!(error.contains("extend one another"), "{error}");
    assert!(refused(&" ".repeat(2 << 20)).contains("bytes at most"));
}

/// A rule `M` on these operations, with more keys.
fn rule(operations: &str, more: &str) -> String {
    format!(
        "[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f32\"\noperations = {operations}\n{more}\n"
    )
}

#[test]
fn what_multiplies_is_bounded() {
    let quoted =
        |names: &[&str]| format!("[{}]", names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", "));
    for (text, parts) in [
        (rule(&quoted(&["sqrt", "add", "sqrt"]), ""), vec!["rule `M`: `operations`: `sqrt` is named twice"]),
        (
            rule(&quoted(&["sqrt"]), "").replace("\"f32\"", "[\"f32\", \"f32\"]"),
            vec!["rule `M`: `format`", "named twice"],
        ),
        (format!("modes = {}\n", quoted(&["ftz32", "szin32", "ftz32"])), vec!["`modes`: `ftz32` is named twice"]),
        (
            format!(
                "modes = {}\n",
                quoted(&[
                    "ftz16", "ftz32", "ftz64", "dp16", "dp32", "dp64", "szin16", "szin32", "szin64", "rte16", "rte32",
                    "rte64", "rtz16"
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
    let many: String =
        (0..5000).map(|n| rule("[\"add\", \"sub\"]", "").replace("\"M\"", &format!("\"M{n}\""))).collect();
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
        ("add", "1 / inverse_sqrt, 1 ulp of 1 ulp", "another operation"),
        ("div", "x * (1/y), reciprocal 65 ulp", "too wide"),
        ("mad", "65 ulp", "too wide"),
        ("mad", "absolute 1", "too wide"),
    ] {
        let text = rule(&format!("[\"{operation}\"]"), &format!("accuracy = {{ {operation} = \"{accuracy}\" }}"));
        let message = refused(&format!("{HEAD}{text}"));
        assert!(message.contains("rule `M`") && message.contains(part), "{message}");
    }
}

#[test]
fn lowerings_and_relations_must_have_what_judging_reads() {
    let operation = |lowerings: &str| format!("[operation.mine]\nlowerings = {lowerings}\n");
    for (text, part) in [
        (operation("[\"fadd\", \"sqrt\"]") + &rule("[\"mine\"]", ""), "`f32.fadd` and `f32.sqrt`"),
        (operation("[\"sqrt\"]") + &rule("[\"mine\"]", "requirement = \"round_trip\""), "RoundTrip is about stores"),
        (
            operation("[\"b10g11r11.load\"]") + &rule("[\"mine\"]", "requirement = [\"result\", \"every_code\"]"),
            "EveryCode is about stores",
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
        // 1 * (1 + ulp) + ulp/2, a tie: the even value where products and sums are rounded to nearest (D32-15). Where
        // 1 ULP is enough for each (D32-16), the product is 1 to 1 + 2 ulp, and the sum 1 ulp further to either side.
        let case = [0x3f80_0000, 0x3f80_0001, 0x3380_0000];
        let (accepted, _) = fpprobe_profiles::accepts::accepts(&profile, &kernel, &case);
        let set = &accepted.alternatives()[0][0];
        (0x3f7f_fffe..0x3f80_0005).filter(|bits| set.contains(*bits)).collect::<Vec<u64>>()
    };
    assert_eq!(accepts("d3d11"), [0x3f80_0002]);
    assert_eq!(accepts("d3d10"), [0x3f7f_ffff, 0x3f80_0000, 0x3f80_0001, 0x3f80_0002, 0x3f80_0003]);
}
