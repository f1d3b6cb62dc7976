//! The handles of a card at work: their streams, the regions that are written with them, and their counters.

use crate::config::FtlConfig;
use crate::error::FtlError;
use crate::layout::{BandId, Lba};
use crate::placement_config::{Isolation, MAX_HANDLES, PlacementConfig};
use crate::stream::{Stream, StreamId};
use std::collections::VecDeque;

/// The work for the sectors of one handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandleCounters {
    /// Sectors that the host wrote.
    pub host_sectors: u64,
    /// Sectors that were moved.
    pub relocated_sectors: u64,
}

/// The counters of all handles.
pub type AllHandles = [HandleCounters; MAX_HANDLES];

/// A stream of a handle, and its full bands that are not yet completely on flash.
#[derive(Clone, Debug)]
pub(crate) struct Frontier {
    pub stream: Stream,
    pub closing: VecDeque<(BandId, u64)>,
}

/// The handles at work.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    isolation: Isolation,
    /// The ends of the regions of all handles but the last, in sectors.
    pub ends: Vec<u32>,
    pub host: Vec<Frontier>,
    /// Empty where what is moved shares bands.
    pub relocation: Vec<Frontier>,
    /// The handle whose data a band holds, where each holds those of one.
    pub of_band: Vec<u8>,
    pub counters: AllHandles,
}

impl Placement {
    /// The handles of a card with so many bands.
    pub fn of(config: &FtlConfig, bands: u32) -> Result<Option<Box<Placement>>, FtlError> {
        let Some(PlacementConfig { handles, isolation }) = config.placement else { return Ok(None) };
        let possible = (2..=MAX_HANDLES as u32).contains(&handles);
        if !possible || !config.separate_streams || config.slc_cache.is_some() || config.mapping_sectors > 1 {
            return Err(FtlError::Handles { handles });
        }
        let frontiers = |id: StreamId| {
            (1..=handles as u8)
                .map(|handle| Frontier { stream: Stream::of_handle(id, handle), closing: VecDeque::new() })
                .collect()
        };
        Ok(Some(Box::new(Placement {
            isolation,
            ends: Vec::new(),
            host: frontiers(StreamId::Host),
            relocation: match isolation {
                Isolation::Initial => Vec::new(),
                Isolation::Persistent => frontiers(StreamId::Relocation),
            },
            of_band: vec![0; bands as usize],
            counters: AllHandles::default(),
        })))
    }

    /// The index of the handle that a sector is written with.
    pub fn handle_of(&self, lba: Lba) -> usize {
        self.ends.iter().take_while(|&&end| end <= lba.0).count()
    }

    pub fn frontiers(&mut self, stream: StreamId) -> &mut Vec<Frontier> {
        if stream == StreamId::Host { &mut self.host } else { &mut self.relocation }
    }

    pub fn stream_and_closing(&mut self, stream: StreamId, handle: u8) -> (&mut Stream, &mut VecDeque<(BandId, u64)>) {
        let Frontier { stream, closing } = &mut self.frontiers(stream)[usize::from(handle) - 1];
        (stream, closing)
    }

    /// Whether a stream is divided by handles.
    pub fn divides(&self, stream: StreamId) -> bool {
        match stream {
            StreamId::Host => true,
            StreamId::Relocation => self.isolation == Isolation::Persistent,
            StreamId::Checkpoint | StreamId::Map => false,
        }
    }

    /// Room in the open bands, in bands.
    pub fn room(&self) -> f64 {
        self.host.iter().chain(&self.relocation).map(|frontier| frontier.stream.room()).sum()
    }
}
