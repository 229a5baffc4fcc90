//! Elements of buffers: loads of operands and stores of results, each at one place in the code for
//! all rows.

use std::collections::BTreeMap;

use rspirv::spirv::{Op, SelectionControl, StorageClass, Word};

use super::piecewise::RowNumber;
use super::{InvocationPosition, ModuleMemory};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::Element;
use crate::plan::access::{self, BufferAccess};
use crate::plan::records::records;

/// Values of the operands: by their number, their buffer, and what the kernels of some rows take
/// them for.
pub(super) type LoadedValues = BTreeMap<(usize, usize, Shape), Word>;
/// What results become: number of the result, buffer, number of the element.
pub(super) type ResultElements = BTreeMap<(usize, usize, u32), Word>;

impl Emitter {
    /// Loads the operands of this row. What the row has not is any value.
    pub(super) fn load_operands(
        &mut self,
        memory: &ModuleMemory,
        place: InvocationPosition,
    ) -> Result<LoadedValues, BuildError> {
        let mut values = LoadedValues::new();
        for record in records(&memory.operands) {
            let elements = if record.looped {
                self.load_record(memory, &record, place)?
            } else {
                self.load_access(memory, record.accesses[0], place)?
            };
            let mut rest = elements.as_slice();
            for access in record.accesses {
                for shape in access.shapes() {
                    let own = &rest[..access.element.count(shape) as usize];
                    values.insert(
                        (access.number, access.buffer, shape),
                        self.from_elements(access.element, shape, own)?,
                    );
                }
                rest = &rest[access.most() as usize..];
            }
        }
        Ok(values)
    }

    /// Loads the elements at an access.
    fn load_access(
        &mut self,
        memory: &ModuleMemory,
        access: &BufferAccess,
        place: InvocationPosition,
    ) -> Result<Vec<Word>, BuildError> {
        let first = self.first(access, place)?;
        let mut elements = Vec::new();
        for run in access.runs() {
            let loaded =
                self.where_rows(place.row, &access.having(run[0]), access.element, |emitter| {
                    let load = |index: &u32| {
                        let pointer = emitter.access_chain(
                            access.element,
                            memory.buffers[access.buffer],
                            (first.0, first.1 + index),
                        )?;
                        let kind = emitter.shape(access.element.shape());
                        emitter.value(Op::Load, kind, ids([pointer]))
                    };
                    run.iter().map(load).collect()
                })?;
            elements.extend(loaded);
        }
        Ok(elements)
    }

    /// The value that these elements carry.
    fn from_elements(
        &mut self,
        element: Element,
        shape: Shape,
        elements: &[Word],
    ) -> Result<Word, BuildError> {
        if element == Element::Words {
            return self.from_words(shape, elements);
        }
        let parts = elements.iter().map(|raw| self.decode(shape.format, element, *raw));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        self.compose(shape, &parts)
    }

    /// Stores the results of this row.
    pub(super) fn store_elements(
        &mut self,
        memory: &ModuleMemory,
        place: InvocationPosition,
        elements: &ResultElements,
    ) -> Result<(), BuildError> {
        for record in records(&memory.results) {
            if record.looped {
                let keys = record.accesses.iter().flat_map(|access| access.keys());
                let own: Vec<Word> = keys.map(|key| elements[&key]).collect();
                self.store_record(memory, &record, place, &own)?;
                continue;
            }
            let access = record.accesses[0];
            let first = self.first(access, place)?;
            for run in access.runs() {
                self.where_rows(place.row, &access.having(run[0]), access.element, |emitter| {
                    for index in &run {
                        let pointer = emitter.access_chain(
                            access.element,
                            memory.buffers[access.buffer],
                            (first.0, first.1 + index),
                        )?;
                        emitter.builder.store(
                            pointer,
                            elements[&(access.number, access.buffer, *index)],
                            None,
                            [],
                        )?;
                    }
                    Ok(Vec::new())
                })?;
            }
        }
        Ok(())
    }

    /// The elements that the results of the kernel of this row become.
    pub(super) fn to_elements(
        &mut self,
        memory: &ModuleMemory,
        row: usize,
        results: &[Word],
    ) -> Result<ResultElements, BuildError> {
        let mut elements = ResultElements::new();
        for ((access, shape), value) in access::of_row(&memory.results, row).zip(results) {
            let own = self.elements_of(access.element, shape, *value)?;
            elements.extend(
                (0..).zip(own).map(|(index, value)| ((access.number, access.buffer, index), value)),
            );
        }
        Ok(elements)
    }

    /// The elements that carry this value.
    pub(super) fn elements_of(
        &mut self,
        element: Element,
        shape: Shape,
        value: Word,
    ) -> Result<Vec<Word>, BuildError> {
        if element == Element::Words {
            return self.to_words(shape, value);
        }
        let parts = (0..shape.width).map(|index| {
            let part = self.component(shape, value, index)?;
            self.encode(shape.format, element, part)
        });
        parts.collect()
    }

    /// Where this row's slot begins: what is computed of that, and what is to be added.
    pub(super) fn first(
        &mut self,
        access: &BufferAccess,
        place: InvocationPosition,
    ) -> Result<(Word, u32), BuildError> {
        let uint = self.scalar(Format::U32);
        let base = self.of_row(place.row, &access.bases())?;
        let stride = self.of_row(place.row, &access.strides())?;
        let mut at = place.slot;
        if stride != RowNumber::Same(1) {
            let stride = self.number(stride);
            at = self.value(Op::IMul, uint, ids([at, stride]))?;
        }
        match base {
            RowNumber::Same(base) => Ok((at, base)),
            RowNumber::Word(base) => Ok((self.value(Op::IAdd, uint, ids([at, base]))?, 0)),
        }
    }

    /// Pointer to the element at the sum of two numbers.
    pub(super) fn access_chain(
        &mut self,
        element: Element,
        variable: Word,
        (mut at, further): (Word, u32),
    ) -> Result<Word, BuildError> {
        let (uint, kind) = (self.scalar(Format::U32), self.shape(element.shape()));
        if further > 0 {
            let further = self.word(further);
            at = self.value(Op::IAdd, uint, ids([at, further]))?;
        }
        let member = self.word(0);
        let pointer = self.builder.type_pointer(None, StorageClass::StorageBuffer, kind);
        self.value(Op::AccessChain, pointer, ids([variable, member, at]))
    }

    /// What this gives in these rows, 0 in the others.
    fn where_rows(
        &mut self,
        row: Word,
        rows: &[bool],
        element: Element,
        emit: impl FnOnce(&mut Emitter) -> Result<Vec<Word>, BuildError>,
    ) -> Result<Vec<Word>, BuildError> {
        if rows.iter().all(|has| *has) {
            return emit(self);
        }
        let bool = self.scalar(Format::Bool);
        let numbers: Vec<Option<u32>> = rows.iter().map(|has| Some(u32::from(*has))).collect();
        let has = self.of_row(row, &numbers)?;
        let (has, zero) = (self.number(has), self.word(0));
        let has = self.value(Op::INotEqual, bool, ids([has, zero]))?;
        let (before, body, merge) = (self.block()?, self.builder.id(), self.builder.id());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(has, body, merge, [])?;
        self.builder.begin_block(Some(body))?;
        let values = emit(self)?;
        let end = self.block()?;
        self.builder.branch(merge)?;
        self.builder.begin_block(Some(merge))?;
        let (kind, nothing) = (self.shape(element.shape()), self.constant(element.shape(), 0));
        let phi = |value| self.value(Op::Phi, kind, ids([value, end, nothing, before]));
        values.into_iter().map(phi).collect()
    }
}
