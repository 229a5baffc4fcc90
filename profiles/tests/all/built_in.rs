//! The profiles that are built in.

use std::sync::LazyLock;

use fpprobe_profiles::{Profile, profile};

/// Every one of them.
pub fn profiles() -> &'static [Profile] {
    static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        profile::built_in_ids().map(|id| profile::built_in(id).unwrap().unwrap()).collect()
    });
    &PROFILES
}
