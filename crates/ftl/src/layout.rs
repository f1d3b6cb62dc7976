//! How physical addresses, stripes and dies relate.
//!
//! A band is numbered stripe by stripe, a stripe unit by unit, a unit sector by sector:
//!
//! ```text
//! ppa = band * band_sectors + stripe * stripe_sectors + unit * unit_sectors + sector
//! ```
//!
//! Dies are numbered modules first, so `stripe_width` consecutive dies are one die of each module when the width is the
//! number of modules. Consecutive stripes of a band go to the next group of dies, and to the next row of pages when all
//! groups had their turn. So every die's share of a band is written front to back.

use nand::Geometry;

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
    /// Its band.
    pub band: BandId,
    /// Its number within the band.
    pub index: u32,
}

/// A program unit on a die: what one program command fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitAddress {
    /// Its band.
    pub band: BandId,
    /// Its die.
    pub die: u32,
    /// Its place on the die's share of the band.
    pub row: u32,
}

/// The numbers behind the addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Dies of the card.
    pub dies: u32,
    /// Units in a stripe.
    pub width: u32,
    /// Parity units in a stripe.
    pub parity_units: u32,
    /// Sectors in a unit.
    pub unit_sectors: u32,
    /// Units of a die's share of a band.
    pub rows: u32,
    /// Groups of `width` dies.
    pub groups: u32,
    /// Sectors of a stripe, parity included.
    pub stripe_sectors: u32,
    /// Sectors of a band, parity included.
    pub band_sectors: u32,
    /// Entries of a band's summary that a sector holds; 0: bands have no summary.
    pub summary_entries: u32,
}

impl Layout {
    /// From a geometry whose dies are a multiple of `width`.
    pub fn new(geometry: &Geometry, width: u32, parity_units: u32, summary_entries: u32) -> Layout {
        let (dies, rows, unit_sectors) = (geometry.dies(), geometry.units_per_band(), geometry.sectors_per_unit());
        Layout {
            dies,
            width,
            parity_units,
            unit_sectors,
            rows,
            groups: dies / width,
            stripe_sectors: width * unit_sectors,
            band_sectors: dies * rows * unit_sectors,
            summary_entries,
        }
    }

    /// Band of an address.
    #[inline]
    pub fn band_of(&self, ppa: Ppa) -> BandId {
        BandId(ppa.0 / self.band_sectors)
    }

    /// First address of a band.
    #[inline]
    pub fn band_start(&self, band: BandId) -> u32 {
        band.0 * self.band_sectors
    }

    /// First address of a stripe.
    #[inline]
    pub fn stripe_start(&self, stripe: StripeId) -> u32 {
        self.band_start(stripe.band) + stripe.index * self.stripe_sectors
    }

    /// Group of dies that a stripe lies on.
    #[inline]
    pub fn group_of(&self, stripe_index: u32) -> u32 {
        stripe_index % self.groups
    }

    /// Where a unit of a stripe lies.
    #[inline]
    pub fn unit_address(&self, stripe: StripeId, unit: u32) -> UnitAddress {
        UnitAddress {
            band: stripe.band,
            die: self.group_of(stripe.index) * self.width + unit,
            row: stripe.index / self.groups,
        }
    }

    /// Where the unit that holds an address lies.
    #[inline]
    pub fn locate(&self, ppa: Ppa) -> UnitAddress {
        let band = ppa.0 / self.band_sectors;
        let unit_index = (ppa.0 - band * self.band_sectors) / self.unit_sectors;
        let stripe = unit_index / self.width;
        UnitAddress {
            band: BandId(band),
            die: stripe % self.groups * self.width + unit_index % self.width,
            row: stripe / self.groups,
        }
    }

    /// All units of a stripe, as bits.
    #[inline]
    pub fn all_units(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Sectors of data of a stripe whose units `in_use` are usable.
    pub fn stripe_data_sectors(&self, in_use: u64) -> u32 {
        in_use.count_ones().saturating_sub(self.parity_units) * self.unit_sectors
    }

    /// Stripes of a band of `stripes` that take data; the rest, at its end, holds the summary of what they hold.
    /// `in_use` says which units of a group of dies are usable.
    pub fn data_stripes(&self, stripes: u32, in_use: impl Fn(u32) -> u64) -> u32 {
        if self.summary_entries == 0 {
            return stripes;
        }
        let sectors = |stripe: u32| u64::from(self.stripe_data_sectors(in_use(self.group_of(stripe))));
        let mut data: u64 = (0..self.groups.min(stripes))
            .map(|group| sectors(group) * u64::from((stripes - group).div_ceil(self.groups)))
            .sum();
        let (mut left, mut room) = (stripes, 0);
        while left > 0 && room < data {
            left -= 1;
            data -= sectors(left);
            room += sectors(left) * u64::from(self.summary_entries);
        }
        left
    }

    /// Bands that a card with contents keeps free when so many sectors may be in flight. When a module goes, all of them
    /// may need another place, in bands that are narrower by its units; a band may be begun already, and one is for
    /// holes. Where rows share cells, whoever can't wait fills up the rest of them: a band more.
    pub fn bands_kept_free(&self, in_flight_sectors: u32, cell_rows: u32) -> u32 {
        let narrow = self.band_data_sectors(|_| self.all_units() >> 1);
        let band_sectors = if narrow > 0 { narrow } else { self.band_data_sectors(|_| self.all_units()) };
        in_flight_sectors.div_ceil(band_sectors.max(1)) + 2 + u32::from(cell_rows > 1)
    }

    /// Sectors of data in a band, in native mode.
    pub fn band_data_sectors(&self, in_use: impl Fn(u32) -> u64) -> u32 {
        let stripes = self.rows * self.groups;
        let data_stripes = self.data_stripes(stripes, &in_use);
        (0..self.groups.min(data_stripes))
            .map(|group| self.stripe_data_sectors(in_use(group)) * (data_stripes - group).div_ceil(self.groups))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locate_agrees_with_unit_address() {
        let layout = Layout {
            dies: 12,
            width: 4,
            parity_units: 1,
            unit_sectors: 3,
            rows: 5,
            groups: 3,
            stripe_sectors: 12,
            band_sectors: 180,
            summary_entries: 0,
        };
        for band in 0..3 {
            for index in 0..15 {
                let stripe = StripeId { band: BandId(band), index };
                for unit in 0..4 {
                    for sector in 0..3 {
                        let ppa = Ppa(layout.stripe_start(stripe) + unit * 3 + sector);
                        assert_eq!(layout.locate(ppa), layout.unit_address(stripe, unit));
                        assert_eq!(layout.band_of(ppa), BandId(band));
                    }
                }
            }
        }
    }
}
