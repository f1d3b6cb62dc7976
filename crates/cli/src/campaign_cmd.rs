//! `flashrig work` and `flashrig merge`: a grid that is divided over machines.

use crate::args::{MergeArgs, WorkArgs};
use crate::campaign_part::Sink;
use crate::campaign_plan::{asked, read};
use crate::cancel;
use crate::error::{CampaignFailure, Failure};
use crate::progress::Watch;
use crate::whatif_output::{GENERATOR, Sinks, deliver};
use crate::whatif_question::Asked;
use results::{WhatifPoint, WhatifSearch};
use std::path::Path;
use std::process::ExitCode;
use study::campaign::{MergeError, Part, Plan, Record};
use study::whatif::{answer_units, search_unit};

pub fn work(args: &WorkArgs) -> Result<ExitCode, Failure> {
    let plan = Plan::parse(&read(&args.plan)?, GENERATOR)
        .map_err(|source| CampaignFailure::Plan { path: args.plan.clone(), source })?;
    let asked = asked(&plan, &args.plan)?;
    let mut units: Vec<usize> = match &args.shard {
        Some(shard) => shard.units(plan.units.len()).collect(),
        None if args.unit.is_empty() => (0..plan.units.len()).collect(),
        None => args.unit.clone(),
    };
    if let Some(&unit) = units.iter().find(|&&unit| unit >= plan.units.len()) {
        return Err(CampaignFailure::NoUnit { unit, units: plan.units.len() }.into());
    }
    let sink = Sink::open(&args.out, &plan, &mut units)?;
    cancel::listen()?;
    let threads = args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()), usize::from);
    let stopped = {
        let watch = Watch::new();
        answer(&plan, &asked, (&units, threads), &watch, &sink)?
    };
    sink.close()?;
    Ok(if stopped { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS })
}

/// Returns whether a person asked to stop before all was answered.
fn answer(
    plan: &Plan,
    asked: &Asked,
    (units, threads): (&[usize], usize),
    watch: &Watch,
    sink: &Sink,
) -> Result<bool, Failure> {
    if let Some(search) = &asked.search {
        for &unit in units {
            let found = search_unit(&asked.question, search, plan.units[unit].points[0], threads, watch)?;
            let Some((points, found)) = found else { return Ok(true) };
            sink.add(&Record::new(plan, unit, points, Some(found)));
        }
        return Ok(false);
    }
    let points: Vec<&[usize]> = units.iter().map(|&unit| plan.units[unit].points.as_slice()).collect();
    let tell = |place: usize, points: Vec<WhatifPoint>| sink.add(&Record::new(plan, units[place], points, None));
    Ok(answer_units(&asked.question, &points, threads, watch, &tell)?)
}

pub fn merge(args: &MergeArgs) -> Result<ExitCode, Failure> {
    let parts = args.parts.iter().map(|path| {
        let part = Part::parse(&read(path)?, GENERATOR);
        Ok(part.map_err(|source| CampaignFailure::Part { path: path.clone(), source })?)
    });
    let parts = parts.collect::<Result<Vec<Part>, Failure>>()?;
    let Some(first) = parts.first() else { unreachable!("the parser asks for one of them") };
    let (records, missing) = study::campaign::merge_some(&parts).map_err(|error| {
        let name = |place: usize| args.parts[place].clone();
        let units = first.plan.units.len();
        match error {
            MergeError::Plans { one, other } => CampaignFailure::Plans { one: name(one), other: name(other) },
            MergeError::Answers { unit, one, other } => {
                CampaignFailure::Answers { unit, one: name(one), other: name(other) }
            }
            MergeError::Missing { units: missing } => CampaignFailure::Missing { missing, units },
        }
    })?;
    let units = first.plan.units.len();
    let partial = (!missing.is_empty()).then(|| format!("{} of {units} units are missing", missing.len()));
    if !args.partial && !missing.is_empty() {
        return Err(CampaignFailure::Missing { missing, units }.into());
    }
    let code = if partial.is_some() { INCOMPLETE } else { 0 };
    whole(&first.plan, (records, partial), &args.parts[0], Sinks::open(&args.output)?)?;
    Ok(ExitCode::from(code))
}

/// Exit code of a result that lacks units.
const INCOMPLETE: u8 = 1;

/// The result that one machine would have had, or a part of it.
fn whole(
    plan: &Plan,
    (records, partial): (Vec<Record>, Option<String>),
    path: &Path,
    sinks: Sinks<'_>,
) -> Result<(), Failure> {
    let asked = asked(plan, path)?;
    let mut points: Vec<(usize, Vec<WhatifPoint>)> = Vec::new();
    let mut found = Vec::new();
    for Record { unit, points: answers, found: outcome, .. } in records {
        let of = &plan.units[unit].points;
        match outcome {
            Some(outcome) => {
                points.push((of[0], answers));
                found.push((of[0], outcome));
            }
            None => points.extend(of.iter().copied().zip(answers.into_iter().map(|answer| vec![answer]))),
        }
    }
    points.sort_by_key(|(point, _)| *point);
    found.sort_by_key(|(combination, _)| *combination);
    let points = points.into_iter().flat_map(|(_, points)| points).collect();
    let found = found.into_iter().map(|(_, outcome)| outcome).collect();
    let searched = asked.search.map(|search| WhatifSearch { found, ..search.describe() });
    deliver(asked, (points, searched, partial), sinks)
}
