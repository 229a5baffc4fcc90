//! Who may control the daemon.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;

use crate::host::Host;

/// `nobody`, and a group that is not the configured one.
const NOBODY: u32 = 65534;

#[test]
fn strangers_are_refused_by_the_sockets_mode_and_by_who_they_are() {
    let host = Host::new("swiftshader", "start = false\ncontrol.group = \"4711\"\n");
    assert_eq!(fs::metadata(host.path("socket")).unwrap().permissions().mode() & 0o777, 0o660);
    // Only root can be somebody else.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    fs::set_permissions(host.folder.path(), Permissions::from_mode(0o755)).unwrap();
    let run = |user: u32, group: u32| {
        let mut command = host.command();
        command.args(["daemon", "pause"]).uid(user).gid(group);
        crate::scene::ends(&mut command)
    };
    assert!(run(NOBODY, NOBODY).err.contains("Permission denied"));
    // Whatever becomes of the mode.
    fs::set_permissions(host.path("socket"), Permissions::from_mode(0o666)).unwrap();
    let refused = run(NOBODY, NOBODY);
    refused.with(2);
    assert!(refused.err.contains("may not control"), "{}", refused.err);
    assert_ne!(host.status()["state"], "paused");
    run(NOBODY, 4711).with(0);
    assert_eq!(host.status()["state"], "paused");
    // A further group is as good as the first.
    let further = |group: &str| {
        let mut command = std::process::Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--groups", group])
            .arg(env!("CARGO_BIN_EXE_fpprobe"));
        command.arg("--config").arg(host.path("config.toml")).args(["daemon", "resume"]);
        crate::scene::ends(&mut command)
    };
    further("4712").with(2);
    further("4711").with(0);
    assert_ne!(host.status()["state"], "paused");
}
