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
use ftl::{BandId, BandState, Ftl, SealedStripe, StreamId, StripeId};
use std::collections::{BTreeSet, VecDeque};

/// The streams that have a watermark in the headers.
const STREAMS: [StreamId; 2] = [StreamId::Host, StreamId::Relocation];

/// The durable watermarks of the streams.
#[derive(Clone, Debug, Default)]
pub struct Watermarks {
    /// By stream: stripes that are not known to be durable, with their numbers in the stream. At most those that are in
    /// flight, and the one before them.
    in_flight: [VecDeque<(u64, Durable)>; 2],
    /// Behind the last one.
    end: [Durable; 2],
    /// Bands that were erased but for blocks that would not be. The sectors left on those look like a band of which the
    /// rest is lost, until the band is opened again.
    left_behind: BTreeSet<u32>,
    /// The highest opening of a band that was found.
    last_found: u64,
}

impl Watermarks {
    /// The state of a card that was found on its media. Nobody erases bands that are retired, whatever lies there.
    pub fn at_start(ftl: &Ftl, bands: u32) -> Watermarks {
        let is_retired = |band: &u32| ftl.band_state(BandId(*band)) == BandState::Retired;
        let last_found = (0..bands).map(|band| ftl.opening(BandId(band)).sequence).max().unwrap_or(0);
        Watermarks { left_behind: (0..bands).filter(is_retired).collect(), last_found, ..Watermarks::default() }
    }

    /// A stripe is about to be programmed.
    pub fn stripe_begins(&mut self, ftl: &Ftl, sealed: &SealedStripe) {
        let stream = sealed.stream as usize;
        if stream >= STREAMS.len() {
            return;
        }
        self.advance(ftl, stream);
        let band_sequence = ftl.opening(sealed.stripe.band).sequence;
        // Stripes that share its cells can be spoiled until all of them are programmed.
        let StripeId { band, index } = sealed.stripe;
        let at = Durable { band_sequence, stripe: ftl.cells_begin(StripeId { band, index }) };
        self.left_behind.remove(&band.0);
        self.in_flight[stream].push_back((sealed.sequence, at));
        self.end[stream] = Durable { stripe: ftl.cells_begin(StripeId { band, index: index + 1 }), ..at };
    }

    fn advance(&mut self, ftl: &Ftl, stream: usize) {
        let in_flight = &mut self.in_flight[stream];
        while in_flight.front().is_some_and(|(number, _)| ftl.stream_is_durable(STREAMS[stream], number + 1)) {
            in_flight.pop_front();
        }
    }

    /// Advances the watermarks of the streams as far as they are durable by now; they are returned.
    pub fn advance_all(&mut self, ftl: &Ftl) -> [Durable; 2] {
        [0, 1].map(|stream| {
            self.advance(ftl, stream);
            self.of_stream(stream)
        })
    }

    /// The watermark of a stream, as it was advanced last: all before it is durable.
    pub fn of_stream(&self, stream: usize) -> Durable {
        self.in_flight[stream].front().map_or(self.end[stream], |(_, at)| *at)
    }

    /// The band was found with this opening, not opened since the start.
    pub fn was_found(&self, opening: u64) -> bool {
        opening <= self.last_found
    }

    /// A band was erased, all of it or not.
    pub fn band_erased(&mut self, band: BandId, all_of_it: bool) {
        if all_of_it {
            self.left_behind.remove(&band.0);
        } else {
            self.left_behind.insert(band.0);
        }
    }

    /// Some sectors of a band that was erased are left, on blocks that could not be.
    pub fn has_left_behind(&self) -> bool {
        !self.left_behind.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny;

    #[test]
    fn a_watermark_stands_at_the_first_stripe_in_flight_and_behind_the_last_when_none_is() {
        let mut card = tiny::card();
        let mut watermarks = Watermarks::default();
        let ftl = &mut card.core.ftl;
        (0..12).for_each(|lba| {
            ftl.write(ftl::Lba(lba));
        });
        let sealed: Vec<SealedStripe> = std::iter::from_fn(|| ftl.pop_sealed()).collect();
        assert_eq!(sealed.len(), 3);
        sealed.iter().for_each(|sealed| watermarks.stripe_begins(ftl, sealed));
        let stripe = |watermarks: &Watermarks| watermarks.of_stream(StreamId::Host as usize).stripe;
        assert_eq!(stripe(&watermarks), 0);
        // Stripes that become durable before the first do not move it.
        ftl.stripe_durable(StreamId::Host, sealed[1].sequence);
        watermarks.advance_all(ftl);
        assert_eq!(stripe(&watermarks), 0);
        ftl.stripe_durable(StreamId::Host, sealed[0].sequence);
        assert_eq!(watermarks.advance_all(ftl)[0].stripe, 2);
        ftl.stripe_durable(StreamId::Host, sealed[2].sequence);
        assert_eq!(watermarks.advance_all(ftl)[0].stripe, 3);
        assert_eq!(watermarks.of_stream(StreamId::Relocation as usize), Durable::default());
    }

    #[test]
    fn a_band_is_left_behind_until_all_of_it_is_erased() {
        let mut watermarks = Watermarks::default();
        watermarks.band_erased(BandId(4), false);
        watermarks.band_erased(BandId(5), true);
        assert!(watermarks.has_left_behind());
        watermarks.band_erased(BandId(4), true);
        assert!(!watermarks.has_left_behind());
    }
}
