//! The reader of a scan: reads units, counts the reads, and remembers dies that do not answer.

use super::error::ScanError;
use super::found::StartReads;
use super::place::Card;
use super::stray::Strays;
use crate::layout::{BandId, StripeId, UnitAddress};
use format::Spare;
use media::{Media, MediaError, ReadCount, SectorState, Unit, UnitAt, persist};

pub(super) struct Reader<'a, M: ?Sized> {
    pub media: &'a mut M,
    pub card: &'a Card<'a>,
    /// The unit that was read last.
    pub unit: Unit,
    /// The payloads of that unit were read too.
    pub has_payloads: bool,
    pub reads_by_die: Vec<u64>,
    pub start_reads: StartReads,
    /// Dies that do not answer.
    pub dead: Vec<bool>,
    /// Programs that went astray; `None` until somebody asks for them.
    strays: Option<Strays>,
}

impl<'a, M: Media + ?Sized> Reader<'a, M> {
    pub fn new(media: &'a mut M, card: &'a Card<'a>) -> Reader<'a, M> {
        let unit = Unit::new(media.shape());
        let dies = card.layout.dies as usize;
        Reader {
            media,
            card,
            unit,
            has_payloads: false,
            reads_by_die: vec![0; dies],
            start_reads: StartReads::default(),
            dead: vec![false; dies],
            strays: None,
        }
    }

    /// Ends a part of the start: what was read since the one before counts for this one.
    pub fn end_part(&mut self, part: fn(&mut StartReads) -> &mut ReadCount) {
        *part(&mut self.start_reads) += self.media.take_read_count();
    }

    /// Reads a unit; `false`: its die does not answer, or its module is missing.
    #[inline]
    pub fn read(&mut self, at: UnitAddress) -> Result<bool, ScanError> {
        self.has_payloads = true;
        let Reader { media, card, unit, reads_by_die, dead, .. } = self;
        read_into(&mut **media, card, reads_by_die, dead, at, |media, place| media.read(place, unit).map(drop))
    }

    /// As [`Reader::read`], for the spare areas: the payloads are there only if [`Reader::has_payloads`] says so.
    pub fn read_spares(&mut self, at: UnitAddress) -> Result<bool, ScanError> {
        let Reader { media, card, unit, has_payloads, reads_by_die, dead, .. } = self;
        read_into(&mut **media, card, reads_by_die, dead, at, |media, place| {
            *has_payloads = media.read_spares(place, unit)?;
            Ok(())
        })
    }

    /// Begins to read the spare areas of the stripe's first unit on each module: probably all of them are needed.
    pub fn expect_spares(&mut self, stripe: StripeId) {
        let Reader { media, card, dead, .. } = self;
        let units = (0..card.layout.width).map(|unit| card.layout.unit_address(stripe, unit));
        for at in units.filter(|at| !dead[at.die as usize]).filter_map(|at| card.unit_at(at)) {
            media.begin_spares(at);
        }
    }

    /// As [`Reader::read`], into another unit.
    pub fn read_to(&mut self, at: UnitAddress, unit: &mut Unit) -> Result<bool, ScanError> {
        let Reader { media, card, reads_by_die, dead, .. } = self;
        read_into(&mut **media, card, reads_by_die, dead, at, |media, place| media.read(place, unit).map(drop))
    }

    /// Units that went astray. The first call reads everything, where such a unit can be recognised.
    pub fn strays(&mut self) -> Result<&Strays, ScanError> {
        if self.strays.is_none() {
            self.strays = Some(if self.media.shows_strays() { self.find_strays()? } else { Strays::new() });
        }
        Ok(self.strays.as_ref().expect("they were looked for"))
    }

    /// Reads everything on the dies that answer, and collects the strays.
    fn find_strays(&mut self) -> Result<Strays, ScanError> {
        let (card, layout) = (self.card, self.card.layout);
        let address = |band: u32, die: u32, row: u32| UnitAddress { band: BandId(band), die, row };
        let mut found = Strays::new();
        for die in (0..layout.dies).filter(|die| card.unit_at(address(0, *die, 0)).is_some()) {
            for (band, row) in (0..card.bands).flat_map(|band| (0..layout.rows).map(move |row| (band, row))) {
                if !self.read_spares(address(band, die, row))? {
                    break;
                }
                let here = layout.stripe_of(address(band, die, row));
                for sector in (0..self.unit.sectors()).filter(|s| self.unit.state(*s) == SectorState::Good) {
                    let Ok(spare) = Spare::decode(self.unit.spare(sector)) else { continue };
                    let written_for = StripeId { band: BandId(spare.band), index: spare.stripe };
                    if spare.card == card.card && written_for != here {
                        found.add(&spare);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Whether the unit that was read last is erased.
    pub fn is_erased(&self) -> bool {
        (0..self.unit.sectors()).all(|sector| self.unit.state(sector) == SectorState::Erased)
    }

    /// Something of the band's first row was durable, and is not there any more.
    pub fn has_fallen(&self, band: BandId) -> bool {
        let first = |die| self.card.unit_at(UnitAddress { band, die, row: 0 });
        (0..self.card.layout.dies).filter_map(first).any(|at| self.media.has_fallen(at))
    }

    /// The block was marked bad.
    pub fn is_bad(&self, at: UnitAddress) -> bool {
        self.card.unit_at(at).is_some_and(|at| self.media.is_bad(at.block))
    }

    /// The die does not answer, or its module is missing.
    pub fn is_gone(&self, die: u32) -> bool {
        let at = UnitAddress { band: BandId(0), die, row: 0 };
        self.dead[die as usize] || self.card.unit_at(at).is_none()
    }
}

fn read_into<M: Media + ?Sized>(
    media: &mut M,
    card: &Card,
    reads_by_die: &mut [u64],
    dead: &mut [bool],
    at: UnitAddress,
    mut read: impl FnMut(&mut M, UnitAt) -> Result<(), MediaError>,
) -> Result<bool, ScanError> {
    let die = at.die as usize;
    let Some(place) = card.unit_at(at).filter(|_| !dead[die]) else { return Ok(false) };
    reads_by_die[die] += 1;
    match persist(|| read(media, place)) {
        Ok(()) => Ok(true),
        // The file or drive of the module fails on every request, so the module is as good as gone.
        Err(MediaError::NoAnswer | MediaError::NoModule | MediaError::Host | MediaError::NoSpace) => {
            dead[die] = true;
            Ok(false)
        }
        Err(error) => Err(ScanError::Media { at: place, error }),
    }
}
