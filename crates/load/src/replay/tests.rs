//! A trace is asked in its order, when it is due, and never more at once than may be.

use super::*;
use device::Rng;
use std::collections::BTreeMap;
use std::collections::VecDeque;

const CARD_BYTES: u64 = 1 << 30;

/// Batches from memory.
struct Given(VecDeque<Vec<Record>>);

impl Batches for Given {
    fn next_batch(&mut self) -> Result<Option<Batch>, TraceError> {
        Ok(self.0.pop_front().map(|records| Batch { records, counts: LineCounts::default() }))
    }
}

fn given(records: &[Record], batch: usize) -> Given {
    Given(records.chunks(batch).map(<[Record]>::to_vec).collect())
}

fn read(at_ns: u64, number: u64) -> Record {
    Record { at_ns, op: Operation::Read, fua: false, offset_bytes: number * 512, len_bytes: 512 }
}

/// A request that was issued: number of the record (from its offset), when, and when it was due.
#[derive(Debug, PartialEq)]
struct Issued {
    number: u64,
    at: Time,
    due: Option<Time>,
}

/// Runs to the end on a device that takes as long as `latency_ns` says of each request in turn.
fn run(load: &mut Replay<Given>, mut latency_ns: impl FnMut() -> u64) -> Vec<Issued> {
    let mut events: BTreeMap<(Time, u32), ()> = (0..load.processes()).map(|p| ((Time::ZERO, p), ())).collect();
    let mut issued = Vec::new();
    let mut wake = Vec::new();
    let mut begun = 0;
    let mut outstanding: Vec<bool> = vec![false; load.processes() as usize];
    while let Some(((now, p), ())) = events.pop_first() {
        outstanding[p as usize] = false;
        match load.step(ProcessId(p), now, &mut wake) {
            Step::Io { cpu_ns: 0, request, due } => {
                issued.push(Issued { number: request.range.offset_bytes / 512, at: now, due });
                outstanding[p as usize] = true;
                assert!(outstanding.iter().filter(|&&o| o).count() <= load.config.depth as usize);
                events.insert((now + latency_ns().max(1), p), ());
            }
            Step::Sleep { until } => _ = events.insert((until.max(now + 1), p), ()),
            Step::End => {}
            other => panic!("{other:?}"),
        }
        assert!(wake.is_empty());
        begun += 1;
        if begun == load.processes() {
            load.start_measurement(Time::ZERO);
        }
    }
    issued
}

fn config(speed: Speed, depth: u32) -> ReplayConfig {
    ReplayConfig { speed, depth, requests: None }
}

/// Random bursts and gaps.
fn trace(seed: u64, requests: u64) -> Vec<Record> {
    let mut rng = Rng::stream(seed, "trace");
    let mut now_ns = 0;
    (0..requests)
        .map(|number| {
            now_ns += [0, 0, 10, 1_000, 100_000][rng.below(5) as usize] * u64::from(number > 0);
            read(now_ns, number)
        })
        .collect()
}

#[test]
fn with_enough_room_every_request_is_asked_when_it_is_due_and_in_order() {
    for seed in 0..20 {
        let records = trace(seed, 500);
        let mut load =
            Replay::new(given(&records, 1 + seed as usize * 7), config(Speed::Recorded(1.0), 600), CARD_BYTES);
        let mut rng = Rng::stream(seed, "latency");
        let issued = run(&mut load, || rng.below(50_000));
        let expected: Vec<Issued> = records
            .iter()
            .enumerate()
            .map(|(i, record)| {
                let due = Time(record.at_ns + BEGIN_NS);
                Issued { number: i as u64, at: due, due: Some(due) }
            })
            .collect();
        assert_eq!(issued, expected, "seed {seed}");
        let report = load.trace_report();
        assert_eq!((report.behind, report.behind_max_ns, report.requests), (0, 0, 500));
        assert_eq!(report.span_ns, records.last().unwrap().at_ns);
    }
}

#[test]
fn without_room_requests_are_late_but_in_order_and_the_delay_is_counted() {
    for seed in 0..20 {
        let records = trace(seed, 500);
        let mut load = Replay::new(given(&records, 64), config(Speed::Recorded(1.0), 3), CARD_BYTES);
        let mut rng = Rng::stream(seed, "latency");
        let issued = run(&mut load, || rng.below(200_000));
        let late = |issued: &Issued| issued.at.since_ns(issued.due.unwrap());
        assert!(issued.iter().map(|issued| issued.number).eq(0..500), "seed {seed}");
        assert!(issued.iter().all(|issued| issued.at >= issued.due.unwrap()));
        let report = load.trace_report();
        assert_eq!(report.behind, issued.iter().filter(|issued| late(issued) > 0).count() as u64);
        assert_eq!(report.behind_max_ns, issued.iter().map(late).max().unwrap());
        assert!(report.behind > 0 && report.deepest == 3);
    }
}

#[test]
fn twice_as_fast_is_half_the_time() {
    let records: Vec<Record> = (0..100).map(|i| read(i * 1_000_000, i)).collect();
    // A request that would be due in the far future is due at the end of time, all at once.
    for (factor, last_ns) in [(2.0, 49_500_000), (0.5, 198_000_000), (1e-300, LATEST_NS)] {
        let mut load = Replay::new(given(&records, 10), config(Speed::Recorded(factor), 100), CARD_BYTES);
        let issued = run(&mut load, || 10);
        assert_eq!(issued.last().unwrap().at, Time(last_ns + BEGIN_NS), "{factor}");
        assert_eq!(load.trace_report().behind, 0, "{factor}");
    }
}

#[test]
fn as_fast_as_it_goes_the_depth_is_kept_full() {
    let records: Vec<Record> = (0..100).map(|i| read(i * 1_000_000_000, i)).collect();
    let mut load = Replay::new(given(&records, 10), config(Speed::Max, 4), CARD_BYTES);
    let issued = run(&mut load, || 1000);
    assert!(issued.iter().map(|issued| issued.number).eq(0..100));
    assert!(issued.iter().all(|issued| issued.due.is_none()));
    assert_eq!(issued.last().unwrap().at, Time(BEGIN_NS + 24 * 1000));
    assert_eq!(load.trace_report().deepest, 4);
}

#[test]
fn what_is_cut_is_asked_piece_by_piece_and_counted_once() {
    let records = [
        Record { at_ns: 0, op: Operation::Write, fua: true, offset_bytes: CARD_BYTES - 512, len_bytes: 1024 },
        Record { at_ns: 5, op: Operation::Trim, fua: false, offset_bytes: 100, len_bytes: 100 },
        Record { at_ns: 6, op: Operation::Flush, fua: false, offset_bytes: 0, len_bytes: 0 },
    ];
    let mut load = Replay::new(given(&records, 10), config(Speed::Recorded(1.0), 1), CARD_BYTES);
    let issued = run(&mut load, || 100);
    let last = CARD_BYTES / 512 - 1;
    assert!(issued.iter().map(|issued| issued.number).eq([last, 0, 0, 0]));
    assert!(issued[..2].iter().all(|issued| issued.due == Some(Time(BEGIN_NS))));
    let report = load.trace_report();
    assert_eq!((report.requests, report.pieces, report.split), (3, 4, 1));
    assert_eq!((report.folded, report.widened, report.behind), (1, 1, 2));
    assert_eq!(report.writes, TraceRequests { requests: 1, bytes: 1024 });
    assert_eq!(report.trims, TraceRequests { requests: 1, bytes: 100 });
    assert_eq!(report.flushes, TraceRequests { requests: 1, bytes: 0 });
}

#[test]
fn a_replay_of_so_many_requests_ends_after_them() {
    let records = trace(1, 500);
    for depth in [1, 64] {
        let config = ReplayConfig { requests: Some(123), ..config(Speed::Recorded(1.0), depth) };
        let mut load = Replay::new(given(&records, 50), config, CARD_BYTES);
        let issued = run(&mut load, || 1000);
        assert_eq!(issued.len(), 123);
        // Nobody waits for a later one.
        assert!(load.asleep == 0 && load.in_flight == 0);
    }
}
