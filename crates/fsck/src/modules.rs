//! The modules by slot, with the copies of their headers.

use crate::error::NoHeader;
use format::{HeaderError, ModuleHeader};
use ftl::recover::{Assembly, MemberState};
use media::{HEADER_COPIES, Media, MediaError, persist};
use serde::Serialize;

/// The state of a copy of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyState {
    /// The copy can be read.
    Good,
    /// The copy is damaged.
    Bad,
    /// No copy is written, or the medium can't read the place.
    None,
}

/// A copy of a module's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeaderCopy {
    /// Whether the copy can be read.
    pub state: CopyState,
    /// The reason why the copy is damaged.
    pub error: Option<String>,
    /// The sequence of the copy, if it can be read.
    pub sequence: Option<u64>,
    /// The generation of the card when the copy was written.
    pub generation: Option<u64>,
    /// The error that `error` is the text of.
    #[serde(skip)]
    pub(crate) cause: Option<HeaderError>,
}

/// The state of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModuleState {
    /// The contents of the module count.
    Trusted,
    /// The module was away while the card continued.
    Stale,
    /// The module is new, and its rebuild was not complete.
    Rebuilding,
    /// The module has no header.
    Blank,
    /// The module was a member once, and another has its place.
    Replaced,
    /// The module is there, but the card can't be assembled.
    Unknown,
    /// The module does not answer.
    NoAnswer,
    /// There is no module in the slot.
    Empty,
}

/// A slot, and the module in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleInSlot {
    /// The number of the slot.
    pub slot: u32,
    /// The place of the module within the card.
    pub place: Option<u32>,
    /// The id of the module.
    pub module: Option<String>,
    /// The id of the card that the module belongs to.
    pub card: Option<String>,
    /// The newest generation in the module's header.
    pub generation: Option<u64>,
    /// Whether the module is there and counts.
    pub state: ModuleState,
    /// The reason why the module does not count.
    pub why: Option<String>,
    /// The copies of the module's header.
    pub copies: Vec<HeaderCopy>,
}

/// The modules of a card, those in slots and those that are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Modules {
    /// All slots, by number.
    pub slots: Vec<ModuleInSlot>,
    /// Modules of the card that are in no slot: place and id.
    pub missing: Vec<(u32, String)>,
}

impl Modules {
    /// Reads the headers in all slots.
    pub(crate) fn read<M: Media + ?Sized>(media: &mut M, assembly: Option<&Assembly>) -> Modules {
        let count = media.shape().modules;
        let mut slots: Vec<ModuleInSlot> = (0..count).map(|slot| read_slot(media, slot)).collect();
        let mut missing = Vec::new();
        let Some(assembly) = assembly else { return Modules { slots, missing } };
        for (place, member) in (0..).zip(&assembly.members) {
            let Some(slot) = member.slot else {
                missing.push((place, member.module.to_string()));
                continue;
            };
            let at = &mut slots[slot as usize];
            at.place = Some(place);
            (at.state, at.why) = match member.state {
                MemberState::Trusted => (ModuleState::Trusted, None),
                MemberState::Stale => {
                    let (has, newest) = (at.generation.unwrap_or(0), assembly.header.generation);
                    let why = format!("away while the card went on: generation {has}, the card's is {newest}");
                    (ModuleState::Stale, Some(why))
                }
                MemberState::Rebuilding => (ModuleState::Rebuilding, Some("new, and not filled yet".to_owned())),
                MemberState::Blank => (ModuleState::Blank, Some("takes the place of one that is gone".to_owned())),
                MemberState::Missing => (ModuleState::NoAnswer, None),
            };
        }
        for (slot, _) in &assembly.replaced {
            let at = &mut slots[*slot as usize];
            (at.state, at.why) = (ModuleState::Replaced, Some("another module has its place".to_owned()));
        }
        Modules { slots, missing }
    }

    /// The number of header copies that can't be read, on modules that are not blank.
    pub fn bad_copies(&self) -> u64 {
        let copies = self.slots.iter().filter(|slot| slot.state != ModuleState::Blank).flat_map(|slot| &slot.copies);
        copies.filter(|copy| copy.state != CopyState::Good).count() as u64
    }

    /// The reason why no module has a header: the first damaged copy, if there is one.
    pub(crate) fn no_header(&self) -> NoHeader {
        let damaged = |slot: &ModuleInSlot| {
            let (copy, error) = (0..).zip(&slot.copies).find_map(|(number, copy)| Some((number, copy.cause?)))?;
            Some(NoHeader::Damaged { slot: slot.slot, copy, error })
        };
        self.slots.iter().find_map(damaged).unwrap_or(NoHeader::Absent)
    }
}

fn read_slot<M: Media + ?Sized>(media: &mut M, slot: u32) -> ModuleInSlot {
    let mut found = ModuleInSlot {
        slot,
        place: None,
        module: None,
        card: None,
        generation: None,
        state: ModuleState::Blank,
        why: None,
        copies: Vec::new(),
    };
    for copy in 0..HEADER_COPIES {
        let bytes = match persist(|| media.read_header(slot, copy)) {
            Ok(bytes) => bytes,
            Err(MediaError::NoModule) => return ModuleInSlot { state: ModuleState::Empty, ..found },
            Err(error) => {
                return ModuleInSlot { state: ModuleState::NoAnswer, why: Some(error.to_string()), ..found };
            }
        };
        let (state, cause, header) = match bytes.map(|bytes| ModuleHeader::decode(&bytes)) {
            None | Some(Err(HeaderError::Blank)) => (CopyState::None, None, None),
            Some(Err(error)) => (CopyState::Bad, Some(error), None),
            Some(Ok(header)) => (CopyState::Good, None, Some(header)),
        };
        let (sequence, generation) = (header.as_ref().map(|h| h.sequence), header.as_ref().map(|h| h.generation));
        let error = cause.as_ref().map(HeaderError::to_string);
        found.copies.push(HeaderCopy { state, error, sequence, generation, cause });
        let Some(header) = header.filter(|header| found.generation.is_none_or(|known| known <= header.generation))
        else {
            continue;
        };
        found.state = ModuleState::Unknown;
        found.module = Some(header.module.to_string());
        found.card = Some(header.card.to_string());
        found.generation = Some(header.generation);
        found.place = Some(header.slot.into());
    }
    if found.state == ModuleState::Blank && found.copies.iter().any(|copy| copy.state == CopyState::Bad) {
        found.why = Some("neither copy of its header can be read".to_owned());
    }
    found
}
