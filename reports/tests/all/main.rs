//! Tests of the report as others use it: files in, documents out.

mod fixture;
mod hardware;
mod hostile;
mod html;
mod load;
mod mutated;
mod record;
mod render;
mod schema;
mod schema_check;
