//! Stripes on their way to flash: their units with spare areas and parity.

use super::place::unit_start;
use super::{Content, Store};
use format::{Role, SPARE_BYTES, Spare, SummaryEntry, encode_summary, entries_per_sector, payload_crc};
use ftl::canary::{Canary, planted};
use ftl::recover::{Opening, Rebuild};
use ftl::{BandId, Ftl, Lba, Ppa, SealedStripe, StripeId, StripeKind, UnitAddress};
use media::{MediaError, Unit};

/// Units that are kept to be filled again: as many as are usually on their way.
const SPARE_UNITS: usize = 256;

/// The units of a stripe being programmed.
#[derive(Clone, Debug)]
pub struct Programs {
    sealed: SealedStripe,
    /// By unit; `None` where the stripe has none, or it is programmed.
    units: Vec<Option<Unit>>,
    /// Units whose program failed.
    failed: u64,
    /// Groups of dies of the card.
    groups: u32,
}

/// A module of which so many programs in a row are refused by what holds it is given up: block after block would be
/// retired, and with them the room that stripes that failed go to.
const MOST_REFUSED: u32 = 3;

impl Store {
    /// What the spare areas of a stripe's sectors have in common.
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
        let mut spares = std::mem::take(&mut self.spares);
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
                                built.set_payload(sector as usize, &content.payload);
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
                        let mut payload = std::mem::take(&mut self.summary);
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
                        built.set_payload(sector as usize, &self.payload_of(&payload));
                        self.summary = payload;
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
            let mut folded = self.folded.take().unwrap_or_else(|| Rebuild::new(shape.payload_bytes as usize));
            for sector in 0..sectors as usize {
                let of_sector = spares.iter().filter(|spare| usize::from(spare.sector) == sector);
                let members = of_sector.filter(|spare| !(planted(Canary::ParityWrong) && used.data >> spare.unit == 1));
                folded.set(members.map(|spare| {
                    let unit = units[usize::from(spare.unit)].as_ref().expect("it was just built");
                    (spare, unit.payload(sector))
                }));
                let spare = folded.parity(&Spare { unit: unit as u8, sector: sector as u8, ..base });
                spare.encode(parity.spare_mut(sector));
                parity.set_payload(sector, &self.payload_of(folded.payload()));
            }
            self.folded = Some(folded);
            units[unit as usize] = Some(parity);
        }
        self.spares = spares;
        self.entries[sealed.stream as usize] = (sequence, entries);
        self.programs.insert(index, Programs { sealed, units, failed: 0, groups: layout.groups });
    }

    /// The contents of a unit that is being programmed.
    pub fn program_contents(&self, index: u32, at: UnitAddress, width: u32) -> Option<&Unit> {
        self.programs.get(&index)?.units[(at.die % width) as usize].as_ref()
    }

    /// A unit to be filled: its contents and states are those of another.
    fn take_unit(&mut self, shape: &media::Shape) -> Unit {
        self.spare_units.pop().unwrap_or_else(|| Unit::new(shape))
    }

    /// Where a unit lies on the media.
    pub fn place(&self, at: UnitAddress) -> Option<media::UnitAt> {
        self.unit_at(at)
    }

    /// Tells the medium of a program to come.
    pub fn begin_program(&mut self, index: u32, at: UnitAddress, width: u32) {
        let place = self.unit_at(at).filter(|_| !self.failing.contains(&(at.band.0, at.die)));
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
        let done = match (self.unit_at(at), self.failing.contains(&(at.band.0, at.die))) {
            (None, _) => Err(MediaError::NoModule),
            (_, true) => Err(MediaError::Failed),
            (Some(place), false) => self.media.program(place, &contents),
        };
        contents.forget(&mut self.spare_payloads);
        self.spare_payloads.truncate(super::SPARE_PAYLOADS);
        if self.spare_units.len() < SPARE_UNITS {
            self.spare_units.push(contents);
        }
        let refused = &mut self.refused[at.die as usize % self.slots.len()];
        match done {
            Ok(()) => *refused = 0,
            Err(MediaError::Host | MediaError::NoSpace) => *refused += 1,
            Err(_) => {}
        }
        if done.is_err() {
            self.programs.get_mut(&index).expect("checked").failed |= 1 << unit;
        }
        if done == Err(MediaError::Failed) {
            self.counters.program_failures += u64::from(self.failing.insert((at.band.0, at.die)));
        }
        done
    }

    /// Whatever holds a die's module refuses what is programmed, not a block or two of it.
    pub fn refuses(&self, die: u32) -> bool {
        self.refused[die as usize % self.slots.len()] >= MOST_REFUSED
    }

    /// Stripes of a band that are being programmed.
    pub fn in_programming(&self, band: BandId) -> impl Iterator<Item = u32> {
        let stripes = self.programs.values().map(|programs| programs.sealed.stripe);
        stripes.filter(move |stripe| stripe.band == band).map(|stripe| stripe.index)
    }

    /// A module is gone: what was to be programmed on it, and is not yet, has failed.
    pub fn fail_programs_on(&mut self, logical: u32) {
        let (modules, mut failed) = (self.slots.len() as u32, Vec::new());
        for (index, programs) in &mut self.programs {
            let group = (programs.sealed.stripe.index % programs.groups) * programs.units.len() as u32;
            for (unit, contents) in programs.units.iter_mut().enumerate() {
                if (group + unit as u32) % modules == logical && contents.take().is_some() {
                    failed.push((*index, unit));
                }
            }
        }
        for (index, unit) in failed {
            self.programs.get_mut(&index).expect("looked at").failed |= 1 << unit;
        }
    }

    /// Sectors of the stripes being programmed that will have to go elsewhere.
    pub fn sectors_to_fail(&self, ftl: &Ftl) -> u32 {
        let failed =
            self.programs.values().filter(|programs| programs.failed != 0).map(|programs| programs.sealed.stripe);
        failed.map(|stripe| self.buffered_addresses(ftl, stripe).count() as u32).sum()
    }

    /// Addresses of a stripe for which something waits in the buffer.
    fn buffered_addresses(&self, ftl: &Ftl, stripe: StripeId) -> impl Iterator<Item = Ppa> {
        let (layout, data) = (*ftl.layout(), ftl.stripe_units(stripe).data);
        let sectors = move |unit: u32| {
            let start = unit_start(&layout, stripe, unit);
            (start.0..start.0 + layout.unit_sectors).map(Ppa)
        };
        let units = (0..layout.width).filter(move |unit| data >> unit & 1 == 1);
        units.flat_map(sectors).filter(|ppa| self.buffer.get(*ppa).is_some())
    }

    /// All units of a stripe were programmed, or failed: takes its contents out of the buffer, by address. The flag says
    /// that all of it is on flash.
    pub fn finish_stripe(&mut self, ftl: &Ftl, index: u32) -> (bool, SealedStripe, Vec<(Ppa, Content)>) {
        let programs = self.programs.remove(&index).expect("the stripe was being programmed");
        let layout = ftl.layout();
        let mut contents = Vec::new();
        let data = ftl.stripe_units(programs.sealed.stripe).data;
        for unit in (0..layout.width).filter(|unit| data >> unit & 1 == 1) {
            let start = unit_start(layout, programs.sealed.stripe, unit);
            for ppa in (start.0..start.0 + layout.unit_sectors).map(Ppa) {
                if let Some(content) = self.buffer.take(ppa) {
                    contents.push((ppa, content));
                }
            }
        }
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

const _: () = assert!(SPARE_BYTES == media::SPARE_BYTES);
