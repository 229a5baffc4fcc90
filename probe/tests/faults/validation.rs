//! The fault layer itself uses Vulkan as it must be used: what fails is the driver it plays, never
//! the play.

use crate::faulty::faulty;
use crate::scene::ends;

#[test]
fn the_validation_layer_below_is_silent() {
    let kernels = [
        "f32.sqrt",
        "f32.fabs",
        "f32.fmul:controls=ftz32",
        "f32.fmul:controls=fastmath0",
        "b10g11r11.load*",
        "r16f.store*",
        "f32.sqrt:stage=fragment",
        "f32.sqrt:stage=vertex",
        "f32.sqrt:stage=geometry",
    ];
    for statements in [
        "",
        "overrun 64; scribble 5 0 64; half columns",
        "claim ftz32; device-fault x",
        "claim fastmath0; feature shaderFloat64 on",
        "give 7f800000 in f32.sqrt when x is 80000000",
        "return VK_ERROR_DEVICE_LOST in vkWaitForFences at f32.sqrt; device-fault x",
        "return VK_ERROR_UNKNOWN in vkCreateComputePipelines at f32.sqrt",
        "return VK_ERROR_OUT_OF_DEVICE_MEMORY in vkAllocateMemory once",
    ] {
        let mut command = faulty(&["swiftshader"], statements);
        // The first is nearest to the program.
        let layers = format!("{}:VK_LAYER_KHRONOS_validation", fpprobe_fault_layer::NAME);
        let ended =
            ends(command.env("VK_INSTANCE_LAYERS", layers).args(["-v", "run"]).args(kernels));
        assert!(
            ended.out.contains("khronos_validation"),
            "the validation layer was not there: {}",
            ended.out
        );
        let said: Vec<&str> = ended
            .err
            .lines()
            .filter(|line| line.contains("VUID-") || line.contains("UNASSIGNED-"))
            .collect();
        assert!(said.is_empty(), "{statements}: {said:#?}");
    }
}
