//! Words of statements: numbers and bytes.

/// A number up to `most`.
pub(crate) fn number(text: &str, most: u64) -> Result<u64, String> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value
        .ok()
        .filter(|value| *value <= most)
        .ok_or_else(|| format!("`{text}` is no number from 0 to {most}"))
}

/// The bytes of a text with escapes.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b's') => b' ',
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'0') => 0,
                Some(b'e') => 0x1b,
                Some(b'\\') => b'\\',
                Some(b'x') => {
                    let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                    match (digit(), digit()) {
                        (Some(high), Some(low)) => (high << 4 | low) as u8,
                        _ => return Err(format!("`{text}`: two hex digits follow \\x")),
                    }
                }
                _ => {
                    return Err(format!(
                        "`{text}`: \\ begins one of \\s \\n \\t \\r \\0 \\e \\\\ \\xNN"
                    ));
                }
            },
            byte => byte,
        });
    }
    Ok(bytes)
}

/// A number from 1 on.
pub(crate) fn positive(text: &str) -> Result<u64, String> {
    number(text, u64::MAX).and_then(|value| {
        if value == 0 { Err("counting begins at 1".to_owned()) } else { Ok(value) }
    })
}
