//! The page of `docs/traits.md` is what the table says. `UPDATE=1` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use fpprobe_reports::traits::{TraitMode, rows};

const HEAD: &str = "# Traits

A trait is what a device does in one respect, as a value, whether or not a profile cares. It has a
value for operands from memory (`run time`) and one for literals and specialisation constants
(`constants`), which a compiler folds. The value is `mixed` if the lanes of a scope do not agree,
with what parts them: keys of kernels (`kept with stage=compute`), operands (`nan where the NaN is
y`, `infinity from |x| = 65520 on`; `alone` where a value is the only one, and mixed elsewhere), or,
where nothing does, a lane of each value. It is `not_offered` if the device lacks what it takes; a
scope that was not measured has none.

    fpprobe show traits                      # all traits of the last report
    fpprobe show f32.subnormal_operands      # one, with the lanes that show it
    fpprobe run --format caps                # for programs

`{f}` stands for the format. Under a mode, what a program may request, the trait is measured again,
and the end of its id says so. `fpprobe diff` lists changed traits first; `fpprobe answers` answers
common questions by them.

| trait | formats | under | question | why it matters |
|---|---|---|---|---|
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for row in rows() {
        let formats: Vec<&str> =
            row.formats.iter().copied().filter(|format| !format.is_empty()).collect();
        let modes: Vec<String> =
            row.modes.iter().filter(|mode| !mode.suffix.is_empty()).map(under).collect();
        let (formats, modes) = (formats.join(", "), modes.join(", "));
        writeln!(page, "| `{}` | {formats} | {modes} | {} | {} |", row.id, row.question, row.why)
            .unwrap();
    }
    page
}

fn under(mode: &TraitMode) -> String {
    format!("`{}` {}", mode.suffix, mode.name)
}

#[test]
fn the_page_of_traits_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/traits.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, page()).unwrap();
    }
    let current = std::fs::read_to_string(&file).is_ok_and(|text| text == page());
    assert!(
        current,
        "docs/traits.md is stale; run: UPDATE=1 cargo test -p fpprobe-reports --test all traits"
    );
}
