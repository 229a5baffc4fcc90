//! Two reports without the answers that both have: of two runs nearly all are the same, and their text tells.
//!
//! Only whole values are replaced, and only by empty lists, so that what is left is a report with the same kernels in the
//! same places. Whatever looks unusual is left as it is.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;

use fpprobe_profiles::parallel;
use fpprobe_spirv::Kernel;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outline::Outline;

/// What is looked at of a report.
#[derive(Deserialize)]
struct ReportText<'a> {
    #[serde(borrow)]
    inputs: HashMap<Cow<'a, str>, &'a RawValue>,
    #[serde(borrow)]
    devices: Vec<DeviceText<'a>>,
}

#[derive(Deserialize)]
struct DeviceText<'a> {
    #[serde(borrow)]
    slot: Cow<'a, str>,
    #[serde(borrow)]
    observations: Vec<ObservationText<'a>>,
}

#[derive(Deserialize)]
struct ObservationText<'a> {
    #[serde(borrow)]
    kernel: Cow<'a, str>,
    #[serde(rename = "in", borrow)]
    inputs: &'a RawValue,
    #[serde(borrow)]
    out: Option<&'a RawValue>,
    #[serde(borrow)]
    outcome: Cow<'a, str>,
    #[serde(borrow)]
    second: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Same<'a> {
    #[serde(borrow)]
    same_as: Cow<'a, str>,
}

/// Both texts without the answers that are not compared: those that are the same for the same kernel, the same inputs and
/// the device in the same slot, and those of kernels that have answers in one of them alone. `None` where one of the texts
/// is no report in the usual form. An error is that of the report with its number.
pub(super) fn deduplicate(outlines: [&Outline; 2]) -> Result<Option<[String; 2]>, (usize, io::Error)> {
    let Some(reduced) = without_common(outlines.map(|outline_text| &*outline_text.text)) else { return Ok(None) };
    let sides: Vec<_> = outlines.into_iter().zip(&reduced).enumerate().collect();
    let whole = |(side, (outline_text, reduced)): &(usize, (&Outline, &String))| {
        outline_text.lists.text(reduced).map_err(|error| (*side, error))
    };
    let texts = parallel::map(&sides, whole).into_iter().collect::<Result<Vec<String>, _>>()?;
    Ok(texts.try_into().ok())
}

fn without_common(texts: [&str; 2]) -> Option<[String; 2]> {
    let [old, new] = texts;
    let mut documents = parallel::map(&texts, |text| serde_json::from_str::<ReportText>(text).ok());
    let (new_document, old_document) = (documents.pop()??, documents.pop()??);
    let tables = CommonTables::shared(&old_document, &new_document);
    let mut spare: [Vec<&ObservationText>; 2] = Default::default();
    for before in &old_document.devices {
        let [before, now] = [&old_document, &new_document].map(|document| {
            let mut there = document.devices.iter().filter(|device| device.slot == before.slot);
            there.next().filter(|_| there.next().is_none())
        });
        let (Some(before), Some(now)) = (before, now) else { continue };
        let answers = [ObservationsByKernel::of(before), ObservationsByKernel::of(now)];
        // One side may spell otherwise what both have.
        let known = parallel::map(&[0, 1], |side: &usize| answers[*side].alone_are_known(&answers[1 - *side]));
        if known != [true, true] {
            return None;
        }
        let is_spare = |side: usize, one: &ObservationText<'_>| {
            answers[side].is_plain(one) && !answers[side].is_compared(one, &answers[1 - side], &tables)
        };
        let (mut out, mut referring) = ([HashMap::new(), HashMap::new()], Vec::new());
        for (side, device) in [before, now].into_iter().enumerate() {
            for one in &device.observations {
                if is_spare(side, one) {
                    out[side].insert(&*one.kernel, one);
                } else {
                    referring.push(one);
                }
            }
        }
        // What another kernel refers to must stay, in both; and what that one refers to.
        while let Some(one) = referring.pop() {
            let Some(same) = one.out.and_then(same_as) else { continue };
            referring.extend(out.iter_mut().filter_map(|out| out.remove(&*same.same_as)));
        }
        for (spare, out) in spare.iter_mut().zip(out) {
            spare.extend(out.into_values());
        }
    }
    let sides = [(old, &old_document, &spare[0]), (new, &new_document, &spare[1])];
    let mut reduced = parallel::map(&sides, |(text, document, spare)| without(text, document, spare));
    let (new, old) = (reduced.pop()?, reduced.pop()?);
    Some([old, new])
}

/// Names of the lists of inputs that both reports have, with the same inputs.
struct CommonTables<'a>(HashSet<&'a str>);

impl<'a> CommonTables<'a> {
    fn shared(old: &'a ReportText<'_>, new: &ReportText<'_>) -> CommonTables<'a> {
        let same = |(name, table): &(&Cow<'_, str>, &&RawValue)| {
            new.inputs.get(*name).is_some_and(|other| other.get() == table.get())
        };
        CommonTables(old.inputs.iter().filter(same).map(|(name, _)| &**name).collect())
    }

    /// Whether two observations were asked the same.
    fn alike(&self, one: &ObservationText<'_>, other: &ObservationText<'_>) -> bool {
        let (one, other) = (one.inputs.get(), other.inputs.get());
        one == other && serde_json::from_str::<Cow<str>>(one).map_or(true, |table| self.0.contains(&*table))
    }
}

/// The observations of a device; a kernel that is there twice has none.
struct ObservationsByKernel<'d, 'a>(HashMap<&'d str, Option<&'d ObservationText<'a>>>);

impl<'d, 'a> ObservationsByKernel<'d, 'a> {
    fn of(device: &'d DeviceText<'a>) -> ObservationsByKernel<'d, 'a> {
        let mut by_kernel = HashMap::with_capacity(device.observations.len());
        for one in &device.observations {
            by_kernel.entry(&*one.kernel).and_modify(|known| *known = None).or_insert(Some(one));
        }
        ObservationsByKernel(by_kernel)
    }

    /// Whether the kernels that others do not have are spelled as this program does.
    fn alone_are_known(&self, others: &ObservationsByKernel<'_, '_>) -> bool {
        let is_known = |id: &str| id.parse::<Kernel>().is_ok_and(|kernel| kernel.to_string() == id);
        self.0.keys().filter(|id| !others.0.contains_key(**id)).all(|id| is_known(id))
    }

    /// Whether it is the only observation of its kernel, and nothing but a list of answers.
    fn is_plain(&self, one: &ObservationText<'_>) -> bool {
        self.0.get(&*one.kernel).is_some_and(Option::is_some) && one.outcome == "ran" && one.second.is_none()
    }

    /// Whether there is something to compare: answers on both sides, and others.
    fn is_compared(
        &self,
        one: &ObservationText<'a>,
        others: &ObservationsByKernel<'_, 'a>,
        tables: &CommonTables<'_>,
    ) -> bool {
        match others.0.get(&*one.kernel) {
            None => false,
            Some(None) => true,
            Some(Some(other)) if other.outcome != "ran" => other.outcome == "flaky",
            Some(Some(other)) => {
                let answers = (self.resolved(one), others.resolved(other));
                let same = matches!(answers, (Some(one), Some(other)) if one.get() == other.get());
                !same || !others.is_plain(other) || !tables.alike(one, other)
            }
        }
    }

    /// The list of answers, a kernel's own or that of the one it refers to.
    fn resolved(&self, one: &ObservationText<'a>) -> Option<&'a RawValue> {
        let out = one.out?;
        let Some(same) = same_as(out) else { return Some(out) };
        let other = (*self.0.get(&*same.same_as)?)?;
        let list = other.out.filter(|out| !out.get().starts_with('{'))?;
        (other.inputs.get() == one.inputs.get()).then_some(list)
    }
}

fn same_as(out: &RawValue) -> Option<Same<'_>> {
    if out.get().starts_with('{') { serde_json::from_str(out.get()).ok() } else { None }
}

/// A text with empty lists in place of these observations' inputs and answers, and of the tables that no other has.
fn without(text: &str, document: &ReportText<'_>, spare: &[&ObservationText<'_>]) -> String {
    let mut cuts: Vec<&str> = Vec::new();
    let removed: HashSet<*const ObservationText> = spare.iter().map(|one| std::ptr::from_ref(*one)).collect();
    let mut tables: HashSet<Cow<str>> = HashSet::new();
    for one in document.devices.iter().flat_map(|device| &device.observations) {
        if removed.contains(&std::ptr::from_ref(one)) {
            cuts.push(one.inputs.get());
            cuts.extend(one.out.map(RawValue::get));
        } else {
            tables.extend(serde_json::from_str::<Cow<str>>(one.inputs.get()).ok());
        }
    }
    let unused = document.inputs.iter().filter(|(name, _)| !tables.contains(*name));
    cuts.extend(unused.map(|(_, table)| table.get()));
    cuts.sort_unstable_by_key(|cut| cut.as_ptr());
    let mut reduced = String::new();
    let mut from = 0;
    for cut in cuts {
        // Each is a piece of the text.
        let at = cut.as_ptr() as usize - text.as_ptr() as usize;
        reduced.push_str(&text[from..at]);
        reduced.push_str("[]");
        from = at + cut.len();
    }
    reduced.push_str(&text[from..]);
    reduced
}
