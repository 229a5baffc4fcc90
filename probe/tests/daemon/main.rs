//! The daemon as a process, on real drivers.

#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod scene;

mod abuse;
#[expect(dead_code, reason = "shared with the soak test")]
mod host;
mod killed;
mod libraries;
mod manners;
mod outlives;
mod page;
mod side_by_side;
mod signals;
mod strangers;
mod untold;
mod update;
