//! Hosts for the tests: a closed loop of requests in virtual time.

use device::{Cause, Completion, Device, Parts, Request, RequestId, Rng, Time};
use disk::{Array, ArrayConfig, DiskConfig, RaidLevel};

/// Like a 146 GB SAS disk of 15,000 turns a minute, about 2007.
pub fn disk_15k() -> DiskConfig {
    DiskConfig {
        capacity_bytes: 146_815_733_760,
        rpm: 15_000,
        track_seek_ns: 200_000,
        average_seek_ns: 3_500_000,
        full_seek_ns: 7_400_000,
        write_settle_ns: 400_000,
        outer_bytes_per_s: 125_000_000,
        inner_bytes_per_s: 73_000_000,
        interface_bytes_per_s: 300_000_000,
        command_ns: 50_000,
        queue_depth: 32,
        write_cache_bytes: 0,
    }
}

/// An array without a controller's cache.
pub fn plain(disk: DiskConfig, disks: u32, level: RaidLevel) -> ArrayConfig {
    ArrayConfig { disk, disks, level, chunk_bytes: 64 << 10, controller_cache_bytes: 0, controller_ns: 20_000 }
}

/// Measurements of a run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub completions: Vec<(Time, Completion)>,
    pub requests: u64,
    pub seconds: f64,
    pub mean_latency_ns: f64,
    pub max_latency_ns: u64,
    pub parts: Parts,
}

impl Run {
    pub fn per_second(&self) -> f64 {
        self.requests as f64 / self.seconds
    }
    pub fn mean_ns(&self, cause: Cause) -> f64 {
        self.parts.get(cause) as f64 / self.requests as f64
    }
}

/// Keeps `depth` requests outstanding until `count` have finished, then waits for the rest. `next` says what to ask.
pub fn closed_loop(
    array: &mut impl Device<Data = ()>,
    depth: u32,
    count: u64,
    mut next: impl FnMut() -> Request,
) -> Run {
    let mut run = Run::default();
    let mut done = Vec::new();
    let mut submitted = vec![Time::NEVER; depth as usize];
    let (mut now, mut asked, mut latency_ns) = (Time::ZERO, 0u64, 0u64);
    for id in 0..depth {
        submitted[id as usize] = now;
        array.submit(now, RequestId(id), next(), &mut done);
        asked += 1;
    }
    loop {
        for completion in std::mem::take(&mut done) {
            let since = std::mem::replace(&mut submitted[completion.id.0 as usize], Time::NEVER);
            assert_ne!(since, Time::NEVER, "request {} completed twice", completion.id.0);
            latency_ns += now - since;
            run.max_latency_ns = run.max_latency_ns.max(now - since);
            run.parts.merge(&completion.parts);
            run.requests += 1;
            run.completions.push((now, completion));
            if asked < count {
                submitted[completion.id.0 as usize] = now;
                array.submit(now, completion.id, next(), &mut done);
                asked += 1;
            }
        }
        if array.in_flight() == 0 && done.is_empty() {
            break;
        }
        now = array.next_event();
        assert_ne!(now, Time::NEVER, "requests are in flight, but nothing will happen");
        array.advance(now, &mut done);
    }
    run.seconds = now.as_secs();
    run.mean_latency_ns = latency_ns as f64 / run.requests as f64;
    run
}

/// Random aligned offsets over the whole capacity.
pub fn random_offsets(capacity_bytes: u64, len_bytes: u32, seed: u64) -> impl FnMut() -> u64 {
    let mut rng = Rng::stream(seed, "offsets");
    let places = capacity_bytes / u64::from(len_bytes);
    move || rng.below(places) * u64::from(len_bytes)
}

/// Random reads of 8 KiB.
pub fn random_reads(config: ArrayConfig, depth: u32, count: u64) -> Run {
    let mut array = Array::new(config, depth, true, 1).unwrap();
    let mut offset = random_offsets(array.capacity_bytes(), 8192, 2);
    closed_loop(&mut array, depth, count, || Request::read(offset(), 8192))
}

/// Random writes of 8 KiB.
pub fn random_writes(config: ArrayConfig, depth: u32, count: u64) -> Run {
    let mut array = Array::new(config, depth, true, 1).unwrap();
    let mut offset = random_offsets(array.capacity_bytes(), 8192, 2);
    closed_loop(&mut array, depth, count, || Request::write(offset(), 8192))
}
