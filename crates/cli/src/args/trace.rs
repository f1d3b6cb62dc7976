//! The options of a trace that is replayed.

use clap::{Args, ValueEnum, ValueHint};
use load::Speed;
use load::trace::Format;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// A recorded trace in place of a load.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Replay the block trace in this file, plain, gzip or zstd, in place of a load; - for standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "load")]
    pub trace: Option<PathBuf>,
    /// The trace's format; without it, as its content says
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<FormatName>,
    /// Speed of the replay: recorded, max, or so many times faster (2x, 0.5x) [default: recorded; of fio2: max]
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<TraceSpeed>,
    /// Skip and count broken lines, and take time that runs backwards as standing still
    #[arg(long)]
    pub skip_bad: bool,
    /// Only requests of this volume, as it stands in the file: usr,0 in msr, 8,0 in blkparse, a file's name in fio
    #[arg(long, value_name = "NAME")]
    pub trace_volume: Option<String>,
}

/// The formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// MSR Cambridge, CSV
    Msr,
    /// The output of blkparse
    #[value(help = "What blkparse prints; requests as they were issued to the drive (D)")]
    Blkparse,
    /// fio's iolog, version 2, which has no times but wait lines
    Fio2,
    /// fio's iolog, version 3
    Fio3,
    /// SYSTOR '17, CSV
    Systor,
    /// Alibaba's cloud disks, CSV
    Alibaba,
}

impl FormatName {
    /// The format as the reader of traces names it.
    pub fn format(self) -> Format {
        match self {
            FormatName::Msr => Format::Msr,
            FormatName::Blkparse => Format::Blkparse,
            FormatName::Fio2 => Format::FioV2,
            FormatName::Fio3 => Format::FioV3,
            FormatName::Systor => Format::Systor,
            FormatName::Alibaba => Format::Alibaba,
        }
    }
}

/// Speed at which a trace is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceSpeed(pub Speed);

/// Not a speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("write recorded, max, or how many times faster, from 0.001x to 1000000x")]
pub struct NotASpeed;

impl FromStr for TraceSpeed {
    type Err = NotASpeed;
    fn from_str(text: &str) -> Result<TraceSpeed, NotASpeed> {
        Ok(TraceSpeed(match text.trim() {
            "recorded" => Speed::Recorded(1.0),
            "max" => Speed::Max,
            times => {
                let factor: f64 = times.strip_suffix('x').and_then(|f| f.parse().ok()).ok_or(NotASpeed)?;
                if !(0.001..=1e6).contains(&factor) {
                    return Err(NotASpeed);
                }
                Speed::Recorded(factor)
            }
        }))
    }
}

impl fmt::Display for TraceSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Speed::Max => f.write_str("max"),
            Speed::Recorded(1.0) => f.write_str("recorded"),
            Speed::Recorded(factor) => write!(f, "{factor}x"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_print_as_they_are_typed() {
        for text in ["recorded", "max", "2x", "0.5x", "1000000x"] {
            assert_eq!(text.parse::<TraceSpeed>().unwrap().to_string(), text);
        }
        for text in ["", "2", "x", "0x", "-1x", "NaNx", "infx", "2 x", "0.0001x", "fast"] {
            assert_eq!(text.parse::<TraceSpeed>(), Err(NotASpeed), "{text}");
        }
    }

    #[test]
    fn every_format_has_its_name() {
        let typed =
            FormatName::value_variants().iter().map(|name| name.to_possible_value().unwrap().get_name().to_owned());
        let formats = FormatName::value_variants().iter().map(|name| name.format());
        assert!(typed.eq(formats.map(|format| format.name().to_owned())));
        assert_eq!(FormatName::value_variants().len(), Format::ALL.len());
    }
}
