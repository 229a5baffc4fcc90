//! A Vulkan layer that makes drivers fail on purpose, for tests only.
//!
//! The Vulkan loader puts it between the unmodified `fpprobe` and an honest driver. What it does
//! there is written in the environment variable `FPPROBE_FAULTS`: **Statement -> Armed (counted) ->
//! call or module it strikes**. `@FILE` reads the statements from a file. A statement that means
//! nothing ends the process with a message: a fault that silently does nothing would let a test
//! pass for nothing. So does a variable that is not set; an empty one asks for no fault.
//!
//! # Statements
//!
//! One per line, or several on a line with `;` *and white space* between them (kernel ids hold
//! semicolons without). What begins with `#` is a comment. Words are separated by white space; in
//! texts `\s` is a space, `\n`, `\t`, `\r`, `\0`, `\e`, `\\` and `\xNN` are bytes. Numbers are
//! decimal or `0x` hexadecimal.
//!
//! ## What a driver says of its device
//!
//! | statement | effect |
//! |---|---|
//! | `claim ftz32` | the mode (fpprobe's name of the control) is claimed, and honoured by rewriting modules |
//! | `claim ftz32 ignored` | the mode is claimed and does nothing |
//! | `deny szin32` | the driver's claim is withdrawn |
//! | `emulate bf16 nearest-even` | the driver claims the format (or `float8`, both of them), and the layer does it in integers; conversions to it may also go `nearest-away`, `toward-zero`, `away-from-zero`, be `careless` of NaN, or always `saturating` |
//! | `emulate fma` | the driver claims `OpFmaKHR` of 16 and 32 bits, and the layer computes it in the next wider format; what is rounded twice is put right by `round to nearest in f32.fma_khr` |
//! | `independence all` | denormal and rounding modes of the widths are independent: `all`, `none`, `32-bit-only` |
//! | `feature shaderFloat16 off` | `on`, `off` or a number; one that is switched on is not passed on to the driver |
//! | `withhold blitDst of 10` | a format (a number of `VkFormat`) cannot be used for this ([`property::FORMAT_FEATURES`]) |
//! | `extension VK_KHR_shader_float_controls2 on` | a device extension appears or disappears |
//! | `limit maxStorageBufferRange 0` | a limit ([`property::LIMITS`]) has this value |
//! | `property apiVersion 0x400000` | so has a property ([`property::PROPERTIES`]) |
//! | `string deviceName <b>\e[31m` | `deviceName`, `driverName` or `driverInfo` has these bytes |
//! | `string driverInfo endless =1+1` | the text repeated to the end of the array, without NUL |
//! | `queues 2` | each queue family announces that many queues; all are the driver's first |
//! | `changing deviceUUID` | differs from call to call; also the strings, `driverUUID`, `pipelineCacheUUID` |
//! | `changing deviceUUID process` | differs from process to process |
//! | `count vkEnumeratePhysicalDevices 4294967295` | a list announces this length ([`property::COUNTS`]) |
//!
//! ## What it does in a call
//!
//! Each names its call with `in CALL`; [`call::CALLS`] lists them, and `load` is the loading of the
//! library.
//!
//! | statement | effect |
//! |---|---|
//! | `crash in vkCreateComputePipelines` | SIGSEGV |
//! | `crash SIGABRT in vkQueueSubmit` | another signal: `SIGABRT`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGKILL`, `SIGTERM` |
//! | `exit 3 in vkCreateDevice` | the driver calls `exit` |
//! | `hang in vkCreateShaderModule` | the call never returns |
//! | `deaf in vkWaitForFences` | nor does it end on SIGTERM, SIGINT or SIGHUP |
//! | `sleep 250 in vkQueueSubmit` | the call takes that many milliseconds longer |
//! | `flood stderr 100000000 in vkCreateInstance` | that many bytes on standard error (or `stdout`) |
//! | `eat 1000000000 in vkCreateShaderModule` | that many bytes of memory are taken and kept |
//! | `return VK_ERROR_OUT_OF_HOST_MEMORY in vkCreateBuffer` | that result, without asking the driver |
//! | `return VK_TIMEOUT in vkWaitForFences` | the fence is not signalled within the time that was asked for |
//! | `return VK_ERROR_DEVICE_LOST in vkQueueSubmit` | as above, and the device stays lost |
//! | `device-fault page\sfault address 0x1000 vendor mmu 7 0xbeef binary 64` | `VK_EXT_device_fault` tells this of a lost device |
//!
//! ## What becomes of a command
//!
//! | statement | effect |
//! |---|---|
//! | `garble vkCmdBlitImage` | it gets at the wrong texels: a blit mirrored, a copy with its halves exchanged, a clear with red and blue exchanged ([`call::CONVERSIONS`]) |
//!
//! ## What becomes of a dispatch
//!
//! | statement | effect |
//! |---|---|
//! | `skip` | it is not executed |
//! | `half columns`, `half rows` | so many of its work groups in x or y are not |
//! | `overrun 64` | that many bytes behind each result buffer's bound range are overwritten |
//! | `flip 0.001` | afterwards each word of results has one flipped bit with this probability; `flip 0.001 sums` spares the counts of digests |
//! | `strike 1e-7` | each result becomes another with this probability, those that digests are of, too |
//! | `strike 1e-5 lane 7` | those of lane 7 alone, of each 32 invocations of a sweep |
//! | `redispatch wrong` | where its pipeline was dispatched before, the lowest bit of each word of results is flipped |
//! | `redispatch stale` | where its pipeline was dispatched before, the results of then come back |
//! | `other-queue wrong` | as the first, on all queues but the first |
//! | `unit h100` | products of matrices are those of a model of `fpprobe_profiles::matrix`, where it says something |
//! | `scribble 1 0 64` | 64 bytes from byte 0 of binding 1 are overwritten (fpprobe: operands 0 to 3 and 8, results 4 to 7 and 9) |
//!
//! ## What becomes of arithmetic
//!
//! See [`arithmetic`]: modules are rewritten as they pass.
//!
//! ## When
//!
//! Every statement may end in any of these.
//!
//! | words | meaning |
//! |---|---|
//! | `on swiftshader` | only where `VK_DRIVER_FILES` contains the text |
//! | `at f32.fadd\|f32.s*:controls=ftz32` | only for modules that hold such a kernel, where the call knows the kernels |
//! | `share 95` | only for modules that hold a kernel of that percentage of all, always the same ones |
//! | `company`, `alone` | only for modules of several kernels, of one kernel |
//! | `second` | only for every second module of the same kernels |
//! | `once`, `nth 3`, `from 3`, `every 3` | only the first time; the third; the third and all later; each third |
//! | `above 70000 FILE` | only while the file holds a larger number |
//! | `ever` | counts go on from process to process, in files of the folder `FPPROBE_FAULTS_STATE` |
//!
//! Where `FPPROBE_FAULTS_STATE` is set, each strike adds its statement to the file `struck` there
//! ([`struck`]): calls and dispatches that came to harm, and modules that were handed to
//! arithmetic, which may find nothing in them to change.
//!
//! Arithmetic statements keep their `at` to themselves (it chooses kernels within a module) and
//! take of the rest `on`, `company`, `alone`, `second`, `once` and `ever`; statements on what a
//! driver says take `on` alone.
//!
//! # Source
//!
//! "Loader and Layer Interface" of the Vulkan loader (`LoaderLayerInterface.md`), interface version
//! 2.
#![deny(unsafe_code)]

pub mod action;
pub mod arithmetic;
pub mod call;
pub mod kernels;
pub mod property;
pub mod statement;
pub mod trigger;
mod words;

#[allow(unsafe_code, reason = "a layer is called by, and calls, C")]
mod layer;

use std::io;
use std::path::{Path, PathBuf};

/// The layer's name, for `VK_INSTANCE_LAYERS`.
pub const NAME: &str = "VK_LAYER_FPPROBE_fault";

/// The layer's manifest, to be written into a folder that `VK_ADD_LAYER_PATH` or `VK_LAYER_PATH`
/// names.
pub fn manifest(library: &Path) -> String {
    let path = library.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"{{
    "file_format_version": "1.2.0",
    "layer": {{
        "name": "{NAME}",
        "type": "GLOBAL",
        "library_path": "{path}",
        "api_version": "1.4.0",
        "implementation_version": "1",
        "description": "Makes drivers fail on purpose"
    }}
}}
"#
    )
}

/// The layer's library, as cargo leaves it beside the test that runs: a `cdylib` that a test
/// depends on lies in the same folder (`target/PROFILE/deps`).
pub fn library() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("libfpprobe_fault_layer.so");
    if path.is_file() {
        Ok(path)
    } else {
        Err(io::Error::new(io::ErrorKind::NotFound, path.display().to_string()))
    }
}

/// The statements that have struck, in order, from the folder that `FPPROBE_FAULTS_STATE` named.
pub fn struck(state: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(state.join(trigger::STRUCK)).unwrap_or_default();
    text.lines().map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted() {
        assert!(manifest(Path::new("/a \"b\"/l.so")).contains(r#""/a \"b\"/l.so""#));
    }
}
