//! Choice of the command that the arm serves next.
//!
//! Shortest positioning time first: the command whose seek and rotation together are shortest, as in Seltzer, Chen and
//! Ousterhout, "Disk scheduling revisited", USENIX 1990, and Jacobson and Wilkes, "Disk scheduling algorithms based on
//! rotational position", HPL-CSP-91-7, 1991. Alone it would let a command starve, so age is limited (their "aged"
//! variants): when the oldest command has waited longer than the limit, it is served.
//!
//! Invariant: ties go to the earlier command, so the choice depends on nothing but time, head and queue.

use crate::cache::WriteCache;
use crate::mechanism::{Access, Mechanism, Target};
use crate::span::Span;
use device::Time;

/// Dirty ranges that a destage chooses from: the next ones in the sweep. More finds hardly shorter ways, but costs
/// time to look at.
const DESTAGE_WINDOW: usize = 32;

/// Blocks destaged at once, 512 KiB: about a track, so that a read that comes waits for a turn at most.
const DESTAGE_BLOCKS: u64 = 1024;

/// Index of the command with the shortest positioning time.
pub(crate) fn shortest<'a>(
    now: Time,
    mechanism: &Mechanism,
    commands: impl Iterator<Item = (&'a Target, Access)>,
) -> Option<usize> {
    let head = mechanism.head(now);
    commands
        .map(|(target, access)| mechanism.predicted_ns(now, head, target, access))
        .enumerate()
        .min_by_key(|&(_, ns)| ns)
        .map(|(index, _)| index)
}

/// The dirty range to write next: of the next ones upwards from `from_lba`, and around, the one with the shortest way.
pub(crate) fn destage(now: Time, mechanism: &Mechanism, cache: &WriteCache, from_lba: u64) -> Option<Target> {
    let dirty = cache.dirty();
    let window: Vec<Target> = dirty
        .from(from_lba)
        .chain(dirty.from(0).take_while(|s| s.start < from_lba))
        .take(DESTAGE_WINDOW)
        .map(|s| mechanism.target(Span::new(s.start, s.end.min(s.start + DESTAGE_BLOCKS))))
        .collect();
    shortest(now, mechanism, window.iter().map(|t| (t, Access::Write))).map(|i| window[i])
}
