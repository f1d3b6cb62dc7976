//! The rules, one by one.

use super::*;
use crate::sim::OpError;
use std::collections::BTreeSet;

const A: Lba = Lba(0);

/// An oracle with a host that speaks in few words.
#[derive(Clone)]
struct Host {
    oracle: Oracle,
    next: u64,
}

impl Host {
    fn new(durability: Durability) -> Host {
        Host { oracle: Oracle::new(4, durability), next: 0 }
    }

    fn begin(&mut self, ask: Ask) -> OpId {
        let id = OpId(self.next);
        self.next += 1;
        let op = self.oracle.stamped(&ask);
        self.oracle.submitted(id, &op).unwrap();
        id
    }

    fn end(&mut self, id: OpId, outcome: Outcome) -> Result<(), Violation> {
        self.oracle.done(&Done { id, outcome })
    }

    fn ok(&mut self, id: OpId) {
        self.end(id, Outcome::Ok).unwrap();
    }

    fn write(&mut self) -> OpId {
        self.begin(Ask::Write { lba: A, count: 1, fua: false })
    }

    /// An acknowledged write.
    fn written(&mut self) {
        let id = self.write();
        self.ok(id);
    }

    fn trimmed(&mut self) {
        let id = self.begin(Ask::Trim { lba: A, count: 1 });
        self.ok(id);
    }

    fn flushed(&mut self) {
        let id = self.begin(Ask::Flush);
        self.ok(id);
    }

    fn reading(&mut self) -> OpId {
        self.begin(Ask::Read { lba: A, count: 1 })
    }

    fn finds(&mut self, id: OpId, what: Sector) -> Option<Wrong> {
        match self.end(id, Outcome::Values(vec![what])) {
            Ok(()) => None,
            Err(Violation::Sector(sector)) => Some(sector.wrong),
            Err(other) => panic!("{other}"),
        }
    }

    /// A read by itself.
    fn read(&mut self, what: Sector) -> Option<Wrong> {
        let id = self.reading();
        self.finds(id, what)
    }

    fn lose(&mut self) {
        self.oracle.allow(&Impact { lost: Lost::These(BTreeSet::from([A])), ..Impact::default() });
    }
}

fn v(version: u32) -> Sector {
    Sector::Value(Stamp::new(A, version))
}

const BOTH: [Durability; 2] = [Durability::OnAck, Durability::OnFlush];

#[test]
fn the_last_acknowledged_version_is_read() {
    for durability in BOTH {
        let mut host = Host::new(durability);
        assert_eq!(host.read(Sector::Zero), None);
        host.written();
        assert_eq!(host.read(Sector::Zero), Some(Wrong::Older));
        host.written();
        assert_eq!(host.read(v(2)), None);
        assert_eq!(host.read(v(1)), Some(Wrong::Older));
    }
}

#[test]
fn a_read_beside_a_write_returns_either_and_never_goes_back() {
    let mut host = Host::new(Durability::OnFlush);
    host.written();
    let write = host.write();
    assert_eq!(host.read(v(1)), None);
    assert_eq!(host.read(v(2)), None);
    assert_eq!(host.read(v(1)), Some(Wrong::Older));
    host.ok(write);
    assert_eq!(host.read(v(2)), None);
}

#[test]
fn two_reads_beside_each_other_may_return_either() {
    let mut host = Host::new(Durability::OnAck);
    host.written();
    let _write = host.write();
    let (first, second) = (host.reading(), host.reading());
    assert_eq!(host.finds(first, v(2)), None);
    assert_eq!(host.finds(second, v(1)), None);
    assert_eq!(host.read(v(1)), Some(Wrong::Older));
}

#[test]
fn a_read_that_began_before_an_acknowledgement_may_return_what_was_before() {
    let mut host = Host::new(Durability::OnAck);
    host.written();
    let read = host.reading();
    host.written();
    host.written();
    let mut later = host.oracle.clone();
    assert_eq!(host.finds(read, v(1)), None);
    assert!(later.done(&Done { id: read, outcome: Outcome::Values(vec![v(2)]) }).is_ok());
}

#[test]
fn overlapping_writes_order_either_way_until_one_is_read() {
    for last in [1, 2] {
        let mut host = Host::new(Durability::OnAck);
        let (first, second) = (host.write(), host.write());
        host.ok(second);
        host.ok(first);
        assert_eq!(host.read(v(last)), None);
        assert_eq!(host.read(v(last)), None);
        assert!(host.read(v(3 - last)).is_some());
    }
}

#[test]
fn the_order_that_a_read_has_shown_holds_after_a_cut() {
    let mut host = Host::new(Durability::OnFlush);
    let (first, second) = (host.write(), host.write());
    host.ok(second);
    host.ok(first);
    assert_eq!(host.read(v(1)), None);
    host.flushed();
    host.oracle.cut();
    assert!(host.read(v(2)).is_some());
    assert_eq!(host.read(v(1)), None);
}

#[test]
fn with_capacitors_an_acknowledged_write_survives() {
    let mut host = Host::new(Durability::OnAck);
    host.written();
    host.written();
    host.oracle.cut();
    assert_eq!(host.oracle.allowed(A), [v(2)]);
    assert_eq!(host.read(v(1)), Some(Wrong::Older));
}

#[test]
fn with_capacitors_a_write_that_was_read_survives() {
    let mut host = Host::new(Durability::OnAck);
    host.written();
    let _write = host.write();
    assert_eq!(host.read(v(2)), None);
    host.oracle.cut();
    assert_eq!(host.oracle.allowed(A), [v(2)]);
}

#[test]
fn without_capacitors_only_what_a_flush_covers_survives() {
    let mut host = Host::new(Durability::OnFlush);
    host.written();
    host.flushed();
    host.written();
    assert_eq!(host.read(v(2)), None);
    host.trimmed();
    host.oracle.cut();
    assert_eq!(host.oracle.allowed(A), [v(1), v(2), Sector::Zero]);
    assert_eq!(host.read(v(2)), None);
}

#[test]
fn a_flush_covers_what_was_acknowledged_before_it_was_submitted() {
    let mut host = Host::new(Durability::OnFlush);
    host.written();
    let write = host.write();
    let flush = host.begin(Ask::Flush);
    host.ok(write);
    host.ok(flush);
    host.oracle.cut();
    assert_eq!(host.oracle.allowed(A), [v(1), v(2)]);
}

#[test]
fn a_flush_that_failed_covers_nothing() {
    let mut host = Host::new(Durability::OnFlush);
    host.oracle.allow(&Impact { may_fail: true, ..Impact::default() });
    host.written();
    let flush = host.begin(Ask::Flush);
    host.end(flush, Outcome::Failed(OpError::Io)).unwrap();
    host.oracle.cut();
    assert_eq!(host.oracle.allowed(A), [Sector::Zero, v(1)]);
}

#[test]
fn fua_survives_by_itself_and_covers_nothing_else() {
    let mut host = Host::new(Durability::OnFlush);
    let other = host.begin(Ask::Write { lba: Lba(1), count: 1, fua: false });
    host.ok(other);
    let fua = host.begin(Ask::Write { lba: A, count: 1, fua: true });
    host.ok(fua);
    host.oracle.cut();
    assert_eq!(host.oracle.allowed(A), [v(1)]);
    assert_eq!(host.oracle.allowed(Lba(1)).len(), 2);
}

#[test]
fn trims_and_zeroes_are_versions() {
    for durability in BOTH {
        let mut host = Host::new(durability);
        host.written();
        host.trimmed();
        host.flushed();
        host.oracle.cut();
        assert_eq!(host.read(v(1)), Some(Wrong::Older));
        host.written();
        host.flushed();
        host.oracle.cut();
        assert_eq!(host.read(Sector::Zero), Some(Wrong::Older));
        assert_eq!(host.read(v(3)), None);
    }
}

#[test]
fn what_a_recovery_has_shown_never_changes_again() {
    for shown in [1, 2, 3] {
        let mut host = Host::new(Durability::OnFlush);
        host.written();
        host.flushed();
        host.written();
        let _in_flight = host.write();
        host.oracle.cut();
        assert_eq!(host.read(v(shown)), None);
        host.oracle.cut();
        assert_eq!(host.oracle.allowed(A), [v(shown)]);
        for other in (1..=3).filter(|&o| o != shown) {
            let wrong = host.read(v(other)).unwrap();
            assert_eq!(wrong, if other < shown { Wrong::Older } else { Wrong::Returned });
        }
    }
}

#[test]
fn what_was_in_flight_at_a_cut_comes_before_what_is_written_after_it() {
    let mut host = Host::new(Durability::OnAck);
    let _in_flight = host.write();
    host.oracle.cut();
    host.written();
    assert_eq!(host.oracle.allowed(A), [v(2)]);
    host.oracle.cut();
    assert_eq!(host.oracle.allowed(A), [v(2)]);
}

#[test]
fn a_failed_write_may_take_effect_until_a_recovery_or_a_later_write_decides() {
    let mut host = Host::new(Durability::OnAck);
    host.oracle.allow(&Impact { may_fail: true, ..Impact::default() });
    host.written();
    let write = host.write();
    host.end(write, Outcome::Failed(OpError::Io)).unwrap();
    assert_eq!(host.read(v(1)), None);
    assert_eq!(host.oracle.allowed(A), [v(1), v(2)]);
    host.oracle.cut();
    let mut decided = host.oracle.clone();
    assert_eq!(host.read(v(1)), None);
    assert_eq!(host.read(v(2)), Some(Wrong::Returned));
    let op = decided.stamped(&Ask::Write { lba: A, count: 1, fua: false });
    decided.submitted(OpId(100), &op).unwrap();
    decided.done(&Done { id: OpId(100), outcome: Outcome::Ok }).unwrap();
    assert_eq!(decided.allowed(A), [v(3)]);
}

#[test]
fn what_was_never_written_here_is_told_from_an_older_version() {
    let mut host = Host::new(Durability::OnAck);
    let id = host.begin(Ask::Write { lba: Lba(1), count: 1, fua: false });
    host.ok(id);
    host.written();
    host.written();
    let (old, new) = (Stamp::new(A, 1).0, Stamp::new(A, 2).0);
    let torn = Stamp(old & 0xffff_ffff | new & !0xffff_ffff);
    assert_eq!(host.read(Sector::Value(torn)), Some(Wrong::NeverWritten));
    assert_eq!(host.read(v(3)), Some(Wrong::NeverWritten));
    assert_eq!(host.read(Sector::Mixed), Some(Wrong::NeverWritten));
    assert_eq!(host.read(Sector::Value(Stamp::new(Lba(1), 1))), Some(Wrong::AnotherSector(Lba(1))));
    assert_eq!(host.read(Sector::Error), Some(Wrong::UnexplainedError));
}

#[test]
fn what_was_lost_may_come_back_and_nothing_older() {
    for (durability, is_cut) in BOTH.into_iter().flat_map(|durability| [(durability, false), (durability, true)]) {
        let mut host = Host::new(durability);
        for _ in 0..2 {
            host.written();
            host.flushed();
        }
        host.lose();
        assert_eq!(host.read(Sector::Error), None);
        if is_cut {
            host.oracle.cut();
        }
        assert_eq!(host.oracle.allowed(A), [v(2), Sector::Error]);
        assert_eq!(host.clone().read(v(1)), Some(Wrong::Older));
        assert_eq!(host.clone().read(Sector::Zero), Some(Wrong::Older));
        assert_eq!(host.read(v(2)), None);
        assert_eq!(host.read(Sector::Error), Some(Wrong::UnexplainedError));
        host.oracle.cut();
        assert_eq!(host.oracle.allowed(A), [v(2)]);
    }
}

#[test]
fn an_error_ends_when_it_is_overwritten() {
    for durability in BOTH {
        let mut host = Host::new(durability);
        host.written();
        host.flushed();
        host.lose();
        assert_eq!(host.read(v(1)), None);
        assert_eq!(host.read(Sector::Error), None);
        host.trimmed();
        assert_eq!(host.read(Sector::Error), Some(Wrong::UnexplainedError));
        assert_eq!(host.read(Sector::Zero), None);
    }
}

#[test]
fn a_loss_is_of_these_sectors_and_of_what_was_written_before() {
    let mut host = Host::new(Durability::OnAck);
    host.lose();
    assert!(!host.oracle.allowed(Lba(1)).contains(&Sector::Error));
    assert!(host.oracle.allowed(A).contains(&Sector::Error));
    host.written();
    assert_eq!(host.read(Sector::Error), Some(Wrong::UnexplainedError));
}

#[test]
fn refusals_and_failures_need_a_fault_that_accounts_for_them() {
    let mut host = Host::new(Durability::OnAck);
    assert!(host.oracle.refused(Refusal::MissingModules).is_err());
    let write = host.write();
    assert!(matches!(host.end(write, Outcome::Failed(OpError::Io)), Err(Violation::Failed { .. })));
    host.oracle.allow(&Impact { may_refuse: true, may_fail: true, ..Impact::default() });
    assert!(host.oracle.refused(Refusal::MissingModules).is_ok());
    let write = host.write();
    assert!(host.end(write, Outcome::Failed(OpError::Io)).is_ok());
}

#[test]
fn answers_fit_requests_in_flight() {
    let mut host = Host::new(Durability::OnAck);
    let read = host.reading();
    assert!(matches!(host.end(OpId(77), Outcome::Ok), Err(Violation::NotInFlight { id: OpId(77) })));
    let values = Outcome::Values(vec![Sector::Zero; 2]);
    assert!(matches!(host.end(read, values), Err(Violation::Misfit { expected: 1, got: 2, .. })));
    let write = host.write();
    host.oracle.cut();
    assert!(matches!(host.end(write, Outcome::Ok), Err(Violation::NotInFlight { .. })));
}

#[test]
fn versions_that_can_not_be_read_any_more_are_forgotten() {
    let mut host = Host::new(Durability::OnAck);
    for _ in 0..1_000 {
        host.written();
    }
    assert!(host.oracle.versions(A).len() < 20);
}

/// A register that takes effect at random moments, cut at random: whatever it does is right by construction.
#[test]
fn a_card_that_keeps_the_contract_by_construction_is_never_blamed() {
    use device::Rng;
    for seed in 0..3_000 {
        let mut rng = Rng::stream(seed, "register");
        let durability = BOTH[(seed % 2) as usize];
        let mut host = Host::new(durability);
        // All values that the register had since the last durable one; the last is the present one.
        let mut held = vec![Sector::Zero];
        // In flight: what is written, whether it has taken effect.
        let mut writes: Vec<(OpId, Sector, bool)> = Vec::new();
        let mut reads: Vec<(OpId, Option<Sector>)> = Vec::new();
        for _ in 0..60 {
            match rng.below(10) {
                0 | 1 => {
                    let number = host.oracle.sectors[0].next();
                    let zero = rng.below(3) == 0;
                    let ask =
                        if zero { Ask::Trim { lba: A, count: 1 } } else { Ask::Write { lba: A, count: 1, fua: false } };
                    writes.push((host.begin(ask), if zero { Sector::Zero } else { v(number) }, false));
                }
                2 | 3 if !writes.is_empty() => {
                    let i = rng.below(writes.len() as u64) as usize;
                    let (_, value, applied) = &mut writes[i];
                    if !*applied {
                        *applied = true;
                        held.push(*value);
                    }
                }
                4 if !writes.is_empty() => {
                    let i = rng.below(writes.len() as u64) as usize;
                    if writes[i].2 {
                        host.ok(writes.remove(i).0);
                        if durability == Durability::OnAck {
                            held.drain(..held.len() - 1);
                        }
                    }
                }
                5 => reads.push((host.reading(), None)),
                6 if !reads.is_empty() => {
                    let i = rng.below(reads.len() as u64) as usize;
                    reads[i].1.get_or_insert(*held.last().unwrap());
                }
                7 if !reads.is_empty() => {
                    let i = rng.below(reads.len() as u64) as usize;
                    if let (id, Some(value)) = reads[i] {
                        reads.remove(i);
                        if durability == Durability::OnAck {
                            held.drain(..held.len() - 1);
                        }
                        assert_eq!(host.finds(id, value), None, "seed {seed}");
                    }
                }
                8 => {
                    host.flushed();
                    held.drain(..held.len() - 1);
                }
                9 if rng.below(3) == 0 => {
                    host.oracle.cut();
                    let mut left: Vec<Sector> = held.clone();
                    left.extend(writes.iter().filter(|w| !w.2).map(|w| w.1));
                    held = vec![left[rng.below(left.len() as u64) as usize]];
                    writes.clear();
                    reads.clear();
                }
                _ => {}
            }
        }
    }
}
