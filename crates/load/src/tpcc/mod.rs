//! Order entry in the shape of TPC-C, as database people run it: without keying and think times, every session with its
//! next transaction at once. No figure of it is a TPC result.
//!
//! Five transactions in the shares of the standard (revision 5.11, clause 5.2.3) visit pages of nine tables and two
//! indexes ([`schema`]) through a buffer pool. The pages follow from the standard's non-uniform draws and from what was
//! ordered before ([`script`]), so the share of visits that memory answers is a result: of the
//! distribution and the size of the pool. Changed pages are written back in the background; a transaction that changed
//! something waits for its log, which is written and synced for a group at a time.
//!
//! Each transaction is entered at any warehouse and district, as most tools do it: terminals with a home would leave
//! most of the database cold where there are few.
//!
//! Processes: sessions, then background writers, then the log writer.
//!
//! Locked are the rows of warehouses (Payment) and districts (New-Order, Payment), from the first visit to the commit;
//! others are hardly ever wanted by two. Not modelled: undo, checkpoints as bursts, growth beyond the initial
//! population.
//!
//! Invariants:
//! - every transaction lets time pass;
//! - a transaction that changed something, and was not rolled back, is finished only after its log is durable;
//! - a transaction's parts add up to its response time.

mod config;
mod database;
mod locks;
mod random;
mod schema;
mod script;
mod session;

pub use config::{TpccConfig, TpccMix};
pub(crate) use script::{Contents, Kind, Place, Script, Visit};

use crate::instance::{Instance, per_second};
use crate::{Load, LoadError, ProcessId, Step};
use database::{Counts, Database, Part};
use device::{Rng, Time};
use locks::Locks;
use results::{Application, TpccReport, TpccTransaction};
use session::Session;
use std::collections::VecDeque;

/// TPC-C in action.
#[derive(Clone, Debug)]
pub struct Tpcc {
    sessions: Vec<Session>,
    database: Database,
}

/// The pages that transactions of this mix visit, one after the other, without time.
fn pages_of<'a>(mix: &'a TpccMix, contents: &'a mut Contents, seed: u64) -> impl FnMut() -> u32 + 'a {
    let mut rng = Rng::stream(seed, "tpcc warm cache");
    let (mut script, mut pages) = (Script::default(), VecDeque::new());
    move || loop {
        if let Some(page) = pages.pop_front() {
            return page;
        }
        let kind = Kind::draw(mix, &mut rng);
        let place = Place::draw(contents.districts(), &mut rng);
        contents.write(kind, place, &mut rng, &mut script);
        pages.extend(script.visits.iter().map(|visit| visit.page()));
    }
}

impl Tpcc {
    /// A TPC-C load; its random streams derive from `seed`.
    pub fn new(config: TpccConfig, seed: u64) -> Result<Tpcc, LoadError> {
        config.validate()?;
        let mut contents = Contents::new(config.warehouses, config.page_bytes, seed);
        let instance = {
            let draw = pages_of(&config.mix, &mut contents, seed);
            Instance::new(&config.cache, config.log, config.area(), config.sessions, seed, draw)
        };
        Ok(Tpcc {
            sessions: (0..config.sessions).map(|number| Session::new(number, seed)).collect(),
            database: Database {
                locks: Locks::new(contents.locks()),
                counts: Counts::default(),
                config,
                contents,
                instance,
            },
        })
    }
}

impl Load for Tpcc {
    fn processes(&self) -> u32 {
        self.database.instance.processes()
    }

    fn step(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        match self.sessions.get_mut(process.index()) {
            Some(session) => session.step(process, &mut self.database, now, wake),
            None => self.database.instance.step_writer(process, wake),
        }
    }

    fn footprint_bytes(&self) -> u64 {
        self.database.config.footprint_bytes()
    }

    fn start_measurement(&mut self, now: Time) {
        self.database.counts = Counts::default();
        self.database.instance.start_measurement(now);
    }

    fn report(&self, now: Time) -> Option<Application> {
        let Database { config, instance, counts, .. } = &self.database;
        let elapsed_s = instance.elapsed_s(now);
        let transactions = counts.transactions();
        let each = |sum: u64| if transactions == 0 { 0.0 } else { sum as f64 / transactions as f64 };
        let of_kind = |kind: Kind| {
            let latencies = &counts.latencies[kind as usize];
            let transaction = TpccTransaction {
                count: latencies.count(),
                share: each(latencies.count()),
                tps: per_second(latencies.count(), elapsed_s),
                lat_ns: latencies.summary(),
            };
            (kind.name().to_owned(), transaction)
        };
        let visited = counts.pages_visited.max(1);
        Some(Application::Tpcc(TpccReport {
            sessions: config.sessions,
            warehouses: config.warehouses,
            data_bytes: config.data_bytes(),
            elapsed_s,
            new_orders_per_minute: 60.0 * per_second(counts.latencies[Kind::NewOrder as usize].count(), elapsed_s),
            tps: per_second(transactions, elapsed_s),
            transactions: Kind::ALL.into_iter().map(of_kind).collect(),
            rolled_back: counts.rolled_back,
            buffer_hit_ratio: (visited - counts.pages_missed.min(visited)) as f64 / visited as f64,
            page_visits_per_transaction: each(counts.pages_visited),
            page_reads_per_transaction: each(counts.pages_missed),
            page_writes_per_transaction: each(instance.cache.counts().blocks),
            log_writes_per_transaction: each(instance.log.counts().writes),
            log_bytes_per_transaction: each(instance.log.counts().record_bytes),
            time_ns: Part::ALL.into_iter().map(|p| (p.name().to_owned(), each(counts.parts[p as usize]))).collect(),
        }))
    }
}

#[cfg(test)]
mod tests;
