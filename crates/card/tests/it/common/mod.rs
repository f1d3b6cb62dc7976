//! A host for the tests: it drives a card directly and checks every completion.

use card::{CardConfig, Care, LinkConfig, ModelCard, ModelState, RelocationPath};
use device::{Completion, Device, Operation, Parts, Request, RequestId, Rng, SECTOR_BYTES, Time};
use ftl::{Ftl, FtlConfig, GcMode, Lba, VictimPolicy};
use media::nand::{Endurance, Geometry, NandConfig, OpTiming, Timing};

/// Bytes of a sector, as requests count them.
pub const SECTOR: u32 = SECTOR_BYTES as u32;

/// Four modules with one die each: stripes of three sectors and parity, no suspend, paced collection.
///
/// Its times are round, so that sums can be done in the head: a page takes 100 µs on its bus, a sector 10 µs on the
/// link.
pub fn small() -> CardConfig {
    let times = OpTiming { read_ns: 50_000, program_ns: 400_000, erase_ns: 2_000_000 };
    let mut config = CardConfig {
        nand: NandConfig {
            geometry: Geometry {
                modules: 4,
                channels_per_module: 1,
                dies_per_channel: 1,
                planes_per_die: 1,
                blocks_per_plane: 64,
                pages_per_block: 16,
                page_bytes: 4096,
                spare_bytes: 0,
                multi_plane: false,
            },
            timing: Timing {
                native: times,
                slc: times,
                bus_bytes_per_s: 40_960_000,
                suspend_ns: None,
                max_suspends: 0,
            },
            endurance: Endurance { rated_cycles: 100_000, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 0 },
        },
        ftl: FtlConfig {
            user_sectors: 0,
            mapping_sectors: 1,
            stripe_width: 4,
            parity_units: 1,
            victim: VictimPolicy::Greedy,
            gc: GcMode::Paced { target_free_bands: 4 },
            reserve_bands: 2,
            separate_streams: true,
            static_wear_spread_cycles: 0,
            slc_cache: None,
            persistence: None,
            placement: None,
            map_cache: None,
            zones: None,
            compression: None,
        },
        bands: 64,
        link: LinkConfig {
            read_bytes_per_s: 409_600_000,
            write_bytes_per_s: 409_600_000,
            half_duplex: false,
            read_command_ns: 2_000,
            write_command_ns: 3_000,
            latency_ns: 5_000,
            write_latency_ns: 5_000,
            queue_depth: u32::MAX,
            housekeeping: None,
        },
        buffer_sectors: 48,
        power_loss_protection: true,
        acknowledge_flush_early: false,
        reads_first: true,
        relocation_sectors: 48,
        relocation_path: RelocationPath::Internal,
        fold_bytes_per_s: None,
        capacitors: None,
        care: Care { spare_threshold_percent: 10, patrol: None, module_timeout_ns: card::MODULE_TIMEOUT_NS },
        model: ModelState::default(),
    };
    use_share(&mut config, 0.8);
    config
}

/// Bytes of a sector's payload in cards with contents.
pub const PAYLOAD: usize = 128;

/// A card with contents: three modules of one die; bands of eight rows.
pub fn with_contents(power_loss_protection: bool) -> CardConfig {
    let mut config = small();
    config.nand.geometry.modules = 3;
    config.nand.geometry.pages_per_block = 8;
    config.nand.geometry.blocks_per_plane = 20;
    config.bands = 20;
    config.ftl.stripe_width = 3;
    config.ftl.gc = ftl::GcMode::Paced { target_free_bands: 2 };
    config.ftl.persistence =
        Some(ftl::Persistence { payload_bytes: PAYLOAD as u32, cell_rows: 1, checkpoint_every_bands: 0 });
    config.ftl.user_sectors = 60;
    config.buffer_sectors = 12;
    config.relocation_sectors = 12;
    config.power_loss_protection = power_loss_protection;
    config
}

/// The host can address this share of what collection can use.
pub fn use_share(config: &mut CardConfig, share: f64) {
    let usable_bands = config.bands - config.ftl.overhead_bands();
    config.ftl.user_sectors = (f64::from(usable_bands * band_data_sectors(config)) * share) as u64;
}

/// Sectors of data in a stripe.
pub fn stripe_data_sectors(config: &CardConfig) -> u32 {
    (config.ftl.stripe_width - config.ftl.parity_units) * config.nand.geometry.sectors_per_unit()
}

/// Sectors of data in a band.
pub fn band_data_sectors(config: &CardConfig) -> u32 {
    let geometry = &config.nand.geometry;
    geometry.dies() / config.ftl.stripe_width * geometry.units_per_band() * stripe_data_sectors(config)
}

/// One request that has finished.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    pub id: RequestId,
    pub request: Request,
    pub submitted: Time,
    pub at: Time,
    pub parts: Parts,
}

impl Finished {
    pub fn latency_ns(&self) -> u64 {
        self.at - self.submitted
    }
}

/// A card and its host.
pub struct Rig {
    pub card: ModelCard,
    pub now: Time,
    /// All that has finished, in order.
    pub finished: Vec<Finished>,
    outstanding: Vec<Option<(Time, Request)>>,
    done: Vec<Completion>,
    explain: bool,
}

impl Rig {
    /// A fresh card that explains where time goes.
    pub fn new(config: &CardConfig, max_requests: u32) -> Rig {
        Rig::with(config, max_requests, true)
    }

    pub fn with(config: &CardConfig, max_requests: u32, explain: bool) -> Rig {
        Rig {
            card: ModelCard::new(config, max_requests, explain, 1).unwrap(),
            now: Time::ZERO,
            finished: Vec::new(),
            outstanding: vec![None; max_requests as usize],
            done: Vec::new(),
            explain,
        }
    }

    /// Writes every sector that the host can address, front to back and without time; all of it is on flash.
    pub fn filled(mut self) -> Rig {
        let sectors = self.card.ftl().user_sectors();
        let ftl = self.card.ftl_mut();
        (0..sectors).for_each(|s| ftl.write_now(Lba(s as u32)).unwrap());
        ftl.settle_now();
        self
    }

    /// Overwrites random sectors without time, `times` the capacity.
    pub fn overwritten(mut self, times: u64) -> Rig {
        let mut rng = Rng::stream(3, "overwrites");
        let sectors = self.card.ftl().user_sectors();
        let ftl = self.card.ftl_mut();
        (0..times * sectors).for_each(|_| ftl.write_now(Lba(rng.below(sectors) as u32)).unwrap());
        ftl.settle_now();
        self
    }

    pub fn ftl(&self) -> &Ftl {
        self.card.ftl()
    }

    /// Hands over a request now.
    pub fn submit(&mut self, request: Request) -> RequestId {
        let free = self.outstanding.iter().position(Option::is_none).expect("too many requests at once");
        let id = RequestId(free as u32);
        self.outstanding[free] = Some((self.now, request));
        self.card.submit(self.now, id, request, &mut self.done);
        self.collect();
        id
    }

    /// Requests that are not finished.
    pub fn in_flight(&self) -> usize {
        self.outstanding.iter().flatten().count()
    }

    /// Requests of a kind that are not finished.
    pub fn in_flight_of(&self, op: Operation) -> usize {
        self.outstanding.iter().flatten().filter(|(_, request)| request.operation == op).count()
    }

    /// Goes to the next event; false when there is none.
    pub fn step(&mut self) -> bool {
        let next = self.card.next_event();
        if next == Time::NEVER {
            return false;
        }
        assert!(next >= self.now, "time ran backwards");
        self.now = next;
        self.card.advance(next, &mut self.done);
        self.collect();
        true
    }

    fn collect(&mut self) {
        for Completion { id, parts, .. } in self.done.drain(..) {
            let (submitted, request) =
                self.outstanding[id.0 as usize].take().expect("a request completed that was not asked for");
            let expected_ns = if self.explain { self.now - submitted } else { 0 };
            assert_eq!(parts.total_ns(), expected_ns, "the parts of {request:?} do not add up: {parts:?}");
            self.finished.push(Finished { id, request, submitted, at: self.now, parts });
        }
        assert_eq!(self.card.in_flight(), self.in_flight() as u64);
    }

    /// Passes time without requests.
    pub fn wait_ns(&mut self, ns: u64) {
        let end = self.now + ns;
        while self.card.next_event() <= end {
            self.step();
        }
        self.now = end;
    }

    /// Until everything asked has finished.
    pub fn drain(&mut self) {
        while self.in_flight() > 0 {
            assert!(self.step(), "{} requests are lost: the card has no event to come", self.in_flight());
        }
    }

    /// Until the card has nothing left to do.
    pub fn settle(&mut self) {
        self.drain();
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 10_000_000, "the card never comes to rest");
        }
    }

    /// Asks one thing and waits for it.
    pub fn ask(&mut self, request: Request) -> Finished {
        let id = self.submit(request);
        while self.outstanding[id.0 as usize].is_some() {
            assert!(self.step(), "{request:?} is lost: the card has no event to come");
        }
        *self.finished.iter().rfind(|f| f.id == id).unwrap()
    }

    /// Keeps `depth` requests outstanding until `count` have been asked for, and waits for the last. Returns those that
    /// finished in the loop.
    pub fn closed_loop(&mut self, depth: u32, count: u64, mut next: impl FnMut() -> Request) -> Vec<Finished> {
        let first = self.finished.len();
        for _ in 0..count {
            while self.in_flight() >= depth as usize {
                assert!(self.step(), "the card has no event to come");
            }
            let request = next();
            self.submit(request);
        }
        self.drain();
        self.finished.split_off(first)
    }
}

/// Bytes a second of requests that finished one after the other, without the first and last tenth.
pub fn throughput(finished: &[Finished]) -> f64 {
    let tenth = finished.len() / 10;
    let (first, last) = (&finished[tenth], &finished[finished.len() - 1 - tenth]);
    let bytes: u64 =
        finished[tenth + 1..finished.len() - tenth].iter().map(|f| u64::from(f.request.range.len_bytes)).sum();
    bytes as f64 * 1e9 / (last.at - first.at) as f64
}

/// Latency below which `share` of the requests of a kind lie.
pub fn quantile_ns(finished: &[Finished], op: Operation, share: f64) -> u64 {
    let mut sorted: Vec<u64> =
        finished.iter().filter(|f| f.request.operation == op).map(Finished::latency_ns).collect();
    sorted.sort_unstable();
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// A request of whole sectors.
pub fn read(sector: u64, sectors: u32) -> Request {
    Request::read(sector * SECTOR_BYTES, sectors * SECTOR)
}

/// A request of whole sectors.
pub fn write(sector: u64, sectors: u32) -> Request {
    Request::write(sector * SECTOR_BYTES, sectors * SECTOR)
}

/// A write of whole sectors that is durable when it completes.
pub fn write_fua(sector: u64, sectors: u32) -> Request {
    Request { fua: true, ..write(sector, sectors) }
}

#[track_caller]
pub fn assert_close(what: &str, got: f64, expected: f64, bound: f64) {
    println!("{what}: {got:.4}, expected {expected:.4}, {:+.2} %", 100.0 * (got / expected - 1.0));
    assert!((got / expected - 1.0).abs() <= bound, "{what}: {got}, expected {expected}");
}
