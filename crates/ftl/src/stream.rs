//! Open bands, and the stripe that is being filled in each.

use crate::bands::{BandState, Bands};
use crate::canary::{Canary, planted};
use crate::layout::{BandId, Layout, StripeId};
use media::nand::CellMode;
use std::collections::VecDeque;

/// Who writes: host and relocated sectors go to different bands, so that hot and cold data part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum StreamId {
    /// What the host wrote.
    Host,
    /// What garbage collection moves.
    Relocation,
    /// The map, so that it is found again sooner.
    Checkpoint,
}

impl StreamId {
    /// All of them.
    pub const ALL: [StreamId; 3] = [StreamId::Host, StreamId::Relocation, StreamId::Checkpoint];
}

/// What a stripe holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StripeKind {
    /// Sectors of the host.
    Data,
    /// What the data stripes of the band hold.
    Summary,
}

/// A stripe whose data is complete and waits to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedStripe {
    /// Which.
    pub stripe: StripeId,
    /// Whose.
    pub stream: StreamId,
    /// Its number in the stream: 0, 1, 2 …
    pub sequence: u64,
    /// What it holds.
    pub kind: StripeKind,
    /// How the band's cells are used.
    pub mode: CellMode,
    /// Sectors that the host wrote.
    pub host_sectors: u32,
    /// Sectors that collection moved.
    pub relocated_sectors: u32,
    /// Sectors of padding, at the end.
    pub padding_sectors: u32,
}

/// One stream: its open band and stripe, and how far it is durable.
///
/// Invariant: between calls either `next < run_end` (the open stripe has room) or no stripe is open.
#[derive(Clone, Debug)]
pub struct Stream {
    id: StreamId,
    band: Option<BandId>,
    mode: CellMode,
    /// Stripe to open next, while none is open; else the open one.
    stripe: u32,
    /// Stripes of the open band in its mode, and how many of them take data.
    stripes: u32,
    data_stripes: u32,
    /// Consecutive stripes that share cells, and are safe from a cut only together.
    cell_stripes: u32,
    stripe_is_open: bool,
    /// Next address to fill, and the end of the run of addresses that follow it without a gap.
    next: u32,
    run_end: u32,
    /// Units of the open stripe beyond the run that still take data.
    units_left: u64,
    /// Sectors in the open stripe: of the host, and moved by collection.
    host_sectors: u32,
    relocated_sectors: u32,
    /// Stripes opened so far.
    opened: u64,
    /// All stripes below this number are durable.
    durable: u64,
    /// From number `durable` on: is it durable? At most as many as the driver has in flight.
    in_flight: VecDeque<bool>,
}

/// What taking one address did.
pub struct Taken {
    /// The address.
    pub ppa: u32,
    /// The stripe that this filled.
    pub sealed: Option<SealedStripe>,
    /// The band that this filled.
    pub closed: Option<BandId>,
}

impl Stream {
    /// With nothing open.
    pub fn new(id: StreamId) -> Stream {
        Stream {
            id,
            band: None,
            mode: CellMode::Native,
            stripe: 0,
            stripes: 0,
            data_stripes: 0,
            cell_stripes: 1,
            stripe_is_open: false,
            next: 0,
            run_end: 0,
            units_left: 0,
            host_sectors: 0,
            relocated_sectors: 0,
            opened: 0,
            durable: 0,
            in_flight: VecDeque::new(),
        }
    }

    /// The next sector needs a new band.
    #[inline]
    pub fn needs_band(&self) -> bool {
        self.band.is_none()
    }

    /// The open band.
    pub fn band(&self) -> Option<BandId> {
        self.band
    }

    /// The open stripe, or else the next.
    pub fn stripe(&self) -> u32 {
        self.stripe
    }

    /// Share of the open band that is not written yet, in native bands.
    pub fn room(&self) -> f64 {
        match self.band {
            Some(_) if self.mode == CellMode::Native => 1.0 - f64::from(self.stripe) / f64::from(self.stripes),
            _ => 0.0,
        }
    }

    /// Sectors of data that the open band still takes.
    pub fn room_sectors(&self, layout: &Layout, bands: &Bands) -> u32 {
        let in_stripe = self.run_end - self.next + self.units_left.count_ones() * layout.unit_sectors;
        self.unopened_sectors(layout, bands) + in_stripe
    }

    /// Sectors of data in the stripes of the open band that are not open yet.
    pub fn unopened_sectors(&self, layout: &Layout, bands: &Bands) -> u32 {
        let Some(band) = self.band else { return 0 };
        let from = self.stripe + u32::from(self.stripe_is_open);
        let stripes = self.data_stripes.max(from);
        if !bands.get(band).has_bad {
            let units = units_of(StripeId { band, index: 0 }, layout, bands).data.count_ones();
            return (stripes - from) * units * layout.unit_sectors;
        }
        // Stripes of one group of dies are equally wide.
        let sectors = |group: u32| {
            let before = |index: u32| (index + layout.groups - 1 - group) / layout.groups;
            let units = units_of(StripeId { band, index: group }, layout, bands).data.count_ones();
            (before(stripes) - before(from)) * units * layout.unit_sectors
        };
        (0..layout.groups).map(sectors).sum()
    }

    /// Starts to fill a band that was just opened.
    pub fn start_band(&mut self, band: BandId, mode: CellMode, stripes: u32, data_stripes: u32, cell_stripes: u32) {
        assert!(self.band.is_none());
        self.band = Some(band);
        self.mode = mode;
        self.stripes = stripes;
        self.data_stripes = data_stripes;
        self.cell_stripes = cell_stripes;
        self.stripe = 0;
    }

    /// Takes the next address for a sector of the host or a relocated one. The stream has a band.
    #[inline]
    pub fn take(&mut self, relocated: bool, layout: &Layout, bands: &Bands) -> Taken {
        if self.next == self.run_end {
            self.open_stripe(layout, bands);
        }
        *(if relocated { &mut self.relocated_sectors } else { &mut self.host_sectors }) += 1;
        let ppa = self.next;
        self.next += 1;
        if self.next < self.run_end {
            return Taken { ppa, sealed: None, closed: None };
        }
        if self.units_left != 0 {
            self.next_run(layout);
            return Taken { ppa, sealed: None, closed: None };
        }
        let (sealed, closed) = self.seal(0, layout, bands);
        Taken { ppa, sealed: Some(sealed), closed }
    }

    /// Opens the next stripe, to be nothing but padding.
    pub fn open_padding(&mut self, layout: &Layout, bands: &Bands) {
        self.open_stripe(layout, bands);
    }

    /// Closes the open stripe early; what is left of it becomes padding.
    pub fn seal_early(&mut self, layout: &Layout, bands: &Bands) -> Option<(SealedStripe, Option<BandId>)> {
        if !self.stripe_is_open {
            return None;
        }
        let padding = self.run_end - self.next + self.units_left.count_ones() * layout.unit_sectors;
        self.units_left = 0;
        self.next = self.run_end;
        Some(self.seal(padding, layout, bands))
    }

    /// The next stripe of the open band's summary, after the last of its data. `None`: the band is full, and none is
    /// open any more.
    pub fn next_summary(&mut self, layout: &Layout, bands: &Bands) -> Option<SealedStripe> {
        assert!(!self.stripe_is_open && self.stripe >= self.data_stripes);
        let band = self.band.expect("a band is open");
        self.skip_unusable(layout, bands);
        if self.stripe == self.stripes {
            self.band = None;
            return None;
        }
        self.opened += 1;
        self.in_flight.push_back(false);
        let stripe = StripeId { band, index: self.stripe };
        self.stripe += 1;
        Some(SealedStripe {
            stripe,
            stream: self.id,
            sequence: self.opened - 1,
            kind: StripeKind::Summary,
            mode: self.mode,
            host_sectors: 0,
            relocated_sectors: 0,
            padding_sectors: 0,
        })
    }

    /// The open band takes nothing more: a block of it failed. No stripe is open.
    pub fn abandon_band(&mut self) -> Option<BandId> {
        assert!(!self.stripe_is_open);
        self.band.take()
    }

    /// The open stripe, or else the next, shares its cells with ones that come later.
    pub fn shares_cells_with_later(&self) -> bool {
        self.band.is_some() && !(self.stripe.is_multiple_of(self.cell_stripes))
    }

    /// The number that [`Stream::is_durable`] must be asked for everything written so far. Where stripes share cells,
    /// the ones that come after it and share its cells count too.
    pub fn barrier(&self) -> u64 {
        if self.cell_stripes == 1 || self.band.is_none() || planted(Canary::SharedCellsIgnored) {
            return self.opened;
        }
        // An open stripe is counted in `opened` already; the stripes of its group that follow it are not.
        let done = self.stripe + u32::from(self.stripe_is_open);
        self.opened + u64::from(done.next_multiple_of(self.cell_stripes).min(self.stripes) - done)
    }

    /// All stripes below `barrier` are on flash.
    pub fn is_durable(&self, barrier: u64) -> bool {
        self.durable >= barrier
    }

    /// A sealed stripe is on flash, parity and all.
    pub fn stripe_durable(&mut self, sequence: u64) {
        let i = (sequence - self.durable) as usize;
        assert!(!self.in_flight[i], "stripe {sequence} became durable twice");
        self.in_flight[i] = true;
        while self.in_flight.front() == Some(&true) {
            self.in_flight.pop_front();
            self.durable += 1;
        }
    }

    fn seal(&mut self, padding_sectors: u32, layout: &Layout, bands: &Bands) -> (SealedStripe, Option<BandId>) {
        let band = self.band.expect("a stripe is open");
        let sealed = SealedStripe {
            stripe: StripeId { band, index: self.stripe },
            stream: self.id,
            sequence: self.opened - 1,
            kind: StripeKind::Data,
            mode: self.mode,
            host_sectors: std::mem::take(&mut self.host_sectors),
            relocated_sectors: std::mem::take(&mut self.relocated_sectors),
            padding_sectors,
        };
        self.stripe_is_open = false;
        self.stripe += 1;
        self.skip_unusable(layout, bands);
        let closed = (self.stripe >= self.data_stripes).then_some(band);
        (sealed, closed)
    }

    fn open_stripe(&mut self, layout: &Layout, bands: &Bands) {
        assert!(!self.stripe_is_open);
        self.skip_unusable(layout, bands);
        let band = self.band.expect("the caller opened a band");
        debug_assert_eq!(bands.get(band).state, BandState::Open);
        let stripe = StripeId { band, index: self.stripe };
        let units = units_of(stripe, layout, bands);
        self.units_left = units.data;
        self.stripe_is_open = true;
        self.opened += 1;
        self.in_flight.push_back(false);
        self.next_run(layout);
    }

    /// Goes past stripes that have too few good blocks. A band that has none is retired and never opened.
    fn skip_unusable(&mut self, layout: &Layout, bands: &Bands) {
        let band = self.band.expect("a band is open");
        if !bands.get(band).has_bad {
            return;
        }
        while self.stripe < self.stripes && units_of(StripeId { band, index: self.stripe }, layout, bands).data == 0 {
            self.stripe += 1;
        }
    }

    fn next_run(&mut self, layout: &Layout) {
        let band = self.band.expect("a stripe is open");
        let first = self.units_left.trailing_zeros();
        let count = (self.units_left >> first).trailing_ones();
        let mask = if count == 64 { u64::MAX } else { ((1 << count) - 1) << first };
        self.units_left &= !mask;
        let start = layout.stripe_start(StripeId { band, index: self.stripe });
        self.next = start + first * layout.unit_sectors;
        self.run_end = self.next + count * layout.unit_sectors;
    }
}

/// Which units of a stripe are used, as bits by unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeUnits {
    /// Units that take data.
    pub data: u64,
    /// The unit of parity, if any.
    pub parity: u64,
}

/// Parity rotates over the units from stripe to stripe; bad blocks are left out, and so are stripes that would be
/// nothing but parity.
#[inline]
pub fn units_of(stripe: StripeId, layout: &Layout, bands: &Bands) -> StripeUnits {
    let good = bands.units_in_use(stripe.band, layout.group_of(stripe.index), layout);
    split_units(stripe.index, good, layout)
}

/// Which of the units in use take data, and which is parity.
#[inline]
pub fn split_units(stripe_index: u32, good: u64, layout: &Layout) -> StripeUnits {
    let width = layout.width;
    if layout.parity_units == 0 {
        return StripeUnits { data: good, parity: 0 };
    }
    if good.count_ones() <= layout.parity_units {
        return StripeUnits { data: 0, parity: 0 };
    }
    let row = stripe_index / layout.groups;
    let wanted = (row + layout.group_of(stripe_index)) % width;
    // The first good unit from the wanted one on, around the end.
    let from_wanted = good & (u64::MAX << wanted);
    let unit = if from_wanted != 0 { from_wanted } else { good }.trailing_zeros();
    StripeUnits { data: good & !(1 << unit), parity: 1 << unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_native_band_has_left_is_room() {
        let opened = |mode| {
            let mut stream = Stream::new(StreamId::Host);
            assert_eq!(stream.room(), 0.0);
            stream.start_band(BandId(3), mode, 8, 6, 1);
            stream
        };
        let mut native = opened(CellMode::Native);
        for filled in 0..8 {
            native.stripe = filled;
            assert_eq!(native.room(), f64::from(8 - filled) / 8.0);
        }
        // One in SLC mode takes a share of a band only, for as long as the cache keeps it.
        assert_eq!(opened(CellMode::Slc).room(), 0.0);
    }
}
