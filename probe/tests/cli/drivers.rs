//! Finding drivers and devices.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scene::{ends, fpprobe, manifest, with_manifests};

#[test]
fn every_device_of_every_driver_is_listed() {
    let drivers = ["swiftshader", "mock", "lavapipe-25", "lavapipe-22"];
    let list = ends(fpprobe(&drivers).args(["list", "--json"])).document(0);
    let devices = list["devices"].as_array().unwrap();
    let of = |index: usize, field: &str| devices[index][field].as_str().unwrap().to_owned();
    assert_eq!(devices.len(), 4);
    for (index, part) in ["SwiftShader", "Mock", "llvmpipe", "llvmpipe"].iter().enumerate() {
        assert!(of(index, "name").contains(part), "{}", of(index, "name"));
        assert_eq!(
            devices[index]["driver"]["manifest"],
            manifest(drivers[index]).display().to_string()
        );
        assert!(!devices[index]["driver"]["library"].as_str().unwrap().is_empty());
        assert!(devices[index]["claims"]["flags"]["shaderFloat16"].is_boolean());
    }
    assert_ne!(of(2, "key"), of(3, "key"), "two versions of a driver are two drivers");
    let text = ends(fpprobe(&drivers).arg("list"));
    assert_eq!(text.with(0).matches("   key  ").count(), 4);
    assert_eq!(ends(fpprobe(&drivers).arg("list")).out, text.out, "the order is fixed");
}

#[test]
fn a_manifest_that_points_nowhere_is_a_row_and_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let removed = write_manifest(folder.path(), "gone.json", Path::new("/nowhere/libgone.so"));
    let both =
        ends(with_manifests(&[removed.clone(), manifest("swiftshader")]).args(["list", "--json"]))
            .document(5);
    assert!(both["devices"][0]["name"].as_str().unwrap().contains("SwiftShader"));
    assert_eq!(both["incomplete"][0]["subject"], removed.display().to_string());
    assert!(both["incomplete"][0]["detail"].as_str().unwrap().contains("/nowhere/libgone.so"));
    let alone = ends(with_manifests(&[removed]).arg("list"));
    assert!(alone.with(4).contains("/nowhere/libgone.so"));
}

#[test]
fn a_driver_that_crashes_or_hangs_is_a_row_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let crash = library(folder.path(), "crash", "__builtin_trap();");
    let hang = library(folder.path(), "hang", "for (;;) pause();");
    let noisy = library(
        folder.path(),
        "noisy",
        "for (int i = 0; i < 100000; i++) puts(\"noise noise noise\"); fflush(stdout); abort();",
    );
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[workers]\ntimeout = 2\n").unwrap();
    let manifests = [crash, manifest("swiftshader"), hang, noisy];
    let list =
        ends(with_manifests(&manifests).arg("--config").arg(&config).args(["list", "--json"]))
            .document(5);
    assert_eq!(list["devices"].as_array().unwrap().len(), 1);
    let rows = list["incomplete"].as_array().unwrap();
    let output = |row: usize| {
        (rows[row]["outcome"].as_str().unwrap(), rows[row]["detail"].as_str().unwrap())
    };
    assert_eq!(output(0).0, "crashed");
    assert!(output(0).1.contains("SIGILL") || output(0).1.contains("SIGTRAP"), "{}", output(0).1);
    assert_eq!(output(1), ("hung", "no answer within 2 s"));
    assert!(output(2).1.contains("SIGABRT"), "{}", output(2).1);
}

#[test]
fn a_driver_without_a_device_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    // An instance that offers no device, and a function for everything else that the loader
    // requests.
    let idle = compiled(
        folder.path(),
        "idle",
        "static void *instance = (void *)0x01CDC0DE;\n\
         static int create(void *info, void *alloc, void **out) { *out = &instance; return 0; }\n\
         static int none(void *parent, unsigned *count, void *data) { *count = 0; return 0; }\n\
         static int extensions(const char *layer, unsigned *count, void *data) { *count = 0; return 0; }\n\
         static int nothing(void) { return 0; }\n\
         void *vk_icdGetInstanceProcAddr(void *parent, const char *name) {\n\
           if (!strcmp(name, \"vkCreateInstance\")) return create;\n\
           if (!strcmp(name, \"vkEnumeratePhysicalDevices\")) return none;\n\
           if (!strcmp(name, \"vkEnumerateInstanceExtensionProperties\")) return extensions;\n\
           return strncmp(name, \"vkEnumerateInstance\", 19) ? nothing : 0;\n\
         }\n\
         int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *version) { *version = 3; return 0; }\n",
    );
    let drivers = [idle.clone(), manifest("swiftshader")];
    let list = ends(with_manifests(&drivers).args(["list", "--json"])).document(0);
    assert_eq!(list["devices"].as_array().unwrap().len(), 1);
    assert!(list["idle"].to_string().contains("idle.json"), "{list}");
    ends(with_manifests(&drivers).args(["run", "f32.fabs"])).with(0);
    let alone = ends(with_manifests(&[idle]).args(["run", "f32.fabs"]));
    alone.with(4);
    assert!(alone.err.contains("fpprobe doctor"), "{}", alone.err);
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn a_process_that_flushes_subnormals_refuses_to_judge() {
    let folder = tempfile::tempdir().unwrap();
    // MXCSR with FTZ and DAZ, and with rounding towards zero; FPCR with FZ, and with RMode.
    let (set, states) = if cfg!(target_arch = "x86_64") {
        ("__builtin_ia32_ldmxcsr", ["0x9fc0", "0x7f80"])
    } else {
        ("__builtin_aarch64_set_fpcr", ["1 << 24", "3 << 22"])
    };
    for (name, state) in ["flush", "truncate"].into_iter().zip(states) {
        library(folder.path(), name, &format!("{set}({state});"));
        let preload = folder.path().join(format!("lib{name}.so"));
        let ended = ends(
            with_manifests(&[])
                .env("LD_PRELOAD", preload)
                .args(["accepts", "d3d11", "f32.fadd", "0", "0"]),
        );
        ended.with(1);
        assert!(ended.err.contains("floating-point unit"), "{name}: {}", ended.err);
    }
}

#[test]
fn no_driver_at_all_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let empty = folder.path().join("icd.d");
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(&config, format!("[drivers]\nmanifests = [\"{}\"]\n", empty.display())).unwrap();
    for command in [&["list"][..], &["run"], &["eval", "f32.fadd", "0", "0"]] {
        let ended = ends(with_manifests(&[]).arg("--config").arg(&config).args(command));
        ended.with(4);
        assert!(ended.err.contains("fpprobe doctor"), "{}", ended.err);
    }
    let doctor = ends(with_manifests(&[]).arg("--config").arg(&config).arg("doctor"));
    assert!(doctor.with(4).contains("mesa-vulkan-drivers"));
}

#[test]
fn the_doctor_is_content_with_a_driver_that_works() {
    let doctor = ends(fpprobe(&["swiftshader"]).env_remove("FPPROBE_DRIVERS_CACHES").arg("doctor"));
    assert!(doctor.with(0).contains("SwiftShader") && doctor.out.contains("libvulkan.so.1"));
    assert!(doctor.out.contains("MESA_SHADER_CACHE_DISABLE=true"));
}

fn write_manifest(folder: &Path, name: &str, library: &Path) -> PathBuf {
    let path = folder.join(name);
    let text = format!(
        r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{}", "api_version": "1.3.0"}}}}"#,
        library.display()
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// A driver library whose loading does this.
fn library(folder: &Path, name: &str, body: &str) -> PathBuf {
    compiled(
        folder,
        name,
        &format!("__attribute__((constructor)) static void begin(void) {{ {body} }}\n"),
    )
}

/// A driver library of this C code, and its manifest.
fn compiled(folder: &Path, name: &str, code: &str) -> PathBuf {
    let (source, library) =
        (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
    let includes =
        ["stdio", "stdlib", "string", "unistd"].map(|header| format!("#include <{header}.h>\n"));
    std::fs::write(&source, includes.concat() + code).unwrap();
    let status =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "a C compiler is needed to build {}",
        source.display()
    );
    write_manifest(folder, &format!("{name}.json"), &library)
}

#[test]
fn a_driver_that_refuses_the_newest_version_is_asked_for_older_ones() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(manifest("swiftshader")).unwrap();
    let library =
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["ICD"]["library_path"].clone();
    // SwiftShader answers VK_ERROR_INCOMPATIBLE_DRIVER to 1.4 where its manifest says 1.3.0.
    let old = write_manifest(folder.path(), "old.json", Path::new(library.as_str().unwrap()));
    let list =
        ends(with_manifests(std::slice::from_ref(&old)).args(["list", "--json"])).document(0);
    assert!(list["devices"][0]["name"].as_str().unwrap().contains("SwiftShader"), "{list}");
    ends(with_manifests(&[old]).args(["run", "f32.fabs"])).with(0);
}
