//! What is kept and shown: the [`Report`] model and its schema, and the renderers.
//!
//! - [`model`]: the report itself, version 1. [`schema()`] describes it.
//! - [`values`], [`decimal`], [`words`]: raw bits as JSON, as decimals, and accepted sets in words.
//! - [`record`]: observations into the report and out of it. [`table`]: the same as a Parquet file,
//!   which [`files`] puts beside `report.json`. [`load`], [`limited`], [`save`]: files.
//!   [`journal`]: a run in progress.
//! - [`container`]: the compressed form of a report. [`store`]: a folder of them, with an index and
//!   limits of age, number and size.
//! - [`support`]: which kernels a device can run, by its claims.
//! - [`traits`]: what a device does in named respects; [`questions`]: what people ask, answered by
//!   traits.
//! - [`texels`]: what becomes of numbers and texels, path by path.
//! - [`cause`]: why lanes fail, across rules and profiles; [`numbered`]: by number; [`repro`]: one
//!   as a folder for a driver engineer. [`broken_rules`]: the rules that a device breaks, each
//!   once.
//! - [`claims`]: what the driver says, beside what was seen; [`demanded`]: what it would have to
//!   say. [`verified`]: modes as the device shows them. [`vulkan_profile`]: Vulkan Profiles files,
//!   and whether a device does what one demands.
//! - [`change`]: a change, the same in every comparison. [`diff`]: what changed between two
//!   reports; [`common`]: what both asked. [`baseline`], [`check`]: deviations that are accepted,
//!   and the gate. [`deviations`]: required rules that a device does not meet. [`failed`]: every
//!   lane that a rule does not accept.
//! - [`inventory`]: the reports of many hosts: equal devices, and who differs from them.
//!   [`expected`]: what equal devices are expected to compute.
//! - [`screen`]: what a device computes differently from time to time.
//! - [`sweep`]: whole domains: their report, fingerprints, and what changed since an older one.
//! - [`render`]: one file per output format behind one trait.
//!
//! Invariants: a value is its bits, never a float; a report is self-contained; nothing that a
//! driver said reaches an output unescaped; a file appears whole or not at all.
#![forbid(unsafe_code)]

pub mod baseline;
pub mod broken_rules;
pub mod cause;
pub mod change;
pub mod check;
pub mod claims;
pub mod common;
pub mod container;
pub mod decimal;
pub mod demanded;
pub mod deviations;
pub mod diff;
pub mod evidence;
pub mod expected;
pub mod failed;
pub mod files;
pub mod fleet_rows;
pub mod gate;
pub mod host;
pub mod inventory;
pub mod journal;
pub mod judged;
pub mod limited;
pub mod load;
pub mod model;
pub mod numbered;
pub mod questions;
pub mod record;
pub mod render;
pub mod repro;
pub mod save;
mod schema;
pub mod scoreboard;
pub mod screen;
pub mod selection;
mod small_table;
pub mod store;
pub mod sum;
pub mod support;
pub mod sweep;
pub mod table;
pub mod texels;
pub mod time;
pub mod traits;
mod undecoded;
pub mod values;
pub mod verified;
pub mod vulkan_profile;
pub mod words;

pub use fpprobe_system::escape;
pub use model::Report;
pub use schema::{DOCUMENTS, Document, schema};
