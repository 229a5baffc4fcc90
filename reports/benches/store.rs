//! The store with ten thousand reports, and one whole report: `cargo bench -p fpprobe-reports --bench store [-- REPORT.json]`.
#[path = "../tests/all/fixture/mod.rs"]
#[expect(clippy::wildcard_imports, dead_code, reason = "a file of the tests, which use more of it")]
mod fixture;

use std::path::Path;
use std::time::Instant;

use fpprobe_reports::store::{Checks, Put, Store};
use fpprobe_reports::{files, load};

/// Reports in the store whose list is timed.
const REPORTS: usize = 10_000;

fn main() {
    if let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) {
        whole(Path::new(&path));
    }
    many();
}

/// What a step took, in milliseconds, the least of five.
fn least<T>(name: &str, mut step: impl FnMut() -> T) {
    let once = |_| {
        let start = Instant::now();
        drop(step());
        start.elapsed().as_secs_f64() * 1e3
    };
    println!("{name:<42} {:9.1} ms", (0..5).map(once).fold(f64::INFINITY, f64::min));
}

fn whole(path: &Path) {
    let report = load::load(path).expect("it is a report");
    let folder = tempfile::tempdir().expect("there is room");
    let document = folder.path().join("report.json");
    least("write the two files of a report", || files::write(&report, &document, true));
    let sizes = ["report.json", "observations.parquet"].map(|name| {
        let size = std::fs::metadata(folder.path().join(name)).expect("it is there").len();
        format!("{:.3} MB", size as f64 / 1e6)
    });
    println!("{:<42} {}", "their sizes", sizes.join(" and "));
    least("load it from them", || load::load(&document));
    let store = Store::new(folder.path().join("store"));
    let start = Instant::now();
    let Ok(Put::Stored(stored)) = store.put(&report, true) else { panic!("it can be stored") };
    println!("{:<42} {:9.1} ms", "store one report", start.elapsed().as_secs_f64() * 1e3);
    let shared: u64 = stored.entry.shared.iter().map(|one| one.size).sum();
    println!("{:<42} {:9.4} MB", "the size of its own", stored.size as f64 / 1e6);
    println!("{:<42} {:9.3} MB", "the size of what equal reports share", shared as f64 / 1e6);
    least("text out of the store", || store.text(&stored));
    least("load it from the store", || store.report(&stored));
}

fn many() {
    let folder = tempfile::tempdir().expect("there is room");
    let store = Store::new(folder.path().to_owned());
    let mut report = fixture::report();
    for number in 0..REPORTS {
        report.finished = format!(
            "2026-{:02}-{:02}T{:02}:{:02}:00Z",
            1 + number / 2800,
            1 + number / 100 % 28,
            number / 10 % 10,
            number % 10
        );
        store.put(&report, true).expect("it can be stored");
    }
    least("list ten thousand reports", || store.list().map(|listing| assert_eq!(listing.reports.len(), REPORTS)));
    let index = folder.path().join("index.jsonl");
    least("... without the index", || {
        std::fs::remove_file(&index).expect("it is there");
        store.list()
    });
    least("verify them", || store.verify(Checks::default()));
}
