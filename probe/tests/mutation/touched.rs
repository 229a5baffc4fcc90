//! Which kernels a fault touches: those whose modules it changes, and those that request a mode
//! that it claims. The others answer as without it. Faults that touch no kernel in common are made
//! at once.

use std::collections::HashSet;

use fpprobe_fault_layer::arithmetic::{Arithmetic, operations, rewrite};
use fpprobe_fault_layer::statement::{Kind, parse};
use fpprobe_profiles::parallel;
use fpprobe_spirv::plan::Variant;
use fpprobe_spirv::{Control, Format, Kernel, Plan, module};

use crate::rows::Fault;

/// The modules of some kernels, each alone.
pub struct Modules {
    habits: String,
    modules: Vec<KernelModule>,
}

/// The module of a kernel.
struct KernelModule {
    kernel: Kernel,
    plain: Vec<u32>,
    with_habits: Vec<u32>,
    /// What instructions of either are.
    operations: HashSet<(Format, &'static str)>,
}

/// Faults that touch no kernel in common, each with those that it touches.
#[derive(Default)]
pub struct Batch<'a> {
    pub faults: Vec<(&'a Fault, Vec<Kernel>)>,
    kernels: HashSet<Kernel>,
}

/// Faults of one batch at most: a device with all of them has to be read by its statements.
const FAULTS: usize = 12;

impl Modules {
    /// Of these kernels on a device with these faults already.
    pub fn new(kernels: &[Kernel], habits: &str) -> Modules {
        let Statements { arithmetic, .. } = Statements::new(habits);
        let modules = parallel::map(kernels, |kernel| {
            if kernel.route.is_command() {
                let (plain, with_habits, operations) = Default::default();
                return KernelModule { kernel: *kernel, plain, with_habits, operations };
            }
            let plan = Plan::new(&[(*kernel, 1)], true, Variant::default());
            let plain = module::build(&plan).unwrap_or_else(|error| panic!("{kernel}: {error}"));
            let with_habits = rewritten(&plain, &arithmetic);
            let operations = [&plain, &with_habits]
                .into_iter()
                .flat_map(|words| operations(words).unwrap())
                .collect();
            KernelModule { kernel: *kernel, plain, with_habits, operations }
        });
        Modules { habits: habits.to_owned(), modules }
    }

    /// These faults in batches. Those that are about more than arithmetic are alone.
    pub fn batches<'a>(&self, faults: &[&'a Fault]) -> Vec<Batch<'a>> {
        let touched = parallel::map(faults, |fault| self.touched(&fault.faults));
        let without = faults.iter().zip(&touched).filter(|(_, kernels)| kernels.is_empty());
        let idle: Vec<&str> = without.map(|(fault, _)| fault.faults.as_str()).collect();
        assert!(idle.is_empty(), "these touch nothing:\n{}", idle.join("\n"));
        let mut batches: Vec<Batch<'a>> = Vec::new();
        for (fault, kernels) in faults.iter().zip(touched) {
            let open = batches.iter_mut().find(|batch| batch.takes(fault, &kernels));
            let batch = match open {
                Some(batch) => batch,
                None => batches.push_mut(Batch::default()),
            };
            batch.kernels.extend(&kernels);
            batch.faults.push((*fault, kernels));
        }
        batches
    }

    /// The kernels that these further faults touch.
    fn touched(&self, faults: &str) -> Vec<Kernel> {
        let Statements { arithmetic: own, claimed, garbled } = Statements::new(faults);
        let Statements { arithmetic, .. } = Statements::new(&format!("{}{faults}", self.habits));
        let work =
            |kernel: &Kernel| kernel.controls.iter().any(|control| claimed.contains(&control));
        let may_concern =
            |module: &KernelModule| own.iter().any(|fault| fault.may_concern(&module.operations));
        let touched = self.modules.iter().filter(|module| match module.kernel.route.command() {
            Some(command) => garbled.contains(&command),
            None if work(&module.kernel) => true,
            None => {
                may_concern(module) && rewritten(&module.plain, &arithmetic) != module.with_habits
            }
        });
        touched.map(|module| module.kernel).collect()
    }
}

impl Batch<'_> {
    fn takes(&self, fault: &Fault, kernels: &[Kernel]) -> bool {
        let is_plain = |fault: &Fault| {
            let Statements { claimed, garbled, .. } = Statements::new(&fault.faults);
            claimed.is_empty() && garbled.is_empty() && !fault.is_of_second()
        };
        let is_alone = !self.faults.iter().all(|(own, _)| is_plain(own)) || !is_plain(fault);
        let is_apart = !kernels.iter().any(|kernel| self.kernels.contains(kernel));
        self.faults.len() < FAULTS && !is_alone && is_apart
    }

    /// The kernels that its faults touch.
    pub fn kernels(&self) -> Vec<Kernel> {
        self.faults.iter().flat_map(|(_, kernels)| kernels).copied().collect()
    }

    /// Its faults, as statements.
    pub fn statements(&self) -> String {
        self.faults.iter().map(|(fault, _)| fault.faults.trim_end()).collect::<Vec<_>>().join("\n")
            + "\n"
    }
}

/// What faults say of arithmetic.
struct Statements {
    arithmetic: Vec<Arithmetic>,
    claimed: Vec<Control>,
    garbled: Vec<&'static str>,
}

impl Statements {
    fn new(faults: &str) -> Statements {
        let (mut arithmetic, mut claimed, mut garbled) = (Vec::new(), Vec::new(), Vec::new());
        for statement in parse(faults).unwrap_or_else(|error| panic!("{error}")) {
            match statement.kind {
                Kind::Arithmetic(fault) => arithmetic.push(fault),
                Kind::Claim { control, .. } => claimed.push(control),
                Kind::Garble(call) => garbled.push(call),
                Kind::Independence(_) => {}
                _ => panic!("{}: not a fault in arithmetic", statement.text),
            }
        }
        Statements { arithmetic, claimed, garbled }
    }
}

fn rewritten(words: &[u32], faults: &[Arithmetic]) -> Vec<u32> {
    rewrite(words, faults, &[], 0).unwrap_or_else(|error| panic!("{faults:?}: {error}"))
}
