use proptest::prelude::*;

use super::*;

#[test]
fn every_formula_prints_and_parses_back() {
    for text in [
        "1 / inverse_sqrt(x)",
        "x - y * trunc(x / y)",
        "x - (y - z)",
        "x - y - z",
        "-x * -(y + z)",
        "t * t * (3 - 2 * t) where t = clamp((x - low) / (high - low), 0, 1)",
        "x.yzx * y.zxy - x.zxy * y.yzx",
        "(x + y).x",
        "select(-x, x, dot(z, y) < 0)",
        "select(z * x - (z * d + sqrt(k)) * y, 0, k <= 0) where d = dot(y, x), k = 1 - z * z * (1 - d * d)",
        "x * 57.295779513082322865",
        "x + 6.77e-5",
        "sum(x * y)",
    ] {
        assert_eq!(text.parse::<Formula>().unwrap().to_string(), text);
    }
    assert_eq!("  ( x )+(y*z) ".parse::<Formula>().unwrap().to_string(), "x + y * z");
    assert_eq!("- - x".parse::<Formula>().unwrap().to_string(), "--x");
}

#[test]
fn a_malformed_formula_is_refused_with_its_place() {
    let deep = "(".repeat(40);
    for (text, at, problem) in [
        ("", 0, "a value"),
        ("x +", 3, "a value"),
        ("x + * y", 4, "a value"),
        ("sqrt(x", 6, "`)`"),
        ("sqrt()", 5, "a value"),
        ("x y", 2, "an operator"),
        ("x.abc", 2, "xyzw"),
        ("x.xyzxy", 2, "xyzw"),
        ("1.5.x + 1.", 8, "decimal"),
        ("2x", 0, "decimal"),
        ("1e99999", 0, "decimal"),
        ("select(x, y, z)", 14, "comparison"),
        ("select(x, y)", 11, "`,`"),
        ("t where t", 9, "`=`"),
        ("t where t = 1, t = 2", 15, "twice"),
        ("where t = 1", 0, "a value"),
        ("x & y", 2, "an operator"),
        ("x + é", 4, "a value"),
        (&deep, 32, "in one another"),
    ] {
        let error = text.parse::<Formula>().unwrap_err();
        assert!(error.problem.contains(problem), "{text}: {error}");
        assert_eq!(error.at, at, "{text}: {error}");
    }
    assert!(" + x".repeat(400).parse::<Formula>().is_err());
}

/// Formulas of every kind of expression.
fn formulas() -> impl Strategy<Value = String> {
    let leaf = prop_oneof!["[xyz]", "[0-9]{1,3}(\\.[0-9]{1,4})?"];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), "[-+*/]", inner.clone())
                .prop_map(|(a, o, b)| format!("({a}) {o} ({b})")),
            (inner.clone(), "[-+*/]", inner.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
            inner.clone().prop_map(|a| format!("-({a})")),
            inner.clone().prop_map(|a| format!("sqrt({a})")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("select({a}, {b}, {a} < {b})")),
            (inner, "[xyzw]{1,4}").prop_map(|(a, c)| format!("({a}).{c}")),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_means_the_same(text in formulas()) {
        let printed = text.parse::<Formula>().unwrap().to_string();
        prop_assert_eq!(printed.parse::<Formula>().unwrap().to_string(), printed);
    }

    #[test]
    fn no_text_is_too_strange(text in ".{0,60}") {
        drop(text.parse::<Formula>());
    }
}
