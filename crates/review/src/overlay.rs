//! Published figures beside a model's review.

use crate::point::PointError;
use crate::validate::context::Context;
use crate::validate::tables_of_card;
use import::Table;
use profile::Profile;
use results::ReviewResult;
use target::{Progress, RunError};

const MIB: f64 = 1_048_576.0;

/// Puts what others measured on the device at the points of its fill sweep, and compares the model with every published
/// table that it appears in. A changed card is another card: nothing was published about it.
pub fn lay_over_published(
    result: &mut ReviewResult,
    profile: &Profile,
    scale: f64,
    seed: u64,
    progress: &dyn Progress,
) -> Result<(), PointError> {
    if !profile.changed().is_empty() {
        return Ok(());
    }
    attach(profile.name(), result);
    if result.partial.is_some() {
        return Ok(());
    }
    let context = Context { seed, scale, progress };
    for table in tables_of_card(profile.name()) {
        match table.compare(&context) {
            Err(PointError::Run(RunError::Cancelled)) => {
                result.partial = Some("stopped by Ctrl-C".into());
                return Ok(());
            }
            other => result.comparisons.extend(other?),
        }
    }
    Ok(())
}

fn attach(card: &str, result: &mut ReviewResult) {
    let (table, column) = match card {
        "tachion-400" => ("fill-percent", "tachion_400_mib_per_s"),
        "iodrive-duo-320-slc" => ("fill-percent", "duo_320_mib_per_s"),
        "iodrive-320-mlc" => ("iodrive-320-mlc-fill", "mib_per_s"),
        _ => return,
    };
    let Some(sweep) = result.sweeps.iter_mut().find(|sweep| sweep.name == "fill") else { return };
    let table = Table::get(table);
    for (percent, measured) in table.numbers("percent_in_use").into_iter().zip(table.numbers(column)) {
        if let Some(point) = sweep.points.iter_mut().find(|p| p.x == percent) {
            point.published_bw_bytes = Some(measured * MIB);
        }
    }
}
