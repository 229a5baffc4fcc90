//! The page of `docs/traits.md` is what the table says. `UPDATE=1` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use fpprobe_reports::traits::TRAITS;

const HEAD: &str = "# Traits

A trait is what a device does in one respect, as a value, whether or not a profile cares. It has a
value for operands from memory (`run time`) and one for literals and specialisation constants
(`constants`), which a compiler folds. The value is `mixed` if the kernels of a scope do not agree,
and `not_offered` if the device lacks what it takes; a scope that was not measured has none.

    fpprobe show traits                      # all traits of the last report
    fpprobe show f32.subnormal_operands      # one, with the lanes that show it
    fpprobe run --format caps                # for programs

`{f}` stands for the format. `fpprobe diff` lists changed traits first.

| trait | formats | question | why it matters |
|---|---|---|---|
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for row in TRAITS {
        let formats: Vec<&str> = row.formats.iter().copied().filter(|format| !format.is_empty()).collect();
        writeln!(page, "| `{}` | {} | {} | {} |", row.id, formats.join(", "), row.question, row.why).unwrap();
    }
    page
}

#[test]
fn the_page_of_traits_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/traits.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, page()).unwrap();
    }
    let current = std::fs::read_to_string(&file).is_ok_and(|text| text == page());
    assert!(current, "docs/traits.md is stale; run: UPDATE=1 cargo test -p fpprobe-reports --test all traits");
}
