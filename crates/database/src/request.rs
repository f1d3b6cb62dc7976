//! The request for a review.

use crate::{CrashConfig, DatabaseError, MixConfig, SlobConfig};
use std::path::PathBuf;

/// A part of the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Part {
    /// 80/20 against sessions.
    Mix,
    /// The commit path.
    Commit,
    Slob,
    Crash,
}

/// The database that is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Engine {
    #[default]
    Postgres,
    /// MariaDB or MySQL, with InnoDB: its mix is sysbench's `oltp_read_write`.
    MySql,
}

/// A request for a review of a device with a database.
#[derive(Clone, Debug)]
pub struct Request {
    /// The database that is run.
    pub engine: Engine,
    /// A directory on the device; what is made lies in a new one below it.
    pub dir: PathBuf,
    /// Directory for the logs of server and clients.
    pub logs: PathBuf,
    /// A program that is started as a guard of the cluster ([`crate::Guard`]), which undoes what is left of it when this
    /// process is killed; None: nobody does.
    pub guard: Option<PathBuf>,
    /// PostgreSQL's programs; None: they are looked for.
    pub pg_bin: Option<PathBuf>,
    /// Parts that are run, in the order of [`Part`].
    pub parts: Vec<Part>,
    /// Sessions of the mix, of SLOB and of committing, rising.
    pub sessions: Vec<u32>,
    /// Measured seconds of a point.
    pub point_s: f64,
    /// Sizes of data and buffers.
    pub sizes: Sizes,
    /// Parameters of the mix.
    pub mix: MixConfig,
    /// Parameters of the SLOB method.
    pub slob: SlobConfig,
    /// Parameters of the power cuts.
    pub crash: CrashConfig,
    /// Root seed of the sessions.
    pub seed: u64,
    /// Price of the device.
    pub price: Option<f64>,
    /// Power of the device in watts.
    pub power_watts: Option<f64>,
    /// Rack units that the device takes.
    pub rack_units: Option<f64>,
}

/// Requested sizes of data and buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Tables and indexes of the mix; None: what fits, and at most [`Sizes::MAX_BYTES`].
    pub data_bytes: Option<u64>,
    /// Buffer cache; None: an eighth of the data, as in the modelled load.
    pub shared_buffers_bytes: Option<u64>,
}

impl Sizes {
    /// Unless more is asked for: the modelled load's size.
    pub const MAX_BYTES: u64 = 16 << 30;
    /// Less holds nothing that could be measured.
    pub const MIN_BYTES: u64 = 32 << 20;
    const MIN_BUFFERS: u64 = 4 << 20;
    /// Most sessions, which are processes.
    pub const MAX_SESSIONS: u32 = 1_000;
}

/// The requested sizes, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub data_bytes: u64,
    pub shared_buffers_bytes: u64,
    pub max_wal_bytes: u64,
    /// Most that will lie on the device at once.
    pub needed_bytes: u64,
    pub max_sessions: u32,
    /// With tables that fit.
    pub slob: SlobConfig,
}

impl Request {
    pub(crate) fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// Most that will lie on a device of which so many bytes are free.
    pub fn needed_bytes(&self, free_bytes: u64) -> Result<u64, DatabaseError> {
        Ok(self.resolve(free_bytes)?.needed_bytes)
    }

    /// Checks every parameter and fits sizes into the room there is.
    pub(crate) fn resolve(&self, free_bytes: u64) -> Result<Resolved, DatabaseError> {
        let wrong = |text: String| Err(DatabaseError::Parameter(text.into()));
        if self.parts.is_empty() {
            return wrong("no part of the database review is asked for".into());
        }
        if self.sessions.is_empty() || !self.sessions.windows(2).all(|pair| pair[0] < pair[1]) || self.sessions[0] == 0
        {
            return wrong("--sessions is a rising list of numbers, as 1,2,4,8".into());
        }
        if self.engine == Engine::MySql && !self.parts.iter().all(|part| matches!(part, Part::Mix | Part::Crash)) {
            return wrong("MySQL has the parts mix and crash: commit and slob are PostgreSQL's".into());
        }
        let max_sessions = self.sessions[self.sessions.len() - 1];
        if max_sessions > Sizes::MAX_SESSIONS {
            return wrong(format!("--sessions {max_sessions}: at most {} can be asked for", Sizes::MAX_SESSIONS));
        }
        self.mix
            .validate()
            .and_then(|()| self.slob.validate())
            .map_err(|text| DatabaseError::Parameter(text.into()))?;
        let max_wal = |data_bytes: u64| (data_bytes / 4).clamp(128 << 20, 4 << 30);
        // The server keeps about as much log as it may, and half as much again while a checkpoint is late.
        let beside = |data_bytes: u64| max_wal(data_bytes) * 3 / 2 + (64 << 20);
        let uses_mix = self.has(Part::Mix) || self.has(Part::Commit);
        let data_bytes = match self.sizes.data_bytes {
            Some(wanted) if wanted < Sizes::MIN_BYTES => {
                return wrong(format!("--db-size is too small: at least {} MiB are needed", Sizes::MIN_BYTES >> 20));
            }
            Some(wanted) => wanted,
            // Index builds need room for sorting, and transactions make the tables grow.
            None => (free_bytes / 4).clamp(Sizes::MIN_BYTES, Sizes::MAX_BYTES),
        };
        let wanted = self.sizes.shared_buffers_bytes;
        let shared_buffers_bytes = wanted.unwrap_or(data_bytes / 8).max(Sizes::MIN_BUFFERS) >> 20 << 20;
        if shared_buffers_bytes >= data_bytes {
            return wrong(format!(
                "--shared-buffers of {} MiB hold the whole database of {} MiB: nothing would be read from the device",
                shared_buffers_bytes >> 20,
                data_bytes >> 20
            ));
        }
        let mix_bytes = if uses_mix { data_bytes * 3 / 2 } else { 0 };
        // Updates leave old versions.
        let slob_room = free_bytes.saturating_sub(beside(data_bytes)) / 5 * 4;
        let slob = self.slob.fitted(max_sessions, slob_room);
        let slob_bytes = if self.has(Part::Slob) { slob.data_bytes(max_sessions) * 5 / 4 } else { 0 };
        let crash_bytes = if self.has(Part::Crash) { self.crash.data_bytes() } else { 0 };
        let needed_bytes = mix_bytes.max(slob_bytes).max(crash_bytes) + beside(data_bytes);
        let max_wal_bytes = max_wal(data_bytes);
        Ok(Resolved { data_bytes, shared_buffers_bytes, max_wal_bytes, needed_bytes, max_sessions, slob })
    }
}
