//! The lanes that an entry accepts.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use super::{NoPrints, Prints};

/// Most kernels of all profiles of one entry.
const MOST: usize = 1 << 20;

/// Prints of the lanes that may fail, by profile and kernel; of a kernel each once, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AcceptedLanes(BTreeMap<(String, String), Vec<Prints>>);

/// Why lanes cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LanesError {
    /// A row is none.
    #[error(transparent)]
    Row(NoPrints),
    /// They are too many.
    #[error("there are more than {MOST} kernels")]
    Number,
}

impl Deref for AcceptedLanes {
    type Target = BTreeMap<(String, String), Vec<Prints>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for AcceptedLanes {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl AcceptedLanes {
    /// The profiles whose lanes it has, each once.
    pub fn profiles(&self) -> Vec<&str> {
        let mut profiles: Vec<&str> = self.keys().map(|(profile, _)| profile.as_str()).collect();
        profiles.dedup();
        profiles
    }

    /// Reads a row of profiles, `d3d10 d3d11`.
    pub(super) fn add(&mut self, profiles: &str, row: &str) -> Result<(), LanesError> {
        let (kernels, prints) = Prints::read(row).map_err(LanesError::Row)?;
        for profile in profiles.split(' ') {
            if self.len() + kernels.len() > MOST {
                return Err(LanesError::Number);
            }
            for kernel in &kernels {
                self.merge((profile.to_owned(), kernel.clone()), std::slice::from_ref(&prints));
            }
        }
        Ok(())
    }

    /// Adds prints of a kernel of a profile: each once, in order.
    pub(super) fn merge(&mut self, place: (String, String), prints: &[Prints]) {
        let all = self.entry(place).or_default();
        all.extend_from_slice(prints);
        all.sort_unstable();
        all.dedup();
    }

    /// Rows by the profiles that have them in common: kernels with the same lanes in one row.
    pub(super) fn rows(&self) -> Vec<(String, Vec<String>)> {
        let mut profiles: BTreeMap<(&str, &Prints), Vec<&str>> = BTreeMap::new();
        for ((profile, kernel), prints) in &self.0 {
            for prints in prints {
                profiles.entry((kernel, prints)).or_default().push(profile);
            }
        }
        let mut by_profiles: BTreeMap<Vec<&str>, Vec<(&str, &Prints)>> = BTreeMap::new();
        for (row, profiles) in profiles {
            by_profiles.entry(profiles).or_default().push(row);
        }
        let rows = |(profiles, rows): (Vec<&str>, Vec<(&str, &Prints)>)| {
            (profiles.join(" "), Prints::rows(rows).collect())
        };
        by_profiles.into_iter().map(rows).collect()
    }
}
