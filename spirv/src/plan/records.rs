//! Records: what each row has in one buffer, one value after the other, so that one loop gets at all of it.

use super::sites::Site;

/// Sites of one buffer, in the order of their numbers.
pub(crate) struct Record<'a> {
    pub sites: Vec<&'a Site>,
    /// Whether one loop gets at all elements.
    pub looped: bool,
}

/// The records of these sites. Where there is one row its sites stay apart, and short ones have no loop.
pub(crate) fn records(sites: &[Site]) -> Vec<Record<'_>> {
    let mut records: Vec<Record<'_>> = Vec::new();
    for site in sites {
        let same = |record: &&mut Record<'_>| record.sites[0].buffer == site.buffer && site.rows() > 1;
        match records.iter_mut().find(same) {
            Some(record) => record.sites.push(site),
            None => records.push(Record { sites: vec![site], looped: false }),
        }
    }
    for record in &mut records {
        record.looped = if record.sites.len() > 1 { record.most() > 1 } else { record.sites[0].is_long() };
    }
    records
}

impl Record<'_> {
    /// Elements of all sites, as many as rows have at most of each.
    pub fn most(&self) -> u32 {
        self.sites.iter().map(|site| site.most()).sum()
    }

    /// Where the elements of a site begin among these.
    pub fn place(&self, number: usize) -> u32 {
        self.sites[..number].iter().map(|site| site.most()).sum()
    }

    /// How many elements each row has.
    pub fn counts(&self) -> Vec<Option<u32>> {
        self.begins(self.sites.len())
    }

    /// How many of them come before those of a site.
    pub fn begins(&self, number: usize) -> Vec<Option<u32>> {
        let mut begins = vec![0; self.sites[0].rows()];
        for site in &self.sites[..number] {
            begins.iter_mut().zip(site.counts()).for_each(|(begin, count)| *begin += count.unwrap_or(0));
        }
        begins.into_iter().map(Some).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::sites::operands;
    use crate::plan::{Plan, Variant};

    fn plan(ids: &[&str]) -> Plan {
        let kernels: Vec<_> = ids.iter().map(|id| (id.parse().unwrap(), 70)).collect();
        Plan::new(&kernels, true, Variant::default())
    }

    #[test]
    fn every_row_has_its_elements_one_after_the_other() {
        // The condition of phi lies in another buffer, so that its other operands are the first in this one.
        let plan = plan(&["f32.fma", "f32.sqrt", "f32.phi", "f32.fadd"]);
        let sites = operands(&plan);
        let records = records(&sites);
        let [floats, words] = records.as_slice() else { panic!("{} records", records.len()) };
        assert_eq!((floats.most(), floats.looped), (3, true));
        let all = |numbers: [u32; 4]| numbers.map(Some).to_vec();
        assert_eq!(floats.counts(), all([3, 1, 2, 2]));
        assert_eq!([0, 1, 2].map(|site| floats.begins(site)), [all([0; 4]), all([1, 1, 0, 1]), all([2, 1, 1, 2])]);
        assert_eq!([0, 1, 2].map(|site| floats.place(site)), [0, 1, 2]);
        assert_eq!((words.most(), words.looped, words.sites.len()), (1, false, 1));
    }

    #[test]
    fn the_operands_of_a_kernel_alone_stay_apart() {
        let plan = plan(&["f32.fma"]);
        let sites = operands(&plan);
        let records = records(&sites);
        assert_eq!(records.len(), 3);
        assert!(records.iter().all(|record| !record.looped && record.sites.len() == 1));
    }
}
