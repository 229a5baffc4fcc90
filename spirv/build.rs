//! Completes the static link of shaderc against Debian's and Ubuntu's packages.
//!
//! `shaderc-sys` links the system's `libshaderc_combined.a` where there is one and compiles its own
//! copy of shaderc, glslang and SPIRV-Tools where there is none. Upstream's combined archive, and
//! the one compiled from source, hold all three; the distributions' holds shaderc alone and leaves
//! glslang and SPIRV-Tools to their own packages, so those are named here. (The shared library
//! `libshaderc.so.1` is no way out: Debian 12's was linked without its glslang symbols.)

use std::env;
use std::path::{Path, PathBuf};

/// In order of dependency, users first. glslang has been merging these into one another from
/// release to release, so only those that exist and hold something are linked.
const LIBRARIES: [&str; 8] = [
    "SPIRV",
    "glslang",
    "MachineIndependent",
    "GenericCodeGen",
    "OGLCompiler",
    "OSDependent",
    "SPIRV-Tools-opt",
    "SPIRV-Tools",
];

/// Without these two the link fails whatever the release of glslang.
const INDISPENSABLE: [&str; 2] = ["glslang", "SPIRV-Tools-opt"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SHADERC_LIB_DIR");
    println!("cargo::rerun-if-env-changed=VULKAN_SDK");

    let Some(folder) = system_folder() else {
        return;
    };
    let combined = folder.join("libshaderc_combined.a");
    if !combined.exists() {
        return;
    }
    // Named only where it exists: cargo would run this script every time for a missing file.
    println!("cargo::rerun-if-changed={}", combined.display());
    if holds(&combined, "GlslangToSpv.cpp.o") {
        return;
    }

    for name in INDISPENSABLE {
        assert!(
            archive(&folder, name).exists(),
            "{} needs lib{name}.a beside it: install the packages glslang-dev and spirv-tools \
             (spirv-tools-dev where that exists), or remove libshaderc-dev to compile shaderc \
             from source",
            combined.display(),
        );
    }
    println!("cargo::rustc-link-search=native={}", folder.display());
    // lld, Rust's default on x86_64, finds symbols in any order. GNU ld forgets an archive once it
    // has gone past it, and cargo puts this crate's libraries before those of shaderc-sys, so there
    // the archives are taken whole and the linker's garbage collection drops what is not used.
    let order_matters = env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64");
    let modifiers = if order_matters { "-bundle,+whole-archive" } else { "-bundle" };
    for name in LIBRARIES {
        let archive = archive(&folder, name);
        // What glslang 15 has merged leaves a stub behind: the same function in each.
        if archive.exists() && !holds(&archive, "stub.cpp.o") {
            println!("cargo::rustc-link-lib=static:{modifiers}={name}");
        }
    }
}

/// The folder in which shaderc-sys looks for the system's libraries, if it does.
fn system_folder() -> Option<PathBuf> {
    if let Some(folder) = env::var_os("SHADERC_LIB_DIR") {
        return Some(folder.into());
    }
    // The Vulkan SDK's archive is upstream's, hence complete.
    if env::var_os("VULKAN_SDK").is_some() || env::var("CARGO_CFG_TARGET_OS").ok()? != "linux" {
        return None;
    }
    let arch = match env::var("CARGO_CFG_TARGET_ARCH").ok()?.as_str() {
        "x86" => "i386".to_owned(),
        arch => arch.to_owned(),
    };
    let multiarch = PathBuf::from(format!("/usr/lib/{arch}-linux-gnu"));
    multiarch.is_dir().then_some(multiarch)
}

/// Whether the archive has this member, such as `GlslangToSpv.cpp.o`, glslang's SPIR-V generator.
fn holds(archive: &Path, member: &str) -> bool {
    let member = member.as_bytes();
    std::fs::read(archive).is_ok_and(|bytes| bytes.windows(member.len()).any(|w| w == member))
}

fn archive(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("lib{name}.a"))
}
