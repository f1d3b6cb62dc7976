//! `flashrig review DIR --database NAME`: a real database on a mounted device.

use crate::args::ReviewArgs;
use crate::cancel;
use crate::database_model::Served;
use crate::error::{DatabaseFailure, Failure, OptionWithout};
use crate::output::{note, pretty, print};
use crate::program;
use crate::progress::Watch;
use crate::review_output::{Existing, Files};
use crate::review_run::start;
use crate::review_target::{refuse_model_options, refuse_real_options};
use crate::view;
use database::{
    CrashConfig, DatabaseError, Device, Engine, MixConfig, Mounted, Part, Plan, Request, Reviewed, SlobConfig,
};
use humantime::format_rfc3339_seconds;
use profile::Profile;
use results::{PhaseReport, PhaseStatus, ReviewOptions, ReviewResult, TargetInfo, TargetKind};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Instant, SystemTime};

/// A name that no file in a directory has: what lies under a file to come is what lies under its directory.
const TO_COME: &str = ".flashrig-to-come";

/// Reviews a directory, of which nothing is known but what the kernel says.
pub fn review(args: &ReviewArgs) -> Result<ExitCode, Failure> {
    refuse_real_options(args, "a database's directory")?;
    refuse_model_options(args, "a database's directory")?;
    let dir = Path::new(&args.target);
    if !dir.is_dir() {
        return Err(DatabaseError::NoDirectory(dir.to_owned()).into());
    }
    let identity = identify::file(dir.join(TO_COME))?;
    let mut info = identity.target_info(identity.file_system.as_ref().and_then(|fs| fs.size_bytes).unwrap_or(0));
    info.kind = TargetKind::Directory;
    info.name.clone_from(&args.target);
    info.title = match info.title.strip_prefix("file on ") {
        Some(device) => format!("directory on {device}"),
        None => info.title,
    };
    let device = Mounted::of(dir);
    info.volatile_write_cache = info.volatile_write_cache.or(device.volatile_write_cache());
    on(args, dir, &device, info, None)
}

/// In a directory on a device of which more may be known: how its power is cut, where its requests are counted. The
/// directory is there, and stays there, with nothing of ours in it.
pub fn on(
    args: &ReviewArgs,
    dir: &Path,
    device: &dyn Device,
    info: TargetInfo,
    served: Option<&Served>,
) -> Result<ExitCode, Failure> {
    for (given, option) in
        [(!args.only.is_empty(), "--only"), (args.resume, "--resume"), (args.fill.0 != 1.0, "--fill")]
    {
        if given {
            return Err(OptionWithout { option, what: "a review with a database" }.into());
        }
    }
    let files = Files::of(args.out.as_deref(), &args.target);
    let logs = logs(&files);
    let known = served.map(|served| served.profile);
    let request = request(args, dir, logs.clone(), known)?;
    let plan = database::prepare(&request, device)?;
    if args.plan {
        if args.json {
            print(&pretty(&plan_json(&plan, &request)))?;
        } else {
            print(&view::database_plan(&plan, &request, &files))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    files.check(if args.overwrite { Existing::Replaced } else { Existing::Refused })?;
    note(&view::database_plan(&plan, &request, &files));
    cancel::listen_patiently()?;
    let (began, started) = (Instant::now(), format_rfc3339_seconds(SystemTime::now()).to_string());
    let done = {
        let watch = Watch::new();
        let mut done = database::review(&request, &plan, device, &watch)?;
        if let Some(served) = served.filter(|_| done.ended.is_none()) {
            served.add(&mut done.report, args.seed, &watch)?;
        }
        done
    };
    let head = start(args, &files, known.and_then(Profile::price_usd));
    let result = ReviewResult {
        kind: ReviewResult::KIND.to_owned(),
        schema: ReviewResult::SCHEMA,
        generator: head.generator,
        name: head.name,
        target: info,
        host: identify::host(),
        options: ReviewOptions {
            seed: args.seed,
            scale: 1.0,
            // The fill of the device is the database's size, and the other files in its directory.
            fill: 0.0,
            quick: args.quick,
            budget_s: None,
            only: Vec::new(),
            point_s: Some(request.point_s),
        },
        started: Some(started),
        price: head.price,
        phases: phases(&request, &plan, &done),
        purge: None,
        preconditioning: Vec::new(),
        sweeps: Vec::new(),
        timeline: None,
        burst: None,
        health: None,
        sync: done.report.commit.as_ref().map(|commit| commit.verdict.clone()),
        database: Some(done.report.clone()),
        comparisons: Vec::new(),
        answer: review::database_answer(&done.report, &done.verdict),
        verdict: done.verdict.clone(),
        partial: done.ended.as_ref().map(ToString::to_string),
        wall_seconds: began.elapsed().as_secs_f64(),
    };
    deliver(args, &files, &result, done)
}

fn deliver(args: &ReviewArgs, files: &Files, result: &ReviewResult, done: Reviewed) -> Result<ExitCode, Failure> {
    let written = files.write(result);
    if args.json {
        print(&pretty(&serde_json::to_value(result).expect("results have text keys")))?;
    } else {
        print(&view::review(result, written.is_ok().then_some(files), args.tables))?;
    }
    written?;
    match done.ended {
        None => Ok(ExitCode::SUCCESS),
        Some(DatabaseError::Cancelled) => Ok(ExitCode::from(cancel::EXIT_CODE)),
        Some(source) => Err(DatabaseFailure::DatabaseEnded { partial: files.json.clone(), source }.into()),
    }
}

/// NAME-logs, beside NAME.json.
fn logs(files: &Files) -> PathBuf {
    let mut logs = files.json.with_extension("").into_os_string();
    logs.push("-logs");
    PathBuf::from(logs)
}

fn request(args: &ReviewArgs, dir: &Path, logs: PathBuf, known: Option<&Profile>) -> Result<Request, Failure> {
    let options = &args.database;
    let wrong = |option: &str, text: String| DatabaseError::Parameter(format!("{option} {text}").into());
    let (mut mix, mut slob) = (MixConfig::default(), SlobConfig::default());
    for setting in &options.mix {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        mix.set(key, value).map_err(|text| wrong("--mix", text))?;
    }
    for setting in &options.slob {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        slob.set(key, value).map_err(|text| wrong("--slob", text))?;
    }
    if options.engine() == Engine::MySql {
        let given = [
            (!options.mix.is_empty(), "--mix"),
            (!options.slob.is_empty(), "--slob"),
            (options.pg_bin.is_some(), "--pg-bin"),
        ];
        if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
            return Err(OptionWithout { option, what: "MySQL: it is PostgreSQL's" }.into());
        }
    }
    let parts = options.parts();
    if options.cycles.is_some() && !parts.contains(&Part::Crash) {
        return Err(DatabaseError::Parameter("--cycles has no effect without --crash".into()).into());
    }
    let usual_s = if args.quick { 5.0 } else { 30.0 };
    Ok(Request {
        engine: options.engine(),
        dir: dir.to_owned(),
        logs,
        guard: Some(program::path()?),
        pg_bin: options.pg_bin.clone(),
        parts,
        sessions: options.sessions.clone(),
        point_s: options.point.map_or(usual_s, |time| time.0.as_secs_f64()),
        sizes: database::Sizes {
            data_bytes: options.db_size.map(|size| size.0).or(args.quick.then_some(1 << 30)),
            shared_buffers_bytes: options.shared_buffers.map(|size| size.0),
        },
        mix,
        slob,
        crash: options
            .cycles
            .map_or_else(CrashConfig::default, |cycles| CrashConfig { cycles, ..CrashConfig::default() }),
        seed: args.seed,
        price: args.price.map(|price| price.0).or(known.and_then(Profile::price_usd)),
        power_watts: known.and_then(Profile::power_watts),
        rack_units: known.and_then(Profile::rack_units),
    })
}

fn plan_json(plan: &Plan, request: &Request) -> serde_json::Value {
    let settings: serde_json::Map<_, _> =
        plan.settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "engine": plan.engine,
        "data_bytes": plan.data_bytes,
        "shared_buffers_bytes": plan.shared_buffers_bytes,
        "needed_bytes": plan.needed_bytes,
        "measured_s": plan.measured_s(),
        "sessions": request.sessions,
        "settings": settings,
    })
}

/// Each part of the plan, and how far it got.
fn phases(request: &Request, plan: &Plan, done: &Reviewed) -> Vec<PhaseReport> {
    let report = &done.report;
    let seconds =
        |all: &[(Part, f64)], part| all.iter().filter(|(of, _)| *of == part).map(|(_, seconds)| seconds).sum();
    let points = request.sessions.len();
    let all = [
        match request.engine {
            Engine::Postgres => {
                (Part::Mix, "mix", "80/20 mix", report.mix.as_ref().map_or(0, |m| m.points.len()), points)
            }
            Engine::MySql => {
                (Part::Mix, "oltp", "oltp_read_write", report.oltp.as_ref().map_or(0, |o| o.points.len()), points)
            }
        },
        (Part::Commit, "commit", "commit path", report.commit.as_ref().map_or(0, |c| c.group.len()), points),
        (Part::Slob, "slob", "SLOB", report.slob.as_ref().map_or(0, |s| s.points.len()), points),
        (
            Part::Crash,
            "crash",
            "power cuts",
            report.crash.as_ref().map_or(0, |c| c.cycles.len()),
            request.crash.cycles as usize,
        ),
    ];
    let phase = |(part, name, title, there, wanted): (Part, &str, &str, usize, usize)| PhaseReport {
        name: format!("database-{name}"),
        title: title.to_owned(),
        status: match (request.parts.contains(&part), there) {
            (false, _) => PhaseStatus::Skipped,
            (true, 0) => PhaseStatus::NotBegun,
            (true, n) if n < wanted => PhaseStatus::Partial,
            _ => PhaseStatus::Done,
        },
        points: wanted as u32,
        expected_s: seconds(&plan.parts, part),
        took_s: seconds(&done.seconds, part),
        note: String::new(),
    };
    all.into_iter().map(phase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    const EXAMPLES: &str = include_str!("../../../docs/examples.md");

    /// Share of a card that its file system leaves free: XFS leaves 920 MiB of a gigabyte.
    const LEFT: f64 = 0.89;

    #[test]
    fn the_databases_of_the_examples_fit_their_cards() {
        let mut sizes = Vec::new();
        for line in EXAMPLES.lines().filter(|line| line.starts_with("$ sudo flashrig review ")) {
            let words = line.trim_start_matches("$ sudo ").split(' ');
            let Command::Review(args) = Cli::try_parse_from(words).unwrap().command else { panic!("{line}") };
            let size = args.real.size.expect("cards in memory have a size").0;
            let request = request(&args, Path::new("/"), PathBuf::new(), None).unwrap();
            let free = (size as f64 * LEFT) as u64;
            let needed = request.needed_bytes(free).unwrap();
            assert!(needed <= free, "{line}: {} of {} MiB", needed >> 20, free >> 20);
            sizes.push(size);
        }
        assert!(sizes.len() >= 2, "{sizes:?}");
    }
}
