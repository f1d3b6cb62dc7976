//! Wears a card out.

use crate::lifetime::closed;
use crate::lifetime::miniature::{Miniature, Size, fail_ppm_at_rated, miniature};
use crate::lifetime::spread::spread;
use device::{Compressible, Rng, SECTOR_BYTES};
use ftl::{Counters, Ftl, FtlError, Lba};
use load::{Access, BlockSampler, Given, LoadError};
use profile::{Profile, ProfileError};
use results::{LifetimeCase, LifetimeModel, LifetimePoint, LifetimeSpread};
use target::Progress;

/// The card that is worn out, and the writes that do it.
#[derive(Clone, Debug)]
pub struct Wearing {
    /// The card, with its reserve.
    pub profile: Profile,
    /// Share of the user capacity in use, above 0, at most 1.
    pub fill: f64,
    /// Distribution of the blocks that are written; `None`: front to back, again and again.
    pub access: Option<Access>,
    /// Bytes of a write.
    pub block_bytes: u64,
    /// Writes from one flush to the next; 0: nobody flushes. Cards with capacitors never pad.
    pub fsync_every: u32,
    /// How compressible the data are.
    pub compressible: Compressible,
    /// Root seed of the simulation.
    pub seed: u64,
    /// Size of the card that is worn out in its place.
    pub size: Size,
}

/// An error that keeps a lifetime from being told.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LifetimeError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// Disks have no cycles.
    #[error("{name} is no flash card: nobody counts its cycles")]
    Disks { name: Given },
    /// The small card can't be built.
    #[error(transparent)]
    Ftl(#[from] FtlError),
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A person asked to stop.
    #[error("stopped")]
    Cancelled,
}

/// Samples of a cycle's worth of writes.
const SAMPLES: u64 = 4;
/// Points of the curve at most; then every second one is dropped.
const CURVE_POINTS: usize = 256;
/// A card whose spare lasts longer than so many times the rated cycles is not worn out further.
const MAX_LIVES: f64 = 3.0;
/// Write amplification is that between these shares of the rated cycles: what the first fill left in order is mixed by
/// then, and next to no block is retired yet.
const YOUNG: (f64, f64) = (0.1, 0.3);

/// Wears a card out: at `bytes_per_day` of the host, with a warranty of so many years.
pub fn lifetime(
    wearing: &Wearing,
    bytes_per_day: f64,
    warranty_years: f64,
    progress: &dyn Progress,
) -> Result<LifetimeCase, LifetimeError> {
    let profile = &wearing.profile;
    // The whole card gives the figures that depend on its size; any of its sizes shows how it works.
    let figures = profile.figures()?.ok_or_else(|| LifetimeError::Disks { name: profile.name().into() })?;
    let lowered = profile.lower(SMALLEST)?;
    let card = lowered.cards().first().expect("a flash device has a card");
    let program_fail_ppm = profile.physics()?.map_or(0, |physics| physics.program_fail_ppm_at_rated);
    let pads = wearing.fsync_every > 0 && !card.power_loss_protection;
    let mini = miniature(card, figures.capacities.effective_spare_factor, program_fail_ppm, wearing.size, pads);
    let life = Life::new(&mini, wearing, pads)?.live(progress)?;
    let c = &figures.capacities;
    let data_bytes =
        (c.data_sectors_per_band * u64::from(c.bands) * SECTOR_BYTES) as f64 * f64::from(figures.distinct_cards);
    // A sector of the small card stands for so many bytes of the large one, each cycle for several.
    let bytes_for_a_sector = data_bytes / mini.data_sectors as f64 * mini.factor;
    let bytes = |sectors: u64| sectors as f64 * bytes_for_a_sector;
    let years = |bytes: f64| bytes / bytes_per_day / DAYS_OF_A_YEAR;
    let good = 1.0 - f64::from(card.nand.endurance.factory_bad_ppm) / 1e6;
    let rated_cycles = f64::from(card.nand.endurance.rated_cycles);
    let programmed = life.waf + life.padding;
    let closed_bytes = closed::endurance_bytes(rated_cycles, data_bytes * good, programmed);
    let fail_at_rated = f64::from(fail_ppm_at_rated(card, program_fail_ppm)) / 1e6;
    // Compressed data leave more of the flash.
    let effective_spare_factor = match card.ftl.compression {
        None => c.effective_spare_factor,
        Some(compression) => 1.0 - (1.0 - c.effective_spare_factor) * compression.mean_size(wearing.compressible),
    };
    let spare_wear = closed::wear_at_retired(fail_at_rated, rated_cycles, effective_spare_factor);
    let ends: Vec<f64> = [life.rated_at, life.spare_ended_at].into_iter().flatten().map(bytes).collect();
    let endurance_bytes = ends.into_iter().fold(f64::INFINITY, f64::min);
    let endurance_bytes = if endurance_bytes.is_finite() { endurance_bytes } else { bytes(life.written) };
    let user_bytes = figures.user_bytes;
    let price = profile.price_usd();
    Ok(LifetimeCase {
        reserve_percent: figures.reserve() * 100.0,
        user_bytes,
        used_bytes: (user_bytes as f64 * wearing.fill) as u64,
        effective_spare_factor,
        waf: life.waf,
        total_amplification: programmed * (c.installed_bytes * u64::from(figures.cards)) as f64 / data_bytes,
        rated_cycles: card.nand.endurance.rated_cycles,
        closed_endurance_bytes: closed_bytes,
        closed_years: years(closed_bytes),
        rated_years: life.rated_at.map(|at| years(bytes(at))),
        spare_years: life.spare_ended_at.map(|at| years(bytes(at))),
        closed_spare_years: spare_wear.map(|wear| years(closed_bytes) * wear),
        endurance_bytes,
        years: years(endurance_bytes),
        drive_writes_per_day: endurance_bytes / user_bytes as f64 / (warranty_years * DAYS_OF_A_YEAR),
        wear: life.wear,
        retired_share_closed: closed::retired_share(fail_at_rated, rated_cycles, life.wear.mean / rated_cycles),
        retired_share: life.retired_share,
        usd_per_gb: price.map(|usd| usd / (user_bytes as f64 / 1e9)),
        usd_per_tb_written: price.map(|usd| usd / (endurance_bytes / 1e12)),
        iops: None,
        usd_per_iops: None,
        power_watts: profile.power_watts(),
        curve: life
            .curve
            .iter()
            .map(|sample| LifetimePoint {
                years: years(bytes(sample.written)),
                written_bytes: bytes(sample.written),
                wear: sample.wear,
                retired_share: sample.retired_share,
                spare_factor: sample.spare_factor,
                waf: sample.waf,
            })
            .collect(),
        model: LifetimeModel {
            cycles: mini.nand.endurance.rated_cycles,
            bands: mini.bands,
            band_sectors: (mini.data_sectors / u64::from(mini.bands)) as u32,
            static_wear_spread_cycles: mini.ftl.static_wear_spread_cycles,
        },
    })
}

/// As small as a card gets.
const SMALLEST: f64 = 1e-6;
const DAYS_OF_A_YEAR: f64 = 365.0;

/// A small card while it is worn out.
struct Life {
    ftl: Ftl,
    bands: u32,
    factor: f64,
    rated_cycles: f64,
    can_fail: bool,
    factory_bad: u64,
    writer: Writer,
    sample_sectors: u64,
    outcome: Outcome,
    young: Option<Counters>,
    every: u64,
    samples: u64,
    before: Counters,
}

/// Outcome of a life. Sectors are the small card's, cycles the large one's.
#[derive(Default)]
struct Outcome {
    waf: f64,
    /// Sectors of padding for one of the host, in the same time.
    padding: f64,
    written: u64,
    rated_at: Option<u64>,
    spare_ended_at: Option<u64>,
    /// When the life ended, whichever way.
    wear: LifetimeSpread,
    retired_share: f64,
    curve: Vec<Sample>,
}

struct Sample {
    written: u64,
    wear: LifetimeSpread,
    retired_share: f64,
    spare_factor: f64,
    waf: f64,
}

impl Life {
    fn new(mini: &Miniature, wearing: &Wearing, pads: bool) -> Result<Life, LifetimeError> {
        let mut ftl = Ftl::new(&mini.nand, mini.bands, &mini.ftl, wearing.seed)?;
        ftl.compress(wearing.compressible);
        let user = ftl.user_sectors();
        let used = ((user as f64 * wearing.fill).round() as u64).clamp(1, user);
        for sector in 0..used {
            // New blocks bear a fill.
            if ftl.write_now(Lba(sector as u32)).is_err() {
                break;
            }
        }
        let writer = Writer::new(wearing, used, pads)?;
        Ok(Life {
            bands: mini.bands,
            factor: mini.factor,
            rated_cycles: f64::from(mini.nand.endurance.rated_cycles),
            can_fail: mini.nand.endurance.erase_fail_ppm_at_rated > 0,
            factory_bad: ftl.blocks().bad_count(),
            writer,
            sample_sectors: (mini.data_sectors / SAMPLES).max(1),
            outcome: Outcome::default(),
            young: None,
            every: 1,
            samples: 0,
            before: ftl.counters(),
            ftl,
        })
    }

    fn live(mut self, progress: &dyn Progress) -> Result<Outcome, LifetimeError> {
        progress.begin("wear out", 1_000);
        let mut waf_known = false;
        loop {
            if progress.cancelled() {
                return Err(LifetimeError::Cancelled);
            }
            let mut in_sample = 0;
            let mut read_only = false;
            while in_sample < self.sample_sectors && !read_only {
                match self.writer.write_block(&mut self.ftl) {
                    Some(sectors) => in_sample += sectors,
                    None => read_only = true,
                }
            }
            let counters = self.ftl.counters();
            let share = self.ftl.blocks().wear_mean() / self.rated_cycles;
            progress.at(((share * 1e3) as u64).min(999));
            if share >= YOUNG.0 && self.young.is_none() {
                self.young = Some(counters);
            }
            if !waf_known && let Some(young) = self.young.filter(|_| share >= YOUNG.1 || read_only) {
                let since = counters.since(&young);
                self.outcome.waf = since.waf();
                self.outcome.padding = since.pages(since.padding_sectors) / since.host_sectors.max(1) as f64;
                waf_known = true;
            }
            let first_at_rated = f64::from(self.ftl.blocks().wear_range().1) >= self.rated_cycles;
            let alive = self.outcome.rated_at.is_none() && self.outcome.spare_ended_at.is_none();
            self.sample(counters, alive);
            self.outcome.written = counters.host_sectors;
            if first_at_rated && self.outcome.rated_at.is_none() {
                self.outcome.rated_at = Some(counters.host_sectors);
            }
            if read_only {
                self.outcome.spare_ended_at = Some(counters.host_sectors);
            }
            let over = read_only || share >= MAX_LIVES || (!self.can_fail && self.outcome.rated_at.is_some());
            if over {
                if self.outcome.waf == 0.0 {
                    // Nothing was written in the time that is looked at.
                    self.outcome.waf = if counters.host_sectors == 0 { 1.0 } else { counters.waf() };
                }
                return Ok(self.outcome);
            }
        }
    }

    fn sample(&mut self, counters: Counters, alive: bool) {
        let blocks = self.ftl.blocks();
        let count = f64::from(self.bands) * f64::from(self.ftl.layout().dies);
        let retired_share = (blocks.bad_count() - self.factory_bad) as f64 / count;
        let due = self.samples.is_multiple_of(self.every);
        self.samples += 1;
        if !alive && !due {
            return;
        }
        let wear = spread(&self.ftl, self.bands, self.factor);
        if alive {
            (self.outcome.wear, self.outcome.retired_share) = (wear, retired_share);
        }
        if !due {
            return;
        }
        let waf = counters.since(&self.before).waf();
        self.before = counters;
        let spare_factor = self.ftl.effective_spare_factor();
        let written = counters.host_sectors;
        self.outcome.curve.push(Sample { written, wear, retired_share, spare_factor, waf });
        if self.outcome.curve.len() == CURVE_POINTS {
            let mut keep = false;
            self.outcome.curve.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2;
        }
    }
}

/// Writes blocks in the load's pattern.
struct Writer {
    sampler: Option<BlockSampler>,
    block_sectors: u64,
    used: u64,
    next: u64,
    /// Blocks from one flush to the next, and blocks until then; 0: no flush needs padding.
    fsync_every: u32,
    until_fsync: u32,
    rng: Rng,
}

impl Writer {
    fn new(wearing: &Wearing, used: u64, pads: bool) -> Result<Writer, LifetimeError> {
        let fsync_every = if pads { wearing.fsync_every } else { 0 };
        let block_sectors = wearing.block_bytes.div_ceil(SECTOR_BYTES).clamp(1, used);
        let blocks = (used / block_sectors).max(1);
        let sampler = wearing.access.map(|access| BlockSampler::new(access, blocks, wearing.seed)).transpose()?;
        let rng = Rng::stream(wearing.seed, "wear");
        Ok(Writer { sampler, block_sectors, used, next: 0, fsync_every, until_fsync: fsync_every, rng })
    }

    /// Writes a block; none when the card takes no more.
    fn write_block(&mut self, ftl: &mut Ftl) -> Option<u64> {
        let first = match &self.sampler {
            Some(sampler) => sampler.draw(&mut self.rng) * self.block_sectors,
            None => {
                let first = self.next;
                self.next = if first + 2 * self.block_sectors > self.used { 0 } else { first + self.block_sectors };
                first
            }
        };
        if self.sampler.is_some() {
            ftl.write_block_now(first..first + self.block_sectors).ok()?;
        } else {
            // Writes that follow each other are put together before they go to flash.
            for sector in first..first + self.block_sectors {
                ftl.write_now(Lba(sector as u32)).ok()?;
            }
        }
        if self.fsync_every > 0 {
            self.until_fsync -= 1;
            if self.until_fsync == 0 {
                self.until_fsync = self.fsync_every;
                ftl.flush_now();
            }
        }
        Some(self.block_sectors)
    }
}
