//! Commands that convert texels without a shader: clears, blits and copies.

use std::time::Duration;

use ash::vk;
use fpprobe_spirv::op::Code;
use fpprobe_spirv::plan::{self, Image as Texels, PlacedKernel};
use fpprobe_spirv::{Plan, Route};

use super::device::LogicalDevice;
use super::error::VulkanError;
use super::image::{Access, DeviceImage, ImageSpec};
use super::memory::DeviceBuffer;

/// Where a copy or a clear writes to.
const TARGET: Access = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::AccessFlags::TRANSFER_WRITE);
/// Where a copy or a blit reads from.
const SOURCE: Access = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::AccessFlags::TRANSFER_READ);
/// Contents that are of no interest.
const NOTHING: Access = (vk::ImageLayout::UNDEFINED, vk::AccessFlags::empty());
/// Layers that are cleared one by one before they are copied back together.
const LAYERS: u32 = 256;
/// Components of a texel of `VK_FORMAT_R32G32B32A32_SFLOAT`, which every device blits from and to.
const QUAD: usize = 4;
/// What a component is that the operand lacks.
const ONE: u32 = 0x3f80_0000;

/// A command from one whole image to another of the same extent.
type Conversion = fn(&ash::Device, vk::CommandBuffer, &DeviceImage, &DeviceImage);

impl LogicalDevice {
    /// Has a plan without a module carried out; buffers and texels as for [`Device::dispatch`].
    pub(super) fn command(
        &mut self,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), VulkanError> {
        let (Some(image), [placed], [texels]) = (plan.image(), &plan.placed[..], texels) else {
            return Err(VulkanError::argument(
                "vkBeginCommandBuffer",
                "the plan has no image to convert",
            ));
        };
        match (image.route, image.is_written()) {
            (Route::Clear, _) => self.clear(&image, placed, texels, timeout),
            (Route::Copy, _) => {
                let source = operands(plan, placed, buffers, own_bytes(placed));
                let spec = ImageSpec::of(&image, vk::ImageUsageFlags::empty())?;
                self.convert((&spec, &source), (&spec, texels), copy, timeout)
            }
            (_, true) if image.code == Code::TexelConvert => {
                let format = placed.params[0].shape.format;
                let source = operands(plan, placed, buffers, own_bytes(placed));
                let spec = ImageSpec::of(&image, vk::ImageUsageFlags::empty())?;
                let given =
                    ImageSpec::of(&Texels { format, ..image }, vk::ImageUsageFlags::empty())?;
                self.convert((&given, &source), (&spec, texels), blit, timeout)
            }
            (_, true) => {
                let source = operands(plan, placed, buffers, |values| {
                    let given = values.iter().map(|bits| *bits as u32);
                    let all = given.chain([0, 0, 0, ONE].into_iter().skip(values.len()));
                    all.flat_map(u32::to_le_bytes).collect()
                });
                let spec = ImageSpec::of(&image, vk::ImageUsageFlags::empty())?;
                self.convert((&singles(&spec), &source), (&spec, texels), blit, timeout)
            }
            (_, false) => {
                let spec = ImageSpec::of(&image, vk::ImageUsageFlags::empty())?;
                let region = &placed.results[0];
                let bytes = &mut buffers[region.buffer];
                let side = image.format.side();
                let mut quads = vec![0; image.texels() * (side * side) as usize * QUAD * 4];
                let channels = image.format.channels().len() as u32;
                let place = |slot: u32, component: u32| {
                    let (texel, channel) = (component / channels, component % channels);
                    let column = slot % plan::IMAGE_WIDTH * side + texel % side;
                    let row = slot / plan::IMAGE_WIDTH * side + texel / side;
                    ((row * plan::IMAGE_WIDTH * side + column) as usize * QUAD + channel as usize)
                        * 4
                };
                let lanes = || {
                    (0..placed.slots)
                        .flat_map(|slot| (0..region.shape.width).map(move |part| (slot, part)))
                };
                for (slot, part) in lanes() {
                    let poison = plan::read(plan, bytes, region, slot, part) as u32;
                    quads[place(slot, part)..][..4].copy_from_slice(&poison.to_le_bytes());
                }
                self.convert((&spec, texels), (&singles(&spec), &mut quads), blit, timeout)?;
                for (slot, part) in lanes() {
                    let mut word = [0; 4];
                    word.copy_from_slice(&quads[place(slot, part)..][..4]);
                    plan::write(plan, bytes, region, slot, part, u32::from_le_bytes(word).into());
                }
                Ok(())
            }
        }
    }

    /// Clears one layer for each slot, and copies them back.
    fn clear(
        &mut self,
        image: &Texels,
        placed: &PlacedKernel,
        texels: &mut [u8],
        timeout: Duration,
    ) -> Result<(), VulkanError> {
        let size = image.format.bits() as usize / 8;
        let count = LAYERS.min(self.limits.max_image_array_layers).min(placed.slots).max(1);
        let spec = ImageSpec {
            extent: [1, 1],
            layers: count,
            ..ImageSpec::of(image, vk::ImageUsageFlags::empty())?
        };
        let target = DeviceImage::new(&self.logical, self.physical, &spec)?;
        self.fill_texels(&[&*texels])?;
        self.begin()?;
        let Some(Some(buffer)) = self.texels.first() else { return Ok(()) };
        let (device, commands) = (self.logical.raw(), self.commands);
        let colors = placed.values.chunks_exact(placed.kernel.arity()).map(|values| {
            let mut color = [0, 0, 0, ONE];
            for (part, bits) in color.iter_mut().zip(values) {
                *part = *bits as u32;
            }
            color
        });
        let colors: Vec<[u32; QUAD]> = colors.collect();
        for (number, colors) in colors.chunks(count as usize).enumerate() {
            let mut region = target.copy((number * count as usize * size) as u64);
            region.image_subresource.layer_count = colors.len() as u32;
            self.between(&[target.barrier(NOTHING, TARGET)]);
            // SAFETY: the command buffer is recording; image and buffer outlive the submission; the
            // buffer holds a texel for every slot; the layouts follow from one another.
            unsafe {
                device.cmd_copy_buffer_to_image(
                    commands,
                    buffer.raw(),
                    target.raw(),
                    TARGET.0,
                    &[region],
                );
            };
            self.between(&[target.barrier(TARGET, TARGET)]);
            for (layer, color) in (0..).zip(colors) {
                let range = [target.range(layer, 1)];
                if image.format.is_depth() {
                    let depth =
                        vk::ClearDepthStencilValue { depth: f32::from_bits(color[0]), stencil: 0 };
                    // SAFETY: as above; the queue draws, and the depth lies between 0 and 1.
                    unsafe {
                        device.cmd_clear_depth_stencil_image(
                            commands,
                            target.raw(),
                            TARGET.0,
                            &depth,
                            &range,
                        );
                    };
                } else {
                    let color = vk::ClearColorValue { uint32: *color };
                    // SAFETY: as above.
                    unsafe {
                        device.cmd_clear_color_image(
                            commands,
                            target.raw(),
                            TARGET.0,
                            &color,
                            &range,
                        );
                    };
                }
            }
            self.between(&[target.barrier(TARGET, SOURCE)]);
            // SAFETY: as above.
            unsafe {
                device.cmd_copy_image_to_buffer(
                    commands,
                    target.raw(),
                    SOURCE.0,
                    buffer.raw(),
                    &[region],
                );
            };
        }
        self.end()?;
        self.submit(timeout)?;
        buffer.read(texels)
    }

    /// Fills both images, has one converted into the other, and copies that back.
    fn convert(
        &mut self,
        (from, given): (&ImageSpec, &[u8]),
        (to, result): (&ImageSpec, &mut [u8]),
        conversion: Conversion,
        timeout: Duration,
    ) -> Result<(), VulkanError> {
        let source = DeviceImage::new(&self.logical, self.physical, from)?;
        let target = DeviceImage::new(&self.logical, self.physical, to)?;
        DeviceBuffer::fit(&mut self.staging, &self.logical, given.len())?.write(given)?;
        self.fill_texels(&[&*result])?;
        self.begin()?;
        let (Some(staging), Some(Some(texels))) = (&self.staging, self.texels.first()) else {
            return Ok(());
        };
        let (device, commands) = (self.logical.raw(), self.commands);
        self.between(&[source.barrier(NOTHING, TARGET), target.barrier(NOTHING, TARGET)]);
        // SAFETY: the command buffer is recording; images and buffers outlive the submission; each
        // buffer holds the texels of its whole image; the layouts follow from one another.
        unsafe {
            device.cmd_copy_buffer_to_image(
                commands,
                staging.raw(),
                source.raw(),
                TARGET.0,
                &[source.copy(0)],
            );
            device.cmd_copy_buffer_to_image(
                commands,
                texels.raw(),
                target.raw(),
                TARGET.0,
                &[target.copy(0)],
            );
        }
        self.between(&[source.barrier(TARGET, SOURCE), target.barrier(TARGET, TARGET)]);
        conversion(device, commands, &source, &target);
        self.between(&[target.barrier(TARGET, SOURCE)]);
        // SAFETY: as above.
        unsafe {
            device.cmd_copy_image_to_buffer(
                commands,
                target.raw(),
                SOURCE.0,
                texels.raw(),
                &[target.copy(0)],
            );
        };
        self.end()?;
        self.submit(timeout)?;
        staging.holds(given)?;
        texels.read(result)
    }

    /// Between two commands of the transfer stage.
    fn between(&self, barriers: &[vk::ImageMemoryBarrier<'_>]) {
        let stage = vk::PipelineStageFlags::TRANSFER;
        // SAFETY: the command buffer is recording, outside a render pass; the images outlive the
        // submission.
        unsafe {
            let flags = vk::DependencyFlags::empty();
            self.logical.raw().cmd_pipeline_barrier(
                self.commands,
                stage,
                stage,
                flags,
                &[],
                &[],
                barriers,
            );
        }
    }
}

/// An image of the same extent with four times binary32 for a texel.
fn singles(spec: &ImageSpec) -> ImageSpec {
    let format = vk::Format::R32G32B32A32_SFLOAT;
    ImageSpec { format, viewed: format, ..*spec }
}

/// The values of a slot as the bytes of a texel of their own format, or of a block.
fn own_bytes(placed: &PlacedKernel) -> impl Fn(&[u64]) -> Vec<u8> {
    let size = placed.params[0].shape.format.bits() as usize / 8;
    move |values| {
        values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect()
    }
}

/// The operands of every slot, one after the other, as bytes; the rest of the image's texels are
/// zeros.
fn operands(
    plan: &Plan,
    placed: &PlacedKernel,
    buffers: &[Vec<u8>],
    bytes: impl Fn(&[u64]) -> Vec<u8>,
) -> Vec<u8> {
    let region = &placed.params[0];
    let of_slot = |slot: u32| -> Vec<u64> {
        let parts = 0..region.shape.width;
        parts.map(|part| plan::read(plan, &buffers[region.buffer], region, slot, part)).collect()
    };
    let mut all: Vec<u8> = (0..placed.slots).flat_map(|slot| bytes(&of_slot(slot))).collect();
    let texel = all.len() / placed.slots.max(1) as usize;
    all.resize(placed.image.map_or(0, |image| image.texels()) * texel, 0);
    all
}

fn copy(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    source: &DeviceImage,
    target: &DeviceImage,
) {
    let region = vk::ImageCopy::default()
        .src_subresource(source.subresource())
        .dst_subresource(target.subresource())
        .extent(source.extent());
    // SAFETY: the command buffer is recording; both images are in these layouts, of one format and
    // extent.
    unsafe {
        device.cmd_copy_image(commands, source.raw(), SOURCE.0, target.raw(), TARGET.0, &[region]);
    };
}

fn blit(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    source: &DeviceImage,
    target: &DeviceImage,
) {
    let vk::Extent3D { width, height, .. } = source.extent();
    let whole = [
        vk::Offset3D::default(),
        vk::Offset3D { x: width.cast_signed(), y: height.cast_signed(), z: 1 },
    ];
    let region = vk::ImageBlit::default()
        .src_subresource(source.subresource())
        .dst_subresource(target.subresource())
        .src_offsets(whole)
        .dst_offsets(whole);
    let nearest = vk::Filter::NEAREST;
    // SAFETY: the command buffer is recording, on a queue that draws; both images are in these
    // layouts and of one extent, and their formats can be blitted.
    unsafe {
        device.cmd_blit_image(
            commands,
            source.raw(),
            SOURCE.0,
            target.raw(),
            TARGET.0,
            &[region],
            nearest,
        );
    };
}
