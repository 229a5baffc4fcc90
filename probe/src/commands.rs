//! One file per command.

pub mod accepts;
pub mod answers;
pub mod baseline;
pub mod check;
pub mod completions;
pub mod config;
pub mod coverage;
pub mod daemon;
pub mod diff;
pub mod doctor;
pub mod eval;
pub mod gate;
pub mod history;
pub mod inventory;
pub mod judge;
pub mod kernels;
pub mod list;
pub mod man;
pub mod merge;
pub mod profiles;
pub mod repro;
pub mod rules;
pub mod run;
pub mod schema;
pub mod show;
pub mod sweep;
