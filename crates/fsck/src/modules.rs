//! The modules by slot, and what their headers say.

use format::{HeaderError, ModuleHeader};
use ftl::recover::{Assembly, MemberState};
use media::{HEADER_COPIES, Media, MediaError, persist};
use serde::Serialize;

/// What a copy of a header is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyState {
    /// It can be read.
    Good,
    /// It can't.
    Bad,
    /// Nothing is written, or nothing can be read.
    None,
}

/// A copy of a module's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeaderCopy {
    /// What it is.
    pub state: CopyState,
    /// Why it can't be read.
    pub error: Option<String>,
    /// Its number, when it can be read.
    pub sequence: Option<u64>,
    /// Generation of the card when it was written.
    pub generation: Option<u64>,
}

/// What is known of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModuleState {
    /// What it holds counts.
    Trusted,
    /// It was away while the card went on.
    Stale,
    /// It is new, and was being filled.
    Rebuilding,
    /// It has no header.
    Blank,
    /// It was a member once; another has its place.
    Replaced,
    /// It is there, and the card can't be put together.
    Unknown,
    /// It does not answer.
    NoAnswer,
    /// There is no module in the slot.
    Empty,
}

/// A slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleInSlot {
    /// Its number.
    pub slot: u32,
    /// Place of the module within the card.
    pub place: Option<u32>,
    /// The module.
    pub module: Option<String>,
    /// The card that the module belongs to.
    pub card: Option<String>,
    /// The newest generation that its header says.
    pub generation: Option<u64>,
    /// What is known of it.
    pub state: ModuleState,
    /// Why it does not count.
    pub why: Option<String>,
    /// The copies of its header.
    pub copies: Vec<HeaderCopy>,
}

/// A module that belongs to the card and is in no slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Modules {
    /// By slot.
    pub slots: Vec<ModuleInSlot>,
    /// Modules of the card that are in no slot: place and id.
    pub missing: Vec<(u32, String)>,
}

impl Modules {
    /// Reads all headers.
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

    /// Copies of headers that are damaged.
    pub fn bad_copies(&self) -> u64 {
        let copies = self.slots.iter().filter(|slot| slot.state != ModuleState::Blank).flat_map(|slot| &slot.copies);
        copies.filter(|copy| copy.state != CopyState::Good).count() as u64
    }

    /// What is wrong with the first header that can't be read.
    pub(crate) fn first_error(&self) -> String {
        let error = |slot: &ModuleInSlot| {
            let (copy, found) =
                (0..).zip(&slot.copies).find_map(|(number, copy)| Some((number, copy.error.as_ref()?)))?;
            Some(format!("slot {} copy {copy}: {found}", slot.slot))
        };
        self.slots.iter().find_map(error).unwrap_or_else(|| "none has a header; was it ever formatted?".to_owned())
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
        let (state, error, header) = match bytes.map(|bytes| ModuleHeader::decode(&bytes)) {
            None | Some(Err(HeaderError::Blank)) => (CopyState::None, None, None),
            Some(Err(error)) => (CopyState::Bad, Some(error.to_string()), None),
            Some(Ok(header)) => (CopyState::Good, None, Some(header)),
        };
        let (sequence, generation) = (header.as_ref().map(|h| h.sequence), header.as_ref().map(|h| h.generation));
        found.copies.push(HeaderCopy { state, error, sequence, generation });
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
