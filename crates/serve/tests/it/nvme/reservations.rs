//! Reservations, line by line against NVMe Base 2.0, sections 7.2 to 7.5 and 8.19.

use super::common::host::{self, Digests, Entry, Pdu, connect_entry, entry, names};
use super::common::server::{Server, Shared, subsystem};
use serve::nvme::{Reservations, Target};

const PLAIN: Digests = Digests { header: false, data: false };
const OK: (u8, u8, bool) = (0, 0, false);
const CONFLICT: (u8, u8, bool) = (0, 0x83, true);
const INVALID_FIELD: (u8, u8, bool) = (0, 2, true);

const WRITE_EXCLUSIVE: u32 = 1;
const EXCLUSIVE_ACCESS: u32 = 2;

/// A command, and its keys.
type Reserve = (Entry, Vec<u8>);

/// A host with an admin and an I/O queue.
struct Host {
    admin: Server,
    io: Server,
}

/// A Connect of a host, by the last byte of its identifier.
fn of_host(number: u8, controller: u16, queue: u16) -> Vec<u8> {
    let mut data = names(controller, host::SUBSYSTEM, host::HOST);
    data[15] = number;
    host::command(connect_entry(queue, 32), &data, PLAIN)
}

fn host(shared: &mut Shared, number: u8) -> Host {
    let mut admin = Server::initialized(shared, PLAIN);
    let controller = admin.one(shared, &of_host(number, 0xFFFF, 0)).value as u16;
    admin.ask(shared, host::property_set(1, 0x14, host::ENABLE));
    let mut io = Server::initialized(shared, PLAIN);
    assert_eq!(io.one(shared, &of_host(number, controller, 1)).status, OK);
    Host { admin, io }
}

fn keys(first: u64, second: u64) -> Vec<u8> {
    [first.to_le_bytes(), second.to_le_bytes()].concat()
}

fn register(action: u32, key: u64, new: u64) -> Reserve {
    (entry(0x0D, 1, 1).dword(10, action), keys(key, new))
}

fn acquire(action: u32, kind: u32, key: u64, preempted: u64) -> Reserve {
    (entry(0x11, 2, 1).dword(10, action | kind << 8), keys(key, preempted))
}

fn release(action: u32, kind: u32, key: u64) -> Reserve {
    (entry(0x15, 3, 1).dword(10, action | kind << 8), keys(key, 0)[..8].to_vec())
}

/// The command with more bits in its dword 10.
fn with_bits((entry, data): Reserve, bits: u32) -> Reserve {
    let dword = u32::from_le_bytes(entry.0[40..44].try_into().unwrap());
    (entry.dword(10, dword | bits), data)
}

impl Host {
    fn reserve(&mut self, shared: &mut Shared, (entry, data): Reserve) -> (u8, u8, bool) {
        let bytes = host::command(entry.capsule(0, data.len() as u32), &data, PLAIN);
        self.io.one(shared, &bytes).status
    }

    /// Whether it may read, and write.
    fn may(&mut self, shared: &mut Shared) -> (bool, bool) {
        self.io.renew(shared);
        let read = self.io.get(shared, entry(2, 10, 1).blocks(0, 1).transport(4096));
        let write = host::command(entry(1, 11, 1).blocks(0, 1).capsule(0, 4096), &[1; 4096], PLAIN);
        let write = self.io.one(shared, &write).status;
        assert!(write == OK || write == CONFLICT);
        assert!(read.as_ref().is_ok_and(|data| data.len() == 4096) || read.as_ref().unwrap_err().status == CONFLICT);
        (read.is_ok(), write == OK)
    }

    fn report(&mut self, shared: &mut Shared) -> Report {
        let page = self.io.get(shared, entry(0x0E, 12, 1).dword(10, 1023).dword(11, 1).transport(4096)).unwrap();
        let count = usize::from(u16::from_le_bytes([page[5], page[6]]));
        let entries = page[64..].chunks(64).take(count).map(|entry| {
            let key = u64::from_le_bytes(entry[8..16].try_into().unwrap());
            (entry[31], key, entry[2] & 1 != 0)
        });
        Report { generation: page[0].into(), kind: page[4].into(), persists: page[9] != 0, entries: entries.collect() }
    }

    /// The types of the notices that wait, which are read.
    fn notices(&mut self, shared: &mut Shared) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let page = self.admin.get(shared, notice_log()).unwrap();
            if page[8] == 0 {
                return all;
            }
            assert_eq!(page[12], 1, "the namespace");
            all.push(page[8]);
        }
    }
}

fn notice_log() -> Entry {
    entry(2, 9, 1).dword(10, 0x80 | 15 << 16).transport(64)
}

#[derive(Debug, PartialEq, Eq)]
struct Report {
    generation: u32,
    kind: u32,
    persists: bool,
    /// The last byte of each host, its key, and whether it holds the reservation.
    entries: Vec<(u8, u64, bool)>,
}

#[test]
fn each_type_keeps_out_whom_it_is_to_keep_out() {
    // By type: what a registered host and another one may do (read, write).
    let all = (true, true);
    for (kind, registrant, other) in [
        (1, (true, false), (true, false)),
        (2, (false, false), (false, false)),
        (3, all, (true, false)),
        (4, all, (false, false)),
        (5, all, (true, false)),
        (6, all, (false, false)),
    ] {
        let mut shared = Shared::default();
        let [mut a, mut b, mut c] = [1, 2, 3].map(|number| host(&mut shared, number));
        assert_eq!(a.reserve(&mut shared, register(0, 0, 0xA)), OK);
        assert_eq!(b.reserve(&mut shared, register(0, 0, 0xB)), OK);
        for of in [&mut a, &mut b, &mut c] {
            assert_eq!(of.may(&mut shared), all, "nobody holds it");
        }
        assert_eq!(a.reserve(&mut shared, acquire(0, kind, 0xA, 0)), OK);
        let found = [&mut a, &mut b, &mut c].map(|of| of.may(&mut shared));
        assert_eq!(found, [all, registrant, other], "type {kind}");
        let of_all = kind >= 5;
        let report = c.report(&mut shared);
        assert_eq!((report.kind, report.entries), (kind, vec![(1, 0xA, true), (2, 0xB, of_all)]));
        // A holder can release it, by its type only.
        assert_eq!(a.reserve(&mut shared, release(0, kind % 6 + 1, 0xA)), INVALID_FIELD);
        assert_eq!(b.reserve(&mut shared, release(0, kind, 0xB)), OK);
        assert_eq!(c.may(&mut shared).1, of_all, "only a holder's release counts");
        assert_eq!(a.reserve(&mut shared, release(0, kind, 0xA)), OK);
        assert_eq!(c.may(&mut shared), all);
    }
}

#[test]
fn each_command_that_is_refused_has_its_status() {
    let mut shared = Shared::default();
    let [mut a, mut b, mut c] = [1, 2, 3].map(|number| host(&mut shared, number));
    assert_eq!(a.reserve(&mut shared, register(0, 0, 0xA)), OK);
    assert_eq!(a.reserve(&mut shared, acquire(0, WRITE_EXCLUSIVE, 0xA, 0)), OK);
    assert_eq!(b.reserve(&mut shared, register(0, 0, 0xB)), OK);
    let generation = a.report(&mut shared).generation;
    let ignoring = |command| with_bits(command, 8);
    for (what, of, command, status) in [
        ("another key of a registered host", 2, register(0, 0, 0xBB), CONFLICT),
        ("the same key again", 2, register(0, 0, 0xB), OK),
        ("an unknown action", 2, register(3, 0, 0xB), INVALID_FIELD),
        ("an unknown persistence", 2, with_bits(register(0, 0, 0xB), 1 << 30), INVALID_FIELD),
        ("a new key without the old one", 2, register(2, 0x77, 0xBB), CONFLICT),
        ("a new key of a host that is not registered", 3, register(2, 0, 0xC), CONFLICT),
        ("an end of no registration", 3, register(1, 0, 0), CONFLICT),
        ("an end with a wrong key", 2, register(1, 0x77, 0), CONFLICT),
        ("an acquisition without a registration", 3, acquire(0, 1, 0xC, 0), CONFLICT),
        ("an acquisition with a wrong key", 2, acquire(0, 1, 0xA, 0), CONFLICT),
        ("an acquisition of what another holds", 2, acquire(0, 1, 0xB, 0), CONFLICT),
        ("another type by the holder", 1, acquire(0, EXCLUSIVE_ACCESS, 0xA, 0), CONFLICT),
        ("the same by the holder", 1, acquire(0, 1, 0xA, 0), OK),
        ("an unknown type", 2, acquire(0, 7, 0xB, 0), INVALID_FIELD),
        ("no type", 2, acquire(0, 0, 0xB, 0), INVALID_FIELD),
        ("an unknown way to acquire", 2, acquire(3, 1, 0xB, 0), INVALID_FIELD),
        ("an acquisition that ignores the key", 2, ignoring(acquire(0, 1, 0xB, 0)), INVALID_FIELD),
        ("a preemption of a key that nobody has", 2, acquire(1, 1, 0xB, 0x77), CONFLICT),
        ("a preemption of all where one holds it", 2, acquire(1, 1, 0xB, 0), INVALID_FIELD),
        ("a release without a registration", 3, release(0, 1, 0), CONFLICT),
        ("a release with a wrong key", 1, release(0, 1, 0xB), CONFLICT),
        ("a release of what another holds", 2, release(0, 1, 0xB), OK),
        ("an unknown way to release", 1, release(2, 1, 0xA), INVALID_FIELD),
        ("a clear without a registration", 3, release(1, 0, 0), CONFLICT),
    ] {
        let of = [&mut a, &mut b, &mut c].into_iter().nth(of - 1).unwrap();
        assert_eq!(of.reserve(&mut shared, command), status, "{what}");
    }
    let report = c.report(&mut shared);
    assert_eq!(report.entries, [(1, 0xA, true), (2, 0xB, false)], "nothing has changed");
    assert!(report.generation > generation, "a registration counts also when its key stays");
    // Structures that are too short, or in a form without room for the identifiers.
    let short = host::command(entry(0x0D, 1, 1).capsule(0, 8), &[0; 8], PLAIN);
    assert_eq!(a.io.one(&mut shared, &short).status, (0, 0x0F, true));
    let plain = entry(0x0E, 1, 1).dword(10, 15).transport(64);
    assert_eq!(a.io.get(&mut shared, plain).unwrap_err().status, (0, 0x24, true));
    let elsewhere = entry(0x0E, 1, 9).dword(10, 15).dword(11, 1).transport(64);
    assert_eq!(a.io.get(&mut shared, elsewhere).unwrap_err().status, (0, 0x0B, true));
    // A key can be ignored by a Register, whose keys may also come in a data PDU.
    assert_eq!(b.reserve(&mut shared, ignoring(register(2, 0, 0xBB))), OK);
    assert_eq!(c.report(&mut shared).entries[1], (2, 0xBB, false));
    let (replace, data) = register(2, 0xBB, 0xBBB);
    b.io.feed(&mut shared, &host::command(replace.transport(16), &[], PLAIN));
    let answers = b.io.answers();
    let [Pdu::Ready { id, tag, .. }] = answers[..] else { panic!("{answers:?}") };
    assert_eq!(b.io.one(&mut shared, &host::data(id, tag, 0, &data, true, PLAIN)).status, OK);
    assert_eq!(c.report(&mut shared).entries[1], (2, 0xBBB, false));
}

#[test]
fn a_preemption_takes_registrations_and_reservations_and_those_who_lose_them_hear_of_it() {
    let mut shared = Shared::default();
    let [mut a, mut b, mut c] = [1, 2, 3].map(|number| host(&mut shared, number));
    for (of, key) in [(&mut a, 0xA), (&mut b, 0xB), (&mut c, 0xC)] {
        assert_eq!(of.reserve(&mut shared, register(0, 0, key)), OK);
    }
    assert_eq!(a.reserve(&mut shared, acquire(0, EXCLUSIVE_ACCESS, 0xA, 0)), OK);
    // A registration alone: the reservation stays.
    assert_eq!(b.reserve(&mut shared, acquire(1, WRITE_EXCLUSIVE, 0xB, 0xC)), OK);
    assert_eq!(a.report(&mut shared).entries, [(1, 0xA, true), (2, 0xB, false)]);
    assert_eq!((a.notices(&mut shared), c.notices(&mut shared)), (vec![], vec![1]));
    // The holder: b has it from now on.
    assert_eq!(b.reserve(&mut shared, acquire(2, WRITE_EXCLUSIVE, 0xB, 0xA)), OK);
    let report = c.report(&mut shared);
    assert_eq!((report.kind, report.entries), (WRITE_EXCLUSIVE, vec![(2, 0xB, true)]));
    assert_eq!(a.notices(&mut shared), [1]);
    // It waits for commands of those that are kept out, and wakes the admin queue of a.
    let reserved = shared.reserved.last().unwrap();
    assert_eq!((&reserved.woken[..], reserved.waits_in, reserved.new_terms), (&[1][..], Some(0), true));
    assert_eq!(a.may(&mut shared), (true, false));
    // Types of all: the key 0 names all others.
    for (of, key) in [(&mut a, 0xA), (&mut c, 0xC)] {
        assert_eq!(of.reserve(&mut shared, register(0, 0, key)), OK);
    }
    assert_eq!(b.reserve(&mut shared, release(0, WRITE_EXCLUSIVE, 0xB)), OK);
    assert_eq!(b.reserve(&mut shared, acquire(0, 6, 0xB, 0)), OK);
    assert_eq!(a.reserve(&mut shared, acquire(1, WRITE_EXCLUSIVE, 0xA, 0)), OK);
    assert_eq!(c.report(&mut shared).entries, [(1, 0xA, true)]);
    assert_eq!([b.notices(&mut shared), c.notices(&mut shared)], [[1], [1]]);
    // A mask keeps notices away, of its kind only.
    assert_eq!(b.reserve(&mut shared, register(0, 0, 0xB)), OK);
    let masked = entry(9, 1, 1).dword(10, 0x82).dword(11, 1 << 1);
    assert_eq!(b.admin.ask(&mut shared, masked).status, OK);
    assert_eq!(b.admin.ask(&mut shared, entry(0x0A, 1, 1).dword(10, 0x82)).value, 1 << 1);
    assert_eq!(a.reserve(&mut shared, acquire(1, WRITE_EXCLUSIVE, 0xA, 0xB)), OK);
    assert!(b.notices(&mut shared).is_empty());
    // A clear ends all, and all others hear of it.
    assert_eq!(b.reserve(&mut shared, register(0, 0, 0xB)), OK);
    assert_eq!(a.reserve(&mut shared, release(1, 0, 0xA)), OK);
    assert_eq!(b.notices(&mut shared), [3]);
    assert_eq!(c.report(&mut shared).entries, []);
    assert_eq!(c.may(&mut shared), (true, true));
}

#[test]
fn the_end_of_a_registration_ends_the_reservation_that_hangs_on_it() {
    // By type: whether the reservation stays when the host that acquired it goes, and whether others hear of its end.
    let cases =
        [(1, false, false), (2, false, false), (3, false, true), (4, false, true), (5, true, false), (6, true, false)];
    for (kind, stays, hear) in cases {
        let mut shared = Shared::default();
        let [mut a, mut b] = [1, 2].map(|number| host(&mut shared, number));
        assert_eq!(a.reserve(&mut shared, register(0, 0, 0xA)), OK);
        assert_eq!(b.reserve(&mut shared, register(0, 0, 0xB)), OK);
        assert_eq!(a.reserve(&mut shared, acquire(0, kind, 0xA, 0)), OK);
        assert_eq!(a.reserve(&mut shared, register(1, 0xA, 0)), OK);
        assert_eq!(b.report(&mut shared).kind, if stays { kind } else { 0 }, "type {kind}");
        assert_eq!(b.notices(&mut shared), if hear { vec![2] } else { vec![] }, "type {kind}");
        assert_eq!(b.reserve(&mut shared, register(1, 0xB, 0)), OK);
        assert_eq!(b.report(&mut shared).kind, 0, "the last one of those that hold it");
    }
}

#[test]
fn events_tell_of_notices_one_by_one() {
    let mut shared = Shared::default();
    let [mut a, mut b, mut c] = [1, 2, 3].map(|number| host(&mut shared, number));
    for (of, key) in [(&mut a, 0xA), (&mut b, 0xB), (&mut c, 0xC)] {
        assert_eq!(of.reserve(&mut shared, register(0, 0, key)), OK);
    }
    (50..52).for_each(|id| b.admin.feed(&mut shared, &host::command(entry(0x0C, id, 0), &[], PLAIN)));
    assert_eq!(a.reserve(&mut shared, acquire(1, 1, 0xA, 0xB)), OK);
    assert_eq!(b.reserve(&mut shared, register(0, 0, 0xB)), OK);
    assert_eq!(c.reserve(&mut shared, acquire(1, 1, 0xC, 0xB)), OK);
    let id = b.admin.queue.queue().unwrap().controller;
    let event = 6 | 0x80 << 16;
    assert_eq!(shared.target.events(id, &shared.cards), [(50, event)]);
    let page = b.admin.get(&mut shared, notice_log()).unwrap();
    assert_eq!((page[0], page[8], page[9]), (1, 1, 1), "the first notice, and one more");
    assert_eq!(shared.target.events(id, &shared.cards), [(51, event)]);
    let page = b.admin.get(&mut shared, notice_log()).unwrap();
    assert_eq!((page[0], page[8], page[9]), (2, 1, 0));
    assert!(shared.target.events(id, &shared.cards).is_empty());
}

#[test]
fn a_host_that_lost_its_right_writes_nothing_more() {
    let mut shared = Shared::default();
    let [mut a, mut b] = [1, 2].map(|number| host(&mut shared, number));
    // A write and a list of trims whose data have not come.
    a.io.feed(&mut shared, &host::command(entry(1, 60, 1).blocks(0, 2).transport(8192), &[], PLAIN));
    let trim = entry(9, 61, 1).dword(10, 0).dword(11, 4);
    a.io.feed(&mut shared, &host::command(trim.transport(16), &[], PLAIN));
    let answers = a.io.answers();
    let [Pdu::Ready { tag: first, .. }, Pdu::Ready { tag: second, .. }] = answers[..] else { panic!("{answers:?}") };
    a.io.feed(&mut shared, &host::data(60, first, 0, &[9; 4096], false, PLAIN));
    assert_eq!(b.reserve(&mut shared, register(0, 0, 0xB)), OK);
    assert_eq!(b.reserve(&mut shared, acquire(0, WRITE_EXCLUSIVE, 0xB, 0)), OK);
    a.io.renew(&shared);
    shared.card.fill(7);
    a.io.feed(&mut shared, &host::data(60, first, 4096, &[9; 4096], true, PLAIN));
    let list = [&[0; 4][..], &8u32.to_le_bytes(), &0u64.to_le_bytes()].concat();
    a.io.feed(&mut shared, &host::data(61, second, 0, &list, true, PLAIN));
    let answers = a.io.answers();
    let [Pdu::Response(first), Pdu::Response(second)] = answers[..] else { panic!("{answers:?}") };
    assert_eq!([(first.id, first.status), (second.id, second.status)], [(60, CONFLICT), (61, CONFLICT)]);
    assert!(shared.card.iter().all(|byte| *byte == 7));
}

#[test]
fn reservations_survive_a_loss_of_power_where_they_are_asked_to() {
    let mut shared = Shared::default();
    let mut a = host(&mut shared, 1);
    assert_eq!(a.reserve(&mut shared, register(0, 0, 0xA)), OK);
    assert!(shared.cards.1.borrow().is_empty(), "nobody has asked for it");
    assert_eq!(a.reserve(&mut shared, with_bits(register(0, 0, 0xA), 3 << 30)), OK);
    assert_eq!(a.reserve(&mut shared, acquire(0, EXCLUSIVE_ACCESS, 0xA, 0)), OK);
    assert_eq!(a.admin.ask(&mut shared, entry(0x0A, 1, 1).dword(10, 0x83)).value, 1);
    let kept = shared.cards.1.borrow().clone();
    let restore = |kept: &[u8]| {
        let mut shared = Shared::default();
        shared.target.restore_reservations(0, &Reservations::of_bytes(kept).unwrap());
        shared
    };
    let mut after = restore(&kept);
    let mut b = host(&mut after, 2);
    let report = b.report(&mut after);
    assert_eq!((report.kind, report.persists, report.entries), (EXCLUSIVE_ACCESS, true, vec![(1, 0xA, true)]));
    assert_eq!(b.may(&mut after), (false, false));
    assert_eq!(host(&mut after, 1).may(&mut after), (true, true));
    // A change that can't be kept did not happen.
    after.cards.2.set(true);
    let mut again = host(&mut after, 1);
    assert_eq!(again.reserve(&mut after, release(0, EXCLUSIVE_ACCESS, 0xA)), (0, 6, false));
    assert_eq!(b.may(&mut after), (false, false));
    // Any damage is found.
    for at in 0..kept.len() {
        let mut damaged = kept.clone();
        damaged[at] ^= 1;
        assert_eq!(Reservations::of_bytes(&damaged), None, "byte {at}");
        assert_eq!(Reservations::of_bytes(&kept[..at]), None, "{at} bytes");
    }
    // Nothing of it survives when that is not asked for any more.
    assert_eq!(a.reserve(&mut shared, with_bits(register(2, 0xA, 0xA), 2 << 30)), OK);
    let kept = shared.cards.1.borrow().clone();
    let mut after = restore(&kept);
    assert_eq!(host(&mut after, 2).report(&mut after).entries, []);
}

#[test]
fn a_card_without_a_place_for_them_keeps_no_reservations() {
    let mut of = subsystem();
    of.namespaces[0].keeps_reservations = false;
    let mut shared = Shared { target: Target::new(vec![of]), ..Shared::default() };
    let mut a = host(&mut shared, 1);
    assert_eq!(a.reserve(&mut shared, with_bits(register(0, 0, 0xA), 3 << 30)), INVALID_FIELD);
    assert_eq!(a.admin.ask(&mut shared, entry(9, 1, 1).dword(10, 0x83).dword(11, 1)).status, INVALID_FIELD);
    let page = a.admin.get(&mut shared, entry(6, 1, 1).dword(10, 0).transport(4096)).unwrap();
    assert_eq!(page[31], 0xFE);
    assert_eq!(a.report(&mut shared).entries, []);
}
