//! Whether to colour, and the few colours there are.

use std::io::IsTerminal as _;

use crate::config::When;

/// Whether standard output is to be coloured: the setting, then `NO_COLOR`, `CLICOLOR_FORCE`, then
/// the terminal.
pub fn on_stdout(when: When) -> bool {
    let set =
        |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
        When::Auto if set("CLICOLOR_FORCE") => true,
        When::Auto => {
            std::io::stdout().is_terminal()
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}
