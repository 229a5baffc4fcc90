//! Strings and identities that are no use.

use crate::faulty::{faulty, measured};
use crate::scene::ends;

#[test]
fn no_string_of_a_driver_reaches_the_terminal_as_it_is() {
    for field in ["deviceName", "driverName", "driverInfo"] {
        for text in
            [r"\e[31mred\e]0;title\x07", r"endless \xff\e[2J", r"a\nb\rc", r"\x9b31m", "endless x"]
        {
            let statement = format!("string {field} {text}");
            for command in
                [&["list"][..], &["run", "f32.fabs"], &["run", "f32.fabs", "--format", "md"]]
            {
                let ended = ends(faulty(&["swiftshader"], &statement).args(command));
                ended.with(0);
                let control = |text: &str| {
                    text.chars().any(|char| char.is_control() && !"\n\t".contains(char))
                };
                assert!(
                    !control(&ended.out) && !control(&ended.err),
                    "{statement}: {:?}",
                    ended.out
                );
            }
        }
    }
}

#[test]
fn no_string_of_a_driver_is_markup() {
    let statement = r"string deviceName <script>alert(1)</script>; string driverInfo <img\ssrc=x>";
    let ended =
        ends(faulty(&["swiftshader"], statement).args(["run", "f32.fabs", "--format", "html"]));
    let page = ended.with(0);
    assert!(
        !page.contains("<script>alert") && !page.contains("<img src=x"),
        "the page holds the driver's markup"
    );
    assert!(page.contains("alert(1)"), "though escaped, the name is there");
}

#[test]
fn no_string_of_a_driver_is_a_formula() {
    for text in ["=1+1", "+1", "-1", "@SUM(1)", r#"a","=1+1"#] {
        let statement = format!("string deviceName {text}");
        let ended =
            ends(faulty(&["swiftshader"], &statement).args(["run", "f32.fabs", "--format", "csv"]));
        for cell in cells(ended.with(0)) {
            // A minus sign begins numbers, too.
            let formula = cell.starts_with(['=', '+', '@']) || cell == "-1";
            assert!(!formula, "{text}: {cell}");
        }
    }
}

/// The cells of a table (RFC 4180).
fn cells(text: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for char in text.chars() {
        match char {
            // A doubled quote ends a quotation and begins the next; what it stands for does not
            // matter here.
            '"' => quoted = !quoted,
            ',' | '\n' if !quoted => cells.push(String::new()),
            char => cells.last_mut().unwrap().push(char),
        }
    }
    cells
}

#[test]
fn a_name_that_changes_from_call_to_call_loses_nothing() {
    for field in ["deviceName", "driverInfo", "deviceUUID", "pipelineCacheUUID"] {
        let run = measured(&format!("changing {field}"));
        run.others_unharmed(&[]);
    }
}

#[test]
fn a_device_that_is_another_in_each_process_is_told_and_not_measured() {
    for field in ["deviceName", "driverInfo", "deviceUUID", "driverUUID", "pipelineCacheUUID"] {
        let run = measured(&format!("changing {field} process"));
        assert_eq!(run.code, 4, "{field}: {}", run.err);
        assert!(
            run.incidents().iter().any(|one| one["detail"].to_string().contains("is no longer")),
            "{field}"
        );
    }
}

#[test]
fn numbers_beyond_reason_are_no_internal_error() {
    for name in fpprobe_fault_layer::property::PROPERTIES {
        for value in ["0", "0xffffffff"] {
            let run = measured(&format!("property {name} {value}"));
            assert!([0, 4].contains(&run.code), "{name} {value}: {}: {}", run.code, run.err);
        }
    }
}
