//! Lives of a card, a column for each reserve.

use crate::table::{Table, wrap};
use crate::units::{capacity, grouped, io_size, percent, three_digits};
use results::{LifetimeCase, LifetimePoint, LifetimeResult};

/// The lives as a table.
pub fn lifetime(result: &LifetimeResult) -> String {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let mut out = wrap("", 2, &text(&result.target["title"]));
    let block = result.load["block_bytes"].as_u64().map_or_else(String::new, |bytes| format!(" {}", io_size(bytes)));
    let access = result.load["access"].as_str().filter(|access| *access != "uniform");
    let access = access.map_or_else(String::new, |access| format!(" {access}"));
    out.push_str(&wrap(
        "",
        2,
        &format!(
            "{}{block}{access}, {} of the user capacity in use, {} a day, seed {}",
            text(&result.load["mode"]),
            percent(result.fill),
            capacity(result.bytes_per_day as u64),
            result.seed,
        ),
    ));
    if let Some(why) = &result.partial {
        out.push_str(&format!("PARTIAL: {why}\n"));
    }
    if result.cases.is_empty() {
        return out;
    }
    out.push('\n');
    out.push_str(&cases(result));
    out.push('\n');
    out.push_str(&retired(result));
    if let Some(text) = result.cases.iter().find_map(spare_ends_first) {
        out.push('\n');
        out.push_str(&wrap("", 2, &text));
    }
    if let Some(case) = result.cases.first() {
        let model = &case.model;
        out.push('\n');
        out.push_str(&wrap(
            "",
            2,
            &format!(
                "Worn out was a small card of {} bands whose blocks are rated for {} cycles; each stands for {} of the \
                 card's {}. Chance spreads its wear wider than the card's, never less.",
                grouped(model.bands.into()),
                grouped(model.cycles.into()),
                three_digits(f64::from(case.rated_cycles) / f64::from(model.cycles)),
                grouped(case.rated_cycles.into()),
            ),
        ));
    }
    out
}

/// The reason why a card ends before its cycles are used up.
fn spare_ends_first(case: &LifetimeCase) -> Option<String> {
    let spare = case.spare_years.filter(|spare| case.rated_years.is_none_or(|rated| *spare < rated))?;
    Some(format!(
        "With {} reserve the spare ends first, after {} years: erases and programs that fail have retired {} of the blocks \
         by {} of {} cycles, and none is left to collect in. The card's file says how many fail (endurance).",
        percent(case.reserve_percent / 100.0),
        three_digits(spare),
        percent(case.retired_share),
        grouped(case.wear.mean as u64),
        grouped(case.rated_cycles.into()),
    ))
}

/// It says nothing without its years, which are the result's.
const DRIVE_WRITES: &str = "drive writes a day";

type Row = (&'static str, fn(&LifetimeCase) -> String);

fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), three_digits)
}

/// Years that are simulated; what does not happen has none.
fn years(value: Option<f64>) -> String {
    optional(value)
}

fn cases(result: &LifetimeResult) -> String {
    const ROWS: [Row; 21] = [
        ("user GB", |c| three_digits(c.user_bytes as f64 / 1e9)),
        ("spare for collection", |c| percent(c.effective_spare_factor)),
        ("WAF", |c| format!("{:.2}", c.waf)),
        ("  with parity and padding", |c| format!("{:.2}", c.total_amplification)),
        ("years to the rated cycles", |c| years(c.rated_years)),
        ("  by the closed form", |c| three_digits(c.closed_years)),
        ("years to the end of spare", |c| years(c.spare_years)),
        ("  by the closed form", |c| years(c.closed_spare_years)),
        ("years, the first of them", |c| three_digits(c.years)),
        ("TB written by then", |c| three_digits(c.endurance_bytes / 1e12)),
        (DRIVE_WRITES, |c| three_digits(c.drive_writes_per_day)),
        ("cycles then, mean", |c| three_digits(c.wear.mean)),
        ("  least and most", |c| format!("{}-{}", compact(c.wear.min), compact(c.wear.max))),
        ("  most - least, of mean", |c| percent(c.wear.share_of_mean())),
        ("blocks retired then", |c| percent(c.retired_share)),
        ("  by the closed form", |c| percent(c.retired_share_closed)),
        ("$ a GB of user capacity", |c| optional(c.usd_per_gb)),
        ("$ a TB written", |c| optional(c.usd_per_tb_written)),
        ("IOPS, steady", |c| optional(c.iops)),
        ("$ an IOPS", |c| optional(c.usd_per_iops)),
        ("W", |c| optional(c.power_watts)),
    ];
    let mut table = Table::labelled(1 + result.cases.len());
    let head = result.cases.iter().map(|case| percent(case.reserve_percent / 100.0));
    table.row(std::iter::once("reserve".to_owned()).chain(head));
    for (label, cell) in ROWS {
        let over = if label == DRIVE_WRITES { format!(" for {} years", result.warranty_years) } else { String::new() };
        table.row(std::iter::once(format!("{label}{over}")).chain(result.cases.iter().map(cell)));
    }
    table.render()
}

/// `1,234` as `1234`, `98,765` as `98.8k`: two of them stand in one cell.
fn compact(cycles: f64) -> String {
    if cycles < 9_999.5 { format!("{cycles:.0}") } else { format!("{}k", three_digits(cycles / 1e3)) }
}

/// Blocks retired over the years, in tenths of the life that lasts longest.
fn retired(result: &LifetimeResult) -> String {
    let last = result.cases.iter().filter_map(|case| case.curve.last()).map(|point| point.years).fold(0.0, f64::max);
    if result.cases.iter().all(|case| case.curve.last().is_none_or(|point| point.retired_share == 0.0)) {
        return "No block was retired.\n".to_owned();
    }
    let mut table = Table::labelled(1 + result.cases.len());
    table.row(
        ["blocks retired"]
            .map(str::to_owned)
            .into_iter()
            .chain(result.cases.iter().map(|case| percent(case.reserve_percent / 100.0))),
    );
    for tenth in 1..=10 {
        let years = last * f64::from(tenth) / 10.0;
        // After the end of the spare there is no card any more.
        let at = |case: &LifetimeCase| -> String {
            let ended = case.curve.last().is_some_and(|point: &LifetimePoint| point.years < years * 0.999);
            if ended {
                return "read-only".to_owned();
            }
            let before = case.curve.iter().rev().find(|point| point.years <= years * 1.001);
            before.map_or_else(|| "0 %".to_owned(), |point| percent(point.retired_share))
        };
        let label = format!("after {} years", three_digits(years));
        table.row(std::iter::once(label).chain(result.cases.iter().map(at)));
    }
    table.render()
}

/// The lives as CSV: a row for each moment of each.
pub fn lifetime_csv(result: &LifetimeResult) -> String {
    let mut out = "reserve_percent,years,written_bytes,wear_min,wear_p1,wear_mean,wear_p99,wear_max,retired_share,\
                   spare_factor,waf\n"
        .to_owned();
    for case in &result.cases {
        for p in &case.curve {
            let w = &p.wear;
            let figures = [
                case.reserve_percent,
                p.years,
                p.written_bytes,
                w.min,
                w.p1,
                w.mean,
                w.p99,
                w.max,
                p.retired_share,
                p.spare_factor,
                p.waf,
            ];
            out.push_str(&figures.map(|figure| figure.to_string()).join(","));
            out.push('\n');
        }
    }
    out
}
