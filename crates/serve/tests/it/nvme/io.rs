//! Commands of I/O queues, one line each, against NVM Command Set 1.0, section 3.

use super::common::host::{self, Digests, Entry, Pdu, entry};
use super::common::server::{CARD_BYTES, Server, Shared, subsystem};
use serve::nvme::{Close, Failure, Target};

const PLAIN: Digests = Digests { header: false, data: false };
const OK: (u8, u8, bool) = (0, 0, false);
const INVALID_FIELD: (u8, u8, bool) = (0, 2, true);
const INVALID_NAMESPACE: (u8, u8, bool) = (0, 0x0B, true);
const DATA_LENGTH: (u8, u8, bool) = (0, 0x0F, true);
const DESCRIPTOR_TYPE: (u8, u8, bool) = (0, 0x11, true);
const SGL_OFFSET: (u8, u8, bool) = (0, 0x16, true);
const OUT_OF_RANGE: (u8, u8, bool) = (0, 0x80, true);
const COMPARE_FAILURE: (u8, u8, bool) = (2, 0x85, true);

const LAST: u64 = CARD_BYTES as u64 / 4096 - 1;

fn read(first: u64, count: u32) -> Entry {
    entry(2, 40, 1).blocks(first, count).transport(count * 4096)
}

fn write(first: u64, count: u32) -> Entry {
    entry(1, 41, 1).blocks(first, count).capsule(0, count * 4096)
}

fn ranges(list: &[(u32, u64)]) -> Vec<u8> {
    list.iter()
        .flat_map(|(blocks, first)| [&[0; 4][..], &blocks.to_le_bytes(), &first.to_le_bytes()].concat())
        .collect()
}

fn trim(count: u32, bytes: u32) -> Entry {
    entry(9, 42, 1).dword(10, count - 1).dword(11, 4).capsule(0, bytes)
}

#[test]
fn each_command_that_is_refused_has_its_status() {
    let block = vec![1; 4096];
    let none: Vec<u8> = Vec::new();
    let far = ranges(&[(1, 0), (2, LAST)]);
    let long = vec![0; 4112];
    let overflows = ranges(&[(2, u64::MAX)]);
    let mut cases = vec![
        ("a read of the last block and one behind it", read(LAST, 2), &none, OUT_OF_RANGE),
        ("a read far behind the end", read(u64::MAX, 1), &none, OUT_OF_RANGE),
        ("a read whose bytes overflow", read(1 << 52, 1), &none, OUT_OF_RANGE),
        ("a read beyond the longest transfer", read(0, 257), &none, INVALID_FIELD),
        ("a read of no namespace", entry(2, 1, 0).blocks(0, 1).transport(4096), &none, INVALID_NAMESPACE),
        ("a read of another namespace", entry(2, 1, 2).blocks(0, 1).transport(4096), &none, INVALID_NAMESPACE),
        ("a read of all namespaces", entry(2, 1, u32::MAX).blocks(0, 1).transport(4096), &none, INVALID_NAMESPACE),
        ("a read into too little room", read(0, 2).transport(4096), &none, DATA_LENGTH),
        ("a read into too much room", read(0, 1).transport(8192), &none, DATA_LENGTH),
        ("a read into the capsule", read(0, 1).capsule(0, 4096), &none, DESCRIPTOR_TYPE),
        ("a read by PRPs", read(0, 1).byte(1, 0), &none, INVALID_FIELD),
        ("a read with a descriptor that there is not", read(0, 1).byte(39, 0x40), &none, DESCRIPTOR_TYPE),
        ("the first half of a fused operation", entry(5, 1, 1).byte(1, 0x41).blocks(0, 1), &none, INVALID_FIELD),
        ("the second half of a fused operation", write(0, 1).byte(1, 0x42), &block, INVALID_FIELD),
        ("a write behind the end", write(LAST + 1, 1), &block, OUT_OF_RANGE),
        ("a write of less than its blocks", write(0, 2).capsule(0, 4096), &block, DATA_LENGTH),
        ("a write of data that are not there", write(0, 2), &block, SGL_OFFSET),
        ("a write of data behind the capsule", write(0, 1).capsule(4, 4096), &block, SGL_OFFSET),
        ("a write of data at a huge offset", write(0, 1).capsule(u64::MAX, 4096), &block, SGL_OFFSET),
        ("a write without any data", write(0, 1), &none, SGL_OFFSET),
        ("zeroes behind the end", entry(8, 1, 1).blocks(LAST, 2), &none, OUT_OF_RANGE),
        ("a trim across the end", trim(2, 32), &far, OUT_OF_RANGE),
        ("a trim that overflows", trim(1, 16), &overflows, OUT_OF_RANGE),
        ("a trim with fewer ranges than it says", trim(3, 32), &far, DATA_LENGTH),
        ("a trim with a list that is too long", trim(1, 4112), &long, DATA_LENGTH),
        ("a compare behind the end", entry(5, 1, 1).blocks(LAST + 1, 1).capsule(0, 4096), &block, OUT_OF_RANGE),
        ("a flush of another namespace", entry(0, 1, 7), &none, INVALID_NAMESPACE),
        ("a property on an I/O queue", host::property_get(1, 0, true), &none, (0, 1, true)),
    ];
    let known = [0, 1, 2, 5, 8, 9, 0x0D, 0x0E, 0x11, 0x15, 0x7F];
    cases.extend(
        (0..=255)
            .filter(|opcode| !known.contains(opcode))
            .map(|opcode| ("an opcode that there is not", entry(opcode, 1, 1), &none, (0, 1, true))),
    );
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    for (what, entry, data, status) in cases {
        let response = io.one(&mut shared, &host::command(entry, data, PLAIN));
        assert_eq!(response.status, status, "{what}");
        assert_eq!(io.queue.in_flight(), 0, "{what}");
    }
    assert!(shared.card.iter().all(|byte| *byte == 0), "nothing was written");
}

#[test]
fn data_are_read_as_they_were_written_at_both_ends() {
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    for (first, count) in [(0, 16), (LAST, 1), (100, 3)] {
        let data: Vec<u8> = (0..count * 4096).map(|at: u32| (at as u64 * 31 + first) as u8).collect();
        assert_eq!(io.one(&mut shared, &host::command(write(first, count), &data, PLAIN)).status, OK);
        assert_eq!(io.get(&mut shared, read(first, count)).unwrap(), data);
    }
    // The longest of all, by data PDUs.
    let data: Vec<u8> = (0..1u32 << 20).map(|at| (at >> 5) as u8).collect();
    io.feed(&mut shared, &host::command(write(512, 256).transport(1 << 20), &[], PLAIN));
    let answers = io.answers();
    let [Pdu::Ready { id, tag, length, .. }] = answers[..] else { panic!("{answers:?}") };
    assert_eq!(length, 1 << 20);
    for (number, part) in data.chunks(128 << 10).enumerate() {
        let offset = (number << 17) as u32;
        io.feed(&mut shared, &host::data(id, tag, offset, part, number == 7, PLAIN));
    }
    assert!(matches!(&io.answers()[..], [Pdu::Response(response)] if response.status == OK));
    assert!(io.get(&mut shared, read(512, 256)).unwrap() == data);
}

#[test]
fn a_compare_says_whether_all_is_the_same() {
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    let data: Vec<u8> = (0..3 * 4096u32).map(|at| (at / 7) as u8).collect();
    io.one(&mut shared, &host::command(write(5, 3), &data, PLAIN));
    let compare = entry(5, 50, 1).blocks(5, 3);
    for (at, status) in [(None, OK), (Some(0), COMPARE_FAILURE), (Some(3 * 4096 - 1), COMPARE_FAILURE)] {
        let mut other = data.clone();
        at.into_iter().for_each(|at: usize| other[at] ^= 1);
        let in_capsule = host::command(compare.capsule(0, 3 * 4096), &other, PLAIN);
        assert_eq!(io.one(&mut shared, &in_capsule).status, status);
        io.feed(&mut shared, &host::command(compare.transport(3 * 4096), &[], PLAIN));
        let answers = io.answers();
        let [Pdu::Ready { id, tag, .. }] = answers[..] else { panic!("{answers:?}") };
        io.feed(&mut shared, &host::data(id, tag, 0, &other[..5000], false, PLAIN));
        assert_eq!(io.one(&mut shared, &host::data(id, tag, 5000, &other[5000..], true, PLAIN)).status, status);
    }
}

#[test]
fn trims_and_zeroes_reach_all_of_their_ranges_and_nothing_else() {
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    shared.card.fill(9);
    assert_eq!(io.ask(&mut shared, entry(8, 1, 1).blocks(2, 2)).status, OK);
    let list = ranges(&[(1, 10), (0, 12), (2, LAST - 1)]);
    // Without the attribute that says so, nothing is deallocated.
    let hint = trim(3, 48).dword(11, 3);
    assert_eq!(io.one(&mut shared, &host::command(hint, &list, PLAIN)).status, OK);
    assert_eq!(shared.card[10 * 4096], 9);
    assert_eq!(io.one(&mut shared, &host::command(trim(3, 48), &list, PLAIN)).status, OK);
    let zero: Vec<u64> = (0..=LAST).filter(|block| shared.card[*block as usize * 4096] == 0).collect();
    assert_eq!(zero, [2, 3, 10, LAST - 1, LAST]);
    // More may be sent than there are ranges, as Linux does.
    shared.card[20 * 4096] = 9;
    let page = [ranges(&[(1, 20)]), vec![0xFF; 4080]].concat();
    assert_eq!(io.one(&mut shared, &host::command(trim(1, 4096), &page, PLAIN)).status, OK);
    assert_eq!(shared.card[20 * 4096], 0);
    // A list that comes in data PDUs, of as many ranges as there can be.
    let list = ranges(&(0..256).map(|at| (1, at * 2)).collect::<Vec<_>>());
    io.hold = 200;
    io.feed(&mut shared, &host::command(trim(256, 4096).transport(4096), &[], PLAIN));
    let answers = io.answers();
    let [Pdu::Ready { id, tag, length: 4096, .. }] = answers[..] else { panic!("{answers:?}") };
    io.feed(&mut shared, &host::data(id, tag, 0, &list[..48], false, PLAIN));
    io.feed(&mut shared, &host::data(id, tag, 48, &list[48..], true, PLAIN));
    assert!(io.answers().is_empty());
    io.answer_all(&mut shared, None);
    assert!(matches!(&io.answers()[..], [Pdu::Response(response)] if response.status == OK && response.id == id));
    assert!((0..256).all(|at| shared.card[at * 8192] == 0));
    io.hold = 0;
    // The whole card at once.
    assert_eq!(io.one(&mut shared, &host::command(trim(1, 16), &ranges(&[(LAST as u32 + 1, 0)]), PLAIN)).status, OK);
    assert!(shared.card.iter().all(|byte| *byte == 0));
}

#[test]
fn flushes_and_forced_writes_reach_the_card_as_such() {
    let mut shared = Shared::default();
    let (mut admin, mut io) = Server::pair(&mut shared, PLAIN);
    for namespace in [1, u32::MAX] {
        assert_eq!(io.ask(&mut shared, entry(0, 1, namespace)).status, OK);
    }
    assert_eq!((shared.flushes, shared.forced), (2, 0));
    let block = [3; 4096];
    io.one(&mut shared, &host::command(write(0, 1), &block, PLAIN));
    assert_eq!(shared.forced, 0);
    io.one(&mut shared, &host::command(write(0, 1).byte(51, 0x40), &block, PLAIN));
    assert_eq!(shared.forced, 1);
    // Without a write cache each write is forced.
    admin.ask(&mut shared, entry(9, 9, 0).dword(10, 6).dword(11, 0));
    io.renew(&shared);
    io.one(&mut shared, &host::command(write(0, 1), &block, PLAIN));
    assert_eq!(shared.forced, 2);
    io.get(&mut shared, read(0, 1)).unwrap();
    assert_eq!(shared.forced, 2);
}

#[test]
fn a_namespace_that_takes_no_writes_says_so() {
    let mut of = subsystem();
    of.namespaces[0].read_only = true;
    let mut shared = Shared { target: Target::new(vec![of]), ..Shared::default() };
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    for (entry, data) in
        [(write(0, 1), vec![1; 4096]), (entry(8, 1, 1).blocks(0, 1), Vec::new()), (trim(1, 16), ranges(&[(1, 0)]))]
    {
        assert_eq!(io.one(&mut shared, &host::command(entry, &data, PLAIN)).status, (0, 0x20, true));
    }
    io.get(&mut shared, read(0, 1)).unwrap();
}

#[test]
fn failures_of_the_card_have_the_status_that_says_why() {
    for (failure, status) in [
        (Failure::OutOfRange, OUT_OF_RANGE),
        (Failure::ReadOnly, (0, 0x20, true)),
        (Failure::Unreadable, (2, 0x81, true)),
        (Failure::NotReady, (0, 0x82, false)),
    ] {
        let mut shared = Shared::default();
        let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
        io.hold = 100;
        io.feed(&mut shared, &host::command(read(0, 1), &[], PLAIN));
        io.answer_all(&mut shared, Some(failure));
        assert!(matches!(&io.answers()[..], [Pdu::Response(response)] if response.status == status), "{failure:?}");
        // One failed request of several fails the command.
        io.feed(&mut shared, &host::command(trim(2, 32), &ranges(&[(1, 0), (1, 5)]), PLAIN));
        io.answer_all(&mut shared, Some(failure));
        assert!(matches!(&io.answers()[..], [Pdu::Response(response)] if response.status == status), "{failure:?}");
    }
}

#[test]
fn a_queue_full_of_writes_whose_data_have_not_come_takes_data_and_no_command() {
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    let ask = |id| host::command(entry(1, id, 1).blocks(id.into(), 1).transport(4096), &[], PLAIN);
    (0..128).for_each(|id| io.feed(&mut shared, &ask(id)));
    assert_eq!(io.answers().len(), 128);
    // Data of one, and there is room for one more.
    assert_eq!(io.one(&mut shared, &host::data(7, 7, 0, &[1; 4096], true, PLAIN)).status, OK);
    io.feed(&mut shared, &ask(128));
    assert!(matches!(&io.answers()[..], [Pdu::Ready { id: 128, tag: 7, .. }]));
    io.feed(&mut shared, &ask(129));
    assert!(matches!(&io.answers()[..], [Pdu::Terminated { status: 2, .. }]));
    assert_eq!(io.closed, Some(Close::Overrun));
}

#[test]
fn an_identifier_in_flight_is_refused_and_a_full_queue_waits() {
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    io.hold = 1000;
    io.feed(&mut shared, &host::command(read(0, 1), &[], PLAIN));
    assert_eq!(io.one(&mut shared, &host::command(read(0, 1), &[], PLAIN)).status, (0, 3, true));
    io.answer_all(&mut shared, None);
    io.answers();
    let many: Vec<u8> =
        (0..300u16).flat_map(|id| host::command(entry(2, id, 1).blocks(0, 1).transport(4096), &[], PLAIN)).collect();
    io.feed(&mut shared, &many);
    assert_eq!(io.queue.in_flight(), 128);
    io.answer_all(&mut shared, None);
    let answered = io.answers().iter().filter(|pdu| matches!(pdu, Pdu::Response(_))).count();
    assert_eq!(answered, 300);
}
