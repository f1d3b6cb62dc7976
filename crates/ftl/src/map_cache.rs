//! The part of the map that fast memory holds, on a card that does not hold all of it.
//!
//! The map lies on flash in pages of a sector, and memory holds the pages that were used last, as in DFTL (A. Gupta, Y. Kim
//! and B. Urgaonkar, ASPLOS 2009). A page that changed is written when it leaves, with all its changes at once.
//!
//! Invariants:
//! - lookups are hits and misses, and nothing else;
//! - pages that changed are those that were written and those that memory still holds changed;
//! - a page that is being read stays.

use device::{Links, List};
use std::collections::VecDeque;

/// Memory for a part of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapCacheConfig {
    /// Pages of the map that memory holds.
    pub pages: u32,
    /// Sectors of the host whose entries a page of the map has.
    pub page_sectors: u32,
    /// Writes wait while so many pages are read for entries that have changed.
    pub updates: u32,
}

impl MapCacheConfig {
    /// Pages of the whole map of so many sectors.
    pub fn map_pages(&self, user_sectors: u64) -> u64 {
        user_sectors.div_ceil(u64::from(self.page_sectors))
    }

    /// Memory that holds the same share of the map of a card of another size.
    pub fn at_size(&self, full_sectors: u64, sectors: u64) -> MapCacheConfig {
        let share = f64::from(self.pages) / self.map_pages(full_sectors) as f64;
        let pages = (self.map_pages(sectors) as f64 * share).round() as u32;
        MapCacheConfig { pages: pages.max(1), ..*self }
    }
}

/// The use of the map since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapCounters {
    /// Lookups that found their page in memory, or on its way there.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Pages read from flash. A page that was never written, or is not on flash yet, need not be read.
    pub reads: u64,
    /// Pages that changed since they were read or written.
    pub dirtied: u64,
    /// Pages written because they had to leave.
    pub written: u64,
    /// Pages that collection moved to where pages of the map lie.
    pub moved: u64,
}

impl MapCounters {
    /// Pages programmed, for either of the two reasons.
    pub fn programmed(&self) -> u64 {
        self.written + self.moved
    }

    /// The use between `earlier` and `self`.
    pub fn since(&self, earlier: &MapCounters) -> MapCounters {
        MapCounters {
            hits: self.hits - earlier.hits,
            misses: self.misses - earlier.misses,
            reads: self.reads - earlier.reads,
            dirtied: self.dirtied - earlier.dirtied,
            written: self.written - earlier.written,
            moved: self.moved - earlier.moved,
        }
    }

    /// The use of two cards together.
    pub fn plus(&self, other: &MapCounters) -> MapCounters {
        MapCounters {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            reads: self.reads + other.reads,
            dirtied: self.dirtied + other.dirtied,
            written: self.written + other.written,
            moved: self.moved + other.moved,
        }
    }
}

/// The page is in memory, or on its way there.
const HERE: u8 = 1;
/// The page is being read.
const COMING: u8 = 2;
/// The page has changed since it was read or written.
const DIRTY: u8 = 4;

/// Pages at the end of the order that are looked at for one that may leave.
const MOST_LOOKED_AT: u32 = 64;

/// The state of a page that is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Here,
    Coming,
    Missing,
}

/// A page that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    Clean,
    /// It has to be written first.
    Dirty(u32),
}

/// The pages of the map that memory holds, in the order of their use.
#[derive(Clone, Debug)]
pub(crate) struct MapCache {
    config: MapCacheConfig,
    /// The entry of the map that stands for the place of its first page.
    first_entry: u32,
    flags: Vec<u8>,
    links: Links,
    order: List,
    /// Pages to be read, in the order in which they were missed.
    wanted: VecDeque<u32>,
    /// Pages that are being read and have changed.
    updates: u32,
    /// The page that changed last: a run of changes is one lookup.
    last_changed: u32,
    pub counters: MapCounters,
}

impl MapCache {
    /// Memory that holds nothing yet.
    pub fn new(config: MapCacheConfig, user_sectors: u64, first_entry: u32) -> MapCache {
        MapCache {
            config,
            first_entry,
            flags: vec![0; config.map_pages(user_sectors) as usize],
            links: Links::default(),
            order: List::EMPTY,
            wanted: VecDeque::new(),
            updates: 0,
            last_changed: u32::MAX,
            counters: MapCounters::default(),
        }
    }

    /// The page that has the entry; `None`: the entry is a page's own, which is always in memory.
    pub fn page_of(&self, entry: u32) -> Option<u32> {
        (entry < self.first_entry).then(|| entry / self.config.page_sectors)
    }

    /// The entry of the map that has the place of a page.
    pub fn entry_of(&self, page: u32) -> u32 {
        self.first_entry + page
    }

    fn has(&self, page: u32, flag: u8) -> bool {
        self.flags[page as usize] & flag != 0
    }

    /// Looks a page up, and counts that.
    pub fn look_up(&mut self, page: u32) -> Found {
        if self.has(page, HERE) {
            self.counters.hits += 1;
            self.links.remove(&mut self.order, page);
            self.links.push(&mut self.order, page);
            return if self.has(page, COMING) { Found::Coming } else { Found::Here };
        }
        self.counters.misses += 1;
        self.flags[page as usize] = HERE;
        self.links.push(&mut self.order, page);
        Found::Missing
    }

    /// A page that was missing has to be read.
    pub fn want(&mut self, page: u32) {
        self.flags[page as usize] |= COMING;
        self.wanted.push_back(page);
    }

    /// The next page to be read.
    pub fn next_wanted(&mut self) -> Option<u32> {
        self.wanted.pop_front()
    }

    /// A page has been read.
    pub fn came(&mut self, page: u32) {
        debug_assert!(self.has(page, COMING));
        self.updates -= u32::from(self.has(page, DIRTY));
        self.flags[page as usize] &= !COMING;
    }

    /// Whether a page goes on from one change to the next.
    pub fn changes_again(&mut self, page: u32) -> bool {
        std::mem::replace(&mut self.last_changed, page) == page && self.has(page, DIRTY)
    }

    /// A page that was looked up changes.
    pub fn change(&mut self, page: u32) {
        if !self.has(page, DIRTY) {
            self.flags[page as usize] |= DIRTY;
            self.counters.dirtied += 1;
            self.updates += u32::from(self.has(page, COMING));
        }
    }

    /// As many pages are read for entries that have changed as may be.
    pub fn is_behind(&self) -> bool {
        self.updates >= self.config.updates
    }

    /// Whether pages have to leave.
    pub fn is_over_full(&self) -> bool {
        self.order.len() > self.config.pages
    }

    /// The page that leaves: the one that was not used for longest, of those that may. It is not in memory any more.
    /// `may_write`: there is room on flash for one that has changed.
    pub fn take_leaving(&mut self, may_write: bool) -> Option<Leaving> {
        for _ in 0..MOST_LOOKED_AT.min(self.order.len()) {
            let page = self.order.tail()?;
            self.links.remove(&mut self.order, page);
            let is_dirty = self.has(page, DIRTY);
            if self.has(page, COMING) || is_dirty && !may_write {
                self.links.push(&mut self.order, page);
                continue;
            }
            self.flags[page as usize] = 0;
            self.counters.written += u64::from(is_dirty);
            return Some(if is_dirty { Leaving::Dirty(page) } else { Leaving::Clean });
        }
        None
    }

    /// Pages in memory, and those of them that have changed.
    pub fn held(&self) -> (u32, u32) {
        let dirty = self.flags.iter().filter(|&&flags| flags & DIRTY != 0).count();
        (self.order.len(), dirty as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::Rng;

    /// Beside a plain list in the order of use.
    #[test]
    fn the_page_that_was_not_used_for_longest_leaves_unless_it_is_being_read() {
        let config = MapCacheConfig { pages: 9, page_sectors: 4, updates: 3 };
        let mut cache = MapCache::new(config, 100, 110);
        assert_eq!((cache.page_of(99), cache.page_of(110), cache.entry_of(24)), (Some(24), None, 134));
        let mut rng = Rng::stream(1, "pages");
        // The latest first.
        let mut order: Vec<u32> = Vec::new();
        let (mut coming, mut dirty) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let page = rng.below(25) as u32;
            let found = cache.look_up(page);
            let place = order.iter().position(|&other| other == page);
            let expected = match place {
                None => Found::Missing,
                Some(_) if coming.contains(&page) => Found::Coming,
                Some(_) => Found::Here,
            };
            assert_eq!(found, expected);
            place.map(|at| order.remove(at));
            order.insert(0, page);
            if found == Found::Missing && rng.below(2) == 0 {
                cache.want(page);
                assert_eq!((cache.next_wanted(), cache.next_wanted()), (Some(page), None));
                coming.push(page);
            }
            if rng.below(3) == 0 {
                cache.change(page);
                if !dirty.contains(&page) {
                    dirty.push(page);
                }
            }
            let updates = coming.iter().filter(|page| dirty.contains(page)).count();
            assert_eq!(cache.is_behind(), updates >= 3);
            while coming.len() > 5 {
                cache.came(coming.remove(0));
            }
            while cache.is_over_full() {
                // Those that are passed over count as used.
                while coming.contains(order.last().expect("it is over-full")) {
                    let passed = order.pop().expect("as before");
                    order.insert(0, passed);
                }
                let leaves = order.pop().expect("not all are coming");
                let expected = match dirty.iter().position(|&page| page == leaves) {
                    Some(at) => Leaving::Dirty(dirty.remove(at)),
                    None => Leaving::Clean,
                };
                assert_eq!(cache.take_leaving(true), Some(expected));
            }
            assert_eq!(cache.held(), (order.len() as u32, dirty.len() as u32));
        }
        let MapCounters { hits, misses, dirtied, written, .. } = cache.counters;
        assert_eq!((hits + misses, dirtied), (20_000, written + dirty.len() as u64));
        assert!(written > 1_000 && hits > 1_000);
    }

    #[test]
    fn a_page_that_changed_stays_while_it_cannot_be_written() {
        let mut cache = MapCache::new(MapCacheConfig { pages: 1, page_sectors: 4, updates: 3 }, 100, 100);
        for page in [3, 4, 5] {
            cache.look_up(page);
            if page != 4 {
                cache.change(page);
            }
        }
        assert_eq!(cache.take_leaving(false), Some(Leaving::Clean), "page 4 has not changed");
        assert_eq!(cache.take_leaving(false), None);
        assert_eq!(cache.held(), (2, 2));
        assert!(matches!(cache.take_leaving(true), Some(Leaving::Dirty(3 | 5))));
        assert_eq!(cache.held(), (1, 1));
    }
}
