//! Pages of the map that come from flash and go there, on a card that holds a part of its map in memory.
//!
//! A page is a sector like any other: its place stands in the map, beyond those of the host and of lists of holes. Pages that
//! leave memory, or outlive their band, go to a stream of their own, because each is overwritten a thousand times as often as
//! a sector of the host: among these they would leave space that is stale until their band is collected. The places of all
//! pages are in memory always: a millionth of the card.

use crate::config::STALE_PART;
use crate::ftl::Ftl;
use crate::layout::{BandId, Lba, NONE, Ppa};
use crate::map_cache::{Found, Leaving};
use crate::stream::StreamId;

/// Pages that leave at once, at most: fewer than a band holds, so that their stream opens one band at most.
const MOST_LEAVING: u32 = 64;

/// The answer of memory to a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapLookup {
    /// The page is there.
    Here,
    /// It is being read, or to be read: [`Ftl::next_map_read`].
    Coming,
}

impl Ftl {
    /// Whether memory holds only a part of the map.
    #[inline]
    pub fn has_map_cache(&self) -> bool {
        self.map_cache.is_some()
    }

    /// The page of the map that has the entry of a sector, on a card that holds a part of the map.
    pub fn map_page_of(&self, lba: Lba) -> u32 {
        lba.0 / self.config.map_cache.expect("a part of the map is held").page_sectors
    }

    /// The host wants to know where sectors of a page of the map lie.
    pub fn look_up_map(&mut self, page: u32) -> MapLookup {
        let lookup = self.find_map_page(page);
        self.let_map_pages_leave();
        lookup
    }

    fn find_map_page(&mut self, page: u32) -> MapLookup {
        let cache = self.map_cache.as_deref_mut().expect("a part of the map is held");
        match cache.look_up(page) {
            Found::Here => return MapLookup::Here,
            Found::Coming => return MapLookup::Coming,
            Found::Missing => {}
        }
        if self.map_page_place(page).is_none() {
            return MapLookup::Here;
        }
        self.map_cache.as_deref_mut().expect("as before").want(page);
        MapLookup::Coming
    }

    /// The place on flash that a page is read from; `None`: it was never written, or its stripe is still in the buffer.
    fn map_page_place(&self, page: u32) -> Option<Ppa> {
        let cache = self.map_cache.as_deref()?;
        let ppa = self.lookup(Lba(cache.entry_of(page)))?;
        self.is_programmed(self.layout.locate(ppa)).then_some(ppa)
    }

    /// The next page of the map to read, and where it lies.
    pub fn next_map_read(&mut self) -> Option<(u32, Ppa)> {
        loop {
            let page = self.map_cache.as_deref_mut()?.next_wanted()?;
            if let Some(ppa) = self.map_page_place(page) {
                self.map_cache.as_deref_mut()?.counters.reads += 1;
                return Some((page, ppa));
            }
            // The relocation that missed it has moved the page as well.
            self.map_page_came(page);
        }
    }

    /// A page of the map has been read.
    pub fn map_page_came(&mut self, page: u32) {
        self.map_cache.as_deref_mut().expect("a part of the map is held").came(page);
        self.note_map_updates();
    }

    /// All pages of the map that are wanted come at once, where there is no time.
    pub(crate) fn read_map_now(&mut self) {
        while let Some((page, _)) = self.next_map_read() {
            self.map_page_came(page);
        }
    }

    /// An entry of the map is about to change. Only writes of the host let pages leave here: moved sectors do after all of
    /// their unit are moved.
    #[cold]
    #[inline(never)]
    pub(crate) fn map_page_changes(&mut self, entry: u32, relocated: bool) {
        let cache = self.map_cache.as_deref_mut().expect("a part of the map is held");
        let Some(page) = cache.page_of(entry) else { return };
        if cache.changes_again(page) {
            return;
        }
        self.find_map_page(page);
        self.map_cache.as_deref_mut().expect("as before").change(page);
        self.note_map_updates();
        if !relocated {
            self.let_map_pages_leave();
        }
    }

    /// Pages leave memory while it holds more than it has room for.
    pub(crate) fn let_map_pages_leave(&mut self) {
        for _ in 0..MOST_LEAVING {
            let may_write = self.has_room_for_map_page();
            let Some(cache) = self.map_cache.as_deref_mut().filter(|cache| cache.is_over_full()) else { return };
            match cache.take_leaving(may_write) {
                Some(Leaving::Clean) => {}
                Some(Leaving::Dirty(page)) => self.write_map_page(page),
                None => return,
            }
        }
    }

    fn write_map_page(&mut self, page: u32) {
        let lba = Lba(self.map_cache.as_deref().expect("a part of the map is held").entry_of(page));
        let old = self.map.get(lba.0 as usize);
        if old != NONE {
            self.invalidate(old);
        }
        self.append(StreamId::Map, lba, false);
    }

    /// Moves the pages of the map among the sectors of a unit that are to be moved, as far as there is room; the sectors that are
    /// left. The rest of the pages go where other sectors go, whose room was counted.
    pub(crate) fn move_map_pages(&mut self, first: Ppa, mask: u64) -> u64 {
        let (mut left, mut rest) = (mask, mask);
        while rest != 0 {
            let offset = rest.trailing_zeros();
            rest &= rest - 1;
            let ppa = first.0 + offset;
            let lba = Lba(self.reverse.get(ppa as usize));
            let is_page = self.map_cache.as_deref().is_some_and(|cache| cache.page_of(lba.0).is_none());
            if is_page && self.has_room_for_map_page() {
                self.invalidate(ppa);
                self.append(StreamId::Map, lba, false);
                self.map_cache.as_deref_mut().expect("it has pages").counters.moved += 1;
                left &= !(1 << offset);
            }
        }
        left
    }

    /// The band of pages of the map that is to be collected next, ahead of all others: the oldest, once next to nothing in it
    /// is valid. Pages that are never overwritten hold no band up for ever, and neither does a card that lacks room.
    pub(crate) fn stale_map_band(&self, starved: bool) -> Option<BandId> {
        let &band = self.gc.map_bands.front()?;
        let [valid, takes] = [self.bands.valid[band.0 as usize], self.bands.get(band).data_sectors];
        let too_many = || {
            let most =
                2 + 2 * self.config.map_sectors(self.full_band_sectors.into()) / u64::from(self.full_band_sectors);
            self.gc.map_bands.len() as u64 > most
        };
        // Nothing else comes free: it goes ahead of bands that hold more.
        let is_needed = || {
            starved && self.gc.victims.is_empty() && self.gc.stale.is_empty() && {
                let emptiest = self.victims.emptiest(&self.bands.valid);
                emptiest.is_none_or(|emptiest| valid < self.bands.valid[emptiest.0 as usize])
            }
        };
        (valid <= takes / STALE_PART || valid < takes && (too_many() || is_needed())).then_some(band)
    }

    /// Whether a page of the map can be written: a band that is opened for it is none that the victims need. Until then
    /// memory holds more than it has room for.
    fn has_room_for_map_page(&self) -> bool {
        if !self.streams[StreamId::Map as usize].needs_band() {
            return true;
        }
        let full = u64::from(self.bands.full_sectors());
        let under_way: u64 = self.gc.victims.iter().map(|v| u64::from(self.bands.valid[v.band.0 as usize])).sum();
        let open = match self.relocation_stream() {
            StreamId::Host => 0,
            stream => u64::from(self.streams[stream as usize].unopened_sectors(&self.layout, &self.bands)),
        };
        self.bands.free_count() > 1 && self.bands.free_sectors() >= full + under_way.saturating_sub(open)
    }

    /// Bands that pages of the map lie in, those apart that are being collected.
    pub(crate) fn map_bands_in_use(&self) -> u32 {
        u32::from(!self.streams[StreamId::Map as usize].needs_band()) + self.gc.map_bands.len() as u32
    }

    fn note_map_updates(&mut self) {
        self.gc.map_is_behind = self.map_cache.as_deref().is_some_and(|cache| cache.is_behind());
        self.gc.note_reasons();
    }

    /// Pages of the map in memory, and those of them that have changed since they were read or written. Looks at all pages.
    pub fn map_pages_held(&self) -> (u32, u32) {
        self.map_cache.as_deref().map_or((0, 0), |cache| cache.held())
    }

    /// Pages of the whole map; 0 where all of it is in memory.
    pub fn map_pages(&self) -> u32 {
        self.config.map_cache.map_or(0, |cache| cache.map_pages(self.config.user_sectors) as u32)
    }
}
