//! The inputs that every kernel is asked: every boundary class and its neighbours, all pairs for
//! two operands, chosen triples for three, a seeded random draw by exponent, and every encoding
//! where there are few.
//!
//! Inputs depend on operation and format alone, never on a profile.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::atomic;
use crate::derivative;
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::layout::FloatLayout;
use crate::op::{Code, Function};
use crate::route::{Route, Via};
use crate::subgroup;

mod blocks;
mod boundary;
mod chains;
mod derivatives;
mod drawn;
mod integers;
pub mod matrix;
mod packed;
mod several;
mod triangles;
mod unary;
mod values;
mod vectors;

use boundary::Length;
pub use values::random;

/// A list of cases: the components of all operands of a case lie side by side.
#[derive(Clone, Debug)]
pub struct Cases {
    /// Name of the list, the same for all kernels that share it; empty for cases given by hand.
    pub name: String,
    arity: usize,
    values: Arc<[u64]>,
}

impl PartialEq for Cases {
    fn eq(&self, other: &Self) -> bool {
        let values = Arc::ptr_eq(&self.values, &other.values) || self.values == other.values;
        self.name == other.name && self.arity == other.arity && values
    }
}

impl Eq for Cases {}

impl Cases {
    /// Cases given by hand: `values` holds `arity` values per case.
    pub fn new(name: impl Into<String>, arity: usize, values: impl Into<Arc<[u64]>>) -> Cases {
        let values = values.into();
        debug_assert!(arity > 0 && values.len().is_multiple_of(arity));
        Cases { name: name.into(), arity, values }
    }

    /// Number of cases.
    pub fn len(&self) -> usize {
        self.values.len() / self.arity
    }

    /// Whether there is no case.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Values of one case: the components of all operands.
    pub fn case(&self, index: usize) -> &[u64] {
        &self.values[index * self.arity..(index + 1) * self.arity]
    }

    /// Values of all cases, one after the other.
    pub fn values(&self) -> Arc<[u64]> {
        Arc::clone(&self.values)
    }

    /// All cases, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.values.chunks_exact(self.arity)
    }
}

/// Lists that were made before: many kernels share one.
static MADE: LazyLock<Mutex<HashMap<String, Cases>>> = LazyLock::new(Mutex::default);

/// The cases of a kernel.
pub fn cases(kernel: &Kernel) -> Cases {
    made(kernel, Length::Whole)
}

/// The short list of a kernel that is run by another route, at another width or in another language
/// than the plain one.
pub fn boundary(kernel: &Kernel) -> Cases {
    made(kernel, if kernel.route.is_folded() { Length::Corners } else { Length::Boundary })
}

/// The list of this name, if it is one of the kernel's, with random cases or without.
pub fn named(kernel: &Kernel, name: &str) -> Option<Cases> {
    let (own, more) = name.split_once(MORE).map_or((name, None), |(own, more)| (own, Some(more)));
    let list =
        [cases, boundary].into_iter().map(|list| list(kernel)).find(|cases| cases.name == own)?;
    let Some((count, seed)) = more.map(|more| more.split_once(SEED)).unwrap_or_default() else {
        return more.is_none().then_some(list);
    };
    let (count, seed) =
        (count.parse().ok().filter(|count| *count <= MOST_RANDOM)?, seed.parse().ok()?);
    Some(with_random(kernel, list, count, seed)).filter(|cases| cases.name == name)
}

/// Between a list's name and the number of random cases behind it.
const MORE: char = '+';
/// Between that number and the seed.
const SEED: char = '@';
/// Most random cases of a list.
pub const MOST_RANDOM: u32 = 1 << 16;

/// Lists with random cases, by name, so that kernels of one list share it.
static DRAWN: LazyLock<Mutex<HashMap<String, Cases>>> = LazyLock::new(Mutex::default);

/// A list of a kernel followed by `count` random cases, which are a function of the seed. Texels,
/// whose lists hold every code, constants, which are part of the module, and sums that are exact
/// in any order have none.
pub fn with_random(kernel: &Kernel, list: Cases, count: u32, seed: u64) -> Cases {
    if count == 0
        || list.name.is_empty()
        || kernel.op.code.is_of_texels()
        || kernel.route.is_folded()
        || kernel.op.function == Function::AddMany
    {
        return list;
    }
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    let named = drawn.entry(format!("{}{MORE}{count}{SEED}{seed}", list.name));
    named
        .or_insert_with_key(|name| {
            let own = name.bytes().fold(0, |hash, byte| random(hash ^ u64::from(byte)));
            let more = drawn::drawn(&formats(kernel, 1), count as usize, own);
            Cases::new(name.clone(), list.arity, [&list.values[..], &more].concat())
        })
        .clone()
}

/// Whether Vulkan lets a device be asked this case: depths that nothing clamps lie between 0 and 1
/// (`VkViewport`,
/// `VkClearDepthStencilValue`, "Copies Between Buffers and Images";
/// `VK_EXT_depth_range_unrestricted` is not used).
pub fn is_offered(kernel: &Kernel, case: &[u64]) -> bool {
    let params = kernel.params();
    let mut values = Shape::split(&params, case).filter(|(shape, _)| shape.format.is_single());
    !kernel.format.is_depth()
        || kernel.op.code == Code::DepthClamp
        || values.all(|(_, own)| own.iter().all(|bits| packed::is_depth(*bits)))
}

fn made(kernel: &Kernel, length: Length) -> Cases {
    // These patterns are few, and each pair of them counts.
    let is_whole = is_of_patterns(kernel)
        || kernel.op.code.is_of_matrices()
        || kernel.op.function == Function::AddMany
        || matches!(kernel.op.function, Function::Chain(_)) && length == Length::Boundary;
    let length = if is_whole { Length::Whole } else { length };
    let name = name(kernel, length);
    // A list is whole when it is put in, so another thread's panic leaves nothing broken.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(name).or_insert_with_key(|name| fresh(kernel, length, name)).clone()
}

/// Whether a kernel is asked each pair of some patterns: what a compiler makes of a selection hangs
/// on both of its constants.
fn is_of_patterns(kernel: &Kernel) -> bool {
    let integers = kernel.op.result.format == Some(Format::U32);
    kernel.op.function == Function::Choose && (integers || kernel.op.code.has_run_time_condition())
}

/// Components that the cases of a kernel of component-wise operations have for each operand; 1 for
/// all others.
fn width(kernel: &Kernel) -> usize {
    if kernel.op.is_componentwise() { kernel.width as usize } else { 1 }
}

/// Kernels of one name have one list.
fn name(kernel: &Kernel, length: Length) -> String {
    let width = width(kernel);
    let wide = if width == 1 { String::new() } else { format!(".x{width}") };
    format!("{}.{}{}{wide}", kernel.format, list(kernel).0, length.suffix())
}

fn fresh(kernel: &Kernel, length: Length, name: &str) -> Cases {
    let width = width(kernel);
    let arity = kernel.arity() / width;
    let one = list(kernel).1(kernel);
    let one = match kernel.op.function {
        Function::Chain(_) if length != Length::Whole => chains::corners(&one, arity),
        _ => boundary::cut(&formats(kernel, width), one, length),
    };
    Cases::new(name, arity * width, widen(&one, arity, width))
}

/// Formats of the components of a case, without the kernel's own width.
fn formats(kernel: &Kernel, width: usize) -> Vec<Format> {
    let params = kernel.params();
    params.iter().flat_map(|shape| vec![shape.format; shape.width as usize / width]).collect()
}

/// What makes a list: the operands of a case lie side by side; of component-wise operations they
/// are scalars.
type Maker = fn(&Kernel) -> Vec<u64>;

/// Which list a kernel of a format is asked. Few lists: kernels of the same list share the operands
/// of their module.
fn list(kernel: &Kernel) -> (Cow<'static, str>, Maker) {
    let plainest = kernel.controls.is_empty() && kernel.via == Via::Spirv && kernel.width == 1;
    // Every encoding is asked once, by the plainest kernel; others are asked the boundaries.
    let exhaustive = plainest && kernel.route == Route::Buffer;
    let bits = kernel.format.float().map_or(u32::MAX, FloatLayout::bits);
    let (name, maker): (_, Maker) = match (kernel.op.function, kernel.op.params.len()) {
        _ if matches!(kernel.op.code, Code::State(_)) => (kernel.op.name, packed::states),
        _ if kernel.op.code.is_of_matrices() => {
            let unit = kernel.matrix.map(|unit| unit.to_string()).unwrap_or_default();
            return (format!("{}.{unit}", kernel.op.name).into(), matrix::list);
        }
        (Function::Chain(chain), _) => {
            return (chains::name(chain).into(), |kernel| {
                let cases = chains::cases(kernel);
                if kernel.op.function.packs_halves() { widen(&cases, 2, 2) } else { cases }
            });
        }
        _ if let Code::Derivative(op) = kernel.op.code => {
            let is_vertical = derivative::is_vertical(op);
            (if is_vertical { "columns" } else { "rows" }, derivatives::quads)
        }
        _ if matches!(kernel.op.code, Code::Interpolated(_)) => ("triangles", triangles::triangles),
        (Function::AddMany, _) => ("additions", |kernel| atomic::additions(kernel.format)),
        (Function::SummationOrder, _) => ("summands", |_| subgroup::order_cases(false)),
        (Function::ProductOrder, _) => ("factors", |_| subgroup::order_cases(true)),
        (Function::Store, _) if kernel.op.code == Code::TexelConvert => {
            (kernel.op.name, packed::converted)
        }
        (Function::Store, 2) => ("blend_replace", |kernel| packed::replaced(kernel.format)),
        (Function::Add, _) if kernel.format.is_packed() => {
            ("blend_add", |kernel| packed::added(kernel.format))
        }
        (Function::Store, _) if kernel.op.code == Code::DepthClamp => {
            ("depths", |kernel| packed::clamped(kernel.format))
        }
        (Function::Store, _) => ("store", |kernel| packed::store_cases(kernel.format)),
        (Function::Load, _) if plainest && packed::has_wide_codes(kernel.format) => {
            ("every", |kernel| packed::every_texel(kernel.format))
        }
        (Function::Load, _) => ("load", |kernel| packed::load_cases(kernel.format)),
        (Function::Move, _) if kernel.format.is_packed() => {
            ("load", |kernel| packed::load_cases(kernel.format))
        }
        (Function::UnpackNorm { bits: 8, .. }, _) => ("bytes", |_| packed::bytes()),
        (Function::UnpackHalf | Function::UnpackNorm { .. }, _) if exhaustive => {
            ("halves", |_| packed::halves())
        }
        (Function::UnpackHalf | Function::UnpackNorm { .. }, _) => {
            ("some_halves", |_| packed::some_halves())
        }
        (Function::PackHalf, _) => {
            ("pack", |kernel| widen(&of(kernel, unary::unary), 1, kernel.arity()))
        }
        (Function::PackNorm { bits, signed }, _) => {
            let name = format!("{}norm{bits}", if signed { 's' } else { 'u' });
            return (name.into(), |kernel| {
                widen(&packed::fixed(kernel.op.function), 1, kernel.arity())
            });
        }
        (Function::PackDouble, _) => {
            ("words", |kernel| of(kernel, unary::unary).into_iter().flat_map(words).collect())
        }
        (Function::Ldexp, _) => ("scales", |kernel| of(kernel, integers::scales)),
        (Function::FromSigned | Function::FromUnsigned, _) => {
            ("integers", |kernel| of(kernel, integers::integers))
        }
        (Function::Choose, _) if is_of_patterns(kernel) => {
            let integers = kernel.op.result.format == Some(Format::U32);
            (if integers { "word_patterns" } else { "patterns" }, |kernel| {
                of(kernel, several::patterns)
            })
        }
        (Function::Choose, _) => ("choose", |kernel| of(kernel, several::choose)),
        _ if kernel.op.is_geometric() => {
            let shapes: Vec<String> = kernel.params().iter().map(spelled).collect();
            let maker: Maker =
                |kernel| of(kernel, |layout| vectors::cases(layout, &kernel.params()));
            return (shapes.join("_").into(), maker);
        }
        (_, 1) if exhaustive && bits <= 16 || bits <= 8 => {
            ("every", |kernel| of(kernel, unary::every))
        }
        (Function::ToFloat, _) if kernel.result().format.float_encoding().is_some() => {
            (kernel.op.name, |kernel| of(kernel, |layout| unary::narrowed(layout, kernel)))
        }
        (_, 1) => ("unary", |kernel| of(kernel, unary::unary)),
        (_, 2) => ("binary", |kernel| of(kernel, several::binary)),
        _ => ("ternary", |kernel| of(kernel, several::ternary)),
    };
    (name.into(), maker)
}

/// A list for the kernel's float format.
fn of(kernel: &Kernel, list: impl Fn(FloatLayout) -> Vec<u64>) -> Vec<u64> {
    kernel.format.float().map(list).unwrap_or_default()
}

/// `3` for a vector of three components, `3x3` for a matrix.
fn spelled(shape: &Shape) -> String {
    let rows = shape.width / shape.columns;
    if shape.columns == 1 { rows.to_string() } else { format!("{}x{rows}", shape.columns) }
}

/// The two words of a double, the low one first.
fn words(bits: u64) -> [u64; 2] {
    [bits & u64::from(u32::MAX), bits >> 32]
}

/// Cases of `width` components: each component of a case is taken from the list rotated by another
/// part of it.
fn widen(one: &[u64], arity: usize, width: usize) -> Vec<u64> {
    if width == 1 {
        return one.to_vec();
    }
    let count = one.len() / arity;
    let mut wide = Vec::with_capacity(one.len() * width);
    for case in 0..count {
        for param in 0..arity {
            for component in 0..width {
                wide.push(one[(case + component * count / width) % count * arity + param]);
            }
        }
    }
    wide
}

#[cfg(test)]
mod tests;
