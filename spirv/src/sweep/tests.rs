use super::*;
use crate::catalogue;
use crate::kernel::Kernel;
use crate::load::load;

fn domain(id: &str) -> Domain {
    Domain::of(&id.parse().unwrap()).unwrap()
}

#[test]
fn inputs_have_numbers() {
    for (id, input, case) in [
        ("f32.sqrt", 0x3f80_0001, &[0x3f80_0001][..]),
        ("f16.fadd", 0x3c00_8001, &[0x3c00, 0x8001]),
        ("f16.exp:width=2", 0x3c00_8001, &[0x3c00, 0x8001]),
        ("f16.sin", 0x7c01, &[0x7c01]),
        ("f32.unpack_half_2x16", 0xdead_beef, &[0xdead_beef]),
    ] {
        let domain = domain(id);
        assert_eq!(domain.case(input), case, "{id}");
        assert_eq!(domain.number(case), input, "{id}");
    }
    assert_eq!((domain("f16.sin").blocks(), domain("f16.sin").block()), (1, 1 << 16));
    assert_eq!(domain("f16.fadd").blocks(), 4096);
    assert_eq!((domain("f32.fconvert_f64").words(), domain("f32.modf").words()), (2, 2));
    assert_eq!(domain("f32.fconvert_f64").answer(&[1, 2]), [0x2_0000_0001]);
}

#[test]
fn what_cannot_be_swept_says_why() {
    for (id, why) in [
        ("f32.fadd", "64 bits"),
        ("f32.sqrt:route=literal", "leave route"),
        ("f32.sqrt:via=glsl", "leave route"),
        ("r8unorm.load:route=sampled", "texels"),
    ] {
        let error = Domain::of(&id.parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(id), "{error}");
    }
}

#[test]
fn hashes_are_undone() {
    for input in [0, 1, 0x8000_0000, 0xffff_ffff, 12345] {
        for word in [0, 1, 0x7fc0_0000, 0xffff_ffff] {
            assert_eq!(unmix(input, 1, mix(input, 1, word)), word);
        }
    }
    assert_ne!(mix(0, 0, 5), mix(0, 1, 5));
}

/// A block of results, of as many words as this.
fn results(count: u32, words: u32) -> Vec<u32> {
    (0..count * words).map(|place| place.wrapping_mul(0x0101_0101) ^ place >> 3).collect()
}

#[test]
fn a_digest_finds_the_one_result_that_changed_and_what_it_was() {
    let (first, count) = (0x4000_0000, LANES * 64);
    let before = results(count, 1);
    let old = Digest::of(first, &before, 1);
    for place in [0, 1, LANES - 1, LANES, count / 2 + 7, count - 1] {
        for change in [1, 0x8000_0000, 0xffff] {
            let mut after = before.clone();
            after[place as usize] ^= change;
            let new = Digest::of(first, &after, 1);
            let (found, by) = new.single(old, 64).unwrap();
            assert_eq!(found, place);
            let hash = mix(first + place, 0, after[place as usize]).wrapping_sub(by);
            assert_eq!(unmix(first + place, 0, hash), before[place as usize]);
        }
    }
    assert_eq!(old.single(old, 64), None);
}

#[test]
fn pieces_have_the_digest_of_the_whole() {
    for (first, count) in [(0, 1 << 16), (0xfff0_0000, 1 << 20)] {
        let results = results(count, 1);
        let mut digesting = Digesting::default();
        for (piece, start) in results.chunks(1 << 12).zip((0..).step_by(1 << 12)) {
            digesting.add(first + start, piece);
        }
        assert_eq!(digesting.digest(), Digest::of(first, &results, 1));
    }
}

#[test]
fn of_several_changes_none_is_taken_for_one() {
    let count = LANES * 64;
    let before = results(count, 1);
    let old = Digest::of(0, &before, 1);
    for several in 2..200_u32 {
        let mut after = before.clone();
        (0..several).for_each(|one| after[(one * 7919 % count) as usize] ^= 0x8000_0000);
        let new = Digest::of(0, &after, 1);
        assert_ne!(new, old);
        assert_eq!(new.single(old, 64), None, "{several}");
    }
}

#[test]
fn every_kernel_of_the_catalogue_that_has_a_domain_has_its_modules() {
    let mut count = 0;
    for kernel in catalogue::plain() {
        let Ok(domain) = Domain::of(&kernel) else { continue };
        count += 1;
        for sink in [
            Sink::Store,
            Sink::Digest { normalise: false },
            Sink::Digest { normalise: true },
            Sink::Raw,
        ] {
            let module = load(&build(&domain, sink, GROUP).unwrap()).unwrap();
            assert!(
                module.debug_names.iter().any(|name| format!("{name:?}").contains(&kernel.label())),
                "{kernel}"
            );
        }
    }
    assert!(count > 90, "{count}");
    let controls: Kernel = "f32.exp2:controls=ftz32,szin32".parse().unwrap();
    let module =
        load(&build(&Domain::of(&controls).unwrap(), Sink::Store, OTHER_GROUP).unwrap()).unwrap();
    assert_eq!(module.execution_modes.len(), 3);
}
