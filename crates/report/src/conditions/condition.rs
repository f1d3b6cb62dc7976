//! A condition as it is typed.

use super::figure::{Class, Figure};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The side of a limit on which a condition is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Met by figures above the limit.
    Above,
    /// Met by figures below it.
    Below,
}

/// A limit of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A change against the first side: 0.1 for `+10%`.
    Change(f64),
    /// A value in the figure's own unit.
    Value(f64),
}

/// A condition on a figure, at one point or at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The sweep whose points it looks at; none: all.
    pub sweep: Option<String>,
    /// The place on the sweep's axis; none: all.
    pub x: Option<f64>,
    /// The kind of request; none: as the figure has it.
    pub class: Option<Class>,
    /// The figure that is looked at.
    pub figure: Figure,
    /// The side of the limit that is bad.
    pub direction: Direction,
    /// The limit itself.
    pub limit: Limit,
    typed: String,
}

/// The reason why a text is no condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConditionError {
    /// Neither `<` nor `>` stands in it.
    #[error("write a figure, < or >, and a limit: p99>+10%, iops<-5%, read.p99>2ms")]
    NoComparison,
    /// Not a figure of a point.
    #[error("the figure is iops, bw, mean, max, p1, p5, p25, p50, p75, p90, p95, p99, p99.9 or p99.99")]
    UnknownFigure,
    /// Not a kind of request.
    #[error("before the dot stands read, write or sync")]
    UnknownClass,
    /// No name before the colon, or no number behind the @.
    #[error("before the colon stands a sweep, or a sweep and a point of it: threads-rndrd@16")]
    BadPlace,
    /// A change without a sign.
    #[error("a change has its sign: +10% or -5%")]
    NoSign,
    /// A change that is none, or below nothing.
    #[error("a change is a number above -100% and below +1000000%")]
    NotAChange,
    /// A limit in no unit of the figure.
    #[error("the limit is a change (+10%), or for latencies a time with its unit (2ms)")]
    NotATime,
    /// A limit in no unit of the figure.
    #[error("the limit is a change (-5%), or for iops a number (50k)")]
    NotARate,
    /// A limit in no unit of the figure.
    #[error("the limit is a change (-5%), or for bw a number of MB/s (400MB/s)")]
    NotABandwidth,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let typed: String = text.split_whitespace().collect();
        let at = typed.find(['<', '>']).ok_or(ConditionError::NoComparison)?;
        let (what, limit) = (&typed[..at], &typed[at + 1..]);
        let (place, what) = match what.rsplit_once(':') {
            Some((place, what)) => (Some(place), what),
            None => (None, what),
        };
        let (sweep, x) = match place {
            None => (None, None),
            Some(place) => read_place(place)?,
        };
        // `p99.9` has a dot too, and no letters before it but the p.
        let (class, figure) = match Figure::parse(what) {
            Some(figure) => (None, figure),
            None => match what.split_once('.') {
                Some((class, figure)) => {
                    let figure = Figure::parse(figure).ok_or(ConditionError::UnknownFigure)?;
                    let class = Class::ALL.into_iter().find(|known| known.name() == class);
                    (Some(class.ok_or(ConditionError::UnknownClass)?), figure)
                }
                None => return Err(ConditionError::UnknownFigure),
            },
        };
        let direction = if typed[at..].starts_with('<') { Direction::Below } else { Direction::Above };
        let limit = match limit.strip_suffix('%') {
            Some(change) => Limit::Change(read_change(change)?),
            None => Limit::Value(read_value(limit, figure)?),
        };
        Ok(Condition { sweep, x, class, figure, direction, limit, typed })
    }
}

fn read_place(place: &str) -> Result<(Option<String>, Option<f64>), ConditionError> {
    let (sweep, x) = match place.split_once('@') {
        Some((sweep, x)) => {
            let x: f64 = x.parse().map_err(|_| ConditionError::BadPlace)?;
            (sweep, Some(x).filter(|x| x.is_finite()).ok_or(ConditionError::BadPlace).map(Some)?)
        }
        None => (place, None),
    };
    if sweep.is_empty() { Err(ConditionError::BadPlace) } else { Ok((Some(sweep.to_owned()), x)) }
}

/// `+10` is 0.1.
fn read_change(text: &str) -> Result<f64, ConditionError> {
    if !text.starts_with(['+', '-']) {
        return Err(ConditionError::NoSign);
    }
    let percent: f64 = text.parse().map_err(|_| ConditionError::NotAChange)?;
    if percent > -100.0 && percent < 1e6 { Ok(percent / 100.0) } else { Err(ConditionError::NotAChange) }
}

fn read_value(text: &str, figure: Figure) -> Result<f64, ConditionError> {
    const TIMES: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    const RATES: [(&str, f64); 3] = [("k", 1e3), ("M", 1e6), ("", 1.0)];
    const BANDWIDTHS: [(&str, f64); 4] = [("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("B/s", 1.0)];
    let (units, error) = match figure {
        Figure::Iops => (&RATES[..], ConditionError::NotARate),
        Figure::Bandwidth => (&BANDWIDTHS[..], ConditionError::NotABandwidth),
        _ => (&TIMES[..], ConditionError::NotATime),
    };
    let in_unit = |&(unit, factor): &(&str, f64)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * factor).filter(|value| value.is_finite() && *value > 0.0)
    };
    units.iter().find_map(in_unit).ok_or(error)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_part_of_a_condition_is_read() {
        let plain = read("p99>+10%");
        assert_eq!((&plain.sweep, plain.x, plain.class), (&None, None, None));
        assert_eq!((plain.figure, plain.direction), (Figure::Percentile(99.0), Direction::Above));
        assert_eq!(plain.limit, Limit::Change(0.1));
        let full = read(" threads-rndrd@16 : read.p99.9 > 2ms ");
        assert_eq!((full.sweep.as_deref(), full.x), (Some("threads-rndrd"), Some(16.0)));
        assert_eq!((full.class, full.figure), (Some(Class::Read), Figure::Percentile(99.9)));
        assert_eq!((full.limit, full.to_string().as_str()), (Limit::Value(2e6), "threads-rndrd@16:read.p99.9>2ms"));
        assert_eq!(read("iops<-5%").limit, Limit::Change(-0.05));
        assert_eq!(read("iops<50k").limit, Limit::Value(50_000.0));
        assert_eq!(read("write.bw<400MB/s").limit, Limit::Value(4e8));
        assert_eq!(read("p99.9>+0%").figure, Figure::Percentile(99.9));
        assert_eq!(read("sync.max>1.5s").limit, Limit::Value(1.5e9));
        assert_eq!(read("max>80us").limit, read("max>80µs").limit);
    }

    #[test]
    fn what_is_no_condition_says_what_would_be() {
        use ConditionError::*;
        for (text, error) in [
            ("", NoComparison),
            ("p99", NoComparison),
            ("p99=10%", NoComparison),
            (">+10%", UnknownFigure),
            ("p98>+10%", UnknownFigure),
            ("latency>+10%", UnknownFigure),
            ("read.latency>+10%", UnknownFigure),
            ("reads.p99>+10%", UnknownClass),
            (":p99>+10%", BadPlace),
            ("fill@full:p99>+10%", BadPlace),
            ("fill@inf:p99>+10%", BadPlace),
            ("@16:p99>+10%", BadPlace),
            ("p99>10%", NoSign),
            ("p99>+%", NotAChange),
            ("p99>+ten%", NotAChange),
            ("iops<-100%", NotAChange),
            ("p99>+nan%", NotAChange),
            ("p99>+inf%", NotAChange),
            ("p99>2", NotATime),
            ("p99>-2ms", NotATime),
            ("p99>", NotATime),
            ("iops<5ms", NotARate),
            ("iops<0", NotARate),
            ("bw<400", NotABandwidth),
            ("bw<infMB/s", NotABandwidth),
        ] {
            assert_eq!(text.parse::<Condition>(), Err(error), "{text}");
        }
    }
}
