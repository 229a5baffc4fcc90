//! `fpprobe eval`

use std::io::Write;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::model::Value;
use fpprobe_reports::values;
use fpprobe_spirv::cases::{self, named};
use fpprobe_spirv::{Cases, Kernel};
use serde::Serialize;

use crate::cli::EvalArgs;
use crate::exit::Status;
use crate::progress::Progress;
use crate::run::RunStatus;
use crate::session::Session;
use crate::supervisor::{Batching, DeviceSession, Measurement, WorkItem, measure, side_by_side};
use crate::{lines, output, select};
use fpprobe_system::usage::{say, usage_error};
use fpprobe_worker::protocol::MODULES;
use fpprobe_worker::protocol::Runs;

/// Cases of one batch; longer lists are asked in pieces.
const PIECE: usize = 1 << 14;

/// A line of standard output.
#[derive(Serialize)]
struct EvalLine<'a> {
    device: &'a str,
    kernel: &'a str,
    #[serde(rename = "in")]
    inputs: Vec<Value>,
    /// Absent unless the outcome is `ran` or `flaky`.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<Value>,
    /// The same in decimals.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    outcome: Outcome,
    /// The other answer of a flaky kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<Value>,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
}

/// Runs one kernel on given bits.
pub fn main(session: &Session, args: &EvalArgs) -> anyhow::Result<Status> {
    let kernel = select::kernel(&args.kernel)?;
    let given = lines::given(&kernel, &args.input)?;
    let selected = match &args.among {
        Some(list) => InputLists::among(&kernel, list, given)?,
        // Who types cases can still leave with one Ctrl-C.
        None => InputLists::alone(&kernel, &given.map_or_else(|| lines::read(&kernel), Ok)?),
    };
    let settings = session.settings(&args.measuring)?;
    let progress = Progress::new(session.verbose);
    let quiet = |event: &crate::event::RunEvent<'_>| progress.show_failures(event);
    let rows = session.survey(&settings, &quiet)?;
    session.warn_of_absent(&rows);
    let targets = select::devices(&rows, session.selections(&args.devices.device))?;
    let work: Vec<WorkItem> =
        selected.lists.into_iter().map(|cases| WorkItem { kernel, cases }).collect();
    let measured = side_by_side(&targets, |device, (_, target)| match &target.found.obstacle {
        Some(_) => Ok(Measurement::default()),
        None => measure(
            &DeviceSession::new(device, target, &settings, &quiet),
            &work,
            Batching::Alone(Runs::Recompiled),
            None,
        ),
    });
    let mut out = output::stdout();
    let mut run_status = RunStatus::default();
    let mut skipped = 0;
    for ((_, target), measured) in targets.iter().zip(measured) {
        let measured = measured.map_err(anyhow::Error::msg)?;
        let key = &target.found.identity.key;
        let observations = if let Some(obstacle) = &target.found.obstacle {
            run_status.obstructed();
            work.iter().map(|item| obstructed(item, obstacle)).collect()
        } else {
            run_status.device(&measured);
            skipped += measured.skipped;
            measured.observations
        };
        for observation in &observations {
            write(key, observation, selected.shown.as_deref(), &mut out)?;
        }
    }
    out.flush()?;
    if let Some(cause) = session.stop.cause().filter(|_| skipped > 0) {
        say(&format!("{cause}: some inputs were not asked"));
        run_status.incidents(1);
    }
    Ok(if work.is_empty() { Status::Done } else { run_status.status() })
}

/// The inputs, and the results to show.
struct InputLists {
    lists: Vec<Cases>,
    /// The one case to show, of many that are asked.
    shown: Option<Vec<u64>>,
}

impl InputLists {
    /// These cases, all of them shown.
    fn alone(kernel: &Kernel, cases: &[u64]) -> InputLists {
        let piece = if kernel.route.is_folded() { MODULES } else { PIECE };
        let pieces = cases.chunks(piece * kernel.arity());
        InputLists {
            lists: pieces.map(|piece| Cases::new("", kernel.arity(), piece)).collect(),
            shown: None,
        }
    }

    /// A list of the kernel's, in one piece.
    fn among(kernel: &Kernel, list: &str, shown: Option<Vec<u64>>) -> anyhow::Result<InputLists> {
        let cases = named(kernel, list).ok_or_else(|| {
            let known = [cases::cases(kernel), cases::boundary(kernel)].map(|cases| cases.name);
            usage_error(format!(
                "`{kernel}` is asked no list `{list}`; it has `{}`",
                known.join("` and `")
            ))
        })?;
        if let Some(case) =
            shown.as_ref().filter(|case| !cases.iter().any(|known| known == case.as_slice()))
        {
            let inputs: Vec<String> =
                values::encode_case(kernel, case).iter().map(values::argument).collect();
            return Err(usage_error(format!("`{}` is no case of `{list}`", inputs.join(" "))));
        }
        Ok(InputLists { lists: vec![cases], shown })
    }
}

fn obstructed(item: &WorkItem, obstacle: &str) -> Observation {
    Observation {
        kernel: item.kernel,
        cases: item.cases.clone(),
        outcome: Outcome::Unsupported,
        detail: obstacle.to_owned(),
        out: [].into(),
        second: None,
    }
}

fn write<'o>(
    device: &str,
    observation: &'o Observation,
    shown: Option<&[u64]>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let kernel = &observation.kernel;
    let id = kernel.to_string();
    let width = kernel.outputs();
    let cases = observation.cases.iter().enumerate();
    for (index, case) in cases.filter(|(_, case)| shown.is_none_or(|shown| shown == *case)) {
        let own = |values: &'o [u64]| values.get(index * width..(index + 1) * width);
        let encoded = |bits: &[u64]| values::encode_answer(kernel, bits);
        let line = EvalLine {
            device,
            kernel: &id,
            inputs: values::encode_case(kernel, case),
            out: own(&observation.out).map(encoded),
            value: own(&observation.out).map(|bits| values::decimal_answer(kernel, bits)),
            outcome: observation.outcome,
            second: observation.second.as_deref().and_then(own).map(encoded),
            detail: &observation.detail,
        };
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)?;
    }
    Ok(())
}
