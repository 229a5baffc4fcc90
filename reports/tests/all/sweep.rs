//! Reports of sweeps: they follow their schema, read back, and show what was found.

use fpprobe_profiles::profile;
use fpprobe_profiles::sweep::{SweepStatistics, Verifier};
use fpprobe_reports::model::{Host, Program};
use fpprobe_reports::render::Style;
use fpprobe_reports::sweep::{
    Blocks, ChangedInput, Changes, Fingerprint, FingerprintDevice, MergeError, MergeOptions, Print,
    Resolution, SCHEMA, SWEEPS, Sweep, SweptDevice, SweptKernel, Unstable, load, merge,
};
use fpprobe_spirv::sweep::Domain;
use serde_json::Value;

use crate::fixture::{self, NASTY};
use crate::schema_check::check;

fn domain(id: &str) -> Domain {
    Domain::of(&fixture::kernel(id)).unwrap()
}

/// What is found of a device whose every result is its input.
fn statistics() -> SweepStatistics {
    let profile = profile::built_in("vulkan").unwrap().unwrap();
    let verifier = Verifier::new(&fixture::kernel("f32.sqrt"), &[profile]).unwrap();
    let results: Vec<u32> = (0..4096).map(|input| 0x3f80_0000 + input).collect();
    let mut statistics = SweepStatistics::default();
    verifier.block(0x3f80_0000, &results, &mut statistics);
    statistics
}

/// A sweep of two kernels, one judged, one compared with an older fingerprint.
fn sweep() -> Sweep {
    let identity = fixture::report().devices.remove(0).identity;
    let mut judged = SweptKernel::new(&domain("f32.sqrt"));
    (judged.measured, judged.verified) = ([1016].into_iter().collect(), Some(statistics()));
    judged.unstable.add(
        &domain("f32.sqrt"),
        1016,
        &[(0x3f80_0000, [0x3f80_0000, 0x3f80_0000, 0x3f80_0001])],
    );
    let mut compared = SweptKernel::new(&domain("f16.fadd"));
    compared.measured = (0..4096).collect();
    compared.unstable = Unstable::of_blocks([3, 9].into_iter().collect());
    compared.incomplete.push(NASTY.to_owned());
    let mut changes = Changes::new(
        FingerprintDevice::from(&identity),
        Resolution::Digests,
        4096,
        [3, 4, 9].into_iter().collect(),
    );
    changes.add(&domain("f16.fadd"), 0x0030_0001, Some(&[0x3c00]), &[0x3c01]);
    changes.add(&domain("f16.fadd"), 0x0030_0002, None, &[0x3c01]);
    changes.resolved(&[3].into_iter().collect());
    compared.changes = Some(changes);
    let kernels = vec![judged, compared];
    Sweep {
        schema: SCHEMA.to_owned(),
        program: Program { name: "fpprobe".into(), version: "0".into() },
        host: Host {
            id: "0".into(),
            label: String::new(),
            tags: std::collections::BTreeMap::new(),
            kernel: "k".into(),
            os: "o".into(),
        },
        normalise_nan: false,
        profiles: vec!["vulkan".into()],
        devices: vec![SweptDevice { identity, taint: Vec::new(), kernels }],
        incomplete: Vec::new(),
    }
}

/// Its page.
pub fn page() -> String {
    rendered(&sweep(), "html")
}

fn rendered(sweep: &Sweep, name: &str) -> String {
    let form = SWEEPS.iter().find(|form| form.name == name).unwrap();
    let mut out = Vec::new();
    form.renderer.render(sweep, Style::PLAIN, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_did_not_come_again_is_shown_with_its_rate() {
    let sweep = sweep();
    for name in ["text", "html"] {
        let shown = rendered(&sweep, name).split_whitespace().collect::<Vec<_>>().join(" ");
        let message = "1 input of 1,048,576 that ran three times gave several results, in 1 block (3f8); rate 3.2e-7";
        assert!(
            shown.contains(message) && shown.contains("3f800000: 3f800000, 3f800000, 3f800001"),
            "{name}: {shown}"
        );
        assert!(
            shown.contains("2 blocks (3, 9) of 4,096 had other digests when they ran again"),
            "{name}: {shown}"
        );
    }
}

#[test]
fn a_sweep_follows_its_schema_and_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let (sweep, path) = (sweep(), folder.path().join("sweep.json"));
    let text = rendered(&sweep, "json");
    let schema = fpprobe_reports::DOCUMENTS.iter().find(|one| one.id == SCHEMA).unwrap().schema;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(check(&schema(), &value), Vec::<String>::new());
    std::fs::write(&path, &text).unwrap();
    assert_eq!(load(&path).unwrap(), sweep);
    // Numbers that cannot be: they would be multiplied, added and counted one by one.
    let beyond = serde_json::json!([[4095, 2]]);
    for (member, wrong) in [
        ("block", 1.into()),
        ("inputs", u64::MAX.into()),
        ("asked", beyond),
        ("kernel", "f64.fadd".into()),
    ] {
        let mut value = value.clone();
        value["devices"][0]["kernels"][0][member] = wrong;
        std::fs::write(&path, value.to_string()).unwrap();
        assert!(load(&path).is_err(), "{member}");
    }
    for member in ["inputs", "judged", "accepted", "deviating", "vacuous"] {
        let mut value = value.clone();
        value["devices"][0]["kernels"][0]["verified"][member] = u64::MAX.into();
        std::fs::write(&path, value.to_string()).unwrap();
        assert!(load(&path).unwrap_err().to_string().contains("edited by hand"), "{member}");
    }
    std::fs::write(&path, text.replace(SCHEMA, "fpprobe-sweep/2")).unwrap();
    assert!(load(&path).unwrap_err().to_string().contains("fpprobe-sweep/2"));
}

#[test]
fn what_was_found_is_shown_and_nothing_that_a_driver_said_is_obeyed() {
    let sweep = sweep();
    let text = rendered(&sweep, "text");
    assert!(!text.contains('\u{1b}'), "{text}");
    // Lines are wrapped.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let deviating = sweep.devices[0].kernels[0].verified.as_ref().unwrap().deviating;
    assert!(deviating > 4000, "{deviating}");
    for part in [
        "of 4,096 judged inputs deviate",
        "3f80000",
        "2 inputs found to have changed",
        "those of 2 blocks were not found",
        "0030 0001: 3c00 -> 3c01",
        "unknown -> 3c01",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let page = rendered(&sweep, "html");
    assert!(page.contains("<figure><svg") && page.contains("0030 0001: 3c00"), "{page}");
    for hostile in ["\u{1b}", "<script>", "\u{202e}"] {
        assert!(!page.contains(hostile), "{hostile:?}");
    }
}

#[test]
fn inputs_of_which_nothing_is_demanded_are_distinguished_with_the_domain_that_is_judged() {
    let profile = profile::built_in("vulkan").unwrap().unwrap();
    let verifier = Verifier::new(&fixture::kernel("f32.sin"), &[profile]).unwrap();
    // Sines from 0 on and around pi, beyond which Vulkan demands nothing.
    let mut statistics = SweepStatistics::default();
    for first in [0_u32, 0x4049_0000] {
        let sine = |input: u32| (f64::from(f32::from_bits(input)).sin() as f32).to_bits();
        let results: Vec<u32> = (first..first + 0x1_0000).map(sine).collect();
        verifier.block(first.into(), &results, &mut statistics);
    }
    let judged = 0x1_0000 + 0xfdb;
    assert_eq!(
        (statistics.inputs, statistics.judged, statistics.accepted),
        (0x2_0000, judged, judged)
    );
    assert_eq!(
        (statistics.deviating, statistics.vacuous, statistics.contradiction()),
        (0, 0x2_0000 - judged, None)
    );
    let mut swept = sweep();
    swept.devices[0].kernels.truncate(1);
    let kernel = &mut swept.devices[0].kernels[0];
    (kernel.kernel, kernel.measured, kernel.verified) =
        ("f32.sin".to_owned(), [0].into_iter().collect(), Some(statistics));
    let value: Value = serde_json::from_str(&rendered(&swept, "json")).unwrap();
    let schema = fpprobe_reports::DOCUMENTS.iter().find(|one| one.id == SCHEMA).unwrap().schema;
    assert_eq!(check(&schema(), &value), Vec::<String>::new());
    for name in ["text", "html"] {
        let text = rendered(&swept, name).split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "every rule accepts every result of 69,595 judged inputs; any result is accepted of 61,477 inputs (vacuous)",
            "judged: 0 to ffff (0 to 9.1834e-41 (subnormal)); 40490000 to 40490fda (3.140625 to 3.1415925)",
        ] {
            assert!(text.contains(part), "{part} is not in {name}:\n{text}");
        }
    }
}

/// Parts of several hosts.
const ACROSS: MergeOptions = MergeOptions { across_hosts: true, repeats: false };

/// Digests of the blocks that were not judged.
fn digests(sweep: &Sweep) -> Fingerprint {
    let device = &sweep.devices[0];
    let kernels = device.kernels.iter().filter(|kernel| kernel.verified.is_none());
    let print = |kernel: &SweptKernel| {
        let who = FingerprintDevice::from(&device.identity);
        let mut print = Print::new(who, domain(&kernel.kernel));
        print.bundles = kernel.measured.iter().map(|block| (block, [block as u32; 3])).collect();
        print
    };
    Fingerprint { normalise_nan: false, prints: kernels.map(print).collect() }
}

fn together(parts: Vec<(Sweep, Fingerprint)>) -> Result<(Sweep, Fingerprint), MergeError> {
    merge(parts.into_iter().map(Ok), MergeOptions::default())
}

#[test]
fn parts_of_equal_devices_in_several_hosts_go_together_if_that_is_requested() {
    let part = |host: &str, block: u64| {
        let mut sweep = sweep();
        sweep.host.id = host.to_owned();
        let device = &mut sweep.devices[0];
        device.identity.key = format!("key of {host}");
        device.identity.device_uuid = format!("uuid of {host}");
        for kernel in &mut device.kernels {
            (kernel.measured, kernel.changes) = ([block].into_iter().collect(), None);
        }
        let digests = digests(&sweep);
        (sweep, digests)
    };
    let parts = || ["a", "b", "a"].into_iter().zip(0..).map(|(host, block)| part(host, block));
    assert!(matches!(together(parts().collect()), Err(MergeError::Differ { part: 2, .. })));
    let (whole, _) = merge(parts().map(Ok::<_, MergeError>), ACROSS).unwrap();
    assert_eq!(whole.host.label, "several hosts");
    assert_eq!(whole.devices[0].kernels[1].measured.ranges(), [[0, 3]]);
    let other = parts().map(|(mut sweep, prints)| {
        sweep.devices[0].identity.driver.info.push_str(&sweep.host.id);
        Ok::<_, MergeError>((sweep, prints))
    });
    assert_eq!(
        merge(other, ACROSS).map(|_| ()),
        Err(MergeError::Differ { part: 2, what: "devices" })
    );
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let part = |change: fn(&mut Sweep)| {
        let mut sweep = sweep();
        sweep.devices[0]
            .kernels
            .iter_mut()
            .for_each(|kernel| kernel.measured = [4000].into_iter().collect());
        change(&mut sweep);
        let digests = digests(&sweep);
        (sweep, digests)
    };
    let whole = || (sweep(), digests(&sweep()));
    let merged = |change| together(vec![whole(), part(change)]).map(|_| ());
    let what = |change| match merged(change) {
        Err(MergeError::Differ { part: 2, what }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(what(|sweep| sweep.program.version = "1".into()), "programs");
    assert!(what(|sweep| sweep.host.id = "1".into()).starts_with("machines"));
    assert_eq!(what(|sweep| sweep.normalise_nan = true), "options");
    assert_eq!(what(|sweep| sweep.devices[0].identity.key = "1".into()), "devices");
    assert_eq!(what(|sweep| sweep.devices[0].kernels.reverse()), "kernels");
    assert!(
        matches!(merged(|_| {}), Err(MergeError::Twice { part: 2, block: 4000, .. })),
        "f16.fadd was asked whole"
    );
    assert_eq!(together(Vec::new()), Err(MergeError::Nothing));
}

#[test]
fn repeated_parts_agree_or_are_named() {
    let part = |blocks: std::ops::Range<u64>, judged: bool| {
        let mut sweep = sweep();
        sweep.devices[0].kernels.remove(usize::from(judged));
        let kernel = &mut sweep.devices[0].kernels[0];
        (kernel.measured, kernel.changes) = (blocks.collect(), None);
        let digests = digests(&sweep);
        (sweep, digests)
    };
    let repeats = MergeOptions { across_hosts: false, repeats: true };
    let merged = |parts: Vec<(Sweep, Fingerprint)>| {
        merge(parts.into_iter().map(Ok::<_, MergeError>), repeats)
    };
    // A shard that did not end, then all of it.
    let (whole, _) = merged(vec![part(0..9, false), part(0..4096, false)]).unwrap();
    assert_eq!(whole.devices[0].kernels[0].measured.ranges(), [[0, 4096]]);
    assert!(whole.devices[0].kernels[0].incomplete.is_empty());
    let mut other = part(5..7, false);
    other.1.prints[0].bundles.insert(6, [1, 2, 3]);
    let error = merged(vec![part(0..9, false), other]).unwrap_err();
    assert_eq!((error.part(), error.to_string().contains("block 6 of f16.fadd")), (Some(2), true));
    // Statistics count once.
    let inputs = |merged: &Sweep| merged.devices[0].kernels[0].verified.as_ref().unwrap().inputs;
    let (once, _) = merged(vec![part(0..9, true), part(2..4, true)]).unwrap();
    assert_eq!(inputs(&once), inputs(&part(0..9, true).0));
    let beyond = merged(vec![part(0..9, true), part(8..10, true)]).unwrap_err();
    assert!(matches!(beyond, MergeError::Twice { part: 2, block: 8, .. }), "{beyond}");
    // Digests that are missing, or of another part.
    let mut bare = part(5..7, false);
    bare.1 = part(5..6, false).1;
    let error = merged(vec![bare]).unwrap_err();
    assert!(matches!(error, MergeError::Unfounded { part: 1, .. }), "{error}");
}

#[test]
fn a_fingerprint_becomes_whole_by_merging_and_gets_its_root() {
    let who = FingerprintDevice::from(&sweep().devices[0].identity);
    let part = |blocks: std::ops::Range<u64>| {
        let mut sweep = sweep();
        let kernel = &mut sweep.devices[0].kernels[1];
        (kernel.measured, kernel.changes) = (blocks.clone().collect(), None);
        sweep.devices[0].kernels.remove(0);
        let mut print = Print::new(who.clone(), domain("f16.fadd"));
        print.bundles = blocks.map(|block| (block, [block as u32; 3])).collect();
        (sweep, Fingerprint { normalise_nan: false, prints: vec![print] })
    };
    let (sweep, fingerprint) = together(vec![part(2000..4096), part(0..2000)]).unwrap();
    assert_eq!(fingerprint, part(0..4096).1);
    assert_eq!(sweep.devices[0].kernels[0].root, fingerprint.prints[0].root(false));
    assert_eq!(together(vec![part(0..10)]).unwrap().0.devices[0].kernels[0].root, None);
}

#[test]
fn thousands_of_shards_of_a_vast_domain_merge_one_by_one() {
    const SHARDS: u64 = 4096;
    let fma = Domain::vast(&fixture::kernel("f16.fma")).unwrap();
    let (each, bundle) = (fma.bundles() / SHARDS, fma.bundle());
    let template = sweep();
    let who = FingerprintDevice::from(&template.devices[0].identity);
    let part = |shard: u64| {
        let mut sweep = template.clone();
        let mut kernel = SweptKernel::new(&fma);
        let bundles = shard * each..(shard + 1) * each;
        kernel.measured = bundles.clone().collect::<Blocks>().of_bundles(bundle);
        sweep.devices[0].kernels = vec![kernel];
        let mut print = Print::new(who.clone(), fma.clone());
        print.bundles = bundles.map(|bundle| (bundle, [bundle as u32, 1, 2])).collect();
        (sweep, Fingerprint { normalise_nan: false, prints: vec![print] })
    };
    // A part is made when the one before has been added.
    let parts = (0..SHARDS).rev().map(|shard| Ok::<_, MergeError>(part(shard)));
    let (whole, fingerprint) = merge(parts, MergeOptions::default()).unwrap();
    let [kernel] = &whole.devices[0].kernels[..] else { panic!("{:?}", whole.devices[0].kernels) };
    assert_eq!((kernel.measured.ranges(), kernel.share()), (&[[0, fma.blocks()]][..], 1.0));
    let print = &fingerprint.prints[0];
    assert_eq!(kernel.root, print.root(false));
    assert!(kernel.root.is_some() && print.bundles[&77] == [77, 1, 2]);
    assert_eq!(Fingerprint::unpack(&fingerprint.pack().unwrap()).unwrap(), fingerprint);
}

#[test]
fn changes_are_counted_beyond_those_that_are_listed() {
    let sqrt = domain("f32.sqrt");
    let mut changes = Changes::new(
        FingerprintDevice::from(&sweep().devices[0].identity),
        Resolution::Measured,
        4096,
        [0].into_iter().collect(),
    );
    (0..6000).for_each(|place| changes.add(&sqrt, 2 * place, Some(&[1]), &[2]));
    assert_eq!(
        (changes.inputs, changes.list.len(), changes.runs.len(), changes.left_out()),
        (6000, 1000, 5096, 904)
    );
    let last: &ChangedInput = changes.list.last().unwrap();
    assert_eq!(last.number, 1998);
}

#[test]
fn whole_blocks_that_changed_are_one_range() {
    const BLOCK: u64 = 1 << 20;
    let sqrt = domain("f32.sqrt");
    let mut changes = Changes::new(
        FingerprintDevice::from(&sweep().devices[0].identity),
        Resolution::Measured,
        4096,
        (0..4096).collect(),
    );
    // As many runs as there are blocks, and a thousand others.
    changes.runs = (1..4096).map(|block| [block * BLOCK, BLOCK]).collect();
    changes.inputs = 4095 * BLOCK;
    assert_eq!((changes.ranges(), changes.left_out()), (vec![[BLOCK, 4095 * BLOCK]], 0));
    (changes.inputs, changes.runs) = (0, Vec::new());
    (0..1000).for_each(|place| changes.add(&sqrt, 2 * place, Some(&[1]), &[2]));
    changes.runs.extend((1..4096).map(|block| [block * BLOCK, BLOCK]));
    changes.inputs += 4095 * BLOCK;
    assert_eq!((changes.ranges().len(), changes.left_out()), (1001, 0));
}
