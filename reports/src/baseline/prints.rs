//! Every failing lane of a kernel, in so few characters that a file of them can be reviewed: their number, a digest over
//! all, and where they are not too many a print of each, which tells fewer of the same from others.

use std::fmt;
use std::str::FromStr;

use crate::failed::Lanes;
use crate::store::sum::digest;

/// Lanes of one kernel of which each has a print of its own.
const ONE_BY_ONE: usize = 256;
/// Hex digits of the digest over all lanes.
const DIGEST: usize = 16;
/// Hex digits of a lane's print: of other bits one in 2^24 and more passes for one of 256.
const PRINT: usize = 8;

/// The failing lanes of kernels that have the same: `f32.fadd f32.fadd:via=glsl 2 0123456789abcdef 0011223344556677`, the kernels,
/// the number of lanes of each, 16 hex digits of the SHA-256 of them, and, of at most 256 lanes, 8 hex digits of the SHA-256 of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prints {
    /// Kernel ids.
    pub kernels: Vec<String>,
    /// Number of lanes of each.
    pub count: usize,
    digest: String,
    /// Sorted; empty where there are too many.
    one_by_one: Vec<String>,
}

/// Why failing lanes are not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objection {
    /// In words.
    pub why: String,
    /// Kernel and lane, as [`Lanes`] have it, of the first that it is about, where that is known.
    pub lane: Option<(String, String)>,
}

impl Objection {
    /// One to no lane in particular.
    pub(super) fn to_all(why: String) -> Objection {
        Objection { why, lane: None }
    }

    /// One to this lane.
    pub(super) fn to_one(why: String, kernel: &str, lane: &str) -> Objection {
        Objection { why, lane: Some((kernel.to_owned(), lane.to_owned())) }
    }
}

/// No prints of lanes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not what `fpprobe baseline accept` writes: kernels, the number of their lanes, {DIGEST} hex digits, and {PRINT} for each of up to {ONE_BY_ONE} lanes"
)]
pub struct NoPrints(String);

impl Prints {
    /// Those of every kernel.
    pub fn of(lanes: &Lanes) -> Vec<Prints> {
        let mut all: Vec<Prints> = Vec::new();
        for (kernel, lanes) in lanes {
            let own = Prints::of_kernel(kernel, lanes);
            match all.iter_mut().find(|known| (known.count, &known.digest) == (own.count, &own.digest)) {
                Some(known) => known.kernels.extend(own.kernels),
                None => all.push(own),
            }
        }
        all
    }

    fn of_kernel(kernel: &str, lanes: &[String]) -> Prints {
        let mut one_by_one: Vec<String> =
            if lanes.len() > ONE_BY_ONE { Vec::new() } else { lanes.iter().map(|lane| print(lane)).collect() };
        one_by_one.sort_unstable();
        let digest = cut(&lanes.join("\n"), DIGEST);
        Prints { kernels: vec![kernel.to_owned()], count: lanes.len(), digest, one_by_one }
    }

    /// Why these lanes are not some of those printed.
    fn objection(&self, kernel: &str, lanes: &[String]) -> Option<Objection> {
        let Prints { count, one_by_one, .. } = self;
        let now = Prints::of_kernel(kernel, lanes);
        if now.digest == self.digest && now.count == *count {
            return None;
        }
        let unknown = |lane: &&String| one_by_one.binary_search(&print(lane)).is_err();
        if one_by_one.is_empty() {
            let difference = if now.count < *count { "fewer lanes, and not told which" } else { "other lanes or bits" };
            return Some(Objection::to_all(format!(
                "{kernel} fails on {} lanes where {count} were accepted: {difference}; look, and accept them anew",
                now.count
            )));
        }
        let other = lanes.iter().find(unknown);
        let other = other.map(|lane| {
            let why = format!("not among the accepted lanes and bits: {kernel} {lane}");
            Objection::to_one(why, kernel, lane)
        });
        let others = || Objection::to_all(format!("{kernel} fails on other lanes, or with other bits, than accepted"));
        other.or_else(|| (now.count >= *count).then(others))
    }
}

/// Why the lanes that fail are not some of the accepted ones.
pub(super) fn objection(accepted: &[Prints], lanes: &Lanes) -> Option<Objection> {
    lanes.iter().find_map(|(kernel, lanes)| {
        if let Some(prints) = accepted.iter().find(|prints| prints.kernels.contains(kernel)) {
            return prints.objection(kernel, lanes);
        }
        let why = format!("{kernel} fails, too, of which nothing was accepted");
        Some(Objection { why, lane: lanes.first().map(|lane| (kernel.clone(), lane.clone())) })
    })
}

/// How many accepted lanes do not fail any more, of kernels that answered.
pub(crate) fn mended(accepted: &[Prints], lanes: &Lanes, answered: impl Fn(&str) -> bool) -> usize {
    let now = |kernel: &str| lanes.get(kernel).map_or(0, Vec::len);
    let kernels = accepted.iter().flat_map(|prints| prints.kernels.iter().map(move |kernel| (kernel, prints.count)));
    let answered = kernels.filter(|(kernel, _)| answered(kernel));
    answered.map(|(kernel, count)| count.saturating_sub(now(kernel))).sum()
}

fn print(lane: &str) -> String {
    cut(lane, PRINT)
}

fn cut(text: &str, digits: usize) -> String {
    let mut digest = digest(text.as_bytes());
    digest.truncate(digits);
    digest
}

impl fmt::Display for Prints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prints { kernels, count, digest, one_by_one } = self;
        write!(f, "{} {count} {digest}", kernels.join(" "))?;
        if one_by_one.is_empty() { Ok(()) } else { write!(f, " {}", one_by_one.concat()) }
    }
}

impl FromStr for Prints {
    type Err = NoPrints;

    fn from_str(text: &str) -> Result<Prints, NoPrints> {
        parse(text).ok_or_else(|| NoPrints(text.chars().take(80).collect()))
    }
}

fn parse(text: &str) -> Option<Prints> {
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = text.split(' ').collect();
    // No kernel's id is a number.
    let (kernels, rest) = words.split_at(words.iter().position(|word| is_number(word))?);
    let mut words = rest.iter().copied();
    let (count, digest) = (words.next()?.parse().ok()?, words.next()?);
    let prints = words.next().unwrap_or_default();
    let complete = prints.len() == if count > ONE_BY_ONE { 0 } else { count * PRINT };
    if kernels.is_empty() || digest.len() != DIGEST || !is_hex(digest) || !is_hex(prints) || !complete {
        return None;
    }
    let mut one_by_one: Vec<String> =
        prints.as_bytes().chunks(PRINT).map(|print| print.escape_ascii().to_string()).collect();
    one_by_one.sort_unstable();
    let kernels = kernels.iter().map(|kernel| (*kernel).to_owned()).collect();
    words.next().is_none().then(|| Prints { kernels, count, digest: digest.to_owned(), one_by_one })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(accepted: &[Prints], lanes: &Lanes) -> String {
        objection(accepted, lanes).unwrap().why
    }

    fn lanes(range: std::ops::Range<u32>) -> Lanes {
        let lanes = range.map(|bits| format!("{bits:08x} 00000000 = {bits:08x}")).collect();
        Lanes::from([("f32.fadd".to_owned(), lanes)])
    }

    fn accepted(lanes: &Lanes) -> Vec<Prints> {
        Prints::of(lanes).iter().map(|prints| prints.to_string().parse().unwrap()).collect()
    }

    #[test]
    fn fewer_of_the_same_are_accepted_and_others_are_not() {
        let accepted = accepted(&lanes(0..256));
        assert_eq!(objection(&accepted, &lanes(0..256)), None);
        assert_eq!(objection(&accepted, &lanes(3..200)), None);
        assert_eq!(mended(&accepted, &lanes(3..200), |_| true), 59);
        assert_eq!(mended(&accepted, &lanes(3..200), |_| false), 0);
        let other = why(&accepted, &lanes(200..257));
        assert_eq!(other, "not among the accepted lanes and bits: f32.fadd 00000100 00000000 = 00000100");
        let mut bits = lanes(0..256);
        bits.get_mut("f32.fadd").unwrap()[77] = "0000004d 00000000 = 00555555".into();
        assert!(why(&accepted, &bits).contains("= 00555555"));
        let another = Lanes::from([("f32.fsub".to_owned(), vec!["0 = 0".to_owned()])]);
        assert!(why(&accepted, &another).starts_with("f32.fsub fails, too"));
    }

    #[test]
    fn of_very_many_lanes_the_digest_decides() {
        let accepted = accepted(&lanes(0..257));
        assert_eq!(objection(&accepted, &lanes(0..257)), None);
        assert!(why(&accepted, &lanes(0..256)).contains("256 lanes where 257 were accepted: fewer"));
        assert!(why(&accepted, &lanes(1..258)).contains("other lanes or bits"));
    }

    #[test]
    fn kernels_of_the_same_lanes_share_a_line() {
        let mut lanes = lanes(0..2);
        lanes.insert("f32.fadd:route=push".to_owned(), lanes["f32.fadd"].clone());
        lanes.insert("f32.fadd:width=2".to_owned(), vec!["0,0 1,1 = 1,1".to_owned()]);
        let accepted = accepted(&lanes);
        assert_eq!(accepted.len(), 2);
        assert!(accepted[0].to_string().starts_with("f32.fadd f32.fadd:route=push 2 "));
        assert_eq!(objection(&accepted, &lanes), None);
        let fewer = Lanes::from([("f32.fadd".to_owned(), lanes["f32.fadd"].clone())]);
        assert_eq!((objection(&accepted, &fewer), mended(&accepted, &fewer, |_| true)), (None, 3));
        lanes.get_mut("f32.fadd:route=push").unwrap()[1] = "00000001 00000000 = 00000007".to_owned();
        assert!(why(&accepted, &lanes).contains("f32.fadd:route=push 00000001 00000000 = 00000007"));
    }

    #[test]
    fn what_is_no_print_is_refused() {
        for wrong in [
            "",
            "f32.fadd",
            "f32.fadd 1 0011223344556677",
            "f32.fadd 1 0011223344556677 0011223",
            "f32.fadd 300 001122334455667",
        ] {
            assert!(wrong.parse::<Prints>().is_err(), "{wrong}");
        }
        assert!("f32.fadd 1 0011223344556677 00112233 00112233".parse::<Prints>().is_err());
        assert!("f32.fadd 99999999999999999999 0011223344556677".parse::<Prints>().is_err());
    }
}
