//! Observations out of a report, checked on the way.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Cases, Kernel, ParseError, Shape};

use super::form;
use crate::model::{self, Inputs, Outputs, Tables, Value, Values};
use crate::values::{self, ValueError};

/// Most answers that one device may have, counting those that a reference stands for: a few bytes
/// of `same_as` stand for a whole list, and each answer is judged. An exhaustive run of lavapipe
/// has 84 million.
const MOST: usize = 1 << 28;

/// What [`read_device`] understood, and what it did not.
#[derive(Clone, PartialEq, Debug)]
pub struct DeviceContent {
    /// The observations of kernels that this version knows, in the order of the report.
    pub observations: Vec<Observation>,
    /// Kernels of other versions: they stay in the report but cannot be judged.
    pub unknown: Vec<UnknownKernel>,
}

/// A kernel id that this version does not know.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "kernel `{kernel}` of the report is not one that this version knows, and is left out: {cause}"
)]
pub struct UnknownKernel {
    /// The id.
    pub kernel: String,
    /// Why it does not parse.
    pub cause: ParseError,
}

/// Why the observations of a report contradict themselves.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// An input list that is not in the table.
    #[error("kernel `{kernel}` refers to the inputs `{table}`, which the report does not hold")]
    NoInputs {
        /// Kernel id.
        kernel: String,
        /// Name of the missing list.
        table: String,
    },
    /// `same_as` without a kernel of that name further up: missing, itself, further down, or a
    /// circle.
    #[error(
        "kernel `{kernel}` says it answered the same as `{same_as}`, which has no answers before it"
    )]
    NoSuchAnswers {
        /// Kernel id.
        kernel: String,
        /// The kernel it refers to.
        same_as: String,
    },
    /// `same_as` a kernel with other inputs.
    #[error(
        "kernel `{kernel}` says it answered the same as `{same_as}`, which was asked other inputs"
    )]
    OtherInputs {
        /// Kernel id.
        kernel: String,
        /// The kernel it refers to.
        same_as: String,
    },
    /// Not one answer per case.
    #[error("kernel `{kernel}` was asked {cases} cases but has {answers} answers")]
    Count {
        /// Kernel id.
        kernel: String,
        /// Number of inputs.
        cases: usize,
        /// Number of answers.
        answers: usize,
    },
    /// Answers where there can be none, or none where there must be some.
    #[error("kernel `{kernel}` has outcome `{outcome}` and yet {what}")]
    Outcome {
        /// Kernel id.
        kernel: String,
        /// Name of the outcome.
        outcome: String,
        /// What contradicts it.
        what: &'static str,
    },
    /// A second answer to a case that was not run.
    #[error(
        "kernel `{kernel}` was asked {cases} cases but has a second answer to case {case}, counted from 0"
    )]
    Second {
        /// Kernel id.
        kernel: String,
        /// Number of inputs.
        cases: usize,
        /// Case number, from 0.
        case: usize,
    },
    /// More answers than any run gives.
    #[error(
        "up to kernel `{kernel}` the device has more than {MOST} answers, which no run gives: \
         was the report made by hand? leave out observations"
    )]
    TooMany {
        /// Kernel id.
        kernel: String,
    },
    /// A value that is none.
    #[error("kernel `{kernel}`, case {case}: {cause}")]
    Value {
        /// Kernel id.
        kernel: String,
        /// Case number, from 0.
        case: usize,
        /// What is wrong.
        cause: ValueError,
    },
}

/// The observations of one device of a report, for judging them again.
pub fn read_device(
    observations: &[model::StoredObservation],
    tables: &Tables,
) -> Result<DeviceContent, RecordError> {
    let mut reader = RecordReader {
        tables,
        cases: HashMap::new(),
        earlier: HashMap::new(),
        answers: HashMap::new(),
        room: MOST,
    };
    let mut recorded =
        DeviceContent { observations: Vec::with_capacity(observations.len()), unknown: Vec::new() };
    for observation in observations {
        match observation.kernel.parse::<Kernel>() {
            Ok(kernel) => recorded.observations.push(reader.observation(kernel, observation)?),
            Err(cause) => {
                reader.skip(observation)?;
                recorded.unknown.push(UnknownKernel { kernel: observation.kernel.clone(), cause });
            }
        }
    }
    Ok(recorded)
}

/// Answers that a later observation may refer to.
#[derive(Clone, Copy)]
struct Earlier<'a> {
    inputs: &'a Inputs,
    values: &'a Values,
}

struct RecordReader<'a> {
    tables: &'a Tables,
    /// Input lists already read, so that kernels share them again.
    cases: HashMap<(&'a str, Vec<Shape>), Cases>,
    earlier: HashMap<&'a str, Earlier<'a>>,
    /// Answers already read, by where they stand and how they were read, so that kernels share
    /// them again.
    answers: HashMap<(*const Values, Vec<Shape>), Arc<[u64]>>,
    /// Answers that may still come.
    room: usize,
}

impl<'a> RecordReader<'a> {
    fn observation(
        &mut self,
        kernel: Kernel,
        raw: &'a model::StoredObservation,
    ) -> Result<Observation, RecordError> {
        let cases = self.cases(&kernel, raw)?;
        let room = self.room.checked_sub(cases.len());
        self.room = room.ok_or_else(|| RecordError::TooMany { kernel: raw.kernel.clone() })?;
        let answered = matches!(raw.outcome, Outcome::Ran | Outcome::Flaky);
        let contradiction = |what| RecordError::Outcome {
            kernel: raw.kernel.clone(),
            outcome: format!("{:?}", raw.outcome).to_lowercase(),
            what,
        };
        let out: Arc<[u64]> = match self.answers(raw)? {
            None if answered => return Err(contradiction("no answers")),
            Some(_) if !answered => return Err(contradiction("answers")),
            None => Arc::default(),
            Some(answers) => {
                if answers.values.len() != cases.len() {
                    let (cases, answers) = (cases.len(), answers.values.len());
                    return Err(RecordError::Count { kernel: raw.kernel.clone(), cases, answers });
                }
                self.earlier.entry(&raw.kernel).or_insert(answers);
                match self.answers.entry((std::ptr::from_ref(answers.values), kernel.results())) {
                    Entry::Occupied(read) => Arc::clone(read.get()),
                    Entry::Vacant(place) => {
                        Arc::clone(place.insert(read_answers(&kernel, answers.values)?))
                    }
                }
            }
        };
        if !raw.second.is_empty() && raw.outcome != Outcome::Flaky {
            return Err(contradiction("a second answer"));
        }
        let second = if raw.second.is_empty() {
            None
        } else {
            Some(read_second(&kernel, &raw.second, &out)?)
        };
        Ok(Observation {
            kernel,
            cases,
            outcome: raw.outcome,
            detail: raw.detail.clone(),
            out,
            second,
        })
    }

    /// Keeps the answers of a kernel that this version does not know: others may refer to them.
    fn skip(&mut self, raw: &'a model::StoredObservation) -> Result<(), RecordError> {
        if let Some(answers) = self.answers(raw)? {
            self.earlier.entry(&raw.kernel).or_insert(answers);
        }
        Ok(())
    }

    /// The answers of an observation, its own or another's. Only earlier ones can be referred to,
    /// so there is no circle.
    fn answers(
        &self,
        raw: &'a model::StoredObservation,
    ) -> Result<Option<Earlier<'a>>, RecordError> {
        match &raw.out {
            None => Ok(None),
            Some(Outputs::Values(values)) => Ok(Some(Earlier { inputs: &raw.inputs, values })),
            Some(Outputs::SameAs { same_as }) => {
                let names = || (raw.kernel.clone(), same_as.clone());
                let Some(earlier) = self.earlier.get(same_as.as_str()) else {
                    let (kernel, same_as) = names();
                    return Err(RecordError::NoSuchAnswers { kernel, same_as });
                };
                if *earlier.inputs != raw.inputs {
                    let (kernel, same_as) = names();
                    return Err(RecordError::OtherInputs { kernel, same_as });
                }
                Ok(Some(*earlier))
            }
        }
    }

    fn cases(
        &mut self,
        kernel: &Kernel,
        raw: &'a model::StoredObservation,
    ) -> Result<Cases, RecordError> {
        let params = kernel.params();
        let table = match &raw.inputs {
            Inputs::Cases(cases) => return read_cases(kernel, &params, "", cases),
            Inputs::Table(table) => table,
        };
        let key = (table.as_str(), params);
        if let Some(cases) = self.cases.get(&key) {
            return Ok(cases.clone());
        }
        let Some(cases) = self.tables.get(table) else {
            return Err(RecordError::NoInputs { kernel: raw.kernel.clone(), table: table.clone() });
        };
        let cases = read_cases(kernel, &key.1, table, cases)?;
        self.cases.insert(key, cases.clone());
        Ok(cases)
    }
}

fn read_cases(
    kernel: &Kernel,
    params: &[Shape],
    name: &str,
    cases: &Values,
) -> Result<Cases, RecordError> {
    let arity = kernel.arity();
    if let Some(bits) = cases.of(&form::of_params(params)).filter(|bits| form::are_of(params, bits))
    {
        return Ok(Cases::new(name, arity, Arc::clone(bits)));
    }
    let mut bits = Vec::with_capacity(cases.len() * arity);
    for (index, case) in cases.iter().enumerate() {
        let operands = values::operands(&case);
        let read = operands
            .and_then(|operands| values::decode_params(&mut bits, params, operands, kernel));
        read.map_err(|cause| in_case(kernel, index, cause))?;
    }
    Ok(Cases::new(name, arity, bits))
}

fn read_answers(kernel: &Kernel, answers: &Values) -> Result<Arc<[u64]>, RecordError> {
    let results = kernel.results();
    if let Some(bits) =
        answers.of(&form::of_results(&results)).filter(|bits| form::are_of(&results, bits))
    {
        return Ok(Arc::clone(bits));
    }
    let mut bits = Vec::with_capacity(answers.len() * kernel.outputs());
    for (index, answer) in answers.iter().enumerate() {
        values::decode_results(&mut bits, &results, &answer)
            .map_err(|cause| in_case(kernel, index, cause))?;
    }
    Ok(bits.into())
}

fn read_second(
    kernel: &Kernel,
    second: &[(usize, Value)],
    out: &[u64],
) -> Result<Arc<[u64]>, RecordError> {
    let count = kernel.outputs();
    let mut bits = out.to_vec();
    for (case, value) in second {
        let answer =
            values::decode_answer(kernel, value).map_err(|cause| in_case(kernel, *case, cause))?;
        let Some(place) = bits.chunks_mut(count).nth(*case) else {
            let (kernel, cases) = (kernel.to_string(), out.len() / count);
            return Err(RecordError::Second { kernel, cases, case: *case });
        };
        place.copy_from_slice(&answer);
    }
    Ok(bits.into())
}

fn in_case(kernel: &Kernel, case: usize, cause: ValueError) -> RecordError {
    RecordError::Value { kernel: kernel.to_string(), case, cause }
}
