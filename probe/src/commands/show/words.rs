//! Words that people look something up by, whatever spelling they know it in.

/// Names of languages, which say nothing of what is sought.
const LANGUAGES: [&str; 7] = ["glsl", "hlsl", "wgsl", "spirv", "spir", "d3d", "vulkan"];
/// Words with the one that descriptions use.
const SYNONYMS: [(&str, &str); 6] = [
    ("denorm", "subnormal"),
    ("denormal", "subnormal"),
    ("denormals", "subnormal"),
    ("r11g11b10", "b10g11r11"),
    ("r11g11b10f", "b10g11r11"),
    ("rgb9e5", "e5b9g9r9"),
];
/// Letters that a word and its plural, or another form of it, have in common at least.
const STEM: usize = 5;

/// What is sought.
pub(super) struct SoughtWords(Vec<String>);

impl SoughtWords {
    pub(super) fn new(text: &str) -> SoughtWords {
        let mut words = words(text);
        if words.iter().any(|word| !LANGUAGES.contains(&word.as_str())) {
            words.retain(|word| !LANGUAGES.contains(&word.as_str()));
        }
        for word in &mut words {
            if let Some((_, used)) = SYNONYMS.iter().find(|(known, _)| known == word) {
                *word = (*used).to_owned();
            }
        }
        SoughtWords(words)
    }

    /// How many of them a description has.
    pub(super) fn found_in(&self, description: &str) -> usize {
        let known = words(description);
        let is_in = |word: &&String| known.iter().any(|known| is_form(word, known));
        self.0.iter().filter(is_in).count()
    }

    /// Whether this number is more than half of them.
    pub(super) fn is_most(&self, found: usize) -> bool {
        found * 2 > self.0.len()
    }
}

/// Whether a word begins another, or is a longer form of it.
fn is_form(word: &str, known: &str) -> bool {
    known.starts_with(word) || (known.len() >= STEM && word.starts_with(known))
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
