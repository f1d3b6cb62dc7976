//! Simulated requests a second of wall clock: `cargo bench -p target --bench simulate`. Criterion's elements are
//! requests. `FLASHRIG_BENCH_SCALE=1` takes the card at its full size (some minutes to precondition).

mod full_tachion;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use device::HostConfig;
use load::FileioMode;
use target::{Machine, Stop};

const REQUESTS: u64 = 100_000;

fn simulate(criterion: &mut Criterion) {
    let scale = std::env::var("FLASHRIG_BENCH_SCALE")
        .map_or(1.0 / 64.0, |s| s.parse().expect("FLASHRIG_BENCH_SCALE is a share such as 1 or 0.015625"));
    let mut group = criterion.benchmark_group("simulate 4 KiB on a full tachIOn");
    group.throughput(Throughput::Elements(REQUESTS));
    group.sample_size(20);
    for mode in [FileioMode::RndWr, FileioMode::RndRd] {
        let (device, load) = full_tachion::prepare(mode, scale, true).expect("the built-in card");
        let mut load = load.build(1).expect("a valid load");
        let mut machine = Machine::new(device, load.as_mut(), HostConfig::UNLIMITED, false);
        machine.start_measurement();
        group.bench_function(mode.name(), |bencher| {
            bencher.iter(|| machine.run_until(Stop::Finished(machine.finished() + REQUESTS)));
        });
    }
    group.finish();
}

criterion_group!(benches, simulate);
criterion_main!(benches);
