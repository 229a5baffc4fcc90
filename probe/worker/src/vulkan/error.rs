//! What can go wrong between this program and a driver.

use ash::vk;
use fpprobe_profiles::Outcome;
use gpu_allocator::AllocationError;
use thiserror::Error;

/// A failed Vulkan call, or something that kept a call from being made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{call} {kind}{}", suffix(.detail))]
pub struct VulkanError {
    /// The Vulkan function.
    pub call: &'static str,
    /// How it failed.
    pub kind: ErrorKind,
    /// What was being done, or what to do about it; may be empty.
    pub detail: String,
}

/// How a call failed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ErrorKind {
    /// It returned this code.
    #[error("failed with {0}")]
    Result(String),
    /// There is no such function, device, memory type, queue or library.
    #[error("is not possible: there is no {0}")]
    Missing(String),
    /// A limit of the device is in the way.
    #[error("would exceed a limit of the device: {0}")]
    Limit(String),
    /// The arguments do not fit together.
    #[error("was not made: {0}")]
    Argument(String),
    /// The device did not finish in time; nothing more can be run on it in this process.
    #[error("gave up waiting for the device")]
    Hung,
    /// `VK_ERROR_DEVICE_LOST`.
    #[error("failed with VK_ERROR_DEVICE_LOST")]
    DeviceLost,
    /// The device wrote to memory that it was not to write to; this process is not to be trusted
    /// any more.
    #[error("was followed by writes that nothing asked for: {0}")]
    Stray(String),
    /// It returned this code, which says that some memory ran out.
    #[error("failed with {0}")]
    OutOfMemory(String),
}

fn suffix(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}

impl VulkanError {
    /// Whether the loader says that the driver has no device: because it refuses to start, or lists
    /// none. The second is `VK_ERROR_INITIALIZATION_FAILED` of loaders such as 1.3.239.
    pub fn no_hardware(&self) -> bool {
        let says =
            |call, code: &str| self.call == call && self.kind == ErrorKind::Result(code.to_owned());
        says("vkCreateInstance", "VK_ERROR_INCOMPATIBLE_DRIVER")
            || says("vkEnumeratePhysicalDevices", "VK_ERROR_INITIALIZATION_FAILED")
    }

    /// A call that returned this code.
    pub(super) fn result(call: &'static str, code: vk::Result) -> VulkanError {
        let name = code_name(code);
        let kind = match code {
            vk::Result::ERROR_DEVICE_LOST => ErrorKind::DeviceLost,
            vk::Result::ERROR_OUT_OF_HOST_MEMORY
            | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
            | vk::Result::ERROR_OUT_OF_POOL_MEMORY => ErrorKind::OutOfMemory(name),
            _ => ErrorKind::Result(name),
        };
        VulkanError { call, kind, detail: String::new() }
    }

    /// A call that could not be made for want of this.
    pub(super) fn missing(call: &'static str, what: impl Into<String>) -> VulkanError {
        VulkanError { call, kind: ErrorKind::Missing(what.into()), detail: String::new() }
    }

    /// A call that this limit forbids.
    pub(super) fn limit(call: &'static str, what: impl Into<String>) -> VulkanError {
        VulkanError { call, kind: ErrorKind::Limit(what.into()), detail: String::new() }
    }

    /// A call whose arguments do not fit together.
    pub(super) fn argument(call: &'static str, what: impl Into<String>) -> VulkanError {
        VulkanError { call, kind: ErrorKind::Argument(what.into()), detail: String::new() }
    }

    /// A dispatch that overwrote this.
    pub(super) fn stray(what: String) -> VulkanError {
        VulkanError { call: "vkCmdDispatch", kind: ErrorKind::Stray(what), detail: String::new() }
    }

    /// What gpu-allocator reports; it keeps a result code in words at best.
    pub(super) fn allocation(error: &AllocationError) -> VulkanError {
        let text = error.to_string();
        let code = match error {
            AllocationError::OutOfMemory => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            AllocationError::NoCompatibleMemoryTypeFound => {
                return VulkanError::missing("vkAllocateMemory", "suitable memory type");
            }
            AllocationError::FailedToMap(_) => {
                return VulkanError::result("vkMapMemory", vk::Result::ERROR_MEMORY_MAP_FAILED)
                    .about(text);
            }
            _ if text.contains("ERROR_DEVICE_LOST") => vk::Result::ERROR_DEVICE_LOST,
            _ if text.contains("ERROR_OUT_OF_HOST_MEMORY") => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            _ => vk::Result::ERROR_UNKNOWN,
        };
        VulkanError::result("vkAllocateMemory", code).about(text)
    }

    /// The same error with a word on what was being done.
    #[must_use]
    pub(super) fn about(self, detail: impl Into<String>) -> VulkanError {
        VulkanError { detail: detail.into(), ..self }
    }

    /// What it means for the kernels that were to run.
    pub fn outcome(&self) -> Outcome {
        match self.kind {
            ErrorKind::Result(_) | ErrorKind::Argument(_) => Outcome::Rejected,
            ErrorKind::Missing(_) | ErrorKind::Limit(_) => Outcome::Unsupported,
            ErrorKind::Hung => Outcome::Hung,
            ErrorKind::Stray(_) => Outcome::Crashed,
            ErrorKind::DeviceLost => Outcome::DeviceLost,
            ErrorKind::OutOfMemory(_) => Outcome::OutOfMemory,
        }
    }
}

/// Names the call in the error of a result.
pub(super) trait CallName<T> {
    /// The value, or the error with the call's name.
    fn named(self, call: &'static str) -> Result<T, VulkanError>;
}

impl<T> CallName<T> for Result<T, vk::Result> {
    fn named(self, call: &'static str) -> Result<T, VulkanError> {
        self.map_err(|code| VulkanError::result(call, code))
    }
}

/// `VK_ERROR_DEVICE_LOST` and the like; a number for codes newer than the headers.
fn code_name(code: vk::Result) -> String {
    let text = format!("{code:?}");
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        format!("VK_{text}")
    } else {
        format!("VkResult {text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_call_code_and_circumstance() {
        let error =
            VulkanError::result("vkCreateComputePipelines", vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        assert_eq!(
            error.to_string(),
            "vkCreateComputePipelines failed with VK_ERROR_OUT_OF_DEVICE_MEMORY"
        );
        let error =
            VulkanError::result("vkCreateDevice", vk::Result::from_raw(-77)).about("device 3");
        assert_eq!(error.to_string(), "vkCreateDevice failed with VkResult -77: device 3");
    }

    #[test]
    fn every_kind_has_an_outcome() {
        let outcome = |code| VulkanError::result("vkQueueSubmit", code).outcome();
        assert_eq!(outcome(vk::Result::ERROR_DEVICE_LOST), Outcome::DeviceLost);
        assert_eq!(outcome(vk::Result::ERROR_OUT_OF_HOST_MEMORY), Outcome::OutOfMemory);
        assert_eq!(outcome(vk::Result::ERROR_UNKNOWN), Outcome::Rejected);
        assert_eq!(VulkanError::limit("vkCmdDispatch", "groups").outcome(), Outcome::Unsupported);
    }

    #[test]
    fn allocation_errors_keep_what_the_allocator_says() {
        let lost = AllocationError::Internal(
            "Unexpected error in vkAllocateMemory: ERROR_DEVICE_LOST".into(),
        );
        assert_eq!(VulkanError::allocation(&lost).outcome(), Outcome::DeviceLost);
        assert_eq!(
            VulkanError::allocation(&AllocationError::OutOfMemory).outcome(),
            Outcome::OutOfMemory
        );
    }
}
