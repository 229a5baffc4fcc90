//! Results as a table: `DuckDB` reads what is written, and each documented query says what the
//! reports do.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use fpprobe_profiles::Observation;
use fpprobe_reports::load;
use fpprobe_reports::record::read_device;
use fpprobe_spirv::Kernel;
use serde_json::{Value, json};

use crate::documented::documented;
use crate::scene::{ends, fpprobe};

/// Scalars, vectors, constants, two results, two formats, and what one driver lacks.
const FILTER: [&str; 8] = [
    "f16.modf*",
    "f16.fmul",
    "f32.fadd",
    "f32.fadd:route=*",
    "f32.fadd:width=3",
    "f32.frexp",
    "f32.pow",
    "f64.convert_f_to_s",
];

/// Operands and result of a lane.
type Lane = (Vec<u64>, u64);

/// What a report holds, by kernel and component.
struct Measured(Vec<Observation>);

impl Measured {
    fn read(folder: &Path) -> Measured {
        let report = load::one(folder).unwrap();
        Measured(read_device(&report.devices[0].observations, &report.inputs).unwrap().observations)
    }

    fn of(&self, kernel: &str) -> Option<&Observation> {
        self.0.iter().find(|one| one.kernel.to_string() == kernel && one.outcome.answered())
    }

    /// The lanes of a kernel of scalars.
    fn scalars(&self, kernel: &str) -> Vec<Lane> {
        let one = self.of(kernel).unwrap();
        (0..one.cases.len())
            .map(|case| (one.cases.case(case).to_vec(), one.answer(case)[0]))
            .collect()
    }

    /// Number of lanes by kernel in which this gives another result than the other.
    fn differing(
        &self,
        other: &Measured,
        is_same: impl Fn(u64, u64) -> bool,
    ) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for one in self.0.iter().filter(|one| one.outcome.answered()) {
            let Some(other) = other.of(&one.kernel.to_string()) else { continue };
            let pairs = one.out.iter().zip(&*other.out);
            let count = pairs.filter(|(one, other)| !is_same(**one, **other)).count();
            if count > 0 {
                counts.insert(one.kernel.to_string(), count);
            }
        }
        counts
    }
}

impl Measured {
    /// Components of a kernel of vectors that give something else than scalars do, once for each
    /// time that these were measured.
    fn apart(&self, wide: &Observation) -> usize {
        let Some(plain) = self.of(&Kernel { width: 1, ..wide.kernel }.to_string()) else {
            return 0;
        };
        let mut cases: HashMap<&[u64], Vec<usize>> = HashMap::new();
        for case in 0..plain.cases.len() {
            cases.entry(plain.cases.case(case)).or_default().push(case);
        }
        let width = wide.kernel.width as usize;
        let places = (0..wide.cases.len())
            .flat_map(|case| (0..wide.kernel.outputs()).map(move |place| (case, place)));
        let differing = |(case, place): (usize, usize)| {
            let own: Vec<u64> =
                wide.cases.case(case).iter().skip(place % width).step_by(width).copied().collect();
            let result = wide.answer(case)[place];
            let scalars = cases.get(&own[..]).into_iter().flatten();
            scalars.filter(|scalar| plain.answer(**scalar)[place / width] != result).count()
        };
        places.map(differing).sum()
    }
}

/// Measures a driver: a report and a table; their folder.
fn measure(root: &Path, driver: &str, table: &str) -> PathBuf {
    let folder = root.join(driver);
    let mut run = fpprobe(&[driver]);
    ends(run.arg("run").args(FILTER).arg("-o").arg(&folder)).with(0);
    ends(fpprobe(&[]).arg("judge").arg(&folder).arg("-o").arg(root.join(table))).with(0);
    folder
}

fn counts(rows: &[Vec<Value>]) -> BTreeMap<String, usize> {
    rows.iter()
        .map(|row| (row[0].as_str().unwrap().to_owned(), row[1].as_u64().unwrap() as usize))
        .collect()
}

#[test]
fn documented_queries_say_what_reports_say() {
    let root = tempfile::tempdir().unwrap();
    let [old, new] = [("lavapipe-22", "old.parquet"), ("lavapipe-25", "new.parquet")]
        .map(|(driver, table)| Measured::read(&measure(root.path(), driver, table)));
    let said: Vec<_> =
        documented(root.path(), "docs/formats.md", 1).into_iter().map(|query| query.rows).collect();
    assert_eq!(said.len(), 11, "the columns and ten queries");

    let columns: BTreeMap<&str, &str> =
        said[0].iter().map(|row| (row[0].as_str().unwrap(), row[1].as_str().unwrap())).collect();
    let unsigned = [
        ("case", "UINTEGER"),
        ("component", "UTINYINT"),
        ("operands", "UBIGINT[]"),
        ("result", "UBIGINT"),
    ];
    assert_eq!((columns.len(), columns["kernel"]), (19, "VARCHAR"));
    assert_eq!(unsigned.map(|(name, _)| columns[name]), unsigned.map(|(_, kind)| kind));

    // NaNs of a sum.
    let sums = new.scalars("f32.fadd");
    let nans: Vec<Value> = sums
        .iter()
        .filter(|(_, result)| (0x7f80_0001..=0x7fff_ffff).contains(result))
        .map(|(operands, result)| json!([operands, format!("{result:08x}")]))
        .collect();
    assert!(!nans.is_empty());
    assert_eq!(json!(said[1]), json!(nans));

    // Kernels by outcome, lanes by operation.
    let ran = new.0.iter().filter(|one| one.outcome == fpprobe_profiles::Outcome::Ran).count();
    assert_eq!(counts(&said[2])["ran"], ran);
    assert_eq!(
        said[2].iter().map(|row| row[1].as_u64().unwrap() as usize).sum::<usize>(),
        new.0.len()
    );
    let lanes: usize = new.0.iter().map(|one| one.out.len()).sum();
    assert_eq!(said[3].iter().map(|row| row[2].as_u64().unwrap() as usize).sum::<usize>(), lanes);

    // What differs from run to run.
    let unstable = |one: &Observation| {
        let second = one.second.as_deref().unwrap_or(&one.out);
        one.out.iter().zip(second).filter(|(one, other)| one != other).count()
    };
    assert_eq!(said[4].len(), new.0.iter().map(unstable).sum::<usize>());

    // Two drivers. What an input list has twice is there twice on both sides, and joins with each.
    let by_kernel = old.differing(&new, |one, other| one == other);
    let joined: BTreeSet<&str> = said[5].iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(joined, by_kernel.keys().map(String::as_str).collect());
    let is_nan = |bits: u64| bits & 0x7fff_ffff > 0x7f80_0000;
    let numbers = old.differing(&new, |one, other| one == other || is_nan(one) && is_nan(other));
    let numbers: BTreeMap<_, _> =
        numbers.into_iter().filter(|(kernel, _)| kernel.starts_with("f32.")).collect();
    assert_eq!(counts(&said[6]), numbers);
    let only: BTreeSet<&str> = said[7].iter().map(|row| row[0].as_str().unwrap()).collect();
    let runs = |side: &Measured, kernel: &str| side.of(kernel).is_some();
    let kernels: BTreeSet<String> =
        old.0.iter().chain(&new.0).map(|one| one.kernel.to_string()).collect();
    let expected = kernels
        .iter()
        .filter(|kernel| runs(&old, kernel) != runs(&new, kernel))
        .map(String::as_str);
    assert_eq!(only, expected.collect());

    // Flushed sums.
    let is_flushed = |(operands, result): &&Lane| {
        (1..=0x007f_ffff).contains(&(operands[0] & 0x7fff_ffff))
            && operands[1] == 0
            && [0, 0x8000_0000].contains(result)
    };
    assert_eq!(said[8].len(), sums.iter().filter(is_flushed).count());

    // Constants and vectors beside what a device computes on scalars.
    let differ = |kernel: &str| {
        let plain: BTreeMap<Vec<u64>, u64> = sums.iter().cloned().collect();
        new.scalars(kernel)
            .into_iter()
            .filter(|(operands, result)| plain[operands] != *result)
            .count()
    };
    let folded =
        ["f32.fadd:route=literal", "f32.fadd:route=spec"].map(differ).iter().sum::<usize>();
    let of_sums = |rows: &[Vec<Value>]| {
        rows.iter().filter(|row| row[0].as_str().unwrap().starts_with("f32.fadd")).count()
    };
    assert_eq!(of_sums(&said[9]), folded);
    let wide = new.0.iter().filter(|one| one.kernel.width > 1 && one.outcome.answered());
    let apart: Vec<usize> = wide.map(|wide| new.apart(wide)).collect();
    assert!(apart.len() > 2, "{} kernels of vectors", apart.len());
    assert_eq!(said[10].len(), apart.iter().sum::<usize>());
}
