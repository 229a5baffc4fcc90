//! A kernel: operation, format, controls, route, width and front end, named by one string that parses back.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::controls::{Control, Controls};
use crate::error::ParseError;
use crate::format::Format;
use crate::op::{Code, OPS, Op, Operand, Width};
use crate::route::{Route, Via};

/// One question that can be put to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Format of the operation.
    pub format: Format,
    /// The operation.
    pub op: &'static Op,
    /// Execution modes and decorations asked for.
    pub controls: Controls,
    /// How data gets in and out.
    pub route: Route,
    /// Number of components, 1 to 4.
    pub width: u32,
    /// Front end.
    pub via: Via,
}

/// Format and number of components of an operand or result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Element format.
    pub format: Format,
    /// Number of components.
    pub width: u32,
}

impl Kernel {
    /// The kernel of this operation and format by its natural route, scalar, with no controls.
    pub fn plain(format: Format, op: &'static Op) -> Result<Kernel, ParseError> {
        let route = match op.code {
            Code::ImageWrite | Code::ImageRead => Route::StorageImage,
            _ => Route::Buffer,
        };
        Kernel { format, op, controls: Controls::NONE, route, width: 1, via: Via::Spirv }.checked()
    }

    /// The same question under other controls.
    #[must_use]
    pub fn with_controls(self, controls: Controls) -> Kernel {
        Kernel { controls, ..self }
    }

    /// `FORMAT.OP`, without the keys.
    pub fn stem(&self) -> String {
        format!("{}.{}", self.format, self.op.name)
    }

    /// Shape of an operand of this kernel.
    /// Name in a listing of a module: the stem, and the width where that is not 1.
    pub(crate) fn label(&self) -> String {
        if self.width == 1 { self.stem() } else { format!("{}.x{}", self.stem(), self.width) }
    }

    pub(crate) fn shape(&self, operand: Operand) -> Shape {
        let width = match operand.width {
            Width::Kernel => self.width,
            Width::Fixed(width) => width,
            Width::Channels => self.format.channels().len() as u32,
        };
        Shape { format: operand.format.unwrap_or(self.format), width }
    }

    /// Shapes of the operands, in order.
    pub fn params(&self) -> Vec<Shape> {
        self.op.params.iter().map(|operand| self.shape(*operand)).collect()
    }

    /// Shape of the result.
    pub fn result(&self) -> Shape {
        self.shape(self.op.result)
    }

    /// Number of values of one case: the components of all operands.
    pub fn arity(&self) -> usize {
        self.params().iter().map(|shape| shape.width as usize).sum()
    }

    /// Refuses combinations that mean nothing.
    fn checked(self) -> Result<Kernel, ParseError> {
        let undefined = |reason: String| Err(ParseError::Undefined { kernel: self.to_string(), reason });
        if !self.op.formats.contains(&self.format) {
            let known: Vec<&str> = self.op.formats.iter().map(|format| format.name()).collect();
            return undefined(format!("`{}` exists for {} only", self.op.name, known.join(", ")));
        }
        let image = matches!(self.op.code, Code::ImageWrite | Code::ImageRead);
        if image != (self.route == Route::StorageImage) {
            return undefined(if image {
                format!("`{}` of a packed format goes through an image: write `route=storage_image`", self.op.name)
            } else {
                format!("`{}` is arithmetic and has no route `{}`", self.op.name, self.route)
            });
        }
        if !(1..=4).contains(&self.width) {
            return undefined(format!("width {} is not one of 1, 2, 3, 4", self.width));
        }
        if self.width > 1 && !self.op.is_componentwise() {
            return undefined(format!("`{}` is not component-wise and has width 1 only", self.op.name));
        }
        if self.via == Via::Glsl && self.op.glsl.is_none() {
            return undefined(format!("GLSL cannot spell `{}`; use via=spirv", self.op.name));
        }
        if self.via == Via::Glsl && self.controls.contains(Control::FastMath0) {
            return undefined(
                "the GLSL front end does not combine with fastmath0: its modules carry no fast-math flags to override"
                    .into(),
            );
        }
        Ok(self)
    }
}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.format, self.op.name, self.controls, self.route, self.width, self.via).hash(state);
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.format, self.op.name)?;
        let mut keys = Vec::new();
        if !self.controls.is_empty() {
            keys.push(format!("controls={}", self.controls));
        }
        if self.route != Route::default() {
            keys.push(format!("route={}", self.route));
        }
        if self.width != 1 {
            keys.push(format!("width={}", self.width));
        }
        if self.via != Via::default() {
            keys.push(format!("via={}", self.via.name()));
        }
        if !keys.is_empty() {
            write!(f, ":{}", keys.join(";"))?;
        }
        Ok(())
    }
}

impl FromStr for Kernel {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (stem, keys) = text.split_once(':').unwrap_or((text, ""));
        let (format, op) = stem.split_once('.').ok_or_else(|| ParseError::Form(text.to_owned()))?;
        let format: Format = format.parse()?;
        let op = Op::find(op).ok_or_else(|| ParseError::unknown("operation", op, OPS.iter().map(|op| op.name)))?;
        let mut kernel =
            Kernel { format, op, controls: Controls::NONE, route: Route::default(), width: 1, via: Via::default() };
        let mut seen = Vec::new();
        for pair in keys.split(';').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| ParseError::Form(text.to_owned()))?;
            if seen.contains(&key) {
                return Err(ParseError::Undefined {
                    kernel: text.to_owned(),
                    reason: format!("key `{key}` is given twice"),
                });
            }
            seen.push(key);
            match key {
                "controls" => kernel.controls = value.parse()?,
                "route" => kernel.route = value.parse()?,
                "via" => kernel.via = value.parse()?,
                "width" => {
                    kernel.width = value.parse().map_err(|_| ParseError::Undefined {
                        kernel: text.to_owned(),
                        reason: format!("width `{value}` is not one of 1, 2, 3, 4"),
                    })?;
                }
                _ => return Err(ParseError::unknown("key", key, ["controls", "route", "width", "via"])),
            }
        }
        kernel.checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_and_parse_back_with_defaults_left_out() {
        for id in [
            "f32.fadd",
            "f16.inverse_sqrt:controls=dp16,szin16",
            "b10g11r11.store:route=storage_image",
            "f32.fmin:controls=ftz32;width=3",
            "f32.fmul:via=glsl",
        ] {
            assert_eq!(id.parse::<Kernel>().unwrap().to_string(), id);
        }
        assert_eq!("f32.fadd:width=1;route=buffer;via=spirv".parse::<Kernel>().unwrap().to_string(), "f32.fadd");
    }

    #[test]
    fn nonsense_is_refused_with_the_nearest_name() {
        let message = |id: &str| id.parse::<Kernel>().unwrap_err().to_string();
        assert!(message("f32.fad").contains("`fadd`"), "{}", message("f32.fad"));
        assert!(message("f23.fadd").contains("`f32`"));
        assert!(message("f32").contains("not a kernel id"));
        assert!(message("f64.sin").contains("f16, f32"));
        assert!(message("b10g11r11.store").contains("storage_image"));
        assert!(message("f32.nmin:via=glsl").contains("cannot spell"));
        assert!(message("f32.phi:width=2").contains("width 1 only"));
        assert!(message("f32.fadd:width=5").contains("1, 2, 3, 4"));
        assert!(message("f32.fadd:width=2;width=3").contains("twice"));
    }
}
