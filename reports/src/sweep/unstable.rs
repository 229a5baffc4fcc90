//! Results that did not come again.

use fpprobe_spirv::sweep::Domain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Blocks;
use crate::model::Value;
use crate::values;

/// Most inputs that are listed: the lowest.
const LISTED: usize = 16;
/// How often an input runs whose block holds a result that deviates.
pub const TIMES: usize = 3;

/// Results that are not the same each time, so that they are no deviations.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unstable {
    /// The blocks that hold them. Of a fingerprint, those whose digests differ.
    pub blocks: Blocks,
    /// Inputs that ran three times, because a result of their block deviated; none for a
    /// fingerprint.
    #[serde(default)]
    pub compared: u64,
    /// Of these, inputs with several results.
    #[serde(default)]
    pub inputs: u64,
    /// Results that differ from the one that most runs of their input gave.
    #[serde(default)]
    pub odd: u64,
    /// Share of odd results: how often a result is another one.
    #[serde(default)]
    pub rate: f64,
    /// The lowest of these inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Several>,
}

/// An input with several results.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Several {
    /// Its number.
    pub number: u64,
    /// The operands.
    #[serde(rename = "in")]
    pub inputs: Vec<Value>,
    /// The results, run by run.
    pub out: Vec<Value>,
}

impl Unstable {
    /// Digests of blocks that differ.
    pub fn of_blocks(blocks: Blocks) -> Unstable {
        Unstable { blocks, ..Unstable::default() }
    }

    /// Takes inputs of one block that ran three times, with the results of those that differ.
    pub fn add(&mut self, domain: &Domain, block: u64, differing: &[(u64, [u32; TIMES])]) {
        let listed = differing.iter().take(LISTED).map(|(number, results)| Several {
            number: *number,
            inputs: values::encode_case(domain.kernel(), &domain.case(*number)),
            out: results
                .iter()
                .map(|word| values::encode_answer(domain.kernel(), &domain.answer(&[*word])))
                .collect(),
        });
        let odd = |results: &[u32; TIMES]| {
            let most =
                most(*results).map_or(1, |most| results.iter().filter(|own| **own == most).count());
            (TIMES - most) as u64
        };
        let own = Unstable {
            blocks: [block].into_iter().filter(|_| !differing.is_empty()).collect(),
            compared: domain.block(),
            inputs: differing.len() as u64,
            odd: differing.iter().map(|(_, results)| odd(results)).sum(),
            rate: 0.0,
            list: listed.collect(),
        };
        self.merge(&own);
    }

    /// Adds what was found elsewhere.
    pub fn merge(&mut self, other: &Unstable) {
        self.blocks = self.blocks.union(&other.blocks);
        for (own, more) in [
            (&mut self.compared, other.compared),
            (&mut self.inputs, other.inputs),
            (&mut self.odd, other.odd),
        ] {
            *own = own.saturating_add(more);
        }
        self.rate = self.odd as f64 / (self.compared.max(1) as f64 * TIMES as f64);
        self.list.extend_from_slice(&other.list);
        self.list.sort_by_key(|several| several.number);
        self.list.truncate(LISTED);
    }

    /// Whether everything came again.
    pub fn is_empty(&self) -> bool {
        self.blocks.count() == 0
    }
}

/// The result that most runs gave; `None` where each gave another.
pub fn most(results: [u32; TIMES]) -> Option<u32> {
    let [a, b, c] = results;
    if a == b || a == c {
        Some(a)
    } else if b == c {
        Some(b)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_odd_results() {
        let domain = Domain::of(&"f32.sqrt".parse().unwrap()).unwrap();
        let mut unstable = Unstable::default();
        unstable.add(&domain, 3, &[(3 << 20, [1, 1, 2]), ((3 << 20) + 1, [1, 2, 3])]);
        unstable.add(&domain, 5, &[]);
        assert_eq!((unstable.compared, unstable.inputs, unstable.odd), (2 << 20, 2, 3));
        assert_eq!(unstable.blocks.ranges(), [[3, 1]]);
        assert!((unstable.rate - 3.0 / f64::from(6 << 20)).abs() < 1e-12);
        assert_eq!((most([1, 2, 1]), most([2, 1, 1]), most([1, 2, 3])), (Some(1), Some(1), None));
    }
}
