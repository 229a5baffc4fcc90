//! Changes in short sentences, the same in every form.

use super::model::{CauseChange, CauseStatus, FieldChange, Presence};
use crate::render::phrase;

/// What changed of a device: traits, then causes that are new, worse or missing.
pub(super) fn headlines(traits: &[FieldChange], causes: &[CauseChange]) -> Vec<String> {
    let (mut sentences, mut both) = (Vec::new(), false);
    for (place, change) in traits.iter().enumerate() {
        let (id, scope) = trait_of(change);
        let is_same =
            |other: &FieldChange| trait_of(other).0 == id && (&other.old, &other.new) == (&change.old, &change.new);
        // The scopes of a trait stand side by side: one sentence where they agree.
        if std::mem::take(&mut both) {
            continue;
        }
        both = traits.get(place + 1).is_some_and(is_same);
        sentences.push(trait_in_words(change, id, if both { "" } else { scope }));
    }
    sentences.extend(causes.iter().filter(|change| !change.is_better()).map(CauseChange::in_words));
    sentences
}

/// Id and scope of a trait.
fn trait_of(change: &FieldChange) -> (&str, &str) {
    change.field.split_once(", ").unwrap_or((&change.field, ""))
}

/// `now fuses f32 fma at run time`, `f32 rounding is toward zero now, was nearest even`.
fn trait_in_words(change: &FieldChange, id: &str, scope: &str) -> String {
    let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let place = match scope {
        "" => "",
        "constants" => " in constants",
        _ => " at run time",
    };
    let subject = id.replace(['.', '_'], " ").replace(" nan", " NaN") + place;
    match &*side(&change.new) {
        "fused" => format!("now fuses {subject}"),
        "split" => format!("no longer fuses {subject}"),
        "kept" => format!("now keeps {subject}"),
        "flushed" => format!("now flushes {subject}"),
        now => format!("{subject} is {now} now, was {}", side(&change.old)),
    }
}

/// `new` or `gone`.
pub(super) fn newness(presence: Presence) -> &'static str {
    match presence {
        Presence::Both => "in both",
        Presence::Appeared => "new",
        Presence::Vanished => "gone",
    }
}

impl CauseChange {
    /// `f64 fconvert_f16: a number becomes NaN: new`, `...: worse (40 lanes, was 12)`.
    pub fn in_words(&self) -> String {
        let headline = self.new.as_ref().or(self.old.as_ref()).map_or("", |one| &one.headline);
        let (Some(old), Some(new)) = (&self.old, &self.new) else {
            return format!("{headline}: {}", newness(self.presence));
        };
        let how = if self.is_worse() { "worse" } else { "better" };
        let (now, was) = if old.severity != new.severity {
            (new.severity.name().to_owned(), old.severity.name().to_owned())
        } else if old.lanes != new.lanes {
            (phrase::number(new.lanes, "lane"), phrase::grouped(old.lanes))
        } else {
            (format!("off by {}", new.distance), old.distance.to_string())
        };
        format!("{headline}: {how} ({now}, was {was})")
    }

    /// The word for it in capitals, and whether that is bad.
    pub(super) fn tag(&self) -> (&'static str, bool) {
        match self.presence {
            Presence::Appeared => ("NEW", true),
            Presence::Vanished => ("FIXED", false),
            Presence::Both if self.is_worse() => ("WORSE", true),
            Presence::Both => ("BETTER", false),
        }
    }

    /// As a field with two values.
    pub(super) fn field(&self) -> FieldChange {
        let headline = self.new.as_ref().or(self.old.as_ref()).map(|one| one.headline.clone());
        let side = |side: &Option<CauseStatus>| {
            side.as_ref().map(|one| format!("{}, {}", one.severity.name(), phrase::number(one.lanes, "lane")))
        };
        FieldChange { field: headline.unwrap_or_default(), old: side(&self.old), new: side(&self.new) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Severity;

    fn field(field: &str, old: &str, new: &str) -> FieldChange {
        FieldChange { field: field.to_owned(), old: Some(old.to_owned()), new: Some(new.to_owned()) }
    }

    fn cause(old: Option<(Severity, usize, u64)>, new: Option<(Severity, usize, u64)>) -> CauseChange {
        let headline = "f64 fconvert_f16: a number becomes NaN".to_owned();
        let status =
            |(severity, lanes, distance)| CauseStatus { headline: headline.clone(), severity, lanes, distance };
        let presence = match (old, new) {
            (None, _) => Presence::Appeared,
            (_, None) => Presence::Vanished,
            _ => Presence::Both,
        };
        CauseChange { presence, id: "abcdef".to_owned(), old: old.map(status), new: new.map(status), lane: None }
    }

    #[test]
    fn traits_come_first_and_scopes_that_agree_are_one_sentence() {
        let traits = [
            field("f32.fma, run time", "split", "fused"),
            field("f32.fma, constants", "split", "fused"),
            field("f32.fmin_of_nan, run time", "number", "nan"),
            field("f16.subnormal_results, constants", "kept", "flushed"),
        ];
        let causes = [cause(None, Some((Severity::Special, 3, 0)))];
        let expected = [
            "now fuses f32 fma",
            "f32 fmin of NaN at run time is nan now, was number",
            "now flushes f16 subnormal results in constants",
            "f64 fconvert_f16: a number becomes NaN: new",
        ];
        assert_eq!(headlines(&traits, &causes), expected);
    }

    #[test]
    fn causes_are_new_worse_better_or_missing() {
        use Severity::{LastBit, Special};
        let last = |change: CauseChange| change.in_words().replace("f64 fconvert_f16: a number becomes NaN: ", "");
        assert_eq!(last(cause(Some((Special, 3, 0)), None)), "gone");
        assert_eq!(last(cause(Some((Special, 1012, 0)), Some((Special, 2040, 0)))), "worse (2,040 lanes, was 1,012)");
        assert_eq!(last(cause(Some((Special, 9, 0)), Some((LastBit, 30, 0)))), "better (last bit, was special)");
        assert_eq!(last(cause(Some((Special, 9, 3)), Some((Special, 9, 300)))), "worse (off by 300, was 3)");
        let better = cause(Some((Special, 9, 0)), Some((Special, 8, 0)));
        assert!(better.is_better() && headlines(&[], &[better]).is_empty(), "a notice is of what is worse");
    }
}
