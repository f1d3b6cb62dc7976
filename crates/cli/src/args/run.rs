//! The options of `flashrig run`.

use super::values::{Scale, Share, seconds};
use super::{CacheArgs, FileioArgs, ModelledArgs, OltpArgs, RedoArgs, ReplicaArgs, SlobArgs, TpccArgs, TraceArgs};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum, ValueHint};
use load::FileioMode;
use std::path::PathBuf;

/// The options of `flashrig run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A built-in card (see flashrig cards), or the path of a TOML file (it ends in .toml or has a /)
    #[arg(value_hint = ValueHint::FilePath)]
    pub card: String,
    /// The load: a mode of sysbench's fileio, or a database
    #[arg(
        help = "What the host asks: a mode of sysbench's fileio (fio's words do as well), or a database",
        long,
        short = 'l',
        value_name = "LOAD",
        required_unless_present = "trace"
    )]
    pub load: Option<LoadName>,
    /// The device and its host.
    #[command(flatten, next_help_heading = "Device and host")]
    pub device: DeviceArgs,
    /// Length of the measurement.
    #[command(flatten, next_help_heading = "How long")]
    pub measure: MeasureArgs,
    /// The output of the run.
    #[command(flatten, next_help_heading = "Output")]
    pub output: OutputArgs,
    /// A trace in place of a load.
    #[command(flatten, next_help_heading = "A trace in place of a load")]
    pub trace: TraceArgs,
    /// The loads of sysbench fileio.
    #[command(flatten, next_help_heading = "fileio (seqwr, seqrewr, seqrd, seqrw, rndrd, rndwr, rndrw)")]
    pub fileio: FileioArgs,
    /// A redo log.
    #[command(flatten, next_help_heading = "redo")]
    pub redo: RedoArgs,
    /// Options of SLOB.
    #[command(flatten, next_help_heading = "slob")]
    pub slob: SlobArgs,
    /// Options of OLTP.
    #[command(flatten, next_help_heading = "oltp")]
    pub oltp: OltpArgs,
    /// Options of TPC-C.
    #[command(flatten, next_help_heading = "tpcc")]
    pub tpcc: TpccArgs,
    /// Options of a replica.
    #[command(flatten, next_help_heading = "replica")]
    pub replica: ReplicaArgs,
}

/// The loads that can be run: sysbench's modes, which are understood in fio's words too, and databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LoadName {
    Seqwr,
    Seqrewr,
    Seqrd,
    Seqrw,
    Rndrd,
    Rndwr,
    Rndrw,
    Redo,
    Slob,
    Oltp,
    Tpcc,
    Replica,
}

impl ValueEnum for LoadName {
    fn value_variants<'a>() -> &'a [LoadName] {
        use LoadName::*;
        &[Seqwr, Seqrewr, Seqrd, Seqrw, Rndrd, Rndwr, Rndrw, Redo, Slob, Oltp, Tpcc, Replica]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let of_fio = FileioMode::OF_FIO.into_iter().filter(|(_, mode)| self.fileio() == Some(*mode));
        let words: Vec<&str> = of_fio.map(|(word, _)| word).collect();
        let help = match words.first() {
            Some(word) => format!("{} (fio: {word})", self.help()),
            None => self.help().to_owned(),
        };
        Some(PossibleValue::new(self.name()).help(help).aliases(words))
    }
}

impl LoadName {
    /// The mode, where it is one of fileio's.
    pub fn fileio(self) -> Option<FileioMode> {
        match self {
            LoadName::Seqwr => Some(FileioMode::SeqWr),
            LoadName::Seqrewr => Some(FileioMode::SeqRewr),
            LoadName::Seqrd => Some(FileioMode::SeqRd),
            LoadName::Seqrw => Some(FileioMode::SeqRw),
            LoadName::Rndrd => Some(FileioMode::RndRd),
            LoadName::Rndwr => Some(FileioMode::RndWr),
            LoadName::Rndrw => Some(FileioMode::RndRw),
            LoadName::Redo | LoadName::Slob | LoadName::Oltp | LoadName::Tpcc | LoadName::Replica => None,
        }
    }

    fn help(self) -> &'static str {
        match self {
            LoadName::Seqwr => "Sequential writes to a new file",
            LoadName::Seqrewr => "Sequential writes over a file",
            LoadName::Seqrd => "Sequential reads",
            LoadName::Seqrw => "Sequential reads and writes",
            LoadName::Rndrd => "Random reads",
            LoadName::Rndwr => "Random writes",
            LoadName::Rndrw => "Random reads and writes",
            LoadName::Redo => "A redo log, a flush after each write, beside random reads",
            LoadName::Slob => "SLOB: readers and updaters of database blocks through a buffer cache",
            LoadName::Oltp => "Transactions of a PostgreSQL-like database, 80 % reads",
            LoadName::Replica => "A replica that applies the log of a master that runs tpcc",
            LoadName::Tpcc => "Order entry in the shape of TPC-C, without thinking; no TPC result",
        }
    }

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            LoadName::Redo => "redo",
            LoadName::Slob => "slob",
            LoadName::Oltp => "oltp",
            LoadName::Tpcc => "tpcc",
            LoadName::Replica => "replica",
            _ => self.fileio().map_or("", FileioMode::name),
        }
    }
}

/// The device and its host.
#[derive(Debug, Args)]
pub struct DeviceArgs {
    /// Share of the user capacity that holds data before the run (a nearly empty card is fast)
    #[arg(long, value_name = "SHARE", default_value_t = Share(1.0))]
    pub fill: Share,
    /// Model the card at this part of its size; spare factor, dies and latencies are kept [default: 1/64]
    #[arg(long, value_name = "PART")]
    pub scale: Option<Scale>,
    /// The host of the model, its settings and its seed.
    #[command(flatten)]
    pub model: ModelledArgs,
    /// Do not precondition to steady state: show the fast beginning
    #[arg(long)]
    pub fresh: bool,
    /// The card as a cache.
    #[command(flatten)]
    pub cache: CacheArgs,
}

impl DeviceArgs {
    /// All settings of the card and the host.
    pub fn settings(&self) -> Vec<String> {
        self.cache.after(&self.model.all_settings())
    }
}

/// Length of the measurement; without any of these, long enough for stable figures.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct MeasureArgs {
    /// Measure so many virtual seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Measure so many requests of the host, of any kind
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// The same, for loads that only write
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub writes: Option<u64>,
}

/// The output of a run.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Say where the time of slow requests went
    #[arg(long)]
    pub explain_tail: bool,
    /// Put whole histograms of latency into the JSON, as fio's json+ has them
    #[arg(long)]
    pub histograms: bool,
    /// Write the result as JSON as well; - prints it in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fios_words_are_understood_as_ours() {
        for (word, mode) in FileioMode::OF_FIO {
            let name = <LoadName as ValueEnum>::from_str(word, false).unwrap();
            assert_eq!(name.fileio(), Some(mode), "{word}");
            assert_eq!(word.parse(), Ok(mode), "{word}");
        }
        for name in LoadName::value_variants() {
            assert_eq!(<LoadName as ValueEnum>::from_str(name.name(), false), Ok(*name));
        }
    }
}
