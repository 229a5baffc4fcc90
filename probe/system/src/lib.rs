//! What fpprobe needs of the operating system: the host's name, signals, certificates, the calls
//! that no safe crate offers, and how a process says what is wrong.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "system calls that no safe crate offers")]
pub mod calls;
pub mod cancellation;
pub mod host;
pub mod https;
pub mod usage;
