//! What a comparison with expected results came to, as `fpprobe gate -o` writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Host, Program};

/// The value of [`GateRecord::schema`].
pub const SCHEMA: &str = "fpprobe-gate/1";

/// One call of `fpprobe gate`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Gate")]
pub struct GateRecord {
    /// [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// What wrote it.
    pub program: Program,
    /// Where.
    pub host: Host,
    /// When it ended, RFC 3339, UTC.
    pub finished: String,
    /// `same`, `different` or `unknown`.
    pub verdict: String,
    /// The rest of the line: devices and numbers, or kernels that gave other results, or a reason.
    pub text: String,
    /// Kernels that were compared.
    pub kernels: usize,
    /// Results that were compared.
    pub results: usize,
    /// Blocks of whole domains that were compared.
    pub blocks: usize,
}
