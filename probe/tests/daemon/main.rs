//! The daemon as a process, on real drivers.

#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod scene;

mod abuse;
mod busy_policy;
#[expect(dead_code, reason = "shared with the soak test")]
mod host;
mod killed;
mod libraries;
mod outlives;
mod page;
mod pending_notices;
mod side_by_side;
mod signals;
mod strangers;
mod update;
