//! A database's figures on each device: at each number of sessions, and at the peak.

use crate::devices::positive;
use crate::row::{AdvantageRow, Better, RowUnit};
use crate::unit::Unit;
use results::{DatabaseReport, ReviewResult};

/// Rows of the mix, of SLOB and of committing, as far as any device has them.
pub fn rows(results: &[&ReviewResult]) -> Vec<AdvantageRow> {
    let reports: Vec<Option<&DatabaseReport>> = results.iter().map(|result| result.database.as_ref()).collect();
    let mut rows = mix(&reports);
    rows.extend(oltp(&reports));
    rows.extend(slob(&reports));
    rows.extend(commit(&reports));
    rows
}

/// Points of a part, of each device that has it.
struct Part<'a, P> {
    group: &'static str,
    points: Vec<&'a [P]>,
    sessions: fn(&P) -> u32,
}

/// A figure of a point.
struct Figure<'a, P> {
    label: &'a str,
    unit: Unit,
    better: Better,
    key: bool,
    of: &'a dyn Fn(&P) -> Option<f64>,
}

impl<P> Part<'_, P> {
    fn rows(&self, figures: &[Figure<P>]) -> Vec<AdvantageRow> {
        let mut all: Vec<u32> = self.points.iter().flat_map(|points| points.iter().map(self.sessions)).collect();
        all.sort_unstable();
        all.dedup();
        let mut rows = Vec::new();
        for n in all {
            let sessions = if n == 1 { "1 session".to_owned() } else { format!("{n} sessions") };
            let at = |points: &&[P], of: &dyn Fn(&P) -> Option<f64>| {
                points.iter().find(|point| (self.sessions)(point) == n).and_then(of).and_then(positive)
            };
            for figure in figures {
                let values = self.points.iter().map(|points| at(points, figure.of)).collect();
                let label = format!("{sessions}, {}", figure.label);
                rows.extend(row(self.group, label, (figure.unit, figure.better, figure.key), values));
            }
        }
        rows
    }
}

fn row(
    group: &str,
    label: String,
    (unit, better, key): (Unit, Better, bool),
    values: Vec<Option<f64>>,
) -> Option<AdvantageRow> {
    let any = values.iter().any(Option::is_some);
    let limited = vec![false; values.len()];
    any.then(|| AdvantageRow {
        group: group.to_owned(),
        label,
        unit: RowUnit::Known(unit),
        better,
        key,
        values,
        limited,
    })
}

fn mix(reports: &[Option<&DatabaseReport>]) -> Vec<AdvantageRow> {
    let mixes: Vec<_> = reports.iter().map(|report| report.and_then(|report| report.mix.as_ref())).collect();
    let part = Part {
        group: "PostgreSQL 80/20",
        points: mixes.iter().map(|mix| mix.map_or(&[][..], |mix| &mix.points)).collect(),
        sessions: |point| point.sessions,
    };
    let peaks = mixes.iter().map(|mix| mix.and_then(|mix| mix.peak_tps).and_then(positive)).collect();
    let peak = row(part.group, "peak, transactions a second".into(), (Unit::Ratio, Better::Higher, true), peaks);
    let p99 = |kind: &'static str| {
        move |point: &results::DatabaseMixPoint| Some(point.transactions.get(kind)?.lat_ns.at(99.0) as f64)
    };
    let (select, insert, update) = (p99("select"), p99("insert"), p99("update"));
    let slow = |label, of| Figure { label, unit: Unit::Nanoseconds, better: Better::Lower, key: false, of };
    let figures = [
        Figure {
            label: "transactions a second",
            unit: Unit::Ratio,
            better: Better::Higher,
            key: true,
            of: &|point: &results::DatabaseMixPoint| Some(point.tps),
        },
        slow("p99 of selects", &select),
        slow("p99 of inserts", &insert),
        slow("p99 of updates", &update),
    ];
    peak.into_iter().chain(part.rows(&figures)).collect()
}

fn oltp(reports: &[Option<&DatabaseReport>]) -> Vec<AdvantageRow> {
    let runs: Vec<_> = reports.iter().map(|report| report.and_then(|report| report.oltp.as_ref())).collect();
    let part = Part {
        group: "MySQL, oltp_read_write",
        points: runs.iter().map(|oltp| oltp.map_or(&[][..], |oltp| &oltp.points)).collect(),
        sessions: |point| point.sessions,
    };
    let peaks = runs.iter().map(|oltp| oltp.and_then(|oltp| oltp.peak_tps).and_then(positive)).collect();
    let peak = row(part.group, "peak, transactions a second".into(), (Unit::Ratio, Better::Higher, true), peaks);
    let figures = [
        Figure {
            label: "transactions a second",
            unit: Unit::Ratio,
            better: Better::Higher,
            key: true,
            of: &|point: &results::DatabaseOltpPoint| Some(point.tps),
        },
        Figure {
            label: "p99 of transactions",
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            key: false,
            of: &|point: &results::DatabaseOltpPoint| Some(point.p99_ns as f64),
        },
    ];
    peak.into_iter().chain(part.rows(&figures)).collect()
}

fn slob(reports: &[Option<&DatabaseReport>]) -> Vec<AdvantageRow> {
    let slobs: Vec<_> = reports.iter().map(|report| report.and_then(|report| report.slob.as_ref())).collect();
    let part = Part {
        group: "PostgreSQL, SLOB method",
        points: slobs.iter().map(|slob| slob.map_or(&[][..], |slob| &slob.points)).collect(),
        sessions: |point| point.sessions,
    };
    part.rows(&[
        Figure {
            label: "blocks read a second",
            unit: Unit::Count,
            better: Better::Higher,
            key: true,
            of: &|point: &results::DatabaseSlobPoint| Some(point.awr.physical_reads_s.round()),
        },
        Figure {
            label: "single-block read, mean",
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            key: false,
            of: &|point: &results::DatabaseSlobPoint| Some(point.awr.single_block_read_ns),
        },
    ])
}

fn commit(reports: &[Option<&DatabaseReport>]) -> Vec<AdvantageRow> {
    let commits: Vec<_> = reports.iter().map(|report| report.and_then(|report| report.commit.as_ref())).collect();
    let part = Part {
        group: "PostgreSQL, commits",
        points: commits.iter().map(|commit| commit.map_or(&[][..], |commit| &commit.group)).collect(),
        sessions: |point| point.sessions,
    };
    part.rows(&[
        Figure {
            label: "commits a second",
            unit: Unit::Count,
            better: Better::Higher,
            key: false,
            of: &|point: &results::CommitPoint| Some(point.commits_s.round()),
        },
        Figure {
            label: "p99 of commits",
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            key: false,
            of: &|point: &results::CommitPoint| Some(point.commit_ns.at(99.0) as f64),
        },
    ])
}
