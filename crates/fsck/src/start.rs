//! The work that a start of the card would do.

use crate::examined::{CHECKPOINT_STREAM, OnMedia};
use ftl::BandId;
use ftl::recover::{Found, FoundState, MemberState, layout_of};
use serde::Serialize;
use std::collections::BTreeSet;

/// The work that a start of the card would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Start {
    /// The number of units that are read.
    pub reads: u64,
    /// The number of units that the busiest die reads.
    pub busiest_die_reads: u64,
    /// The assumed time of a read.
    pub read_ns: u64,
    /// The time until the card serves, when all dies read at the same time.
    pub estimate_ns: u64,
    /// Sectors that lie in stripes that are not whole, and are moved first.
    pub sectors_to_move: u64,
    /// Bands that are emptied, because they were not filled to their end or hold such sectors.
    pub bands_to_empty: u32,
    /// Bands that are erased before they are used.
    pub bands_to_erase: u32,
    /// The place of the module that a rebuild fills.
    pub module_to_rebuild: Option<u32>,
    /// Sectors that were rebuilt from their stripes to identify them.
    pub rebuilt_sectors: u64,
    /// Sectors that were never durable, and don't count.
    pub dropped_sectors: u64,
    /// Sectors with addresses that the card doesn't have.
    pub out_of_range_sectors: u64,
    /// Dies that do not answer, beside those of missing modules.
    pub dead_dies: Vec<u32>,
}

impl Start {
    pub(crate) fn of(on: &OnMedia, found: &Found, read_ns: u64) -> Start {
        let report = &found.report;
        let busiest = report.reads_by_die.iter().copied().max().unwrap_or(0);
        let layout = layout_of(on.header());
        let torn: BTreeSet<u32> = found.rescue.iter().map(|(_, ppa)| layout.band_of(*ppa).0).collect();
        let holds = |state: FoundState| state == FoundState::Closed;
        let to_empty = (0..).zip(&found.bands).filter(|(number, band)| {
            holds(band.state)
                && band.stream != CHECKPOINT_STREAM
                && (!(band.is_complete && band.has_summary) || torn.contains(number))
        });
        // Only the newest whole checkpoint is kept.
        let to_erase = (0..).zip(&found.bands).filter(|(number, band)| {
            !holds(band.state) || band.stream == CHECKPOINT_STREAM && !found.checkpoint_bands.contains(&BandId(*number))
        });
        let fills = |state: MemberState| state != MemberState::Trusted;
        Start {
            reads: report.reads,
            busiest_die_reads: busiest,
            read_ns,
            estimate_ns: busiest.saturating_mul(read_ns),
            sectors_to_move: found.rescue.len() as u64,
            bands_to_empty: to_empty.count() as u32,
            bands_to_erase: to_erase.count() as u32,
            module_to_rebuild: (0..)
                .zip(&on.assembly.members)
                .find(|(_, member)| fills(member.state) && member.slot.is_some())
                .map(|(place, _)| place),
            rebuilt_sectors: report.reconstructed_sectors,
            dropped_sectors: report.dropped_sectors,
            out_of_range_sectors: report.out_of_range_sectors,
            dead_dies: report.dead_dies.clone(),
        }
    }
}
