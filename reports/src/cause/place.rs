//! Where a cause is confined to: some stages, one path of texels, one memory of the operands, one
//! front end, vectors, execution modes.

use fpprobe_spirv::{Control, Kernel, Route, Stage, Via};

use crate::render::phrase;

/// The place that all of these kernels share and others do not, `in fragment shaders`.
pub(super) fn confined(kernels: &[&Kernel]) -> Option<&'static str> {
    let shared = |place: fn(&Kernel) -> Option<&'static str>| {
        let first = place(kernels.first()?)?;
        kernels.iter().all(|kernel| place(kernel) == Some(first)).then_some(first)
    };
    let place = [of_stage, of_route, of_front_end, of_width].into_iter().find_map(shared);
    let outside = || kernels.iter().all(|kernel| kernel.stage != Stage::Compute);
    place.or_else(|| outside().then_some("outside compute shaders"))
}

/// `under RoundingModeRTE 64`: the controls that every one of these kernels has.
pub(super) fn under(kernels: &[&Kernel]) -> Option<String> {
    let is_shared =
        |control: &Control| kernels.iter().all(|kernel| kernel.controls.contains(*control));
    let shared = kernels.first()?.controls.iter().filter(is_shared);
    let ids: Vec<String> = shared.map(|control| control.to_string()).collect();
    let names = phrase::needs(ids.iter().map(String::as_str));
    (!ids.is_empty()).then(|| format!("under {}", names.replace("; ", " and ")))
}

fn of_stage(kernel: &Kernel) -> Option<&'static str> {
    match kernel.stage {
        Stage::Compute => None,
        Stage::Fragment => Some("in fragment shaders"),
        Stage::Vertex => Some("in vertex shaders"),
        Stage::Geometry => Some("in geometry shaders"),
    }
}

fn of_route(kernel: &Kernel) -> Option<&'static str> {
    match kernel.route {
        Route::Buffer | Route::Spec | Route::Literal => None,
        Route::Uniform => Some("of uniform buffers"),
        Route::Shared => Some("in shared memory"),
        Route::Push => Some("of push constants"),
        Route::StorageImage => Some("of storage images"),
        Route::TexelBuffer => Some("of texel buffers"),
        Route::Sampled => Some("of sampled images"),
        Route::Clear => Some("by vkCmdClearColorImage"),
        Route::Blit => Some("by vkCmdBlitImage"),
        Route::Copy => Some("by vkCmdCopyImage"),
        Route::Attachment => Some("of attachments"),
        Route::Vertex => Some("of vertex attributes"),
        Route::Resolve => Some("of resolved attachments"),
        Route::View => Some("of views in another format"),
    }
}

fn of_front_end(kernel: &Kernel) -> Option<&'static str> {
    (kernel.via == Via::Glsl).then_some("as GLSL compiles it")
}

fn of_width(kernel: &Kernel) -> Option<&'static str> {
    (kernel.op.is_componentwise() && kernel.width > 1).then_some("of vectors")
}
