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
            5,
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
