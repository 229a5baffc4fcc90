//! Where Vulkan Profiles files keep what fpprobe knows: structures, members, and their values.
//!
//! Source: the schema `profiles-0.8-latest.json` of Vulkan Profiles, and the structures of the
//! Vulkan specification.

mod demands;

use fpprobe_spirv::Control;

pub use self::demands::{
    Alternative, DemandOutcome, DemandStatus, DemandsError, MemberDemand, VulkanDemands,
};

/// The schema that files name.
pub const SCHEMA: &str = "https://schema.khronos.org/vulkan/profiles-0.8-latest.json#";

/// The structure of float controls.
pub const CONTROLS: &str = "VkPhysicalDeviceFloatControlsProperties";

/// Both independences: member, and how a report names each value beside how Vulkan does, weakest
/// first.
pub const INDEPENDENCE: [&str; 2] = ["denormBehaviorIndependence", "roundingModeIndependence"];
/// Values of an independence as reports and as Vulkan name them, weakest first.
pub const INDEPENDENT: [(&str, &str); 3] = [
    ("none", "VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE"),
    ("32-bit-only", "VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY"),
    ("all", "VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL"),
];

/// Features that a report tells of, each with the structure it is written in.
pub const FEATURES: [(&str, &str); 10] = [
    ("VkPhysicalDeviceFeatures", "fragmentStoresAndAtomics"),
    ("VkPhysicalDeviceFeatures", "vertexPipelineStoresAndAtomics"),
    ("VkPhysicalDeviceFeatures", "geometryShader"),
    ("VkPhysicalDeviceFeatures", "shaderFloat64"),
    ("VkPhysicalDeviceFeatures", "shaderInt16"),
    ("VkPhysicalDeviceFeatures", "shaderInt64"),
    ("VkPhysicalDeviceFeatures", "shaderStorageImageExtendedFormats"),
    ("VkPhysicalDevice16BitStorageFeatures", "storageBuffer16BitAccess"),
    ("VkPhysicalDeviceShaderFloat16Int8Features", "shaderFloat16"),
    ("VkPhysicalDeviceShaderFloatControls2FeaturesKHR", "shaderFloatControls2"),
];

/// The control that a property or feature claims.
pub fn control(member: &str) -> Option<Control> {
    Control::all().find(|control| control.claim() == Some(member))
}

/// Whether a member stands among the features, not the properties.
pub fn is_feature(member: &str) -> bool {
    FEATURES.iter().any(|(_, name)| *name == member)
}
