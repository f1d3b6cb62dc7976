//! Which fault has met which activity?

use crate::sim::plan::{HostError, Metadata};
use crate::sim::{Activity, CutOutcome, FaultKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A cell of the matrix that means nothing, with the reason.
struct Meaningless {
    faults: fn(FaultKind) -> bool,
    activities: &'static [Activity],
    why: &'static str,
}

use Activity::{Checkpoint, Gc, HostWrite, Idle, Rebuild, Recovery, Scrub};

const MEANINGLESS: &[Meaningless] = &[
    Meaningless {
        faults: |k| matches!(k, FaultKind::Cut(how) if !matches!(how, CutOutcome::Any | CutOutcome::CacheLost)),
        activities: &[Idle],
        why: "nothing is under way that changes the media",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::Cut(_)),
        activities: &[Recovery],
        why: "counted as a cut in recovery",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::Cut(CutOutcome::WeakErase) | FaultKind::EraseFailure),
        activities: &[HostWrite],
        why: "a card that erases collects",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::ProgramFailure | FaultKind::EraseFailure | FaultKind::Program(_)),
        activities: &[Idle],
        why: "nothing is programmed or erased",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::NestedCut { .. }),
        activities: &[Idle, HostWrite, Gc, Checkpoint, Rebuild, Scrub],
        why: "there is no recovery to be cut",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::LatentError),
        activities: &[Idle, HostWrite, Gc, Checkpoint, Recovery, Scrub],
        why: "only a rebuild has survivors",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::StuckModule),
        activities: &[Recovery],
        why: "without power nothing is stuck",
    },
    Meaningless {
        faults: FaultKind::needs_power_off,
        activities: &[Idle, HostWrite, Gc, Checkpoint, Rebuild, Scrub],
        why: "happens while the power is off",
    },
    Meaningless {
        faults: |k| {
            let sync = |k| matches!(k, FaultKind::Host { error: HostError::FailedSync, .. });
            matches!(k, FaultKind::Cut(CutOutcome::CacheLost)) || sync(k)
        },
        activities: &[Checkpoint],
        why: "on media with a volatile cache no checkpoints are written",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::Damaged(Metadata::Log)),
        activities: &[Checkpoint],
        why: "a card with a log writes no checkpoints",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::ReadDisturb),
        activities: &[Recovery],
        why: "nobody reads a card without power often",
    },
    Meaningless {
        faults: |k| matches!(k, FaultKind::TwoControllers),
        activities: &[Recovery],
        why: "a card without power has no controller",
    },
];

/// Why a cell means nothing; `None`: it is to be filled.
pub fn meaningless(kind: FaultKind, activity: Activity) -> Option<&'static str> {
    MEANINGLESS.iter().find(|m| (m.faults)(kind) && m.activities.contains(&activity)).map(|m| m.why)
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The fault that struck.
    pub fault: FaultKind,
    /// The activity of the card that it met.
    pub activity: Activity,
    /// Times that they met.
    pub count: u64,
}

/// How often each fault has met each activity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Cell>", into = "Vec<Cell>")]
pub struct Coverage {
    counts: BTreeMap<(FaultKind, Activity), u64>,
}

impl From<Vec<Cell>> for Coverage {
    fn from(cells: Vec<Cell>) -> Coverage {
        let mut coverage = Coverage::default();
        for Cell { fault, activity, count } in cells {
            coverage.add(fault, activity, count);
        }
        coverage
    }
}

impl From<Coverage> for Vec<Cell> {
    fn from(coverage: Coverage) -> Vec<Cell> {
        coverage.counts.into_iter().map(|((fault, activity), count)| Cell { fault, activity, count }).collect()
    }
}

/// The whole matrix, for other programs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// One row for each fault.
    pub rows: Vec<Row>,
}

/// One fault with all activities.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The fault of this row.
    pub fault: FaultKind,
    /// The fault's name, as people read it.
    pub name: String,
    /// One for each activity.
    pub cells: Vec<ReportedCell>,
}

/// One fault during one activity.
#[derive(Clone, Debug, Serialize)]
pub struct ReportedCell {
    /// The activity of this column.
    pub activity: Activity,
    /// Times that they met.
    pub count: u64,
    /// Why that means nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaningless: Option<&'static str>,
}

impl Coverage {
    /// They met once more.
    pub fn count(&mut self, kind: FaultKind, activity: Activity) {
        self.add(kind, activity, 1);
    }

    fn add(&mut self, kind: FaultKind, activity: Activity, count: u64) {
        *self.counts.entry((kind, activity)).or_default() += count;
    }

    /// Times that they met.
    pub fn of(&self, kind: FaultKind, activity: Activity) -> u64 {
        self.counts.get(&(kind, activity)).copied().unwrap_or(0)
    }

    /// All faults that happened.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Adds what another run has met. The order of merging makes no difference.
    pub fn merge(&mut self, other: &Coverage) {
        for (&(kind, activity), &count) in &other.counts {
            self.add(kind, activity, count);
        }
    }

    /// Cells of these faults that mean something and are empty.
    pub fn missing(&self, kinds: &[FaultKind]) -> Vec<(FaultKind, Activity)> {
        let cells = kinds.iter().flat_map(|&k| Activity::ALL.map(|a| (k, a)));
        cells.filter(|&(k, a)| meaningless(k, a).is_none() && self.of(k, a) == 0).collect()
    }

    /// For people, at most 80 columns: `.` means nothing, `-` is missing.
    pub fn table(&self) -> String {
        let mut out = format!("{:<24}", "fault");
        for activity in Activity::ALL {
            let _ = write!(out, "{activity:>8}");
        }
        out.push('\n');
        for kind in FaultKind::all() {
            let _ = write!(out, "{kind:<24}");
            for activity in Activity::ALL {
                let cell = match (self.of(kind, activity), meaningless(kind, activity)) {
                    (0, Some(_)) => ".".to_string(),
                    (0, None) => "-".to_string(),
                    (n, _) => short(n),
                };
                let _ = write!(out, "{cell:>8}");
            }
            out.push('\n');
        }
        out
    }

    /// For other programs.
    pub fn report(&self) -> Report {
        let cell = |fault, activity| ReportedCell {
            activity,
            count: self.of(fault, activity),
            meaningless: meaningless(fault, activity),
        };
        let row = |fault: FaultKind| Row {
            fault,
            name: fault.to_string(),
            cells: Activity::ALL.map(|activity| cell(fault, activity)).into(),
        };
        Report { rows: FaultKind::all().into_iter().map(row).collect() }
    }
}

/// At most five characters.
fn short(n: u64) -> String {
    match n {
        0..100_000 => n.to_string(),
        100_000..10_000_000 => format!("{}k", n / 1_000),
        10_000_000..10_000_000_000 => format!("{}M", n / 1_000_000),
        _ => format!("{}G", n / 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Coverage {
        let mut coverage = Coverage::default();
        for (i, kind) in FaultKind::all().into_iter().enumerate() {
            coverage.add(kind, Activity::ALL[i % 7], 10u64.pow(i as u32 % 13));
        }
        coverage
    }

    #[test]
    fn a_table_has_at_most_80_columns() {
        let table = some().table();
        assert!(table.lines().all(|l| l.chars().count() <= 80), "{table}");
        assert_eq!(table.lines().count(), FaultKind::all().len() + 1);
    }

    #[test]
    fn every_fault_can_be_met_somewhere() {
        for kind in FaultKind::all() {
            assert!(Activity::ALL.iter().any(|&a| meaningless(kind, a).is_none()), "{kind}");
        }
    }

    #[test]
    fn merging_adds_and_its_order_makes_no_difference() {
        let mut one = Coverage::default();
        one.count(FaultKind::DeadDie, Gc);
        let mut a = some();
        a.merge(&one);
        let mut b = one.clone();
        b.merge(&some());
        assert_eq!(a, b);
        assert_eq!(a.total(), some().total() + 1);
    }

    #[test]
    fn missing_cells_are_those_that_mean_something_and_are_empty() {
        let kinds = FaultKind::all();
        let missing = Coverage::default().missing(&kinds);
        let mut coverage = Coverage::default();
        assert!(missing.iter().all(|&(k, a)| meaningless(k, a).is_none()));
        coverage.count(missing[0].0, missing[0].1);
        assert_eq!(coverage.missing(&kinds), missing[1..]);
        missing.iter().for_each(|&(k, a)| coverage.count(k, a));
        assert!(coverage.missing(&kinds).is_empty());
    }

    #[test]
    fn json_holds_the_matrix_and_comes_back() {
        let json = serde_json::to_string(&some()).unwrap();
        assert_eq!(serde_json::from_str::<Coverage>(&json).unwrap(), some());
        let report = serde_json::to_string(&some().report()).unwrap();
        assert!(report.contains("happens while the power is off"));
    }
}
