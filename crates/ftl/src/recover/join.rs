//! Does a module that is put into a slot of a running card belong to it, and in which place?

use super::AssembleError;
use super::assemble::{InSlot, read_slot, same_division};
use format::{CardId, ModuleHeader, ModuleId};
use media::Media;

/// What a module is to a card that is at work without one or more of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joins {
    /// It is new: it takes this place of the card.
    New {
        /// Number within the card.
        place: u32,
    },
    /// It was there before, and missed what was done since.
    Again {
        /// Number within the card.
        place: u32,
        /// The generation that is in both copies of its header; `None`: in no two.
        generation: Option<u64>,
    },
}

/// Why a module can't join a card. Nothing was written to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// It belongs to another card.
    #[error("slot {slot}: module {module} belongs to card {found}, not to {card}; take it out")]
    Foreign {
        /// Where it is.
        slot: u32,
        /// Which it is.
        module: ModuleId,
        /// Its card.
        found: CardId,
        /// The card that is at work.
        card: CardId,
    },
    /// The card has this very module already: one of them is a copy.
    #[error("slot {slot}: module {module} is at work as module {place} of the card already; take the copy out")]
    Cloned {
        /// Where it is.
        slot: u32,
        /// Which it says it is.
        module: ModuleId,
        /// Number within the card.
        place: u32,
    },
    /// It was a module of the card, and another has its place.
    #[error("slot {slot}: module {module} was module {place} of the card, and {by} has its place; take it out")]
    Replaced {
        /// Where it is.
        slot: u32,
        /// Which it is.
        module: ModuleId,
        /// Number within the card.
        place: u32,
        /// Which module has its place.
        by: ModuleId,
    },
    /// It is new, and the card misses none.
    #[error("slot {slot}: the card has all its modules")]
    NoPlace {
        /// Where it is.
        slot: u32,
    },
    /// What lies on it is no card's.
    #[error("slot {slot}: what lies there was not written by a card; erase it first")]
    NoCard {
        /// Where it is.
        slot: u32,
    },
    /// It does not answer.
    #[error("slot {slot}: the module does not answer")]
    NoAnswer {
        /// Where it is.
        slot: u32,
    },
    /// Its header is of another version of the format, or divides the card otherwise, or can't be read.
    #[error(transparent)]
    Header(#[from] AssembleError),
}

/// Looks at the module in `slot`. `card` is the present header of the card; `is_there` says whether the module of a place
/// is at work. Nothing is written.
pub fn join<M: Media + ?Sized>(
    media: &mut M,
    slot: u32,
    card: &ModuleHeader,
    is_there: impl Fn(u32) -> bool,
) -> Result<Joins, JoinError> {
    let places = card.slots.len() as u32;
    let (header, generation) = match read_slot(media, slot)? {
        InSlot::Empty => return Err(JoinError::NoAnswer { slot }),
        InSlot::Other => return Err(JoinError::NoCard { slot }),
        InSlot::Blank => {
            // The place of the same number, as people put them, or else the first that is free.
            let free = std::iter::once(slot).chain(0..places).find(|place| *place < places && !is_there(*place));
            return free.map(|place| Joins::New { place }).ok_or(JoinError::NoPlace { slot });
        }
        InSlot::Header(header, generation) => (header, generation),
    };
    let module = header.module;
    if header.card != card.card {
        return Err(JoinError::Foreign { slot, module, found: header.card, card: card.card });
    }
    if let Some(place) = (0..places).find(|place| card.slots[*place as usize].module == module && is_there(*place)) {
        return Err(JoinError::Cloned { slot, module, place });
    }
    same_division(slot, &header, card, media.shape())?;
    let place = u32::from(header.slot);
    let by = card.slots[place as usize].module;
    if by != module {
        return Err(JoinError::Replaced { slot, module, place, by });
    }
    Ok(Joins::Again { place, generation })
}
