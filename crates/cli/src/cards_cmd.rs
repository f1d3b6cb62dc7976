//! `flashrig cards`: what is built in.

use crate::args::CardsArgs;
use crate::error::Failure;
use crate::output::{pretty, print};
use profile::{Profile, ProfileError, Summary};
use serde_json::{Value, json};
use std::process::ExitCode;

pub fn cards(args: &CardsArgs) -> Result<ExitCode, Failure> {
    let summaries = Profile::builtin_names().map(|name| Profile::builtin(name)?.summary());
    let summaries = summaries.collect::<Result<Vec<Summary>, ProfileError>>()?;
    if args.json {
        print(&pretty(&summaries.iter().map(row_json).collect()))?;
    } else {
        let rows: String = summaries.iter().map(|summary| format!("{summary}\n")).collect();
        print(&format!("{}\n{rows}", Summary::header()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row_json(summary: &Summary) -> Value {
    json!({
        "name": summary.name,
        "title": summary.title,
        "user_bytes": summary.user_bytes,
        "spare_factor": summary.spare_factor,
        "price_usd": summary.price_usd,
        "usd_per_gb": summary.usd_per_gb(),
    })
}
