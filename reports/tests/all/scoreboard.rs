//! Scores of areas, and recipes that leave fewer causes.

use std::collections::BTreeMap;

use fpprobe_profiles::{Observation, profile};
use fpprobe_reports::judged::judge;
use fpprobe_reports::model::{Area, Class, Device, RecipeResult, Verdict};
use fpprobe_reports::scoreboard::{CauseCount, NearestRecipe, Score, Scoreboard};

use crate::causes::observation;
use crate::fixture;

/// A device that was judged by these profiles.
fn device(profiles: &[&str], observations: &[Observation]) -> Device {
    let profiles: Vec<_> =
        profiles.iter().map(|id| profile::built_in(id).unwrap().unwrap()).collect();
    let judged = judge(&profiles, observations);
    Device {
        profiles: judged.profiles,
        causes: judged.causes,
        ..fixture::report().devices.remove(0)
    }
}

/// Scores of one profile by area.
fn scores(device: &Device, profile: usize) -> BTreeMap<Area, Score> {
    let board = Scoreboard::of(device).expect("areas and causes are known");
    board.rows.iter().map(|(area, scores)| (*area, scores[profile])).collect()
}

#[test]
fn an_area_counts_causes_at_run_time_and_sets_constants_apart() {
    let kept = observation("f32.fadd", &[(&[1, 0], 1)]);
    let folded = observation("f32.fabs:route=literal", &[(&[0x8000_0000], 0x8000_0000)]);
    let at_run_time = observation("f32.fabs", &[(&[0x8000_0000], 0)]);
    let device = device(&["d3d11", "vulkan"], &[kept, at_run_time, folded]);
    let direct3d = scores(&device, 0);
    assert_eq!(direct3d[&Area::Subnormals], Score::Causes(1));
    assert_eq!(direct3d[&Area::Arithmetic], Score::Constants);
    assert_eq!(direct3d[&Area::Texels], Score::NotMeasured);
    // Direct3D has no rules of execution modes; Vulkan accepts the sum.
    assert_eq!(direct3d[&Area::Controls], Score::Empty);
    assert!(!matches!(scores(&device, 1)[&Area::Subnormals], Score::Causes(_) | Score::Constants));
    let board = Scoreboard::of(&device).unwrap();
    let causes = board.causes[0];
    assert_eq!((causes.run_time.all, causes.constants.all, causes.whole().broken), (1, 1, 0));
}

#[test]
fn a_cause_counts_in_each_profile_where_it_shows_there() {
    let at_run_time = observation("f32.fabs", &[(&[0x8000_0000], 0x8000_0000)]);
    let folded = observation("f32.fabs:route=literal", &[(&[0x8000_0000], 0x8000_0000)]);
    let mut device = device(&["d3d11", "d3d10"], &[at_run_time, folded]);
    let of = |device: &Device| {
        Scoreboard::of(device)
            .unwrap()
            .causes
            .iter()
            .map(|one| (one.run_time.all, one.constants.all))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&device), [(1, 0), (1, 0)]);
    for failed in device.profiles[1].rules.iter_mut().flat_map(|rule| &mut rule.failed) {
        failed.kernel = "f32.fabs:route=literal".to_owned();
    }
    assert_eq!(of(&device), [(1, 0), (0, 1)]);
}

#[test]
fn broken_causes_count_among_all() {
    let unrelated = observation("f32.fadd", &[(&[0x3f80_0000, 0x3f80_0000], 0x1234_5678)]);
    let board = Scoreboard::of(&device(&["d3d11"], &[unrelated])).unwrap();
    let CauseCount { all, broken } = board.causes[0].run_time;
    assert_eq!((all, broken), (1, 1));
}

#[test]
fn a_recommended_rule_closes_no_area() {
    // min(-0, +0) is -0: recommended in Direct3D.
    let device = device(&["d3d11"], &[observation("f32.nmin", &[(&[0x8000_0000, 0], 0)])]);
    assert!(device.causes.iter().all(|cause| cause.recommended) && !device.causes.is_empty());
    let board = Scoreboard::of(&device).unwrap();
    assert_eq!(board.causes[0].whole().all, 0);
    assert!(!matches!(scores(&device, 0)[&Area::MinAndMax], Score::Causes(_)));
}

#[test]
fn what_is_not_offered_is_no_success() {
    let mut device = device(&["d3d11"], &[observation("f32.fadd", &[(&[1, 0], 1)])]);
    for rule in device.profiles[0].rules.iter_mut().filter(|rule| rule.area == Some(Area::Bits64)) {
        rule.verdict = Verdict::Unsupported;
    }
    assert_eq!(scores(&device, 0)[&Area::Bits64], Score::NotOffered);
}

#[test]
fn reports_without_areas_have_no_scoreboard() {
    let mut device = device(&["d3d11"], &[observation("f32.fadd", &[(&[1, 0], 1)])]);
    assert!(Scoreboard::of(&device).is_some());
    let mut without_causes = device.clone();
    without_causes.causes.clear();
    assert_eq!(Scoreboard::of(&without_causes), None, "its lanes fail for no known cause");
    device.profiles[0].rules[3].area = None;
    assert_eq!(Scoreboard::of(&device), None);
}

#[test]
fn the_nearest_recipe_leaves_the_fewest_causes() {
    let two = [
        observation("f32.fadd", &[(&[1, 0], 1)]),
        observation("f32.fmul", &[(&[0x7f80_0000, 0], 0x3f80_0000)]),
    ];
    let mut device = device(&["d3d11"], &two);
    assert_eq!(device.causes.len(), 2);
    device.profiles[0].class = Class::Deviates;
    let failing: Vec<String> = device.causes.iter().flat_map(|cause| cause.rules.clone()).collect();
    let kept = device.causes[1].rules.clone();
    let trial = |needs: &[&str], failing: &[String], unmeasured: &[String]| RecipeResult {
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        failing: failing.to_vec(),
        unmeasured: unmeasured.to_vec(),
    };
    let nearest = |device: &Device| {
        let found = NearestRecipe::of(device, &device.profiles[0]);
        found.map(|found| (found.needs.to_vec(), found.remaining.len(), found.of))
    };
    device.profiles[0].recipes = vec![trial(&[], &failing, &[]), trial(&["szin32"], &kept, &[])];
    assert_eq!(nearest(&device), Some((vec!["szin32".to_owned()], 1, 2)));
    // What was not measured under a recipe is not known to go away.
    device.profiles[0].recipes[1] = trial(&["szin32"], &kept, &failing);
    assert_eq!(nearest(&device), None);
    // What fails under the recipe alone counts against it.
    device.profiles[0].recipes[1] =
        trial(&["szin32"], &[kept, vec!["S-02".to_owned()]].concat(), &[]);
    assert_eq!(nearest(&device), None);
    device.profiles[0].recipes[1] = trial(&["szin32"], &["S-02".to_owned()], &[]);
    let recipe = NearestRecipe::of(&device, &device.profiles[0]).unwrap();
    assert_eq!((recipe.remaining.len(), recipe.new), (0, vec!["S-02"]));
}
