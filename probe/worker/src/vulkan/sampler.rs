//! How shaders sample.

use std::sync::Arc;

use ash::vk;

use super::error::{CallName, VulkanError};
use super::handles::{Logical, OwnedHandle};

/// A sampler that takes the nearest texel, by unnormalised coordinates: no arithmetic lies between
/// slot and texel. Outside the image it has this colour of this format, if there is one.
pub(super) fn sampler(
    logical: &Arc<Logical>,
    border: Option<(vk::ClearColorValue, vk::Format)>,
) -> Result<OwnedHandle<vk::Sampler>, VulkanError> {
    let edge = match border {
        None => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Some(_) => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    };
    let mut info = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::NEAREST)
        .min_filter(vk::Filter::NEAREST)
        .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
        .address_mode_u(edge)
        .address_mode_v(edge)
        .unnormalized_coordinates(true);
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default();
    if let Some((color, format)) = border {
        custom = custom.custom_border_color(color).format(format);
        info = info.border_color(vk::BorderColor::FLOAT_CUSTOM_EXT).push_next(&mut custom);
    }
    // SAFETY: the structure lives until after the call.
    let sampler = unsafe { logical.raw().create_sampler(&info, None) }.named("vkCreateSampler")?;
    Ok(OwnedHandle::new(logical, sampler))
}
