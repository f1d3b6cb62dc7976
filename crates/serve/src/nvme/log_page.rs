//! Log pages (NVMe Base 2.0, section 5.16.1).

use crate::nvme::answer::Answer;
use crate::nvme::bytes::{put, put_padded, put_u16, put_u32, put_u64};
use crate::nvme::command::{Command, admin, io};
use crate::nvme::controller::{Controller, feature};
use crate::nvme::identify::ANA_GROUP;
use crate::nvme::limits::MAX_LOG_BYTES;
use crate::nvme::status::Status;
use crate::nvme::subsystem::{Smart, Subsystem};

/// Log page identifiers.
pub mod page {
    pub const SUPPORTED: u8 = 0x00;
    pub const ERRORS: u8 = 0x01;
    pub const HEALTH: u8 = 0x02;
    pub const FIRMWARE: u8 = 0x03;
    pub const CHANGED_NAMESPACES: u8 = 0x04;
    pub const COMMAND_EFFECTS: u8 = 0x05;
    pub const ASYMMETRIC_ACCESS: u8 = 0x0C;
    pub const FEATURE_EFFECTS: u8 = 0x12;
    pub const MANAGEMENT_EFFECTS: u8 = 0x13;
    pub const DISCOVERY: u8 = 0x70;
    pub const RESERVATIONS: u8 = 0x80;
    pub const OF_CONTROLLER: [u8; 10] = [
        SUPPORTED,
        ERRORS,
        HEALTH,
        FIRMWARE,
        CHANGED_NAMESPACES,
        COMMAND_EFFECTS,
        ASYMMETRIC_ACCESS,
        FEATURE_EFFECTS,
        MANAGEMENT_EFFECTS,
        RESERVATIONS,
    ];
    pub const OF_DISCOVERY: [u8; 3] = [SUPPORTED, ERRORS, DISCOVERY];
}

/// The part of a log page that a command asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub page: u8,
    /// The log specific parameter.
    pub parameter: u8,
    /// Its events are told again.
    pub clears: bool,
    offset: u64,
    bytes: u64,
}

impl Asked {
    pub fn of(command: &Command) -> Result<Asked, Status> {
        let low = command.dword(10);
        let dwords = u64::from(low >> 16) | u64::from(command.dword(11) & 0xFFFF) << 16;
        let offset = u64::from(command.dword(12)) | u64::from(command.dword(13)) << 32;
        let bytes = (dwords + 1) * 4;
        // Offsets are bytes, and whole dwords.
        if command.dword(14) >> 23 & 1 != 0 || !offset.is_multiple_of(4) || bytes > MAX_LOG_BYTES.into() {
            return Err(Status::INVALID_FIELD);
        }
        Ok(Asked { page: low as u8, parameter: (low >> 8 & 0x7F) as u8, clears: low >> 15 & 1 == 0, offset, bytes })
    }

    /// The part of a page; zeroes behind its end.
    pub fn part(self, page: &[u8]) -> Answer {
        if self.offset > page.len() as u64 {
            return Status::INVALID_FIELD.into();
        }
        let mut part = page[self.offset as usize..].to_vec();
        part.resize(self.bytes as usize, 0);
        Answer::data(part)
    }
}

/// The health of a controller's card.
pub fn health(smart: &Smart, errors: u64) -> Vec<u8> {
    let mut page = vec![0; 512];
    page[0] = smart.critical_warning;
    page[3] = smart.available_spare;
    page[4] = smart.available_spare_threshold;
    page[5] = smart.percentage_used;
    let totals = [
        smart.data_units_read,
        smart.data_units_written,
        smart.host_read_commands,
        smart.host_write_commands,
        smart.controller_busy_time,
        smart.power_cycles,
        smart.power_on_hours,
        smart.unsafe_shutdowns,
        smart.media_errors,
        errors,
    ];
    // Each has 16 bytes.
    totals.iter().enumerate().for_each(|(at, total)| put_u64(&mut page, 32 + at * 16, *total));
    page
}

pub fn firmware(subsystem: &Subsystem) -> Vec<u8> {
    let mut page = vec![0; 512];
    page[0] = 1;
    put_padded(&mut page, 8, 8, &subsystem.firmware);
    page
}

/// Identifiers of pages, or of features, that there are.
pub fn identifiers(ids: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut page = vec![0; 1024];
    ids.into_iter().for_each(|id| put_u32(&mut page, usize::from(id) * 4, 1));
    page
}

pub fn features(subsystem: &Subsystem) -> Vec<u8> {
    let all = [
        feature::ARBITRATION,
        feature::POWER_MANAGEMENT,
        feature::ERROR_RECOVERY,
        feature::QUEUES,
        feature::WRITE_ATOMICITY,
        feature::ASYNC_EVENTS,
        feature::KEEP_ALIVE,
        feature::HOST_IDENTIFIER,
    ];
    let of_reservations = [feature::RESERVATION_NOTICES, feature::RESERVATION_PERSISTENCE];
    let reservations = of_reservations.into_iter().filter(|_| subsystem.takes_reservations());
    let cache = subsystem.has_write_cache.then_some(feature::WRITE_CACHE);
    identifiers(all.into_iter().chain(reservations).chain(cache))
}

/// Commands that are there, and those among them that change the contents of logical blocks.
pub fn command_effects(subsystem: &Subsystem) -> Vec<u8> {
    const SUPPORTED: u32 = 1;
    const CHANGES_CONTENTS: u32 = 1 << 1;
    let mut page = vec![0; 4096];
    admin::ALL.iter().for_each(|opcode| put_u32(&mut page, usize::from(*opcode) * 4, SUPPORTED));
    let of_reservations = io::RESERVATIONS.into_iter().chain([io::RESERVATION_REPORT]);
    let reservations = of_reservations.filter(|_| subsystem.takes_reservations());
    for opcode in [io::FLUSH, io::READ, io::COMPARE].into_iter().chain(reservations) {
        put_u32(&mut page, 1024 + usize::from(opcode) * 4, SUPPORTED);
    }
    for opcode in [io::WRITE, io::WRITE_ZEROES, io::DATASET_MANAGEMENT] {
        put_u32(&mut page, 1024 + usize::from(opcode) * 4, SUPPORTED | CHANGES_CONTENTS);
    }
    page
}

/// The one group of namespaces, whose state is that of the subsystem on each controller of this server. A group that never
/// changes has no count of its own.
pub fn asymmetric_access(subsystem: &Subsystem, changes: u64, groups_only: bool) -> Vec<u8> {
    let ids: Vec<u32> = if groups_only { Vec::new() } else { subsystem.namespaces.iter().map(|all| all.id).collect() };
    let mut page = vec![0; 48 + ids.len() * 4];
    put_u64(&mut page, 0, changes);
    put_u16(&mut page, 8, 1);
    put_u32(&mut page, 16, ANA_GROUP);
    put_u32(&mut page, 20, ids.len() as u32);
    put_u64(&mut page, 24, if subsystem.is_shared { changes + 1 } else { 0 });
    page[32] = subsystem.access as u8;
    ids.iter().enumerate().for_each(|(at, id)| put(&mut page, 48 + at * 4, &id.to_le_bytes()));
    page
}

/// The pages that a controller has.
pub fn supported(controller: &Controller, subsystem: Option<&Subsystem>) -> Vec<u8> {
    let pages: &[u8] = if controller.is_discovery() { &page::OF_DISCOVERY } else { &page::OF_CONTROLLER };
    let takes_reservations = subsystem.is_none_or(Subsystem::takes_reservations);
    identifiers(pages.iter().copied().filter(|id| *id != page::RESERVATIONS || takes_reservations))
}
