//! Strings and lists as drivers hand them over, made safe to print and to keep.

use std::ffi::c_char;

use ash::vk;

use super::error::VulkanError;

/// No list of Vulkan is remotely this long; a driver that claims more is not followed.
const MOST: u32 = 4096;

/// A fixed-size character array up to its first NUL (or its end, where a driver forgot it), as
/// printable text.
pub(super) fn printable(chars: &[c_char]) -> String {
    #[expect(
        clippy::cast_sign_loss,
        reason = "c_char is a byte, signed or not as the platform likes"
    )]
    let bytes: Vec<u8> =
        chars.iter().map(|char| *char as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes)
        .chars()
        .flat_map(|char| {
            let escaped = char.is_control().then(|| char.escape_default());
            let plain = escaped.is_none().then_some(char);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// Vulkan's two-call idiom for lists ("Fundamentals", section "Return Codes", on `VK_INCOMPLETE`):
/// the list may grow between the calls, and a driver may answer with any count at all. `fetch` gets
/// a count and room for that many.
pub(super) fn list<T: Clone + Default>(
    call: &'static str,
    mut fetch: impl FnMut(&mut u32, *mut T) -> vk::Result,
) -> Result<Vec<T>, VulkanError> {
    let mut items = Vec::new();
    for _ in 0..4 {
        let mut count = 0;
        match fetch(&mut count, std::ptr::null_mut()) {
            vk::Result::SUCCESS | vk::Result::INCOMPLETE => {}
            code => return Err(VulkanError::result(call, code)),
        }
        let room = count.min(MOST);
        items = vec![T::default(); room as usize];
        let mut count = room;
        let code = fetch(&mut count, items.as_mut_ptr());
        items.truncate(count as usize);
        match code {
            vk::Result::INCOMPLETE if room < MOST => {}
            vk::Result::SUCCESS | vk::Result::INCOMPLETE => break,
            code => return Err(VulkanError::result(call, code)),
        }
    }
    Ok(items)
}

/// Lower-case hex, two digits per byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::cast_possible_wrap, reason = "see printable")]
    fn chars(bytes: &[u8]) -> Vec<c_char> {
        bytes.iter().map(|byte| *byte as c_char).collect()
    }

    #[test]
    fn any_bytes_become_printable_text() {
        assert_eq!(printable(&chars(b"llvmpipe\0garbage")), "llvmpipe");
        assert_eq!(printable(&chars(b"no end")), "no end");
        assert_eq!(printable(&chars(b"a\xffb\x1b[31m\n\0")), "a\u{fffd}b\\u{1b}[31m\\n");
        assert_eq!(printable(&[]), "");
    }

    /// A driver with `length` items that announces `announced`.
    fn function(announced: u32, length: u32) -> Vec<u32> {
        let mut written = Vec::new();
        let items = list("test", |count, data: *mut u32| {
            if data.is_null() {
                *count = announced;
                return vk::Result::SUCCESS;
            }
            let room = *count;
            *count = length.min(room);
            written.push(*count);
            if length > room { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
        });
        items.unwrap()
    }

    #[test]
    fn lists_are_bounded_and_end() {
        assert_eq!(function(3, 3).len(), 3);
        assert_eq!(function(0, 0).len(), 0);
        assert_eq!(function(5, 2).len(), 2, "a list that shrank");
        assert_eq!(function(2, 5).len(), 2, "a driver that never stops saying VK_INCOMPLETE");
        assert_eq!(function(u32::MAX, u32::MAX).len(), MOST as usize);
    }

    #[test]
    fn bytes_print_as_two_digits_each() {
        assert_eq!(hex(&[0, 0x0f, 0xa5]), "000fa5");
    }

    #[test]
    fn a_failing_list_names_its_call() {
        let error = list::<u32>("vkEnumerateThings", |_, _| vk::Result::ERROR_UNKNOWN).unwrap_err();
        assert_eq!(error.to_string(), "vkEnumerateThings failed with VK_ERROR_UNKNOWN");
    }
}
