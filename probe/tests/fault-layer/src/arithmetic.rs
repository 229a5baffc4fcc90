//! Wrong arithmetic: modules are rewritten as a compiler with a bug would compile them. **Statement
//! -> instructions of an operation and format -> the same instructions between others.**
//!
//! What is put around an instruction works on integer bits, so that the driver's own floating point
//! has no say in it; only rounding compares in binary64, where the comparison is exact. A module in
//! which nothing is chosen passes word for word.
//!
//! # Statements
//!
//! `VERB ... in OPERATIONS [at KERNELS] [by WAY] [under CONTROL] [unless CONTROL] [when VALUE is
//! [not] SET {and VALUE is SET}]`
//!
//! | statement | effect |
//! |---|---|
//! | `give 7f800000 in f32.inverse_sqrt when x is 80000000` | the result is replaced: `rsq(-0) = +inf` |
//! | `give y in f32.fmin\|f32.nmin when x is nan` | by an operand: minimum as `y < x ? x : y` has it |
//! | `give r+3 in f32.sin when x.magnitude is 3f000000..3f800000` | by itself, 3 encodings further from zero |
//! | `give r.noisy in f32.exp2` | by itself, the last four bits different in each module of the process |
//! | `give x.wrapped in f32.convert_f_to_s when x.magnitude is 4f000000..7f7fffff` | an integer modulo 2^32 |
//! | `give 1 in f32.ford_equal when x is nan and y is nan` | truth values are 1 and 0 |
//! | `give 0 in b10g11r11.store when x is nan` | an image store keeps a channel of this value |
//! | `give 0 in f32.load_store when x is subnormal` | bit movers, too; `x` is what moves |
//! | `pass x.zero as x in f32.convert_f_to_s when x is subnormal` | an operand is replaced |
//! | `flush f32 operands` | subnormal operands of that format are read as zeros; moves excepted |
//! | `flush f16 results without sign in f16.fmul` | results become +0 |
//! | `keep f32 operands in f32.fadd` | undoes an earlier `flush` |
//! | `round toward zero in f32.fadd\|f32.fconvert_f16` | directed rounding, overflow to the largest finite value |
//! | `round to nearest in f16.inverse_sqrt` | a result that is one or two encodings off is put right |
//! | `round to nearest in r8unorm.load` | so is what is read from fixed point |
//! | `fuse in f32.fadd` | the `OpFAdd` of a product, widened or not, is carried out in binary64, `NoContraction` or not |
//! | `drop in f32.quantize_to_f16` | what it quantizes stays as it is |
//! | `drop in f16.fconvert_f32` | a conversion back from a narrower format gives what was converted there |
//! | `split in f32.fdiv` | `x / y` becomes `x * (1 / y)` |
//! | `split in f32.atomic_fadd` | a load, an `OpFAdd` and a store: nothing is atomic |
//!
//! OPERATIONS are the stems of fpprobe's kernel ids, a `*` at either end, several separated by `|`:
//! `f32.fadd`, `f16.*`, `*.fma`. They choose instructions, wherever these stand. A `flush` or
//! `keep` without `in` means every operation. Kernels of several instructions (`f32.rcp`,
//! `f32.mul_then_add`) are reached by what they are made of: `give 0 in f32.fdiv at
//! f32.rcp`. KERNELS are stems, too, and restrict a statement to the code of these kernels (in
//! SPIR-V that fpprobe emits itself, which names it); bit movers are known by their kernel alone.
//!
//! VALUE is a hexadecimal number, an operand (`x`, `y`, `z`) or the result (`r`), then any of
//! `.zero` (its sign alone), `.magnitude`, `.negated`, `.noisy`, `.wrapped`, then `+K` or `-K` in
//! decimal. Operands are those the program gave, before any `flush` or `pass`. SET is a VALUE, a
//! range `LOW..HIGH` of bits, both included, or a class: `nan quiet signalling infinite zero
//! subnormal normal finite negative positive`. Vectors are treated component by component; so are
//! the fields of packed words (`pack_half_2x16`, `unpack_unorm_4x8`). Of `frexp`, which has two
//! results, operands alone are replaced.
//!
//! Of atomic operations the result is what memory holds afterwards, or what the instruction
//! returns; conditions and values name no operands. What they are split into has its own:
//! `give 0 in f32.fadd at f32.atomic_fadd when x is 0`.
//!
//! WAY is a route other than the storage buffer, a width other than 1 or a local size (`literal`,
//! `x3`, `local128`): only modules that ask so, in SPIR-V that fpprobe emits itself.
//!
//! CONTROL is a control of the module: `flush f32 results under ftz32`, `... unless dp32`.
//!
//! At one instruction `fuse`, `drop` and `split` come first, then `flush` and `pass` of operands,
//! the instruction, `round`, `flush` of its result, `give`; each kind in the order of the
//! statements.

use std::collections::{BTreeSet, HashSet};
use std::str::FromStr;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Control, FloatLayout, Format, Op};
use rspirv::binary::Assemble;

mod bits;
mod conditions;
mod emulate;
mod fault;
mod instruction;
mod modes;
mod module;
mod origins;
mod parse;
mod place;
mod restructure;
mod round;

#[cfg(test)]
mod tests;

pub use emulate::{CLAIMED, Emulation};
use fault::{Direction, Fault, Verb};
use module::Rewriter;

/// One fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arithmetic(Fault);

impl Arithmetic {
    /// Whether a statement that begins with this word is arithmetic.
    pub fn is_kind(word: &str) -> bool {
        parse::VERBS.contains(&word)
    }

    /// Whether it may be about an instruction of a module with these operations. What makes
    /// instructions of others may be about any.
    pub fn may_concern(&self, operations: &HashSet<(Format, &'static str)>) -> bool {
        let names = |(format, op): &(Format, &'static Op)| operations.contains(&(*format, op.name));
        self.0.verb.regroups() || self.0.operations.iter().any(names)
    }
}

/// The operations that instructions of a module are.
pub fn operations(words: &[u32]) -> Result<HashSet<(Format, &'static str)>, String> {
    let module = fpprobe_spirv::load(words).map_err(|error| error.to_string())?;
    let places = place::Places::new(&module, &module.functions);
    let mut found = HashSet::new();
    for function in &module.functions {
        for (block, kernel) in function.blocks.iter().zip(places.kernels(&function.blocks)) {
            let own = block
                .instructions
                .iter()
                .filter_map(|inst| places.find(inst, kernel))
                .map(|one| one.operation);
            let split = kernel.and_then(|(format, op)| Some((format, place::split_into(op)?)));
            let names = own.chain(kernel).map(|(format, op)| (format, op.name));
            found.extend(names.chain(split));
        }
    }
    Ok(found)
}

impl FromStr for Arithmetic {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse::fault(text).map(Arithmetic)
    }
}

/// An execution mode that the layer claims, so that the driver is not to see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// The control that asks for it.
    pub control: Control,
    /// Whether the layer does what the mode says.
    pub honoured: bool,
}

/// Rewrites a module: takes out the modes that are the layer's own, does what the honoured ones
/// say, and does the faults.
///
/// `call` is the module's number in this process. A module that cannot be read, and a fault that
/// makes no sense of an instruction it chose, are errors.
pub fn rewrite(
    words: &[u32],
    faults: &[Arithmetic],
    modes: &[Mode],
    call: u64,
) -> Result<Vec<u32>, String> {
    let mut module = fpprobe_spirv::load(words).map_err(|error| error.to_string())?;
    let selected = modes::selected(&module);
    let ways = place::ways(&module);
    let faults: Vec<Fault> = faults
        .iter()
        .map(|Arithmetic(fault)| fault)
        .filter(|fault| fault.by.iter().all(|way| ways.contains(way)))
        .filter(|fault| fault.under.iter().all(|control| selected.contains(control)))
        .filter(|fault| !fault.unless.iter().any(|control| selected.contains(control)))
        .cloned()
        .chain(honoured(modes, &selected))
        .collect();
    let stripped = modes::strip(&mut module, modes);
    let mut rewriter = Rewriter::new(module, call);
    if !rewriter.apply(&faults)? && !stripped {
        return Ok(words.to_vec());
    }
    Ok(rewriter.finish().assemble())
}

/// Takes the formats that are the layer's own out of a module. The errors are those of [`rewrite`].
pub fn emulate(words: &[u32], emulations: &[Emulation]) -> Result<Vec<u32>, String> {
    let module = fpprobe_spirv::load(words).map_err(|error| error.to_string())?;
    let mut rewriter = Rewriter::new(module, 0);
    let changed = rewriter.emulate(emulations)?;
    Ok(if changed { rewriter.finish().assemble() } else { words.to_vec() })
}

/// What the honoured modes say, as faults that come after all others: a mode that is honoured beats
/// a habit.
fn honoured(modes: &[Mode], selected: &BTreeSet<Control>) -> Vec<Fault> {
    let own = modes.iter().filter(|mode| mode.honoured && selected.contains(&mode.control));
    own.flat_map(|mode| match mode.control {
        Control::Ftz(width) => flush(width, Some(fault::Sign::Kept)),
        Control::Dp(width) => flush(width, None),
        Control::Rtz(width) => {
            // The Vulkan specification's rounding modes are those of correctly rounded operations.
            let rounds = |op: &Op, format: Format| {
                let result = if op.function == Function::PackHalf {
                    Format::F16
                } else {
                    op.result.format.unwrap_or(format)
                };
                let rounded = !matches!(op.function, Function::InverseSqrt | Function::Load);
                round::knows(op, format) && rounded && has_width(result, width)
            };
            let fault = Fault::new(Verb::Round(Direction::TowardZero));
            vec![Fault { operations: fault::operations(rounds), ..fault }]
        }
        Control::Szin(_) | Control::Rte(_) | Control::NoContract | Control::FastMath0 => Vec::new(),
    })
    .collect()
}

/// Whether modes of this width are about a format.
fn has_width(format: Format, width: u32) -> bool {
    format.float().and_then(FloatLayout::mode_width) == Some(width)
}

/// Subnormals of the float format of this width flushed or kept, as operands and as results.
fn flush(width: u32, flush: Option<fault::Sign>) -> Vec<Fault> {
    let formats = Format::ALL.into_iter().filter(|format| has_width(*format, width));
    formats
        .flat_map(|format| {
            [true, false].map(|operands| Fault::new(Verb::Flush { format, operands, flush }))
        })
        .collect()
}
