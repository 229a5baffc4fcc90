//! `make soak`: workers and supervisors killed at random, and reports that must not show it.
//!
//! Each kill falls between the first intent and the last result of a run; killed supervisors go on
//! with `--resume`, several times in a row; the report at the end must have the bytes of an
//! undisturbed one, times aside. `SOAK_KILLS` and `SOAK_SEED` set number and course.

#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod scene;

mod course;
mod victim;

use std::time::{Duration, Instant};

use course::{Course, Tally};

/// Kills of `make soak`, and how many of them fall on full runs on lavapipe.
const KILLS: usize = 1000;
const FULL: usize = 50;

fn main() {
    let number = |name: &str, default: usize| {
        std::env::var(name).map_or(default, |text| {
            text.parse().unwrap_or_else(|_| panic!("{name} must be a number"))
        })
    };
    let kills = number("SOAK_KILLS", KILLS);
    let seed = number("SOAK_SEED", std::process::id() as usize) as u64;
    let full = kills * FULL / KILLS;
    println!("soak: {kills} kills, seed {seed}");
    let begun = Instant::now();
    let short = Course {
        name: "SwiftShader, f32.f*",
        driver: "swiftshader",
        filter: &["f32.f*"],
        config: "[workers]\nbatch = 4\n",
        longest: Duration::from_millis(150),
        chain: 8,
    };
    let long = Course {
        name: "lavapipe 25, everything",
        driver: "lavapipe-25",
        filter: &[],
        config: "",
        longest: Duration::from_millis(2500),
        chain: 6,
    };
    let mut total = Tally::default();
    for (course, kills) in [(short, kills - full), (long, full)] {
        let statistics = course.run(kills, seed);
        println!("soak: {}: {statistics}", course.name);
        total.add(&statistics);
    }
    println!(
        "soak: {total}, in {:.0} s; every report has the bytes of an undisturbed one",
        begun.elapsed().as_secs_f64()
    );
}
