//! The question of `flashrig whatif`, from its options.

use crate::args::{Values, WhatifArgs};
use crate::error::{Failure, OptionWithout, WhatifFailure};
use crate::opening;
use load::{FileioConfig, FileioMode};
use profile::{Host, Profile};
use study::whatif::{Axis, Bound, Question, Range, RangeAxis, Search};
use target::Measure;

/// A grid of more points is refused.
const MAX_POINTS: usize = 5_000;

/// A question, and the search where one is asked for.
pub struct Asked {
    pub question: Question,
    pub search: Option<Search>,
}

impl Asked {
    /// Everything but the card and the host, which may come from a plan.
    pub fn new(args: &WhatifArgs, profile: Profile, host: Host) -> Result<Asked, Failure> {
        let question = question(args, profile, host)?;
        if question.count() > MAX_POINTS {
            return Err(WhatifFailure::TooManyPoints { given: question.count(), max: MAX_POINTS }.into());
        }
        Ok(Asked { question, search: search(args)? })
    }
}

fn question(args: &WhatifArgs, profile: Profile, host: Host) -> Result<Question, Failure> {
    let common = &args.common;
    let modes = listed(&args.axes.load, "--load")?;
    let modes: Vec<FileioMode> = modes.map(|mode| mode.0).collect();
    check_belonging(args, &modes)?;
    let mut axes = Vec::new();
    for vary in &args.axes.vary {
        if axes.iter().any(|axis: &Axis| axis.key() == vary.key) {
            return Err(WhatifFailure::VariedTwice { key: vary.key.as_str().into() }.into());
        }
        axes.push(Axis::Setting { key: vary.key.clone(), values: vary.values.clone() });
    }
    axes.push(Axis::Load(modes));
    if let Some(shares) = &args.axes.read_percent {
        axes.push(Axis::ReadPercent(listed(shares, "--read-percent")?.map(|share| share.0).collect()));
    }
    axes.push(Axis::Block(listed(&args.axes.block, "--block")?.map(|block| block.0).collect()));
    if let Some(Values::List(reserves)) = &args.axes.reserve {
        if axes.iter().any(|axis| axis.key() == "ftl.reserve") {
            return Err(WhatifFailure::VariedTwice { key: "ftl.reserve".into() }.into());
        }
        axes.push(Axis::Reserve(reserves.iter().map(|reserve| reserve.0).collect()));
    }
    if let Values::List(fills) = &args.axes.fill {
        axes.push(Axis::Fill(fills.iter().map(|fill| fill.0).collect()));
    }
    if let Values::List(threads) = &args.axes.threads {
        axes.push(Axis::Threads(threads.iter().map(|threads| threads.0).collect()));
    }
    let load = FileioConfig {
        queue_depth: common.depth,
        access: common.access,
        think_ns: common.think.0,
        rate_iops: common.rate,
        ..FileioConfig::default()
    };
    let scale = opening::scale(&profile, common.scale)?;
    Ok(Question {
        profile,
        host,
        scale,
        seed: common.model.seed,
        measure: common.seconds.map_or(Measure::Auto, Measure::Seconds),
        load,
        axes,
    })
}

/// Values of an axis that can't be searched.
fn listed<'a, T>(values: &'a Values<T>, option: &'static str) -> Result<impl Iterator<Item = &'a T> + 'a, Failure> {
    match values {
        Values::List(values) => Ok(values.iter()),
        Values::Range(..) => Err(OptionWithout { option, what: "searches: it takes a list, not a range" }.into()),
    }
}

/// An option without an effect is an error, not a surprise.
fn check_belonging(args: &WhatifArgs, modes: &[FileioMode]) -> Result<(), Failure> {
    let without = |option, what| Err(OptionWithout { option, what }.into());
    if args.axes.read_percent.is_some() && modes.iter().any(|mode| !mode.mixes()) {
        return without("--read-percent", "loads other than rndrw and seqrw");
    }
    if args.common.access != load::Access::Uniform && modes.iter().any(|mode| mode.is_sequential()) {
        return without("--access", "sequential loads");
    }
    Ok(())
}

/// The range that is searched, where a bound is given.
fn search(args: &WhatifArgs) -> Result<Option<Search>, Failure> {
    let axes = &args.axes;
    let mut ranges = Vec::new();
    let whole = |least: f64, most: f64, axis| -> Result<Range, Failure> {
        if least.fract() != 0.0 || most.fract() != 0.0 {
            return Err(WhatifFailure::RangeNotWhole.into());
        }
        Ok(Range { axis, least: least as u32, most: most as u32 })
    };
    if let Values::Range(least, most) = &axes.fill {
        ranges.push(whole(least.0, most.0, RangeAxis::Fill)?);
    }
    if let Some(Values::Range(least, most)) = &axes.reserve {
        ranges.push(whole(least.0, most.0, RangeAxis::Reserve)?);
    }
    if let Values::Range(least, most) = &axes.threads {
        ranges.push(Range { axis: RangeAxis::Threads, least: least.0, most: most.0 });
    }
    let bound = Bound {
        p99_ns: args.bound.target_p99.map(|time| time.0),
        min_bw_bytes: args.bound.min_mb_s.map(|mb| mb * 1e6),
    };
    let bounded = bound.p99_ns.is_some() || bound.min_bw_bytes.is_some();
    match (ranges.as_slice(), bounded) {
        ([], false) => Ok(None),
        ([range], true) => Ok(Some(Search { range: *range, bound })),
        (_, true) => Err(WhatifFailure::NotOneRange { given: ranges.len() }.into()),
        (_, false) => Err(WhatifFailure::RangeWithoutBound.into()),
    }
}
