//! The page of a grid of questions.

use super::table::facts;
use super::{charts, frame};
use crate::devices::clip;
use crate::{MAX_PAGE_BYTES, embed, sections};
use maud::{Markup, html};
use results::WhatifResult;

/// Bytes of the result that a page has room for beside its charts, its tables and what draws them.
const ROOM_FOR_DATA: usize = MAX_PAGE_BYTES / 3;

/// The page: heat maps, curves, what a search found, all points, and the data where they fit.
pub fn page(result: &WhatifResult) -> String {
    let charts = charts::Charts::new(Vec::new(), sections::whatif_questions(result)).all_open();
    let json = embed::json(result);
    let fits = json.len() <= ROOM_FOR_DATA;
    let title = clip(result.target["title"].as_str().unwrap_or("A card"), 160);
    let body = html! {
        (frame::header(&title, &format!("What would it do? · {}", scale_words(result.scale))))
        main #main {
            @if let Some(why) = &result.partial {
                p.partial role="note" { strong { "Not all points were computed." } " " (clip(why, 600)) }
            }
            (charts.markup())
            (raw(result, fits))
        }
        (frame::footer(&result.generator))
    };
    let data = html! {
        (frame::data("charts", &embed::json(charts.plots())))
        @if fits { (frame::data("review", &json)) }
    };
    frame::document(&format!("What if: {title}"), &body, &data).into_string()
}

fn scale_words(scale: f64) -> String {
    if scale < 1.0 { format!("a model at 1/{:.0} of its size", 1.0 / scale) } else { "a model of full size".into() }
}

/// Renders the parameters that were the same for all points, and the data.
fn raw(result: &WhatifResult, fits: bool) -> Markup {
    let mut pairs: Vec<(String, String)> = sections::whatif_fixed(result);
    let changed: Vec<String> = result.target["changed"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|c| c.as_str())
        .map(|c| clip(c, 80))
        .collect();
    if !changed.is_empty() {
        pairs.push(("Changed".into(), changed.join(", ")));
    }
    pairs.push(("Host".into(), clip(result.host["title"].as_str().unwrap_or("–"), 160)));
    pairs.push(("Seed".into(), result.seed.to_string()));
    pairs.push(("Schema".into(), result.schema.to_string()));
    pairs.push(("Written by".into(), clip(&result.generator, 120)));
    html! {
        section aria-labelledby="raw" {
            h2 #raw { "To repeat it" }
            (facts(&pairs))
            @if fits { p #download-place data-name="flashrig-whatif.json" {} }
            @else { p.note { "The data are too large for a page; --json writes them." } }
        }
    }
}
