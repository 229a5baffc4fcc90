//! What pages without scripts have in common: head, masthead and footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::STYLE;
use crate::model::Program;

/// A page without scripts; nothing is loaded.
pub struct Frame<'a> {
    /// The program that writes it.
    pub program: &'a Program,
    /// What the page is.
    pub title: &'a str,
    /// What it says, in one sentence.
    pub headline: &'a str,
    /// Below the headline: files, times.
    pub source: Markup,
    /// Where readers skip to, `changes`.
    pub subject: &'a str,
    /// What else there is to say at its end.
    pub foot: Markup,
}

impl Frame<'_> {
    /// The page around this.
    pub fn page(&self, main: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content={ (self.program.name) " " (self.program.version) };
                    title { (self.title) ": " (self.headline) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#main" { "Skip to the " (self.subject) }
                    header.masthead {
                        h1 { (self.title) }
                        p.lede { (self.headline) }
                        p.when { (self.source) }
                    }
                    main #main { (main) }
                    footer { p { "Written by " (self.program.name) " " (self.program.version) ". " (self.foot) } }
                }
            }
        }
    }
}

/// A table that a narrow screen shows a part of, and the keyboard moves.
pub fn scrolling(label: &str, table: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="group" aria-label=(label) { (table) } }
}
