//! The environment of a worker: one driver, no caches, no implicit layers.

use std::path::Path;
use std::process::Command;

use crate::config::Config;
use crate::discover;

/// Switches that keep known drivers from using their shader caches on disk.
const CACHES_OFF: [(&str, &str); 6] = [
    // Mesa: RADV, ANV, lavapipe, ...; the second name is that of releases before 22.
    ("MESA_SHADER_CACHE_DISABLE", "true"),
    ("MESA_GLSL_CACHE_DISABLE", "true"),
    // ANV's own, older switch.
    ("ANV_ENABLE_PIPELINE_CACHE", "false"),
    // NVIDIA.
    ("__GL_SHADER_DISK_CACHE", "0"),
    // AMDVLK and AMD's proprietary driver: set by game launchers to switch it on.
    ("AMD_VK_USE_PIPELINE_CACHE", "0"),
    // Fossilize databases that Mesa reads beside its cache.
    ("MESA_DISK_CACHE_READ_ONLY_FOZ_DBS", ""),
];

/// Variables that choose drivers; the supervisor has applied them already.
const CHOOSING: [&str; 3] =
    ["VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"];

/// What workers find in their environment.
#[derive(Clone, Debug)]
pub struct WorkerEnvironment {
    /// Name of the application that drivers receive.
    pub application: String,
    caches: bool,
    implicit_layers: bool,
    /// What keeps implicit layers out where the loader does not know how to keep out all of them.
    layers_off: Vec<(String, String)>,
}

impl WorkerEnvironment {
    /// From the configuration.
    pub fn new(config: &Config) -> WorkerEnvironment {
        let application = config.drivers.application().to_owned();
        let implicit_layers = config.layers.implicit;
        let layers_off = if implicit_layers { Vec::new() } else { discover::layer_switches() };
        WorkerEnvironment {
            application,
            caches: config.drivers.caches,
            implicit_layers,
            layers_off,
        }
    }

    /// The caches switched off, as the report records them.
    pub fn caches_off(&self) -> Vec<String> {
        if self.caches {
            Vec::new()
        } else {
            CACHES_OFF.map(|(name, value)| format!("{name}={value}")).to_vec()
        }
    }

    /// Whether implicit layers may load.
    pub fn implicit_layers(&self) -> bool {
        self.implicit_layers
    }

    /// Gives a command the environment of a worker for this manifest.
    pub fn apply(&self, command: &mut Command, manifest: &Path) {
        // Loaders before 1.3.207 know the second name only.
        command.env("VK_DRIVER_FILES", manifest).env("VK_ICD_FILENAMES", manifest);
        for name in CHOOSING {
            command.env_remove(name);
        }
        if !self.implicit_layers {
            // Loaders before 1.3.234 know the layers' own variables only.
            command
                .env("VK_LOADER_LAYERS_DISABLE", "~implicit~")
                .envs(self.layers_off.iter().cloned());
        }
        if !self.caches {
            command.envs(CACHES_OFF);
        }
    }
}
