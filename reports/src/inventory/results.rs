//! Results reduced to digests. They are compared within one inventory and are kept nowhere.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use fpprobe_profiles::Observation;
use fpprobe_profiles::encoding::{Encoding, PartReader};
use fpprobe_spirv::FloatLayout;

/// What one kernel gave for one list of cases.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ResultDigest {
    /// Of kernel and cases.
    pub question: u64,
    /// Of the results, every NaN as one; of the outcome where there are none.
    pub result: u64,
    /// Of the results with the bits of NaNs; none where these change from run to run.
    pub bits: Option<u64>,
}

impl ResultDigest {
    pub(super) fn of(observation: &Observation) -> ResultDigest {
        let question = digest(|hasher| {
            observation.kernel.hash(hasher);
            observation.cases.iter().for_each(|case| case.hash(hasher));
        });
        let mut runs = observation
            .runs()
            .filter(|run| !run.is_empty())
            .map(|run| canonical_digest(observation, run));
        let first = runs.next();
        let stable = runs.next().is_none_or(|second| Some(second) == first);
        let result = match first {
            Some(result) if stable => result,
            // There are no results, or they differ from run to run.
            _ => digest(|hasher| observation.outcome.hash(hasher)),
        };
        let bits =
            observation.second.is_none().then(|| digest(|hasher| observation.out.hash(hasher)));
        ResultDigest { question, result, bits }
    }
}

/// The parts of results, case by case; NaNs of one encoding are one.
pub(super) struct CanonicalResults {
    reader: PartReader,
    encodings: Vec<Encoding>,
}

impl CanonicalResults {
    pub(super) fn of(observation: &Observation) -> CanonicalResults {
        let kernel = &observation.kernel;
        CanonicalResults { reader: PartReader::new(kernel), encodings: Encoding::of_result(kernel) }
    }

    /// The parts of the result of a case.
    pub(super) fn parts(&self, run: &[u64], case: usize) -> impl Iterator<Item = u64> {
        self.encodings.iter().enumerate().map(move |(part, encoding)| {
            let bits = self.reader.part(run, case, part);
            match encoding {
                Encoding::Float(layout) if layout.is_nan(bits) => quiet(*layout),
                _ => bits,
            }
        })
    }
}

fn quiet(layout: FloatLayout) -> u64 {
    layout.infinity() | layout.quiet_bit()
}

fn canonical_digest(observation: &Observation, run: &[u64]) -> u64 {
    let results = CanonicalResults::of(observation);
    digest(|hasher| {
        for case in 0..observation.cases.len() {
            results.parts(run, case).for_each(|part| hasher.write_u64(part));
        }
    })
}

fn digest(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}
