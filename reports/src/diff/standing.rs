//! What changed beside the bits: identity, claims, classes and the reports' own verdicts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use fpprobe_profiles::{Class, Level, Profile, Verdict};
use serde_json::Value;

use super::model::{
    ChangeKind, ClassStatus, FieldChange, FindingChange, IncidentChange, Presence, ProfileChange, RuleChange, Ruling,
};
use super::regression::{LaneFate, OldAndNew, ProfileLanes};
use crate::judged::OF_NAN;
use crate::model::{Claims, Device, Finding, Incident, ProfileResult, RuleResult, TraitValue};
use crate::support::COOPERATIVE_MATRIX;
use crate::traits::is_of_nan_bits;

/// Fields of a device's identity, the telling ones first. Its slot is the same, and its key a digest of all others but the
/// driver's place.
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
pub(super) fn identity(old: &Device, new: &Device) -> Vec<FieldChange> {
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
        fields.pointer(path).map(|field| field.as_str().map_or_else(|| field.to_string(), str::to_owned))
    };
    // The same driver may be found by another path.
    let same = old.identity.key == new.identity.key;
    let informative = IDENTITY.into_iter().filter(|path| !(same && *path == MANIFEST));
    let (old, new) = (fields(old), fields(new));
    let changes = informative.filter_map(|path| {
        let field = path.trim_start_matches('/').replace('/', ".");
        differing(field, text(&old, path), text(&new, path))
    });
    changes.collect()
}

/// Claims that changed.
pub(super) fn claims(old: &Claims, new: &Claims) -> Vec<FieldChange> {
    let flag = |claims: &Claims, name: &str| claims.flags.get(name).map(ToString::to_string);
    let names: BTreeSet<&String> = old.flags.keys().chain(new.flags.keys()).collect();
    let independence = [
        ("denormBehaviorIndependence", &old.denorm_behavior_independence, &new.denorm_behavior_independence),
        ("roundingModeIndependence", &old.rounding_mode_independence, &new.rounding_mode_independence),
    ];
    let independence = independence
        .into_iter()
        .filter_map(|(name, old, new)| differing(name.to_owned(), Some(old.clone()), Some(new.clone())));
    let flags = names.into_iter().filter_map(|name| differing(name.clone(), flag(old, name), flag(new, name)));
    // Reports of earlier programs do not say which products there are.
    let listed = [old, new].iter().all(|claims| claims.flags.contains_key(COOPERATIVE_MATRIX));
    let products: BTreeSet<&String> = old.matrices.iter().chain(&new.matrices).filter(|_| listed).collect();
    let offered = |claims: &Claims, product: &String| claims.matrices.contains(product).to_string();
    let products = products.into_iter().filter_map(|product| {
        let field = format!("{COOPERATIVE_MATRIX} {product}");
        differing(field, Some(offered(old, product)), Some(offered(new, product)))
    });
    independence.chain(flags).chain(products).collect()
}

/// Traits that changed. Where other lanes were looked at, more or fewer of the values show no change, as far as these lanes may be
/// those that have them; and of the bits of NaNs
/// that differ from run to run nobody knows.
pub(super) fn traits(old: &Device, new: &Device) -> Vec<FieldChange> {
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
            let field = format!("{}, {scope}", new.id);
            changes.extend(differing(field, Some(before.describe()), Some(now.describe())));
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

/// Findings that are new, then those that are missing, those of the bits of NaNs last. The lanes that show one may be others.
pub(super) fn findings(old: &Device, new: &Device) -> Vec<FindingChange> {
    let mut apart = apart(&old.findings, &new.findings, |finding: &Finding| (&finding.kind, &finding.text));
    apart.sort_by_key(|(_, finding)| finding.text.ends_with(OF_NAN));
    let change = |(presence, Finding { kind, text, .. }): (Presence, &Finding)| FindingChange {
        presence,
        finding: kind.clone(),
        text: text.clone(),
    };
    apart.into_iter().map(change).collect()
}

/// What went wrong on one side alone: new, then gone. Those with the same key are the same.
pub(super) fn incidents<'a, K: Eq + Hash>(
    old: &'a [Incident],
    new: &'a [Incident],
    key: impl Fn(&'a Incident) -> K,
) -> Vec<IncidentChange> {
    let change = |(presence, incident): (Presence, &Incident)| IncidentChange { presence, incident: incident.clone() };
    apart(old, new, key).into_iter().map(change).collect()
}

/// What one of two lists alone holds: that of the new one first.
fn apart<'a, T, K: Eq + Hash>(old: &'a [T], new: &'a [T], key: impl Fn(&'a T) -> K) -> Vec<(Presence, &'a T)> {
    let without = |list: &'a [T], other: &'a [T], presence: Presence| {
        let other: HashSet<K> = other.iter().map(&key).collect();
        let alone = list.iter().filter(|one| !other.contains(&key(one)));
        alone.map(|one| (presence, one)).collect::<Vec<_>>()
    };
    let mut apart = without(new, old, Presence::Appeared);
    apart.extend(without(old, new, Presence::Vanished));
    apart
}

fn differing(field: String, old: Option<String>, new: Option<String>) -> Option<FieldChange> {
    (old != new).then_some(FieldChange { field, old, new })
}

/// Classes that changed, in the order of the new report.
pub(super) fn profiles(old: &Device, new: &Device) -> Vec<ProfileChange> {
    let standing = |profile: &ProfileResult| ClassStatus {
        version: profile.version.clone(),
        class: profile.class,
        // A recipe under which rules still fail is none.
        needs: if profile.class == Class::ConformsWith { profile.needs.clone() } else { Vec::new() },
        without: profile.without.clone(),
    };
    let changes = both(&old.profiles, &new.profiles, |profile| &profile.id).into_iter().filter_map(|(old, new)| {
        let profile = new.or(old)?.id.clone();
        let (old, new) = (old.map(standing), new.map(standing));
        (old != new).then_some(ProfileChange { profile, old, new })
    });
    changes.collect()
}

/// Rules that a device meets, as its report has it from these very profiles: place of the profile, rule id.
pub(super) fn met<'p>(profiles: &'p [Profile], device: &Device) -> HashSet<(usize, &'p str)> {
    let judged = |profile: &Profile| {
        device.profiles.iter().find(|result| (&result.id, &result.version) == (&profile.id, &profile.version))
    };
    let mut met = HashSet::new();
    for (place, profile) in profiles.iter().enumerate() {
        let Some(result) = judged(profile) else { continue };
        let rules: HashMap<&str, Verdict> = result.rules.iter().map(|rule| (rule.id.as_str(), rule.verdict)).collect();
        let is_met = |rule: &&str| rules.get(rule).is_some_and(|verdict| verdict.is_met());
        met.extend(profile.rules.iter().map(|rule| rule.id.as_str()).filter(is_met).map(|rule| (place, rule)));
    }
    met
}

/// Rules whose verdict changed, or that fail on lanes that they did not fail on, of profiles that judged both times; the most
/// important first.
pub(super) fn rules(profiles: &[Profile], old: &Device, new: &Device, results: &OldAndNew<'_>) -> Vec<RuleChange> {
    let mut changes = Vec::new();
    for (old, new) in both(&old.profiles, &new.profiles, |profile| &profile.id) {
        let (Some(old), Some(new)) = (old, new) else { continue };
        let lanes = results.of(profiles, old);
        let rules = both(&old.rules, &new.rules, |rule| &rule.id);
        changes.extend(rules.into_iter().filter_map(|pair| change(profiles, &new.id, pair, &lanes)));
    }
    // What fails on more lanes than before first.
    let failing = |ruling: &Option<Ruling>| ruling.as_ref().map_or(0, |ruling| ruling.failing);
    let better = |change: &RuleChange| failing(&change.new) <= failing(&change.old);
    changes.sort_by_key(|change| (change.kind, better(change), change.level));
    changes
}

fn change(
    profiles: &[Profile],
    profile: &str,
    (old, new): (Option<&RuleResult>, Option<&RuleResult>),
    lanes: &ProfileLanes<'_>,
) -> Option<RuleChange> {
    let ruling = |rule: &RuleResult| Ruling {
        verdict: rule.verdict,
        label: rule.label.clone(),
        behaviour: rule.behaviour.clone(),
        failing: rule.failing,
    };
    let rule = new.or(old)?;
    let (before, now) = (old.map(ruling), new.map(ruling));
    // For want of what a rule is not judged, is no change of the device's.
    let silent = |old: &RuleResult, new: &RuleResult| old.verdict == new.verdict && !is_judged(new);
    let fate = old.zip(new).map(|(old, new)| lanes.fate(old, new));
    // How many lanes count for a rule depends on what else was measured.
    let same = |old: &RuleResult, new: &RuleResult| {
        let [old, new] = [old, new].map(|rule| (rule.verdict, &rule.label, &rule.behaviour));
        old == new && fate.as_ref().is_some_and(|fate| !fate.changed)
    };
    let worse = fate.as_ref().is_some_and(|fate| fate.worse);
    let is_reported =
        worse || before != now && !old.zip(new).is_some_and(|(old, new)| silent(old, new) || same(old, new));
    let evidence = || match (&fate, [new, old].into_iter().flatten().find(|rule| !rule.evidence.is_empty())) {
        (Some(fate), Some(rule)) if worse => fate.evidence(profiles, (profile, rule)),
        (_, rule) => rule.map(|rule| rule.evidence.clone()).unwrap_or_default(),
    };
    is_reported.then(|| RuleChange {
        kind: kind(old, new, fate.as_ref()),
        profile: profile.to_owned(),
        rule: rule.id.clone(),
        title: rule.title.clone(),
        citation: rule.citation.clone(),
        level: rule.level,
        old: before,
        new: now,
        evidence: evidence(),
    })
}

fn kind(old: Option<&RuleResult>, new: Option<&RuleResult>, fate: Option<&LaneFate<'_>>) -> ChangeKind {
    let worse = fate.is_some_and(|fate| fate.worse);
    let (Some(old), Some(new)) = (old, new) else {
        return if old.is_none() { ChangeKind::Appeared } else { ChangeKind::Vanished };
    };
    match (fails(old), fails(new)) {
        _ if !is_judged(new) && is_judged(old) => ChangeKind::Unmeasurable,
        _ if !is_judged(new) => ChangeKind::Unjudged,
        // An informative rule states behaviour, and there is no wrong one.
        _ if new.level == Level::Informative => ChangeKind::Permitted,
        // Whatever fails failed before with the same result, and counted for another rule.
        (_, true) if new.failing > 0 && fate.is_some_and(|fate| fate.known) => ChangeKind::DeviatesOtherwise,
        (false, true) => ChangeKind::NewlyDeviating,
        // What failed because of another rule alone fails of itself.
        (true, true) if old.verdict == Verdict::Depends && new.verdict == Verdict::Deviates => {
            ChangeKind::NewlyDeviating
        }
        (true, true) if worse && new.level == Level::Required => ChangeKind::NewlyDeviating,
        (true, true) => ChangeKind::DeviatesOtherwise,
        (true, false) => ChangeKind::NewlyConforming,
        // What could not be judged before, for want of a feature or an answer, is met now.
        (false, false) if !old.verdict.is_met() => ChangeKind::Appeared,
        (false, false) => ChangeKind::Permitted,
    }
}

fn fails(rule: &RuleResult) -> bool {
    matches!(rule.verdict, Verdict::Deviates | Verdict::Depends)
}

/// Whether there were answers to judge.
fn is_judged(rule: &RuleResult) -> bool {
    fails(rule) || rule.verdict.is_met()
}

/// What two lists hold of each name: in the order of the new one, then what is in the old one alone.
fn both<'a, T>(old: &'a [T], new: &'a [T], name: impl Fn(&T) -> &String) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let find = |list: &'a [T], wanted: &T| list.iter().find(|one| name(one) == name(wanted));
    let here = new.iter().map(|one| (find(old, one), Some(one)));
    here.chain(old.iter().filter(|one| find(new, one).is_none()).map(|one| (Some(one), None))).collect()
}
