//! The headers of a card's modules.

use format::{ModuleHeader, ModuleId, SlotState};
use ftl::canary::{Canary, planted};
use ftl::recover::can_do_without;
use media::{HEADER_COPIES, Media, MediaError, persist};

/// The headers of a card's modules: the part that they have in common, and which copy of each is the newer one.
#[derive(Clone, Debug)]
pub struct Headers {
    /// The header of the module of slot 0 of the card; others differ in `module` and `slot`.
    pub common: ModuleHeader,
    /// The generation that was written last to both copies of all modules that are there; 0: not known.
    complete: u64,
    /// By module, which copy is the newer one, where it was written last and that is known.
    newer: Vec<Option<u32>>,
}

impl Headers {
    pub fn new(common: ModuleHeader) -> Headers {
        Headers { newer: vec![None; common.slots.len()], common, complete: 0 }
    }

    fn of(&self, logical: usize) -> ModuleHeader {
        let mut header = self.common.clone();
        header.slot = logical as u16;
        header.module = header.slots[logical].module;
        header
    }

    /// Says whether a module of the card is there and can be relied on. A rebuild of it begins anew.
    pub fn set_state(&mut self, logical: usize, state: SlotState) {
        self.common.slots[logical].state = state;
        self.set_rebuilt(logical, 0);
    }

    /// Says up to which opening a module that is being rebuilt holds what belongs on it; 0: it begins anew.
    pub fn set_rebuilt(&mut self, logical: usize, sequence: u64) {
        if sequence > 0 || !planted(Canary::RebuiltOfAnother) {
            self.common.slots[logical].rebuilt = sequence;
        }
    }
}

impl Headers {
    /// A new module takes the place of one that is gone.
    pub fn set_new_module(&mut self, logical: usize) {
        let mut id = self.common.card.0;
        // No other module of the card was made in this generation.
        for (byte, mixed) in id[7..15].iter_mut().zip((self.common.generation + 1).to_le_bytes()) {
            *byte ^= mixed;
        }
        id[15] ^= 0x80 | logical as u8;
        self.common.slots[logical].module = ModuleId(id);
        self.set_state(logical, SlotState::Rebuilding);
    }

    /// Writes the present generation to the header of every module that is there and does not have it: first to one
    /// copy of each, then to the other copies. So a module that missed a generation is told from one whose turn had not
    /// come. Written first is a copy that can't be read; else one of a generation that was given up before all had it, so that the
    /// generation before it, which all have, is still there; else the older. Modules that do not answer are passed
    /// over.
    pub fn write(&mut self, media: &mut dyn Media, slots: &[Option<u32>]) -> Result<(), HeaderFailed> {
        let generation = self.common.generation;
        self.common.sequence += 1;
        self.newer.fill(None);
        let mut copies: Vec<[Option<Written>; HEADER_COPIES as usize]> = slots
            .iter()
            .map(|slot| slot.map_or([None; 2], |slot| [written(media, slot, 0), written(media, slot, 1)]))
            .collect();
        let mut first_copies = Vec::with_capacity(slots.len());
        for (logical, slot) in slots.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let copies = &copies[logical];
            if copies.iter().flatten().all(|copy| copy.generation != generation) {
                let rank = |copy: &Option<Written>| copy.map(|c| (c.generation == self.complete, c.sequence));
                // `None`, which can't be read, is less than any.
                first_copies.push((logical, slot, u32::from(rank(&copies[1]) < rank(&copies[0]))));
            }
        }
        self.write_copies(media, &first_copies, |logical, copy, written| {
            let before = &mut copies[logical][copy as usize];
            *before = written.or(*before);
        })?;
        let mut rest = Vec::with_capacity(slots.len());
        for (logical, slot) in slots.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let lacks = |copy: &u32| copies[logical][*copy as usize].is_none_or(|copy| copy.generation != generation);
            let copies = (0..HEADER_COPIES).filter(|_| !planted(Canary::OneHeaderCopy)).filter(lacks);
            rest.extend(copies.map(|copy| (logical, slot, copy)));
        }
        self.write_copies(media, &rest, |_, _, _| {})?;
        self.complete = generation;
        Ok(())
    }

    /// Writes copies of headers, all at once where the medium can, and hands over what each holds then; `None`: the module
    /// does not answer. One whose file or drive fails is passed over; the first such error is returned.
    fn write_copies(
        &self,
        media: &mut dyn Media,
        copies: &[(usize, u32, u32)],
        mut wrote: impl FnMut(usize, u32, Option<Written>),
    ) -> Result<(), HeaderFailed> {
        for &(logical, slot, copy) in copies {
            media.begin_header(slot, copy, &self.of(logical).encode());
        }
        media.submit();
        let mut failed = None;
        for &(logical, slot, copy) in copies {
            match self.write_copy(media, logical, slot, copy) {
                Ok(written) => wrote(logical, copy, written),
                Err(why @ HeaderFailed { error: MediaError::Host | MediaError::NoSpace, .. }) => {
                    failed = failed.or(Some(why));
                }
                Err(why) => return Err(why),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Writes the header to every module that is there, to one copy of each: the older or unreadable one, and from then on
    /// to either in turn. The generation stays, so a module that does not answer misses nothing but totals, and one whose
    /// file or drive fails is passed over; the first such error is returned.
    pub fn write_totals(&mut self, media: &mut dyn Media, slots: &[Option<u32>]) -> Result<(), HeaderFailed> {
        self.common.sequence += 1;
        let mut turns = Vec::with_capacity(slots.len());
        for (logical, slot) in slots.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let sequence = |media: &mut dyn Media, copy| written(media, slot, copy).map(|copy| copy.sequence);
            let copy = match self.newer[logical].take() {
                Some(newer) => 1 - newer,
                None => u32::from(sequence(media, 1) < sequence(media, 0)),
            };
            turns.push((logical, slot, copy));
        }
        let mut newer = std::mem::take(&mut self.newer);
        let told = self.write_copies(media, &turns, |logical, copy, written| newer[logical] = written.map(|_| copy));
        self.newer = newer;
        told
    }

    /// Writes one copy; what it holds then. `None`: the module does not answer.
    fn write_copy(
        &self,
        media: &mut dyn Media,
        logical: usize,
        slot: u32,
        copy: u32,
    ) -> Result<Option<Written>, HeaderFailed> {
        let header = self.of(logical);
        let bytes = header.encode();
        match persist(|| media.write_header(slot, copy, &bytes)) {
            Ok(()) => Ok(Some(Written { generation: header.generation, sequence: header.sequence })),
            Err(MediaError::NoAnswer | MediaError::NoModule) => Ok(None),
            Err(error) => Err(HeaderFailed { logical: logical as u32, error }),
        }
    }

    /// The highest generation in the copies of a module's header; 0 when none can be read.
    pub fn generation_in(media: &mut dyn Media, slot: u32) -> u64 {
        let copies = (0..HEADER_COPIES).filter_map(|copy| written(media, slot, copy));
        copies.map(|copy| copy.generation).max().unwrap_or(0)
    }

    /// Raises the generation and claims the modules for it.
    pub fn claim(&mut self, media: &mut dyn Media, slots: &[Option<u32>]) -> Result<(), HeaderFailed> {
        self.common.generation += 1;
        let claims: Vec<(u32, u64)> = slots.iter().flatten().map(|slot| (*slot, self.common.generation)).collect();
        media.begin_claims(&claims);
        for (logical, slot) in slots.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            match persist(|| media.claim(slot, self.common.generation)) {
                Ok(()) | Err(MediaError::NoAnswer | MediaError::NoModule) => {}
                Err(error) => return Err(HeaderFailed { logical: logical as u32, error }),
            }
        }
        Ok(())
    }

    /// Whether the card can be opened without a module as well that is there now.
    pub fn can_do_without(&self, slots: &[Option<u32>], logical: u32) -> bool {
        let is_active = |module: u32| self.common.slots[module as usize].state == SlotState::Active;
        let is_gone = |module| module == logical || slots[module as usize].is_none() || !is_active(module);
        let ModuleHeader { shape, stripe_width, parity_units, .. } = &self.common;
        !is_active(logical)
            || can_do_without(shape, *stripe_width, *parity_units, is_gone)
            || planted(Canary::NeededModuleGivenUp)
    }

    /// Tells all modules that are there of a new generation. One whose file or drive fails whenever it is asked is done
    /// without from then on, and the others are told so; returns which, by their numbers within the card. It fails where
    /// the card can't do without: then no module has the generation in both copies.
    pub fn tell(&mut self, media: &mut dyn Media, slots: &mut [Option<u32>]) -> Result<Vec<u32>, HeaderFailed> {
        let mut gone = Vec::new();
        loop {
            let told = self.claim(media, slots).and_then(|()| self.write(media, slots));
            match told {
                Err(HeaderFailed { logical, error: MediaError::Host | MediaError::NoSpace })
                    if self.can_do_without(slots, logical) =>
                {
                    slots[logical as usize] = None;
                    self.set_state(logical as usize, SlotState::Missing);
                    gone.push(logical);
                }
                told => return told.map(|()| gone),
            }
        }
    }
}

/// A module's header could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFailed {
    /// Number of the module within the card.
    pub logical: u32,
    pub error: MediaError,
}

/// When a copy of a module's header was written.
#[derive(Clone, Copy)]
struct Written {
    generation: u64,
    sequence: u64,
}

fn written(media: &mut dyn Media, slot: u32, copy: u32) -> Option<Written> {
    let bytes = persist(|| media.read_header(slot, copy)).ok().flatten()?;
    let ModuleHeader { generation, sequence, .. } = ModuleHeader::decode(&bytes).ok()?;
    Some(Written { generation, sequence })
}

#[cfg(test)]
mod tests;
