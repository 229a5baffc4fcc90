//! Fixed point, sRGB and shared exponents: answers that are known by other means than the oracle's.

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::oracle::Signature;
use fpprobe_profiles::profile;
use fpprobe_spirv::Kernel;

/// The codes of N bits that a profile accepts in a channel.
fn codes(profile: &str, kernel: &str, case: &[u32], part: usize, bits: u32) -> Vec<u64> {
    let profile = profile::built_in(profile).unwrap().unwrap();
    let kernel: Kernel = kernel.parse().unwrap();
    let case: Vec<u64> = case.iter().copied().map(u64::from).collect();
    let accepted = accepts(&profile, &kernel, &case).0;
    (0..1 << bits).filter(|code| accepted.alternatives()[0][part].contains(*code)).collect()
}

fn fixed(format: &str, number: u32) -> Vec<u64> {
    codes("d3d11", &format!("{format}.store:route=clear"), &[number], 0, 8)
}

/// D3D11.3 §3.2.3: clamped, NaN as 0, 0.6 of a code.
#[test]
fn fixed_point_is_clamped_and_within_six_tenths() {
    for (number, code) in [
        (0x7fc0_0000, 0),
        (0xbf80_0000, 0),
        (0x8000_0000, 0),
        (0xff80_0000, 0),
        (0x0000_0001, 0),
        (0x3f80_0000, 255),
        (0x4000_0000, 255),
        (0x7f80_0000, 255),
    ] {
        assert_eq!(fixed("r8unorm", number), [code], "{number:08x}");
    }
    for code in 0..255u32 {
        let at = |part: f64| (((f64::from(code) + part) / 255.0) as f32).to_bits();
        let (this, next) = (u64::from(code), u64::from(code) + 1);
        assert_eq!(fixed("r8unorm", at(0.0)), [this]);
        assert_eq!(fixed("r8unorm", at(0.39)), [this]);
        assert_eq!(fixed("r8unorm", at(0.5)), [this, next]);
        assert_eq!(fixed("r8unorm", at(0.61)), [next]);
    }
    let signed = [
        (0x7fc0_0000, 0),
        (0xbf80_0000, 0x81),
        (0xff80_0000, 0x81),
        (0x3f80_0000, 0x7f),
        (0x8000_0000, 0),
        (0xbf00_0000, 0xc0),
    ];
    for (number, code) in signed {
        assert!(fixed("r8snorm", number).contains(&code), "{number:08x}");
        assert!(!fixed("r8snorm", number).contains(&0x80), "{number:08x}");
    }
}

/// Vulkan, "Conversion From Floating-Point to Normalized Fixed-Point": one of the two nearest; what
/// NaN becomes is open.
#[test]
fn vulkan_takes_either_neighbour() {
    let of = |number| codes("vulkan", "r8unorm.store:route=blit", &[number], 0, 8);
    let at = |code: f64| ((code / 255.0) as f32).to_bits();
    assert_eq!(of(at(100.1)), [100, 101]);
    assert_eq!(of(at(100.9)), [100, 101]);
    assert_eq!(of(0x3f80_0000), [255]);
    assert_eq!(of(0x7fc0_0000).len(), 256);
}

/// The transfer function as binary64 computes it, off by less than a thousandth of a code.
#[test]
fn codes_of_srgb_are_near_what_transfers_to_them() {
    let linear = |share: f64| {
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    let stored = |code: f64| {
        let number = (linear(code / 255.0) as f32).to_bits();
        codes("d3d11", "rgba8srgb.store:route=clear", &[number; 4], 0, 8)
    };
    for code in 0..255u32 {
        let at = |part: f64| stored(f64::from(code) + part);
        let (this, next) = (u64::from(code), u64::from(code) + 1);
        assert_eq!(
            (at(0.0), at(0.39), at(0.5), at(0.61)),
            (vec![this], vec![this], vec![this, next], vec![next])
        );
    }
    assert_eq!(stored(255.0), [255]);
}

/// Vulkan, "RGB to Shared Exponent Conversion", by hand.
#[test]
fn the_greatest_number_chooses_the_exponent() {
    let single = |number: f32| number.to_bits();
    for (numbers, expected) in [
        ([1.0, 0.5, 0.25], [256, 128, 64, 16]),
        ([0.0, -1.0, 0.0], [0, 0, 0, 0]),
        // 511.5 / 256 rounds up to 512, which takes the next exponent.
        ([511.5 / 256.0, 1.0, 0.0], [256, 128, 0, 17]),
        ([511.25 / 256.0, 1.0, 0.0], [511, 256, 0, 16]),
        ([65408.0, 1e6, 128.0], [511, 511, 1, 31]),
    ] {
        let case = numbers.map(single);
        let part = |index: usize| {
            codes(
                "vulkan",
                "e5b9g9r9.store:route=clear",
                &case,
                index,
                if index < 3 { 9 } else { 5 },
            )
        };
        assert_eq!([0, 1, 2, 3].map(part), expected.map(|code| vec![code]), "{numbers:?}");
    }
}

/// Vulkan has the transfer function alone: either code next to what it gives, and a code read as
/// what is near it.
#[test]
fn vulkan_names_no_error_of_srgb() {
    let stored =
        |number: u64| ruled("vulkan/V-srgb", "rgba8srgb.store:route=clear", &[number; 4], 8);
    // 1/2 transfers to 187.516 of 255, 0.001 to 3.2946.
    assert_eq!(stored(0x3f00_0000), [187, 188]);
    assert_eq!(stored(0x3a83_126f), [3, 4]);
    assert_eq!(stored(0), [0]);
    assert_eq!(stored(0x4000_0000).last(), Some(&255));
    // Alpha is fixed point, and so required: of 1/2 the codes around 127.5.
    let alpha = by_rule("vulkan/V-srgb-alpha", "rgba8srgb.store:route=clear", &[0x3f00_0000; 4], 3);
    assert_eq!((0..256).filter(|code| alpha.contains(*code)).collect::<Vec<u64>>(), [127, 128]);
    let read = |code: u64, number: f32| {
        let texel = code | 255 << 24;
        by_rule("vulkan/V-srgb-load", "rgba8srgb.load:route=sampled", &[texel], 0)
            .contains(number.to_bits().into())
    };
    assert!(
        read(188, 0.502_886)
            && read(188, 0.5)
            && !read(188, 0.49)
            && read(255, 1.0)
            && !read(255, 0.999)
    );
}

/// What a blit makes of texels of other formats: of floats what a store would, of fixed point what
/// a quotient rounded either way would be stored as; what the source lacks is 0, alpha 1.
#[test]
fn blits_convert_from_other_formats() {
    let one = |rule: &str, kernel: &str, texel: u64, part: usize, bits: u32| -> Vec<u64> {
        let accepted = by_rule(rule, kernel, &[texel], part);
        (0..1 << bits).filter(|code| accepted.contains(*code)).collect()
    };
    // 1 + 1/64 in 11 bits, 1/2 in 10, and the same in 16.
    let texel = 0x3c1 | 0x1c0 << 22;
    let half =
        |part| one("vulkan/V-store", "rgba16f.convert_b10g11r11:route=blit", texel, part, 16);
    assert_eq!([0, 2, 3].map(half), [[0x3c10], [0x3800], [0x3c00]]);
    let single =
        |part| one("vulkan/V-fixed", "rgba8unorm.convert_r32f:route=blit", 0x3f00_0000, part, 8);
    assert_eq!([0, 1, 3].map(single), [vec![127, 128], vec![0], vec![255]]);
    let ten =
        |code| one("vulkan/V-fixed-blit", "a2b10g10r10.convert_rgba8unorm:route=blit", code, 0, 10);
    assert_eq!([0, 1, 255].map(ten), [vec![0], vec![4, 5], vec![1023]]);
    // A third is no binary32 number: on either side of 341.
    assert_eq!(ten(85), [340, 341, 342]);
    for (code, half) in [(0x7f, 0x3c00), (0x80, 0xbc00), (0x81, 0xbc00)] {
        let codes = one("vulkan/V-fixed-blit", "r16f.convert_rgba8snorm:route=blit", code, 0, 16);
        assert_eq!(codes, [half], "{code:x}");
    }
}

/// Codes are quotients by the greatest one; both least codes of a signed format are -1.
#[test]
fn codes_are_read_as_they_are_defined() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let read = |kernel: &str, texel: u64, number: f32| {
        let accepted = accepts(&profile, &kernel.parse().unwrap(), &[texel]).0;
        let bits = u64::from(number.to_bits());
        let neighbours =
            [bits - 1, bits + 1].map(|other| accepted.alternatives()[0][0].contains(other));
        assert!(
            accepted.alternatives()[0][0].contains(bits) && neighbours == [false; 2],
            "{kernel} {texel:x}"
        );
    };
    for code in 1..=255u32 {
        read("r8unorm.load:route=sampled", code.into(), (f64::from(code) / 255.0) as f32);
    }
    for (code, number) in [(0x80, -1.0), (0x81, -1.0), (0x7f, 1.0), (0xff, (-1.0 / 127.0) as f32)] {
        read("r8snorm.load:route=sampled", code, number);
    }
    read("e5b9g9r9.load:route=sampled", 16 << 27 | 256, 1.0);
    read("e5b9g9r9.load:route=sampled", 31 << 27 | 511, 65408.0);
    read("e5b9g9r9.load:route=sampled", 1, 2f32.powi(-24));
}

/// What a rule of any level accepts in a part of the result.
fn by_rule(name: &str, kernel: &str, case: &[u64], part: usize) -> Set {
    let (profile, rule) = name.split_once('/').unwrap();
    let profile = profile::built_in(profile).unwrap().unwrap();
    let kernel: Kernel = kernel.parse().unwrap();
    let (_, found) = profile.rules_for(&kernel).find(|(one, _)| one.id == rule).unwrap();
    Signature::new(&kernel).accepted_part(case, part, &found.demand)
}

fn ruled(name: &str, kernel: &str, case: &[u64], bits: u32) -> Vec<u64> {
    let accepted = by_rule(name, kernel, case, 0);
    (0..1 << bits).filter(|code| accepted.contains(*code)).collect()
}

/// What is added in binary32 and then converted, by hand: 11 and 10-bit codes of 1 are 3c0 and 1e0.
#[test]
fn a_blend_adds_to_what_is_there() {
    let add = |number: u64, texel: u64| {
        ruled("d3d11/H-09", "b10g11r11.blend_add:route=attachment", &[number, 0, 0, texel], 11)
    };
    // 1 + 1, 1 - 1, 1 + half a unit, 1 + a whole one; the greatest and more.
    assert_eq!(add(0x3f80_0000, 0x3c0), [0x400]);
    assert_eq!(add(0xbf80_0000, 0x3c0), [0]);
    assert_eq!(add(0x3c00_0000, 0x3c0), [0x3c0, 0x3c1]);
    assert_eq!(add(0x3c80_0000, 0x3c0), [0x3c1]);
    // The least number of 11 bits, 2^-20, is a subnormal code and a normal number of binary32: it
    // counts.
    assert_eq!(add(0, 1), [1]);
    assert_eq!(add(0x3580_0000, 1), [2]);
    // Below zero there is nothing.
    assert_eq!(add(0xc000_0000, 0x3c0), [0]);
}

/// Whatever was there, as long as it is a number, a replacement is what a store would be.
#[test]
fn a_blend_that_replaces_is_a_store() {
    for number in [0x3f80_0000, 0x3eaa_aaab, 0x4000_0000, 0x3580_0000, 0x477f_e000] {
        let case = [u64::from(number), 0, 0, 0, 0x3c00];
        let replaced = ruled("d3d11/H-07", "rgba16f.blend_replace:route=attachment", &case, 16);
        let stored = codes("d3d11", "rgba16f.store:route=attachment", &[number, 0, 0, 0], 0, 16);
        assert!(
            stored.iter().all(|code| replaced.contains(code)),
            "{number:08x}: {stored:x?} in {replaced:x?}"
        );
        assert!(replaced.len() <= 2, "{number:08x}: {replaced:x?}");
    }
}

/// A depth of 16 bits is fixed point, one of 32 bits itself; views and resolved samples are loads
/// and stores.
#[test]
fn depths_views_and_samples() {
    let depth = |number| codes("vulkan", "d16unorm.store:route=attachment", &[number], 0, 16);
    assert_eq!(depth(0), [0]);
    assert_eq!(depth(0x3f80_0000), [0xffff]);
    assert_eq!(depth(0x3f00_0000), [0x7fff, 0x8000]);
    let accepted = |profile: &str, kernel: &str, case: &[u64]| {
        let profile = profile::built_in(profile).unwrap().unwrap();
        accepts(&profile, &kernel.parse().unwrap(), case).0
    };
    let one = |bits: u64| move |set: &Set| set.contains(bits) && !set.contains(bits + 1);
    let exact = accepted("vulkan", "d32f.store:route=clear", &[0x3eaa_aaab]);
    assert!(one(0x3eaa_aaab)(&exact.alternatives()[0][0]));
    let viewed = accepted("d3d11", "rgba16f.load:route=view", &[0x3c00_4000_0001_3555]);
    assert!(one(0x3eaa_a000)(&viewed.alternatives()[0][0]));
    assert!(one(0x3380_0000)(&viewed.alternatives()[0][1]));
    let resolved =
        ruled("vulkan/V-resolve", "b10g11r11.store:route=resolve", &[0x3f80_0000, 0, 0], 11);
    assert_eq!(resolved, [0x3c0]);
}

/// Two binary16 side by side, red in the low half: each is rounded by itself, as the text of each
/// profile has it.
#[test]
fn channels_of_two_halves_are_rounded_one_by_one() {
    // 65520 lies half way between the greatest number and the next power of two; 1/3 is 3555 and
    // more than half a unit.
    for (profile, ends, thirds) in [
        ("d3d11", vec![0x7bff], vec![0x3555]),
        ("vulkan", vec![0x7bff, 0x7c00], vec![0x3555, 0x3556]),
    ] {
        let of =
            |part| codes(profile, "rg16f.store:route=clear", &[0x477f_f000, 0x3eaa_aaab], part, 16);
        assert_eq!((of(0), of(1)), (ends, thirds), "{profile}");
        let loaded = |texel: u64, part: usize| {
            let profile = profile::built_in(profile).unwrap().unwrap();
            let accepted =
                accepts(&profile, &"rg16f.load:route=sampled".parse().unwrap(), &[texel]).0;
            move |bits: u64| accepted.alternatives()[0][part].contains(bits)
        };
        assert!(loaded(0x0001_3c00, 0)(0x3f80_0000) && !loaded(0x0001_3c00, 0)(0x3380_0000));
        assert!(loaded(0x0001_3c00, 1)(0x3380_0000) && !loaded(0x0001_3c00, 1)(0x3f80_0000));
    }
}

/// State may be flushed where it is subnormal, and is otherwise itself.
#[test]
fn state_arrives_or_is_flushed() {
    let accepted = |kernel: &str, case: &[u64], code: u64| {
        by_rule("d3d11/D32-22", kernel, case, 0).contains(code)
    };
    for kernel in [
        "d32f.min_depth:route=attachment",
        "d32f.max_depth:route=attachment",
        "d32f.store:route=clear",
        "r32f.border_color:route=sampled",
    ] {
        assert!(
            accepted(kernel, &[1], 1) && accepted(kernel, &[1], 0) && !accepted(kernel, &[1], 2),
            "{kernel}"
        );
    }
}

/// Vulkan, "Blending": clamped before and after, and next to the exact sum; of zero and one no
/// other than that.
#[test]
fn what_is_added_to_fixed_point_is_clamped() {
    let sum = |number: u64, there: u64| {
        ruled("vulkan/V-blend-fixed", "r8unorm.blend_add:route=attachment", &[number, there], 8)
    };
    assert_eq!((sum(0x3f00_0000, 10), sum(0x3f00_0000, 200)), (vec![137, 138], vec![255]));
    assert_eq!((sum(0xbf80_0000, 10), sum(0x4000_0000, 0)), (vec![10], vec![255]));
    let exact = |number, there| {
        ruled("vulkan/V-blend-exact", "r8unorm.blend_add:route=attachment", &[number, there], 8)
    };
    assert_eq!((exact(0, 77), exact(0x3f80_0000, 77)), (vec![77], vec![255]));
    let signed = |number, there| {
        ruled("vulkan/V-blend-fixed", "r8snorm.blend_add:route=attachment", &[number, there], 8)
    };
    // Both least codes are -1; nothing less is left below it.
    assert_eq!((signed(0, 0x80), signed(0xbf80_0000, 0x80)), (vec![0x81], vec![0x81]));
    assert_eq!((signed(0x3f80_0000, 0x81), signed(0x3f80_0000, 0x7f)), (vec![0], vec![0x7f]));
}

/// Every channel of every texel of a block is judged by itself, and as a binary32.
#[test]
fn blocks_are_judged_texel_by_texel() {
    // One subset, ten bits: from 0 to the greatest number; the last texel's index is 15, all others
    // 0.
    let block = [0x0000_0003, 0xffff_fff8, 0x0000_0001, 0xf000_0000];
    for (profile, kernel) in [
        ("d3d11", "bc6h_ufloat.load:route=sampled"),
        ("vulkan", "bc6h_ufloat.sample:route=sampled"),
        ("vulkan", "bc6h_ufloat.load:route=blit"),
    ] {
        let profile = profile::built_in(profile).unwrap().unwrap();
        let accepted = accepts(&profile, &kernel.parse().unwrap(), &block).0;
        let parts = &accepted.alternatives()[0];
        assert_eq!(parts.len(), 48);
        for (part, set) in parts.iter().enumerate() {
            let number = if part < 45 { 0 } else { 0x477f_e000 };
            let others = [number ^ 1, 0x3f80_0000, 0x7fc0_0000].map(|bits| set.contains(bits));
            assert!(set.contains(number) && others == [false; 3], "{kernel} {part}");
        }
    }
}
