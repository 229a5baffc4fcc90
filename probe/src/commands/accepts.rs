//! `fpprobe accepts PROFILE KERNEL`

use std::io::Write as _;

use fpprobe_profiles::accepts::accepts;
use fpprobe_reports::model::Value;
use fpprobe_reports::values;
use serde::Serialize;

use crate::cli::AcceptsArgs;
use crate::exit::Status;
use crate::{lines, output, profiles, select};

/// A line of standard output.
#[derive(Serialize)]
struct AcceptsLine<'a> {
    profile: &'a str,
    kernel: &'a str,
    #[serde(rename = "in")]
    inputs: Vec<Value>,
    accepts: serde_json::Value,
    rules: Vec<String>,
}

/// Shows what a profile accepts.
pub fn main(args: &AcceptsArgs) -> anyhow::Result<Status> {
    let profile = profiles::profile(&args.profile)?;
    let kernel = select::kernel(&args.kernel)?;
    let cases = lines::given(&kernel, &args.input)?.map_or_else(|| lines::read(&kernel), Ok)?;
    let mut out = output::stdout();
    for case in cases.chunks(kernel.arity()) {
        let (accepted, rules) = accepts(&profile, &kernel, case);
        let inputs = values::encode_case(&kernel, case);
        let line = AcceptsLine {
            profile: &profile.id,
            kernel: &kernel.to_string(),
            inputs,
            accepts: accepted.to_json(),
            rules,
        };
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(Status::Done)
}
