//! A sentence of the verdict.

use results::{Claim, Point, Tone};

/// A claim about one point. A figure of a busy machine says nothing against the device, and the claim says so.
pub(super) fn claim_at(topic: &str, tone: Tone, text: String, chart: &str, point: &Point) -> Claim {
    if !point.limited_by_host {
        return claim(topic, tone, text, chart);
    }
    let tone = if tone == Tone::Good { Tone::Good } else { Tone::Neutral };
    claim(topic, tone, format!("{text} The machine that asked was the limit here, not the device."), chart)
}

pub(super) fn claim(topic: &str, tone: Tone, text: String, chart: &str) -> Claim {
    Claim { topic: topic.into(), tone, text, chart: chart.into() }
}
