//! Sizes and shares as people type them.

use crate::text::Excerpt;
use thiserror::Error;

/// A text that is no size or share.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum UnitError {
    /// Not a number with a unit that is known.
    #[error("'{text}' is not a size: write bytes, or 512KiB and 16k (binary), or 400GB (decimal)")]
    NotASize { text: Excerpt },
    /// Not a whole number of bytes.
    #[error("'{text}' is not a whole number of bytes")]
    NotWhole { text: Excerpt },
    /// More than 64 bits hold.
    #[error("'{text}' is larger than any device")]
    TooLarge { text: Excerpt },
    /// Not a share.
    #[error("'{text}' is not a share: write 0.9, 90% or 1/64")]
    NotAShare { text: Excerpt },
}

/// Bytes of one unit. `k`, `m`, `g` and `t` are binary, as sysbench and fio read them, and so is `KiB`; `kB` is decimal.
fn unit_bytes(unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    let prefix = lower.trim_end_matches('b').trim_end_matches('i');
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    match &lower[prefix.len()..] {
        "" | "ib" if power > 0 => Some(1 << (10 * power)),
        "b" => Some(1000_u64.pow(power)),
        "" => Some(1),
        _ => None,
    }
}

/// A size in bytes: `4096`, `16k` and `1g` (binary, as sysbench reads them), `512KiB` (binary), `400GB` (decimal),
/// `3.84TB`; underscores may group digits.
///
/// ```
/// assert_eq!(profile::parse_bytes("16k"), Ok(16_384));
/// assert_eq!(profile::parse_bytes("400GB"), Ok(400_000_000_000));
/// assert_eq!(profile::parse_bytes("512 KiB"), Ok(524_288));
/// ```
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let shown = || Excerpt::from(text);
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].trim_end(), &trimmed[split..]);
    let unit = unit_bytes(unit).ok_or_else(|| UnitError::NotASize { text: shown() })?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: String = [whole, fraction].concat().chars().filter(|c| *c != '_').collect();
    if whole.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || digits.is_empty() {
        return Err(UnitError::NotASize { text: shown() });
    }
    let too_large = || UnitError::TooLarge { text: shown() };
    let digits: u128 = digits.parse().map_err(|_| too_large())?;
    let places = fraction.chars().filter(|c| *c != '_').count() as u32;
    let divisor = 10_u128.checked_pow(places).ok_or_else(too_large)?;
    let scaled = digits.checked_mul(u128::from(unit)).ok_or_else(too_large)?;
    if scaled % divisor != 0 {
        return Err(UnitError::NotWhole { text: shown() });
    }
    u64::try_from(scaled / divisor).map_err(|_| too_large())
}

/// A share: `0.9`, `90%` or `1/64`. Never negative, never infinite; 1 and more is for the caller to judge.
///
/// ```
/// assert_eq!(profile::parse_share("90%"), Ok(0.9));
/// assert_eq!(profile::parse_share("1/64"), Ok(0.015625));
/// ```
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let error = || UnitError::NotAShare { text: Excerpt::from(text) };
    let number = |t: &str| t.trim().parse::<f64>().map_err(|_| error());
    let trimmed = text.trim();
    let share = if let Some(percent) = trimmed.strip_suffix('%') {
        number(percent)? / 100.0
    } else if let Some((numerator, denominator)) = trimmed.split_once('/') {
        number(numerator)? / number(denominator)?
    } else {
        number(trimmed)?
    };
    if share.is_finite() && share >= 0.0 { Ok(share) } else { Err(error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_mean_them() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("4_096", 4096),
            ("16k", 16_384),
            ("16K", 16_384),
            ("1g", 1 << 30),
            ("1G", 1 << 30),
            ("2t", 2 << 40),
            ("512KiB", 524_288),
            ("8 MiB", 8 << 20),
            ("400GB", 400_000_000_000),
            ("16kB", 16_000),
            ("3.84TB", 3_840_000_000_000),
            ("1.5k", 1536),
            ("100B", 100),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_an_error() {
        for text in ["", "k", "GB", "12q", "-4k", "1.2.3k", "0x10", "1e3", ".5k", "4 k b", "16kib2", "ib", "5i", "16ki"]
        {
            assert!(matches!(parse_bytes(text), Err(UnitError::NotASize { .. })), "{text}: {:?}", parse_bytes(text));
        }
        assert!(matches!(parse_bytes("0.3"), Err(UnitError::NotWhole { .. })));
        assert!(matches!(parse_bytes("99999999999999999999999999"), Err(UnitError::TooLarge { .. })));
        assert!(matches!(parse_bytes("99999999999999999999999999999999999999999999"), Err(UnitError::TooLarge { .. })));
        assert!(matches!(parse_bytes("16384P"), Err(UnitError::TooLarge { .. })));
        let long = format!("0.{}", "0".repeat(60));
        assert!(matches!(parse_bytes(&long), Err(UnitError::TooLarge { .. })));
    }

    #[test]
    fn shares_read_as_people_mean_them() {
        for (text, share) in [("90%", 0.9), ("1/64", 1.0 / 64.0), ("0.25", 0.25), ("1", 1.0), (" 7 % ", 0.07)] {
            assert_eq!(parse_share(text), Ok(share), "{text}");
        }
        for text in ["", "%", "1/0", "0/0", "-1%", "inf", "NaN", "1/2/3", "half"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
