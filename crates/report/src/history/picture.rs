//! A history as one picture that can be shared: an SVG file without script or style, or a PNG file, with a small chart for
//! each figure.

use super::canvas::{Canvas, Font};
use super::raster::{Raster, RasterError};
use super::svg::Svg;
use super::trend::{DeviceHistory, Trend};
use crate::devices::clip;

const WIDTH: f64 = 800.0;
const COLUMNS: usize = 2;
const MARGIN: f64 = 24.0;
const HEAD: f64 = 84.0;
const PANEL: f64 = 132.0;
const CHART: f64 = 58.0;
/// Figures that one picture shows; more than that nobody looks at.
const MAX_PANELS: usize = 12;
/// Characters of a line across a panel, and across the picture.
const PANEL_CHARS: usize = 54;
const LINE_CHARS: usize = 112;

const INK: u32 = 0x1d2125;
const SOFT: u32 = 0x555c63;
const LINE: u32 = 0x0072b2;
const BAD: u32 = 0xb03a00;
const AXIS: u32 = 0xd5d5cf;
const GOOD: u32 = 0x00664b;

/// The picture of one device, as SVG.
pub fn picture(history: &DeviceHistory) -> String {
    let plan = Plan::of(history);
    let mut svg = Svg::new((WIDTH, plan.height()), &history.title);
    plan.draw(&mut svg);
    svg.finish()
}

/// The picture of one device, as PNG: twice as many pixels each way, for tickets and chats that show no SVG.
pub fn raster(history: &DeviceHistory) -> Result<Vec<u8>, RasterError> {
    let plan = Plan::of(history);
    let mut raster = Raster::new((WIDTH, plan.height()))?;
    plan.draw(&mut raster);
    raster.finish()
}

/// Panels and lines of a picture.
struct Plan<'a> {
    history: &'a DeviceHistory,
    trends: Vec<&'a Trend>,
    sentence: Vec<String>,
}

impl Plan<'_> {
    fn of(history: &DeviceHistory) -> Plan<'_> {
        let trends = history.trends.iter().filter(|trend| trend.ends().is_some()).take(MAX_PANELS).collect();
        Plan { history, trends, sentence: lines(&history.sentence(), LINE_CHARS) }
    }

    fn head(&self) -> f64 {
        HEAD + self.sentence.len() as f64 * 18.0
    }

    fn height(&self) -> f64 {
        self.head() + self.trends.len().div_ceil(COLUMNS) as f64 * PANEL + MARGIN
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let history = self.history;
        canvas.text((MARGIN, 40.0), Font::Title, INK, &clip(&history.title, 76));
        let when =
            format!("{} reviews, {} to {}", history.when.len(), history.when[0], history.when[history.when.len() - 1]);
        canvas.text((MARGIN, 62.0), Font::Small, SOFT, &clip(&when, LINE_CHARS));
        for (i, line) in self.sentence.iter().enumerate() {
            canvas.text((MARGIN, 86.0 + i as f64 * 18.0), Font::Text, INK, line);
        }
        for (i, trend) in self.trends.iter().enumerate() {
            let width = (WIDTH - MARGIN * 3.0) / COLUMNS as f64;
            let x = MARGIN + (i % COLUMNS) as f64 * (width + MARGIN);
            panel(canvas, history, trend, (x, self.head() + (i / COLUMNS) as f64 * PANEL, width));
        }
    }
}

fn panel(canvas: &mut dyn Canvas, history: &DeviceHistory, trend: &Trend, (x, y, width): (f64, f64, f64)) {
    let Some((first, last)) = trend.ends() else { return };
    canvas.text((x, y + 14.0), Font::Small, SOFT, &clip(&trend.name(), PANEL_CHARS));
    let change = trend.change().unwrap_or(1.0);
    let colour = match change {
        change if change < 1.0 / (1.0 + super::CHANGED) => BAD,
        change if change > 1.0 + super::CHANGED => GOOD,
        _ => INK,
    };
    let told = format!("{} → {} ({:+.0} %)", trend.row.show(first), trend.row.show(last), (change - 1.0) * 100.0);
    canvas.text((x, y + 33.0), Font::Figure, colour, &clip(&told, PANEL_CHARS));
    // From nothing up: a change must look as large as it is.
    let most = trend.row.values.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let steps = (history.when.len() - 1).max(1) as f64;
    let at = |i: usize, value: f64| {
        (x + 4.0 + i as f64 / steps * (width - 8.0), y + 46.0 + CHART * (1.0 - (value / most).clamp(0.0, 1.0)))
    };
    let base = y + 46.0 + CHART;
    canvas.line(&[(x, base), (x + width, base)], AXIS, 1.0);
    let points: Vec<(f64, f64)> =
        trend.row.values.iter().enumerate().filter_map(|(i, value)| Some(at(i, (*value)?))).collect();
    canvas.line(&points, LINE, 2.0);
    for point in points {
        canvas.dot(point, 3.0, LINE);
    }
}

/// Broken at blanks.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(clip(word, width)),
        }
    }
    lines
}
