//! Cooperative matrices (`SPV_KHR_cooperative_matrix`): the unit that multiplies them, as a key of
//! a kernel's id.
//!
//! A unit is what `VkCooperativeMatrixPropertiesKHR` describes: the product of A, M x K, and B, K x
//! N, plus C, M x N. A case of a kernel is one element of that: a row of A, a column of B, an
//! element of C. The module puts the cases side by side, one on each place of the diagonal.

use std::fmt;
use std::str::FromStr;

use crate::error::ParseError;
use crate::format::Format;

/// Bytes between lines of a matrix in memory: whatever has been aligned stays so.
const GAP: u32 = 16;
/// Largest M, N and K: units of the devices known today have at most 128 (K of 8-bit integers).
const LARGEST: u32 = 256;

/// Type of the elements of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are the formats'")]
pub enum MatrixComponent {
    F16,
    Bf16,
    E4m3,
    E5m2,
    F32,
    I8,
    U8,
    I32,
    U32,
}

/// What a matrix is for (SPIR-V: Cooperative Matrix Use).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MatrixUse {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// What is added, and the result.
    Accumulator,
}

/// A unit that multiplies matrices, but for the type of its result, which is the kernel's format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MatrixUnit {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A and rows of B.
    pub k: u32,
    /// Elements of A.
    pub a: MatrixComponent,
    /// Elements of B.
    pub b: MatrixComponent,
    /// Elements of C.
    pub c: MatrixComponent,
    /// Whether sums of integers saturate.
    pub saturating: bool,
}

impl MatrixComponent {
    const ALL: [MatrixComponent; 9] = [
        MatrixComponent::F16,
        MatrixComponent::Bf16,
        MatrixComponent::E4m3,
        MatrixComponent::E5m2,
        MatrixComponent::F32,
        MatrixComponent::I8,
        MatrixComponent::U8,
        MatrixComponent::I32,
        MatrixComponent::U32,
    ];

    /// Its name in kernel ids.
    pub const fn name(self) -> &'static str {
        match self {
            MatrixComponent::F16 => "f16",
            MatrixComponent::Bf16 => "bf16",
            MatrixComponent::E4m3 => "e4m3",
            MatrixComponent::E5m2 => "e5m2",
            MatrixComponent::F32 => "f32",
            MatrixComponent::I8 => "i8",
            MatrixComponent::U8 => "u8",
            MatrixComponent::I32 => "i32",
            MatrixComponent::U32 => "u32",
        }
    }

    /// The component of this name.
    pub fn find(name: &str) -> Option<MatrixComponent> {
        MatrixComponent::ALL.into_iter().find(|component| component.name() == name)
    }

    /// The format that its values have in cases: of 8 bits, integers of 32.
    pub const fn format(self) -> Format {
        match self {
            MatrixComponent::F16 => Format::F16,
            MatrixComponent::Bf16 => Format::Bf16,
            MatrixComponent::E4m3 => Format::E4m3,
            MatrixComponent::E5m2 => Format::E5m2,
            MatrixComponent::F32 => Format::F32,
            MatrixComponent::I8 | MatrixComponent::I32 => Format::I32,
            MatrixComponent::U8 | MatrixComponent::U32 => Format::U32,
        }
    }

    /// Bytes of an element.
    pub const fn bytes(self) -> u32 {
        match self {
            MatrixComponent::F16 | MatrixComponent::Bf16 => 2,
            MatrixComponent::E4m3
            | MatrixComponent::E5m2
            | MatrixComponent::I8
            | MatrixComponent::U8 => 1,
            MatrixComponent::F32 | MatrixComponent::I32 | MatrixComponent::U32 => 4,
        }
    }

    /// Whether it is an integer with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, MatrixComponent::I8 | MatrixComponent::I32)
    }

    /// Elements between lines in memory.
    pub(crate) const fn gap(self) -> u32 {
        GAP / self.bytes()
    }

    /// An integer as the unit gets it: of 8 bits, the lowest of the value, extended.
    pub const fn integer(self, bits: u64) -> i64 {
        match self {
            MatrixComponent::I8 => bits as u8 as i8 as i64,
            MatrixComponent::U8 => bits as u8 as i64,
            MatrixComponent::I32 => bits as u32 as i32 as i64,
            _ => bits as u32 as i64,
        }
    }
}

impl MatrixUnit {
    /// Elements of a matrix of this use.
    pub const fn component(&self, part: MatrixUse) -> MatrixComponent {
        match part {
            MatrixUse::A => self.a,
            MatrixUse::B => self.b,
            MatrixUse::Accumulator => self.c,
        }
    }

    /// Rows and columns of a matrix of this use.
    pub const fn size(&self, part: MatrixUse) -> (u32, u32) {
        match part {
            MatrixUse::A => (self.m, self.k),
            MatrixUse::B => (self.k, self.n),
            MatrixUse::Accumulator => (self.m, self.n),
        }
    }

    /// Lines of a matrix of this use, and elements of each: rows, of B columns.
    pub(crate) const fn lines(&self, part: MatrixUse) -> (u32, u32) {
        let (rows, columns) = self.size(part);
        if matches!(part, MatrixUse::B) { (columns, rows) } else { (rows, columns) }
    }

    /// Whether it has elements of 8 bits.
    pub(crate) fn has_bytes(&self) -> bool {
        [self.a, self.b, self.c].iter().any(|component| component.bytes() == 1)
    }
}

/// The end of a unit whose sums saturate.
pub(crate) const SATURATING: &str = "saturating";

impl fmt::Display for MatrixUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = [self.m, self.n, self.k].map(|size| size.to_string()).join("x");
        let components = [self.a, self.b, self.c].map(MatrixComponent::name).join("-");
        write!(f, "{size}-{components}")?;
        if self.saturating { write!(f, "-{SATURATING}") } else { Ok(()) }
    }
}

impl FromStr for MatrixUnit {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let form = || ParseError::Undefined {
            kernel: format!("matrix={text}"),
            reason: format!(
                "expected MxNxK-A-B-C, sizes up to {LARGEST}, for example 16x16x16-f16-f16-f32"
            ),
        };
        let (own, saturating) = match text.split_once(&format!("-{SATURATING}")) {
            Some((own, "")) => (own, true),
            Some(_) => return Err(form()),
            None => (text, false),
        };
        let [size, left, right, added] = own.split('-').collect::<Vec<_>>()[..] else {
            return Err(form());
        };
        let sizes: Vec<u32> = size.split('x').filter_map(|size| size.parse().ok()).collect();
        let [rows, columns, inner] = sizes[..] else { return Err(form()) };
        let component = |name| {
            let known = MatrixComponent::ALL.map(MatrixComponent::name);
            MatrixComponent::find(name)
                .ok_or_else(|| ParseError::unknown("element of a matrix", name, known))
        };
        let (a, b, c) = (component(left)?, component(right)?, component(added)?);
        let unit = MatrixUnit { m: rows, n: columns, k: inner, a, b, c, saturating };
        let fits =
            sizes.iter().all(|size| (1..=LARGEST).contains(size)) && size.split('x').count() == 3;
        if fits && unit.to_string() == text { Ok(unit) } else { Err(form()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_print_and_parse_and_others_are_refused() {
        for text in ["8x8x8-f16-f16-f32", "16x16x32-i8-u8-i32-saturating", "128x256x64-f32-f32-f32"]
        {
            assert_eq!(text.parse::<MatrixUnit>().unwrap().to_string(), text);
        }
        for text in [
            "8x8-f16-f16-f32",
            "8x8x0-f16-f16-f32",
            "8x8x8-f16-f16",
            "08x8x8-f16-f16-f32",
            "8x8x8-f16-f16-f32-x",
        ] {
            assert!(text.parse::<MatrixUnit>().is_err(), "{text}");
        }
        let error = "8x8x8-f61-f16-f32".parse::<MatrixUnit>().unwrap_err();
        assert!(error.to_string().contains("did you mean"), "{error}");
    }
}
