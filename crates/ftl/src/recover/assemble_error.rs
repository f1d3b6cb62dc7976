//! Why modules make no card.

use super::assemble::MemberState;
use format::{CardId, HeaderError, ModuleId};
use media::MediaError;

/// Why modules make no card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// The card stopped without having put on flash what it had acknowledged: older contents must not be taken for the
    /// newest.
    #[error("the card stopped before acknowledged writes were on its modules, and they are lost: it does not start")]
    LostWrites,
    /// No module has a header.
    #[error("no module of a card")]
    NoCard,
    /// A module of another card.
    #[error("slot {slot}: its module belongs to card {found}, not to {card}; take it out")]
    Foreign {
        /// Where it is.
        slot: u32,
        /// Its card.
        found: CardId,
        /// The card that is asked for, or that most modules belong to.
        card: CardId,
    },
    /// The same module twice: nobody can tell which of them counts.
    #[error("slots {first} and {second}: both hold module {module}; take the copy out")]
    Cloned {
        /// One of them.
        first: u32,
        /// The other.
        second: u32,
        /// The module.
        module: ModuleId,
    },
    /// Written by a newer version.
    #[error("slot {slot}: {source}; a newer flashrig reads it")]
    NewerVersion {
        /// Where it is.
        slot: u32,
        /// The versions.
        source: HeaderError,
    },
    /// Written by a version that is too old.
    #[error("slot {slot}: {source}; an older flashrig reads it")]
    OlderVersion {
        /// Where it is.
        slot: u32,
        /// The versions.
        source: HeaderError,
    },
    /// A module says that the card is divided otherwise than the newest header or the medium does.
    #[error("slot {slot}: {field} {found} instead of {expected}")]
    Division {
        /// Where it is.
        slot: u32,
        /// What differs.
        field: &'static str,
        /// What the module's header says.
        found: u64,
        /// What the newest header or the medium says.
        expected: u64,
    },
    /// There are no numbers left to be given out.
    #[error("slot {slot}: {field} {found} leaves no room for higher ones")]
    NumbersExhausted {
        /// Where it is.
        slot: u32,
        /// Of what.
        field: &'static str,
        /// What the module's header says.
        found: u64,
    },
    /// More modules are missing or not to be trusted than parity stands for.
    #[error("{}; {spared} can be done without", Missing(.missing))]
    TooFew {
        /// The modules, by their number within the card, and what is wrong with them.
        missing: Vec<(u32, MemberState)>,
        /// Modules that can be done without.
        spared: u32,
    },
    /// A read ended in a way that says nothing of what lies there.
    #[error("slot {slot}: {error}")]
    Media {
        /// Where.
        slot: u32,
        /// Why.
        error: MediaError,
    },
}

/// What is wrong with modules, for people.
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
