//! Hostile text in every place where a report has text, through every renderer: it is shown, never
//! obeyed.

use fpprobe_reports::Report;
use fpprobe_reports::escape::is_hidden;
use fpprobe_reports::render::{Detail, FORMATS, Render as _, Style, Text};
use serde_json::{Map, Value};

use crate::fixture::{self, render};

/// What has no meaning anywhere.
const HARMLESS: &str = "harmless";

/// Text that means something to a terminal, a browser, a spreadsheet, a Markdown reader, a template
/// or a shell.
const HOSTILE: [&str; 20] = [
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m",
    "\u{202e}evil\u{2066}\u{200b}\u{feff}\u{e0041}\u{3164}\u{85}\u{2028}",
    "two\r\nlines\ttab\u{b}\u{c}",
    "</td></tr></table><script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "]]></style></title><!-- -->&lt;b&gt;",
    "=cmd|' /C calc'!A0",
    "+1+1;=1+1",
    "-2+3,@SUM(A1)",
    "@team #1 www.example.org https://example.org a@example.org",
    "\t=1+1",
    " \u{a0}＝1+1",
    "\"=1+1\",\"x",
    "a|b||c\\|d\\",
    "``` `` ` code ```` <details>",
    "</summary></details>\n# heading\n- [x] item\n1. one\n> quote",
    "[link](javascript:alert(1)) ![image](x) **bold** _it_ ~~no~~ $x$",
    "$(reboot) `reboot`;rm -rf ~ # {bar:30} {} {{",
    "\u{0}\u{1}\u{7f}\u{80}",
];

#[test]
fn a_name_without_end_is_not_printed_whole() {
    let mut report = fixture::report();
    report.devices[0].identity.name = "x".repeat(9 << 20);
    let text = render("text", &report);
    assert!(text.contains("xx…") && text.contains("(9,437,184 characters)"), "{text}");
    assert!(text.len() < 100_000, "{} bytes", text.len());
}

/// Members whose text is checked when a report is read.
const CHECKED: [&str; 11] = [
    "area",
    "schema",
    "outcome",
    "verdict",
    "class",
    "level",
    "started",
    "finished",
    "recompiled",
    "severity",
    "scope",
];

/// The fixture with this text wherever it has text, names of members that drivers choose included.
fn report(text: &str) -> Report {
    serde_json::from_value(replaced("", serde_json::to_value(fixture::report()).unwrap(), text))
        .unwrap()
}

fn replaced(key: &str, value: Value, text: &str) -> Value {
    match value {
        // Names of a closed set, and times: a report with other ones is refused.
        Value::String(name) if CHECKED.contains(&key) => Value::String(name),
        Value::String(_) => Value::String(text.to_owned()),
        Value::Array(list) => list.into_iter().map(|value| replaced(key, value, text)).collect(),
        Value::Object(members) => {
            let free = ["flags", "inputs"].contains(&key);
            let name =
                |index: usize, name: String| if free { format!("{text}{index}") } else { name };
            let replaced = |(index, (key, value))| {
                (name(index, String::clone(&key)), self::replaced(&key, value, text))
            };
            Value::Object(members.into_iter().enumerate().map(replaced).collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// For each hostile text: the text, the report full of it in this format, and the same with
/// harmless text.
fn pages(format: &str) -> impl Iterator<Item = (&'static str, String, String)> {
    HOSTILE
        .into_iter()
        .map(move |text| (text, render(format, &report(text)), render(format, &report(HARMLESS))))
}

#[test]
fn nothing_is_hidden_in_any_format() {
    for format in FORMATS.iter().filter(|format| format.renderer.is_text()) {
        for (text, page, _) in pages(format.name) {
            let own_ends = if format.name == "csv" { page.replace("\r\n", "\n") } else { page };
            let hidden: Vec<char> =
                own_ends.chars().filter(|c| *c != '\n' && is_hidden(*c)).collect();
            assert!(hidden.is_empty(), "{} of {text:?} holds {hidden:?}", format.name);
        }
    }
}

#[test]
fn colours_are_the_only_escapes_on_a_terminal() {
    for text in HOSTILE {
        let mut out = Vec::new();
        Text { style: Style { colour: true, width: 80, detail: Detail::All } }
            .render(&report(text), &mut out)
            .unwrap();
        let page = String::from_utf8(out).unwrap();
        for rest in page.split('\u{1b}').skip(1) {
            let colour = rest
                .strip_prefix('[')
                .and_then(|rest| rest.split_once('m'))
                .map_or("", |(colour, _)| colour);
            assert!(
                ["0", "1", "2", "32", "33", "36", "1;31"].contains(&colour),
                "{text:?}: {colour:?}"
            );
        }
    }
}

/// Every tag of a page with the names of its attributes.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let (mut tag, mut quoted, mut end) = (String::new(), false, after.len());
        for (at, c) in after.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '>' if !quoted => {
                    end = at;
                    break;
                }
                c if !quoted => tag.push(c),
                _ => {}
            }
        }
        tags.push(tag);
        rest = &after[end..];
    }
    tags
}

#[test]
fn a_page_has_the_same_tags_and_attributes_whatever_the_text() {
    for (text, page, harmless) in pages("html") {
        let (tags, harmless) = (tags(&page), tags(&harmless));
        let other = tags.iter().zip(&harmless).find(|(tag, expected)| tag != expected);
        assert!(other.is_none() && tags.len() == harmless.len(), "{text:?}: {other:?}");
    }
}

/// The fields of each row (RFC 4180).
fn rows(table: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = table.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    assert!(!quoted && row.is_empty() && field.is_empty());
    rows
}

#[test]
fn a_table_has_the_same_cells_and_no_formula_whatever_the_text() {
    for (text, table, harmless) in pages("csv") {
        let (rows, harmless) = (rows(&table), rows(&harmless));
        assert!(
            rows.iter().all(|row| row.len() == harmless[0].len()) && rows.len() == harmless.len(),
            "{text:?}"
        );
        // Spreadsheets of some countries cut at semicolons, quoted or not.
        let cells =
            rows.iter().flatten().map(|cell| cell.trim_start()).chain(table.split(['\n', ';']));
        for cell in cells {
            let first = cell.chars().next();
            assert!(!first.is_some_and(|c| "=+-@＝＋－＠".contains(c)), "{text:?}: {cell:?}");
        }
    }
}

/// A Markdown page without what stands as code, which nothing inside can end: fences, then spans.
fn outside_code(page: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut prose = String::new();
    for line in page.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") && line.ends_with("sh") => {
                fence = line.strip_suffix("sh");
            }
            None => prose = prose + &without_spans(line) + "\n",
        }
    }
    assert_eq!(fence, None);
    prose
}

fn without_spans(line: &str) -> String {
    let mut prose = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        if rest[..at].ends_with('\\') {
            prose.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        prose.push_str(&rest[..at]);
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let inside = &rest[at + ticks..];
        let end = inside
            .match_indices(&"`".repeat(ticks))
            .map(|(end, _)| end)
            .find(|end| !inside[..*end].ends_with('`') && !inside[end + ticks..].starts_with('`'));
        rest = &inside[end.expect("a span ends") + ticks..];
    }
    prose + rest
}

/// Without what a backslash takes the meaning from.
fn unescaped(prose: &str) -> String {
    let mut chars = prose.chars();
    let mut live = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => _ = chars.next(),
            c => live.push(c),
        }
    }
    live
}

#[test]
fn markdown_has_the_same_structure_whatever_the_text() {
    // An empty comment is how a mention is kept from being one.
    let structure = |page: &str| {
        let prose = unescaped(&outside_code(page)).replace("<!-- -->", "");
        (tags(&prose), prose.lines().map(|line| line.matches('|').count()).collect::<Vec<_>>())
    };
    for (text, page, harmless) in pages("md") {
        let (ours, expected) = (structure(&page), structure(&harmless));
        assert!(
            ours.0 == expected.0,
            "{text:?}: {:?}",
            ours.0.iter().zip(&expected.0).find(|(tag, expected)| tag != expected)
        );
        assert!(ours.1 == expected.1, "{text:?}: another table");
        let prose = unescaped(&outside_code(&page));
        for live in ["@team", "#1", "www.example", "://", "](", "**bold", "~~no", " $x"] {
            assert!(!prose.contains(live), "{text:?}: {live}");
        }
    }
}

#[test]
fn json_says_exactly_what_was_said() {
    for (text, page, _) in pages("json") {
        assert_eq!(serde_json::from_str::<Report>(&page).unwrap(), report(text));
    }
    for (text, lines, harmless) in pages("jsonl") {
        assert_eq!(lines.lines().count(), harmless.lines().count());
        for line in lines.lines() {
            let line: Map<String, Value> = serde_json::from_str(line).unwrap();
            if line["record"] == "device" {
                assert_eq!(line["name"], text);
            }
        }
    }
}
