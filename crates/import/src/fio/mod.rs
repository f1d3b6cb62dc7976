//! fio's JSON (`--output-format=json` or `json+`).
//!
//! Jobs of one group run at the same time and make one point: fio sums them itself with `group_reporting`, else they are
//! summed here. Groups (`stonewall`, `new_group`) and further runs in the same file are further points. `write` is taken
//! to be Flashrig's `seqrewr`: fio lays a file out before it measures.

mod group;
mod latency;
mod options;
mod schema;

use crate::document::Document;
use crate::scalar::Scalar;
use crate::shell::{Origin, fact, name_of, review};
use crate::text::excerpt;
use crate::{ImportError, Problem, sweeps};
use group::{Group, Remarks};
use results::ReviewResult;
use schema::File;
use std::collections::BTreeMap;

/// Reads what one or more runs of fio wrote, with whatever it or a shell printed before, between and after.
pub(crate) fn read(document: Document) -> Result<ReviewResult, ImportError> {
    let mut points = Vec::new();
    let mut remarks = Remarks::default();
    let mut origin = Origin { name: name_of(document.file), ..Origin::default() };
    let mut next = Some(document);
    while let Some(at) = next {
        let (file, rest): (File, _) = at.first_value()?;
        describe(&file, &mut origin);
        for group in groups(file).map_err(|problem| at.error(problem))? {
            if let Some(point) = group.point(&mut remarks) {
                origin.seconds += point.1.seconds;
                points.push(point);
            }
        }
        next = rest.next_document();
    }
    if points.is_empty() {
        return Err(document.error(Problem::NothingMeasured));
    }
    let sweeps = sweeps::build(points, &origin.tool, &remarks.note());
    Ok(review(origin, sweeps))
}

/// Describes a run's origin; the first one counts.
fn describe(file: &File, origin: &mut Origin) {
    if !origin.tool.is_empty() {
        return;
    }
    origin.tool = excerpt(&file.version.text().replacen("fio-", "fio ", 1));
    if let Some(time) = &file.time {
        origin.facts.push(fact("finished", "Finished", &time.text()));
    }
    let disks: Vec<String> =
        file.disk_util.iter().flatten().filter_map(|disk| disk.name.as_ref()).take(16).map(Scalar::text).collect();
    if !disks.is_empty() {
        origin.facts.push(fact("disks", "Disks", &disks.join(", ")));
    }
}

/// The groups of a run, in its order.
fn groups(file: File) -> Result<Vec<Group>, Problem> {
    let version = file.version.text();
    let jobs = file.jobs.filter(|jobs| !jobs.is_empty()).ok_or(Problem::NoJobs)?;
    let mut groups = BTreeMap::<u64, Group>::new();
    for job in jobs {
        if job.options.is_none() && file.global.is_none() {
            return Err(Problem::NoOptions { version: version.into() });
        }
        if job.mixed.is_some() && job.read.is_none() && job.write.is_none() {
            return Err(Problem::Unified { job: job.jobname.as_ref().map(Scalar::text).unwrap_or_default().into() });
        }
        let told = options::Told::new(&job, file.global.as_ref())?;
        groups.entry(job.groupid).or_default().add(told, job);
    }
    Ok(groups.into_values().collect())
}
