//! The page loads nothing, runs nothing but its own script, and shows hostile text as text.

use sha2::{Digest, Sha256};

use crate::fixture::{self, render};

fn page() -> String {
    render("html", &fixture::report())
}

/// Keeps the page for looking at it in a browser.
#[test]
fn page_is_written() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    fpprobe_reports::save::save(&path, |out| out.write_all(page().as_bytes())).unwrap();
}

#[test]
fn hostile_text_is_text() {
    let page = page();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.contains("<script>alert"));
    assert!(!page.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'));
    assert!(page.contains("Ünïcödé 測試"));
    let attributes =
        page.split('<').filter(|tag| tag.contains("onerror=") || tag.contains("onload="));
    assert_eq!(attributes.count(), 0);
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = page();
    for loads in ["src=", "@import", "url(", "<link", "<iframe", "<img", "http://", "https://"] {
        assert!(!page.contains(loads), "{loads}");
    }
    assert!(page.contains("default-src 'none'"));
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn the_policy_names_the_script() {
    let page = page();
    let script =
        page.split_once("<script>").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    let digest = base64(&Sha256::digest(script.as_bytes()));
    assert!(
        page.contains(&format!("'sha256-{digest}'")),
        "SCRIPT_DIGEST in render/html.rs must be {digest}"
    );
}

#[test]
fn every_rule_and_every_link_is_there() {
    let report = fixture::report();
    let page = page();
    for rule in
        report.devices.iter().flat_map(|device| &device.profiles).flat_map(|profile| &profile.rules)
    {
        assert!(page.contains(&rule.id) && page.contains(&rule.citation));
    }
    for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert_eq!(page.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
    }
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len());
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            (0..3).fold(0, |word, index| word << 8 | u32::from(*chunk.get(index).unwrap_or(&0)));
        for index in 0..4 {
            let digit = char::from(DIGITS[(word >> (18 - 6 * index) & 63) as usize]);
            text.push(if index <= chunk.len() { digit } else { '=' });
        }
    }
    text
}
