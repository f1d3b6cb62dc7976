//! PDUs: the way of data, and how a connection ends whose host breaks the rules (NVMe TCP Transport 1.0, section 3.6).

use super::common::host::{self, Digests, Pdu, entry, pdus};
use super::common::server::{Server, Shared};
use proptest::prelude::*;
use serve::nvme::Close;

const PLAIN: Digests = Digests { header: false, data: false };
const BOTH: Digests = Digests { header: true, data: true };
const ALL: [Digests; 4] = [PLAIN, Digests { header: true, data: false }, Digests { header: false, data: true }, BOTH];

/// Changes a byte.
fn with(mut bytes: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    bytes[at] = value;
    bytes
}

#[test]
fn digests_are_what_the_host_asks_for() {
    for digests in ALL {
        let mut shared = Shared::default();
        let mut server = Server::new(&mut shared);
        server.feed(&mut shared, &host::initialize(digests));
        let wanted = u8::from(digests.header) | u8::from(digests.data) << 1;
        assert_eq!(pdus(&server.out, PLAIN), [Pdu::Initialized { digests: wanted, max_data_bytes: 128 << 10 }]);
    }
}

/// Each line: the bytes on a fresh I/O queue without digests, and the status and information of the end.
fn violations() -> Vec<(&'static str, Vec<u8>, u16, u32)> {
    let read = || host::command(entry(2, 9, 1).blocks(0, 1).transport(4096), &[], PLAIN);
    let data = |tag, offset, bytes: usize| host::data(9, tag, offset, &vec![1; bytes], false, PLAIN);
    vec![
        ("a type that there is not", with(read(), 0, 0x33), 1, 0),
        ("a type that only controllers send", with(read(), 0, 0x07), 1, 0),
        ("a second ICReq", host::initialize(PLAIN), 2, 0),
        ("a header of another length", with(read(), 2, 70), 1, 2),
        ("a PDU shorter than its header", with(read(), 4, 71), 1, 4),
        ("a PDU of four gigabytes", with(with(read(), 3, 72), 7, 0xFF), 1, 4),
        ("a capsule with more data than it may have", with(with(read(), 3, 72), 6, 2), 1, 4),
        ("data that begin within the header", with(with(read(), 3, 40), 5, 1), 1, 3),
        ("data at an odd offset", with(with(read(), 3, 73), 5, 1), 1, 3),
        ("the flag of a digest that was not agreed on", with(read(), 1, 1), 1, 1),
        ("data that nobody asked for", data(0, 0, 4096), 1, 10),
        ("data with a tag that no command can have", data(4711, 0, 4096), 1, 10),
        ("no data in a data PDU", data(0, 0, 0), 1, 4),
    ]
}

#[test]
fn each_violation_ends_the_connection_with_its_reason_and_others_go_on() {
    let mut shared = Shared::default();
    let (_admin, mut good) = Server::pair(&mut shared, PLAIN);
    for (what, bytes, status, information) in violations() {
        let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
        io.answers();
        io.feed(&mut shared, &bytes);
        let answers = io.answers();
        let [Pdu::Terminated { status: found, information: field, header }] = &answers[..] else {
            panic!("{what}: {answers:?}");
        };
        assert_eq!((*found, *field), (status, information), "{what}");
        assert!(!header.is_empty() && bytes.starts_with(header), "{what}: the header of the PDU is in it");
        assert!(io.closed.is_some(), "{what}");
        good.get(&mut shared, entry(2, 1, 1).blocks(0, 1).transport(4096)).unwrap();
    }
}

#[test]
fn data_that_break_the_rules_of_a_transfer_end_the_connection() {
    // Each line: the data PDU for a write of three blocks, and the status and information of the end.
    let one = vec![1; 4096];
    let cases = [
        ("another command", host::data(8, 0, 0, &one, false, PLAIN), 1, 8),
        ("not the next data", host::data(9, 0, 4096, &one, false, PLAIN), 4, 0),
        ("more data than were asked for", host::data(9, 0, 0, &vec![1; 4 * 4096], true, PLAIN), 4, 0),
        ("the last flag too early", host::data(9, 0, 0, &one, true, PLAIN), 1, 1),
        ("the last flag not at all", host::data(9, 0, 0, &vec![1; 3 * 4096], false, PLAIN), 1, 1),
        ("a length that is not that of the data", with(host::data(9, 0, 0, &one, false, PLAIN), 17, 1), 1, 16),
        ("more data than a PDU may have", host::data(9, 0, 0, &vec![1; (128 << 10) + 4], false, PLAIN), 1, 4),
    ];
    for (what, bytes, status, information) in cases {
        let mut shared = Shared::default();
        let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
        io.feed(&mut shared, &host::command(entry(1, 9, 1).blocks(4, 3).transport(3 * 4096), &[], PLAIN));
        assert_eq!(io.answers(), [Pdu::Ready { id: 9, tag: 0, offset: 0, length: 3 * 4096 }]);
        io.feed(&mut shared, &bytes);
        let answers = io.answers();
        let [Pdu::Terminated { status: found, information: field, .. }] = &answers[..] else {
            panic!("{what}: {answers:?}");
        };
        assert_eq!((*found, *field), (status, information), "{what}");
    }
}

#[test]
fn a_first_pdu_that_is_not_an_icreq_or_asks_for_too_much_ends_the_connection() {
    let cases = [
        ("a command", host::connect(0, 32, 0xFFFF, host::SUBSYSTEM, PLAIN), 2, 0),
        ("data", host::data(0, 0, 0, &[1; 64], true, PLAIN), 2, 0),
        ("another version", with(host::initialize(PLAIN), 8, 1), 6, 8),
        ("an alignment that there is not", with(host::initialize(PLAIN), 10, 32), 1, 10),
        ("a short ICReq", with(host::initialize(PLAIN), 4, 64), 1, 4),
    ];
    for (what, bytes, status, information) in cases {
        let mut shared = Shared::default();
        let mut server = Server::new(&mut shared);
        server.feed(&mut shared, &bytes);
        let answers = server.answers();
        let [Pdu::Terminated { status: found, information: field, .. }] = &answers[..] else {
            panic!("{what}: {answers:?}");
        };
        assert_eq!((*found, *field), (status, information), "{what}");
    }
}

#[test]
fn a_wrong_header_digest_ends_the_connection_and_a_wrong_data_digest_fails_the_command() {
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, BOTH);
    let data = [5; 4096];
    let write = host::command(entry(1, 3, 1).blocks(0, 1).capsule(0, 4096), &data, BOTH);
    let last = write.len() - 1;
    let failed = io.one(&mut shared, &with(write.clone(), last, write[last] ^ 1));
    // Transient Transport Error, which may be tried again.
    assert_eq!((failed.id, failed.status), (3, (0, 0x22, false)));
    assert_eq!(shared.card[0], 0);
    assert_eq!(io.one(&mut shared, &write).status, (0, 0, false));
    assert_eq!(shared.card[..4096], data);
    // The same in a data PDU: the rest of the transfer is taken, and nothing of it is written.
    io.feed(&mut shared, &host::command(entry(1, 4, 1).blocks(8, 2).transport(8192), &[], BOTH));
    let answers = io.answers();
    let [Pdu::Ready { tag, .. }] = answers[..] else { panic!("{answers:?}") };
    let half = host::data(4, tag, 0, &[6; 4096], false, BOTH);
    let last = half.len() - 1;
    io.feed(&mut shared, &with(half.clone(), last, half[last] ^ 1));
    assert!(io.answers().is_empty());
    let failed = io.one(&mut shared, &host::data(4, tag, 4096, &[6; 4096], true, BOTH));
    assert_eq!((failed.id, failed.status), (4, (0, 0x22, false)));
    assert!(shared.card[8 * 4096..].iter().all(|byte| *byte == 0));
    io.feed(&mut shared, &with(write, 74, 0xEE));
    assert!(matches!(&io.answers()[..], [Pdu::Terminated { status: 3, .. }]));
    assert!(matches!(io.closed, Some(Close::HeaderDigest { .. })));
}

#[test]
fn a_write_comes_in_pieces_of_any_size_and_blocks_are_written_whole() {
    for (digests, piece) in ALL.into_iter().zip([4096, 5000, 4, 12_288]) {
        let mut shared = Shared::default();
        let (_admin, mut io) = Server::pair(&mut shared, digests);
        let all: Vec<u8> = (0..5 * 4096u32).map(|at| (at / 3) as u8).collect();
        io.feed(&mut shared, &host::command(entry(1, 9, 1).blocks(2, 5).transport(5 * 4096), &[], digests));
        let answers = io.answers();
        let [Pdu::Ready { tag, length: 20_480, .. }] = answers[..] else { panic!("{answers:?}") };
        let count = all.len().div_ceil(piece);
        for (number, part) in all.chunks(piece).enumerate() {
            assert!(io.answers().is_empty());
            let offset = (number * piece) as u32;
            // A part of a block is not on the card.
            assert!(shared.card[2 * 4096 + number * piece / 4096 * 4096..7 * 4096].iter().all(|byte| *byte == 0));
            io.feed(&mut shared, &host::data(9, tag, offset, part, number + 1 == count, digests));
        }
        let answers = io.answers();
        let [Pdu::Response(response)] = answers[..] else { panic!("{answers:?}") };
        assert_eq!((response.id, response.status), (9, (0, 0, false)));
        assert!(shared.card[2 * 4096..7 * 4096] == all[..]);
    }
}

#[test]
fn data_begin_where_the_host_wants_them() {
    let mut shared = Shared::default();
    let admin = Server::admin(&mut shared, host::SUBSYSTEM, PLAIN);
    let controller = admin.queue.queue().unwrap().controller;
    let mut io = Server::new(&mut shared);
    io.feed(&mut shared, &with(host::initialize(PLAIN), 10, 15));
    io.feed(&mut shared, &host::connect(1, 8, controller, host::SUBSYSTEM, PLAIN));
    io.answers();
    let before = io.out.len();
    io.get(&mut shared, entry(2, 1, 1).blocks(0, 1).transport(4096)).unwrap();
    // 16 dwords.
    assert_eq!(io.out[before + 3], 64);
}

#[test]
fn the_host_may_end_the_connection() {
    let mut shared = Shared::default();
    let (_admin, mut io) = Server::pair(&mut shared, PLAIN);
    let mut bytes = vec![2, 0, 24, 0, 24, 0, 0, 0, 5, 0, 7, 0, 0, 0];
    bytes.resize(24, 0);
    io.feed(&mut shared, &bytes);
    assert_eq!(io.closed, Some(Close::HostTerminated { status: 5, information: 7 }));
    assert!(io.answers().is_empty(), "an end has no answer");
}

/// Bytes of a host that does a little of everything, with an end in between two PDUs.
fn everything(digests: Digests, controller: u16) -> Vec<u8> {
    let mut bytes = host::connect(1, 16, controller, host::SUBSYSTEM, digests);
    for id in 0..40u16 {
        let first = u64::from(id % 5);
        let pattern = vec![id as u8; 8192];
        bytes.extend(match id % 5 {
            0 => host::command(entry(1, id, 1).blocks(first, 2).capsule(0, 8192), &pattern, digests),
            1 => host::command(entry(2, id, 1).blocks(first, 3).transport(3 * 4096), &[], digests),
            2 => host::command(entry(0, id, 1), &[], digests),
            3 => host::command(entry(5, id, 1).blocks(first, 2).capsule(0, 8192), &pattern, digests),
            _ => host::command(entry(0x77, id, 1), &[], digests),
        });
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_same_bytes_give_the_same_answers_in_any_pieces(
        pieces in prop::collection::vec(1usize..5000, 1..40), hold in 0usize..20, of in 0usize..4
    ) {
        let digests = ALL[of];
        let mut outs = Vec::new();
        for whole in [true, false] {
            let mut shared = Shared::default();
            let admin = Server::admin(&mut shared, host::SUBSYSTEM, digests);
            let mut io = Server::initialized(&mut shared, digests);
            io.hold = hold;
            let bytes = everything(digests, admin.queue.queue().unwrap().controller);
            if whole {
                io.feed(&mut shared, &bytes);
            } else {
                let mut left = &bytes[..];
                for piece in pieces.iter().cycle() {
                    if left.is_empty() {
                        break;
                    }
                    let (now, rest) = left.split_at((*piece).min(left.len()));
                    io.feed(&mut shared, now);
                    left = rest;
                }
            }
            io.end(&mut shared);
            prop_assert_eq!(io.queue.in_flight(), 0);
            let responses = io.answers().iter().filter(|pdu| matches!(pdu, Pdu::Response(_))).count();
            prop_assert_eq!(responses, 41);
            outs.push((io.out.clone(), shared.card));
        }
        prop_assert!(outs[0] == outs[1]);
    }
}
