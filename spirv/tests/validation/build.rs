//! Compiles SPIRV-Tools' validator and assembler from the sources that `spirv-tools-sys` carries.
//!
//! That package's own script compiles the optimiser as well, two thirds of them all, and minutes of
//! every clean build.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What brings the sources.
const PACKAGE: &str = "spirv-tools-sys";
/// Folders with sources, and those in them that are for other builds: an allocator, a precompiled
/// header.
const FOLDERS: [&str; 3] =
    ["spirv-tools/source", "spirv-tools/source/util", "spirv-tools/source/val"];
const OTHERS: [&str; 2] = ["mimalloc.cpp", "pch_source.cpp"];
const INCLUDES: [&str; 5] = [
    "spirv-tools",
    "spirv-tools/include",
    "generated",
    "spirv-headers/include",
    "spirv-headers/include/spirv/unified1",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../../Cargo.lock");
    // Clippy has a build of its own for packages of the workspace, and links nothing.
    println!("cargo::rerun-if-env-changed=RUSTC_WORKSPACE_WRAPPER");
    if env::var_os("RUSTC_WORKSPACE_WRAPPER")
        .is_some_and(|wrapper| Path::new(&wrapper).ends_with("clippy-driver"))
    {
        return;
    }
    let package = folder_of(PACKAGE);
    let mut files: Vec<PathBuf> =
        FOLDERS.iter().flat_map(|folder| sources(&package.join(folder))).collect();
    files.sort();
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .define("NDEBUG", None)
        .warnings(false)
        .includes(INCLUDES.map(|folder| package.join(folder)))
        .files(files)
        .compile("spirv-tools");
}

/// Where cargo keeps the sources of a package that this one depends on.
fn folder_of(package: &str) -> PathBuf {
    let output = Command::new(env::var_os("CARGO").expect("cargo names itself"))
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform"])
        .arg(env::var_os("TARGET").expect("cargo names the target"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON");
    let packages = metadata["packages"].as_array().expect("it lists packages");
    let found = packages.iter().find(|found| found["name"] == package);
    let manifest = found.and_then(|found| found["manifest_path"].as_str());
    let manifest = manifest.unwrap_or_else(|| panic!("cargo metadata lists no {package}"));
    Path::new(manifest).parent().expect("a manifest lies in a folder").to_path_buf()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a folder that can be read").path());
    let request = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "cpp")
            && !OTHERS.iter().any(|other| path.ends_with(other))
    };
    paths.filter(request).collect()
}
