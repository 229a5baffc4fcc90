//! The committed schema is the present one, and what is written follows it.

use std::path::Path;

use serde_json::Value;

use crate::fixture::{self, render};
use crate::schema_check::check;

#[test]
fn schema_files_are_current() {
    for document in fpprobe_reports::DOCUMENTS {
        let file =
            format!("{}/schema/{}.json", env!("CARGO_MANIFEST_DIR"), document.id.replace('/', "-"));
        let text = format!("{}\n", serde_json::to_string_pretty(&(document.schema)()).unwrap());
        if std::env::var_os("UPDATE").is_some() {
            fpprobe_reports::save::save(Path::new(&file), |out| out.write_all(text.as_bytes()))
                .unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            committed == text,
            "{file} is stale; run: UPDATE=1 cargo test -p fpprobe-reports schema"
        );
    }
}

#[test]
fn reports_follow_the_schema() {
    let schema = fpprobe_reports::schema();
    let report: Value = serde_json::from_str(&render("json", &fixture::report())).unwrap();
    assert_eq!(check(&schema, &report), Vec::<String>::new());
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema = fpprobe_reports::schema();
    let good: Value = serde_json::from_str(&render("json", &fixture::report())).unwrap();
    let broken = |path: &str, value: Value| {
        let mut report = good.clone();
        *report.pointer_mut(path).unwrap() = value;
        check(&schema, &report)
    };
    assert!(!broken("/schema", "fpprobe-report/3".into()).is_empty());
    assert!(!broken("/devices/0/profiles/0/class", "splendid".into()).is_empty());
    assert!(!broken("/devices/0/observations/0/outcome", "exploded".into()).is_empty());
    assert!(!broken("/devices/0/vendor_id", "0x10005".into()).is_empty());
    assert!(!broken("/devices/0/driver", Value::Null).is_empty());
    assert!(!broken("/devices/0/observations/0/out/0", "ABC".into()).is_empty());
}
