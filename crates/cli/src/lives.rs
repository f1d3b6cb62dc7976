//! The lives that a person asks for: how many, until when, and the bar that counts them.

use crate::args::TortureArgs;
use crate::progress::Watch;
use std::time::Instant;
use target::Progress;
use torture::campaign::Limits;

/// Runs a campaign of lives within what the options say; without them, of so many lives.
pub fn within<T>(args: &TortureArgs, lives: u64, watch: &Watch, run: impl FnOnce(&Limits) -> T) -> T {
    let begun = Instant::now();
    let lives = args.lives.unwrap_or(if args.time.is_some() { u64::MAX } else { lives });
    // The campaign ends with its time or its lives; the bar counts the one that was given.
    let milliseconds = args.time.filter(|_| args.lives.is_none()).map(|time| time.0.as_millis() as u64);
    watch.begin("lives", milliseconds.unwrap_or(lives));
    let at = |done: u64| watch.at(if milliseconds.is_some() { begun.elapsed().as_millis() as u64 } else { done });
    run(&Limits {
        first: args.first,
        lives,
        until: args.time.and_then(|time| begun.checked_add(time.0)),
        threads: args.threads.unwrap_or(0).into(),
        cancelled: &|| watch.cancelled(),
        progress: &at,
    })
}
