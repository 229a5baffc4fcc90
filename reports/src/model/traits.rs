//! What a device does, whether or not a profile cares.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AnswerEvidence;

/// What a device does in one respect; a scope of which nothing was measured is left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeviceTrait {
    /// Id of the trait, `f32.subnormal_operands`.
    pub id: String,
    /// With operands from memory, in every stage and width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_time: Option<TraitValue>,
    /// With operands that are literals or specialisation constants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constants: Option<TraitValue>,
}

/// A value of a trait, and what shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TraitValue {
    /// One of the trait's values; `mixed` where there are several, `not_offered` where the device
    /// lacks what it takes.
    pub value: String,
    /// Number of lanes that were looked at; of the same number the same lanes.
    pub lanes: usize,
    /// Where it is mixed, each value with who has it, the most lanes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<TraitShare>,
    /// Lanes that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<AnswerEvidence>,
}

/// Who has a value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TraitShare {
    /// The value.
    pub value: String,
    /// Number of lanes with it.
    pub lanes: usize,
    /// The first kernels with it.
    pub kernels: Vec<String>,
    /// Where it shows and the others do not, `with route=clear`, `from |x| = 65520 on`; `alone with
    /// route=clear` where others have it elsewhere as well; empty where nothing parts them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// A lane with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<AnswerEvidence>,
    /// The lane in words: kernel and operands, and of several components of the result the one that
    /// has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// Most variants of kernels that are named.
const VARIANTS: usize = 3;

/// The value where a scope itself disagrees.
pub const MIXED: &str = "mixed";

/// How the place of a value begins that shows elsewhere as well.
pub(crate) const ALONE: &str = "alone ";

/// The value where the device lacks what it takes.
pub const NOT_OFFERED: &str = "not_offered";

impl DeviceTrait {
    /// Its values by the names of their scopes.
    pub fn scopes(&self) -> [(&'static str, Option<&TraitValue>); 2] {
        [("run time", self.run_time.as_ref()), ("constants", self.constants.as_ref())]
    }

    /// Its value in words; that of constants where it is another.
    pub fn describe(&self) -> String {
        let [run_time, constants] =
            [&self.run_time, &self.constants].map(|one| one.as_ref().map(TraitValue::describe));
        match (run_time, constants) {
            (Some(value), Some(other)) if value != other => format!("{value} (constants: {other})"),
            (Some(value), _) | (None, Some(value)) => value,
            (None, None) => String::new(),
        }
    }
}

impl TraitValue {
    /// Its values: one, or several where it is mixed.
    pub fn values(&self) -> BTreeSet<&str> {
        match &self.shares[..] {
            [] => BTreeSet::from([&*self.value]),
            shares => shares.iter().map(|share| &*share.value).collect(),
        }
    }

    /// In words: the value, of a mixed one each with where it shows, or with an example.
    pub fn describe(&self) -> String {
        if self.shares.is_empty() {
            return self.value.replace('_', " ");
        }
        let has_examples = self.shares.iter().any(|share| share.example.is_some());
        let share = |share: &TraitShare| {
            let value = share.value.replace('_', " ");
            let is_alone = share.place.starts_with(ALONE);
            if !share.place.is_empty() && !is_alone {
                return format!("{value} {}", share.place);
            }
            if let Some(variants) = self.variants(share) {
                return format!(
                    "{value} with {}",
                    variants.into_iter().collect::<Vec<_>>().join(" and ")
                );
            }
            let kernel = share.kernels.first();
            let example = match &share.example {
                _ if is_alone => Some(share.place.clone()),
                Some(_) => Some(format!("as {}", share.words)),
                None if has_examples => None,
                None => kernel.map(|kernel| format!("as {kernel}")),
            };
            [value, example.unwrap_or_default()].join(" ").trim_end().to_owned()
        };
        format!("{MIXED}: {}", self.shares.iter().map(share).collect::<Vec<_>>().join(", "))
    }

    /// The keys of the kernels with a value, where the other kernels have other ones.
    fn variants<'a>(&self, share: &'a TraitShare) -> Option<BTreeSet<&'a str>> {
        let of = |kernel: &String| kernel.find(':').map(|place| place + 1);
        let variants: Option<BTreeSet<&str>> =
            share.kernels.iter().map(|kernel| kernel.get(of(kernel)?..)).collect();
        let others = self.shares.iter().filter(|other| other.value != share.value);
        let of_others: BTreeSet<&str> = others
            .flat_map(|other| &other.kernels)
            .filter_map(|kernel| kernel.get(of(kernel)?..))
            .collect();
        variants.filter(|variants| variants.len() <= VARIANTS && variants.is_disjoint(&of_others))
    }
}
