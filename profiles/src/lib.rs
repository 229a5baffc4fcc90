//! What must be true: exact arithmetic, accepted sets, rules as data, and judgement. No I/O, no
//! Vulkan.
#![forbid(unsafe_code)]

pub mod accepted;
pub mod accepts;
pub mod accuracy;
pub mod area;
pub mod catalogue;
pub mod claims;
pub mod coverage;
pub mod derivative;
pub mod encoding;
pub mod environment;
mod filter;
pub mod formula;
pub mod host;
pub mod interval;
pub mod judge;
pub mod lanes;
pub mod matrix;
pub mod number;
pub mod observation;
pub mod observed_behaviour;
pub mod oracle;
pub mod parallel;
pub mod profile;
pub mod quad;
pub mod real;
pub mod source;
pub mod subgroup;
pub mod sweep;
pub mod variants;
pub mod verdict;

pub use area::Area;
pub use observation::{Observation, Outcome};
pub use profile::Profile;
pub use verdict::{Class, Level, Verdict};
