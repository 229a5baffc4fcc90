//! Which kernels a module holds, and patterns that choose among them.

use fpprobe_spirv::{Control, Controls, Kernel};
use rspirv::spirv::{Decoration, ExecutionMode, Op};

/// Ids of the kernels of a module, as fpprobe knows them, in module order.
///
/// The labels of a module's cases tell format, operation, width and route (`f32.fadd`,
/// `f32.fadd.x3.literal`), for GLSL the names of its functions (`k0_f32_fadd(f1;f1;`); the controls
/// are those of the whole module. `nocontract` shows only in modules that have arithmetic to
/// decorate.
pub fn of(words: &[u32]) -> Vec<String> {
    let mut names = Vec::new();
    let mut controls = Vec::new();
    for instruction in instructions(words) {
        match instruction {
            [op, _, text @ ..] if is(*op, Op::Name) => names.extend(string(text)),
            [op, _, mode, width] if is(*op, Op::ExecutionMode) => {
                controls.extend(control(*mode, *width));
            }
            [op, _, mode, ..]
                if is(*op, Op::ExecutionModeId)
                    && *mode == ExecutionMode::FPFastMathDefault as u32 =>
            {
                controls.push(Control::FastMath0);
            }
            [op, _, decoration]
                if is(*op, Op::Decorate) && *decoration == Decoration::NoContraction as u32 =>
            {
                controls.push(Control::NoContract);
            }
            _ => {}
        }
    }
    let controls = Controls::new(controls).map(|set| set.to_string()).unwrap_or_default();
    names.iter().filter_map(|name| kernel(name, &controls)).collect()
}

/// Instructions of a module, header left out; ends where the counts do not fit.
fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(5..).unwrap_or_default();
    std::iter::from_fn(move || {
        let count = (rest.first()? >> 16) as usize;
        let (instruction, after) = rest.split_at_checked(count.max(1))?;
        rest = after;
        Some(instruction)
    })
}

fn is(word: u32, op: Op) -> bool {
    word & 0xffff == op as u32
}

/// A literal string: little-endian bytes up to a NUL (SPIR-V, section "Literal").
fn string(words: &[u32]) -> Option<String> {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8(bytes).ok()
}

fn control(mode: u32, width: u32) -> Option<Control> {
    Some(match ExecutionMode::from_u32(mode)? {
        ExecutionMode::DenormFlushToZero => Control::Ftz(width),
        ExecutionMode::DenormPreserve => Control::Dp(width),
        ExecutionMode::SignedZeroInfNanPreserve => Control::Szin(width),
        ExecutionMode::RoundingModeRTE => Control::Rte(width),
        ExecutionMode::RoundingModeRTZ => Control::Rtz(width),
        _ => return None,
    })
}

/// The id of the kernel that a name in a module stands for.
fn kernel(name: &str, controls: &str) -> Option<String> {
    let glsl = glsl(name);
    let via = if glsl.is_some() { "via=glsl" } else { "" };
    let name = glsl.unwrap_or_else(|| name.to_owned());
    let (stem, parts) = parts(&name);
    let width = parts.iter().find_map(|part| part.strip_prefix('x')).unwrap_or("1");
    let width = format!("width={width}");
    // A unit of matrices begins with its size.
    let is_unit = |part: &&&str| part.starts_with(|letter: char| letter.is_ascii_digit());
    let matrix = parts.iter().find(is_unit).map_or(String::new(), |unit| format!("matrix={unit}"));
    let route = parts.iter().find(|part| !part.starts_with('x') && !is_unit(part));
    let route = route.map_or(String::new(), |route| format!("route={route}"));
    let controls = if controls.is_empty() { String::new() } else { format!("controls={controls}") };
    // Nothing else is a name: variables and functions have no dot.
    [route.as_str(), "route=storage_image", "route=literal"].into_iter().find_map(|route| {
        let id = format!("{stem}:{controls};{route};{width};{via};{matrix}");
        let kernel: Kernel = id.parse().ok()?;
        Some(kernel.to_string())
    })
}

/// The stem of a label, and what comes after it: `x3` for a width, the name of a route.
pub fn parts(label: &str) -> (&str, Vec<&str>) {
    let mut parts = label.splitn(3, '.');
    let stem = parts.next().map_or(0, str::len) + parts.next().map_or(0, |op| op.len() + 1);
    (&label[..stem], parts.next().map_or(Vec::new(), |rest| rest.split('.').collect()))
}

/// The label that a GLSL function's name was made from.
fn glsl(name: &str) -> Option<String> {
    let name = name.split('(').next()?.strip_prefix('k')?;
    let (number, rest) = name.split_once('_')?;
    number.parse::<u32>().ok()?;
    let (format, op) = rest.split_once('_')?;
    Some(match op.rsplit_once("_x") {
        Some((op, width)) if width.len() == 1 => format!("{format}.{op}.x{width}"),
        _ => format!("{format}.{op}"),
    })
}

/// Kernel ids with `*` for any text; several are separated by `|`. None at all chooses everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Patterns(Vec<String>);

impl Patterns {
    /// Reads patterns. One without `*` must be a kernel id.
    pub fn new(text: &str) -> Result<Patterns, String> {
        let parts: Vec<String> = text.split('|').map(ToOwned::to_owned).collect();
        for part in parts.iter().filter(|part| !part.contains('*')) {
            part.parse::<Kernel>().map_err(|error| format!("`{part}` is no kernel: {error}"))?;
        }
        Ok(Patterns(parts))
    }

    /// Whether everything is chosen.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of these kernels is chosen.
    pub fn choose(&self, kernels: &[String]) -> bool {
        self.is_empty()
            || self.0.iter().any(|pattern| kernels.iter().any(|kernel| matches(pattern, kernel)))
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| matches(tail, rest)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpprobe_spirv::plan::Variant;
    use fpprobe_spirv::{Plan, module};

    fn read(ids: &[&str]) -> Vec<String> {
        let kernels: Vec<(Kernel, u32)> = ids.iter().map(|id| (id.parse().unwrap(), 3)).collect();
        of(&module::build(&Plan::new(&kernels, true, Variant::default())).unwrap())
    }

    #[test]
    fn modules_tell_their_kernels() {
        for ids in [
            &["f32.fadd", "f32.fmul", "f32.sqrt"][..],
            &["f32.fadd:controls=ftz32,szin32", "f32.ford_equal:controls=ftz32,szin32"],
            &["f16.fma:controls=nocontract"],
            &["f32.fadd:controls=fastmath0"],
            &["f32.fmin:controls=rtz32;width=3", "f32.fmax:controls=rtz32;width=3"],
            &["f32.fadd:via=glsl", "f32.inverse_sqrt:via=glsl"],
            &["b10g11r11.store:route=storage_image"],
            &["f16.fadd:controls=dp16;route=literal", "f16.sqrt:controls=dp16;route=literal"],
            &["f64.fma:route=push;width=4"],
            &["i32.matrix_mul_add:matrix=16x16x32-i8-u8-i32-saturating"],
        ] {
            assert_eq!(read(ids), ids);
        }
        assert!(of(&[]).is_empty());
        assert!(of(&[0; 40]).is_empty());
    }

    #[test]
    fn patterns_choose() {
        let kernels = ["f32.fadd:controls=ftz32;width=3".to_owned()];
        for (pattern, chosen) in [
            ("f32.fadd:controls=ftz32;width=3", true),
            ("f32.fadd", false),
            ("f32.fadd*", true),
            ("*ftz32*", true),
            ("f32.fsub|f32.*3", true),
            ("*.sqrt*", false),
        ] {
            assert_eq!(Patterns::new(pattern).unwrap().choose(&kernels), chosen, "{pattern}");
        }
        assert!(Patterns::default().choose(&[]));
        assert!(Patterns::new("f32.fad").unwrap_err().contains("f32.fad"));
    }
}
