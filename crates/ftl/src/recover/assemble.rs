//! Assembly: finds the modules of a card, and decides which of them can be trusted.
//!
//! The newest header of the card is the one with the highest generation. It lists the modules of the card. A module is
//! trusted if that header lists it as active in its place, and if the module has not missed anything since.
//!
//! A module that was away while the card continued has a lower generation than the others. But a module also has a
//! lower generation if power went while the headers were being written and its turn had not come. Two rules for the
//! writer of headers tell these cases apart:
//!
//! - The writer writes a new generation to one copy of *every* module before it writes it to the other copy of any.
//! - The writer writes nothing else before both copies of all modules have the new generation.
//!
//! So if one module has the new generation in both copies, then every module that was there has it in at least one
//! copy, and a module that has it in neither was away: that module is stale. And as long as no module has the new
//! generation in both copies, nothing was written under it: a module with the generation before has missed nothing.

use super::assemble_error::AssembleError;
use super::member::{Member, MemberState};
use crate::canary::{Canary, planted};
use crate::layout::parity_stands_for;
use format::{CardId, HeaderError, ModuleHeader, ModuleId, SlotState};
use media::{HEADER_COPIES, Media, MediaError, Shape, persist};

/// The modules of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// The newest header, with the highest `sequence` of all headers: the next headers get higher ones.
    pub header: ModuleHeader,
    /// The members, by their number within the card.
    pub members: Vec<Member>,
    /// Slots with modules that were members once and whose places other modules have taken.
    pub replaced: Vec<(u32, ModuleId)>,
}

impl Assembly {
    /// The slot of each trusted module: a scan reads these.
    pub fn trusted_slots(&self) -> Vec<Option<u32>> {
        let trusted = |member: &Member| member.slot.filter(|_| member.state == MemberState::Trusted);
        self.members.iter().map(trusted).collect()
    }

    /// Whether the card can be found without these modules as well, whose files or drives have failed since.
    pub fn enough_without(&self, lost: &[usize]) -> Result<(), AssembleError> {
        let mut members = self.members.clone();
        for logical in lost {
            (members[*logical].slot, members[*logical].state) = (None, MemberState::Missing);
        }
        enough(&self.header, &members)
    }
}

/// The header of one slot.
pub(super) enum InSlot {
    /// No header was ever written, or none can be read.
    Blank,
    /// There is no module, or none that answers.
    Empty,
    /// The bytes there were not written by a card.
    Other,
    /// The newer of the copies that can be read, and the generation that both copies have at least.
    Header(Box<ModuleHeader>, Option<u64>),
}

/// Finds the modules of a card, in whatever slots they are: of card `expected`, or else of the card that is there.
/// Writes nothing.
pub fn assemble<M: Media + ?Sized>(media: &mut M, expected: Option<CardId>) -> Result<Assembly, AssembleError> {
    let shape = *media.shape();
    let slots = (0..shape.modules).map(|slot| read_slot(media, slot)).collect::<Result<Vec<InSlot>, _>>()?;
    let found = |slot: &'_ InSlot| match slot {
        InSlot::Header(header, _) => Some(header.card),
        InSlot::Blank | InSlot::Empty | InSlot::Other => None,
    };
    let cards: Vec<CardId> = slots.iter().filter_map(found).collect();
    let count = |card: &CardId| cards.iter().filter(|other| *other == card).count();
    // If no card is expected, most modules decide, and among equals the lower slot.
    let most = cards.iter().rev().max_by_key(|card| count(card)).copied();
    let card = expected.or(most).ok_or(AssembleError::NoCard)?;
    let headers = |slots: &[InSlot]| -> Vec<(u32, ModuleHeader, Option<u64>)> {
        let header = |(slot, in_slot): (u32, &InSlot)| match in_slot {
            InSlot::Header(header, both) => Some((slot, ModuleHeader::clone(header), *both)),
            InSlot::Blank | InSlot::Empty | InSlot::Other => None,
        };
        (0..).zip(slots).filter_map(header).collect()
    };
    let headers = headers(&slots);
    refuse_strangers(&headers, card)?;
    let newest = headers.iter().max_by_key(|(slot, h, _)| (h.generation, h.sequence, std::cmp::Reverse(*slot)));
    let Some((_, newest, _)) = newest else { return Err(AssembleError::NoCard) };
    for (slot, header, _) in &headers {
        same_division(*slot, header, newest, &shape)?;
        leaves_room(*slot, header)?;
    }
    // Every module that was there when this generation was written has it or a higher one.
    let settled = headers.iter().filter_map(|(_, _, both)| *both).max().unwrap_or(0);
    let mut header = newest.clone();
    header.sequence = headers.iter().map(|(_, header, _)| header.sequence).max().unwrap_or(0);
    let mut members: Vec<Member> = newest
        .slots
        .iter()
        .map(|slot| Member { module: slot.module, slot: None, state: MemberState::Missing })
        .collect();
    let mut replaced = Vec::new();
    for (slot, header, _) in &headers {
        let place = usize::from(header.slot);
        let is_member = members.get(place).is_some_and(|member| member.module == header.module);
        if !is_member {
            replaced.push((*slot, header.module));
            continue;
        }
        let state = match newest.slots[place].state {
            SlotState::Active if header.generation >= settled => MemberState::Trusted,
            // Only a module that was away holds earlier openings beside later ones, and would tell of them if trusted.
            _ if planted(Canary::StaleTrusted) => MemberState::Trusted,
            SlotState::Active | SlotState::Missing | SlotState::Empty => MemberState::Stale,
            SlotState::Rebuilding if header.generation >= settled => MemberState::Rebuilding,
            SlotState::Rebuilding => MemberState::Stale,
        };
        members[place] = Member { slot: Some(*slot), state, ..members[place] };
    }
    let blank = (0..).zip(&slots).filter(|(_, slot)| matches!(slot, InSlot::Blank)).map(|(slot, _)| slot);
    let mut blank: Vec<u32> = blank.collect();
    // People put a module into the slot of its number, so these pairs come first.
    for in_place in [true, false] {
        for (logical, member) in (0..).zip(&mut members).filter(|(_, member)| member.slot.is_none()) {
            let Some(at) = blank.iter().position(|slot| !in_place || *slot == logical) else { continue };
            (member.slot, member.state) = (Some(blank.remove(at)), MemberState::Blank);
        }
    }
    enough(&header, &members)?;
    if header.lost_writes {
        return Err(AssembleError::LostWrites);
    }
    Ok(Assembly { header, members, replaced })
}

/// The number of modules that parity stands for. It helps only if no stripe has two units on one module.
pub fn spared_modules(stripe_width: u32, modules: u32, parity_units: u32) -> u32 {
    if stripe_width <= modules { parity_units } else { 0 }
}

/// Whether a card can be found without some of its modules: as many as parity stands for, or more of them, as those of a
/// shelf are, where no stripe has more units on them than parity stands for. No two of these may be neighbours, which a
/// record of the log lies on.
pub fn can_do_without(shape: &Shape, width: u32, parity_units: u32, is_gone: impl Fn(u32) -> bool) -> bool {
    let modules = shape.modules;
    let gone = (0..modules).filter(|module| is_gone(*module)).count();
    let is_pair = |module: u32| is_gone(module) && is_gone((module + 1) % modules);
    gone <= spared_modules(width, modules, parity_units) as usize
        || parity_stands_for((shape.dies(), width, parity_units), modules, &is_gone) && !(0..modules).any(is_pair)
}

/// Fails if more modules can't be trusted than parity can restore.
fn enough(header: &ModuleHeader, members: &[Member]) -> Result<(), AssembleError> {
    let is_gone = |logical: u32| members[logical as usize].state != MemberState::Trusted;
    if can_do_without(&header.shape, header.stripe_width, header.parity_units, is_gone) {
        return Ok(());
    }
    let spared = spared_modules(header.stripe_width, header.shape.modules, header.parity_units);
    let missing = (0..).zip(members).filter(|(_, member)| member.state != MemberState::Trusted);
    let missing = missing.map(|(logical, member)| (logical, member.state)).collect();
    Err(AssembleError::TooFew { missing, spared })
}

/// Refuses modules of other cards, and two copies of one module.
fn refuse_strangers(headers: &[(u32, ModuleHeader, Option<u64>)], card: CardId) -> Result<(), AssembleError> {
    if let Some((_, other, _)) = headers.first()
        && headers.iter().all(|(_, header, _)| header.card != card)
    {
        return Err(AssembleError::Others { found: other.card, card });
    }
    for (index, (slot, header, _)) in headers.iter().enumerate() {
        if header.card != card {
            return Err(AssembleError::Foreign { slot: *slot, found: header.card, card });
        }
        let twin = headers[..index].iter().find(|(_, other, _)| other.module == header.module);
        if let Some((first, other, _)) = twin {
            // If the two are alike, the one in the slot of its number is the module: people copy it to another slot.
            let is_older =
                (other.sequence, *first == u32::from(other.slot)) < (header.sequence, *slot == u32::from(header.slot));
            let copy = if is_older { *first } else { *slot };
            return Err(AssembleError::Cloned { first: *first, second: *slot, module: header.module, copy });
        }
    }
    Ok(())
}

/// Fails if a module's header has another division of the card than the newest header or the medium.
pub(super) fn same_division(
    slot: u32,
    header: &ModuleHeader,
    newest: &ModuleHeader,
    media: &Shape,
) -> Result<(), AssembleError> {
    let (found, card) = (header.shape, newest.shape);
    let fields = [
        ("modules", found.modules, card.modules, media.modules),
        ("dies per module", found.dies_per_module, card.dies_per_module, media.dies_per_module),
        ("blocks per die", found.blocks_per_die, card.blocks_per_die, media.blocks_per_die),
        ("rows per block", found.rows_per_block, card.rows_per_block, media.rows_per_block),
        ("unit sectors", found.unit_sectors, card.unit_sectors, media.unit_sectors),
        ("payload bytes", found.payload_bytes, card.payload_bytes, media.payload_bytes),
        ("rows sharing cells", found.rows_sharing_cells, card.rows_sharing_cells, media.rows_sharing_cells),
        ("stripe width", header.stripe_width, newest.stripe_width, newest.stripe_width),
        ("parity units", header.parity_units, newest.parity_units, newest.parity_units),
    ];
    let fields = fields.map(|(field, found, card, media)| (field, u64::from(found), u64::from(card), u64::from(media)));
    let user = ("user sectors", header.user_sectors, newest.user_sectors, newest.user_sectors);
    for (field, found, card, media) in fields.into_iter().chain([user]) {
        if found != card {
            return Err(AssembleError::Division { slot, field, found, expected: card });
        }
        if found != media {
            return Err(AssembleError::Division { slot, field, found, expected: media });
        }
    }
    Ok(())
}

/// Fails if a counter is so high that it could run out: starts and header writes count it up.
fn leaves_room(slot: u32, header: &ModuleHeader) -> Result<(), AssembleError> {
    for (field, found) in [("generation", header.generation), ("sequence", header.sequence)] {
        if found > u64::MAX / 2 {
            return Err(AssembleError::NumbersExhausted { slot, field, found });
        }
    }
    Ok(())
}

pub(super) fn read_slot<M: Media + ?Sized>(media: &mut M, slot: u32) -> Result<InSlot, AssembleError> {
    let mut newest: Option<ModuleHeader> = None;
    let mut both: Option<u64> = Some(u64::MAX);
    let mut is_somebody_elses = false;
    for copy in 0..HEADER_COPIES {
        let bytes = match persist(|| media.read_header(slot, copy)) {
            Ok(bytes) => bytes,
            // The file or drive of the module fails on every request, so the module is as good as gone.
            Err(MediaError::NoModule | MediaError::NoAnswer | MediaError::Host | MediaError::NoSpace) => {
                return Ok(InSlot::Empty);
            }
            Err(error) => return Err(AssembleError::Media { slot, error }),
        };
        match bytes.map(|bytes| ModuleHeader::decode(&bytes)) {
            Some(Ok(header)) => {
                both = both.map(|both| both.min(header.generation));
                let order = |header: &ModuleHeader| (header.sequence, header.generation);
                if newest.as_ref().is_none_or(|newest| order(newest) < order(&header)) {
                    newest = Some(header);
                }
            }
            Some(Err(source @ HeaderError::NewerVersion { .. })) => {
                return Err(AssembleError::NewerVersion { slot, source });
            }
            Some(Err(source @ HeaderError::OlderVersion { .. })) => {
                return Err(AssembleError::OlderVersion { slot, source });
            }
            Some(Err(error)) => {
                both = None;
                is_somebody_elses |= matches!(error, HeaderError::Magic { .. });
            }
            None => both = None,
        }
    }
    Ok(match newest {
        Some(header) => InSlot::Header(Box::new(header), both),
        None if is_somebody_elses => InSlot::Other,
        None => InSlot::Blank,
    })
}
