//! What is accepted as a depth that the pipeline clamps to the range of its viewport.

use fpprobe_profiles::oracle::Signature;
use fpprobe_profiles::profile;
use fpprobe_spirv::Kernel;

/// Whether a texel is accepted for a depth.
fn accepts(format: &str, depth: f32, texel: u64) -> bool {
    let vulkan = profile::built_in("vulkan").unwrap().unwrap();
    let kernel: Kernel = format!("{format}.depth_clamp:route=attachment").parse().unwrap();
    let (rule, part) = vulkan.rules_for(&kernel).next().unwrap();
    assert_eq!(rule.id, "V-depth-clamp");
    let case = [u64::from(depth.to_bits())];
    Signature::new(&kernel).accepted(&case, &part.demand).contains(&[texel])
}

#[test]
fn depths_beyond_the_range_are_its_ends() {
    for (depth, clamped) in
        [(-1.0, 0.0), (-1e-3, 0.0), (1.5, 1.0), (f32::MAX, 1.0), (0.3, 0.3), (1.0, 1.0)]
    {
        let bits = |value: f32| u64::from(value.to_bits());
        assert!(accepts("d32f", depth, bits(clamped)), "{depth}");
        assert!(!accepts("d32f", depth, bits(clamped) + 1), "{depth}");
        assert!(clamped == depth || !accepts("d32f", depth, bits(depth)), "{depth}");
    }
    for (depth, codes) in
        [(-1.0, [0, 0]), (2.0, [65535, 65535]), (0.25, [16383, 16384]), (1.0, [65535, 65535])]
    {
        for code in [0, 1, 16382, 16383, 16384, 16385, 65534, 65535] {
            assert_eq!(accepts("d16unorm", depth, code), codes.contains(&code), "{depth} {code}");
        }
    }
}
