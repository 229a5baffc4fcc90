//! The kernels of a run, and what each is asked.

use std::collections::BTreeMap;

use crate::atomic::MemoryScope;
use crate::cases::{self, Cases};
use crate::controls::{Control, Controls};
use crate::format::Format;
use crate::kernel::Kernel;
use crate::op::{Function, OPS, Team};
use crate::plan::most_kernels;
use crate::route::{Route, Stage, Via};

/// How much a run asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// Every plain kernel under no controls and under the [strictest] set; every other route,
    /// stage, width and front end likewise, one at a time, with the boundary cases; geometry
    /// shaders under no controls alone.
    #[default]
    Default,
    /// Every combination of route, width, front end and set of controls, with all cases; those that
    /// compilers fold, where each case is code of its own, with the boundary cases.
    Exhaustive,
}

impl Extent {
    /// The kernels of a run with these sets of controls: the plain ones first, then the others that
    /// `able` says can be asked.
    pub fn kernels(self, sets: &[Controls], able: impl Fn(&Kernel) -> bool) -> Vec<Kernel> {
        let plain = plain();
        // Commands have no controls.
        let carries =
            |kernel: &&Kernel, set: &Controls| set.is_empty() || !kernel.route.is_command();
        let under = |set: &Controls| -> Vec<Kernel> {
            plain
                .iter()
                .filter(|kernel| carries(kernel, set))
                .map(|kernel| kernel.with_controls(*set))
                .collect()
        };
        let mut own = match self {
            Extent::Default => vec![Controls::NONE, strictest(sets)],
            Extent::Exhaustive => sets.to_vec(),
        };
        own.dedup();
        let mut kernels: Vec<Kernel> = own.iter().flat_map(under).collect();
        kernels.extend(self.others(&plain, sets).into_iter().filter(able));
        kernels
    }

    fn others(self, plain: &[Kernel], sets: &[Controls]) -> Vec<Kernel> {
        let under = |kernel: &Kernel, set: &Controls| kernel.with_controls(*set).checked().ok();
        match self {
            Extent::Exhaustive => {
                let combined: Vec<Kernel> = plain.iter().flat_map(combined).collect();
                sets.iter()
                    .flat_map(|set| {
                        combined.iter().filter_map(|kernel| under(kernel, set)).collect::<Vec<_>>()
                    })
                    .collect()
            }
            Extent::Default => {
                let varied: Vec<Kernel> = plain.iter().flat_map(varied).collect();
                // Kernels that do not exist under the strictest set have one of their own.
                let strict = |kernel: &Kernel| {
                    let sets: Vec<Controls> =
                        sets.iter().filter(|set| under(kernel, set).is_some()).copied().collect();
                    Some(strictest(&sets))
                        .filter(|set| !set.is_empty())
                        .map(|set| kernel.with_controls(set))
                };
                // Geometry shaders without a set alone: a third stage shows no more about sets.
                let strict =
                    varied.iter().filter(|one| one.stage != Stage::Geometry).filter_map(strict);
                varied.iter().copied().chain(strict).collect()
            }
        }
    }

    /// What a kernel is asked.
    pub fn cases(self, kernel: &Kernel) -> Cases {
        let whole = kernel.is_plain() || self == Extent::Exhaustive && !kernel.route.is_folded();
        if whole { cases::cases(kernel) } else { cases::boundary(kernel) }
    }
}

/// Every kernel without controls, by its natural route, of texels and atomic operations by every
/// route, scalar or as narrow as it gets: formats in order, operations in table order.
pub fn plain() -> Vec<Kernel> {
    let routes = |plain: Kernel| {
        let all = plain.op.code.routes(plain.format).iter();
        let taken =
            all.filter(move |route| plain.op.code.has_own_routes() || **route == plain.route);
        taken.map(move |route| Kernel { route: *route, ..plain })
    };
    let plain = |format| OPS.iter().filter_map(move |op| Kernel::plain(format, op).ok());
    Format::ALL.into_iter().flat_map(plain).flat_map(routes).collect()
}

/// Texel kernels of every format side by side, without controls: those of one operation on one
/// route, as many as a module may have. Where that is one, there are none.
pub fn side_by_side() -> Vec<Vec<Kernel>> {
    let mut together: BTreeMap<(&str, Route), Vec<Kernel>> = BTreeMap::new();
    for kernel in plain()
        .into_iter()
        .filter(|kernel| kernel.op.code.is_of_texels() && most_kernels(kernel) > 1)
    {
        together.entry((kernel.op.name, kernel.route)).or_default().push(kernel);
    }
    together
        .into_values()
        .flat_map(|all| {
            all.chunks(most_kernels(&all[0])).map(<[Kernel]>::to_vec).collect::<Vec<_>>()
        })
        .collect()
}

/// Kernels of one format in the groups that can share a module: those of one route that the same
/// invocations compute together, as many as a module may have.
pub fn sharing(kernels: impl IntoIterator<Item = Kernel>) -> Vec<Vec<Kernel>> {
    let mut together: BTreeMap<(Route, Option<Team>), Vec<Kernel>> = BTreeMap::new();
    for kernel in kernels {
        together.entry((kernel.route, kernel.op.code.team())).or_default().push(kernel);
    }
    let chunks = |all: Vec<Kernel>| {
        let most = all.iter().map(most_kernels).min().unwrap_or(usize::MAX);
        all.chunks(most).map(<[Kernel]>::to_vec).collect::<Vec<_>>()
    };
    together.into_values().flat_map(chunks).collect()
}

/// The plain kernel by each other route, at each other width and by the other front end, one change
/// at a time. Operations on whole vectors and matrices vary in width alone: drivers take them apart
/// into the arithmetic of their components, and compile them slowly. Matrices stay as small as they
/// are. Operations in a row vary in what a compiler folds: whether it makes one of two does not
/// depend on where their operands come from at run time.
fn varied(plain: &Kernel) -> Vec<Kernel> {
    let routes = Route::OTHERS.map(|route| Kernel { route, ..*plain });
    let widths = [2, 3, 4].map(|width| Kernel { width, ..*plain });
    let widths = widths.into_iter().filter(|kernel| !kernel.has_matrices());
    let glsl = Kernel { via: Via::Glsl, ..*plain };
    let stages = Stage::ALL.map(|stage| Kernel { stage, ..*plain });
    let scopes = MemoryScope::ALL.map(|scope| Kernel { scope, ..*plain });
    let all = routes
        .into_iter()
        .chain(stages)
        .chain(scopes)
        .chain(widths)
        .chain([glsl])
        .filter(|kernel| kernel != plain);
    let all = all.filter(|kernel| !plain.op.is_geometric() || kernel.width != plain.width);
    let is_chain = matches!(plain.op.function, Function::Chain(_));
    let all = all.filter(|kernel| !is_chain || kernel.route.is_folded());
    all.filter_map(|kernel| kernel.checked().ok()).collect()
}

/// Every combination of route, stage, width, front end and scope but the plain one.
fn combined(plain: &Kernel) -> Vec<Kernel> {
    let ways = [plain.route].into_iter().chain(Route::OTHERS).flat_map(|route| {
        [1, 2, 3, 4]
            .into_iter()
            .flat_map(move |width| [Via::Spirv, Via::Glsl].map(|via| (route, width, via)))
    });
    let kernels = ways.flat_map(|(route, width, via)| {
        Stage::ALL.into_iter().flat_map(move |stage| {
            MemoryScope::ALL.map(|scope| Kernel { route, stage, width, via, scope, ..*plain })
        })
    });
    kernels.filter(|kernel| kernel != plain).filter_map(|kernel| kernel.checked().ok()).collect()
}

/// The set that leaves a driver the least freedom in what it does to values: `fastmath0`, which
/// forbids every shortcut, before `szin`; then the one with the most controls, of equals the first.
/// Sets that round towards zero are not among them, unless there is nothing else. Empty where
/// nothing is offered.
pub fn strictest(sets: &[Controls]) -> Controls {
    let strictness = |set: &Controls| {
        let count = |is: fn(Control) -> bool| set.iter().filter(|control| is(*control)).count();
        let preserved = count(|control| matches!(control, Control::Szin(_)));
        let towards_zero = count(|control| matches!(control, Control::Rtz(_)));
        (towards_zero == 0, set.contains(Control::FastMath0), preserved, set.len())
    };
    // Of equals `max_by_key` takes the last.
    sets.iter().rev().max_by_key(|set| strictness(set)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(texts: &[&str]) -> Vec<Controls> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_strictest_set_forbids_the_most() {
        for (given, expected) in [
            (&[""][..], ""),
            (&["", "szin32", "szin16", "szin16,szin32"], "szin16,szin32"),
            (
                &["", "szin16,szin32", "fastmath0", "ftz32,fastmath0", "dp16,ftz32,fastmath0"],
                "ftz32,dp16,fastmath0",
            ),
            (&["", "szin32", "ftz32,szin32", "dp32,szin32"], "ftz32,szin32"),
            (&["szin32", "szin32,rtz32"], "szin32"),
            (&[], ""),
        ] {
            assert_eq!(strictest(&sets(given)).to_string(), expected);
        }
    }

    #[test]
    fn the_default_run_changes_one_thing_at_a_time() {
        let kernels = Extent::Default.kernels(&sets(&["", "szin32", "fastmath0"]), |_| true);
        let ids: Vec<String> = kernels
            .iter()
            .filter(|kernel| kernel.stem() == "f32.fadd")
            .map(Kernel::to_string)
            .collect();
        let ways = [
            "route=uniform",
            "route=push",
            "route=spec",
            "route=literal",
            "stage=fragment",
            "stage=vertex",
            "stage=geometry",
            "width=2",
            "width=3",
            "width=4",
        ];
        let mut expected = vec!["f32.fadd".to_owned()];
        expected.push("f32.fadd:controls=fastmath0".to_owned());
        expected.extend(ways.map(|way| format!("f32.fadd:{way}")));
        expected.push("f32.fadd:via=glsl".to_owned());
        let strict = ways.iter().filter(|way| **way != "stage=geometry");
        expected.extend(strict.map(|way| format!("f32.fadd:controls=fastmath0;{way}")));
        // GLSL has no fastmath0.
        expected.push("f32.fadd:controls=szin32;via=glsl".to_owned());
        assert_eq!(ids, expected);
        assert!(kernels.iter().all(|kernel| kernel.stem() != "f32.phi" || kernel.width == 1));
    }

    #[test]
    fn the_exhaustive_run_is_the_product() {
        let sets = sets(&["", "fastmath0"]);
        let kernels = Extent::Exhaustive.kernels(&sets, |_| true);
        let count = |stem: &str| kernels.iter().filter(|kernel| kernel.stem() == stem).count();
        // Five routes and three further stages at four widths under two sets, GLSL by buffer under
        // one; five routes of shaders under two sets, and a blit.
        let counts = (count("f32.fadd"), count("f32.phi"), count("b10g11r11.load"));
        assert_eq!(counts, (8 * 4 * 2 + 4, 8 * 2, 5 * 2 + 1));
        assert!(
            Extent::Default.kernels(&sets, |_| true).iter().all(|kernel| kernels.contains(kernel))
        );
    }

    #[test]
    fn the_plain_kernel_is_asked_everything_and_others_the_boundary_cases() {
        for (id, extent, list) in [
            ("f32.fadd:controls=szin32", Extent::Default, "f32.binary"),
            ("f32.fadd:route=push", Extent::Default, "f32.binary.boundary"),
            ("f32.fadd:width=2", Extent::Default, "f32.binary.boundary.x2"),
            ("f32.fadd:route=push", Extent::Exhaustive, "f32.binary"),
            ("f32.fadd:route=spec", Extent::Exhaustive, "f32.binary.corners"),
            ("b10g11r11.load:route=storage_image", Extent::Default, "b10g11r11.load"),
        ] {
            assert_eq!(extent.cases(&id.parse().unwrap()).name, list);
        }
    }
}
