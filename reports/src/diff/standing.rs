//! What changed beside the bits: identity, claims, classes and the reports' own verdicts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use fpprobe_profiles::{Class, Level, Profile, Verdict};
use serde_json::Value;

use super::regression::{LaneFate, OldAndNew, ProfileLanes};
use crate::change::{Change, ChangeKind, Subject};
use crate::judged::OF_NAN;
use crate::model::{
    Claims, Device, Finding, Incident, NOT_OFFERED, ProfileResult, RuleResult, TraitValue,
};
use crate::render::phrase;
use crate::support::COOPERATIVE_MATRIX;
use crate::traits::is_of_nan_bits;

/// Fields of a device's identity, the telling ones first. Its slot is the same, and its key a
/// digest of all others but the driver's place.
const IDENTITY: [&str; 18] = [
    "/driver/name",
    "/driver/info",
    "/driver/version",
    "/driver/api_version",
    "/driver/id",
    "/driver/build_id",
    "/driver/uuid",
    "/driver/pipeline_cache_uuid",
    "/driver/library",
    MANIFEST,
    "/name",
    "/type",
    "/vendor_id",
    "/device_id",
    "/device_uuid",
    "/cpu",
    "/taint",
    "/application",
];

/// Where the loader found the driver.
const MANIFEST: &str = "/driver/manifest";

/// What is otherwise in identity and driver.
pub(super) fn identity(old: &Device, new: &Device) -> Vec<Change> {
    let fields = |device: &Device| {
        let mut fields = serde_json::to_value(&device.identity).unwrap_or_default();
        fields["taint"] = device.taint.clone().into();
        // Reports of earlier programs do not say.
        if !old.application.is_empty() && !new.application.is_empty() {
            fields["application"] = device.application.clone().into();
        }
        fields
    };
    let text = |fields: &Value, path: &str| {
        fields
            .pointer(path)
            .map(|field| field.as_str().map_or_else(|| field.to_string(), str::to_owned))
    };
    // The same driver may be found by another path.
    let same = old.identity.key == new.identity.key;
    let informative = IDENTITY.into_iter().filter(|path| !(same && *path == MANIFEST));
    let (old, new) = (fields(old), fields(new));
    let changes = informative.filter_map(|path| {
        let field = path.trim_start_matches('/').replace('/', ".");
        Change::of_value(Subject::Identity, field, [text(&old, path), text(&new, path)])
    });
    changes.collect()
}

/// Claims that changed.
pub(super) fn claims(old: &Claims, new: &Claims) -> Vec<Change> {
    let flag = |claims: &Claims, name: &str| claims.flags.get(name).map(ToString::to_string);
    let names: BTreeSet<&String> = old.flags.keys().chain(new.flags.keys()).collect();
    let independence = [
        (
            "denormBehaviorIndependence",
            &old.denorm_behavior_independence,
            &new.denorm_behavior_independence,
        ),
        (
            "roundingModeIndependence",
            &old.rounding_mode_independence,
            &new.rounding_mode_independence,
        ),
    ];
    let differing = |name: &str, sides| Change::of_value(Subject::Claim, name, sides);
    let independence = independence
        .into_iter()
        .filter_map(|(name, old, new)| differing(name, [old, new].map(|side| Some(side.clone()))));
    let flags = names
        .into_iter()
        .filter_map(|name| differing(name, [old, new].map(|side| flag(side, name))));
    // Reports of earlier programs do not say which products there are.
    let listed = [old, new].iter().all(|claims| claims.flags.contains_key(COOPERATIVE_MATRIX));
    let products: BTreeSet<&String> =
        old.matrices.iter().chain(&new.matrices).filter(|_| listed).collect();
    let offered = |claims: &Claims, product: &String| claims.matrices.contains(product).to_string();
    let products = products.into_iter().filter_map(|product| {
        let name = format!("{COOPERATIVE_MATRIX} {product}");
        differing(&name, [old, new].map(|side| Some(offered(side, product))))
    });
    independence.chain(flags).chain(products).collect()
}

/// Traits that changed. Where other lanes were looked at, more or fewer of the values show no
/// change, as far as these lanes may be those that have them; and of the bits of NaNs
/// that differ from run to run nobody knows.
pub(super) fn traits(old: &Device, new: &Device) -> Vec<Change> {
    let mut changes = Vec::new();
    for (old, new) in both(&old.traits, &new.traits, |one| &one.id) {
        let (Some(old), Some(new)) = (old, new) else { continue };
        for ((scope, before), (_, now)) in old.scopes().into_iter().zip(new.scopes()) {
            let (Some(before), Some(now)) = (before, now) else { continue };
            let (values, others) = (before.values(), now.values());
            let is_part = values.is_subset(&others) || others.is_subset(&values);
            let is_unsteady = is_of_nan_bits(&new.id) && values.len() + others.len() > 2;
            if values == others || is_unsteady || is_part && is_of_other_lanes(before, now) {
                continue;
            }
            // What one driver alone offers is coverage.
            let kind = match [before, now].map(|side| side.value == NOT_OFFERED) {
                [true, _] => ChangeKind::Appeared,
                [_, true] => ChangeKind::Disappeared,
                _ => ChangeKind::Changed,
            };
            let change = Change::of_value(
                Subject::Trait,
                &new.id,
                [before, now].map(|side| Some(side.describe())),
            );
            changes.extend(change.map(|change| Change {
                kind,
                constants_only: scope == "constants",
                ..change
            }));
        }
    }
    changes
}

/// Whether the lanes that one report alone looked at may be all that have other values.
fn is_of_other_lanes(before: &TraitValue, now: &TraitValue) -> bool {
    let lanes = |side: &TraitValue, value: &str| match &side.shares[..] {
        [] if side.value == value => side.lanes,
        shares => shares.iter().filter(|share| share.value == value).map(|share| share.lanes).sum(),
    };
    let values = before.values().into_iter().chain(now.values());
    let most = values.map(|value| lanes(before, value).abs_diff(lanes(now, value))).max();
    before.lanes != now.lanes && most.is_none_or(|most| most <= before.lanes.abs_diff(now.lanes))
}

/// Findings that are new, then those that are missing, those of the bits of NaNs last. The lanes
/// that show one may be others.
pub(super) fn findings(old: &Device, new: &Device) -> Vec<Change> {
    let mut apart =
        apart(&old.findings, &new.findings, |finding: &Finding| (&finding.kind, &finding.text));
    apart.sort_by_key(|(_, finding)| finding.text.ends_with(OF_NAN));
    let change = |(presence, Finding { kind, text, .. }): (ChangeKind, &Finding)| Change {
        text: text.clone(),
        ..Change::new(presence, Subject::Finding, kind)
    };
    apart.into_iter().map(change).collect()
}

/// What went wrong on one side alone: new, then missing. Those with the same key are the same.
pub(super) fn incidents<'a, K: Eq + Hash>(
    old: &'a [Incident],
    new: &'a [Incident],
    key: impl Fn(&'a Incident) -> K,
) -> Vec<Change> {
    let change = |(presence, Incident { subject, outcome, detail }): (ChangeKind, &Incident)| {
        let who = if subject == "-" { "the device" } else { subject };
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        let text = format!("{who}: {}{detail}", phrase::incident(*outcome));
        Change { text, ..Change::new(presence, Subject::Incident, subject) }
    };
    apart(old, new, key).into_iter().map(change).collect()
}

/// What one of two lists alone holds: that of the new one first.
fn apart<'a, T, K: Eq + Hash>(
    old: &'a [T],
    new: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> Vec<(ChangeKind, &'a T)> {
    let without = |list: &'a [T], other: &'a [T], presence: ChangeKind| {
        let other: HashSet<K> = other.iter().map(&key).collect();
        let alone = list.iter().filter(|one| !other.contains(&key(one)));
        alone.map(|one| (presence, one)).collect::<Vec<_>>()
    };
    let mut apart = without(new, old, ChangeKind::Appeared);
    apart.extend(without(old, new, ChangeKind::Disappeared));
    apart
}

/// Classes that changed, in the order of the new report.
pub(super) fn profiles(old: &Device, new: &Device) -> Vec<Change> {
    // Of the groups that a device lacks those that it did not lack before, or does not lack now.
    let class = |profile: &ProfileResult, other: Option<&ProfileResult>| {
        // A recipe under which rules still fail is none.
        let needs = match profile.class {
            Class::ConformsWith => {
                format!(" {}", phrase::needs(profile.needs.iter().map(String::as_str)))
            }
            _ => String::new(),
        };
        let is_shared = |name: &String| other.is_some_and(|other| other.without.contains(name));
        let without: Vec<&str> =
            profile.without.iter().filter(|name| !is_shared(name)).map(String::as_str).collect();
        let without = if without.is_empty() {
            String::new()
        } else {
            format!(", without {}", phrase::needs(without))
        };
        format!("{}{needs}{without}", profile.class.name())
    };
    let changes = both(&old.profiles, &new.profiles, |profile| &profile.id).into_iter().filter_map(
        |(old, new)| {
            let versions = old.zip(new).filter(|(old, new)| old.version != new.version);
            let note = versions
                .map(|(old, new)| format!("by version {} \u{2192} {}", old.version, new.version));
            let mut change = Change::new(ChangeKind::Changed, Subject::Class, &new.or(old)?.id);
            (change.old, change.new) =
                (old.map(|one| class(one, new)), new.map(|one| class(one, old)));
            change.note = note.unwrap_or_default();
            (change.old != change.new || !change.note.is_empty()).then_some(change)
        },
    );
    changes.collect()
}

/// Rules that a device meets, as its report has it from these very profiles: place of the profile,
/// rule id.
pub(super) fn met<'p>(profiles: &'p [Profile], device: &Device) -> HashSet<(usize, &'p str)> {
    let judged = |profile: &Profile| {
        device
            .profiles
            .iter()
            .find(|result| (&result.id, &result.version) == (&profile.id, &profile.version))
    };
    let mut met = HashSet::new();
    for (place, profile) in profiles.iter().enumerate() {
        let Some(result) = judged(profile) else { continue };
        let rules: HashMap<&str, Verdict> =
            result.rules.iter().map(|rule| (rule.id.as_str(), rule.verdict)).collect();
        let is_met = |rule: &&str| rules.get(rule).is_some_and(|verdict| verdict.is_met());
        met.extend(
            profile
                .rules
                .iter()
                .map(|rule| rule.id.as_str())
                .filter(is_met)
                .map(|rule| (place, rule)),
        );
    }
    met
}

/// Rules whose verdict changed, or that fail on lanes that they did not fail on, of profiles that
/// judged both times; the most important first, the same change of several profiles once.
pub(super) fn rules(
    profiles: &[Profile],
    old: &Device,
    new: &Device,
    results: &OldAndNew<'_>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for (old, new) in both(&old.profiles, &new.profiles, |profile| &profile.id) {
        let (Some(old), Some(new)) = (old, new) else { continue };
        let lanes = results.of(profiles, old);
        let rules = both(&old.rules, &new.rules, |rule| &rule.id);
        changes
            .extend(rules.into_iter().filter_map(|pair| change(profiles, &new.id, pair, &lanes)));
    }
    // What fails on more lanes than before first.
    changes.sort_by_key(|(change, is_worse, level)| {
        (change.kind, !change.is_deviating(), !is_worse, *level)
    });
    let mut once: Vec<Change> = Vec::new();
    for (change, ..) in changes {
        let key = |one: &Change| (one.kind, one.id.clone(), one.old.clone(), one.new.clone());
        match once.iter_mut().find(|one| key(one) == key(&change)) {
            Some(one) => one.profiles.extend(change.profiles),
            None => once.push(change),
        }
    }
    once
}

/// A rule's change, whether more lanes fail, and its level.
fn change(
    profiles: &[Profile],
    profile: &str,
    (old, new): (Option<&RuleResult>, Option<&RuleResult>),
    lanes: &ProfileLanes<'_>,
) -> Option<(Change, bool, Level)> {
    let rule = new.or(old)?;
    // For want of what a rule is not judged, is no change of the device's.
    let silent = |old: &RuleResult, new: &RuleResult| old.verdict == new.verdict && !is_judged(new);
    let fate = old.zip(new).map(|(old, new)| lanes.fate(old, new));
    // How many lanes count for a rule depends on what else was measured.
    let same = |old: &RuleResult, new: &RuleResult| {
        let [old, new] = [old, new].map(|rule| (rule.verdict, &rule.label, &rule.behaviour));
        old == new && fate.as_ref().is_some_and(|fate| !fate.changed)
    };
    let worse = fate.as_ref().is_some_and(|fate| fate.worse);
    let (before, now) = (old.map(verdict), new.map(verdict));
    if !worse
        && (before == now
            || old.zip(new).is_some_and(|(old, new)| silent(old, new) || same(old, new)))
    {
        return None;
    }
    let evidence =
        match (&fate, [new, old].into_iter().flatten().find(|rule| !rule.evidence.is_empty())) {
            (Some(fate), Some(rule)) if worse => fate.evidence(profiles, (profile, rule)),
            (_, rule) => rule.map(|rule| rule.evidence.clone()).unwrap_or_default(),
        };
    let level = if rule.level == Level::Required {
        String::new()
    } else {
        format!(" ({})", rule.level.name())
    };
    let change = Change {
        text: rule.title.clone() + &level,
        old: before,
        new: now,
        profiles: vec![profile.to_owned()],
        citation: rule.citation.clone(),
        verdict: new.map(|rule| rule.verdict),
        evidence,
        ..Change::new(kind(old, new, fate.as_ref()), Subject::Rule, &rule.id)
    };
    let failing = |rule: Option<&RuleResult>| rule.map_or(0, |rule| rule.failing);
    Some((change, failing(new) > failing(old), rule.level))
}

/// A verdict with what there is to say of it: `conforms (strict)`, `deviates (1 lane not
/// accepted)`.
fn verdict(RuleResult { verdict, label, behaviour, failing, .. }: &RuleResult) -> String {
    let mut more: Vec<String> = Vec::new();
    more.extend((!label.is_empty()).then(|| label.clone()));
    more.extend(
        (*failing > 0).then(|| format!("{} not accepted", phrase::number(*failing, "lane"))),
    );
    more.extend((!behaviour.is_empty()).then(|| behaviour.clone()));
    let name = verdict.name();
    if more.is_empty() { name.to_owned() } else { format!("{name} ({})", more.join("; ")) }
}

fn kind(
    old: Option<&RuleResult>,
    new: Option<&RuleResult>,
    fate: Option<&LaneFate<'_>>,
) -> ChangeKind {
    let worse = fate.is_some_and(|fate| fate.worse);
    let (Some(old), Some(new)) = (old, new) else {
        return if old.is_none() { ChangeKind::Appeared } else { ChangeKind::Disappeared };
    };
    // What failed because of another rule alone fails of itself.
    let of_itself = old.verdict == Verdict::Depends && new.verdict == Verdict::Deviates;
    match (fails(old), fails(new)) {
        _ if !is_judged(new) && is_judged(old) => ChangeKind::Disappeared,
        // An informative rule states behaviour, and there is no wrong one.
        _ if !is_judged(new) || new.level == Level::Informative => ChangeKind::Changed,
        // Whatever fails failed before with the same result, and counted for another rule.
        (_, true) if new.failing > 0 && fate.is_some_and(|fate| fate.known) => ChangeKind::Changed,
        (false, true) => ChangeKind::Regressed,
        (true, true) if of_itself || worse && new.level == Level::Required => ChangeKind::Regressed,
        (true, false) => ChangeKind::Fixed,
        // What could not be judged before, for want of a feature or a result, is met now.
        (false, false) if !old.verdict.is_met() => ChangeKind::Appeared,
        _ => ChangeKind::Changed,
    }
}

fn fails(rule: &RuleResult) -> bool {
    matches!(rule.verdict, Verdict::Deviates | Verdict::Depends)
}

/// Whether there were answers to judge.
fn is_judged(rule: &RuleResult) -> bool {
    fails(rule) || rule.verdict.is_met()
}

/// What two lists hold of each name: in the order of the new one, then what is in the old one
/// alone.
fn both<'a, T>(
    old: &'a [T],
    new: &'a [T],
    name: impl Fn(&T) -> &String,
) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let find = |list: &'a [T], wanted: &T| list.iter().find(|one| name(one) == name(wanted));
    let here = new.iter().map(|one| (find(old, one), Some(one)));
    here.chain(old.iter().filter(|one| find(new, one).is_none()).map(|one| (Some(one), None)))
        .collect()
}
