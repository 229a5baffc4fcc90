//! Calls that return errors.

use fpprobe_fault_layer::call::CALLS;

use crate::faulty::{KERNELS, RECOMPILING, measured, run};

#[test]
fn a_refused_kernel_is_named_with_call_and_code() {
    for (call, code) in [
        ("vkCreateShaderModule", "VK_ERROR_INVALID_SHADER_NV"),
        ("vkCreateComputePipelines", "VK_ERROR_INVALID_SHADER_NV"),
        ("vkCreateComputePipelines", "VK_ERROR_INITIALIZATION_FAILED"),
        ("vkCreateComputePipelines", "VK_ERROR_UNKNOWN"),
    ] {
        let run = measured(&format!("return {code} in {call} at f32.fabs"));
        assert_eq!(run.outcome("f32.fabs"), "rejected", "{code}: {}", run.err);
        let detail = run.detail("f32.fabs");
        assert!(detail.contains(call) && detail.contains(code), "{detail}");
        run.others_unharmed(&["f32.fabs"]);
        run.nothing_passes();
    }
}

#[test]
fn codes_that_no_header_knows_are_printed() {
    let run = measured("return -1000999000 in vkCreateComputePipelines at f32.fabs");
    assert_eq!(run.outcome("f32.fabs"), "rejected");
    assert!(run.detail("f32.fabs").contains("-1000999000"), "{}", run.detail("f32.fabs"));
}

#[test]
fn success_without_a_pipeline_is_no_success() {
    let run = measured("return VK_SUCCESS in vkCreateComputePipelines at f32.fabs");
    assert_ne!(run.outcome("f32.fabs"), "ran");
    assert!(
        run.detail("f32.fabs").contains("vkCreateComputePipelines"),
        "{}",
        run.detail("f32.fabs")
    );
    run.others_unharmed(&["f32.fabs"]);
}

#[test]
fn a_module_refused_only_when_batched_is_a_finding() {
    let run = measured("return VK_ERROR_UNKNOWN in vkCreateComputePipelines company");
    run.others_unharmed(&[]);
    assert_eq!(
        run.findings("batch_dependent", "VK_ERROR_UNKNOWN"),
        1,
        "{}",
        run.device()["findings"]
    );
}

#[test]
fn a_lost_device_costs_its_kernel() {
    for call in ["vkQueueSubmit", "vkWaitForFences"] {
        let run = measured(&format!("return VK_ERROR_DEVICE_LOST in {call} at f32.sqrt"));
        assert_eq!(run.code, 5, "{}", run.err);
        assert_eq!(run.outcome("f32.sqrt"), "device_lost");
        run.incident("f32.sqrt", "device_lost", call);
        run.others_unharmed(&["f32.sqrt"]);
    }
}

#[test]
fn memory_that_runs_out_once_costs_nothing() {
    for (call, code) in [
        ("vkAllocateMemory", "VK_ERROR_OUT_OF_DEVICE_MEMORY"),
        ("vkCreateBuffer", "VK_ERROR_OUT_OF_HOST_MEMORY"),
        ("vkCreateComputePipelines", "VK_ERROR_OUT_OF_HOST_MEMORY"),
        ("vkAllocateDescriptorSets", "VK_ERROR_OUT_OF_POOL_MEMORY"),
        ("vkQueueSubmit", "VK_ERROR_OUT_OF_DEVICE_MEMORY"),
    ] {
        let run = measured(&format!("return {code} in {call} once ever"));
        assert_eq!((run.code, run.struck.len()), (5, 1), "{call}: {}", run.err);
        run.others_unharmed(&[]);
        run.incident("-", "out_of_memory", call);
    }
}

#[test]
fn memory_that_runs_out_for_one_kernel_names_it() {
    let run =
        measured("return VK_ERROR_OUT_OF_HOST_MEMORY in vkCreateComputePipelines at f32.ceil");
    assert_eq!(run.code, 5, "{}", run.err);
    assert_eq!(run.outcome("f32.ceil"), "out_of_memory");
    run.incident("f32.ceil", "out_of_memory", "VK_ERROR_OUT_OF_HOST_MEMORY");
    run.others_unharmed(&["f32.ceil"]);
}

#[test]
fn any_call_may_fail_for_good_and_the_program_ends_well() {
    // Not called by this program's workers for these kernels on this driver; and one of which there
    // is more to say.
    const OTHERS: [&str; 4] = [
        "load",
        "vkGetDeviceFaultInfoEXT",
        "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR",
        "vkMapMemory",
    ];
    let known =
        |name: &str| OTHERS.contains(&name) || OF_TEXELS.iter().any(|(call, _)| *call == name);
    for call in CALLS.iter().filter(|call| call.result && !known(call.name)) {
        let run = measured(&format!("return VK_ERROR_UNKNOWN in {}", call.name));
        assert!(!run.struck.is_empty(), "{} is never called", call.name);
        assert_eq!(run.code, 4, "{}: {}", call.name, run.err);
        assert!(
            run.report.to_string().contains(call.name),
            "{} is not named: {}",
            call.name,
            run.err
        );
    }
}

/// Calls for texels and for shaders that draw, each with a kernel that needs it.
const OF_TEXELS: [(&str, &str); 8] = [
    ("vkBindImageMemory", "b10g11r11.store:route=storage_image"),
    ("vkCreateBufferView", "b10g11r11.load:route=texel_buffer"),
    ("vkCreateFramebuffer", "r16f.store:route=attachment"),
    ("vkCreateGraphicsPipelines", "f32.sqrt:stage=vertex"),
    ("vkCreateImage", "b10g11r11.store:route=clear"),
    ("vkCreateImageView", "b10g11r11.load:route=sampled"),
    ("vkCreateRenderPass", "f32.sqrt:stage=fragment"),
    ("vkCreateSampler", "b10g11r11.sample:route=sampled"),
];

#[test]
fn any_call_for_texels_and_drawing_may_fail_for_good() {
    for (call, kernel) in OF_TEXELS {
        let run = run(&format!("return VK_ERROR_UNKNOWN in {call}"), &[kernel], &[]);
        assert!(!run.struck.is_empty(), "{call} is never called");
        assert_eq!(run.code, 4, "{call}: {}", run.err);
        assert!(run.detail(kernel).contains(call), "{call} is not named: {}", run.detail(kernel));
    }
}

#[test]
fn memory_that_cannot_be_mapped_is_reported_as_such() {
    let run = measured("return VK_ERROR_MEMORY_MAP_FAILED in vkMapMemory");
    assert_eq!(run.code, 4, "{}", run.err);
    for kernel in KERNELS {
        let detail = run.detail(kernel);
        assert!(detail.contains("VK_ERROR_MEMORY_MAP_FAILED"), "{detail}");
        // The allocation that it is part of did not fail.
        assert!(detail.contains("vkMapMemory"), "{detail}");
        assert!(!detail.contains("vkAllocateMemory failed"), "{detail}");
    }
}

#[test]
fn a_refusal_that_does_not_come_back_costs_nothing() {
    for (which, kernels) in
        [("nth 1 ever", &KERNELS[..]), ("nth 2 ever", &KERNELS), ("once ever", &["f32.sqrt"])]
    {
        let seed = RECOMPILING.to_string();
        let statement = format!("return VK_ERROR_UNKNOWN in vkCreateShaderModule {which}");
        let run = run(&statement, kernels, &["--seed", &seed]);
        assert_eq!((run.code, run.struck.len()), (0, 1), "{which}: {}", run.err);
        for kernel in kernels {
            assert_eq!(run.outcome(kernel), "ran", "{which}");
        }
    }
}
