//! The layout: the relation of physical addresses, stripes and dies.
//!
//! A band is numbered stripe by stripe, a stripe unit by unit, a unit sector by sector:
//!
//! ```text
//! ppa = band * band_sectors + stripe * stripe_sectors + unit * unit_sectors + sector
//! ```
//!
//! Dies are numbered modules first, so `stripe_width` consecutive dies are one die of each module when the width is the
//! number of modules. Consecutive stripes of a band lie on consecutive groups of dies; after the last group the next
//! row of pages begins. So every die's share of a band is written front to back.
//!
//! Where a stripe is one unit of one die and rows share cells, the rows of a word line follow each other before the next
//! die begins. Then a flush has to fill one word line, and not one of every die.

use media::nand::Geometry;

/// No address: an unmapped LBA, or a physical address that holds no host data.
pub(crate) const NONE: u32 = u32::MAX;

/// A 4 KiB sector as the host addresses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u32);

/// A 4 KiB sector on flash: the physical page address, with the place in the page where pages are larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ppa(pub u32);

/// A band, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BandId(pub u32);

/// A stripe of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StripeId {
    /// The band that the stripe belongs to.
    pub band: BandId,
    /// The number of the stripe within the band.
    pub index: u32,
}

/// The number of consecutive stripes on one die: the rows of a word line, where a stripe is a unit of one die and cuts can
/// spoil rows that share cells; otherwise 1. Bands in SLC mode have `rows / slc_bits_per_cell` rows, in the same order.
pub fn word_line_run(width: u32, rows: u32, cell_rows: u32, slc_bits_per_cell: u32) -> u32 {
    let divides = |rows: u32| rows.is_multiple_of(cell_rows.max(1));
    let is_whole = divides(rows) && divides(rows / slc_bits_per_cell.max(1));
    if width == 1 && is_whole { cell_rows.max(1) } else { 1 }
}

/// A program unit on a die: the pages that one program command fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitAddress {
    /// The band that the unit belongs to.
    pub band: BandId,
    /// The die of the card that the unit lies on.
    pub die: u32,
    /// The number of the unit within the die's share of the band.
    pub row: u32,
}

/// See [`Layout::stands_for`], for dies, units of a stripe, and parity units of it.
pub(crate) fn parity_stands_for(
    (dies, width, parity_units): (u32, u32, u32),
    modules: u32,
    is_gone: impl Fn(u32) -> bool,
) -> bool {
    let gone_of = |group: u32| (0..width).filter(|unit| is_gone((group * width + unit) % modules)).count();
    (0..dies / width).all(|group| gone_of(group) <= parity_units as usize)
}

/// The sizes that the addresses of a card follow from. On a card that compresses, its flash management counts granules where these
/// names say sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of dies of the card.
    pub dies: u32,
    /// The number of units in a stripe.
    pub width: u32,
    /// The number of parity units in a stripe.
    pub parity_units: u32,
    /// The number of sectors in a unit.
    pub unit_sectors: u32,
    /// The number of units in a die's share of a band.
    pub rows: u32,
    /// The number of groups of `width` dies.
    pub groups: u32,
    /// The number of consecutive stripes that lie on one group of dies, before the next group begins.
    pub run: u32,
    /// The number of sectors in a stripe, parity included.
    pub stripe_sectors: u32,
    /// The number of sectors in a band, parity included.
    pub band_sectors: u32,
    /// The number of summary entries that a sector holds; 0 if bands have no summary.
    pub summary_entries: u32,
}

impl Layout {
    /// The layout of a geometry whose dies are a multiple of `width`. `run` is of [`word_line_run`].
    pub fn new(geometry: &Geometry, width: u32, parity_units: u32, run: u32, summary_entries: u32) -> Layout {
        let (dies, rows, unit_sectors) = (geometry.dies(), geometry.units_per_band(), geometry.sectors_per_unit());
        Layout {
            dies,
            width,
            parity_units,
            unit_sectors,
            rows,
            groups: dies / width,
            run,
            stripe_sectors: width * unit_sectors,
            band_sectors: dies * rows * unit_sectors,
            summary_entries,
        }
    }

    /// The same layout with so many addresses for each sector.
    pub(crate) fn in_parts(self, of_sector: u32) -> Layout {
        Layout {
            unit_sectors: self.unit_sectors * of_sector,
            stripe_sectors: self.stripe_sectors * of_sector,
            band_sectors: self.band_sectors * of_sector,
            ..self
        }
    }

    /// The band of an address.
    #[inline]
    pub fn band_of(&self, ppa: Ppa) -> BandId {
        BandId(ppa.0 / self.band_sectors)
    }

    /// The first address of a band.
    #[inline]
    pub fn band_start(&self, band: BandId) -> u32 {
        band.0 * self.band_sectors
    }

    /// The first address of a stripe.
    #[inline]
    pub fn stripe_start(&self, stripe: StripeId) -> u32 {
        self.band_start(stripe.band) + stripe.index * self.stripe_sectors
    }

    /// The group of dies that a stripe lies on.
    #[inline]
    pub fn group_of(&self, stripe_index: u32) -> u32 {
        if self.run == 1 { stripe_index % self.groups } else { stripe_index / self.run % self.groups }
    }

    /// The row of pages that a stripe lies on.
    #[inline]
    pub fn row_of(&self, stripe_index: u32) -> u32 {
        if self.run == 1 {
            return stripe_index / self.groups;
        }
        stripe_index / (self.groups * self.run) * self.run + stripe_index % self.run
    }

    /// The number, within its band, of the stripe on a row of a group of dies.
    #[inline]
    pub fn stripe_on(&self, row: u32, group: u32) -> u32 {
        (row / self.run * self.groups + group) * self.run + row % self.run
    }

    /// The stripe that a unit belongs to.
    #[inline]
    pub fn stripe_of(&self, at: UnitAddress) -> StripeId {
        StripeId { band: at.band, index: self.stripe_on(at.row, at.die / self.width) }
    }

    /// The number of stripes below `end` that lie on a group of dies.
    pub fn stripes_on_group(&self, group: u32, end: u32) -> u32 {
        let round = self.groups * self.run;
        end / round * self.run + (end % round).saturating_sub(group * self.run).min(self.run)
    }

    /// Whether parity stands for all units on some of the modules, over which the dies lie in turn: no stripe has more of them
    /// than it has parity units.
    pub fn stands_for(&self, modules: u32, is_gone: impl Fn(u32) -> bool) -> bool {
        parity_stands_for((self.dies, self.width, self.parity_units), modules, is_gone)
    }

    /// The die and row of a unit of a stripe.
    #[inline]
    pub fn unit_address(&self, stripe: StripeId, unit: u32) -> UnitAddress {
        UnitAddress {
            band: stripe.band,
            die: self.group_of(stripe.index) * self.width + unit,
            row: self.row_of(stripe.index),
        }
    }

    /// The die and row of the unit that holds an address.
    #[inline]
    pub fn locate(&self, ppa: Ppa) -> UnitAddress {
        let band = ppa.0 / self.band_sectors;
        let unit_index = (ppa.0 - band * self.band_sectors) / self.unit_sectors;
        let stripe = unit_index / self.width;
        UnitAddress {
            band: BandId(band),
            die: self.group_of(stripe) * self.width + unit_index % self.width,
            row: self.row_of(stripe),
        }
    }

    /// All units of a stripe, as bits.
    #[inline]
    pub fn all_units(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The number of data sectors of a stripe whose units `in_use` are usable.
    pub fn stripe_data_sectors(&self, in_use: u64) -> u32 {
        in_use.count_ones().saturating_sub(self.parity_units) * self.unit_sectors
    }

    /// The number of stripes that take data, in a band of `stripes`. The other stripes, at the end of the band, hold
    /// its summary. `in_use` has the usable units of a group of dies.
    pub fn data_stripes(&self, stripes: u32, in_use: impl Fn(u32) -> u64) -> u32 {
        if self.summary_entries == 0 {
            return stripes;
        }
        let sectors = |stripe: u32| u64::from(self.stripe_data_sectors(in_use(self.group_of(stripe))));
        let mut data = self.sectors_of_groups(stripes, &in_use);
        let (mut left, mut room) = (stripes, 0);
        // The loop ends, because without data the summary needs no room.
        while room < data {
            left -= 1;
            data -= sectors(left);
            room += sectors(left) * u64::from(self.summary_entries);
        }
        left
    }

    /// The number of bands that a card with contents keeps free when so many sectors may be in flight. When a module
    /// goes, all these sectors may need another place, in bands that are narrower by the module's units. One more band
    /// may be begun already, and one is for lists of holes. Where rows share cells, early seals fill the shared rows
    /// with padding, which takes one band more.
    pub fn bands_kept_free(&self, in_flight_sectors: u32, cell_rows: u32) -> u32 {
        let narrow = self.band_data_sectors(|_| self.all_units() >> 1);
        let band_sectors = if narrow > 0 { narrow } else { self.band_data_sectors(|_| self.all_units()) };
        in_flight_sectors.div_ceil(band_sectors.max(1)) + 2 + u32::from(cell_rows > 1)
    }

    /// The number of data sectors of a band in native mode.
    pub fn band_data_sectors(&self, in_use: impl Fn(u32) -> u64) -> u32 {
        let stripes = self.rows * self.groups;
        let data_stripes = self.data_stripes(stripes, &in_use);
        self.sectors_of_groups(data_stripes, in_use) as u32
    }

    /// The number of data sectors of the stripes below `end`.
    fn sectors_of_groups(&self, end: u32, in_use: impl Fn(u32) -> u64) -> u64 {
        let sectors = |group| u64::from(self.stripe_data_sectors(in_use(group)));
        (0..self.groups).map(|group| sectors(group) * u64::from(self.stripes_on_group(group, end))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stripes_and_units_agree() {
        for run in [1, 2, 3] {
            let layout = Layout {
                dies: 12,
                width: 4,
                parity_units: 1,
                unit_sectors: 3,
                rows: 6,
                groups: 3,
                run,
                stripe_sectors: 12,
                band_sectors: 216,
                summary_entries: 0,
            };
            for (band, index) in (0..3).flat_map(|band| (0..18).map(move |index| (BandId(band), index))) {
                let stripe = StripeId { band, index };
                for (unit, sector) in (0..4).flat_map(|unit| (0..3).map(move |sector| (unit, sector))) {
                    let at = layout.unit_address(stripe, unit);
                    let ppa = Ppa(layout.stripe_start(stripe) + unit * 3 + sector);
                    assert_eq!(layout.locate(ppa), at);
                    assert_eq!(layout.stripe_of(at), stripe);
                    assert_eq!(layout.band_of(ppa), band);
                }
            }
            for (group, end) in (0..3).flat_map(|group| (0..=18).map(move |end| (group, end))) {
                let counted = (0..end).filter(|index| layout.group_of(*index) == group).count();
                assert_eq!(layout.stripes_on_group(group, end) as usize, counted, "run {run}, {group}, {end}");
            }
            // A die's share is filled row by row, and the rows of a word line follow each other.
            let rows: Vec<u32> = (0..18).filter(|i| layout.group_of(*i) == 1).map(|i| layout.row_of(i)).collect();
            assert_eq!(rows, [0, 1, 2, 3, 4, 5]);
            assert!((0..run).all(|index| layout.group_of(index) == 0 && layout.row_of(index) == index));
        }
    }

    #[test]
    fn word_lines_are_filled_one_by_one_where_a_stripe_is_one_unit_and_rows_share_cells() {
        assert_eq!(word_line_run(1, 1_024, 4, 4), 4);
        assert_eq!(word_line_run(1, 768, 3, 1), 3);
        assert_eq!(word_line_run(2, 1_024, 4, 4), 1, "parity's place would change");
        assert_eq!(word_line_run(1, 1_024, 1, 4), 1);
        assert_eq!(word_line_run(1, 1_022, 4, 1), 1, "a line would be cut at the end of a block");
        assert_eq!(word_line_run(1, 1_024, 4, 3), 1, "or at the end of a block in SLC mode");
    }

    /// The groups of dies have different usable units, and the sectors are counted stripe by stripe.
    #[test]
    fn a_summary_has_room_for_all_that_lies_before_it_and_takes_no_more_than_it_needs() {
        let masks = [[0b1111u64, 0b1111, 0b1111], [0b1111, 0b0111, 0b0001], [0b0011, 0b0001, 0b1111], [0; 3]];
        for (rows, summary_entries, masks) in
            (1..12).flat_map(|rows| (1..9).flat_map(move |entries| masks.map(|masks| (rows, entries, masks))))
        {
            let layout = Layout {
                dies: 12,
                width: 4,
                parity_units: 1,
                unit_sectors: 2,
                rows,
                groups: 3,
                run: 1,
                stripe_sectors: 8,
                band_sectors: 24 * rows,
                summary_entries,
            };
            let sectors = |stripe: u32| layout.stripe_data_sectors(masks[layout.group_of(stripe) as usize]);
            let held = |stripes: std::ops::Range<u32>| stripes.map(sectors).sum::<u32>();
            let fits = |data: u32| held(data..3 * rows) * summary_entries >= held(0..data);
            let most = (0..=3 * rows).rev().find(|data| fits(*data)).unwrap();
            let in_use = |group: u32| masks[group as usize];
            assert_eq!(layout.data_stripes(3 * rows, in_use), most, "{rows} {summary_entries} {masks:?}");
            assert_eq!(layout.band_data_sectors(in_use), held(0..most));
            let without = Layout { summary_entries: 0, ..layout };
            assert_eq!(without.data_stripes(3 * rows, in_use), 3 * rows);
            assert_eq!(without.band_data_sectors(in_use), held(0..3 * rows));
        }
    }

    #[test]
    fn bands_are_kept_free_for_what_is_in_flight_without_a_unit_of_each_stripe() {
        let layout = Layout {
            dies: 4,
            width: 4,
            parity_units: 1,
            unit_sectors: 1,
            rows: 5,
            groups: 1,
            run: 1,
            stripe_sectors: 4,
            band_sectors: 20,
            summary_entries: 0,
        };
        // Stripes of two sectors instead of three, ten in a band.
        for (in_flight, bands) in [(0, 2), (1, 3), (10, 3), (11, 4)] {
            assert_eq!(
                [1, 2, 3].map(|cell_rows| layout.bands_kept_free(in_flight, cell_rows)),
                [bands, bands + 1, bands + 1]
            );
        }
        // A pair without one unit has no room for data, so its bands count as they are, with five sectors.
        let pairs = Layout { dies: 2, width: 2, stripe_sectors: 2, band_sectors: 10, ..layout };
        assert_eq!([5, 6].map(|in_flight| pairs.bands_kept_free(in_flight, 1)), [3, 4]);
    }
}
