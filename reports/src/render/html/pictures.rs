//! Pictures of answers: how far functions are off over the range of their operand, what pairs of
//! classes of operands give, the staircases of conversions to small floats, and the trees of sums
//! in matrix units.

mod curves;
mod maps;
mod stairs;
mod trees;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{FloatLayout, Format, Kernel};

pub use self::curves::errors;
pub(crate) use self::curves::picture;
pub use self::maps::maps;
pub use self::stairs::stairs;
pub use self::trees::trees;

/// A scale: numbers along a line of a picture.
#[derive(Clone, Copy)]
struct Axis {
    /// The number at its start.
    from: f64,
    /// The number at its end.
    to: f64,
    /// Where it starts, in units of the picture.
    start: f64,
    /// Where it ends; up is down.
    end: f64,
}

impl Axis {
    /// Place of a number; what lies beyond an end stands there.
    fn at(self, number: f64) -> f64 {
        let share = (number - self.from) / (self.to - self.from);
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Whether the scale reaches a number.
    fn holds(self, number: f64) -> bool {
        (self.from..=self.to).contains(&number)
    }
}

fn ran(observation: &Observation) -> bool {
    matches!(observation.outcome, Outcome::Ran | Outcome::Flaky)
}

/// The float format that a plain kernel takes and gives throughout.
fn layout(kernel: &Kernel, operands: usize) -> Option<FloatLayout> {
    let own = |format: Format| format == kernel.format;
    let plain = kernel.is_plain()
        && kernel.controls.is_empty()
        && kernel.op.params.len() == operands
        && kernel.outputs() == 1;
    let same = kernel.params().iter().all(|shape| own(shape.format)) && own(kernel.result().format);
    kernel.format.float().filter(|_| plain && same)
}
