//! Observations into the report and out of it: inputs once in a table, equal answers once per
//! device.

pub(crate) mod form;
mod read;

use std::sync::Arc;

use foldhash::HashMap;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Cases, Kernel, Shape};

pub use self::read::{DeviceContent, RecordError, UnknownKernel, read_device};
use crate::model::{self, Inputs, Outputs, Pattern, Tables, Value, Values};
use crate::values;

/// What is written once: table of inputs, form of the results, answers.
type Answered = (String, Pattern, Arc<[u64]>);

/// Writes the observations of one device after the other and gathers the inputs they share.
#[derive(Default, Debug)]
pub struct Recorder {
    tables: Tables,
    /// What each table holds, as bits: kernels that share a name must share the list.
    known: HashMap<String, (Vec<Shape>, Cases)>,
}

impl Recorder {
    /// With an empty table of inputs.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// The observations of one device, in the order given. Equal answers of kernels with the same
    /// inputs and the same form of result are written once.
    pub fn device(&mut self, observations: &[Observation]) -> Vec<model::StoredObservation> {
        let mut answers: HashMap<Answered, String> = HashMap::default();
        observations
            .iter()
            .map(|observation| {
                let kernel = &observation.kernel;
                let inputs = self.inputs(kernel, &observation.cases);
                let answered = matches!(observation.outcome, Outcome::Ran | Outcome::Flaky);
                let out = answered.then(|| {
                    let Inputs::Table(table) = &inputs else {
                        return values_of(kernel, &observation.out);
                    };
                    let key = (
                        table.clone(),
                        form::of_results(&kernel.results()),
                        Arc::clone(&observation.out),
                    );
                    if let Some(same_as) = answers.get(&key) {
                        return Outputs::SameAs { same_as: same_as.clone() };
                    }
                    answers.insert(key, kernel.to_string());
                    values_of(kernel, &observation.out)
                });
                model::StoredObservation {
                    kernel: kernel.to_string(),
                    inputs,
                    out,
                    outcome: observation.outcome,
                    detail: observation.detail.clone(),
                    isolated: false,
                    second: observation
                        .second
                        .as_deref()
                        .map(|second| differing(observation, second))
                        .unwrap_or_default(),
                }
            })
            .collect()
    }

    /// The table of inputs, for [`model::Report::inputs`].
    pub fn inputs_table(self) -> Tables {
        self.tables
    }

    fn inputs(&mut self, kernel: &Kernel, cases: &Cases) -> Inputs {
        let params = kernel.params();
        let list = || Values::alike(form::of_params(&params), cases.values());
        if cases.name.is_empty() {
            return Inputs::Cases(list());
        }
        match self.known.get(&cases.name) {
            Some((shapes, known)) if *shapes == params && known == cases => {}
            // Another list under the same name, for example measured by another version: it stays
            // with its kernel.
            Some(_) => return Inputs::Cases(list()),
            None => {
                self.tables.insert(cases.name.clone(), list());
                self.known.insert(cases.name.clone(), (params, cases.clone()));
            }
        }
        Inputs::Table(cases.name.clone())
    }
}

fn values_of(kernel: &Kernel, out: &Arc<[u64]>) -> Outputs {
    Outputs::Values(Values::alike(form::of_results(&kernel.results()), Arc::clone(out)))
}

/// The cases in which the second run answered otherwise.
fn differing(observation: &Observation, second: &[u64]) -> Vec<(usize, Value)> {
    let (results, count) = (observation.kernel.results(), observation.kernel.outputs());
    let pairs = observation.out.chunks(count).zip(second.chunks(count)).enumerate();
    pairs
        .filter(|(_, (first, second))| first != second)
        .map(|(case, (_, second))| (case, values::encode_results(&results, second)))
        .collect()
}
