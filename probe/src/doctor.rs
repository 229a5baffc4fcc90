//! What can keep devices from being measured: looked at one thing at a time, each with what to do
//! about it.

pub mod drivers;
pub mod loader;
pub mod nodes;
pub mod surroundings;

/// How bad something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Something cannot be measured because of it.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnosis {
    /// How bad it is.
    pub weight: Weight,
    /// What was seen.
    pub text: String,
    /// What to do; empty where there is nothing to do.
    pub remedy: String,
}

impl Diagnosis {
    /// Something that is as it should be.
    pub fn good(text: impl Into<String>) -> Diagnosis {
        Diagnosis { weight: Weight::Good, text: text.into(), remedy: String::new() }
    }

    /// Something worth knowing.
    pub fn note(text: impl Into<String>, remedy: impl Into<String>) -> Diagnosis {
        Diagnosis { weight: Weight::Note, text: text.into(), remedy: remedy.into() }
    }

    /// Something that is in the way.
    pub fn bad(text: impl Into<String>, remedy: impl Into<String>) -> Diagnosis {
        Diagnosis { weight: Weight::Bad, text: text.into(), remedy: remedy.into() }
    }

    /// How lines of this weight begin.
    pub fn mark(&self) -> &'static str {
        match self.weight {
            Weight::Good => "ok   ",
            Weight::Note => "note ",
            Weight::Bad => "BAD  ",
        }
    }
}
