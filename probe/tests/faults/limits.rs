//! Limits and lists that no device has.

use crate::faulty::{KERNELS, measured};

#[test]
fn limits_of_nothing_leave_nothing_to_measure() {
    for limit in
        ["maxStorageBufferRange", "maxComputeWorkGroupCount", "maxPerStageDescriptorStorageBuffers"]
    {
        let run = measured(&format!("limit {limit} 0"));
        assert_eq!(run.code, 4, "{limit}: {}", run.err);
        for kernel in KERNELS {
            assert_eq!(run.outcome(kernel), "unsupported", "{limit}: {}", run.detail(kernel));
            assert!(run.detail(kernel).contains("limit"), "{}", run.detail(kernel));
        }
        run.nothing_passes();
    }
}

#[test]
fn limits_beyond_reason_change_nothing() {
    for limit in fpprobe_fault_layer::property::LIMITS {
        let run = measured(&format!("limit {limit} 0xffffffffffffffff"));
        assert_ne!(run.code, 1, "{limit}: {}", run.err);
        // Alignments are the only ones that may get in the way by being large.
        if limit.starts_with("max") {
            assert_eq!(run.code, 0, "{limit}: {}", run.err);
            run.others_unharmed(&[]);
        }
    }
}

#[test]
fn limits_below_what_vulkan_demands_are_no_internal_error() {
    for limit in fpprobe_fault_layer::property::LIMITS {
        let run = measured(&format!("limit {limit} 0"));
        assert!([0, 4].contains(&run.code), "{limit}: {}: {}", run.code, run.err);
    }
}

#[test]
fn lists_may_announce_anything() {
    for list in fpprobe_fault_layer::property::COUNTS {
        for length in ["0", "1", "4294967295"] {
            let run = measured(&format!("count {list} {length}"));
            assert!([0, 4].contains(&run.code), "{list} {length}: {}: {}", run.code, run.err);
        }
    }
}
