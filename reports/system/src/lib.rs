//! All that fpprobe knows of the operating system that it runs on. No other crate names an
//! interface of one: what another system lacks, or has otherwise, is written here and nowhere else.
//!
//! - Processes: [`process`] (this program started again, and what a process does for itself),
//!   [`mod@line`] (a worker and the pipes to it), [`memory`] (what both share), [`ending`] and
//!   [`descendants`] (how processes end).
//! - Signals: [`cancellation`] (of a measurement), [`signals`] (of a service, and of an abort).
//! - The host: [`machine`], [`gpu`] (device nodes, load, sensors), [`loader`] (where that of Vulkan
//!   looks).
//! - Files and terminals: [`files`], [`folders`], [`terminal`], [`usage`] (messages on standard
//!   error), with [`escape`] for what others wrote.
//! - Services: [`service`] (the service manager and its log), [`socket`] (who controls a daemon).
//!
//! Invariant: it loads no driver, and knows no kernel, rule or report.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "system calls that no safe crate offers")]
mod calls;
pub mod cancellation;
mod capture;
pub mod descendants;
pub mod ending;
pub mod escape;
pub mod files;
pub mod folders;
pub mod gpu;
mod groups;
pub mod line;
pub mod loader;
pub mod machine;
pub mod memory;
pub mod process;
pub mod service;
pub mod signals;
pub mod socket;
pub mod terminal;
pub mod usage;
