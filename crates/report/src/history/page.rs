//! The page of histories: sentence, picture and table of each device. It has no script.

use super::picture::picture;
use super::trend::{CHANGED, DeviceHistory, Trend};
use crate::assets::{CSS, csp_hash};
use crate::devices::clip;
use crate::html::head;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The page of all devices, each with its sentence first.
pub fn page(histories: &[DeviceHistory], generator: &str) -> String {
    let policy = format!("default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'", csp_hash(CSS));
    let title = match histories {
        [only] => format!("{} over time", only.title),
        _ => format!("{} devices over time", histories.len()),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, &policy, &html! {}))
            body {
                header.page { div { h1 { (title) } p.subtitle { "Is it still what it was?" } } }
                main #main { @for history in histories { (section(history)) } }
                footer { p { "Written by " (clip(generator, 80)) ". This page loads nothing from anywhere." } }
            }
        }
    }
    .into_string()
}

fn section(history: &DeviceHistory) -> Markup {
    html! {
        section {
            h2 { (history.title) }
            p { (history.sentence()) }
            @if history.trends.iter().any(|trend| trend.ends().is_some()) {
                // Everything in it is ours, or was escaped when it was drawn.
                div.scroll tabindex="0" role="region" aria-label=(format!("Charts: {}", history.title)) {
                    (PreEscaped(picture(history)))
                }
            }
            div.scroll tabindex="0" role="region" aria-label=(format!("Table: {}", history.title)) {
                table.advantage {
                    caption { "Review by review" }
                    thead { tr {
                        th scope="col" { "Figure" }
                        @for (when, partial) in history.when.iter().zip(&history.partial) {
                            th scope="col" { (when) @if *partial { " (partial)" } }
                        }
                        th scope="col" { "Change" }
                    } }
                    tbody { @for trend in &history.trends { (line(history, trend)) } }
                }
            }
            p.note { "+100 % is twice as good, be it twice the throughput or half the time." }
        }
    }
}

fn line(history: &DeviceHistory, trend: &Trend) -> Markup {
    let change = trend.change();
    let class = match change {
        Some(change) if change < 1.0 / (1.0 + CHANGED) => "worse",
        Some(change) if change > 1.0 + CHANGED => "better",
        _ => "",
    };
    html! {
        tr {
            th scope="row" { (trend.name()) }
            @for review in 0..history.when.len() { td { (trend.row.show(review)) } }
            td class=(class) { (change.map_or("–".to_owned(), |change| format!("{:+.0} %", (change - 1.0) * 100.0))) }
        }
    }
}
