//! The settings of a card that can matter to a load.
//!
//! Slopes change one parameter at a time, and most parameters matter to some loads only. With the rest fixed, candidates
//! that differ in nothing else are one candidate, which is simulated once.

use crate::fit::candidate::Candidate;
use crate::fit::condition::Condition;
use card::{CardConfig, RelocationPath};
use ftl::VictimPolicy;
use profile::DeviceConfig;

/// The candidate with everything fixed that the load can't meet.
pub(crate) fn relevant(candidate: &Candidate, condition: &Condition) -> Candidate {
    let mut same = candidate.clone();
    let fix = match (condition.mode.reads(), condition.mode.writes()) {
        (true, false) => without_writes,
        (false, true) => without_reads,
        _ => return same,
    };
    if !condition.mode.writes() {
        same.stretch = 1.0;
    }
    match &mut same.device {
        DeviceConfig::Card(card) => fix(card),
        DeviceConfig::Striped { cards, .. } | DeviceConfig::Mirrored { cards } | DeviceConfig::Raid5 { cards, .. } => {
            cards.iter_mut().for_each(fix)
        }
        DeviceConfig::Disks(_) | DeviceConfig::Volume(_) | DeviceConfig::Cached(_) => {}
    }
    same
}

/// Nothing is programmed, erased or moved, and nothing crosses the link to the card but commands.
fn without_writes(card: &mut CardConfig) {
    let timing = &mut card.nand.timing;
    for op in [&mut timing.native, &mut timing.slc] {
        (op.program_ns, op.erase_ns) = (op.read_ns, op.read_ns);
    }
    timing.suspend_ns = None;
    (card.link.write_bytes_per_s, card.link.write_command_ns) = (card.link.read_bytes_per_s, card.link.read_command_ns);
    card.relocation_path = RelocationPath::Internal;
    card.ftl.victim = VictimPolicy::Greedy;
    card.reads_first = true;
}

/// Nothing crosses the link to the host but what relocation takes there.
fn without_reads(card: &mut CardConfig) {
    if card.relocation_path == RelocationPath::Internal {
        (card.link.read_bytes_per_s, card.link.read_command_ns) =
            (card.link.write_bytes_per_s, card.link.write_command_ns);
    }
}
