//! Random 4 KiB requests in steady state on a full tachIOn, for counting instructions:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*measured*' target/release/examples/instructions rndwr 200000
//! ```
//!
//! The instructions that it prints as collected, divided by the requests, are the cost of one simulated request, with
//! timing on: event queue, host, link, buffer, dies, map and garbage collection.

use device::{HostConfig, Time};
use load::{FileioConfig, FileioMode, LoadConfig};
use profile::Profile;
use std::time::Instant;
use target::{Machine, Measure, Modelled, RunSpec, Silent, Stop};

#[inline(never)]
fn measured(machine: &mut Machine<Modelled>, requests: u64) {
    machine.run_until(Stop::Finished(machine.finished() + requests));
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mode: FileioMode = args.next().as_deref().unwrap_or("rndwr").parse()?;
    let requests: u64 = args.next().as_deref().unwrap_or("1000000").parse()?;
    let scale = 1.0 / args.next().as_deref().unwrap_or("64").parse::<f64>()?;
    let device = Profile::builtin("tachion-400")?.lower(scale)?;
    let config = FileioConfig {
        mode,
        block_bytes: 4096,
        threads: 16,
        file_bytes: device.user_bytes(),
        ..FileioConfig::default()
    };
    let load = LoadConfig::Fileio(config);
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
    };
    let prepared = target::prepare(&spec, &Silent)?;
    let bytes: usize = prepared.cards().iter().map(card::Card::memory_bytes).sum();
    let pages: f64 = prepared.cards().iter().map(|c| c.config().nand.geometry.installed_bytes() as f64 / 4096.0).sum();
    let pages = pages * f64::from(prepared.cards()[0].config().bands)
        / f64::from(prepared.cards()[0].config().nand.geometry.blocks_per_plane);
    let mut load = load.build(1)?;
    let mut machine = Machine::new(prepared, load.as_mut(), HostConfig::UNLIMITED, false);
    machine.run_until(Stop::Finished(20_000));
    machine.start_measurement();
    let (began, from): (Instant, Time) = (Instant::now(), machine.now());
    measured(&mut machine, requests);
    let (wall, virt) = (began.elapsed().as_secs_f64(), (machine.now() - from) as f64 / 1e9);
    println!("{requests} requests in {wall:.3} s: {:.0} a second, {virt:.3} virtual seconds", requests as f64 / wall);
    println!("{:.2} bytes of memory for each 4 KiB page of flash", bytes as f64 / pages);
    Ok(())
}
