//! Words that people look something up by, whatever spelling they know it in.

/// Names of languages, which say nothing of what is sought.
const LANGUAGES: [&str; 7] = ["glsl", "hlsl", "wgsl", "spirv", "spir", "d3d", "vulkan"];
/// Words with the one that descriptions use.
const SYNONYMS: [(&str, &str); 13] = [
    ("daz", "subnormal"),
    ("ftz", "subnormal"),
    ("gradual", "subnormal"),
    ("denorm", "subnormal"),
    ("denormal", "subnormal"),
    ("denormals", "subnormal"),
    ("r11g11b10", "b10g11r11"),
    ("r11g11b10f", "b10g11r11"),
    ("rgb9e5", "e5b9g9r9"),
    ("payload", "bits"),
    ("qnan", "nan"),
    ("snan", "nan"),
    ("rtne", "rte"),
];
/// Terms of programs and manuals, in small letters and digits, with what `show` finds.
const TERMS: [(&str, &str); 39] = [
    ("precise", "f32.mul_then_add_under_no_contraction"),
    ("invariant", "stages_agree"),
    ("fpcontract", "f32.mul_then_add"),
    ("fltevalmethod", "f32.mul_then_add"),
    ("fastmath", "strict_arithmetic"),
    ("ieee", "strict_arithmetic"),
    ("ieeemode", "strict_arithmetic"),
    ("associativity", "strict_arithmetic"),
    ("reassociation", "strict_arithmetic"),
    ("fltmin", "f32.subnormal_results"),
    ("flttruemin", "f32.subnormal_results"),
    ("fltmax", "f32.overflow"),
    ("hugevalf", "f32.overflow"),
    ("dblmin", "f64.subnormal_results"),
    ("dbltruemin", "f64.subnormal_results"),
    ("dblmax", "f64.overflow"),
    ("hugeval", "f64.overflow"),
    ("halfmin", "f16.subnormal_results"),
    ("halfmax", "f16.overflow"),
    ("min16float", "f16"),
    ("fltrounds", "f32.rounding"),
    ("fltepsilon", "f32.rounding"),
    ("epsilon", "f32.rounding"),
    ("doublerounding", "f64.to_f16_rounding"),
    ("excessprecision", "f32.narrowed_between_sums"),
    ("fmamix", "f16.widened_product"),
    ("madmix", "f16.widened_product"),
    ("nanpropagation", "nan bits"),
    ("shaderdenormpreservefloat16", "f16.subnormal_operands_under_preserve"),
    ("shaderdenormpreservefloat32", "f32.subnormal_operands_under_preserve"),
    ("shaderdenormflushtozerofloat16", "f16.subnormal_operands_under_flush"),
    ("shaderdenormflushtozerofloat32", "f32.subnormal_operands_under_flush"),
    ("alphablending", "blend"),
    ("msaa", "resolve"),
    ("gamma", "srgb"),
    ("wmma", "matrix"),
    ("mma", "matrix"),
    ("tensorcore", "matrix"),
    ("cooperativematrix", "matrix"),
];
/// Formats of texels as Direct3D, OpenGL, Vulkan and WebGPU call them, without what `PREFIXES`
/// begin them with.
const FORMATS: [(&str, &str); 11] = [
    ("r11g11b10float", "b10g11r11"),
    ("b10g11r11ufloatpack32", "b10g11r11"),
    ("r11fg11fb10f", "b10g11r11"),
    ("rg11b10ufloat", "b10g11r11"),
    ("r9g9b9e5sharedexp", "e5b9g9r9"),
    ("e5b9g9r9ufloatpack32", "e5b9g9r9"),
    ("rgb9e5", "e5b9g9r9"),
    ("rgb9e5ufloat", "e5b9g9r9"),
    ("r16g16b16a16float", "rgba16f"),
    ("r16g16b16a16sfloat", "rgba16f"),
    ("rgba16float", "rgba16f"),
];
const PREFIXES: [&str; 3] = ["dxgiformat", "vkformat", "gl"];
/// Letters that a word and its plural, or another form of it, have in common at least.
const STEM: usize = 5;

/// What `show` finds for a term of other texts.
pub(super) fn term(text: &str) -> Option<&'static str> {
    let letters: String =
        text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let format =
        PREFIXES.iter().find_map(|prefix| letters.strip_prefix(prefix)).unwrap_or(&letters);
    let terms = TERMS.iter().filter(|(known, _)| *known == letters);
    terms
        .chain(FORMATS.iter().filter(|(known, _)| *known == format))
        .map(|(_, found)| *found)
        .next()
}

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

    /// Whether this number is all of them.
    pub(super) fn is_all(&self, found: usize) -> bool {
        found == self.0.len()
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
