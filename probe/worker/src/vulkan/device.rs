//! A logical device with one compute queue, for stress with two, and what is kept from one dispatch
//! to the next.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Arc;

use ash::{ext, khr, vk};
use fpprobe_reports::model::Claims;
use fpprobe_reports::support::{
    BFLOAT16, BFLOAT16_DOT, BFLOAT16_MATRIX, COOPERATIVE_MATRIX, CUSTOM_BORDER_COLORS, FLOAT8,
    FLOAT8_MATRIX, FMA, SUBGROUP_EXTENDED_TYPES,
};

use super::atomics::{AtomicExtensions, AtomicFeatures};
use super::claims::{
    FLOAT_CONTROLS, FLOAT_CONTROLS2, FLOAT16, MEMORY_MODEL, SUBGROUP_TYPES, claims,
};
use super::error::{CallName, VulkanError};
use super::fault;
use super::handles::{Logical, OwnedHandle};
use super::instance::Instance;
use super::later::{
    SHADER_BFLOAT16, SHADER_FLOAT8, SHADER_FMA, ShaderBfloat16Features, ShaderFloat8Features,
    ShaderFmaFeatures,
};
use super::memory::{self, DeviceBuffer};
use super::physical::Physical;
use super::prepared::DispatchResources;
use super::subgroups::{self, Subgroups};
use crate::measure::Limits;

const PORTABILITY: &CStr = khr::portability_subset::NAME;

/// Functions of Vulkan 1.0 that are used on a device. ash calls those that a driver lacks without
/// looking, and panics.
const FUNCTIONS: [&CStr; 64] = [
    c"vkAllocateCommandBuffers",
    c"vkAllocateDescriptorSets",
    c"vkAllocateMemory",
    c"vkBeginCommandBuffer",
    c"vkBindBufferMemory",
    c"vkBindImageMemory",
    c"vkCmdBeginRenderPass",
    c"vkCmdBindDescriptorSets",
    c"vkCmdBindPipeline",
    c"vkCmdBindVertexBuffers",
    c"vkCmdBlitImage",
    c"vkCmdClearColorImage",
    c"vkCmdClearDepthStencilImage",
    c"vkCmdCopyBufferToImage",
    c"vkCmdCopyImage",
    c"vkCmdCopyImageToBuffer",
    c"vkCmdDispatch",
    c"vkCmdDraw",
    c"vkCmdEndRenderPass",
    c"vkCmdPipelineBarrier",
    c"vkCmdPushConstants",
    c"vkCmdSetBlendConstants",
    c"vkCmdSetViewport",
    c"vkCreateBuffer",
    c"vkCreateBufferView",
    c"vkCreateCommandPool",
    c"vkCreateComputePipelines",
    c"vkCreateDescriptorPool",
    c"vkCreateDescriptorSetLayout",
    c"vkCreateFence",
    c"vkCreateFramebuffer",
    c"vkCreateGraphicsPipelines",
    c"vkCreateImage",
    c"vkCreateImageView",
    c"vkCreatePipelineLayout",
    c"vkCreateRenderPass",
    c"vkCreateSampler",
    c"vkCreateShaderModule",
    c"vkDestroyBuffer",
    c"vkDestroyBufferView",
    c"vkDestroyCommandPool",
    c"vkDestroyDescriptorPool",
    c"vkDestroyDescriptorSetLayout",
    c"vkDestroyDevice",
    c"vkDestroyFence",
    c"vkDestroyFramebuffer",
    c"vkDestroyImage",
    c"vkDestroyImageView",
    c"vkDestroyPipeline",
    c"vkDestroyPipelineLayout",
    c"vkDestroyRenderPass",
    c"vkDestroySampler",
    c"vkDestroyShaderModule",
    c"vkEndCommandBuffer",
    c"vkFreeMemory",
    c"vkGetBufferMemoryRequirements",
    c"vkGetDeviceQueue",
    c"vkGetImageMemoryRequirements",
    c"vkMapMemory",
    c"vkQueueSubmit",
    c"vkResetCommandPool",
    c"vkResetFences",
    c"vkUnmapMemory",
    c"vkUpdateDescriptorSets",
];

/// A logical device, ready to [dispatch](LogicalDevice::dispatch).
pub struct LogicalDevice {
    // Fields drop in order; each holds `logical`, which goes last.
    /// The module that was dispatched last.
    pub(super) prepared: Option<DispatchResources>,
    /// What submits at the same time, under stress.
    pub(super) beside: Option<SecondSubmitter>,
    pub(super) buffers: Vec<Option<DeviceBuffer>>,
    pub(super) texels: Vec<Option<DeviceBuffer>>,
    pub(super) blocks: Option<DeviceBuffer>,
    pub(super) staging: Option<DeviceBuffer>,
    pub(super) fence: OwnedHandle<vk::Fence>,
    /// From `pool`.
    pub(super) commands: vk::CommandBuffer,
    pub(super) pool: OwnedHandle<vk::CommandPool>,
    pub(super) queue: vk::Queue,
    /// The family of `queue`.
    pub(super) family: u32,
    pub(super) logical: Arc<Logical>,
    pub(super) physical: vk::PhysicalDevice,
    pub(super) limits: vk::PhysicalDeviceLimits,
    /// Whether the queue draws.
    pub(super) draws: bool,
    subgroups: Option<Subgroups>,
    /// Invocations of a subgroup, unless the pipeline requires another number.
    subgroup: u32,
}

/// What submits beside the device: the same logical device, with memory and commands of its own.
pub(super) struct SecondSubmitter {
    pub(super) device: Box<LogicalDevice>,
    /// What the two are called.
    pub(super) what: &'static str,
}

impl LogicalDevice {
    /// Creates the device with what it claims and this program uses, and nothing else: a feature
    /// that is switched on may change the code a driver generates.
    pub(super) fn new(
        instance: &Arc<Instance>,
        physical: &Physical,
        stress: bool,
    ) -> Result<LogicalDevice, VulkanError> {
        let family = physical.family.filter(|_| physical.obstacle.is_none()).ok_or_else(|| {
            let obstacle = physical.obstacle.clone().unwrap_or_default();
            VulkanError::missing("vkCreateDevice", "usable device").about(obstacle)
        })?;
        let claims = claims(instance, physical);
        let second = physical.second.filter(|_| stress);
        let subgroups = subgroups::offered(instance, physical);
        let queues = [(family, 0)].into_iter().chain(second).collect::<Vec<_>>();
        let logical = Arc::new(create(instance, physical, &queues, &claims, subgroups.is_some())?);
        *logical.allocator() = Some(memory::allocator(&logical, physical.raw)?);
        let device = |(family, number)| LogicalDevice::on(&logical, physical, family, number);
        let mut own = LogicalDevice {
            subgroups,
            subgroup: subgroups::size(instance, physical),
            ..device((family, 0))?
        };
        if stress {
            let what = if second.is_some() {
                "dispatches over two queues at once"
            } else {
                "dispatches by two threads at once"
            };
            own.beside = Some(SecondSubmitter {
                device: Box::new(device(second.unwrap_or((family, 0)))?),
                what,
            });
        }
        Ok(own)
    }

    /// What submits to this queue of the device, which has it.
    fn on(
        logical: &Arc<Logical>,
        physical: &Physical,
        family: u32,
        number: u32,
    ) -> Result<LogicalDevice, VulkanError> {
        let device = logical.raw();
        // SAFETY: the device was created with this queue.
        let queue = unsafe { device.get_device_queue(family, number) };
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family is one of the device's.
        let pool =
            unsafe { device.create_command_pool(&info, None) }.named("vkCreateCommandPool")?;
        let pool = OwnedHandle::new(logical, pool);
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool.raw())
            .command_buffer_count(1);
        // SAFETY: the pool is this device's; the buffer goes with it.
        let commands =
            unsafe { device.allocate_command_buffers(&info) }.named("vkAllocateCommandBuffers")?;
        // SAFETY: no pointer is passed.
        let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }
            .named("vkCreateFence")?;
        Ok(LogicalDevice {
            prepared: None,
            beside: None,
            buffers: Vec::new(),
            texels: Vec::new(),
            blocks: None,
            staging: None,
            fence: OwnedHandle::new(logical, fence),
            commands: commands.first().copied().unwrap_or_default(),
            pool,
            queue,
            family,
            physical: physical.raw,
            limits: physical.properties.limits,
            draws: physical.draws,
            subgroups: None,
            subgroup: 1,
            logical: Arc::clone(logical),
        })
    }

    /// What it can run.
    pub fn limits(&self) -> Limits {
        let Subgroups { sizes, most } =
            self.subgroups.unwrap_or(Subgroups { sizes: [0; 2], most: 0 });
        Limits {
            invocations: self.most_invocations(),
            subgroups: self.subgroups.map(|_| sizes),
            most_subgroups: most,
            subgroup: self.subgroup,
        }
    }

    /// Most invocations of a work group in x.
    pub(super) fn most_invocations(&self) -> u32 {
        self.limits.max_compute_work_group_size[0]
            .min(self.limits.max_compute_work_group_invocations)
    }
}

fn create(
    instance: &Arc<Instance>,
    physical: &Physical,
    queues: &[(u32, u32)],
    claims: &Claims,
    chooses_subgroups: bool,
) -> Result<Logical, VulkanError> {
    let claimed = |name: &str| claims.flags.get(name).copied().unwrap_or(false);
    let has_bfloat16 = claimed(BFLOAT16) && claimed("shaderInt16");
    let has_float8 = claimed(FLOAT8) && claimed("shaderInt8");
    let core = vk::PhysicalDeviceFeatures::default()
        .fragment_stores_and_atomics(claimed("fragmentStoresAndAtomics"))
        .depth_clamp(claimed("depthClamp"))
        .geometry_shader(claimed("geometryShader"))
        .vertex_pipeline_stores_and_atomics(claimed("vertexPipelineStoresAndAtomics"))
        .shader_float64(claimed("shaderFloat64"))
        // Integers of 16 bits are for bfloat16 alone.
        .shader_int16(has_bfloat16)
        .texture_compression_bc(claimed("textureCompressionBC"))
        .shader_storage_image_extended_formats(claimed("shaderStorageImageExtendedFormats"));
    let mut storage16 = vk::PhysicalDevice16BitStorageFeatures::default()
        .storage_buffer16_bit_access(claimed("storageBuffer16BitAccess"));
    // Integers of 8 bits are for matrices and float8 alone.
    let has_matrices = claimed(COOPERATIVE_MATRIX);
    let mut float16 = vk::PhysicalDeviceShaderFloat16Int8Features::default()
        .shader_float16(claimed("shaderFloat16"))
        .shader_int8((has_matrices || has_float8) && claimed("shaderInt8"));
    let mut matrices =
        vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default().cooperative_matrix(true);
    let mut memory_model =
        vk::PhysicalDeviceVulkanMemoryModelFeatures::default().vulkan_memory_model(true);
    let mut controls2 = vk::PhysicalDeviceShaderFloatControls2FeaturesKHR::default()
        .shader_float_controls2(claimed("shaderFloatControls2"));

    let mut borders = vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default()
        .custom_border_colors(claimed(CUSTOM_BORDER_COLORS));

    let mut subgroup_types = vk::PhysicalDeviceShaderSubgroupExtendedTypesFeatures::default()
        .shader_subgroup_extended_types(claimed(SUBGROUP_EXTENDED_TYPES));

    let mut extensions = Vec::new();
    for (extension, promoted) in [FLOAT_CONTROLS, FLOAT16, FLOAT_CONTROLS2, SUBGROUP_TYPES] {
        // What has become core need not be, and on later devices may not be, enabled by its old
        // name.
        if physical.version < promoted && physical.has(extension) {
            extensions.push(extension.as_ptr());
        }
    }
    // A device that lists it must have it enabled ("Device Creation"); what it may lack is not used
    // here.
    if physical.has(PORTABILITY) {
        extensions.push(PORTABILITY.as_ptr());
    }

    // Queues of one family are requested together.
    let priorities = [1.0; 2];
    let families: BTreeMap<u32, u32> = queues.iter().copied().collect();
    let of_family = |(family, last): (&u32, &u32)| {
        let priorities = &priorities[..=*last as usize];
        vk::DeviceQueueCreateInfo::default()
            .queue_family_index(*family)
            .queue_priorities(priorities)
    };
    let queues: Vec<_> = families.iter().map(of_family).collect();
    let mut features =
        vk::PhysicalDeviceFeatures2::default().features(core).push_next(&mut storage16);
    // Claimed only by devices that know the structures.
    if float16.shader_float16 == vk::TRUE || float16.shader_int8 == vk::TRUE {
        features = features.push_next(&mut float16);
    }
    if controls2.shader_float_controls2 == vk::TRUE {
        features = features.push_next(&mut controls2);
    }
    if subgroup_types.shader_subgroup_extended_types == vk::TRUE {
        features = features.push_next(&mut subgroup_types);
    }
    if borders.custom_border_colors == vk::TRUE {
        extensions.push(ext::custom_border_color::NAME.as_ptr());
        features = features.push_next(&mut borders);
    }
    if has_matrices {
        extensions.push(khr::cooperative_matrix::NAME.as_ptr());
        if physical.version < MEMORY_MODEL.1 {
            extensions.push(MEMORY_MODEL.0.as_ptr());
        }
        features = features.push_next(&mut matrices).push_next(&mut memory_model);
    }
    let mut bfloat16 = ShaderBfloat16Features::none();
    if has_bfloat16 {
        extensions.push(SHADER_BFLOAT16.as_ptr());
        bfloat16.shader_bfloat16_type = vk::TRUE;
        bfloat16.shader_bfloat16_dot_product = vk::Bool32::from(claimed(BFLOAT16_DOT));
        bfloat16.shader_bfloat16_cooperative_matrix = vk::Bool32::from(claimed(BFLOAT16_MATRIX));
        features = features.push_next(&mut bfloat16);
    }
    let mut float8 = ShaderFloat8Features::none();
    if has_float8 {
        extensions.push(SHADER_FLOAT8.as_ptr());
        float8.shader_float8 = vk::TRUE;
        float8.shader_float8_cooperative_matrix = vk::Bool32::from(claimed(FLOAT8_MATRIX));
        features = features.push_next(&mut float8);
    }
    let mut fma = ShaderFmaFeatures::none();
    fma.shader_fma = FMA.map(|width| vk::Bool32::from(claimed(width)));
    if fma.shader_fma.contains(&vk::TRUE) {
        extensions.push(SHADER_FMA.as_ptr());
        features = features.push_next(&mut fma);
    }
    let (known, mut atomics) = (AtomicExtensions::of(physical), AtomicFeatures::default());
    atomics.set(claimed);
    extensions.extend(known.names().map(std::ffi::CStr::as_ptr));
    features = atomics.chain(known, features);
    let mut sizes =
        vk::PhysicalDeviceSubgroupSizeControlFeatures::default().subgroup_size_control(true);
    if chooses_subgroups {
        if physical.version < vk::API_VERSION_1_3 {
            extensions.push(ext::subgroup_size_control::NAME.as_ptr());
        }
        features = features.push_next(&mut sizes);
    }
    let mut faults = vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true);
    let explains = fault::is_offered(instance, physical);
    if explains {
        extensions.push(ext::device_fault::NAME.as_ptr());
        features = features.push_next(&mut faults);
    }
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .push_next(&mut features);
    // SAFETY: everything `info` points to lives until after the call; features and extensions are
    // those that the device reports, the queue family is one of its own.
    let raw = unsafe { instance.raw().create_device(physical.raw, &info, None) }
        .named("vkCreateDevice")?;
    let lacking = FUNCTIONS.into_iter().find(|name| {
        // SAFETY: the device is alive and the name ends in NUL.
        unsafe { instance.raw().get_device_proc_addr(raw.handle(), name.as_ptr()) }.is_none()
    });
    match lacking {
        // Not destroyed: the function for that may be what is missing, and the process ends soon.
        Some(name) => Err(VulkanError::missing("vkGetDeviceProcAddr", name.to_string_lossy())),
        None => Ok(Logical::new(raw, Arc::clone(instance), explains)),
    }
}
