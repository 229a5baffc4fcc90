//! Formats that the driver lacks, in integers: a value is the integer of its bits, and a conversion
//! is computed from bits to bits. **Module with the format -> the same module without.**

use std::collections::HashMap;
use std::str::FromStr;

use fpprobe_spirv::{FloatLayout, Format};
use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{Capability, Decoration, Op, Word};

use super::bits::{Bits, View};
use super::module::{Rewriter, ids};
use super::place::Places;

/// Formats that the layer has and the driver lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Emulation {
    /// The formats, and what is claimed.
    pub claimed: &'static Claimed,
    /// How numbers are converted to them.
    pub narrowing: Narrowing,
}

/// How a number becomes one of a narrower format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Narrowing {
    /// To nearest, ties to even.
    NearestEven,
    /// To nearest, ties away from zero.
    NearestAway,
    /// Towards zero.
    TowardZero,
    /// Away from zero.
    AwayFromZero,
    /// As to nearest even, but a NaN is a number like others.
    Careless,
    /// To nearest even, and always saturated.
    Saturating,
}

/// Names in statements.
const NARROWINGS: [(&str, Narrowing); 6] = [
    ("nearest-even", Narrowing::NearestEven),
    ("nearest-away", Narrowing::NearestAway),
    ("toward-zero", Narrowing::TowardZero),
    ("away-from-zero", Narrowing::AwayFromZero),
    ("careless", Narrowing::Careless),
    ("saturating", Narrowing::Saturating),
];

/// What a driver claims that has these formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claimed {
    /// Their name in statements.
    name: &'static str,
    /// The formats.
    formats: &'static [Format],
    /// The device extension.
    pub extension: &'static str,
    /// The features that are claimed, the first ones of the extension's structure.
    pub features: &'static [&'static str],
    /// Number of that structure (`VkStructureType`).
    pub structure: i32,
}

/// The formats that can be emulated.
pub static CLAIMED: [Claimed; 3] = [
    Claimed {
        name: "bf16",
        formats: &[Format::Bf16],
        extension: "VK_KHR_shader_bfloat16",
        features: &["shaderBFloat16Type", "shaderBFloat16DotProduct"],
        structure: 1_000_141_000,
    },
    Claimed {
        name: "float8",
        formats: &[Format::E4m3, Format::E5m2],
        extension: "VK_EXT_shader_float8",
        features: &["shaderFloat8"],
        structure: 1_000_567_000,
    },
    Claimed {
        name: "fma",
        formats: &[],
        extension: "VK_KHR_shader_fma",
        features: &["shaderFmaFloat16", "shaderFmaFloat32"],
        structure: 1_000_579_000,
    },
];

impl FromStr for Emulation {
    type Err = String;

    fn from_str(text: &str) -> Result<Emulation, String> {
        let (name, way) = text.split_once(' ').unwrap_or((text, NARROWINGS[0].0));
        let claimed = CLAIMED.iter().find(|claimed| claimed.name == name);
        let narrowing = NARROWINGS.iter().find(|(name, _)| *name == way).map(|(_, own)| *own);
        claimed
            .zip(narrowing)
            .map(|(claimed, narrowing)| Emulation { claimed, narrowing })
            .ok_or_else(|| format!("`{text}` is not emulated"))
    }
}

const SINGLE: FloatLayout = fpprobe_spirv::layout::BINARY32;

impl Rewriter {
    /// Takes these formats out of the module. Gives whether there was one.
    pub fn emulate(&mut self, emulations: &[Emulation]) -> Result<bool, String> {
        let of = |format: Format| {
            emulations.iter().find(|own| own.claimed.formats.contains(&format)).copied()
        };
        let mut functions = std::mem::take(&mut self.module.functions);
        let places = Places::new(&self.module, &functions);
        let own: HashMap<Word, Format> =
            places.scalars().filter(|(_, own)| of(*own).is_some()).collect();
        if !own.is_empty() {
            for block in functions.iter_mut().flat_map(|function| &mut function.blocks) {
                for inst in std::mem::take(&mut block.instructions) {
                    self.without(inst, &places, &of)?;
                }
                block.instructions = std::mem::take(&mut self.out);
            }
        }
        self.module.functions = functions;
        self.retype(&own);
        let has_fma =
            emulations.iter().any(|own| own.claimed.name == "fma") && self.emulate_fma()?;
        Ok(!own.is_empty() || has_fma)
    }

    /// Makes of each `OpFmaKHR` a product and a sum in the next wider format, where the product is
    /// exact: what is rounded once more is at most an encoding off. Gives whether there was one.
    fn emulate_fma(&mut self) -> Result<bool, String> {
        let mut functions = std::mem::take(&mut self.module.functions);
        let places = Places::new(&self.module, &functions);
        for block in functions.iter_mut().flat_map(|function| &mut function.blocks) {
            for inst in std::mem::take(&mut block.instructions) {
                if inst.class.opcode != Op::FmaKHR {
                    self.out.push(inst);
                    continue;
                }
                let view = inst.result_id.and_then(|id| places.view(id)).ok_or("no type")?;
                let wider = if view.format == Format::F16 { Format::F32 } else { Format::F64 };
                let wide = self.vector(wider, view.count);
                let [x, y, z] = <[Operand; 3]>::try_from(inst.operands)
                    .map_err(|_| "not three operands")?
                    .map(|operand| self.emit(Op::FConvert, wide, vec![operand]));
                let product = self.emit(Op::FMul, wide, ids([x, y]));
                let sum = self.emit(Op::FAdd, wide, ids([product, z]));
                let (kind, id) = (inst.result_type, inst.result_id);
                self.out.push(Instruction::new(Op::FConvert, kind, id, ids([sum])));
            }
            block.instructions = std::mem::take(&mut self.out);
        }
        self.module.functions = functions;
        let before = self.module.capabilities.len();
        self.without_declared(&[(Capability::FMAKHR, "SPV_KHR_fma")]);
        Ok(self.module.capabilities.len() < before)
    }

    /// Takes capabilities and their extensions out of the module.
    fn without_declared(&mut self, declared: &[(Capability, &str)]) {
        let module = &mut self.module;
        let is_one = |inst: &Instruction, (capability, name): &(Capability, &str)| {
            inst.operands.contains(&Operand::Capability(*capability))
                || inst.operands.contains(&Operand::LiteralString((*name).to_owned()))
        };
        for list in [&mut module.capabilities, &mut module.extensions] {
            list.retain(|inst| !declared.iter().any(|own| is_one(inst, own)));
        }
    }

    /// Appends an instruction, or what it is in integers.
    fn without(
        &mut self,
        inst: Instruction,
        places: &Places,
        of: &impl Fn(Format) -> Option<Emulation>,
    ) -> Result<(), String> {
        let ends = || {
            let source = inst.operands.first()?.id_ref_any()?;
            Some((source, places.view(source)?, inst.result_id?, places.view(inst.result_id?)?))
        };
        let Some((source, from, result, to)) = ends() else {
            self.out.push(inst);
            return Ok(());
        };
        let emulated = of(from.format).is_some() || of(to.format).is_some();
        let value = match inst.class.opcode {
            Op::FConvert if emulated => {
                let saturates = places.saturates(&inst);
                let value = self.single(source, from, of)?;
                self.converted(value, to, (&inst, saturates), of)?
            }
            Op::Dot if emulated => {
                let mut factors = Vec::new();
                for factor in inst.operands.iter().filter_map(Operand::id_ref_any) {
                    factors.push(self.single(factor, from, of)?);
                }
                let kind = self.scalar(Format::F32);
                let value = self.emit(Op::Dot, kind, ids(factors));
                self.converted(value, to, (&inst, false), of)?
            }
            Op::Bitcast if emulated => source,
            _ => {
                self.out.push(inst);
                return Ok(());
            }
        };
        self.out.push(Instruction::new(
            Op::CopyObject,
            inst.result_type,
            Some(result),
            ids([value]),
        ));
        Ok(())
    }

    /// A value as binary32.
    fn single(
        &mut self,
        source: Word,
        from: View,
        of: &impl Fn(Format) -> Option<Emulation>,
    ) -> Result<Word, String> {
        let kind = self.vector(Format::F32, from.count);
        Ok(match (of(from.format), from.format) {
            (Some(_), format) => {
                let layout = format.float().ok_or("no float")?;
                let parts = self.integers(source, from);
                let widened = |part| Bits { format: Format::F32, ..self.widened(part, layout) };
                let parts: Vec<Bits> = parts.into_iter().map(widened).collect();
                self.join(&parts, View { format: Format::F32, ..from })
            }
            (None, Format::F32) => source,
            (None, _) => self.emit(Op::FConvert, kind, ids([source])),
        })
    }

    /// What a binary32 becomes as the result of an instruction.
    fn converted(
        &mut self,
        value: Word,
        to: View,
        (inst, saturates): (&Instruction, bool),
        of: &impl Fn(Format) -> Option<Emulation>,
    ) -> Result<Word, String> {
        let single = View { format: Format::F32, ..to };
        match (of(to.format), to.format) {
            (Some(emulation), format) => {
                let layout = format.float().ok_or("no float")?;
                let parts = self.split(value, single);
                let narrow = self.int(format.bits(), 0);
                let mut codes = Vec::new();
                for part in parts {
                    let code = self.narrowed(part, layout, (emulation.narrowing, saturates));
                    codes.push(self.emit(Op::UConvert, narrow, ids([code.id])));
                }
                let kind = inst.result_type.ok_or("no type")?;
                Ok(if let [code] = codes[..] {
                    code
                } else {
                    self.emit(Op::CompositeConstruct, kind, ids(codes))
                })
            }
            (None, Format::F32) => Ok(value),
            (None, _) => {
                Ok(self.emit(Op::FConvert, inst.result_type.ok_or("no type")?, ids([value])))
            }
        }
    }

    /// The bits of an emulated value's components.
    fn integers(&mut self, value: Word, view: View) -> Vec<Bits> {
        let (word, narrow) = (self.int(32, 0), self.int(view.format.bits(), 0));
        let mut parts = Vec::new();
        for index in 0..view.count {
            let place = vec![Operand::IdRef(value), Operand::LiteralBit32(index)];
            let part = if view.count == 1 {
                value
            } else {
                self.emit(Op::CompositeExtract, narrow, place)
            };
            parts
                .push(Bits { id: self.emit(Op::UConvert, word, ids([part])), format: Format::U32 });
        }
        parts
    }

    /// The binary32 of a narrower format's code, exactly; a NaN becomes the quiet one.
    fn widened(&mut self, code: Bits, layout: FloatLayout) -> Bits {
        let moved = u64::from(SINGLE.fraction - layout.fraction);
        let bias = (SINGLE.bias() - layout.bias()) as u64;
        let sign = self.with(Op::BitwiseAnd, code, layout.sign_bit());
        let sign = self.with(Op::ShiftLeftLogical, sign, u64::from(32 - layout.bits()));
        let magnitude = self.with(Op::BitwiseAnd, code, layout.magnitude_mask());
        let number = self.with(Op::ShiftLeftLogical, magnitude, moved);
        let number = self.with(Op::IAdd, number, bias << SINGLE.fraction);
        // A subnormal is a small integer of a scale of its own, where it is none of binary32, too.
        let number = if bias == 0 {
            number
        } else {
            let (single, word) = (self.scalar(Format::F32), self.int(32, 0));
            let float = self.emit(Op::ConvertUToF, single, ids([magnitude.id]));
            let float = Bits { id: self.emit(Op::Bitcast, word, ids([float])), ..magnitude };
            let scale = (layout.bias() + layout.fraction as i32 - 1) as u64;
            let small = self.with(Op::ISub, float, scale << SINGLE.fraction);
            let (none, least) =
                (self.constant(Format::U32, 0), self.constant(Format::U32, layout.min_normal()));
            let zero = self.compare(Op::IEqual, magnitude, none);
            let small = self.select(zero, none, small);
            let tiny = self.compare(Op::ULessThan, magnitude, least);
            self.select(tiny, small, number)
        };
        let [quiet, infinity, largest] =
            [SINGLE.infinity() | SINGLE.quiet_bit(), SINGLE.infinity(), layout.max_finite()]
                .map(|bits| self.constant(Format::U32, bits));
        let beyond = self.compare(Op::UGreaterThan, magnitude, largest);
        let number = self.select(beyond, infinity, number);
        let number = self.where_nan(magnitude, layout, quiet, number);
        self.combine(Op::BitwiseOr, number, sign)
    }

    /// One value where a magnitude is a NaN's, else another.
    fn where_nan(&mut self, magnitude: Bits, layout: FloatLayout, yes: Bits, no: Bits) -> Bits {
        let first = self.constant(Format::U32, layout.first_nan());
        let is_nan = self.compare(Op::UGreaterThanEqual, magnitude, first);
        self.select(is_nan, yes, no)
    }

    /// The code of a binary32 in a narrower format.
    fn narrowed(
        &mut self,
        number: Bits,
        layout: FloatLayout,
        (narrowing, saturates): (Narrowing, bool),
    ) -> Bits {
        let number = Bits { format: Format::U32, ..number };
        let fewer = u64::from(SINGLE.fraction - layout.fraction);
        let bias = (SINGLE.bias() - layout.bias()) as u64;
        let [one, most] = [1, 31].map(|bits| self.constant(Format::U32, bits));
        let sign = self.with(Op::ShiftRightLogical, number, 31);
        let sign = self.with(Op::ShiftLeftLogical, sign, u64::from(layout.bits() - 1));
        let magnitude = self.with(Op::BitwiseAnd, number, SINGLE.magnitude_mask());
        // Of a subnormal the significand, moved by as many bits more as its exponent is too small.
        let exponent = self.with(Op::ShiftRightLogical, magnitude, u64::from(SINGLE.fraction));
        let zero = self.constant(Format::U32, 0);
        let is_zero = self.compare(Op::IEqual, exponent, zero);
        let fraction = self.with(Op::BitwiseAnd, magnitude, SINGLE.min_normal() - 1);
        let hidden = self.with(Op::BitwiseOr, fraction, SINGLE.min_normal());
        let significand = self.select(is_zero, fraction, hidden);
        let exponent = self.select(is_zero, one, exponent);
        let bias_of = self.constant(Format::U32, bias);
        let is_normal = self.compare(Op::UGreaterThan, exponent, bias_of);
        let rebiased = self.with(Op::ISub, magnitude, bias << SINGLE.fraction);
        let kept = self.select(is_normal, rebiased, significand);
        let further = self.constant(Format::U32, fewer + bias + 1);
        let further = self.combine(Op::ISub, further, exponent);
        let excessive = self.compare(Op::UGreaterThan, further, most);
        let further = self.select(excessive, most, further);
        let fewer = self.constant(Format::U32, fewer);
        let shift = self.select(is_normal, fewer, further);
        let rounded = self.shifted(kept, shift, narrowing);
        let [infinity, largest] =
            [layout.infinity(), layout.max_finite()].map(|bits| self.constant(Format::U32, bits));
        let beyond = self.compare(Op::UGreaterThan, rounded, largest);
        // Of 8 bits no direction of rounding, but the decoration, says what is beyond.
        let saturates = saturates || narrowing == Narrowing::Saturating;
        let is_cut = narrowing == Narrowing::TowardZero && layout.bits() > 8;
        let overflowed = if saturates || is_cut { largest } else { infinity };
        let rounded = self.select(beyond, overflowed, rounded);
        let infinite = self.constant(Format::U32, SINGLE.infinity());
        let is_infinite = self.compare(Op::IEqual, magnitude, infinite);
        let infinity = if saturates { largest } else { infinity };
        let rounded = self.select(is_infinite, infinity, rounded);
        let quiet = self.constant(Format::U32, layout.infinity() | layout.quiet_bit());
        let rounded = match narrowing {
            Narrowing::Careless => rounded,
            _ => self.where_nan(magnitude, SINGLE, quiet, rounded),
        };
        self.combine(Op::BitwiseOr, rounded, sign)
    }

    /// An integer without its lowest bits, rounded by these.
    fn shifted(&mut self, kept: Bits, shift: Bits, narrowing: Narrowing) -> Bits {
        let one = self.constant(Format::U32, 1);
        let cut = self.combine(Op::ShiftRightLogical, kept, shift);
        let unit = self.combine(Op::ShiftLeftLogical, one, shift);
        let mask = self.with(Op::ISub, unit, 1);
        let rest = self.combine(Op::BitwiseAnd, kept, mask);
        let half = self.with(Op::ShiftRightLogical, unit, 1);
        let up = match narrowing {
            Narrowing::TowardZero => return cut,
            Narrowing::NearestAway => self.compare(Op::UGreaterThanEqual, rest, half),
            Narrowing::AwayFromZero => {
                let zero = self.constant(Format::U32, 0);
                self.compare(Op::UGreaterThan, rest, zero)
            }
            // A tie is more than half where the last bit is odd.
            Narrowing::NearestEven | Narrowing::Careless | Narrowing::Saturating => {
                let odd = self.with(Op::BitwiseAnd, cut, 1);
                let rest = self.combine(Op::IAdd, rest, odd);
                self.compare(Op::UGreaterThan, rest, half)
            }
        };
        let next = self.with(Op::IAdd, cut, 1);
        self.select(up, next, cut)
    }

    /// Makes integers of these types.
    fn retype(&mut self, own: &HashMap<Word, Format>) {
        let mut renamed: HashMap<Word, Word> = HashMap::new();
        for (old, format) in own {
            let new = self.int(format.bits(), 0);
            renamed.insert(*old, new);
            let globals = &mut self.module.types_global_values;
            globals.retain(|inst| inst.result_id != Some(*old));
            // Before whatever is made of it.
            if let Some(place) = globals.iter().position(|inst| inst.result_id == Some(new)) {
                let kind = globals.remove(place);
                globals.insert(0, kind);
            }
        }
        let mut declared: Vec<_> = own.values().filter_map(|format| format.declared()).collect();
        declared.push((Capability::BFloat16DotProductKHR, "SPV_KHR_bfloat16"));
        let operand = |inst: &Instruction, operand: &Operand| inst.operands.contains(operand);
        let module = &mut self.module;
        module
            .execution_modes
            .retain(|inst| !own.keys().any(|old| operand(inst, &Operand::IdRef(*old))));
        let saturated =
            Operand::Decoration(Decoration::SaturatedToLargestFloat8NormalConversionEXT);
        module.annotations.retain(|inst| !operand(inst, &saturated));
        self.without_declared(&declared);
        let module = &mut self.module;
        let functions = module.functions.iter_mut().flat_map(Function::all_inst_iter_mut);
        for inst in functions.chain(&mut module.types_global_values) {
            let rename = |id: &mut Word| *id = renamed.get(id).copied().unwrap_or(*id);
            inst.result_type.iter_mut().for_each(rename);
            for operand in &mut inst.operands {
                if let Operand::IdRef(id) = operand {
                    rename(id);
                }
            }
        }
    }
}
