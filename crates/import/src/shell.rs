//! A review of which only the sweeps are known.

use crate::text::excerpt;
use results::{Fact, HostInfo, ReviewOptions, ReviewResult, Sweep, TargetInfo, TargetKind};
use std::path::Path;

/// Origin of another tool's result.
#[derive(Default)]
pub(crate) struct Origin {
    /// Name in comparisons.
    pub name: String,
    /// The tool and its version: `fio 3.33`.
    pub tool: String,
    pub facts: Vec<Fact>,
    /// Start of the run, as RFC 3339 writes times.
    pub started: Option<String>,
    /// Seconds that all points together took.
    pub seconds: f64,
}

/// The review that holds an imported result.
pub(crate) fn review(origin: Origin, sweeps: Vec<Sweep>) -> ReviewResult {
    ReviewResult {
        kind: ReviewResult::KIND.into(),
        schema: ReviewResult::SCHEMA,
        target: TargetInfo {
            kind: TargetKind::Imported,
            name: origin.name.clone(),
            title: format!("{}, measured with {}", origin.name, origin.tool),
            capacity_bytes: 0,
            sold_bytes: None,
            facts: origin.facts,
            power_loss_protection: None,
            volatile_write_cache: None,
            profile: None,
        },
        generator: origin.tool,
        name: origin.name,
        host: HostInfo { name: "not known".into(), ..HostInfo::default() },
        options: ReviewOptions {
            seed: 0,
            scale: 1.0,
            fill: 0.0,
            quick: false,
            budget_s: None,
            only: Vec::new(),
            point_s: None,
        },
        started: origin.started,
        price: None,
        phases: Vec::new(),
        purge: None,
        preconditioning: Vec::new(),
        sweeps,
        timeline: None,
        burst: None,
        health: None,
        sync: None,
        database: None,
        comparisons: Vec::new(),
        answer: None,
        verdict: Vec::new(),
        partial: None,
        wall_seconds: origin.seconds,
    }
}

/// Names a file's result: the file's name without an ending that says nothing.
pub(crate) fn name_of(file: &str) -> String {
    let path = Path::new(file);
    let plain = path.extension().is_some_and(|e| ["json", "txt", "log", "out"].iter().any(|known| e == *known));
    let name = if plain { path.file_stem() } else { path.file_name() };
    excerpt(&name.unwrap_or(path.as_os_str()).to_string_lossy())
}

/// Makes a fact.
pub(crate) fn fact(key: &str, label: &str, value: &str) -> Fact {
    Fact { key: key.into(), label: label.into(), value: excerpt(value) }
}
