//! Takes any bytes as those of an NVMe host, in any pieces, on an admin and an I/O queue: each command is answered once, and
//! the card is asked for nothing outside of it.
#![no_main]

#[path = "../../crates/serve/tests/it/nvme/common/mod.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod common;
mod counted;

use common::host::{self, Digests, Entry};
use common::server::{Server, Shared};
use libfuzzer_sys::fuzz_target;
use serve::nvme::Secrets;

/// Most of the time would go into larger cards: they are zeroed before each input and compared after it.
const CARD_BYTES: usize = 1 << 20;
/// A secret as nvme-cli makes it.
const SECRET: &str = "DHHC-1:01:pNtvc8BuOnDA1mQdDh7judViMu9A86KEqiPkn4RC7OnnSErO:";

/// An entry, most of its fields plausible, from a few bytes, because chance alone seldom makes one.
fn entry(part: [u8; 6]) -> Entry {
    let [opcode, flags, id, place, a, b] = part;
    let first = u64::from(a) << [0, 0, 2, 56][usize::from(b & 3)];
    let mut entry = host::entry(opcode, id.into(), u32::from(flags >> 4)).blocks(first, 1 + u32::from(b >> 2));
    entry.0[1] = if flags & 15 == 1 { b } else { 0x40 };
    let length = [0, 16, 512, 1024, 4096, 8192, (u32::from(b >> 2) + 1) * 4096, u32::MAX][usize::from(place & 7)];
    if place & 8 != 0 { entry.capsule((place >> 6).into(), length) } else { entry.transport(length) }
}

/// A message of an authentication, in an Authentication Send, or a Receive for the next one.
fn authentication([a, b, c, d, e, f]: [u8; 6], digests: Digests) -> Vec<u8> {
    let command = |kind: u8, length: u32| {
        host::entry(0x7F, c.into(), 0).byte(4, kind).byte(41, 1).byte(42, 1).byte(43, 0xE9).dword(11, length)
    };
    if a & 1 == 0 {
        return host::command(command(6, 2048).transport(2048), &[], digests);
    }
    let mut message = vec![e; 16 + usize::from(f)];
    (message[0], message[1], message[4], message[5]) = (a >> 1 & 1, b % 5, 7, 0);
    if message[..2] == [0, 0] {
        message.resize(72, 0);
        (message[6], message[7], message[8], message[9], message[10], message[11]) = (0, d % 3, 1, 0, e % 5, f % 3);
        message[12..16].copy_from_slice(&[1, 2, 3, 0]);
        message[42..44].copy_from_slice(&[0, 1]);
    }
    let length = message.len() as u32;
    host::command(command(5, length).capsule(0, length), &message, digests)
}

/// Makes PDUs, most of them well formed.
fn pdus(bytes: &[u8], digests: Digests) -> Vec<u8> {
    let pdu = |part: &[u8]| {
        let &[kind, a, b, c, d, e, f] = part else { return part.to_vec() };
        let mut bytes = match kind % 8 {
            0 => host::data(b.into(), c.into(), u32::from(d) << 9, &vec![e; usize::from(f) * 64], a & 1 == 0, digests),
            1 => host::command(
                host::property_set(b.into(), c.into(), u64::from(d) << (e % 24) | u64::from(f)),
                &[],
                digests,
            ),
            2 => host::connect(a.into(), u16::from(b) + 1, c.into(), host::SUBSYSTEM, digests),
            3 => part.to_vec(),
            4 => authentication([a, b, c, d, e, f], digests),
            _ => host::command(entry([a, b, c, d, e, f]), &vec![b; usize::from(f) * 16], digests),
        };
        // Sometimes a field is wrong.
        if kind >= 0xE0 && !bytes.is_empty() {
            let at = usize::from(f) % bytes.len().min(80);
            bytes[at] ^= 1 << (e & 7);
        }
        bytes
    };
    bytes.chunks(7).map(pdu).collect::<Vec<_>>().concat()
}

fuzz_target!(|data: &[u8]| {
    let Some(([how, hold, most], stream)) = data.split_first_chunk() else { return };
    if let Some(kept) = serve::nvme::Reservations::of_bytes(stream) {
        assert_eq!(kept.to_bytes(), stream, "a file that is believed is one that was written");
    }
    let digests = Digests { header: how & 1 != 0, data: how & 2 != 0 };
    let stream = if how & 4 == 0 { pdus(stream, digests) } else { stream.to_vec() };
    let mut found = Vec::new();
    for piece in [usize::MAX, 1 + usize::from(*most)] {
        let mut shared = Shared::with_card(CARD_BYTES);
        let secrets = (how >> 5 & 1 != 0).then(|| Secrets { host: SECRET.parse().unwrap(), controller: None });
        let mut server = match how >> 3 & 3 {
            0 => Server::new(&mut shared),
            1 => Server::initialized(&mut shared, digests),
            2 => Server::admin(&mut shared, host::SUBSYSTEM, digests),
            _ => Server::pair(&mut shared, digests).1,
        };
        shared.secrets = secrets;
        server.hold = usize::from(*hold);
        // The card is elsewhere now and then.
        (shared.stays, shared.steps) = (if how >> 6 & 1 == 0 { 0 } else { 1 + u64::from(*hold >> 4) }, 0);
        stream.chunks(piece).for_each(|piece| server.feed(&mut shared, piece));
        counted::parsed(stream.len());
        server.end(&mut shared);
        assert_eq!(server.queue.in_flight(), server.queue.waiting_for_data());
        found.push((server.out, server.closed, shared.card));
    }
    assert!(found[0].0 == found[1].0 && found[0].1 == found[1].1, "pieces do not matter");
    assert!(found[0].2 == found[1].2, "pieces do not matter to the card");
});
