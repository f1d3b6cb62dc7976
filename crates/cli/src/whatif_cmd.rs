//! `flashrig whatif`: a grid of questions about a modelled card, or a search for what still holds a bound.

use crate::args::WhatifArgs;
use crate::campaign_plan;
use crate::cancel;
use crate::error::Failure;
use crate::opening::open;
use crate::progress::Watch;
use crate::whatif_output::{Sinks, deliver};
use crate::whatif_question::Asked;
use std::process::ExitCode;

pub fn whatif(args: &WhatifArgs) -> Result<ExitCode, Failure> {
    let model = &args.common.model;
    let (profile, host) = open(&args.card, &model.host, &args.common.settings())?;
    let asked = Asked::new(args, profile, host)?;
    if let Some(path) = &args.plan {
        return campaign_plan::write(args, &asked, path);
    }
    let sinks = Sinks::open(&args.output)?;
    cancel::listen()?;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let (answers, found) = {
        let watch = Watch::new();
        match &asked.search {
            Some(search) => {
                let (answers, found) = study::whatif::search(&asked.question, search, threads, &watch)?;
                (answers, Some(found))
            }
            None => (study::whatif::grid(&asked.question, threads, &watch)?, None),
        }
    };
    let partial = answers.stopped.then(|| "stopped by Ctrl-C".to_owned());
    let code = if answers.stopped { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS };
    deliver(asked, (answers.points, found, partial), sinks)?;
    Ok(code)
}
