//! Sessions that remember what was acknowledged, until power goes.

use super::config::CrashConfig;
use super::ledger::Ledger;
use super::server::{Commits, CrashServer};
use crate::{DatabaseError, Power};
use ::device::Rng;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use target::Progress;

/// Bound on the time after a cut for which sessions may be answered: a transaction that is acknowledged then was never
/// on the device.
const AFTERWARDS: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(10);

/// A module that is pulled out of the working device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pulled {
    pub module: u32,
    /// It is put back before power is cut, and is being rebuilt then, or has just been.
    pub comes_back: bool,
}

impl Pulled {
    /// One cut of three finds the device without one of its modules, and one with a module that has just been put back; each
    /// module in turn.
    pub fn in_cycle(cycle: u32, power: &dyn Power) -> Option<Pulled> {
        (power.modules() > 0 && !cycle.is_multiple_of(3))
            .then(|| Pulled { module: cycle / 3 % power.modules().max(1), comes_back: cycle % 3 == 2 })
    }
}

/// Lets the sessions commit, pulls a module if one is named, and cuts power under them. Afterwards no process of the
/// server is left. Seconds of load until the cut.
pub(super) fn run_until_cut<S: CrashServer>(
    server: &mut S,
    config: &CrashConfig,
    (cycle, seed): (u32, u64),
    ledgers: &mut [Ledger],
    power: &dyn Power,
    pulled: Option<Pulled>,
    progress: &dyn Progress,
) -> Result<f64, DatabaseError> {
    let mut connections = Vec::new();
    for _ in ledgers.iter() {
        connections.push(server.session()?);
    }
    let beside = server.beside(cycle, config)?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = &over;
        for (session, (ledger, mut connection)) in ledgers.iter_mut().zip(connections).enumerate() {
            let mut rng = Rng::stream(seed, &format!("database crash {cycle} {session}"));
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let slot = rng.below(ledger.rows.len() as u64) as u32;
                    let number = ledger.acknowledged + 1;
                    ledger.in_flight = Some((number, slot));
                    // The end is power that is gone, or is looked into afterwards: there are too few transactions.
                    if !connection.commit(session, number, slot) {
                        break;
                    }
                    ledger.acknowledged = number;
                    ledger.rows[slot as usize] = number;
                    ledger.in_flight = None;
                }
            });
        }
        if let Some(beside) = beside {
            scope.spawn(move || beside(over));
        }
        let cut = cut_after(config.load_s, power, pulled, progress);
        if cut.is_ok() {
            std::thread::sleep(AFTERWARDS);
        }
        over.store(true, Ordering::Relaxed);
        // Sessions that wait for the device end with the server.
        server.kill_hard();
        cut
    })
}

/// Pulls a module if one is named, and cuts power. Seconds until then.
fn cut_after(
    load_s: f64,
    power: &dyn Power,
    pulled: Option<Pulled>,
    progress: &dyn Progress,
) -> Result<f64, DatabaseError> {
    let began = Instant::now();
    // Shares of the time at which something happens, the next one last.
    let mut to_come: Vec<(f64, bool)> = match pulled {
        Some(Pulled { comes_back: true, .. }) => vec![(0.8, true), (0.3, false)],
        Some(Pulled { comes_back: false, .. }) => vec![(0.5, false)],
        None => Vec::new(),
    };
    while began.elapsed().as_secs_f64() < load_s {
        if progress.cancelled() {
            return Err(DatabaseError::Cancelled);
        }
        if let Some((Pulled { module, .. }, (_, back))) =
            pulled.zip(to_come.pop_if(|(share, _)| began.elapsed().as_secs_f64() >= load_s * *share))
        {
            let (what, done) = match back {
                true => ("the module can't be put back", power.insert(module)),
                false => ("the module can't be pulled", power.pull(module)),
            };
            done.map_err(|why| DatabaseError::Power { what, why: why.into() })?;
        }
        std::thread::sleep(POLL);
    }
    power.cut().map_err(|why| DatabaseError::Power { what: "power can't be cut", why: why.into() })?;
    Ok(began.elapsed().as_secs_f64())
}
