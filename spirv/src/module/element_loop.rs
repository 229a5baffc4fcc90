//! A loop over the elements of a record: it moves them one by one between a storage buffer and the
//! code of the kernels.
//!
//! So one load, or one store, does for all kernels of the module: a driver spends most of its time
//! for a small kernel on accesses to memory. The loop carries a few elements in phis; many go
//! through a private array. Elements are integers: no bit changes.

use rspirv::spirv::{Op, StorageClass, Word};

use super::counting::LoopValues;
use super::piecewise::RowNumber;
use super::{InvocationPosition, ModuleMemory};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::plan::Direction;
use crate::plan::records::AccessRecord;

/// Most elements that a loop carries: each is looked at in each turn.
const CARRIED: u32 = 8;

/// The variable: an array of elements.
#[derive(Clone, Copy)]
pub(super) struct ElementArray(Word);

/// Where a row's elements of an access begin, less those of the accesses before: in memory, and
/// among the elements of all rows.
struct Begin {
    /// How many elements come before.
    after: Word,
    memory: Word,
    place: RowNumber,
}

impl Emitter {
    /// Declares the private array of a record, if it has one.
    pub(super) fn declare_element_array(
        &mut self,
        record: &AccessRecord<'_>,
    ) -> Option<(usize, ElementArray)> {
        if !record.looped || record.most() <= CARRIED {
            return None;
        }
        let access = record.accesses[0];
        let (element, count) = (self.shape(access.element.shape()), self.word(record.most()));
        let array = self.builder.type_array(element, count);
        let pointer = self.builder.type_pointer(None, StorageClass::Private, array);
        let variable = self.builder.variable(pointer, None, StorageClass::Private, None);
        let kind = if access.direction == Direction::In { "operands" } else { "results" };
        self.builder.name(variable, format!("{kind}{}", access.buffer));
        Some((access.buffer, ElementArray(variable)))
    }

    /// The elements that this row has, from a buffer, in the places of its accesses. Those that the
    /// row has not are any.
    pub(super) fn load_record(
        &mut self,
        memory: &ModuleMemory,
        record: &AccessRecord<'_>,
        place: InvocationPosition,
    ) -> Result<Vec<Word>, BuildError> {
        let (access, begins) = (record.accesses[0], self.begins(record, place)?);
        let (buffer, shape) = (memory.buffers[access.buffer], access.element.shape());
        let (kind, count) = (self.shape(shape), self.count(record, place)?);
        if let Some(element_array) = memory.element_arrays.get(&access.buffer).copied() {
            self.counted(count, |emitter, index| {
                let (at, place) = emitter.turn(&begins, index)?;
                let (from, to) = (
                    emitter.access_chain(access.element, buffer, (at, 0))?,
                    emitter.array_element(element_array, record, place)?,
                );
                let value = emitter.value(Op::Load, kind, ids([from]))?;
                Ok(emitter.builder.store(to, value, None, [])?)
            })?;
            let load = |index| {
                let index = self.word(index);
                let from = self.array_element(element_array, record, index)?;
                self.value(Op::Load, kind, ids([from]))
            };
            return (0..record.most()).map(load).collect();
        }
        let shapes = vec![shape; record.most() as usize];
        self.carrying(count, &shapes, |emitter, index, LoopValues { now, next }| {
            let (at, place) = emitter.turn(&begins, index)?;
            let from = emitter.access_chain(access.element, buffer, (at, 0))?;
            let value = emitter.value(Op::Load, kind, ids([from]))?;
            for (number, (now, next)) in (0..).zip(now.iter().zip(next)) {
                let is_here = emitter.is_number(place, number)?;
                emitter.define(*next, Op::Select, kind, ids([is_here, value, *now]))?;
            }
            Ok(())
        })
    }

    /// Stores those of these elements that this row has into a buffer.
    pub(super) fn store_record(
        &mut self,
        memory: &ModuleMemory,
        record: &AccessRecord<'_>,
        place: InvocationPosition,
        elements: &[Word],
    ) -> Result<(), BuildError> {
        let (access, begins) = (record.accesses[0], self.begins(record, place)?);
        let (buffer, kind) = (memory.buffers[access.buffer], self.shape(access.element.shape()));
        let count = self.count(record, place)?;
        let element_array = memory.element_arrays.get(&access.buffer).copied();
        if let Some(element_array) = element_array {
            for (index, element) in (0..).zip(elements) {
                let index = self.word(index);
                let to = self.array_element(element_array, record, index)?;
                self.builder.store(to, *element, None, [])?;
            }
        }
        self.counted(count, |emitter, index| {
            let (at, place) = emitter.turn(&begins, index)?;
            let value = if let Some(element_array) = element_array {
                let from = emitter.array_element(element_array, record, place)?;
                emitter.value(Op::Load, kind, ids([from]))?
            } else {
                let mut others = (1..).zip(&elements[1..]);
                others.try_fold(elements[0], |value, (number, element)| {
                    let is_here = emitter.is_number(place, number)?;
                    emitter.value(Op::Select, kind, ids([is_here, *element, value]))
                })?
            };
            let to = emitter.access_chain(access.element, buffer, (at, 0))?;
            Ok(emitter.builder.store(to, value, None, [])?)
        })
    }

    /// How many elements this row has.
    fn count(
        &mut self,
        record: &AccessRecord<'_>,
        place: InvocationPosition,
    ) -> Result<Word, BuildError> {
        let count = self.of_row(place.row, &record.counts())?;
        Ok(self.number(count))
    }

    /// Where the elements of each access begin, computed before the loop.
    fn begins(
        &mut self,
        record: &AccessRecord<'_>,
        place: InvocationPosition,
    ) -> Result<Vec<Begin>, BuildError> {
        let uint = self.scalar(Format::U32);
        let mut begins = Vec::with_capacity(record.accesses.len());
        for (number, access) in record.accesses.iter().enumerate() {
            let (mut memory, base) = self.first(access, place)?;
            if base > 0 {
                let base = self.word(base);
                memory = self.value(Op::IAdd, uint, ids([memory, base]))?;
            }
            let (after, own) =
                (self.of_row(place.row, &record.begins(number))?, record.place(number));
            let place = match after {
                RowNumber::Same(after) => RowNumber::Same(own - after),
                RowNumber::Word(after) => {
                    let own = self.word(own);
                    RowNumber::Word(self.value(Op::ISub, uint, ids([own, after]))?)
                }
            };
            let none = after == RowNumber::Same(0);
            let after = self.number(after);
            if !none {
                memory = self.value(Op::ISub, uint, ids([memory, after]))?;
            }
            begins.push(Begin { after, memory, place });
        }
        Ok(begins)
    }

    /// Where the element of a turn lies in memory, and its place among the elements of all rows.
    fn turn(&mut self, begins: &[Begin], index: Word) -> Result<(Word, Word), BuildError> {
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let (mut memory, mut place) = (begins[0].memory, begins[0].place);
        // A row that has nothing of an access reaches at once what comes after it, or never does.
        for begin in &begins[1..] {
            let reached = self.value(Op::UGreaterThanEqual, bool, ids([index, begin.after]))?;
            memory = self.value(Op::Select, uint, ids([reached, begin.memory, memory]))?;
            if begin.place != place {
                let (there, here) = (self.number(begin.place), self.number(place));
                place =
                    RowNumber::Word(self.value(Op::Select, uint, ids([reached, there, here]))?);
            }
        }
        let memory = self.value(Op::IAdd, uint, ids([memory, index]))?;
        let place = match place {
            RowNumber::Same(0) => index,
            place => {
                let place = self.number(place);
                self.value(Op::IAdd, uint, ids([place, index]))?
            }
        };
        Ok((memory, place))
    }

    fn is_number(&mut self, value: Word, number: u32) -> Result<Word, BuildError> {
        let (bool, number) = (self.scalar(Format::Bool), self.word(number));
        self.value(Op::IEqual, bool, ids([value, number]))
    }

    /// Pointer to an element in a private array.
    fn array_element(
        &mut self,
        ElementArray(variable): ElementArray,
        record: &AccessRecord<'_>,
        index: Word,
    ) -> Result<Word, BuildError> {
        let element = self.shape(record.accesses[0].element.shape());
        let pointer = self.builder.type_pointer(None, StorageClass::Private, element);
        self.value(Op::AccessChain, pointer, ids([variable, index]))
    }
}
