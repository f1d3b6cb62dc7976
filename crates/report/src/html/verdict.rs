//! The verdict in words.

use crate::anchor::chart;
use crate::devices::{Devices, clip};
use maud::{Markup, html};
use results::{Claim, Tone};
use std::collections::HashSet;

/// Claims, each a link to what shows it where that is on the page.
pub fn section(devices: &Devices, anchors: &HashSet<&str>) -> Markup {
    let said: Vec<_> = devices.iter().filter(|(_, _, result)| !result.verdict.is_empty()).collect();
    html! {
        @if !said.is_empty() {
            section.verdict aria-labelledby="verdict" {
                h2 #verdict { "Verdict" }
                @for (_, name, result) in said {
                    @if devices.compared() { h3 { (name) } }
                    ul.claims { @for claim in &result.verdict { (self::claim(claim, anchors)) } }
                }
            }
        }
    }
}

fn claim(claim: &Claim, anchors: &HashSet<&str>) -> Markup {
    let (class, word) = match claim.tone {
        Tone::Good => ("good", "Good"),
        Tone::Neutral => ("neutral", "Note"),
        Tone::Warning => ("warning", "Look twice"),
        Tone::Bad => ("bad", "Bad"),
    };
    let anchor = chart(&claim.chart);
    let linked = !claim.chart.is_empty() && anchors.contains(anchor.as_str());
    let text = clip(&claim.text, 800);
    html! {
        li class=(class) {
            span.tone { (word) }
            @if linked { a href=(format!("#{anchor}")) { (text) } } @else { span { (text) } }
        }
    }
}
