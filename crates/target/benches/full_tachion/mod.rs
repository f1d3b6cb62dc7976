//! A full tachIOn in steady state, asked for random 4 KiB by 16 threads of a host that costs nothing: what the speed of
//! the model is measured on, by the clock and in instructions.

use device::HostConfig;
use load::{FileioConfig, FileioMode, LoadConfig};
use profile::{DeviceConfig, Profile};
use target::{Measure, Modelled, RunSpec, Silent};

/// The card, preconditioned for the load, at a share of its size. `recoverable`: it writes what finds its data again, as cards
/// do; what that costs a simulation shows without.
pub fn prepare(
    mode: FileioMode,
    scale: f64,
    recoverable: bool,
) -> Result<(Modelled, LoadConfig), Box<dyn std::error::Error>> {
    let mut device = Profile::builtin("tachion-400")?.lower(scale)?;
    if let (DeviceConfig::Card(card), false) = (&mut device, recoverable) {
        card.ftl.persistence = None;
    }
    let load = LoadConfig::Fileio(FileioConfig {
        mode,
        block_bytes: 4096,
        threads: 16,
        file_bytes: device.user_bytes(),
        ..FileioConfig::default()
    });
    let spec = RunSpec {
        device: &device,
        device_json: Default::default(),
        host: &HostConfig::UNLIMITED,
        host_json: Default::default(),
        load: &load,
        fill: 1.0,
        seed: 1,
        measure: Measure::Auto,
        fresh: false,
        explain_tail: false,
        histograms: false,
    };
    Ok((target::prepare(&spec, &Silent)?.device, load))
}
