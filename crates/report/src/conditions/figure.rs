//! The figures that a condition may name.

use crate::devices::positive;
use crate::unit::Unit;
use results::{IoClass, Point};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Class {
    Read,
    Write,
    Sync,
}

impl Class {
    /// All of them, in the order of tables.
    pub const ALL: [Class; 3] = [Class::Read, Class::Write, Class::Sync];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Class::Read => "read",
            Class::Write => "write",
            Class::Sync => "sync",
        }
    }

    /// In a sentence.
    pub fn plural(self) -> &'static str {
        match self {
            Class::Read => "reads",
            Class::Write => "writes",
            Class::Sync => "syncs",
        }
    }

    fn of(self, point: &Point) -> &IoClass {
        match self {
            Class::Read => &point.read,
            Class::Write => &point.write,
            Class::Sync => &point.sync,
        }
    }
}

/// A figure of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Requests a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Mean of the latencies.
    Mean,
    /// The longest response.
    Longest,
    /// Latency below which so many percent of the requests lie.
    Percentile(f64),
}

impl Figure {
    /// Reads `iops`, `bw`, `mean`, `max`, or `p` and a percentile that results have.
    pub fn parse(word: &str) -> Option<Figure> {
        match word {
            "iops" => Some(Figure::Iops),
            "bw" => Some(Figure::Bandwidth),
            "mean" => Some(Figure::Mean),
            "max" => Some(Figure::Longest),
            _ => {
                let percent: f64 = word.strip_prefix('p')?.parse().ok()?;
                results::LatencySummary::PERCENTILES.contains(&percent).then_some(Figure::Percentile(percent))
            }
        }
    }

    /// As it is typed.
    pub fn name(self) -> String {
        match self {
            Figure::Iops => "iops".to_owned(),
            Figure::Bandwidth => "bw".to_owned(),
            Figure::Mean => "mean".to_owned(),
            Figure::Longest => "max".to_owned(),
            Figure::Percentile(percent) => format!("p{percent}"),
        }
    }

    /// The unit of its value.
    pub fn unit(self) -> Unit {
        match self {
            Figure::Iops => Unit::Iops,
            Figure::Bandwidth => Unit::BytesPerSecond,
            Figure::Mean | Figure::Longest | Figure::Percentile(_) => Unit::Nanoseconds,
        }
    }

    /// The kinds of requests of which it is looked at, where a condition names none: each kind for itself for
    /// latencies, reads and writes together (`None`) for rates.
    pub fn classes(self) -> &'static [Option<Class>] {
        match self {
            Figure::Iops | Figure::Bandwidth => &[None],
            _ => &[Some(Class::Read), Some(Class::Write), Some(Class::Sync)],
        }
    }

    /// Its value at a point; none where nothing of the kind was measured.
    pub fn of(self, point: &Point, class: Option<Class>) -> Option<f64> {
        let latency = |of: fn(&results::LatencySummary) -> f64| {
            let latencies = &class?.of(point).lat_ns;
            (latencies.n > 0).then(|| of(latencies))
        };
        positive(match self {
            Figure::Iops => class.map_or_else(|| point.iops(), |class| class.of(point).iops),
            Figure::Bandwidth => class.map_or_else(|| point.bw_bytes(), |class| class.of(point).bw_bytes),
            Figure::Mean => latency(|latencies| latencies.mean)?,
            Figure::Longest => latency(|latencies| latencies.max as f64)?,
            Figure::Percentile(percent) => class?.of(point).lat_ns.at(percent) as f64,
        })
    }
}
