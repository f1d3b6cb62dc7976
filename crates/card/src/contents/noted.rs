//! The durable watermarks of the streams in the headers, and the bands that the headers say hold something durable.
//!
//! When a stripe has lost more than parity stands for, only the headers tell whether it ever was durable, as of when
//! they were written: when a module goes, when the card is shut down, with its totals, and when a start is over.
//! Invariants:
//! - data that the headers say is durable is durable, and stays so until its band is erased;
//! - the headers say that the data that made a band stale is durable before that band is erased;
//! - a band that they say holds something does, until they say that it does not: before it is erased;
//! - "nothing was erased since" is taken back before a band that held sectors is erased, and not said while some of one is
//!   left on blocks that could not be.

use format::Durable;
use ftl::{BandId, BandState, Ftl, StreamId};
use std::collections::{BTreeSet, VecDeque};

/// The streams of which it is told.
pub const STREAMS: [StreamId; 2] = [StreamId::Host, StreamId::Relocation];

/// How far the streams are.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    /// By stream: stripes that are not known to be durable, with their numbers in the stream. At most those that are in
    /// flight, and the one before them.
    pub in_flight: [VecDeque<(u64, Durable)>; 2],
    /// Behind the last one.
    pub end: [Durable; 2],
    /// Bands that were erased but for blocks that would not be. The sectors left on those look like a band of which the
    /// rest is lost, until the band is opened again.
    pub left_behind: BTreeSet<u32>,
    /// The highest opening of a band that was found.
    pub last_found: u64,
}

impl Noted {
    /// The state of a card that was found on its media. Nobody erases bands that are retired, whatever lies there.
    pub fn at_start(ftl: &Ftl, bands: u32) -> Noted {
        let is_retired = |band: &u32| ftl.band_state(BandId(*band)) == BandState::Retired;
        let last_found = (0..bands).map(|band| ftl.opening(BandId(band)).sequence).max().unwrap_or(0);
        Noted { left_behind: (0..bands).filter(is_retired).collect(), last_found, ..Noted::default() }
    }
}
