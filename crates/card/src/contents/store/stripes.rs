//! Stripes on their way to flash: their units with spare areas and parity.

use super::place::unit_start;
use super::programs::Programs;
use super::{Content, Store};
use format::{Role, Spare, SummaryEntry, encode_summary, entries_per_sector, payload_crc};
use ftl::canary::{Canary, planted};
use ftl::recover::{Opening, Rebuild};
use ftl::{BandId, Ftl, Lba, Ppa, SealedStripe, StripeId, StripeKind, UnitAddress};
use media::{MediaError, Unit};

/// Units that are kept to be filled again: as many as are usually on their way.
const MAX_SPARE_UNITS: usize = 256;

/// A module of which so many programs in a row are refused by what holds it is given up: block after block would be
/// retired, and with them the room that stripes that failed go to.
const MAX_REFUSED: u32 = 3;

impl Store {
    /// The common part of the spare areas of a stripe's sectors.
    pub fn spare_of(&self, ftl: &Ftl, stripe: StripeId) -> Spare {
        let Opening { sequence, slc, stream } = ftl.opening(stripe.band);
        Spare {
            card: self.headers.common.card.short(),
            role: Role::Padding,
            slc,
            stream,
            lba: 0,
            version: 0,
            band: stripe.band.0,
            band_sequence: sequence,
            stripe: stripe.index,
            unit: 0,
            sector: 0,
            members: ftl.stripe_members(stripe),
            payload_crc: 0,
            member_role: 0,
            member_crc: 0,
        }
    }

    /// Makes the units of a stripe.
    pub fn build(&mut self, ftl: &Ftl, sealed: SealedStripe, index: u32) {
        let used = ftl.stripe_units(sealed.stripe);
        let layout = *ftl.layout();
        let shape = *self.media.shape();
        let base = self.spare_of(ftl, sealed.stripe);
        let sequence = base.band_sequence;
        let (entries_of, mut entries) = std::mem::take(&mut self.entries[sealed.stream as usize]);
        if entries_of != sequence {
            entries.clear();
        }
        let sectors = layout.unit_sectors;
        let mut units: Vec<Option<Unit>> = vec![None; layout.width as usize];
        let mut spares = std::mem::take(&mut self.memory.spares);
        spares.clear();
        let mut summary_index = ftl.summary_ordinal(sealed.stripe);
        for unit in (0..layout.width).filter(|unit| used.data >> unit & 1 == 1) {
            let start = unit_start(&layout, sealed.stripe, unit);
            let mut built = self.take_unit(&shape);
            for sector in 0..sectors {
                let mut spare = Spare { unit: unit as u8, sector: sector as u8, ..base };
                match sealed.kind {
                    StripeKind::Data => {
                        let content = self.buffered(Ppa(start.0 + sector));
                        let entry = match content {
                            Some(content) => {
                                built.set_payload(sector as usize, &content.payload, content.payload_crc);
                                spare.payload_crc = content.payload_crc;
                                spare.role = content.role;
                                spare.version = content.version;
                                spare.lba = match content.role {
                                    Role::Holes => ftl.segment_of(content.lba).expect("it describes a segment"),
                                    _ => content.lba.0,
                                };
                                SummaryEntry { lba: spare.lba, role: spare.role as u8, version: spare.version }
                            }
                            None => {
                                built.zero_payload(sector as usize);
                                spare.payload_crc = payload_crc(built.payload(sector as usize));
                                SummaryEntry { lba: 0, role: 0, version: 0 }
                            }
                        };
                        entries.push(entry);
                    }
                    StripeKind::Summary => {
                        let mut payload = std::mem::take(&mut self.memory.summary);
                        payload.clear();
                        payload.resize(shape.payload_bytes as usize, 0);
                        let per_sector = entries_per_sector(payload.len());
                        let first = (summary_index as usize * per_sector).min(entries.len());
                        let last = (first + per_sector).min(entries.len());
                        encode_summary(&entries[first..last], &mut payload);
                        spare.role = Role::Summary;
                        spare.lba = (summary_index as usize * per_sector) as u32;
                        spare.version = spare.band_sequence;
                        spare.payload_crc = payload_crc(&payload);
                        built.set_payload(sector as usize, &self.payload_of(&payload), spare.payload_crc);
                        self.memory.summary = payload;
                        summary_index += 1;
                    }
                }
                spare.encode(built.spare_mut(sector as usize));
                spares.push(spare);
            }
            units[unit as usize] = Some(built);
        }
        if used.parity != 0 {
            let unit = used.parity.trailing_zeros();
            let mut parity = self.take_unit(&shape);
            let mut folded = self.memory.folded.take().unwrap_or_else(|| Rebuild::new(shape.payload_bytes as usize));
            for sector in 0..sectors as usize {
                let of_sector = spares.iter().filter(|spare| usize::from(spare.sector) == sector);
                let members = of_sector.filter(|spare| !(planted(Canary::ParityWrong) && used.data >> spare.unit == 1));
                folded.set(members.map(|spare| {
                    let unit = units[usize::from(spare.unit)].as_ref().expect("it was just built");
                    (spare, unit.payload(sector))
                }));
                let spare = folded.parity(&Spare { unit: unit as u8, sector: sector as u8, ..base });
                spare.encode(parity.spare_mut(sector));
                parity.set_payload(sector, &self.payload_of(folded.payload()), spare.payload_crc);
            }
            self.memory.folded = Some(folded);
            units[unit as usize] = Some(parity);
        }
        self.memory.spares = spares;
        self.entries[sealed.stream as usize] = (sequence, entries);
        self.programs.insert(index, Programs { sealed, units, failed: 0 });
    }

    /// The contents of a unit that is being programmed.
    pub fn program_contents(&self, index: u32, at: UnitAddress, width: u32) -> Option<&Unit> {
        self.programs.get(&index)?.units[(at.die % width) as usize].as_ref()
    }

    /// A unit to be filled: its contents and states are those of another.
    fn take_unit(&mut self, shape: &media::Shape) -> Unit {
        self.memory.units.pop().unwrap_or_else(|| Unit::new(shape))
    }

    /// Where a unit lies on the media.
    pub fn place(&self, at: UnitAddress) -> Option<media::UnitAt> {
        self.unit_at(at)
    }

    /// Tells the medium of a program to come.
    pub fn begin_program(&mut self, index: u32, at: UnitAddress, width: u32) {
        let place = self.unit_at(at).filter(|_| !self.blocks.failing.contains(&(at.band.0, at.die)));
        let contents =
            self.programs.get(&index).and_then(|programs| programs.units[(at.die % width) as usize].as_ref());
        if let (Some(place), Some(contents)) = (place, contents) {
            self.media.begin_program(place, contents);
        }
    }

    /// Programs a unit of a stripe.
    pub fn program(&mut self, index: u32, at: UnitAddress, width: u32) -> Result<(), MediaError> {
        let unit = at.die % width;
        let programs = self.programs.get_mut(&index).expect("the stripe is being programmed");
        let mut contents = programs.units[unit as usize].take().expect("a unit is programmed once");
        let done = match (self.unit_at(at), self.blocks.failing.contains(&(at.band.0, at.die))) {
            (None, _) => Err(MediaError::NoModule),
            (_, true) => Err(MediaError::Failed),
            (Some(place), false) => self.media.program(place, &contents),
        };
        contents.forget(&mut self.memory.payloads);
        self.memory.payloads.truncate(self.memory.max_payloads);
        self.memory.units.push(contents);
        self.memory.units.truncate(MAX_SPARE_UNITS);
        let refused = &mut self.history.refused[at.die as usize % self.slots.len()];
        match done {
            Ok(()) => *refused = 0,
            Err(MediaError::Host | MediaError::NoSpace) => *refused += 1,
            Err(_) => {}
        }
        if done.is_err() {
            self.programs.get_mut(&index).expect("checked").failed |= 1 << unit;
        }
        if done == Err(MediaError::Failed) {
            self.counters.program_failures += u64::from(self.blocks.failing.insert((at.band.0, at.die)));
        }
        done
    }

    /// The file or drive that holds a die's module refuses all that is programmed, and not only a block or two.
    pub fn refuses(&self, die: u32) -> bool {
        self.history.refused[die as usize % self.slots.len()] >= MAX_REFUSED
    }

    /// Stripes of a band that are being programmed.
    pub fn in_programming(&self, band: BandId) -> impl Iterator<Item = u32> {
        let stripes = self.programs.values().map(|programs| programs.sealed.stripe);
        stripes.filter(move |stripe| stripe.band == band).map(|stripe| stripe.index)
    }

    /// A module is gone: what was to be programmed on it, and is not yet, has failed.
    pub fn fail_programs_on(&mut self, logical: u32) {
        let modules = self.slots.len() as u32;
        for Programs { sealed, units, failed } in self.programs.values_mut() {
            // A band's units go to one die after the other, and with the dies to one module after the other.
            let first = sealed.stripe.index * units.len() as u32;
            for (unit, contents) in (0..).zip(units) {
                if (first + unit) % modules == logical && contents.take().is_some() {
                    *failed |= 1 << unit;
                }
            }
        }
    }

    /// Sectors of the stripes being programmed that will have to go elsewhere.
    pub fn sectors_to_fail(&self, ftl: &Ftl) -> u32 {
        let failed =
            self.programs.values().filter(|programs| programs.failed != 0).map(|programs| programs.sealed.stripe);
        let buffered = |ppa: &Ppa| self.buffer.get(*ppa).is_some();
        failed.map(|stripe| data_addresses(ftl, stripe).filter(buffered).count() as u32).sum()
    }

    /// All units of a stripe were programmed, or failed: takes its contents out of the buffer, by address. The flag says
    /// that all of it is on flash.
    pub fn finish_stripe(&mut self, ftl: &Ftl, index: u32) -> (bool, SealedStripe, Vec<(Ppa, Content)>) {
        let programs = self.programs.remove(&index).expect("the stripe was being programmed");
        let addresses = data_addresses(ftl, programs.sealed.stripe);
        let contents = addresses.filter_map(|ppa| Some((ppa, self.buffer.take(ppa)?))).collect();
        (programs.failed == 0, programs.sealed, contents)
    }

    /// Content for an LBA that can't be read any more.
    pub fn lost(&mut self, lba: Lba) -> Content {
        self.counters.lost_sectors += 1;
        let version = self.take_version();
        let payload = vec![0; self.payload_bytes()].into();
        Content::new(Role::Lost, version, lba, payload)
    }
}

/// Addresses of a stripe's data.
fn data_addresses(ftl: &Ftl, stripe: StripeId) -> impl Iterator<Item = Ppa> + use<> {
    let (layout, data) = (*ftl.layout(), ftl.stripe_units(stripe).data);
    let sectors = move |unit: u32| {
        let start = unit_start(&layout, stripe, unit);
        (start.0..start.0 + layout.unit_sectors).map(Ppa)
    };
    (0..layout.width).filter(move |unit| data >> unit & 1 == 1).flat_map(sectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny;
    use ftl::StreamId;
    use media::{BlockAt, Fault};

    /// Two of three units, of two sectors each.
    const STRIPE_SECTORS: u32 = 4;

    fn card() -> (Ftl, Store) {
        let card = tiny::card();
        (card.core.ftl, card.contents.store)
    }

    /// Fills so many stripes and builds them; they are numbered as they are in their band.
    fn build(ftl: &mut Ftl, store: &mut Store, stripes: u32) -> Vec<StripeId> {
        for lba in (0..stripes * STRIPE_SECTORS).map(Lba) {
            let version = store.take_version();
            let payload = vec![lba.0 as u8; tiny::PAYLOAD_BYTES].into();
            store.put(ftl.write(lba), Content::new(Role::Data, version, lba, payload));
        }
        let mut built = Vec::new();
        while let Some(sealed) = ftl.pop_sealed() {
            assert_eq!(sealed.stream, StreamId::Host);
            store.build(ftl, sealed, sealed.stripe.index);
            built.push(sealed.stripe);
        }
        assert!(built.iter().map(|stripe| stripe.index).eq(0..stripes));
        built
    }

    fn units_of<'a>(ftl: &'a Ftl, stripe: StripeId) -> impl Iterator<Item = UnitAddress> + 'a {
        (0..ftl.layout().width).map(move |unit| ftl.layout().unit_address(stripe, unit))
    }

    #[test]
    fn a_stripe_all_of_which_was_programmed_leaves_the_buffer_as_it_came() {
        let (mut ftl, mut store) = card();
        for stripe in build(&mut ftl, &mut store, 4) {
            assert!(store.in_programming(stripe.band).any(|index| index == stripe.index));
            let other = BandId(stripe.band.0 + 1);
            assert_eq!(store.in_programming(other).count(), 0);
            for at in units_of(&ftl, stripe) {
                assert_eq!(store.program(stripe.index, at, 3), Ok(()));
            }
            assert_eq!(store.sectors_to_fail(&ftl), 0);
            let (is_whole, sealed, contents) = store.finish_stripe(&ftl, stripe.index);
            assert!(is_whole && sealed.stripe == stripe);
            let lbas = stripe.index * STRIPE_SECTORS..(stripe.index + 1) * STRIPE_SECTORS;
            assert!(contents.iter().map(|(_, content)| content.lba.0).eq(lbas));
            assert!(contents.iter().all(|(ppa, content)| ftl.lookup(content.lba) == Some(*ppa)));
            assert!(contents.iter().all(|(ppa, _)| store.buffered(*ppa).is_none()));
            assert!(!store.in_programming(stripe.band).any(|index| index == stripe.index));
        }
        assert_eq!(store.counters.program_failures, 0);
    }

    #[test]
    fn a_program_that_failed_takes_its_stripe_elsewhere_and_is_counted_once_for_its_block() {
        for failed in 0..3 {
            let (mut ftl, mut store) = card();
            let stripes = build(&mut ftl, &mut store, 3);
            let at = ftl.layout().unit_address(stripes[0], failed);
            let BlockAt { module, die, block } = store.place(at).unwrap().block;
            let fault = Fault::FailPrograms { module, die, block: Some(block), count: 1 };
            assert!(store.media.flash_mut().unwrap().inject(fault));
            for unit in units_of(&ftl, stripes[0]) {
                let expected = if unit == at { Err(MediaError::Failed) } else { Ok(()) };
                assert_eq!(store.program(0, unit, 3), expected);
            }
            assert_eq!(store.counters.program_failures, 1);
            assert_eq!(store.sectors_to_fail(&ftl), STRIPE_SECTORS);
            // Later units of the block are not even tried: they have failed already.
            let after = ftl.layout().unit_address(stripes[2], failed);
            assert_eq!(after.die, at.die);
            assert_eq!(store.program(2, after, 3), Err(MediaError::Failed));
            assert_eq!(store.counters.program_failures, 1);
            assert_eq!(store.sectors_to_fail(&ftl), 2 * STRIPE_SECTORS);
            let (is_whole, _, contents) = store.finish_stripe(&ftl, 0);
            assert!(!is_whole && contents.len() == STRIPE_SECTORS as usize);
            assert_eq!(store.sectors_to_fail(&ftl), STRIPE_SECTORS);
        }
    }

    #[test]
    fn what_was_not_programmed_on_a_module_that_goes_has_failed() {
        for gone in 0..6 {
            let (mut ftl, mut store) = card();
            let stripes = build(&mut ftl, &mut store, 4);
            // All of the first two was programmed before.
            for stripe in &stripes[..2] {
                units_of(&ftl, *stripe).for_each(|at| store.program(stripe.index, at, 3).unwrap());
            }
            store.fail_programs_on(gone);
            let on_it = |stripe: StripeId| units_of(&ftl, stripe).find(|at| at.die == gone);
            let failed: Vec<bool> =
                stripes.iter().map(|stripe| stripe.index >= 2 && on_it(*stripe).is_some()).collect();
            assert_eq!(failed.iter().filter(|failed| **failed).count(), 1);
            for at in stripes[2..].iter().flat_map(|stripe| units_of(&ftl, *stripe)) {
                let index = ftl.layout().stripe_of(at).index;
                assert_eq!(store.program_contents(index, at, 3).is_none(), at.die == gone, "{at:?}");
            }
            assert_eq!(store.sectors_to_fail(&ftl), STRIPE_SECTORS);
            for (stripe, failed) in stripes.iter().zip(failed) {
                assert_eq!(store.finish_stripe(&ftl, stripe.index).0, !failed, "{stripe:?}, module {gone}");
            }
        }
    }

    #[test]
    fn whoever_refuses_three_programs_in_a_row_refuses_until_it_takes_one() {
        for refusing in 0..6 {
            let (mut ftl, mut store) = card();
            let stripes = build(&mut ftl, &mut store, 10);
            let refused = |store: &Store| (0..6).filter(|die| store.refuses(*die)).collect::<Vec<_>>();
            let on_it = stripes.iter().flat_map(|stripe| units_of(&ftl, *stripe)).filter(|at| at.die == refusing);
            for (number, at) in on_it.enumerate() {
                let fault = Fault::HostError { module: Some(refusing), after: 0, for_ever: false };
                assert!(number > 3 || store.media.flash_mut().unwrap().inject(fault));
                let index = ftl.layout().stripe_of(at).index;
                assert_eq!(store.program(index, at, 3).is_err(), number <= 3);
                assert_eq!(refused(&store), if (2..=3).contains(&number) { vec![refusing] } else { vec![] });
            }
        }
    }

    #[test]
    fn each_lost_sector_is_counted_and_has_a_version_of_its_own() {
        let (_, mut store) = card();
        let lost = [Lba(3), Lba(8)].map(|lba| store.lost(lba));
        assert_eq!(store.counters.lost_sectors, 2);
        assert_eq!(
            lost.each_ref().map(|content| (content.role, content.lba)),
            [(Role::Lost, Lba(3)), (Role::Lost, Lba(8))]
        );
        assert!(lost[0].version < lost[1].version);
    }
}
