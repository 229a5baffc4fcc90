//! `VK_EXT_device_fault`: what the driver tells of the loss of its device.

use crate::faulty::measured;

const LOST: &str = "return VK_ERROR_DEVICE_LOST in vkWaitForFences at f32.sqrt";
const FAULT: &str = r"device-fault page\sfault\sat\sthe\send\sof\sthe\sworld address 0xdead0000 vendor mmu\stimeout 7 0xbeef binary 64";

#[test]
fn the_extension_changes_nothing_while_nothing_is_lost() {
    let run = measured(FAULT);
    assert_eq!(run.code, 0, "{}", run.err);
    run.others_unharmed(&[]);
}

#[test]
fn a_loss_comes_with_the_drivers_account() {
    let run = measured(&format!("{FAULT}\n{LOST}"));
    assert_eq!(run.code, 5, "{}", run.err);
    run.others_unharmed(&["f32.sqrt"]);
    for part in ["page fault at the end of the world", "dead0000", "mmu timeout"] {
        run.incident("f32.sqrt", "device_lost", part);
    }
}

#[test]
fn an_account_that_never_comes_does_not_hide_the_loss() {
    for statement in
        ["crash in vkGetDeviceFaultInfoEXT", "return VK_ERROR_UNKNOWN in vkGetDeviceFaultInfoEXT"]
    {
        let run = measured(&format!("{FAULT}\n{LOST}\n{statement}"));
        assert_eq!(run.code, 5, "{}", run.err);
        run.others_unharmed(&["f32.sqrt"]);
        assert_ne!(run.outcome("f32.sqrt"), "ran");
    }
}
