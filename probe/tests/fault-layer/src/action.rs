//! What can happen in a call.

use crate::words::number;

/// Something that happens when a call is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The process gets this signal.
    Crash(i32),
    /// The driver ends the process with this status.
    Exit(i32),
    /// The call never returns; `deaf`: signals that ask the process to end are ignored.
    Hang {
        /// Whether polite signals are ignored.
        deaf: bool,
    },
    /// The call takes this many milliseconds longer.
    Sleep(u64),
    /// That many bytes on a stream of this descriptor.
    Flood {
        /// 1 or 2.
        stream: i32,
        /// Bytes.
        bytes: u64,
    },
    /// That many bytes of memory are taken and kept.
    Eat(u64),
    /// The call returns this `VkResult` without asking the driver.
    Return(i32),
}

const SIGNALS: [(&str, i32); 7] = [
    ("SIGSEGV", libc::SIGSEGV),
    ("SIGABRT", libc::SIGABRT),
    ("SIGBUS", libc::SIGBUS),
    ("SIGFPE", libc::SIGFPE),
    ("SIGILL", libc::SIGILL),
    ("SIGKILL", libc::SIGKILL),
    ("SIGTERM", libc::SIGTERM),
];

/// `VK_ERROR_DEVICE_LOST`.
pub const DEVICE_LOST: i32 = -4;
/// `VK_TIMEOUT`.
pub const TIMEOUT: i32 = 2;

/// Results ("Return Codes"); others are written as numbers.
const RESULTS: [(&str, i32); 21] = [
    ("VK_SUCCESS", 0),
    ("VK_NOT_READY", 1),
    ("VK_TIMEOUT", TIMEOUT),
    ("VK_INCOMPLETE", 5),
    ("VK_ERROR_OUT_OF_HOST_MEMORY", -1),
    ("VK_ERROR_OUT_OF_DEVICE_MEMORY", -2),
    ("VK_ERROR_INITIALIZATION_FAILED", -3),
    ("VK_ERROR_DEVICE_LOST", DEVICE_LOST),
    ("VK_ERROR_MEMORY_MAP_FAILED", -5),
    ("VK_ERROR_LAYER_NOT_PRESENT", -6),
    ("VK_ERROR_EXTENSION_NOT_PRESENT", -7),
    ("VK_ERROR_FEATURE_NOT_PRESENT", -8),
    ("VK_ERROR_INCOMPATIBLE_DRIVER", -9),
    ("VK_ERROR_TOO_MANY_OBJECTS", -10),
    ("VK_ERROR_FORMAT_NOT_SUPPORTED", -11),
    ("VK_ERROR_FRAGMENTED_POOL", -12),
    ("VK_ERROR_UNKNOWN", -13),
    ("VK_ERROR_OUT_OF_POOL_MEMORY", -1_000_069_000),
    ("VK_ERROR_INVALID_EXTERNAL_HANDLE", -1_000_072_003),
    ("VK_ERROR_INVALID_SHADER_NV", -1_000_012_000),
    ("VK_PIPELINE_COMPILE_REQUIRED", 1_000_297_000),
];

/// Words that begin an action.
pub const KINDS: [&str; 8] = ["crash", "exit", "hang", "deaf", "sleep", "flood", "eat", "return"];

/// An action from its words, the call left out.
pub fn parse(words: &[&str]) -> Result<Action, String> {
    Ok(match words {
        ["crash"] => Action::Crash(libc::SIGSEGV),
        ["crash", signal] => Action::Crash(named(&SIGNALS, signal, "signal")?),
        ["exit", status] => Action::Exit(number(status, u64::from(u8::MAX))? as i32),
        ["hang"] => Action::Hang { deaf: false },
        ["deaf"] => Action::Hang { deaf: true },
        ["sleep", milliseconds] => Action::Sleep(number(milliseconds, u64::from(u32::MAX))?),
        ["flood", stream, bytes] => {
            let stream = named(&[("stdout", 1), ("stderr", 2)], stream, "stream")?;
            Action::Flood { stream, bytes: number(bytes, u64::MAX)? }
        }
        ["eat", bytes] => Action::Eat(number(bytes, u64::from(u32::MAX))?),
        ["return", code] => {
            Action::Return(code.parse().or_else(|_| named(&RESULTS, code, "result"))?)
        }
        _ => return Err("this is not how such a statement is written".to_owned()),
    })
}

fn named(table: &[(&str, i32)], name: &str, what: &str) -> Result<i32, String> {
    let found = table.iter().find(|row| row.0 == name);
    found.map(|row| row.1).ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|row| row.0).collect();
        format!("`{name}` is no {what} known here: {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read() {
        assert_eq!(parse(&["crash"]), Ok(Action::Crash(11)));
        assert_eq!(parse(&["flood", "stderr", "100"]), Ok(Action::Flood { stream: 2, bytes: 100 }));
        assert_eq!(parse(&["return", "VK_ERROR_DEVICE_LOST"]), Ok(Action::Return(-4)));
        assert_eq!(parse(&["return", "-77"]), Ok(Action::Return(-77)));
        for wrong in [
            &["crash", "SIGWHAT"][..],
            &["exit"],
            &["exit", "300"],
            &["flood", "log", "1"],
            &["hang", "up"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
