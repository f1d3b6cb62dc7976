//! The options of `flashrig fsck`, and the ranges that it examines.

use super::values::{Nanoseconds, ValueError};
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::str::FromStr;

/// The options of `flashrig fsck`.
#[derive(Debug, Args)]
pub struct FsckArgs {
    /// A folder with a card that flashrig create made, or with the images of a card's modules
    #[arg(value_hint = ValueHint::DirPath)]
    pub card: PathBuf,
    /// Explain why a sector reads as it does, or each from N to M
    #[arg(long, value_name = "N[..M]", conflicts_with_all = ["band", "stripe", "verify"])]
    pub lba: Option<LbaRange>,
    /// Show a band stripe by stripe
    #[arg(long, value_name = "N", conflicts_with_all = ["stripe", "verify"])]
    pub band: Option<u32>,
    /// Show a stripe of a band member by member
    #[arg(long, value_name = "BAND:STRIPE", conflicts_with = "verify")]
    pub stripe: Option<StripeName>,
    /// Look at shard N alone of a card that is divided over shards; sectors, bands and stripes are then its own
    #[arg(long, value_name = "N")]
    pub shard: Option<u32>,
    /// Read every stripe, with the checksums of payloads and parity
    #[arg(long)]
    pub verify: bool,
    /// Leave the module of slot N out, as serve --without-slot does: it counts as missing
    #[arg(long, value_name = "N")]
    pub without_slot: Vec<u32>,
    /// Look at a card on shelves that several controllers share, as controller N: it owns the card meanwhile, and answers no
    /// host. While another controller owns the card it is refused
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub controller: Option<u8>,
    /// Time of reading a unit, to estimate how long a start takes
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(50_000))]
    pub read_time: Nanoseconds,
    /// Print JSON in place of tables
    #[arg(long)]
    pub json: bool,
}

/// Sectors of the host, both ends among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LbaRange {
    /// The first sector of the range.
    pub first: u64,
    /// The last sector, which belongs to the range.
    pub last: u64,
}

impl FromStr for LbaRange {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<LbaRange, ValueError> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str| text.trim().parse().map_err(|_| ValueError::NotSectorsOfHost);
        let range = LbaRange { first: number(first)?, last: number(last)? };
        if range.first <= range.last { Ok(range) } else { Err(ValueError::NotSectorsOfHost) }
    }
}

/// A stripe of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeName {
    /// The number of the band.
    pub band: u32,
    /// The stripe in it.
    pub stripe: u32,
}

impl FromStr for StripeName {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<StripeName, ValueError> {
        let (band, stripe) = text.split_once(':').ok_or(ValueError::NotAStripe)?;
        let number = |text: &str| text.trim().parse().map_err(|_| ValueError::NotAStripe);
        Ok(StripeName { band: number(band)?, stripe: number(stripe)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends_and_stripes_their_band() {
        assert_eq!("7".parse(), Ok(LbaRange { first: 7, last: 7 }));
        assert_eq!("7..9".parse(), Ok(LbaRange { first: 7, last: 9 }));
        for text in ["", "..", "9..7", "7..", "-1", "1..2..3", "18446744073709551616"] {
            assert_eq!(text.parse::<LbaRange>(), Err(ValueError::NotSectorsOfHost), "{text}");
        }
        assert_eq!("3:40".parse(), Ok(StripeName { band: 3, stripe: 40 }));
        for text in ["", "3", "3:", ":4", "3:4:5", "a:b"] {
            assert_eq!(text.parse::<StripeName>(), Err(ValueError::NotAStripe), "{text}");
        }
    }
}
