//! The calls in which something can happen.

/// A Vulkan function that the layer intercepts.
#[derive(PartialEq, Eq, Debug)]
pub struct Call {
    /// Its name.
    pub name: &'static str,
    /// Whether it returns a `VkResult`.
    pub result: bool,
    /// Whether the layer knows which kernels it is about.
    pub kernels: bool,
}

const fn void(name: &'static str) -> Call {
    Call { name, result: false, kernels: false }
}

const fn result(name: &'static str) -> Call {
    Call { name, result: true, kernels: false }
}

const fn about(name: &'static str, result: bool) -> Call {
    Call { name, result, kernels: true }
}

/// Every call that is intercepted, and `load`: the moment in which the library is loaded.
pub const CALLS: &[Call] = &[
    void("load"),
    result("vkAllocateCommandBuffers"),
    result("vkAllocateDescriptorSets"),
    result("vkAllocateMemory"),
    result("vkBeginCommandBuffer"),
    result("vkBindBufferMemory"),
    result("vkBindImageMemory"),
    void("vkCmdBindDescriptorSets"),
    about("vkCmdBindPipeline", false),
    void("vkCmdBlitImage"),
    void("vkCmdClearColorImage"),
    void("vkCmdCopyImage"),
    about("vkCmdDispatch", false),
    about("vkCmdDraw", false),
    void("vkCmdPushConstants"),
    result("vkCreateBuffer"),
    result("vkCreateBufferView"),
    result("vkCreateCommandPool"),
    about("vkCreateComputePipelines", true),
    result("vkCreateDescriptorPool"),
    result("vkCreateDescriptorSetLayout"),
    result("vkCreateDevice"),
    result("vkCreateFence"),
    result("vkCreateFramebuffer"),
    about("vkCreateGraphicsPipelines", true),
    result("vkCreateImage"),
    result("vkCreateImageView"),
    result("vkCreateInstance"),
    result("vkCreatePipelineLayout"),
    result("vkCreateRenderPass"),
    result("vkCreateSampler"),
    about("vkCreateShaderModule", true),
    void("vkDestroyBuffer"),
    void("vkDestroyDevice"),
    void("vkDestroyInstance"),
    about("vkDestroyPipeline", false),
    about("vkDestroyShaderModule", false),
    about("vkEndCommandBuffer", true),
    result("vkEnumerateDeviceExtensionProperties"),
    result("vkEnumeratePhysicalDevices"),
    void("vkFreeMemory"),
    void("vkGetBufferMemoryRequirements"),
    result("vkGetDeviceFaultInfoEXT"),
    void("vkGetDeviceQueue"),
    result("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"),
    void("vkGetPhysicalDeviceFeatures"),
    void("vkGetPhysicalDeviceFeatures2"),
    void("vkGetPhysicalDeviceFormatProperties"),
    void("vkGetPhysicalDeviceMemoryProperties"),
    void("vkGetPhysicalDeviceProperties"),
    void("vkGetPhysicalDeviceProperties2"),
    void("vkGetPhysicalDeviceQueueFamilyProperties"),
    result("vkMapMemory"),
    about("vkQueueSubmit", true),
    result("vkResetCommandPool"),
    result("vkResetFences"),
    void("vkUnmapMemory"),
    void("vkUpdateDescriptorSets"),
    about("vkWaitForFences", true),
];

/// Commands that convert texels, or move them.
pub const CONVERSIONS: &[&str] = &["vkCmdBlitImage", "vkCmdClearColorImage", "vkCmdCopyImage"];

/// The call of this name.
pub fn call(name: &str) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_in_order() {
        assert!(CALLS.is_sorted_by_key(|call| call.name));
    }
}
