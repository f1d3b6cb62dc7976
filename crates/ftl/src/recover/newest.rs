//! The map under construction: the newest version of each LBA among all copies, whatever the order in which they are
//! found.

use super::found::{FoundBand, Logged};
use super::place::Card;
use crate::canary::{Canary, planted};
use crate::layout::{Layout, NONE, Ppa};
use format::Role;
use std::collections::BTreeMap;

/// A copy of a sector that has an entry in the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub index: u32,
    pub version: u64,
    pub ppa: u32,
}

/// How far a copy can be trusted; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Quality {
    /// The copy can't be read.
    Unreadable,
    /// Its stripe has lost more members than parity can restore.
    Broken,
    /// Its stripe has lost a member.
    Torn,
    /// Its stripe is whole.
    Whole,
}

pub(super) struct Newest {
    pub map: Vec<u32>,
    pub versions: Vec<u64>,
    user_sectors: u32,
    /// Stripes that are not whole, numbered through the card, ascending; and whether they have lost more members than
    /// parity can restore.
    torn: Vec<(u32, bool)>,
    /// Addresses that can't be read, ascending.
    unreadable: Vec<u32>,
    /// Addresses of lost sectors.
    lost: Vec<u32>,
    pub highest_version: u64,
    pub out_of_range: u64,
    /// Sectors whose newest version lies in the log only.
    pub logged: BTreeMap<u32, Logged>,
}

impl Newest {
    pub fn new(card: &Card) -> Newest {
        let entries = card.user_sectors as usize + card.hole_segments() as usize;
        Newest {
            map: vec![NONE; entries],
            versions: vec![0; entries],
            user_sectors: card.user_sectors,
            torn: Vec::new(),
            unreadable: Vec::new(),
            lost: Vec::new(),
            highest_version: 0,
            out_of_range: 0,
            logged: BTreeMap::new(),
        }
    }

    /// The sector as a copy of an entry of the map, if it is one.
    pub fn copy(&mut self, role: Role, lba: u32, version: u64, ppa: u32) -> Option<Copy> {
        let index = match role {
            Role::Data | Role::Lost => Some(lba).filter(|lba| *lba < self.user_sectors),
            Role::Holes => lba.checked_add(self.user_sectors),
            Role::Summary | Role::Checkpoint | Role::Parity | Role::Padding => return None,
        };
        self.highest_version = self.highest_version.max(version);
        let index = index.filter(|index| (*index as usize) < self.map.len());
        self.out_of_range += u64::from(index.is_none());
        if role == Role::Lost {
            self.lost.push(ppa);
        }
        Some(Copy { index: index?, version, ppa })
    }

    /// Adds a stripe that is not whole; its copies must be offered later. Stripes don't come in order: bands that a
    /// checkpoint makes doubtful come after all others.
    pub fn add_torn(&mut self, stripe: u32, is_broken: bool) {
        let at = self.torn.partition_point(|torn| torn.0 < stripe);
        self.torn.insert(at, (stripe, is_broken));
    }

    pub fn torn_stripes(&self) -> usize {
        self.torn.len()
    }

    /// Sets the addresses that can't be read; their copies must be offered later.
    pub fn set_unreadable(&mut self, mut addresses: Vec<u32>) {
        addresses.sort_unstable();
        self.unreadable = addresses;
    }

    /// Takes the sectors of the log that are newer than all copies in stripes, or whose copy there can't be read. To be
    /// called when all copies were offered.
    pub fn take_log(&mut self, sectors: BTreeMap<u32, Logged>) {
        for (lba, logged) in sectors {
            let at = lba as usize;
            self.highest_version = self.highest_version.max(logged.version);
            let is_same = self.map[at] != NONE && self.versions[at] == logged.version;
            let is_newer = self.map[at] == NONE || logged.version > self.versions[at];
            let is_needed = is_newer || is_same && self.is_unreadable(self.map[at]);
            if is_needed || planted(Canary::LogOverNewer) {
                self.map[at] = NONE;
                self.versions[at] = logged.version;
                self.logged.insert(lba, logged);
            }
        }
    }

    fn is_unreadable(&self, ppa: u32) -> bool {
        self.unreadable.binary_search(&ppa).is_ok()
    }

    /// LBAs whose newest version can't be read, or is a lost sector; ascending.
    pub fn errors(&mut self) -> Vec<u32> {
        if self.unreadable.is_empty() && self.lost.is_empty() {
            return Vec::new();
        }
        self.lost.sort_unstable();
        let lbas = (0..).zip(&self.map[..self.user_sectors as usize]);
        let fails = |ppa: u32| self.is_unreadable(ppa) || self.lost.binary_search(&ppa).is_ok();
        lbas.filter(|(_, ppa)| fails(**ppa)).map(|(lba, _)| lba).collect()
    }

    /// Entries of the map that point to what can't be read.
    pub fn unreadable_in_map(&self) -> u64 {
        if self.unreadable.is_empty() {
            return 0;
        }
        self.map.iter().filter(|ppa| self.is_unreadable(**ppa)).count() as u64
    }

    fn quality(&self, ppa: u32, layout: &Layout) -> Quality {
        let stripe = ppa / layout.stripe_sectors;
        match self.torn.binary_search_by_key(&stripe, |torn| torn.0) {
            Err(_) => Quality::Whole,
            Ok(_) if self.is_unreadable(ppa) => Quality::Unreadable,
            Ok(at) if self.torn[at].1 => Quality::Broken,
            Ok(_) => Quality::Torn,
        }
    }

    /// Takes the copy if it is newer than the present one, or the same version in a better place.
    #[inline]
    pub fn offer(&mut self, copy: Copy, layout: &Layout, bands: &[FoundBand]) {
        let at = copy.index as usize;
        let (present, version) = (self.map[at], self.versions[at]);
        let is_better = present == NONE
            || (copy.version > version) != (planted(Canary::VersionIgnored) && copy.version != version)
            || copy.version == version && self.is_better_place(copy.ppa, present, layout, bands);
        if is_better {
            self.map[at] = copy.ppa;
            self.versions[at] = copy.version;
        }
    }

    #[cold]
    fn is_better_place(&self, new: u32, present: u32, layout: &Layout, bands: &[FoundBand]) -> bool {
        let rank = |ppa: u32| {
            let sequence = bands[layout.band_of(Ppa(ppa)).0 as usize].sequence;
            (std::cmp::Reverse(self.quality(ppa, layout)), std::cmp::Reverse(sequence), ppa)
        };
        if planted(Canary::EarlierCopyBelieved) {
            let sequence = |ppa: u32| bands[layout.band_of(Ppa(ppa)).0 as usize].sequence;
            return sequence(new) < sequence(present);
        }
        rank(new) < rank(present)
    }
}
