//! Reads the summary, which lies in a band's last stripes.

use super::error::ScanError;
use super::place::{Card, units};
use super::reader::Reader;
use super::stripe::{Stripe, StripeRead};
use crate::layout::{BandId, StripeId};
use crate::opening::Opening;
use crate::stripe_units::split_units;
use format::{Role, SummaryEntry, decode_summary};
use media::Media;

/// The division of a band's stripes into data and summary.
#[derive(Clone, Copy)]
pub(super) struct Division<'a> {
    pub card: &'a Card<'a>,
    pub masks: &'a [u64],
    /// The number of stripes in use.
    pub stripes: u32,
    /// The number of stripes that take data, which is the first stripe of the summary.
    pub data_stripes: u32,
}

impl<'a> Division<'a> {
    pub fn new(card: &'a Card<'a>, masks: &'a [u64], slc: bool) -> Division<'a> {
        let stripes = card.rows(slc) * card.layout.groups;
        let data_stripes = card.layout.data_stripes(stripes, |group| masks[group as usize]);
        Division { card, masks, stripes, data_stripes }
    }

    pub fn members(&self, stripe: u32) -> u64 {
        self.masks[self.card.layout.group_of(stripe) as usize]
    }

    /// The number of data sectors in the stripes before this one.
    fn sectors_before(&self, stripe: u32) -> usize {
        let sectors = |(group, mask): (u32, &u64)| {
            let stripes = self.card.layout.stripes_on_group(group, stripe);
            stripes as usize * self.card.layout.stripe_data_sectors(*mask) as usize
        };
        (0..).zip(self.masks).map(sectors).sum()
    }

    /// The number of a sector among all data sectors of the band.
    pub fn ordinal(&self, stripe: u32, unit: u32, sector: usize) -> usize {
        let data = split_units(stripe, self.members(stripe), self.card.layout).data;
        let units_before = (data & ((1u64 << unit) - 1)).count_ones() as usize;
        self.sectors_before(stripe) + units_before * self.card.layout.unit_sectors as usize + sector
    }
}

/// The outcome of reading a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SummaryRead {
    /// The summary was read completely.
    Done,
    /// The summary is absent or incomplete, or the band has to be read in spite of it.
    Missing,
    /// The band was opened again, with this number.
    Newer(u64),
}

/// The entries gathered so far.
struct Gathered<'a> {
    entries: &'a mut [SummaryEntry],
    per_sector: usize,
    sequence: u64,
    /// Entries that were found.
    count: usize,
}

impl Gathered<'_> {
    /// Adds a sector of the summary; `ordinal` is its number among them.
    fn add(&mut self, ordinal: usize, role: Role, lba: u32, version: u64, payload: &[u8]) {
        let first = ordinal * self.per_sector;
        let is_it = role == Role::Summary && lba as usize == first && version == self.sequence;
        if !is_it || first >= self.entries.len() {
            return;
        }
        let room = &mut self.entries[first..];
        for (entry, found) in room.iter_mut().take(self.per_sector).zip(decode_summary(payload)) {
            *entry = found;
            self.count += 1;
        }
    }
}

/// Reads the summary of a band into `entries`, one for each data sector. With `all_is_written`, the summary counts only
/// if the last row of the band is good on all dies that answer, which proves that everything before it was written.
pub(super) fn read_summary<M: Media + ?Sized>(
    reader: &mut Reader<M>,
    stripe: &mut Stripe,
    division: &Division,
    band: BandId,
    opening: &Opening,
    all_is_written: bool,
    entries: &mut Vec<SummaryEntry>,
) -> Result<SummaryRead, ScanError> {
    let Division { card, stripes, data_stripes, .. } = *division;
    let layout = card.layout;
    entries.clear();
    if data_stripes == stripes {
        return Ok(SummaryRead::Missing);
    }
    entries.resize(division.sectors_before(data_stripes), SummaryEntry::default());
    let per_sector = layout.summary_entries as usize;
    let mut gathered = Gathered { entries, per_sector, sequence: opening.sequence, count: 0 };
    // The last row tells whether all is written: it is read first, from wherever it begins.
    let last_row = layout.row_of(stripes - 1);
    let is_last = |index: &u32| all_is_written && layout.row_of(*index) == last_row;
    let last = (stripes - layout.groups * layout.run..stripes).filter(is_last);
    for index in last.chain((data_stripes..stripes).filter(|index| !is_last(index))) {
        let members = division.members(index);
        let data = split_units(index, members, layout).data;
        if data == 0 {
            continue;
        }
        let strict = is_last(&index);
        let start = if index < data_stripes {
            usize::MAX
        } else {
            division.sectors_before(index) - division.sectors_before(data_stripes)
        };
        let ordinal = |unit: u32, sector: usize| {
            let units_before = (data & ((1u64 << unit) - 1)).count_ones() as usize;
            start + units_before * layout.unit_sectors as usize + sector
        };
        let is_summary = index >= data_stripes;
        let read = stripe.read(
            reader,
            StripeId { band, index },
            opening,
            members,
            strict,
            |unit, sector, spare, payload| {
                if is_summary && data >> unit & 1 == 1 {
                    gathered.add(ordinal(unit, sector), spare.role, spare.lba, spare.version, payload);
                }
            },
        )?;
        match read {
            StripeRead::Newer(sequence) => return Ok(SummaryRead::Newer(sequence)),
            StripeRead::Flawed => return Ok(SummaryRead::Missing),
            StripeRead::Done => {}
        }
        for sector in 0..layout.unit_sectors as usize {
            let lost = stripe.lost(sector).all();
            if lost.count_ones() > layout.parity_units {
                return Ok(SummaryRead::Missing);
            }
            let Some(unit) = units(lost & data).next().filter(|_| is_summary) else { continue };
            if let Some((rebuilt, payload)) = stripe.rebuild(sector) {
                gathered.add(ordinal(unit, sector), rebuilt.role, rebuilt.lba, rebuilt.version, payload);
            }
        }
    }
    Ok(if gathered.count == gathered.entries.len() { SummaryRead::Done } else { SummaryRead::Missing })
}
