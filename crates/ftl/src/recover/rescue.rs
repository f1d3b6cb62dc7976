//! Rescue: reads the newest versions that lie in stripes that are not whole.
//!
//! Such a stripe has no redundancy, and the versions that it made stale may be erased already. A single fault, which
//! would cost nothing in a whole stripe, would cost the sector. So recovery reads these sectors while they can be read,
//! before the card writes anything.

use super::error::ScanError;
use super::found::{FoundBand, Rescued};
use super::newest::Copy;
use super::reader::Reader;
use super::sector::{Scratch, SectorAt, SectorError, SectorRead, read_with};
use crate::layout::Ppa;
use format::Role;
use media::Media;

/// The limit of sectors that are read. A power cut leaves fewer. After worse faults, the bands that were opened last
/// come first.
const MAX_RESCUED_SECTORS: usize = 16_384;

/// The failure of a read of a sector that the map points to.
enum Failure {
    Sector,
    Scan(ScanError),
}

impl From<SectorError> for Failure {
    fn from(_: SectorError) -> Failure {
        Failure::Sector
    }
}

/// Reads a sector that the map points to, or rebuilds it; `None` if neither is possible. `units` has the members of the
/// stripes of all bands.
pub(super) fn read_mapped<M: Media + ?Sized>(
    reader: &mut Reader<M>,
    bands: &[FoundBand],
    units: &[u64],
    ppa: Ppa,
    scratch: &mut Scratch,
) -> Result<Option<SectorRead>, ScanError> {
    let card = reader.card;
    let at = SectorAt::of(card.layout, ppa);
    let band = at.stripe.band.0;
    let group = card.layout.group_of(at.stripe.index);
    let members = units[(band * card.layout.groups + group) as usize];
    let read = |address, unit: &mut _| reader.read_to(address, unit).map_err(Failure::Scan);
    match read_with(read, card, &bands[band as usize].opening(), members, at, scratch) {
        Ok(read) => Ok(Some(read)),
        Err(Failure::Sector) => Ok(None),
        Err(Failure::Scan(error)) => Err(error),
    }
}

/// Reads these sectors, as far as they can be read.
pub(super) fn read_rescued<M: Media + ?Sized>(
    reader: &mut Reader<M>,
    bands: &[FoundBand],
    units: &[u64],
    copies: &[(u32, Ppa)],
) -> Result<Vec<Rescued>, ScanError> {
    let layout = *reader.card.layout;
    let mut copies = copies.to_vec();
    copies.sort_by_key(|(_, ppa)| (std::cmp::Reverse(bands[layout.band_of(*ppa).0 as usize].sequence), *ppa));
    copies.truncate(MAX_RESCUED_SECTORS);
    let mut scratch = Scratch::new(reader.media.shape());
    let mut rescued = Vec::with_capacity(copies.len());
    for (index, ppa) in copies {
        if let Some(read) = read_mapped(reader, bands, units, ppa, &mut scratch)? {
            let SectorRead { role, lba, version, .. } = read;
            let found = match role {
                Role::Data | Role::Lost => Some(lba),
                Role::Holes => lba.checked_add(reader.card.user_sectors),
                Role::Summary | Role::Checkpoint | Role::Parity | Role::Padding => None,
            };
            if found != Some(index) {
                continue;
            }
            rescued.push(Rescued { index, ppa, role, version, payload: scratch.payload(&read).into() });
        }
    }
    Ok(rescued)
}

/// The copies in stripes that are not whole, without those that the map does not point to.
pub(super) fn current(in_torn: &[Copy], map: &[u32]) -> Vec<(u32, Ppa)> {
    let is_current = |copy: &&Copy| map[copy.index as usize] == copy.ppa;
    let mut current: Vec<(u32, Ppa)> =
        in_torn.iter().filter(is_current).map(|copy| (copy.index, Ppa(copy.ppa))).collect();
    current.sort_unstable();
    current
}
