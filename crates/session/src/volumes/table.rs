//! The volume table in memory and on the card.

use super::{Layout, TableDamage, TableDisk, VolumeError};
use crate::canary::{Canary, planted};
use crate::request::ReplyError;
use device::SECTOR_BYTES;
use format::{
    CardId, MAX_VOLUME_NAME_BYTES, MAX_VOLUMES, OWNERS_PER_PAGE, Owner, VOLUME_PAGE_BYTES, VolumeDirectory, VolumePage,
    VolumePageContents, VolumePageError, VolumeRecord,
};
use std::collections::BTreeSet;

/// The place of an extent of a volume that has none.
const NOWHERE: u32 = u32::MAX;

/// A volume, for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeStatus {
    /// The volume as the directory has it.
    pub record: VolumeRecord,
    /// The bytes of the extents that it has on the card.
    pub allocated_bytes: u64,
}

#[derive(Clone, Debug)]
struct Volume {
    record: VolumeRecord,
    /// The place of each of its extents on the card.
    places: Vec<u32>,
    allocated: u32,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct VolumeTable {
    card: CardId,
    layout: Layout,
    next_id: u32,
    volumes: Vec<Volume>,
    owners: Vec<Owner>,
    /// The number of the next writing of each page.
    sequences: Vec<u64>,
    /// Pages that say less on the card than in memory: extents were freed.
    behind: BTreeSet<u32>,
    /// A write of the table has failed: the card may know something that is not so.
    unsure: bool,
    /// Extents that nobody ever had, the first one last.
    unused: Vec<u32>,
    /// Extents that were freed.
    freed: Vec<u32>,
}

impl VolumeTable {
    /// Divides a card that holds nothing.
    pub fn format(disk: &mut impl TableDisk, card: CardId, size_bytes: u64) -> Result<VolumeTable, VolumeError> {
        let layout = Layout::of_card(size_bytes)?;
        disk.clear(0, layout.first_byte)?;
        let mut table = VolumeTable::empty(card, layout);
        table.find_places()?;
        table.write_directory(disk)?;
        Ok(table)
    }

    fn empty(card: CardId, layout: Layout) -> VolumeTable {
        VolumeTable {
            card,
            layout,
            next_id: 1,
            volumes: Vec::new(),
            owners: vec![Owner::Unused; layout.extents as usize],
            sequences: vec![1; layout.pages() as usize],
            behind: BTreeSet::new(),
            unsure: false,
            unused: Vec::new(),
            freed: Vec::new(),
        }
    }

    /// The table that lies on a card of this name and size.
    pub fn load(disk: &mut impl TableDisk, card: CardId, size_bytes: u64) -> Result<VolumeTable, VolumeError> {
        let layout = Layout::of_card(size_bytes)?;
        let mut table = VolumeTable::empty(card, layout);
        for page in 0..layout.pages() {
            let Some(contents) = table.read(disk, page)? else {
                match page {
                    // A page of owners that was never written is like one in which all are unused.
                    0 => return Err(VolumeError::Damaged { page, why: VolumePageError::Magic.into() }),
                    _ => continue,
                }
            };
            match contents {
                VolumePageContents::Directory(directory) if page == 0 => table.take_directory(directory)?,
                VolumePageContents::Owners(owners) if page > 0 => {
                    let extents = layout.extents_of(page);
                    let first = extents.start as usize;
                    table.owners[first..extents.end as usize].copy_from_slice(&owners[..extents.len()]);
                }
                _ => return Err(VolumeError::Damaged { page, why: TableDamage::Foreign }),
            }
        }
        table.find_places()?;
        Ok(table)
    }

    /// The newest whole copy of a page; `None`: it was never written.
    fn read(&mut self, disk: &mut impl TableDisk, page: u32) -> Result<Option<VolumePageContents>, VolumeError> {
        let bytes = disk.read(self.layout.copy_at(page, 0), 2 * VOLUME_PAGE_BYTES as u32)?;
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let (mut newest, mut why) = (None::<VolumePage>, TableDamage::Page(VolumePageError::Magic));
        for (copy, bytes) in (0..).zip(bytes.chunks_exact(VOLUME_PAGE_BYTES)) {
            match VolumePage::decode(bytes) {
                Ok(found) if (found.card, found.page, found.sequence % 2) != (self.card, page, copy) => {
                    why = TableDamage::Foreign;
                }
                Ok(found) if newest.as_ref().is_none_or(|other| other.sequence < found.sequence) => {
                    newest = Some(found)
                }
                Ok(_) => {}
                Err(VolumePageError::Magic) => {}
                Err(error) => why = error.into(),
            }
        }
        let newest = newest.ok_or(VolumeError::Damaged { page, why })?;
        self.sequences[page as usize] = newest.sequence + 1;
        Ok(Some(newest.contents))
    }

    fn take_directory(&mut self, directory: VolumeDirectory) -> Result<(), VolumeError> {
        if !self.layout.is_of(&directory) {
            return Err(VolumeError::Damaged { page: 0, why: TableDamage::OtherSize });
        }
        // Lists are made as long as the sizes say.
        if directory.volumes.iter().any(|record| self.check_size(record.size_bytes).is_err()) {
            return Err(VolumeError::Damaged { page: 0, why: VolumePageError::Field.into() });
        }
        self.next_id = directory.next_id;
        let extent_bytes = self.layout.extent_bytes;
        self.volumes.extend(directory.volumes.into_iter().map(|record| Volume::new(record, extent_bytes)));
        Ok(())
    }

    /// Finds the places of the volumes' extents from their owners. Extents that a volume has left are free.
    fn find_places(&mut self) -> Result<(), VolumeError> {
        for at in (0..self.layout.extents).rev() {
            match self.owners[at as usize] {
                Owner::Unused => self.unused.push(at),
                Owner::Freed => self.freed.push(at),
                Owner::Volume { volume, extent } => {
                    let of = self.volumes.iter_mut().find(|other| other.record.id == volume);
                    match of.and_then(|of| of.places.get_mut(extent as usize).map(|place| (place, &mut of.allocated))) {
                        None => self.let_go(at),
                        Some((place, _)) if *place != NOWHERE => {
                            let page = self.layout.page_of(at);
                            return Err(VolumeError::Damaged { page, why: TableDamage::OwnedTwice });
                        }
                        Some((place, allocated)) => {
                            *place = at;
                            *allocated += 1;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The layout of the card.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The volumes, in the order in which they were made.
    pub fn volumes(&self) -> impl Iterator<Item = VolumeStatus> + '_ {
        self.volumes.iter().map(|volume| VolumeStatus {
            record: volume.record.clone(),
            allocated_bytes: u64::from(volume.allocated) * self.layout.extent_bytes,
        })
    }

    /// Bytes of the extents that no volume has.
    pub fn free_bytes(&self) -> u64 {
        (self.unused.len() + self.freed.len()) as u64 * self.layout.extent_bytes
    }

    /// The bytes of a volume; `None`: it has gone.
    pub fn size_bytes(&self, id: u32) -> Option<u64> {
        self.volume(id).map(|volume| volume.record.size_bytes)
    }

    /// The place on the card of an extent of a volume, where it has one.
    pub fn place(&self, id: u32, extent: u32) -> Option<u32> {
        let place = *self.volume(id)?.places.get(extent as usize)?;
        (place != NOWHERE).then_some(place)
    }

    fn volume(&self, id: u32) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.record.id == id)
    }

    fn named(&self, name: &str) -> Result<usize, VolumeError> {
        let known = || self.volumes.iter().map(|volume| volume.record.name.as_str().into()).collect();
        let found = self.volumes.iter().position(|volume| volume.record.name == name);
        found.ok_or_else(|| VolumeError::Unknown { name: name.into(), known: known() })
    }

    /// Makes a volume. Its number.
    pub fn create(
        &mut self,
        disk: &mut impl TableDisk,
        name: &str,
        size_bytes: u64,
        uuid: [u8; 16],
    ) -> Result<u32, VolumeError> {
        check_name(name)?;
        self.check_size(size_bytes)?;
        if self.named(name).is_ok() {
            return Err(VolumeError::Exists { name: name.into() });
        }
        if self.volumes.len() == MAX_VOLUMES {
            return Err(VolumeError::TooMany);
        }
        let id = self.next_id;
        let record = VolumeRecord { id, name: name.into(), size_bytes, uuid };
        self.volumes.push(Volume::new(record, self.layout.extent_bytes));
        self.next_id += 1;
        self.write_directory(disk).inspect_err(|_| drop(self.volumes.pop()))?;
        Ok(id)
    }

    /// Gives a volume more addresses.
    pub fn grow(&mut self, disk: &mut impl TableDisk, name: &str, size_bytes: u64) -> Result<(), VolumeError> {
        let at = self.named(name)?;
        self.check_size(size_bytes)?;
        let before = self.volumes[at].record.size_bytes;
        if size_bytes < before {
            return Err(VolumeError::Shrinks { name: name.into(), size_bytes: before });
        }
        self.volumes[at].record.size_bytes = size_bytes;
        self.write_directory(disk).inspect_err(|_| self.volumes[at].record.size_bytes = before)?;
        let extents = size_bytes.div_ceil(self.layout.extent_bytes) as usize;
        self.volumes[at].places.resize(extents, NOWHERE);
        Ok(())
    }

    /// Deletes a volume: from now on it is gone, and its extents are free. Those that are not at rest, because a host has left
    /// requests in flight, are handed out only after the next start. The addresses of the others, for the caller to trim.
    pub fn delete(
        &mut self,
        disk: &mut impl TableDisk,
        name: &str,
        is_at_rest: impl Fn(u32) -> bool,
    ) -> Result<Vec<u64>, VolumeError> {
        let at = self.named(name)?;
        let volume = self.volumes.remove(at);
        if let Err(error) = self.write_directory(disk) {
            self.volumes.insert(at, volume);
            return Err(error);
        }
        let mut trimmed = Vec::new();
        for place in volume.places.into_iter().filter(|place| *place != NOWHERE) {
            if is_at_rest(place) {
                self.let_go(place);
                trimmed.push(self.layout.extent_at(place));
            } else {
                self.owners[place as usize] = Owner::Freed;
                self.behind.insert(self.layout.page_of(place));
            }
        }
        Ok(trimmed)
    }

    /// Gives an extent of a volume a place on the card; its owner is durable when this returns. `None`: the card is full.
    pub fn allocate(&mut self, disk: &mut impl TableDisk, id: u32, extent: u32) -> Result<Option<u32>, ReplyError> {
        if let Some(place) = self.place(id, extent) {
            return Ok(Some(place));
        }
        if !planted(Canary::FreedLate) {
            // The same part of the volume may have had another place, whose entry on the card is older than that.
            self.settle(disk)?;
        }
        let (place, was_freed) = match (self.unused.pop(), self.freed.last()) {
            (Some(place), _) => (place, false),
            (None, Some(place)) => (*place, true),
            (None, None) => return Ok(None),
        };
        if was_freed && !planted(Canary::FreedNotCleared) {
            disk.clear(self.layout.extent_at(place), self.layout.extent_bytes)?;
        }
        let before = std::mem::replace(&mut self.owners[place as usize], Owner::Volume { volume: id, extent });
        let page = self.layout.page_of(place);
        if !planted(Canary::OwnerLate)
            && let Err(error) = self.write_pages(disk, &[page])
        {
            self.owners[place as usize] = before;
            if !was_freed {
                self.unused.push(place);
            }
            return Err(error);
        }
        if was_freed {
            self.freed.pop();
        }
        let of = self.volumes.iter_mut().find(|volume| volume.record.id == id).expect("a volume asks that is there");
        of.places[extent as usize] = place;
        of.allocated += 1;
        Ok(Some(place))
    }

    /// Takes the place of an extent of a volume back. All of the extent was trimmed, nothing has been asked of it since, and
    /// nothing is in flight to it: else a late request would meet the next owner.
    pub fn free(&mut self, id: u32, extent: u32) {
        let Some(of) = self.volumes.iter_mut().find(|volume| volume.record.id == id) else { return };
        let place = std::mem::replace(&mut of.places[extent as usize], NOWHERE);
        if place != NOWHERE {
            of.allocated -= 1;
            self.let_go(place);
        }
    }

    fn let_go(&mut self, place: u32) {
        self.owners[place as usize] = Owner::Freed;
        self.freed.push(place);
        self.behind.insert(self.layout.page_of(place));
    }

    /// A write of the table has failed. Nothing may be asked of volumes, and nothing acknowledged, before
    /// [`VolumeTable::settle`] has worked: the card might say that a volume is gone that goes on.
    pub fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// Writes what the card does not know yet.
    pub fn settle(&mut self, disk: &mut impl TableDisk) -> Result<(), ReplyError> {
        let behind: Vec<u32> = self.behind.iter().copied().collect();
        self.write_pages(disk, &behind)?;
        self.behind.clear();
        self.unsure = false;
        Ok(())
    }

    fn write_directory(&mut self, disk: &mut impl TableDisk) -> Result<(), VolumeError> {
        Ok(self.write_pages(disk, &[0])?)
    }

    fn write_pages(&mut self, disk: &mut impl TableDisk, pages: &[u32]) -> Result<(), ReplyError> {
        if pages.is_empty() {
            return Ok(());
        }
        let encoded: Vec<(u64, [u8; VOLUME_PAGE_BYTES])> = pages.iter().map(|page| self.encoded(*page)).collect();
        let pieces: Vec<(u64, &[u8])> = encoded.iter().map(|(at, bytes)| (*at, &bytes[..])).collect();
        let result = disk.write(&pieces);
        // A copy that may be torn is the one that is written next.
        let step = if result.is_ok() || planted(Canary::LastCopyLost) { 1 } else { 2 };
        pages.iter().for_each(|page| self.sequences[*page as usize] += step);
        if result.is_err() {
            self.behind.extend(pages);
            self.unsure = true;
        }
        result
    }

    fn encoded(&self, page: u32) -> (u64, [u8; VOLUME_PAGE_BYTES]) {
        let sequence = self.sequences[page as usize];
        let contents = match page {
            0 => VolumePageContents::Directory(VolumeDirectory {
                extent_bytes: self.layout.extent_bytes,
                extents: self.layout.extents,
                next_id: self.next_id,
                volumes: self.volumes.iter().map(|volume| volume.record.clone()).collect(),
            }),
            _ => {
                let extents = self.layout.extents_of(page);
                let mut owners = self.owners[extents.start as usize..extents.end as usize].to_vec();
                owners.resize(OWNERS_PER_PAGE, Owner::Unused);
                VolumePageContents::Owners(owners)
            }
        };
        let page_bytes = VolumePage { card: self.card, page, sequence, contents }.encode();
        (self.layout.copy_at(page, sequence), page_bytes)
    }

    /// A volume has as many extents as its entry can number, and far more bytes than the card, if it is so asked.
    fn check_size(&self, size_bytes: u64) -> Result<(), VolumeError> {
        let max_bytes = MAX_VOLUME_CARDS * u64::from(self.layout.extents) * self.layout.extent_bytes;
        match size_bytes == 0 || !size_bytes.is_multiple_of(SECTOR_BYTES) || size_bytes > max_bytes {
            true => Err(VolumeError::Size { size_bytes, max_bytes }),
            false => Ok(()),
        }
    }
}

/// The most times that a volume may be as large as its card: a list of places in memory is made for it.
const MAX_VOLUME_CARDS: u64 = 16;

impl Volume {
    fn new(record: VolumeRecord, extent_bytes: u64) -> Volume {
        let extents = record.size_bytes.div_ceil(extent_bytes) as usize;
        Volume { record, places: vec![NOWHERE; extents], allocated: 0 }
    }
}

fn check_name(name: &str) -> Result<(), VolumeError> {
    let allowed = |letter: u8| letter.is_ascii_alphanumeric() || b"._-".contains(&letter);
    let is_sound = (1..=MAX_VOLUME_NAME_BYTES).contains(&name.len())
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && name.bytes().all(allowed);
    if is_sound { Ok(()) } else { Err(VolumeError::Name { name: name.into() }) }
}
