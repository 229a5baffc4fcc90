//! Recipes for translation layers: per device and profile what every module must carry, and which
//! instructions stand for which operation, in SPIR-V's terms. One JSON document; a layer finds its
//! device by the ids that Vulkan gives it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use fpprobe_spirv::{Control, Kernel};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use super::key::DeviceKey;
use super::{Render, json};
use crate::model::{Class, Device, Level, ProfileResult, Report, Verdict};

/// The value of `schema`.
pub const SCHEMA: &str = "fpprobe-recipes/1";

/// Recipes, one document.
#[derive(Clone, Copy, Debug)]
pub struct Recipes;

/// What `fpprobe judge --format recipes` writes. Members keep their meaning; later versions may add
/// some.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Recipes")]
struct RecipesDocument<'a> {
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// When the devices were measured, RFC 3339.
    measured: &'a str,
    recipes: Vec<DeviceRecipe<'a>>,
}

/// One device by one profile.
#[derive(Serialize, JsonSchema)]
struct DeviceRecipe<'a> {
    device: DeviceKey<'a>,
    profile: &'a str,
    profile_version: &'a str,
    class: Class,
    /// Required rules that are not met: empty unless the class is `deviates` or `incomplete`.
    failing: Vec<&'a str>,
    /// Optional groups that the device lacks.
    without: &'a [String],
    capabilities: BTreeSet<String>,
    extensions: BTreeSet<&'static str>,
    /// Execution modes with a float width as operand.
    execution_modes: Vec<ExecutionMode>,
    /// The mask of `FPFastMathDefault`, for every float type of a module; absent where there is to
    /// be none.
    #[serde(skip_serializing_if = "Option::is_none")]
    fast_math_default: Option<u32>,
    /// Whether every arithmetic instruction is to be decorated with `NoContraction`.
    no_contraction: bool,
    /// By operation of the profile, then by format: instructions, in order.
    operations: BTreeMap<&'a str, BTreeMap<String, LoweringRow>>,
}

#[derive(Serialize, JsonSchema)]
struct ExecutionMode {
    mode: String,
    /// `SpvExecutionMode`.
    number: u32,
    width: u32,
}

#[derive(Serialize, JsonSchema)]
struct LoweringRow {
    kernel: String,
    instructions: Vec<String>,
}

/// The document's JSON schema.
pub fn schema() -> Value {
    schema_for!(RecipesDocument).to_value()
}

impl Render for Recipes {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let recipes = report.devices.iter().flat_map(|device| {
            let profiles = device.profiles.iter().filter(|profile| !profile.rules.is_empty());
            profiles.map(move |profile| recipe(device, profile))
        });
        let document = RecipesDocument {
            schema: SCHEMA,
            measured: &report.finished,
            recipes: recipes.collect(),
        };
        json::document(&document, out)
    }
}

fn recipe<'a>(device: &'a Device, profile: &'a ProfileResult) -> DeviceRecipe<'a> {
    // Lowerings stand among the needs as `operation=kernel`; they are in `operations`, too.
    let controls: Vec<Control> =
        profile.needs.iter().filter_map(|need| need.parse().ok()).collect();
    let modes: Vec<_> = controls.iter().filter_map(|control| control.mode()).collect();
    let unmet = |verdict| !matches!(verdict, Verdict::Conforms | Verdict::Permitted);
    let conforms = matches!(profile.class, Class::Conforms | Class::ConformsWith);
    let failing = profile
        .rules
        .iter()
        .filter(|rule| !conforms && rule.level == Level::Required && unmet(rule.verdict));
    DeviceRecipe {
        device: DeviceKey::of(device),
        profile: &profile.id,
        profile_version: &profile.version,
        class: profile.class,
        failing: failing.map(|rule| rule.id.as_str()).collect(),
        without: &profile.without,
        capabilities: modes.iter().map(|mode| format!("{:?}", mode.capability)).collect(),
        extensions: modes.iter().map(|mode| mode.extension).collect(),
        execution_modes: modes
            .iter()
            .filter_map(|mode| {
                let (name, number) = (format!("{:?}", mode.mode), mode.mode as u32);
                mode.width.map(|width| ExecutionMode { mode: name, number, width })
            })
            .collect(),
        fast_math_default: controls.contains(&Control::FastMath0).then_some(0),
        no_contraction: controls.contains(&Control::NoContract),
        operations: profile
            .operations
            .iter()
            .map(|(name, kernels)| (name.as_str(), lowerings(kernels)))
            .collect(),
    }
}

/// Kernels by format. One of a newer program is left out.
fn lowerings(kernels: &[String]) -> BTreeMap<String, LoweringRow> {
    let kernels = kernels.iter().filter_map(|id| id.parse::<Kernel>().ok());
    kernels
        .map(|kernel| {
            (
                kernel.format.to_string(),
                LoweringRow { kernel: kernel.to_string(), instructions: spelled(&kernel) },
            )
        })
        .collect()
}

fn spelled(kernel: &Kernel) -> Vec<String> {
    let command = kernel.route.command().map(str::to_owned);
    command.into_iter().chain(kernel.instructions().iter().map(ToString::to_string)).collect()
}
