//! The store: what is put in comes out, whatever happens in between.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use fpprobe_reports::load::load;
use fpprobe_reports::store::{
    Checks, ContainerError, ENDING, Put, RetentionLimits, Store, StoreError, StoredReport, freed,
    link, unlink,
};
use fpprobe_reports::{Report, files};

use crate::fixture;

const DAY: u64 = 86_400;

/// An untainted report of a run that ended N days after 2026-11-20.
fn report(day: u64) -> Report {
    let mut report = fixture::report();
    report.devices.truncate(1);
    report.finished = format!("2026-11-{:02}T10:00:03Z", 20 + day);
    report
}

fn put(store: &Store, day: u64) -> StoredReport {
    match store.put(&report(day), false).unwrap() {
        Put::Stored(stored) | Put::Known(stored) => stored,
    }
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("made/when/needed"));
    (folder, store)
}

fn shared_bytes(stored: &StoredReport) -> u64 {
    stored.entry.shared.iter().map(|one| one.size).sum()
}

fn index(store: &Store) -> std::path::PathBuf {
    store.folder().join("index.jsonl")
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_stored_comes_out() {
    let (folder, store) = store();
    assert!(store.list().unwrap().reports.is_empty());
    assert!(!store.folder().exists(), "looking makes no folder");
    let report = report(0);
    let Put::Stored(stored) = store.put(&report, false).unwrap() else { panic!("it is new") };
    assert_eq!(store.put(&report, false).unwrap(), Put::Known(stored.clone()));
    let listing = store.list().unwrap();
    assert!(listing.indexed && listing.damaged.is_empty());
    assert_eq!(listing.reports, std::slice::from_ref(&stored));
    assert_eq!(store.report(&stored).unwrap(), report);
    // Every command that reads a report reads a stored one, too.
    let path = store.folder().join(&stored.entry.file);
    assert_eq!(load(&path).unwrap(), report);
    assert_eq!(fs::metadata(&path).unwrap().len(), stored.size);
    // The results are a table as `-o` writes it.
    let [table, devices] = &stored.entry.shared[..] else { panic!("{:?}", stored.entry.shared) };
    let beside = folder.path().join("report.json");
    files::write(&report, &beside, true).unwrap();
    let [own, written] =
        [store.folder().join(&table.file), beside.with_file_name("observations.parquet")];
    assert_eq!(fs::read(own).unwrap(), fs::read(written).unwrap());
    assert!(
        table.file.starts_with("observations/") && devices.file.starts_with("devices/"),
        "{table:?} {devices:?}"
    );
    let held_before = &stored.entry.devices[0];
    assert_eq!((&held_before.ids[..], &held_before.driver[..]), ("10005:0000", "examplepipe"));
    assert_eq!(held_before.classes["d3d10"].name(), "conforms with");
    assert!(
        stored.entry.file.starts_with("20261120T100003Z-h7f3a91c2-cpu1000501305c1f-"),
        "{}",
        stored.entry.file
    );
}

#[test]
fn hostile_text_stays_out_of_names_and_in_its_place() {
    let (_folder, store) = store();
    let mut report = fixture::report();
    report.devices.swap(0, 1);
    for text in [&mut report.finished, &mut report.host.id, &mut report.devices[0].identity.key] {
        *text = format!("../../{}/{}", fixture::NASTY, "x".repeat(5000));
    }
    let error = store.put(&report, false).unwrap_err();
    assert!(
        matches!(&error, StoreError::Tainted { .. })
            && error.to_string().contains("--allow-tainted"),
        "{error}"
    );
    let Put::Stored(stored) = store.put(&report, true).unwrap() else { panic!("it is new") };
    assert!(stored.entry.tainted());
    let file = &stored.entry.file;
    assert!(
        file.len() < 100 && file.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+.".contains(&b)),
        "{file}"
    );
    assert!(store.text(&stored).unwrap().contains(&report.devices[0].identity.key[..20]));
    assert_eq!(store.list().unwrap().reports, [stored]);
}

#[test]
fn reports_are_called_by_id_and_by_arrival() {
    let (_folder, store) = store();
    // Not by what clocks said when they were made.
    let [first, second, third] = [1, 2, 0].map(|day| put(&store, day));
    let listing = store.list().unwrap();
    assert_eq!(listing.reports, [first.clone(), second.clone(), third.clone()]);
    let found = |id: &str| store.find(&listing, id);
    assert_eq!(found("last").unwrap(), third);
    assert_eq!(found("last-2").unwrap(), first);
    assert_eq!(found(second.entry.id()).unwrap(), second);
    assert_eq!(found(&second.entry.id()[..6].to_uppercase()).unwrap(), second);
    assert_eq!(found(&first.entry.file).unwrap(), first);
    assert!(found("last-3").unwrap_err().to_string().contains("it holds 3"));
    for id in ["", "zz", "last--1", "last-x", "../etc"] {
        assert!(matches!(found(id), Err(StoreError::Unknown { .. })), "{id}");
    }
    assert!(listing.reports.iter().all(|stored| stored.entry.has_device("EXAMPLE RAST")));
    assert!(listing.reports.iter().all(|stored| stored.entry.has_device("10005:0000")));
    assert!(
        listing.reports.iter().all(|stored| stored.entry.has_device("10005:0") && !stored.entry.has_device("10005:1"))
    );
    assert!(
        !listing
            .reports
            .iter()
            .any(|stored| stored.entry.has_device("geforce") || stored.entry.has_device(""))
    );
}

#[test]
fn an_id_that_several_reports_share_is_refused_with_their_names() {
    let (_folder, store) = store();
    let mut by_start = std::collections::BTreeMap::new();
    for second in 0.. {
        let mut report = report(0);
        report.started = format!("2026-11-20T09:00:{second:02}Z");
        let (Put::Stored(stored) | Put::Known(stored)) = store.put(&report, false).unwrap();
        let start = stored.entry.id()[..2].to_owned();
        if let Some(twin) = by_start.insert(start.clone(), stored.clone()) {
            let error = store.find(&store.list().unwrap(), &start).unwrap_err().to_string();
            assert!(
                error.contains(stored.entry.id()) && error.contains(twin.entry.id()),
                "{error}"
            );
            break;
        }
    }
}

#[test]
fn an_index_that_is_lost_or_damaged_is_made_anew() {
    let (_folder, store) = store();
    let stored: Vec<StoredReport> = (0..4).map(|day| put(&store, day)).collect();
    let whole = fs::read_to_string(index(&store)).unwrap();
    assert_eq!(whole.lines().count(), 4);
    let lines: Vec<&str> = whole.lines().collect();
    for damaged in [
        String::new(),
        "garbage\n\u{fffd}".to_owned(),
        whole[..whole.len() / 2].to_owned(),
        whole.replace("cpu:", "gpu:"),
        format!("{}\n{}\n", lines[1], lines[1]),
        whole.replace(ENDING, ".other"),
    ] {
        fs::write(index(&store), &damaged).unwrap();
        let listing = store.list().unwrap();
        assert_eq!(listing.reports, stored, "{damaged:.60}");
        assert!(!listing.indexed);
        assert!(store.list().unwrap().indexed, "{damaged:.60}");
    }
    fs::remove_file(index(&store)).unwrap();
    // Where the index cannot be written the reports are read all the same.
    fs::create_dir(index(&store)).unwrap();
    assert_eq!(store.list().unwrap().reports, stored);
    fs::remove_dir(index(&store)).unwrap();
    // A writer was killed within its line: the next one's line is whole.
    fs::write(index(&store), &whole[..whole.len() - 9]).unwrap();
    let last = put(&store, 5);
    assert!(
        fs::read_to_string(index(&store))
            .unwrap()
            .lines()
            .last()
            .unwrap()
            .contains(&last.entry.file)
    );
    assert_eq!(store.list().unwrap().reports.len(), 5);
    // A report that was removed by hand is not listed.
    fs::remove_file(store.folder().join(&last.entry.file)).unwrap();
    assert_eq!(store.list().unwrap().reports, stored);
}

#[test]
fn damage_is_found_named_and_moved_aside_only_on_request() {
    let (_folder, store) = store();
    let [sound, broken] = [0, 1].map(|day| put(&store, day));
    let path = store.folder().join(&broken.entry.file);
    let bytes = fs::read(&path).unwrap();
    // Each byte counts, in the head and in the content.
    for place in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let found = store.verify(Checks::default()).unwrap();
        assert_eq!((found.sound, found.damaged.len()), (1, 1), "byte {place}");
    }
    for length in (0..bytes.len()).step_by(211) {
        fs::write(&path, &bytes[..length]).unwrap();
        assert_eq!(
            store.verify(Checks::default()).unwrap().damaged[0].0,
            broken.entry.file,
            "{length} bytes"
        );
    }
    let error = store.text(&broken).unwrap_err().to_string();
    assert!(error.contains(&broken.entry.file) && error.contains("history verify"), "{error}");
    // A list still names the others, with the index and without.
    assert_eq!(store.list().unwrap().reports.len(), 2);
    fs::remove_file(index(&store)).unwrap();
    fs::write(&path, b"MZ").unwrap();
    let listing = store.list().unwrap();
    assert_eq!(listing.reports, [sound]);
    assert!(matches!(listing.damaged[..], [(_, ContainerError::Foreign)]));
    let found = store.verify(Checks { rebuild: true, set_aside: true }).unwrap();
    assert_eq!(found.damaged.len(), 1);
    assert_eq!(names(&store.folder().join("damaged")), [&broken.entry.file[..]]);
    let clean = store.verify(Checks::default()).unwrap();
    assert_eq!(
        (clean.sound, clean.damaged.len(), clean.foreign.len(), clean.unindexed),
        (1, 0, 0, 0)
    );
    // What was damaged can be stored again.
    assert_eq!(put(&store, 1), broken);
}

#[test]
fn equal_behaviour_is_stored_once_and_goes_with_its_last_report() {
    let (_folder, store) = store();
    let of = |stored: &StoredReport| {
        stored.entry.shared.iter().map(|one| one.file.clone()).collect::<Vec<_>>()
    };
    let [first, second] = [1, 2].map(|day| put(&store, day));
    assert_eq!(of(&first), of(&second));
    let mut other = report(3);
    other.devices[0].observations.pop();
    other.inputs.remove("f64.small1");
    let (Put::Stored(third) | Put::Known(third)) = store.put(&other, false).unwrap();
    let exists = |file: &String| store.folder().join(file).is_file();
    assert!(
        of(&third).iter().all(exists)
            && of(&third)[0] != of(&first)[0]
            && of(&third)[1] == of(&first)[1]
    );
    // What newer reports share takes no room of its own.
    let own: u64 = [&first, &second, &third].map(|stored| stored.size).iter().sum();
    let shared = shared_bytes(&third) + second.entry.shared[0].size;
    let other_process = elsewhere(&store);
    let limits = RetentionLimits { bytes: own + shared, ..RetentionLimits::default() };
    assert!(other_process.prune(&limits, 0).unwrap().is_empty());
    let removed = other_process
        .prune(&RetentionLimits { count: 2, ..RetentionLimits::default() }, 0)
        .unwrap();
    assert_eq!((removed, of(&second).iter().all(exists)), (vec![first], true));
    assert_eq!(store.report(&second).unwrap(), report(2));
    let foreign = store.folder().join("observations/notes.txt");
    fs::write(&foreign, "mine").unwrap();
    let before = store.list().unwrap();
    let removed = other_process
        .prune(&RetentionLimits { count: 1, ..RetentionLimits::default() }, 0)
        .unwrap();
    let left: Vec<bool> = of(&second).iter().map(exists).collect();
    assert_eq!(
        (removed, left),
        (vec![second.clone()], of(&second).iter().map(|file| of(&third).contains(file)).collect())
    );
    assert!(foreign.is_file());
    assert_eq!(store.report(&third).unwrap(), other);
    // What went with the second: what the third shares with it stays.
    let own = second.entry.shared.iter().filter(|one| !of(&third).contains(&one.file));
    let released = second.size + own.map(|one| one.size).sum::<u64>();
    assert_eq!(freed(&before, &[second]), released);
}

#[test]
fn damage_of_what_reports_share_is_found_and_repaired_by_the_next_equal_one() {
    let (_folder, store) = store();
    let [first, second] = [1, 2].map(|day| put(&store, day));
    for shared in &first.entry.shared {
        let path = store.folder().join(&shared.file);
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 1;
        for bytes in [Some(damaged), Some(whole[..whole.len() - 1].to_vec()), None] {
            match bytes {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let found = store.verify(Checks::default()).unwrap();
            assert_eq!((found.sound, found.damaged.len()), (0, 2), "{}", shared.file);
            assert!(
                found.damaged[0].1.to_string().contains(&shared.file),
                "{}",
                found.damaged[0].1
            );
            let error = store.report(&second).unwrap_err().to_string();
            assert!(error.contains(&shared.file) && error.contains(&second.entry.file), "{error}");
            put(&store, 3);
            assert_eq!(store.verify(Checks::default()).unwrap().sound, 3);
            fs::remove_file(store.folder().join(&put(&store, 3).entry.file)).unwrap();
            store.verify(Checks { rebuild: true, set_aside: false }).unwrap();
        }
    }
}

#[test]
fn a_report_that_leads_elsewhere_is_refused() {
    let (_folder, store) = store();
    let stored = put(&store, 0);
    let mut entry = stored.entry.clone();
    entry.shared[1].file = "devices/../../../../etc/passwd".to_owned();
    let bytes = fpprobe_reports::container::head_of(&entry).unwrap();
    fs::write(store.folder().join(&entry.file), bytes).unwrap();
    let error = store.text(&stored).unwrap_err().to_string();
    assert!(error.contains("is no name of such a file"), "{error}");
}

#[test]
fn linked_reports_outlive_the_store() {
    let (folder, store) = store();
    let [first, second] = [1, 2].map(|day| put(&store, day));
    let beside = folder.path().join("beside");
    fs::create_dir_all(&beside).unwrap();
    let [one, two] = [&first, &second].map(|stored| {
        let to = beside.join(&stored.entry.file);
        link(&store.folder().join(&stored.entry.file), &to).unwrap();
        to
    });
    fs::remove_dir_all(store.folder()).unwrap();
    assert_eq!((load(&one).unwrap(), load(&two).unwrap()), (report(1), report(2)));
    unlink(&one).unwrap();
    assert_eq!(load(&two).unwrap(), report(2));
    unlink(&two).unwrap();
    assert!(names(&beside).is_empty(), "{:?}", names(&beside));
}

#[test]
fn what_version_1_stored_is_stored_anew_under_its_id() {
    let (_folder, store) = store();
    let newer = put(&store, 1);
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports/v1-lavapipe-25.fpreport");
    let entry = fpprobe_reports::container::head(fs::File::open(&fixture).unwrap()).unwrap();
    fs::copy(&fixture, store.folder().join(&entry.file)).unwrap();
    fs::write(store.folder().join(format!("damaged{ENDING}")), "fpprobe-stored/1\n").unwrap();
    let last = put(&store, 2);
    let before = store.list().unwrap();
    assert_eq!(before.reports.len(), 3);
    let mut seen = Vec::new();
    store
        .migrate(|stored, written| seen.push((stored.entry.file.clone(), written.is_ok())))
        .unwrap();
    assert_eq!(seen, [(entry.file.clone(), true)]);
    let after = store.list().unwrap();
    let ids = |listing: &fpprobe_reports::store::Listing| {
        listing.reports.iter().map(|stored| stored.entry.id().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((ids(&before), after.indexed), (ids(&after), true));
    assert_eq!(
        store.report(&store.find(&after, entry.id()).unwrap()).unwrap(),
        load(&fixture).unwrap()
    );
    assert_eq!(store.verify(Checks::default()).unwrap().sound, 3);
    assert_eq!((store.find(&after, "last").unwrap(), &after.reports[0]), (last, &newer));
    store.migrate(|stored, _| panic!("{stored:?} is of this version")).unwrap();
}

#[test]
fn a_newer_version_is_left_alone() {
    let (_folder, store) = store();
    let stored = put(&store, 0);
    let path = store.folder().join(&stored.entry.file);
    let newer = "fpprobe-stored/3\nwhatever comes then\n";
    fs::write(&path, newer).unwrap();
    let error = store.text(&stored).unwrap_err().to_string();
    assert!(error.contains("stored by a newer fpprobe (`fpprobe-stored/3`)"), "{error}");
    assert!(load(&path).unwrap_err().to_string().contains("newer fpprobe"));
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn leftovers_of_killed_writers_go_and_foreign_files_stay() {
    let (_folder, store) = store();
    let stored = put(&store, 0);
    let leftovers =
        [format!(".{}.4711.0.tmp", stored.entry.file), ".index.jsonl.4711.0.tmp".to_owned()];
    for name in leftovers.iter().map(String::as_str).chain(["notes.txt", ".hidden.tmp"]) {
        fs::write(store.folder().join(name), "half").unwrap();
    }
    fs::create_dir(store.folder().join(format!("folder{ENDING}"))).unwrap();
    let found = store.verify(Checks::default()).unwrap();
    assert_eq!(
        (found.sound, &found.foreign[..]),
        (1, &[".hidden.tmp".to_owned(), "notes.txt".to_owned()][..])
    );
    assert!(
        matches!(&found.damaged[..], [(name, ContainerError::Foreign)] if name.starts_with("folder"))
    );
    put(&store, 1);
    let left = names(store.folder());
    assert!(leftovers.iter().all(|name| !left.contains(name)), "{left:?}");
    assert!(
        left.contains(&"notes.txt".to_owned()) && left.contains(&".hidden.tmp".to_owned()),
        "{left:?}"
    );
}

#[test]
fn writers_take_turns_and_readers_see_whole_reports() {
    let (_folder, store) = store();
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let store = &store;
                scope.spawn(move || {
                    for number in 0..8 {
                        let mut report = report(writer);
                        report.started = format!("2026-11-20T09:{writer:02}:{number:02}Z");
                        store.put(&report, false).unwrap();
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut looks = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) || looks == 0 {
                let listing = store.list().unwrap();
                assert!(listing.damaged.is_empty(), "{:?}", listing.damaged);
                if let Some(stored) = listing.reports.last() {
                    store.report(stored).unwrap();
                }
                looks += 1;
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        reader.join().unwrap();
    });
    store.list().unwrap();
    let found = store.verify(Checks::default()).unwrap();
    assert_eq!((found.sound, found.damaged.len(), found.unindexed), (32, 0, 0));
}

#[test]
fn what_exceeds_a_limit_goes_oldest_first_and_the_newest_stays() {
    let (_folder, store) = store();
    let stored: Vec<StoredReport> = (0..5).map(|day| put(&store, day)).collect();
    let now = seconds(&stored[4]);
    // What a process has stored itself it does not remove.
    assert_eq!(
        store.prune(&RetentionLimits { count: 1, days: 1, bytes: 1 }, now + 100 * DAY).unwrap(),
        []
    );
    let store = Store::new(store.folder().to_owned());
    let (size, shared) = (stored[0].size, shared_bytes(&stored[0]));
    assert!(stored.iter().all(|one| one.size.abs_diff(size) < 64));
    let none = RetentionLimits::default();
    for (limits, now, left) in [
        (none, now, 5),
        (RetentionLimits { count: 3, ..none }, now, 3),
        (RetentionLimits { days: 2, ..none }, now, 3),
        (RetentionLimits { days: 2, ..none }, now + 100 * DAY, 1),
        (RetentionLimits { bytes: 2 * size + shared + 200, ..none }, now, 2),
        (RetentionLimits { bytes: 1, ..none }, now, 1),
        (RetentionLimits { count: 4, days: 1, ..none }, now, 2),
    ] {
        let removed = store.would_prune(&limits, now).unwrap();
        assert_eq!(removed, stored[..5 - left], "{limits:?}");
    }
    assert_eq!(store.list().unwrap().reports.len(), 5, "nothing was touched");
    assert_eq!(store.prune(&RetentionLimits { count: 2, ..none }, now).unwrap(), stored[..3]);
    assert_eq!(store.list().unwrap().reports, stored[3..]);
    assert!(store.list().unwrap().indexed);
}

fn seconds(stored: &StoredReport) -> u64 {
    fpprobe_reports::time::seconds(&stored.entry.finished).unwrap()
}

/// The store, as another process sees it.
fn elsewhere(store: &Store) -> Store {
    Store::new(store.folder().to_owned())
}

#[test]
fn a_clock_that_was_ahead_or_behind_costs_no_report() {
    let (_folder, store) = store();
    let ahead = put(&store, 9);
    let now = seconds(&ahead) - 8 * DAY;
    let store = elsewhere(&store);
    let stored = put(&store, 1);
    let limits = RetentionLimits { count: 1, ..RetentionLimits::default() };
    assert_eq!(store.prune(&limits, now).unwrap(), std::slice::from_ref(&ahead));
    let listing = store.list().unwrap();
    assert_eq!(store.find(&listing, "last").unwrap(), stored);
    // A clock that is behind makes reports that are old at once.
    let store = elsewhere(&store);
    let behind = put(&store, 0);
    put(&elsewhere(&store), 1);
    put(&elsewhere(&store), 2);
    let limits = RetentionLimits { days: 30, ..RetentionLimits::default() };
    assert_eq!(store.would_prune(&limits, now + 300 * DAY).unwrap(), [stored]);
    assert!(store.list().unwrap().reports.contains(&behind));
}

#[test]
fn reports_from_the_future_are_known() {
    let (_folder, store) = store();
    let [now, ahead] = [0, 1].map(|day| put(&store, day));
    let future = |at: u64| store.list().unwrap().future(at).cloned().collect::<Vec<_>>();
    assert_eq!(future(seconds(&now)), [ahead]);
    assert_eq!(future(seconds(&now) + DAY), []);
}

#[test]
fn what_was_stored_and_is_gone_is_noticed_once() {
    let (_folder, store) = store();
    let missing = store.verify(Checks::default()).unwrap_err().to_string();
    assert!(missing.contains("there is no store in"), "{missing}");
    store.prepare().unwrap();
    assert!(store.verify(Checks::default()).unwrap().is_whole());
    let stored: Vec<StoredReport> = (0..4).map(|day| put(&store, day)).collect();
    // What is removed by the store itself is not lost.
    let limits = RetentionLimits { count: 3, ..RetentionLimits::default() };
    assert_eq!(elsewhere(&store).prune(&limits, 0).unwrap(), stored[..1]);
    assert!(store.verify(Checks::default()).unwrap().is_whole());
    fs::remove_file(store.folder().join(&stored[1].entry.file)).unwrap();
    for _ in 0..2 {
        let found = store.verify(Checks::default()).unwrap();
        assert_eq!(
            (found.is_whole(), &found.lost[..]),
            (false, std::slice::from_ref(&stored[1].entry.file))
        );
    }
    assert_eq!(store.verify(Checks { rebuild: true, set_aside: false }).unwrap().lost.len(), 1);
    assert!(store.verify(Checks::default()).unwrap().is_whole());
    // All of them at once.
    for stored in &stored[2..] {
        fs::remove_file(store.folder().join(&stored.entry.file)).unwrap();
    }
    assert_eq!(store.verify(Checks::default()).unwrap().lost.len(), 2);
}

#[test]
fn a_report_that_the_index_alone_knows_is_lost() {
    let (_folder, store) = store();
    let stored: Vec<StoredReport> = (0..3).map(|day| put(&store, day)).collect();
    let (log, last) = (store.folder().join("log.jsonl"), &stored[2].entry.file);
    let lines = fs::read_to_string(&log).unwrap();
    let cut: String = lines.split_inclusive('\n').take(lines.lines().count() - 1).collect();
    assert!(lines.contains(&last[..]) && !cut.contains(&last[..]));
    fs::write(&log, cut).unwrap();
    fs::remove_file(store.folder().join(last)).unwrap();
    let lost = || store.verify(Checks::default()).unwrap().lost;
    assert_eq!(lost(), [&last[..]]);
    // Neither a list nor another writer forgets it.
    let listing = store.list().unwrap();
    assert_eq!((&listing.reports[..], listing.indexed), (&stored[..2], true));
    put(&store, 3);
    let one = RetentionLimits { count: 1, ..RetentionLimits::default() };
    assert_eq!(elsewhere(&store).prune(&one, 0).unwrap().len(), 2);
    let found = store.verify(Checks::default()).unwrap();
    assert_eq!((found.is_whole(), found.unindexed, lost()), (false, 0, vec![last.clone()]));
    store.verify(Checks { rebuild: true, set_aside: false }).unwrap();
    assert!(store.verify(Checks::default()).unwrap().is_whole());
    assert!(store.list().unwrap().indexed);
}

#[test]
fn a_log_that_is_lost_or_damaged_is_noticed_and_begun_anew() {
    let (_folder, store) = store();
    let stored: Vec<StoredReport> = [1, 2, 0].map(|day| put(&store, day)).into();
    let path = store.folder().join("log.jsonl");
    let log = fs::read_to_string(&path).unwrap();
    fs::write(&path, log.replacen("stored", "removed", 1)).unwrap();
    let found = store.verify(Checks { rebuild: true, set_aside: false }).unwrap();
    assert_eq!((found.log, found.is_whole()), (Some(1), false));
    assert!(store.verify(Checks::default()).unwrap().is_whole());
    // An earlier version wrote none: its reports are taken over by what their clocks said.
    fs::remove_file(&path).unwrap();
    let found = store.verify(Checks::default()).unwrap();
    assert_eq!((found.log, found.unlogged, found.is_whole()), (None, 3, false));
    let by_time = [&stored[2], &stored[0], &stored[1]].map(StoredReport::clone);
    assert_eq!(store.list().unwrap().reports, by_time);
    let last = put(&store, 1).entry.file.clone();
    assert_eq!(last, stored[0].entry.file);
    assert_eq!(store.list().unwrap().reports, by_time);
    assert!(store.verify(Checks::default()).unwrap().is_whole());
}

#[test]
fn who_holds_the_lock_is_named_and_not_waited_for_without_end() {
    let (_folder, store) = store();
    put(&store, 0);
    let mut stopped = Command::new("sleep").arg("100").spawn().unwrap();
    let stop = Command::new("kill").args(["-STOP", &stopped.id().to_string()]).status().unwrap();
    assert!(stop.success());
    let path = store.folder().join("lock");
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    fs::write(&path, format!("{}\n{}\nfpprobe run --store\n", stopped.id(), host.trim())).unwrap();
    let lock = fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    let report = report(1);
    let patient = elsewhere(&store).with_patience(Duration::from_millis(100));
    let begun = Instant::now();
    let error = patient.put(&report, false).unwrap_err().to_string();
    let took = begun.elapsed();
    let expected =
        format!("process {} (`fpprobe run --store`), which is stopped; `kill -CONT", stopped.id());
    assert!(error.contains(&expected) && error.contains("gave up after 0.1 s"), "{error}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    stopped.kill().unwrap();
    stopped.wait().unwrap();
    // Readers wait for nobody.
    assert_eq!(patient.list().unwrap().reports.len(), 1);
    drop(lock);
    assert!(matches!(patient.put(&report, false).unwrap(), Put::Stored(_)));
}

#[test]
fn who_signed_the_lock_and_does_not_hold_it_is_not_named() {
    let (_folder, store) = store();
    put(&store, 0);
    let path = store.folder().join("lock");
    let mut ended = Command::new("true").spawn().unwrap();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let sign = |process: u32| {
        fs::write(&path, format!("{process}\n{}\nfpprobe run\n", host.trim())).unwrap();
    };
    let lock = fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    let patient = elsewhere(&store).with_patience(Duration::from_millis(10));
    let refused = || patient.prepare().unwrap_err().to_string();
    let unsigned =
        |error: &str| error.contains("is in use by a process that did not sign it (`fuser ");
    // This process signed it before, and another one has it now.
    sign(std::process::id());
    assert!(unsigned(&refused()), "{}", refused());
    // A process that is over, before its parent waits for it and after.
    sign(ended.id());
    let begun = Instant::now();
    while !unsigned(&refused()) {
        assert!(begun.elapsed() < Duration::from_secs(10), "{}", refused());
    }
    ended.wait().unwrap();
    assert!(unsigned(&refused()), "{}", refused());
    let mut alive = Command::new("sleep").arg("100").spawn().unwrap();
    sign(alive.id());
    assert!(
        refused().contains(&format!("is in use by process {} (`fpprobe run`);", alive.id())),
        "{}",
        refused()
    );
    alive.kill().unwrap();
    alive.wait().unwrap();
}

#[test]
fn a_place_that_is_no_folder_is_named_with_what_to_do() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let store = Store::new(file.path().join("store"));
    let report = report(0);
    let error = store.put(&report, false).unwrap_err().to_string();
    assert!(error.starts_with("failed to create store ") && error.contains("store"), "{error}");
    let full = StoreError::Io {
        doing: "store the report as",
        path: "x".into(),
        cause: std::io::Error::from(std::io::ErrorKind::StorageFull),
    };
    assert!(full.to_string().contains("fpprobe history prune"), "{full}");
}
