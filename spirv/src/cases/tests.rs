use std::collections::{BTreeSet, HashMap, HashSet};

use super::*;
use crate::Controls;
use crate::catalogue::Extent;

fn of(id: &str) -> Cases {
    cases(&id.parse().unwrap())
}

#[test]
fn loads_cover_every_code_of_every_channel() {
    for id in [
        "b10g11r11.load:route=storage_image",
        "a2b10g10r10.load:route=vertex",
        "r16f.load:route=sampled",
        "rgba16f.load:route=blit",
        "r16unorm.load:route=view",
        "r16snorm.sample:route=sampled",
        "d16unorm.load:route=sampled",
    ] {
        let kernel: Kernel = id.parse().unwrap();
        let (cases, channels) = (cases(&kernel), kernel.format.channels());
        for channel in channels {
            let mask = (1 << channel.coding.bits()) - 1;
            let codes: BTreeSet<u64> =
                cases.iter().map(|case| case[0] >> channel.shift & mask).collect();
            assert_eq!(codes.len(), 1 << channel.coding.bits(), "{id} {}", channel.name);
        }
        assert_eq!(
            cases.len(),
            1 << channels.iter().map(|channel| channel.coding.bits()).max().unwrap(),
            "{id}"
        );
    }
    for id in ["rgba16f.load:controls=fastmath0;route=sampled", "r16unorm.copy:route=copy"] {
        assert!(of(id).len() < 2000, "{id}");
    }
}

#[test]
fn every_encoding_of_16_bits_is_asked_of_the_plain_kernel() {
    for id in ["f16.sqrt", "f16.frexp", "f16.convert_f_to_s", "f16.is_nan", "f16.x_over_x"] {
        let list: BTreeSet<u64> = of(id).iter().map(|case| case[0]).collect();
        assert_eq!(list.len(), 1 << 16, "{id}");
        let under = of(&format!("{id}:controls=szin16"));
        assert!(under.len() < 2000 && under.iter().all(|case| list.contains(&case[0])), "{id}");
    }
    for id in ["f32.unpack_half_2x16", "f32.unpack_snorm_2x16"] {
        let codes: BTreeSet<u64> =
            of(id).iter().flat_map(|case| [case[0] & 0xffff, case[0] >> 16]).collect();
        assert_eq!(codes.len(), 1 << 16, "{id}");
    }
    let words = of("f32.unpack_unorm_4x8");
    for place in 0..4 {
        let codes: BTreeSet<u64> = words.iter().map(|case| case[0] >> (8 * place) & 0xff).collect();
        assert_eq!(codes.len(), 256);
    }
}

#[test]
fn kernels_of_one_name_have_one_list() {
    let mut plain = HashMap::new();
    let mut seen = HashSet::new();
    for kernel in Extent::Exhaustive.kernels(&[Controls::default()], |_| true) {
        for length in [Length::Whole, Length::Boundary, Length::Corners] {
            // Those of one stem and width are made alike.
            let name = name(&kernel, length);
            if !seen.insert((name.clone(), kernel.stem(), kernel.width)) {
                continue;
            }
            let list = fresh(&kernel, length, &name);
            let first = plain.entry(name).or_insert_with(|| (kernel, list.clone()));
            assert_eq!(first.1, list, "{} and {kernel}", first.0);
        }
    }
    assert!(plain.len() > 200, "{}", plain.len());
}

#[test]
fn kernels_of_operands_alike_share_their_list() {
    for (ids, name) in [
        (["f32.sqrt", "f32.modf"], "f32.unary"),
        (["f32.fadd", "f32.atan2"], "f32.binary"),
        (["f32.fma", "f32.smooth_step"], "f32.ternary"),
        (["f32.cross:width=3", "f32.dot:width=3"], "f32.3_3"),
        (["f64.transpose:width=2", "f64.determinant:width=2"], "f64.2x2"),
    ] {
        assert_eq!(ids.map(|id| of(id).name), [name; 2]);
    }
}

#[test]
fn the_ends_of_domains_are_asked() {
    let list: BTreeSet<u64> = of("f32.sin").iter().map(|case| case[0]).collect();
    // pi (beside it), -2 pi, 2^104 * 3 pi / 2 from below, the worst case of argument reduction; e^x
    // at its largest finite result and beyond, at its smallest normal; 1 and beside it; the
    // ends of the range of a logarithm's absolute bound.
    for bits in [
        0x40490fda, 0x40490fdb, 0xc0c90fda, 0x7496cbe3, 0x6f79be45, 0x42b17217, 0x42b17218,
        0xc2aeac4f,
    ] {
        assert!(list.contains(&bits), "{bits:08x}");
    }
    for bits in [
        0x3f7fffff, 0x3f800000, 0x3f800001, 0xbf800000, 0x3effffff, 0x3f000001, 0x3fffffff,
        0x40000001,
    ] {
        assert!(list.contains(&bits), "{bits:08x}");
    }
    let list: BTreeSet<u64> = of("f64.floor").iter().map(|case| case[0]).collect();
    // pi, the worst case of argument reduction, e^x at its largest result, midpoints of binary32
    // and binary16.
    for bits in [
        0x400921fb54442d18,
        0x7506ac5b262ca1ff,
        0x40862e42fefa39ef,
        0x3ff0000010000000,
        0x3ff0020000000000,
    ] {
        assert!(list.contains(&bits), "{bits:016x}");
    }
}

#[test]
fn triples_are_edges_in_order_and_weights_between_0_and_1() {
    let triples: BTreeSet<Vec<u64>> = of("f32.smooth_step").iter().map(<[u64]>::to_vec).collect();
    let [zero, one, half, ten] = [0, 0x3f800000, 0x3f000000, 0x41200000];
    for triple in [[zero, one, half], [one, ten, half], [half, zero, one], [one, ten, 0x3f7fffff]] {
        assert!(triples.contains(triple.as_slice()), "{triple:08x?}");
    }
}

#[test]
fn fixed_point_numbers_meet_their_ties() {
    for (id, last, signed) in
        [("f32.pack_snorm_4x8", 127.0, true), ("f32.pack_unorm_2x16", 65535.0, false)]
    {
        let list: BTreeSet<u64> = of(id).iter().flatten().copied().collect();
        let of = |code: f64| u64::from(((code / last) as f32).to_bits());
        for code in [0.5, 1.0, 1.5, last - 0.5, last] {
            assert!(list.contains(&of(code)), "{id} {code}");
            assert_eq!(list.contains(&of(-code)), signed || code == last, "{id} -{code}");
        }
    }
}

#[test]
fn srgb_is_asked_what_codes_mean_and_where_one_gives_way_to_the_next() {
    let list: BTreeSet<u64> = of("rgba8srgb.store:route=clear").iter().flatten().copied().collect();
    // Codes 10 and 128, the thresholds before 11 and 128; and beside them.
    for bits in [0x3b46_eb61, 0x3e5d_0a89, 0x3b50_f2d0, 0x3e5b_2d9a, 0x3e5d_0a88, 0x3e5b_2d9b] {
        assert!(list.contains(&bits), "{bits:08x}");
    }
}

#[test]
fn depths_lie_between_0_and_1() {
    let offered = |id: &str, bits: u64| is_offered(&id.parse().unwrap(), &[bits]);
    for id in
        ["d32f.store:route=clear", "d32f.load:route=sampled", "d16unorm.min_depth:route=attachment"]
    {
        assert!([0, 0x8000_0000, 1, 0x3f80_0000].into_iter().all(|bits| offered(id, bits)), "{id}");
        assert!(
            ![0x3f80_0001, 0x8000_0001, 0x7fc0_0000].into_iter().any(|bits| offered(id, bits)),
            "{id}"
        );
    }
    assert!(
        offered("d16unorm.load:route=sampled", 0xffff)
            && offered("r32f.load:route=sampled", 0x7fc0_0000)
    );
    for kernel in Extent::Exhaustive.kernels(&[Controls::default()], |_| true) {
        let listed = kernel.format.is_depth().then(|| boundary(&kernel));
        assert!(
            listed.iter().flat_map(Cases::iter).all(|case| is_offered(&kernel, case)),
            "{kernel}"
        );
    }
}

#[test]
fn vectors_are_orthogonal_parallel_cancelling_huge_and_tiny() {
    let cases = of("f64.dot:width=2");
    let some = |what: &str, is: &dyn Fn([f64; 4]) -> bool| {
        let mut dots =
            cases.iter().map(|case| std::array::from_fn(|place| f64::from_bits(case[place])));
        assert!(dots.any(is), "{what}");
    };
    some("parallel", &|[a, b, c, d]| a == c && b == d && a != 0.0 && a.is_finite());
    some("opposite", &|[a, b, c, d]| a == -c && b == -d && a != 0.0);
    some("cancelling", &|[a, b, c, d]| a * c != 0.0 && a * c == -(b * d));
    some("almost cancelling", &|[a, b, c, d]| {
        let (first, second) = (a * c, b * d);
        first != -second && ((first + second) / first).abs() < 1e-15
    });
    some("overflow of one product", &|[a, b, c, d]| {
        (a * c).is_infinite() && a.is_finite() && (b * d).is_finite()
    });
    some("tiny products", &|[a, b, c, d]| {
        a * c == 0.0 && a != 0.0 && c != 0.0 && b * d == 0.0 && b != 0.0
    });
    some("subnormal", &|[a, ..]| a.is_subnormal());
    some("NaN in one component", &|[a, b, ..]| a.is_nan() && b.is_normal());
}

#[test]
fn refraction_is_asked_below_at_and_beyond_total_reflection() {
    for width in 1..=4 {
        let cases = of(&format!("f64.refract:width={width}"));
        let total: Vec<f64> = cases
            .iter()
            .map(|case| case.iter().map(|bits| f64::from_bits(*bits)).collect::<Vec<f64>>())
            .filter(|case| {
                let length = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>();
                (length(&case[..width]) - 1.0).abs() < 1e-9
                    && length(&case[width..2 * width]) == 1.0
            })
            .map(|case| {
                let cosine: f64 = (0..width).map(|place| case[place] * case[width + place]).sum();
                1.0 - case[2 * width] * case[2 * width] * (1.0 - cosine * cosine)
            })
            .collect();
        assert!(total.iter().any(|k| *k > 0.1), "{width}");
        if width > 1 {
            assert!(total.iter().any(|k| *k < -0.1), "{width}");
            assert!(total.iter().any(|k| k.abs() < 1e-15), "{width}");
        }
    }
}

#[test]
fn boundary_classes_are_there() {
    let list: Vec<u64> = of("f32.sqrt").iter().map(|case| case[0]).collect();
    for bits in [
        0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001,
        0x7fc00000,
    ] {
        assert!(list.contains(&bits), "{bits:08x}");
    }
    let pairs: BTreeSet<Vec<u64>> = of("f32.fmul").iter().map(<[u64]>::to_vec).collect();
    for pair in [[0x00000300, 0x78000000], [0x7fc00000, 0x80000000], [0x00800000, 0x3f000000]] {
        assert!(pairs.contains(pair.as_slice()), "{pair:08x?}");
    }
}

#[test]
fn conversions_meet_the_boundaries_of_their_target() {
    for id in ["f32.fconvert_f16", "f32.pack_half_2x16"] {
        let list: BTreeSet<u64> = of(id).iter().map(|case| case[0]).collect();
        // 2^-25, 2^-24, the largest subnormal, 65504, and the rounding limit with its neighbours.
        for bits in
            [0x33000000, 0x33800000, 0x387fc000, 0x477fe000, 0x477fefff, 0x477ff000, 0x477ff001]
        {
            assert!(list.contains(&bits), "{id} {bits:08x}");
        }
    }
}

#[test]
fn what_lies_half_way_is_asked() {
    let pairs: BTreeSet<Vec<u64>> = of("f32.fadd").iter().map(<[u64]>::to_vec).collect();
    // 1 + 2^-24 and beside it, 1 + almost 2^-23, the largest number and half its ulp, (1 + 3 ulp) *
    // 1.5, 1/7, 7/10.
    for pair in [
        [0x3f800000, 0x33800000],
        [0x3f800000, 0x33800001],
        [0x3f800000, 0x33ffffff],
        [0x7f7fffff, 0x73000000],
        [0x7f7fffff, 0x72ffffff],
        [0x3f800003, 0x3fc00000],
        [0x3f800000, 0x40e00000],
        [0x40e00000, 0x41200000],
    ] {
        assert!(pairs.contains(pair.as_slice()), "{pair:08x?}");
    }
    for id in ["f32.convert_s_to_f", "f32.convert_u_to_f"] {
        let list: BTreeSet<u64> = of(id).iter().map(|case| case[0]).collect();
        for bits in
            [0, 0x01000001, 0x01000003, 0x7fffffff, 0x80000000, 0x80000001, 0xffffff7f, 0xffffffff]
        {
            assert!(list.contains(&bits), "{id} {bits:08x}");
        }
    }
}

#[test]
fn wide_cases_hold_other_values_in_each_component() {
    let cases = of("f32.fadd:width=3");
    assert_eq!(cases.case(0).len(), 6);
    assert_ne!(cases.case(0)[0..1], cases.case(0)[1..2]);
}

#[test]
fn short_lists_are_part_of_what_the_plain_kernel_is_asked() {
    // Lists of operations in a row are short as they are.
    let is_chain = |kernel: &Kernel| matches!(kernel.op.function, crate::op::Function::Chain(_));
    let has_others = |kernel: &Kernel| {
        kernel.op.code.routes(kernel.format).contains(&Route::Push) && !is_chain(kernel)
    };
    let plain =
        crate::catalogue::plain().into_iter().filter(|kernel| kernel.route == Route::Buffer);
    for plain in plain.filter(has_others) {
        let long = cases(&plain);
        let known: BTreeSet<&[u64]> = long.iter().collect();
        for (route, least) in [(Route::Push, 20), (Route::Literal, 15)] {
            let kernel = Kernel { route, ..plain };
            let short = boundary(&kernel);
            assert!(short.iter().all(|case| known.contains(case)), "{kernel}");
            assert!((least..130).contains(&short.len()), "{kernel}: {}", short.len());
            assert_eq!(named(&kernel, &short.name), Some(short));
        }
    }
    let sqrt: Kernel = "f32.sqrt".parse().unwrap();
    assert_eq!(named(&sqrt, "f32.unary"), Some(cases(&sqrt)));
    assert_eq!(named(&sqrt, "f32.binary"), None);
}

#[test]
fn short_lists_have_subnormal_results_of_normal_operands() {
    type Operation = fn(f32, f32) -> f32;
    let operations: [(&str, Operation); 2] = [("fmul", |x, y| x * y), ("fadd", |x, y| x + y)];
    for (name, of) in operations {
        for key in ["stage=fragment", "route=literal"] {
            let kernel: Kernel = format!("f32.{name}:{key}").parse().unwrap();
            let list = boundary(&kernel);
            let mut pairs =
                list.iter().map(|case| case.iter().map(|bits| f32::from_bits(*bits as u32)));
            let shows = pairs.any(|mut pair| {
                let [x, y] = [(); 2].map(|()| pair.next().unwrap());
                x.is_normal() && y.is_normal() && of(x, y).is_subnormal()
            });
            assert!(shows, "{kernel}");
        }
    }
}
