//! The table of formats agrees with itself.

use super::*;

#[test]
fn channels_fill_a_texel_without_sharing_bits() {
    for format in Format::WRITTEN {
        let shared = format.channels().iter().any(|channel| channel.coding == Coding::Shared);
        let exponent = if shared { (1 << SHARED_EXPONENT.1) - 1 << SHARED_EXPONENT.0 } else { 0 };
        let filled = format.channels().iter().fold(exponent, |filled, channel| {
            let own = (1_u64 << channel.coding.bits()) - 1 << channel.shift;
            assert_eq!(filled & own, 0, "{format}");
            filled | own
        });
        assert_eq!(filled, format.mask(), "{format}");
        // Texels travel in a `u64`, and views of integers exist for these sizes.
        assert!([8, 16, 32, 64].contains(&format.bits()), "{format}");
    }
}

#[test]
fn names_are_unique_and_parse_back() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
        let same = Format::ALL
            .into_iter()
            .filter(|other| other.name() == format.name() || *other == format);
        assert_eq!(same.count(), 1, "{format}");
        let vulkan = |other: &&Format| other.vulkan() == format.vulkan();
        assert!(
            !format.is_packed() || Format::PACKED.iter().filter(vulkan).count() == 1,
            "{format}"
        );
    }
}

#[test]
fn the_type_of_a_float_tells_its_format() {
    for format in Format::FLOATS {
        assert_eq!(Format::of_float_type(format.bits(), format.float_encoding()), Some(*format));
    }
    // As wide as binary16, and another type.
    assert_eq!(Format::of_float_type(16, Some(FPEncoding::BFloat16KHR)), Some(Format::Bf16));
}

#[test]
fn a_depth_of_no_interest_is_below_one() {
    assert_eq!(Format::D32f.texel_mask(), 0x3f7f_ffff);
    assert_eq!(Format::D16unorm.texel_mask(), 0xffff);
    assert_eq!(Format::R32f.texel_mask(), 0xffff_ffff);
}
