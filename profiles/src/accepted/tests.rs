use fpprobe_spirv::Format;
use proptest::prelude::*;

use super::*;

fn single() -> Encoding {
    Encoding::of(Format::F32)
}

fn half() -> Encoding {
    Encoding::of(Format::F16)
}

fn some_set() -> impl Strategy<Value = Set> {
    proptest::collection::vec((any::<u16>(), 0i64..200), 0..4).prop_map(|ranges| {
        ranges.into_iter().fold(Set::nothing(half()), |set, (bits, length)| {
            let from = half().key(u64::from(bits));
            set.or(&Set::range(half(), from, (from + length).min(half().limits().1)))
        })
    })
}

proptest! {
    #[test]
    fn sets_behave_as_sets(a in some_set(), b in some_set(), bits in any::<u16>()) {
        let bits = u64::from(bits);
        let (in_a, in_b) = (a.contains(bits), b.contains(bits));
        prop_assert_eq!(a.or(&b).contains(bits), in_a || in_b);
        prop_assert_eq!(a.and(&b).contains(bits), in_a && in_b);
        prop_assert_eq!(a.minus(&b).contains(bits), in_a && !in_b);
        prop_assert_eq!(a.or(&b), b.or(&a));
        prop_assert_eq!(a.minus(&b).or(&a.and(&b)), a.clone());
        prop_assert_eq!(a.count(), (0..=0xffff).filter(|bits| a.contains(*bits)).count() as u64);
    }

    #[test]
    fn keys_keep_the_numeric_order(a in any::<u32>(), b in any::<u32>()) {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let order = single().key(u64::from(a)).cmp(&single().key(u64::from(b)));
        prop_assert_eq!(single().at(single().key(u64::from(a))), u64::from(a));
        if x < y {
            prop_assert_eq!(order, std::cmp::Ordering::Less);
        }
    }
}

#[test]
fn special_classes_hold_what_they_say() {
    assert_eq!(Set::nan(half()).count(), 2 * 1023);
    assert_eq!(Set::subnormals(half()).count(), 2 * 1023);
    assert_eq!(Set::zeros(half()).count(), 2);
    assert_eq!(Set::finite(half()).count(), 2 * 0x7c00);
    assert!(Set::nan(half()).is_single() && !Set::zeros(half()).is_single());
    assert!(Set::everything(half()).is_everything());
}

#[test]
fn sets_of_binary64_reach_the_ends_of_their_keys() {
    let double = Encoding::of(Format::F64);
    let (nan, everything) = (Set::nan(double), Set::everything(double));
    assert!(
        nan.is_single() && nan.minus(&nan).is_empty() && everything.minus(&everything).is_empty()
    );
    let numbers = everything.minus(&nan);
    assert!(numbers.contains(0xfff0_0000_0000_0000) && numbers.contains(0x7ff0_0000_0000_0000));
    assert!(!numbers.contains(0xffff_ffff_ffff_ffff) && !numbers.contains(0x7fff_ffff_ffff_ffff));
    assert_eq!(numbers.or(&nan), everything);
    assert_eq!(everything.count(), u64::MAX);
}

#[test]
fn sets_print_as_the_contract_says() {
    let interval = |from: u64, to: u64| Set::range(single(), single().key(from), single().key(to));
    for (set, expected) in [
        (Set::one(single(), 0x7f800000), json!({ "bits": ["7f800000"] })),
        (Set::zeros(single()), json!({ "bits": ["80000000", "00000000"] })),
        (Set::nan(single()), json!({ "nan": true })),
        (
            Set::nan(single()).or(&Set::one(single(), 0x7f800000)),
            json!({ "nan": true, "bits": ["7f800000"] }),
        ),
        (Set::everything(single()), json!({ "any": true })),
        (
            interval(0x3f800000, 0x40000000),
            json!({ "intervals": [{ "lo": "3ff0000000000000", "hi": "4000000000000000" }] }),
        ),
        (
            interval(0x80800010, 0x00800010).minus(&Set::subnormals(single())),
            json!({
                "except": "subnormals",
                "zero": "either",
                "intervals": [{ "lo": "b810000200000000", "hi": "3810000200000000" }],
            }),
        ),
        (
            interval(0x00000000, 0x3f800000),
            json!({ "zero": "+", "intervals": [{ "lo": "0000000000000000", "hi": "3ff0000000000000" }] }),
        ),
    ] {
        assert_eq!(set.to_json(), expected);
    }
}

#[test]
fn every_printed_set_reads_back_as_the_same_set() {
    // The contract's reading of `A`: bits exactly, NaN as a class, intervals numerically with both
    // zeros unless `zero` says otherwise, subnormals excepted where it says so.
    let single_layout = Format::F32.float().unwrap();
    let reads = |a: &Value, bits: u64| -> bool {
        let hex = single().hex(bits);
        let listed = a["bits"].as_array().is_some_and(|list| list.iter().any(|one| *one == hex));
        let nan = a["nan"] == true && single_layout.is_nan(bits);
        let value = f64::from(f32::from_bits(bits as u32));
        let ends = |one: &Value, key: &str| {
            f64::from_bits(u64::from_str_radix(one[key].as_str().unwrap(), 16).unwrap())
        };
        let inside = a["intervals"].as_array().is_some_and(|list| {
            list.iter().any(|one| ends(one, "lo") <= value && value <= ends(one, "hi"))
        });
        let zero = !matches!((a["zero"].as_str(), bits), (Some("+"), 0x8000_0000) | (Some("-"), 0));
        let excepted = a["except"] == "subnormals" && single_layout.is_subnormal(bits);
        a["any"] == true || listed || nan || inside && zero && !excepted
    };
    let keys = |from: u64, to: u64| Set::range(single(), single().key(from), single().key(to));
    let sets = [
        keys(0x80800010, 0x00800010).minus(&Set::subnormals(single())),
        keys(0x00000000, 0x3f800000),
        keys(0xff800000, 0x80000000).or(&Set::nan(single())),
        keys(0x3f7ffff0, 0x3f800010).or(&Set::zeros(single())),
        keys(0x00000001, 0x00000100).or(&Set::one(single(), 0x80000000)),
        keys(0x007fff00, 0x00800100).minus(&Set::subnormals(single())).or(&Set::one(single(), 0)),
        keys(0x7f7fff00, 0x7f800000),
    ];
    for set in sets {
        let a = set.to_json();
        for near in [
            0u64, 0x80000000, 1, 0x80000001, 0x100, 0x101, 0x007fffff, 0x00800000, 0x80800000,
            0x00800010, 0x00800011, 0x3f7ffff0, 0x3f7fffef, 0x3f800000, 0x3f800001, 0x3f800010,
            0x3f800011, 0x7f7fff00, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
            0x80800010, 0x80800011, 0x00800100, 0x00800101,
        ] {
            assert_eq!(reads(&a, near), set.contains(near), "{near:08x} in {a}");
        }
    }
}
