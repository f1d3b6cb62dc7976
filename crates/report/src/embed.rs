//! Data inside the page, and how much of it.

use results::{Point, ReviewResult};
use serde::Serialize;

/// JSON that can stand in a `<script>` element: no `<`, so neither `</script>` nor `<!--` can occur, and no line
/// separators that JavaScript would take for ends of lines.
pub fn json(value: &(impl Serialize + ?Sized)) -> String {
    let json = serde_json::to_string(value).expect("results have string keys only");
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Data that is left out of a page to keep it small, step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All that was measured.
    Whole,
    /// No rows second by second, but for the timeline's.
    NoSeries,
    /// No distributions either.
    NoHistograms,
    /// No results to download, and few distributions drawn.
    ChartsOnly,
    /// No charts of distributions, few sweeps, few points.
    Few,
}

impl Detail {
    /// From all to little.
    pub const STEPS: [Detail; 5] =
        [Detail::Whole, Detail::NoSeries, Detail::NoHistograms, Detail::ChartsOnly, Detail::Few];

    /// Returns the note that tells a reader about it.
    pub fn note(self) -> &'static str {
        match self {
            Detail::Whole => "",
            Detail::NoSeries => "To keep the page small, its data leaves out the points’ rows second by second.",
            Detail::NoHistograms => {
                "To keep the page small, its data leaves out distributions and the points’ rows second by second."
            }
            Detail::ChartsOnly => "The results are too large for a page: it has the charts, but not the results.",
            Detail::Few => "The results are too large for a page: it shows only some of the sweeps and points.",
        }
    }

    /// Returns the number of distributions that are drawn.
    pub fn curves(self) -> usize {
        match self {
            Detail::Whole | Detail::NoSeries | Detail::NoHistograms => 400,
            Detail::ChartsOnly => 60,
            Detail::Few => 0,
        }
    }

    /// Results as they are embedded; none where they aren't.
    pub fn embedded(self, results: &[&ReviewResult]) -> Option<Vec<ReviewResult>> {
        if matches!(self, Detail::ChartsOnly | Detail::Few) {
            return None;
        }
        Some(results.iter().map(|&result| self.thinned(result)).collect())
    }

    fn thinned(self, result: &ReviewResult) -> ReviewResult {
        let mut result = result.clone();
        let thin = |point: &mut Point| {
            if self == Detail::NoHistograms {
                for class in [&mut point.read, &mut point.write, &mut point.sync] {
                    class.histogram = None;
                }
            }
        };
        for point in result.sweeps.iter_mut().flat_map(|s| &mut s.points) {
            thin(point);
            if self != Detail::Whole {
                point.series.clear();
            }
        }
        result.timeline.iter_mut().for_each(|t| thin(&mut t.point));
        result
    }

    /// Results as they are drawn: bounded in number whatever a file holds.
    pub fn drawn(self, result: &ReviewResult) -> ReviewResult {
        let mut result = result.clone();
        if self == Detail::Few {
            result.sweeps.truncate(6);
            result.sweeps.iter_mut().for_each(|s| s.points.truncate(12));
            result.preconditioning.truncate(4);
            result.comparisons.truncate(4);
            result.comparisons.iter_mut().for_each(|c| c.points.truncate(40));
            result.verdict.truncate(20);
            result.phases.truncate(30);
            result.target.facts.truncate(40);
            result.host.facts.truncate(40);
            result.target.profile = None;
            result.database = None;
            result.sweeps.iter_mut().for_each(|s| s.name.truncate(floor(&s.name, 60)));
        }
        result
    }
}

/// The last border of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_end_the_script_that_holds_it() {
        let hostile = "</script><!--\u{2028}]]>&amp;";
        let json = json(&hostile);
        assert!(!json.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
