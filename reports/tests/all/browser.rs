//! The pages in a real browser: `tests/browser/pages.mjs` looks at them.

use std::path::Path;
use std::process::Command;

use fpprobe_reports::save::save;

use crate::fixture::render;
use crate::{diff, stairs};

#[test]
fn pages_work_in_a_browser() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    let (old, new) = diff::update();
    let pages = [
        ("report.html", render("html", &stairs::devices())),
        ("diff.html", diff::shown(&diff::compared(&old, &new).diff, "html")),
        ("nothing-changed.html", diff::shown(&diff::compared(&old, &old).diff, "html")),
    ];
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/pages.mjs");
    let mut looks = Command::new("node");
    looks.arg(script).arg(&folder);
    for (name, page) in pages {
        let path = folder.join(name);
        save(&path, |out| out.write_all(page.as_bytes())).unwrap();
        looks.arg(path);
    }
    let output = looks.output().unwrap_or_else(|error| panic!("node: {error}; .ci/install test installs it"));
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{said}");
}
