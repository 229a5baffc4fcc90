//! The JSON schema of the report.

use crate::model::Report;

/// The JSON schema of [`Report`], draft 2020-12, as `fpprobe schema` prints it.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}
