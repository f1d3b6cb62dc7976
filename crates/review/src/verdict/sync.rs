//! Are flushes what they claim to be?

use results::words::duration;
use results::{ReviewResult, SyncJudgement, SyncVerdict};

/// A flush that puts anything on flash programs at least one page. The fastest programs of flash that is sold: about
/// 100 µs (Samsung Z-NAND, Toshiba XL-FLASH), 200 µs and more for the SLC and SLC-mode flash of everything else. 80 µs leave
/// room for a median that is better than a data sheet's typical value.
const FASTEST_FLASH_NS: u64 = 80_000;
/// A flush that puts anything on a disk waits for its place to come by: half a turn at 15,000 a minute is 2 ms.
const FASTEST_DISK_NS: u64 = 1_500_000;

/// Judges the sync sweep's single thread.
pub(crate) fn sync(result: &ReviewResult) -> Option<SyncVerdict> {
    let point = result.sweep("sync")?.points.first().filter(|p| p.sync.total_ios > 0)?;
    let median_ns = point.sync.lat_ns.at(50.0);
    let together_ns = point.write.lat_ns.at(50.0) + median_ns;
    let target = &result.target;
    let turns = |value: &str| value.starts_with("it turns") || value.ends_with(" rpm");
    let rotational = target.facts.iter().any(|fact| fact.key == "rotation" && turns(&fact.value));
    let (protected, volatile) = (target.power_loss_protection, target.volatile_write_cache);
    Some(judge_sync(median_ns, together_ns, rotational, protected, volatile))
}

/// Judges a median flush, and the median write that came before it and the flush together, in nanoseconds. `protected`:
/// acknowledged writes survive a power cut without a flush; `volatile`: the device has a cache that a flush must empty.
pub fn judge_sync(
    median_ns: u64,
    together_ns: u64,
    rotational: bool,
    protected: Option<bool>,
    volatile: Option<bool>,
) -> SyncVerdict {
    let (fastest_ns, event) = if rotational {
        (FASTEST_DISK_NS, "half a turn of a disk")
    } else {
        (FASTEST_FLASH_NS, "the fastest program of flash")
    };
    let figures = format!(
        "a flush takes {} in the median, write and flush {}",
        duration(median_ns as f64),
        duration(together_ns as f64)
    );
    let fast = together_ns < fastest_ns;
    let (judgement, text) = match (protected, volatile) {
        (Some(true), _) => (
            SyncJudgement::NothingToFlush,
            format!("Flushes: {figures}. Writes are durable when acknowledged: capacitors or a battery keep them."),
        ),
        (_, Some(false)) => (
            SyncJudgement::NothingToFlush,
            format!(
                "Flushes: {figures}. The device says that it has no volatile write cache; only a power cut proves it."
            ),
        ),
        (_, Some(true)) if fast => (
            SyncJudgement::TooFast,
            format!(
                "Flushes are too fast to be true: {figures}, less than {event} ({}), by a device that says its write \
                 cache is volatile. Either something below protects the cache or acknowledged commits can be lost; ask \
                 for proof by a power cut.",
                duration(fastest_ns as f64)
            ),
        ),
        (_, None) if fast => (
            SyncJudgement::Unknown,
            format!(
                "Flushes: {figures}, less than {event} ({}). The device does not say whether its write cache is \
                 volatile: only a power cut tells.",
                duration(fastest_ns as f64)
            ),
        ),
        _ => (SyncJudgement::Plausible, format!("Flushes look honest: {figures}, no faster than {event} allows.")),
    };
    SyncVerdict { judgement, text }
}
