//! A sweep: one module, dispatched over and over, with the next dispatch running while the results
//! of the last are looked at.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use fpprobe_spirv::sweep::{BINDING, LANES, Push};

use super::constant_blocks::Specialisation;
use super::device::LogicalDevice;
use super::error::{CallName, ErrorKind, VulkanError};
use super::handles::{Logical, OwnedHandle};
use super::memory::DeviceBuffer;
use super::pipeline::{compile, descriptors};

/// A sweep's pipeline and what its dispatches fill by turns.
pub struct SweepPipeline {
    slots: [Slot; 2],
    /// The slot of the next dispatch.
    next: usize,
    /// When the device was last seen to be done with something.
    idle: Instant,
    pipeline: OwnedHandle<vk::Pipeline>,
    layout: OwnedHandle<vk::PipelineLayout>,
    _set_layout: OwnedHandle<vk::DescriptorSetLayout>,
    queue: vk::Queue,
    limits: vk::PhysicalDeviceLimits,
    /// Work groups of a block.
    columns: u32,
    logical: Arc<Logical>,
}

/// What a dispatch needs for itself.
struct Slot {
    buffer: Option<DeviceBuffer>,
    fence: OwnedHandle<vk::Fence>,
    commands: vk::CommandBuffer,
    pool: OwnedHandle<vk::CommandPool>,
    set: vk::DescriptorSet,
    _sets: OwnedHandle<vk::DescriptorPool>,
    /// Bytes that the dispatch under way fills, and since when it is.
    running: Option<(usize, Instant)>,
}

/// The results of a dispatch.
pub struct SweepResults<'a> {
    /// The buffer of results.
    pub bytes: &'a [u8],
    /// How long the device took, at most.
    pub took: Duration,
    /// Whether it was still at it when it was asked, so that it took as long as that.
    pub exact: bool,
}

impl LogicalDevice {
    /// Compiles a module of [`fpprobe_spirv::sweep`] with work groups of this size.
    pub fn sweep(&self, words: &[u32], group: u32) -> Result<SweepPipeline, VulkanError> {
        SweepPipeline::new(self, words, LANES / group.max(1))
    }
}

impl SweepPipeline {
    fn new(
        device: &LogicalDevice,
        words: &[u32],
        columns: u32,
    ) -> Result<SweepPipeline, VulkanError> {
        let logical = &device.logical;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .binding(BINDING)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: here and below, what an info structure points to lives until after the call, and
        // its handles are this device's and alive.
        let set_layout = unsafe { logical.raw().create_descriptor_set_layout(&info, None) };
        let set_layout =
            OwnedHandle::new(logical, set_layout.named("vkCreateDescriptorSetLayout")?);
        let set_layouts = [set_layout.raw()];
        let push = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(Push::BYTES)];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(&push);
        // SAFETY: see above.
        let layout = unsafe { logical.raw().create_pipeline_layout(&info, None) };
        let layout = OwnedHandle::new(logical, layout.named("vkCreatePipelineLayout")?);
        let pipeline = compile(logical, words, &Specialisation::none(), layout.raw(), None)?;
        let slot = || -> Result<Slot, VulkanError> {
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(device.family)
                .flags(vk::CommandPoolCreateFlags::TRANSIENT);
            // SAFETY: the family is one of the device's.
            let pool = unsafe { logical.raw().create_command_pool(&info, None) }
                .named("vkCreateCommandPool")?;
            let pool = OwnedHandle::new(logical, pool);
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool.raw())
                .command_buffer_count(1);
            // SAFETY: the pool is this device's; the buffer goes with it.
            let commands = unsafe { logical.raw().allocate_command_buffers(&info) }
                .named("vkAllocateCommandBuffers")?;
            // SAFETY: no pointer is passed.
            let fence =
                unsafe { logical.raw().create_fence(&vk::FenceCreateInfo::default(), None) };
            let fence = OwnedHandle::new(logical, fence.named("vkCreateFence")?);
            let (sets, set) = descriptors(logical, &bindings, &set_layouts)?;
            let commands = commands.first().copied().unwrap_or_default();
            Ok(Slot { buffer: None, fence, commands, pool, set, _sets: sets, running: None })
        };
        Ok(SweepPipeline {
            slots: [slot()?, slot()?],
            next: 0,
            idle: Instant::now(),
            pipeline,
            layout,
            _set_layout: set_layout,
            queue: device.queue,
            limits: device.limits,
            columns,
            logical: Arc::clone(logical),
        })
    }

    /// Starts a dispatch over N blocks, which fill M words; each byte of these is `fill` before. At
    /// most two may be under way.
    pub fn start(
        &mut self,
        push: Push,
        blocks: u32,
        words: u64,
        fill: u8,
    ) -> Result<(), VulkanError> {
        let [most_x, most_y, _] = self.limits.max_compute_work_group_count;
        if self.columns > most_x || blocks > most_y {
            let what =
                format!("{} x {blocks} work groups; at most {most_x} x {most_y}", self.columns);
            return Err(VulkanError::limit("vkCmdDispatch", what));
        }
        let (bytes, most) = (words * 4, u64::from(self.limits.max_storage_buffer_range));
        if bytes > most {
            let what = format!("storage buffer of {bytes} bytes; at most {most}");
            return Err(VulkanError::limit("vkUpdateDescriptorSets", what));
        }
        let number = self.next;
        let slot = &mut self.slots[number];
        if slot.running.is_some() {
            return Err(VulkanError::argument(
                "vkQueueSubmit",
                "two dispatches of the sweep are under way",
            ));
        }
        let buffer = DeviceBuffer::fit(&mut slot.buffer, &self.logical, bytes as usize)?;
        buffer.fill(fill, bytes as usize)?;
        let info = [vk::DescriptorBufferInfo::default().buffer(buffer.raw()).range(bytes)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(slot.set)
            .dst_binding(BINDING)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&info);
        // SAFETY: the set was allocated with this binding and its slot's command buffer is not
        // pending; the buffer is alive and at least as long as its range.
        unsafe { self.logical.raw().update_descriptor_sets(&[write], &[]) };
        self.record(number, push, blocks)?;
        let slot = &self.slots[number];
        let (fences, commands) = ([slot.fence.raw()], [slot.commands]);
        // SAFETY: the fence is this device's and its submission has been waited for.
        unsafe { self.logical.raw().reset_fences(&fences) }.named("vkResetFences")?;
        let submission = [vk::SubmitInfo::default().command_buffers(&commands)];
        let _turn = self.logical.submitting();
        // SAFETY: the command buffer is executable; the fence is unsignalled; one thread at a time
        // submits to queues.
        unsafe { self.logical.raw().queue_submit(self.queue, &submission, fences[0]) }
            .named("vkQueueSubmit")?;
        self.slots[number].running = Some((bytes as usize, Instant::now()));
        self.next = 1 - number;
        Ok(())
    }

    fn record(&self, number: usize, push: Push, blocks: u32) -> Result<(), VulkanError> {
        let (device, slot) = (self.logical.raw(), &self.slots[number]);
        let (commands, point) = (slot.commands, vk::PipelineBindPoint::COMPUTE);
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool's only command buffer is not pending, since its submission was waited
        // for.
        unsafe { device.reset_command_pool(slot.pool.raw(), vk::CommandPoolResetFlags::empty()) }
            .named("vkResetCommandPool")?;
        // SAFETY: the command buffer is in its initial state.
        unsafe { device.begin_command_buffer(commands, &begin) }.named("vkBeginCommandBuffer")?;
        let visible = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
        // SAFETY: the command buffer is recording; pipeline, layout and set belong together and
        // live as long as `self`, which waits for what it has submitted; `start` has
        // compared the work groups with the limits. A fence makes nothing visible to the
        // host; the barrier does ("Host Access to Device Memory Objects").
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline.raw());
            device.cmd_bind_descriptor_sets(
                commands,
                point,
                self.layout.raw(),
                0,
                &[slot.set],
                &[],
            );
            let stage = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, self.layout.raw(), stage, 0, &push.bytes());
            device.cmd_dispatch(commands, self.columns, blocks, 1);
            device.cmd_pipeline_barrier(
                commands,
                from,
                to,
                vk::DependencyFlags::empty(),
                &[visible],
                &[],
                &[],
            );
        }
        // SAFETY: the command buffer is recording.
        unsafe { device.end_command_buffer(commands) }.named("vkEndCommandBuffer")
    }

    /// Waits for the older of the dispatches that are under way.
    pub fn finish(&mut self, timeout: Duration) -> Result<SweepResults<'_>, VulkanError> {
        let oldest =
            [self.next, 1 - self.next].into_iter().find(|slot| self.slots[*slot].running.is_some());
        let Some(number) = oldest else {
            return Err(VulkanError::argument(
                "vkWaitForFences",
                "no dispatch of the sweep is under way",
            ));
        };
        let exact = !self.wait(number, Duration::ZERO)?;
        if exact && !self.wait(number, timeout)? {
            self.logical.abandon();
            return Err(VulkanError {
                call: "vkWaitForFences",
                kind: ErrorKind::Hung,
                detail: String::new(),
            });
        }
        let slot = &mut self.slots[number];
        let (bytes, since) = slot.running.take().unwrap_or((0, self.idle));
        let took = since.max(self.idle).elapsed();
        self.idle = Instant::now();
        let buffer =
            slot.buffer.as_ref().ok_or_else(|| VulkanError::missing("vkCreateBuffer", "buffer"))?;
        Ok(SweepResults { bytes: buffer.bytes(bytes)?, took, exact })
    }

    /// Whether a slot's dispatch is done within this time.
    fn wait(&self, number: usize, timeout: Duration) -> Result<bool, VulkanError> {
        let fences = [self.slots[number].fence.raw()];
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX - 1);
        // SAFETY: the fence is this device's and was submitted.
        match unsafe { self.logical.raw().wait_for_fences(&fences, true, nanoseconds) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(code) => {
                // On a lost device everything that was submitted counts as complete ("Lost
                // Device"). After any other failure the device may still be at it.
                if code != vk::Result::ERROR_DEVICE_LOST {
                    self.logical.abandon();
                }
                Err(VulkanError::result("vkWaitForFences", code))
            }
        }
    }
}

impl Drop for SweepPipeline {
    fn drop(&mut self) {
        // What is under way uses everything here; a device that does not end is left to the end of
        // the process.
        let pending = (0..2).filter(|number| self.slots[*number].running.is_some());
        let done =
            |number: usize| self.logical.is_abandoned() || self.wait(number, LAST) == Ok(true);
        if !pending.map(done).collect::<Vec<_>>().into_iter().all(|done| done) {
            self.logical.abandon();
        }
    }
}

/// How long the end of a sweep waits for what is still under way.
const LAST: Duration = Duration::from_secs(2);
