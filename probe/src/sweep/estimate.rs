//! How long whole domains take on many devices, by a few seconds of each on one.

use std::time::Duration;

use fpprobe_reports::sweep::{Print, SweptKernel};

/// How long each kernel runs for an estimate.
pub const MOMENT: Duration = Duration::from_secs(4);
/// Shards at most.
pub const SHARDS: u64 = 4096;
/// How long a shard takes at most, if there may be as many: what is preempted loses no more.
const SHARD: Duration = Duration::from_hours(1);

/// A kernel that ran for some time.
pub struct TimedKernel {
    /// What became of its inputs.
    pub swept: SweptKernel,
    /// Its digests.
    pub print: Print,
    /// How long it ran, its pipeline's compilation included.
    pub took: Duration,
}

impl TimedKernel {
    /// How long N such devices take for the whole domain, in words; `options` are those of the
    /// command line that say what is done with the results.
    pub fn estimate(&self, devices: u64, options: &str) -> Vec<String> {
        let SweptKernel { kernel, inputs, .. } = &self.swept;
        let done = self.swept.measured.count() * self.swept.block;
        if done == 0 {
            return vec![format!("{kernel}: nothing ran, so that nothing can be estimated")];
        }
        let whole = self.took.mul_f64(*inputs as f64 / done as f64);
        let rate = done as f64 / self.took.as_secs_f64();
        let mut lines = vec![format!(
            "{kernel}: 2^{} inputs, {} million a second",
            inputs.ilog2(),
            figures(rate / 1e6)
        )];
        let shards = shards(whole, devices);
        let working = devices.min(shards);
        let rounds = shards.div_ceil(working);
        let each = whole.div_f64(shards as f64);
        lines.push(format!("  1 device  {}", words(whole)));
        if devices > 1 {
            lines.push(format!("  {working} devices  {}", words(each.mul_f64(rounds as f64))));
        }
        if shards > 1 {
            lines.push(format!(
                "  {shards} shards of {} each: fpprobe sweep {kernel}{options} --shard I/{shards}",
                words(each)
            ));
        }
        lines
    }
}

/// A number of shards: one for each device, or several of at most an hour.
fn shards(whole: Duration, devices: u64) -> u64 {
    let rounds = whole.div_duration_f64(SHARD) / devices as f64;
    (devices.saturating_mul(rounds.ceil().max(1.0) as u64)).min(SHARDS)
}

/// A time of two figures, in the unit that gives the fewest.
pub(super) fn words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let units = [
        (365.25 * 86_400.0, "years"),
        (86_400.0, "days"),
        (3600.0, "h"),
        (60.0, "min"),
        (1.0, "s"),
    ];
    let (size, unit) =
        units.into_iter().find(|(size, _)| seconds >= 2.0 * size).unwrap_or((1.0, "s"));
    format!("{} {unit}", figures(seconds / size))
}

/// Two figures, or the whole number.
fn figures(number: f64) -> String {
    if number < 10.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::sweep::Domain;

    use super::*;

    #[test]
    fn a_thousand_devices_take_a_thousandth() {
        let domain = Domain::vast(&"f16.fma".parse().unwrap()).unwrap();
        let who = r#"{"key":"k","slot":"s","name":"n","driver":"d"}"#;
        let print = Print::new(serde_json::from_str(who).unwrap(), domain.clone());
        let mut swept = SweptKernel::new(&domain);
        let took = Duration::from_secs(4);
        let lines = |swept: &SweptKernel, devices| {
            let (swept, print) = (swept.clone(), print.clone());
            TimedKernel { swept, print, took }.estimate(devices, " --fingerprint")
        };
        assert!(lines(&swept, 1000)[0].contains("nothing ran"));
        // 2^32 inputs in four seconds.
        swept.measured = (0..4096).collect();
        assert_eq!(
            lines(&swept, 1000),
            [
                "f16.fma: 2^48 inputs, 1074 million a second",
                "  1 device  3.0 days",
                "  1000 devices  4.4 min",
                "  1000 shards of 4.4 min each: fpprobe sweep f16.fma --fingerprint --shard I/1000",
            ]
        );
        assert!(lines(&swept, 8)[3].contains("80 shards of 55 min each"));
        assert!(lines(&swept, 1_000_000)[2].contains("4096 devices"));
    }
}
