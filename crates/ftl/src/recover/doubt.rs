//! Doubts: sectors of stripes that have lost more members than parity can restore. Were they ever durable?

use super::found::{FoundBand, FoundState, SEQUENCE_EPOCH_BITS};
use super::newest::Copy;
use super::place::units;
use super::reader::Reader;
use super::stripe::Lost;
use crate::layout::{BandId, Layout, StripeId, UnitAddress};
use media::Media;

/// The sectors of one number in a stripe, of which more are lost than parity can restore.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    pub stripe: u32,
    pub sector: u32,
    pub lost: Lost,
}

/// The doubts of a band that only the other bands can resolve.
pub(super) struct BandDoubts {
    pub band: BandId,
    pub doubts: Vec<Doubt>,
    /// By group of dies: units on which nothing at all is good.
    pub blank: Vec<u64>,
    /// By die: all of the last row that is not erased is good.
    pub ends_good: Vec<bool>,
    /// The lost copies, if the band's summary lists them: with the number of their doubt, ascending.
    pub known: Option<Vec<(usize, Copy)>>,
}

impl BandDoubts {
    /// Whether a cut erase explains the doubt: outside the blocks on which nothing is good, the losses are within the
    /// redundancy. Latent errors may come on top of that, if another stripe of the same dies shows the cut erase.
    pub fn explains(&self, doubt: &Doubt, layout: &Layout) -> bool {
        if doubt.is_explained_by(&self.blank, layout) {
            return true;
        }
        let group = layout.group_of(doubt.stripe);
        let shown = |other: &Doubt| {
            layout.group_of(other.stripe) == group
                && self.blank[group as usize] & other.lost.here() != 0
                && other.is_explained_by(&self.blank, layout)
        };
        doubt.beside_latent_errors(&self.blank, layout).is_explained_by(&self.blank, layout)
            && self.doubts.iter().any(shown)
    }
}

impl Doubt {
    /// The doubt without latent errors: as many unreadable members as parity stands for, in blocks on which something
    /// else is good.
    fn beside_latent_errors(&self, blank: &[u64], layout: &Layout) -> Doubt {
        let latent = units(self.lost.unreadable & !blank[layout.group_of(self.stripe) as usize]);
        let latent: u64 = latent.take(layout.parity_units as usize).map(|unit| 1 << unit).sum();
        Doubt { lost: Lost { unreadable: self.lost.unreadable & !latent, ..self.lost }, ..*self }
    }

    fn at(&self, band: BandId, unit: u32, layout: &Layout) -> UnitAddress {
        layout.unit_address(StripeId { band, index: self.stripe }, unit)
    }

    /// Whether the stripe was never begun: no member of it is good, and all members but as many as parity stands for
    /// read erased with nothing after them on their blocks. The contents of the remaining members came there by a
    /// program that went astray. That the stripe was written and all the others were lost would take more faults.
    pub fn was_never_begun(&self, members: u64, band: BandId, layout: &Layout, written: &[u32]) -> bool {
        let is_last = |unit: &u32| self.is_last(band, *unit, layout, written);
        let absent = units(self.lost.erased).filter(is_last).count() as u32;
        self.lost.all() == members && members.count_ones() - absent <= layout.parity_units
    }

    /// Whether an absent member may have been programmed and sent astray by a second fault, so that its absence proves
    /// nothing. Apart from programs in flight when power goes, that takes a module that is gone, or was gone when a
    /// rebuild gave up a unit.
    pub fn may_hide_a_stray(&self) -> bool {
        self.lost.absent() != 0 && self.lost.gone | self.lost.given_up != 0
    }

    /// Whether the band itself shows that the stripe never was whole: a unit of it was not programmed, or its program
    /// failed.
    pub fn never_was_whole<M: Media + ?Sized>(
        &self,
        reader: &Reader<M>,
        band: BandId,
        stream: u8,
        written: &[u32],
    ) -> bool {
        let is_volatile = reader.media.is_volatile();
        // With power-loss protection everything that was acknowledged was put on flash, so an absent unit of the host's
        // stream was lost. Relocated sectors still lie where they came from.
        let may_be_absent = !reader.card.power_loss_protection || stream != 0;
        let absent = self.lost.erased | if is_volatile { self.lost.older } else { 0 };
        let is_absent = |unit: u32| is_volatile || self.is_last(band, unit, reader.card.layout, written);
        self.program_failed(reader, band, written) || may_be_absent && units(absent).any(is_absent)
    }

    /// Whether a program of the stripe failed; its contents were then written elsewhere.
    pub fn program_failed<M: Media + ?Sized>(&self, reader: &Reader<M>, band: BandId, written: &[u32]) -> bool {
        let layout = reader.card.layout;
        let failed =
            |unit: u32| self.is_last(band, unit, layout, written) && reader.is_bad(self.at(band, unit, layout));
        units(self.lost.erased | self.lost.unreadable).any(failed)
    }

    /// Whether nothing was programmed after the unit on its block. Otherwise the unit was programmed too, and the
    /// program was lost.
    fn is_last(&self, band: BandId, unit: u32, layout: &Layout, written: &[u32]) -> bool {
        let at = self.at(band, unit, layout);
        at.row + 1 >= written[at.die as usize]
    }

    /// Whether a program of the stripe, or one that shares cells with it, may have been in flight when power went.
    pub fn may_be_torn(
        &self,
        band: BandId,
        layout: &Layout,
        cell_rows: u32,
        written: &[u32],
        ends_good: &[bool],
        is_settled: impl Fn(u32) -> bool,
    ) -> bool {
        // A unit that a rebuild has given up was needed at that time, so no cut ended its program.
        self.lost.given_up == 0
            && units(self.lost.unreadable).any(|unit| {
                let at = self.at(band, unit, layout);
                let last = written[at.die as usize].saturating_sub(1);
                // Only a program that a cut ended spoils the units that share cells with it.
                let is_last = at.row == last || at.row / cell_rows == last / cell_rows && !ends_good[at.die as usize];
                is_last && !is_settled(at.die)
            })
    }

    /// Whether the losses outside the blocks on which nothing is good are within the redundancy.
    fn is_explained_by(&self, blank: &[u64], layout: &Layout) -> bool {
        let blank = blank[layout.group_of(self.stripe) as usize] & (self.lost.erased | self.lost.unreadable);
        // Beside a block whose erase was cut, a unit that reads erased may never have been programmed.
        let never_programmed = if blank == 0 { 0 } else { self.lost.erased };
        (self.lost.all() & !blank & !never_programmed).count_ones() <= layout.parity_units
    }
}

/// Whether a die has finished its programs of this band, because it has begun to program a band of the same stream that
/// was opened later, between the same two scans. Only a good sector in the later band shows that: one that can't be
/// read may be left of an erase that was cut.
pub(super) fn is_settled(band: BandId, die: u32, bands: &[FoundBand], programmed: &[bool], dies: u32) -> bool {
    let this = bands[band.0 as usize];
    bands.iter().zip(programmed.chunks_exact(dies as usize)).any(|(other, programmed)| {
        other.state == FoundState::Closed
            && other.stream == this.stream
            && other.sequence > this.sequence
            && other.sequence >> SEQUENCE_EPOCH_BITS == this.sequence >> SEQUENCE_EPOCH_BITS
            && programmed[die as usize]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of four dies.
    const LAYOUT: Layout = Layout {
        dies: 8,
        width: 4,
        parity_units: 1,
        unit_sectors: 1,
        rows: 4,
        groups: 2,
        run: 1,
        stripe_sectors: 4,
        band_sectors: 32,
        summary_entries: 0,
    };
    /// The block of the first die is blank, in either group.
    const BLANK: u64 = 0b0001;

    fn doubt(stripe: u32, lost: Lost) -> Doubt {
        Doubt { stripe, sector: 0, lost }
    }

    /// Whether the doubt is explained in a band that has these other doubts.
    fn explains(doubt: Doubt, others: &[Doubt]) -> bool {
        let doubts = [&[doubt], others].concat();
        let blank = vec![BLANK; 2];
        BandDoubts { band: BandId(0), doubts, blank, ends_good: vec![], known: None }.explains(&doubt, &LAYOUT)
    }

    #[test]
    fn a_latent_error_is_let_pass_only_where_another_stripe_of_the_same_dies_shows_that_blocks_were_erased() {
        // Beside the blank block two units can't be read: one is within the redundancy, the other decayed before.
        let decayed = doubt(0, Lost { unreadable: 0b0111, ..Lost::default() });
        assert!(!explains(decayed, &[]));
        let erased = Lost { erased: BLANK, unreadable: 0b0100, ..Lost::default() };
        assert!(explains(decayed, &[doubt(2, erased)]));
        assert!(explains(decayed, &[doubt(2, Lost { unreadable: BLANK | 0b0100, ..Lost::default() })]));
        // On other dies; without the blank block; more than redundancy and an erase explain.
        assert!(!explains(decayed, &[doubt(1, erased)]));
        assert!(!explains(decayed, &[doubt(2, Lost { unreadable: 0b1000, ..Lost::default() })]));
        assert!(!explains(decayed, &[doubt(2, Lost { unreadable: 0b1101, ..Lost::default() })]));
    }

    #[test]
    fn no_more_latent_errors_are_let_pass_than_parity_stands_for() {
        let shows = doubt(2, Lost { erased: BLANK, unreadable: 0b0100, ..Lost::default() });
        for unreadable in 0..16u64 {
            let beside = (unreadable & !BLANK).count_ones();
            let lost = Lost { unreadable, ..Lost::default() };
            assert_eq!(explains(doubt(0, lost), &[]), beside <= 1, "{unreadable:04b}");
            assert_eq!(explains(doubt(0, lost), &[shows]), beside <= 2, "{unreadable:04b}");
            // A sector that lies elsewhere, or is of another opening, is no latent error.
            let lost = Lost { misplaced: unreadable, ..Lost::default() };
            assert_eq!(explains(doubt(0, lost), &[shows]), unreadable.count_ones() <= 1, "{unreadable:04b}");
        }
    }
}
