//! The scan of a card: reads all bands one after the other, then resolves what only all of them together can tell.

use super::band::{BandScan, Scanned};
use super::checkpoint::Loaded;
use super::doubt::{BandDoubts, is_settled};
use super::error::ScanError;
use super::found::{Found, FoundBand, FoundState, SEQUENCE_EPOCH_BITS, ScanReport, VERSION_GAP};
use super::holes::apply_holes;
use super::identify::Identified;
use super::log::read_log;
use super::newest::{Copy, Newest};
use super::place::{Card, units};
use super::reader::Reader;
use super::rescue;
use crate::canary::{Canary, planted};
use crate::layout::{BandId, NONE, StripeId};
use media::{Media, Shape};

/// Finds a card on its media. Writes nothing.
pub fn scan<M: Media + ?Sized>(media: &mut M, card: &Card) -> Result<Found, ScanError> {
    let shape = *media.shape();
    check_geometry(card, &shape)?;
    let mut reader = Reader::new(media, card);
    reader.end_part(|parts| &mut parts.headers);
    if card.use_checkpoints && card.use_summaries {
        let mut identified = Vec::with_capacity(card.bands as usize);
        let loaded = Loaded::find(&mut reader, &shape, &mut identified)?;
        reader.end_part(|parts| &mut parts.checkpoint);
        let mut scan = Scan::new(reader, loaded, identified);
        scan.read_bands(&shape)?;
        if scan.judge(&shape)? {
            return scan.finish();
        }
        reader = scan.reader;
    }
    let mut scan = Scan::new(reader, None, Vec::new());
    scan.read_bands(&shape)?;
    scan.judge(&shape)?;
    scan.finish()
}

struct Scan<'a, M: ?Sized> {
    reader: Reader<'a, M>,
    loaded: Option<Loaded>,
    /// Bands that are identified already, by number.
    identified: Vec<Option<Identified>>,
    newest: Newest,
    bands: Vec<FoundBand>,
    units: Vec<u64>,
    written: Vec<u32>,
    /// By band and die: a good sector was found.
    programmed: Vec<bool>,
    /// Copies in stripes that are not whole.
    in_torn: Vec<Copy>,
    doubts: Vec<BandDoubts>,
    owed_segments: Vec<u32>,
    next_log_sequence: u64,
    report: ScanReport,
}

impl<'a, M: Media + ?Sized> Scan<'a, M> {
    fn new(reader: Reader<'a, M>, loaded: Option<Loaded>, identified: Vec<Option<Identified>>) -> Scan<'a, M> {
        let card = reader.card;
        let (bands, groups, dies) = (card.bands as usize, card.layout.groups as usize, card.layout.dies as usize);
        Scan {
            newest: Newest::new(card),
            reader,
            loaded,
            identified,
            bands: vec![FoundBand::default(); bands],
            units: vec![0; bands * groups],
            written: vec![0; bands * dies],
            programmed: vec![false; bands * dies],
            in_torn: Vec::new(),
            doubts: Vec::new(),
            owed_segments: Vec::new(),
            next_log_sequence: 0,
            report: ScanReport::default(),
        }
    }

    /// Reads all bands that the checkpoint does not know, and those that it makes doubtful.
    fn read_bands(&mut self, shape: &Shape) -> Result<(), ScanError> {
        let layout = self.reader.card.layout;
        let mut scan = BandScan::new(layout, shape);
        for band in (0..self.bands.len() as u32).map(BandId) {
            if !self.take_known(&mut scan, band) {
                self.read_band(&mut scan, band, |_| true)?;
            }
        }
        if let Some(mut loaded) = self.loaded.take() {
            for band in loaded.in_doubt(&self.newest, layout) {
                self.report.bands_by_checkpoint -= 1;
                // Only sectors of these bands that lie where the checkpoint's map says count.
                let map = &loaded.checkpoint.map;
                self.read_band(&mut scan, band, |copy| map[copy.index as usize] == copy.ppa)?;
            }
            self.loaded = Some(loaded);
        }
        self.reader.end_part(|parts| &mut parts.spares);
        self.report.reconstructed_sectors = scan.reconstructed_sectors;
        self.report.dropped_sectors = scan.dropped_sectors;
        Ok(())
    }

    /// Takes over a band that the checkpoint knows; `false` if it does not know the band.
    fn take_known(&mut self, scan: &mut BandScan, band: BandId) -> bool {
        let index = band.0 as usize;
        if !self.loaded.as_ref().is_some_and(|loaded| loaded.known[index]) {
            return false;
        }
        let Some((_, known)) = self.identified[index].take() else { return false };
        self.report.bands_by_checkpoint += 1;
        scan.take_known(&self.reader, known);
        self.bands[index] = FoundBand { has_summary: true, is_complete: true, ..scan.closed() };
        self.note_places(scan, band);
        true
    }

    fn read_band(
        &mut self,
        scan: &mut BandScan,
        band: BandId,
        counts: impl Fn(&Copy) -> bool,
    ) -> Result<(), ScanError> {
        let layout = self.reader.card.layout;
        let identified = self.identified.get_mut(band.0 as usize).and_then(Option::take);
        let found = match scan.scan(&mut self.reader, &mut self.newest, band, identified)? {
            Scanned::Free => {
                self.report.bands_free += 1;
                FoundBand::default()
            }
            Scanned::Dirty => {
                self.report.bands_dirty += 1;
                FoundBand { state: FoundState::Dirty, ..FoundBand::default() }
            }
            Scanned::BySummary(found) => {
                self.report.bands_by_summary += 1;
                found
            }
            Scanned::All(found, doubts) => {
                self.report.bands_scanned += 1;
                self.doubts.extend(doubts);
                found
            }
        };
        self.bands[band.0 as usize] = found;
        self.note_places(scan, band);
        if !planted(Canary::TornBelieved) {
            self.in_torn.extend_from_slice(&scan.in_torn);
        }
        scan.hand_over(&mut self.newest, layout, &self.bands, counts);
        Ok(())
    }

    /// Keeps the members and the written rows of the band that was scanned last.
    fn note_places(&mut self, scan: &BandScan, band: BandId) {
        let layout = self.reader.card.layout;
        let (groups, dies, number) = (layout.groups as usize, layout.dies as usize, band.0 as usize);
        let units = &mut self.units[number * groups..][..groups];
        if self.bands[number].state == FoundState::Closed {
            units.copy_from_slice(&scan.known.masks);
        } else {
            units.fill(0);
        }
        self.written[number * dies..][..dies].copy_from_slice(&scan.written);
        self.programmed[number * dies..][..dies].copy_from_slice(&scan.good);
    }

    /// Resolves the doubts that one band alone could not resolve, and removes the holes from the map. `false` if the
    /// checkpoint can't be right.
    fn judge(&mut self, shape: &Shape) -> Result<bool, ScanError> {
        let doubts = std::mem::take(&mut self.doubts);
        let (left, lost) = self.drop_torn(&doubts, shape);
        self.newest.set_unreadable(lost.iter().map(|copy| copy.ppa).collect());
        let layout = self.reader.card.layout;
        lost.into_iter().for_each(|copy| self.newest.offer(copy, layout, &self.bands));
        if let Some(loaded) = &mut self.loaded {
            loaded.settle(&mut self.newest, layout);
        }
        self.reader.end_part(|parts| &mut parts.map);
        let log = read_log(self.reader.media, self.reader.card);
        self.reader.end_part(|parts| &mut parts.log);
        if let Some(sequence) = log.lost {
            return Err(ScanError::LogRecord { sequence });
        }
        self.next_log_sequence = log.next_sequence;
        let mut logged = log.sectors;
        if let Some(loaded) = &self.loaded
            && !planted(Canary::LogOverCheckpoint)
        {
            // The checkpoint's map has all that was logged before it, or something newer.
            logged.retain(|_, logged| logged.version >= loaded.version_start());
        }
        self.newest.take_log(logged);
        let Scan { reader, newest, bands, units, loaded, .. } = self;
        self.owed_segments = apply_holes(reader, newest, bands, units, loaded.as_mut())?;
        if self.loaded.as_ref().is_some_and(|loaded| !loaded.missing.is_empty()) {
            return Ok(false);
        }
        left.into_iter().try_for_each(|(band, number)| self.explain(&doubts[band], number))?;
        let watermark = &self.reader.card.watermark;
        if let Some(band) = watermark.missing(&self.bands) {
            return Err(ScanError::MissingBand { band });
        }
        watermark.last_stripes(&self.bands).try_for_each(|stripe| self.is_begun(stripe))?;
        Ok(true)
    }

    /// Drops the doubts whose programs may have been in flight when power went. Returns the doubts that no summary
    /// resolves, and the lost copies that summaries list.
    fn drop_torn(&mut self, doubts: &[BandDoubts], shape: &Shape) -> (Vec<(usize, usize)>, Vec<Copy>) {
        let card = self.reader.card;
        let (layout, dies) = (card.layout, card.layout.dies);
        let tears_read_as_erased = self.reader.media.tears_read_as_erased();
        let (mut left, mut lost) = (Vec::new(), Vec::new());
        for (index, of_band) in doubts.iter().enumerate() {
            let band = of_band.band;
            let cell_rows = if self.bands[band.0 as usize].slc { 1 } else { shape.rows_sharing_cells.max(1) };
            let written = &self.written[(band.0 * dies) as usize..][..dies as usize];
            let settled: Vec<bool> =
                (0..dies).map(|die| is_settled(band, die, &self.bands, &self.programmed, dies)).collect();
            let mut known = of_band.known.as_deref().unwrap_or_default();
            for (number, doubt) in of_band.doubts.iter().enumerate() {
                let count = known.iter().take_while(|(of, _)| *of == number).count();
                let (copies, rest) = known.split_at(count);
                known = rest;
                let opening = self.bands[band.0 as usize].opening();
                let is_torn = !card.power_loss_protection
                    && !tears_read_as_erased
                    && !card.watermark.was_durable(&opening, doubt.stripe)
                    && doubt
                        .may_be_torn(band, layout, cell_rows, written, &of_band.ends_good, |die| settled[die as usize]);
                if is_torn {
                    self.report.dropped_sectors += u64::from(doubt.lost.all().count_ones());
                } else if of_band.known.is_some() {
                    lost.extend(copies.iter().map(|(_, copy)| *copy));
                } else {
                    left.push((index, number));
                }
            }
        }
        (left, lost)
    }

    /// Explains a doubt by a cut erase of the band, after which nothing of the band is needed. Otherwise the card can't
    /// start.
    fn explain(&mut self, of_band: &BandDoubts, number: usize) -> Result<(), ScanError> {
        let layout = self.reader.card.layout;
        let (band, doubt) = (of_band.band, &of_band.doubts[number]);
        let state = self.bands[band.0 as usize].state;
        let watermark = &self.reader.card.watermark;
        let is_erase = !watermark.no_erases
            && !watermark.holds(band)
            && of_band.explains(doubt, layout)
            && (state == FoundState::Dirty || !self.holds_current(band));
        if !is_erase {
            return Err(ScanError::BeyondRedundancy {
                band: band.0,
                stripe: doubt.stripe,
                sector: doubt.sector,
                lost: doubt.lost.all(),
                parity_units: layout.parity_units,
            });
        }
        if state != FoundState::Dirty {
            self.report.bands_scanned -= 1;
            self.report.bands_dirty += 1;
            self.bands[band.0 as usize] = FoundBand { state: FoundState::Dirty, ..FoundBand::default() };
            let groups = layout.groups as usize;
            self.units[band.0 as usize * groups..][..groups].fill(0);
        }
        Ok(())
    }

    /// Fails unless a stripe that was durable shows some trace: a unit that is programmed, in it or after it, or a
    /// failed program.
    fn is_begun(&self, stripe: StripeId) -> Result<(), ScanError> {
        let (layout, band) = (self.reader.card.layout, stripe.band.0);
        let members = self.units[(band * layout.groups + layout.group_of(stripe.index)) as usize];
        let is_programmed = |unit| {
            let at = layout.unit_address(stripe, unit);
            self.written[(band * layout.dies + at.die) as usize] > at.row || self.reader.is_bad(at)
        };
        if units(members).any(is_programmed) {
            return Ok(());
        }
        let (stripe, parity_units) = (stripe.index, layout.parity_units);
        Err(ScanError::BeyondRedundancy { band, stripe, sector: 0, lost: members, parity_units })
    }

    fn holds_current(&self, band: BandId) -> bool {
        let layout = self.reader.card.layout;
        let start = layout.band_start(band);
        let addresses = start..start + layout.band_sectors;
        self.newest.map.iter().any(|ppa| addresses.contains(ppa))
    }

    fn finish(mut self) -> Result<Found, ScanError> {
        let layout = self.reader.card.layout;
        let errors = self.newest.errors();
        let rescue = rescue::current(&self.in_torn, &self.newest.map);
        let rescued = rescue::read_rescued(&mut self.reader, &self.bands, &self.units, &rescue)?;
        self.reader.end_part(|parts| &mut parts.map);
        self.report.start_reads = self.reader.start_reads;
        let newest = &self.newest;
        self.report.reads = self.reader.reads_by_die.iter().sum();
        self.report.reads_by_die = std::mem::take(&mut self.reader.reads_by_die);
        self.report.dead_dies = (0..).zip(&self.reader.dead).filter(|(_, dead)| **dead).map(|(die, _)| die).collect();
        self.report.torn_stripes = newest.torn_stripes() as u64;
        self.report.unreadable_sectors = newest.unreadable_in_map();
        self.report.out_of_range_sectors = newest.out_of_range;
        let mut highest = self.bands.iter().map(|band| band.sequence).max().unwrap_or(0);
        let mut highest_version = newest.highest_version;
        let mut checkpoint_bands = Vec::new();
        if let Some(loaded) = self.loaded {
            highest = highest.max(loaded.checkpoint.head.next_band_sequence);
            highest_version = highest_version.max(loaded.checkpoint.head.next_version);
            checkpoint_bands = loaded.lies_in;
        }
        Ok(Found {
            rescue,
            rescued,
            errors,
            checkpoint_bands,
            owed_segments: self.owed_segments,
            logged: self.newest.logged.into_values().collect(),
            next_log_sequence: self.next_log_sequence,
            next_version: above("version", highest_version, |v| v.checked_add(1 + VERSION_GAP))?,
            last_band_sequence: above("band sequence", highest, next_epoch)?,
            map: self.newest.map,
            bands: self.bands,
            report: self.report,
            units: self.units,
            written: self.written,
            groups: layout.groups,
            dies: layout.dies,
        })
    }
}

fn above(field: &'static str, found: u64, next: impl Fn(u64) -> Option<u64>) -> Result<u64, ScanError> {
    // The number must leave as many above it as there are below, so that later scans can raise it again.
    next(found).filter(|next| *next < u64::MAX / 2).ok_or(ScanError::NumbersExhausted { field, found })
}

fn next_epoch(sequence: u64) -> Option<u64> {
    if planted(Canary::EpochNotRaised) {
        return Some(sequence);
    }
    if sequence == 0 {
        return Some(0);
    }
    (sequence >> SEQUENCE_EPOCH_BITS).checked_add(1)?.checked_mul(1 << SEQUENCE_EPOCH_BITS)
}

fn check_geometry(card: &Card, shape: &Shape) -> Result<(), ScanError> {
    let layout = card.layout;
    let same = |field, card: u64, media: u64| {
        if card == media { Ok(()) } else { Err(ScanError::Geometry { field, card, media }) }
    };
    let at_most = |field, card: u64, media: u64| {
        if card <= media { Ok(()) } else { Err(ScanError::Geometry { field, card, media }) }
    };
    same("modules", card.modules.len() as u64, shape.modules.into())?;
    let highest = card.modules.iter().flatten().max().map_or(0, |slot| u64::from(*slot) + 1);
    at_most("slots", highest, shape.modules.into())?;
    let dies = u64::from(shape.modules) * u64::from(shape.dies_per_module);
    same("dies", layout.dies.into(), dies)?;
    at_most("stripe width", layout.width.into(), 64)?;
    same("dies of all groups", u64::from(layout.width) * u64::from(layout.groups), dies)?;
    at_most("parity units", u64::from(layout.parity_units) + 1, u64::from(layout.width.min(2)))?;
    at_most("rows", layout.rows.into(), shape.rows_per_block.into())?;
    same("sectors of a unit", layout.unit_sectors.into(), shape.unit_sectors.into())?;
    at_most("sectors of a unit", layout.unit_sectors.into(), 64)?;
    let stripe = u64::from(layout.width) * u64::from(layout.unit_sectors);
    same("sectors of a stripe", layout.stripe_sectors.into(), stripe)?;
    let band = stripe * u64::from(layout.groups) * u64::from(layout.rows);
    same("sectors of a band", layout.band_sectors.into(), band)?;
    same("payload bytes", card.payload_bytes.into(), shape.payload_bytes.into())?;
    at_most("bytes of a list of holes", format::HOLES_HEAD_BYTES as u64 + 1, shape.payload_bytes.into())?;
    if layout.summary_entries != 0 {
        let entries = format::entries_per_sector(shape.payload_bytes as usize) as u64;
        same("entries of a summary's sector", layout.summary_entries.into(), entries)?;
    }
    at_most("bands", card.bands.into(), shape.blocks_per_die.into())?;
    at_most("sectors", u64::from(card.bands).saturating_mul(band), u64::from(NONE) - 1)?;
    let entries = u64::from(card.user_sectors) + u64::from(card.hole_segments());
    at_most("entries of the map", entries, u64::from(card.bands) * band)
}
