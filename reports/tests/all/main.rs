//! Tests of the report as others use it: files in, documents out.

mod baseline;
mod browser;
mod cause_changes;
mod causes;
mod components;
mod diff;
mod fixture;
mod gate;
mod hardware;
mod hostile;
mod html;
mod junit;
mod load;
mod metrics;
mod mutated;
mod record;
mod render;
mod schema;
mod schema_check;
mod scoreboard;
mod stairs;
mod store;
mod sweep;
mod traits;
mod versions;
mod vulkan_profile;
