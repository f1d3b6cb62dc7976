//! A frame of `flashrig top`: the lines of each part, and their places.

use super::look::Watched;
use crate::units::{duration, grouped, mb_per_s, percent, three_digits};
use crate::view;
use control::Latencies;
use live::{Latency, ModuleState, ModuleStatus, Stats};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Lines of a frame, no more than fit.
pub fn frame(watched: &Watched, trouble: Option<&str>, width: u16, height: u16) -> Vec<Line<'static>> {
    let (width, height) = (usize::from(width), usize::from(height));
    let look = watched.last();
    let status = &look.reply.status;
    let is_well =
        status.powered && !status.stopped && !status.degraded && !status.read_only && !status.pace.is_behind();
    let mut lines = vec![Line::styled(view::title(&look.reply), if is_well { bold() } else { alarm() })];
    if let Some(trouble) = trouble {
        lines.push(Line::styled(view::printable(trouble), alarm()));
    }
    lines.push(Line::default());
    lines.extend(requests(watched));
    lines.push(Line::default());
    lines.extend(management(watched, width));
    lines.push(Line::default());
    let room = height.saturating_sub(lines.len());
    lines.extend(modules(&look.modules, width, room));
    lines.truncate(height);
    lines.into_iter().map(|line| cut(line, width)).collect()
}

/// The same without colours.
pub fn plain(lines: &[Line]) -> String {
    let text = |line: &Line| line.spans.iter().map(|span| &*span.content).collect::<String>();
    let mut out: String = lines.iter().map(|line| text(line).trim_end().to_owned() + "\n").collect();
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn alarm() -> Style {
    bold().fg(Color::Red)
}

fn heading(text: String) -> Line<'static> {
    Line::styled(text, Style::new().add_modifier(Modifier::DIM))
}

/// No wider than the screen.
fn cut(line: Line<'static>, width: usize) -> Line<'static> {
    let mut left = width;
    let style = line.style;
    let spans: Vec<Span> = line
        .spans
        .into_iter()
        .map(|span| {
            let text: String = span.content.chars().take(left).collect();
            left -= text.chars().count();
            Span::styled(text, span.style)
        })
        .collect();
    Line::from(spans).style(style)
}

type OfStats = fn(&Stats) -> &Latency;
type OfLatencies = fn(&Latencies) -> &Vec<(u64, u64)>;

const KINDS: [(&str, OfStats, OfLatencies); 4] = [
    ("read", |stats| &stats.reads, |of| &of.reads),
    ("write", |stats| &stats.writes, |of| &of.writes),
    ("flush", |stats| &stats.flushes, |of| &of.flushes),
    ("trim", |stats| &stats.trims, |of| &of.trims),
];

fn requests(watched: &Watched) -> Vec<Line<'static>> {
    let span = match watched.span() {
        Duration::ZERO => "since the start".to_owned(),
        span => format!("of the last {:.1} s", span.as_secs_f64()),
    };
    let mut lines = vec![
        heading(format!("{:<6}{:>10}{:>10}{:>16}  latencies {span}", "", "IOPS", "MB/s", "in all")),
        heading(format!("{:<6}{:>36}{:>9}{:>9}{:>9}{:>9}", "", "", "p50", "p99", "p99.9", "slowest")),
    ];
    for (name, of_stats, of_latencies) in KINDS {
        let total = of_stats(&watched.last().reply.status.stats).count;
        let rate = watched.rate(of_stats);
        let number = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let iops = number(rate.map(|rate| grouped(rate.requests_per_s.round() as u64)));
        let speed = number(rate.map(|rate| mb_per_s(rate.bytes_per_s)));
        let mut line = format!("{name:<6}{iops:>10}{speed:>10}{:>16}", grouped(total));
        match watched.percentiles(of_latencies, [0.5, 0.99, 0.999, 1.0]) {
            Some(found) => found.iter().for_each(|&ns| line += &format!("{:>9}", duration(ns as f64))),
            None => line += &format!("{:>9}", "-").repeat(4),
        }
        lines.push(Line::from(line));
    }
    let errors = watched.last().reply.status.stats.errors;
    let style = if errors > 0 { alarm() } else { Style::new() };
    lines.push(Line::styled(format!("{:<6}{:>36}", "errors", grouped(errors)), style));
    lines
}

/// A bar of a share: `[####------]`.
fn bar(share: f64, width: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * width as f64).round() as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(width - full))
}

fn management(watched: &Watched, width: usize) -> Vec<Line<'static>> {
    let status = &watched.last().reply.status;
    let bar_width = width.saturating_sub(50).clamp(10, 40);
    let now = watched.write_amplification().map_or("-".to_owned(), three_digits);
    let bands = f64::from(status.bands.max(1));
    let free = f64::from(status.free_bands) / bands;
    let mut lines = vec![
        Line::from(format!("amplification  {now} now, {} in all", three_digits(status.write_amplification))),
        Line::from(format!("filled         {} {}", bar(status.fill, bar_width), percent(status.fill))),
        Line::from(format!("free bands     {} {} of {}", bar(free, bar_width), status.free_bands, status.bands)),
        Line::from(format!(
            "collection     {}{}",
            view::collection(status),
            if status.collects { ", at work" } else { "" }
        )),
    ];
    for (name, share) in [("rebuild", status.rebuild), ("scrub", status.scrub)] {
        let bar = share.map_or(String::new(), |share| bar(share, bar_width) + " ");
        lines.push(Line::from(format!("{name:<15}{bar}{}", view::progress(share))));
    }
    let style = if status.pace.is_behind() { alarm() } else { Style::new() };
    lines.push(Line::styled(format!("lateness       {}", view::lateness(status)), style));
    lines
}

/// Columns of a module: `12 rebuilding  120/155`.
const CELL: usize = 26;

fn modules(modules: &[ModuleStatus], width: usize, room: usize) -> Vec<Line<'static>> {
    let columns = (width / CELL).max(1);
    let Some(rows) = room.checked_sub(1).filter(|rows| *rows > 0) else { return Vec::new() };
    let mut lines = vec![heading("slots: state, mean and most cycles, bad blocks".to_owned())];
    let needed = modules.len().div_ceil(columns);
    // The last row says how many are left out.
    let shown = if needed <= rows { modules.len() } else { (rows - 1) * columns };
    for row in modules[..shown].chunks(columns) {
        lines.push(Line::from(row.iter().map(cell).collect::<Vec<_>>()));
    }
    if shown < modules.len() {
        let odd = modules[shown..].iter().filter(|module| module.state != ModuleState::Active).count();
        let odd = if odd > 0 { format!(", {odd} of them not active") } else { String::new() };
        lines.push(heading(format!("and {} more{odd}", modules.len() - shown)));
    }
    lines
}

fn cell(module: &ModuleStatus) -> Span<'static> {
    let style = match module.state {
        ModuleState::Active => Style::new(),
        ModuleState::Rebuilding => Style::new().fg(Color::Yellow),
        ModuleState::Missing | ModuleState::NoPower => Style::new().fg(Color::Red),
    };
    let flash = match module.present {
        true => format!("{}/{} {}", module.mean_cycles, module.max_cycles, module.bad_blocks),
        false => "empty".to_owned(),
    };
    let text = format!("{:>2} {:<10} {flash}", module.slot, module.state.name().replace('-', " "));
    let text: String = text.chars().take(CELL - 1).collect();
    Span::styled(format!("{text:<CELL$}"), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::look;
    use std::time::Instant;

    fn watched(modules: u32) -> Watched {
        let begin = Instant::now();
        let mut watched = Watched::new(look(begin, 100, 10, &[(1_000, 100)]));
        let mut last = look(begin + Duration::from_secs(1), 1_300, 110, &[(1_000, 100), (55_000, 1_200)]);
        last.modules = (0..modules)
            .map(|slot| ModuleStatus {
                slot,
                present: slot != 2,
                state: if slot == 2 { ModuleState::Missing } else { ModuleState::Active },
                module: Some(slot),
                bad_blocks: 3,
                mean_cycles: 120_000,
                max_cycles: 155_000,
            })
            .collect();
        watched.add(last);
        watched
    }

    #[test]
    fn a_frame_fits_whatever_its_size() {
        for modules in [0, 1, 25, 64] {
            let watched = watched(modules);
            for (width, height) in [(80, 24), (200, 60), (40, 10), (1, 1), (0, 0), (25, 100), (u16::MAX, 3)] {
                let lines = frame(&watched, Some("no server\u{1b}[2J answers"), width, height);
                assert!(lines.len() <= usize::from(height));
                let text = plain(&lines);
                assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
                assert!(!text.contains('\u{1b}'));
            }
        }
    }

    #[test]
    fn a_frame_of_a_common_terminal_says_everything() {
        let text = plain(&frame(&watched(25), None, 80, 24));
        for part in [
            "disk (tachion-400), 1.07 GB",
            "1,200",
            "55.0 µs",
            "amplification  1.08 now, 1.50 in all",
            "9 of 64",
            "target 3 above the reserve of 6, at work",
            "rebuild        [#",
            "43 %",
            "scrub          none",
            " 2 missing    empty",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("and 13 more") || text.contains("24 active"), "{text}");
    }
}
