//! Stripes of whole bands, counted, and the sectors that can't be read in them.

use crate::error::FsckError;
use crate::examined::OnMedia;
use crate::stripe::{CellState, StripeState, units};
use format::Role;
use ftl::Ppa;
use ftl::recover::SectorAt;
use media::Media;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What the stripes that were read are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stripes {
    /// Bands of which every stripe was read.
    pub bands_read: u32,
    /// Stripes of which anything is written.
    pub written: u64,
    /// All of them is good.
    pub whole: u64,
    /// Lost members lie on missing modules or dead dies, and parity stands for them.
    pub degraded: u64,
    /// Members that answer do not hold what belongs there, and parity stands for them.
    pub torn: u64,
    /// All members are good, and parity is not what they say.
    pub inconsistent: u64,
    /// More is lost than parity stands for.
    pub beyond_redundancy: u64,
    /// None of these: nothing in them counts any more, and a module that was rebuilt has its units of them erased.
    pub stale: u64,
    /// The worst of them by name: those that are not whole or degraded, band and stripe; the first
    /// [`Stripes::MOST_NAMED`] of them.
    pub named: Vec<(u32, u32, StripeState)>,
    /// Sectors that were read, by what was found in their place.
    pub good_sectors: u64,
    /// Sectors that are not there or damaged where they should be, in stripes that are written.
    pub bad_sectors: BTreeMap<String, u64>,
    /// Sectors of these that can be rebuilt.
    pub rebuildable_sectors: u64,
}

impl Stripes {
    /// Stripes that are named.
    pub const MOST_NAMED: usize = 1_000;
}

/// A sector of the host that answers with an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostSector {
    /// Its address.
    pub lba: u32,
    /// Where its newest version lies.
    pub band: u32,
    /// Its stripe there.
    pub stripe: u32,
    /// Its unit in the stripe.
    pub unit: u32,
    /// Its place in the unit.
    pub sector: u32,
    /// It was lost earlier: what is there says so.
    pub was_lost_before: bool,
}

/// Reads bands: all of them, or those that a start has to read as well.
pub(crate) fn walk<M: Media>(
    media: &mut M,
    on: &OnMedia,
    everything: bool,
) -> Result<(Stripes, Vec<LostSector>), FsckError> {
    let mut counts = Stripes::default();
    let (mut bands, mut unreadable, mut lost) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // What a volatile medium holds, a start reads without a look at summaries.
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
            if state > StripeState::Degraded && !is_stale && counts.named.len() < Stripes::MOST_NAMED {
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

/// Where the newest versions of all that the card holds lie, ascending; `None` where that is not known.
fn current(on: &OnMedia) -> Option<Vec<u32>> {
    let found = on.found.as_ref().ok()?;
    let mut current: Vec<u32> = found.map.iter().copied().filter(|ppa| *ppa != u32::MAX).collect();
    current.sort_unstable();
    Some(current)
}

/// The word for what was found in a place.
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
