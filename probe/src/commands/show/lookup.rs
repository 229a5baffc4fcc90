//! What people look up: by id, by a name that another language has for it, or by words.

use fpprobe_profiles::Profile;
use fpprobe_profiles::catalogue::{Catalogue, CatalogueEntry, Section};
use fpprobe_reports::Report;
use fpprobe_reports::model::DeviceTrait;
use fpprobe_reports::numbered::{self, NumberedCause, numbered};
use fpprobe_reports::traits::{self, TraitDefinition};
use fpprobe_spirv::error::nearest;
use fpprobe_spirv::{Kernel, OPS, Op, ParseError};

use super::words::{SoughtWords, term};
use fpprobe_system::usage::{say, usage_error};

/// Names all traits.
const TRAITS: &str = "traits";
/// Names the products of cooperative matrices.
const MATRIX: &str = "matrix";
/// What names every cause.
const CAUSES: &str = "causes";
/// Digits of the id of a cause.
const CAUSE: usize = 6;

/// What can be shown in full.
#[derive(Clone)]
pub enum ShownSubject<'a> {
    /// A cause of the report, on each device that shows it.
    Cause(Vec<NumberedCause<'a>>),
    /// Every cause of the report, or those that break a profile.
    Causes(Option<&'a str>),
    /// A rule, by its id.
    Rule(&'a str),
    /// A trait.
    Trait(TraitDefinition),
    /// Every trait.
    Traits,
    /// The products of cooperative matrices of a report's devices.
    Matrix,
    /// An id of the catalogue that is no rule's.
    Entry(&'a Section, &'a CatalogueEntry),
    /// A kernel.
    Kernel(Kernel),
    /// An operation in every format.
    Operation(&'static Op),
}

/// One of several subjects that match.
pub struct Candidate<'a> {
    /// The subject.
    pub subject: ShownSubject<'a>,
    /// The argument that names it alone.
    pub argument: String,
    /// What it is.
    pub about: String,
}

/// Where subjects are looked up.
pub struct SubjectFinder<'a> {
    /// The report with the causes, if there is one.
    pub report: Option<&'a Report>,
    /// Every profile.
    pub profiles: &'a [Profile],
    /// The catalogue.
    pub catalogue: &'a Catalogue,
}

impl<'a> SubjectFinder<'a> {
    /// The subjects that a text names: one, or several that match equally well.
    pub fn find(&self, text: &str) -> anyhow::Result<Vec<Candidate<'a>>> {
        if let Some(subject) = self.by_id(text)? {
            return Ok(vec![candidate(subject)]);
        }
        if text == TRAITS {
            return Ok(vec![candidate(ShownSubject::Traits)]);
        }
        if text == MATRIX {
            return Ok(vec![candidate(ShownSubject::Matrix)]);
        }
        let profile = self.profile(text);
        if text == CAUSES || profile.is_some() {
            return Ok(vec![candidate(ShownSubject::Causes(profile))]);
        }
        let kernel = text.parse::<Kernel>();
        if let Ok(kernel) = kernel {
            return Ok(vec![candidate(ShownSubject::Kernel(kernel))]);
        }
        if let Some(own) = traits::find(text) {
            return Ok(vec![candidate(ShownSubject::Trait(own))]);
        }
        let found = [
            by_own_name(text),
            by_names(text, |name| name == text),
            by_names(text, |name| plain(name) == plain(text)),
        ];
        let found = found.into_iter().find(|ops| !ops.is_empty());
        let found = found.map(|ops| {
            ops.into_iter().map(|op| candidate(ShownSubject::Operation(op))).collect::<Vec<_>>()
        });
        if let Some(known) = found.is_none().then(|| term(text)).flatten() {
            return self.find(known);
        }
        let found = found.unwrap_or_else(|| self.by_words(text));
        if found.is_empty() { Err(self.unknown(text, kernel.err())) } else { Ok(found) }
    }

    /// The subject of this id.
    fn by_id(&self, text: &str) -> anyhow::Result<Option<ShownSubject<'a>>> {
        let causes = self.report.map(|report| numbered::find(report, text)).unwrap_or_default();
        if !causes.is_empty() {
            return Ok(Some(ShownSubject::Cause(causes)));
        }
        let is_id = text.len() == CAUSE && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if text.parse::<usize>().is_ok() || is_id {
            return Err(unknown_cause(self.report, text));
        }
        let rule = self.rules().find(|(id, _)| id.eq_ignore_ascii_case(text));
        let entry = || self.entries().find(|(_, entry)| entry.id.eq_ignore_ascii_case(text));
        let rule = rule.map(|(id, _)| ShownSubject::Rule(id));
        Ok(rule.or_else(|| entry().map(|(section, entry)| ShownSubject::Entry(section, entry))))
    }

    /// Id of the profile that is called so: by its id, or the beginning of it that screens show.
    fn profile(&self, text: &str) -> Option<&'a str> {
        let ids: Vec<&str> = self.profiles.iter().map(|profile| profile.id.as_str()).collect();
        let is_it = |name: &str| name.eq_ignore_ascii_case(text);
        let by_short = || ids.iter().find(|id| id.split('-').next().is_some_and(is_it));
        ids.iter().find(|id| is_it(id)).or_else(by_short).copied()
    }

    /// Every rule once: id and title.
    fn rules(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let profiles = self.profiles;
        let all = profiles
            .iter()
            .enumerate()
            .flat_map(|(place, profile)| profile.rules.iter().map(move |rule| (place, rule)));
        let first = move |(place, rule): &(usize, &fpprobe_profiles::profile::Rule)| {
            !profiles[..*place].iter().any(|earlier| earlier.rule(&rule.id).is_some())
        };
        all.filter(first).map(|(_, rule)| (rule.id.as_str(), rule.title.as_str()))
    }

    fn entries(&self) -> impl Iterator<Item = (&'a Section, &'a CatalogueEntry)> {
        self.catalogue
            .sections
            .iter()
            .flat_map(|section| section.entries.iter().map(move |entry| (section, entry)))
    }

    /// The subjects whose descriptions have words that begin with all of these; where none does,
    /// those that have most of them.
    fn by_words(&self, text: &str) -> Vec<Candidate<'a>> {
        let sought = SoughtWords::new(text);
        let all = self
            .described()
            .map(|(description, candidate)| (sought.found_in(&description), candidate));
        let all: Vec<(usize, Candidate<'a>)> = all.collect();
        let most = all.iter().map(|(found, _)| *found).max().unwrap_or(0);
        if sought.is_most(most) && !sought.is_all(most) {
            say("note: nothing has all of these words; what has most of them:");
        }
        let found = all.into_iter().filter(|(found, _)| *found == most && sought.is_most(most));
        self.with_defaults(found.map(|(_, candidate)| candidate).collect())
    }

    /// These, behind the traits that say what is done where nothing of theirs is requested.
    fn with_defaults(&self, found: Vec<Candidate<'a>>) -> Vec<Candidate<'a>> {
        let default = |one: &Candidate<'a>| match &one.subject {
            ShownSubject::Trait(own) => own.by_default(),
            _ => None,
        };
        let mut all: Vec<Candidate<'a>> = Vec::new();
        for own in found.iter().filter_map(default) {
            let is_known = |one: &Candidate<'a>| one.argument == own.id();
            if !found.iter().any(is_known) && !all.iter().any(is_known) {
                all.push(self.of_trait(own));
            }
        }
        all.extend(found);
        all
    }

    /// A trait with its question, and its values on the devices of the report.
    fn of_trait(&self, one: TraitDefinition) -> Candidate<'a> {
        let words = [one.question()].into_iter().chain(self.values(&one.id()));
        let about = words.collect::<Vec<_>>().join(" ");
        Candidate { about, ..candidate(ShownSubject::Trait(one)) }
    }

    /// Every subject that words lead to, with its description, in the order of lists.
    fn described(&self) -> impl Iterator<Item = (String, Candidate<'a>)> {
        let of_op = |op: &Op| {
            let names: Vec<String> = op.names().into_iter().map(|(_, name)| name).collect();
            format!("{} {} {}", op.name, op.about, names.join(" "))
        };
        let of_trait = move |one: TraitDefinition| {
            let operations =
                one.operations().filter_map(|name| OPS.iter().find(|op| op.name == name));
            let description = format!(
                "{} {} {}",
                one.id(),
                one.question(),
                operations.map(of_op).collect::<String>()
            );
            (description, self.of_trait(one))
        };
        let causes = self.report.into_iter().flat_map(numbered);
        let causes = causes
            .map(|one| (one.cause.headline.clone(), candidate(ShownSubject::Cause(vec![one]))));
        let operations =
            OPS.iter().map(move |op| (of_op(op), candidate(ShownSubject::Operation(op))));
        let rules = self.rules().map(|(id, title)| {
            (
                format!("{id} {title}"),
                Candidate { about: title.to_owned(), ..candidate(ShownSubject::Rule(id)) },
            )
        });
        let (default, requested): (Vec<_>, Vec<_>) =
            traits::definitions().partition(TraitDefinition::is_default);
        let [default, requested] =
            [default, requested].map(|traits| traits.into_iter().map(of_trait));
        causes.chain(default).chain(operations).chain(rules).chain(requested)
    }

    /// What each device of the report does.
    fn values(&self, id: &str) -> Option<String> {
        let devices = self.report.into_iter().flat_map(|report| &report.devices);
        let known = devices.filter_map(|device| device.traits.iter().find(|one| one.id == id));
        let values: Vec<String> = known.map(DeviceTrait::describe).collect();
        (!values.is_empty()).then(|| values.join(" | "))
    }

    /// Nothing matches: what is near.
    fn unknown(&self, text: &str, error: Option<ParseError>) -> anyhow::Error {
        let names: Vec<String> = OPS.iter().flat_map(Op::names).map(|(_, name)| name).collect();
        let operations = OPS.iter().map(|op| op.name).chain(names.iter().map(String::as_str));
        let ids = self
            .rules()
            .map(|(id, _)| id)
            .chain(self.entries().map(|(_, entry)| entry.id.as_str()));
        let near = nearest(text, ids.chain(operations));
        let hint = if near.is_empty() {
            String::new()
        } else {
            format!("; did you mean `{}`?", near.join("`, `"))
        };
        match error.filter(|error| !matches!(error, ParseError::Form(_))) {
            Some(error) => {
                usage_error(format!("nothing is called `{text}`, and as a kernel: {error}{hint}"))
            }
            None => usage_error(format!(
                "no cause, rule, trait, kernel or operation is called `{text}`, and none has all of these words{hint} (`fpprobe rules` and \
                 `fpprobe kernels` list what there is)"
            )),
        }
    }
}

/// Says which causes there are.
pub fn unknown_cause(report: Option<&Report>, text: &str) -> anyhow::Error {
    let Some(report) = report else {
        return usage_error(format!(
            "there is no report with a cause `{text}`: `fpprobe run` keeps its report, or name one: `fpprobe show {text} REPORT`"
        ));
    };
    let count = numbered(report).count();
    let causes = if count == 1 { "1 cause".to_owned() } else { format!("{count} causes") };
    usage_error(format!(
        "no cause of the report is called `{text}`: it has {causes}, by number from 1 (`fpprobe show` lists them)"
    ))
}

/// The argument that names a subject, and what it is.
fn candidate(subject: ShownSubject<'_>) -> Candidate<'_> {
    let (argument, about) = match &subject {
        ShownSubject::Cause(causes) => causes
            .first()
            .map(|one| (one.number.to_string(), format!("cause: {}", one.cause.headline)))
            .unwrap_or_default(),
        ShownSubject::Causes(profile) => {
            (profile.unwrap_or(CAUSES).to_owned(), "every cause, or those of a profile".to_owned())
        }
        ShownSubject::Rule(id) => ((*id).to_owned(), String::new()),
        ShownSubject::Trait(one) => (one.id(), one.question()),
        ShownSubject::Traits => (TRAITS.to_owned(), "every trait".to_owned()),
        ShownSubject::Matrix => (MATRIX.to_owned(), "products of cooperative matrices".to_owned()),
        ShownSubject::Entry(section, entry) => (entry.id.clone(), section.title.clone()),
        ShownSubject::Kernel(kernel) => (kernel.to_string(), kernel.op.about.to_owned()),
        ShownSubject::Operation(op) => (op.name.to_owned(), op.about.to_owned()),
    };
    Candidate { subject, argument, about }
}

fn by_own_name(text: &str) -> Vec<&'static Op> {
    OPS.iter().filter(|op| plain(op.name) == plain(text)).collect()
}

/// Operations that another language calls so.
fn by_names(text: &str, is_it: impl Fn(&str) -> bool) -> Vec<&'static Op> {
    if text.is_empty() {
        return Vec::new();
    }
    let has = |op: &&Op| op.names().iter().any(|(_, name)| is_it(name));
    OPS.iter().filter(has).collect()
}

/// A name without what spellings differ in: capitals, underscores, SPIR-V's `Op`.
fn plain(name: &str) -> String {
    let letters = name.strip_prefix("Op").unwrap_or(name).chars().filter(|c| *c != '_');
    letters.collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles;

    fn found(text: &str) -> Vec<String> {
        let (profiles, catalogue) =
            (profiles::profiles(&[]).unwrap(), Catalogue::built_in().unwrap());
        let lookup = SubjectFinder { report: None, profiles: &profiles, catalogue: &catalogue };
        match lookup.find(text) {
            Ok(found) => found.into_iter().map(|one| one.argument).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn names_of_other_languages_lead_to_operations() {
        for (text, operations) in [
            ("nmin", &["nmin"][..]),
            ("NMin", &["nmin"]),
            ("packHalf2x16", &["pack_half_2x16"]),
            ("pack2x16float", &["pack_half_2x16"]),
            ("OpFMul", &["fmul"]),
            ("saturate", &["saturate"]),
            ("rsqrt", &["inverse_sqrt"]),
            ("inversesqrt", &["inverse_sqrt"]),
            ("inverseSqrt", &["inverse_sqrt"]),
            ("lerp", &["fmix"]),
            ("min", &["fmin", "nmin"]),
            ("fmod", &["fmod"]),
            ("f32tof16", &["fconvert_f16", "pack_half_2x16"]),
            ("quantizeToF16(x + y)", &["fadd_quantize_to_f16"]),
            ("excess precision", &["f32.narrowed_between_sums"]),
            ("%", &["frem"]),
            ("textureLoad", &["load"]),
            ("imageStore", &["store"]),
            ("fmaf", &["fma"]),
            ("__frcp_rn", &["rcp"]),
            ("rintf", &["round_even"]),
            ("precise", &["f32.mul_then_add_under_no_contraction"]),
            ("FLT_MIN", &["f32.subnormal_results"]),
            ("tensor core", &["matrix"]),
            ("f32.nmin", &["f32.nmin"]),
            ("d32-18", &["D32-18"]),
            ("G-00", &["G-00"]),
        ] {
            assert_eq!(found(text), operations, "{text}");
        }
    }

    #[test]
    fn words_lead_to_operations_and_rules() {
        let all = found("min nan");
        assert!(
            all.iter().any(|one| one == "nmin") && all.iter().any(|one| one.starts_with("D32-")),
            "{all:?}"
        );
        assert_eq!(found("hyperbolic sine"), found("sine hyperbolic"));
        for (text, own) in [
            ("min nan", "f32.nmin_of_nan"),
            ("GLSL NMin", "nmin"),
            ("f16 subnormals", "f16.subnormal_operands"),
            ("denormals f16", "f16.subnormal_results"),
            ("R11G11B10 store", "b10g11r11.store_rounding"),
            ("fused multiply add", "f32.fma"),
            ("NaN propagation", "f32.nan_bits"),
            ("nan payload", "f32.nan_bits"),
            ("DXGI_FORMAT_R11G11B10_FLOAT", "b10g11r11.store_rounding"),
            ("alpha blending", "blend_add"),
            ("DenormFlushToZero", "f32.subnormal_results"),
        ] {
            assert!(found(text).iter().any(|one| one == own), "{text}: {:?}", found(text));
        }
        assert!(found("fmull")[0].contains("did you mean `fmul`"), "{:?}", found("fmull"));
        assert!(found("f32.fmull")[0].contains("as a kernel"), "{:?}", found("f32.fmull"));
        assert!(found("7")[0].contains("there is no report"), "{:?}", found("7"));
    }
}
