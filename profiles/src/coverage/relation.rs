//! Wrong answers to relations: a device of right answers with one thing changed, judged by the
//! relation alone.

use std::collections::BTreeMap;

use fpprobe_spirv::{Kernel, Op, cases};

use super::lane::{exactly, right};
use super::{LaneStatistics, Tries, WrongResult};
use crate::accuracy::Accuracy;
use crate::encoding::{Encoding, assemble, components};
use crate::environment::Subnormals;
use crate::judge::{Judge, Observations};
use crate::observation::Observation;
use crate::oracle::{Demand, Signature};
use crate::profile::{Part, Profile, Requirement, Rule};
use crate::verdict::{Level, Verdict};

/// How many places are tried, spread over all that there are: each is a judgement of the whole
/// list.
const PLACES: usize = 16;

/// Answers to be changed: case, part of the result, bits.
type ResultChange = Vec<(usize, usize, u64)>;

/// How many of the changes that contradict a relation the judge notices.
pub(super) fn statistics(
    rule: &Rule,
    part: &Part,
    kernel: &Kernel,
    requirement: Requirement,
) -> LaneStatistics {
    let mut statistics = LaneStatistics::default();
    let looked = RelationView { rule, part, kernel };
    let Some(kind) = WrongResult::against(requirement) else { return statistics };
    let stores = answers(kernel, &part.demand);
    let loads = looked.loads();
    let changes = match requirement {
        Requirement::Result => Vec::new(),
        Requirement::OneDirection => {
            looked.others(&stores, |demand| Demand { accuracy: Accuracy::TowardZero, ..demand })
        }
        Requirement::OneTreatment => {
            looked.others(&stores, |demand| demand.with_subnormals(Subnormals::Flush))
        }
        Requirement::Monotonic => looked.neighbours(&stores),
        Requirement::RoundTrip => loads.as_ref().map(codes_of_others).unwrap_or_default(),
        Requirement::EveryCode => left_out(&stores),
    };
    let profile = looked.alone(requirement);
    let judge = Judge::new(&profile);
    let verdict = |changed: &Observation| {
        // Of two observations of one kernel the later counts.
        let device: Vec<Observation> = loads.iter().chain([&stores, changed]).cloned().collect();
        judge.judge(&Observations::new(&device)).rules[0].verdict
    };
    let sound = verdict(&stores).is_met();
    let changed = if requirement == Requirement::RoundTrip {
        loads.as_ref().unwrap_or(&stores)
    } else {
        &stores
    };
    let tries: &mut Tries = statistics.wrong.entry(kind).or_default();
    for change in changes.iter().step_by(changes.len().div_ceil(PLACES).max(1)) {
        tries.tried += 1;
        tries.rejected +=
            usize::from(sound && verdict(&with(changed, change)) == Verdict::Deviates);
    }
    statistics
}

/// The right answers of a kernel.
fn answers(kernel: &Kernel, demand: &Demand) -> Observation {
    let (signature, cases) = (Signature::new(kernel), cases::cases(kernel));
    let answer = |case: &[u64]| {
        let right = |part| {
            right(&signature, case, part, demand, &signature.accepted_part(case, part, demand))
        };
        assemble(kernel, &(0..signature.encodings.len()).map(right).collect::<Vec<u64>>())
    };
    let out: Vec<u64> = cases.iter().flat_map(answer).collect();
    let kernel = *kernel;
    Observation::ran(kernel, cases, out.into())
}

/// What a relation looks at: one kernel of a rule.
struct RelationView<'a> {
    rule: &'a Rule,
    part: &'a Part,
    kernel: &'a Kernel,
}

impl RelationView<'_> {
    /// A profile of the relation alone, on the one kernel.
    fn alone(&self, requirement: Requirement) -> Profile {
        let part = Part { lowerings: vec![*self.kernel], groups: Vec::new(), ..self.part.clone() };
        let rule = Rule {
            requirements: vec![requirement],
            parts: vec![part],
            level: Level::Required,
            ..self.rule.clone()
        };
        let (modes, groups) = (Vec::new(), Vec::new());
        Profile {
            id: String::new(),
            title: String::new(),
            version: String::new(),
            modes,
            rounding_modes: Vec::new(),
            late_modes: Vec::new(),
            compile_time: false,
            groups,
            rules: vec![rule],
        }
    }

    /// The loads that belong to stores: exact, the environments changing places.
    fn loads(&self) -> Option<Observation> {
        let load = Op::find("load").and_then(|op| Kernel::plain(self.kernel.format, op).ok())?;
        let Demand { operands, results, ulp, .. } = self.part.demand;
        let (function, accuracy) = (load.op.function, Accuracy::NearestEven);
        Some(answers(
            &load,
            &Demand { function, operands: results, results: operands, accuracy, ulp },
        ))
    }

    /// One lane as another demand has it.
    fn others(&self, stores: &Observation, change: impl Fn(Demand) -> Demand) -> Vec<ResultChange> {
        let (signature, demand) = (Signature::new(self.kernel), &self.part.demand);
        let other = change(exactly(demand));
        let lanes = self.rule.looks_at(&signature, &stores.cases, demand);
        let changes = lanes.filter_map(|(case, part, _)| {
            let answer = signature
                .accepted_part(stores.cases.case(case), part, &other)
                .members(1)
                .first()
                .copied()?;
            (answer != parts(stores, case)[part]).then(|| vec![(case, part, answer)])
        });
        changes.collect()
    }

    /// Neighbouring inputs whose results change places.
    fn neighbours(&self, stores: &Observation) -> Vec<ResultChange> {
        let signature = Signature::new(self.kernel);
        let lanes = self.rule.looks_at(&signature, &stores.cases, &self.part.demand);
        let mut points: Vec<(usize, i64, usize)> = lanes
            .filter_map(|(case, part, operands)| {
                let layout =
                    operands[0].layout.filter(|layout| !layout.is_nan(operands[0].bits))?;
                Some((part, Encoding::Float(layout).key(operands[0].bits), case))
            })
            .collect();
        points.sort_unstable();
        let pairs = points.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let swap = pairs.filter_map(|pair| {
            let ((part, _, low), (_, _, high)) = (pair[0], pair[1]);
            let [below, above] = [low, high].map(|case| parts(stores, case)[part]);
            (below != above).then(|| vec![(low, part, above), (high, part, below)])
        });
        swap.collect()
    }
}

/// Loads of finite codes that give what the one before gives.
fn codes_of_others(loads: &Observation) -> Vec<ResultChange> {
    let signature = Signature::new(&loads.kernel);
    let channels = loads.kernel.format.channels();
    let finite = |case: usize, part: usize| {
        signature.operands(loads.cases.case(case), part)[0].bits < channels[part].coding.positive()
    };
    let places = (1..loads.cases.len())
        .flat_map(|case| (0..signature.encodings.len()).map(move |part| (case, part)));
    places
        .filter(|(case, part)| finite(*case, *part) && finite(case - 1, *part))
        .map(|(case, part)| vec![(case, part, loads.answer(case - 1)[part])])
        .collect()
}

/// Every answer that is a certain code made the one below.
fn left_out(stores: &Observation) -> Vec<ResultChange> {
    let mut given: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
    for case in 0..stores.cases.len() {
        for (part, code) in parts(stores, case).into_iter().enumerate() {
            given.entry((part, code)).or_default().push(case);
        }
    }
    let finite = |part: usize, code: u64| {
        code > 0 && code < stores.kernel.format.channels()[part].coding.positive()
    };
    let codes = given.into_iter().filter(|((part, code), _)| finite(*part, *code));
    codes
        .map(|((part, code), cases)| cases.into_iter().map(|case| (case, part, code - 1)).collect())
        .collect()
}

fn parts(observation: &Observation, case: usize) -> Vec<u64> {
    components(&observation.kernel, observation.answer(case))
}

/// The observation with some answers changed.
fn with(observation: &Observation, change: &ResultChange) -> Observation {
    let mut out = observation.out.to_vec();
    let width = out.len() / observation.cases.len().max(1);
    for (case, part, bits) in change {
        let answer = &mut out[case * width..(case + 1) * width];
        let mut parts = components(&observation.kernel, answer);
        parts[*part] = *bits;
        answer.copy_from_slice(&assemble(&observation.kernel, &parts));
    }
    Observation { out: out.into(), ..observation.clone() }
}
