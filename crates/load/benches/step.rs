//! Nanoseconds for one step of each load, without a device: `cargo bench -p load`. The loop around it is in the figure: about 3 ns.

use device::Time;
use load::{CacheConfig, FileioConfig, FileioMode, LoadConfig, OltpConfig, ProcessId, RedoConfig, SlobConfig, Step};
use std::hint::black_box;
use std::time::Instant;

const STEPS: u32 = 20_000_000;

/// Steps the processes in turn, each request taking no time; parked ones are passed over.
fn measure(name: &str, config: LoadConfig) {
    let mut load = config.build(1).expect("a valid configuration");
    let processes = load.processes();
    let mut parked = vec![false; processes as usize];
    let (mut wake, mut process, mut steps, mut now) = (Vec::new(), 0, 0, Time::ZERO);
    let start = Instant::now();
    while steps < STEPS {
        if !parked[process as usize] {
            now += 100;
            let step = black_box(load.step(ProcessId(process), now, &mut wake));
            parked[process as usize] = step == Step::Park;
            wake.drain(..).for_each(|woken: ProcessId| parked[woken.0 as usize] = false);
            steps += 1;
        }
        process = if process + 1 == processes { 0 } else { process + 1 };
    }
    println!("{name:<28} {:6.1} ns/step", start.elapsed().as_nanos() as f64 / f64::from(STEPS));
}

fn main() {
    let fileio = |mode, access: &str| {
        let access = access.parse().expect("a valid pattern");
        let threads = 32;
        let file_bytes = 400_000_000_000;
        let config = FileioConfig { mode, access, threads, file_bytes, ..FileioConfig::default() };
        measure(&format!("fileio {mode} {access}"), LoadConfig::Fileio(config));
    };
    FileioMode::ALL.into_iter().for_each(|mode| fileio(mode, "uniform"));
    fileio(FileioMode::RndWr, "zipf:0.99");
    fileio(FileioMode::RndWr, "hot-cold:20/80");

    measure("redo", LoadConfig::Redo(RedoConfig::default()));

    for hit_ratio in [None, Some(0.2)] {
        let cache = CacheConfig { bytes: 256 << 20, hit_ratio, ..CacheConfig::default() };
        let cached = if hit_ratio.is_some() { "stated ratio" } else { "real cache" };
        let slob = SlobConfig { scale_blocks: 100_000, cache, ..SlobConfig::default() };
        measure(&format!("slob 8/0 {cached}"), LoadConfig::Slob(slob));
        measure(&format!("slob 8/8 {cached}"), LoadConfig::Slob(SlobConfig { writers: 8, ..slob }));
        measure(&format!("oltp {cached}"), LoadConfig::Oltp(OltpConfig { cache, ..OltpConfig::default() }));
    }
}
