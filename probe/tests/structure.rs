//! The rooms of the workspace: which crate may load Vulkan, which may name an operating system, and
//! that modules import in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module by its path within the crate.
type Module = Vec<String>;
/// What each module imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folders of the workspace's crates.
fn crates() -> Vec<String> {
    let workspace: toml::Table =
        fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let members = workspace["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

#[test]
fn only_the_worker_depends_on_vulkan() {
    for folder in crates() {
        let manifest: toml::Table =
            fs::read_to_string(root().join(&folder).join("Cargo.toml")).unwrap().parse().unwrap();
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let has = |name: &str| dependencies.is_some_and(|table| table.contains_key(name));
        let may = ["probe/worker", "probe/tests/fault-layer"].contains(&folder.as_str());
        assert!(may || !(has("ash") || has("gpu-allocator")), "{folder}");
    }
}

/// Interfaces of operating systems and where they keep things, as code names them.
const INTERFACES: [&str; 14] = [
    "rustix",
    "libc::",
    "signal_hook",
    "command_fds",
    "sd_notify",
    "std::os::",
    "cfg(unix",
    "cfg(windows",
    "target_os",
    "target_family",
    "\"/proc",
    "\"/dev/",
    "\"/run",
    "\"/etc",
];
/// The crate that may name them, and the one that breaks drivers.
const HOSTS: [&str; 2] = ["reports/system", "probe/tests/fault-layer"];
/// Where they stand beside that: the worker reads of its driver and processor; `doctor` names a
/// file without a manifest; the manual names a file.
const EXCEPTIONS: [(&str, &str); 4] = [
    ("probe/worker/src/vulkan/library.rs", "\"/proc"),
    ("probe/worker/src/vulkan/cpu.rs", "\"/proc"),
    ("probe/src/doctor/loader.rs", "\"/dev/"),
    ("probe/src/commands/man.rs", "\"/etc"),
];

#[test]
fn only_the_system_crate_names_operating_systems() {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = crates()
        .iter()
        .filter(|folder| !HOSTS.contains(&folder.as_str()))
        .map(|folder| root().join(folder).join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !name.ends_with("tests.rs") && !name.contains("/tests/") {
                let code = code(&path);
                let named = INTERFACES.iter().filter(|interface| code.contains(**interface));
                found.extend(named.map(|interface| (name.clone(), *interface)));
            }
        }
    }
    let expected: BTreeSet<_> = EXCEPTIONS.map(|(file, named)| (file.to_owned(), named)).into();
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn modules_import_in_one_direction() {
    let mut found = Vec::new();
    for folder in crates() {
        let imports = imports(&root().join(&folder).join("src"));
        let parents: BTreeSet<&[String]> =
            imports.keys().filter_map(|module| Some(module.split_last()?.1)).collect();
        for circle in parents.into_iter().flat_map(|parent| circles(&beside(&imports, parent))) {
            let names: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
            found.push(format!("{folder}: {}", names.join(", ")));
        }
    }
    assert!(found.is_empty(), "these import each other:\n{}", found.join("\n"));
}

/// Every module of a crate that is a file of its own, tests aside, with the modules that it
/// imports.
fn imports(src: &Path) -> Imports {
    let mut files = BTreeMap::new();
    let mut folders = vec![(src.to_owned(), Module::new())];
    while let Some((folder, module)) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let within = [&module[..], std::slice::from_ref(&name)].concat();
            match name.as_str() {
                _ if path.is_dir() => folders.push((path, within)),
                _ if path.extension().is_none_or(|extension| extension != "rs") => {}
                "tests" | "main" => {}
                "mod" | "lib" => drop(files.insert(module.clone(), path)),
                _ => drop(files.insert(within, path)),
            }
        }
    }
    let modules: BTreeSet<Module> = files.keys().cloned().collect();
    let of = |(module, path): (&Module, &PathBuf)| {
        let named =
            paths(&code(path)).into_iter().filter_map(|path| resolve(module, &path, &modules));
        (module.clone(), named.filter(|other| other != module).collect())
    };
    files.iter().map(of).collect()
}

/// The code of a file on one line, without comments and tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join(" ")
}

/// Paths that begin with `crate`, `super` or `self`, with the groups of braces taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code
            .match_indices(start)
            .filter(|(at, _)| !code[..*at].ends_with(|c| is_name(c) || c == ':'))
        {
            follow(&code[at..], &mut Vec::new(), &mut found);
        }
    }
    found
}

/// Reads one path, or each of a group; what follows it.
fn follow<'a>(
    mut code: &'a str,
    before: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> &'a str {
    let depth = before.len();
    loop {
        code = code.trim_start();
        if let Some(mut group) = code.strip_prefix('{') {
            while !group.is_empty() && !group.starts_with('}') {
                group =
                    follow(group, before, found).trim_start().trim_start_matches(',').trim_start();
            }
            code = group.strip_prefix('}').unwrap_or_default();
            break;
        }
        let end = code.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(code.len());
        before.push(code[..end].to_owned());
        code = &code[end..];
        let Some(rest) = code.strip_prefix("::") else {
            found.push(before.clone());
            break;
        };
        code = rest;
    }
    before.truncate(depth);
    // `as NAME`, a `*`, or anything that is no path at all.
    let end = code.find([',', '}', ';']).unwrap_or(code.len());
    &code[end..]
}

/// The deepest module that a path of this module leads to.
fn resolve(module: &[String], path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    let mut place = if path[0] == "crate" { Module::new() } else { module.to_vec() };
    for name in path {
        match name.as_str() {
            "crate" | "self" => {}
            "super" => drop(place.pop()),
            name => {
                let within = [&place[..], &[name.to_owned()]].concat();
                if !modules.contains(&within) {
                    break;
                }
                place = within;
            }
        }
    }
    modules.contains(&place).then_some(place)
}

/// What the children of a module, each with its own children, import of each other.
fn beside(imports: &Imports, parent: &[String]) -> Imports {
    let child = |module: &Module| {
        (module.starts_with(parent) && module.len() > parent.len())
            .then(|| module[..=parent.len()].to_vec())
    };
    let mut beside = Imports::new();
    for (module, others) in imports {
        let Some(own) = child(module) else { continue };
        let others = others.iter().filter_map(child).filter(|other| *other != own);
        beside.entry(own.clone()).or_default().extend(others);
    }
    beside
}

/// Sets of modules each of which leads to every other.
fn circles(imports: &Imports) -> BTreeSet<BTreeSet<Module>> {
    let reach = |from: &Module| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(module) = left.pop() {
            left.extend(
                imports
                    .get(module)
                    .into_iter()
                    .flatten()
                    .filter(|other| seen.insert((*other).clone())),
            );
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        imports.keys().map(|module| (module, reach(module))).collect();
    let circle = |module: &&Module| {
        let back = |other: &&Module| {
            reached[*other].contains(*module) && reached[*module].contains(*other)
        };
        imports.keys().filter(back).cloned().collect::<BTreeSet<Module>>()
    };
    imports
        .keys()
        .filter(|module| reached[module].contains(*module))
        .map(|module| circle(&module))
        .collect()
}
