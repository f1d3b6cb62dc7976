//! The scan of one band.

use super::doubt::{BandDoubts, Doubt};
use super::error::ScanError;
use super::found::{FoundBand, FoundState};
use super::identify::{Identified, Identity, Known};
use super::newest::{Copy, Newest};
use super::place::units;
use super::reader::Reader;
use super::stripe::{State, Stripe, StripeRead};
use super::summary::{Division, SummaryRead, read_summary};
use crate::canary::{Canary, planted};
use crate::layout::{BandId, Layout, StripeId, UnitAddress};
use crate::opening::Opening;
use crate::stream::StreamId;
use crate::stripe_units::split_units;
use format::{Role, SummaryEntry};
use media::{Media, Shape};

/// The memory of a scan, used for one band after the other.
pub(super) struct BandScan {
    pub known: Known,
    /// Rows from the first to the last that is not erased, by die.
    pub written: Vec<u32>,
    stripe: Stripe,
    entries: Vec<SummaryEntry>,
    copies: Vec<Copy>,
    /// Stripes that are not whole, and whether they have lost more members than parity can restore.
    torn: Vec<(u32, bool)>,
    /// Copies in those stripes.
    pub in_torn: Vec<Copy>,
    doubts: Vec<Doubt>,
    /// Sectors of stripes of which nothing is found on the members that answer, while another does not.
    empty: Vec<Doubt>,
    /// By die: something on it is good.
    pub good: Vec<bool>,
    /// By die: the last row that is not erased is all good.
    ends_good: Vec<bool>,
    /// By group of dies: the group holds nothing more.
    ended: Vec<bool>,
    reconstructed: u64,
    pub reconstructed_sectors: u64,
    pub dropped_sectors: u64,
}

/// The outcome of scanning a band.
pub(super) enum Scanned {
    Free,
    Dirty,
    BySummary(FoundBand),
    All(FoundBand, Option<BandDoubts>),
}

/// The result of a pass over a band, or the number of a later opening that the pass came upon.
type Pass<T> = Result<T, u64>;

impl BandScan {
    pub fn new(layout: &Layout, shape: &Shape) -> BandScan {
        let (dies, groups) = (layout.dies as usize, layout.groups as usize);
        BandScan {
            known: Known::new(layout),
            written: vec![0; dies],
            stripe: Stripe::new(layout, shape),
            entries: Vec::new(),
            copies: Vec::new(),
            torn: Vec::new(),
            in_torn: Vec::new(),
            doubts: Vec::new(),
            empty: Vec::new(),
            good: vec![false; dies],
            ends_good: vec![false; dies],
            ended: vec![false; groups],
            reconstructed: 0,
            reconstructed_sectors: 0,
            dropped_sectors: 0,
        }
    }

    /// Scans a band, which may have been identified already. When the state of the band is known,
    /// [`BandScan::hand_over`] takes its copies.
    pub fn scan<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        newest: &mut Newest,
        band: BandId,
        identified: Option<Identified>,
    ) -> Result<Scanned, ScanError> {
        let mut floor = 0;
        let mut identified = identified;
        loop {
            self.forget();
            let identity = match identified.take() {
                Some((identity, known)) => {
                    self.known = known;
                    identity
                }
                None => self.known.identify(reader, band, floor)?,
            };
            match identity {
                Identity::Free => return Ok(Scanned::Free),
                Identity::Unknown if reader.has_fallen(band) => return Err(ScanError::MissingBand { band: band.0 }),
                Identity::Unknown => {
                    self.written.fill(reader.card.layout.rows);
                    return Ok(Scanned::Dirty);
                }
                Identity::Opened => {}
            }
            if self.known.opening.stream == StreamId::Checkpoint as u8 {
                if let Some(later) = self.later_opening(reader, band)? {
                    floor = later;
                    continue;
                }
                // A band of checkpoints holds no sectors that count.
                self.written.fill(reader.card.layout.rows);
                return Ok(Scanned::All(self.closed(), None));
            }
            // The loop ends, because each opening that is found is later than the one before.
            match self.scan_opened(reader, newest, band)? {
                Ok(scanned) => return Ok(scanned),
                Err(later) => floor = later,
            }
        }
    }

    /// Takes over a band that is known already, without reading it.
    pub fn take_known<M: Media + ?Sized>(&mut self, reader: &Reader<M>, known: Known) {
        self.forget();
        self.known = known;
        self.written_to_the_end(reader);
    }

    fn forget(&mut self) {
        self.written.fill(0);
        self.good.fill(false);
        self.ends_good.fill(false);
        self.ended.fill(false);
        self.copies.clear();
        self.torn.clear();
        self.in_torn.clear();
        self.doubts.clear();
        self.empty.clear();
        self.reconstructed = 0;
    }

    /// A later opening than the one that was identified, if the first row tells of one: a die that was away meanwhile
    /// still holds the earlier opening.
    fn later_opening<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        band: BandId,
    ) -> Result<Option<u64>, ScanError> {
        let Known { opening, masks, .. } = &self.known;
        for (index, members) in (0..).zip(masks) {
            let id = StripeId { band, index };
            if let StripeRead::Newer(later) = self.stripe.look(reader, id, opening, *members)? {
                return Ok(Some(later));
            }
        }
        Ok(None)
    }

    /// The band as its opening describes it, without a summary and not complete.
    pub fn closed(&self) -> FoundBand {
        let Opening { sequence, slc, stream } = self.known.opening;
        let state = FoundState::Closed;
        FoundBand { state, sequence, slc, stream, has_summary: false, is_complete: false }
    }

    fn scan_opened<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        newest: &mut Newest,
        band: BandId,
    ) -> Result<Pass<Scanned>, ScanError> {
        let opening = self.known.opening;
        let mut found = self.closed();
        // A volatile medium may lose earlier programs and keep later ones, so a good last row proves nothing there, unless
        // the headers say that the whole band was durable.
        let is_durable = !reader.media.is_volatile() || self.was_durable(reader);
        if reader.card.use_summaries && is_durable {
            match self.read_summary(reader, band, true)? {
                SummaryRead::Newer(later) => return Ok(Err(later)),
                SummaryRead::Done if self.take_entries(reader, newest, band) => {
                    (found.has_summary, found.is_complete) = (true, true);
                    self.written_to_the_end(reader);
                    return Ok(Ok(Scanned::BySummary(found)));
                }
                SummaryRead::Done | SummaryRead::Missing => {}
            }
        }
        if let Err(later) = self.read_all(reader, newest, band)? {
            return Ok(Err(later));
        }
        if reader.media.take_fallen() {
            // Units that were durable and have gone do not read as erased any more.
            self.forget();
            if let Err(later) = self.read_all(reader, newest, band)? {
                return Ok(Err(later));
            }
        }
        found.is_complete = self.is_complete(reader);
        let doubts = self.resolve(reader, band, opening)?;
        if doubts.is_empty() {
            // On a volatile medium every band is read completely. A full band with its summary needs no repair.
            if found.is_complete && reader.media.is_volatile() {
                match self.read_summary(reader, band, false)? {
                    SummaryRead::Newer(later) => return Ok(Err(later)),
                    SummaryRead::Done => found.has_summary = true,
                    SummaryRead::Missing => {}
                }
            }
            return Ok(Ok(Scanned::All(found, None)));
        }
        let known = match self.read_summary(reader, band, false)? {
            SummaryRead::Newer(later) => return Ok(Err(later)),
            SummaryRead::Done => {
                found.has_summary = true;
                Some(self.lost_copies(reader, newest, band, &doubts))
            }
            SummaryRead::Missing => None,
        };
        let blank = self.blank_units(reader);
        let ends_good = self.ends_good.clone();
        Ok(Ok(Scanned::All(found, Some(BandDoubts { band, doubts, blank, ends_good, known }))))
    }

    /// The headers say that the last stripe of the band, and so all before it, was durable.
    fn was_durable<M: Media + ?Sized>(&self, reader: &Reader<M>) -> bool {
        let opening = &self.known.opening;
        let stripes = reader.card.rows(opening.slc) * reader.card.layout.groups;
        stripes > 0 && reader.card.watermark.was_durable(opening, stripes - 1)
    }

    fn read_summary<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        band: BandId,
        all_is_written: bool,
    ) -> Result<SummaryRead, ScanError> {
        let BandScan { known, stripe, entries, .. } = self;
        let division = Division::new(reader.card, &known.masks, known.opening.slc);
        read_summary(reader, stripe, &division, band, &known.opening, all_is_written, entries)
    }

    /// Takes the copies that the summary lists; `false` if an entry of the summary is impossible.
    fn take_entries<M: Media + ?Sized>(&mut self, reader: &Reader<M>, newest: &mut Newest, band: BandId) -> bool {
        if self.entries.iter().any(|entry| entry.role != 0 && Role::from_byte(entry.role).is_none()) {
            return false;
        }
        let layout = reader.card.layout;
        let division = Division::new(reader.card, &self.known.masks, self.known.opening.slc);
        let mut entries = self.entries.iter();
        for index in 0..division.data_stripes {
            let start = layout.stripe_start(StripeId { band, index });
            for unit in units(split_units(index, division.members(index), layout).data) {
                let first = start + unit * layout.unit_sectors;
                for (ppa, entry) in (first..first + layout.unit_sectors).zip(&mut entries) {
                    let role = Role::from_byte(entry.role);
                    self.copies.extend(role.and_then(|role| newest.copy(role, entry.lba, entry.version, ppa)));
                }
            }
        }
        true
    }

    /// The dies of all members in groups that take data.
    fn dies<'a>(&'a self, layout: &'a Layout) -> impl Iterator<Item = usize> + 'a {
        (0..).zip(&self.known.masks).filter(|(_, mask)| layout.stripe_data_sectors(**mask) > 0).flat_map(
            move |(group, mask): (u32, &u64)| units(*mask).map(move |unit| (group * layout.width + unit) as usize),
        )
    }

    fn written_to_the_end<M: Media + ?Sized>(&mut self, reader: &Reader<M>) {
        let rows = reader.card.rows(self.known.opening.slc);
        let dies: Vec<usize> = self.dies(reader.card.layout).collect();
        for die in dies {
            self.written[die] = rows;
            self.good[die] = true;
        }
    }

    fn is_complete<M: Media + ?Sized>(&self, reader: &Reader<M>) -> bool {
        let rows = reader.card.rows(self.known.opening.slc);
        self.dies(reader.card.layout).all(|die| self.written[die] == rows)
    }

    /// Reads every stripe up to the end of what is written.
    fn read_all<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        newest: &mut Newest,
        band: BandId,
    ) -> Result<Pass<()>, ScanError> {
        let card = reader.card;
        let layout = card.layout;
        let opening = self.known.opening;
        // There even a full band is not known from its summary.
        let is_volatile = reader.media.is_volatile();
        for row in 0..card.rows(opening.slc) {
            for group in 0..layout.groups {
                let members = self.known.masks[group as usize];
                let id = StripeId { band, index: layout.stripe_on(row, group) };
                if self.ended[group as usize] || split_units(id.index, members, layout).data == 0 {
                    continue;
                }
                match self.stripe.look(reader, id, &opening, members)? {
                    StripeRead::Newer(later) => return Ok(Err(later)),
                    StripeRead::Done | StripeRead::Flawed => self.take_stripe(newest, layout, id, is_volatile),
                }
            }
            if self.ended.iter().all(|ended| *ended) {
                break;
            }
        }
        self.assume_written(reader);
        Ok(Ok(()))
    }

    /// Takes the copies of the stripe that was read last.
    fn take_stripe(&mut self, newest: &mut Newest, layout: &Layout, id: StripeId, is_volatile: bool) {
        let stripe = &self.stripe;
        let sectors = layout.unit_sectors as usize;
        let (mut answered, mut is_gone, mut is_written) = (false, false, false);
        for unit in units(stripe.members) {
            let UnitAddress { die, row, .. } = layout.unit_address(id, unit);
            let all_good = (0..sectors).all(|sector| stripe.cell(unit, sector).state == State::Good);
            for sector in 0..sectors {
                let state = stripe.cell(unit, sector).state;
                answered |= state != State::Gone;
                is_gone |= state == State::Gone;
                // A misplaced sector tells nothing of how far the block was written.
                is_written |= !matches!(state, State::Erased | State::Gone);
                self.good[die as usize] |= state == State::Good;
                if matches!(state, State::Good | State::Unreadable | State::GivenUp) {
                    self.written[die as usize] = row + 1;
                    self.ends_good[die as usize] = all_good;
                }
            }
        }
        if answered && !is_written {
            // A module that was rebuilt has nothing of a stripe that nobody needed, and something of those after it.
            self.ended[layout.group_of(id.index) as usize] = !is_gone && !is_volatile;
            if is_gone {
                let doubt = |sector| Doubt { stripe: id.index, sector: sector as u32, lost: stripe.lost(sector) };
                self.empty.extend((0..sectors).map(doubt));
            }
            return;
        }
        let start = layout.stripe_start(id);
        let first_copy = self.copies.len();
        let (mut is_torn, mut is_broken) = (false, false);
        for sector in 0..sectors {
            let lost = stripe.lost(sector);
            is_torn |= lost.here() != 0;
            let ppa = |unit: u32| start + unit * layout.unit_sectors + sector as u32;
            for unit in units(stripe.members & !stripe.parity & !lost.all()) {
                let cell = stripe.cell(unit, sector);
                self.copies.extend(newest.copy(cell.role, cell.lba, cell.version, ppa(unit)));
            }
            if lost.all() & !stripe.parity == 0 {
                continue;
            }
            let is_alone = lost.all().count_ones() <= layout.parity_units;
            match stripe.rebuild(sector).filter(|_| is_alone) {
                Some((rebuilt, _)) => {
                    self.reconstructed += 1;
                    let ppa = ppa(lost.all().trailing_zeros());
                    self.copies.extend(newest.copy(rebuilt.role, rebuilt.lba, rebuilt.version, ppa));
                }
                None => {
                    is_broken = true;
                    self.doubts.push(Doubt { stripe: id.index, sector: sector as u32, lost });
                }
            }
        }
        if is_torn || is_broken {
            self.torn.push((start / layout.stripe_sectors, is_broken));
            self.in_torn.extend_from_slice(&self.copies[first_copy..]);
        }
    }

    /// Assumes that dies that do not answer hold as many rows as the others of their group.
    fn assume_written<M: Media + ?Sized>(&mut self, reader: &Reader<M>) {
        let width = reader.card.layout.width as usize;
        for (group, dies) in self.written.chunks_exact_mut(width).enumerate() {
            let most = dies.iter().copied().max().unwrap_or(0);
            for (die, rows) in (group * width..).zip(dies).filter(|(die, _)| reader.is_gone(*die as u32)) {
                debug_assert!(*rows <= most, "die {die}");
                *rows = most;
            }
        }
    }

    /// Drops the doubts for which the band itself shows that the lost sectors never were durable. Returns the others.
    fn resolve<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        band: BandId,
        opening: Opening,
    ) -> Result<Vec<Doubt>, ScanError> {
        let (layout, watermark) = (reader.card.layout, &reader.card.watermark);
        // The summary of a full band tells whether anything counts of a stripe that a rebuild left out, or that was lost.
        let is_full = self.is_complete(reader);
        let mut empty = std::mem::take(&mut self.empty);
        empty.retain(|doubt| is_full && watermark.was_durable(&opening, doubt.stripe));
        if self.doubts.is_empty() {
            return Ok(empty);
        }
        // A cut erase leaves whole blocks erased, in a band that was full. Any other member that is absent beside a
        // unit that a rebuild has given up was lost.
        let was_full = self.written.contains(&reader.card.rows(opening.slc));
        for doubt in self.doubts.iter_mut().filter(|doubt| doubt.may_hide_a_stray()) {
            let stripe = StripeId { band, index: doubt.stripe };
            let absent = doubt.lost.absent();
            let written = |unit: &u32| self.written[reader.card.layout.unit_address(stripe, *unit).die as usize] > 0;
            let lost = units(absent).filter(|unit| doubt.lost.given_up != 0 && (!was_full || written(unit)));
            let lost: u64 = lost.map(|unit| 1 << unit).sum();
            doubt.lost.went_astray(lost | reader.strays()?.of(stripe, opening.sequence, absent));
        }
        let (masks, written) = (&self.known.masks, &self.written);
        let (dropped, mut left): (Vec<Doubt>, Vec<Doubt>) = self.doubts.drain(..).partition(|doubt| {
            let members = masks[layout.group_of(doubt.stripe) as usize];
            if planted(Canary::DoubtsDropped) {
                return true;
            }
            if watermark.was_durable(&opening, doubt.stripe) {
                return doubt.program_failed(reader, band, written);
            }
            doubt.was_never_begun(members, band, layout, written)
                || doubt.never_was_whole(reader, band, opening.stream, written)
        });
        self.dropped_sectors += dropped.iter().map(|doubt| u64::from(doubt.lost.all().count_ones())).sum::<u64>();
        left.append(&mut empty);
        Ok(left)
    }

    /// The copies among the lost sectors, as the summary lists them, with the number of their doubt.
    fn lost_copies<M: Media + ?Sized>(
        &self,
        reader: &Reader<M>,
        newest: &mut Newest,
        band: BandId,
        doubts: &[Doubt],
    ) -> Vec<(usize, Copy)> {
        let layout = reader.card.layout;
        let division = Division::new(reader.card, &self.known.masks, self.known.opening.slc);
        let mut copies = Vec::new();
        // A summary has no entries for the stripes that it lies in itself.
        for (number, doubt) in doubts.iter().enumerate() {
            let start = layout.stripe_start(StripeId { band, index: doubt.stripe });
            let data = split_units(doubt.stripe, division.members(doubt.stripe), layout).data;
            for unit in units(doubt.lost.all() & data) {
                let entry = self.entries.get(division.ordinal(doubt.stripe, unit, doubt.sector as usize));
                let entry = entry.and_then(|entry| Some((Role::from_byte(entry.role)?, entry)));
                let ppa = start + unit * layout.unit_sectors + doubt.sector;
                let copy = entry.and_then(|(role, entry)| newest.copy(role, entry.lba, entry.version, ppa));
                copies.extend(copy.map(|copy| (number, copy)));
            }
        }
        copies
    }

    /// By group of dies: units whose blocks may have been erased, for nothing on them is good. Where an erase happens at once
    /// or not at all, a unit that can't be read shows that its block was not erased.
    fn blank_units<M: Media + ?Sized>(&self, reader: &Reader<M>) -> Vec<u64> {
        let (width, erases_whole) = (reader.card.layout.width as usize, reader.media.tears_read_as_erased());
        let may_be_erased = |group: usize, unit: u32| {
            let die = group * width + unit as usize;
            !(self.good[die] || erases_whole && self.written[die] > 0)
        };
        let blank = |(group, mask): (usize, &u64)| {
            units(*mask).filter(|unit| may_be_erased(group, *unit)).map(|unit| 1 << unit).sum()
        };
        self.known.masks.iter().enumerate().map(blank).collect()
    }

    /// Offers those copies of the band for which `counts` is true. `bands` has the state of the band by now.
    pub fn hand_over(
        &mut self,
        newest: &mut Newest,
        layout: &Layout,
        bands: &[FoundBand],
        counts: impl Fn(&Copy) -> bool,
    ) {
        self.reconstructed_sectors += self.reconstructed;
        self.torn.drain(..).for_each(|(stripe, is_broken)| newest.add_torn(stripe, is_broken));
        self.copies.drain(..).filter(counts).for_each(|copy| newest.offer(copy, layout, bands));
    }
}
