//! Every failing lane of a kernel, in so few characters that a file of them can be reviewed: their
//! number, a digest over all, and where they are not too many a print of each, which tells fewer of
//! the same from others. Where they are, the same once more of those that a quick run measures,
//! which has shorter lists of cases.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::failed::{CaseList, DeviceResults, LanesByKernel, UNSTABLE, on_short_list};
use crate::sum::digest;

/// Lanes of one kernel of which each has a print of its own.
const ONE_BY_ONE: usize = 256;
/// Comes between the print of all lanes and the one of the short list.
const SHORT: &str = "short";
/// Hex digits of the digest over all lanes.
const DIGEST: usize = 16;
/// Hex digits of a lane's print: of other bits one in 2^24 and more passes for one of 256.
const PRINT: usize = 8;

/// The failing lanes of kernels that have the same: `f32.fadd f32.fadd:via=glsl 2 0123456789abcdef
/// 0011223344556677`, the kernels, the number of lanes of each, 16 hex digits of the SHA-256 of
/// them, and, of at most 256 lanes, 8 hex digits of the SHA-256 of each. Of more, `short` may
/// follow, with number, digest and prints of those on the kernel's short list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prints {
    /// Kernel ids.
    pub kernels: Vec<String>,
    whole: LanePrint,
    short: Option<LanePrint>,
}

/// Lanes of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LanePrint {
    count: usize,
    digest: String,
    /// Sorted; empty where there are too many.
    one_by_one: Vec<String>,
}

/// Why failing lanes are not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objection {
    /// In words.
    pub why: String,
    /// Kernel and lane, as [`LanesByKernel`] have it, of the first that it is about, where that is
    /// known.
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
    "`{0}` is not what `fpprobe baseline accept` writes: kernels, the number of their lanes, {DIGEST} hex digits, {PRINT} for each of up to {ONE_BY_ONE} lanes, and `{SHORT}` with the same of the short list"
)]
pub struct NoPrints(String);

impl Prints {
    /// Those of every kernel.
    pub fn of(lanes: &LanesByKernel) -> Vec<Prints> {
        let of_kernel = |(kernel, lanes): (&String, &Vec<String>)| {
            (kernel.clone(), Prints::of_kernel(kernel, lanes))
        };
        gathered(lanes.iter().map(of_kernel))
    }

    /// Those of these lanes, and what is known of kernels that were not measured in full.
    pub fn updated(
        known: &[Prints],
        lanes: &LanesByKernel,
        answers: &DeviceResults,
    ) -> Vec<Prints> {
        let is_whole = |kernel: &str| answers.list(kernel) == Some(CaseList::Whole);
        let mut all: BTreeMap<String, (LanePrint, Option<LanePrint>)> = BTreeMap::new();
        for prints in known {
            let left = prints.kernels.iter().filter(|kernel| !is_whole(kernel));
            all.extend(
                left.map(|kernel| (kernel.clone(), (prints.whole.clone(), prints.short.clone()))),
            );
        }
        for (kernel, lanes) in lanes {
            let (whole, short) = Prints::of_kernel(kernel, lanes);
            let entry = all.entry(kernel.clone());
            entry.and_modify(|known| known.0.add(&whole)).or_insert((whole, short));
        }
        gathered(all)
    }

    /// Number of lanes of each kernel, each counted once however many parts of its result fail.
    pub fn count(&self) -> usize {
        self.whole.count
    }

    /// Whether the kernels never gave the same twice: then nothing that they give for this rule is
    /// new.
    fn is_unstable(&self) -> bool {
        self.whole.holds(UNSTABLE)
    }

    fn of_kernel(kernel: &str, lanes: &[String]) -> (LanePrint, Option<LanePrint>) {
        let short = (lanes.len() > ONE_BY_ONE).then(|| on_short_list(kernel, lanes)).flatten();
        (LanePrint::of(lanes), short.map(|lanes| LanePrint::of(&lanes)))
    }

    /// The print of those of its lanes that are of a list.
    fn of_list(&self, list: CaseList) -> &LanePrint {
        self.short.as_ref().filter(|_| list == CaseList::Short).unwrap_or(&self.whole)
    }

    /// Why these lanes, of this list of the kernel's cases, are not some of those printed.
    fn objection(&self, kernel: &str, lanes: &[String], list: CaseList) -> Option<Objection> {
        let short = || {
            on_short_list(kernel, lanes).filter(|_| self.short.is_some() && list == CaseList::Short)
        };
        self.of_list(list).objection(kernel, &short().unwrap_or_else(|| lanes.to_vec()))
    }

    /// How many of the lanes that a kernel may fail on it does not fail on any more.
    fn fixed(&self, kernel: &str, lanes: &[String], list: Option<CaseList>) -> usize {
        match (list, &self.short) {
            (None, _) | (Some(CaseList::Short), None) => 0,
            (Some(CaseList::Whole), _) => self.whole.count.saturating_sub(lanes.len()),
            (Some(CaseList::Short), Some(short)) => short.count.saturating_sub(
                on_short_list(kernel, lanes).map_or(lanes.len(), |lanes| lanes.len()),
            ),
        }
    }
}

/// Kernels with the same prints in one.
fn gathered(
    single: impl IntoIterator<Item = (String, (LanePrint, Option<LanePrint>))>,
) -> Vec<Prints> {
    let mut all: Vec<Prints> = Vec::new();
    for (kernel, (whole, short)) in single {
        match all.iter_mut().find(|known| (&known.whole, &known.short) == (&whole, &short)) {
            Some(known) => known.kernels.push(kernel),
            None => all.push(Prints { kernels: vec![kernel], whole, short }),
        }
    }
    all
}

impl LanePrint {
    /// Adds the lanes of another, where both have them one by one; else it stays as it is.
    fn add(&mut self, other: &LanePrint) {
        let is_known = |one: &LanePrint| one.count == 0 || !one.one_by_one.is_empty();
        let mut all = [&self.one_by_one[..], &other.one_by_one].concat();
        all.sort_unstable();
        all.dedup();
        if is_known(self) && is_known(other) && all.len() > self.count && all.len() <= ONE_BY_ONE {
            *self =
                LanePrint { count: all.len(), digest: cut(&all.concat(), DIGEST), one_by_one: all };
        }
    }

    fn of(lanes: &[String]) -> LanePrint {
        let mut one_by_one: Vec<String> = if lanes.len() > ONE_BY_ONE {
            Vec::new()
        } else {
            lanes.iter().map(|lane| print(lane)).collect()
        };
        one_by_one.sort_unstable();
        LanePrint { count: lanes.len(), digest: cut(&lanes.join("\n"), DIGEST), one_by_one }
    }

    /// Whether it has this lane one by one.
    fn holds(&self, lane: &str) -> bool {
        self.one_by_one.binary_search(&print(lane)).is_ok()
    }

    /// How many of these lanes it has one by one, or as a whole.
    fn held(&self, lanes: &[String]) -> usize {
        if *self == LanePrint::of(lanes) {
            lanes.len()
        } else {
            lanes.iter().filter(|lane| self.holds(lane)).count()
        }
    }

    fn objection(&self, kernel: &str, lanes: &[String]) -> Option<Objection> {
        let LanePrint { count, one_by_one, .. } = self;
        let now = LanePrint::of(lanes);
        if now.digest == self.digest && now.count == *count {
            return None;
        }
        if one_by_one.is_empty() && *count > 0 {
            let difference = if now.count < *count {
                "fewer lanes, and not known which"
            } else {
                "other lanes or bits"
            };
            return Some(Objection::to_all(format!(
                "{kernel} fails on {} lanes where {count} were accepted: {difference}; look, and accept them anew",
                now.count
            )));
        }
        let other = lanes.iter().find(|lane| !self.holds(lane));
        let other = other.map(|lane| {
            let why = format!("not among the accepted lanes and bits: {kernel} {lane}");
            Objection::to_one(why, kernel, lane)
        });
        let others = || {
            Objection::to_all(format!(
                "{kernel} fails on other lanes, or with other bits, than accepted"
            ))
        };
        other.or_else(|| (now.count >= *count).then(others))
    }
}

/// Why the lanes that fail are not some of the accepted ones, each with whether they were accepted
/// for this very rule: of a kernel that never gave the same twice, nothing that it gives is new for
/// that. Of one kernel several rules may have prints: which rule a lane counts for depends on what
/// else was measured.
pub(crate) fn objection<'p>(
    accepted: impl IntoIterator<Item = (&'p Prints, bool)>,
    lanes: &LanesByKernel,
    list: impl Fn(&str) -> CaseList,
) -> Option<Objection> {
    let accepted: Vec<(&Prints, bool)> = accepted.into_iter().collect();
    lanes.iter().find_map(|(kernel, lanes)| {
        let of_kernel = || accepted.iter().filter(|(one, _)| one.kernels.contains(kernel));
        if of_kernel().any(|(prints, is_of_rule)| *is_of_rule && prints.is_unstable()) {
            return None;
        }
        let own: Vec<&Prints> = of_kernel().map(|(prints, _)| *prints).collect();
        let objection = |lanes: &[String]| -> Option<Objection> {
            let objections = own.iter().map(|prints| prints.objection(kernel, lanes, list(kernel)));
            objections.collect::<Option<Vec<_>>>().map(|mut all| all.swap_remove(0))
        };
        if own.is_empty() {
            let why = format!("{kernel} fails, too, of which nothing was accepted");
            return Some(Objection {
                why,
                lane: lanes.first().map(|lane| (kernel.clone(), lane.clone())),
            });
        }
        let objected = objection(lanes)?;
        let unknown =
            |lane: &&String| !own.iter().any(|prints| prints.of_list(list(kernel)).holds(lane));
        let rest: Vec<String> = lanes.iter().filter(unknown).cloned().collect();
        let is_accepted = own.len() > 1 && (rest.is_empty() || objection(&rest).is_none());
        (!is_accepted).then_some(objected)
    })
}

/// How many of the lanes accepted for a rule do not fail any more, of kernels that answered, by the
/// list of cases that they were asked; `all` are the failing lanes of all rules of the profile,
/// since a lane may count for another rule now.
pub(crate) fn fixed(
    accepted: &[Prints],
    (lanes, all): (&LanesByKernel, &LanesByKernel),
    list: impl Fn(&str) -> Option<CaseList>,
) -> usize {
    fn of<'l>(lanes: &'l LanesByKernel, kernel: &str) -> &'l [String] {
        lanes.get(kernel).map_or(&[][..], Vec::as_slice)
    }
    let fixed = |(kernel, prints): (&String, &Prints)| {
        let fewer = prints.fixed(kernel, of(lanes, kernel), list(kernel));
        let elsewhere = list(kernel).map_or(0, |list| prints.of_list(list).held(of(all, kernel)));
        let own = list(kernel).map_or(0, |list| prints.of_list(list).held(of(lanes, kernel)));
        fewer.saturating_sub(elsewhere.saturating_sub(own))
    };
    accepted
        .iter()
        .flat_map(|prints| prints.kernels.iter().map(move |kernel| (kernel, prints)))
        .map(fixed)
        .sum()
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
        write!(f, "{} {}", self.kernels.join(" "), self.whole)?;
        self.short.iter().try_for_each(|short| write!(f, " {SHORT} {short}"))
    }
}

impl fmt::Display for LanePrint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LanePrint { count, digest, one_by_one } = self;
        write!(f, "{count} {digest}")?;
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
    (!kernels.is_empty()).then_some(Prints { kernels, whole, short })
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
        if digest.len() != DIGEST || !is_hex(digest) || !is_hex(prints) || !complete {
            return None;
        }
        let mut one_by_one: Vec<String> =
            prints.as_bytes().chunks(PRINT).map(|print| print.escape_ascii().to_string()).collect();
        one_by_one.sort_unstable();
        Some(LanePrint { count, digest: (*digest).to_owned(), one_by_one })
    }
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::catalogue::Extent;
    use fpprobe_spirv::{Cases, Kernel, cases};

    use super::*;

    fn why(accepted: &[Prints], lanes: &LanesByKernel) -> String {
        objection(accepted, lanes).unwrap().why
    }

    fn objection(accepted: &[Prints], lanes: &LanesByKernel) -> Option<Objection> {
        super::objection(accepted.iter().map(|one| (one, true)), lanes, |_| CaseList::Whole)
    }

    fn fixed_lanes(accepted: &[Prints], lanes: &LanesByKernel, list: Option<CaseList>) -> usize {
        super::fixed(accepted, (lanes, lanes), |_| list)
    }

    fn lanes(range: std::ops::Range<u32>) -> LanesByKernel {
        let lanes = range.map(|bits| format!("{bits:08x} 00000000 = {bits:08x}")).collect();
        LanesByKernel::from([("f32.fadd".to_owned(), lanes)])
    }

    fn accepted(lanes: &LanesByKernel) -> Vec<Prints> {
        Prints::of(lanes).iter().map(|prints| prints.to_string().parse().unwrap()).collect()
    }

    #[test]
    fn fewer_of_the_same_are_accepted_and_others_are_not() {
        let accepted = accepted(&lanes(0..256));
        assert_eq!(objection(&accepted, &lanes(0..256)), None);
        assert_eq!(objection(&accepted, &lanes(3..200)), None);
        assert_eq!(fixed_lanes(&accepted, &lanes(3..200), Some(CaseList::Whole)), 59);
        assert_eq!(fixed_lanes(&accepted, &lanes(3..200), None), 0);
        // Of a shorter list nobody knows how many of them were asked.
        assert_eq!(fixed_lanes(&accepted, &lanes(3..200), Some(CaseList::Short)), 0);
        let other = why(&accepted, &lanes(200..257));
        assert_eq!(
            other,
            "not among the accepted lanes and bits: f32.fadd 00000100 00000000 = 00000100"
        );
        let mut bits = lanes(0..256);
        bits.get_mut("f32.fadd").unwrap()[77] = "0000004d 00000000 = 00555555".into();
        assert!(why(&accepted, &bits).contains("= 00555555"));
        let another = LanesByKernel::from([("f32.fsub".to_owned(), vec!["0 = 0".to_owned()])]);
        assert!(why(&accepted, &another).starts_with("f32.fsub fails, too"));
    }

    #[test]
    fn of_very_many_lanes_the_digest_decides() {
        let accepted = accepted(&lanes(0..257));
        assert_eq!(objection(&accepted, &lanes(0..257)), None);
        assert!(
            why(&accepted, &lanes(0..256)).contains("256 lanes where 257 were accepted: fewer")
        );
        assert!(why(&accepted, &lanes(1..258)).contains("other lanes or bits"));
    }

    #[test]
    fn of_very_many_lanes_those_of_the_short_list_have_prints_of_their_own() {
        let kernel: Kernel = "f32.mul_then_add".parse().unwrap();
        let lanes_of = |cases: &Cases, bits: &str| -> LanesByKernel {
            let lane = |case| format!("{} = {bits}", crate::failed::inputs(&kernel, case));
            let mut lanes: Vec<String> = cases.iter().map(lane).collect();
            lanes.sort_unstable();
            lanes.dedup();
            LanesByKernel::from([(kernel.to_string(), lanes)])
        };
        let (whole, short) = (Extent::Default.cases(&kernel), cases::boundary(&kernel));
        let accepted = accepted(&lanes_of(&whole, "00000000"));
        let quick = |lanes: &LanesByKernel| {
            let accepted = accepted.iter().map(|one| (one, true));
            super::objection(accepted, lanes, |_| CaseList::Short).map(|objection| objection.why)
        };
        let lanes = lanes_of(&short, "00000000");
        assert!(short.len() < whole.len() && objection(&accepted, &lanes).is_some());
        assert_eq!(
            (quick(&lanes), fixed_lanes(&accepted, &lanes, Some(CaseList::Short))),
            (None, 0)
        );
        assert!(
            quick(&lanes_of(&short, "00000001")).unwrap().contains("not among the accepted lanes")
        );
        let mut fewer = lanes;
        for lanes in fewer.values_mut() {
            lanes.truncate(5);
        }
        assert_eq!(quick(&fewer), None);
        assert!(fixed_lanes(&accepted, &fewer, Some(CaseList::Short)) > 0);
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
        let fewer = LanesByKernel::from([("f32.fadd".to_owned(), lanes["f32.fadd"].clone())]);
        assert_eq!(
            (objection(&accepted, &fewer), fixed_lanes(&accepted, &fewer, Some(CaseList::Whole))),
            (None, 3)
        );
        lanes.get_mut("f32.fadd:route=push").unwrap()[1] =
            "00000001 00000000 = 00000007".to_owned();
        assert!(
            why(&accepted, &lanes).contains("f32.fadd:route=push 00000001 00000000 = 00000007")
        );
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
