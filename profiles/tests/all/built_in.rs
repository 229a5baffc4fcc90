//! The profiles that are built in, and their coverage, which takes long: once for all tests.

use std::sync::LazyLock;

use fpprobe_profiles::coverage::{Coverage, survey};
use fpprobe_profiles::{Profile, profile};

/// Every one of them.
pub fn profiles() -> &'static [Profile] {
    static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        profile::built_in_ids().map(|id| profile::built_in(id).unwrap().unwrap()).collect()
    });
    &PROFILES
}

/// The coverage of each.
pub fn coverages() -> &'static [Coverage<'static>] {
    static COVERAGES: LazyLock<Vec<Coverage<'static>>> = LazyLock::new(|| survey(profiles()));
    &COVERAGES
}
