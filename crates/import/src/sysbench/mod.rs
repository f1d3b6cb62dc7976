//! Output of sysbench's fileio test: 0.4.12 and 0.5 with their counts of operations, 1.0 and 1.1 with their rates. Runs
//! that stand one after another in a file each become a point.
//!
//! sysbench has one latency for all requests of a run. It becomes that of reads or of writes where there are only reads
//! or only writes; of a mix it belongs to neither and is left out. Flushes are requests too since 1.0.

mod run;

use crate::input::Input;
use crate::shell::{Origin, name_of, review};
use crate::text::excerpt;
use crate::{ImportError, Problem, sweeps};
use results::ReviewResult;
use run::Run;

/// Line at which a run begins in the output.
const BEGIN: &str = "Running the test with following options";

/// A line that no other program prints.
pub(crate) fn is_telling(line: &str) -> bool {
    line.starts_with(BEGIN) || version(line).is_some()
}

/// `sysbench 1.0.20 (using …)`, `sysbench 0.4.12:  multi-threaded …`.
fn version(line: &str) -> Option<&str> {
    let version = line.strip_prefix("sysbench ")?.split([' ', ':']).next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// Reads all runs of a file.
pub(crate) fn read(input: Input) -> Result<ReviewResult, ImportError> {
    let mut lines = input.into_lines();
    let file = lines.file().to_string();
    let mut origin = Origin { name: name_of(&file), tool: "sysbench".into(), ..Origin::default() };
    let mut points = Vec::new();
    let mut remarks = run::Remarks::default();
    let mut current: Option<Run> = None;
    let mut finish = |run: Option<Run>| -> Result<(), ImportError> {
        let Some(run) = run else { return Ok(()) };
        let line = run.line();
        if let Some(point) = run.point(&mut remarks).map_err(|problem| ImportError::new(&file, Some(line), problem))? {
            origin.seconds += point.1.seconds;
            points.push(point);
        }
        Ok(())
    };
    let mut tool = None;
    while let Some(line) = lines.next()? {
        if let Some(version) = version(&line) {
            tool.get_or_insert_with(|| excerpt(&format!("sysbench {version}")));
        }
        let begins = line.starts_with(BEGIN);
        let taken = match &mut current {
            Some(run) if !begins => run.take(line.trim()),
            _ => Ok(()),
        };
        drop(line);
        taken.map_err(|problem| lines.error(problem))?;
        if begins {
            finish(current.replace(Run::new(lines.number())))?;
        }
    }
    finish(current.take())?;
    origin.tool = tool.unwrap_or(origin.tool);
    if points.is_empty() {
        let problem = if remarks.other_tests > 0 { Problem::OtherTest } else { Problem::NothingMeasured };
        return Err(ImportError::new(&file, None, problem));
    }
    let sweeps = sweeps::build(points, &origin.tool, &remarks.note());
    Ok(review(origin, sweeps))
}
