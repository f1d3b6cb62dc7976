//! Cards with contents: making one on blank modules, and finding one again.

use crate::CardConfig;
use crate::card::{Card, Contents, Done};
use crate::contents::Storage;
use crate::contents::checkpoint::CheckpointInFlight;
use crate::contents::holes::Holes;
use crate::contents::log::Log;
use crate::contents::rescue::Rescue;
use crate::contents::store::{Content, HeaderFailed, Headers, Store};
use crate::contents::watermark::Watermarks;
use crate::core::Core;
use crate::core::phase::Lifecycle;
use format::{CardId, ModuleHeader, ModuleId, Role, Slot, SlotState};
use ftl::recover::{
    self, AssembleError, Assembly, Logged, MemberState, Rescued, ScanError, ScanReport, assemble, scan,
};
use ftl::{FoundBlock, Ftl, FtlError, Lba, StreamId};
use media::RequestData;
use media::{Flash, LogArea, Media, MediaError, Medium, Shape, persist};

/// Why a card can't be made or started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum OpenError {
    /// Its flash management can't work so.
    #[error(transparent)]
    Ftl(#[from] FtlError),
    /// Its modules can't be written.
    #[error("module {module}: its header can't be written: {error}")]
    Header { module: u32, error: MediaError },
    /// The modules hold no card, or not all of one.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The card was made from another configuration.
    #[error("the card was made with {field} {card}, not {asked}")]
    MadeOtherwise { field: &'static str, card: u64, asked: u64 },
    /// The modules have lost more than parity makes up for.
    #[error(transparent)]
    Scan(#[from] ScanError),
}

impl From<HeaderFailed> for OpenError {
    fn from(HeaderFailed { logical, error }: HeaderFailed) -> OpenError {
        OpenError::Header { module: logical, error }
    }
}

/// A card that could not be opened: why, and its media.
pub type Unopened = Box<(OpenError, Medium)>;

/// How the flash of a card is divided, for its medium.
pub fn shape(config: &CardConfig) -> Shape {
    let geometry = &config.nand.geometry;
    let persistence = config.ftl.persistence.expect("a card with contents keeps what finds them again");
    Shape {
        modules: geometry.modules,
        dies_per_module: geometry.dies() / geometry.modules,
        blocks_per_die: config.bands,
        rows_per_block: geometry.units_per_band(),
        unit_sectors: geometry.sectors_per_unit(),
        payload_bytes: persistence.payload_bytes,
        rows_sharing_cells: persistence.cell_rows,
    }
}

/// The log area that flushes of a card use: one that lets stripes lie in a volatile cache, and answers flushes when it must.
fn log_area(config: &CardConfig, store: &Store) -> Option<LogArea> {
    let needs_log = !config.power_loss_protection && !config.acknowledge_flush_early;
    store.media.log_area().filter(|_| needs_log && store.media.is_volatile())
}

fn slc_bits_per_cell(config: &CardConfig) -> u32 {
    config.ftl.slc_cache.map_or(1, |cache| cache.bits_per_cell)
}

/// Finds the modules of a card, and refuses those that a card of this configuration can't be started from. All that a
/// start refuses before it reads bands is refused here. Writes nothing.
pub fn examine(config: &CardConfig, media: &mut dyn Media, id: Option<CardId>) -> Result<Assembly, OpenError> {
    let assembly = assemble(media, id)?;
    is_made_so(&assembly.header, config)?;
    Ok(assembly)
}

/// The number of modules that a card of this configuration can do without.
pub fn spared_modules(config: &CardConfig) -> u32 {
    recover::spared_modules(config.ftl.stripe_width, config.nand.geometry.modules, config.ftl.parity_units)
}

/// Whether a card of this configuration can be started without some of its modules.
pub fn can_do_without(config: &CardConfig, is_gone: impl Fn(u32) -> bool) -> bool {
    recover::can_do_without(&shape(config), config.ftl.stripe_width, config.ftl.parity_units, is_gone)
}

/// Refuses what a start with this configuration can't go on from, though its bands were read. Writes nothing.
pub fn may_adopt(
    config: &CardConfig,
    media: &dyn Media,
    assembly: &Assembly,
    found: &recover::Found,
) -> Result<(), OpenError> {
    let slots: Vec<Option<u32>> = assembly.members.iter().map(|member| member.slot).collect();
    // The seed decides of victims only.
    adopt(&config.with_contents(), media, &slots, &assembly.trusted_slots(), found, 0).map(drop)
}

/// Refuses a card that was made from another configuration, as far as it matters for what lies on its modules.
pub fn is_made_so(header: &ModuleHeader, config: &CardConfig) -> Result<(), OpenError> {
    let (made, asked) = (header.shape, shape(config));
    let fields = [
        ("modules", u64::from(made.modules), u64::from(asked.modules)),
        ("dies per module", made.dies_per_module.into(), asked.dies_per_module.into()),
        ("blocks per die", made.blocks_per_die.into(), asked.blocks_per_die.into()),
        ("rows per block", made.rows_per_block.into(), asked.rows_per_block.into()),
        ("unit sectors", made.unit_sectors.into(), asked.unit_sectors.into()),
        ("payload bytes", made.payload_bytes.into(), asked.payload_bytes.into()),
        ("rows sharing cells", made.rows_sharing_cells.into(), asked.rows_sharing_cells.into()),
        ("stripe width", u64::from(header.stripe_width), u64::from(config.ftl.stripe_width)),
        ("parity units", header.parity_units.into(), config.ftl.parity_units.into()),
        ("user sectors", header.user_sectors, config.ftl.user_sectors),
        ("SLC bits per cell", header.slc_bits_per_cell.into(), slc_bits_per_cell(config).into()),
        ("power-loss protection", header.power_loss_protection.into(), config.power_loss_protection.into()),
    ];
    match fields.into_iter().find(|(_, card, asked)| card != asked) {
        Some((field, card, asked)) => Err(OpenError::MadeOtherwise { field, card, asked }),
        None => Ok(()),
    }
}

/// Claims after which a module counts as another's for good.
const CLAIMS: u64 = 64;

/// Claims modules for whoever starts the card. A claim may be higher than any header tells: power went before the header
/// was written, or that copy was damaged. A module that refuses is refused when it is written to.
fn take_over(media: &mut dyn Media, slots: impl Iterator<Item = u32>, generation: u64) {
    let claims: Vec<(u32, u64)> = slots.map(|slot| (slot, generation + 1)).collect();
    media.begin_claims(&claims);
    for (slot, first) in claims {
        for generation in first..first + CLAIMS {
            if persist(|| media.claim(slot, generation)) != Err(MediaError::Fenced) {
                break;
            }
        }
    }
}

impl Card<Storage> {
    /// Makes a card on modules whose contents don't matter: they are lost. It takes at most `max_requests` requests at
    /// once.
    pub fn format(
        config: &CardConfig,
        media: impl Into<Medium>,
        id: CardId,
        max_requests: u32,
        seed: u64,
    ) -> Result<Card<Storage>, OpenError> {
        let config = &config.with_contents();
        let mut media = media.into();
        let shape = *media.shape();
        let modules = shape.modules as usize;
        let slots: Vec<Slot> = (0..modules)
            .map(|i| {
                let mut module = id.0;
                module[15] ^= 0x80 | i as u8;
                Slot::new(ModuleId(module), SlotState::Active)
            })
            .collect();
        // The medium says which blocks are bad from the factory.
        let mut nand = config.nand;
        nand.endurance.factory_bad_ppm = 0;
        let mut ftl = Ftl::new(&nand, config.bands, &config.ftl, seed)?;
        ftl.take_over_blocks(|band, die| {
            media.is_bad(media::BlockAt { module: die % shape.modules, die: die / shape.modules, block: band })
        });
        let common = ModuleHeader {
            card: id,
            module: slots[0].module,
            slot: 0,
            generation: 0,
            sequence: 0,
            shape,
            stripe_width: config.ftl.stripe_width,
            parity_units: config.ftl.parity_units,
            user_sectors: config.ftl.user_sectors,
            slc_bits_per_cell: slc_bits_per_cell(config),
            power_loss_protection: config.power_loss_protection,
            clean: false,
            read_only: false,
            lost_writes: false,
            durable: Default::default(),
            log_begins: 0,
            holds: Default::default(),
            no_erases: false,
            power_cycles: 0,
            unsafe_shutdowns: 0,
            host_sectors_written: 0,
            host_sectors_read: 0,
            media_errors: 0,
            busy_ns: 0,
            power_on_ns: 0,
            host_read_commands: 0,
            host_write_commands: 0,
            new_data_sectors: ftl.data_sectors(),
            slots,
        };
        let mut headers = Headers::new(common);
        let in_slots: Vec<Option<u32>> = (0..shape.modules).map(Some).collect();
        headers.claim(&mut *media, &in_slots)?;
        headers.write(&mut *media, &in_slots)?;
        let store = Store::new(media, headers, in_slots, ftl.user_sectors(), config.buffer_sectors);
        let mut card = Card::around_found(config, ftl, store, max_requests, Lifecycle::running());
        card.begin_patrol(false);
        Ok(card)
    }

    /// Finds a card on its modules, in whatever slots they are. It serves at once; but until [`Card::is_ready`] it moves
    /// what a second loss could not spare, and [`Device::advance`](device::Device::advance) should be called until then.
    ///
    /// The media are handed back with an error.
    pub fn open(
        config: &CardConfig,
        media: impl Into<Medium>,
        id: Option<CardId>,
        max_requests: u32,
        seed: u64,
    ) -> Result<(Card<Storage>, ScanReport), Unopened> {
        let mut media = media.into();
        let config = &config.with_contents();
        let found = match find(config, &mut *media, id, seed) {
            Ok(found) => found,
            Err(error) => return Err(Box::new((error, media))),
        };
        let mut store = Store::new(media, found.headers, found.slots, found.ftl.user_sectors(), config.buffer_sectors);
        store.next_version = found.next_version;
        let mut card = Card::around_found(config, found.ftl, store, max_requests, Lifecycle::starting());
        let stale_bands = card.core.ftl.stale_bands();
        // All that was found is on flash.
        card.contents.holes = Holes::found(found.next_version - 1, stale_bands);
        card.contents.watermarks = Watermarks::at_start(&card.core.ftl, config.bands);
        card.contents.rescue = Rescue::of(found.rescued, stale_bands);
        let logged = found
            .logged
            .into_iter()
            .map(|Logged { lba, version, payload }| Content::new(Role::Data, version, Lba(lba), payload.into()));
        let area = log_area(config, &card.contents.store);
        card.contents.log = Log::new(area, found.next_log_sequence, logged.collect());
        card.restore_totals();
        card.begin_patrol(true);
        card.owe_since_start(found.owed_segments);
        if found.by_checkpoint {
            let bands = card.core.ftl.bands_since_checkpoint();
            card.contents.checkpoint = CheckpointInFlight::found(found.next_version, bands);
        }
        for logical in found.to_rebuild {
            card.rebuild_all_of(logical);
        }
        Ok((card, found.report))
    }

    /// The card around flash management that knows its media.
    fn around_found(
        config: &CardConfig,
        mut ftl: Ftl,
        store: Store,
        max_requests: u32,
        phase: Lifecycle,
    ) -> Card<Storage> {
        ftl.keep_free(config.bands_kept_free());
        let mut contents = Storage::new(store);
        contents.log = Log::new(log_area(config, &contents.store), 1, Vec::new());
        Card { core: Core::around(config, ftl, max_requests, false, phase), contents }
    }

    /// Begins what has to be done after a start.
    pub fn start_up(&mut self, now: device::Time, done: &mut Done<Storage>) {
        self.erase_stale(now);
        self.resume(now, done);
        // Where nothing happens by itself, a request would come before the card has noticed that something will never do.
        if self.core.timers.are_over() {
            <Storage as Contents>::events_done(self, now, true);
        }
    }

    /// Nothing that was found lies in a stripe that is not whole any more, and the headers say so; or there is no room to
    /// move it. Data that a host reads before that could be lost with one module more.
    pub fn is_ready(&self) -> bool {
        let at_work = self.core.dies.in_flight() > 0 || self.syncs_soon();
        self.core.phase.is_halted() || self.core.phase.start_is_over() || !at_work
    }

    /// Counts of the card's reads, failures and rebuilt sectors since the start.
    pub fn store_counters(&self) -> crate::StoreCounters {
        self.contents.store.counters
    }

    /// Sectors are being relocated, or bands erased.
    pub fn collects(&self) -> bool {
        !self.core.erasing.is_empty()
            || self.core.relocations.on_their_way() > 0
            || self.core.relocations.sectors_in_flight() > 0
    }

    /// Stripes are being programmed.
    pub fn programs(&self) -> bool {
        !self.core.stripes.is_empty()
    }

    /// Slots of its modules, by their numbers within the card; `None` for those that are missing.
    pub fn slots(&self) -> &[Option<u32>] {
        &self.contents.store.slots
    }

    /// Its emulated flash, as it is.
    pub fn into_media(self) -> Option<Flash> {
        self.contents.store.media.into_flash()
    }

    /// Its emulated flash.
    pub fn media_contents(&self) -> Option<&Flash> {
        self.contents.store.media.flash()
    }

    /// Its emulated flash, to do it harm.
    pub fn media_contents_mut(&mut self) -> Option<&mut Flash> {
        self.contents.store.media.flash_mut()
    }

    /// The medium that the card lies on.
    pub fn medium(&self) -> &Medium {
        &self.contents.store.media
    }

    /// The medium that the card lies on, to be told of what happens to it.
    pub fn medium_mut(&mut self) -> &mut Medium {
        &mut self.contents.store.media
    }

    /// The medium that the card lies on, as it is.
    pub fn into_medium(self) -> Medium {
        self.contents.store.media
    }

    /// Packs what a host writes for a request: a payload for each sector. The bytes begin `within_first_sector` bytes into
    /// their first sector; sectors that they cover in part keep the rest.
    pub fn pack(&mut self, within_first_sector: usize, bytes: &[u8]) -> RequestData {
        self.contents.store.pack(within_first_sector, bytes)
    }
}

/// A card as it was found on its modules.
struct Found {
    ftl: Ftl,
    headers: Headers,
    slots: Vec<Option<u32>>,
    next_version: u64,
    /// Modules of the card of which nothing counts.
    to_rebuild: Vec<u32>,
    rescued: Vec<Rescued>,
    /// Sectors that lie in the log only.
    logged: Vec<Logged>,
    next_log_sequence: u64,
    /// Segments whose holes only a checkpoint tells of.
    owed_segments: Vec<u32>,
    /// A checkpoint was found, and knew nearly all bands: no more were read than the open ones and its own.
    by_checkpoint: bool,
    report: ScanReport,
}

/// A checkpoint was found, and knew nearly all bands.
fn is_short(found: &recover::Found) -> bool {
    let read = (found.report.bands_by_summary + found.report.bands_scanned) as usize;
    !found.checkpoint_bands.is_empty() && read <= found.checkpoint_bands.len() + StreamId::ALL.len()
}

/// Flash management that goes on from what was found on modules in these slots.
fn adopt(
    config: &CardConfig,
    media: &dyn Media,
    slots: &[Option<u32>],
    trusted: &[Option<u32>],
    found: &recover::Found,
    seed: u64,
) -> Result<Ftl, OpenError> {
    let modules = slots.len() as u32;
    let block_at = |band: u32, die: u32| {
        let module = slots[(die % modules) as usize]?;
        Some(media::BlockAt { module, die: die / modules, block: band })
    };
    let block = |band, die| match block_at(band, die) {
        Some(at) => FoundBlock { bad: media.is_bad(at), cycles: media.cycles(at) },
        None => FoundBlock { bad: false, cycles: 0 },
    };
    let is_new = |die: u32| trusted[(die % modules) as usize].is_none();
    let dead =
        |die| slots[(die % modules) as usize].is_none() || (!is_new(die) && found.report.dead_dies.contains(&die));
    Ok(Ftl::adopt(&config.nand, config.bands, &config.ftl, seed, found, block, dead)?)
}

fn find(config: &CardConfig, media: &mut dyn Media, id: Option<CardId>, seed: u64) -> Result<Found, OpenError> {
    let assembly = examine(config, media, id)?;
    let mut trusted = assembly.trusted_slots();
    // Data read from now on are still there after the next cut. Nothing is believed that a module holds which can't
    // promise that.
    if media.is_volatile() {
        trusted.iter().flatten().for_each(|slot| media.begin_sync(*slot));
        media.submit();
        trusted.iter_mut().for_each(|slot| *slot = slot.filter(|slot| media.sync(*slot).is_ok()));
    }
    let mut headers = Headers::new(assembly.header.clone());
    take_over(media, assembly.members.iter().filter_map(|member| member.slot), headers.common.generation);
    // A generation that a cut left half written is written to all before there is another one.
    let lost_of = |trusted: &[Option<u32>]| -> Vec<usize> {
        let was_trusted = |i: &usize| assembly.members[*i].state == MemberState::Trusted;
        (0..trusted.len()).filter(|i| trusted[*i].is_none()).filter(was_trusted).collect()
    };
    while let Err(HeaderFailed { logical, error }) = headers.write(media, &trusted) {
        if !matches!(error, MediaError::Host | MediaError::NoSpace) {
            return Err(HeaderFailed { logical, error }.into());
        }
        trusted[logical as usize] = None;
        // No generation is complete that too few modules have: those that don't answer now may be back later.
        assembly.enough_without(&lost_of(&trusted))?;
    }
    let lost = lost_of(&trusted);
    assembly.enough_without(&lost)?;
    // A module that is new or was away belongs to the card, and gets what belongs on it.
    let mut slots: Vec<Option<u32>> = assembly.members.iter().map(|member| member.slot).collect();
    lost.iter().for_each(|i| slots[*i] = None);
    let common = &mut headers.common;
    common.power_cycles = common.power_cycles.saturating_add(1);
    common.unsafe_shutdowns = common.unsafe_shutdowns.saturating_add(u64::from(!common.clean));
    headers.common.clean = false;
    for (logical, member) in assembly.members.iter().enumerate() {
        match (member.state, slots[logical]) {
            (MemberState::Trusted, Some(_)) => {}
            (MemberState::Blank, Some(_)) => headers.set_new_module(logical),
            // Its rebuild goes on.
            (MemberState::Rebuilding, Some(_)) => {}
            (_, Some(_)) => headers.set_state(logical, SlotState::Rebuilding),
            (_, None) => headers.set_state(logical, SlotState::Missing),
        }
    }
    // Another controller that has the card learns now that it is ours; and a module that is away is marked so before
    // anything is written without it.
    let told = headers.tell(media, &mut slots);
    let gone = told.as_deref().unwrap_or_default();
    let failed = told.as_ref().err().map(|failed| &failed.logical);
    let lost: Vec<usize> = lost.into_iter().chain(gone.iter().chain(failed).map(|i| *i as usize)).collect();
    assembly.enough_without(&lost)?;
    let gone = told?;
    gone.iter().for_each(|i| trusted[*i as usize] = None);
    let layout = config.ftl.layout(&config.nand.geometry);
    let known = recover::Card {
        layout: &layout,
        modules: &trusted,
        bands: config.bands,
        card: headers.common.card.short(),
        user_sectors: config.ftl.user_sectors as u32,
        payload_bytes: media.shape().payload_bytes,
        slc_bits_per_cell: slc_bits_per_cell(config),
        power_loss_protection: config.power_loss_protection,
        watermark: recover::DurableWatermark::of(&assembly.header),
        log_begins: assembly.header.log_begins,
        use_checkpoints: true,
        use_summaries: true,
    };
    let found = scan(media, &known)?;
    let ftl = adopt(config, media, &slots, &trusted, &found, seed)?;
    let to_rebuild =
        (0..slots.len() as u32).filter(|&i| trusted[i as usize].is_none() && slots[i as usize].is_some()).collect();
    let by_checkpoint = is_short(&found);
    Ok(Found {
        ftl,
        headers,
        slots,
        next_version: found.next_version,
        to_rebuild,
        rescued: found.rescued,
        logged: found.logged,
        next_log_sequence: found.next_log_sequence,
        owed_segments: found.owed_segments,
        by_checkpoint,
        report: found.report,
    })
}
