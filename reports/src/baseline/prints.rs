//! Failing lanes of a kernel, in so few characters that a file of them can be reviewed: their
//! number, a digest over all, and where they are not too many a print of each, which distinguishes
//! fewer of the same from others. Where they are, the same once more of those that a quick run
//! measures, which has shorter lists of cases.
//!
//! Digests of lanes that have nothing in common add up, so that it does not matter among how many
//! causes the lanes of a kernel are divided.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::failed::{CaseList, UNSTABLE, on_short_list};

/// Lanes of one kernel of which each has a print of its own.
const ONE_BY_ONE: usize = 256;
/// Comes between the print of all lanes and the one of the short list.
const SHORT: &str = "short";
/// Comes before a digest that is a sum.
const SUM: char = '+';
/// Hex digits of the digest over all lanes.
const DIGEST: usize = 16;
/// Hex digits of a lane's print: of other bits one in 2^24 and more passes for one of 256.
const PRINT: usize = 8;

/// The failing lanes of a kernel.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Prints {
    whole: LanePrint,
    short: Option<LanePrint>,
}

/// Lanes of one kernel that has run one list of its cases.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LanePrint {
    pub(super) count: usize,
    digest: LaneDigest,
    /// Sorted; empty where there are too many.
    one_by_one: Vec<u32>,
}

/// A digest over all lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum LaneDigest {
    /// The sum, modulo 2^64, of the first 64 bits of the SHA-256 of each lane.
    Sum(u64),
    /// The first 64 bits of the SHA-256 of all lanes, a line each: of `fpprobe-baseline/1`.
    Joined(u64),
}

/// No prints of lanes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not what `fpprobe baseline accept` writes: kernels, the number of their lanes, `{SUM}` and {DIGEST} hex digits, {PRINT} for each of up to {ONE_BY_ONE} lanes, and `{SHORT}` with the same of the short list"
)]
pub struct NoPrints(String);

impl Prints {
    /// Those of a kernel's lanes.
    pub(super) fn of(kernel: &str, lanes: &[String]) -> Prints {
        let short = (lanes.len() > ONE_BY_ONE).then(|| on_short_list(kernel, lanes)).flatten();
        Prints { whole: LanePrint::of(lanes), short: short.map(|lanes| LanePrint::of(&lanes)) }
    }

    /// Number of lanes, each part of a result by itself.
    pub fn count(&self) -> usize {
        self.whole.count
    }

    /// The print of those of its lanes that are of a list.
    pub(super) fn of_list(&self, list: CaseList) -> &LanePrint {
        self.short.as_ref().filter(|_| list == CaseList::Short).unwrap_or(&self.whole)
    }

    /// Those of these lanes that it has one by one.
    pub(super) fn held(&self, lanes: &[String]) -> Vec<String> {
        lanes.iter().filter(|lane| self.whole.holds(lane)).cloned().collect()
    }

    /// How many of its lanes do not fail any more, of a kernel that ran this list. `lanes` are
    /// those that fail now; `is_known` says whether they contain exactly the lanes of a print.
    pub(super) fn fixed(
        &self,
        lanes: &[String],
        list: CaseList,
        is_known: impl Fn(&LanePrint) -> bool,
    ) -> usize {
        let print = self.of_list(list);
        // Of a shorter list nobody knows how many of them were run.
        let is_unknown = list == CaseList::Short && self.short.is_none();
        if is_unknown || print.is_unstable() && !lanes.is_empty() {
            0
        } else if print.is_too_many() {
            if is_known(print) { 0 } else { print.count.saturating_sub(lanes.len()) }
        } else {
            print.count.saturating_sub(lanes.iter().filter(|lane| print.holds(lane)).count())
        }
    }

    /// Reads a row: `f32.fadd f32.fadd:via=glsl 2 +0123456789abcdef 0011223344556677`, the kernels
    /// that have the same lanes, and those.
    pub(super) fn read(text: &str) -> Result<(Vec<String>, Prints), NoPrints> {
        parse(text).ok_or_else(|| NoPrints(text.chars().take(80).collect()))
    }

    /// Rows of kernels, those with the same lanes in one.
    pub(super) fn rows<'a>(
        all: impl IntoIterator<Item = (&'a str, &'a Prints)>,
    ) -> impl Iterator<Item = String> {
        let mut rows: Vec<(&Prints, String)> = Vec::new();
        let mut places: BTreeMap<&Prints, usize> = BTreeMap::new();
        for (kernel, prints) in all {
            if let Some(place) = places.get(prints) {
                rows[*place].1.push(' ');
                rows[*place].1.push_str(kernel);
            } else {
                places.insert(prints, rows.len());
                rows.push((prints, kernel.to_owned()));
            }
        }
        rows.into_iter().map(|(prints, kernels)| format!("{kernels} {prints}"))
    }
}

impl LanePrint {
    fn of(lanes: &[String]) -> LanePrint {
        let digests = || lanes.iter().map(|lane| digest(lane));
        let mut one_by_one: Vec<u32> =
            if lanes.len() > ONE_BY_ONE { Vec::new() } else { digests().map(print).collect() };
        one_by_one.sort_unstable();
        let sum = digests().fold(0, u64::wrapping_add);
        LanePrint { count: lanes.len(), digest: LaneDigest::Sum(sum), one_by_one }
    }

    /// Whether it has this lane one by one.
    pub(super) fn holds(&self, lane: &str) -> bool {
        !self.one_by_one.is_empty() && self.one_by_one.binary_search(&print(digest(lane))).is_ok()
    }

    /// Whether the kernel never gave the same twice: then nothing that it gives is new.
    pub(super) fn is_unstable(&self) -> bool {
        self.count == 1 && self.holds(UNSTABLE)
    }

    /// Whether its lanes are known together only.
    pub(super) fn is_too_many(&self) -> bool {
        self.one_by_one.is_empty() && self.count > 0
    }

    /// Whether these are its lanes, all of them and no others.
    pub(super) fn is(&self, lanes: &[&String]) -> bool {
        self.count == lanes.len()
            && match self.digest {
                LaneDigest::Sum(sum) => sum == sum_of(lanes),
                LaneDigest::Joined(joined) => {
                    let lines: Vec<&str> = lanes.iter().map(|lane| lane.as_str()).collect();
                    joined == digest(&lines.join("\n"))
                }
            }
    }

    /// Whether these are the lanes of several prints, each of which is known together only.
    pub(super) fn are(prints: &[&LanePrint], lanes: &[&String]) -> bool {
        let mut sum: u64 = 0;
        for print in prints.iter().filter(|print| print.is_too_many()) {
            let LaneDigest::Sum(own) = print.digest else { return false };
            sum = sum.wrapping_add(own);
        }
        let count: usize =
            prints.iter().filter(|print| print.is_too_many()).map(|print| print.count).sum();
        count == lanes.len() && sum == sum_of(lanes)
    }
}

fn sum_of(lanes: &[&String]) -> u64 {
    lanes.iter().map(|lane| digest(lane)).fold(0, u64::wrapping_add)
}

/// The first 64 bits of a text's SHA-256.
fn digest(text: &str) -> u64 {
    let all = Sha256::digest(text);
    all.iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// The first half of a digest.
fn print(digest: u64) -> u32 {
    u32::try_from(digest >> 32).unwrap_or_default()
}

impl fmt::Display for Prints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.whole)?;
        self.short.iter().try_for_each(|short| write!(f, " {SHORT} {short}"))
    }
}

impl fmt::Display for LanePrint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LanePrint { count, digest, one_by_one } = self;
        match digest {
            LaneDigest::Sum(sum) => write!(f, "{count} {SUM}{sum:0DIGEST$x}")?,
            LaneDigest::Joined(joined) => write!(f, "{count} {joined:0DIGEST$x}")?,
        }
        if !one_by_one.is_empty() {
            f.write_str(" ")?;
        }
        one_by_one.iter().try_for_each(|print| write!(f, "{print:0PRINT$x}"))
    }
}

fn parse(text: &str) -> Option<(Vec<String>, Prints)> {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = text.split(' ').collect();
    // No kernel's id is a number.
    let (kernels, rest) = words.split_at(words.iter().position(|word| is_number(word))?);
    let (whole, short) = match rest.iter().position(|word| *word == SHORT) {
        Some(place) => (&rest[..place], Some(LanePrint::parse(&rest[place + 1..])?)),
        None => (rest, None),
    };
    let whole = LanePrint::parse(whole)?;
    let kernels: Vec<String> = kernels.iter().map(|kernel| (*kernel).to_owned()).collect();
    (!kernels.is_empty()).then_some((kernels, Prints { whole, short }))
}

impl LanePrint {
    fn parse(words: &[&str]) -> Option<LanePrint> {
        let is_hex =
            |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let (count, digest, prints) = match words {
            [count, digest] => (count, digest, ""),
            [count, digest, prints] => (count, digest, *prints),
            _ => return None,
        };
        let count: usize = count.parse().ok()?;
        let complete = prints.len() == if count > ONE_BY_ONE { 0 } else { count * PRINT };
        let bits = digest.strip_prefix(SUM).unwrap_or(digest);
        if bits.len() != DIGEST || !is_hex(bits) || !is_hex(prints) || !complete {
            return None;
        }
        let number = u64::from_str_radix(bits, 16).ok()?;
        let is_sum = bits.len() < digest.len();
        let digest = if is_sum { LaneDigest::Sum(number) } else { LaneDigest::Joined(number) };
        let prints = prints.as_bytes().chunks(PRINT);
        let one = |print: &[u8]| u32::from_str_radix(std::str::from_utf8(print).ok()?, 16).ok();
        let mut one_by_one: Vec<u32> = prints.map(one).collect::<Option<_>>()?;
        one_by_one.sort_unstable();
        Some(LanePrint { count, digest, one_by_one })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(range: std::ops::Range<u32>) -> Vec<String> {
        range.map(|bits| format!("{bits:08x} 00000000 = {bits:08x}")).collect()
    }

    fn again(prints: &Prints) -> Prints {
        let (kernels, read) = Prints::read(&format!("f32.fadd {prints}")).unwrap();
        assert_eq!((kernels.len(), &read), (1, prints));
        read
    }

    fn is(prints: &Prints, lanes: &[String]) -> bool {
        prints.whole.is(&lanes.iter().collect::<Vec<_>>())
    }

    #[test]
    fn few_lanes_are_known_one_by_one() {
        let prints = again(&Prints::of("f32.fadd", &lanes(0..256)));
        assert!(lanes(0..256).iter().all(|lane| prints.whole.holds(lane)));
        assert!(!prints.whole.holds(&lanes(256..257)[0]));
        let fixed = |now: &[String], list| prints.fixed(now, list, |_| false);
        assert_eq!(fixed(&lanes(3..200), CaseList::Whole), 59);
        assert_eq!(fixed(&lanes(3..200), CaseList::Short), 0);
    }

    #[test]
    fn very_many_lanes_are_known_together() {
        let prints = again(&Prints::of("f32.fadd", &lanes(0..257)));
        assert!(prints.whole.is_too_many() && is(&prints, &lanes(0..257)));
        assert!(!is(&prints, &lanes(0..256)) && !is(&prints, &lanes(1..258)));
    }

    #[test]
    fn parts_of_the_lanes_add_up_to_all() {
        let (one, other) =
            (Prints::of("f32.fadd", &lanes(0..300)), Prints::of("f32.fadd", &lanes(300..700)));
        let both = [&one.whole, &other.whole];
        let are = |lanes: &[String]| LanePrint::are(&both, &lanes.iter().collect::<Vec<_>>());
        assert!(are(&lanes(0..700)) && !are(&lanes(0..699)) && !are(&lanes(1..701)));
    }

    #[test]
    fn kernels_of_the_same_lanes_share_a_row() {
        let (two, one) = (Prints::of("a", &lanes(0..2)), Prints::of("a", &lanes(0..1)));
        let rows: Vec<String> =
            Prints::rows([("f32.fadd", &two), ("f32.fsub", &one), ("f32.fmul", &two)]).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(Prints::read(&rows[0]).unwrap().0, ["f32.fadd", "f32.fmul"]);
    }

    #[test]
    fn digests_of_version_1_are_read_and_written_as_they_are() {
        let text = "f32.fadd 2 0011223344556677 0011223344556677";
        let (_, prints) = Prints::read(text).unwrap();
        assert_eq!(Prints::rows([("f32.fadd", &prints)]).collect::<Vec<_>>(), [text]);
        let lines = lanes(0..300);
        let joined = digest(&lines.join("\n"));
        let (_, prints) = Prints::read(&format!("f32.fadd 300 {joined:016x}")).unwrap();
        assert!(is(&prints, &lines) && !is(&prints, &lanes(1..301)));
    }

    #[test]
    fn what_is_no_print_is_refused() {
        for wrong in [
            "",
            "f32.fadd",
            "f32.fadd 1 0011223344556677",
            "f32.fadd 1 0011223344556677 0011223",
            "f32.fadd 300 +001122334455667",
            "f32.fadd 300 ++0011223344556677",
            "f32.fadd 1 0011223344556677 00112233 00112233",
            "f32.fadd 99999999999999999999 0011223344556677",
        ] {
            assert!(Prints::read(wrong).is_err(), "{wrong}");
        }
    }
}
