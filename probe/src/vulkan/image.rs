//! Storage images: the only way through which a device packs and unpacks small float formats by itself.

use std::sync::Arc;

use ash::vk;
use fpprobe_spirv::{Format, plan};
use gpu_allocator::MemoryLocation;

use super::error::{Named, VulkanError};
use super::handles::{Logical, Owned};
use super::memory::Memory;

/// Vulkan's format for a packed format; `None` for scalars, which are no image formats here.
pub(super) fn vulkan_format(format: Format) -> Option<vk::Format> {
    match format {
        Format::B10g11r11 => Some(vk::Format::B10G11R11_UFLOAT_PACK32),
        Format::F16 | Format::F32 | Format::F64 | Format::I32 | Format::U32 | Format::Bool => None,
    }
}

/// Bytes of one texel, of all formats there are so far.
pub(super) const TEXEL: usize = 4;

/// A 2D image of one layer and one level, optimally tiled, with its view.
pub(super) struct Image {
    // Fields drop in order: view, image, memory.
    view: Owned<vk::ImageView>,
    raw: Owned<vk::Image>,
    _memory: Memory,
    extent: [u32; 2],
}

const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

impl Image {
    /// An image with undefined texels.
    pub(super) fn new(
        logical: &Arc<Logical>,
        physical: vk::PhysicalDevice,
        wanted: &plan::Image,
    ) -> Result<Image, VulkanError> {
        let format = vulkan_format(wanted.format)
            .ok_or_else(|| VulkanError::argument("vkCreateImage", format!("{} is no image format", wanted.format)))?;
        let [width, height] = wanted.extent;
        let usage =
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: the device was made from this physical device of this instance.
        let most = unsafe {
            let instance = logical.instance().raw();
            instance.get_physical_device_image_format_properties(
                physical,
                format,
                info.image_type,
                info.tiling,
                usage,
                info.flags,
            )
        };
        let about = |error: VulkanError| error.about(format!("{} storage image {width}x{height}", wanted.format));
        let most = most.named("vkGetPhysicalDeviceImageFormatProperties").map_err(about)?.max_extent;
        if width > most.width || height > most.height {
            let limit = format!("image of {width}x{height} texels; at most {}x{}", most.width, most.height);
            return Err(VulkanError::limit("vkCreateImage", limit));
        }

        // SAFETY: the structure lives until after the call; the device supports format, usage and extent.
        let raw = unsafe { logical.raw().create_image(&info, None) }.named("vkCreateImage").map_err(about)?;
        let raw = Owned::new(logical, raw);
        // SAFETY: the image is this device's.
        let requirements = unsafe { logical.raw().get_image_memory_requirements(raw.raw()) };
        // Device memory where the image can live there, any other where it cannot.
        let memory = Memory::new(logical, requirements, MemoryLocation::GpuOnly, false)
            .or_else(|_| Memory::new(logical, requirements, MemoryLocation::Unknown, false))?;
        let (block, offset) = memory.place();
        // SAFETY: the image is unbound; the memory was allocated for its requirements and belongs to nobody else.
        unsafe { logical.raw().bind_image_memory(raw.raw(), block, offset) }.named("vkBindImageMemory")?;
        let view = vk::ImageViewCreateInfo::default()
            .image(raw.raw())
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(WHOLE);
        // SAFETY: the structure lives until after the call; the image is bound and has what the view names.
        let view = unsafe { logical.raw().create_image_view(&view, None) }.named("vkCreateImageView")?;
        Ok(Image { view: Owned::new(logical, view), raw, _memory: memory, extent: wanted.extent })
    }

    /// The view; valid as long as `self`.
    pub(super) fn view(&self) -> vk::ImageView {
        self.view.raw()
    }

    /// The handle; valid as long as `self`.
    pub(super) fn raw(&self) -> vk::Image {
        self.raw.raw()
    }

    /// The whole image, packed row by row at the start of a buffer.
    pub(super) fn copy(&self) -> vk::BufferImageCopy {
        let [width, height] = self.extent;
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let extent = vk::Extent3D { width, height, depth: 1 };
        vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent)
    }

    /// A barrier that moves the whole image from one layout and access to the next.
    pub(super) fn barrier(
        &self,
        from: (vk::ImageLayout, vk::AccessFlags),
        to: (vk::ImageLayout, vk::AccessFlags),
    ) -> vk::ImageMemoryBarrier<'static> {
        vk::ImageMemoryBarrier::default()
            .old_layout(from.0)
            .src_access_mask(from.1)
            .new_layout(to.0)
            .dst_access_mask(to.1)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.raw())
            .subresource_range(WHOLE)
    }
}
