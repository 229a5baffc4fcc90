//! `accepts` against the catalogue's vectors, and one encoding to either side of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fpprobe_profiles::accepted::{Accepted, Set};
use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::{Profile, profile};
use fpprobe_spirv::Kernel;
use serde_json::{Value, json};

/// Vectors in the catalogue.
const COUNT: usize = 839;

fn read(path: &std::path::Path) -> Vec<Value> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document: Value = serde_json::from_str(&text).unwrap();
    document["vectors"].as_array().unwrap().clone()
}

fn copy() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors.json")
}

fn catalogue() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec/rules.json")
}

/// The committed copy of the catalogue.
fn vectors() -> Vec<Value> {
    read(&copy())
}

#[test]
fn the_committed_copy_holds_what_the_catalogue_holds() {
    if !catalogue().exists() {
        return;
    }
    let signature = |v: &Value| {
        ["rule", "op", "type", "in_bits", "out_type", "allowed"].map(|key| v[key].clone())
    };
    let [ours, theirs] =
        [copy(), catalogue()].map(|path| read(&path).iter().map(signature).collect::<Vec<_>>());
    assert_eq!(ours, theirs);
}

/// Kernels that a vector's operation names, with the case and the part of the result to look at.
fn questions(vector: &Value) -> Vec<(Kernel, Vec<u64>, usize)> {
    let (op, kind) = (vector["op"].as_str().unwrap(), vector["type"].as_str().unwrap());
    let bits: Vec<u64> = vector["in_bits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| {
            u64::from_str_radix(text.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
        })
        .collect();
    let names: &[&str] = match op {
        "add" => &["fadd"],
        "sub" => &["fsub"],
        "mul" => &["fmul"],
        "div" if vector["rule"].as_str().is_some_and(|rule| rule.starts_with('G')) => &["fdiv"],
        "div" => &["fdiv", "mul_rcp"],
        "rcp" => &["rcp"],
        "mad" | "fma" => &["mul_then_add", "fma"],
        "dp2" => &["dot:width=2"],
        "dp4" => &["dot:width=4"],
        "dfma" => &["fma"],
        "dtof" => &["fconvert_f32"],
        "ftod" => &["fconvert_f64"],
        "sqrt" => &["sqrt"],
        "rsq" => &["inverse_sqrt"],
        "exp" => &["exp"],
        "exp2" => &["exp2"],
        "log" => &["log"],
        "log2" => &["log2"],
        "sin" => &["sin"],
        "cos" => &["cos"],
        "pow" => &["pow"],
        "frc" => &["fract"],
        "round_ne" => &["round_even"],
        "round_ni" => &["floor"],
        "round_pi" => &["ceil"],
        "round_z" => &["trunc"],
        "ftoi" => &["convert_f_to_s"],
        "ftou" => &["convert_f_to_u"],
        "itof" => &["convert_s_to_f"],
        "utof" => &["convert_u_to_f"],
        "abs" => &["fabs"],
        "neg" => &["fnegate"],
        "sat" => &["saturate", "saturate_fclamp"],
        "eq" => &["ford_equal"],
        "ne" => &["funord_not_equal"],
        "lt" => &["ford_less_than"],
        "le" => &["ford_less_than_equal"],
        "gt" => &["ford_greater_than"],
        "ge" => &["ford_greater_than_equal"],
        "min" => &["nmin", "fmin"],
        "max" => &["nmax", "fmax"],
        "mov" if vector["rule"] == "G-24" && kind == "f64" => &["pack_double_2x32"],
        "mov" if vector["rule"] == "G-24" => &["bitcast"],
        "mov" => &["load_store", "copy_object", "shuffle"],
        "movc" => &["select", "phi"],
        _ => &[],
    };
    let kernel = |id: String| id.parse::<Kernel>().unwrap();
    match op {
        "mov" if names == ["pack_double_2x32"] => {
            vec![(
                kernel("f64.pack_double_2x32".into()),
                vec![bits[0] & 0xffff_ffff, bits[0] >> 32],
                0,
            )]
        }
        "movc" => names
            .iter()
            .map(|n| (kernel(format!("{kind}.{n}")), vec![bits[0], bits[1], 0], 0))
            .collect(),
        "f16tof32" => vec![
            (kernel("f32.unpack_half_2x16".into()), vec![bits[0]], 0),
            (kernel("f16.fconvert_f32".into()), vec![bits[0]], 0),
        ],
        "f32tof16" => vec![
            (kernel("f32.pack_half_2x16".into()), vec![bits[0], 0], 0),
            (kernel("f32.fconvert_f16".into()), vec![bits[0]], 0),
        ],
        "pack11" => {
            vec![(kernel("b10g11r11.store:route=storage_image".into()), vec![bits[0]; 3], 0)]
        }
        "pack10" => {
            vec![(kernel("b10g11r11.store:route=storage_image".into()), vec![bits[0]; 3], 2)]
        }
        "unpack11" => {
            vec![(kernel("b10g11r11.load:route=storage_image".into()), vec![bits[0] << 11], 1)]
        }
        "unpack10" => {
            vec![(kernel("b10g11r11.load:route=storage_image".into()), vec![bits[0] << 22], 2)]
        }
        _ => names.iter().map(|name| (kernel(format!("{kind}.{name}")), bits.clone(), 0)).collect(),
    }
}

fn parse(text: &Value) -> u64 {
    match text.as_str().unwrap() {
        "TRUE" => 1,
        "FALSE" => 0,
        text => u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap(),
    }
}

/// The `allowed` column; what it says in words, in bits. `None` where it allows everything.
fn column(vector: &Value) -> Option<Value> {
    let column = &vector["allowed"];
    match column.get("predicate").map(|words| words.as_str().unwrap()) {
        None => Some(column.clone()),
        // D32-19 forbids a subnormal result, as it does in the vectors inside the interval.
        Some("in [-1,1]") => {
            Some(json!({ "range": ["0xBF800000", "0x3F800000"], "except": "subnormals" }))
        }
        Some(words) => {
            let free = [
                "any value",
                "undefined in GLSL",
                "TRUE or FALSE",
                "FALSE expected; NaN support not required",
            ];
            assert!(free.iter().any(|free| words.starts_with(free)), "{words}");
            None
        }
    }
}

/// Whether a vector's `allowed` column holds these bits.
fn allowed(column: &Value, encoding: Encoding, bits: u64) -> bool {
    let nan = matches!(encoding, Encoding::Float(layout) if layout.is_nan(bits));
    let subnormal = matches!(encoding, Encoding::Float(layout) if layout.is_subnormal(bits));
    let listed = |list: &Value| {
        list.as_array().is_some_and(|list| {
            list.iter().any(|a| if a == "NaN" { nan } else { parse(a) == bits })
        })
    };
    if column.is_array() {
        return listed(column);
    }
    let ends: Vec<i64> =
        column["range"].as_array().unwrap().iter().map(|end| encoding.key(parse(end))).collect();
    let inside = (ends[0]..=ends[1]).contains(&encoding.key(bits));
    listed(&column["also"]) || inside && !(subnormal && column["except"] == "subnormals")
}

/// Encodings worth trying: everything that is named, its neighbours, both zeros, infinities and
/// some NaNs.
fn candidates(column: &Value, encoding: Encoding) -> Vec<u64> {
    let mut named: Vec<u64> = Vec::new();
    for list in [column, &column["range"], &column["also"]] {
        named.extend(list.as_array().into_iter().flatten().filter(|a| *a != "NaN").map(parse));
    }
    if let Encoding::Float(layout) = encoding {
        named.extend([
            0,
            layout.sign_bit(),
            layout.infinity(),
            layout.infinity() | layout.sign_bit(),
        ]);
        named.extend([
            layout.infinity() | layout.quiet_bit(),
            layout.infinity() + 1,
            layout.magnitude_mask(),
        ]);
    }
    let (first, last) = encoding.limits();
    named
        .into_iter()
        .flat_map(|bits| {
            let key = encoding.key(bits);
            [key.saturating_sub(1), key, key.saturating_add(1)]
        })
        .filter(|key| (first..=last).contains(key))
        .map(|key| encoding.at(key))
        .collect()
}

/// Vectors that the catalogue contradicts elsewhere, and the encoding that it would have to allow,
/// or not to.
const EXPLAINED: [(&str, &str, u64); 13] = [
    // The text can be read to leave rsq of 16 bits its relative error, and Microsoft's tests allow
    // 1 ULP, which decides (D16-08); the vectors have the strict reading, which D16-08-strict
    // reports.
    ("D16-08", "0x4000", 0x39a7),
    ("D16-08", "0x4000", 0x39a9),
    ("D16-10", "0x03FF", 0x5800),
    ("D16-10", "0x03FF", 0x5802),
    // D11-08 accepts both directions for a store ("Accepted: either"); the nearest 11-bit float to
    // pi is 0x425, the one towards zero 0x424. D11-01 lists the latter alone.
    ("D11-01", "0x40490FDB", 0x425),
    // (2^24, 1) . (1, 1) is half-way between 2^24 and 2^24 + 2. The vector has the latter for
    // steps of 1 ULP, which is the page's word; the catalogue settles it (0, number 5): 0.5
    // ULP a step, which is nearest even (D32-15).
    ("D32-35", "0x4B800000", 0x4b80_0001),
    // 1 / 2^-127, the divisor not flushed: G-02 lists the exact quotient, ASP l.152 (G-12) allows
    // 2.5 ULP around it.
    ("G-02", "0x3F800000", 0x7eff_ffff),
    ("G-02", "0x3F800000", 0x7f00_0001),
    // "correct signedness of 0 is not required" (ASP l.138, G-05): a difference of 0 may be -0.
    ("G-13", "0x3F800001", 0x8000_0000),
    ("G-13", "0xBCF5C28F", 0x8000_0000),
    ("G-14", "0x3F800001", 0x8000_0000),
    // "the rounding mode [...] is undefined" (ASP l.138; so G-10 has it for this product): towards
    // zero the product is the largest finite number, and the sum 0 of either sign.
    ("G-14", "0x7F7FFFFF", 0),
    ("G-14", "0x7F7FFFFF", 0x8000_0000),
];

/// What a profile accepts for a case, and by which rules: [`accepts`], or something broken in its
/// place.
type Accepts<'a> = &'a dyn Fn(&Profile, &Kernel, &[u64]) -> (Accepted, Vec<String>);

/// What came of asking every vector.
#[derive(Default)]
struct Comparison {
    /// Rules with a vector that was asked.
    rules: BTreeSet<String>,
    /// Rules with a vector that is not agreed on.
    contradicted: BTreeSet<String>,
    /// Vectors, questions and encodings.
    vectors: usize,
    checked: usize,
    tried: usize,
    /// What differs, in words.
    wrong: Vec<String>,
}

/// Compares accepted sets with every vector and its neighbours.
fn compare(accepts: Accepts) -> Comparison {
    let profiles: BTreeMap<&str, Profile> =
        profile::built_in_ids().map(|id| (id, profile::built_in(id).unwrap().unwrap())).collect();
    let mut comparison = Comparison::default();
    for vector in vectors() {
        let rule = vector["rule"].as_str().unwrap();
        comparison.vectors += 1;
        let profile = &profiles[match rule {
            "D32-16" => "d3d10",
            _ if rule.starts_with(['D', 'S']) => "d3d11",
            _ => "gl-arb-shader-precision",
        }];
        let questions = questions(&vector);
        assert!(!questions.is_empty(), "no kernel for {vector}");
        for (kernel, case, part) in questions {
            let (accepted, rules) = accepts(profile, &kernel, &case);
            comparison.checked += 1;
            let encoding = Encoding::of_result(&kernel)[part];
            let set = &accepted.alternatives()[0][part];
            let Some(column) = column(&vector) else {
                if !set.is_everything() {
                    let set = set.to_json();
                    comparison.wrong.push(format!(
                        "{rule} {kernel} {case:08x?}: accepted {set} alone by {rules:?}"
                    ));
                }
                continue;
            };
            comparison.rules.insert(rule.to_owned());
            for bits in candidates(&column, encoding) {
                comparison.tried += 1;
                let explained =
                    EXPLAINED.contains(&(rule, vector["in_bits"][0].as_str().unwrap(), bits));
                if set.contains(bits) != (explained ^ allowed(&column, encoding, bits)) {
                    comparison.contradicted.insert(rule.to_owned());
                    comparison.wrong.push(format!(
                        "{rule} {kernel} {case:08x?}: {} {}; catalogue {}, accepted {} by {rules:?}",
                        encoding.hex(bits),
                        if set.contains(bits) { "accepted, not in the catalogue" } else { "refused, in the catalogue" },
                        vector["allowed"],
                        set.to_json(),
                    ));
                    break;
                }
            }
        }
    }
    comparison
}

#[test]
fn accepted_sets_agree_with_every_vector_and_its_neighbours() {
    let Comparison { vectors, checked, tried, wrong, .. } = compare(&accepts);
    println!("{vectors} vectors, {checked} questions, {tried} encodings");
    assert_eq!(vectors, COUNT);
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The comparison has to notice what it is there for: both ways to be of no use show in the vectors
/// of every rule.
#[test]
fn accepting_everything_and_accepting_nothing_contradict_every_rule() {
    for set in [Set::everything, Set::nothing] {
        let broken = |_: &Profile, kernel: &Kernel, _: &[u64]| {
            (Accepted::new(Encoding::of_result(kernel).into_iter().map(set).collect()), Vec::new())
        };
        let comparison = compare(&broken);
        assert_eq!(comparison.contradicted, comparison.rules);
        println!("{} of {} questions differ", comparison.wrong.len(), comparison.checked);
    }
}
