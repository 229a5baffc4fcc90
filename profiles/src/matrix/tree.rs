//! The tree of a sum, from how many of its summands lie below the node in which two of them meet
//! (`FPRev`, 2024).

use std::collections::BTreeMap;
use std::fmt;

/// A sum: one summand, or what is added at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SumTree {
    /// The summand of this number.
    Summand(u32),
    /// Sums that are added in one step.
    Sum(Vec<SumTree>),
}

impl SumTree {
    /// The tree of these summands. `below`: how many of them lie below the node in which two meet.
    /// `None` where the numbers are those of no tree.
    pub(crate) fn new(summands: &[u32], below: &dyn Fn(u32, u32) -> usize) -> Option<SumTree> {
        let (first, others) = summands.split_first()?;
        let mut tree = SumTree::Summand(*first);
        let mut by_count: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for other in others {
            by_count.entry(below(*first, *other)).or_default().push(*other);
        }
        let mut known = 1;
        for (count, met) in by_count {
            if count != known + met.len() {
                return None;
            }
            known = count;
            // Those that meet one another earlier are sums of their own.
            let mut parts: Vec<Vec<u32>> = Vec::new();
            for summand in met {
                match parts.iter_mut().find(|part| below(part[0], summand) < count) {
                    Some(part) => part.push(summand),
                    None => parts.push(vec![summand]),
                }
            }
            let parts =
                parts.iter().map(|part| SumTree::new(part, below)).collect::<Option<Vec<_>>>()?;
            tree = SumTree::Sum(std::iter::once(tree).chain(parts).collect());
        }
        Some(tree)
    }

    /// The summands of each step of a sum in which each step adds summands to the sum before;
    /// `None` for others.
    fn steps(&self) -> Option<Vec<Vec<u32>>> {
        let SumTree::Sum(parts) = self else { return None };
        let (mut own, mut before) = (Vec::new(), None);
        for part in parts {
            match part {
                SumTree::Summand(number) => own.push(*number),
                sum if before.is_none() => before = Some(sum),
                SumTree::Sum(_) => return None,
            }
        }
        own.sort_unstable();
        let mut steps = before.map_or(Some(Vec::new()), SumTree::steps)?;
        steps.push(own);
        Some(steps)
    }

    /// What the order of summands 0 to N - 1 is called: `sequential`, `one_group`,
    /// `neighbours_first` or `halves_first` where pairs are added, then pairs of these; for any
    /// other order the tree itself.
    pub(crate) fn order(&self) -> String {
        let steps = self.steps().unwrap_or_default();
        let in_order = !steps.is_empty()
            && steps.iter().flatten().copied().eq(0..steps.iter().flatten().count() as u32);
        match &steps[..] {
            [_, ..]
                if in_order
                    && steps[0].len() == 2
                    && steps[1..].iter().all(|own| own.len() == 1) =>
            {
                "sequential".to_owned()
            }
            [_] if in_order => "one_group".to_owned(),
            _ if self.is_halved(|lower, upper| lower.last() < upper.first()) => {
                "neighbours_first".to_owned()
            }
            _ if self.is_halved(|lower, upper| {
                let distance =
                    if lower.len() > 1 { lower[1] - lower[0] } else { 2 * (upper[0] - lower[0]) };
                lower.iter().zip(upper).all(|(lower, upper)| 2 * (upper - lower) == distance)
            }) =>
            {
                "halves_first".to_owned()
            }
            _ => self.to_string(),
        }
    }

    /// Whether each sum is of two of equal size, whose summands stand so to each other.
    fn is_halved(&self, stand: impl Fn(&[u32], &[u32]) -> bool + Copy) -> bool {
        let SumTree::Sum(parts) = self else { return true };
        let [one, other] = &parts[..] else { return false };
        let (one_summands, other_summands) = (one.summands(), other.summands());
        let is_equal = one_summands.len() == other_summands.len();
        is_equal
            && stand(&one_summands, &other_summands)
            && one.is_halved(stand)
            && other.is_halved(stand)
    }

    /// Its summands, in their order.
    fn summands(&self) -> Vec<u32> {
        let mut found = match self {
            SumTree::Summand(number) => vec![*number],
            SumTree::Sum(parts) => parts.iter().flat_map(SumTree::summands).collect(),
        };
        found.sort_unstable();
        found
    }

    /// What the order is called, where summands 0 to k - 1 are products and k is C: `sequential`,
    /// `groups of N`, `one group`, with the place of C; for any other order the tree itself.
    pub fn name(&self, k: u32) -> String {
        let named = self.steps().and_then(|steps| {
            let in_order: Vec<u32> =
                steps.iter().flatten().copied().filter(|number| *number != k).collect();
            let place = match (steps.first()?.contains(&k), steps.last()?.as_slice()) {
                (true, _) => "c_first",
                (_, [last]) if *last == k => "c_last",
                _ => return None,
            };
            let mut sizes: Vec<usize> = steps
                .iter()
                .map(|step| step.iter().filter(|number| **number != k).count())
                .collect();
            sizes.retain(|size| *size > 0);
            // Without C, the first step of a sum one after the other adds two.
            let is_sequential = match place {
                "c_first" => sizes.iter().all(|size| *size == 1),
                _ => sizes[0] == 2 && sizes[1..].iter().all(|size| *size == 1),
            };
            match &sizes[..] {
                _ if !in_order.iter().copied().eq(0..k) => None,
                _ if is_sequential => Some(format!("sequential_{place}")),
                [_] if place == "c_first" => Some("one_group".to_owned()),
                [first, rest @ ..] if rest.iter().all(|size| size == first) => {
                    Some(format!("groups_of_{first}_{place}"))
                }
                _ => None,
            }
        });
        named.unwrap_or_else(|| self.to_string().replace(&format!("p{k}"), "c"))
    }
}

impl fmt::Display for SumTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SumTree::Summand(number) => write!(f, "p{number}"),
            SumTree::Sum(parts) => {
                let parts: Vec<String> = parts.iter().map(SumTree::to_string).collect();
                write!(f, "({})", parts.join("+"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree from steps, each of which adds these to what was added before.
    fn chain(steps: &[&[u32]]) -> SumTree {
        let mut tree: Option<SumTree> = None;
        for step in steps {
            let own = step.iter().map(|number| SumTree::Summand(*number));
            tree = Some(SumTree::Sum(tree.into_iter().chain(own).collect()));
        }
        tree.unwrap()
    }

    #[test]
    fn orders_have_names() {
        let [a, b, c, d] = [0, 1, 2, 3].map(SumTree::Summand);
        let sum =
            |parts: &[&SumTree]| SumTree::Sum(parts.iter().map(|part| (*part).clone()).collect());
        for (tree, name) in [
            (chain(&[&[0, 1], &[2], &[3]]), "sequential"),
            (sum(&[&a, &b, &c, &d]), "one_group"),
            (sum(&[&sum(&[&a, &b]), &sum(&[&c, &d])]), "neighbours_first"),
            (sum(&[&sum(&[&a, &c]), &sum(&[&b, &d])]), "halves_first"),
            (sum(&[&sum(&[&a, &d]), &sum(&[&b, &c])]), "((p0+p3)+(p1+p2))"),
        ] {
            assert_eq!(tree.order(), name);
        }
    }

    fn leaves(tree: &SumTree) -> Vec<u32> {
        match tree {
            SumTree::Summand(number) => vec![*number],
            SumTree::Sum(parts) => parts.iter().flat_map(leaves).collect(),
        }
    }

    /// How many summands lie below the node in which two meet.
    fn below(tree: &SumTree, i: u32, j: u32) -> usize {
        let SumTree::Sum(parts) = tree else { return 1 };
        let both = parts.iter().find(|part| leaves(part).contains(&i) && leaves(part).contains(&j));
        both.map_or_else(|| leaves(tree).len(), |part| below(part, i, j))
    }

    #[test]
    fn trees_come_back_from_their_counts_and_have_names() {
        let pair = |i, j| SumTree::Sum(vec![SumTree::Summand(i), SumTree::Summand(j)]);
        for (tree, name) in [
            (chain(&[&[0, 1], &[2], &[3], &[4]]), "sequential_c_last"),
            (chain(&[&[0, 4], &[1], &[2], &[3]]), "sequential_c_first"),
            (chain(&[&[0, 1, 4], &[2, 3]]), "groups_of_2_c_first"),
            (chain(&[&[0, 1, 2, 3], &[4]]), "groups_of_4_c_last"),
            (chain(&[&[0, 1, 2, 3, 4]]), "one_group"),
            (chain(&[&[2, 3], &[1], &[0], &[4]]), "((((p2+p3)+p1)+p0)+c)"),
            (
                SumTree::Sum(vec![SumTree::Sum(vec![pair(0, 1), pair(2, 3)]), SumTree::Summand(4)]),
                "(((p0+p1)+(p2+p3))+c)",
            ),
        ] {
            let found = SumTree::new(&[0, 1, 2, 3, 4], &|i, j| below(&tree, i, j)).unwrap();
            for (i, j) in (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j))) {
                assert_eq!(below(&found, i, j), below(&tree, i, j), "{name}: {found}");
            }
            if !name.starts_with('(') {
                assert_eq!(found.name(4), name);
            }
            assert_eq!(tree.name(4), name);
        }
        assert_eq!(SumTree::new(&[0, 1, 2], &|_, _| 2), None);
    }
}
