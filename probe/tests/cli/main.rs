//! The real binary, on real drivers (`target/drivers`, made by `.ci/drivers`) wherever a device is
//! needed.

mod amber;
mod answers;
mod atomics;
mod bad_input;
mod chains;
mod check;
mod constants;
mod derivatives;
mod diff;
#[path = "../sql/documented.rs"]
#[expect(dead_code, reason = "shared with other tests, which need other parts of it")]
mod documented;
mod drivers;
mod eval;
mod evidence;
mod expected;
mod history;
mod inputs;
mod killed;
mod matrix;
mod mock;
mod newer;
mod offline;
mod quick;
mod remote;
mod repro;
mod resume;
mod run;
mod scene;
mod screens;
mod seed;
mod selections;
mod show;
mod sql;
mod subgroups;
mod sweep;
mod validation;
mod vulkan_profile;
