//! Random 4 KiB requests in steady state on a full tachIOn, for counting instructions:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*measured*' target/dist/examples/instructions rndwr 200000 1/64
//! ```
//!
//! The instructions that it prints as collected, divided by the requests, are the cost of one simulated request, with
//! timing on: event queue, host, link, buffer, dies, map and garbage collection. A fourth word, `unrecoverable`, leaves out
//! what finds data again after a cut: summaries, and all that goes with them.

#[path = "../benches/full_tachion/mod.rs"]
mod full_tachion;

use card::ModelCard;
use device::HostConfig;
use std::time::Instant;
use target::{Machine, Modelled, Stop};

#[inline(never)]
fn measured(machine: &mut Machine<Modelled>, requests: u64) {
    machine.run_until(Stop::Finished(machine.finished() + requests));
}

/// 4 KiB pages of flash that are modelled.
fn pages(card: &ModelCard) -> f64 {
    let geometry = &card.config().nand.geometry;
    let share = f64::from(card.config().bands) / f64::from(geometry.blocks_per_plane);
    geometry.installed_bytes() as f64 / 4096.0 * share
}

/// Returns the bytes of the machine's memory that the process holds.
fn resident_bytes() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    Ok(kib.ok_or("/proc/self/status has no VmRSS")?.parse::<u64>()? * 1024)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mode = args.next().as_deref().unwrap_or("rndwr").parse()?;
    let requests: u64 = args.next().as_deref().unwrap_or("1000000").parse()?;
    let scale = profile::parse_share(args.next().as_deref().unwrap_or("1/64"))?;
    let recoverable = args.next().as_deref() != Some("unrecoverable");
    let before = resident_bytes()?;
    let (device, load) = full_tachion::prepare(mode, scale, recoverable)?;
    let bytes = resident_bytes()? - before;
    println!(
        "{:.2} bytes of memory for each 4 KiB page of flash",
        bytes as f64 / device.cards().iter().map(pages).sum::<f64>()
    );
    let mut load = load.build(1)?;
    let mut machine = Machine::new(device, load.as_mut(), HostConfig::UNLIMITED, false);
    machine.run_until(Stop::Finished(20_000));
    machine.start_measurement();
    let began = Instant::now();
    let from = machine.now();
    measured(&mut machine, requests);
    let (wall_s, virtual_s) = (began.elapsed().as_secs_f64(), (machine.now() - from) as f64 / 1e9);
    println!(
        "{requests} requests in {wall_s:.3} s: {:.0} a second; {virtual_s:.3} virtual seconds",
        requests as f64 / wall_s
    );
    Ok(())
}
