//! The reference's files: which kernel each is about, and what its cases accept.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::number::Number as _;
use fpprobe_spirv::{FloatLayout, Kernel, Shape};
use serde_json::Value;

/// Operations by the names of files, where they are not the first part of it.
const NAMES: [(&str, &str); 23] = [
    ("addition.scalar", "fadd"),
    ("subtraction.scalar", "fsub"),
    ("multiplication.scalar", "fmul"),
    ("division.scalar", "fdiv"),
    ("arithmetic.negation", "fnegate"),
    ("comparison.equals", "ford_equal"),
    ("comparison.not_equals", "funord_not_equal"),
    ("comparison.less_than", "ford_less_than"),
    ("comparison.less_equals", "ford_less_than_equal"),
    ("comparison.greater_than", "ford_greater_than"),
    ("comparison.greater_equals", "ford_greater_than_equal"),
    ("conversion.bool", "select"),
    ("conversion.u32", "convert_u_to_f"),
    ("conversion.i32", "convert_s_to_f"),
    ("abs", "fabs"),
    ("clamp", "fclamp"),
    ("min", "fmin"),
    ("mix", "fmix"),
    ("pack2x16float", "pack_half_2x16"),
    // A value is converted to its own type by handing it on.
    ("f32_conversion.f32", "copy_object"),
    ("f16_conversion.f16", "copy_object"),
    ("f32_conversion.f16", "fconvert_f32"),
    ("f16_conversion.f32", "fconvert_f16"),
];

/// One file of the reference.
pub struct File {
    /// Its name, without endings.
    pub name: String,
    /// The kernel that its expression becomes.
    pub kernel: Kernel,
    path: PathBuf,
    total: usize,
}

/// One case: operands as the kernel takes them, and what is accepted of each part of the result, by
/// alternatives.
pub struct Case {
    /// Encodings of the operands' components.
    pub operands: Vec<u64>,
    /// A set for each part; one alternative must hold in all.
    pub alternatives: Vec<Vec<Set>>,
}

/// Every file that the index names.
pub fn files(folder: &Path) -> Vec<File> {
    let index = std::fs::read_to_string(folder.join("INDEX.jsonl")).unwrap();
    let file = |line: &str| {
        let entry: Value = serde_json::from_str(line).unwrap();
        let file = entry["file"].as_str().unwrap();
        File::new(
            folder.join(file),
            file.trim_end_matches(".jsonl.gz"),
            entry["total"].as_u64().unwrap() as usize,
        )
    };
    index.lines().map(file).collect()
}

impl File {
    fn new(path: PathBuf, name: &str, total: usize) -> File {
        File { name: name.to_owned(), kernel: kernel(name).parse().unwrap(), path, total }
    }

    /// Its cases.
    pub fn cases(&self) -> Vec<Case> {
        let mut text = String::new();
        let packed = std::fs::File::open(&self.path).unwrap();
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
        let cases: Vec<Case> =
            text.lines().map(|line| self.case(&serde_json::from_str(line).unwrap())).collect();
        assert_eq!(cases.len(), self.total, "{}", self.name);
        cases
    }

    fn case(&self, line: &Value) -> Case {
        let given = line["in"].as_array().unwrap();
        let mut operands: Vec<u64> = Vec::new();
        for (shape, value) in self.kernel.params().iter().zip(given) {
            operands.extend(components(value, shape));
        }
        if self.name.ends_with("conversion.bool") {
            operands.extend(
                self.kernel
                    .format
                    .float()
                    .map(|layout| [(layout.bias() as u64) << layout.fraction, 0])
                    .unwrap(),
            );
        }
        assert_eq!(operands.len(), self.kernel.arity());
        Case { operands, alternatives: alternatives(line, &Encoding::of_result(&self.kernel)) }
    }
}

fn kernel(name: &str) -> String {
    let (first, last) = name.split_once('.').unwrap();
    let own = NAMES.iter().find(|(known, _)| {
        name == *known || name.ends_with(&format!("_{known}")) || first == *known
    });
    let op = own.map_or(first, |(_, op)| op);
    let format = if name.starts_with("f16_conversion.f32") {
        "f32"
    } else if name.starts_with("f32_conversion.f16")
        || name.starts_with("f16_")
        || last.starts_with("f16")
    {
        "f16"
    } else {
        "f32"
    };
    let width =
        last.split_once("vec").map_or(String::new(), |(_, width)| format!(":width={width}"));
    format!("{format}.{op}{width}")
}

/// A value; a scalar where a vector is required counts for each component.
fn components(value: &Value, shape: &Shape) -> Vec<u64> {
    match value.as_array() {
        Some(values) => values.iter().map(bits).collect(),
        None => vec![bits(value); shape.width as usize],
    }
}

fn bits(text: &Value) -> u64 {
    u64::from_str_radix(text.as_str().unwrap(), 16).unwrap()
}

fn alternatives(expected: &Value, encodings: &[Encoding]) -> Vec<Vec<Set>> {
    if let Some(list) = expected["alts"].as_array() {
        return list.iter().flat_map(|one| alternatives(one, encodings)).collect();
    }
    if expected["any"] == true {
        return vec![encodings.iter().map(|encoding| Set::everything(*encoding)).collect()];
    }
    if let Some(parts) = expected["out"].as_array() {
        let one = |(part, encoding): (&Value, &Encoding)| {
            alternatives(part, &[*encoding]).remove(0).remove(0)
        };
        return vec![parts.iter().zip(encodings).map(one).collect()];
    }
    if expected.get("bits").is_some() {
        let mut word = bits(&expected["bits"]);
        let mut part = |encoding: &Encoding| {
            let own = word & (u64::MAX >> (64 - encoding.bits()));
            word >>= encoding.bits() % 64;
            with_zeros(Set::one(*encoding, own))
        };
        return vec![encodings.iter().map(&mut part).collect()];
    }
    let [encoding] = encodings else { panic!("an interval for several parts: {expected}") };
    let Encoding::Float(layout) = encoding else { panic!("an interval of integers: {expected}") };
    let [lo, hi] = ["lo", "hi"].map(|end| f64::from_bits(bits(&expected[end])));
    vec![vec![between(*encoding, *layout, lo, hi)]]
}

/// The values of a format between two numbers, and both zeros where one is.
pub fn between(encoding: Encoding, layout: FloatLayout, lo: f64, hi: f64) -> Set {
    let infinity = encoding.key(layout.infinity());
    let value = |key: i64| f64::decode(layout, encoding.at(key));
    // Keys are in the order of the numbers.
    let first = |reached: &dyn Fn(f64) -> bool| {
        let (mut below, mut at) = (-infinity - 2, infinity + 1);
        while at - below > 1 {
            let middle = below + (at - below) / 2;
            if reached(value(middle)) { at = middle } else { below = middle }
        }
        at
    };
    with_zeros(Set::range(encoding, first(&|value| value >= lo), first(&|value| value > hi) - 1))
}

fn with_zeros(set: Set) -> Set {
    let zeros = Set::zeros(set.encoding());
    if !matches!(set.encoding(), Encoding::Float(_)) || set.and(&zeros).is_empty() {
        set
    } else {
        set.or(&zeros)
    }
}
