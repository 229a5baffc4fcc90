//! How a device begins, on one screen and in full.

use std::io;

use crate::diff::{DeviceDiff, Presence};
use crate::render::paper::{Ink, Paper};

/// Name and place of a device, and whether one side alone has it.
pub(super) fn title(paper: &mut Paper, device: &DeviceDiff, several: bool) -> io::Result<()> {
    if several || paper.is_whole() {
        paper.gap()?;
    }
    let host = if several { format!("  {}", device.host) } else { String::new() };
    let place = [(Ink::Faint, "  "), (Ink::Faint, &device.slot), (Ink::Faint, &host)];
    paper.line(0, 2, &[&[(Ink::Strong, &*device.name)][..], &place].concat())?;
    match device.presence {
        Presence::Both => Ok(()),
        Presence::Appeared => alone(paper, Ink::Note, "new", &device.driver),
        Presence::Vanished => alone(paper, Ink::Doubt, "old", &device.driver),
    }
}

fn alone(paper: &mut Paper, ink: Ink, side: &str, driver: &str) -> io::Result<()> {
    paper.line(2, 2, &[(ink, &format!("is in the {side} reports alone, with {driver}"))])
}
