//! The values of options: sizes, shares, times.
//!
//! Each type prints in the syntax that it reads, so that a default in a help text can be typed.

use profile::{UnitError, parse_bytes, parse_share};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use thiserror::Error;

/// The reason why a value is none.
#[derive(Clone, Debug, PartialEq, Error)]
#[allow(missing_docs)]
pub enum ValueError {
    /// Neither a size nor a share.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A size outside its range.
    #[error("must be from {min} to {max}")]
    SizeOutOfRange {
        /// The smallest size that is possible.
        min: Bytes,
        /// The largest size that is possible.
        max: Bytes,
    },
    /// A size below the least.
    #[error("must be at least {min}")]
    TooSmall {
        /// The smallest size that is possible.
        min: Bytes,
    },
    /// A size or a shift that is not whole host sectors.
    #[error("must be a multiple of 512 bytes")]
    NotSectors,
    /// A share that is none of a whole.
    #[error("must be above 0 and at most 100% (1)")]
    ShareOutOfRange,
    /// A scale that makes nothing, or more than there is.
    #[error("must be above 0 and at most 1")]
    ScaleOutOfRange,
    /// Not a time.
    #[error("write a time with its unit: 200us, 1ms, 1.5s")]
    NotATime,
    /// A time beyond the limit.
    #[error("must be at most an hour")]
    TooLong,
    /// Not a time for a review.
    #[error("write a time with its unit: 90s, 20m, 2h")]
    NotABudget,
    /// Not an amount of money.
    #[error("must be a number above 0, in dollars")]
    NotAPrice,
    /// Not a number of seconds.
    #[error("must be a number of seconds from 0.001 to 1000000000")]
    NotSeconds,
    /// Not a rate.
    #[error("must be a number of requests a second from 0.001 to 1000000000")]
    NotARate,
    /// Not a ratio.
    #[error("must be a number from 0 to 1000000000")]
    NotARatio,
    /// Not a sector of the host, or a range of them.
    #[error("write the number of a sector, or first..last")]
    NotSectorsOfHost,
    /// Not a stripe.
    #[error("write a band and a stripe of it, BAND:STRIPE")]
    NotAStripe,
    /// Not a setting of a running card.
    #[error("write gc=, target_free_bands= or rebuild_bytes_per_s=, and a value")]
    NotASetting,
    /// Not a way to collect.
    #[error("gc is paced or stop-the-world")]
    NotAGc,
    /// Not a number of bands.
    #[error("write a number of bands")]
    NotBands,
    /// Not a time between two looks.
    #[error("write a time with its unit, from 100ms to 1m")]
    NotAnInterval,
    /// Not a percentage.
    #[error("must be a number from 0 to 100")]
    NotAPercentage,
}

/// A size of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Bytes, ValueError> {
        Ok(Bytes(parse_bytes(text)?))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(40, 't'), (30, 'g'), (20, 'm'), (10, 'k')] {
            if self.0 > 0 && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

/// The size of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockBytes(pub u32);

impl BlockBytes {
    const MIN: u64 = 512;
}

impl FromStr for BlockBytes {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<BlockBytes, ValueError> {
        let bytes = parse_bytes(text)?;
        if !(BlockBytes::MIN..=load::MAX_REQUEST_BYTES).contains(&bytes) {
            let (min, max) = (Bytes(BlockBytes::MIN), Bytes(load::MAX_REQUEST_BYTES));
            return Err(ValueError::SizeOutOfRange { min, max });
        }
        if !bytes.is_multiple_of(512) {
            return Err(ValueError::NotSectors);
        }
        Ok(BlockBytes(u32::try_from(bytes).expect("the largest request is below 4 GiB")))
    }
}

impl fmt::Display for BlockBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes(self.0.into()).fmt(f)
    }
}

/// The shift of blocks against their boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShiftBytes(pub u32);

impl FromStr for ShiftBytes {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<ShiftBytes, ValueError> {
        let bytes = parse_bytes(text)?;
        if bytes > load::MAX_REQUEST_BYTES {
            return Err(ValueError::SizeOutOfRange { min: Bytes(0), max: Bytes(load::MAX_REQUEST_BYTES) });
        }
        if !bytes.is_multiple_of(512) {
            return Err(ValueError::NotSectors);
        }
        Ok(ShiftBytes(u32::try_from(bytes).expect("the largest request is below 4 GiB")))
    }
}

impl fmt::Display for ShiftBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes(self.0.into()).fmt(f)
    }
}

/// A share of a whole, above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Share, ValueError> {
        let share = parse_share(text)?;
        if share > 0.0 && share <= 1.0 { Ok(Share(share)) } else { Err(ValueError::ShareOutOfRange) }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 0.07 * 100 is not 7: round to what anyone would write.
        write!(f, "{}%", (self.0 * 1e9).round() / 1e7)
    }
}

/// The size of a model against the card's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64);

impl FromStr for Scale {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Scale, ValueError> {
        let scale = parse_share(text)?;
        if scale > 0.0 && scale <= 1.0 { Ok(Scale(scale)) } else { Err(ValueError::ScaleOutOfRange) }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::units::scale(self.0))
    }
}

/// Time that a review may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(pub Duration);

impl FromStr for Budget {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Budget, ValueError> {
        let duration = humantime::parse_duration(text.trim()).map_err(|_| ValueError::NotABudget)?;
        if duration.is_zero() { Err(ValueError::NotABudget) } else { Ok(Budget(duration)) }
    }
}

/// The price of a device, in dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price(pub f64);

impl FromStr for Price {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Price, ValueError> {
        let price: f64 = text.trim().trim_start_matches('$').parse().map_err(|_| ValueError::NotAPrice)?;
        if price > 0.0 && price < 1e12 { Ok(Price(price)) } else { Err(ValueError::NotAPrice) }
    }
}

/// A time of a session: thinking, computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nanoseconds(pub u64);

impl FromStr for Nanoseconds {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Nanoseconds, ValueError> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| c.is_alphabetic()).unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..split].trim_end(), &trimmed[split..]);
        let value: f64 = number.parse().map_err(|_| ValueError::NotATime)?;
        let factor = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "" if value == 0.0 => 1.0,
            _ => return Err(ValueError::NotATime),
        };
        let ns = (value * factor).round();
        if !(0.0..=u64::MAX as f64).contains(&ns) {
            return Err(ValueError::NotATime);
        }
        // The cast is exact up to the limit, and saturates beyond.
        let ns = ns as u64;
        if ns > load::MAX_THINK_NS { Err(ValueError::TooLong) } else { Ok(Nanoseconds(ns)) }
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (divisor, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
            if self.0 > 0 && self.0.is_multiple_of(divisor) {
                return write!(f, "{}{unit}", self.0 / divisor);
            }
        }
        write!(f, "{}ns", self.0)
    }
}

fn real(text: &str, range: std::ops::RangeInclusive<f64>, error: ValueError) -> Result<f64, ValueError> {
    match text.trim().parse::<f64>() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(error),
    }
}

/// Virtual seconds to measure.
pub fn seconds(text: &str) -> Result<f64, ValueError> {
    real(text, 0.001..=1e9, ValueError::NotSeconds)
}

/// Cards with contents are no smaller for a host: a partition table and an aligned partition take a MiB, and below that
/// the smallest modules hold next to nothing but room for collection.
pub const MIN_CARD_BYTES: u64 = 1 << 20;

/// The bytes that a host sees of a card with contents.
pub fn card_size(text: &str) -> Result<Bytes, ValueError> {
    let size: Bytes = text.parse()?;
    if size.0 < MIN_CARD_BYTES { Err(ValueError::TooSmall { min: Bytes(MIN_CARD_BYTES) }) } else { Ok(size) }
}

/// Memory for all clients of a server.
pub fn client_memory(text: &str) -> Result<Bytes, ValueError> {
    let size: Bytes = text.parse()?;
    let min = Bytes(serve::MIN_MEMORY_BYTES);
    if size.0 < min.0 { Err(ValueError::TooSmall { min }) } else { Ok(size) }
}

/// Requests a second.
pub fn rate(text: &str) -> Result<f64, ValueError> {
    real(text, 0.001..=1e9, ValueError::NotARate)
}

/// Reads for each write.
pub fn ratio(text: &str) -> Result<f64, ValueError> {
    real(text, 0.0..=1e9, ValueError::NotARatio)
}

/// Percent, as SLOB counts updates.
pub fn percentage(text: &str) -> Result<f64, ValueError> {
    real(text.trim().trim_end_matches('%'), 0.0..=100.0, ValueError::NotAPercentage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_as_itself() {
        for bytes in [0, 512, 16 << 10, 64 << 20, 1 << 30, 3 << 40, 1000] {
            assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }
        for share in [0.9, 0.07, 1.0, 0.125] {
            assert_eq!(Share(share).to_string().parse(), Ok(Share(share)));
        }
        for scale in [1.0, 1.0 / 64.0, 0.25] {
            assert_eq!(Scale(scale).to_string().parse(), Ok(Scale(scale)));
        }
        for ns in [0, 1, 200_000, 1_000_000, 1_500_000_000, 3_000_000_000] {
            assert_eq!(Nanoseconds(ns).to_string().parse(), Ok(Nanoseconds(ns)));
        }
    }

    #[test]
    fn a_block_is_whole_sectors_and_not_endless() {
        assert_eq!("16k".parse(), Ok(BlockBytes(16_384)));
        assert_eq!("1000".parse::<BlockBytes>(), Err(ValueError::NotSectors));
        for text in ["0", "65g", "16384P", "511"] {
            assert!(text.parse::<BlockBytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_need_their_unit_and_end() {
        for (text, ns) in
            [("1ms", 1_000_000), ("200us", 200_000), ("200 µs", 200_000), ("1.5s", 1_500_000_000), ("0", 0)]
        {
            assert_eq!(text.parse(), Ok(Nanoseconds(ns)), "{text}");
        }
        for text in ["1", "", "ms", "-1ms", "1h", "NaNs", "infs", "1e400s"] {
            assert_eq!(text.parse::<Nanoseconds>(), Err(ValueError::NotATime), "{text}");
        }
        assert_eq!("3601s".parse::<Nanoseconds>(), Err(ValueError::TooLong));
    }

    #[test]
    fn shares_and_scales_are_parts_of_a_whole() {
        assert_eq!("90%".parse(), Ok(Share(0.9)));
        assert_eq!("120%".parse::<Share>(), Err(ValueError::ShareOutOfRange));
        assert_eq!("0".parse::<Share>(), Err(ValueError::ShareOutOfRange));
        assert_eq!("0".parse::<Scale>(), Err(ValueError::ScaleOutOfRange));
        assert_eq!("2".parse::<Scale>(), Err(ValueError::ScaleOutOfRange));
        assert_eq!(percentage("80%"), Ok(80.0));
        assert_eq!(percentage("NaN"), Err(ValueError::NotAPercentage));
        assert_eq!(seconds("0"), Err(ValueError::NotSeconds));
    }
}
