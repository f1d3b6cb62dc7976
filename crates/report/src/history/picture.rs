//! A history as one picture that can be shared: an SVG file without script or style, a small chart for each figure.

use super::trend::{DeviceHistory, Trend};
use crate::devices::clip;
use crate::xml::escaped_xml;
use std::fmt::Write;

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

const INK: &str = "#1d2125";
const SOFT: &str = "#555c63";
const LINE: &str = "#0072b2";
const BAD: &str = "#b03a00";
const GOOD: &str = "#00664b";

/// The picture of one device.
pub fn picture(history: &DeviceHistory) -> String {
    let trends: Vec<&Trend> = history.trends.iter().filter(|trend| trend.ends().is_some()).take(MAX_PANELS).collect();
    let sentence = lines(&history.sentence(), LINE_CHARS);
    let head = HEAD + sentence.len() as f64 * 18.0;
    let height = head + trends.len().div_ceil(COLUMNS) as f64 * PANEL + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" font-family=\"system-ui, 'Liberation Sans', Arial, sans-serif\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fdfdfb\"/>\n",
        escaped_xml(&history.title)
    );
    text(&mut out, (MARGIN, 40.0), (20, INK, "bold"), &clip(&history.title, 76));
    let when =
        format!("{} reviews, {} to {}", history.when.len(), history.when[0], history.when[history.when.len() - 1]);
    text(&mut out, (MARGIN, 62.0), (13, SOFT, "normal"), &clip(&when, LINE_CHARS));
    for (i, line) in sentence.iter().enumerate() {
        text(&mut out, (MARGIN, 86.0 + i as f64 * 18.0), (14, INK, "normal"), line);
    }
    for (i, trend) in trends.iter().enumerate() {
        let width = (WIDTH - MARGIN * 3.0) / COLUMNS as f64;
        let x = MARGIN + (i % COLUMNS) as f64 * (width + MARGIN);
        panel(&mut out, history, trend, (x, head + (i / COLUMNS) as f64 * PANEL, width));
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, history: &DeviceHistory, trend: &Trend, (x, y, width): (f64, f64, f64)) {
    let Some((first, last)) = trend.ends() else { return };
    text(out, (x, y + 14.0), (12, SOFT, "normal"), &clip(&trend.name(), PANEL_CHARS));
    let change = trend.change().unwrap_or(1.0);
    let colour = match change {
        change if change < 1.0 / (1.0 + super::CHANGED) => BAD,
        change if change > 1.0 + super::CHANGED => GOOD,
        _ => INK,
    };
    let told = format!("{} → {} ({:+.0} %)", trend.row.show(first), trend.row.show(last), (change - 1.0) * 100.0);
    text(out, (x, y + 33.0), (15, colour, "bold"), &clip(&told, PANEL_CHARS));
    // From nothing up: a change must look as large as it is.
    let most = trend.row.values.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let steps = (history.when.len() - 1).max(1) as f64;
    let at = |i: usize, value: f64| {
        (x + 4.0 + i as f64 / steps * (width - 8.0), y + 46.0 + CHART * (1.0 - (value / most).clamp(0.0, 1.0)))
    };
    let base = y + 46.0 + CHART;
    let _ = writeln!(out, "<path d=\"M{x:.1} {base:.1}h{width:.1}\" stroke=\"#d5d5cf\" fill=\"none\"/>");
    let points: Vec<(f64, f64)> =
        trend.row.values.iter().enumerate().filter_map(|(i, value)| Some(at(i, (*value)?))).collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ =
        writeln!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"{LINE}\" stroke-width=\"2\"/>", path.join(" "));
    for (x, y) in points {
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{LINE}\"/>");
    }
}

fn text(out: &mut String, (x, y): (f64, f64), (size, colour, weight): (u32, &str, &str), words: &str) {
    let words = escaped_xml(words);
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" font-weight=\"{weight}\" fill=\"{colour}\">{words}</text>"
    );
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
