//! What naga folds in constant expressions of WGSL, against `wgsl-abstract`. What it gets wrong is
//! data: a snapshot, so that a new version of naga shows what it changed.
//!
//! Expressions of binary64 kernels must be right; those of binary32 kernels, on operands that
//! binary32 has, should be as good as in f32.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::number::Number as _;
use fpprobe_profiles::oracle::{Signature, accepted_on};
use fpprobe_profiles::{Level, Profile, profile};
use fpprobe_spirv::{Format, Kernel, cases};
use naga::{Expression, Literal};

/// Kernels and the WGSL expression that folds the same function, `$0`, `$1` being literals of their
/// operands' components.
const EXPRESSIONS: [(&str, &str); 54] = [
    ("f64.fadd", "$0 + $1"),
    ("f64.fsub", "$0 - $1"),
    ("f64.fmul", "$0 * $1"),
    ("f64.fnegate", "-($0)"),
    ("f64.fabs", "abs($0)"),
    ("f64.fsign", "sign($0)"),
    ("f64.ceil", "ceil($0)"),
    ("f64.floor", "floor($0)"),
    ("f64.trunc", "trunc($0)"),
    ("f64.round_even", "round($0)"),
    ("f64.step", "step($0, $1)"),
    ("f64.saturate", "saturate($0)"),
    ("f64.ford_equal", "$0 == $1"),
    ("f64.funord_not_equal", "$0 != $1"),
    ("f64.ford_less_than", "$0 < $1"),
    ("f64.ford_less_than_equal", "$0 <= $1"),
    ("f64.ford_greater_than", "$0 > $1"),
    ("f64.ford_greater_than_equal", "$0 >= $1"),
    ("f64.fmin", "min($0, $1)"),
    ("f64.fmax", "max($0, $1)"),
    ("f64.fclamp", "clamp($0, $1, $2)"),
    ("f64.fract", "fract($0)"),
    ("f32.fdiv", "$0 / $1"),
    ("f32.frem", "$0 % $1"),
    ("f32.sqrt", "sqrt($0)"),
    ("f32.inverse_sqrt", "inverseSqrt($0)"),
    ("f32.exp", "exp($0)"),
    ("f32.exp2", "exp2($0)"),
    ("f32.log", "log($0)"),
    ("f32.log2", "log2($0)"),
    ("f32.pow", "pow($0, $1)"),
    ("f32.sin", "sin($0)"),
    ("f32.cos", "cos($0)"),
    ("f32.tan", "tan($0)"),
    ("f32.asin", "asin($0)"),
    ("f32.acos", "acos($0)"),
    ("f32.atan", "atan($0)"),
    ("f32.atan2", "atan2($0, $1)"),
    ("f32.sinh", "sinh($0)"),
    ("f32.cosh", "cosh($0)"),
    ("f32.tanh", "tanh($0)"),
    ("f32.asinh", "asinh($0)"),
    ("f32.acosh", "acosh($0)"),
    ("f32.atanh", "atanh($0)"),
    ("f32.fma", "fma($0, $1, $2)"),
    ("f32.degrees", "degrees($0)"),
    ("f32.radians", "radians($0)"),
    ("f32.dot:width=2", "dot(vec2($0, $1), vec2($2, $3))"),
    ("f32.dot:width=4", "dot(vec4($0, $1, $2, $3), vec4($4, $5, $6, $7))"),
    ("f32.length", "length($0)"),
    ("f32.length:width=3", "length(vec3($0, $1, $2))"),
    ("f32.distance:width=2", "distance(vec2($0, $1), vec2($2, $3))"),
    ("f32.normalize:width=2", "normalize(vec2($0, $1)).x"),
    ("f32.cross:width=3", "cross(vec3($0, $1, $2), vec3($3, $4, $5)).x"),
];

/// Expressions of further operations of the profile, none of which is folded.
const NOT_FOLDED: [&str; 8] = [
    "mix(1.0, 2.0, 0.5)",
    "smoothstep(1.0, 2.0, 1.5)",
    "faceForward(vec2(1.0), vec2(1.0), vec2(1.0)).x",
    "reflect(vec2(1.0), vec2(1.0)).x",
    "refract(vec2(1.0), vec2(1.0), 1.0).x",
    "ldexp(1.0, 2)",
    "modf(1.5).fract",
    "frexp(1.5).fract",
];

/// What naga makes of an expression: bits of a binary64 number, or 0 and 1 for a truth value, or an
/// error's text.
fn folded(kind: &str, expression: &str) -> Result<u64, String> {
    // The type makes the abstract value a concrete one of the same bits; without it nothing is left
    // to look at.
    let module = naga::front::wgsl::parse_str(&format!("const x: {kind} = {expression};"))
        .map_err(|error| error.message().to_owned())?;
    let (_, constant) = module.constants.iter().next().ok_or("there is no constant")?;
    match module.global_expressions[constant.init] {
        Expression::Literal(Literal::F64(value)) => Ok(value.to_bits()),
        Expression::Literal(Literal::Bool(value)) => Ok(u64::from(value)),
        ref other => Err(format!("not folded to a number: {other:?}")),
    }
}

/// An error's text without the numbers in it.
fn general(error: &str) -> String {
    let is_number = |word: &str| word.trim_matches('`').parse::<f64>().is_ok();
    let words = error.split(' ').map(|word| if is_number(word) { "_" } else { word });
    words.collect::<Vec<&str>>().join(" ")
}

/// The encodings of a set.
fn ranges(set: &Set) -> String {
    let at = |key: i64| set.encoding().at(key);
    let ranges = set.ranges().iter().map(|(from, to)| format!("{:x}..{:x}", at(*from), at(*to)));
    ranges.collect::<Vec<String>>().join(", ")
}

/// Whether a number is one of the values, or lies between them or next to one.
fn is_near(set: &Set, value: f64) -> bool {
    let number = |key: i64| f64::decode(Format::F32.float().unwrap(), set.encoding().at(key));
    set.ranges().iter().any(|(from, to)| number(from - 1) < value && value < number(to + 1))
}

#[derive(Default)]
struct Counts {
    right: usize,
    refused_rightly: usize,
    /// First expression and number of those alike, by what is wrong.
    wrong: BTreeMap<String, (String, usize)>,
}

fn statistics(profile: &Profile, kernel: &Kernel, template: &str) -> Counts {
    let signature = Signature::new(kernel);
    let (rule, part) = profile.rules_for(kernel).next().unwrap();
    let exact = kernel.format == Format::F64;
    assert_eq!(rule.level, if exact { Level::Required } else { Level::Recommended });
    let kind = if kernel.result().format == Format::Bool { "bool" } else { "f64" };
    let layout = kernel.format.float().unwrap();
    let mut statistics = Counts::default();
    for case in cases::cases(kernel).iter() {
        let operands = signature.operands(case, 0);
        // No literal denotes what is not finite.
        if case.iter().any(|bits| bits & layout.magnitude_mask() >= layout.infinity())
            || !rule.selects(signature.encodings[0], &operands, &part.demand)
        {
            continue;
        }
        // `{:e}` prints as many digits as are needed to read the same number back.
        let values: Vec<f64> = case.iter().map(|bits| f64::decode(layout, *bits)).collect();
        let expression =
            values.iter().enumerate().fold(template.to_owned(), |text, (index, value)| {
                text.replace(&format!("${index}"), &format!("({value:e})"))
            });
        let accepted = accepted_on(signature.encodings[0], &operands, &part.demand);
        // What is not finite is an error (W-07), and so may be what comes near; and so is a clamp
        // between crossed bounds.
        let may_fail =
            accepted.is_everything() || (template.starts_with("clamp") && values[1] > values[2]);
        let found = folded(kind, &expression);
        let problem = match &found {
            Ok(bits) if accepted.contains(*bits) && exact => None,
            Ok(bits)
                if !exact
                    && (accepted.is_everything() || is_near(&accepted, f64::from_bits(*bits))) =>
            {
                None
            }
            Ok(_) => Some("outside of what is accepted".to_owned()),
            Err(_) if may_fail => {
                statistics.refused_rightly += 1;
                continue;
            }
            Err(error) => Some(format!("refused: {}", general(error))),
        };
        match problem {
            None => statistics.right += 1,
            Some(problem) => {
                let bits = found.map_or_else(|_| String::new(), |bits| format!(" = {bits:016x}"));
                let first = format!("{expression}{bits}, accepted {}", ranges(&accepted));
                statistics.wrong.entry(problem).or_insert((first, 0)).1 += 1;
            }
        }
    }
    statistics
}

#[test]
fn what_naga_folds() {
    let profile = profile::built_in("wgsl-abstract").unwrap().unwrap();
    let mut text = String::new();
    for (id, template) in EXPRESSIONS {
        let kernel: Kernel = id.parse().unwrap();
        let Counts { right, refused_rightly, wrong } = statistics(&profile, &kernel, template);
        println!("{template}: {right} right, {refused_rightly} rightly refused");
        let verdict = match (wrong.is_empty(), kernel.format) {
            (true, Format::F64) => "as it should be",
            (true, _) => "as good as in f32",
            (false, Format::F64) => "wrong",
            (false, _) => "worse than in f32",
        };
        writeln!(text, "{template}: {verdict}").unwrap();
        let mut operand = right;
        for (problem, (first, count)) in wrong {
            operand += count;
            println!("    {count} {problem}");
            writeln!(text, "    {problem}, first {first}").unwrap();
        }
        assert!(operand > 20, "{template}: {operand}");
    }
    for expression in NOT_FOLDED {
        let error = folded("f64", expression).unwrap_err();
        writeln!(text, "{expression}: {error}").unwrap();
    }
    insta::assert_snapshot!(text);
}

/// A test that took everything for right would be none.
#[test]
fn the_neighbour_of_an_exact_result_is_wrong() {
    let profile = profile::built_in("wgsl-abstract").unwrap().unwrap();
    let kernel: Kernel = "f64.fadd".parse().unwrap();
    let one = 1.0f64.to_bits();
    let (accepted, rules) = fpprobe_profiles::accepts::accepts(&profile, &kernel, &[one, one]);
    assert_eq!(rules, ["W-abstract-correct"]);
    assert!(accepted.contains(&[2.0f64.to_bits()]) && !accepted.contains(&[2.0f64.to_bits() + 1]));
}

/// So would one that took every number for near.
#[test]
fn two_values_beyond_what_f32_may_give_is_worse() {
    let profile = profile::built_in("wgsl-abstract").unwrap().unwrap();
    let kernel: Kernel = "f32.fdiv".parse().unwrap();
    let signature = Signature::new(&kernel);
    let (rule, part) = profile.rules_for(&kernel).next().unwrap();
    assert_eq!(rule.id, "W-abstract-as-f32");
    let case = [1.0f32, 3.0].map(|value| u64::from(value.to_bits()));
    let accepted = accepted_on(signature.encodings[0], &signature.operands(&case, 0), &part.demand);
    let ulp = f64::from(f32::EPSILON) / 4.0;
    assert!(
        is_near(&accepted, 1.0 / 3.0 + 2.5 * ulp) && !is_near(&accepted, 1.0 / 3.0 + 4.0 * ulp)
    );
}
