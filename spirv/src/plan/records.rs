//! Records: what each row has in one buffer, one value after the other, so that one loop gets at
//! all of it.

use super::Element;
use super::access::BufferAccess;

/// Accesses of one buffer, in the order of their numbers.
pub(crate) struct AccessRecord<'a> {
    pub accesses: Vec<&'a BufferAccess>,
    /// Whether one loop gets at all elements.
    pub looped: bool,
}

/// The records of these accesses. Where there is one row its accesses stay apart, and short ones
/// have no loop. So do floats: without controls a driver may take what it selects or carries for no
/// NaN, and one zero for the other; of integers no bit changes.
pub(crate) fn records(accesses: &[BufferAccess]) -> Vec<AccessRecord<'_>> {
    let mut records: Vec<AccessRecord<'_>> = Vec::new();
    for access in accesses {
        let together = access.rows() > 1 && matches!(access.element, Element::U32 | Element::Words);
        let same =
            |record: &&mut AccessRecord<'_>| together && record.accesses[0].buffer == access.buffer;
        match records.iter_mut().find(same) {
            Some(record) => record.accesses.push(access),
            None => records.push(AccessRecord { accesses: vec![access], looped: false }),
        }
    }
    for record in &mut records {
        record.looped = record.accesses.len() > 1 || record.accesses[0].is_long();
    }
    records
}

impl AccessRecord<'_> {
    /// Elements of all accesses, as many as rows have at most of each.
    pub fn most(&self) -> u32 {
        self.accesses.iter().map(|access| access.most()).sum()
    }

    /// Where the elements of an access begin among these.
    pub fn place(&self, number: usize) -> u32 {
        self.accesses[..number].iter().map(|access| access.most()).sum()
    }

    /// How many elements each row has.
    pub fn counts(&self) -> Vec<Option<u32>> {
        self.begins(self.accesses.len())
    }

    /// How many of them come before those of an access.
    pub fn begins(&self, number: usize) -> Vec<Option<u32>> {
        let mut begins = vec![0; self.accesses[0].rows()];
        for access in &self.accesses[..number] {
            begins
                .iter_mut()
                .zip(access.counts())
                .for_each(|(begin, count)| *begin += count.unwrap_or(0));
        }
        begins.into_iter().map(Some).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::access::operands;
    use crate::plan::{Plan, Variant};

    fn plan(ids: &[&str]) -> Plan {
        let kernels: Vec<_> = ids.iter().map(|id| (id.parse().unwrap(), 70)).collect();
        Plan::new(&kernels, true, Variant::default())
    }

    #[test]
    fn every_row_has_its_words_one_after_the_other() {
        let plan =
            plan(&["f32.fma:width=2", "f32.sqrt:width=4", "f64.fadd:width=2", "f32.fadd:width=3"]);
        let accesses = operands(&plan);
        let records = records(&accesses);
        let [words] = records.as_slice() else { panic!("{} records", records.len()) };
        let all = |numbers: [u32; 4]| numbers.map(Some).to_vec();
        let begins = |access| words.begins(access);
        assert!(words.looped && words.accesses.len() == 3);
        assert_eq!(words.counts(), all([6, 4, 8, 6]));
        assert_eq!([0, 1, 2].map(begins), [all([0; 4]), all([2, 4, 4, 3]), all([4, 4, 8, 6])]);
        assert_eq!((words.place(1), words.place(2)), (4, 8));
    }

    #[test]
    fn floats_stay_apart() {
        let plan = plan(&["f32.fma", "f32.sqrt", "f32.phi", "f32.fadd"]);
        let accesses = operands(&plan);
        assert!(
            records(&accesses).iter().all(|record| !record.looped && record.accesses.len() == 1)
        );
    }

    #[test]
    fn the_operands_of_a_kernel_alone_stay_apart() {
        let plan = plan(&["f32.fma"]);
        let accesses = operands(&plan);
        let records = records(&accesses);
        assert_eq!(records.len(), 3);
        assert!(records.iter().all(|record| !record.looped && record.accesses.len() == 1));
    }
}
