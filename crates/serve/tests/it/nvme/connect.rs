//! Connect, properties, and the life of a controller (NVMe Base 2.0, sections 3.1.3, 6.3 and 6.4).

use super::common::host::{self, Digests, ENABLE, Entry, Response, connect_entry, names};
use super::common::server::{Server, Shared};

const PLAIN: Digests = Digests { header: false, data: false };
const OK: (u8, u8, bool) = (0, 0, false);
const INVALID_PARAMETERS: (u8, u8, bool) = (1, 0x82, true);
const SEQUENCE: (u8, u8, bool) = (0, 0x0C, true);

fn try_connect(shared: &mut Shared, entry: Entry, data: &[u8]) -> Response {
    let mut server = Server::initialized(shared, PLAIN);
    let response = server.one(shared, &host::command(entry, data, PLAIN));
    server.end(shared);
    response
}

/// Where the parameter is that a Connect was refused for: its offset, and whether in the data.
fn at(offset: u64, in_data: bool) -> u64 {
    offset | u64::from(in_data) << 16
}

#[test]
fn an_admin_queue_is_refused_with_the_parameter_that_is_wrong() {
    let mut other_host = names(0xFFFF, host::SUBSYSTEM, host::HOST);
    other_host[..16].fill(0);
    let unended = vec![b'n'; 1024];
    let fine = names(0xFFFF, host::SUBSYSTEM, host::HOST);
    let entry = || connect_entry(0, 32);
    let cases = [
        ("an unknown format", entry().byte(40, 1), &fine, (1, 0x80, true), 0),
        ("a queue of one entry", connect_entry(0, 1), &fine, INVALID_PARAMETERS, at(44, false)),
        ("a queue that is too long", connect_entry(0, 129), &fine, INVALID_PARAMETERS, at(44, false)),
        (
            "an unknown subsystem",
            entry(),
            &names(0xFFFF, "nqn.2014-08.org.example:x", host::HOST),
            INVALID_PARAMETERS,
            at(256, true),
        ),
        ("names without an end", entry(), &unended, INVALID_PARAMETERS, at(256, true)),
        ("no name of a host", entry(), &names(0xFFFF, host::SUBSYSTEM, ""), INVALID_PARAMETERS, at(512, true)),
        ("no host identifier", entry(), &other_host, INVALID_PARAMETERS, at(0, true)),
        ("a static controller", entry(), &names(0xFFFE, host::SUBSYSTEM, host::HOST), INVALID_PARAMETERS, at(16, true)),
        ("a certain controller", entry(), &names(1, host::SUBSYSTEM, host::HOST), INVALID_PARAMETERS, at(16, true)),
        ("data that are too short", entry().capsule(0, 512), &fine, (0, 0x0F, true), 0),
        ("data outside of the capsule", entry().capsule(16, 1024), &fine, (0, 0x16, true), 0),
        ("an offset that overflows", entry().capsule(u64::MAX, 1024), &fine, (0, 0x16, true), 0),
        ("data in PDUs of their own", entry().transport(1024), &fine, (0, 0x11, true), 0),
        ("a PRP", entry().byte(1, 0), &fine, (0, 0x02, true), 0),
        ("a command before Connect", host::entry(6, 0, 0), &fine, SEQUENCE, 0),
    ];
    let mut shared = Shared::default();
    for (what, entry, data, status, value) in cases {
        let response = try_connect(&mut shared, entry, data);
        assert_eq!((response.status, response.value), (status, value), "{what}");
        assert_eq!(shared.target.controllers(), 0, "{what}");
    }
    assert_eq!(try_connect(&mut shared, entry(), &fine).status, OK);
}

#[test]
fn an_io_queue_belongs_to_the_host_that_has_the_controller() {
    let mut shared = Shared::default();
    let mut admin = Server::initialized(&mut shared, PLAIN);
    let connected = admin.one(&mut shared, &host::connect(0, 32, 0xFFFF, host::SUBSYSTEM, PLAIN));
    let id = connected.value as u16;
    let fine = names(id, host::SUBSYSTEM, host::HOST);
    let entry = || connect_entry(1, 32);
    assert_eq!(try_connect(&mut shared, entry(), &fine).status, SEQUENCE, "the controller is not enabled");
    admin.ask(&mut shared, host::property_set(1, 0x14, ENABLE));
    let mut other_id = fine.clone();
    other_id[0] ^= 1;
    let cases = [
        ("another controller", entry(), &names(id + 1, host::SUBSYSTEM, host::HOST), at(16, true)),
        ("a discovery controller", entry(), &names(id, host::DISCOVERY, host::HOST), at(16, true)),
        ("another host", entry(), &names(id, host::SUBSYSTEM, "nqn.2014-08.org.example:h"), at(512, true)),
        ("another host identifier", entry(), &other_id, at(0, true)),
        ("a queue beyond the last", connect_entry(129, 32), &fine, at(42, false)),
    ];
    for (what, entry, data, value) in cases {
        let response = try_connect(&mut shared, entry, data);
        assert_eq!((response.status, response.value), (INVALID_PARAMETERS, value), "{what}");
    }
    let mut io = Server::initialized(&mut shared, PLAIN);
    let response = io.one(&mut shared, &host::command(entry(), &fine, PLAIN));
    assert_eq!((response.status, response.value), (OK, id.into()));
    assert_eq!(try_connect(&mut shared, entry(), &fine).status, SEQUENCE, "the queue is there already");
    assert_eq!(io.one(&mut shared, &host::command(connect_entry(2, 32), &fine, PLAIN)).status, SEQUENCE);
    // It can come again when it has gone.
    io.end(&mut shared);
    assert_eq!(try_connect(&mut shared, entry(), &fine).status, OK);
}

#[test]
fn properties_say_what_the_controller_can_and_how_it_stands() {
    let mut shared = Shared::default();
    let mut admin = Server::initialized(&mut shared, PLAIN);
    admin.one(&mut shared, &host::connect(0, 32, 0xFFFF, host::SUBSYSTEM, PLAIN));
    let get = |admin: &mut Server, shared: &mut Shared, offset, wide| {
        let response = admin.ask(shared, host::property_get(7, offset, wide));
        (response.status == OK).then_some(response.value)
    };
    let capabilities = get(&mut admin, &mut shared, 0, true).unwrap();
    // 128 entries, contiguous queues, the NVM command set.
    assert_eq!((capabilities & 0xFFFF, capabilities >> 16 & 1, capabilities >> 37 & 1), (127, 1, 1));
    assert_eq!(get(&mut admin, &mut shared, 8, false), Some(0x0002_0000));
    assert_eq!(get(&mut admin, &mut shared, 0x1C, false), Some(0));
    for (offset, wide) in [(0, false), (8, true), (0x14, true), (0x20, false), (0x24, false), (4, false)] {
        assert_eq!(get(&mut admin, &mut shared, offset, wide), None, "{offset:#x}");
    }
    let set = |admin: &mut Server, shared: &mut Shared, offset, value| {
        admin.ask(shared, host::property_set(8, offset, value)).status
    };
    assert_eq!(set(&mut admin, &mut shared, 0x1C, 0), (0, 2, true));
    assert_eq!(admin.ask(&mut shared, host::entry(6, 0, 0).dword(10, 1).transport(4096)).status, SEQUENCE);
    // Sizes of entries that there are not, and pages of 8 KiB: a fatal status, from which a reset leads out.
    for wrong in [1, ENABLE | 1 << 7, ENABLE | 1 << 4, ENABLE | 1 << 11] {
        assert_eq!(set(&mut admin, &mut shared, 0x14, wrong), OK);
        assert_eq!(get(&mut admin, &mut shared, 0x1C, false), Some(2), "{wrong:#x}");
        assert_eq!(set(&mut admin, &mut shared, 0x14, 0), OK);
        assert_eq!(get(&mut admin, &mut shared, 0x1C, false), Some(0));
    }
    assert_eq!(set(&mut admin, &mut shared, 0x14, ENABLE), OK);
    assert_eq!(get(&mut admin, &mut shared, 0x1C, false), Some(1));
    assert_eq!(get(&mut admin, &mut shared, 0x14, false), Some(ENABLE));
    // A shutdown makes durable what was answered, and then says that it is complete.
    let flushes = shared.flushes;
    assert_eq!(set(&mut admin, &mut shared, 0x14, ENABLE | 1 << 14), OK);
    assert_eq!(get(&mut admin, &mut shared, 0x1C, false), Some(1 | 2 << 2));
    assert_eq!(shared.flushes, flushes + 1);
}

#[test]
fn the_queues_of_a_controller_end_with_its_reset_and_with_its_admin_queue() {
    let mut shared = Shared::default();
    let (mut admin, _io) = Server::pair(&mut shared, PLAIN);
    admin.ask(&mut shared, host::property_set(1, 0x14, 0));
    // Connections 1 and 2.
    assert_eq!(std::mem::take(&mut shared.ended), [2]);
    let (mut admin, mut io) = Server::pair(&mut shared, PLAIN);
    admin.end(&mut shared);
    assert_eq!(std::mem::take(&mut shared.ended), [4]);
    assert_eq!(shared.target.controllers(), 1);
    io.end(&mut shared);
    assert!(shared.ended.is_empty());
}

#[test]
fn a_host_with_no_need_of_flow_control_gets_data_without_a_response() {
    let mut shared = Shared::default();
    let admin = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
    let controller = admin.queue.queue().unwrap().controller;
    let mut io = Server::initialized(&mut shared, PLAIN);
    let names = names(controller, host::SUBSYSTEM, host::HOST);
    let connected = io.one(&mut shared, &host::command(connect_entry(1, 32).byte(46, 4), &names, PLAIN));
    assert_eq!((connected.status, connected.head), (OK, 0xFFFF), "the controller agrees");
    let before = io.out.len();
    io.get(&mut shared, host::entry(2, 1, 1).blocks(0, 1).transport(4096)).unwrap();
    assert_eq!(io.out.len() - before, 24 + 4096);
}

#[test]
fn the_head_of_the_queue_goes_round() {
    let mut shared = Shared::default();
    let admin = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
    let mut io = Server::initialized(&mut shared, PLAIN);
    let controller = admin.queue.queue().unwrap().controller;
    let connected = io.one(&mut shared, &host::connect(1, 4, controller, host::SUBSYSTEM, PLAIN));
    let heads: Vec<u16> = (0..6).map(|id| io.ask(&mut shared, host::entry(0, id, 1)).head).collect();
    assert_eq!((connected.head, &heads[..]), (1, &[2, 3, 0, 1, 2, 3][..]));
}
