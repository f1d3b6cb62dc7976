//! Counts the stripes of whole bands, and finds the sectors in them that can't be read.

use crate::error::FsckError;
use crate::examined::OnMedia;
use crate::stripe::{CellState, StripeState, units};
use format::Role;
use ftl::Ppa;
use ftl::recover::SectorAt;
use media::Media;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The stripes that were read, by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stripes {
    /// The number of bands of which every stripe was read.
    pub bands_read: u32,
    /// The number of stripes of which anything is written.
    pub written: u64,
    /// The number of stripes of which all members are good.
    pub whole: u64,
    /// The number of stripes whose lost members lie on missing modules or dead dies, and parity can restore them.
    pub degraded: u64,
    /// The number of stripes whose lost members lie on dies that answer, and parity can restore them.
    pub torn: u64,
    /// The number of stripes whose members are all good and whose parity does not agree with them.
    pub inconsistent: u64,
    /// The number of stripes that have lost more members than parity can restore.
    pub beyond_redundancy: u64,
    /// The number of other stripes: nothing in them counts any more, and a rebuilt module has its units of them erased.
    pub stale: u64,
    /// The first [`Stripes::MAX_NAMED`] stripes that are neither whole nor degraded: band, stripe and state.
    pub named: Vec<(u32, u32, StripeState)>,
    /// The number of good sectors that were read.
    pub good_sectors: u64,
    /// The numbers of sectors that are absent or damaged in written stripes, by the state of their place.
    pub bad_sectors: BTreeMap<String, u64>,
    /// The number of those sectors that can be rebuilt.
    pub rebuildable_sectors: u64,
}

impl Stripes {
    /// The highest number of stripes that are named.
    pub const MAX_NAMED: usize = 1_000;
}

/// A sector of the host that answers with an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostSector {
    /// The address of the sector.
    pub lba: u32,
    /// The band that the newest version lies in.
    pub band: u32,
    /// The stripe that the newest version lies in.
    pub stripe: u32,
    /// The number of the unit within the stripe.
    pub unit: u32,
    /// The number of the sector within the unit.
    pub sector: u32,
    /// The sector was lost earlier, and a mark in its place says so.
    pub was_lost_before: bool,
}

/// Reads all bands, or only those that a start has to read as well.
pub(crate) fn walk<M: Media>(
    media: &mut M,
    on: &OnMedia,
    everything: bool,
) -> Result<(Stripes, Vec<LostSector>), FsckError> {
    let mut counts = Stripes::default();
    let (mut bands, mut unreadable, mut lost) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // On a volatile medium a start does not use summaries, so it reads everything.
    let everything = everything || on.found.is_err() || media.is_volatile();
    let is_wanted = |has_summary: bool, is_complete: bool| everything || !(has_summary && is_complete);
    let current = current(on);
    on.walk(
        media,
        |opened| is_wanted(opened.has_summary, opened.is_complete),
        |opened, stripe| {
            bands.insert(opened.band.0);
            let state = stripe.state();
            let start = on.layout.stripe_start(stripe.id);
            let counts_here = || {
                current.as_ref().is_none_or(|current| {
                    let from = current.partition_point(|ppa| *ppa < start);
                    current.get(from).is_some_and(|ppa| *ppa < start + on.layout.stripe_sectors)
                })
            };
            let is_stale = matches!(state, StripeState::Torn | StripeState::BeyondRedundancy)
                && on.may_be_left_out(opened, stripe.id)
                && stripe.lacks_only_what_is_erased()
                && !counts_here();
            *match state {
                StripeState::Unwritten => return,
                _ if is_stale => &mut counts.stale,
                StripeState::Whole => &mut counts.whole,
                StripeState::Degraded => &mut counts.degraded,
                StripeState::Torn => &mut counts.torn,
                StripeState::Inconsistent => &mut counts.inconsistent,
                StripeState::BeyondRedundancy => &mut counts.beyond_redundancy,
            } += 1;
            counts.written += 1;
            if state > StripeState::Degraded && !is_stale && counts.named.len() < Stripes::MAX_NAMED {
                counts.named.push((stripe.id.band.0, stripe.id.index, state));
            }
            for (unit, sector) in stripe.places() {
                let cell = stripe.cell(unit, sector);
                let ppa = start + unit * on.layout.unit_sectors + sector;
                let role = match (&cell.why, cell.spare, stripe.rebuilt(sector)) {
                    (None, Some(spare), _) => Some(spare.role),
                    (Some(_), _, Some(Ok(rebuilt))) => Some(rebuilt.role),
                    _ => None,
                };
                if cell.why.is_none() {
                    counts.good_sectors += 1;
                } else {
                    let can_rebuild = stripe.can_read(unit, sector)
                        || stripe.parity >> unit & 1 == 1 && stripe.lost(sector) == stripe.parity;
                    *counts.bad_sectors.entry(word(cell.state()).to_owned()).or_default() += 1;
                    counts.rebuildable_sectors += u64::from(can_rebuild);
                }
                match role {
                    Some(Role::Lost) => drop(lost.insert(ppa)),
                    None if units(stripe.parity).all(|parity| parity != unit) => drop(unreadable.insert(ppa)),
                    _ => {}
                }
            }
        },
    )?;
    counts.bands_read = bands.len() as u32;
    let Ok(found) = &on.found else { return Ok((counts, Vec::new())) };
    let mut errors = Vec::new();
    let mut known = found.errors.iter().copied().peekable();
    for (lba, &ppa) in (0u32..).zip(&found.map[..on.header().user_sectors as usize]) {
        let is_known = known.next_if_eq(&lba).is_some();
        if ppa == u32::MAX || !(is_known || unreadable.contains(&ppa) || lost.contains(&ppa)) {
            continue;
        }
        let at = SectorAt::of(&on.layout, Ppa(ppa));
        let (band, stripe) = (at.stripe.band.0, at.stripe.index);
        let was_lost_before = lost.contains(&ppa) || is_known && !unreadable.contains(&ppa);
        errors.push(LostSector { lba, band, stripe, unit: at.unit, sector: at.sector, was_lost_before });
    }
    Ok((counts, errors))
}

/// The addresses of the newest versions of all sectors, ascending; `None` if they are not known.
fn current(on: &OnMedia) -> Option<Vec<u32>> {
    let found = on.found.as_ref().ok()?;
    let mut current: Vec<u32> = found.map.iter().copied().filter(|ppa| *ppa != u32::MAX).collect();
    current.sort_unstable();
    Some(current)
}

/// The word for the state of a place.
pub(crate) fn word(state: CellState) -> &'static str {
    match state {
        CellState::Good => "good",
        CellState::Erased => "erased",
        CellState::Uncorrectable => "uncorrectable",
        CellState::NoAnswer => "no answer",
        CellState::DamagedSpare => "damaged spare area",
        CellState::DamagedPayload => "damaged payload",
        CellState::Misplaced => "misplaced",
        CellState::OtherOpening => "of another opening",
        CellState::Contradiction => "contradicts its stripe",
    }
}
