//! The options of a review with a database.

use super::values::{Budget, Bytes};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};
use database::{Engine, Part};
use std::path::PathBuf;

/// Options that only `--database` takes.
#[derive(Debug, Args)]
pub struct DatabaseArgs {
    /// Run this database on TARGET: a directory on a mounted device, or a card, which is served and mounted for it
    #[arg(long, value_name = "DATABASE", value_parser = PossibleValuesParser::new(["postgres", "mysql"]))]
    pub database: Option<String>,
    /// Sessions of each point
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "database")]
    #[arg(default_values_t = [1, 2, 4, 8, 16, 32, 64, 128])]
    pub sessions: Vec<u32>,
    /// Only these parts [default: mix, commit, slob; with mysql mix, which is sysbench's oltp_read_write]
    #[arg(long, value_name = "PARTS", value_delimiter = ',', requires = "database")]
    pub parts: Vec<PartName>,
    /// Size of the mix' tables [default: a quarter of what is free, at most 16g]
    #[arg(long, value_name = "SIZE", requires = "database")]
    pub db_size: Option<Bytes>,
    /// Buffer cache of the database [default: an eighth of --db-size]
    #[arg(long, value_name = "SIZE", requires = "database")]
    pub shared_buffers: Option<Bytes>,
    /// Measured time of a point [default: 30s; 5s with --quick]
    #[arg(long, value_name = "TIME", requires = "database")]
    pub point: Option<Budget>,
    /// SELECT_PCT, INSERT_PCT, SCANS, ROWS, THINK_US of the mix
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', requires = "database")]
    pub mix: Vec<String>,
    /// UPDATE_PCT, RUN_TIME, WORK_UNIT, THREADS_PER_SCHEMA, SCALE, DO_HOTSPOT, HOTSPOT_PCT, HOTSPOT_MB,
    /// HOTSPOT_OFFSET_MB, BUFFERS_MB of SLOB
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', requires = "database")]
    pub slob: Vec<String>,
    /// Also cut the power under committing sessions, and check what was acknowledged
    #[arg(long, requires = "database")]
    pub crash: bool,
    /// Power cuts [default: 3]
    #[arg(long, value_name = "N", requires = "database")]
    pub cycles: Option<u32>,
    /// Directory of PostgreSQL's programs [default: PATH, /usr/lib/postgresql/*/bin]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "database")]
    pub pg_bin: Option<PathBuf>,
}

/// A part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    /// 80/20 against sessions.
    Mix,
    /// The commit path.
    Commit,
    /// The SLOB method.
    Slob,
    /// Power cuts, as --crash.
    Crash,
}

impl DatabaseArgs {
    /// The database that is asked for.
    pub fn engine(&self) -> Engine {
        if self.database.as_deref() == Some("mysql") { Engine::MySql } else { Engine::Postgres }
    }

    /// The parts that are asked for, in their order.
    pub fn parts(&self) -> Vec<Part> {
        let usual = |name: PartName| self.engine() == Engine::Postgres || name == PartName::Mix;
        let is_wanted = |name: PartName| if self.parts.is_empty() { usual(name) } else { self.parts.contains(&name) };
        let named = [(PartName::Mix, Part::Mix), (PartName::Commit, Part::Commit), (PartName::Slob, Part::Slob)];
        let mut parts: Vec<Part> =
            named.into_iter().filter(|(name, _)| is_wanted(*name)).map(|(_, part)| part).collect();
        parts.extend((self.crash || self.parts.contains(&PartName::Crash)).then_some(Part::Crash));
        parts
    }
}
