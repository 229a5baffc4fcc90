//! Two dispatches at the same time: over two queues where the device has them, else by two threads.

use std::thread;
use std::time::Duration;

use fpprobe_spirv::Plan;

use super::device::{LogicalDevice, SecondSubmitter};
use super::error::VulkanError;
use super::prepared::{DispatchResources, unprepared};

impl LogicalDevice {
    /// Runs the module of the last [`LogicalDevice::dispatch`] twice at the same time, each over
    /// memory of its own. Says what the two dispatches were; `None` where the device was not
    /// made for that, or the module draws or has images.
    pub fn at_once(
        &mut self,
        dispatches: [(&Plan, &mut [Vec<u8>]); 2],
        timeout: Duration,
    ) -> Result<Option<&'static str>, VulkanError> {
        let Some(SecondSubmitter { device: mut beside, what }) = self.beside.take() else {
            return Ok(None);
        };
        let prepared = self.prepared.take().ok_or_else(unprepared)?;
        // A texel buffer is no image of the pipeline's, but one of the plan's.
        let is_plain =
            prepared.is_plain() && dispatches.iter().all(|(plan, _)| plan.image().is_none());
        let ran = if is_plain {
            self.both(&mut beside, &prepared, dispatches, timeout)
        } else {
            Ok(false)
        };
        self.beside = Some(SecondSubmitter { device: beside, what });
        self.prepared = Some(prepared);
        Ok(ran?.then_some(what))
    }

    fn both(
        &mut self,
        beside: &mut LogicalDevice,
        prepared: &DispatchResources,
        [(plan, buffers), (other_plan, other_buffers)]: [(&Plan, &mut [Vec<u8>]); 2],
        timeout: Duration,
    ) -> Result<bool, VulkanError> {
        let other = DispatchResources::plain(prepared.pipeline.beside(&self.logical, other_plan)?);
        self.check(plan, buffers, &[])?;
        self.check(other_plan, other_buffers, &[])?;
        let (own, others) = thread::scope(|scope| {
            let there =
                scope.spawn(|| beside.launch(&other, other_plan, other_buffers, &mut [], timeout));
            let here = self.launch(prepared, plan, buffers, &mut [], timeout);
            (here, there.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
        });
        own.and(others).map(|()| true)
    }
}
