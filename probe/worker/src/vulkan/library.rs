//! Which Vulkan drivers and layers are loaded into this process, distinguished from the files that
//! are mapped.
//!
//! The loader does not say. A driver exports `vk_icdGetInstanceProcAddr` and a layer
//! `vkGetInstanceProcAddr` or `vkNegotiateLoaderLayerInterfaceVersion`, possibly with a prefix
//! (Loader and Driver Interface, "Driver Discovery"; Loader and Layer Interface, "Layer Interface
//! Negotiation").

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol, ReadCache};

use super::text::hex;

/// What a library is to Vulkan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// A driver.
    Driver,
    /// A layer.
    Layer,
}

/// A driver or layer in this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Library {
    /// Absolute path, symbolic links resolved.
    pub(super) path: String,
    /// Driver or layer.
    pub(super) role: Role,
    /// GNU build id in hex; empty where it has none.
    pub(super) build_id: String,
}

/// Every driver and layer in this process, by path.
pub(super) fn loaded() -> Vec<Library> {
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    without_parts(mapped(&maps).into_iter().filter_map(inspect).collect())
}

/// Without what looks like a layer and is a part of a driver: NVIDIA's comes in several libraries,
/// each with the entry points of a layer.
fn without_parts(libraries: Vec<Library>) -> Vec<Library> {
    let drivers: Vec<(PathBuf, String)> = libraries
        .iter()
        .filter(|library| library.role == Role::Driver)
        .filter_map(|driver| release(&driver.path))
        .collect();
    let part = |library: &Library| {
        release(&library.path).is_some_and(|release| drivers.contains(&release))
    };
    libraries.into_iter().filter(|library| library.role == Role::Driver || !part(library)).collect()
}

/// Folder and version of a library whose file name ends in a version of several numbers: all
/// libraries of one release of a driver have both in common.
fn release(path: &str) -> Option<(PathBuf, String)> {
    let path = Path::new(path);
    let (_, version) = path.file_name()?.to_str()?.split_once(".so.")?;
    version
        .contains('.')
        .then(|| (path.parent().unwrap_or(Path::new("")).to_owned(), version.to_owned()))
}

/// Files with code in a process, from its `/proc/PID/maps`.
fn mapped(maps: &str) -> BTreeSet<&str> {
    let path = |line| -> Option<&str> {
        // address perms offset dev inode path; the path may hold spaces.
        let mut rest: &str = line;
        let mut permissions = "";
        for field in 0..5 {
            let (head, tail) = rest.trim_start().split_once(' ')?;
            permissions = if field == 1 { head } else { permissions };
            rest = tail;
        }
        let path = rest.trim_start();
        (permissions.contains('x') && path.starts_with('/')).then_some(path)
    };
    maps.lines().filter_map(path).collect()
}

/// Reads the file's dynamic symbols; `None` where it is neither driver nor layer (or no longer
/// there to be read).
fn inspect(path: &str) -> Option<Library> {
    let file = ReadCache::new(File::open(path).ok()?);
    let object = object::File::parse(&file).ok()?;
    // A driver's compiler has a hundred thousand symbols. Their names, looked through at once, rule
    // most files out.
    let names = object.section_by_name(".dynstr")?.data().ok()?;
    names.split(|byte| *byte == 0).find(|name| is_entry_point(name))?;
    let exports = object.dynamic_symbols().filter(ObjectSymbol::is_definition);
    let role = role(path, exports.filter_map(|symbol| symbol.name_bytes().ok()))?;
    let build_id = object.build_id().ok().flatten().map(hex).unwrap_or_default();
    Some(Library { path: path.to_owned(), role, build_id })
}

fn is_entry_point(name: &[u8]) -> bool {
    [
        &b"GetInstanceProcAddr"[..],
        b"NegotiateLoaderLayerInterfaceVersion",
        b"NegotiateLoaderICDInterfaceVersion",
    ]
    .iter()
    .any(|ending| name.ends_with(ending))
}

fn role<'a>(path: &str, exports: impl Iterator<Item = &'a [u8]>) -> Option<Role> {
    let mut role = None;
    for name in exports.filter(|name| is_entry_point(name)) {
        if name.starts_with(b"vk_icd") {
            return Some(Role::Driver);
        }
        role = Some(Role::Layer);
    }
    // The loader itself looks like a layer.
    let loader = path.rsplit('/').next().is_some_and(|name| name.starts_with("libvulkan.so"));
    role.filter(|_| !loader)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0a0000000-55d0a0001000 r-xp 00000000 fe:01 100                        /usr/bin/fpprobe
7f0000000000-7f0000001000 r--p 00000000 fe:01 123                        /usr/lib/libvulkan_lvp.so
7f0000001000-7f0000002000 r-xp 00001000 fe:01 123                        /usr/lib/libvulkan_lvp.so
7f0000002000-7f0000003000 r-xp 00001000 fe:01 124                        /opt/my drivers/lib one.so
7f0000003000-7f0000004000 rw-p 00000000 00:00 0
7f0000004000-7f0000005000 r--p 00000000 fe:01 125                        /usr/share/data.bin
7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]
nonsense";

    #[test]
    fn maps_give_files_with_code() {
        let files: Vec<&str> = mapped(MAPS).into_iter().collect();
        assert_eq!(
            files,
            ["/opt/my drivers/lib one.so", "/usr/bin/fpprobe", "/usr/lib/libvulkan_lvp.so"]
        );
        assert!(mapped("").is_empty());
    }

    fn role_of(path: &str, names: &[&str]) -> Option<Role> {
        role(path, names.iter().map(|name| name.as_bytes()))
    }

    #[test]
    fn exports_tell_drivers_from_layers() {
        let driver = ["vkGetInstanceProcAddr", "vk_icdGetInstanceProcAddr"];
        assert_eq!(role_of("/l/libGLX_nvidia.so.550", &driver), Some(Role::Driver));
        assert_eq!(
            role_of("/l/libVkLayer_x.so", &["vkNegotiateLoaderLayerInterfaceVersion"]),
            Some(Role::Layer)
        );
        assert_eq!(
            role_of("/l/libVkLayer_x.so", &["MyLayer_GetInstanceProcAddr"]),
            Some(Role::Layer)
        );
        assert_eq!(role_of("/l/libvulkan.so.1.3.239", &["vkGetInstanceProcAddr"]), None);
        assert_eq!(role_of("/l/libc.so.6", &["malloc"]), None);
    }

    #[test]
    fn the_other_libraries_of_a_drivers_release_are_no_layers() {
        let library =
            |path: &str, role| Library { path: path.to_owned(), role, build_id: String::new() };
        let all = [
            library("/n/libGLX_nvidia.so.580.159.04", Role::Driver),
            library("/n/libnvidia-glcore.so.580.159.04", Role::Layer),
            library("/n/libnvidia-old.so.570.1", Role::Layer),
            library("/other/libVkLayer_x.so.580.159.04", Role::Layer),
            library("/n/libVkLayer_x.so", Role::Layer),
            library("/m/libvulkan_lvp.so", Role::Driver),
            library("/m/libVkLayer_y.so", Role::Layer),
        ];
        let kept: Vec<String> =
            without_parts(all.to_vec()).into_iter().map(|library| library.path).collect();
        let expected: Vec<&str> = all
            .iter()
            .map(|library| library.path.as_str())
            .filter(|p| !p.contains("glcore"))
            .collect();
        assert_eq!(kept, expected);
    }

    #[test]
    fn this_process_has_loaded_nothing_of_the_kind() {
        assert_eq!(loaded(), []);
    }
}
