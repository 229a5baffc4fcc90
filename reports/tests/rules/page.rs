//! Pages as Markdown: one for each id of a rule, and an index.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fpprobe_profiles::coverage::WrongResult;
use fpprobe_profiles::profile::Rule;
use fpprobe_profiles::{Profile, parallel};

use crate::example::{Findings, find};

/// How a citation begins, the document that it means, and how to find the place there.
type Document = (&'static str, &'static str, &'static str);

const DOCUMENTS: &[Document] = &[
    (
        "FPR l.",
        "[Floating-point rules (Direct3D 11 graphics)](https://learn.microsoft.com/windows/win32/direct3d11/floating-point-rules)",
        "the number is a line of the page's Markdown source: search the page for the quoted sentence",
    ),
    (
        "D3D11.3",
        "[Direct3D 11.3 Functional Specification](https://microsoft.github.io/DirectX-Specs/d3d/archive/D3D11_3_FunctionalSpec.htm)",
        "the section of that number",
    ),
    (
        "ASP l.",
        "[GL_ARB_shader_precision](https://registry.khronos.org/OpenGL/extensions/ARB/ARB_shader_precision.txt), an extension to OpenGL",
        "the number is a line of the text",
    ),
    (
        "EXT_packed_float",
        "[EXT_packed_float](https://registry.khronos.org/OpenGL/extensions/EXT/EXT_packed_float.txt), an extension to OpenGL",
        "the section of that number",
    ),
    ("GL 4.6", "OpenGL 4.6 (Core Profile) Specification", "the section of that number"),
    (
        "GLSL",
        "The OpenGL Shading Language, in the version that the citation names",
        "the section of that number",
    ),
    (
        "WGSL",
        "[WebGPU Shading Language](https://www.w3.org/TR/WGSL/)",
        "the section of that name, in a table the row of that name",
    ),
    (
        "[spirv]",
        "[SPIR-V Specification](https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html)",
        "the instruction",
    ),
    (
        "[glsl]",
        "[SPIR-V Extended Instructions for GLSL](https://registry.khronos.org/SPIR-V/specs/unified1/GLSL.std.450.html)",
        "the instruction",
    ),
    ("Khronos Data Format", "Khronos Data Format Specification", "the section of that name"),
];

/// What the profile `vulkan` cites without naming a document.
const VULKAN: Document = (
    "",
    "[Vulkan Specification](https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html)",
    "`env` is the section \"Precision and Operation of SPIR-V Instructions\" of the appendix \"Vulkan Environment for \
     SPIR-V\"; anything else is a chapter and its section, a structure or a command. Sentences are quoted from the \
     edition that `profiles/data/vulkan.toml` names; later ones may word them otherwise",
);

/// A rule with the profiles that have it.
struct Entry<'p> {
    rule: &'p Rule,
    profiles: Vec<&'p str>,
}

/// File names and texts.
pub fn pages(profiles: &[Profile]) -> BTreeMap<String, String> {
    let mut by_id: BTreeMap<&str, Vec<Entry<'_>>> = BTreeMap::new();
    for (profile, rule) in
        profiles.iter().flat_map(|profile| profile.rules.iter().map(move |rule| (profile, rule)))
    {
        let text = |rule: &Rule| [&rule.title, &rule.citation, &rule.note].map(String::clone);
        let entries = by_id.entry(&rule.id).or_default();
        match entries.iter_mut().find(|entry| text(entry.rule) == text(rule)) {
            Some(entry) => entry.profiles.push(&profile.id),
            None => entries.push(Entry { rule, profiles: vec![&profile.id] }),
        }
    }
    let by_id: Vec<(&str, Vec<Entry<'_>>)> = by_id.into_iter().collect();
    let texts = parallel::map(&by_id, |(id, entries)| page(id, entries));
    let mut pages: BTreeMap<String, String> =
        by_id.iter().zip(texts).map(|((id, _), text)| (format!("{id}.md"), text)).collect();
    pages.insert("README.md".to_owned(), index(profiles));
    pages
}

fn index(profiles: &[Profile]) -> String {
    let mut index = "# Rules\n\nGenerated from `profiles/data/` by `UPDATE=1 cargo test -p fpprobe-reports --test rules`; \
                     do not edit.\n\nEach rule has a page: what it requires, where that is written, to whom it matters, \
                     an example, and\nwhat devices do that break it. A rule of several profiles has one page. \
                     `fpprobe show RULE` shows\nits lanes and operations; [profiles.md](../profiles.md) describes \
                     the data.\n"
        .to_owned();
    for profile in profiles {
        let _ = write!(
            index,
            "\n## `{}`: {}\n\n| rule | requirement |\n|---|---|\n",
            profile.id, profile.title
        );
        for rule in &profile.rules {
            let _ =
                writeln!(index, "| [{0}]({0}.md) | {1} |", rule.id, rule.title.replace('|', "\\|"));
        }
    }
    index
}

fn page(id: &str, entries: &[Entry<'_>]) -> String {
    let mut page = format!(
        "# {id}\n\n[All rules](README.md). Generated from `profiles/data/`; do not edit.\n"
    );
    for entry in entries {
        section(&mut page, entry, &find(entry.rule));
    }
    page += "\n## Documents\n\n";
    let mut cited: Vec<&Document> = entries.iter().flat_map(documents).collect();
    cited.sort_by_key(|(name, ..)| *name);
    cited.dedup();
    for (name, title, place) in cited {
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("`{}`: ", name.trim_end_matches(" l."))
        };
        let _ = writeln!(page, "- {name}{title}: {place}.");
    }
    page
}

fn documents<'e>(entry: &'e Entry<'_>) -> impl Iterator<Item = &'static Document> + 'e {
    let vulkan = || entry.profiles.contains(&"vulkan").then_some(&VULKAN);
    entry.rule.citation.split("; ").filter_map(move |place| {
        DOCUMENTS.iter().find(|(name, ..)| place.starts_with(name)).or_else(vulkan)
    })
}

fn section(page: &mut String, entry: &Entry<'_>, findings: &Findings) {
    let rule = entry.rule;
    let _ = write!(page, "\n## {}\n\n", rule.title);
    let profiles: Vec<String> =
        entry.profiles.iter().map(|profile| format!("`{profile}`")).collect();
    let _ = writeln!(page, "- **Profiles**: {} ({})", profiles.join(", "), rule.level.name());
    let _ = writeln!(page, "- **Area**: {}", rule.area.name());
    let _ = writeln!(page, "- **Citation**: {}", rule.citation);
    for (name, text) in [("Note", &rule.note), ("Why it matters", &rule.matters)] {
        if !text.is_empty() {
            let _ = writeln!(page, "- **{name}**: {text}");
        }
    }
    if !rule.quote.is_empty() {
        let _ = write!(page, "\n> {}\n", rule.quote);
    }
    if let Some(example) = &findings.example {
        let _ = write!(page, "\n### Example\n\n`{}` of {}\n\n", example.kernel, example.operands);
        let _ = writeln!(page, "- Accepted: {}", example.accepted);
        for (result, kind) in &example.rejected {
            let _ =
                writeln!(page, "- Not accepted: {result}, from a device that {}", behaviour(*kind));
        }
        let _ = write!(page, "\n    fpprobe accepts {} {}\n", entry.profiles[0], example.arguments);
    }
    if findings.broken_by.is_empty() {
        *page += "\n### Broken by\n\nNo behaviour that is tried: the rule reports.\n";
        return;
    }
    *page += "\n### Broken by a device that\n\n";
    for kind in &findings.broken_by {
        let _ = writeln!(page, "- {}", behaviour(*kind));
    }
}

/// What a device does that gives this kind of wrong result.
fn behaviour(kind: WrongResult) -> &'static str {
    match kind {
        WrongResult::NextUp => "gives the next larger value",
        WrongResult::NextDown => "gives the next smaller value",
        WrongResult::OtherDirection => "rounds in the other direction",
        WrongResult::OtherZero => "gives the zero of the other sign",
        WrongResult::OtherSign => "gives the other sign",
        WrongResult::Flushed => "flushes subnormals",
        WrongResult::Unflushed => "keeps subnormals",
        WrongResult::OtherOperand => "returns the other operand",
        WrongResult::MaxForInf => "gives the largest finite value for an infinity",
        WrongResult::InfForMax => "gives an infinity for the largest finite value",
        WrongResult::NanForNumber => "gives a NaN for a number",
        WrongResult::NumberForNan => "gives zero for a NaN",
        WrongResult::OtherNan => "changes the bits of a NaN",
        WrongResult::OtherTruth => "gives the opposite truth value",
        WrongResult::OtherPart => "gives the result of another component or channel",
        WrongResult::OtherContraction => "rounds once instead of twice, or twice instead of once",
        WrongResult::TwoDirections => "rounds some lanes in another direction than others",
        WrongResult::TwoTreatments => "flushes subnormals on some lanes and keeps them on others",
        WrongResult::SwappedNeighbours => "gives a smaller result for a larger input",
        WrongResult::ChangedCode => "reads a code as the value of another",
        WrongResult::LeftOutCode => "never gives some code",
        WrongResult::JustOutside => "errs by more than is accepted",
    }
}
