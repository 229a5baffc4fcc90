//! Reading a module back from its words.

use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, Loader, Module, ModuleHeader, Operand};
use rspirv::spirv::{FPEncoding, Op};

use crate::build_error::BuildError;

/// rspirv's loader, which takes `OpExecutionModeId` for an instruction of a function and refuses
/// every module that has one.
#[derive(Default)]
struct ModuleLoader {
    loader: Loader,
    modes: Vec<Instruction>,
}

impl Consumer for ModuleLoader {
    fn initialize(&mut self) -> ParseAction {
        self.loader.initialize()
    }

    fn finalize(&mut self) -> ParseAction {
        self.loader.finalize()
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.loader.consume_header(header)
    }

    fn consume_instruction(&mut self, inst: Instruction) -> ParseAction {
        if inst.class.opcode == Op::ExecutionModeId {
            self.modes.push(inst);
            return ParseAction::Continue;
        }
        self.loader.consume_instruction(inst)
    }
}

/// Width in bits of a float that rspirv reads constants of: of 8 it does not.
const READ: u32 = 16;

/// The words with floats of 8 bits as if they had 16.
fn widened(words: &[u32]) -> Vec<u32> {
    let (mut words, mut place) = (words.to_vec(), 5);
    while let Some(first) = words.get(place) {
        let (count, opcode) = ((first >> 16) as usize, first & 0xffff);
        if opcode == Op::TypeFloat as u32 && count == 4 && words.get(place + 2) == Some(&8) {
            words[place + 2] = READ;
        }
        place += count.max(1);
    }
    words
}

/// The type of a float in a module that was read so, as it is.
fn narrow(inst: &mut Instruction) {
    const FLOAT8: [FPEncoding; 2] = [FPEncoding::Float8E4M3EXT, FPEncoding::Float8E5M2EXT];
    if let [width, Operand::FPEncoding(encoding)] = inst.operands.as_mut_slice()
        && FLOAT8.contains(encoding)
    {
        *width = Operand::LiteralBit32(8);
    }
}

/// Reads a module. What [`rspirv::dr::load_words`] refuses or forgets is kept: `OpExecutionModeId`,
/// which comes after every `OpExecutionMode`, and the generator's number.
pub fn load(words: &[u32]) -> Result<Module, BuildError> {
    let mut reader = ModuleLoader::default();
    parse_words(widened(words), &mut reader)
        .map_err(|error| BuildError::Unreadable { message: error.to_string() })?;
    let mut module = reader.loader.module();
    module.execution_modes.extend(reader.modes);
    module.types_global_values.iter_mut().for_each(narrow);
    if let (Some(header), Some(generator)) = (&mut module.header, words.get(2)) {
        header.generator = *generator;
    }
    Ok(module)
}
