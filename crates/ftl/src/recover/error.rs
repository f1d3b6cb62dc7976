//! Why a card can't be found again.

use media::{MediaError, UnitAt};

/// Why a card can't be found again on its media: it must not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// What the headers say does not fit the media, or itself.
    #[error("{field}: {card} by the card's headers, {media} by its media")]
    Geometry {
        /// What.
        field: &'static str,
        /// By the headers.
        card: u64,
        /// By the media, or the limit.
        media: u64,
    },
    /// A read ended in a way that says nothing of what lies there.
    #[error("slot {} die {} block {} row {}: {error}", .at.block.module, .at.block.die, .at.block.block, .at.row)]
    Media {
        /// Where.
        at: UnitAt,
        /// Why.
        error: MediaError,
    },
    /// Nothing that the band lies on answers.
    #[error("band {band}: none of its dies answers")]
    NoAnswer {
        /// The band.
        band: u32,
    },
    /// More members of a stripe are lost than its parity can stand for, they may have held durable data, and nothing
    /// says whose.
    #[error(
        "band {band} stripe {stripe} sector {sector}: units {} are lost, parity stands for {parity_units}",
        Units(*.lost)
    )]
    BeyondRedundancy {
        /// The band.
        band: u32,
        /// The stripe in it.
        stripe: u32,
        /// The sectors of this number in the stripe's units.
        sector: u32,
        /// Units that are lost, as bits.
        lost: u64,
        /// Units of parity in a stripe.
        parity_units: u32,
    },
    /// By the headers it held durable data and was not being erased, and nothing that can be read is found there.
    #[error("band {band}: nothing is found of what was durable there")]
    MissingBand {
        /// The band.
        band: u32,
    },
    /// Which sectors were trimmed can't be read.
    #[error("band {band} stripe {stripe}: the list of holes of segment {segment} can't be read")]
    Holes {
        /// Segment of LBAs.
        segment: u32,
        /// Where the list lies.
        band: u32,
        /// Where the list lies.
        stripe: u32,
    },
    /// There are no numbers left to be given out.
    #[error("{field} {found} leaves no room for higher ones")]
    NumbersExhausted {
        /// Of what.
        field: &'static str,
        /// The highest that was found.
        found: u64,
    },
}

/// Units of a mask, for people.
struct Units(u64);

impl std::fmt::Display for Units {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, unit) in super::place::units(self.0).enumerate() {
            write!(f, "{}{unit}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
