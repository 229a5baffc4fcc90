//! What a device gives on the lanes of a cause.

use std::collections::BTreeSet;

use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::judge::Symptom;
use fpprobe_spirv::Format;

use super::FailingLane;
use crate::decimal::{decimal, float};

/// Values that are named.
const NAMED: usize = 2;

/// The results of the lanes that show a symptom, where they are few: `0 or 128`.
pub(super) fn given(lanes: &[&FailingLane<'_>], symptom: Symptom) -> Option<String> {
    let mut values = BTreeSet::new();
    for lane in lanes.iter().filter(|lane| lane.symptoms.contains(symptom)) {
        values.insert(value(lane)?);
        if values.len() > NAMED {
            return None;
        }
    }
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(" or "))
}

/// The result of a lane; codes in hex.
fn value(lane: &FailingLane<'_>) -> Option<String> {
    let (encoding, result) =
        (*Encoding::of_result(lane.kernel).get(lane.part)?, lane.diagnosis.result);
    Some(match encoding {
        Encoding::Float(layout) => float(layout, result),
        _ if [Format::I32, Format::U32].contains(&lane.kernel.result().format) => {
            decimal(lane.kernel.result().format, result)
        }
        _ => encoding.hex(result),
    })
}
