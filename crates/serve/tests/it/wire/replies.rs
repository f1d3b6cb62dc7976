//! Answers: chunks, extents, the account of what is in flight, and the end.

use super::common::client::{
    BLOCK_STATUS, DF, DISC, EIO, FLUSH, READ, REQ_ONE, WRITE, request, simple, structured, write,
};
use super::common::{exports, hex};
use serve::wire::{
    Close, Connection, Errno, Extent, MAX_EXTENTS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES, Request, Step, Tls,
};

/// A connection in the transmission phase.
fn connection(handshake: &[u8]) -> Connection {
    let mut connection = Connection::new(exports(), Tls::Off, &mut Vec::new());
    let mut at = 0;
    loop {
        let (consumed, step) = connection.parse(&handshake[at..], &mut Vec::new());
        at += consumed;
        if let Step::Ready { .. } = step {
            assert_eq!(at, handshake.len());
            return connection;
        }
    }
}

fn ask(connection: &mut Connection, bytes: &[u8]) -> Request {
    match connection.parse(bytes, &mut Vec::new()) {
        (28, Step::Request(request)) => request,
        (consumed, Step::Write { request, payload }) if consumed == payload.end => request,
        other => panic!("{other:?}"),
    }
}

fn read(connection: &mut Connection, flags: u16) -> Request {
    ask(connection, &request(flags, READ, 7, 0x1000, 0x3000))
}

#[test]
fn a_read_in_parts_is_a_hole_an_error_and_data_of_which_the_last_is_done() {
    let mut connection = connection(&structured("card"));
    let mut request = read(&mut connection, 0);
    assert!(request.may_fragment());
    let mut out = Vec::new();
    connection.read_hole(&mut request, 0x1000, &mut out);
    connection.read_failed(&mut request, 0x800, Errno::Io, "lost", &mut out);
    connection.read_data(&mut request, 0x1800, &mut out);
    connection.finish_read(request);
    let hole = "668e33ef 0000 0002 0000000000000007 0000000c 0000000000001000 00001000";
    let error = "668e33ef 0000 8002 0000000000000007 00000012 00000005 0004 6c6f7374 0000000000002000";
    let data = "668e33ef 0001 0001 0000000000000007 00001808 0000000000002800";
    assert_eq!(out, hex(&[hole, error, data].concat()));
    assert_eq!(connection.in_flight(), 0);
}

#[test]
fn a_hole_or_an_error_can_complete_a_read() {
    let mut connection = connection(&structured("card"));
    let mut out = Vec::new();
    let mut request = read(&mut connection, 0);
    connection.read_hole(&mut request, 0x3000, &mut out);
    connection.finish_read(request);
    assert_eq!(out, hex("668e33ef 0001 0002 0000000000000007 0000000c 0000000000001000 00003000"));
    out.clear();
    let mut request = read(&mut connection, 0);
    connection.read_failed(&mut request, 0x3000, Errno::Io, "", &mut out);
    connection.finish_read(request);
    assert_eq!(out, hex("668e33ef 0001 8002 0000000000000007 0000000e 00000005 0000 0000000000001000"));
}

#[test]
fn a_read_that_was_begun_can_still_fail_as_a_whole() {
    let mut connection = connection(&structured("card"));
    let mut request = read(&mut connection, 0);
    let mut out = Vec::new();
    connection.read_hole(&mut request, 512, &mut out);
    out.clear();
    connection.answer_error(request, Errno::Io, "gone", &mut out);
    assert_eq!(out, hex("668e33ef 0001 8001 0000000000000007 0000000a 00000005 0004 676f6e65"));
    assert_eq!(connection.in_flight(), 0);
}

#[test]
fn simple_errors_are_16_bytes() {
    let mut connection = connection(&simple("card"));
    let mut out = Vec::new();
    let request = read(&mut connection, 0);
    assert!(!request.may_fragment());
    connection.answer_error(request, Errno::Io, "lost", &mut out);
    assert_eq!(out, hex("67446698 00000005 0000000000000007"));
}

#[test]
fn errors_have_the_numbers_of_the_document() {
    let numbers = [
        (Errno::NotPermitted, 1),
        (Errno::Io, 5),
        (Errno::NoMemory, 12),
        (Errno::Invalid, 22),
        (Errno::NoSpace, 28),
        (Errno::Overflow, 75),
        (Errno::NotSupported, 95),
        (Errno::ShuttingDown, 108),
    ];
    numbers.into_iter().for_each(|(errno, number)| assert_eq!(errno as u32, number));
}

#[test]
fn messages_are_strings_as_the_document_wants_them() {
    let mut connection = connection(&structured("card"));
    for (message, expected) in [("a\0b", 1), (&"ä".repeat(3000), 4096), (&format!("x{}", "ä".repeat(3000)), 4095)] {
        let mut out = Vec::new();
        let request = read(&mut connection, 0);
        connection.answer_error(request, Errno::Io, message, &mut out);
        let length = usize::from(u16::from_be_bytes([out[24], out[25]]));
        assert_eq!((length, out.len()), (expected, 26 + expected));
        assert!(std::str::from_utf8(&out[26..]).is_ok());
    }
}

fn status(flags: u16, length: u32, extents: &[(u64, bool, bool)]) -> Vec<(u32, u32)> {
    let mut connection = connection(&structured("card"));
    let request = ask(&mut connection, &request(flags, BLOCK_STATUS, 7, 0, length));
    let mut out = Vec::new();
    let extents = extents.iter().map(|&(bytes, hole, zero)| Extent { bytes, hole, zero });
    connection.answer_block_status(request, extents, &mut out);
    let announced = u32::from_be_bytes(out[16..20].try_into().unwrap()) as usize;
    assert_eq!(announced, out.len() - 20);
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    out[24..].chunks(8).map(|pair| (number(&pair[..4]), number(&pair[4..]))).collect()
}

#[test]
fn extents_are_merged_cut_and_counted() {
    let data = |bytes| (bytes, false, false);
    let gone = |bytes| (bytes, true, true);
    assert_eq!(status(0, 1000, &[data(1000)]), [(1000, 0)]);
    assert_eq!(status(0, 1000, &[data(400), data(600)]), [(1000, 0)]);
    assert_eq!(status(0, 1000, &[data(400), gone(u64::MAX)]), [(400, 0), (600, 3)]);
    assert_eq!(status(0, 1000, &[data(0), gone(100), data(0), gone(100), data(100)]), [(200, 3), (100, 0)]);
    assert_eq!(status(0, 1000, &[(10, true, false), (10, false, true)]), [(10, 1), (10, 2)]);
    assert_eq!(status(REQ_ONE, 1000, &[data(400), data(100), gone(500)]), [(500, 0)]);
    assert_eq!(status(REQ_ONE, 1000, &[data(4000), gone(500)]), [(1000, 0)]);
    assert_eq!(status(0, 1000, &[data(1000), gone(500)]), [(1000, 0)], "nothing behind what was asked");
    let many: Vec<_> = (0..2 * MAX_EXTENTS).map(|n| if n % 2 == 0 { data(1) } else { gone(1) }).collect();
    let told = status(0, 1 << 20, &many);
    assert_eq!(told.len(), MAX_EXTENTS);
    assert!(told.iter().enumerate().all(|(n, extent)| *extent == (1, if n % 2 == 0 { 0 } else { 3 })));
}

#[test]
fn no_more_than_so_many_requests_are_in_flight() {
    let mut connection = connection(&simple("card"));
    let bytes = request(0, READ, 1, 0, 512);
    let mut held: Vec<Request> = (0..MAX_IN_FLIGHT).map(|_| ask(&mut connection, &bytes)).collect();
    let mut slots: Vec<usize> = held.iter().map(Request::slot).collect();
    slots.sort_unstable();
    assert_eq!(slots, (0..MAX_IN_FLIGHT).collect::<Vec<_>>());
    let mut out = Vec::new();
    assert_eq!(connection.parse(&bytes, &mut out), (0, Step::Busy));
    // A refused request needs no slot.
    assert_eq!(connection.parse(&request(0, READ, 1, 0, 0), &mut out), (28, Step::Replied));
    let request = held.remove(77);
    connection.answer_read(request, &mut out);
    assert_eq!(ask(&mut connection, &bytes).slot(), 77);
    assert_eq!(connection.parse(&bytes, &mut out), (0, Step::Busy));
}

#[test]
fn no_more_than_so_many_bytes_are_in_flight() {
    let mut connection = connection(&simple("card"));
    let bytes = request(0, READ, 1, 0, 32 << 20);
    let mut held: Vec<Request> = (0..MAX_IN_FLIGHT_BYTES >> 25).map(|_| ask(&mut connection, &bytes)).collect();
    let mut out = Vec::new();
    assert_eq!(connection.parse(&request(0, READ, 1, 0, 1), &mut out), (0, Step::Busy));
    assert_eq!(connection.parse(&write(0, 1, 0, b"x"), &mut out), (0, Step::Busy));
    // Without data there is no limit of data.
    let flush = ask(&mut connection, &request(0, FLUSH, 2, 0, 0));
    connection.answer(flush, &mut out);
    connection.answer_read(held.pop().unwrap(), &mut out);
    let _ = ask(&mut connection, &bytes);
}

#[test]
fn a_payload_that_is_not_there_is_received_elsewhere() {
    let mut connection = connection(&simple("card"));
    let whole = write(0, 1, 0, &[0x5a; 1000]);
    let mut out = Vec::new();
    let (consumed, step) = connection.parse(&whole[..128], &mut out);
    let Step::Write { request, payload } = step else { panic!("{step:?}") };
    assert_eq!((consumed, payload, connection.payload_left_bytes()), (128, 28..128, 900));
    connection.payload_received(899);
    connection.payload_received(1);
    assert_eq!(connection.payload_left_bytes(), 0);
    assert_eq!(connection.parse(&[], &mut out), (0, Step::NeedMore { at_least_bytes: 28 }));
    connection.answer(request, &mut out);
    assert_eq!(out.len(), 16);
}

#[test]
fn disc_waits_for_what_is_in_flight_and_for_nothing_behind_it() {
    let mut connection = connection(&simple("card"));
    let held = read(&mut connection, 0);
    let mut out = Vec::new();
    let bytes = [request(0, DISC, 9, 0, 0), request(0, READ, 1, 0, 512)].concat();
    assert_eq!(connection.parse(&bytes, &mut out), (28, Step::Drain));
    assert_eq!(connection.parse(&bytes[28..], &mut out), (0, Step::Drain));
    connection.answer_read(held, &mut out);
    assert_eq!(out.len(), 16, "DISC itself is not answered");
    assert_eq!(connection.parse(&bytes[28..], &mut out), (0, Step::Close(Close::Disconnected)));
    assert_eq!(connection.parse(&bytes[28..], &mut out), (0, Step::Close(Close::Disconnected)));
}

#[test]
fn disc_with_nothing_in_flight_closes_at_once() {
    for bytes in [request(0, DISC, 9, 0, 0), request(0xffff, DISC, 9, 1, u32::MAX)] {
        let step = connection(&simple("card")).parse(&bytes, &mut Vec::new());
        assert_eq!(step, (28, Step::Close(Close::Disconnected)));
    }
}

#[test]
fn what_is_in_flight_when_a_connection_ends_is_answered_or_given_up() {
    let mut connection = connection(&simple("card"));
    let (first, second) = (read(&mut connection, 0), read(&mut connection, 0));
    assert_eq!(connection.end_of_stream(0), Close::Vanished { in_flight: 2 });
    connection.abandon(first);
    connection.answer_error(second, Errno::Io, "", &mut Vec::new());
    assert_eq!(connection.in_flight(), 0);
    assert_eq!(connection.end_of_stream(5), Close::Vanished { in_flight: 2 }, "the first reason stays");
}

#[test]
fn a_stream_that_ends_within_a_message_is_told_from_one_that_ends_between_two() {
    let vanished = Close::Vanished { in_flight: 0 };
    let truncated = Close::Truncated { in_flight: 0 };
    assert_eq!(connection(&simple("card")).end_of_stream(0), vanished);
    assert_eq!(connection(&simple("card")).end_of_stream(27), truncated);
    let mut within = connection(&simple("card"));
    let (consumed, _) = within.parse(&request(0, WRITE, 1, u64::MAX, 512), &mut Vec::new());
    assert_eq!((consumed, within.end_of_stream(0)), (28, truncated.clone()));
    let mut fresh = Connection::new(exports(), Tls::Off, &mut Vec::new());
    assert_eq!(fresh.end_of_stream(0), vanished);
}

#[test]
#[should_panic(expected = "answered twice, or elsewhere")]
fn a_request_is_not_answered_on_another_connection() {
    let request = read(&mut connection(&simple("card")), 0);
    connection(&simple("card")).answer_read(request, &mut Vec::new());
}

#[test]
#[should_panic(expected = "is answered with what was asked for")]
fn a_read_is_not_answered_without_data() {
    let mut connection = connection(&simple("card"));
    let request = read(&mut connection, 0);
    connection.answer(request, &mut Vec::new());
}

#[test]
#[should_panic(expected = "a read that nothing was said to yet")]
fn a_flush_is_not_answered_with_data() {
    let mut connection = connection(&simple("card"));
    let request = ask(&mut connection, &request(0, FLUSH, 1, 0, 0));
    connection.answer_read(request, &mut Vec::new());
}

#[test]
#[should_panic(expected = "12287 of 12288 bytes were covered")]
fn a_read_in_parts_tells_of_all() {
    let mut connection = connection(&structured("card"));
    let mut request = read(&mut connection, 0);
    connection.read_hole(&mut request, 0x2fff, &mut Vec::new());
    connection.finish_read(request);
}

#[test]
#[should_panic(expected = "a chunk is a part of what was asked for")]
fn a_read_in_parts_tells_of_no_more() {
    let mut connection = connection(&structured("card"));
    let mut request = read(&mut connection, 0);
    connection.read_hole(&mut request, 0x3001, &mut Vec::new());
}

#[test]
#[should_panic(expected = "to be answered as one")]
fn an_unfragmented_read_has_no_holes() {
    let mut connection = connection(&structured("card"));
    let mut request = read(&mut connection, DF);
    connection.read_hole(&mut request, 512, &mut Vec::new());
}

#[test]
#[should_panic(expected = "at least one extent")]
fn block_status_is_not_answered_with_nothing() {
    status(0, 1000, &[]);
}

#[test]
#[should_panic(expected = "are to be received before parsing goes on")]
fn a_payload_is_received_before_parsing_goes_on() {
    let mut connection = connection(&simple("card"));
    let _ = ask(&mut connection, &request(0, WRITE, 1, 0, 512));
    let _ = connection.parse(&[], &mut Vec::new());
}

#[test]
#[should_panic(expected = "of an open connection are answered")]
fn requests_of_an_open_connection_are_not_given_up() {
    let mut connection = connection(&simple("card"));
    let request = read(&mut connection, 0);
    connection.abandon(request);
}

#[test]
fn an_error_of_the_server_reaches_the_client() {
    let mut connection = connection(&simple("card"));
    let request = ask(&mut connection, &write(0, 4, 0, b"x"));
    let mut out = Vec::new();
    connection.answer_error(request, Errno::Io, "", &mut out);
    assert_eq!(out[4..8], EIO.to_be_bytes());
}
