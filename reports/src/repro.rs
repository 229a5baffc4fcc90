//! A cause as a folder for a driver engineer who has no fpprobe: the simplest failing lane as a
//! script that fails by itself, as SPIR-V and as GLSL, and the text of an issue.

mod broken;
mod expected;
mod issue;

use fpprobe_profiles::Profile;
use fpprobe_profiles::accepted::Accepted;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_spirv::emit::{Case, EmitFormat};
use fpprobe_spirv::{BuildError, Cases, Kernel, ParseError};

use self::broken::{BrokenSentence, broken};
use self::expected::ExpectedResult;
use crate::model::{Evidence, Report};
use crate::numbered::NumberedCause;
use crate::render::lane;
use crate::support::Support;
use crate::values::{ValueError, decode_answer, decode_case};

/// The files of a case, in this order, with what each is and what it is for.
const FORMS: [(EmitFormat, &str, &str); 4] = [
    (
        EmitFormat::Amber,
        "case.amber",
        "AmberScript; it fails on the recorded result: `amber case.amber`",
    ),
    (
        EmitFormat::Spvasm,
        "case.spvasm",
        "SPIR-V assembly of the module; layout and inputs stand in its comments",
    ),
    (
        EmitFormat::Spv,
        "case.spv",
        "the same module: `spirv-val --target-env vulkan1.3 case.spv` (SPIRV-Tools 2024.1 or later)",
    ),
    (EmitFormat::Glsl, "case.comp", "GLSL: `glslang -V --target-env vulkan1.1 case.comp`"),
];

/// Name of the issue text.
const ISSUE: &str = "issue.md";
/// Name of the lane.
const LANE: &str = "lane.json";

/// One file of the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReproFile {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What reproduces a cause.
#[derive(Debug)]
pub struct Repro {
    /// The files.
    pub files: Vec<ReproFile>,
    /// Files that this kernel does not have, each with the reason.
    pub missing: Vec<(&'static str, BuildError)>,
}

/// Why a cause of a report cannot be reproduced.
#[derive(Debug, thiserror::Error)]
pub enum ReproError {
    /// The report holds no lane.
    #[error("cause {0} has no failing lane in the report; measure again with `fpprobe run`")]
    NoLane(String),
    /// A kernel of another version of this program.
    #[error(
        "the kernel of cause {id} is unknown here: {cause}; use the fpprobe that wrote the report"
    )]
    Kernel {
        /// The cause's id.
        id: String,
        /// What is unknown.
        cause: ParseError,
    },
    /// A lane that does not fit its kernel.
    #[error("the lane of cause {id} does not fit its kernel: {cause}")]
    Lane {
        /// The cause's id.
        id: String,
        /// What does not fit.
        cause: ValueError,
    },
    /// The lane cannot be written as JSON.
    #[error("failed to write the lane as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A failing lane, read.
struct FailingCase<'a> {
    kernel: Kernel,
    evidence: &'a Evidence,
    case: Vec<u64>,
    expected: ExpectedResult,
}

/// The files for a cause of a report. The profiles have the sentences that its rules quote.
pub fn repro(
    report: &Report,
    numbered: NumberedCause<'_>,
    profiles: &[Profile],
) -> Result<Repro, ReproError> {
    let NumberedCause { device, cause, .. } = numbered;
    let lane = FailingCase::new(numbered)?;
    let cases = Cases::new("", lane.kernel.arity(), lane.case.clone());
    let note = lane.note(&cause.headline);
    let case = Case {
        kernel: &lane.kernel,
        cases: &cases,
        storage16: Support::new(&device.claims).storage16(),
        expected: Some(&lane.expected.components),
        note: &note,
    };
    let (mut files, mut missing) = (Vec::new(), Vec::new());
    for (form, name, _) in FORMS {
        match case.emit(form) {
            Ok(bytes) => files.push(ReproFile { name, bytes }),
            Err(why) => missing.push((name, why)),
        }
    }
    let sentences: Vec<BrokenSentence<'_>> = broken(report, numbered, lane.evidence, profiles);
    let issue = issue::text(report, numbered, &lane, &sentences, (&files, &missing));
    files.push(ReproFile { name: LANE, bytes: serde_json::to_vec_pretty(lane.evidence)? });
    files.insert(0, ReproFile { name: ISSUE, bytes: issue.into_bytes() });
    Ok(Repro { files, missing })
}

impl<'a> FailingCase<'a> {
    /// The simplest lane of a cause, of a shader where one shows it.
    fn new(NumberedCause { cause, .. }: NumberedCause<'a>) -> Result<FailingCase<'a>, ReproError> {
        let id = || cause.id.clone();
        let is_of_shader = |lane: &&Evidence| {
            lane.kernel.parse().is_ok_and(|kernel| EmitFormat::Spvasm.spells(&kernel))
        };
        let evidence = cause.evidence.iter().find(is_of_shader).or(cause.evidence.first());
        let evidence = evidence.ok_or_else(|| ReproError::NoLane(id()))?;
        let kernel: Kernel =
            evidence.kernel.parse().map_err(|cause| ReproError::Kernel { id: id(), cause })?;
        let unfit = |cause| ReproError::Lane { id: id(), cause };
        let case = decode_case(&kernel, &evidence.inputs).map_err(unfit)?;
        let observed = decode_answer(&kernel, &evidence.out).map_err(unfit)?;
        let accepted = Accepted::from_json(&Encoding::of_result(&kernel), &evidence.accepts);
        let expected = ExpectedResult::new(&kernel, &observed, accepted.as_ref());
        Ok(FailingCase { kernel, evidence, case, expected })
    }

    /// The lane in the comments of each file.
    fn note(&self, headline: &str) -> String {
        let mut lines = vec![format!("cause: {headline}")];
        for line in lane::lines(self.evidence, lane::ACCEPTED) {
            let value = [line.hex.as_str(), line.value.as_str()]
                .into_iter()
                .filter(|part| !part.is_empty());
            lines.push(format!("{}: {}", line.name, value.collect::<Vec<_>>().join("  ")));
        }
        lines.extend(self.expected.weaker.map(|why| format!("expectations: {why}")));
        lines.join("\n")
    }
}
