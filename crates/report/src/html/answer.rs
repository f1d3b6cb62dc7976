//! The first screen of a review: the answer, four figures, two charts.

use super::charts::{Charts, compact};
use crate::anchor::chart;
use crate::devices::{Devices, clip};
use crate::figures::figures as key_figures;
use maud::{Markup, html};
use results::{Answer, ReviewResult};
use std::collections::HashSet;

/// Figures in large type.
const TILES: usize = 4;

/// A figure in large type.
struct Tile {
    label: String,
    value: String,
    detail: String,
    anchor: String,
}

/// The sentence, the limit, the action; figures and charts also where a result of another tool has no answer.
pub fn section(devices: &Devices, charts: &Charts, anchors: &HashSet<&str>) -> Markup {
    let Some((_, _, result)) = devices.iter().next() else { return html! {} };
    let tiles = tiles(result);
    html! {
        @if result.answer.is_some() || !tiles.is_empty() || !charts.first().is_empty() {
            section.answer aria-labelledby="answer" {
                h2 #answer .hidden { "Answer" }
                @if let Some(answer) = &result.answer { (words(answer, anchors)) }
                @if !tiles.is_empty() {
                    dl.tiles { @for tile in &tiles { div {
                        dt { (tile.label) }
                        dd {
                            (linked("value", &tile.value, &tile.anchor, anchors))
                            span.detail { (tile.detail) }
                        }
                    } } }
                }
                div.first-plots { @for plot in charts.first() { (compact(plot)) } }
            }
        }
    }
}

fn words(answer: &Answer, anchors: &HashSet<&str>) -> Markup {
    html! {
        p.sentence { (clip(&answer.sentence, 600)) }
        dl.advice {
            @if !answer.limit.is_empty() { div { dt { "Limit" } dd { (clip(&answer.limit, 600)) } } }
            div.do { dt { "Do" } dd {
                (linked("action", &clip(&answer.action.text, 600), &chart(&answer.action.chart), anchors))
                @if let Some(ground) = answer.action.ground_words() { " " span.detail { "(" (clip(&ground, 300)) ")" } }
            } }
        }
    }
}

/// A link to what shows it, where that is on the page.
fn linked(class: &str, text: &str, anchor: &str, anchors: &HashSet<&str>) -> Markup {
    html! {
        @if anchors.contains(anchor) { a class=(class) href=(format!("#{anchor}")) { (text) } }
        @else { span class=(class) { (text) } }
    }
}

fn tiles(result: &ReviewResult) -> Vec<Tile> {
    let answered = result.answer.iter().flat_map(|answer| &answer.figures).map(|figure| Tile {
        label: clip(&figure.label, 80),
        value: clip(&figure.text, 40),
        detail: clip(&figure.detail, 160),
        anchor: chart(&figure.chart),
    });
    let answered: Vec<Tile> = answered.take(TILES).collect();
    if !answered.is_empty() {
        return answered;
    }
    let known = key_figures(result).into_iter();
    known.take(TILES).map(|f| Tile { label: f.label, value: f.value, detail: f.detail, anchor: f.chart }).collect()
}
