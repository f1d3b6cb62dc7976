//! The page's elements.

mod advantage;
mod answer;
mod charts;
mod fold;
mod frame;
mod identity;
mod method;
mod raw;
mod table;
mod verdict;
mod whatif;
mod winners;

pub use frame::head;
pub use whatif::page as whatif_page;

use crate::devices::{Devices, clip};
use crate::embed::Detail;
use crate::{MAX_DEVICES, MAX_PAGE_BYTES, embed, sections};
use maud::{Markup, html};
use results::ReviewResult;
use std::collections::HashSet;

/// The page in the most detail that fits.
pub fn fitting_page(results: &[&ReviewResult]) -> String {
    let results = &results[..results.len().min(MAX_DEVICES)];
    let mut page = String::new();
    for detail in Detail::STEPS {
        page = self::page(results, detail).into_string();
        if page.len() <= MAX_PAGE_BYTES {
            return page;
        }
    }
    // The last step bounds all numbers of things, and `clip` all texts: only a bug gets here.
    panic!("a page of {} bytes in the least detail", page.len());
}

fn page(results: &[&ReviewResult], detail: Detail) -> Markup {
    let drawn: Vec<ReviewResult> = results.iter().map(|r| detail.drawn(r)).collect();
    let devices = Devices::new(drawn.iter().collect());
    let first = if devices.compared() { Vec::new() } else { sections::first(&devices) };
    let charts = charts::Charts::new(first, sections::questions(&devices, detail.curves()));
    let anchors: HashSet<&str> = charts.anchors().collect();
    let embedded = detail.embedded(results);
    let title = title(&devices);
    let body = html! {
        (frame::header(&title, &subtitle(&devices)))
        main #main {
            @for (i, _, result) in devices.iter() {
                @if let Some(why) = &result.partial {
                    p.partial role="note" {
                        strong { (devices.labelled(i, "This review is not complete.")) }
                        " " (clip(why, 600))
                    }
                }
            }
            @if devices.compared() { (winners::section(&devices)) (advantage::summary(&devices)) }
            @else { (answer::section(&devices, &charts, &anchors)) }
            (verdict::section(&devices, &anchors))
            (charts.markup())
            @if devices.compared() { (advantage::everything(&devices)) }
            (identity::section(&devices))
            (method::section(&devices))
            (raw::section(&devices, embedded.is_some(), detail.note()))
        }
        (frame::footer(devices.iter().next().map_or("", |(_, _, result)| &result.generator)))
    };
    let data = html! {
        (frame::data("charts", &embed::json(charts.plots())))
        @if let Some(embedded) = &embedded {
            @if let [only] = embedded.as_slice() {
                (frame::data("review", &embed::json(only)))
            } @else {
                (frame::data("review", &embed::json(embedded)))
            }
        }
    };
    frame::document(&title, &body, &data)
}

fn title(devices: &Devices) -> String {
    let names: Vec<&str> = devices.iter().map(|(_, name, _)| name).collect();
    match devices.iter().next() {
        None => "Nothing to compare".into(),
        Some((_, name, result)) if !devices.compared() => {
            let title = clip(&result.target.title, 160);
            if title.trim().is_empty() { name.to_string() } else { title }
        }
        _ => names.join(" against "),
    }
}

fn subtitle(devices: &Devices) -> String {
    let mut results = devices.iter();
    let Some((_, name, result)) = results.next() else { return String::new() };
    if devices.compared() {
        return format!("Flash storage compared: {name} is what the others are held against");
    }
    let kind = identity::kind(result.target.kind);
    match &result.started {
        Some(started) => format!("Flash storage review · {kind} · {}", clip(started, 40)),
        None => format!("Flash storage review · {kind}"),
    }
}
