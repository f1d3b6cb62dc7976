//! Checkpoints, put together from their parts.

use crate::error::FsckError;
use crate::examined::{CHECKPOINT_STREAM, OnMedia, Opened};
use format::{Checkpoint, Role};
use ftl::recover::{Scratch, SectorAt, read_sector};
use media::Media;
use serde::Serialize;
use std::collections::BTreeMap;

/// A checkpoint of which at least one part was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointFound {
    /// The number of the checkpoint.
    pub id: u64,
    /// The number of its parts that were found.
    pub parts: u32,
    /// All parts are there, and the checksums are right.
    pub good: bool,
    /// The reason why the checkpoint is not good.
    pub error: Option<String>,
    /// Bands opened from this number on may hold sectors that the checkpoint does not know.
    pub replay_from: Option<u64>,
    /// The next version when the checkpoint was finished.
    pub next_version: Option<u64>,
}

/// Reads all checkpoints in bands of their own.
pub(crate) fn checkpoints<M: Media>(media: &mut M, on: &OnMedia) -> Result<Vec<CheckpointFound>, FsckError> {
    let mut places: BTreeMap<u64, BTreeMap<u32, (Opened, SectorAt, u64)>> = BTreeMap::new();
    on.walk(
        media,
        |opened| opened.opening.stream == CHECKPOINT_STREAM,
        |opened, stripe| {
            for (unit, sector) in stripe.places() {
                let at = SectorAt { stripe: stripe.id, unit, sector };
                let part =
                    match (&stripe.cell(unit, sector).why, stripe.cell(unit, sector).spare, stripe.rebuilt(sector)) {
                        (None, Some(spare), _) => (spare.role, spare.lba, spare.version),
                        (Some(_), _, Some(Ok(rebuilt))) => (rebuilt.role, rebuilt.lba, rebuilt.version),
                        _ => continue,
                    };
                if let (Role::Checkpoint, part, id) = part {
                    places.entry(id).or_default().insert(part, (opened.clone(), at, stripe.members));
                }
            }
        },
    )?;
    let mut scratch = Scratch::new(media.shape());
    let mut found = Vec::new();
    for (id, parts) in places {
        let mut bytes = Vec::new();
        // The parts after a missing one are of no use.
        for (_, (_, (opened, at, members))) in (0..).zip(&parts).take_while(|(number, (part, _))| number == *part) {
            match read_sector(media, &on.card(), &opened.opening, *members, *at, &mut scratch) {
                Ok(read) => bytes.extend_from_slice(scratch.payload(&read)),
                Err(_) => break,
            }
        }
        let decoded = Checkpoint::decode(&bytes);
        let head = decoded.as_ref().ok().map(|checkpoint| checkpoint.head);
        found.push(CheckpointFound {
            id,
            parts: parts.len() as u32,
            good: decoded.is_ok(),
            error: decoded.err().map(|error| error.to_string()),
            replay_from: head.map(|head| head.replay_from),
            next_version: head.map(|head| head.next_version),
        });
    }
    Ok(found)
}
