//! Ranges of driver versions: `>=25.0, <25.2`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::model::Driver;

/// A version: numbers between dots. Numbers that are missing are 0, so 25.0 is 25.0.0.
#[derive(Clone, Debug)]
pub struct Version(Vec<u64>);

/// Versions that meet every one of some comparisons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VersionRange {
    text: String,
    bounds: Vec<(VersionOperator, Version)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum VersionOperator {
    Less,
    LessOrEqual,
    Equal,
    GreaterOrEqual,
    Greater,
}

/// The longer signs first: `<=` begins with `<`.
const SIGNS: [(&str, VersionOperator); 5] = [
    ("<=", VersionOperator::LessOrEqual),
    (">=", VersionOperator::GreaterOrEqual),
    ("<", VersionOperator::Less),
    (">", VersionOperator::Greater),
    ("=", VersionOperator::Equal),
];

/// Why a text is no range of versions.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RangeError {
    /// A part is no comparison.
    #[error("`{0}` is no comparison of versions: write for example `>=25.0, <25.2`")]
    Part(String),
    /// No version meets all of them.
    #[error("no version is in `{0}`: write for example `>=25.0, <25.2`")]
    Empty(String),
}

impl Version {
    /// The first numbers with a dot between them in what a driver says of itself: in `driverInfo`,
    /// where those who make drivers write their releases, else in its version.
    pub fn of(driver: &Driver) -> Option<Version> {
        [&driver.info, &driver.version].into_iter().find_map(|text| {
            let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
            words
                .map(|word| word.trim_matches('.'))
                .filter(|word| word.contains('.'))
                .find_map(Version::parse)
        })
    }

    fn parse(text: &str) -> Option<Version> {
        text.split('.').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>().map(Version)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        let number = |version: &Version, index: usize| version.0.get(index).copied().unwrap_or(0);
        let places = 0..self.0.len().max(other.0.len());
        places
            .map(|index| number(self, index).cmp(&number(other, index)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl VersionRange {
    /// Whether a version is in it.
    pub fn holds(&self, version: &Version) -> bool {
        self.bounds.iter().all(|(comparison, bound)| match comparison {
            VersionOperator::Less => version < bound,
            VersionOperator::LessOrEqual => version <= bound,
            VersionOperator::Equal => version == bound,
            VersionOperator::GreaterOrEqual => version >= bound,
            VersionOperator::Greater => version > bound,
        })
    }
}

impl VersionRange {
    /// The range of one version alone.
    pub fn only(version: Version) -> VersionRange {
        VersionRange {
            text: format!("={version}"),
            bounds: vec![(VersionOperator::Equal, version)],
        }
    }

    /// Whether no version is in it. Between two versions there is always another one, with more
    /// numbers; below 0 there is none.
    fn is_empty(&self) -> bool {
        use VersionOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        let lowest = (GreaterOrEqual, Version(Vec::new()));
        let of = |kinds: [VersionOperator; 3]| {
            self.bounds.iter().filter(move |(kind, _)| kinds.contains(kind))
        };
        of([Less, LessOrEqual, Equal]).any(|(upper, high)| {
            of([Greater, GreaterOrEqual, Equal]).chain([&lowest]).any(|(lower, low)| {
                let touches = *upper != Less && *lower != Greater;
                low > high || low == high && !touches
            })
        })
    }
}

impl FromStr for VersionRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<VersionRange, RangeError> {
        let bound = |part: &str| {
            let part = part.trim();
            let (comparison, version) = SIGNS
                .iter()
                .find_map(|(sign, comparison)| Some((*comparison, part.strip_prefix(sign)?)))?;
            Some((comparison, Version::parse(version.trim())?))
        };
        let bounds = text
            .split(',')
            .map(|part| bound(part).ok_or_else(|| RangeError::Part(part.trim().to_owned())));
        let range =
            VersionRange { text: text.to_owned(), bounds: bounds.collect::<Result<_, _>>()? };
        if range.is_empty() { Err(RangeError::Empty(text.to_owned())) } else { Ok(range) }
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_number_by_number() {
        let range: VersionRange = ">=25.0, <25.10".parse().unwrap();
        for (version, inside) in [
            ("25.0", true),
            ("25.0.0", true),
            ("25.9.9", true),
            ("24.3.4", false),
            ("25.10", false),
            ("25.10.0", false),
        ] {
            assert_eq!(range.holds(&Version::parse(version).unwrap()), inside, "{version}");
        }
        assert!(
            "=580.159.04"
                .parse::<VersionRange>()
                .unwrap()
                .holds(&Version::parse("580.159.4").unwrap())
        );
        for wrong in ["25.0", ">=", ">=x", ">=25..1", "", ">=25.0,"] {
            assert!(
                wrong
                    .parse::<VersionRange>()
                    .unwrap_err()
                    .to_string()
                    .contains("write for example"),
                "{wrong}"
            );
        }
        for empty in [">=26, <25", ">25, <=25", "=25, =26", "<0", ">=25.0, <25", "=25, >25.0"] {
            assert_eq!(empty.parse::<VersionRange>(), Err(RangeError::Empty(empty.to_owned())));
        }
        for one in ["<=25, >=25.0", "=25, <=25", "<=0", ">25, <25.0.1"] {
            assert!(one.parse::<VersionRange>().is_ok(), "{one}");
        }
    }

    #[test]
    fn a_driver_says_its_release_in_its_info() {
        let version = |info: &str, version: &str| {
            let text = String::new;
            let (name, api_version, uuid) = (text(), text(), text());
            let (info, version, pipeline_cache_uuid) =
                (info.to_owned(), version.to_owned(), text());
            let (manifest, library, build_id) = (text(), text(), text());
            let driver = Driver {
                id: 0,
                name,
                info,
                version,
                api_version,
                uuid,
                pipeline_cache_uuid,
                manifest,
                library,
                build_id,
            };
            Version::of(&driver).map(|version| version.to_string())
        };
        assert_eq!(version("Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)", "0.0.1").unwrap(), "25.0.7");
        assert_eq!(version("580.159.04", "580.159.4.0").unwrap(), "580.159.4");
        assert_eq!(version("", "5.0.0").unwrap(), "5.0.0");
        assert_eq!(version("none", "none"), None);
    }
}
