//! The JSON schemas of the documents that are written.

use schemars::schema_for;
use serde_json::Value;

use crate::check::{self, CheckResult};
use crate::diff::{self, Diff};
use crate::expected::{self, Expected};
use crate::gate::{self, GateRecord};
use crate::inventory::{self, Inventory};
use crate::model::{self, Report};
use crate::render::{caps, recipes};
use crate::screen::{self, Screen};
use crate::sweep::{self, Sweep};

/// A document with its schema, draft 2020-12.
pub struct Document {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The value of its `schema`: name and version.
    pub id: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// Its schema.
    pub schema: fn() -> Value,
}

/// Every document, the report first.
pub static DOCUMENTS: &[Document] = &[
    Document { name: "report", id: model::SCHEMA, about: "what run and judge write", schema },
    Document {
        name: "diff",
        id: diff::SCHEMA,
        about: "what diff writes",
        schema: || schema_for!(Diff).to_value(),
    },
    Document {
        name: "check",
        id: check::SCHEMA,
        about: "what check writes",
        schema: || schema_for!(CheckResult).to_value(),
    },
    Document {
        name: "inventory",
        id: inventory::SCHEMA,
        about: "what inventory writes",
        schema: || schema_for!(Inventory).to_value(),
    },
    Document {
        name: "expected",
        id: expected::SCHEMA,
        about: "what gate --record writes",
        schema: || schema_for!(Expected).to_value(),
    },
    Document {
        name: "gate",
        id: gate::SCHEMA,
        about: "what gate writes",
        schema: || schema_for!(GateRecord).to_value(),
    },
    Document {
        name: "sweep",
        id: sweep::SCHEMA,
        about: "what sweep writes",
        schema: || schema_for!(Sweep).to_value(),
    },
    Document {
        name: "screen",
        id: screen::SCHEMA,
        about: "what screen writes",
        schema: || schema_for!(Screen).to_value(),
    },
    Document {
        name: "caps",
        id: caps::SCHEMA,
        about: "what run --format caps writes",
        schema: caps::schema,
    },
    Document {
        name: "recipes",
        id: recipes::SCHEMA,
        about: "what run --format recipes writes",
        schema: recipes::schema,
    },
];

/// The JSON schema of [`Report`], as `fpprobe schema` prints it.
pub fn schema() -> Value {
    schema_for!(Report).to_value()
}
