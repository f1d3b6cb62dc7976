//! How a card stands at a moment, as the page shows it.

use crate::served::Served;
use crate::words::{Connection, Frontend, Smart};
use live::{Gc, ModuleStatus, Snapshot};
use serde::Serialize;

/// Clients that the page lists; a server may have thousands.
const MOST_CLIENTS: usize = 64;

/// How a card stands.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Standing {
    pub state: State,
    /// Share of the rebuild that is done, while there is one.
    pub rebuild: Option<f64>,
    /// Share of the scrub that is done, while there is one.
    pub scrub: Option<f64>,
    pub collection: Collection,
    /// Most that the card was behind the clock in the last minute, if that is much.
    pub behind_ns: Option<u64>,
    /// Requests of hosts that did not work, since the start.
    pub errors: u64,
    pub health: Option<Health>,
    pub slots: Vec<ModuleStatus>,
    pub clients: Vec<Connection>,
    /// Clients in all, also those that are not listed.
    pub connected: usize,
    pub turned_away: u64,
}

/// The states of a card, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    NoPower,
    Stopped,
    ReadOnly,
    Degraded,
    Well,
}

/// How garbage collection stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Collection {
    is_at_work: bool,
    pub stops_host: bool,
    bands: u32,
    reserve_bands: u32,
    pub target_free_bands: u32,
    /// Pages programmed for data over pages written by the host, since the start.
    write_amplification: f64,
}

/// Wear and spare, in percent.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Health {
    used: u8,
    spare: u8,
    spare_threshold: u8,
}

impl State {
    fn of(snapshot: &Snapshot) -> State {
        let status = &snapshot.status;
        match () {
            () if !status.powered && snapshot.modules.is_empty() => State::Well,
            () if !status.powered => State::NoPower,
            () if status.stopped => State::Stopped,
            () if status.read_only => State::ReadOnly,
            () if status.degraded => State::Degraded,
            () => State::Well,
        }
    }
}

impl Standing {
    pub fn of(served: &Served, snapshot: &Snapshot) -> Standing {
        let status = &snapshot.status;
        let Frontend { mut clients, turned_away, .. } = served.frontend();
        let connected = clients.len();
        clients.truncate(MOST_CLIENTS);
        Standing {
            state: State::of(snapshot),
            rebuild: status.rebuild,
            scrub: status.scrub,
            collection: Collection {
                is_at_work: status.collects,
                stops_host: status.settings.gc == Gc::StopTheWorld,
                bands: status.bands,
                reserve_bands: status.reserve_bands,
                target_free_bands: status.settings.target_free_bands,
                write_amplification: status.write_amplification,
            },
            behind_ns: status.pace.is_behind().then_some(status.pace.most_behind_ns),
            errors: status.stats.errors,
            health: snapshot.health.map(Smart::from).map(|smart| Health {
                used: smart.percentage_used,
                spare: smart.available_spare,
                spare_threshold: smart.available_spare_threshold,
            }),
            slots: snapshot.modules.clone(),
            clients,
            connected,
            turned_away,
        }
    }
}
