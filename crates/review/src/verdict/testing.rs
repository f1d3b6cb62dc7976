//! Results for tests of the verdict.

use results::ReviewResult;
use serde_json::json;

/// The review of a device of a kind, with 1 GB and two cores in its host, of which nothing was measured.
pub(super) fn nothing_measured(kind: &str) -> ReviewResult {
    serde_json::from_value(json!({
        "kind": ReviewResult::KIND, "schema": ReviewResult::SCHEMA, "generator": "flashrig", "name": "x",
        "target": { "kind": kind, "name": "x", "title": "X", "capacity_bytes": 1_000_000_000, "facts": [] },
        "host": { "name": "h", "cores": 2, "facts": [] },
        "options": { "seed": 1, "scale": 1.0, "fill": 1.0, "quick": false, "only": [] },
        "phases": [], "preconditioning": [], "sweeps": [], "comparisons": [], "verdict": [], "wall_seconds": 1.0
    }))
    .expect("a result without points")
}
