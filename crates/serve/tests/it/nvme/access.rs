//! Asymmetric access, byte by byte, against NVMe Base 2.0, sections 5.16.1.13 and 8.1, and NVM Command Set 1.2, section 5.1.

use super::common::host::{self, Digests, Entry, Pdu, entry};
use super::common::server::{Server, Shared, subsystem};
use serve::nvme::{Access, Subsystem, Target};

const PLAIN: Digests = Digests { header: false, data: false };
const OK: (u8, u8, bool) = (0, 0, false);
const INACCESSIBLE: (u8, u8, bool) = (3, 2, false);
const TRANSITION: (u8, u8, bool) = (3, 3, false);
const INVALID_OPCODE: (u8, u8, bool) = (0, 1, true);
const INVALID_FIELD: (u8, u8, bool) = (0, 2, true);
const INVALID_NAMESPACE: (u8, u8, bool) = (0, 0x0B, true);
const INVALID_LOG_PAGE: (u8, u8, bool) = (1, 9, true);

/// A card that other servers show as well, in a state.
fn shared(access: Access) -> Shared {
    let target = Target::new(vec![Subsystem { is_shared: true, has_write_cache: false, access, ..subsystem() }]);
    Shared { target, access, ..Shared::default() }
}

fn identify(structure: u32) -> Entry {
    entry(6, 5, 1).dword(10, structure).transport(4096)
}

fn log(page: u32, parameter: u32, bytes: u32) -> Entry {
    entry(2, 6, u32::MAX).dword(10, page | parameter << 8 | (bytes / 4 - 1) << 16).transport(bytes)
}

fn number(page: &[u8], at: usize, bytes: usize) -> u64 {
    page[at..at + bytes].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// Field by field: its name, offset, bytes and value.
fn has(page: &[u8], fields: &[(&str, usize, usize, u64)]) {
    for (name, at, bytes, value) in fields {
        assert_eq!(number(page, *at, *bytes), *value, "{name}");
    }
}

#[test]
fn a_controller_of_a_shared_card_says_so() {
    let mut shared = shared(Access::Inaccessible);
    let mut admin = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
    let page = admin.get(&mut shared, identify(1)).unwrap();
    has(
        &page,
        &[
            ("CMIC: several ports, several controllers, asymmetric access", 76, 1, 0b1011),
            ("OAES: asymmetric access, attributes of namespaces", 92, 4, 1 << 11 | 1 << 8),
            ("ANATT: seconds", 342, 1, 60),
            ("ANACAP: optimized, inaccessible, change; groups stay", 343, 1, 0b0101_0101),
            ("ANAGRPMAX", 344, 4, 1),
            ("NANAGRPID", 348, 4, 1),
            ("ONCS: no reservations", 520, 2, 0b01_1101),
            ("VWC: a flush may name all namespaces, no write cache", 525, 1, 0b110),
            ("MNAN", 540, 4, 1),
        ],
    );
    for (structure, group, rescap, nmic) in [(0, 92, 31, 30), (8, 4, 2, 1)] {
        let page = admin.get(&mut shared, identify(structure)).unwrap();
        has(&page, &[("ANAGRPID", group, 4, 1), ("RESCAP", rescap, 1, 0), ("NMIC: shared", nmic, 1, 1)]);
    }
}

#[test]
fn the_log_page_has_the_group_its_state_and_how_often_it_has_changed() {
    let mut shared = shared(Access::Inaccessible);
    let mut admin = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
    let states = [(Access::Inaccessible, 3), (Access::Change, 0xF), (Access::Optimized, 1), (Access::Inaccessible, 3)];
    for (changes, (access, state)) in (0..).zip(states) {
        shared.target.set_access(0, access, 0);
        // The same state once more is no change.
        shared.target.set_access(0, access, 1);
        let page = admin.get(&mut shared, log(0x0C, 0, 52)).unwrap();
        has(
            &page,
            &[
                ("change count, from 0 on", 0, 8, changes),
                ("number of group descriptors", 8, 2, 1),
                ("reserved", 10, 6, 0),
                ("group", 16, 4, 1),
                ("number of namespaces", 20, 4, 1),
                ("change count of the group, from 1 on", 24, 8, changes + 1),
                ("state", 32, 1, state),
                ("reserved", 33, 8, 0),
                ("reserved", 41, 7, 0),
                ("namespace", 48, 4, 1),
            ],
        );
        // Without namespaces, if the host wants groups only: nothing lies behind.
        let page = admin.get(&mut shared, log(0x0C, 1, 52)).unwrap();
        has(&page, &[("number of namespaces", 20, 4, 0), ("state", 32, 1, state), ("no namespace", 48, 4, 0)]);
    }
    // Counts begin again when the controller is reset.
    assert_eq!(admin.ask(&mut shared, host::property_set(1, 0x14, 0)).status, OK);
    assert_eq!(admin.ask(&mut shared, host::property_set(1, 0x14, host::ENABLE)).status, OK);
    let page = admin.get(&mut shared, log(0x0C, 0, 52)).unwrap();
    has(&page, &[("change count", 0, 8, 0), ("change count of the group", 24, 8, 1), ("state", 32, 1, 3)]);
}

/// The events that a host can be told now.
fn events(shared: &mut Shared, admin: &Server) -> Vec<u32> {
    let id = admin.queue.queue().unwrap().controller;
    shared.target.events(id, &shared.cards).into_iter().map(|(_, event)| event).collect()
}

#[test]
fn hosts_that_want_to_hear_of_it_are_told_when_a_card_has_come_or_gone() {
    let mut shared = shared(Access::Inaccessible);
    let mut silent = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
    let mut admin = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
    assert_eq!(admin.ask(&mut shared, entry(9, 9, 0).dword(10, 0x0B).dword(11, 1 << 11)).status, OK);
    for id in 1..=4 {
        admin.feed(&mut shared, &host::command(entry(0x0C, id, 0), &[], PLAIN));
        silent.feed(&mut shared, &host::command(entry(0x0C, id, 0), &[], PLAIN));
    }
    // Type notice, information 03h, log page 0Ch.
    let told = [0x0C_03_02];
    for (access, expected) in [
        (Access::Change, &[][..]),
        (Access::Optimized, &told),
        // The page was not read since.
        (Access::Inaccessible, &[]),
    ] {
        shared.target.set_access(0, access, 0);
        assert_eq!(events(&mut shared, &admin), expected, "{access:?}");
    }
    admin.get(&mut shared, log(0x0C, 0x80, 52)).unwrap();
    shared.target.set_access(0, Access::Optimized, 0);
    assert!(events(&mut shared, &admin).is_empty(), "the host has kept the event, reading the page");
    admin.get(&mut shared, log(0x0C, 0, 52)).unwrap();
    shared.target.set_access(0, Access::Inaccessible, 0);
    assert_eq!(events(&mut shared, &admin), told);
    assert!(events(&mut shared, &silent).is_empty());
}

#[test]
fn each_command_has_its_status_where_the_card_is_not() {
    let block = vec![1; 4096];
    let list = [&[0; 4][..], &1u32.to_le_bytes(), &0u64.to_le_bytes()].concat();
    for (access, refused) in [(Access::Inaccessible, INACCESSIBLE), (Access::Change, TRANSITION)] {
        let mut shared = shared(access);
        let (mut admin, mut io) = Server::pair(&mut shared, PLAIN);
        let (read, write) = (entry(2, 1, 1).blocks(0, 1).transport(4096), entry(1, 1, 1).blocks(0, 1));
        for (name, entry, data, status) in [
            ("Read", read, &[][..], refused),
            ("Read beyond the end", read.blocks(1 << 40, 1), &[], refused),
            ("Read of another namespace", entry(2, 1, 2).blocks(0, 1).transport(4096), &[], INVALID_NAMESPACE),
            ("Write with its data", write.capsule(0, 4096), &block, refused),
            ("Write, data follow", write.transport(4096), &[], refused),
            ("Compare", entry(5, 1, 1).blocks(0, 1).capsule(0, 4096), &block, refused),
            ("Flush", entry(0, 1, 1), &[], refused),
            ("Flush of all namespaces", entry(0, 1, u32::MAX), &[], refused),
            ("Write Zeroes", entry(8, 1, 1).blocks(0, 1), &[], refused),
            ("Dataset Management", entry(9, 1, 1).dword(10, 0).dword(11, 4).capsule(0, 16), &list, refused),
            ("Reservation Register", entry(0x0D, 1, 1).capsule(0, 16), &list, INVALID_OPCODE),
            ("Reservation Report", entry(0x0E, 1, 1).dword(11, 1).transport(4096), &[], INVALID_OPCODE),
            ("Reservation Acquire", entry(0x11, 1, 1).capsule(0, 16), &list, INVALID_OPCODE),
            ("Reservation Release", entry(0x15, 1, 1).capsule(0, 16), &list, INVALID_OPCODE),
            ("an opcode that there is not", entry(0x55, 1, 1), &[], INVALID_OPCODE),
        ] {
            assert_eq!(io.one(&mut shared, &host::command(entry, data, PLAIN)).status, status, "{name}");
        }
        let (get, set) = (|of: u32| entry(0x0A, 8, 0).dword(10, of), |of: u32| entry(9, 9, 0).dword(10, of));
        for (name, entry, status) in [
            ("Get Features, Error Recovery", get(5), refused),
            ("Set Features, Error Recovery", set(5), refused),
            ("Set Features of all namespaces", entry(9, 9, u32::MAX).dword(10, 0x0B), refused),
            ("Get Features, events", get(0x0B), OK),
            ("Set Features, events", set(0x0B).dword(11, 1 << 11), OK),
            ("Set Features, queues", entry(9, 9, 0).dword(10, 0x0F).dword(11, 5000), OK),
            ("Get Features, notices of reservations", entry(0x0A, 8, 1).dword(10, 0x82), INVALID_FIELD),
            ("Set Features, reservations that are kept", entry(9, 9, 1).dword(10, 0x83).dword(11, 1), INVALID_FIELD),
            ("Keep Alive", entry(0x18, 1, 0), OK),
        ] {
            assert_eq!(admin.ask(&mut shared, entry).status, status, "{name}");
        }
        for page in [0x00, 0x01, 0x03, 0x04, 0x05, 0x0C, 0x12, 0x13] {
            admin.get(&mut shared, log(page, 0, 32)).unwrap_or_else(|answer| panic!("{page:#x}: {answer:?}"));
        }
        let notices = admin.get(&mut shared, log(0x80, 0, 32)).unwrap_err();
        assert_eq!(notices.status, INVALID_LOG_PAGE);
        // The size is that of the card; what it holds is known where it is.
        let page = admin.get(&mut shared, identify(0)).unwrap();
        has(&page, &[("NSZE", 0, 8, 1024), ("NCAP", 8, 8, 1024), ("NUSE", 16, 8, 0)]);
        for structure in [1, 2, 3, 5, 6, 7, 8] {
            let entry = if matches!(structure, 2 | 7) { entry(6, 5, 0) } else { entry(6, 5, 1) };
            admin.get(&mut shared, entry.dword(10, structure).transport(4096)).unwrap();
        }
        assert_eq!(shared.card, Shared::default().card);
        // Then the card comes, and all of it works.
        shared.target.set_access(0, Access::Optimized, 1);
        io.moves(&mut shared, Access::Optimized);
        assert_eq!(io.one(&mut shared, &host::command(write.capsule(0, 4096), &block, PLAIN)).status, OK);
        assert_eq!(io.get(&mut shared, read).unwrap(), block);
        assert_eq!(io.ask(&mut shared, entry(0, 1, u32::MAX)).status, OK);
        assert_eq!(admin.ask(&mut shared, get(5)).status, OK);
        let page = admin.get(&mut shared, identify(0)).unwrap();
        has(&page, &[("NUSE", 16, 8, 7)]);
    }
}

/// Pages that say what there is leave out what a shared card does not have.
#[test]
fn lists_of_what_there_is_name_no_reservations() {
    for is_shared in [false, true] {
        let target = Target::new(vec![Subsystem { is_shared, ..subsystem() }]);
        let mut shared = Shared { target, ..Shared::default() };
        let mut admin = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
        let there = u64::from(!is_shared);
        let page = admin.get(&mut shared, log(0x00, 0, 1024)).unwrap();
        has(&page, &[("the log page 80h", 0x80 * 4, 4, there), ("the log page 0Ch", 0x0C * 4, 4, 1)]);
        let page = admin.get(&mut shared, log(0x05, 0, 4096)).unwrap();
        for opcode in [0x0D, 0x0E, 0x11, 0x15] {
            has(&page, &[("the command", 1024 + opcode * 4, 4, there)]);
        }
        let page = admin.get(&mut shared, log(0x12, 0, 1024)).unwrap();
        has(&page, &[("82h", 0x82 * 4, 4, there), ("83h", 0x83 * 4, 4, there), ("0Bh", 0x0B * 4, 4, 1)]);
    }
}

/// Commands whose data are on their way when the card goes, or when it was away meanwhile, fail when they have come.
#[test]
fn data_that_come_behind_the_card_are_dropped() {
    for back in [false, true] {
        let mut shared = shared(Access::Optimized);
        let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
        let list = [&[0; 4][..], &1u32.to_le_bytes(), &0u64.to_le_bytes()].concat();
        let trim = entry(9, 3, 1).dword(10, 0).dword(11, 4);
        for (entry, data) in [
            (entry(1, 1, 1).blocks(4, 2), &[7; 8192][..]),
            (entry(5, 2, 1).blocks(4, 2), &[0; 8192]),
            (trim, &list[..]),
        ] {
            shared.card[..4096].fill(9);
            io.feed(&mut shared, &host::command(entry.transport(data.len() as u32), &[], PLAIN));
            let [Pdu::Ready { id, tag, .. }] = io.answers()[..] else { panic!("it is not asked for data") };
            io.moves(&mut shared, Access::Inaccessible);
            shared.steps += 1;
            if back {
                io.moves(&mut shared, Access::Optimized);
            }
            let answer = io.one(&mut shared, &host::data(id, tag, 0, data, true, PLAIN));
            assert_eq!(answer.status, INACCESSIBLE);
            assert_eq!((shared.card[0], shared.card[4 * 4096]), (9, 0), "nothing was written");
            io.moves(&mut shared, Access::Optimized);
        }
    }
}
