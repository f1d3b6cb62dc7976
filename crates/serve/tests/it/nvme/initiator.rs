//! The initiator without sockets: PDUs of a controller that are possible, and those that are not.

use serve::nvme::initiator::{Arrival, Ask, Broken, Completion, HostQueue};
use serve::nvme::{Close, Status};

/// The most bytes of a PDU of data that the controller of these tests takes.
const MOST: u32 = 8 << 10;

fn initialized() -> Vec<u8> {
    let mut bytes = vec![0u8; 128];
    (bytes[0], bytes[2], bytes[4], bytes[11]) = (1, 128, 128, 3);
    bytes[12..16].copy_from_slice(&MOST.to_le_bytes());
    bytes
}

/// A PDU with its digests; `sum` is added to that of the data.
fn pdu(kind: u8, flags: u8, fields: &[(usize, u32)], data: &[u8], sum: u32) -> Vec<u8> {
    let mut header = vec![0u8; 24];
    let tail = if data.is_empty() { 0 } else { data.len() as u32 + 4 };
    let digests = if data.is_empty() { 1 } else { 3 };
    (header[0], header[1], header[2], header[3]) = (kind, flags | digests, 24, if data.is_empty() { 0 } else { 28 });
    header[4..8].copy_from_slice(&(28 + tail).to_le_bytes());
    for (at, value) in fields {
        header[*at..*at + 4].copy_from_slice(&value.to_le_bytes());
    }
    let mut bytes = [&header[..], &crc32c::crc32c(&header).to_le_bytes()].concat();
    if !data.is_empty() {
        bytes.extend_from_slice(data);
        bytes.extend((crc32c::crc32c(data).wrapping_add(sum)).to_le_bytes());
    }
    bytes
}

fn response(id: u16, status: Status) -> Vec<u8> {
    pdu(5, 0, &[(20, u32::from(id) | u32::from(status.field()) << 16)], &[], 0)
}

fn ready(id: u16, tag: u16, offset: u32, length: u32) -> Vec<u8> {
    pdu(9, 0, &[(8, u32::from(id) | u32::from(tag) << 16), (12, offset), (16, length)], &[], 0)
}

fn data(id: u16, flags: u8, offset: u32, data: &[u8]) -> Vec<u8> {
    pdu(7, flags, &[(8, id.into()), (12, offset), (16, data.len() as u32)], data, 0)
}

/// A queue with a read of two blocks and a write of 64 KiB behind R2Ts: it, and the identifiers of both.
fn queue() -> (HostQueue, u16, u16) {
    let mut out = Vec::new();
    let mut queue = HostQueue::begin(&mut out);
    assert!(matches!(queue.parse(&initialized()), Ok((128, Arrival::Initialized))));
    let mut ids = [0; 2];
    for (id, ask) in ids.iter_mut().zip([Ask::read(1, 0, 2, 4096), Ask::write(1, 0, 16, 4096, true)]) {
        let mut out = Vec::new();
        queue.send(&ask, &vec![1; ask.write_bytes as usize], &mut out);
        assert_eq!(out.len(), 76, "the data come later");
        *id = u16::from_le_bytes([out[10], out[11]]);
    }
    (queue, ids[0], ids[1])
}

#[test]
fn data_are_taken_in_their_order_and_asked_for_once() {
    let (mut queue, read, write) = queue();
    let mut arrivals = Vec::new();
    let stream = [
        ready(write, 7, 0, 20_000),
        data(read, 0, 0, &[5; 4096]),
        ready(write, 8, 20_000, 45_536),
        data(read, 4, 4096, &[6; 4096]),
        response(write, Status::SUCCESS),
        response(read, Status::SUCCESS),
    ]
    .concat();
    let mut at = 0;
    let mut out = Vec::new();
    while at < stream.len() {
        let (consumed, arrival) = queue.parse(&stream[at..]).unwrap();
        if let Arrival::Wants { slot, tag, offset, length } = arrival {
            queue.send_data(slot, tag, offset, &vec![1; length as usize], &mut out);
        }
        arrivals.push(arrival);
        at += consumed;
    }
    let ended = |arrival: &Arrival| matches!(arrival, Arrival::Completed(Completion { status: Status::SUCCESS, .. }));
    assert_eq!(arrivals.iter().filter(|arrival| ended(arrival)).count(), 2, "{arrivals:?}");
    assert_eq!(queue.in_flight(), 0);
    // 20,000 bytes are three PDUs of 8 KiB at most, 45,536 are six: each with a header, two digests.
    assert_eq!(out.len(), 65_536 + 9 * 32);
}

#[test]
fn a_read_ends_with_its_last_data_where_the_controller_says_so() {
    let (mut queue, read, _) = queue();
    let first = data(read, 0, 0, &[5; 4096]);
    queue.parse(&first).unwrap();
    let last = data(read, 4 | 8, 4096, &[5; 4096]);
    let (_, arrival) = queue.parse(&last).unwrap();
    assert!(matches!(arrival, Arrival::Data { completion: Some(Completion { status: Status::SUCCESS, .. }), .. }));
    // Its identifier is not one of a command in flight any more.
    assert_eq!(queue.parse(&response(read, Status::SUCCESS)), Err(Broken::Unknown { id: read }));
}

#[test]
fn damaged_data_fail_their_command_and_not_the_connection() {
    let (mut queue, read, _) = queue();
    let damaged = pdu(7, 4 | 8, &[(8, read.into()), (16, 8192)], &[5; 8192], 1);
    let (_, arrival) = queue.parse(&damaged).unwrap();
    let Arrival::Data { completion: Some(Completion { status, .. }), .. } = arrival else { panic!("{arrival:?}") };
    assert_eq!(status, Status::TRANSIENT_TRANSPORT_ERROR);
    assert_eq!(queue.in_flight(), 1);
}

/// The name of what a controller sends, its bytes, and the reason that is expected.
type Case = (&'static str, Vec<u8>, fn(&Broken) -> bool);

#[test]
fn all_else_breaks_the_connection() {
    let (_, read, write) = queue();
    let stranger = read ^ 1 << 7;
    let wrong_digest = {
        let mut bytes = response(read, Status::INVALID_FIELD);
        bytes[25] ^= 1;
        bytes
    };
    let cases: Vec<Case> = vec![
        ("an earlier command", response(stranger, Status::SUCCESS), |of| matches!(of, Broken::Unknown { .. })),
        ("a slot that is free", response(9, Status::SUCCESS), |of| matches!(of, Broken::Unknown { .. })),
        ("a slot that is none", response(127, Status::SUCCESS), |of| matches!(of, Broken::Unknown { .. })),
        ("a read without data", response(read, Status::SUCCESS), |of| matches!(of, Broken::Short { .. })),
        ("a write without data", response(write, Status::SUCCESS), |of| matches!(of, Broken::Short { .. })),
        ("data of a write", data(write, 4, 0, &[1; 512]), |of| matches!(of, Broken::Data { .. })),
        ("data behind a gap", data(read, 4, 4096, &[1; 512]), |of| matches!(of, Broken::Data { .. })),
        ("too many data", data(read, 4, 0, &[1; 8196]), |of| matches!(of, Broken::Data { .. })),
        ("an end before the end", data(read, 4 | 8, 0, &[1; 4096]), |of| matches!(of, Broken::Short { .. })),
        ("a success that is not the last", data(read, 8, 0, &[1; 8192]), |of| matches!(of, Broken::Short { .. })),
        ("a want of a read", ready(read, 0, 0, 512), |of| matches!(of, Broken::Wants { .. })),
        ("a want of too much", ready(write, 0, 0, 65_540), |of| matches!(of, Broken::Wants { .. })),
        ("a want behind a gap", ready(write, 0, 4, 512), |of| matches!(of, Broken::Wants { .. })),
        ("a want of nothing", ready(write, 0, 0, 0), |of| matches!(of, Broken::Wants { .. })),
        ("a wrong digest", wrong_digest, |of| matches!(of, Broken::Pdu(Close::HeaderDigest { .. }))),
        ("a second beginning", initialized(), |of| matches!(of, Broken::Pdu(Close::Sequence { .. }))),
        ("a command", vec![4, 1, 72, 0, 76, 0, 0, 0], |of| matches!(of, Broken::Pdu(Close::InvalidField { .. }))),
    ];
    for (name, bytes, is_it) in cases {
        let (mut queue, ..) = queue();
        let broken = queue.parse(&bytes).expect_err(name);
        assert!(is_it(&broken), "{name}: {broken:?}");
        assert!(!broken.to_string().contains('\n'));
    }
}
