//! Functions of instances and physical devices.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::mem::transmute;

use ash::vk;

use super::answers;
use super::chain::{self, InstanceLink};
use super::lists::{
    announced, vkEnumerateDeviceExtensionProperties, vkEnumeratePhysicalDevices,
    vkGetPhysicalDeviceQueueFamilyProperties,
};
use super::state::{Instance, before, instance, keep_instance};

/// The layer's function of this name.
pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
    macro_rules! own {
        ($($function:ident: $kind:ty,)*) => {
            match name {
                // SAFETY: function pointers all have one size; who asks by name knows the type.
                $(stringify!($function) => unsafe { transmute::<$kind, unsafe extern "system" fn()>($function) },)*
                // SAFETY: as above; the extension's functions have the types of those they became.
                "vkGetPhysicalDeviceFeatures2KHR" => unsafe {
                    transmute::<vk::PFN_vkGetPhysicalDeviceFeatures2, unsafe extern "system" fn()>(
                        vkGetPhysicalDeviceFeatures2,
                    )
                },
                // SAFETY: as above.
                "vkGetPhysicalDeviceProperties2KHR" => unsafe {
                    transmute::<vk::PFN_vkGetPhysicalDeviceProperties2, unsafe extern "system" fn()>(
                        vkGetPhysicalDeviceProperties2,
                    )
                },
                // SAFETY: as above.
                "vkGetInstanceProcAddr" => unsafe {
                    transmute::<vk::PFN_vkGetInstanceProcAddr, unsafe extern "system" fn()>(
                        super::get_instance_proc_addr,
                    )
                },
                _ => return None,
            }
        };
    }
    Some(own! {
        vkCreateInstance: vk::PFN_vkCreateInstance,
        vkDestroyInstance: vk::PFN_vkDestroyInstance,
        vkEnumeratePhysicalDevices: vk::PFN_vkEnumeratePhysicalDevices,
        vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties,
        vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR: vk::PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR,
        vkGetPhysicalDeviceFeatures: vk::PFN_vkGetPhysicalDeviceFeatures,
        vkGetPhysicalDeviceFeatures2: vk::PFN_vkGetPhysicalDeviceFeatures2,
        vkGetPhysicalDeviceFormatProperties: vk::PFN_vkGetPhysicalDeviceFormatProperties,
        vkGetPhysicalDeviceMemoryProperties: vk::PFN_vkGetPhysicalDeviceMemoryProperties,
        vkGetPhysicalDeviceProperties: vk::PFN_vkGetPhysicalDeviceProperties,
        vkGetPhysicalDeviceProperties2: vk::PFN_vkGetPhysicalDeviceProperties2,
        vkGetPhysicalDeviceQueueFamilyProperties: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties,
    })
}

unsafe extern "system" fn vkCreateInstance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    created: *mut vk::Instance,
) -> vk::Result {
    if let Some(code) = before("vkCreateInstance", &[]) {
        return code;
    }
    // SAFETY: the loader puts its links into the chain of this call.
    let link = unsafe {
        let next = |link: &InstanceLink| link.next;
        chain::advance::<InstanceLink>(
            (*info).p_next,
            vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            next,
        )
    };
    let Some(link) = link else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    // SAFETY: the link lives until after the call.
    let get = unsafe { (*link).get_instance_proc_addr };
    // SAFETY: without an instance, this function may be asked for.
    let Some(create) = (unsafe { get(vk::Instance::null(), c"vkCreateInstance".as_ptr()) }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: it has the type of its name, and gets what this function got.
    let code = unsafe {
        let create: vk::PFN_vkCreateInstance = transmute(create);
        create(info, allocator, created)
    };
    if code == vk::Result::SUCCESS {
        // SAFETY: it was just made.
        unsafe { keep_instance(Instance::new(*created, get)) };
    }
    code
}

unsafe extern "system" fn vkDestroyInstance(
    handle: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let _ = before("vkDestroyInstance", &[]);
    if handle == vk::Instance::null() {
        return;
    }
    // SAFETY: the instance is alive until the next function ends it, which has the type of its
    // name.
    unsafe {
        let next: vk::PFN_vkDestroyInstance = transmute(instance(handle).next("vkDestroyInstance"));
        next(handle, allocator);
    }
}

unsafe extern "system" fn vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(
    handle: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::CooperativeMatrixPropertiesKHR<'_>,
) -> vk::Result {
    const NAME: &str = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
    if let Some(code) = before(NAME, &[]) {
        return code;
    }
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR =
            transmute(instance(handle).next(NAME));
        next(handle, count, properties)
    }
}

unsafe extern "system" fn vkGetPhysicalDeviceFormatProperties(
    handle: vk::PhysicalDevice,
    format: vk::Format,
    properties: *mut vk::FormatProperties,
) {
    const NAME: &str = "vkGetPhysicalDeviceFormatProperties";
    let _ = before(NAME, &[]);
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceFormatProperties =
            transmute(instance(handle).next(NAME));
        next(handle, format, properties);
        answers::format(format, &mut *properties);
    }
}

unsafe extern "system" fn vkGetPhysicalDeviceMemoryProperties(
    handle: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceMemoryProperties,
) {
    const NAME: &str = "vkGetPhysicalDeviceMemoryProperties";
    let _ = before(NAME, &[]);
    // SAFETY: the function has the type of its name, and gets what this one got.
    let properties = unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceMemoryProperties =
            transmute(instance(handle).next(NAME));
        next(handle, properties);
        &mut *properties
    };
    properties.memory_type_count = announced("memoryTypes").unwrap_or(properties.memory_type_count);
    properties.memory_heap_count = announced("memoryHeaps").unwrap_or(properties.memory_heap_count);
}

unsafe extern "system" fn vkGetPhysicalDeviceProperties(
    handle: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    const NAME: &str = "vkGetPhysicalDeviceProperties";
    let _ = before(NAME, &[]);
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceProperties = transmute(instance(handle).next(NAME));
        next(handle, properties);
        answers::properties(&mut *properties);
    }
}

unsafe extern "system" fn vkGetPhysicalDeviceProperties2(
    handle: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    const NAME: &str = "vkGetPhysicalDeviceProperties2";
    let _ = before(NAME, &[]);
    // SAFETY: the function has the type of its name, and gets what this one got: a chain that is
    // the caller's to be written.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceProperties2 = transmute(instance(handle).next(NAME));
        next(handle, properties);
        answers::properties(&mut (*properties).properties);
        answers::chained((*properties).p_next);
    }
}

unsafe extern "system" fn vkGetPhysicalDeviceFeatures(
    handle: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures,
) {
    const NAME: &str = "vkGetPhysicalDeviceFeatures";
    let _ = before(NAME, &[]);
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceFeatures = transmute(instance(handle).next(NAME));
        next(handle, features);
        answers::features(features, std::ptr::null_mut());
    }
}

unsafe extern "system" fn vkGetPhysicalDeviceFeatures2(
    handle: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    const NAME: &str = "vkGetPhysicalDeviceFeatures2";
    let _ = before(NAME, &[]);
    // SAFETY: as for the properties.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceFeatures2 = transmute(instance(handle).next(NAME));
        next(handle, features);
        answers::features(&raw mut (*features).features, (*features).p_next);
    }
}

/// Features that the driver has itself.
///
/// # Safety
/// The physical device is one of a living instance that has Vulkan 1.1, and so has the device.
pub(super) unsafe fn own_features(handle: vk::PhysicalDevice) -> Vec<&'static str> {
    let mut storage16 = vk::PhysicalDevice16BitStorageFeatures::default();
    let mut float16 = vk::PhysicalDeviceShaderFloat16Int8Features::default();
    let mut controls2 = vk::PhysicalDeviceShaderFloatControls2FeaturesKHR::default();
    let mut selected = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut storage16)
        .push_next(&mut float16)
        .push_next(&mut controls2);
    // SAFETY: the function has the type of its name; drivers pass over structures that they do not
    // know.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceFeatures2 =
            transmute(instance(handle).next("vkGetPhysicalDeviceFeatures2"));
        next(handle, &raw mut selected);
    }
    let (core, chain) = (&raw mut selected.features, selected.p_next);
    let mut own = crate::property::FEATURES.to_vec();
    own.retain(|name| {
        // SAFETY: the chain is ours.
        let places = unsafe { answers::places(name, core, chain) };
        // SAFETY: each place in it is a field.
        places.iter().any(|place| unsafe { **place } != 0)
    });
    own
}
