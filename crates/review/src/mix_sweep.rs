//! The transactions of a database on a model, in virtual time.

use crate::parallel;
use crate::point::{Bench, PointError};
use device::Time;
use load::{LoadConfig, OltpConfig};
use results::{Application, OltpReport};
use serde_json::Value;
use target::{Machine, Measure, Progress, RunError, RunSpec, Stop, prepare};

/// Virtual seconds of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixTimes {
    /// Seconds before measurement begins.
    pub warm_up_s: f64,
    /// Seconds that are measured.
    pub measured_s: f64,
}

/// Runs each of these loads on the device; each finds it as it was before the others. They differ in what sessions do,
/// not in what lies on the device: it is prepared once, for the one with the most sessions.
pub fn mix_sweep(
    bench: &Bench,
    loads: &[OltpConfig],
    times: MixTimes,
    progress: &dyn Progress,
) -> Result<Vec<OltpReport>, PointError> {
    let Some(most) = loads.iter().max_by_key(|load| load.sessions) else { return Ok(Vec::new()) };
    let spec = RunSpec {
        device: &bench.device,
        device_json: Value::Null,
        host: &bench.host,
        host_json: Value::Null,
        load: &LoadConfig::Oltp(*most),
        fill: 0.0,
        seed: bench.seed,
        measure: Measure::Seconds(times.measured_s),
        fresh: false,
        explain_tail: false,
        histograms: false,
    };
    let device = prepare(&spec, progress)?.device;
    parallel::map(loads, |load| {
        if progress.cancelled() {
            return Err(RunError::Cancelled.into());
        }
        let (config, mut device) = (LoadConfig::Oltp(*load), device.clone());
        target::warm(&mut device, &config, &bench.host, bench.seed, progress)?;
        let mut load = config.build(bench.seed).map_err(RunError::from)?;
        let mut machine = Machine::new(device, load.as_mut(), bench.host, false);
        let at = |seconds: f64| Stop::At(Time((seconds * 1e9) as u64));
        machine.run_until(at(times.warm_up_s));
        machine.start_measurement();
        machine.run_until(at(times.warm_up_s + times.measured_s));
        let Some(Application::Oltp(oltp)) = machine.application() else { unreachable!("OLTP reports") };
        Ok(oltp)
    })
}
