//! Vulkan: the only place where `unsafe` and ash's types live; neither leaves it.
//!
//! [`LoadedDriver::open`] -> [`LoadedDriver::devices`] (who is there, what does it claim) and
//! [`LoadedDriver::device`] -> [`LogicalDevice::dispatch`] (run one module). It runs inside
//! short-lived worker processes, each of which sees one driver manifest: whatever a driver does to
//! its process, it does to nobody else.
//!
//! What a driver says is not trusted: counts are bounded, strings are made printable, missing
//! functions are looked for before they are called, and every failure is a [`VulkanError`]. Every
//! Vulkan object is owned by a guard and goes with it on every path, except after a hang: what the
//! device may still be using is left to the end of the process.
#![deny(clippy::undocumented_unsafe_blocks)]

mod atomics;
mod claims;
mod commands;
mod compute;
mod constant_blocks;
mod cpu;
mod device;
mod dispatch;
mod draw;
mod error;
mod fault;
mod handles;
mod identity;
mod image;
mod instance;
mod later;
mod library;
mod matrices;
mod memory;
mod physical;
mod pipeline;
mod prepared;
mod render_target;
mod sampler;
mod shader;
mod states;
mod stress;
mod subgroups;
mod sweep;
mod taint;
mod text;
mod version;

use std::sync::Arc;

use fpprobe_reports::model::{Claims, Identity};

pub use device::LogicalDevice;
pub use error::VulkanError;
use instance::Instance;
use physical::Physical;
pub use sweep::SweepPipeline;

/// The Vulkan loader with whatever drivers this process may see.
pub struct LoadedDriver {
    instance: Arc<Instance>,
    physicals: Vec<Physical>,
}

/// What is known of a physical device before anything runs on it.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Who it is; the manifest is empty, since the loader does not tell.
    pub identity: Identity,
    /// What the driver claims.
    pub claims: Claims,
    /// Active layers and driver debugging variables.
    pub taint: Vec<String>,
    /// Why nothing can be measured on it (Vulkan 1.0, no compute queue, ...); `None` where it can.
    pub obstacle: Option<String>,
}

impl LoadedDriver {
    /// Loads the Vulkan loader and, through it, the drivers of this process's environment, which
    /// receive this name of the application: some have profiles of applications.
    pub fn open(application: &str) -> Result<LoadedDriver, VulkanError> {
        let instance = Arc::new(Instance::open(application)?);
        let physicals = instance
            .physical_devices()?
            .into_iter()
            .map(|raw| Physical::new(&instance, raw))
            .collect();
        Ok(LoadedDriver { instance, physicals })
    }

    /// Every physical device, in the driver's order, which is the order of
    /// [`LoadedDriver::device`].
    pub fn devices(&self) -> Vec<DeviceInfo> {
        let loaded = library::loaded();
        let taint = taint::taint(&loaded);
        let mut identities = Vec::new();
        let describe = |physical: &Physical| {
            let identity = identity::identity(&self.instance, physical, &identities, &loaded);
            identities.push(identity.clone());
            let claims = claims::claims(&self.instance, physical);
            DeviceInfo {
                identity,
                claims,
                taint: taint.clone(),
                obstacle: physical.obstacle.clone(),
            }
        };
        self.physicals.iter().map(describe).collect()
    }

    /// The products of matrices that each device enumerates, as
    /// [`fpprobe_spirv::products::product`] reads them; none where it does not claim the
    /// feature.
    pub fn matrices(&self) -> Result<Vec<Vec<String>>, VulkanError> {
        self.physicals
            .iter()
            .map(|physical| matrices::properties(&self.instance, physical))
            .collect()
    }

    /// A logical device, ready to dispatch, with every feature switched on that kernels may use;
    /// for `stress` with a second queue, where there is one.
    pub fn device(&self, index: usize, stress: bool) -> Result<LogicalDevice, VulkanError> {
        let physical = self.physicals.get(index).ok_or_else(|| {
            let found = self.physicals.len();
            VulkanError::missing(
                "vkEnumeratePhysicalDevices",
                format!("device {index}; the driver has {found}"),
            )
        })?;
        LogicalDevice::new(&self.instance, physical, stress)
    }
}
