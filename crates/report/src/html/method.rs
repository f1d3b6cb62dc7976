//! Method of the measurement.

use super::fold::folded;
use super::table::table;
use crate::devices::{Devices, clip};
use crate::plot::Table;
use crate::unit::{Unit, capacity, duration};
use maud::{Markup, html};
use results::{PhaseStatus, ReviewResult};

/// Phases, purge, conditions.
pub fn section(devices: &Devices) -> Markup {
    let body = html! {
        @for (_, name, result) in devices.iter() {
            @if devices.compared() { h3 { (name) } }
            p { (conditions(result)) }
            @if let Some(purge) = &result.purge {
                p {
                    "Emptied first: " (clip(&purge.what, 300))
                    @if purge.discarded_bytes > 0 { ", " (capacity(purge.discarded_bytes)) }
                    @if purge.took_s > 0.0 { ", in " (duration(purge.took_s)) }
                    "."
                }
            }
            @if !result.phases.is_empty() { (table(&phases(result))) }
        }
    };
    folded("method", "Method", false, &body)
}

fn conditions(result: &ReviewResult) -> String {
    let options = &result.options;
    let mut said = Vec::new();
    if options.fill > 0.0 {
        let fill = Unit::Percent.show(options.fill * 100.0);
        said.push(format!("{fill} of the device in use, except where space in use is what varies"));
    }
    if options.scale != 1.0 && options.scale > 0.0 {
        said.push(format!("modelled at 1/{} of its size", Unit::Count.show((1.0 / options.scale).round())));
    }
    if options.quick {
        said.push("a quick review: fewer and shorter points".into());
    }
    if let Some(seconds) = options.point_s {
        said.push(format!("{} measured at each point", duration(seconds)));
    }
    if let Some(budget) = options.budget_s {
        said.push(format!("a budget of {}", duration(budget)));
    }
    if !options.only.is_empty() {
        let only: Vec<String> = options.only.iter().take(20).map(|phase| clip(phase, 40)).collect();
        let phases = if only.len() == 1 { "phase" } else { "phases" };
        said.push(format!("only the {phases} {}", only.join(", ")));
    }
    if said.is_empty() {
        return "Nothing more is known of the conditions.".into();
    }
    let mut text = said.join("; ");
    if let Some(first) = text.get(..1) {
        let upper = first.to_uppercase();
        text.replace_range(..1, &upper);
    }
    text + "."
}

fn phases(result: &ReviewResult) -> Table {
    let row = |phase: &results::PhaseReport| {
        let status = match phase.status {
            PhaseStatus::Done => "done",
            PhaseStatus::Partial => "in part",
            PhaseStatus::NotBegun => "not begun",
            PhaseStatus::Skipped => "skipped",
        };
        let ran = matches!(phase.status, PhaseStatus::Done | PhaseStatus::Partial);
        vec![
            clip(if phase.title.is_empty() { &phase.name } else { &phase.title }, 120),
            status.to_string(),
            phase.points.to_string(),
            duration(phase.expected_s),
            if ran { duration(phase.took_s) } else { "–".into() },
            clip(&phase.note, 400),
        ]
    };
    let columns = ["Phase", "Status", "Points", "Expected", "Took", "Note"].map(String::from).to_vec();
    let rows = result.phases.iter().map(row).collect();
    Table { caption: "Phases, in order, by the clock on the wall".into(), columns, rows, text_columns: 1 }
}
