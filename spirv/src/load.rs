//! Reading a module back from its words.

use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, Loader, Module, ModuleHeader};
use rspirv::spirv::Op;

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

/// Reads a module. What [`rspirv::dr::load_words`] refuses or forgets is kept: `OpExecutionModeId`,
/// which comes after every `OpExecutionMode`, and the generator's number.
pub fn load(words: &[u32]) -> Result<Module, BuildError> {
    let mut reader = ModuleLoader::default();
    parse_words(words, &mut reader)
        .map_err(|error| BuildError::Unreadable { message: error.to_string() })?;
    let mut module = reader.loader.module();
    module.execution_modes.extend(reader.modes);
    if let (Some(header), Some(generator)) = (&mut module.header, words.get(2)) {
        header.generator = *generator;
    }
    Ok(module)
}
