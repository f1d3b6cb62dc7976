//! Pages of survivors that can't be read, found when redundancy is already used up.

use crate::CardUnderTest;
use crate::sim::{Impact, Lost};
use device::Rng;
use format::{Role, Spare};
use ftl::{BandId, BandState, Lba, StripeId, UnitAddress};
use media::{Fault, Media, SectorState, Unit};
use std::collections::BTreeSet;

impl CardUnderTest {
    /// While a module is being rebuilt, a sector of a stripe that is not rebuilt yet goes bad on a survivor: that
    /// sector is lost, and the same-numbered one of the absent member.
    pub(crate) fn latent_error(&mut self, rng: &mut Rng, bits: u16) -> Option<Impact> {
        let card = self.card.as_ref()?;
        card.rebuild_progress()?;
        let ftl = card.ftl();
        let layout = *ftl.layout();
        let bands: Vec<BandId> = (0..ftl.bands()).map(BandId).filter(|b| self.is_known_by_summary(*b)).collect();
        if bands.is_empty() {
            return None;
        }
        for _ in 0..64 {
            let band = bands[rng.below(bands.len() as u64) as usize];
            let (_, data_stripes) = ftl.band_stripes(band);
            let stripe = StripeId { band, index: rng.below(data_stripes.max(1).into()) as u32 };
            let used = ftl.stripe_units(stripe);
            let members: Vec<UnitAddress> = (0..layout.width)
                .filter(|unit| (used.data | used.parity) >> unit & 1 == 1)
                .map(|unit| layout.unit_address(stripe, unit))
                .collect();
            let (here, absent): (Vec<UnitAddress>, Vec<UnitAddress>) = members.iter().partition(|at| card.holds(**at));
            let sector = rng.below(layout.unit_sectors.into()) as u32;
            if absent.len() != 1 || card.rebuilds(absent[0]) || here.is_empty() || !ftl.stripe_is_needed(stripe) {
                continue;
            }
            let Some(spares) = self.spares(&here, sector) else { continue };
            let hit = rng.below(here.len() as u64) as usize;
            let mut lost = BTreeSet::new();
            // The absent member holds the sum of all others.
            let role =
                spares.iter().fold(0, |sum, s| sum ^ if s.role == Role::Parity { s.member_role } else { s.role as u8 });
            let lba = spares.iter().fold(0, |sum, s| sum ^ s.lba);
            let absent_is_parity = spares.iter().all(|s| s.role != Role::Parity);
            let roles = [(!absent_is_parity).then_some((role, lba)), {
                let s = &spares[hit];
                (s.role != Role::Parity).then_some((s.role as u8, s.lba))
            }];
            // Lists of holes stand for more than a sector.
            if roles.iter().flatten().any(|(role, _)| *role == Role::Holes as u8) {
                continue;
            }
            lost.extend(roles.iter().flatten().filter(|r| r.0 == Role::Data as u8).map(|r| crate::sim::Lba(r.1)));
            if lost.is_empty() {
                continue;
            }
            let at = card.place_of(here[hit])?;
            return self
                .flash_mut()
                .inject(Fault::FlipBits { at, sector, bits })
                .then_some(Impact { lost: Lost::These(lost), ..Impact::default() });
        }
        None
    }

    /// All of the band is on flash, and its last stripes tell what it holds. A block that failed has none of the last
    /// stripes: what they tell may be lost with a module, until its band is emptied.
    fn is_known_by_summary(&self, band: BandId) -> bool {
        let card = self.card.as_ref().expect("there is power");
        let (ftl, media) = (card.ftl(), card.media_contents().expect("it has contents"));
        let has_failed = |die: u32| {
            let at = card.place_of(UnitAddress { band, die, row: 0 });
            at.is_some_and(|at| media.is_bad(at.block))
        };
        let is_whole = ftl.band_state(band) == BandState::Closed && ftl.is_settled(band) && ftl.has_summary(band);
        is_whole && !(0..ftl.layout().dies).any(has_failed)
    }

    /// The spare areas of the same-numbered sectors of these units, if all of them are good.
    fn spares(&self, units: &[UnitAddress], sector: u32) -> Option<Vec<Spare>> {
        let card = self.card.as_ref()?;
        let mut flash = card.media_contents()?.clone();
        let mut unit = Unit::new(flash.shape());
        let sequence = card.ftl().opening(units.first()?.band).sequence;
        let mut spare = |at: &UnitAddress| {
            flash.read(card.place_of(*at)?, &mut unit).ok()?;
            if unit.state(sector as usize) != SectorState::Good {
                return None;
            }
            let spare = Spare::decode(unit.spare(sector as usize)).ok()?;
            (spare.band_sequence == sequence).then_some(spare)
        };
        units.iter().map(&mut spare).collect()
    }

    /// LBAs that nobody can read any more once these dies answer no longer either: those on them and on what is absent
    /// already, in stripes that have lost more than one member then.
    pub(crate) fn beyond_redundancy(&self, dying: impl Fn(u32) -> bool) -> BTreeSet<crate::sim::Lba> {
        let mut lost = BTreeSet::new();
        let Some(card) = &self.card else { return lost };
        let ftl = card.ftl();
        let layout = *ftl.layout();
        for band in (0..ftl.bands()).map(BandId) {
            if !matches!(ftl.band_state(band), BandState::Open | BandState::Closed | BandState::Victim) {
                continue;
            }
            for index in 0..ftl.band_stripes(band).0 {
                let stripe = StripeId { band, index };
                let used = ftl.stripe_units(stripe);
                let gone: Vec<u32> = (0..layout.width)
                    .filter(|unit| (used.data | used.parity) >> unit & 1 == 1)
                    .filter(|unit| {
                        let at = layout.unit_address(stripe, *unit);
                        !card.holds(at) || dying(at.die)
                    })
                    .collect();
                if gone.len() < 2 {
                    continue;
                }
                for unit in gone {
                    let first = layout.stripe_start(stripe) + unit * layout.unit_sectors;
                    let written = (first..first + layout.unit_sectors).map(|ppa| ftl.written_for(ftl::Ppa(ppa)));
                    lost.extend(
                        written.filter(|lba| *lba < Lba(ftl.user_sectors() as u32)).map(|lba| crate::sim::Lba(lba.0)),
                    );
                }
            }
        }
        lost
    }
}
