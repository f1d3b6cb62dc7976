//! Cost of safety for a card with contents: recovery, parity and metadata, a missing module, a rebuild.
//!
//! ```text
//! cargo run --release --locked -p target --example price_of_safety
//! ```
//!
//! The card is a tachIOn with fewer dies and shorter blocks: 16 modules of one die, 64 pages of 4 KiB a block, so a band
//! has 4 MiB; times are the tachIOn's. All times are virtual. Payloads are whole: 4,096 bytes.

use card::{CardConfig, StorageCard, shape};
use device::{Completion, Device, Request, RequestId, Rng, SECTOR_BYTES, Time};
use format::CardId;
use media::{CutOutcome, Flash, Media, Module, Physics, RequestData};
use profile::{DeviceConfig, Profile};

const CARD: CardId = CardId(*b"price of safety ");
const DEPTH: u32 = 32;
/// Share of the data capacity that the host can address.
const USED: f64 = 0.70;

fn config(bands: u32, parity_units: u32) -> CardConfig {
    let device = Profile::builtin("tachion-400").and_then(|profile| profile.lower(1.0 / 64.0)).expect("it is built in");
    let DeviceConfig::Card(mut config) = device else { unreachable!("a flash card") };

    let geometry = &mut config.nand.geometry;
    (geometry.channels_per_module, geometry.dies_per_channel, geometry.pages_per_block) = (1, 1, 64);
    geometry.blocks_per_plane = bands;
    config.bands = bands;
    config.ftl.parity_units = parity_units;
    (config.buffer_sectors, config.relocation_sectors) = (512, 512);
    (config.capacitors, config.care.patrol) = (None, None);
    let layout = config.ftl.layout(&config.nand.geometry);
    let data = layout.band_data_sectors(|_| layout.all_units()) * bands;
    config.ftl.user_sectors = (f64::from(data) * USED) as u64;
    config
}

/// A closed loop of random 4 KiB requests.
struct Host {
    config: CardConfig,
    card: StorageCard,
    now: Time,
    done: Vec<Completion<RequestData>>,
    rng: Rng,
    begun: Vec<Time>,
    payload: Vec<u8>,
}

/// Measurements of a run.
struct Measured {
    iops: f64,
    p50_us: f64,
    p99_us: f64,
}

impl Host {
    fn new(config: CardConfig) -> Host {
        let media = Flash::new(shape(&config), Physics::IDEAL, 1);
        let card = StorageCard::format(&config, media, CARD, DEPTH, 1).expect("the card can be made");
        Host::on(config, card, Time::ZERO)
    }

    fn on(config: CardConfig, card: StorageCard, now: Time) -> Host {
        let payload = (0..SECTOR_BYTES).map(|i| ((i * 37) >> 3) as u8).collect();
        let begun = vec![Time::ZERO; DEPTH as usize];
        Host { config, card, now, done: Vec::new(), rng: Rng::stream(1, "host"), begun, payload }
    }

    fn sectors(&self) -> u64 {
        self.config.ftl.user_sectors
    }

    fn submit(&mut self, id: u32, write: bool, lba: u64) {
        let (offset, len) = (lba * SECTOR_BYTES, SECTOR_BYTES as u32);
        self.begun[id as usize] = self.now;
        let request = if write {
            let data = self.card.pack(0, &self.payload);
            Request::write(offset, len).with(data)
        } else {
            Request::read(offset, len).with(RequestData::none())
        };
        self.card.submit(self.now, RequestId(id), request, &mut self.done);
    }

    fn step(&mut self) -> bool {
        let next = self.card.next_event();
        if next == Time::NEVER {
            return false;
        }
        self.now = next;
        self.card.advance(next, &mut self.done);
        true
    }

    /// Runs so many requests, `depth` at once; LBAs by `next`.
    fn run(&mut self, requests: u64, depth: u32, write: bool, next: impl Fn(&mut Rng, u64) -> u64) -> Measured {
        let from = self.now;
        let (mut issued, mut ended) = (0, 0);
        let mut latencies = Vec::with_capacity(requests as usize);
        let mut free: Vec<u32> = (0..depth).collect();
        while ended < requests {
            while issued < requests
                && let Some(id) = free.pop()
            {
                let lba = next(&mut self.rng, issued);
                self.submit(id, write, lba);
                issued += 1;
            }
            while self.done.is_empty() {
                assert!(self.step(), "a request was lost");
            }
            for completion in std::mem::take(&mut self.done) {
                latencies.push(self.now - self.begun[completion.id.0 as usize]);
                free.push(completion.id.0);
                ended += 1;
            }
        }
        latencies.sort_unstable();
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64 / 1e3;
        Measured { iops: requests as f64 / ((self.now - from) as f64 / 1e9), p50_us: at(0.5), p99_us: at(0.99) }
    }

    fn fill(&mut self) {
        let sectors = self.sectors();
        self.run(sectors, DEPTH, true, |_, issued| issued);
    }

    fn random(&mut self, requests: u64, write: bool) -> Measured {
        let sectors = self.sectors();
        self.run(requests, DEPTH, write, |rng, _| rng.below(sectors))
    }

    fn rest(&mut self) {
        while self.step() {}
    }

    /// Power goes, at any moment.
    fn cut(mut self) -> (CardConfig, Flash, Time) {
        self.card.power_fails(self.now);
        while !self.card.is_drained() {
            assert!(self.step(), "the buffer never drains");
        }
        let under_way = self.card.under_way();
        let mut media = self.card.into_media().expect("it has contents");
        media.power_cut(&under_way, &mut |_, _| CutOutcome::Done);
        media.power_on();
        (self.config, media, self.now)
    }
}

/// Measurements of a start.
struct Start {
    units: u64,
    by_checkpoint: u32,
    scan_ms: f64,
    ready_ms: f64,
}

fn start(config: CardConfig, media: Flash, now: Time) -> (Host, Start) {
    let (card, report) =
        StorageCard::open(&config, media, Some(CARD), DEPTH, 1).map_err(|failed| failed.0).expect("it starts");
    let scan_ms = config.scan_ns(&report) as f64 / 1e6;
    let mut host = Host::on(config, card, now);
    host.card.start_up(now, &mut host.done);
    while !host.card.is_ready() {
        assert!(host.step(), "the start never ends");
    }
    let ready_ms = (host.now - now) as f64 / 1e6;
    (host, Start { units: report.reads, by_checkpoint: report.bands_by_checkpoint, scan_ms, ready_ms })
}

fn megabytes(config: &CardConfig) -> f64 {
    config.ftl.user_sectors as f64 * SECTOR_BYTES as f64 / 1e6
}

/// Full, and overwritten at random by a third of its size.
fn used(config: CardConfig) -> Host {
    let mut host = Host::new(config);
    host.fill();
    host.random(host.sectors() / 3, true);
    host
}

fn recovery_against_size() {
    println!("recovery after a cut under random writes, against the card's size");
    println!("{:>8} {:>8}  {:>24}  {:>24}", "", "", "with checkpoints", "without");
    println!(
        "{:>8} {:>8}  {:>8} {:>7} {:>7}  {:>8} {:>7} {:>7}",
        "MB", "bands", "units", "scan ms", "ready", "units", "scan ms", "ready"
    );
    for bands in [64, 128, 256, 512] {
        let mut with = config(bands, 1);
        let mut without = with;
        for (config, every) in [(&mut with, bands / 8), (&mut without, u32::MAX)] {
            config.ftl.persistence.as_mut().expect("a card with contents").checkpoint_every_bands = every;
        }
        let [a, b] = [with, without].map(|config| {
            let (config, media, now) = used(config).cut();
            start(config, media, now).1
        });
        println!(
            "{:>8.0} {bands:>8}  {:>8} {:>7.1} {:>7.1}  {:>8} {:>7.1} {:>7.1}",
            megabytes(&with),
            a.units,
            a.scan_ms,
            a.ready_ms,
            b.units,
            b.scan_ms,
            b.ready_ms
        );
    }
}

fn recovery_against_data() {
    println!("\nrecovery against what was written since the checkpoint (256 bands)");
    println!("{:>10} {:>8} {:>16} {:>8} {:>8}", "MB since", "units", "bands by ckpt", "scan ms", "ready");
    let mut config = config(256, 1);
    config.ftl.persistence.as_mut().expect("a card with contents").checkpoint_every_bands = 1_000_000;
    for share in [0.0, 0.05, 0.1, 0.2, 0.4] {
        let mut host = used(config);
        host.rest();
        host.card.begin_checkpoint(host.now);
        host.rest();
        let before = host.card.ftl().counters();
        let writes = (host.sectors() as f64 * share) as u64;
        if writes > 0 {
            host.random(writes, true);
        }
        let since = host.card.ftl().counters().since(&before);
        let written = (since.host_sectors + since.relocated_sectors) as f64 * SECTOR_BYTES as f64 / 1e6;
        let (config, media, now) = host.cut();
        let (_, s) = start(config, media, now);
        println!("{written:>10.0} {:>8} {:>16} {:>8.1} {:>8.1}", s.units, s.by_checkpoint, s.scan_ms, s.ready_ms);
    }
}

fn programs() {
    println!("\nprogrammed for each sector of the host, random writes in steady state (256 bands)");
    println!(
        "{:>10} {:>8} {:>10} {:>8} {:>10} {:>8} {:>10}",
        "parity", "host", "relocated", "parity", "metadata", "padding", "MB/s"
    );
    for parity_units in [0, 1] {
        let mut host = used(config(256, parity_units));
        host.random(host.sectors(), true);
        let before = host.card.ftl().counters();
        let measured = host.random(host.sectors(), true);
        let c = host.card.ftl().counters().since(&before);
        let share = |n: u64| n as f64 / c.host_sectors as f64;
        println!(
            "{:>10} {:>8.3} {:>10.3} {:>8.3} {:>10.4} {:>8.4} {:>10.1}",
            if parity_units == 1 { "1 in 16" } else { "none" },
            1.0,
            share(c.relocated_sectors),
            share(c.parity_sectors),
            share(c.metadata_sectors),
            share(c.padding_sectors),
            measured.iops * SECTOR_BYTES as f64 / 1e6
        );
    }
}

fn row(what: &str, reads: &Measured, writes: &Measured) {
    println!(
        "{what:>26} {:>9.0} {:>7.0} {:>7.0}  {:>9.0} {:>7.0} {:>7.0}",
        reads.iops, reads.p50_us, reads.p99_us, writes.iops, writes.p50_us, writes.p99_us
    );
}

fn without_a_module() {
    println!("\nrandom 4 KiB, {DEPTH} at once, in steady state (256 bands)");
    println!(
        "{:>26} {:>9} {:>7} {:>7}  {:>9} {:>7} {:>7}",
        "", "read/s", "p50 us", "p99 us", "write/s", "p50 us", "p99 us"
    );
    let mut host = used(config(256, 1));
    let n = 60_000;
    let writes = host.random(n, true);
    row("whole", &host.random(n, false), &writes);
    host.card.media_contents_mut().expect("it has contents").pull(3);
    host.random(2_000, false);
    let reads = host.random(n, false);
    row("a module missing", &reads, &host.random(n, true));
    let (config, mut media, now) = host.cut();
    let blank = Module::blank(media.shape(), media.physics(), media.trace());
    media.insert(3, blank);
    let (mut host, _) = start(config, media, now);
    rebuilds(&mut host, n);
}

fn rebuilds(host: &mut Host, n: u64) {
    let progress = host.card.rebuild_progress();
    assert!(progress.is_some(), "nothing is rebuilt");
    let reads = host.random(n / 4, false);
    let writes = host.random(n / 4, true);
    assert!(host.card.rebuild_progress().is_some(), "the rebuild was too short to measure beside");
    row("beside a rebuild", &reads, &writes);
    let from = host.now;
    let before = host.card.rebuild_progress().expect("checked").blocks_done;
    while host.card.rebuild_progress().is_some() && host.step() {}
    println!(
        "{:>26} {:.0} ms left with the host silent, from block {before}",
        "rebuild",
        (host.now - from) as f64 / 1e6
    );
}

fn main() {
    recovery_against_size();
    recovery_against_data();
    programs();
    without_a_module();
}
