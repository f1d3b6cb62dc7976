//! The figures of a device, review by review.

use crate::advantage::table;
use crate::devices::clip;
use crate::repeats::ratio;
use crate::row::{AdvantageRow, Better};
use results::{ReviewResult, TargetKind};

/// Changes up to this share are taken for the scatter of measurements.
pub const CHANGED: f64 = 0.10;

/// A figure over the reviews of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// The figure, with a value for each review.
    pub row: AdvantageRow,
}

impl Trend {
    /// The first and the last review that have the figure, if there are two.
    pub fn ends(&self) -> Option<(usize, usize)> {
        let mut there = self.row.values.iter().enumerate().filter(|(_, value)| value.is_some()).map(|(i, _)| i);
        let first = there.next()?;
        Some((first, there.next_back()?))
    }

    /// How many times as good the last is as the first: 2 is twice the throughput, or half the time.
    pub fn change(&self) -> Option<f64> {
        let (first, last) = self.ends()?;
        let found = ratio(&[self.row.values[first]?], &[self.row.values[last]?])?.value;
        Some(if self.row.better == Better::Higher { found } else { 1.0 / found })
    }

    /// The figure's name with its group.
    pub fn name(&self) -> String {
        format!("{}, {}", self.row.group, self.row.label)
    }
}

/// All reviews of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceHistory {
    /// For people: title and serial number.
    pub title: String,
    /// When each review began, its day, or its time too where two are of one day; of models the reviews' names.
    pub when: Vec<String>,
    /// Reviews that are not complete.
    pub partial: Vec<bool>,
    /// The key figures.
    pub trends: Vec<Trend>,
}

impl DeviceHistory {
    /// Whether it is what it was, in a sentence.
    pub fn sentence(&self) -> String {
        let [first, .., last] = &self.when[..] else {
            return format!("One review, of {}: nothing to hold it against.", self.when[0]);
        };
        let changes = || self.trends.iter().filter_map(|trend| Some((trend, trend.change()?)));
        let Some(worst) = changes().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return format!("The reviews from {first} to {last} have no figure in common.");
        };
        let best = changes().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(worst);
        let told = |(trend, change): (&Trend, f64)| {
            let (from, to) = trend.ends().expect("a change has two ends");
            let times = crate::unit::three_digits(if change < 1.0 { 1.0 / change } else { change });
            let how = if change < 1.0 { "worse" } else { "better" };
            format!(
                "{}: {} on {}, {} on {}, {times} times {how}",
                trend.name(),
                trend.row.show(from),
                self.when[from],
                trend.row.show(to),
                self.when[to],
            )
        };
        let percent = CHANGED * 100.0;
        let some = |count: usize| if count == 1 { "1 figure has".to_owned() } else { format!("{count} figures have") };
        if worst.1 < 1.0 / (1.0 + CHANGED) {
            let count = changes().filter(|(_, change)| *change < 1.0 / (1.0 + CHANGED)).count();
            let so_many = some(count);
            return format!(
                "Not what it was: {so_many} become worse by more than {percent:.0} %, most of all {}.",
                told(worst)
            );
        }
        if best.1 > 1.0 + CHANGED {
            return format!("Better than it was; most of all {}.", told(best));
        }
        format!("What it was on {first}: no figure has changed by more than {percent:.0} % until {last}.")
    }
}

/// Key and title of a device: its serial number where there is one, else its name, its size and what it is.
fn device(result: &ReviewResult) -> (String, String) {
    let fact = |key: &str| result.target.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.trim());
    let title = clip(result.target.title.trim(), 120);
    match fact("serial").filter(|serial| !serial.is_empty()) {
        // A file on a device is as large as somebody chose: another size is another thing.
        Some(serial) if result.target.kind == TargetKind::BlockDevice => {
            (format!("{title}\n{serial}"), format!("{title}, serial {}", clip(serial, 40)))
        }
        _ => {
            let (name, bytes) = (clip(&result.target.name, 80), result.target.capacity_bytes);
            let scale = result.options.scale;
            (format!("{:?}\n{title}\n{name}\n{bytes}\n{scale}", result.target.kind), format!("{title} ({name})"))
        }
    }
}

/// The day of a review, with its time where another is of the same day.
fn when(results: &[&ReviewResult]) -> Vec<String> {
    let day = |result: &ReviewResult| {
        result.started.as_ref().map_or(clip(&result.name, 40), |started| clip(started, 40).chars().take(10).collect())
    };
    let days: Vec<String> = results.iter().map(|result| day(result)).collect();
    let exact = |(result, day): (&&ReviewResult, &String)| {
        let is_alone = days.iter().filter(|other| *other == day).count() == 1;
        match &result.started {
            Some(started) if !is_alone => started.chars().take(16).collect::<String>().replace('T', " "),
            _ => day.clone(),
        }
    };
    results.iter().zip(&days).map(exact).collect()
}

/// Sorts reviews by device and time; devices come in the order of their first review. Key figures, or all.
pub fn histories(results: &[ReviewResult], all: bool) -> Vec<DeviceHistory> {
    let mut sorted: Vec<&ReviewResult> = results.iter().collect();
    // Models live outside time: they stay in the order in which they were named.
    sorted.sort_by(|a, b| a.started.cmp(&b.started));
    let mut devices: Vec<(String, String, Vec<&ReviewResult>)> = Vec::new();
    for result in sorted {
        let (key, title) = device(result);
        match devices.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, _, reviews)) => reviews.push(result),
            None => devices.push((key, title, vec![result])),
        }
    }
    let history = |(_, title, reviews): (String, String, Vec<&ReviewResult>)| {
        let rows = table(&reviews).rows.into_iter();
        let shown = rows.filter(|row| (all || row.key) && row.group != "Price");
        DeviceHistory {
            title,
            when: when(&reviews),
            partial: reviews.iter().map(|review| review.partial.is_some()).collect(),
            trends: shown.map(|row| Trend { row }).collect(),
        }
    };
    devices.into_iter().map(history).collect()
}
