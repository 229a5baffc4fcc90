//! Judging, on devices made of the oracle's own answers.

mod behaviour;
mod device;
mod incomplete;
mod modes;
mod owner;
mod recipe;
mod relation;
mod rules_can_fail;
mod ways;
