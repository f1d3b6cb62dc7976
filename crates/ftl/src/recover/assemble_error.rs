//! The reasons why modules don't assemble to a card.

use super::member::MemberState;
use format::{CardId, HeaderError, ModuleId};
use media::MediaError;

/// The reason why modules don't assemble to a card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum AssembleError {
    /// The card stopped before all acknowledged writes were on flash. Older contents must not be taken for the newest.
    #[error("the card stopped before acknowledged writes were on its modules, and they are lost: it does not start")]
    LostWrites,
    /// No module has a header.
    #[error("no module of a card")]
    NoCard,
    /// A module belongs to another card.
    #[error("slot {slot}: its module belongs to card {found}, not to {card}; take it out")]
    Foreign {
        slot: u32,
        found: CardId,
        /// The card that is expected, or that most modules belong to.
        card: CardId,
    },
    /// All modules belong to another card.
    #[error(
        "all modules belong to card {found}, none to {card}: the card's description or its modules lie in the wrong place"
    )]
    Others {
        found: CardId,
        /// The card that is expected.
        card: CardId,
    },
    /// Two slots hold the same module, and nothing tells which of them counts.
    #[error("slots {first} and {second}: both hold module {module}; take the copy out")]
    Cloned {
        first: u32,
        second: u32,
        module: ModuleId,
        /// The slot that more likely holds the copy: the older of the two, or that out of its place.
        copy: u32,
    },
    /// A newer version of the format was written.
    #[error("slot {slot}: {source}; a newer flashrig reads it")]
    NewerVersion { slot: u32, source: HeaderError },
    /// The version of the format is too old.
    #[error("slot {slot}: {source}; an older flashrig reads it")]
    OlderVersion { slot: u32, source: HeaderError },
    /// The header of a module has another division of the card than the newest header or the medium.
    #[error("slot {slot}: {field} {found} instead of {expected}")]
    Division {
        slot: u32,
        field: &'static str,
        found: u64,
        /// The value in the newest header, or that of the medium.
        expected: u64,
    },
    /// A counter has no numbers left.
    #[error("slot {slot}: {field} {found} leaves no room for higher ones")]
    NumbersExhausted { slot: u32, field: &'static str, found: u64 },
    /// More modules are missing or not to be trusted than parity stands for.
    #[error("{}; {spared} can be done without", Missing(.missing))]
    TooFew {
        /// The modules, by their number within the card, and what is wrong with them.
        missing: Vec<(u32, MemberState)>,
        spared: u32,
    },
    /// A read failed in a way that tells nothing of the contents.
    #[error("slot {slot}: {error}")]
    Media { slot: u32, error: MediaError },
}

impl AssembleError {
    /// The slot of a single module that is in the way: without it the card may start, as with an empty slot.
    pub fn slot_in_the_way(&self) -> Option<u32> {
        match self {
            AssembleError::Foreign { slot, .. } => Some(*slot),
            AssembleError::Cloned { copy, .. } => Some(*copy),
            _ => None,
        }
    }
}

/// The states of modules, as text for people.
struct Missing<'a>(&'a [(u32, MemberState)]);

impl std::fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (module, state)) in self.0.iter().enumerate() {
            let state = match state {
                MemberState::Trusted => "there",
                MemberState::Stale => "stale",
                MemberState::Rebuilding => "not filled yet",
                MemberState::Blank => "blank",
                MemberState::Missing => "missing",
            };
            write!(f, "{}module {module} is {state}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
