//! Commands of the admin queue, one line each, against NVMe Base 2.0, section 5.

use super::common::host::{self, Digests, Entry, Pdu, entry};
use super::common::server::{Server, Shared, subsystem};
use serve::nvme::Smart;

const PLAIN: Digests = Digests { header: false, data: false };
const OK: (u8, u8, bool) = (0, 0, false);
const INVALID_OPCODE: (u8, u8, bool) = (0, 1, true);
const INVALID_FIELD: (u8, u8, bool) = (0, 2, true);
const INVALID_NAMESPACE: (u8, u8, bool) = (0, 0x0B, true);
const DATA_LENGTH: (u8, u8, bool) = (0, 0x0F, true);
const INVALID_LOG_PAGE: (u8, u8, bool) = (1, 9, true);

fn identify(structure: u32, namespace: u32) -> Entry {
    entry(6, 5, namespace).dword(10, structure).transport(4096)
}

/// Bytes are whole dwords.
fn log(page: u32, bytes: u32, offset: u32) -> Entry {
    entry(2, 6, u32::MAX).dword(10, page | (bytes / 4 - 1) << 16).dword(12, offset).transport(bytes)
}

fn get(feature: u32) -> Entry {
    entry(0x0A, 8, 0).dword(10, feature)
}

fn set(feature: u32, value: u32) -> Entry {
    entry(9, 9, 0).dword(10, feature).dword(11, value)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn admin(shared: &mut Shared) -> Server {
    Server::admin(shared, host::SUBSYSTEM, PLAIN)
}

#[test]
fn each_command_that_is_refused_has_its_status() {
    let mut cases = vec![
        ("a structure that there is not", identify(0x55, 1), INVALID_FIELD),
        ("no namespace", identify(0, 0), INVALID_NAMESPACE),
        ("a namespace that there is not", identify(0, 2), INVALID_NAMESPACE),
        ("all namespaces", identify(0, u32::MAX), INVALID_NAMESPACE),
        ("descriptors of no namespace", identify(3, 9), INVALID_NAMESPACE),
        ("a list behind all namespaces", identify(2, u32::MAX), INVALID_NAMESPACE),
        ("another command set", identify(5, 1).dword(11, 2 << 24), INVALID_FIELD),
        ("too little room", identify(1, 0).transport(512), DATA_LENGTH),
        ("room in the capsule", identify(1, 0).capsule(0, 4096), (0, 0x16, true)),
        ("a log page that there is not", log(0x33, 512, 0), INVALID_LOG_PAGE),
        ("the discovery log", log(0x70, 1024, 0), INVALID_LOG_PAGE),
        ("an odd offset", log(2, 64, 2), INVALID_FIELD),
        ("an offset behind the page", log(2, 64, 516), INVALID_FIELD),
        ("more than a transfer may have", log(2, (1 << 20) + 4, 0).dword(11, 4), INVALID_FIELD),
        ("a length that is not the room's", log(2, 512, 0).transport(256), DATA_LENGTH),
        ("a feature that there is not", get(0x44), INVALID_FIELD),
        ("a feature of PCIe", get(8), INVALID_FIELD),
        ("setting a feature that there is not", set(0x44, 1), INVALID_FIELD),
        ("saving a feature", set(0x0B | 1 << 31, 1), (1, 0x0D, true)),
        ("a power state that there is not", set(2, 1), INVALID_FIELD),
        ("an error for deallocated blocks", set(5, 1 << 16), INVALID_FIELD),
        ("no queues", set(7, 0xFFFF), INVALID_FIELD),
        ("the host identifier", set(0x81, 1), (0, 0x0C, true)),
        ("an unknown selection", get(0x0B | 5 << 8), INVALID_FIELD),
        ("a PRP", identify(1, 0).byte(1, 0), INVALID_FIELD),
        ("half of a fused command", identify(1, 0).byte(1, 0x41), INVALID_FIELD),
        ("an unknown fabrics command", entry(0x7F, 1, 0).byte(4, 0x44), INVALID_FIELD),
        ("a Disconnect", entry(0x7F, 1, 0).byte(4, 8), INVALID_FIELD),
    ];
    // All admin opcodes that this controller does not have.
    let known = [2, 6, 8, 9, 0x0A, 0x0C, 0x18, 0x7F];
    cases.extend((0..=255).filter(|opcode| !known.contains(opcode)).map(|opcode| {
        let entry = entry(opcode, 1, 0);
        ("an opcode that there is not", entry, INVALID_OPCODE)
    }));
    let mut shared = Shared::default();
    let mut admin = admin(&mut shared);
    let refused = cases.len() as u64;
    for (what, entry, status) in cases {
        let response = admin.get(&mut shared, entry).expect_err(what);
        // A descriptor in the capsule is refused for its type where no data are to come with the command.
        let status = if what == "room in the capsule" { (0, 0x11, true) } else { status };
        assert_eq!((response.status, response.id), (status, u16::from_le_bytes([entry.0[2], entry.0[3]])), "{what}");
    }
    // Each of them is in the error log, the newest first, when the driver has handed them on.
    let failures = admin.queue.take_failures();
    let id = admin.queue.queue().unwrap().controller;
    assert_eq!(failures.len(), 64, "so many are kept");
    shared.target.keep_errors(id, 0, failures);
    assert!(refused > 64);
    let page = admin.get(&mut shared, log(1, 64 * 64, 0)).unwrap();
    assert_eq!(page[..8], 64u64.to_le_bytes());
    assert_eq!(u32_at(&page, 63 * 64), 1);
}

#[test]
fn identify_says_what_the_linux_host_wants_to_know() {
    let mut shared = Shared::default();
    let mut admin = admin(&mut shared);
    let page = admin.get(&mut shared, identify(1, 0)).unwrap();
    assert_eq!(&page[4..24], b"0707                ");
    assert_eq!(&page[24..31], b"a card ");
    assert_eq!(&page[64..72], b"1.2.3   ");
    assert_eq!(page[768..768 + host::SUBSYSTEM.len()], *host::SUBSYSTEM.as_bytes());
    let of =
        |at: usize, bytes: usize| page[at..at + bytes].iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
    // Field by field: offset, bytes, value.
    for (what, at, bytes, value) in [
        ("MDTS: 1 MiB", 77, 1, 8),
        ("CNTLID", 78, 2, 1),
        ("VER", 80, 4, 0x0002_0000),
        ("CNTRLTYPE: I/O", 111, 1, 1),
        ("ACL", 258, 1, 3),
        ("AERL", 259, 1, 3),
        ("LPA: offsets, effects, which pages", 261, 1, 0x26),
        ("ELPE", 262, 1, 63),
        ("KAS", 320, 2, 10),
        ("ANAGRPMAX", 344, 4, 1),
        ("NANAGRPID", 348, 4, 1),
        ("SQES", 512, 1, 0x66),
        ("CQES", 513, 1, 0x44),
        ("MAXCMD", 514, 2, 128),
        ("NN", 516, 4, 1),
        ("ONCS: compare, trim, zeroes, select, reservations", 520, 2, 0b111101),
        ("FUSES: none", 522, 2, 0),
        ("VWC: there is one, and a flush may name all", 525, 1, 7),
        ("SGLS: any alignment, offsets", 536, 4, 1 | 1 << 20),
        ("IOCCSZ: 64 bytes and 64 KiB", 1792, 4, 4 + (64 << 10) / 16),
        ("IORCSZ", 1796, 4, 1),
        ("ICDOFF", 1800, 2, 0),
        ("FCATTR: dynamic controllers", 1802, 1, 0),
        ("MSDBD", 1803, 1, 1),
    ] {
        assert_eq!(of(at, bytes), value, "{what}");
    }
    let page = admin.get(&mut shared, identify(0, 1)).unwrap();
    assert_eq!(page[..24], [1024u64, 1024, 7].map(u64::to_le_bytes).concat());
    assert_eq!((page[25], page[26], page[30], page[33], page[130]), (0, 0, 1, 9, 12));
    assert_eq!(page[31], 0xFF, "reservations of all types, which survive a loss of power");
    assert_eq!(page[104..120], [7; 16]);
    let descriptors = [&[2, 16, 0, 0][..], &[7; 16], &[3, 16, 0, 0], &[7; 16], &[4, 1, 0, 0, 0], &[0; 8]].concat();
    assert_eq!(admin.get(&mut shared, identify(3, 1)).unwrap()[..descriptors.len()], descriptors);
    for structure in [2, 7] {
        assert_eq!(admin.get(&mut shared, identify(structure, 0)).unwrap()[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
        assert!(admin.get(&mut shared, identify(structure, 1)).unwrap().iter().all(|byte| *byte == 0));
    }
    for (structure, namespace) in [(5, 1), (6, 0)] {
        assert_eq!(admin.get(&mut shared, identify(structure, namespace)).unwrap(), [0; 4096]);
    }
    let independent = admin.get(&mut shared, identify(8, 1)).unwrap();
    assert_eq!((independent[1], u32_at(&independent, 4), independent[14]), (1, 1, 1), "shared, in group 1, ready");
    assert_eq!(admin.get(&mut shared, identify(0x1C | 0xFFFF << 16, 0)).unwrap()[..8], 1u64.to_le_bytes());
}

#[test]
fn the_write_cache_is_there_only_where_there_is_one() {
    for has_write_cache in [true, false] {
        let mut subsystem = super::common::server::subsystem();
        subsystem.has_write_cache = has_write_cache;
        let mut shared = Shared { target: serve::nvme::Target::new(vec![subsystem]), ..Shared::default() };
        let mut admin = admin(&mut shared);
        assert_eq!(admin.get(&mut shared, identify(1, 0)).unwrap()[525] & 1, u8::from(has_write_cache));
        let response = admin.ask(&mut shared, get(6));
        assert_eq!(response.status == OK, has_write_cache);
        assert_eq!(response.value, u64::from(has_write_cache));
    }
}

#[test]
fn logs_say_how_the_card_stands() {
    let mut shared = Shared::default();
    shared.cards.0 = Smart {
        critical_warning: 4,
        available_spare: 90,
        available_spare_threshold: 10,
        percentage_used: 33,
        data_units_read: 1,
        data_units_written: 2,
        host_read_commands: 3,
        host_write_commands: 4,
        controller_busy_time: 5,
        power_cycles: 6,
        power_on_hours: 7,
        unsafe_shutdowns: 8,
        media_errors: 9,
    };
    let mut admin = admin(&mut shared);
    let page = admin.get(&mut shared, log(2, 512, 0)).unwrap();
    assert_eq!((page[0], page[3], page[4], page[5]), (4, 90, 10, 33));
    (0..9).for_each(|at| assert_eq!(u32_at(&page, 32 + at * 16), at as u32 + 1));
    // A part of the page, from an offset on.
    assert_eq!(admin.get(&mut shared, log(2, 64, 32)).unwrap(), page[32..96]);
    let firmware = admin.get(&mut shared, log(3, 512, 0)).unwrap();
    assert_eq!((firmware[0], &firmware[8..16]), (1, &b"1.2.3   "[..]));
    assert!(admin.get(&mut shared, log(4, 4096, 0)).unwrap().iter().all(|byte| *byte == 0));
    let effects = admin.get(&mut shared, log(5, 4096, 0)).unwrap();
    let io = |opcode: usize| u32_at(&effects, 1024 + opcode * 4);
    assert_eq!([0, 1, 2, 5, 8, 9, 4].map(io), [1, 3, 1, 1, 3, 3, 0]);
    assert_eq!([0x0D, 0x0E, 0x11, 0x15].map(io), [1; 4]);
    assert_eq!(
        [2, 6, 8, 9, 10, 12, 24, 13].map(|opcode: usize| u32_at(&effects, opcode * 4)),
        [1, 1, 1, 1, 1, 1, 1, 0]
    );
    let access = admin.get(&mut shared, log(0x0C, 52, 0)).unwrap();
    assert_eq!((access[8], u32_at(&access, 16), u32_at(&access, 20), access[32]), (1, 1, 1, 1));
    assert_eq!(u32_at(&access, 48), 1, "the namespace of the group");
    let groups = admin.get(&mut shared, log(0x0C | 1 << 8, 48, 0)).unwrap();
    assert_eq!(u32_at(&groups, 20), 0, "groups only");
    let pages = admin.get(&mut shared, log(0, 1024, 0)).unwrap();
    let found: Vec<usize> = (0..256).filter(|page| u32_at(&pages, page * 4) & 1 != 0).collect();
    assert_eq!(found, [0, 1, 2, 3, 4, 5, 0x0C, 0x12, 0x13, 0x80]);
    for page in found {
        admin.get(&mut shared, log(page as u32, 64, 0).transport(64)).unwrap();
    }
    let features = admin.get(&mut shared, log(0x12, 1024, 0)).unwrap();
    let found: Vec<u32> = (0..256).filter(|id| u32_at(&features, *id as usize * 4) & 1 != 0).collect();
    assert_eq!(found, [1, 2, 5, 6, 7, 0x0A, 0x0B, 0x0F, 0x81, 0x82, 0x83]);
}

#[test]
fn features_are_what_they_were_set_to_until_a_reset() {
    let mut shared = Shared::default();
    let mut admin = admin(&mut shared);
    // The feature, its default, a value, and what is there after it was set.
    for (what, feature, default, value, after) in [
        ("arbitration", 1, 0, 7, 7),
        ("power management", 2, 0, 0, 0),
        ("error recovery", 5, 0, 0, 0),
        ("write cache", 6, 1, 0, 0),
        ("queues", 7, 127 | 127 << 16, 3 | 9 << 16, 3 | 3 << 16),
        ("write atomicity", 0x0A, 0, 1, 1),
        ("events", 0x0B, 0, 0x900, 0x900),
    ] {
        assert_eq!(admin.ask(&mut shared, get(feature)).value, default, "{what}");
        let response = admin.ask(&mut shared, set(feature, value));
        assert_eq!(response.status, OK, "{what}");
        assert_eq!(admin.ask(&mut shared, get(feature)).value, after, "{what}");
        assert_eq!(admin.ask(&mut shared, get(feature | 3 << 8)).value, 4, "{what}: can be changed");
    }
    // The timer is that of Connect, in whole seconds, and stays.
    assert_eq!(admin.ask(&mut shared, get(0x0F)).value, 15_000);
    assert_eq!(admin.ask(&mut shared, set(0x0F, 1500)).status, OK);
    assert_eq!(admin.ask(&mut shared, get(0x0F)).value, 2000);
    let id = admin.queue.queue().unwrap().controller;
    assert_eq!(shared.target.keep_alive_ms(id), 2000);
    assert!(shared.target.terms(id).writes_through);
    for value in [0, host::ENABLE] {
        admin.ask(&mut shared, host::property_set(1, 0x14, value));
    }
    assert_eq!(admin.ask(&mut shared, get(6)).value, 1);
    assert!(!shared.target.terms(id).writes_through);
    assert_eq!(admin.get(&mut shared, get(0x81).dword(11, 1).transport(16)).unwrap(), host::HOST_ID);
}

#[test]
fn events_are_told_once_until_their_log_page_is_read() {
    let mut shared = Shared::default();
    let mut admin = admin(&mut shared);
    let id = admin.queue.queue().unwrap().controller;
    let request = |id: u16| host::command(entry(0x0C, id, 0), &[], PLAIN);
    (20..24).for_each(|id| admin.feed(&mut shared, &request(id)));
    assert!(admin.answers().is_empty(), "they wait");
    assert_eq!(admin.one(&mut shared, &request(24)).status, (1, 5, true), "four at most");
    shared.cards.0.critical_warning = 4;
    assert!(shared.target.events(id, &shared.cards).is_empty(), "the host does not want to hear of it");
    shared.cards.0.critical_warning = 0;
    assert!(shared.target.events(id, &shared.cards).is_empty());
    assert_eq!(admin.ask(&mut shared, set(0x0B, 0xFF)).status, OK);
    shared.cards.0.critical_warning = 4;
    let degraded = 1 | 2 << 16;
    assert_eq!(shared.target.events(id, &shared.cards), [(20, degraded)]);
    shared.cards.0.critical_warning = 0;
    assert!(shared.target.events(id, &shared.cards).is_empty());
    shared.cards.0.critical_warning = 4;
    assert!(shared.target.events(id, &shared.cards).is_empty(), "the log page was not read");
    // Reading it with "retain" changes nothing.
    admin.get(&mut shared, log(2 | 1 << 15, 512, 0)).unwrap();
    shared.cards.0.critical_warning = 0;
    shared.target.events(id, &shared.cards);
    admin.get(&mut shared, log(2, 512, 0)).unwrap();
    shared.cards.0.critical_warning = 4;
    assert_eq!(shared.target.events(id, &shared.cards), [(21, degraded)]);
    // A request that waits can be taken back; another command can't.
    admin.feed(&mut shared, &host::command(entry(8, 30, 0).dword(10, 22 << 16), &[], PLAIN));
    let answers = admin.answers();
    let [Pdu::Response(abort), Pdu::Response(aborted)] = answers[..] else { panic!("{answers:?}") };
    assert_eq!((abort.id, abort.value), (30, 0));
    assert_eq!((aborted.id, aborted.status), (22, (0, 7, false)));
    assert_eq!(admin.ask(&mut shared, entry(8, 31, 0).dword(10, 1 | 77 << 16)).value, 1);
    assert_eq!(admin.ask(&mut shared, entry(0x18, 32, 0)).status, OK, "keep alive");
}

#[test]
fn a_host_hears_that_its_namespace_has_grown_and_which_one() {
    let mut shared = Shared::default();
    let mut admin = admin(&mut shared);
    let id = admin.queue.queue().unwrap().controller;
    let page = admin.get(&mut shared, identify(1, 0)).unwrap();
    assert_eq!(page[93] & 1, 1, "notices of namespaces are offered");
    let changed = |admin: &mut Server, shared: &mut Shared, retains: u32| {
        let page = admin.get(shared, log(4 | retains << 15, 4096, 0)).unwrap();
        page.chunks_exact(4)
            .map(|id| u32::from_le_bytes(id.try_into().unwrap()))
            .take_while(|id| *id > 0)
            .collect::<Vec<_>>()
    };
    admin.feed(&mut shared, &host::command(entry(0x0C, 20, 0), &[], PLAIN));
    let blocks = shared.target.subsystems().next().unwrap().namespaces[0].blocks;
    // It did not ask to hear of it, and finds it all the same.
    shared.target.resize(0, blocks + 1);
    assert!(shared.target.events(id, &shared.cards).is_empty());
    assert_eq!(changed(&mut admin, &mut shared, 0), [1]);
    assert_eq!(admin.ask(&mut shared, set(0x0B, 1 << 8)).status, OK);
    shared.target.resize(0, blocks + 1);
    assert!(shared.target.events(id, &shared.cards).is_empty(), "the size is what it was");
    shared.target.resize(0, blocks + 2);
    assert_eq!(shared.target.events(id, &shared.cards), [(20, 2 | 4 << 16)]);
    assert_eq!([changed(&mut admin, &mut shared, 1), changed(&mut admin, &mut shared, 0)], [[1], [1]]);
    assert!(changed(&mut admin, &mut shared, 0).is_empty());
}

/// NVMe Base 2.0, section 5.2: type notice, information F0h, log page 70h, for hosts that have set bit 31 of the feature.
#[test]
fn hosts_of_a_discovery_controller_hear_of_subsystems_that_come_and_go() {
    let mut shared = Shared::default();
    let mut silent = Server::admin(&mut shared, host::DISCOVERY, PLAIN);
    let mut server = Server::admin(&mut shared, host::DISCOVERY, PLAIN);
    assert_eq!(u32_at(&server.get(&mut shared, identify(1, 0)).unwrap(), 92), 1 << 31, "OAES");
    assert_eq!(server.ask(&mut shared, set(0x0B, 1 << 31)).status, OK);
    for id in [1, 2] {
        server.feed(&mut shared, &host::command(entry(0x0C, id, 0), &[], PLAIN));
        silent.feed(&mut shared, &host::command(entry(0x0C, id, 0), &[], PLAIN));
    }
    let told = |shared: &mut Shared, server: &Server| {
        let id = server.queue.queue().unwrap().controller;
        shared.target.events(id, &shared.cards)
    };
    let mut more = subsystem();
    (more.nqn, more.namespaces[0].card) = ("nqn.more".into(), 1);
    shared.target.add(more);
    assert_eq!(told(&mut shared, &server), [(1, 0x70_F0_02)]);
    let page = server.get(&mut shared, log(0x70, 1024, 0)).unwrap();
    assert_eq!((u32_at(&page, 0), u32_at(&page, 8)), (2, 2), "generation, records");
    shared.target.retire(1);
    // A card that there was not.
    shared.target.retire(7);
    assert_eq!(told(&mut shared, &server), [(2, 0x70_F0_02)]);
    assert!(told(&mut shared, &silent).is_empty());
}

#[test]
fn a_discovery_controller_tells_of_the_subsystems_and_of_nothing_else() {
    let mut shared = Shared::default();
    let mut server = Server::admin(&mut shared, host::DISCOVERY, PLAIN);
    let page = server.get(&mut shared, identify(1, 0)).unwrap();
    assert_eq!((page[111], &page[768..768 + 36]), (2, host::DISCOVERY.as_bytes()));
    let page = server.get(&mut shared, log(0x70, 2048, 0)).unwrap();
    assert_eq!((u32_at(&page, 0), u32_at(&page, 8), page[16]), (1, 1, 0), "generation, records, format");
    let record = &page[1024..];
    assert_eq!(record[..4], [3, 1, 2, 6], "TCP, IPv4, an NVM subsystem");
    assert_eq!(&record[32..36], b"4420");
    assert_eq!(&record[256..256 + host::SUBSYSTEM.len()], host::SUBSYSTEM.as_bytes());
    assert_eq!(&record[512..522], b"192.0.2.7 ");
    for (entry, status) in [
        (identify(0, 1), INVALID_FIELD),
        (identify(2, 0), INVALID_FIELD),
        (log(2, 512, 0), INVALID_LOG_PAGE),
        (get(7), INVALID_FIELD),
        (entry(8, 1, 0), INVALID_OPCODE),
        (entry(0x15, 1, 0), INVALID_OPCODE),
    ] {
        assert_eq!(server.get(&mut shared, entry).unwrap_err().status, status, "{entry:?}");
    }
}
