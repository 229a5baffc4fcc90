//! May this user open the device nodes?

use std::path::Path;

use fpprobe_system::gpu;

use super::Diagnosis;

/// Looks at the nodes of GPUs.
pub fn look() -> Vec<Diagnosis> {
    let nodes = gpu::nodes();
    if nodes.is_empty() {
        return vec![Diagnosis::note(
            "no GPU device node (/dev/dri/renderD*, /dev/nvidia*): only drivers for the processor can work",
            "where there is a GPU: load its kernel driver; in a container, pass the nodes in (for example --device /dev/dri)",
        )];
    }
    nodes.iter().map(|node| judge(node)).collect()
}

fn judge(node: &Path) -> Diagnosis {
    let Err(error) = gpu::can_open(node) else {
        return Diagnosis::good(format!("{} can be opened", node.display()));
    };
    let remedy = match gpu::group(node) {
        Some(group) if group != "root" => {
            format!("join its group and log in again: sudo usermod -aG {group} \"$USER\"")
        }
        _ => "its owner is root alone: see the driver's udev rules".to_owned(),
    };
    Diagnosis::bad(format!("{} cannot be opened: {error}", node.display()), remedy)
}
