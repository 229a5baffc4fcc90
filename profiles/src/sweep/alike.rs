//! Pairs and results of which the same is said.
//!
//! What a rule says of a result follows from the sorts of the operands, from where the result lies about the exact one, and, where
//! subnormals may be read as zeros, about the operands: a [`Likeness`] has all of this. What is said is asked of the oracle once for
//! each; [`super::pairs`] shows why it is the same for all that are alike.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use smallvec::SmallVec;

use super::half::{INFINITY, LAYOUT, SIGN, is_nan, is_subnormal, key, widened};
use super::lane::{RuleDecision, is_judged};
use super::pairs::Pairs;
use super::statistics::parts;
use super::{EncodingClass, Verifier};
/// What results have in common of which the same is said.
pub(super) type VerdictKey = u64;

/// What is said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SpanVerdict {
    pub(super) says: SmallVec<[RuleDecision; 8]>,
    /// Whether a rule that looks bounds the error.
    pub(super) bounded: bool,
    /// Whether a rule demands something.
    pub(super) judged: bool,
    /// Whether a rule does not accept it.
    pub(super) deviates: bool,
}

impl SpanVerdict {
    pub(super) fn new(says: SmallVec<[RuleDecision; 8]>, bounded: bool) -> SpanVerdict {
        let (judged, deviates) = (is_judged(&says), says.contains(&Some(false)));
        SpanVerdict { says, bounded, judged, deviates }
    }
}

/// What was said so far. Of bulks, `None` where it is not the same for all.
#[derive(Debug, Default)]
pub(super) struct VerdictMemo(RwLock<HashMap<VerdictKey, Option<Arc<SpanVerdict>>>>);

/// What a thread has looked up of late.
pub(super) struct Recent<'a> {
    memo: &'a VerdictMemo,
    places: Vec<(VerdictKey, Option<Arc<SpanVerdict>>)>,
}

impl<'a> Recent<'a> {
    const PLACES: usize = 1 << 10;

    pub(super) fn new(memo: &'a VerdictMemo) -> Recent<'a> {
        Recent { memo, places: vec![(VerdictKey::MAX, None); Recent::PLACES] }
    }

    /// What is said of results that are alike; `ask` shows where it is not known.
    pub(super) fn said(
        &mut self,
        memo_key: VerdictKey,
        expected: impl FnOnce() -> Option<SpanVerdict>,
    ) -> Option<&Arc<SpanVerdict>> {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let place = (memo_key.wrapping_mul(SPREAD) >> (64 - Recent::PLACES.ilog2())) as usize;
        if self.places[place].0 != memo_key {
            let known = self.memo.0.read().unwrap_or_else(PoisonError::into_inner).get(&memo_key).cloned();
            let known = known.unwrap_or_else(|| {
                let said = expected().map(Arc::new);
                self.memo.0.write().unwrap_or_else(PoisonError::into_inner).insert(memo_key, said.clone());
                said
            });
            self.places[place] = (memo_key, known);
        }
        self.places[place].1.as_ref()
    }
}

/// Farther than any accuracy reaches that there is a way for, in halves of a unit in the last place.
const FAR: i32 = 13;
/// What is no farther than this from the ends of the subnormals and of all numbers is distinguished one by one.
const NEAR: u32 = 64;
/// Halves of units of a binade's numbers: from this to twice it.
const BINADE: u32 = 2048;

/// An exact result that is a number, in halves of a unit in the last place of its binade.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves {
    /// Rounded towards zero.
    whole: u32,
    exact: bool,
    negative: bool,
    /// Of its binade: no less than the least of normal numbers, no more than the largest.
    exponent: i32,
}

impl Halves {
    /// Of a number that is not zero.
    pub(super) fn new(value: f64) -> Halves {
        let magnitude = value.abs();
        let bias = LAYOUT.bias();
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).clamp(1 - bias, bias);
        let scaled = magnitude * Halves::scale(exponent);
        let whole = scaled as u32;
        Halves { whole, exact: f64::from(whole) == scaled, negative: value < 0.0, exponent }
    }

    /// How many halves of a unit one is.
    fn scale(exponent: i32) -> f64 {
        let bits = i64::from(1023 + LAYOUT.fraction.cast_signed() + 1 - exponent) << 52;
        f64::from_bits(bits.cast_unsigned())
    }

    /// Whether it is no less than the least normal number.
    fn is_normal(&self) -> bool {
        self.whole >= BINADE
    }

    /// How far a finite result lies from it, away from zero.
    fn distance(&self, result: f64) -> i32 {
        let scaled = if self.negative { -result } else { result } * Halves::scale(self.exponent);
        // Rounded down: what is no whole number of halves is farther than any accuracy reaches.
        let whole = scaled as i64;
        let whole = whole - i64::from(whole as f64 > scaled);
        (whole - i64::from(self.whole)).clamp((-FAR).into(), FAR.into()) as i32
    }

    /// Where it lies: one of 2^14 numbers.
    fn zone(&self) -> u64 {
        let bias = LAYOUT.bias();
        let top = 2 * BINADE - 2 * NEAR;
        let (zone, at) = if self.whole < NEAR {
            (0, self.whole)
        } else if !self.is_normal() {
            (1, self.whole & 3)
        } else if self.exponent == 1 - bias && self.whole < BINADE + NEAR {
            (2, self.whole - BINADE)
        } else if self.exponent == bias && self.whole >= top {
            // Halves of 8 NEAR units beyond, nothing is distinguished any more.
            let at = (self.whole - top).min(8 * NEAR - 1);
            return 3 << 9 | u64::from(at) | u64::from(self.exact && at < 8 * NEAR - 1) << 12 | self.sign();
        } else {
            (4, self.whole & 3 | u32::from(self.whole == BINADE && self.exact) << 2)
        };
        zone << 9 | u64::from(at) | u64::from(self.exact) << 12 | self.sign()
    }

    /// Encoding of its magnitude cut to binary16.
    fn cut(&self) -> u32 {
        let field = (self.exponent - 1 + LAYOUT.bias()).cast_unsigned() << LAYOUT.fraction;
        field.saturating_add(self.whole / 2)
    }

    fn sign(&self) -> u64 {
        u64::from(self.negative) << 13 | 1 << 14
    }
}

impl Pairs {
    /// What a result has in common with those of which the same is said.
    pub(super) fn memo_key(&self, x: u32, y: u32, result: u32) -> VerdictKey {
        let (magnitude, class) = (result & !SIGN, self.class_of_result(result));
        let sorts = u64::from(self.sorts[0].of(x)) << 6 | u64::from(self.sorts[1].of(y));
        let common = sorts << 5 | (class as u64) << 1;
        let unordered = is_nan(x) | is_nan(y);
        let number = !class.is_nan();
        let is = |place: u32, holds: bool| u64::from(holds & number) << place;
        let Some(exact) = self.operation.exact else {
            let order = if unordered { 3 } else { (1 + key(x).cmp(&key(y)) as i32) as u64 };
            // Of truth values, and of zero and one, the bits; else which operand it is.
            let about = if self.of_order { u64::from(result) } else { is(0, result == x) | is(1, result == y) };
            return common << 40 | order << 16 | about;
        };
        let common = common | u64::from(magnitude == INFINITY - 1);
        if unordered {
            return common << 40;
        }
        let value = exact(f64::from(widened(x)), f64::from(widened(y)));
        let mut about = 0;
        if is_subnormal(x) | is_subnormal(y) {
            // Sums of what is read as zero are the other operand; of products and quotients zeros have a band of errors about them.
            about = is(0, magnitude == x & !SIGN)
                | is(1, result == x)
                | is(2, magnitude == y & !SIGN)
                | is(3, result == y)
                | is(4, key(x).abs() == key(y).abs())
                | u64::from(magnitude.min(15)) << 7;
            if value != 0.0 && value.is_finite() {
                let cut = Halves::new(value).cut();
                about |= u64::from(cut == x & !SIGN) << 5 | u64::from(cut == y & !SIGN) << 6;
            }
        }
        let common = common << 40 | about << 20;
        if value.is_nan() {
            return common | 1;
        }
        let negative = u64::from(value.is_sign_negative());
        if value.is_infinite() {
            return common | 2 | negative;
        }
        let finite = magnitude < INFINITY;
        if value == 0.0 {
            return common | 4 | negative | u64::from(magnitude.min(NEAR)) << 5;
        }
        let halves = Halves::new(value);
        let distance = if finite { halves.distance(f64::from(widened(result))) } else { FAR };
        common | halves.zone() << 5 | (distance + FAR) as u64
    }

    /// Class of a result.
    pub(super) fn class_of_result(&self, result: u32) -> EncodingClass {
        EncodingClass::of(self.encoding, u64::from(result))
    }
}

impl Verifier {
    /// What the rules say of a result, by the oracle.
    pub(super) fn oracle_verdict(&self, x: u32, y: u32, result: u32) -> SpanVerdict {
        let case = [u64::from(x), u64::from(y)];
        let (says, bounded) = self.says(&case, result);
        SpanVerdict::new(says, bounded)
    }

    /// The error of a result of normal numbers in parts of an ulp, as [`Verifier::error`] has it.
    pub(super) fn parts(&self, pairs: &Pairs, x: u32, y: u32, result: u32) -> Option<u64> {
        /// Quotients are rounded to binary64: too far from them that may tell.
        const LARGEST: f64 = 64.0;
        let verdict_of = || {
            let case = [u64::from(x), u64::from(y)];
            self.error(&self.signature.operands(&case, 0), result)
        };
        let is_normal = |bits: u32| {
            matches!(pairs.class_of_result(bits), EncodingClass::NegativeNormal | EncodingClass::PositiveNormal)
        };
        if !is_normal(x) || !is_normal(y) || result & !SIGN >= INFINITY || !pairs.has_errors {
            return None;
        }
        let Some(exact) = pairs.operation.exact else { return verdict_of() };
        let value = exact(f64::from(widened(x)), f64::from(widened(y)));
        let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        if value == 0.0 || exponent < 1 - LAYOUT.bias() || exponent > LAYOUT.bias() {
            return None;
        }
        let ulps = (value - f64::from(widened(result))).abs() * (Halves::scale(exponent) / 2.0);
        if ulps < LARGEST { Some(parts(ulps)) } else { verdict_of() }
    }
}
