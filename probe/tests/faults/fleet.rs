//! The tables and questions of `docs/fleet.md`: on hosts one of which has a fault, and on a fleet
//! of a million devices.

use std::fs;

use serde_json::{Value, json};

use crate::documented::{Queried, documented, python};
use crate::faulty::faulty;
use crate::scene::ends;

const DOCUMENT: &str = "docs/fleet.md";

/// The first query behind those that make the tables.
const QUESTIONS: usize = 3;

/// The columns that say which devices and what.
fn named<const N: usize>(query: &Queried, columns: [usize; N]) -> Vec<Value> {
    query.rows.iter().map(|row| columns.map(|column| row[column].clone()).into()).collect()
}

#[test]
fn tables_of_reports_name_the_host_with_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let faults =
        "give r+1 in f16.sqrt when x is 4200\ngive 0000 in f16.fadd when x is 0000 and y is 0001";
    for host in ["a", "b", "c", "d"] {
        let probe = || faulty(&["lavapipe-25"], if host == "c" { faults } else { "" });
        let file = |kind: &str| folder.path().join(kind).join(format!("2026-11-27/{host}.json"));
        let mut run = probe();
        ends(
            run.args(["run", "f16.fadd", "f16.sqrt", "--label", host, "--no-keep", "-o"])
                .arg(file("reports")),
        )
        .with(0);
        let label = format!("host.label={host}");
        let mut sweep = probe();
        sweep
            .args(["--set", &label, "sweep", "--fingerprint", "f16.sqrt", "f16.sin", "-o"])
            .arg(file("sweeps"));
        ends(&mut sweep).with(0);
    }
    // A part of a domain has no root.
    let part = folder.path().join("sweeps/2026-11-27/e.json");
    let mut sweep = faulty(&["lavapipe-25"], "");
    sweep.args([
        "--set",
        "host.label=e",
        "sweep",
        "--fingerprint",
        "f16.sqrt",
        "f16.sin",
        "--shard",
        "1/2",
        "-o",
    ]);
    ends(sweep.arg(part)).with(0);

    // A device that is measured again is one device.
    let reports = folder.path().join("reports");
    fs::create_dir(reports.join("2026-11-28")).unwrap();
    let again =
        fs::read_dir(reports.join("2026-11-27")).unwrap().map(|entry| entry.unwrap().path());
    for file in again.filter(|file| file.file_stem().unwrap() == "a") {
        fs::copy(&file, reports.join("2026-11-28").join(file.file_name().unwrap())).unwrap();
    }

    fs::create_dir(folder.path().join("tables")).unwrap();
    let queries = documented(folder.path(), DOCUMENT, 1);
    let [devices, roots, _views, inventory, deviating, outliers, wrong, coverage] = &queries[..]
    else {
        panic!("{} queries", queries.len());
    };
    assert_eq!((&devices.rows[0][0], &roots.rows[0][0]), (&json!(5), &json!(9)));
    assert_eq!(
        (inventory.rows.len(), &inventory.rows[0][0], &inventory.rows[0][4]),
        (1, &json!("0x10005"), &json!(4))
    );
    assert!(deviating.rows.is_empty(), "{deviating:?}");
    assert_eq!(named(outliers, [0, 5, 6]), [json!(["c", 1, 4])]);
    assert_eq!(named(wrong, [0, 5, 6, 7]), [json!(["c", "f16.sqrt", 1, 5])]);
    assert_eq!(named(coverage, [0, 1, 2]), [json!(["kept", 4, 100.0])]);

    // The same once more takes the place of what was there.
    assert_eq!(documented(folder.path(), DOCUMENT, 1)[3].rows, inventory.rows);
}

#[test]
fn a_wrong_root_of_25_million_is_found() {
    let folder = tempfile::tempdir().unwrap();
    ends(python("synthetic_fleet.py", folder.path()).arg("1000000")).with(0);
    let queries = documented(folder.path(), DOCUMENT, QUESTIONS);
    let [_views, inventory, deviating, outliers, wrong, coverage] = &queries[..] else {
        panic!("{} queries", queries.len());
    };
    let models = inventory.rows.iter().map(|row| row[4].as_u64().unwrap());
    assert_eq!((models.clone().count(), models.sum::<u64>()), (40, 1_000_000));
    assert_eq!(named(deviating, [0, 2, 3]), [json!(["NVIDIA Example 2", "vulkan", "26.2.0"])]);
    assert_eq!(named(outliers, [0, 1, 5]), [json!(["node-015432", "pci:0000:02:00.0", 1])]);
    assert_eq!(
        named(wrong, [0, 1, 5, 6]),
        [json!(["node-097222", "pci:0000:02:00.0", "f32.sin", 1])]
    );
    assert_eq!(
        named(coverage, [0, 1, 2]),
        [json!(["kept", 800_000, 80.0]), json!(["flushed", 200_000, 20.0])]
    );
    // 0.5 s and 5 s where nothing else runs; here other tests do.
    let limits = [(outliers, 0.5), (wrong, 5.0)];
    assert!(limits.iter().all(|(query, limit)| query.seconds < 10.0 * limit), "{queries:?}");

    let read = ends(python("synthetic_fleet.py", folder.path()).arg("read")).document(0);
    let values = json!({"kept": 800_000, "flushed": 200_000});
    assert_eq!(read, json!({"devices": 1_000_000, "roots": 25_000_000, "values": values}));
}
