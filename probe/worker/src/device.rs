//! What a worker does with its driver.

mod sweep;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fpprobe_profiles::Outcome;
use fpprobe_reports::model::Conditions;
use fpprobe_reports::support::{Support, matrices};
use fpprobe_spirv::plan::Plan;
use fpprobe_spirv::{Cases, Kernel, cases};
use fpprobe_system::process;

use crate::measure::{Executor, KernelCases, Limits, ResultDump, measure};
use crate::protocol::{self, EnumeratedDevice, Failure, Job, Response, Runs};
use crate::vulkan::{LoadedDriver, LogicalDevice, VulkanError};

use self::sweep::ActiveSweep;
use crate::dump::Dump;

/// The driver and the device in use.
#[derive(Default)]
pub struct WorkerState {
    driver: Option<LoadedDriver>,
    /// Goes before the device, which it may still be using.
    pub(super) sweep: Option<ActiveSweep>,
    pub(super) device: Option<(LogicalDevice, Support)>,
    application: String,
    dump_raw: Option<PathBuf>,
    dump: Option<Dump>,
    conditions: Conditions,
    /// Place of the open device in the driver's list.
    index: usize,
}

impl From<VulkanError> for Failure {
    fn from(error: VulkanError) -> Failure {
        Failure::new(error.outcome(), error.to_string())
    }
}

impl WorkerState {
    /// Nothing is open yet. The driver receives this name of the application; what dispatches leave
    /// in memory goes into this folder.
    pub fn new(application: String, dump_raw: Option<PathBuf>) -> WorkerState {
        WorkerState { application, dump_raw, ..WorkerState::default() }
    }

    fn driver(&mut self) -> Result<&LoadedDriver, VulkanError> {
        match &mut self.driver {
            Some(driver) => Ok(driver),
            none => Ok(none.insert(LoadedDriver::open(&self.application)?)),
        }
    }

    /// Lists the devices.
    pub fn enumerate(&mut self) -> Result<Response, Failure> {
        let driver = match self.driver() {
            // Drivers are installed for hardware that most machines lack; the loader says so with
            // one result for each call.
            Err(error) if error.no_hardware() => return Ok(Response::NoDevice(error.to_string())),
            driver => driver?,
        };
        let devices = driver.devices();
        if devices.is_empty() {
            return Ok(Response::NoDevice("vkEnumeratePhysicalDevices lists none".to_owned()));
        }
        let libraries = process::libraries();
        let devices = devices.into_iter().map(|device| EnumeratedDevice {
            identity: device.identity,
            claims: device.claims,
            taint: device.taint,
            obstacle: device.obstacle,
            libraries: libraries.clone(),
            matrices: None,
        });
        Ok(Response::Devices(devices.collect()))
    }

    /// Lists the products of matrices of each device: by itself, since drivers have been seen to
    /// crash at it.
    pub fn matrices(&mut self) -> Result<Response, Failure> {
        Ok(Response::Matrices(self.driver()?.matrices()?))
    }

    /// Opens a device, if it is still the one that was meant.
    pub fn open(
        &mut self,
        index: usize,
        key: &str,
        conditions: Conditions,
    ) -> Result<Response, Failure> {
        let driver = self.driver()?;
        let devices = driver.devices();
        let Some(info) = devices.get(index).filter(|info| info.identity.key == key) else {
            let found: Vec<&str> = devices.iter().map(|info| info.identity.key.as_str()).collect();
            return Err(Failure::new(
                Outcome::DeviceLost,
                format!(
                    "device {index} is no longer {key}: the driver now lists {}",
                    found.join(", ")
                ),
            ));
        };
        let support = Support::new(&info.claims);
        let device = driver.device(index, conditions.stress)?;
        self.sweep = None;
        self.index = index;
        self.conditions = conditions;
        self.device = Some((device, support));
        self.dump = self
            .dump_raw
            .as_deref()
            .map(|root| Dump::new(root, key))
            .transpose()
            .map_err(undumped)?;
        Ok(Response::Opened)
    }

    /// Runs kernels on the open device.
    pub fn measure(
        &mut self,
        jobs: &[Job],
        runs: Runs,
        timeout: Duration,
    ) -> Result<Response, Failure> {
        let started = Instant::now();
        let Some((device, support)) = &mut self.device else {
            return Err(Failure::new(Outcome::Rejected, "no device is open"));
        };
        let work = jobs.iter().map(work).collect::<Result<Vec<_>, _>>()?;
        if let (true, Some(driver)) =
            (work.iter().any(|one| one.kernel.matrix.is_some()), &self.driver)
        {
            support.matrices =
                matrices(driver.matrices()?.get(self.index).map_or(&[], Vec::as_slice));
        }
        let mut executor = DeadlineDevice { device, started, dump: self.dump.as_ref() };
        let how = (runs, self.conditions);
        let answers = measure(&mut executor, build, support, &work, how, timeout)?;
        Ok(Response::Measured(answers))
    }
}

fn work(job: &Job) -> Result<KernelCases, Failure> {
    let kernel: Kernel =
        job.kernel.parse().map_err(|error| Failure::new(Outcome::Rejected, format!("{error}")))?;
    let cases = match &job.cases {
        protocol::JobCases::Listed(name) => cases::named(&kernel, name).ok_or_else(|| {
            Failure::new(Outcome::Rejected, format!("{kernel} has no list `{name}`"))
        })?,
        protocol::JobCases::Given(values) if values.len().is_multiple_of(kernel.arity()) => {
            Cases::new("", kernel.arity(), values.as_slice())
        }
        protocol::JobCases::Given(values) => {
            let message =
                format!("{} values are no cases of {} each", values.len(), kernel.arity());
            return Err(Failure::new(Outcome::Rejected, message));
        }
    };
    Ok(KernelCases { kernel, cases })
}

fn build(plan: &Plan) -> Result<Vec<u32>, String> {
    fpprobe_spirv::module::build(plan).map_err(|error| error.to_string())
}

/// A device whose runs share one deadline.
struct DeadlineDevice<'a> {
    device: &'a mut LogicalDevice,
    started: Instant,
    dump: Option<&'a Dump>,
}

impl DeadlineDevice<'_> {
    fn remaining(&self, timeout: Duration) -> Duration {
        timeout.saturating_sub(self.started.elapsed()).max(Duration::from_millis(1))
    }
}

impl Executor for DeadlineDevice<'_> {
    fn dispatch(
        &mut self,
        words: &[u32],
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), Failure> {
        let ran = self.device.dispatch(words, plan, buffers, texels, self.remaining(timeout));
        Ok(ran.map_err(|error| self.device.explain(error))?)
    }

    fn again(
        &mut self,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), Failure> {
        let ran = self.device.again(plan, buffers, texels, self.remaining(timeout));
        Ok(ran.map_err(|error| self.device.explain(error))?)
    }

    fn at_once(
        &mut self,
        dispatches: [(&Plan, &mut [Vec<u8>]); 2],
        timeout: Duration,
    ) -> Result<Option<&'static str>, Failure> {
        let ran = self.device.at_once(dispatches, self.remaining(timeout));
        Ok(ran.map_err(|error| self.device.explain(error))?)
    }

    fn limits(&self) -> Limits {
        self.device.limits()
    }

    fn left(&mut self, left: &ResultDump<'_>) -> Result<(), Failure> {
        self.dump.map_or(Ok(()), |dump| dump.write(left)).map_err(undumped)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps an error")]
fn undumped(error: std::io::Error) -> Failure {
    Failure::new(
        Outcome::Rejected,
        format!("what the dispatch left could not be written (--dump-raw): {error}"),
    )
}
