//! The real binary on a real driver that fails on purpose (`fpprobe-fault-layer`). What fails is
//! named, nothing else is lost, and nothing that failed passes for an answer.

mod atomics;
mod chains;
mod claims;
mod company;
mod corrections;
mod crash;
mod derivatives;
mod device_fault;
mod dispatch;
#[path = "../sql/documented.rs"]
mod documented;
mod enumeration;
mod expected;
mod faulty;
mod fleet;
mod garbage;
mod gate;
mod hang;
mod inventory;
mod limits;
mod matrix;
mod output;
mod recipes;
mod refused;
mod resume;
#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, which need other parts of it")]
mod scene;
mod screen;
mod silence;
mod small_formats;
mod subgroups;
mod sweep;
mod table;
mod validation;
mod ways;
