//! Verdict on the measurements, in sentences.

use results::words::{duration, three_digits};
use results::{Claim, DatabaseReport, SyncJudgement, Tone};

/// The most important first.
pub(crate) fn claims(report: &DatabaseReport, price: Option<f64>) -> Vec<Claim> {
    let claim = |topic: &str, tone, text: String| Claim {
        topic: topic.to_owned(),
        tone,
        text,
        chart: format!("database-{topic}"),
    };
    let mut claims = Vec::new();
    if let Some(crash) = &report.crash {
        let tone = if crash.passed { Tone::Good } else { Tone::Bad };
        claims.push(claim("crash", tone, format!("Power cuts: {}", crash.verdict)));
    }
    if let Some(mix) = &report.mix
        && let Some((tps, sessions)) = mix.peak_tps.zip(mix.peak_sessions)
        && let Some(point) = mix.points.iter().find(|p| p.sessions == sessions)
    {
        let p99 = |kind: &str| {
            let kind_report = point.transactions.get(kind)?;
            Some(format!("{kind} {}", duration(kind_report.lat_ns.at(99.0) as f64)))
        };
        let tails: Vec<String> = ["select", "insert", "update"].into_iter().filter_map(p99).collect();
        let bends = match mix.bend_sessions {
            Some(at) => format!("it bends at {}", three_digits(at)),
            None => "it did not bend".to_owned(),
        };
        let dollars = mix
            .tps_per_price
            .zip(price)
            .map_or(String::new(), |(tps, _)| format!(" That is {} for each unit of its price.", three_digits(tps)));
        claims.push(claim(
            "mix",
            Tone::Neutral,
            format!(
                "{}, 80/20: {} transactions a second at {sessions} sessions, {bends}; p99 there: {}.{dollars}",
                report.engine,
                three_digits(tps),
                tails.join(", ")
            ),
        ));
    }
    if let Some(commit) = &report.commit {
        let tone = match commit.verdict.judgement {
            SyncJudgement::Plausible | SyncJudgement::NothingToFlush => Tone::Good,
            SyncJudgement::TooFast => Tone::Warning,
            SyncJudgement::Unknown => Tone::Neutral,
        };
        claims.push(claim("commit", tone, commit.verdict.text.clone()));
        let alone = commit.beside.iter().find(|p| p.beside == "alone").and_then(|p| p.activity.wal_sync_ns);
        let worst = commit
            .beside
            .iter()
            .filter_map(|p| Some((p.activity.wal_sync_ns?, p.beside.as_str())))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((alone, (slowest, beside))) = alone.zip(worst)
            && beside != "alone"
        {
            claims.push(claim(
                "commit",
                if slowest > 5.0 * alone { Tone::Warning } else { Tone::Neutral },
                format!("A sync of the log takes {} alone and {} beside {beside}.", duration(alone), duration(slowest)),
            ));
        }
    }
    claims
}
