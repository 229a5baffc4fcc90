//! Elements of buffers: loads of operands and stores of results, each at one place in the code for all rows.

use std::collections::BTreeMap;

use rspirv::spirv::{Op, SelectionControl, StorageClass, Word};

use super::rows::Number;
use super::{Memory, Place};
use crate::emitter::{Emitter, ids};
use crate::error::BuildError;
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::Element;
use crate::plan::records::records;
use crate::plan::sites::{self, Site};

/// Values of the operands: by their number, their buffer, and what the kernels of some rows take them for.
pub(super) type Values = BTreeMap<(usize, usize, Shape), Word>;
/// What results become: number of the result, buffer, number of the element.
pub(super) type Elements = BTreeMap<(usize, usize, u32), Word>;

impl Emitter {
    /// Loads the operands of this row. What the row has not is any value.
    pub(super) fn load_operands(&mut self, memory: &Memory, place: Place) -> Result<Values, BuildError> {
        let mut values = Values::new();
        for record in records(&memory.operands) {
            let elements = if record.looped {
                self.load_record(memory, &record, place)?
            } else {
                self.load_site(memory, record.sites[0], place)?
            };
            let mut rest = elements.as_slice();
            for site in record.sites {
                for shape in site.shapes() {
                    let own = &rest[..site.element.count(shape) as usize];
                    values.insert((site.number, site.buffer, shape), self.from_elements(site.element, shape, own)?);
                }
                rest = &rest[site.most() as usize..];
            }
        }
        Ok(values)
    }

    /// Loads the elements at a site.
    fn load_site(&mut self, memory: &Memory, site: &Site, place: Place) -> Result<Vec<Word>, BuildError> {
        let first = self.first(site, place)?;
        let mut elements = Vec::new();
        for run in site.runs() {
            let loaded = self.where_rows(place.row, &site.having(run[0]), site.element, |emitter| {
                let load = |index: &u32| {
                    let pointer = emitter.element(site, memory.buffers[site.buffer], first, *index)?;
                    let kind = emitter.shape(site.element.shape());
                    emitter.value(Op::Load, kind, ids([pointer]))
                };
                run.iter().map(load).collect()
            })?;
            elements.extend(loaded);
        }
        Ok(elements)
    }

    /// The value that these elements carry.
    fn from_elements(&mut self, element: Element, shape: Shape, elements: &[Word]) -> Result<Word, BuildError> {
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
        memory: &Memory,
        place: Place,
        elements: &Elements,
    ) -> Result<(), BuildError> {
        for record in records(&memory.results) {
            if record.looped {
                let keys = record.sites.iter().flat_map(|site| site.keys());
                let own: Vec<Word> = keys.map(|key| elements[&key]).collect();
                self.store_record(memory, &record, place, &own)?;
                continue;
            }
            let site = record.sites[0];
            let first = self.first(site, place)?;
            for run in site.runs() {
                self.where_rows(place.row, &site.having(run[0]), site.element, |emitter| {
                    for index in &run {
                        let pointer = emitter.element(site, memory.buffers[site.buffer], first, *index)?;
                        emitter.builder.store(pointer, elements[&(site.number, site.buffer, *index)], None, [])?;
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
        memory: &Memory,
        row: usize,
        results: &[Word],
    ) -> Result<Elements, BuildError> {
        let mut elements = Elements::new();
        for ((site, shape), value) in sites::of_row(&memory.results, row).zip(results) {
            let own = self.elements_of(site.element, shape, *value)?;
            elements.extend((0..).zip(own).map(|(index, value)| ((site.number, site.buffer, index), value)));
        }
        Ok(elements)
    }

    /// The elements that carry this value.
    pub(super) fn elements_of(&mut self, element: Element, shape: Shape, value: Word) -> Result<Vec<Word>, BuildError> {
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
    pub(super) fn first(&mut self, site: &Site, place: Place) -> Result<(Word, u32), BuildError> {
        let uint = self.scalar(Format::U32);
        let base = self.of_row(place.row, &site.bases())?;
        let stride = self.of_row(place.row, &site.strides())?;
        let mut at = place.slot;
        if stride != Number::Same(1) {
            let stride = self.number(stride);
            at = self.value(Op::IMul, uint, ids([at, stride]))?;
        }
        match base {
            Number::Same(base) => Ok((at, base)),
            Number::Word(base) => Ok((self.value(Op::IAdd, uint, ids([at, base]))?, 0)),
        }
    }

    /// Pointer to an element of a value.
    fn element(&mut self, site: &Site, variable: Word, first: (Word, u32), index: u32) -> Result<Word, BuildError> {
        let (at, base) = first;
        self.element_at(site.element, variable, (at, base + index))
    }

    /// Pointer to the element at the sum of two numbers.
    pub(super) fn element_at(
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
