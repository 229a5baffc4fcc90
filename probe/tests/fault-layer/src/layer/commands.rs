//! Command buffers: which kernels they run, and dispatches that come to harm.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::mem::transmute;
use std::time::Duration;

use ash::vk;
use fpprobe_spirv::sweep::Push;

use super::objects::{Launch, Recording};
use super::state::{Device, device, lock, state, strikes};
use super::{aftermath, memory, queues};
use crate::statement::{Damage, Kind};
use crate::trigger::Module;

/// The layer's function of this name.
pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
    macro_rules! own {
        ($($function:ident: $kind:ty,)*) => {
            match name {
                // SAFETY: function pointers all have one size; who asks by name knows the type.
                $(stringify!($function) => unsafe { transmute::<$kind, unsafe extern "system" fn()>($function) },)*
                _ => return None,
            }
        };
    }
    Some(own! {
        vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer,
        vkEndCommandBuffer: vk::PFN_vkEndCommandBuffer,
        vkCmdBindPipeline: vk::PFN_vkCmdBindPipeline,
        vkCmdBindDescriptorSets: vk::PFN_vkCmdBindDescriptorSets,
        vkCmdBlitImage: vk::PFN_vkCmdBlitImage,
        vkCmdClearColorImage: vk::PFN_vkCmdClearColorImage,
        vkCmdCopyImage: vk::PFN_vkCmdCopyImage,
        vkCmdDispatch: vk::PFN_vkCmdDispatch,
        vkCmdPushConstants: vk::PFN_vkCmdPushConstants,
        vkCmdDraw: vk::PFN_vkCmdDraw,
        vkQueueSubmit: vk::PFN_vkQueueSubmit,
        vkWaitForFences: vk::PFN_vkWaitForFences,
    })
}

fn plain(launches: &[Launch]) -> Vec<&Module> {
    launches.iter().map(|launch| launch.module.as_ref()).collect()
}

unsafe extern "system" fn vkBeginCommandBuffer(
    commands: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    const NAME: &str = "vkBeginCommandBuffer";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    lock(&device.recordings).insert(commands, Recording::default());
    device.before(NAME, &[]).unwrap_or_else(|| {
        // SAFETY: the function has the type of its name, and gets what this one got.
        unsafe {
            let next: vk::PFN_vkBeginCommandBuffer = transmute(device.next(NAME));
            next(commands, info)
        }
    })
}

unsafe extern "system" fn vkEndCommandBuffer(commands: vk::CommandBuffer) -> vk::Result {
    const NAME: &str = "vkEndCommandBuffer";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let recording = lock(&device.recordings).get(&commands).cloned().unwrap_or_default();
    device.before(NAME, &plain(&recording.dispatched)).unwrap_or_else(|| {
        // SAFETY: the function has the type of its name, and gets what this one got.
        unsafe {
            let next: vk::PFN_vkEndCommandBuffer = transmute(device.next(NAME));
            next(commands)
        }
    })
}

unsafe extern "system" fn vkCmdBindPipeline(
    commands: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    const NAME: &str = "vkCmdBindPipeline";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let module = lock(&device.pipelines).get(&pipeline).cloned();
    if point == vk::PipelineBindPoint::COMPUTE {
        let mut recordings = lock(&device.recordings);
        let recording = recordings.entry(commands).or_default();
        recording.bound.clone_from(&module);
        recording.pipeline = pipeline;
    }
    let _ = device.before(NAME, &module.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkCmdBindPipeline = transmute(device.next(NAME));
        next(commands, point, pipeline);
    }
}

unsafe extern "system" fn vkCmdBindDescriptorSets(
    commands: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    const NAME: &str = "vkCmdBindDescriptorSets";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let _ = device.before(NAME, &[]);
    if point == vk::PipelineBindPoint::COMPUTE && first == 0 && count > 0 {
        // SAFETY: that many sets are there.
        let set = unsafe { *sets };
        lock(&device.recordings).entry(commands).or_default().set = Some(set);
    }
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkCmdBindDescriptorSets = transmute(device.next(NAME));
        next(commands, point, layout, first, count, sets, offset_count, offsets);
    }
}

/// Whether a command gets at the wrong texels.
fn garbled(name: &str) -> bool {
    let named = |kind: &Kind| matches!(kind, Kind::Garble(call) if *call == name);
    state().armed.iter().any(|armed| named(&armed.statement.kind) && strikes(armed, &[]))
}

unsafe extern "system" fn vkCmdBlitImage(
    commands: vk::CommandBuffer,
    source: vk::Image,
    source_layout: vk::ImageLayout,
    target: vk::Image,
    target_layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageBlit,
    filter: vk::Filter,
) {
    const NAME: &str = "vkCmdBlitImage";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let _ = device.before(NAME, &[]);
    // SAFETY: that many regions are there.
    let mut regions = unsafe { std::slice::from_raw_parts(regions, count as usize) }.to_vec();
    if garbled(NAME) {
        for [first, last] in regions.iter_mut().map(|region| &mut region.src_offsets) {
            std::mem::swap(&mut first.x, &mut last.x);
        }
    }
    // SAFETY: the function has the type of its name, and gets what this one got, or the same texels
    // in another order.
    unsafe {
        let next: vk::PFN_vkCmdBlitImage = transmute(device.next(NAME));
        next(
            commands,
            source,
            source_layout,
            target,
            target_layout,
            count,
            regions.as_ptr(),
            filter,
        );
    }
}

unsafe extern "system" fn vkCmdClearColorImage(
    commands: vk::CommandBuffer,
    image: vk::Image,
    layout: vk::ImageLayout,
    color: *const vk::ClearColorValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    const NAME: &str = "vkCmdClearColorImage";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let _ = device.before(NAME, &[]);
    // SAFETY: the colour is there, four words whatever they mean.
    let mut words = unsafe { (*color).uint32 };
    if garbled(NAME) {
        words.swap(0, 2);
    }
    let color = vk::ClearColorValue { uint32: words };
    // SAFETY: the function has the type of its name, and gets what this one got, or the components
    // in another order.
    unsafe {
        let next: vk::PFN_vkCmdClearColorImage = transmute(device.next(NAME));
        next(commands, image, layout, &raw const color, count, ranges);
    }
}

unsafe extern "system" fn vkCmdCopyImage(
    commands: vk::CommandBuffer,
    source: vk::Image,
    source_layout: vk::ImageLayout,
    target: vk::Image,
    target_layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageCopy,
) {
    const NAME: &str = "vkCmdCopyImage";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let _ = device.before(NAME, &[]);
    // SAFETY: that many regions are there.
    let mut regions = unsafe { std::slice::from_raw_parts(regions, count as usize) }.to_vec();
    if garbled(NAME) {
        let halves = |region: vk::ImageCopy| {
            let half = region.extent.width / 2;
            let part = |from: u32, to: u32| {
                let mut part = region;
                (part.src_offset.x, part.dst_offset.x) = (from.cast_signed(), to.cast_signed());
                part.extent.width = half;
                part
            };
            [part(0, half), part(half, 0)]
        };
        regions = regions.into_iter().flat_map(halves).collect();
    }
    // SAFETY: the function has the type of its name, and gets what this one got, or the same texels
    // in another order.
    unsafe {
        let next: vk::PFN_vkCmdCopyImage = transmute(device.next(NAME));
        next(
            commands,
            source,
            source_layout,
            target,
            target_layout,
            regions.len() as u32,
            regions.as_ptr(),
        );
    }
}

unsafe extern "system" fn vkCmdDispatch(commands: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    const NAME: &str = "vkCmdDispatch";
    // SAFETY: the handle is the caller's; the function has the type of its name, and gets no more
    // work groups than this one got.
    let (set, damage) = unsafe {
        launched(commands, NAME, x, y, |device, columns, rows| {
            let next: vk::PFN_vkCmdDispatch = transmute(device.next(NAME));
            next(commands, columns, rows, z);
        })
    };
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    if let Some(set) = set {
        for damage in damage
            .into_iter()
            .filter(|one| matches!(one, Damage::Overrun(_) | Damage::Scribble { .. }))
        {
            // SAFETY: the command buffer is recording, and the set it has bound is alive.
            unsafe { memory::overwrite(&device, commands, set, damage) };
        }
    }
}

unsafe extern "system" fn vkCmdPushConstants(
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    stages: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    values: *const std::ffi::c_void,
) {
    const NAME: &str = "vkCmdPushConstants";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let _ = device.before(NAME, &[]);
    if offset == 0 && size == Push::BYTES {
        // SAFETY: that many bytes are there.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.cast::<[u8; 4]>(), Push::BYTES as usize / 4)
        };
        lock(&device.recordings).entry(commands).or_default().turn = u32::from_le_bytes(bytes[2]);
    }
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkCmdPushConstants = transmute(device.next(NAME));
        next(commands, layout, stages, offset, size, values);
    }
}

unsafe extern "system" fn vkCmdDraw(
    commands: vk::CommandBuffer,
    vertices: u32,
    instances: u32,
    vertex: u32,
    instance: u32,
) {
    const NAME: &str = "vkCmdDraw";
    // SAFETY: as above, of vertices and instances.
    unsafe {
        launched(commands, NAME, vertices, instances, |device, vertices, instances| {
            let next: vk::PFN_vkCmdDraw = transmute(device.next(NAME));
            next(commands, vertices, instances, vertex, instance);
        });
    }
}

/// What becomes of shaders that are set going: in x and y no more of them than were asked for.
/// Gives the set that is bound, and the damage that is done.
///
/// # Safety
/// The command buffer is recording, and `next` may be called.
unsafe fn launched(
    commands: vk::CommandBuffer,
    name: &'static str,
    x: u32,
    y: u32,
    next: impl FnOnce(&Device, u32, u32),
) -> (Option<vk::DescriptorSet>, Vec<Damage>) {
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(commands) };
    let (modules, set) = {
        let mut recordings = lock(&device.recordings);
        let recording = recordings.entry(commands).or_default();
        let (pipeline, set, turn) =
            (recording.pipeline, recording.set.unwrap_or_default(), recording.turn);
        let launch =
            |module| Launch { module, pipeline, set, turn, again: false, elsewhere: false };
        recording.dispatched.extend(recording.bound.clone().map(launch));
        (recording.bound.clone(), recording.set)
    };
    let modules: Vec<&Module> = modules.iter().map(AsRef::as_ref).collect();
    let _ = device.before(name, &modules);
    let damage: Vec<Damage> = state()
        .armed
        .iter()
        .filter_map(|armed| match armed.statement.kind {
            Kind::Damage(damage) if !damage.comes_after() && strikes(armed, &modules) => {
                Some(damage)
            }
            _ => None,
        })
        .collect();
    let (mut columns, mut rows) = (x, y);
    for damage in &damage {
        match damage {
            Damage::Skip => columns = 0,
            Damage::HalfColumns => columns /= 2,
            Damage::HalfRows => rows /= 2,
            _ => {}
        }
    }
    if columns > 0 && rows > 0 {
        next(&device, columns, rows);
    }
    (set, damage)
}

unsafe extern "system" fn vkQueueSubmit(
    queue: vk::Queue,
    count: u32,
    submissions: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    const NAME: &str = "vkQueueSubmit";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(queue) };
    let (queue, elsewhere) = queues::own(&device, queue);
    let mut launches: Vec<Launch> = Vec::new();
    for index in 0..count as usize {
        // SAFETY: that many submissions are there.
        let submission = unsafe { &*submissions.add(index) };
        for index in 0..submission.command_buffer_count as usize {
            // SAFETY: that many command buffers are there.
            let commands = unsafe { *submission.p_command_buffers.add(index) };
            let recordings = lock(&device.recordings);
            launches.extend(
                recordings
                    .get(&commands)
                    .into_iter()
                    .flat_map(|recording| recording.dispatched.clone()),
            );
        }
    }
    // Dispatches over several windows of operands are one of their pipeline.
    launches.dedup_by_key(|launch| launch.pipeline);
    for launch in &mut launches {
        let mut submitted = lock(&device.submitted);
        let times = submitted.entry(launch.pipeline).or_default();
        (launch.again, launch.elsewhere) = (*times > 0, elsewhere);
        *times += 1;
    }
    lock(&device.fences).insert(fence, launches.clone());
    device.before(NAME, &plain(&launches)).unwrap_or_else(|| {
        let _turn = queues::turn();
        // SAFETY: the function has the type of its name, and gets what this one got.
        unsafe {
            let next: vk::PFN_vkQueueSubmit = transmute(device.next(NAME));
            next(queue, count, submissions, fence)
        }
    })
}

unsafe extern "system" fn vkWaitForFences(
    handle: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    const NAME: &str = "vkWaitForFences";
    // SAFETY: the handle is the caller's.
    let device = unsafe { device(handle) };
    let launches: Vec<Launch> = (0..count as usize)
        .flat_map(|index| {
            // SAFETY: that many fences are there.
            let fence = unsafe { *fences.add(index) };
            lock(&device.fences).get(&fence).cloned().unwrap_or_default()
        })
        .collect();
    match device.before(NAME, &plain(&launches)) {
        Some(vk::Result::TIMEOUT) => {
            // What the caller was promised to wait has to pass.
            std::thread::sleep(Duration::from_nanos(timeout));
            vk::Result::TIMEOUT
        }
        Some(code) => code,
        // SAFETY: the function has the type of its name, and gets what this one got, as many
        // fences.
        None => unsafe {
            let next: vk::PFN_vkWaitForFences = transmute(device.next(NAME));
            let code = next(handle, count, fences, all, timeout);
            if code == vk::Result::SUCCESS {
                let over = (0..count as usize)
                    .filter_map(|index| lock(&device.fences).remove(&*fences.add(index)));
                aftermath::harm(&device, &over.flatten().collect::<Vec<_>>());
            }
            code
        },
    }
}
