//! What happens during a measurement, as it happens. Listeners show or record it; they cannot alter
//! a result.

/// Something that happened.
#[derive(Clone, Debug)]
pub enum RunEvent<'a> {
    /// Measurement of a device begins.
    Begun {
        /// Its place among the devices measured.
        device: usize,
        /// Its name.
        name: &'a str,
        /// Number of kernels that it will run.
        kernels: usize,
        /// Whether each kernel has a module of its own.
        alone: bool,
    },
    /// A worker is about to run kernels.
    Running {
        /// The device.
        device: usize,
        /// The worker's process id.
        worker: u32,
        /// Kernel ids, all in one module.
        kernels: &'a [String],
    },
    /// Kernels have their final answer.
    Settled {
        /// The device.
        device: usize,
        /// How many.
        kernels: usize,
    },
    /// The kernels that are measured first are judged; others are still being measured.
    FirstVerdicts {
        /// The verdicts, as lines for a reader.
        text: &'a str,
    },
    /// A worker failed, or had to be stopped.
    Failure {
        /// The device or manifest.
        subject: &'a str,
        /// What happened and what is done about it.
        text: &'a str,
    },
    /// A device has been measured.
    Done {
        /// The device.
        device: usize,
    },
    /// What a worker printed, when it has ended.
    Output {
        /// The worker's process id.
        worker: u32,
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// The last of it.
        text: &'a str,
        /// Bytes that came before and were dropped.
        dropped: u64,
    },
}

/// Takes events; called from several threads.
pub type Listener<'a> = &'a (dyn Fn(&RunEvent<'_>) + Sync);
