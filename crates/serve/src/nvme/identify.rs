//! The data of Identify (NVMe Base 2.0, section 5.17; NVM Command Set 1.0, section 4.1.5).

use crate::nvme::answer::Answer;
use crate::nvme::bytes::{put, put_padded, put_u16, put_u32, put_u64};
use crate::nvme::command::{ALL_NAMESPACES, COMMAND_BYTES, Command};
use crate::nvme::controller::{ACCESS_EVENTS, Controller, DISCOVERY_EVENTS, NAMESPACE_EVENTS, VERSION};
use crate::nvme::limits::{
    BLOCK_SHIFT, ERROR_ENTRIES, KEEP_ALIVE_UNIT_MS, MAX_CAPSULE_DATA_BYTES, MAX_EVENT_REQUESTS, MAX_QUEUE_ENTRIES, MDTS,
};
use crate::nvme::status::Status;
use crate::nvme::subsystem::{Access, Cards, DISCOVERY_NQN, NamespaceEntry, Subsystem};

/// Bytes of all structures that Identify returns.
const BYTES: usize = 4096;

/// The group of all namespaces for asymmetric access.
pub const ANA_GROUP: u32 = 1;

/// Seconds in which a card goes from one server to another (`ANATT`): a lease runs out, and the card is started. A host waits
/// for so long at least.
const TAKEOVER_SECONDS: u8 = 60;

/// Answers an Identify of a controller, whose subsystem is `None` for discovery controllers.
pub fn identify(
    command: &Command,
    controller: &Controller,
    subsystem: Option<&Subsystem>,
    cards: &dyn Cards,
) -> Answer {
    let structure = command.dword(10) as u8;
    let command_set = (command.dword(11) >> 24) as u8;
    let Some(subsystem) = subsystem else {
        return match structure {
            0x01 => Answer::data(of_discovery_controller(controller)),
            _ => Status::INVALID_FIELD.into(),
        };
    };
    // Only the NVM command set is there.
    let of_command_set = matches!(structure, 0x05..=0x07);
    if of_command_set && command_set != 0 {
        return Status::INVALID_FIELD.into();
    }
    let id = command.namespace();
    let namespace = subsystem.namespace(id).ok_or(Status::INVALID_NAMESPACE);
    let of_namespace = |make: &dyn Fn(&NamespaceEntry) -> Vec<u8>| match namespace {
        Ok(namespace) => Answer::data(make(namespace)),
        Err(status) => status.into(),
    };
    match structure {
        0x00 => of_namespace(&|namespace| of_a_namespace(namespace, subsystem, cards)),
        0x01 => Answer::data(of_controller(controller, subsystem)),
        0x02 | 0x07 if id >= ALL_NAMESPACES - 1 => Status::INVALID_NAMESPACE.into(),
        0x02 | 0x07 => Answer::data(list(subsystem, id)),
        0x03 => of_namespace(&descriptors),
        0x05 => of_namespace(&|_| vec![0; BYTES]),
        0x06 => Answer::data(vec![0; BYTES]),
        0x08 => of_namespace(&|namespace| independent(namespace, subsystem)),
        0x1C => match command.dword(10) >> 16 {
            // This controller's own combination.
            own if own == u32::from(controller.id) || own == 0xFFFF => {
                let mut page = vec![0; BYTES];
                page[0] = 1;
                Answer::data(page)
            }
            _ => Status::INVALID_FIELD.into(),
        },
        _ => Status::INVALID_FIELD.into(),
    }
}

fn common(controller: &Controller, nqn: &str, firmware: &str) -> Vec<u8> {
    let mut page = vec![0; BYTES];
    put_padded(&mut page, 4, 20, "");
    put_padded(&mut page, 24, 40, "");
    put_padded(&mut page, 64, 8, firmware);
    page[77] = MDTS;
    put_u16(&mut page, 78, controller.id);
    put_u32(&mut page, 80, VERSION);
    // The host identifier has 128 bits, and any command keeps the association alive.
    put_u32(&mut page, 96, 1 | 1 << 6);
    page[259] = MAX_EVENT_REQUESTS as u8 - 1;
    // Log pages may be read from an offset on.
    page[261] = 1 << 2;
    page[262] = ERROR_ENTRIES as u8 - 1;
    put_u16(&mut page, 320, (KEEP_ALIVE_UNIT_MS / 100) as u16);
    put_u16(&mut page, 514, MAX_QUEUE_ENTRIES);
    // SGLs without alignment; an address may be an offset into the capsule.
    put_u32(&mut page, 536, 1 | 1 << 20);
    put(&mut page, 768, nqn.as_bytes());
    page
}

fn of_discovery_controller(controller: &Controller) -> Vec<u8> {
    let mut page = common(controller, DISCOVERY_NQN, env!("CARGO_PKG_VERSION"));
    put_u32(&mut page, 92, DISCOVERY_EVENTS);
    page[111] = 2;
    page
}

fn of_controller(controller: &Controller, subsystem: &Subsystem) -> Vec<u8> {
    let mut page = common(controller, &subsystem.nqn, &subsystem.firmware);
    put_padded(&mut page, 4, 20, &subsystem.serial);
    put_padded(&mut page, 24, 40, &subsystem.model);
    // Several controllers at once, with asymmetric access; and several ports.
    page[76] = u8::from(subsystem.is_shared) | 1 << 1 | 1 << 3;
    put_u32(&mut page, 92, ACCESS_EVENTS | NAMESPACE_EVENTS);
    page[111] = 1;
    // Commands to be aborted at once: zero-based.
    page[258] = 3;
    // One slot of firmware, which can't be written.
    page[260] = 1 << 1 | 1;
    // Health is the whole controller's; effects of commands, offsets, and the pages that say which pages there are.
    page[261] = 1 << 1 | 1 << 2 | 1 << 5;
    // Asymmetric access: the time of a transition, the states that occur, and that groups never change.
    let (seconds, more_states) = if subsystem.is_shared { (TAKEOVER_SECONDS, 1 << 2 | 1 << 4) } else { (1, 0) };
    page[342] = seconds;
    page[343] = 1 | more_states | 1 << 6;
    put_u32(&mut page, 344, ANA_GROUP);
    put_u32(&mut page, 348, 1);
    page[512] = 0x66;
    page[513] = 0x44;
    let most = subsystem.namespaces.last().map_or(0, |namespace| namespace.id);
    put_u32(&mut page, 516, most);
    put_u32(&mut page, 540, most);
    // Compare, Dataset Management, Write Zeroes, the Select field of Get Features, and reservations.
    let reservations = u16::from(subsystem.takes_reservations());
    put_u16(&mut page, 520, 1 | 1 << 2 | 1 << 3 | 1 << 4 | reservations << 5);
    // A flush may name all namespaces.
    page[525] = 3 << 1 | u8::from(subsystem.has_write_cache);
    put_u32(&mut page, 1792, (COMMAND_BYTES as u32 + MAX_CAPSULE_DATA_BYTES) / 16);
    put_u32(&mut page, 1796, 1);
    page[1803] = 1;
    page
}

fn of_a_namespace(namespace: &NamespaceEntry, subsystem: &Subsystem, cards: &dyn Cards) -> Vec<u8> {
    let mut page = vec![0; BYTES];
    put_u64(&mut page, 0, namespace.blocks);
    put_u64(&mut page, 8, namespace.blocks);
    if subsystem.access == Access::Optimized {
        put_u64(&mut page, 16, cards.used_blocks(namespace.card).min(namespace.blocks));
    }
    // The name is never used again.
    page[24] = 1 << 3;
    page[30] = 1;
    page[31] = reservation_capabilities(namespace, subsystem);
    // Blocks that were deallocated read as zeroes; Write Zeroes may deallocate.
    page[33] = 1 | 1 << 3;
    put_u32(&mut page, 92, ANA_GROUP);
    page[99] = u8::from(namespace.read_only);
    put(&mut page, 104, &namespace.uuid);
    page[130] = BLOCK_SHIFT;
    page
}

/// All types; they survive a loss of power where there is a place for that; keys are ignored as since revision 1.3.
fn reservation_capabilities(namespace: &NamespaceEntry, subsystem: &Subsystem) -> u8 {
    if !subsystem.takes_reservations() {
        return 0;
    }
    u8::from(namespace.keeps_reservations) | 0x3F << 1 | 1 << 7
}

fn independent(namespace: &NamespaceEntry, subsystem: &Subsystem) -> Vec<u8> {
    let mut page = vec![0; BYTES];
    page[0] = 1 << 3;
    page[1] = 1;
    page[2] = reservation_capabilities(namespace, subsystem);
    put_u32(&mut page, 4, ANA_GROUP);
    page[8] = u8::from(namespace.read_only);
    page[14] = 1;
    page
}

/// The identifiers behind one, ascending.
fn list(subsystem: &Subsystem, behind: u32) -> Vec<u8> {
    let mut page = vec![0; BYTES];
    let ids = subsystem.namespaces.iter().map(|namespace| namespace.id).filter(|id| *id > behind);
    page.chunks_exact_mut(4).zip(ids).for_each(|(entry, id)| put_u32(entry, 0, id));
    page
}

/// NGUID, UUID and command set, each behind its type and length.
fn descriptors(namespace: &NamespaceEntry) -> Vec<u8> {
    let mut page = Vec::with_capacity(BYTES);
    for (kind, value) in [(2, &namespace.uuid[..]), (3, &namespace.uuid[..]), (4, &[0])] {
        page.extend_from_slice(&[kind, value.len() as u8, 0, 0]);
        page.extend_from_slice(value);
    }
    page.resize(BYTES, 0);
    page
}
