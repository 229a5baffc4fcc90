//! Images: where a device converts to and from the formats of texels.

use std::sync::Arc;

use ash::vk;
use fpprobe_spirv::{Format, Route, plan};
use gpu_allocator::MemoryLocation;

use super::error::{CallName, VulkanError};
use super::handles::{Logical, OwnedHandle};
use super::memory::BoundMemory;

/// Vulkan's format for a packed format; `None` for scalars, which are no image formats here.
pub(super) fn vulkan_format(format: Format) -> Option<vk::Format> {
    format.vulkan().map(|(number, _)| vk::Format::from_raw(number))
}

/// How a shader gets at a texel kernel's image; `None` for attachments and attributes, which are no
/// descriptors.
pub(super) fn descriptor(image: &plan::Image) -> Option<vk::DescriptorType> {
    match image.route {
        Route::Attachment | Route::Resolve | Route::Vertex => None,
        Route::TexelBuffer => Some(vk::DescriptorType::UNIFORM_TEXEL_BUFFER),
        Route::Sampled if image.is_filtered() => Some(vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
        Route::Sampled | Route::View => Some(vk::DescriptorType::SAMPLED_IMAGE),
        _ => Some(vk::DescriptorType::STORAGE_IMAGE),
    }
}

/// What an image is to be.
#[derive(Clone, Copy)]
pub(super) struct ImageSpec {
    /// The packed format that it is for, for messages.
    pub(super) about: Format,
    /// Its own format.
    pub(super) format: vk::Format,
    /// Width and height in texels.
    pub(super) extent: [u32; 2],
    /// Layers.
    pub(super) layers: u32,
    /// What it is used for; one of a single sample is copied to and from, too.
    pub(super) usage: vk::ImageUsageFlags,
    /// Samples of a texel.
    pub(super) samples: vk::SampleCountFlags,
    /// Format that its view takes it for.
    pub(super) viewed: vk::Format,
}

impl ImageSpec {
    /// A texel kernel's image.
    pub(super) fn of(
        image: &plan::Image,
        usage: vk::ImageUsageFlags,
    ) -> Result<ImageSpec, VulkanError> {
        let format = vulkan_format(image.format).ok_or_else(|| {
            VulkanError::argument("vkCreateImage", format!("{} is no image format", image.format))
        })?;
        let own = if image.route == Route::View { integers(image.format) } else { format };
        let samples = vk::SampleCountFlags::TYPE_1;
        let extent = image.extent.map(|slots| slots * image.format.side());
        Ok(ImageSpec {
            about: image.format,
            format: own,
            extent,
            layers: 1,
            usage,
            samples,
            viewed: format,
        })
    }
}

/// Integers of the size of a format's texel (Vulkan, "Format Compatibility Classes").
const fn integers(format: Format) -> vk::Format {
    match format.bits() {
        8 => vk::Format::R8_UINT,
        16 => vk::Format::R16_UINT,
        64 => vk::Format::R32G32_UINT,
        _ => vk::Format::R32_UINT,
    }
}

/// A 2D image of one level, optimally tiled, with its view.
pub(super) struct DeviceImage {
    // Fields drop in order: view, image, memory.
    view: Option<OwnedHandle<vk::ImageView>>,
    raw: OwnedHandle<vk::Image>,
    _memory: BoundMemory,
    extent: [u32; 2],
    layers: u32,
    aspect: vk::ImageAspectFlags,
}

/// Layout of an image, and how it is got at there.
pub(super) type Access = (vk::ImageLayout, vk::AccessFlags);

impl DeviceImage {
    /// An image with undefined texels.
    pub(super) fn new(
        logical: &Arc<Logical>,
        physical: vk::PhysicalDevice,
        spec: &ImageSpec,
    ) -> Result<DeviceImage, VulkanError> {
        let ImageSpec { about, format, extent, layers: count, usage, samples, viewed } = *spec;
        let [width, height] = extent;
        let copies = match samples {
            vk::SampleCountFlags::TYPE_1 => {
                vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST
            }
            _ => vk::ImageUsageFlags::empty(),
        };
        let mutable = if viewed == format {
            vk::ImageCreateFlags::empty()
        } else {
            vk::ImageCreateFlags::MUTABLE_FORMAT
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(count)
            .flags(mutable)
            .samples(samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage | copies);
        // SAFETY: the device was made from this physical device of this instance.
        let most = unsafe {
            let instance = logical.instance().raw();
            instance.get_physical_device_image_format_properties(
                physical,
                format,
                info.image_type,
                info.tiling,
                info.usage,
                info.flags,
            )
        };
        let error_about =
            |error: VulkanError| error.about(format!("{about} image {width}x{height}"));
        let most = most.named("vkGetPhysicalDeviceImageFormatProperties").map_err(error_about)?;
        if width > most.max_extent.width
            || height > most.max_extent.height
            || count > most.max_array_layers
        {
            let (w, h, layers) =
                (most.max_extent.width, most.max_extent.height, most.max_array_layers);
            let limit = format!(
                "image of {width}x{height} texels, {count} layers; at most {w}x{h}, {layers}"
            );
            return Err(VulkanError::limit("vkCreateImage", limit));
        }
        if !most.sample_counts.contains(samples) {
            let what = format!(
                "{about} image of {} samples; offered: {:?}",
                samples.as_raw(),
                most.sample_counts
            );
            return Err(VulkanError::limit("vkCreateImage", what));
        }

        // SAFETY: the structure lives until after the call; the device supports format, usage and
        // extent.
        let raw = unsafe { logical.raw().create_image(&info, None) }
            .named("vkCreateImage")
            .map_err(error_about)?;
        let raw = OwnedHandle::new(logical, raw);
        // SAFETY: the image is this device's.
        let requirements = unsafe { logical.raw().get_image_memory_requirements(raw.raw()) };
        // Device memory where the image can live there, any other where it cannot.
        let memory = BoundMemory::new(logical, requirements, MemoryLocation::GpuOnly, false)
            .or_else(|_| BoundMemory::new(logical, requirements, MemoryLocation::Unknown, false))?;
        let (block, offset) = memory.place();
        // SAFETY: the image is unbound; the memory was allocated for its requirements and belongs
        // to nobody else.
        unsafe { logical.raw().bind_image_memory(raw.raw(), block, offset) }
            .named("vkBindImageMemory")?;
        let seen = vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let aspect = if about.is_depth() {
            vk::ImageAspectFlags::DEPTH
        } else {
            vk::ImageAspectFlags::COLOR
        };
        let mut image =
            DeviceImage { view: None, raw, _memory: memory, extent, layers: count, aspect };
        if usage.intersects(seen) {
            let info = vk::ImageViewCreateInfo::default()
                .image(image.raw())
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(viewed)
                .subresource_range(image.range(0, 1));
            // SAFETY: the structure lives until after the call; the image is bound and has what the
            // view names.
            let view = unsafe { logical.raw().create_image_view(&info, None) }
                .named("vkCreateImageView")?;
            image.view = Some(OwnedHandle::new(logical, view));
        }
        Ok(image)
    }

    /// Layers of the image.
    pub(super) fn range(
        &self,
        base_array_layer: u32,
        layer_count: u32,
    ) -> vk::ImageSubresourceRange {
        let aspect_mask = self.aspect;
        vk::ImageSubresourceRange {
            aspect_mask,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer,
            layer_count,
        }
    }

    /// The view, for shaders and attachments; valid as long as `self`.
    pub(super) fn view(&self) -> vk::ImageView {
        self.view.as_ref().map(OwnedHandle::raw).unwrap_or_default()
    }

    /// The handle; valid as long as `self`.
    pub(super) fn raw(&self) -> vk::Image {
        self.raw.raw()
    }

    /// The whole image, packed row by row and layer by layer, from this byte of a buffer on.
    pub(super) fn copy(&self, offset: u64) -> vk::BufferImageCopy {
        vk::BufferImageCopy::default()
            .buffer_offset(offset)
            .image_subresource(self.subresource())
            .image_extent(self.extent())
    }

    /// All layers.
    pub(super) fn subresource(&self) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers::default().aspect_mask(self.aspect).layer_count(self.layers)
    }

    /// Its extent.
    pub(super) fn extent(&self) -> vk::Extent3D {
        let [width, height] = self.extent;
        vk::Extent3D { width, height, depth: 1 }
    }

    /// A barrier that moves the whole image from one layout and access to the next.
    pub(super) fn barrier(&self, from: Access, to: Access) -> vk::ImageMemoryBarrier<'static> {
        vk::ImageMemoryBarrier::default()
            .old_layout(from.0)
            .src_access_mask(from.1)
            .new_layout(to.0)
            .dst_access_mask(to.1)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.raw())
            .subresource_range(self.range(0, self.layers))
    }
}
