//! Finds the newest checkpoint that can be read, and merges it with what was found since.

use super::error::ScanError;
use super::identify::{Identified, Identity, Known};
use super::newest::Newest;
use super::place::{Card, units};
use super::reader::Reader;
use super::stripe::{State, Stripe, StripeRead};
use crate::canary::{Canary, planted};
use crate::layout::{BandId, Layout, NONE, Ppa, StripeId};
use crate::stream::StreamId;
use crate::stripe_units::split_units;
use format::{Checkpoint, CheckpointHead, Role};
use media::{Media, Shape};
use std::collections::BTreeMap;

/// The state of a band in a checkpoint whose valid sectors are all in the checkpoint's map, and which takes no more.
pub const BAND_KNOWN: u8 = 1;

/// A checkpoint, and the bands that need not be read because of it.
pub(super) struct Loaded {
    pub checkpoint: Checkpoint,
    /// Bands that the checkpoint lies in.
    pub lies_in: Vec<BandId>,
    /// By band: the checkpoint knows the band, and that still counts.
    pub known: Vec<bool>,
    /// LBAs that the map had in bands that were opened again, and that were found nowhere.
    pub missing: Vec<u32>,
}

/// The parts of one checkpoint, by number.
type Parts = BTreeMap<u32, Vec<u8>>;

impl Loaded {
    /// Identifies all bands and looks for checkpoints in them; `None` if none can be read and fits the card.
    pub fn find<M: Media + ?Sized>(
        reader: &mut Reader<M>,
        shape: &Shape,
        bands: &mut Vec<Option<Identified>>,
    ) -> Result<Option<Loaded>, ScanError> {
        let card = reader.card;
        let mut stripe = Stripe::new(card.layout, shape);
        let mut by_id: BTreeMap<u64, Parts> = BTreeMap::new();
        let mut lies_in: BTreeMap<u64, Vec<BandId>> = BTreeMap::new();
        let mut confirmed = Vec::with_capacity(card.bands as usize);
        for band in (0..card.bands).map(BandId) {
            let mut known = Known::new(card.layout);
            let mut floor = 0;
            let identity = loop {
                let identity = known.identify(reader, band, floor)?;
                if identity != Identity::Opened || known.opening.stream != StreamId::Checkpoint as u8 {
                    break identity;
                }
                let later = read_parts(reader, &mut stripe, band, &known, |id, part, payload| {
                    by_id.entry(id).or_default().entry(part).or_insert_with(|| payload.to_vec());
                    let lies_in = lies_in.entry(id).or_default();
                    if lies_in.last() != Some(&band) {
                        lies_in.push(band);
                    }
                })?;
                // The loop ends, because each opening that is found is later than the one before.
                match later {
                    Some(later) => floor = later,
                    None => break identity,
                }
            };
            // On files it is asked while the first row of the band is at hand, which is not read a third time.
            confirmed.push(match identity == Identity::Opened && reader.media.is_volatile() {
                true => Some(known.is_confirmed(reader, band)?),
                false => None,
            });
            bands.push(Some((identity, known)));
        }
        let newest = by_id.iter().rev().find_map(|(id, parts)| Some((id, whole(card, *id, parts)?)));
        let Some((id, checkpoint)) = newest else { return Ok(None) };
        let mut known = vec![false; bands.len()];
        for (((number, found), record), confirmed) in (0..).zip(&*bands).zip(&checkpoint.bands).zip(confirmed) {
            let Some((Identity::Opened, found)) = found else { continue };
            let is_same = found.opening.sequence == record.sequence || planted(Canary::CheckpointBandsNotCompared);
            known[number] = record.state == BAND_KNOWN
                && is_same
                && match confirmed {
                    Some(confirmed) => confirmed,
                    None => found.is_confirmed(reader, BandId(number as u32))?,
                };
        }
        Ok(Some(Loaded { lies_in: lies_in[id].clone(), checkpoint, known, missing: Vec::new() }))
    }

    fn head(&self) -> &CheckpointHead {
        &self.checkpoint.head
    }

    /// The version from which on the checkpoint knows no writes.
    pub fn version_start(&self) -> u64 {
        self.head().version_start
    }

    /// Bands that the checkpoint knew and that have to be read all the same, because a copy from before the checkpoint
    /// of one of their sectors lies elsewhere. The band may be about to be erased because of that copy.
    pub fn in_doubt(&mut self, newest: &Newest, layout: &Layout) -> Vec<BandId> {
        if planted(Canary::DoubtfulBandsBelieved) {
            return Vec::new();
        }
        let mut doubtful = vec![false; self.known.len()];
        for (index, &ppa) in self.checkpoint.map.iter().enumerate() {
            let older = newest.map[index] != NONE && newest.versions[index] < self.version_start();
            if ppa != NONE && older {
                doubtful[layout.band_of(Ppa(ppa)).0 as usize] = true;
            }
        }
        let mut bands = Vec::new();
        for (band, known) in self.known.iter_mut().enumerate().filter(|(band, _)| doubtful[*band]) {
            if std::mem::replace(known, false) {
                bands.push(BandId(band as u32));
            }
        }
        bands
    }

    /// Merges the checkpoint's map into the map of what was found since.
    pub fn settle(&mut self, newest: &mut Newest, layout: &Layout) {
        let version_start = self.version_start();
        for (index, &ppa) in self.checkpoint.map.iter().enumerate() {
            let is_newer = newest.map[index] != NONE && newest.versions[index] >= version_start;
            if is_newer {
                continue;
            }
            if ppa == NONE || self.known[layout.band_of(Ppa(ppa)).0 as usize] {
                // The checkpoint does not know versions; 0 stands for them, because everything written later is newer.
                (newest.map[index], newest.versions[index]) = (ppa, 0);
            } else if newest.map[index] == NONE && !planted(Canary::ChangesNotKept) {
                // A checkpoint that missed a change may point to a place that was never programmed; this finds it out.
                self.missing.push(index as u32);
            }
        }
    }

    /// Takes an LBA off the missing ones: a list of holes that is not older than the checkpoint names it.
    pub fn found_as_hole(&mut self, lba: u32) {
        if let Ok(at) = self.missing.binary_search(&lba) {
            self.missing.remove(at);
        }
    }
}

/// Reads the parts of checkpoints in a band. Returns the number of a later opening, if it came upon one.
fn read_parts<M: Media + ?Sized>(
    reader: &mut Reader<M>,
    stripe: &mut Stripe,
    band: BandId,
    known: &Known,
    mut found: impl FnMut(u64, u32, &[u8]),
) -> Result<Option<u64>, ScanError> {
    let layout = reader.card.layout;
    for index in 0..reader.card.rows(known.opening.slc) * layout.groups {
        let members = known.masks[layout.group_of(index) as usize];
        let data = split_units(index, members, layout).data;
        if data == 0 {
            continue;
        }
        let id = StripeId { band, index };
        let read = stripe.read(reader, id, &known.opening, members, false, |_, _, spare, payload| {
            if spare.role == Role::Checkpoint {
                found(spare.version, spare.lba, payload);
            }
        })?;
        if let StripeRead::Newer(later) = read {
            return Ok(Some(later));
        }
        let mut any = false;
        for sector in 0..layout.unit_sectors as usize {
            let lost = stripe.lost(sector).all();
            any |= units(members).any(|unit| stripe.cell(unit, sector).state == State::Good);
            if lost & data != 0
                && lost.count_ones() <= layout.parity_units
                && let Some((rebuilt, payload)) = stripe.rebuild(sector)
                && rebuilt.role == Role::Checkpoint
            {
                found(rebuilt.version, rebuilt.lba, payload);
            }
        }
        if !any {
            break;
        }
    }
    Ok(None)
}

/// The checkpoint that these parts make, if all are there and it fits the card.
fn whole(card: &Card, id: u64, parts: &Parts) -> Option<Checkpoint> {
    let head = CheckpointHead::decode(parts.get(&0)?).ok()?;
    let entries = u64::from(card.user_sectors) + u64::from(card.hole_segments());
    let fits = u64::from(head.map_entries) == entries && head.bands == card.bands && head.id == id;
    let count = Checkpoint::sectors(head.map_entries, head.bands, head.owed_segments, card.payload_bytes);
    if !fits || head.version_start == 0 {
        return None;
    }
    // The head may claim any number of parts, so no memory is taken for more than was read.
    let mut bytes = Vec::new();
    for part in 0..count {
        bytes.extend_from_slice(parts.get(&part)?);
    }
    let checkpoint = Checkpoint::decode(&bytes).ok()?;
    let addresses = u64::from(card.layout.band_sectors) * u64::from(card.bands);
    let is_place = |ppa: &u32| *ppa == NONE || u64::from(*ppa) < addresses;
    let is_segment = |segment: &u32| *segment < card.hole_segments();
    let right = checkpoint.map.iter().all(is_place) && checkpoint.owed_segments.iter().all(is_segment);
    right.then_some(checkpoint)
}
