//! Lists of holes: LBAs that are unmapped although there are copies of them.

use super::checkpoint::Loaded;
use super::error::ScanError;
use super::found::FoundBand;
use super::newest::Newest;
use super::reader::Reader;
use super::rescue::read_mapped;
use super::sector::{Scratch, SectorAt};
use crate::layout::{NONE, Ppa};
use format::Role;
use media::Media;

/// Reads the newest list of holes of each segment and removes these holes from the map. Holes that a checkpoint knew
/// are in its map already. Returns the owed segments of the checkpoint for which there is no newer list.
pub(super) fn apply_holes<M: Media + ?Sized>(
    reader: &mut Reader<M>,
    newest: &mut Newest,
    bands: &[FoundBand],
    units: &[u64],
    mut loaded: Option<&mut Loaded>,
) -> Result<Vec<u32>, ScanError> {
    let mut owed = loaded.as_deref().map_or(Vec::new(), |loaded| loaded.checkpoint.owed_segments.clone());
    let known_before = loaded.as_deref().map_or(0, Loaded::version_start);
    let card = reader.card;
    let mut scratch = None;
    for segment in 0..card.hole_segments() {
        let index = (card.user_sectors + segment) as usize;
        let ppa = newest.map[index];
        if ppa == NONE {
            continue;
        }
        let scratch = scratch.get_or_insert_with(|| Scratch::new(reader.media.shape()));
        let at = SectorAt::of(card.layout, Ppa(ppa));
        let band = at.stripe.band.0;
        let error = ScanError::Holes { segment, band, stripe: at.stripe.index };
        let read = read_mapped(reader, bands, units, Ppa(ppa), scratch)?.ok_or(error)?;
        let is_version = read.version == newest.versions[index] || read.version < known_before;
        let is_it = read.role == Role::Holes && read.lba == segment && is_version;
        if !is_it {
            return Err(error);
        }
        let payload = scratch.payload(&read);
        let as_of = format::holes_as_of(payload);
        newest.highest_version = newest.highest_version.max(as_of);
        if as_of < known_before {
            continue;
        }
        owed.retain(|owed| *owed != segment);
        let first = u64::from(segment) * u64::from(card.hole_segment_lbas());
        for hole in format::holes(payload) {
            let lba = first + u64::from(hole);
            if lba < u64::from(card.user_sectors) && newest.versions[lba as usize] <= as_of {
                newest.map[lba as usize] = NONE;
                newest.logged.remove(&(lba as u32));
                if let Some(loaded) = loaded.as_deref_mut() {
                    loaded.found_as_hole(lba as u32);
                }
            }
        }
    }
    Ok(owed)
}
