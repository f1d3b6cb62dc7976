//! Each command: what is carried out, what is refused and with which error.

use super::common::client::{
    BLOCK_STATUS, CACHE, DF, EINVAL, ENOSPC, EPERM, ESHUTDOWN, FAST_ZERO, FLUSH, FUA, NO_HOLE, READ, REQ_ONE, RESIZE,
    Reply, TRIM, WRITE, WRITE_ZEROES, request, simple, structured, write,
};
use super::common::server::{Event, Server};
use super::common::{SIZE, exports, hex};
use serve::wire::{Command, Exports, Tls};
use std::sync::Arc;

/// The replies of a server in the transmission phase to `bytes`, and the requests that it got.
fn answer(handshake: &[u8], bytes: &[u8]) -> (Vec<u8>, Vec<Event>) {
    let mut server = Server::told(Tls::Off, handshake);
    let begin = server.ready_at.expect("the transmission phase");
    server.feed(bytes);
    (server.out[begin..].to_vec(), server.events[1..].to_vec())
}

fn asked(cookie: u64, command: Command, offset: u64, length: u32) -> Event {
    Event::Asked { cookie, command, offset, length }
}

#[test]
fn a_read_is_answered_with_a_head_of_16_bytes_or_28() {
    let ask = hex("25609513 0000 0000 0000000000000007 0000000000001000 00000200");
    let event = asked(7, Command::Read, 4096, 512);
    let (out, events) = answer(&simple("card"), &ask);
    assert_eq!(out, hex("67446698 00000000 0000000000000007"));
    assert_eq!(events, std::slice::from_ref(&event));
    let (out, events) = answer(&structured("card"), &ask);
    assert_eq!(out, hex("668e33ef 0001 0001 0000000000000007 00000208 0000000000001000"));
    assert_eq!(events, [event]);
}

#[test]
fn a_write_hands_over_its_payload_and_is_answered_with_16_bytes() {
    let ask = hex("25609513 0001 0001 00000000000000ff 0000000000000200 00000004 deadbeef");
    for handshake in [simple("card"), structured("card")] {
        let (out, events) = answer(&handshake, &ask);
        assert_eq!(out, hex("67446698 00000000 00000000000000ff"));
        let command = Command::Write { fua: true };
        assert_eq!(events, [asked(0xff, command, 512, 4), Event::Payload(hex("deadbeef"))]);
    }
}

#[test]
fn commands_without_data_are_understood_with_their_flags() {
    let cases = [
        (FLUSH, 0, 0, 0, Command::Flush),
        (FLUSH, FUA, 0, 0, Command::Flush),
        (TRIM, 0, 512, u32::MAX - 511, Command::Trim { fua: false }),
        (TRIM, FUA, 512, 1024, Command::Trim { fua: true }),
        (CACHE, 0, 0, 32 << 20, Command::Cache),
        (WRITE_ZEROES, 0, 1, 1, Command::WriteZeroes { fua: false, no_hole: false, fast: false }),
        (WRITE_ZEROES, FUA | NO_HOLE, 0, 512, Command::WriteZeroes { fua: true, no_hole: true, fast: false }),
        (WRITE_ZEROES, FAST_ZERO, 0, u32::MAX, Command::WriteZeroes { fua: false, no_hole: false, fast: true }),
    ];
    let mut large = exports().all().to_vec();
    large[0].size_bytes = 1 << 40;
    let large = Arc::new(Exports::new(large).unwrap());
    for (kind, flags, offset, length, command) in cases {
        let mut server = Server::new(large.clone(), Tls::Off);
        server.feed(&simple("card"));
        server.feed(&request(flags, kind, 3, offset, length));
        assert_eq!(server.events[1..], [asked(3, command, offset, length)]);
        assert_eq!(server.replies(), [Reply::Simple { cookie: 3, errno: 0 }]);
    }
}

#[test]
fn block_status_is_answered_with_descriptors() {
    let ask = hex("25609513 0000 0007 0000000000000002 0000000000000000 00004000");
    let (out, events) = answer(&structured("card"), &ask);
    let head = "668e33ef 0001 0005 0000000000000002 0000001c 00000001";
    assert_eq!(out, hex(&[head, "00001000 00000003 00002000 00000000 00001000 00000003"].concat()));
    assert_eq!(events, [asked(2, Command::BlockStatus, 0, 16384)]);
    let (out, _) = answer(&structured("card"), &request(REQ_ONE, BLOCK_STATUS, 2, 0, 16384));
    assert_eq!(out, hex("668e33ef 0001 0005 0000000000000002 0000000c 00000001 00001000 00000003"));
}

#[test]
fn what_may_not_be_is_refused_with_the_error_of_the_document() {
    const M: u32 = 1 << 20;
    const MAX: u32 = 32 * M;
    let end = SIZE;
    let cases: &[(&str, u16, u16, u64, u32, u32)] = &[
        // Beyond the end: writes have no space, all else is invalid.
        ("card", READ, 0, end, 1, EINVAL),
        ("card", READ, 0, end - 1, 2, EINVAL),
        ("card", READ, 0, u64::MAX, 1, EINVAL),
        ("card", READ, 0, u64::MAX - 510, 512, EINVAL),
        ("card", WRITE, 0, end, 1, ENOSPC),
        ("card", WRITE, FUA, end - 1, 2, ENOSPC),
        ("card", WRITE, 0, u64::MAX, 1, ENOSPC),
        ("card", WRITE_ZEROES, 0, end - 1, 2, ENOSPC),
        ("card", WRITE_ZEROES, 0, 1, u32::MAX, ENOSPC),
        ("card", WRITE_ZEROES, 0, u64::MAX, u32::MAX, ENOSPC),
        ("card", TRIM, 0, end - 1, 2, EINVAL),
        ("card", TRIM, 0, u64::MAX, u32::MAX, EINVAL),
        ("card", CACHE, 0, end, 512, EINVAL),
        ("card", BLOCK_STATUS, 0, end, 512, EINVAL),
        ("card", BLOCK_STATUS, REQ_ONE, end - 1, 512, EINVAL),
        // Length 0.
        ("card", READ, 0, 0, 0, EINVAL),
        ("card", WRITE, 0, 0, 0, EINVAL),
        ("card", TRIM, 0, 0, 0, EINVAL),
        ("card", CACHE, 0, 0, 0, EINVAL),
        ("card", WRITE_ZEROES, 0, 0, 0, EINVAL),
        ("card", BLOCK_STATUS, 0, 0, 0, EINVAL),
        // Longer than the maximum.
        ("card", READ, 0, 0, MAX + 1, EINVAL),
        ("card", READ, 0, 0, u32::MAX, EINVAL),
        ("card", READ, DF, 0, MAX + 1, EINVAL),
        ("card", WRITE, 0, 0, MAX + 1, EINVAL),
        ("card", CACHE, 0, 0, MAX + 1, EINVAL),
        ("sectors", READ, 0, 0, M + 4096, EINVAL),
        ("sectors", WRITE, 0, 0, M + 4096, EINVAL),
        ("sectors", WRITE, 0, end, M + 4096, EINVAL),
        // Not aligned to the minimum.
        ("sectors", READ, 0, 512, 4096, EINVAL),
        ("sectors", READ, 0, 0, 512, EINVAL),
        ("sectors", READ, 0, 1, 1, EINVAL),
        ("sectors", WRITE, 0, 4095, 4096, EINVAL),
        ("sectors", WRITE, 0, 4096, 4097, EINVAL),
        ("sectors", TRIM, 0, 4096, 1, EINVAL),
        ("sectors", WRITE_ZEROES, 0, 2048, 4096, EINVAL),
        ("sectors", CACHE, 0, 0, 1, EINVAL),
        ("sectors", BLOCK_STATUS, 0, 1, 4096, EINVAL),
        // Read-only, whatever else is wrong with the place.
        ("sealed", WRITE, 0, 0, 512, EPERM),
        ("sealed", WRITE, 0, end, 512, EPERM),
        ("sealed", TRIM, 0, 0, 512, EPERM),
        ("sealed", WRITE_ZEROES, NO_HOLE, 0, 0, EPERM),
        ("sealed", WRITE, FUA, 0, 512, EINVAL),
        // Not offered.
        ("bare", FLUSH, 0, 0, 0, EINVAL),
        ("bare", TRIM, 0, 0, 512, EINVAL),
        ("bare", CACHE, 0, 0, 512, EINVAL),
        ("bare", WRITE_ZEROES, 0, 0, 512, EINVAL),
        ("bare", BLOCK_STATUS, 0, 0, 512, EINVAL),
        ("bare", WRITE, FUA, 0, 512, EINVAL),
        ("bare", READ, FUA, 0, 512, EINVAL),
        // Flags of other commands, and of nobody.
        ("card", READ, NO_HOLE, 0, 512, EINVAL),
        ("card", READ, REQ_ONE, 0, 512, EINVAL),
        ("card", READ, 0x8000, 0, 512, EINVAL),
        ("card", WRITE, DF, 0, 512, EINVAL),
        ("card", WRITE, 0x20, 0, 512, EINVAL),
        ("card", FLUSH, DF, 0, 0, EINVAL),
        ("card", TRIM, NO_HOLE, 0, 512, EINVAL),
        ("card", CACHE, 0x40, 0, 512, EINVAL),
        ("card", WRITE_ZEROES, REQ_ONE, 0, 512, EINVAL),
        ("card", BLOCK_STATUS, DF, 0, 512, EINVAL),
        ("card", BLOCK_STATUS, 0xffff, 0, 512, EINVAL),
        // A flush of some place.
        ("card", FLUSH, 0, 0, 1, EINVAL),
        ("card", FLUSH, 0, 512, 0, EINVAL),
        // These commands are unknown.
        ("card", RESIZE, 0, 0, 0, EINVAL),
        ("card", RESIZE, 0, 2 * end, 0, EINVAL),
        ("card", 9, 0, 0, 512, EINVAL),
        ("card", 0xffff, 0xffff, u64::MAX, u32::MAX, EINVAL),
    ];
    for case @ &(name, kind, flags, offset, length, errno) in cases {
        for handshake in [simple(name), structured(name)] {
            let mut server = Server::told(Tls::Off, &handshake);
            server.feed(&request(flags, kind, 11, offset, length));
            if kind == WRITE {
                // The payload comes in pieces, and is swallowed before there is an answer.
                let piece = vec![0x25; 1 << 20];
                let mut left = length as usize;
                while left > 0 {
                    assert_eq!(server.replies(), [], "{case:?}");
                    server.feed(&piece[..left.min(piece.len())]);
                    left -= left.min(piece.len());
                }
            }
            // The next request is understood.
            server.feed(&request(0, READ, 15, 4096, 4096));
            let replies = server.replies();
            assert_eq!(replies.len(), 2, "{case:?}");
            assert_eq!((replies[0].cookie(), replies[0].errno()), (11, errno), "{case:?}");
            assert_eq!((replies[1].cookie(), replies[1].errno()), (15, 0));
            assert!(server.events[1..].iter().all(|event| !matches!(event, Event::Asked { cookie: 11, .. })));
        }
    }
}

#[test]
fn the_last_byte_and_the_longest_request_are_within() {
    for (kind, offset, length) in [(READ, SIZE - 1, 1), (READ, SIZE - (32 << 20), 32 << 20), (TRIM, 0, 1 << 30)] {
        let (_, events) = answer(&simple("card"), &request(0, kind, 1, offset, length));
        assert!(matches!(events[..], [Event::Asked { .. }]), "{kind} {offset} {length}");
    }
}

#[test]
fn unfragmented_reads_are_offered_with_structured_replies_only() {
    let ask = request(DF, READ, 1, 0, 512);
    assert_eq!(answer(&simple("card"), &ask).0, hex("67446698 00000016 0000000000000001"));
    assert_eq!(answer(&structured("card"), &ask).1, [asked(1, Command::Read, 0, 512)]);
}

#[test]
fn fua_is_accepted_with_every_command_where_it_was_offered() {
    for kind in [READ, FLUSH, CACHE, BLOCK_STATUS] {
        let length = if kind == FLUSH { 0 } else { 512 };
        let (_, events) = answer(&structured("card"), &request(FUA, kind, 1, 0, length));
        assert_eq!(events.len(), 1, "{kind}");
    }
}

#[test]
fn structured_errors_carry_a_message() {
    let (out, _) = answer(&structured("card"), &request(0, READ, 9, SIZE, 1));
    let message = "beyond the end of the export";
    let head = hex("668e33ef 0001 8001 0000000000000009 00000022 00000016 001c");
    assert_eq!(out, [head, message.into()].concat());
}

#[test]
fn a_server_that_ends_refuses_requests_and_swallows_their_payload() {
    let mut server = Server::told(Tls::Off, &simple("card"));
    server.connection.shut_down();
    server.feed(&[write(0, 1, 0, &[0x25; 700]), request(0, FLUSH, 2, 0, 0)].concat());
    let shut = |cookie| Reply::Simple { cookie, errno: ESHUTDOWN };
    assert_eq!(server.replies(), [shut(1), shut(2)]);
}

#[test]
fn a_new_size_counts_at_once_and_read_only_too() {
    let mut server = Server::told(Tls::Off, &simple("card"));
    let with = |size_bytes, read_only| {
        let mut table = exports().all().to_vec();
        table[0].size_bytes = size_bytes;
        table[0].read_only = read_only;
        Arc::new(Exports::new(table).unwrap())
    };
    let errno = |server: &mut Server, ask: Vec<u8>| {
        server.feed(&ask);
        server.replies().last().unwrap().errno()
    };
    server.connection.renew(with(4096, false));
    assert_eq!(errno(&mut server, request(0, READ, 1, 4096, 512)), EINVAL);
    assert_eq!(errno(&mut server, write(0, 1, 4096, &[0; 512])), ENOSPC);
    assert_eq!(errno(&mut server, request(0, READ, 1, 0, 4096)), 0);
    server.connection.renew(with(2 * SIZE, false));
    assert_eq!(errno(&mut server, request(0, READ, 1, SIZE, 4096)), 0);
    server.connection.renew(with(SIZE, true));
    assert_eq!(errno(&mut server, write(FUA, 1, 0, &[0; 512])), EPERM);
    assert_eq!(errno(&mut server, request(FUA, READ, 1, 0, 512)), 0, "what was offered stays offered");
}

#[test]
#[should_panic(expected = "exports stay in their places")]
fn a_new_table_has_the_same_exports() {
    let table = exports().all()[1..].to_vec();
    Server::told(Tls::Off, &simple("card")).connection.renew(Arc::new(Exports::new(table).unwrap()));
}
