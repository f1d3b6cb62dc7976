//! The reasons why a scan does not find a card.

use media::{MediaError, UnitAt};

/// The reason why a scan does not find a card on its media. The card must not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ScanError {
    /// The division in the headers does not fit the media, or contradicts itself.
    #[error("{field}: {card} by the card's headers, {media} by its media")]
    Geometry { field: &'static str, card: u64, media: u64 },
    /// A read failed in a way that tells nothing of the contents.
    #[error("slot {} die {} block {} row {}: {error}", .at.block.module, .at.block.die, .at.block.block, .at.row)]
    Media { at: UnitAt, error: MediaError },
    /// No die of the band answers.
    #[error("band {band}: none of its dies answers")]
    NoAnswer { band: u32 },
    /// More members of a stripe are lost than parity can restore, they may have held durable data, and nothing tells
    /// which LBAs these belong to.
    #[error(
        "band {band} stripe {stripe} sector {sector}: units {} are lost, parity stands for {parity_units}",
        Units(*.lost)
    )]
    BeyondRedundancy {
        band: u32,
        stripe: u32,
        /// The sectors of this number in the stripe's units.
        sector: u32,
        lost: u64,
        parity_units: u32,
    },
    /// The headers say that the band held durable data and was not being erased, and nothing that can be read is found
    /// there.
    #[error("band {band}: nothing is found of what was durable there")]
    MissingBand { band: u32 },
    /// A list of holes can't be read, so it is not known which sectors were trimmed.
    #[error("band {band} stripe {stripe}: the list of holes of segment {segment} can't be read")]
    Holes { segment: u32, band: u32, stripe: u32 },
    /// A record of the log that is needed can't be read on either of its modules, so it is not known which sectors it
    /// held.
    #[error("record {sequence} of the log can't be read on either of its modules")]
    LogRecord { sequence: u64 },
    /// A counter has no numbers left.
    #[error("{field} {found} leaves no room for higher ones")]
    NumbersExhausted { field: &'static str, found: u64 },
}

/// The units of a mask, as text for people.
struct Units(u64);

impl std::fmt::Display for Units {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, unit) in super::place::units(self.0).enumerate() {
            write!(f, "{}{unit}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
