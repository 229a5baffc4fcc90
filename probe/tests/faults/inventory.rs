//! Hosts with equal devices, one of which computes one input of one kernel otherwise.

use std::fs;

use crate::documented::documented;
use crate::faulty::run;
use crate::scene::{ends, fpprobe};

#[test]
fn a_device_that_computes_otherwise_is_named_among_its_equals() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let kernels = ["f32.fadd", "f32.fmul"];
    for host in ["a", "b", "c", "d"] {
        let fault = if host == "c" {
            "give 40000001 in f32.fadd when x is 3f800000 and y is 3f800000"
        } else {
            ""
        };
        let run = run(fault, &kernels, &["--label", host, "--set", "host.tags=[\"rack=a12\"]"]);
        assert_eq!(
            (&run.report["host"]["label"], &run.report["host"]["tags"]["rack"]),
            (&host.into(), &"a12".into())
        );
        fs::write(path(&format!("{host}.json")), run.report.to_string()).unwrap();
    }
    let inventory =
        |arguments: &[&str]| ends(fpprobe(&[]).arg("inventory").arg(folder.path()).args(arguments));
    let ended = inventory(&[]);
    let text = ended.with(0);
    assert!(text.contains("1 of 4 differs from its equals: c "), "{text}");
    assert!(
        text.contains(
            "f32.fadd(3f800000 3f800000) = 40000001, on 3 devices 40000000; 1 case differs"
        ),
        "{text}"
    );
    let document = inventory(&["--format", "json"]).document(0);
    let behaviours = document["groups"][0]["behaviours"].as_array().unwrap();
    let minority: Vec<bool> =
        behaviours.iter().map(|one| one["minority"].as_bool().unwrap()).collect();
    assert_eq!(
        (minority, &behaviours[1]["devices"][0]["tags"]["rack"]),
        (vec![false, true], &"a12".into())
    );
    assert_eq!(behaviours[1]["differences"].as_array().unwrap().len(), 1, "{behaviours:?}");

    // The same rows in SQL.
    inventory(&["-o", path("inventory.parquet").to_str().unwrap()]).with(0);
    let query = "select host, tags, model <> '', differing_kernels, minority, count(*) over () \
                 from 'inventory.parquet' order by minority desc, host limit 1";
    fs::write(path("query.md"), format!("```sql\n{query};\n```\n")).unwrap();
    let queried = documented(folder.path(), path("query.md").to_str().unwrap(), 1);
    let first = &queried[0].rows[0];
    assert_eq!(
        serde_json::to_string(first).unwrap(),
        r#"["c","rack=a12",true,"f32.fadd","yes",4]"#
    );

    // A file that cannot be read hides no other, and does not pass unnoticed.
    fs::write(path("broken.json"), "{").unwrap();
    let ended = inventory(&["-o", path("inventory.csv").to_str().unwrap()]);
    ended.with(5);
    assert_eq!(fs::read_to_string(path("inventory.csv")).unwrap().lines().count(), 5);
    assert!(inventory(&[]).with(5).contains("1 file unreadable"));
    assert_eq!(ends(fpprobe(&[]).arg("inventory").arg(path("broken.json"))).code, Some(2));
    assert!(
        ends(fpprobe(&[]).arg("inventory").arg(path("none"))).err.contains("none: No such file")
    );
    let wrong = ends(fpprobe(&[]).args(["--set", "host.tags=[\"rack\"]", "run", "f32.fadd"]));
    assert!(wrong.code == Some(2) && wrong.err.contains("host.tags"), "{}", wrong.err);
}
