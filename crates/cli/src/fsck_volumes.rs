//! The table of a card's volumes, as a start would find it, on media that nobody writes.

use crate::card_dir::CardDir;
use crate::error::Failure;
use device::SECTOR_BYTES;
use fsck::Examined;
use live::{Division, ReplyError, TableDisk, VolumeTable};
use media::Media;
use serde::Serialize;

/// The table of a card's volumes.
#[derive(Debug, Serialize)]
pub struct VolumesFound {
    /// The number of volumes that a start finds.
    volumes: usize,
    /// The reason why a start refuses the card, if it does.
    refused: Option<String>,
}

impl VolumesFound {
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// The table in a line of a report, which has the reason of a refusal elsewhere.
    pub fn line(&self) -> String {
        match &self.refused {
            None => format!("volumes: {}, and their table is whole\n", self.volumes),
            Some(_) => "volumes: not known, as their table is damaged\n".to_owned(),
        }
    }
}

/// The shards of a card, of which only the sectors of the table are read.
struct Table<M> {
    division: Division,
    shards: Vec<Examined<M>>,
}

impl<M: Media> TableDisk for Table<M> {
    fn read(&mut self, offset_bytes: u64, len_bytes: u32) -> Result<Vec<u8>, ReplyError> {
        let mut bytes = Vec::with_capacity(len_bytes as usize);
        for offset_bytes in (offset_bytes..offset_bytes + u64::from(len_bytes)).step_by(SECTOR_BYTES as usize) {
            let (shard, inner) = self.division.inner(offset_bytes);
            match self.shards[shard as usize].contents((inner / SECTOR_BYTES) as u32) {
                Ok(Some(contents)) => bytes.extend(contents),
                Ok(None) => bytes.resize(bytes.len() + SECTOR_BYTES as usize, 0),
                Err(_) => return Err(ReplyError::Unreadable { offset_bytes }),
            }
        }
        Ok(bytes)
    }

    fn write(&mut self, _: &[(u64, &[u8])]) -> Result<(), ReplyError> {
        Err(ReplyError::ReadOnly)
    }

    fn clear(&mut self, _: u64, _: u64) -> Result<(), ReplyError> {
        Err(ReplyError::ReadOnly)
    }
}

/// Looks at the table of a card that is divided into volumes.
pub fn find<M: Media>(
    card: &CardDir,
    examined: impl Fn(u32) -> Result<Examined<M>, Failure>,
) -> Result<VolumesFound, Failure> {
    let shards = (0..card.shards).map(examined).collect::<Result<_, _>>()?;
    let mut table = Table { division: card.division(), shards };
    let id = card.start(1).id.expect("a card in a folder has a name");
    Ok(match VolumeTable::load(&mut table, id, card.user_bytes) {
        Ok(found) => VolumesFound { volumes: found.volumes().count(), refused: None },
        Err(error) => VolumesFound { volumes: 0, refused: Some(error.to_string()) },
    })
}
