//! The loader and the instance.

use std::ffi::CString;
use std::mem::ManuallyDrop;

use ash::{khr, vk};

use super::error::{CallName, VulkanError};
use super::text::{list, printable};

/// The newest version whose features are used here. Where the loader knows 1.1 or later, an
/// application may request more than the loader knows and use it with the devices that have it
/// ("Instances", on `apiVersion`).
pub(super) const NEWEST: u32 = vk::make_api_version(0, 1, 4, 0);

/// Versions to ask an instance for, in this order: some drivers refuse one that is newer than what
/// they know.
const VERSIONS: [u32; 4] = [NEWEST, vk::API_VERSION_1_3, vk::API_VERSION_1_2, vk::API_VERSION_1_1];

/// A Vulkan instance with no layers but those the environment requests.
pub(super) struct Instance {
    raw: ash::Instance,
    /// The version that it was created for, which bounds what may be used of its devices
    /// ("Instances", on `apiVersion`).
    pub(super) version: u32,
    /// Never unloaded: a driver may have left threads and thread-local destructors behind, and the
    /// process ends soon.
    entry: ManuallyDrop<ash::Entry>,
}

impl Instance {
    /// Loads `libvulkan.so.1` and creates the instance.
    pub(super) fn open(application: &str) -> Result<Instance, VulkanError> {
        // SAFETY: loading a library runs its initialisers; the Vulkan loader's (and those of a
        // layer, which the environment chose) are made for being loaded by any program. The
        // entry is never dropped.
        let entry = unsafe { ash::Entry::load() }.map(ManuallyDrop::new).map_err(|error| {
            let install = "install the Vulkan loader (Debian and Ubuntu: libvulkan1)";
            VulkanError::missing("vkGetInstanceProcAddr", "Vulkan loader")
                .about(format!("{error}; {install}"))
        })?;
        // SAFETY: the function takes a pointer to its result and nothing else.
        let version = unsafe { entry.try_enumerate_instance_version() }
            .named("vkEnumerateInstanceVersion")?
            .unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_1 {
            let loader = "Vulkan loader of version 1.1 or later";
            return Err(VulkanError::missing("vkEnumerateInstanceVersion", loader)
                .about("update libvulkan1"));
        }

        let name = CString::new(application).map_err(|_| {
            VulkanError::argument(
                "vkCreateInstance",
                "the application name (`drivers.application`) has a NUL in it",
            )
        })?;
        // Without this extension and flag the loader hides drivers that are not fully conformant.
        let portability =
            extensions(&entry)?.iter().any(|name| name == "VK_KHR_portability_enumeration");
        let names = [khr::portability_enumeration::NAME.as_ptr()];
        let create = |version: u32| {
            let application = vk::ApplicationInfo::default()
                .application_name(&name)
                .engine_name(c"fpprobe")
                .api_version(version);
            let mut info = vk::InstanceCreateInfo::default().application_info(&application);
            if portability {
                info = info
                    .flags(vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR)
                    .enabled_extension_names(&names);
            }
            // SAFETY: the structures and strings that `info` points to live until after the call;
            // the extension it names was enumerated.
            unsafe { entry.create_instance(&info, None) }
        };
        let mut refusal = vk::Result::ERROR_INCOMPATIBLE_DRIVER;
        for version in VERSIONS {
            match create(version) {
                Ok(raw) => return Ok(Instance { raw, version, entry }),
                Err(code) => refusal = code,
            }
            if refusal != vk::Result::ERROR_INCOMPATIBLE_DRIVER {
                break;
            }
        }
        let refused = VulkanError::result("vkCreateInstance", refusal);
        let is_general = refusal == vk::Result::ERROR_INCOMPATIBLE_DRIVER;
        Err(if is_general { refused.about("with Vulkan 1.4, 1.3, 1.2 and 1.1") } else { refused })
    }

    /// ash's instance; valid as long as `self`.
    pub(super) fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// The functions of `VK_KHR_cooperative_matrix`, if the loader or driver has them: ash calls
    /// those that are missing without looking.
    pub(super) fn cooperative_matrix(&self) -> Option<khr::cooperative_matrix::Instance> {
        let name = c"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
        // SAFETY: the instance is alive and the name ends in NUL.
        let found = unsafe { self.entry.get_instance_proc_addr(self.raw.handle(), name.as_ptr()) };
        found.map(|_| khr::cooperative_matrix::Instance::new(&self.entry, &self.raw))
    }

    /// Handles of all physical devices, in the loader's order.
    pub(super) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>, VulkanError> {
        // Of a driver that has no device, loaders of that time (1.3.239 among them) say
        // `VK_ERROR_INITIALIZATION_FAILED`.
        let found = list("vkEnumeratePhysicalDevices", |count, data| {
            // SAFETY: `list` passes a count and either null or room for that many handles.
            unsafe {
                (self.raw.fp_v1_0().enumerate_physical_devices)(self.raw.handle(), count, data)
            }
        });
        Ok(found?.into_iter().filter(|raw| *raw != vk::PhysicalDevice::null()).collect())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: every child holds the instance in an `Arc`, so none is left; nothing uses it
        // after this.
        unsafe { self.raw.destroy_instance(None) };
    }
}

/// Names of the loader's and drivers' instance extensions.
fn extensions(entry: &ash::Entry) -> Result<Vec<String>, VulkanError> {
    let found = list("vkEnumerateInstanceExtensionProperties", |count, data| {
        // SAFETY: `list` passes a count and either null or room for that many structures; no layer
        // is named.
        unsafe {
            (entry.fp_v1_0().enumerate_instance_extension_properties)(std::ptr::null(), count, data)
        }
    })?;
    Ok(found
        .iter()
        .map(|found: &vk::ExtensionProperties| printable(&found.extension_name))
        .collect())
}
