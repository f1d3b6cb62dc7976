//! The contents of the database, against the acknowledged transactions.

use super::config::{CrashConfig, MAX_COMPLAINTS};
use super::ledger::Ledger;
use results::CrashCycle;

/// The database's record of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// Value of the session's counter.
    pub counter: u64,
    /// Numbers in the log, rising.
    pub log: Vec<u64>,
    /// The number in each row.
    pub rows: Vec<u64>,
}

/// The database's records of all sessions.
pub(crate) struct Found(pub Vec<Session>);

impl Found {
    /// A record of each session, of which nothing was read yet.
    pub fn none(config: &CrashConfig) -> Found {
        Found(vec![Session::default(); config.sessions as usize])
    }

    /// The record of a session. Sessions were numbered by us: another number would be a damaged row, which is counted with
    /// the last session.
    pub fn of(&mut self, number: i64) -> &mut Session {
        let last = self.0.len() - 1;
        &mut self.0[usize::try_from(number).map_or(last, |number| number.min(last))]
    }
}

/// Compares, and goes on from what was found: a transaction in flight that was kept counts as acknowledged.
pub(crate) fn compare(ledgers: &mut [Ledger], found: &Found, cycle: &mut CrashCycle) {
    for (number, (ledger, found)) in ledgers.iter_mut().zip(&found.0).enumerate() {
        compare_session(number, ledger, found, cycle);
        *ledger = Ledger { acknowledged: found.counter, in_flight: None, rows: found.rows.clone() };
    }
    let left_out = cycle.complaints.len().saturating_sub(MAX_COMPLAINTS);
    if left_out > 0 {
        cycle.complaints.truncate(MAX_COMPLAINTS);
        cycle.complaints.push(format!("{left_out} more of these"));
    }
}

fn compare_session(number: usize, ledger: &Ledger, found: &Session, cycle: &mut CrashCycle) {
    let mut complain = |text: String| cycle.complaints.push(format!("session {number}: {text}"));
    let submitted = ledger.in_flight.map_or(ledger.acknowledged, |(submitted, _)| submitted);
    let logged = found.log.iter().filter(|&&seq| (1..=ledger.acknowledged).contains(&seq)).count() as u64;
    cycle.lost += ledger.acknowledged - logged.min(found.counter.min(ledger.acknowledged));
    // A transaction leaves both or none.
    let last = found.log.last().copied().unwrap_or(0);
    if last != found.counter {
        cycle.torn += 1;
        complain(format!("the log ends at {last}, and the counter says {}", found.counter));
    }
    if found.log.iter().enumerate().any(|(i, &seq)| seq != i as u64 + 1) {
        complain(format!("the log has {} entries up to {last}, not each once", found.log.len()));
    }
    if last.max(found.counter) > submitted {
        complain(format!("transaction {} is there, and none after {submitted} was asked for", last.max(found.counter)));
    }
    if found.rows.len() != ledger.rows.len() {
        complain(format!("{} rows are there, of {}", found.rows.len(), ledger.rows.len()));
    }
    let kept = ledger.in_flight.filter(|&(submitted, _)| found.counter == submitted);
    cycle.in_flight_kept += u64::from(kept.is_some());
    for (slot, (&there, &acknowledged)) in found.rows.iter().zip(&ledger.rows).enumerate() {
        let expected = match kept {
            Some((submitted, row)) if row as usize == slot => submitted,
            _ => acknowledged,
        };
        if there == expected {
            continue;
        }
        // A transaction that is lost whole has been counted; its row is older, and none that was kept changed it.
        if there <= found.counter && expected > found.counter {
            continue;
        }
        if there < expected && there <= found.counter {
            cycle.stale_rows += 1;
        } else {
            cycle.torn += 1;
            complain(format!("row {slot} is of transaction {there}, and {expected} was the last that changed it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five acknowledged transactions on three rows, and a sixth in flight.
    fn ledger() -> Ledger {
        Ledger { acknowledged: 5, in_flight: Some((6, 2)), rows: vec![4, 5, 3] }
    }

    fn session(counter: u64, rows: [u64; 3]) -> Session {
        Session { counter, log: (1..=counter).collect(), rows: rows.to_vec() }
    }

    fn check(found: Session) -> (CrashCycle, Ledger) {
        let (mut ledgers, mut cycle) = (vec![ledger()], CrashCycle { recovery_s: Some(1.0), ..Default::default() });
        compare(&mut ledgers, &Found(vec![found]), &mut cycle);
        (cycle, ledgers.remove(0))
    }

    #[test]
    fn what_is_in_flight_may_be_whole_or_absent() {
        let (absent, _) = check(session(5, [4, 5, 3]));
        assert!(absent.is_clean() && absent.in_flight_kept == 0, "{absent:?}");
        let (whole, next) = check(session(6, [4, 5, 6]));
        assert!(whole.is_clean() && whole.in_flight_kept == 1, "{whole:?}");
        assert_eq!(next, Ledger { acknowledged: 6, in_flight: None, rows: vec![4, 5, 6] });
    }

    #[test]
    fn lost_transactions_are_counted_once() {
        let (cycle, _) = check(session(3, [1, 2, 3]));
        assert_eq!((cycle.lost, cycle.torn, cycle.stale_rows), (2, 0, 0), "{cycle:?}");
        let hole = Session { log: vec![1, 2, 4, 5], ..session(5, [4, 5, 3]) };
        let (cycle, _) = check(hole);
        assert_eq!((cycle.lost, cycle.complaints.len()), (1, 1), "{cycle:?}");
    }

    #[test]
    fn a_transaction_in_part_is_torn() {
        let (log_only, _) = check(Session { log: (1..=6).collect(), ..session(5, [4, 5, 3]) });
        assert_eq!((log_only.torn, log_only.lost), (1, 0));
        let (row_only, _) = check(session(5, [4, 5, 6]));
        assert_eq!(row_only.torn, 1);
        let (no_row, _) = check(session(6, [4, 5, 3]));
        assert_eq!((no_row.stale_rows, no_row.in_flight_kept), (1, 1));
    }

    #[test]
    fn a_row_that_is_older_than_the_log_says_is_stale() {
        let (cycle, _) = check(session(5, [4, 2, 3]));
        assert_eq!((cycle.lost, cycle.torn, cycle.stale_rows), (0, 0, 1));
        assert!(!cycle.is_clean());
    }

    #[test]
    fn what_nobody_asked_for_is_told() {
        let (cycle, _) = check(session(7, [4, 5, 6]));
        assert!(cycle.complaints.iter().any(|c| c.contains("transaction 7 is there")), "{cycle:?}");
        let (cycle, _) = check(Session { rows: vec![4, 5], ..session(5, [4, 5, 3]) });
        assert!(cycle.complaints[0].contains("2 rows are there, of 3"));
    }
}
