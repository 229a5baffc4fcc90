//! `fpprobe kernels`

use std::io::{IsTerminal as _, Write as _};

use anyhow::Context as _;
use fpprobe_reports::values;
use fpprobe_spirv::catalogue::{self, Extent};
use fpprobe_spirv::emit::{EmitFormat, emit};
use fpprobe_spirv::{Cases, Controls, Kernel};

use crate::cli::KernelsArgs;
use crate::exit::Status;
use crate::{output, select};
use fpprobe_system::usage::{OrUsage as _, usage_error};

/// Lists kernels, or emits one.
pub fn main(args: &KernelsArgs) -> anyhow::Result<Status> {
    if let (Some(form), Some(id)) = (args.emit, &args.filter) {
        return emit_one(id, form, &args.input);
    }
    let filters: Vec<String> = args.filter.iter().cloned().collect();
    let all = if filters.is_empty() {
        catalogue::plain()
    } else {
        Extent::Default.kernels(&[Controls::NONE], |_| true)
    };
    let kernels = select::kernels(&filters, all)?;
    let width = kernels.iter().map(|kernel| kernel.to_string().len()).max().unwrap_or(0);
    let mut out = output::stdout();
    for kernel in &kernels {
        writeln!(out, "{:<width$}  {}", kernel.to_string(), kernel.op.about)?;
    }
    out.flush()?;
    Ok(Status::Done)
}

/// Writes one kernel with its inputs to standard output.
fn emit_one(id: &str, form: EmitFormat, input: &[String]) -> anyhow::Result<Status> {
    let kernel: Kernel = select::kernel(id)?;
    let cases = if input.is_empty() {
        Extent::Default.cases(&kernel)
    } else {
        Cases::new("", kernel.arity(), values::parse_case(&kernel, input).or_usage()?)
    };
    if form == EmitFormat::Spv && std::io::stdout().is_terminal() {
        return Err(usage_error(
            "SPIR-V binary is nothing for a terminal: redirect it, or use `--emit spvasm`",
        ));
    }
    let bytes = emit(&kernel, &cases, form).with_context(|| format!("failed to emit {kernel}"))?;
    let mut out = output::stdout();
    out.write_all(&bytes)?;
    out.flush()?;
    Ok(Status::Done)
}
