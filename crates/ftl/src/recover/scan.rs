//! All bands, one after the other, and what they are together.

use super::band::{BandScan, Scanned};
use super::doubt::{BandDoubts, is_settled};
use super::error::ScanError;
use super::found::{Found, FoundBand, FoundState, SEQUENCE_EPOCH_BITS, ScanReport, VERSION_GAP};
use super::holes::apply_holes;
use super::newest::{Copy, NONE, Newest};
use super::place::Card;
use super::reader::Reader;
use crate::layout::{BandId, Ppa};
use media::{Media, Shape};

/// Finds a card on its media. Nothing is written.
pub fn scan<M: Media + ?Sized>(media: &mut M, card: &Card) -> Result<Found, ScanError> {
    let shape = *media.shape();
    check_geometry(card, &shape)?;
    let layout = card.layout;
    let (bands, groups, dies) = (card.bands as usize, layout.groups as usize, layout.dies as usize);
    let mut scan = Scan {
        reader: Reader::new(media, card),
        newest: Newest::new(card),
        bands: vec![FoundBand::default(); bands],
        units: vec![0; bands * groups],
        written: vec![0; bands * dies],
        in_torn: Vec::new(),
        doubts: Vec::new(),
        report: ScanReport::default(),
    };
    scan.read_bands(&shape)?;
    scan.judge(&shape)?;
    scan.finish()
}

struct Scan<'a, M: ?Sized> {
    reader: Reader<'a, M>,
    newest: Newest,
    bands: Vec<FoundBand>,
    units: Vec<u64>,
    written: Vec<u32>,
    /// Copies in stripes that are not whole.
    in_torn: Vec<Copy>,
    doubts: Vec<BandDoubts>,
    report: ScanReport,
}

impl<M: Media + ?Sized> Scan<'_, M> {
    fn read_bands(&mut self, shape: &Shape) -> Result<(), ScanError> {
        let layout = self.reader.card.layout;
        let (groups, dies) = (layout.groups as usize, layout.dies as usize);
        let mut band = BandScan::new(layout, shape);
        for number in 0..self.bands.len() {
            let found = match band.scan(&mut self.reader, &mut self.newest, BandId(number as u32))? {
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
            self.bands[number] = found;
            if found.state == FoundState::Closed {
                self.units[number * groups..][..groups].copy_from_slice(&band.known.masks);
            }
            self.written[number * dies..][..dies].copy_from_slice(&band.written);
            self.in_torn.extend_from_slice(&band.in_torn);
            band.hand_over(&mut self.newest, layout, &self.bands);
        }
        self.report.reconstructed_sectors = band.reconstructed_sectors;
        self.report.dropped_sectors = band.dropped_sectors;
        Ok(())
    }

    /// Resolves what one band alone could not, and takes the holes out of the map.
    fn judge(&mut self, shape: &Shape) -> Result<(), ScanError> {
        let doubts = std::mem::take(&mut self.doubts);
        let (left, lost) = self.drop_torn(&doubts, shape);
        self.newest.set_unreadable(lost.iter().map(|copy| copy.ppa).collect());
        let layout = self.reader.card.layout;
        lost.into_iter().for_each(|copy| self.newest.offer(copy, layout, &self.bands));
        apply_holes(&mut self.reader, &mut self.newest, &self.bands, &self.units)?;
        left.into_iter().try_for_each(|(band, number)| self.explain(&doubts[band], number))
    }

    /// Of the doubts, those that neither were under way when power went nor are told by a summary; and the copies that
    /// summaries tell of.
    fn drop_torn(&mut self, doubts: &[BandDoubts], shape: &Shape) -> (Vec<(usize, usize)>, Vec<Copy>) {
        let card = self.reader.card;
        let (layout, dies) = (card.layout, card.layout.dies);
        let (mut left, mut lost) = (Vec::new(), Vec::new());
        for (index, of_band) in doubts.iter().enumerate() {
            let band = of_band.band;
            let cell_rows = if self.bands[band.0 as usize].slc { 1 } else { shape.rows_sharing_cells.max(1) };
            let written = &self.written[(band.0 * dies) as usize..][..dies as usize];
            let settled: Vec<bool> =
                (0..dies).map(|die| is_settled(band, die, &self.bands, &self.written, dies)).collect();
            let mut known = of_band.known.as_deref().unwrap_or_default();
            for (number, doubt) in of_band.doubts.iter().enumerate() {
                let count = known.iter().take_while(|(of, _)| *of == number).count();
                let (copies, rest) = known.split_at(count);
                known = rest;
                let is_torn = !card.power_loss_protection
                    && doubt.may_be_torn(band, layout, cell_rows, written, |die| settled[die as usize]);
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

    /// The erase of the band was cut: that explains what is lost, and nothing of it was needed any more. Or else the
    /// card can't start.
    fn explain(&mut self, of_band: &BandDoubts, number: usize) -> Result<(), ScanError> {
        let layout = self.reader.card.layout;
        let (band, doubt) = (of_band.band, &of_band.doubts[number]);
        let state = self.bands[band.0 as usize].state;
        let is_erase =
            doubt.is_explained_by(&of_band.blank, layout) && (state == FoundState::Dirty || !self.holds_current(band));
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

    fn holds_current(&self, band: BandId) -> bool {
        let layout = self.reader.card.layout;
        let start = layout.band_start(band);
        let addresses = start..start + layout.band_sectors;
        self.newest.map.iter().any(|ppa| addresses.contains(ppa))
    }

    fn finish(mut self) -> Result<Found, ScanError> {
        let layout = self.reader.card.layout;
        let newest = &self.newest;
        let is_current = |copy: &&Copy| newest.map[copy.index as usize] == copy.ppa;
        let mut rescue: Vec<(u32, Ppa)> =
            self.in_torn.iter().filter(is_current).map(|copy| (copy.index, Ppa(copy.ppa))).collect();
        rescue.sort_unstable();
        self.report.reads = self.reader.reads_by_die.iter().sum();
        self.report.reads_by_die = std::mem::take(&mut self.reader.reads_by_die);
        self.report.dead_dies = (0..).zip(&self.reader.dead).filter(|(_, dead)| **dead).map(|(die, _)| die).collect();
        self.report.torn_stripes = newest.torn_stripes() as u64;
        self.report.unreadable_sectors = newest.unreadable_in_map();
        self.report.out_of_range_sectors = newest.out_of_range;
        let highest = self.bands.iter().map(|band| band.sequence).max().unwrap_or(0);
        Ok(Found {
            rescue,
            next_version: above("version", newest.highest_version, |v| v.checked_add(1 + VERSION_GAP))?,
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
    // Room for as many again, so that what is given out now can be raised above later.
    next(found).filter(|next| *next < u64::MAX / 2).ok_or(ScanError::NumbersExhausted { field, found })
}

fn next_epoch(sequence: u64) -> Option<u64> {
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
