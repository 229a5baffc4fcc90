//! The pages of `docs/rules/` are what the profiles' tables say. `UPDATE=1` writes them anew.

mod example;
mod page;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fpprobe_profiles::{Profile, profile};

fn profiles() -> Vec<Profile> {
    profile::built_in_ids().map(|id| profile::built_in(id).unwrap().unwrap()).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/rules")
}

#[test]
fn pages_of_rules_are_current() {
    let pages: BTreeMap<String, String> = page::pages(&profiles());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        for (name, text) in &pages {
            fpprobe_reports::save::save(&folder().join(name), |out| out.write_all(text.as_bytes()))
                .unwrap();
        }
    }
    let files = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let stray: Vec<String> = files.filter(|name| !pages.contains_key(name)).collect();
    assert_eq!(stray, Vec::<String>::new(), "files in docs/rules that no profile has");
    let current = |name: &str, text: &str| {
        std::fs::read_to_string(folder().join(name)).is_ok_and(|file| file == text)
    };
    let stale: Vec<&String> =
        pages.iter().filter(|(name, text)| !current(name, text)).map(|(name, _)| name).collect();
    assert!(
        stale.is_empty(),
        "docs/rules/{stale:?} are stale; run: UPDATE=1 cargo test -p fpprobe-reports --test rules"
    );
}

#[test]
fn quotes_are_one_short_line() {
    for rule in profiles().iter().flat_map(|profile| &profile.rules) {
        let Some(longest) = [&rule.quote, &rule.matters].into_iter().max_by_key(|text| text.len())
        else {
            continue;
        };
        assert!(longest.len() <= 420 && !longest.contains('\n'), "{}: {longest}", rule.id);
    }
}
