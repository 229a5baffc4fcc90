//! May this user open the device nodes?

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::Diagnosis;

/// Looks at the nodes of GPUs.
pub fn look() -> Vec<Diagnosis> {
    let nodes: Vec<PathBuf> =
        nodes_in("/dev/dri", "renderD").into_iter().chain(nodes_in("/dev", "nvidia")).collect();
    if nodes.is_empty() {
        return vec![Diagnosis::note(
            "no GPU device node (/dev/dri/renderD*, /dev/nvidia*): only drivers for the processor can work",
            "where there is a GPU: load its kernel driver; in a container, pass the nodes in (for example --device /dev/dri)",
        )];
    }
    nodes.iter().map(|node| judge(node)).collect()
}

fn nodes_in(folder: &str, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut nodes: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    nodes.sort();
    nodes
}

fn judge(node: &Path) -> Diagnosis {
    match access(node, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) => Diagnosis::good(format!("{} can be opened", node.display())),
        Err(error) => {
            let group = std::fs::metadata(node).ok().map(|meta| group_name(meta.gid()));
            let remedy = match group {
                Some(group) if group != "root" => {
                    format!("join its group and log in again: sudo usermod -aG {group} \"$USER\"")
                }
                _ => "its owner is root alone: see the driver's udev rules".to_owned(),
            };
            Diagnosis::bad(format!("{} cannot be opened: {error}", node.display()), remedy)
        }
    }
}

fn group_name(gid: u32) -> String {
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let fields = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut named =
        fields.filter(|fields| fields.get(2).and_then(|id| id.parse().ok()) == Some(gid));
    named
        .next()
        .and_then(|fields| fields.first().map(|name| (*name).to_owned()))
        .unwrap_or_else(|| gid.to_string())
}
