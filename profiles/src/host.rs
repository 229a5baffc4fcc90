//! Whether this process's floating-point unit is in the state that the reference functions assume.

use std::hint::black_box;

/// Whether the host rounds to nearest even and keeps subnormals (no FTZ, no DAZ), as a process does
/// that has loaded no driver. core-math computes on the host's unit and proves its results for that
/// state alone.
pub fn is_sound() -> bool {
    let tiny = black_box(f64::from_bits(1));
    let half_ulp = black_box(f64::EPSILON / 2.0);
    let kept = black_box(tiny + tiny).to_bits() == 2
        && black_box(f64::MIN_POSITIVE / 2.0).to_bits() == 1 << 51;
    // Two ties and what lies next to them tell nearest even from every other direction, for either
    // sign.
    let rounds = |sign: f64| {
        let one = black_box(sign);
        let above = black_box(sign * (1.0 + f64::EPSILON));
        let next = sign * (1.0 + 2.0 * f64::EPSILON);
        (one + sign * half_ulp).to_bits() == one.to_bits()
            && (above + sign * half_ulp).to_bits() == next.to_bits()
    };
    kept && rounds(1.0) && rounds(-1.0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_test_process_is_sound() {
        assert!(super::is_sound());
    }
}
