//! Devices that misbehave in every way that two runs can show.

use super::*;
use fpprobe_spirv::cases::cases;
use fpprobe_spirv::plan::{read, write};

/// A device that answers with operand 0's bits, except for what `fault` does to a lane.
struct Device<F: FnMut(u32, &Kernel, u32, u64) -> Option<u64>> {
    fault: F,
    run: u32,
    modules: Vec<(Variant, Vec<u8>)>,
}

impl<F: FnMut(u32, &Kernel, u32, u64) -> Option<u64>> Executor for Device<F> {
    fn dispatch(
        &mut self,
        _words: &[u32],
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        _timeout: Duration,
    ) -> Result<(), Failure> {
        self.modules.push((plan.variant, buffers.concat()));
        for (row, placed) in plan.placed.iter().enumerate() {
            let size = placed.image.map_or(0, |image| image.texel());
            for slot in 0..placed.slots {
                let operand = if let Some(region) = placed.params.first() {
                    read(plan, &buffers[region.buffer], region, slot, 0)
                } else {
                    let mut word = [0; 8];
                    word[..size].copy_from_slice(&texels[row][slot as usize * size..][..size]);
                    u64::from_le_bytes(word)
                };
                let Some(bits) = (self.fault)(self.run, &placed.kernel, slot, operand) else {
                    continue;
                };
                for region in &placed.results {
                    for component in 0..region.shape.width {
                        write(plan, &mut buffers[region.buffer], region, slot, component, bits);
                    }
                }
                if placed.results.is_empty() {
                    texels[row][slot as usize * size..][..size]
                        .copy_from_slice(&bits.to_le_bytes()[..size]);
                }
            }
        }
        self.run += 1;
        Ok(())
    }

    fn again(
        &mut self,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), Failure> {
        self.dispatch(&[], plan, buffers, texels, timeout)
    }
}

fn run_kernels(
    ids: &[&str],
    offers: &[fpprobe_spirv::Need],
    fault: impl FnMut(u32, &Kernel, u32, u64) -> Option<u64>,
) -> Vec<KernelResult> {
    run_in(Runs::Recompiled, ids, offers, fault).0
}

/// The answers, and how many runs it took.
fn run_in(
    runs: Runs,
    ids: &[&str],
    offers: &[fpprobe_spirv::Need],
    fault: impl FnMut(u32, &Kernel, u32, u64) -> Option<u64>,
) -> (Vec<KernelResult>, u32) {
    let work: Vec<KernelCases> = ids
        .iter()
        .map(|id| {
            let kernel: Kernel = id.parse().unwrap();
            KernelCases { kernel, cases: cases(&kernel) }
        })
        .collect();
    let support = Support { offers: offers.iter().copied().collect(), ..Default::default() };
    let mut device = Device { fault, run: 0, modules: Vec::new() };
    let answers = measure(
        &mut device,
        |_| Ok(Vec::new()),
        &support,
        &work,
        (runs, Conditions::default()),
        Duration::ZERO,
    )
    .unwrap();
    if let [first, again, second] = device.modules.as_slice() {
        assert_eq!(first.0, again.0, "the first run's pipeline runs again");
        assert_ne!(
            first.0.group, second.0.group,
            "the second module has the first one's local size"
        );
        assert_ne!(first.1, second.1, "the second run has the first one's memory");
        assert_ne!(first.1, again.1, "the second dispatch has the first one's memory");
    }
    (answers, device.run)
}

const HALF: fpprobe_spirv::Need = fpprobe_spirv::Need::Float16;

#[test]
fn an_honest_device_ran_and_answers_come_in_case_order() {
    let ids = ["f32.fadd", "f32.load_store", "f32.unpack_half_2x16"];
    let answers = run_kernels(&ids, &[], |_, _, _, operand| Some(operand));
    for (id, answer) in ids.iter().zip(answers) {
        let kernel: Kernel = id.parse().unwrap();
        let width = kernel.outputs();
        let expected: Vec<u64> =
            cases(&kernel).iter().flat_map(|case| vec![case[0]; width]).collect();
        assert_eq!((answer.outcome, answer.out), (Outcome::Ran, expected.into()), "{id}");
    }
}

#[test]
fn images_are_filled_and_read_as_texels() {
    for id in [
        "b10g11r11.store:route=storage_image",
        "b10g11r11.load:route=storage_image",
        "r16f.load:route=sampled",
        "r8unorm.load:route=texel_buffer",
    ] {
        let offers: Vec<fpprobe_spirv::Need> =
            fpprobe_spirv::needs::needs(&id.parse().unwrap()).into_iter().collect();
        let answer = run_kernels(&[id], &offers, |_, _, _, operand| Some(operand)).remove(0);
        assert_eq!(
            (answer.outcome, answer.out[0]),
            (Outcome::Ran, cases(&id.parse().unwrap()).case(0)[0]),
            "{id}"
        );
        let answer = run_kernels(&[id], &offers, |_, _, _, _| None).remove(0);
        assert_eq!(answer.outcome, Outcome::NotWritten, "{id}");
    }
}

#[test]
fn texels_of_several_formats_have_an_image_each() {
    for ids in [
        ["r16f.load:route=sampled", "rgba8unorm.load:route=sampled"],
        ["b10g11r11.store:route=storage_image", "r8unorm.store:route=storage_image"],
        ["r16f.blend_replace:route=attachment", "r32f.blend_replace:route=attachment"],
    ] {
        let kernels = ids.map(|id| id.parse::<Kernel>().unwrap());
        let offers: Vec<fpprobe_spirv::Need> =
            kernels.iter().flat_map(fpprobe_spirv::needs::needs).collect();
        let changed = |kernel: &Kernel, operand: u64| operand ^ u64::from(kernel.format.bits());
        let answers =
            run_kernels(&ids, &offers, |_, kernel, _, operand| Some(changed(kernel, operand)));
        for (kernel, answer) in kernels.iter().zip(&answers) {
            let mask = kernel.output_formats().next().unwrap().mask();
            let expected = changed(kernel, cases(kernel).case(0)[0]) & mask;
            assert_eq!((answer.outcome, answer.out[0]), (Outcome::Ran, expected), "{kernel}");
        }
        let answers = run_kernels(&ids, &offers, |_, kernel, _, operand| {
            (*kernel == kernels[0]).then(|| changed(kernel, operand))
        });
        let outcomes: Vec<Outcome> = answers.iter().map(|answer| answer.outcome).collect();
        assert_eq!(outcomes, [Outcome::Ran, Outcome::NotWritten], "{ids:?}");
    }
}

#[test]
fn a_texel_that_stays_as_it_was_is_an_answer_only_where_another_changes() {
    let kernel: Kernel = "r16f.blend_replace:route=attachment".parse().unwrap();
    let offers = fpprobe_spirv::needs::needs(&kernel).into_iter().collect();
    let support = Support { offers, ..Default::default() };
    // One case, whose texel is right already.
    let work = [KernelCases { kernel, cases: Cases::new("", 2, vec![0x3f80_0000, 0x3f80]) }];
    let answer = |fault: fn(u32, &Kernel, u32, u64) -> Option<u64>| {
        let mut device = Device { fault, run: 0, modules: Vec::new() };
        measure(
            &mut device,
            |_| Ok(Vec::new()),
            &support,
            &work,
            (Runs::Two, Conditions::default()),
            Duration::ZERO,
        )
        .unwrap()
        .remove(0)
    };
    let drawn = answer(|_, _, _, operand| Some(operand >> 16));
    assert_eq!((drawn.outcome, drawn.out), (Outcome::Ran, [0x3f80].into()));
    for undrawn in [
        answer(|_, _, _, _| None),
        answer(|run, _, _, operand| (run == 0).then_some(operand >> 16)),
    ] {
        assert_eq!(
            (undrawn.outcome, undrawn.out),
            (Outcome::NotWritten, [].into()),
            "{}",
            undrawn.detail
        );
    }
}

#[test]
fn a_device_that_does_nothing_has_written_nothing() {
    for (id, offers) in [
        ("f32.fadd", &[][..]),
        ("f32.ford_equal", &[]),
        ("f16.sqrt", &[HALF]),
        ("f16.ford_equal", &[HALF]),
    ] {
        let answer = run_kernels(&[id], offers, |_, _, _, _| None).remove(0);
        assert_eq!((answer.outcome, answer.out.len()), (Outcome::NotWritten, 0), "{id}");
    }
}

#[test]
fn one_lane_left_undone_in_both_runs_is_found_at_whatever_slot_it_lies() {
    let answer = run_kernels(&["f32.sqrt"], &[], |_, _, _, operand| {
        (operand != 0x3f80_0000).then_some(operand)
    })
    .remove(0);
    assert_eq!(answer.outcome, Outcome::NotWritten);
    assert!(answer.detail.starts_with("1 of "), "{}", answer.detail);
}

#[test]
fn a_slot_left_undone_is_found_though_the_runs_put_other_cases_there() {
    let answer =
        run_kernels(&["f32.sqrt"], &[], |_, _, slot, operand| (slot != 5).then_some(operand))
            .remove(0);
    assert_eq!((answer.outcome, answer.out.len()), (Outcome::NotWritten, 0), "poison is no answer");
    assert!(answer.detail.contains("poison in one of two runs"), "{}", answer.detail);
}

#[test]
fn answers_that_depend_on_the_run_or_the_slot_are_flaky_and_both_are_kept() {
    let answer = run_kernels(&["f32.fadd"], &[], |run, _, slot, operand| {
        Some(operand ^ u64::from(run == 1 && slot == 3))
    })
    .remove(0);
    assert_eq!(answer.outcome, Outcome::Flaky);
    let second = answer.second.unwrap();
    assert_eq!(answer.out.iter().zip(&*second).filter(|(a, b)| a != b).count(), 1);
}

#[test]
fn two_runs_share_a_pipeline_and_show_what_was_not_written_and_what_differs() {
    type Fault = fn(u32, &Kernel, u32, u64) -> Option<u64>;
    let undone: Fault = |_, _, slot, operand| (slot != 5).then_some(operand);
    let differing: Fault = |_, _, slot, operand| Some(operand ^ u64::from(slot == 3));
    for (id, fault, outcome) in [
        ("f32.sqrt", undone, Outcome::NotWritten),
        ("f32.sqrt", differing, Outcome::Flaky),
        ("f32.sqrt", |run, _, _, operand| Some(operand ^ u64::from(run == 1)), Outcome::Flaky),
        ("f32.sqrt", |_, _, _, operand| Some(operand), Outcome::Ran),
        // What a third run would give is not known.
        ("f32.sqrt", |run, _, _, operand| Some(operand ^ u64::from(run == 2)), Outcome::Ran),
    ] {
        let (answers, runs) = run_in(Runs::Two, &[id], &[], fault);
        assert_eq!((runs, answers[0].outcome), (2, outcome), "{}", answers[0].detail);
    }
}

#[test]
fn a_command_has_a_second_run_though_it_has_no_pipeline() {
    let id = "r8unorm.store:route=clear";
    let offers: Vec<fpprobe_spirv::Need> =
        fpprobe_spirv::needs::needs(&id.parse().unwrap()).into_iter().collect();
    let (answers, runs) =
        run_in(Runs::Two, &[id], &offers, |run, _, _, operand| Some(operand ^ u64::from(run == 1)));
    assert!(runs == 2 && answers[0].outcome != Outcome::Ran, "{:?}", answers[0].outcome);
}

#[test]
fn a_pipeline_that_is_wrong_when_it_is_dispatched_again_is_flaky() {
    // The second dispatch is that of the first pipeline again.
    let answer =
        run_kernels(&["f32.fadd"], &[], |run, _, _, operand| Some(operand ^ u64::from(run == 1)))
            .remove(0);
    assert_eq!(answer.outcome, Outcome::Flaky);
    assert!(answer.detail.ends_with(AGAIN), "{}", answer.detail);
    let answer =
        run_kernels(&["f32.fadd"], &[], |run, _, _, operand| (run != 1).then_some(operand))
            .remove(0);
    assert_eq!(answer.outcome, Outcome::NotWritten);
    assert!(answer.detail.ends_with(AGAIN), "{}", answer.detail);
}

#[test]
fn results_of_the_dispatch_before_are_flaky() {
    let mut before = std::collections::HashMap::new();
    let stale = |run: u32, _: &Kernel, slot: u32, operand: u64| {
        Some(if run == 1 { before[&slot] } else { *before.entry(slot).or_insert(operand) })
    };
    let answer = run_kernels(&["f32.sqrt"], &[], stale).remove(0);
    assert_eq!(answer.outcome, Outcome::Flaky, "{}", answer.detail);
}

#[test]
fn runs_of_one_seed_are_the_same_and_of_others_not() {
    let modules = |seed| {
        let kernel: Kernel = "f32.sqrt".parse().unwrap();
        let work = [KernelCases { kernel, cases: cases(&kernel) }];
        let mut device = Device {
            fault: |_, _: &Kernel, _, operand| Some(operand),
            run: 0,
            modules: Vec::new(),
        };
        let (support, how) =
            (Support::default(), (Runs::Two, Conditions { seed, ..Conditions::default() }));
        let answers =
            measure(&mut device, |_| Ok(Vec::new()), &support, &work, how, Duration::ZERO).unwrap();
        (device.modules, answers)
    };
    let (first, other) = (modules(7), modules(8));
    assert_eq!(first, modules(7));
    assert_eq!(first.1, other.1);
    for (one, another) in first.0.iter().zip(&other.0) {
        assert_ne!(one.1, another.1, "memory is that of another seed");
    }
    assert!(
        first.0.iter().zip(&other.0).any(|(one, another)| one.0 != another.0),
        "so are all layouts"
    );
}

#[test]
fn one_run_is_enough_unless_a_result_may_be_poison() {
    let ids = ["f32.fadd", "f32.load_store"];
    let (answers, runs) = run_in(Runs::One, &ids, &[], |_, _, _, operand| Some(operand));
    assert!(runs == 1 && answers.iter().all(|answer| answer.outcome == Outcome::Ran));
    let (answers, runs) = run_in(Runs::One, &ids, &[], |run, kernel, slot, operand| {
        (run > 0 || kernel.op.name == "fadd" || slot != 5).then_some(operand)
    });
    assert_eq!(
        (runs, answers[0].outcome, answers[1].outcome),
        (2, Outcome::Ran, Outcome::NotWritten)
    );
}

#[test]
fn a_fault_of_one_kernel_leaves_its_company_alone() {
    let answers = run_kernels(&["f32.fadd", "f32.fmul"], &[], |_, kernel, _, operand| {
        (kernel.op.name != "fmul").then_some(operand)
    });
    assert_eq!(
        answers.iter().map(|answer| answer.outcome).collect::<Vec<_>>(),
        [Outcome::Ran, Outcome::NotWritten]
    );
}

#[test]
fn half_a_word_written_is_not_a_result() {
    let answer =
        run_kernels(&["f16.sqrt"], &[HALF], |_, _, _, operand| Some(operand | 0xabcd_0000))
            .remove(0);
    assert_eq!(answer.outcome, Outcome::NotWritten);
    assert!(answer.detail.contains("above their 16"), "{}", answer.detail);
}

#[test]
fn what_the_device_lacks_is_not_run() {
    let answers = run_kernels(&["f32.fadd", "f32.fconvert_f16"], &[], |_, kernel, _, operand| {
        assert_eq!(kernel.op.name, "fadd");
        Some(operand)
    });
    assert_eq!(answers[1].outcome, Outcome::Unsupported);
    assert!(answers[1].detail.contains("shaderFloat16"));
}

/// A device that answers 1 to everything but never writes one component of one result.
struct Forgetful {
    result: usize,
    component: u32,
}

impl Executor for Forgetful {
    fn dispatch(
        &mut self,
        _words: &[u32],
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        _texels: &mut [Vec<u8>],
        _timeout: Duration,
    ) -> Result<(), Failure> {
        for placed in &plan.placed {
            for (result, region) in placed.results.iter().enumerate() {
                for lane in 0..placed.slots * region.shape.width {
                    let (slot, component) = (lane / region.shape.width, lane % region.shape.width);
                    if (result, component) != (self.result, self.component) {
                        write(plan, &mut buffers[region.buffer], region, slot, component, 1);
                    }
                }
            }
        }
        Ok(())
    }

    fn again(
        &mut self,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), Failure> {
        self.dispatch(&[], plan, buffers, texels, timeout)
    }
}

#[test]
fn every_component_of_every_result_has_poison_of_its_own() {
    for (id, results) in
        [("f32.frexp:width=3", vec![3, 3]), ("f32.modf", vec![1, 1]), ("f32.fadd:width=2", vec![2])]
    {
        let kernel: Kernel = id.parse().unwrap();
        let work = KernelCases {
            kernel,
            cases: Cases::new("", kernel.arity(), vec![0; 5 * kernel.arity()]),
        };
        let support = Support::default();
        let answer = |result, component| {
            let mut device = Forgetful { result, component };
            let work = std::slice::from_ref(&work);
            measure(
                &mut device,
                |_| Ok(Vec::new()),
                &support,
                work,
                (Runs::Two, Conditions::default()),
                Duration::ZERO,
            )
            .unwrap()
            .remove(0)
        };
        for (result, width) in results.iter().enumerate() {
            for component in 0..*width {
                let answer = answer(result, component);
                assert_eq!(
                    answer.outcome,
                    Outcome::NotWritten,
                    "{id}: result {result}, component {component}"
                );
                assert!(answer.detail.starts_with("5 of "), "{}", answer.detail);
            }
        }
        let whole = answer(results.len(), 0);
        assert_eq!(
            (whole.outcome, whole.out),
            (Outcome::Ran, vec![1; 5 * kernel.outputs()].into()),
            "{id}"
        );
    }
}
