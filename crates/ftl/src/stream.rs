//! Streams: each has an open band, and fills one stripe of it at a time.

use crate::bands::{BandState, Bands};
use crate::canary::{Canary, planted};
use crate::layout::{BandId, Layout, StripeId};
use crate::stripe_units::{StripeUnits, split_units};
use media::nand::CellMode;
use std::collections::VecDeque;

/// The source of sectors. Host and relocated sectors go to different bands, so that hot and cold data are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum StreamId {
    /// Sectors that the host wrote.
    Host,
    /// Sectors that garbage collection moves.
    Relocation,
    /// Checkpoints of the map, which make recovery faster.
    Checkpoint,
    /// Pages of the map, where memory holds only a part of it: of models alone.
    Map,
}

impl StreamId {
    /// All streams, in the order of their numbers.
    pub const ALL: [StreamId; 4] = [StreamId::Host, StreamId::Relocation, StreamId::Checkpoint, StreamId::Map];
}

/// The kind of contents of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StripeKind {
    /// Sectors of the stream.
    Data,
    /// A list of the sectors in the data stripes of the band.
    Summary,
}

/// A stripe whose data is complete and waits to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedStripe {
    /// The place of the stripe.
    pub stripe: StripeId,
    /// The stream that filled the stripe.
    pub stream: StreamId,
    /// The number of the handle whose stream it is, from 1; 0: none.
    pub handle: u8,
    /// The number of the stripe in its stream: 0, 1, 2 …
    pub sequence: u64,
    /// Whether the stripe holds data or a part of the band's summary.
    pub kind: StripeKind,
    /// How the band's cells are used.
    pub mode: CellMode,
    /// The number of sectors in it that the host wrote.
    pub host_sectors: u32,
    /// The number of sectors in it that collection moved.
    pub relocated_sectors: u32,
    /// The number of sectors of padding at its end.
    pub padding_sectors: u32,
}

/// One stream: its open band and stripe, and how far it is durable.
///
/// Invariant: between calls, either the open stripe has room (`next < run_end`) or no stripe is open.
#[derive(Clone, Debug)]
pub struct Stream {
    id: StreamId,
    /// The number of its handle, from 1; 0: none.
    handle: u8,
    band: Option<BandId>,
    mode: CellMode,
    /// The open stripe, or the next one to open while none is open.
    stripe: u32,
    /// The number of stripes of the open band, in its mode.
    stripes: u32,
    /// The number of stripes of the open band that take data.
    data_stripes: u32,
    /// The number of consecutive stripes that share cells. A cut spoils such stripes together.
    cell_stripes: u32,
    stripe_is_open: bool,
    /// The next address to fill.
    next: u32,
    /// The end of the run of addresses that follow `next` without a gap.
    run_end: u32,
    /// Units of the open stripe beyond the run that still take data.
    units_left: u64,
    /// Sectors of the host in the open stripe.
    host_sectors: u32,
    /// Relocated sectors in the open stripe.
    relocated_sectors: u32,
    /// The number of stripes opened so far.
    opened: u64,
    /// The watermark of the stream: all stripes below this number are durable.
    durable: u64,
    /// Whether each stripe from `durable` on is durable. At most as many as the driver has stripes in flight.
    in_flight: VecDeque<bool>,
}

/// The result of taking one address.
pub struct Taken {
    pub ppa: u32,
    /// The stripe that became full.
    pub sealed: Option<SealedStripe>,
    /// The band whose data stripes became full.
    pub closed: Option<BandId>,
}

impl Stream {
    /// A stream with nothing open.
    pub fn new(id: StreamId) -> Stream {
        Stream {
            id,
            handle: 0,
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

    /// The stream of a handle.
    pub fn of_handle(id: StreamId, handle: u8) -> Stream {
        Stream { handle, ..Stream::new(id) }
    }

    /// Whether the next sector needs a new band.
    #[inline]
    pub fn needs_band(&self) -> bool {
        self.band.is_none()
    }

    pub fn band(&self) -> Option<BandId> {
        self.band
    }

    /// The open stripe, or else the next one.
    pub fn stripe(&self) -> u32 {
        self.stripe
    }

    /// The share of the open band that is not written yet; 0 for a band in SLC mode.
    pub fn room(&self) -> f64 {
        match self.band {
            Some(_) if self.mode == CellMode::Native => 1.0 - f64::from(self.stripe) / f64::from(self.stripes),
            _ => 0.0,
        }
    }

    /// The number of data sectors that the open band still takes.
    pub fn room_sectors(&self, layout: &Layout, bands: &Bands) -> u32 {
        self.unopened_sectors(layout, bands) + self.stripe_room(layout)
    }

    /// The number of data sectors in the stripes of the open band that are not opened yet.
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
            let before = |index: u32| layout.stripes_on_group(group, index);
            let first = StripeId { band, index: layout.stripe_on(0, group) };
            let units = units_of(first, layout, bands).data.count_ones();
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

    /// Takes the next address for a sector of the host or a relocated one. The stream must have a band.
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

    /// Takes the next addresses for a sector that takes several. The stream must have a band, and room for it in the open
    /// stripe, if there is one.
    pub fn take_run(&mut self, room: u32, relocated: bool, layout: &Layout, bands: &Bands) -> Taken {
        if self.next == self.run_end {
            self.open_stripe(layout, bands);
        }
        debug_assert!(room <= self.stripe_room(layout), "the stripe has room for it");
        *(if relocated { &mut self.relocated_sectors } else { &mut self.host_sectors }) += room;
        let ppa = self.next;
        let mut left = room;
        loop {
            let here = left.min(self.run_end - self.next);
            self.next += here;
            left -= here;
            if self.next < self.run_end {
                return Taken { ppa, sealed: None, closed: None };
            }
            if self.units_left == 0 {
                let (sealed, closed) = self.seal(0, layout, bands);
                return Taken { ppa, sealed: Some(sealed), closed };
            }
            self.next_run(layout);
            if left == 0 {
                return Taken { ppa, sealed: None, closed: None };
            }
        }
    }

    /// The number of addresses that the open stripe still takes; 0 when none is open.
    #[inline]
    pub fn stripe_room(&self, layout: &Layout) -> u32 {
        self.run_end - self.next + self.units_left.count_ones() * layout.unit_sectors
    }

    /// Whether no stripe of the band takes data after the open one.
    pub fn fills_last_stripe(&self, layout: &Layout, bands: &Bands) -> bool {
        let Some(band) = self.band else { return false };
        (self.stripe + 1..self.data_stripes).all(|index| units_of(StripeId { band, index }, layout, bands).data == 0)
    }

    /// Opens the next stripe, which will hold only padding.
    pub fn open_padding(&mut self, layout: &Layout, bands: &Bands) {
        self.open_stripe(layout, bands);
    }

    /// Closes the open stripe early; the rest of it becomes padding.
    pub fn seal_early(&mut self, layout: &Layout, bands: &Bands) -> Option<(SealedStripe, Option<BandId>)> {
        if !self.stripe_is_open {
            return None;
        }
        let padding = self.stripe_room(layout);
        self.units_left = 0;
        self.next = self.run_end;
        Some(self.seal(padding, layout, bands))
    }

    /// Gives up the open stripe, which is not programmed any more. Returns the sectors of the host in it.
    pub fn discard_open_stripe(&mut self) -> u32 {
        if !self.stripe_is_open {
            return 0;
        }
        self.stripe_is_open = false;
        self.units_left = 0;
        self.next = self.run_end;
        self.stripe += 1;
        self.stripe_durable(self.opened - 1);
        std::mem::take(&mut self.host_sectors)
    }

    /// The next stripe of the open band's summary, after the last data stripe. `None` when the band is full; then the
    /// stream has no open band any more.
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
            handle: self.handle,
            sequence: self.opened - 1,
            kind: StripeKind::Summary,
            mode: self.mode,
            host_sectors: 0,
            relocated_sectors: 0,
            padding_sectors: 0,
        })
    }

    /// Gives up the open band, because a block of it failed. No stripe may be open.
    pub fn abandon_band(&mut self) -> Option<BandId> {
        assert!(!self.stripe_is_open);
        self.band.take()
    }

    /// Whether the open stripe, or else the next one, shares cells with earlier ones, so that their durability waits
    /// for it.
    pub fn shares_cells_with_earlier(&self) -> bool {
        self.band.is_some() && !(self.stripe.is_multiple_of(self.cell_stripes))
    }

    /// The barrier of everything written so far, for [`Stream::is_durable`]. Where stripes share cells, later stripes
    /// that share cells with the last one count too.
    pub fn barrier(&self) -> u64 {
        if self.cell_stripes == 1 || self.band.is_none() || planted(Canary::SharedCellsIgnored) {
            return self.opened;
        }
        // `opened` counts the open stripe already, but not the stripes of its group that follow.
        let done = self.stripe + u32::from(self.stripe_is_open);
        self.opened + u64::from(done.next_multiple_of(self.cell_stripes).min(self.stripes) - done)
    }

    /// Whether all stripes below `barrier` are on flash.
    pub fn is_durable(&self, barrier: u64) -> bool {
        self.durable >= barrier
    }

    /// Reports that a sealed stripe is on flash, with its parity.
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
        if self.id == StreamId::Map {
            // They take no room in the host's buffer.
            self.host_sectors = 0;
        }
        let sealed = SealedStripe {
            stripe: StripeId { band, index: self.stripe },
            stream: self.id,
            handle: self.handle,
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

    /// Skips stripes that have too few good blocks. A band without usable stripes is retired and never opened.
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

/// The units of a stripe. Parity rotates over the units from stripe to stripe. Bad blocks are left out, and so are
/// stripes that would hold only parity.
#[inline]
pub fn units_of(stripe: StripeId, layout: &Layout, bands: &Bands) -> StripeUnits {
    let good = bands.units_in_use(stripe.band, layout.group_of(stripe.index), layout);
    split_units(stripe.index, good, layout)
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
        // A band in SLC mode holds only a share of a native one, and only for as long as the cache keeps it.
        assert_eq!(opened(CellMode::Slc).room(), 0.0);
    }
}
