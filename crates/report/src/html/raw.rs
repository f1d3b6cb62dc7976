//! Command that repeats the review, and the data.

use super::fold::folded;
use super::table::facts;
use crate::devices::{Devices, clip};
use crate::unit::duration;
use maud::{Markup, html};

/// Profiles are TOML of some kilobytes; anything longer is not one.
const PROFILE_CHARS: usize = 20_000;

/// Options, seed, version; the data to download.
pub fn section(devices: &Devices, embedded: bool, note: &str) -> Markup {
    let body = html! {
            @for (_, name, result) in devices.iter() {
                @if devices.compared() { h3 { (name) } }
                (facts(&[
                    ("Written by".into(), clip(&result.generator, 120)),
                    ("Schema".into(), result.schema.to_string()),
                    ("Seed".into(), result.options.seed.to_string()),
                    ("Took".into(), duration(result.wall_seconds)),
                    ("Started".into(), result.started.as_deref().map_or("–".into(), |s| clip(s, 60))),
                    ("Options".into(), options(result)),
                ]))
                @if let Some(profile) = &result.target.profile {
                    details.json {
                        summary { "Profile" span.hidden { " of " (name) } }
                        pre tabindex="0" { (clip(&pretty(profile), PROFILE_CHARS)) }
                    }
                }
            }
            @if embedded { p #download-place data-name="flashrig-review.json" {} }
            @if !note.is_empty() { p.note { (note) } }
    };
    folded("raw", "To repeat it", false, &body)
}

fn options(result: &results::ReviewResult) -> String {
    serde_json::to_string(&result.options).map_or_else(|_| "–".into(), |json| clip(&json, 600))
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
