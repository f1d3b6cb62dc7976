//! The answer of a review through a database: its own transactions and commits.

use results::words::{duration, three_digits, times};
use results::{Action, Answer, Claim, DatabaseReport, DatabaseSlobPoint, KeyFigure, Tone};

/// The answer, from the database's figures and the verdict on them; none where nothing was measured that gives one.
pub fn database_answer(report: &DatabaseReport, verdict: &[Claim]) -> Option<Answer> {
    let figures = figures(report);
    let (sentence, action) = crash(report)
        .or_else(|| mix(report))
        .or_else(|| oltp(report))
        .or_else(|| commits(report))
        .or_else(|| slob(report))?;
    let topic = match () {
        () if report.crash.is_some() => "crash",
        () if report.mix.is_some() => "mix",
        () if report.oltp.is_some() => "oltp",
        () => "commit",
    };
    // The gravest claim says what limits it.
    let bad = verdict.iter().find(|claim| matches!(claim.tone, Tone::Bad | Tone::Warning));
    let limit = bad.or_else(|| verdict.iter().find(|claim| claim.topic == topic));
    let limit = limit.map_or(String::new(), |claim| claim.text.clone());
    Some(Answer { sentence, limit, action, figures })
}

fn action(text: String, gain: Option<f64>, topic: &str) -> Action {
    Action { text, gain, chart: format!("database-{topic}"), ..Action::default() }
}

/// Durability comes before speed.
fn crash(report: &DatabaseReport) -> Option<(String, Action)> {
    let crash = report.crash.as_ref()?;
    let cuts = crash.cycles.len();
    Some(if crash.passed {
        let sentence = format!("{} kept every acknowledged transaction through {cuts} power cuts.", report.engine);
        let text = "Trust it with commits; more cycles (--cycles) make the proof stronger.";
        (sentence, action(text.into(), None, "crash"))
    } else {
        let sentence = format!("{} lost acknowledged transactions, or its order, in {cuts} power cuts.", report.engine);
        let text = "Put no database on it, nor anything that relies on a flush.";
        (sentence, action(text.into(), None, "crash"))
    })
}

/// The fewest sessions that get nearly all of the most transactions a second, of points with their sessions and transactions
/// a second.
fn start_at(points: impl Iterator<Item = (u32, f64)> + Clone, most: f64, chart: &str) -> Option<Action> {
    let one = points.clone().next().filter(|(_, tps)| *tps > 0.0)?;
    let mut points = points;
    let knee = points.find(|(_, tps)| *tps >= 0.9 * most).unwrap_or(one);
    let gain = knee.1 / one.1;
    let text = format!(
        "Start at {}: {} the transactions of {}, {} a second.",
        sessions_of(knee.0),
        times(gain),
        one.0,
        three_digits(knee.1)
    );
    Some(action(text, (knee.0 > one.0).then_some(gain), chart))
}

fn mix(report: &DatabaseReport) -> Option<(String, Action)> {
    let mix = report.mix.as_ref()?;
    let (tps, sessions) = (mix.peak_tps?, mix.peak_sessions?);
    let sentence = format!(
        "{} does {} transactions a second of an 80/20 mix on it, at {}.",
        report.engine,
        three_digits(tps),
        sessions_of(sessions)
    );
    let points = mix.points.iter().map(|point| (point.sessions, point.tps));
    Some((sentence, start_at(points, tps, "mix")?))
}

fn oltp(report: &DatabaseReport) -> Option<(String, Action)> {
    let oltp = report.oltp.as_ref()?;
    let (tps, sessions) = (oltp.peak_tps?, oltp.peak_sessions?);
    let sentence = format!(
        "{} does {} transactions of oltp_read_write a second on it, at {}.",
        report.engine,
        three_digits(tps),
        sessions_of(sessions)
    );
    let points = oltp.points.iter().map(|point| (point.sessions, point.tps));
    Some((sentence, start_at(points, tps, "oltp")?))
}

fn commits(report: &DatabaseReport) -> Option<(String, Action)> {
    let commit = report.commit.as_ref()?;
    let (one, best) = (commit.group.first()?, commit.group.iter().max_by(|a, b| a.commits_s.total_cmp(&b.commits_s))?);
    let sentence = format!(
        "{} commits {} times a second on it, at {}.",
        report.engine,
        three_digits(best.commits_s),
        sessions_of(best.sessions)
    );
    let gain = best.commits_s / one.commits_s;
    let text =
        format!("Let {} commit at once: {} the commits of {}.", sessions_of(best.sessions), times(gain), one.sessions);
    Some((sentence, action(text, gain.is_finite().then_some(gain), "commit")))
}

fn slob(report: &DatabaseReport) -> Option<(String, Action)> {
    let points = &report.slob.as_ref()?.points;
    let (one, best) = (points.first()?, points.iter().max_by(|a, b| reads(a).total_cmp(&reads(b)))?);
    let sentence = format!(
        "{} reads {} blocks a second from it by the SLOB method, at {}.",
        report.engine,
        three_digits(reads(best)),
        sessions_of(best.sessions)
    );
    let gain = reads(best) / reads(one);
    let text = format!("Start at {}: {} the blocks of {}.", sessions_of(best.sessions), times(gain), one.sessions);
    Some((sentence, action(text, gain.is_finite().then_some(gain), "slob")))
}

fn reads(point: &DatabaseSlobPoint) -> f64 {
    point.awr.physical_reads_s
}

fn sessions_of(sessions: u32) -> String {
    if sessions == 1 { "1 session".into() } else { format!("{sessions} sessions") }
}

fn figures(report: &DatabaseReport) -> Vec<KeyFigure> {
    let figure = |name: &str, label: &str, value: f64, text: String, detail: String, topic: &str| KeyFigure {
        name: name.into(),
        label: label.into(),
        value,
        text,
        detail,
        chart: format!("database-{topic}"),
    };
    let mut figures = Vec::new();
    if let Some(mix) = &report.mix
        && let Some((tps, sessions)) = mix.peak_tps.zip(mix.peak_sessions)
    {
        let detail = sessions_of(sessions);
        figures.push(figure("transactions_s", "Transactions a second", tps, three_digits(tps), detail, "mix"));
    }
    if let Some(oltp) = &report.oltp
        && let Some((tps, sessions)) = oltp.peak_tps.zip(oltp.peak_sessions)
    {
        let detail = format!("oltp_read_write, {}", sessions_of(sessions));
        figures.push(figure("transactions_s", "Transactions a second", tps, three_digits(tps), detail, "oltp"));
        if let Some(peak) = oltp.points.iter().find(|point| point.sessions == sessions) {
            let ns = peak.p99_ns as f64;
            figures.push(figure("p99_ns", "99 of 100 transactions", ns, duration(ns), sessions_of(sessions), "oltp"));
        }
    }
    if let Some(commit) = &report.commit {
        if let Some(best) = commit.group.iter().max_by(|a, b| a.commits_s.total_cmp(&b.commits_s)) {
            let detail = sessions_of(best.sessions);
            figures.push(figure(
                "commits_s",
                "Commits a second",
                best.commits_s,
                three_digits(best.commits_s),
                detail,
                "commit",
            ));
        }
        let ns = commit.device_sync.mean;
        if ns > 0.0 {
            let detail = "8 KiB write and sync, without a database".into();
            figures.push(figure("sync_ns", "A write with its sync", ns, duration(ns), detail, "commit"));
        }
    }
    figures
}
