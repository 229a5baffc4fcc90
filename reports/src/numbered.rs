//! Causes by number: those of all devices of a report in one sequence, from 1, as the terminal
//! shows them.

use crate::model::{Cause, Device, Report};

/// A cause of a report.
#[derive(Clone, Copy, Debug)]
pub struct NumberedCause<'a> {
    /// Its number.
    pub number: usize,
    /// The device that shows it.
    pub device: &'a Device,
    /// The cause.
    pub cause: &'a Cause,
}

/// Every cause of a report, device by device, the gravest first.
pub fn numbered(report: &Report) -> impl Iterator<Item = NumberedCause<'_>> {
    let causes = report
        .devices
        .iter()
        .flat_map(|device| device.causes.iter().map(move |cause| (device, cause)));
    (1..).zip(causes).map(|(number, (device, cause))| NumberedCause { number, device, cause })
}

/// The number of the first cause of a device, by its place in the report.
pub fn first_number(report: &Report, device: usize) -> usize {
    1 + report.devices.iter().take(device).map(|device| device.causes.len()).sum::<usize>()
}

/// The causes that a text names: one by its number, or all of an id, on whichever devices they are.
pub fn find<'a>(report: &'a Report, text: &str) -> Vec<NumberedCause<'a>> {
    let number = text.parse::<usize>().ok();
    let by_number: Vec<NumberedCause<'_>> =
        numbered(report).filter(|one| Some(one.number) == number).collect();
    if by_number.is_empty() {
        numbered(report).filter(|one| one.cause.id.eq_ignore_ascii_case(text)).collect()
    } else {
        by_number
    }
}
