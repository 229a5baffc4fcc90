//! Which kernels a fault touches: those whose modules it changes. The others answer as without it.

use fpprobe_fault_layer::arithmetic::{Arithmetic, rewrite};
use fpprobe_fault_layer::statement::{Kind, parse};
use fpprobe_spirv::plan::Variant;
use fpprobe_spirv::{Kernel, Plan, module};

/// The modules of some kernels, each alone.
pub struct Modules {
    habits: String,
    modules: Vec<(Kernel, Vec<u32>, Vec<u32>)>,
}

impl Modules {
    /// Of these kernels on a device with these faults already.
    pub fn new(kernels: &[Kernel], habits: &str) -> Modules {
        let modules = kernels.iter().map(|kernel| {
            let plan = Plan::new(&[(*kernel, 1)], true, Variant::default());
            let words = module::build(&plan).unwrap_or_else(|error| panic!("{kernel}: {error}"));
            let with_habits = rewritten(&words, habits);
            (*kernel, words, with_habits)
        });
        Modules { habits: habits.to_owned(), modules: modules.collect() }
    }

    /// The kernels that these further faults touch.
    pub fn touched(&self, faults: &str) -> Vec<Kernel> {
        let faults = format!("{}{faults}", self.habits);
        let modules = self.modules.iter();
        modules.filter(|(_, plain, before)| rewritten(plain, &faults) != *before).map(|(kernel, ..)| *kernel).collect()
    }
}

fn rewritten(words: &[u32], faults: &str) -> Vec<u32> {
    let statements = parse(faults).unwrap_or_else(|error| panic!("{error}"));
    let arithmetic: Vec<Arithmetic> = statements
        .into_iter()
        .map(|statement| match statement.kind {
            Kind::Arithmetic(arithmetic) => arithmetic,
            _ => panic!("{}: not a fault in arithmetic", statement.text),
        })
        .collect();
    rewrite(words, &arithmetic, &[], 0).unwrap_or_else(|error| panic!("{faults}: {error}"))
}
