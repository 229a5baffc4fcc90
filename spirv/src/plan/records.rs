//! Records: what each row has in one buffer, one value after the other, so that one loop gets at all of it.

use super::Element;
use super::sites::Site;

/// Sites of one buffer, in the order of their numbers.
pub(crate) struct Record<'a> {
    pub sites: Vec<&'a Site>,
    /// Whether one loop gets at all elements.
    pub looped: bool,
}

/// The records of these sites. Where there is one row its sites stay apart, and short ones have no loop. So do floats: without
/// controls a driver may take what it selects or carries for no NaN, and one zero for the other; of integers no bit changes.
pub(crate) fn records(sites: &[Site]) -> Vec<Record<'_>> {
    let mut records: Vec<Record<'_>> = Vec::new();
    for site in sites {
        let together = site.rows() > 1 && matches!(site.element, Element::U32 | Element::Words);
        let same = |record: &&mut Record<'_>| together && record.sites[0].buffer == site.buffer;
        match records.iter_mut().find(same) {
            Some(record) => record.sites.push(site),
            None => records.push(Record { sites: vec![site], looped: false }),
        }
    }
    for record in &mut records {
        record.looped = record.sites.len() > 1 || record.sites[0].is_long();
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
    fn every_row_has_its_words_one_after_the_other() {
        let plan = plan(&["f32.fma:width=2", "f32.sqrt:width=4", "f64.fadd:width=2", "f32.fadd:width=3"]);
        let sites = operands(&plan);
        let records = records(&sites);
        let [words] = records.as_slice() else { panic!("{} records", records.len()) };
        let all = |numbers: [u32; 4]| numbers.map(Some).to_vec();
        let begins = |site| words.begins(site);
        assert!(words.looped && words.sites.len() == 3);
        assert_eq!(words.counts(), all([6, 4, 8, 6]));
        assert_eq!([0, 1, 2].map(begins), [all([0; 4]), all([2, 4, 4, 3]), all([4, 4, 8, 6])]);
        assert_eq!((words.place(1), words.place(2)), (4, 8));
    }

    #[test]
    fn floats_stay_apart() {
        let plan = plan(&["f32.fma", "f32.sqrt", "f32.phi", "f32.fadd"]);
        let sites = operands(&plan);
        assert!(records(&sites).iter().all(|record| !record.looped && record.sites.len() == 1));
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
