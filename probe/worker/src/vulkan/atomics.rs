//! Features of atomic operations on floats: `VK_EXT_shader_atomic_float` and
//! `VK_EXT_shader_atomic_float2`.

use ash::{ext, vk};
use fpprobe_spirv::{AtomicFeature, AtomicGroup, Format, Route};

use super::physical::Physical;

/// The structures of both extensions.
#[derive(Default)]
pub(super) struct AtomicFeatures {
    first: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    second: vk::PhysicalDeviceShaderAtomicFloat2FeaturesEXT<'static>,
}

/// The extensions that a device has.
#[derive(Clone, Copy)]
pub(super) struct AtomicExtensions {
    first: bool,
    second: bool,
}

impl AtomicExtensions {
    /// Those of a device.
    pub(super) fn of(physical: &Physical) -> AtomicExtensions {
        let first = physical.has(ext::shader_atomic_float::NAME);
        // It requires the other.
        AtomicExtensions { first, second: first && physical.has(ext::shader_atomic_float2::NAME) }
    }

    /// Their names.
    pub(super) fn names(self) -> impl Iterator<Item = &'static std::ffi::CStr> {
        let first = self.first.then_some(ext::shader_atomic_float::NAME);
        let second = self.second.then_some(ext::shader_atomic_float2::NAME);
        first.into_iter().chain(second)
    }
}

impl AtomicFeatures {
    /// Puts the structures that the device knows into a chain.
    pub(super) fn chain<'a>(
        &'a mut self,
        known: AtomicExtensions,
        mut chain: vk::PhysicalDeviceFeatures2<'a>,
    ) -> vk::PhysicalDeviceFeatures2<'a> {
        if known.first {
            chain = chain.push_next(&mut self.first);
        }
        if known.second {
            chain = chain.push_next(&mut self.second);
        }
        chain
    }

    /// Sets those that are claimed.
    pub(super) fn set(&mut self, claimed: impl Fn(&str) -> bool) {
        for feature in AtomicFeature::all() {
            *self.field(feature) = vk::Bool32::from(claimed(&feature.to_string()));
        }
    }

    /// Their names, and whether the device has them.
    pub(super) fn claims(&mut self) -> Vec<(String, bool)> {
        let own = |feature: AtomicFeature| (feature.to_string(), *self.field(feature) != 0);
        AtomicFeature::all().map(own).collect()
    }

    fn field(&mut self, feature: AtomicFeature) -> &mut vk::Bool32 {
        use AtomicGroup::{Add, MinMax, Move};
        let AtomicFeatures { first, second } = self;
        match (feature.memory, feature.format, feature.group) {
            (Route::Shared, Format::F16, Move) => &mut second.shader_shared_float16_atomics,
            (Route::Shared, Format::F16, Add) => &mut second.shader_shared_float16_atomic_add,
            (Route::Shared, Format::F16, MinMax) => {
                &mut second.shader_shared_float16_atomic_min_max
            }
            (Route::Shared, Format::F64, Move) => &mut first.shader_shared_float64_atomics,
            (Route::Shared, Format::F64, Add) => &mut first.shader_shared_float64_atomic_add,
            (Route::Shared, Format::F64, MinMax) => {
                &mut second.shader_shared_float64_atomic_min_max
            }
            (Route::Shared, _, Move) => &mut first.shader_shared_float32_atomics,
            (Route::Shared, _, Add) => &mut first.shader_shared_float32_atomic_add,
            (Route::Shared, _, MinMax) => &mut second.shader_shared_float32_atomic_min_max,
            (Route::StorageImage, _, Move) => &mut first.shader_image_float32_atomics,
            (Route::StorageImage, _, Add) => &mut first.shader_image_float32_atomic_add,
            (Route::StorageImage, _, MinMax) => &mut second.shader_image_float32_atomic_min_max,
            (_, Format::F16, Move) => &mut second.shader_buffer_float16_atomics,
            (_, Format::F16, Add) => &mut second.shader_buffer_float16_atomic_add,
            (_, Format::F16, MinMax) => &mut second.shader_buffer_float16_atomic_min_max,
            (_, Format::F64, Move) => &mut first.shader_buffer_float64_atomics,
            (_, Format::F64, Add) => &mut first.shader_buffer_float64_atomic_add,
            (_, Format::F64, MinMax) => &mut second.shader_buffer_float64_atomic_min_max,
            (_, _, Move) => &mut first.shader_buffer_float32_atomics,
            (_, _, Add) => &mut first.shader_buffer_float32_atomic_add,
            (_, _, MinMax) => &mut second.shader_buffer_float32_atomic_min_max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_has_a_field_of_its_own() {
        for feature in AtomicFeature::all() {
            let mut features = AtomicFeatures::default();
            features.set(|name| name == feature.to_string());
            let set: Vec<_> = features.claims().into_iter().filter(|(_, is)| *is).collect();
            assert_eq!(set, [(feature.to_string(), true)]);
        }
    }

    #[test]
    fn fields_are_those_that_vulkan_calls_so() {
        for feature in AtomicFeature::all() {
            let mut features = AtomicFeatures::default();
            features.set(|name| name == feature.to_string());
            let shown = format!("{:?} {:?}", features.first, features.second);
            let letters = |text: &str| text.replace('_', "").to_lowercase();
            let own = shown.split([',', '{', '}']).find(|part| part.trim_end().ends_with(": 1"));
            let own = own.and_then(|part| part.split(':').next()).map(letters);
            assert_eq!(own.as_deref().map(str::trim), Some(&*letters(&feature.to_string())));
        }
    }
}
