//! A module that is put into a slot of a running card: does it belong to the card, and in which place?

use super::assemble::{InSlot, read_slot, same_division};
use super::assemble_error::AssembleError;
use format::{CardId, ModuleHeader, ModuleId};
use media::Media;

/// How a module joins a card that runs without one or more of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joins {
    /// The module is new and takes this place of the card.
    New {
        /// The number of the module within the card.
        place: u32,
    },
    /// The module was a member before, and missed everything that was done since.
    Again {
        /// The number of the module within the card.
        place: u32,
        /// The generation that both copies of its header have at least; `None` if a copy can't be read.
        generation: Option<u64>,
    },
}

/// The reason why a module can't join a card. Nothing was written to the module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum JoinError {
    /// The module belongs to another card.
    #[error("slot {slot}: module {module} belongs to card {found}, not to {card}; take it out")]
    Foreign { slot: u32, module: ModuleId, found: CardId, card: CardId },
    /// The card already has a module with this id, so one of the two is a copy.
    #[error("slot {slot}: module {module} is at work as module {place} of the card already; take the copy out")]
    Cloned { slot: u32, module: ModuleId, place: u32 },
    /// The module was a member of the card, and another module has its place now.
    #[error("slot {slot}: module {module} was module {place} of the card, and {by} has its place; take it out")]
    Replaced { slot: u32, module: ModuleId, place: u32, by: ModuleId },
    /// The module is new, and the card misses none.
    #[error("slot {slot}: the card has all its modules")]
    NoPlace { slot: u32 },
    /// No card wrote the contents of the module.
    #[error("slot {slot}: what lies there was not written by a card; erase it first")]
    NoCard { slot: u32 },
    /// The module does not answer.
    #[error("slot {slot}: the module does not answer")]
    NoAnswer { slot: u32 },
    /// The header of the module is of another version of the format, or has another division, or can't be read.
    #[error(transparent)]
    Header(#[from] AssembleError),
}

/// Decides how the module in `slot` joins the card. `card` is the present header of the card; `is_there` says whether
/// the module of a place is in use. Writes nothing.
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
            // People put a module into the slot of its number, so that place comes first, and then any free one.
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
