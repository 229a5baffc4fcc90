//! A kernel: operation, format, controls, route, width and front end, named by one string that
//! parses back.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use rspirv::spirv::Op as SpvOp;

use crate::atomic::MemoryScope;
use crate::bc6h;
use crate::capacity;
use crate::controls::{Control, Controls};
use crate::error::ParseError;
use crate::format::Format;
use crate::matrix::{MatrixUnit, MatrixUse};
use crate::op::{Code, FixedFunctionState, Function, Inst, OPS, Op, OperandType, Width};
use crate::route::{Route, Stage, Via};

pub use crate::shape::Shape;

/// One question that can be put to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Format of the operation.
    pub format: Format,
    /// The operation.
    pub op: &'static Op,
    /// Execution modes and decorations requested.
    pub controls: Controls,
    /// How data gets in and out.
    pub route: Route,
    /// Which shader does it; where route or operation imply one, and where none runs, the default.
    pub stage: Stage,
    /// Number of components, 1 to 4.
    pub width: u32,
    /// Front end.
    pub via: Via,
    /// The unit that an operation on cooperative matrices uses; `None` for all others.
    pub matrix: Option<MatrixUnit>,
    /// How far an atomic operation is atomic; the default for all others.
    pub scope: MemoryScope,
}

impl Kernel {
    /// The kernel of this operation and format by its natural route, scalar or as narrow as it
    /// gets, with no controls.
    pub fn plain(format: Format, op: &'static Op) -> Result<Kernel, ParseError> {
        let route = op.code.routes(format)[0];
        let width = *op.widths().start();
        let (controls, stage, via) = (Controls::NONE, Stage::Compute, Via::Spirv);
        let (matrix, scope) = (None, MemoryScope::default());
        Kernel { format, op, controls, route, stage, width, via, matrix, scope }.checked()
    }

    /// Whether it is the kernel of its operation and format that others are compared with, but for
    /// its controls. Every route of a texel or of an atomic operation stands for itself.
    pub fn is_plain(&self) -> bool {
        let own = self.op.code.has_own_routes();
        Kernel::plain(self.format, self.op).is_ok_and(|plain| {
            let route = if own { self.route } else { plain.route };
            Kernel { route, ..plain } == self.with_controls(Controls::NONE)
        })
    }

    /// The kernel that this one should answer like, under the same controls: by buffers, built
    /// directly, and one component at a time where it works component by component. `None` for
    /// a kernel that is its own.
    pub fn counterpart(&self) -> Option<Kernel> {
        let width = if self.op.is_componentwise() { 1 } else { self.width };
        let natural = self.op.code.routes(self.format)[0];
        let route = if Route::OTHERS.contains(&self.route) { natural } else { self.route };
        let counterpart = Kernel {
            route,
            stage: Stage::Compute,
            width,
            via: Via::Spirv,
            scope: MemoryScope::default(),
            ..*self
        };
        (counterpart != *self).then_some(counterpart)
    }

    /// The shader that its module is.
    pub fn shader(&self) -> Stage {
        match self.route {
            route if route.is_drawn() => Stage::Fragment,
            _ if matches!(self.op.code, Code::Derivative(_) | Code::Interpolated(_)) => {
                Stage::Fragment
            }
            Route::Vertex => Stage::Vertex,
            _ => self.stage,
        }
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

    /// Name in a listing of a module: the stem, the width where that is not 1, the route where that
    /// is not the natural one: `f32.fadd.x3.literal`; of matrices the unit.
    pub fn label(&self) -> String {
        let width = if self.width == 1 { String::new() } else { format!(".x{}", self.width) };
        let natural = self.op.code.routes(self.format)[0];
        let route = if self.route == natural { String::new() } else { format!(".{}", self.route) };
        let stage = if self.stage == Stage::default() {
            String::new()
        } else {
            format!(".{}", self.stage.name())
        };
        let matrix = self.matrix.map(|unit| format!(".{unit}")).unwrap_or_default();
        let scope = if self.scope == MemoryScope::default() {
            String::new()
        } else {
            format!(".{}", self.scope.name())
        };
        self.stem() + &width + &route + &stage + &matrix + &scope
    }

    /// The instructions that its operation's row names, on its route; none where a command carries
    /// it out.
    pub fn instructions(&self) -> Vec<Inst> {
        let core = |ops: &[SpvOp]| ops.iter().map(|op| Inst::Core(*op)).collect();
        match (self.op.code, self.route) {
            (_, route) if route.is_command() => Vec::new(),
            (Code::Inst(inst), _) => vec![inst],
            (Code::Steps(steps), _) => steps.iter().map(|step| step.inst).collect(),
            (Code::LoadStore, _) => core(&[SpvOp::Load, SpvOp::Store]),
            (Code::SelectConstants, _) => core(&[SpvOp::Select]),
            (Code::Phi | Code::PhiConstants, _) => core(&[SpvOp::Phi]),
            (Code::Shuffle, _) => core(&[SpvOp::VectorShuffle]),
            (Code::Subgroup(op, _) | Code::Atomic(op, _) | Code::Derivative(op), _) => core(&[op]),
            (Code::MatrixMulAdd, _) => core(&[SpvOp::CooperativeMatrixMulAddKHR]),
            (Code::MatrixLoadStore(_), _) => {
                core(&[SpvOp::CooperativeMatrixLoadKHR, SpvOp::CooperativeMatrixStoreKHR])
            }
            (Code::DepthClamp, _) => core(&[SpvOp::Store]),
            (Code::ImageWrite, route) if route.is_drawn() => core(&[SpvOp::Store]),
            (Code::ImageWrite, _) => core(&[SpvOp::ImageWrite]),
            (Code::Interpolated(_), _) | (Code::ImageRead, Route::Vertex) => core(&[SpvOp::Load]),
            (Code::ImageRead, Route::StorageImage) => core(&[SpvOp::ImageRead]),
            (Code::ImageRead, _) => core(&[SpvOp::ImageFetch]),
            (Code::ImageSample | Code::State(FixedFunctionState::BorderColor), _) => {
                core(&[SpvOp::ImageSampleExplicitLod])
            }
            (Code::Blend(_) | Code::State(FixedFunctionState::BlendConstants), _) => {
                core(&[SpvOp::Store])
            }
            (
                Code::TexelCopy
                | Code::TexelConvert
                | Code::State(FixedFunctionState::MinDepth | FixedFunctionState::MaxDepth),
                _,
            ) => Vec::new(),
        }
    }

    /// Shape of an operand of this kernel.
    pub(crate) fn shape(&self, operand: OperandType) -> Shape {
        let channels = self.format.channels().len() as u32;
        let (width, columns) = match operand.width {
            Width::Kernel => (self.width, 1),
            Width::Fixed(width) => (width, 1),
            Width::Texel if self.format.is_block() => {
                return Shape::vector(Format::U32, self.format.bits() / 32);
            }
            Width::Texel => (1, 1),
            Width::Channels if self.format.is_block() => (channels * bc6h::TEXELS, bc6h::TEXELS),
            Width::Channels => (channels, 1),
            Width::Square => (self.width * self.width, self.width),
            Width::Factor(part) | Width::Line(part) => return self.of_matrix(operand.width, part),
        };
        Shape { format: operand.format.unwrap_or(self.format), width, columns }
    }

    /// What this kernel has of a matrix.
    fn of_matrix(&self, width: Width, part: MatrixUse) -> Shape {
        let Some(unit) = self.matrix else { return Shape::scalar(self.format) };
        let component = unit.component(part);
        let list = |format, width| Shape { format, width, columns: width };
        match (width, part) {
            (Width::Line(_), _) => list(self.format, unit.lines(part).1 + component.gap()),
            (_, MatrixUse::Accumulator) => Shape::scalar(component.format()),
            _ => list(component.format(), unit.k),
        }
    }

    /// Why there is no such kernel with its unit of matrices, or without one.
    fn misfit(&self) -> Option<String> {
        if matches!(self.op.code, Code::Subgroup(..)) && self.stage != Stage::Compute {
            return Some("operations over subgroups are for compute shaders here".to_owned());
        }
        if matches!(self.op.code, Code::Derivative(_)) && self.stage != Stage::Compute {
            return Some("derivatives are for fragment shaders: leave stage out".to_owned());
        }
        if matches!(self.op.code, Code::Interpolated(_)) && self.stage != Stage::Compute {
            return Some("inputs are of fragment shaders here: leave stage out".to_owned());
        }
        let is_atomic = matches!(self.op.code, Code::Atomic(..));
        if is_atomic && self.stage != Stage::Compute {
            return Some("atomic operations are for compute shaders here".to_owned());
        }
        if !is_atomic && self.scope != MemoryScope::default() {
            return Some(format!("`{}` is not atomic and has no key `scope`", self.op.name));
        }
        let Some(unit) = self.matrix else {
            let name = self.op.name;
            let missing =
                || format!("write the unit of `{name}` as matrix=MxNxK-A-B-C (`fpprobe list -v`)");
            return self.op.code.is_of_matrices().then(missing);
        };
        match self.op.code {
            Code::MatrixMulAdd | Code::MatrixLoadStore(_) if self.stage != Stage::Compute => {
                Some("cooperative matrices are for compute shaders here".to_owned())
            }
            Code::MatrixMulAdd => {
                let parts =
                    [unit.a, unit.b, unit.c].map(|component| component.format().float().is_some());
                let mixed = parts.iter().any(|is_float| *is_float != self.format.float().is_some());
                mixed.then(|| {
                    "a product of cooperative matrices is of floats or of integers".to_owned()
                })
            }
            Code::MatrixLoadStore(part) => {
                let own = unit.component(part).format();
                (own != self.format)
                    .then(|| format!("the elements of that matrix are {own}, not {}", self.format))
            }
            _ => Some(format!(
                "`{}` uses no cooperative matrix and has no key `matrix`",
                self.op.name
            )),
        }
    }

    /// Shapes of the operands, in order.
    pub fn params(&self) -> Vec<Shape> {
        self.op.params.iter().map(|operand| self.shape(*operand)).collect()
    }

    /// Shape of the result; of two, the first.
    pub fn result(&self) -> Shape {
        self.shape(self.op.result)
    }

    /// Shapes of the results, in order: one, or two.
    pub fn results(&self) -> Vec<Shape> {
        self.op.results().map(|operand| self.shape(*operand)).collect()
    }

    /// Formats of every value that the kernel computes with: operands, result, and what its steps
    /// give in between.
    pub(crate) fn formats(&self) -> BTreeSet<Format> {
        let steps = match self.op.code {
            Code::Steps(steps) => steps,
            _ => &[],
        };
        let operands = self
            .op
            .params
            .iter()
            .chain(self.op.results())
            .chain(steps.iter().map(|step| &step.result));
        operands.map(|operand| self.shape(*operand).format).collect()
    }

    /// Whether an operand or result is a matrix.
    pub fn has_matrices(&self) -> bool {
        self.params().iter().chain(&self.results()).any(|shape| shape.columns > 1)
    }

    /// Whether it is a dot product of bfloat16, of which not every device with the format has one.
    pub fn is_bfloat16_dot(&self) -> bool {
        self.op.function == Function::Dot && self.format == Format::Bf16
    }

    /// Whether its module has an image: that of a texel, or the memory of an atomic operation.
    pub fn has_image(&self) -> bool {
        let is_atomic = matches!(self.op.code, Code::Atomic(..));
        self.op.code.is_of_texels() || is_atomic && self.route == Route::StorageImage
    }

    /// Number of values of one case: the components of all operands.
    pub fn arity(&self) -> usize {
        self.op.params.iter().map(|operand| self.shape(*operand).width as usize).sum()
    }

    /// Number of values of one answer: the components of all results, one result after the other.
    pub fn outputs(&self) -> usize {
        self.op.results().map(|operand| self.shape(*operand).width as usize).sum()
    }

    /// Formats of the values of one answer.
    pub fn output_formats(&self) -> impl Iterator<Item = Format> {
        let shapes = self.op.results().map(|operand| self.shape(*operand));
        shapes.flat_map(|shape| std::iter::repeat_n(shape.format, shape.width as usize))
    }

    /// The kernel itself; an error for combinations that mean nothing.
    pub fn checked(self) -> Result<Kernel, ParseError> {
        let undefined =
            |reason: String| Err(ParseError::Undefined { kernel: self.to_string(), reason });
        if !self.op.formats.contains(&self.format) {
            let known: Vec<&str> = self.op.formats.iter().map(|format| format.name()).collect();
            return undefined(format!("`{}` exists for {} only", self.op.name, known.join(", ")));
        }
        let routes = self.op.code.routes(self.format);
        if !routes.contains(&self.route) {
            let known: Vec<String> =
                routes.iter().map(|route| format!("`route={route}`")).collect();
            return undefined(if self.op.code.is_of_texels() {
                format!(
                    "`{}` of a packed format goes through an image: write {}",
                    self.op.name,
                    known.join(" or ")
                )
            } else {
                format!("`{}` is arithmetic and has no route `{}`", self.op.name, self.route)
            });
        }
        if self.route.is_command() && !self.controls.is_empty() {
            return undefined(format!(
                "controls are for shaders, and none runs on the route `{}`",
                self.route
            ));
        }
        if self.stage != Stage::Compute && (self.route != Route::Buffer || self.via != Via::Spirv) {
            return undefined(format!(
                "stage {} is for operands in buffers and SPIR-V built directly",
                self.stage.name()
            ));
        }
        if !(1..=4).contains(&self.width) {
            return undefined(format!("width {} is not one of 1, 2, 3, 4", self.width));
        }
        if !self.op.widths().contains(&self.width) {
            let widths: Vec<String> = self.op.widths().map(|width| width.to_string()).collect();
            let hint = if self.width == 1 {
                format!(": write `width={}`", widths[0])
            } else {
                String::new()
            };
            return undefined(format!(
                "`{}` is not component-wise and has width {} only{hint}",
                self.op.name,
                widths.join(", ")
            ));
        }
        let is_spelled = self.op.glsl.is_some() && self.format.float_encoding().is_none();
        if self.via == Via::Glsl && !is_spelled {
            return undefined(format!("GLSL cannot spell `{}`; use via=spirv", self.op.name));
        }
        if self.via == Via::Glsl && Route::OTHERS.contains(&self.route) {
            return undefined(format!(
                "the GLSL front end spells no route `{}`; use via=spirv",
                self.route
            ));
        }
        if self.via == Via::Glsl && self.controls.contains(Control::FastMath0) {
            return undefined(
                "the GLSL front end does not combine with fastmath0: its modules carry no fast-math flags to override"
                    .into(),
            );
        }
        if let Some(reason) = self.misfit() {
            return undefined(reason);
        }
        if let Some(excess) = capacity::excess(self.route, &self.params()) {
            return undefined(excess);
        }
        Ok(self)
    }
}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            self.format,
            self.op.name,
            self.controls,
            self.route,
            self.stage,
            self.width,
            self.via,
            self.matrix,
            self.scope,
        )
            .hash(state);
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
        if self.stage != Stage::default() {
            keys.push(format!("stage={}", self.stage.name()));
        }
        if self.width != 1 {
            keys.push(format!("width={}", self.width));
        }
        if self.via != Via::default() {
            keys.push(format!("via={}", self.via.name()));
        }
        if let Some(unit) = self.matrix {
            keys.push(format!("matrix={unit}"));
        }
        if self.scope != MemoryScope::default() {
            keys.push(format!("scope={}", self.scope.name()));
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
        let op = Op::find(op)
            .ok_or_else(|| ParseError::unknown("operation", op, OPS.iter().map(|op| op.name)))?;
        let mut kernel = Kernel {
            format,
            op,
            controls: Controls::NONE,
            route: Route::default(),
            stage: Stage::default(),
            width: 1,
            via: Via::default(),
            matrix: None,
            scope: MemoryScope::default(),
        };
        let mut seen = Vec::new();
        for pair in keys.split(';').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| ParseError::Form(text.to_owned()))?;
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
                "stage" => kernel.stage = value.parse()?,
                "via" => kernel.via = value.parse()?,
                "matrix" => kernel.matrix = Some(value.parse()?),
                "scope" => kernel.scope = value.parse()?,
                "width" => {
                    kernel.width = value.parse().map_err(|_| ParseError::Undefined {
                        kernel: text.to_owned(),
                        reason: format!("width `{value}` is not one of 1, 2, 3, 4"),
                    })?;
                }
                _ => {
                    let known = ["controls", "route", "stage", "width", "via", "matrix", "scope"];
                    return Err(ParseError::unknown("key", key, known));
                }
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
            "f64.dot:width=2",
            "f32.matrix_times_vector:controls=nocontract;width=4",
            "f64.fma:controls=rte64;route=push;width=4",
            "f16.select:route=spec;width=2",
            "f32.sin:stage=fragment",
            "f32.fmul:controls=szin32;stage=vertex;width=2",
            "f32.matrix_times_vector:route=spec;width=3",
            "f32.atomic_fadd:controls=dp32;route=shared;scope=workgroup",
        ] {
            assert_eq!(id.parse::<Kernel>().unwrap().to_string(), id);
        }
        assert_eq!(
            "f32.fadd:width=1;route=buffer;via=spirv".parse::<Kernel>().unwrap().to_string(),
            "f32.fadd"
        );
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
        assert!(message("f32.fadd:route=storage_image").contains("no route `storage_image`"));
        assert!(message("f32.fadd:route=literal;via=glsl").contains("no route `literal`"));
        assert!(message("f32.fadd:route=literal;stage=vertex").contains("operands in buffers"));
        assert!(message("f32.fadd:stage=pixel").contains("stage"));
        assert!(message("f32.fadd:route=spce").contains("`spec`"));
        assert!(message("f32.fadd:width=5").contains("1, 2, 3, 4"));
        assert!(
            message("f32.dot").contains("width 2, 3, 4 only: write `width=2`"),
            "{}",
            message("f32.dot")
        );
        assert!(message("f32.cross:width=2").contains("width 3 only"));
        assert!(message("f32.fadd:width=2;width=3").contains("twice"));
        assert!(message("f32.fadd:scope=workgroup").contains("is not atomic"));
        assert!(message("f32.atomic_fadd:route=push").contains("no route `push`"));
        assert!(message("f64.atomic_fadd:route=storage_image").contains("no route"));
    }

    #[test]
    fn what_each_kernel_should_answer_like() {
        for (kernel, expected) in [
            ("f32.fadd:route=spec", Some("f32.fadd")),
            ("f32.fadd:controls=szin32;width=3", Some("f32.fadd:controls=szin32")),
            ("f32.fadd:via=glsl", Some("f32.fadd")),
            ("f32.fadd:stage=fragment", Some("f32.fadd")),
            ("f32.atomic_fadd:route=shared;scope=workgroup", Some("f32.atomic_fadd:route=shared")),
            ("f32.atomic_fadd:route=shared", None),
            ("f32.dot:width=3", None),
            ("f32.dot:route=push;width=3", Some("f32.dot:width=3")),
            ("f32.fadd", None),
            ("b10g11r11.store:route=storage_image", None),
        ] {
            let kernel: Kernel = kernel.parse().unwrap();
            assert_eq!(
                kernel.counterpart().map(|other| other.to_string()).as_deref(),
                expected,
                "{kernel}"
            );
        }
    }
}
