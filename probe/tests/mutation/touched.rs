//! Which kernels a fault touches: those whose modules it changes, and those that request a mode that it claims. The others
//! answer as without it.

use fpprobe_fault_layer::arithmetic::{Arithmetic, rewrite};
use fpprobe_fault_layer::statement::{Kind, parse};
use fpprobe_spirv::plan::Variant;
use fpprobe_spirv::{Control, Kernel, Plan, module};

/// The modules of some kernels, each alone.
pub struct Modules {
    habits: String,
    modules: Vec<(Kernel, Vec<u32>, Vec<u32>)>,
}

impl Modules {
    /// Of these kernels on a device with these faults already.
    pub fn new(kernels: &[Kernel], habits: &str) -> Modules {
        let Statements { arithmetic, .. } = Statements::new(habits);
        let modules = kernels.iter().map(|kernel| {
            if kernel.route.is_command() {
                return (*kernel, Vec::new(), Vec::new());
            }
            let plan = Plan::new(&[(*kernel, 1)], true, Variant::default());
            let words = module::build(&plan).unwrap_or_else(|error| panic!("{kernel}: {error}"));
            let with_habits = rewritten(&words, &arithmetic);
            (*kernel, words, with_habits)
        });
        Modules { habits: habits.to_owned(), modules: modules.collect() }
    }

    /// The kernels that these further faults touch.
    pub fn touched(&self, faults: &str) -> Vec<Kernel> {
        let Statements { claimed, garbled, .. } = Statements::new(faults);
        let Statements { arithmetic, .. } = Statements::new(&format!("{}{faults}", self.habits));
        let work = |kernel: &Kernel| kernel.controls.iter().any(|control| claimed.contains(&control));
        let modules = self.modules.iter();
        let touched = modules.filter(|(kernel, plain, before)| match kernel.route.command() {
            Some(command) => garbled.contains(&command),
            None => work(kernel) || rewritten(plain, &arithmetic) != *before,
        });
        touched.map(|(kernel, ..)| *kernel).collect()
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
