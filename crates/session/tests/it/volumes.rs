//! The volume table on a card that loses power, and refuses writes, wherever it is asked.

use device::{Rng, SECTOR_BYTES};
use format::CardId;
use session::{Layout, ReplyError, TableDamage, TableDisk, VolumeError, VolumeTable};
use std::collections::BTreeMap;

const SIZE_BYTES: u64 = 9 << 20;
const CARD: CardId = CardId([7; 16]);
/// Sectors of each extent that the test writes; the others are as good as these.
const SECTORS: u64 = 3;
/// The card of the lives, whose table has two pages of owners, and the extents that a volume takes of it which stays: the
/// last ones of the first page and the first ones of the second are left.
const LIVES_BYTES: u64 = 514 << 20;
const FILLED: u32 = 502;

type Sector = Vec<u8>;

/// A card with a volatile cache, whose power goes after so many more questions of the table.
#[derive(Default)]
struct Card {
    durable: BTreeMap<u64, Sector>,
    /// Writes (and trims) that no flush has covered, in their order.
    cached: Vec<(u64, Option<Sector>)>,
    cut_in: Option<u64>,
    /// A write of the table fails now and then, and the card goes on.
    refuses: bool,
    rng: Option<Rng>,
}

impl Card {
    fn chance(&mut self, of: u64) -> bool {
        self.rng.as_mut().is_some_and(|rng| rng.below(of) == 0)
    }

    fn get(&self, sector: u64) -> Option<&Sector> {
        match self.cached.iter().rev().find(|(at, _)| *at == sector) {
            Some((_, value)) => value.as_ref(),
            None => self.durable.get(&sector),
        }
    }

    fn flush(&mut self) {
        for (sector, value) in self.cached.drain(..) {
            match value {
                Some(bytes) => drop(self.durable.insert(sector, bytes)),
                None => drop(self.durable.remove(&sector)),
            }
        }
    }

    /// Any part of it may be durable that no flush has covered.
    fn lose_power(&mut self) {
        let mut rng = self.rng.take().expect("only cards of the lives lose power");
        self.cached.retain(|_| rng.below(2) == 0);
        self.rng = Some(rng);
        self.flush();
        self.cut_in = None;
    }

    fn power(&mut self) -> Result<(), ReplyError> {
        match &mut self.cut_in {
            Some(0) => Err(ReplyError::NoPower),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl TableDisk for Card {
    fn read(&mut self, offset_bytes: u64, len_bytes: u32) -> Result<Vec<u8>, ReplyError> {
        let sectors = offset_bytes / SECTOR_BYTES..(offset_bytes + u64::from(len_bytes)) / SECTOR_BYTES;
        let zeroes = vec![0; SECTOR_BYTES as usize];
        Ok(sectors.flat_map(|sector| self.get(sector).unwrap_or(&zeroes).clone()).collect())
    }

    fn write(&mut self, pieces: &[(u64, &[u8])]) -> Result<(), ReplyError> {
        let refused = match self.power() {
            Err(error) => Some(error),
            Ok(()) if self.refuses && self.chance(8) => Some(ReplyError::Halted),
            Ok(()) => None,
        };
        for (offset_bytes, bytes) in pieces {
            let sector = offset_bytes / SECTOR_BYTES;
            let bytes = match refused {
                None => bytes.to_vec(),
                Some(_) if self.chance(3) => continue,
                Some(_) if self.chance(2) => bytes.to_vec(),
                // Half of it is new.
                Some(_) => {
                    let mut torn = self.get(sector).cloned().unwrap_or_else(|| vec![0; bytes.len()]);
                    torn[..2048].copy_from_slice(&bytes[..2048]);
                    torn
                }
            };
            self.durable.insert(sector, bytes);
        }
        refused.map_or(Ok(()), Err)
    }

    fn clear(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), ReplyError> {
        let refused = self.power();
        let sectors = offset_bytes / SECTOR_BYTES..(offset_bytes + len_bytes) / SECTOR_BYTES;
        let there: Vec<u64> = self.durable.range(sectors.clone()).map(|(sector, _)| *sector).collect();
        self.cached.retain(|(sector, _)| !sectors.contains(sector));
        for sector in there {
            if refused.is_ok() || self.chance(2) {
                self.durable.remove(&sector);
            }
        }
        refused
    }
}

/// The values that a sector of a volume may have: the durable one first, then those that no flush has covered.
type Values = Vec<u64>;

/// A volume as its host knows it: its extents, with their sectors.
struct Model {
    name: String,
    id: u32,
    sectors: BTreeMap<(u32, u64), Values>,
    extents: u32,
}

struct Life {
    card: Card,
    table: VolumeTable,
    models: Vec<Model>,
    rng: Rng,
    stamps: u64,
    /// The name of a volume that was being made or deleted when the power went.
    unsure: Option<String>,
}

impl Life {
    fn new(seed: u64) -> Life {
        let mut card = Card { rng: Some(Rng::stream(seed, "card")), ..Card::default() };
        let mut table = VolumeTable::format(&mut card, CARD, LIVES_BYTES).unwrap();
        let filler = table.create(&mut card, "filler", u64::from(FILLED) << 20, [0; 16]).unwrap();
        for extent in 0..FILLED {
            table.allocate(&mut card, filler, extent).unwrap().unwrap();
        }
        Life { card, table, models: Vec::new(), rng: Rng::stream(seed, "hosts"), stamps: 0, unsure: None }
    }

    fn step(&mut self) {
        if self.rng.below(12) == 0 {
            self.card.cut_in = Some(self.rng.below(4));
        }
        self.card.refuses = self.rng.below(4) == 0;
        if self.table.is_unsure() {
            match self.table.settle(&mut self.card) {
                Ok(()) => self.unsure = None,
                Err(ReplyError::NoPower) => self.restart(),
                Err(_) => return,
            }
        }
        let done = match self.rng.below(16) {
            0 => self.create(),
            1 => self.delete(),
            2 => self.grow(),
            3 => {
                self.card.flush();
                for values in self.models.iter_mut().flat_map(|model| model.sectors.values_mut()) {
                    values.drain(..values.len() - 1);
                }
                Ok(())
            }
            4..7 => {
                self.trim();
                Ok(())
            }
            7 => Err(VolumeError::Card(ReplyError::NoPower)),
            _ => self.write(),
        };
        match done {
            Err(VolumeError::Card(ReplyError::NoPower)) => self.restart(),
            Err(VolumeError::Card(ReplyError::Halted)) => {}
            Ok(()) => self.unsure = None,
            Err(other) => panic!("{other}"),
        }
        self.check();
    }

    fn create(&mut self) -> Result<(), VolumeError> {
        if self.models.len() == 3 {
            return Ok(());
        }
        self.stamps += 1;
        let (name, extents) = (format!("v{}", self.stamps), 1 + self.rng.below(4) as u32);
        self.unsure = Some(name.clone());
        let size_bytes = u64::from(extents) * self.table.layout().extent_bytes - SECTOR_BYTES;
        let id = self.table.create(&mut self.card, &name, size_bytes, [self.stamps as u8; 16])?;
        self.models.push(Model { name, id, sectors: BTreeMap::new(), extents });
        Ok(())
    }

    fn delete(&mut self) -> Result<(), VolumeError> {
        if self.models.is_empty() {
            return Ok(());
        }
        let at = self.rng.below(self.models.len() as u64) as usize;
        let name = self.models[at].name.clone();
        self.unsure = Some(name.clone());
        self.table.delete(&mut self.card, &name, |_| true)?;
        self.models.remove(at);
        Ok(())
    }

    fn grow(&mut self) -> Result<(), VolumeError> {
        let Some(model) = self.models.first_mut() else { return Ok(()) };
        if model.extents < 6 {
            let size_bytes = u64::from(model.extents + 1) * self.table.layout().extent_bytes;
            self.table.grow(&mut self.card, &model.name, size_bytes)?;
            model.extents += 1;
        }
        Ok(())
    }

    fn somewhere(&mut self) -> Option<(usize, u32, u64)> {
        if self.models.is_empty() {
            return None;
        }
        let at = self.rng.below(self.models.len() as u64) as usize;
        let extent = self.rng.below(self.models[at].extents.into()) as u32;
        Some((at, extent, self.rng.below(SECTORS)))
    }

    fn write(&mut self) -> Result<(), VolumeError> {
        let Some((at, extent, sector)) = self.somewhere() else { return Ok(()) };
        let Some(place) = self.table.allocate(&mut self.card, self.models[at].id, extent)? else { return Ok(()) };
        self.stamps += 1;
        let mut bytes = vec![0; SECTOR_BYTES as usize];
        bytes[..8].copy_from_slice(&self.stamps.to_le_bytes());
        let on_card = self.table.layout().extent_at(place) / SECTOR_BYTES + sector;
        self.card.cached.push((on_card, Some(bytes)));
        let is_durable = self.rng.below(3) == 0;
        let values = self.models[at].sectors.entry((extent, sector)).or_insert_with(|| vec![0]);
        values.push(self.stamps);
        if is_durable {
            // As with FUA: this one alone.
            let (_, bytes) = self.card.cached.pop().unwrap();
            self.card.cached.retain(|(at, _)| *at != on_card);
            self.card.durable.insert(on_card, bytes.unwrap());
            values.drain(..values.len() - 1);
        }
        Ok(())
    }

    /// Trims all of an extent, which is freed then.
    fn trim(&mut self) {
        let Some((at, extent, _)) = self.somewhere() else { return };
        let id = self.models[at].id;
        let Some(place) = self.table.place(id, extent) else { return };
        let first = self.table.layout().extent_at(place) / SECTOR_BYTES;
        for sector in 0..SECTORS {
            self.card.cached.push((first + sector, None));
            self.models[at].sectors.entry((extent, sector)).or_insert_with(|| vec![0]).push(0);
        }
        self.table.free(id, extent);
    }

    fn restart(&mut self) {
        self.card.lose_power();
        self.table = VolumeTable::load(&mut self.card, CARD, LIVES_BYTES).unwrap();
        if let Some(name) = self.unsure.take() {
            // It was being made or deleted: both are right, and the next volume of this name would be another one.
            let is_there = self.table.volumes().find(|volume| volume.record.name == name);
            match is_there {
                None => self.models.retain(|model| model.name != name),
                Some(volume) if self.models.iter().all(|model| model.name != name) => {
                    let extents = volume.record.size_bytes.div_ceil(self.table.layout().extent_bytes) as u32;
                    self.models.push(Model { name, id: volume.record.id, sectors: BTreeMap::new(), extents });
                }
                Some(_) => {}
            }
        }
        let sizes: Vec<(u32, u64)> =
            self.table.volumes().skip(1).map(|volume| (volume.record.id, volume.record.size_bytes)).collect();
        assert_eq!(
            sizes.iter().map(|(id, _)| *id).collect::<std::collections::BTreeSet<_>>(),
            self.models.iter().map(|model| model.id).collect(),
        );
        for model in &mut self.models {
            // A grow may have been cut as well.
            let (_, size_bytes) = sizes.iter().find(|(id, _)| *id == model.id).unwrap();
            let extents = size_bytes.div_ceil(self.table.layout().extent_bytes) as u32;
            assert!((model.extents..=model.extents + 1).contains(&extents), "{} of {}", extents, model.extents);
            model.extents = extents;
        }
        for at in 0..self.models.len() {
            let keys: Vec<(u32, u64)> = self.models[at].sectors.keys().copied().collect();
            for key in keys {
                let value = self.value(self.models[at].id, key);
                let model = &mut self.models[at];
                let values = model.sectors.get_mut(&key).unwrap();
                assert!(values.contains(&value), "{} {key:?}: {value} of {values:?}", model.name);
                *values = vec![value];
            }
        }
    }

    fn value(&self, id: u32, (extent, sector): (u32, u64)) -> u64 {
        let Some(place) = self.table.place(id, extent) else { return 0 };
        let sector = self.table.layout().extent_at(place) / SECTOR_BYTES + sector;
        self.card.get(sector).map_or(0, |bytes| u64::from_le_bytes(bytes[..8].try_into().unwrap()))
    }

    /// All volumes read what was written last, and all room is somewhere.
    fn check(&self) {
        for model in &self.models {
            for extent in 0..model.extents {
                for sector in 0..SECTORS {
                    let newest = model.sectors.get(&(extent, sector)).and_then(|values| values.last()).copied();
                    let value = self.value(model.id, (extent, sector));
                    assert_eq!(value, newest.unwrap_or(0), "{} {extent} {sector}", model.name);
                }
            }
        }
        let allocated: u64 = self.table.volumes().map(|volume| volume.allocated_bytes).sum();
        let layout = self.table.layout();
        assert_eq!(allocated + self.table.free_bytes(), u64::from(layout.extents) * layout.extent_bytes);
    }
}

#[test]
pub fn volumes_keep_what_was_flushed_and_never_read_each_others() {
    for seed in 0..200 {
        let mut life = Life::new(seed);
        for _ in 0..120 {
            life.step();
        }
    }
}

#[test]
fn what_can_not_be_a_volume_is_refused_and_leaves_nothing() {
    let mut card = Card::default();
    let mut table = VolumeTable::format(&mut card, CARD, SIZE_BYTES).unwrap();
    let max_bytes = 16 * u64::from(table.layout().extents) * table.layout().extent_bytes;
    for name in ["", ".hidden", "a b", "a/b", "über", &"n".repeat(65)] {
        assert!(matches!(table.create(&mut card, name, 4096, [0; 16]), Err(VolumeError::Name { .. })), "{name:?}");
    }
    for size_bytes in [0, 4095, max_bytes + 4096, u64::MAX] {
        let refused = table.create(&mut card, "a", size_bytes, [0; 16]);
        assert_eq!(refused, Err(VolumeError::Size { size_bytes, max_bytes }));
    }
    table.create(&mut card, "a", 8192, [0; 16]).unwrap();
    assert_eq!(table.create(&mut card, "a", 8192, [0; 16]), Err(VolumeError::Exists { name: "a".into() }));
    assert_eq!(table.grow(&mut card, "a", 4096), Err(VolumeError::Shrinks { name: "a".into(), size_bytes: 8192 }));
    let unknown = table.grow(&mut card, "b", 4096).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no volume \"b\" (there are a)");
    for number in 1..40 {
        table.create(&mut card, &format!("v{number}"), 4096, [0; 16]).unwrap();
    }
    assert_eq!(table.create(&mut card, "more", 4096, [0; 16]), Err(VolumeError::TooMany));
    let table = VolumeTable::load(&mut card, CARD, SIZE_BYTES).unwrap();
    assert_eq!(table.volumes().count(), 40);
}

#[test]
fn a_full_card_says_so_and_room_that_was_freed_is_had_again_as_zeroes() {
    let mut card = Card::default();
    let mut table = VolumeTable::format(&mut card, CARD, SIZE_BYTES).unwrap();
    let extents = table.layout().extents;
    let id = table.create(&mut card, "wide", 16 << 20, [0; 16]).unwrap();
    for extent in 0..extents {
        let place = table.allocate(&mut card, id, extent).unwrap().unwrap();
        card.durable.insert(table.layout().extent_at(place) / SECTOR_BYTES, vec![1; 4096]);
    }
    assert_eq!(table.allocate(&mut card, id, extents), Ok(None));
    assert_eq!(table.free_bytes(), 0);
    table.free(id, 3);
    let place = table.allocate(&mut card, id, extents).unwrap().unwrap();
    assert_eq!(card.read(table.layout().extent_at(place), 4096).unwrap(), vec![0; 4096]);
    assert_eq!(table.place(id, 3), None);
}

#[test]
fn a_table_of_another_card_or_size_and_one_without_a_whole_copy_are_not_believed() {
    let mut card = Card::default();
    let mut table = VolumeTable::format(&mut card, CARD, SIZE_BYTES).unwrap();
    let id = table.create(&mut card, "a", 8 << 20, [0; 16]).unwrap();
    let why = |card: &mut Card, id, size_bytes| match VolumeTable::load(card, id, size_bytes) {
        Err(VolumeError::Damaged { page, why }) => (page, why),
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&mut card, CardId([8; 16]), SIZE_BYTES), (0, TableDamage::Foreign));
    assert_eq!(why(&mut card, CARD, SIZE_BYTES + (1 << 20)), (0, TableDamage::OtherSize));
    table.allocate(&mut card, id, 0).unwrap();
    table.allocate(&mut card, id, 1).unwrap();
    let page = Layout::of_card(SIZE_BYTES).unwrap().copy_at(1, 0) / SECTOR_BYTES;
    card.durable.get_mut(&page).unwrap()[100] ^= 1;
    // The other copy is an older one: it is whole, and the newest that there is.
    VolumeTable::load(&mut card, CARD, SIZE_BYTES).unwrap();
    card.durable.get_mut(&(page + 1)).unwrap()[100] ^= 1;
    assert_eq!(why(&mut card, CARD, SIZE_BYTES).0, 1);
}
