//! Whole domains: which blocks are asked ([`plan`]), what is kept of each as it arrives
//! ([`journal`], [`mod@print`], [`agree`], [`verify`]), what does not come again ([`repeat`],
//! [`twice`]), what changed since an older fingerprint ([`resolve`], [`every`]), how long
//! it takes ([`estimate`]), and where it all goes ([`files`]). The blocks themselves are
//! [`crate::supervisor::sweep`]'s.

pub mod agree;
pub mod estimate;
pub mod every;
pub mod files;
pub mod journal;
pub mod plan;
pub mod print;
pub mod progress;
pub mod repeat;
pub mod resolve;
pub mod screened;
pub mod twice;
pub mod verify;
