//! SPIR-V assembly text that SPIRV-Tools' `spirv-as` assembles back to the same instructions and
//! ids.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rspirv::binary::Disassemble;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, Word};

use crate::format::Format;
use crate::layout::FloatLayout;

/// The text of a module, without a header, in the columns of `spirv-dis`. Ids stay numbers, so that
/// `spirv-as --preserve-numeric-ids` gives the same words; their names stand in comments where they
/// are defined.
pub(crate) fn text(module: &Module) -> String {
    let mut bare = module.clone();
    // rspirv's header says rspirv whoever generated the module.
    bare.header = None;
    let (constants, names) = (constants(module), names(module));
    let mut text = String::new();
    for line in bare.disassemble().lines() {
        let _ = match line.split_once(" = ") {
            Some((id, rest)) => {
                let rest = constants
                    .get(id)
                    .cloned()
                    .unwrap_or_else(|| product_operands(&rest.replace("  ", " ")));
                let name = names.get(id).map_or_else(String::new, |name| format!(" ; {name}"));
                writeln!(text, "{id:>12} = {rest}{name}")
            }
            None => writeln!(text, "{:15}{line}", ""),
        };
    }
    text
}

/// rspirv prints the operands of a product of matrices as Rust spells them:
/// `MATRIX_A_SIGNED_COMPONENTS_KHR` is `MatrixASignedComponentsKHR`.
fn product_operands(line: &str) -> String {
    let Some((head, flags)) = line.split_once("CooperativeMatrixOperands(") else {
        return line.to_owned();
    };
    let word = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) if word != "KHR" => format!("{first}{}", rest.to_lowercase()),
        _ => word.to_owned(),
    };
    let flags = flags
        .trim_end_matches(')')
        .split(" | ")
        .map(|flag| flag.split('_').map(word).collect::<String>());
    format!("{head}{}", flags.collect::<Vec<_>>().join("|"))
}

fn names(module: &Module) -> BTreeMap<String, &str> {
    let named = module.debug_names.iter().filter(|inst| inst.class.opcode == Op::Name);
    named
        .filter_map(|inst| match inst.operands.as_slice() {
            [Operand::IdRef(id), Operand::LiteralString(name)] if !name.is_empty() => {
                Some((format!("%{id}"), name.as_str()))
            }
            _ => None,
        })
        .collect()
}

/// rspirv prints a 16-bit constant as the binary32 of the same bits, and infinities and NaNs as
/// words. Hexadecimal floats are exact for every width. Signed integers it prints unsigned, which
/// `spirv-as` refuses above 2^31 - 1.
fn constants(module: &Module) -> BTreeMap<String, String> {
    let types: BTreeMap<Word, Format> =
        module.types_global_values.iter().filter_map(format_of_type).collect();
    let is_constant =
        |inst: &&Instruction| matches!(inst.class.opcode, Op::Constant | Op::SpecConstant);
    let constants = module.types_global_values.iter().filter(is_constant);
    constants
        .filter_map(|inst| {
            let (kind, id) = (inst.result_type?, inst.result_id?);
            let bits = match inst.operands.first()? {
                Operand::LiteralBit32(bits) => u64::from(*bits),
                Operand::LiteralBit64(bits) => *bits,
                _ => return None,
            };
            let format = types.get(&kind)?;
            let literal = match format.float() {
                // Assemblers read a literal of any 16 bits as a binary16.
                Some(_) if format.float_encoding().is_some() => format!("!{bits:#x}"),
                Some(layout) => literal(layout, bits),
                None => (bits as i32).to_string(),
            };
            let text = format!("{} %{kind} {literal}", inst.class.opname);
            Some((format!("%{id}"), format!("Op{text}")))
        })
        .collect()
}

/// A type whose constants need a spelling of their own: floats, and signed integers.
fn format_of_type(inst: &Instruction) -> Option<(Word, Format)> {
    let format = match (inst.class.opcode, inst.operands.as_slice()) {
        (Op::TypeInt, [Operand::LiteralBit32(32), Operand::LiteralBit32(1)]) => Format::I32,
        (Op::TypeFloat, [Operand::LiteralBit32(width)]) => Format::of_float_type(*width, None)?,
        (Op::TypeFloat, [Operand::LiteralBit32(width), Operand::FPEncoding(encoding)]) => {
            Format::of_float_type(*width, Some(*encoding))?
        }
        _ => return None,
    };
    Some((inst.result_id?, format))
}

/// A hexadecimal float. Infinities and NaNs have the exponent after the largest finite one, as
/// `spirv-dis` writes them.
fn literal(layout: FloatLayout, bits: u64) -> String {
    let sign = if layout.is_negative(bits) { "-" } else { "" };
    let magnitude = bits & layout.magnitude_mask();
    if magnitude == 0 {
        return format!("{sign}0x0p+0");
    }
    let (mut exponent, mut fraction) =
        ((magnitude >> layout.fraction) as i32, magnitude & (layout.min_normal() - 1));
    if exponent == 0 {
        exponent = 1;
        while fraction < layout.min_normal() {
            fraction <<= 1;
            exponent -= 1;
        }
        fraction -= layout.min_normal();
    }
    // The digits after the point hold the fraction's bits left-aligned.
    let digits = layout.fraction.div_ceil(4);
    let aligned = fraction << (4 * digits - layout.fraction);
    format!("{sign}0x1.{aligned:0width$x}p{:+}", exponent - layout.bias(), width = digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emitter::Emitter;
    use crate::kernel::Shape;

    #[test]
    fn integers_have_the_sign_of_their_type() {
        let mut emitter = Emitter::new();
        for format in [Format::I32, Format::U32] {
            emitter.constant(Shape::scalar(format), 0xffff_ffff);
        }
        let text = text(&emitter.builder.module());
        assert!(text.contains("OpConstant %1 -1\n"), "{text}");
        assert!(text.contains("OpConstant %3 4294967295\n"), "{text}");
    }

    #[test]
    fn encodings_that_are_not_of_ieee_754_are_words() {
        let mut emitter = Emitter::new();
        emitter.constant(Shape::scalar(Format::Bf16), 0xff7e);
        let text = text(&emitter.builder.module());
        assert!(text.contains(" !0xff7e\n"), "{text}");
    }

    #[test]
    fn literals_are_exact_for_every_class() {
        let single = Format::F32.float().unwrap();
        for (bits, text) in [
            (0, "0x0p+0"),
            (0x8000_0000, "-0x0p+0"),
            (0x3f80_0000, "0x1.000000p+0"),
            (0xc040_0000, "-0x1.800000p+1"),
            (0x7f7f_ffff, "0x1.fffffep+127"),
            (0x7f80_0000, "0x1.000000p+128"),
            (0x7fc0_0000, "0x1.800000p+128"),
            (0x0000_0001, "0x1.000000p-149"),
            (0x0040_0000, "0x1.000000p-127"),
        ] {
            assert_eq!(literal(single, bits), text, "{bits:08x}");
        }
        assert_eq!(literal(Format::F16.float().unwrap(), 0x3c01), "0x1.004p+0");
        assert_eq!(
            literal(Format::F64.float().unwrap(), 0x3ff0_0000_0000_0001),
            "0x1.0000000000001p+0"
        );
    }
}
