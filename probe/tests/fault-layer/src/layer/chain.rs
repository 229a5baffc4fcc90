//! Chains of structures: the loader's links from layer to layer, and Vulkan's extensions of
//! structures.

use std::ffi::c_void;

use ash::vk;

/// `VK_LAYER_LINK_INFO`.
const LINK: i32 = 0;

/// `VkLayerInstanceLink`.
#[repr(C)]
pub(super) struct InstanceLink {
    pub(super) next: *mut InstanceLink,
    pub(super) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    get_physical_device_proc_addr: vk::PFN_vkVoidFunction,
}

/// `VkLayerDeviceLink`.
#[repr(C)]
pub(super) struct DeviceLink {
    pub(super) next: *mut DeviceLink,
    pub(super) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(super) get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`, whose union holds a link where
/// `function` says so.
#[repr(C)]
struct CreateInfo<L> {
    s_type: vk::StructureType,
    p_next: *const c_void,
    function: i32,
    link: *mut L,
}

/// Takes the link for this layer out of a chain and leaves the next layer its own ("Loader and
/// Layer Interface", section "Creating New Dispatchable Objects" and the examples of
/// `vkCreateInstance` and `vkCreateDevice`).
///
/// # Safety
/// `chain` is a chain as the loader passes it on, and `kind` the type of its structures that hold
/// links of type `L`.
pub(super) unsafe fn advance<L>(
    chain: *const c_void,
    kind: vk::StructureType,
    next: impl Fn(&L) -> *mut L,
) -> Option<*const L> {
    let mut place = chain.cast_mut().cast::<vk::BaseOutStructure<'_>>();
    // SAFETY: every structure of a chain begins with type and next pointer.
    while let Some(structure) = unsafe { place.as_ref() } {
        if structure.s_type == kind {
            let info = place.cast::<CreateInfo<L>>();
            // SAFETY: the type says what it is. The loader means layers to write to it, though the
            // chain is const.
            let info = unsafe { &mut *info };
            if info.function == LINK {
                // SAFETY: a link of that function is never null and outlives the call.
                let link = unsafe { info.link.as_ref() }?;
                let taken: *const L = info.link;
                info.link = next(link);
                return Some(taken);
            }
        }
        place = structure.p_next;
    }
    None
}

/// The structure of a type in a chain.
///
/// # Safety
/// `chain` is a chain of structures that nobody else uses and that may be written.
pub(super) unsafe fn find<'a, T: vk::TaggedStructure>(chain: *const c_void) -> Option<&'a mut T> {
    // SAFETY: the caller's promise; the type says what it is.
    unsafe { find_kind(chain, T::STRUCTURE_TYPE)?.cast::<T>().as_mut() }
}

/// The same by the type's number.
///
/// # Safety
/// As for [`find`].
pub(super) unsafe fn find_kind(
    chain: *const c_void,
    kind: vk::StructureType,
) -> Option<*mut vk::BaseOutStructure<'static>> {
    let mut place = chain.cast_mut().cast::<vk::BaseOutStructure<'static>>();
    // SAFETY: every structure of a chain begins with type and next pointer.
    while let Some(structure) = unsafe { place.as_ref() } {
        if structure.s_type == kind {
            return Some(place);
        }
        place = structure.p_next;
    }
    None
}

/// Takes a structure out of a chain; returns what puts it back: the structure before it and itself.
///
/// # Safety
/// As for [`find`]; `first` is the structure that the chain hangs on.
pub(super) unsafe fn unlink(
    first: *mut vk::BaseOutStructure<'static>,
    kind: vk::StructureType,
) -> Option<[*mut vk::BaseOutStructure<'static>; 2]> {
    let mut before = first;
    // SAFETY: see `find`.
    while let Some(structure) = unsafe { before.as_mut() } {
        let found = structure.p_next;
        // SAFETY: see `find`.
        if let Some(found_structure) = unsafe { found.as_ref() }
            && found_structure.s_type == kind
        {
            structure.p_next = found_structure.p_next;
            return Some([before, found]);
        }
        before = found;
    }
    None
}
