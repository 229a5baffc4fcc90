//! The catalogue of rules: every id that the specifications' rules go by, and what becomes of it.
//!
//! An id is met by rules of a profile, or belongs to paths other than arithmetic in shaders, or
//! cannot be tested, which takes a citation. What none of these holds for is a gap.

use std::collections::{BTreeMap, BTreeSet};

use fpprobe_spirv::op::OPS;
use fpprobe_spirv::{Format, Kernel, Op, ParseError};
use serde::Deserialize;
use toml::Spanned;

use crate::profile::{Part, Profile, Rule};
use crate::source::{SourceError, SourceFile};
use crate::verdict::Level;

/// The catalogue.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Its sections, in order.
    pub sections: Vec<Section>,
    /// Kernels that no required rule looks at, and why.
    pub unjudged: Vec<UnjudgedReason>,
}

/// Why no required rule looks at kernels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnjudgedReason {
    /// The profile whose rules do not; none where no profile's do.
    pub profile: Option<String>,
    /// The kernels: `FORMAT.OPERATION`, or `*.OPERATION` for those of all formats that no rule
    /// looks at.
    kernels: Vec<String>,
    /// Why not.
    pub reason: String,
    /// Where the text says so, or what does not.
    pub citation: String,
}

impl UnjudgedReason {
    /// Whether it speaks of an operation in a format.
    pub fn names(&self, format: Format, op: &Op) -> bool {
        let is = |kernel: &String| {
            kernel
                .split_once('.')
                .is_some_and(|(of, name)| name == op.name && (of == "*" || of == format.name()))
        };
        self.kernels.iter().any(is)
    }
}

/// Rules of one document.
#[derive(Clone, Debug)]
pub struct Section {
    /// Short name.
    pub name: String,
    /// What the rules are about.
    pub title: String,
    /// The profile that holds them.
    pub profile: String,
    /// Its ids, in order.
    pub entries: Vec<CatalogueEntry>,
    /// Whether every other rule of the profile is an id, too: the document does not number all.
    unnumbered: bool,
    /// Kernel operations that a required rule of the profile must look at, in each of the formats
    /// that it exists for.
    operations: Vec<&'static Op>,
    formats: Vec<Format>,
}

/// One id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CatalogueEntry {
    /// The id.
    pub id: String,
    /// What becomes of it.
    pub standing: IdStatus,
}

/// What becomes of an id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IdStatus {
    /// Rules look at it.
    Rules {
        /// The profile that must hold them.
        profile: String,
        /// Those that have neither its id nor one that begins with it.
        rules: Vec<String>,
    },
    /// It is about these paths, not about arithmetic in shaders.
    OtherPaths(String),
    /// Nothing can be seen of it.
    NotTestable {
        /// Why.
        reason: String,
        /// Where the text says so.
        citation: String,
    },
}

/// Something that a catalogue and profiles do not agree on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The section, if it is one's.
    pub section: String,
    /// The id, rule or kernel that it is about.
    pub of: String,
    /// What is wrong.
    pub problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCatalogue {
    section: Vec<RawSection>,
    #[serde(default)]
    unjudged: Vec<RawUnjudged>,
    #[serde(default)]
    id: BTreeMap<String, Spanned<RawEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSection {
    name: String,
    title: String,
    profile: String,
    ids: Vec<Spanned<String>>,
    #[serde(default)]
    unnumbered: bool,
    #[serde(default)]
    formats: Vec<Spanned<String>>,
    #[serde(default)]
    operations: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUnjudged {
    profile: Option<String>,
    kernels: Vec<Spanned<String>>,
    reason: String,
    citation: String,
}

impl RawUnjudged {
    fn checked(self, source: &SourceFile) -> Result<UnjudgedReason, SourceError> {
        let RawUnjudged { profile, kernels, reason, citation } = self;
        for kernel in &kernels {
            let exists = kernel.get_ref().split_once('.').is_some_and(|(format, name)| {
                let has =
                    |op: &Op| format == "*" || op.formats.iter().any(|own| own.name() == format);
                Op::find(name).is_some_and(has)
            });
            if !exists {
                return Err(source.error(
                    kernel.span().start,
                    format!("`unjudged`: there is no kernel `{}`", kernel.get_ref()),
                ));
            }
            if reason.trim().is_empty() || citation.trim().is_empty() {
                let problem =
                    format!("`unjudged`: `{}` needs a `reason` and a `citation`", kernel.get_ref());
                return Err(source.error(kernel.span().start, problem));
            }
        }
        Ok(UnjudgedReason {
            profile,
            kernels: kernels.into_iter().map(Spanned::into_inner).collect(),
            reason,
            citation,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    profile: Option<String>,
    rules: Option<Vec<String>>,
    other_paths: Option<String>,
    not_testable: Option<String>,
    citation: Option<String>,
}

impl RawEntry {
    fn standing(&self, profile: &str) -> Result<IdStatus, &'static str> {
        let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        match self {
            RawEntry {
                other_paths: Some(_),
                profile: None,
                rules: None,
                not_testable: None,
                citation: None,
            } => {
                said(&self.other_paths).map(IdStatus::OtherPaths).ok_or("`other_paths` names none")
            }
            RawEntry {
                not_testable: Some(_),
                profile: None,
                rules: None,
                other_paths: None,
                citation,
            } => {
                let reason = said(&self.not_testable).ok_or("`not_testable` gives no reason")?;
                let citation = said(citation)
                    .ok_or("`not_testable` needs a `citation`: where the text says so")?;
                Ok(IdStatus::NotTestable { reason, citation })
            }
            RawEntry {
                other_paths: None,
                not_testable: None,
                citation: None,
                profile: own,
                rules,
            } => {
                let profile = own.as_deref().unwrap_or(profile).to_owned();
                match rules {
                    Some(rules) if rules.is_empty() => Err("`rules` names none"),
                    rules => {
                        Ok(IdStatus::Rules { profile, rules: rules.clone().unwrap_or_default() })
                    }
                }
            }
            _ => Err(
                "give `profile` and `rules`, or `other_paths`, or `not_testable` with `citation`",
            ),
        }
    }
}

impl Catalogue {
    /// The built-in one.
    pub fn built_in() -> Result<Catalogue, SourceError> {
        Catalogue::parse("catalogue.toml", include_str!("../data/catalogue.toml"))
    }

    /// Reads one. Refuses an id that is said to be not testable without a citation.
    pub fn parse(file: &str, text: &str) -> Result<Catalogue, SourceError> {
        let source = SourceFile { file: file.to_owned(), text: text.to_owned() };
        let raw: RawCatalogue = source.read()?;
        let mut tables = raw.id;
        let mut seen = BTreeSet::new();
        let mut sections = Vec::new();
        for section in raw.section {
            let mut entries = Vec::new();
            for id in &section.ids {
                let (at, id) = (id.span().start, id.get_ref());
                if !seen.insert(id.clone()) {
                    return Err(source.error(at, format!("`{id}` is named twice")));
                }
                let table = tables.remove(id);
                let at = table.as_ref().map_or(at, |table| table.span().start);
                let own =
                    || IdStatus::Rules { profile: section.profile.clone(), rules: Vec::new() };
                let standing = table
                    .map_or_else(|| Ok(own()), |table| table.get_ref().standing(&section.profile));
                let standing = standing
                    .map_err(|problem| source.error(at, format!("`id.{id}`: {problem}")))?;
                entries.push(CatalogueEntry { id: id.clone(), standing });
            }
            let format = |format: &Spanned<String>| {
                let parsed = format.get_ref().parse::<Format>();
                parsed.map_err(|error| {
                    source.error(format.span().start, format!("`formats`: {error}"))
                })
            };
            let formats = section.formats.iter().map(format).collect::<Result<_, _>>()?;
            let operation = |name: &Spanned<String>| {
                Op::find(name.get_ref()).ok_or_else(|| {
                    let nearest = ParseError::unknown(
                        "operation",
                        name.get_ref(),
                        OPS.iter().map(|op| op.name),
                    );
                    source.error(name.span().start, format!("`operations`: {nearest}"))
                })
            };
            let operations = section.operations.iter().map(operation).collect::<Result<_, _>>()?;
            let RawSection { name, title, profile, unnumbered, .. } = section;
            sections.push(Section {
                name,
                title,
                profile,
                entries,
                unnumbered,
                operations,
                formats,
            });
        }
        if let Some((id, table)) = tables.iter().next() {
            let problem = format!("`id.{id}`: no section has this id among its `ids`");
            return Err(source.error(table.span().start, problem));
        }
        let unjudged =
            raw.unjudged.into_iter().map(|one| one.checked(&source)).collect::<Result<_, _>>()?;
        Ok(Catalogue { sections, unjudged })
    }

    /// What the profiles lack of it, and what they have that it does not know.
    pub fn gaps(&self, profiles: &[Profile]) -> Vec<Gap> {
        let own = self.sections.iter().flat_map(|section| section.gaps(profiles));
        own.chain(self.unknown(profiles)).chain(self.unjudged_gaps(profiles)).collect()
    }

    /// Kernels that no required rule looks at without a reason, and reasons for kernels that one
    /// does look at: by all profiles together, and by each that a reason names for the
    /// operations on floats.
    fn unjudged_gaps(&self, profiles: &[Profile]) -> Vec<Gap> {
        if self.unjudged.is_empty() {
            return Vec::new();
        }
        let all = || OPS.iter().flat_map(|op| op.formats.iter().map(move |format| (*format, op)));
        let kernels = |profile: &Profile| -> BTreeSet<(&'static str, &'static str)> {
            let required = profile.rules.iter().filter(|rule| rule.level == Level::Required);
            let lowerings = required.flat_map(|rule| &rule.parts).flat_map(|part| &part.lowerings);
            lowerings.map(|kernel| (kernel.format.name(), kernel.op.name)).collect()
        };
        let judged: BTreeMap<&str, BTreeSet<_>> =
            profiles.iter().map(|profile| (profile.id.as_str(), kernels(profile))).collect();
        let by = |profile: Option<&str>, (format, op): (Format, &Op)| {
            let looks = |judged: &BTreeSet<_>| judged.contains(&(format.name(), op.name));
            profile
                .map_or_else(|| judged.values().any(looks), |id| judged.get(id).is_some_and(looks))
        };
        let named: BTreeSet<&str> =
            self.unjudged.iter().filter_map(|one| one.profile.as_deref()).collect();
        let mut gaps = Vec::new();
        for profile in std::iter::once(None).chain(named.into_iter().map(Some)) {
            let of = profile.unwrap_or("any profile");
            // A device has texels and state by the paths that rules name.
            let concerns = |(format, _): &(Format, &Op)| {
                profile.is_none() || format.float().is_some() && !format.is_packed()
            };
            for (format, op) in all().filter(concerns).filter(|kernel| !by(profile, *kernel)) {
                let explains = |one: &&UnjudgedReason| {
                    one.names(format, op)
                        && (one.profile.is_none() || one.profile.as_deref() == profile)
                };
                // That of one profile is one for all of them.
                let is_explained = self
                    .unjudged
                    .iter()
                    .any(|one| explains(&one) || profile.is_none() && one.names(format, op));
                if !is_explained {
                    let problem =
                        format!("no required rule of {of} looks at it, and no reason says why");
                    gaps.push(gap("", &format!("{format}.{}", op.name), &problem));
                }
            }
        }
        for one in &self.unjudged {
            for kernel in &one.kernels {
                let (of, name) = kernel.split_once('.').unwrap_or_default();
                let own = || {
                    all().filter(|(format, op)| {
                        op.name == name && (of == "*" || of == format.name())
                    })
                };
                if own().all(|kernel| by(one.profile.as_deref(), kernel)) {
                    gaps.push(gap(
                        "",
                        kernel,
                        "a required rule looks at it, but a reason says that none does",
                    ));
                }
            }
        }
        gaps
    }

    /// Why no required rule looks at a kernel, by profile.
    pub fn reasons(&self, kernel: &Kernel) -> impl Iterator<Item = &UnjudgedReason> {
        self.unjudged.iter().filter(move |one| one.names(kernel.format, kernel.op))
    }

    /// Rules that no id stands for.
    fn unknown(&self, profiles: &[Profile]) -> Vec<Gap> {
        let known = |rule: &str| {
            self.sections.iter().flat_map(|section| &section.entries).any(|entry| entry.names(rule))
        };
        let all = |profile: &&Profile| {
            !self.sections.iter().any(|section| section.unnumbered && section.profile == profile.id)
        };
        let rules = profiles
            .iter()
            .filter(all)
            .flat_map(|profile| profile.rules.iter().map(move |rule| (profile, rule)));
        rules
            .filter(|(_, rule)| !known(&rule.id))
            .map(|(profile, rule)| {
                gap(
                    "",
                    &rule.id,
                    &format!("is a rule of {}, but no id of the catalogue", profile.id),
                )
            })
            .collect()
    }
}

impl Section {
    /// Its ids, those of rules that the document does not number among them.
    pub fn ids(&self, profiles: &[Profile]) -> Vec<CatalogueEntry> {
        let own = profiles.iter().filter(|profile| self.unnumbered && profile.id == self.profile);
        let others = own
            .flat_map(|profile| &profile.rules)
            .filter(|rule| !self.entries.iter().any(|entry| entry.names(&rule.id)));
        let others = others.map(|rule| CatalogueEntry {
            id: rule.id.clone(),
            standing: IdStatus::Rules { profile: self.profile.clone(), rules: Vec::new() },
        });
        self.entries.iter().cloned().chain(others).collect()
    }

    fn gaps(&self, profiles: &[Profile]) -> Vec<Gap> {
        let entries = self.entries.iter().flat_map(|entry| entry.gaps(profiles));
        let gaps = entries.map(|(of, problem)| gap(&self.name, &of, &problem));
        let required = profiles
            .iter()
            .filter(|profile| profile.id == self.profile)
            .flat_map(|profile| &profile.rules);
        let parts: Vec<&Part> = required
            .filter(|rule| rule.level == Level::Required)
            .flat_map(|rule| &rule.parts)
            .collect();
        let looked = |op: &Op, format: Format| {
            let is = |kernel: &Kernel| kernel.op == op && kernel.format == format;
            parts.iter().any(|part| part.lowerings.iter().any(is))
        };
        let operations = self.operations.iter().flat_map(|op| {
            let exists = |format: &&Format| op.formats.contains(*format);
            self.formats.iter().filter(exists).map(|format| (*op, *format))
        });
        let unseen = operations.filter(|(op, format)| !looked(op, *format));
        let unseen = unseen.map(|(op, format)| {
            let problem = format!("no required rule of {} looks at it", self.profile);
            gap(&self.name, &format!("{format}.{}", op.name), &problem)
        });
        gaps.chain(unseen).collect()
    }
}

impl CatalogueEntry {
    /// Whether a rule of this id belongs to it: one of its own id, or one that begins with it, or
    /// one that it names.
    fn names(&self, rule: &str) -> bool {
        let begins = rule
            .strip_prefix(&self.id)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        begins
            || matches!(&self.standing, IdStatus::Rules { rules, .. } if rules.iter().any(|named| named == rule))
    }

    /// The rules of each profile that look at it: profile, rules.
    pub fn looked_at<'p>(&self, profiles: &'p [Profile]) -> Vec<(&'p str, Vec<&'p str>)> {
        let found = profiles.iter().map(|profile| {
            let own = profile.rules.iter().filter(|rule| self.names(&rule.id));
            (profile.id.as_str(), own.map(|rule| rule.id.as_str()).collect::<Vec<&str>>())
        });
        found.filter(|(_, rules)| !rules.is_empty()).collect()
    }

    fn gaps(&self, profiles: &[Profile]) -> Vec<(String, String)> {
        match &self.standing {
            IdStatus::Rules { profile, rules } => {
                let own: Vec<&Rule> = profiles
                    .iter()
                    .filter(|known| known.id == *profile)
                    .flat_map(|known| &known.rules)
                    .collect();
                let by_id = rules.is_empty() && !own.iter().any(|rule| self.names(&rule.id));
                let lacking =
                    rules.iter().filter(|named| !own.iter().any(|rule| rule.id == **named));
                let lacking = by_id.then_some(&self.id).into_iter().chain(lacking);
                lacking
                    .map(|rule| (self.id.clone(), format!("{profile} has no rule `{rule}`")))
                    .collect()
            }
            IdStatus::OtherPaths(_) | IdStatus::NotTestable { .. } => {
                let holders = profiles
                    .iter()
                    .filter(|profile| profile.rules.iter().any(|rule| self.names(&rule.id)));
                holders
                    .map(|profile| {
                        (
                            self.id.clone(),
                            format!("is a rule of {}, but is said to be none", profile.id),
                        )
                    })
                    .collect()
            }
        }
    }
}

fn gap(section: &str, of: &str, problem: &str) -> Gap {
    Gap { section: section.to_owned(), of: of.to_owned(), problem: problem.to_owned() }
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.of, self.problem)
    }
}
