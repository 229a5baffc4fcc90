//! Drivers that print.

use crate::faulty::{KERNELS, faulty, run};
use crate::scene::ends;

#[test]
fn a_flood_is_swallowed() {
    for stream in ["stderr", "stdout"] {
        for call in ["vkCreateInstance", "vkCreateComputePipelines"] {
            let run =
                run(&format!("flood {stream} 100000000 in {call}"), &KERNELS, &["--timeout", "60"]);
            assert_eq!(run.code, 0, "{stream} {call}");
            run.others_unharmed(&[]);
            assert!(run.err.len() < 100_000, "{} bytes of it came through", run.err.len());
        }
    }
}

#[test]
fn results_alone_are_on_standard_output() {
    let statement = "flood stdout 100000 in vkCreateInstance; flood stdout 100000 in vkQueueSubmit";
    let ended = ends(
        faulty(&["swiftshader"], statement).args(["-v", "run", "f32.fabs", "--format", "json"]),
    );
    let report = ended.document(0);
    assert_eq!(report["devices"][0]["observations"][0]["outcome"], "ran");
    assert!(
        ended.err.contains("dull boy"),
        "with -v the last of what a driver prints is shown: {}",
        ended.err
    );
}

#[test]
fn what_a_driver_prints_before_it_crashes_is_kept() {
    let statement = "flood stderr 200 in vkCreateComputePipelines; crash in vkCreateComputePipelines at f32.fabs";
    let ended = ends(faulty(&["swiftshader"], statement).args(["-v", "run", "f32.fabs"]));
    ended.with(4);
    assert!(ended.err.contains("dull boy"), "{}", ended.err);
}
