//! One module, run once: upload, dispatch, wait, read back.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use fpprobe_spirv::op::FixedFunctionState;
use fpprobe_spirv::plan::constant_block::{Dispatch, UNIFORM_BYTES};
use fpprobe_spirv::plan::{self, Direction};
use fpprobe_spirv::{Plan, Route, Stage};

use super::constant_blocks::{self, uniform};
use super::device::LogicalDevice;
use super::error::{CallName, ErrorKind, VulkanError};
use super::handles::{Logical, OwnedHandle};
use super::image::{DeviceImage, ImageSpec, descriptor};
use super::memory::DeviceBuffer;
use super::pipeline::Pipeline;
use super::prepared::{DispatchResources, TexelAccess, unprepared};
use super::render_target::{RenderTarget, attached};
use super::sampler::sampler;
use super::states::states;

/// Layout of a plan's images while a shader is at them.
fn layout(plan: &Plan) -> vk::ImageLayout {
    match plan.route() {
        Some(Route::Sampled | Route::View) => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        Some(route) if route.is_drawn() => attached(plan),
        _ => vk::ImageLayout::GENERAL,
    }
}

impl LogicalDevice {
    /// Compiles `words`, the module of `plan`, and runs its work groups once; or has a plan without
    /// a module, for which there are no words, carried out by a command.
    ///
    /// `buffers` holds the bytes of each of the plan's buffers, inputs and outputs; `texels` those
    /// of each of its images, packed. All are uploaded before; outputs and texels are replaced,
    /// if the device finishes within `timeout`, by what is there afterwards. Writes to inputs,
    /// or behind a buffer's range, are an error. After [`ErrorKind::Hung`] the device refuses
    /// everything in this process; after [`ErrorKind::DeviceLost`] a new one must be made.
    pub fn dispatch(
        &mut self,
        words: &[u32],
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), VulkanError> {
        self.prepared = None;
        if words.is_empty() && !plan.is_command() {
            return Err(VulkanError::argument("vkCreateShaderModule", "the module is empty"));
        }
        self.check(plan, buffers, texels)?;
        if plan.is_command() {
            return self.command(plan, buffers, texels, timeout);
        }
        let prepared = self.prepare(words, plan)?;
        self.launch(&prepared, plan, buffers, texels, timeout)?;
        self.prepared = Some(prepared);
        Ok(())
    }

    /// Runs the module of the last [`LogicalDevice::dispatch`], which succeeded, again, by the same
    /// pipeline. The plan is the same but for operands and the number of work groups.
    pub fn again(
        &mut self,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), VulkanError> {
        let prepared = self.prepared.take().ok_or_else(unprepared)?;
        self.check(plan, buffers, texels)?;
        self.launch(&prepared, plan, buffers, texels, timeout)?;
        self.prepared = Some(prepared);
        Ok(())
    }

    /// Compiles a module, and makes the images that it works on.
    fn prepare(&self, words: &[u32], plan: &Plan) -> Result<DispatchResources, VulkanError> {
        // Texels lie in a buffer or in an image.
        let in_buffer = matches!(plan.route(), Some(Route::TexelBuffer | Route::Vertex));
        let images = plan.images().filter(|_| !in_buffer).map(|image| self.image(&image));
        let images = images.collect::<Result<Vec<_>, _>>()?;
        let draws = plan.shader() != Stage::Compute;
        let target = draws
            .then(|| RenderTarget::new(&self.logical, self.physical, plan, &images))
            .transpose()?;
        let pipeline = Pipeline::new(&self.logical, words, plan, target.as_ref())?;
        Ok(DispatchResources { pipeline, target, images })
    }

    /// Runs a module's work groups over this memory.
    pub(super) fn launch(
        &mut self,
        prepared: &DispatchResources,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), VulkanError> {
        let DispatchResources { pipeline, target, images } = prepared;
        let dispatches = plan.dispatches();
        let texel_buffer = plan.route() == Some(Route::TexelBuffer);
        self.fill(buffers)?;
        self.fill_texels(texels)?;
        let views = plan.images().filter(|_| texel_buffer).map(|image| self.texel_view(&image));
        let views = views.collect::<Result<Vec<_>, _>>()?;
        let blocks = constant_blocks::bytes(plan, &dispatches);
        self.fill_blocks(&blocks)?;
        let states = states(plan, buffers);
        let drawing = target.as_ref().map(|target| (target, &states[..]));
        let mut texel_access = TexelAccess { images, views, sampler: None };
        if plan.image().is_some_and(|image| image.state() == Some(FixedFunctionState::BorderColor))
        {
            self.border_colors(plan, pipeline, &mut texel_access, &states, buffers, timeout)?;
        } else {
            texel_access.sampler =
                plan.image().map(|_| sampler(&self.logical, None)).transpose()?;
            self.describe(plan, pipeline, &texel_access);
            self.record(plan, pipeline, &dispatches, images, drawing)?;
            self.submit(timeout)?;
            self.read_back(plan, buffers)?;
        }

        if let Some(buffer) = self.blocks.as_ref().filter(|_| !blocks.is_empty()) {
            buffer.holds(&blocks)?;
        }
        for ((buffer, image), texels) in self.texels.iter().flatten().zip(plan.images()).zip(texels)
        {
            if image.is_written() {
                buffer.read(texels)?;
            } else if !image.is_scratch() {
                buffer.holds(texels)?;
            }
        }
        Ok(())
    }

    /// Puts the bytes into buffers.
    pub(super) fn fill(&mut self, buffers: &[Vec<u8>]) -> Result<(), VulkanError> {
        fill(&mut self.buffers, &self.logical, buffers)
    }

    /// Puts the texels of each image into a buffer.
    pub(super) fn fill_texels(&mut self, texels: &[impl AsRef<[u8]>]) -> Result<(), VulkanError> {
        fill(&mut self.texels, &self.logical, texels)
    }

    /// What is in the buffers of results; an error if those of operands have changed.
    pub(super) fn read_back(
        &self,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
    ) -> Result<(), VulkanError> {
        for ((place, bytes), planned) in self.buffers.iter().zip(buffers).zip(&plan.buffers) {
            if let Some(buffer) = place {
                match planned.direction {
                    Direction::In => buffer.holds(bytes)?,
                    Direction::Out => buffer.read(bytes)?,
                }
            }
        }
        Ok(())
    }

    /// The same error, and where it tells of a lost device what the driver says of that.
    pub fn explain(&self, error: VulkanError) -> VulkanError {
        self.logical.explain(error)
    }

    /// Refuses what the device has no room for, arguments that do not fit each other, and
    /// everything after a hang.
    pub(super) fn check(
        &self,
        plan: &Plan,
        buffers: &[Vec<u8>],
        texels: &[Vec<u8>],
    ) -> Result<(), VulkanError> {
        if self.logical.is_abandoned() {
            let kind = ErrorKind::Hung;
            return Err(VulkanError {
                call: "vkWaitForFences",
                kind,
                detail: "an earlier dispatch never ended".into(),
            });
        }
        let limits = &self.limits;
        if plan.shader() == Stage::Compute && plan.group() > self.most_invocations() {
            let what = format!(
                "work group of {} invocations; at most {}",
                plan.group(),
                self.most_invocations()
            );
            return Err(VulkanError::limit("vkCreateComputePipelines", what));
        }
        let fit = buffers.len() == plan.buffers.len()
            && buffers
                .iter()
                .zip(&plan.buffers)
                .all(|(bytes, buffer)| bytes.len() == buffer.bytes());
        let of_images = plan.images().map(|image| image.bytes()).eq(texels.iter().map(Vec::len));
        if !fit || buffers.iter().any(Vec::is_empty) || !of_images {
            return Err(VulkanError::argument(
                "vkUpdateDescriptorSets",
                "the data do not have the plan's sizes",
            ));
        }
        let most = limits.max_per_stage_descriptor_storage_buffers;
        if buffers.len() > most as usize {
            let what = format!("{} storage buffers; at most {most}", buffers.len());
            return Err(VulkanError::limit("vkCreateDescriptorSetLayout", what));
        }
        let [width, height] = plan.extent();
        let (most_wide, most_high) = (limits.max_framebuffer_width, limits.max_framebuffer_height);
        if width > most_wide || height > most_high {
            let what =
                format!("attachment of {width}x{height} texels; at most {most_wide}x{most_high}");
            return Err(VulkanError::limit("vkCreateFramebuffer", what));
        }
        let most = limits.max_storage_buffer_range;
        if let Some(bytes) = buffers.iter().find(|bytes| bytes.len() > most as usize) {
            let what = format!("storage buffer of {} bytes; at most {most}", bytes.len());
            return Err(VulkanError::limit("vkUpdateDescriptorSets", what));
        }
        if plan.is_command() { Ok(()) } else { self.check_blocks(plan, &plan.dispatches()) }
    }

    /// The image of a texel kernel.
    fn image(&self, image: &plan::Image) -> Result<DeviceImage, VulkanError> {
        let usage = match image.route {
            Route::Sampled | Route::View => vk::ImageUsageFlags::SAMPLED,
            Route::Attachment if image.format.is_depth() => {
                vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
            }
            Route::Attachment | Route::Resolve => vk::ImageUsageFlags::COLOR_ATTACHMENT,
            _ => vk::ImageUsageFlags::STORAGE,
        };
        DeviceImage::new(&self.logical, self.physical, &ImageSpec::of(image, usage)?)
    }

    /// The texels of an image as a texel buffer.
    fn texel_view(&self, image: &plan::Image) -> Result<OwnedHandle<vk::BufferView>, VulkanError> {
        let most = self.limits.max_texel_buffer_elements as usize;
        let count = image.texels();
        if count > most {
            let what = format!("texel buffer of {count} texels; at most {most}");
            return Err(VulkanError::limit("vkCreateBufferView", what));
        }
        let ImageSpec { format, .. } = ImageSpec::of(image, vk::ImageUsageFlags::empty())?;
        let buffer = self
            .texels
            .get(image.number as usize)
            .and_then(Option::as_ref)
            .map(DeviceBuffer::raw)
            .unwrap_or_default();
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffer)
            .format(format)
            .range(image.bytes() as u64);
        // SAFETY: the structure lives until after the call; the buffer is this device's and holds
        // as many bytes.
        let view = unsafe { self.logical.raw().create_buffer_view(&info, None) }
            .named("vkCreateBufferView")?;
        Ok(OwnedHandle::new(&self.logical, view))
    }

    /// Points the pipeline's descriptor set at the buffers and the images.
    pub(super) fn describe(&self, plan: &Plan, pipeline: &Pipeline, texels: &TexelAccess<'_>) {
        let infos: Vec<_> = plan
            .buffers
            .iter()
            .zip(self.buffers.iter().flatten())
            .map(|(planned, buffer)| {
                let info = vk::DescriptorBufferInfo::default()
                    .buffer(buffer.raw())
                    .range(planned.bytes() as u64);
                (planned.binding(), [info])
            })
            .collect();
        let images = texels.images.iter().map(|image| {
            let info = vk::DescriptorImageInfo::default()
                .image_view(image.view())
                .image_layout(layout(plan));
            [info.sampler(texels.sampler.as_ref().map(OwnedHandle::raw).unwrap_or_default())]
        });
        let images: Vec<_> = images.collect();
        let views: Vec<_> = texels.views.iter().map(|view| [view.raw()]).collect();
        let bound =
            || plan.images().filter_map(|image| Some((image.binding(), descriptor(&image)?)));
        let write = |binding, kind| {
            vk::WriteDescriptorSet::default()
                .dst_set(pipeline.set())
                .dst_binding(binding)
                .descriptor_type(kind)
        };
        let buffers = infos.iter().map(|(binding, info)| {
            write(*binding, vk::DescriptorType::STORAGE_BUFFER).buffer_info(info)
        });
        let images = bound()
            .zip(&images)
            .map(|((binding, kind), info)| write(binding, kind).image_info(info));
        let views = bound()
            .zip(&views)
            .map(|((binding, kind), view)| write(binding, kind).texel_buffer_view(view));
        let blocks = uniform(plan).zip(self.blocks.as_ref()).map(|((binding, kind), buffer)| {
            let range = u64::from(UNIFORM_BYTES);
            (binding, kind, [vk::DescriptorBufferInfo::default().buffer(buffer.raw()).range(range)])
        });
        let blocks =
            blocks.iter().map(|(binding, kind, info)| write(*binding, *kind).buffer_info(info));
        let writes: Vec<_> = buffers.chain(images).chain(views).chain(blocks).collect();
        // SAFETY: the set was allocated with these bindings and no command buffer uses it; buffers
        // and view are alive, and each buffer is at least as long as its range.
        unsafe { self.logical.raw().update_descriptor_sets(&writes, &[]) };
    }

    /// Records everything, from upload to download.
    pub(super) fn record(
        &self,
        plan: &Plan,
        pipeline: &Pipeline,
        dispatches: &[Dispatch],
        images: &[DeviceImage],
        drawing: Option<(&RenderTarget, &[Vec<u64>])>,
    ) -> Result<(), VulkanError> {
        self.begin()?;
        let texels = || images.iter().zip(self.texels.iter().flatten());
        texels().for_each(|(image, buffer)| self.upload(image, buffer, layout(plan)));
        // SAFETY: the command buffer is recording; pipeline, layout and set belong together and,
        // like what the set describes, live until the submission has been waited for;
        // `check_blocks` has seen the dispatches.
        unsafe {
            match drawing {
                Some((target, states)) => self.record_draw(plan, pipeline, target, states),
                None => self.record_dispatches(plan, pipeline, dispatches),
            }
        }
        let written =
            plan.route().is_some_and(|route| route == Route::StorageImage || route.is_drawn());
        texels()
            .filter(|_| written)
            .for_each(|(image, buffer)| self.download(image, buffer, layout(plan)));
        self.end()
    }

    /// Stages at which shaders read and write, where the queue has them.
    fn shaders(&self) -> vk::PipelineStageFlags {
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
        if self.draws { compute | vk::PipelineStageFlags::ALL_GRAPHICS } else { compute }
    }

    /// Begins the device's only command buffer.
    pub(super) fn begin(&self) -> Result<(), VulkanError> {
        let (device, commands) = (self.logical.raw(), self.commands);
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool's only command buffer is not pending, since every submission was waited
        // for.
        unsafe { device.reset_command_pool(self.pool.raw(), vk::CommandPoolResetFlags::empty()) }
            .named("vkResetCommandPool")?;
        // SAFETY: the command buffer is in its initial state.
        unsafe { device.begin_command_buffer(commands, &begin) }.named("vkBeginCommandBuffer")
    }

    /// Ends it, with everything that was written visible to the host.
    pub(super) fn end(&self) -> Result<(), VulkanError> {
        let (device, commands) = (self.logical.raw(), self.commands);
        // A fence makes nothing visible to the host; this does ("Host Access to Device Memory
        // Objects").
        let visible = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let from = self.shaders() | vk::PipelineStageFlags::TRANSFER;
        // SAFETY: the command buffer is recording, outside a render pass.
        unsafe {
            let flags = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(
                commands,
                from,
                vk::PipelineStageFlags::HOST,
                flags,
                &[visible],
                &[],
                &[],
            );
        }
        // SAFETY: the command buffer is recording.
        unsafe { device.end_command_buffer(commands) }.named("vkEndCommandBuffer")
    }

    /// Fills the image from the buffer and hands it to the shader. What the host wrote into the
    /// buffer is visible already: submitting sees to that ("Host Write Ordering Guarantees").
    fn upload(&self, image: &DeviceImage, buffer: &DeviceBuffer, layout: vk::ImageLayout) {
        let (device, commands) = (self.logical.raw(), self.commands);
        let target = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::AccessFlags::TRANSFER_WRITE);
        let shader = match layout {
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL => {
                vk::AccessFlags::COLOR_ATTACHMENT_READ | vk::AccessFlags::COLOR_ATTACHMENT_WRITE
            }
            vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL => {
                vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ
                    | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE
            }
            _ => vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE,
        };
        let filled = image.barrier((vk::ImageLayout::UNDEFINED, vk::AccessFlags::empty()), target);
        let handed = image.barrier(target, (layout, shader));
        let (top, copy) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is recording; image and buffer outlive the submission; the
        // buffer holds at least the texels of the whole image; the layouts follow from one
        // another.
        unsafe {
            device.cmd_pipeline_barrier(commands, top, copy, flags, &[], &[], &[filled]);
            device.cmd_copy_buffer_to_image(
                commands,
                buffer.raw(),
                image.raw(),
                target.0,
                &[image.copy(0)],
            );
            device.cmd_pipeline_barrier(commands, copy, self.shaders(), flags, &[], &[], &[handed]);
        }
    }

    /// Copies the image back into the buffer when the shader is done with it. The earlier copy out
    /// of that buffer is over by then: the barriers before and after the dispatch form one
    /// chain of execution dependencies.
    fn download(&self, image: &DeviceImage, buffer: &DeviceBuffer, layout: vk::ImageLayout) {
        let (device, commands) = (self.logical.raw(), self.commands);
        let source = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::AccessFlags::TRANSFER_READ);
        let access = match layout {
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL => vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
            vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL => {
                vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE
            }
            _ => vk::AccessFlags::SHADER_WRITE,
        };
        let done = image.barrier((layout, access), source);
        let copy = vk::PipelineStageFlags::TRANSFER;
        // SAFETY: as for `upload`.
        unsafe {
            device.cmd_pipeline_barrier(
                commands,
                self.shaders(),
                copy,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &[done],
            );
            device.cmd_copy_image_to_buffer(
                commands,
                image.raw(),
                source.0,
                buffer.raw(),
                &[image.copy(0)],
            );
        }
    }

    /// Submits the recorded commands and waits for their end.
    pub(super) fn submit(&self, timeout: Duration) -> Result<(), VulkanError> {
        let device = self.logical.raw();
        let (fences, commands) = ([self.fence.raw()], [self.commands]);
        // SAFETY: the fence is this device's and no submission is pending.
        unsafe { device.reset_fences(&fences) }.named("vkResetFences")?;
        let submission = [vk::SubmitInfo::default().command_buffers(&commands)];
        {
            let _turn = self.logical.submitting();
            // SAFETY: the command buffer is executable; the fence is unsignalled; one thread at a
            // time submits to queues.
            unsafe { device.queue_submit(self.queue, &submission, fences[0]) }
                .named("vkQueueSubmit")?;
        }
        // The longest wait is not the largest number, which would mean for ever.
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX - 1);
        // SAFETY: the fence is this device's.
        let waited = unsafe { device.wait_for_fences(&fences, true, nanoseconds) };
        waited.map_err(|code| {
            // On a lost device everything that was submitted counts as complete ("Lost Device").
            // After any other failure the device may still be at it.
            if code != vk::Result::ERROR_DEVICE_LOST {
                self.logical.abandon();
            }
            if code == vk::Result::TIMEOUT {
                // Not how long: what was left of the time differs from run to run.
                return VulkanError {
                    call: "vkWaitForFences",
                    kind: ErrorKind::Hung,
                    detail: String::new(),
                };
            }
            VulkanError::result("vkWaitForFences", code)
        })
    }
}

/// Puts bytes into buffers, one for each.
fn fill(
    places: &mut Vec<Option<DeviceBuffer>>,
    logical: &Arc<Logical>,
    all: &[impl AsRef<[u8]>],
) -> Result<(), VulkanError> {
    places.resize_with(places.len().max(all.len()), || None);
    for (place, bytes) in places.iter_mut().zip(all) {
        let bytes = bytes.as_ref();
        DeviceBuffer::fit(place, logical, bytes.len())?.write(bytes)?;
    }
    Ok(())
}
