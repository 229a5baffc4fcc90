//! Results that are sent to an object store: the real binary on a real driver, against moto's S3
//! (in `target/object-store`, by `.ci/install object-store`), with a proxy in between that fails.

mod inventory;
mod kept;
mod once;
mod proxy;
#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, which need other parts of it")]
mod scene;
mod store;
