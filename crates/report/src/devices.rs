//! The devices that a page is about, and their points side by side.

use crate::buffered::{MARK, is_buffered};
use crate::plot::{HOST_LIMITED, NOT_STEADY};
use results::{Point, ReviewResult, Sweep};

/// One device, or several to compare.
pub struct Devices<'a> {
    results: Vec<&'a ReviewResult>,
    names: Vec<String>,
}

/// The same sweep of each device that has it.
pub struct Lines<'a> {
    /// Device and its sweep.
    pub sweeps: Vec<(usize, &'a Sweep)>,
    /// Every x of any of them, rising.
    pub xs: Vec<f64>,
}

impl<'a> Devices<'a> {
    /// Names that occur twice are numbered: a legend must tell devices apart.
    pub fn new(results: Vec<&'a ReviewResult>) -> Devices<'a> {
        let base = |result: &&'a ReviewResult| {
            let name = if result.name.trim().is_empty() { &result.target.name } else { &result.name };
            (name.as_str(), is_buffered(result))
        };
        let names = told_apart(results.iter().map(base));
        Devices { results, names }
    }

    /// Several of them.
    pub fn compared(&self) -> bool {
        self.results.len() > 1
    }

    /// With their names.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &str, &'a ReviewResult)> {
        self.results.iter().enumerate().map(|(i, &result)| (i, self.names[i].as_str(), result))
    }

    /// Its name on the page.
    pub fn name(&self, device: usize) -> &str {
        &self.names[device]
    }

    /// `name` behind a label where there are several devices.
    pub fn labelled(&self, device: usize, label: &str) -> String {
        if self.compared() { format!("{}: {label}", self.name(device)) } else { label.to_string() }
    }

    /// Names of all sweeps, in the order in which they come.
    pub fn sweep_names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for result in &self.results {
            for sweep in &result.sweeps {
                if !names.contains(&sweep.name.as_str()) {
                    names.push(&sweep.name);
                }
            }
        }
        names
    }

    /// A sweep of all devices that have it with points, on the axis of the first.
    pub fn lines(&self, name: &str) -> Option<Lines<'a>> {
        let found = self.results.iter().enumerate().filter_map(|(i, result)| Some((i, result.sweep(name)?)));
        let mut sweeps: Vec<_> = found.filter(|(_, sweep)| !sweep.points.is_empty()).collect();
        let axis = sweeps.first()?.1.axis;
        // Points on another axis are at another x, whatever the number says.
        sweeps.retain(|(_, sweep)| sweep.axis == axis);
        let mut xs: Vec<f64> = sweeps.iter().flat_map(|(_, s)| s.points.iter().map(|p| p.x)).collect();
        xs.retain(|x| x.is_finite());
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        (!xs.is_empty()).then_some(Lines { sweeps, xs })
    }
}

impl<'a> Lines<'a> {
    /// The sweep that names the section.
    pub fn first(&self) -> &'a Sweep {
        self.sweeps[0].1
    }

    /// Returns one figure of the points, for each x.
    pub fn values(&self, sweep: &Sweep, value: impl Fn(&Point) -> Option<f64>) -> Vec<Option<f64>> {
        self.xs.iter().map(|&x| at(sweep, x).and_then(&value)).collect()
    }

    /// Returns the marks of the points, for each x.
    pub fn marks(&self, sweep: &Sweep) -> Vec<u8> {
        self.xs.iter().map(|&x| at(sweep, x).map_or(0, marks)).collect()
    }

    /// Returns whether any point has it.
    pub fn any(&self, has: impl Fn(&Point) -> bool) -> bool {
        self.sweeps.iter().any(|(_, sweep)| sweep.points.iter().any(&has))
    }
}

/// Names of which each is there once: those that occur again are numbered, and those of the page cache are marked.
pub fn told_apart<'a>(bases: impl Iterator<Item = (&'a str, bool)>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (base, buffered) in bases {
        let base = clip(base, 60) + if buffered { MARK } else { "" };
        let mut name = base.clone();
        for n in 2.. {
            if !names.contains(&name) {
                break;
            }
            name = format!("{base} ({n})");
        }
        names.push(name);
    }
    names
}

/// The sweep's point at an x.
pub fn at(sweep: &Sweep, x: f64) -> Option<&Point> {
    sweep.points.iter().find(|p| p.x == x)
}

/// Returns the marks of a point.
pub fn marks(point: &Point) -> u8 {
    let unsteady = point.steady.as_ref().is_some_and(|s| !s.attained);
    u8::from(point.limited_by_host) * HOST_LIMITED + u8::from(unsteady) * NOT_STEADY
}

/// Text of a file, no longer than a page can bear.
pub fn clip(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Something, if it is more than nothing.
pub fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}
