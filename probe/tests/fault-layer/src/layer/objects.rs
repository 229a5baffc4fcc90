//! What is kept of a device's objects: recordings, dispatches, ranges of buffers, queues.

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk;

use crate::trigger::Module;

/// What has been recorded.
#[derive(Clone, Default)]
pub(super) struct Recording {
    pub(super) bound: Option<Arc<Module>>,
    pub(super) pipeline: vk::Pipeline,
    pub(super) set: Option<vk::DescriptorSet>,
    /// The push constants of a sweep: which invocation does the work of which lane.
    pub(super) turn: u32,
    pub(super) dispatched: Vec<Launch>,
}

/// A dispatch that was submitted.
#[derive(Clone)]
pub(super) struct Launch {
    pub(super) module: Arc<Module>,
    pub(super) pipeline: vk::Pipeline,
    pub(super) set: vk::DescriptorSet,
    /// The `turn` of a sweep's push constants.
    pub(super) turn: u32,
    /// Whether its pipeline was submitted before.
    pub(super) again: bool,
    /// Whether it went to another queue than the device's first.
    pub(super) elsewhere: bool,
}

/// What a pipeline's last dispatch left in its result buffers.
pub(super) type LastResults = HashMap<vk::Pipeline, Vec<Vec<u8>>>;

/// A range of a buffer.
#[derive(Clone, Copy)]
pub(super) struct BufferRange {
    pub(super) buffer: vk::Buffer,
    pub(super) offset: u64,
    pub(super) range: u64,
}

/// A queue that was given out, and the driver's that it is.
#[derive(Clone, Copy)]
pub(super) struct GivenQueue {
    pub(super) queue: vk::Queue,
    pub(super) own: vk::Queue,
}
