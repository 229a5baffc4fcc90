//! Tests of profiles, accepted sets and judging as others use them, in one program: each by itself
//! would take longer to build than to run.

mod abstract_float;
mod accepted_sets;
mod built_in;
mod catalogue;
mod chains;
mod claims;
mod controls;
mod coverage;
mod depths;
mod derivatives;
mod judging;
mod layouts;
mod matrix;
mod own_profiles;
mod profile_errors;
mod small_formats;
mod texels;
mod vectors;
mod wgsl_intervals;
