//! However a stream is cut into pieces, it gives the same output and the same events.

use super::common::Dice;
use super::common::client::{
    ABORT, BLOCK_STATUS, CACHE, DISC, EXPORT_NAME, FIXED, FLUSH, GO, INFO, LIST, LIST_META, NO_ZEROES, READ, SET_META,
    STARTTLS, STRUCTURED, TRIM, WRITE_ZEROES, flags, info, option, queries, request, write,
};
use super::common::exports;
use super::common::server::Server;
use proptest::prelude::*;
use serve::wire::Tls;

fn name() -> impl Strategy<Value = &'static [u8]> {
    prop_oneof![
        4 => Just(&b"card"[..]),
        1 => Just(&b""[..]),
        1 => Just(&b"sealed"[..]),
        1 => Just(&b"sectors"[..]),
        1 => Just(&b"disk"[..]),
        1 => Just(&b"\xff"[..]),
    ]
}

/// An option that does not choose an export.
fn an_option() -> impl Strategy<Value = Vec<u8>> {
    let kinds = proptest::collection::vec(0_u16..5, 0..4);
    let query = prop_oneof![Just("base:allocation"), Just("base:"), Just("x"), Just("qemu:x")].prop_map(str::as_bytes);
    let asked = proptest::collection::vec(query, 0..3);
    prop_oneof![
        Just(option(LIST, &[])),
        Just(option(STRUCTURED, &[])),
        (name(), kinds).prop_map(|(name, kinds)| option(INFO, &info(name, &kinds))),
        (prop_oneof![Just(LIST_META), Just(SET_META)], name(), asked)
            .prop_map(|(number, name, asked)| option(number, &queries(name, &asked))),
        (0_u32..20, 0_usize..300)
            .prop_filter("does not choose", |(number, _)| ![EXPORT_NAME, ABORT, STARTTLS, GO].contains(number))
            .prop_map(|(number, length)| option(number, &vec![0x49; length])),
    ]
}

fn choice() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => name().prop_map(|name| option(GO, &info(name, &[3]))),
        2 => name().prop_map(|name| option(EXPORT_NAME, name)),
        1 => Just(option(ABORT, b"now")),
    ]
}

fn a_request() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![
        6 => Just(READ), 1 => Just(FLUSH), 1 => Just(TRIM), 1 => Just(CACHE),
        1 => Just(WRITE_ZEROES), 2 => Just(BLOCK_STATUS), 1 => 8_u16..12,
    ];
    let place = prop_oneof![Just(0_u64), Just(4096), Just(1 << 29), Just(1 << 30), Just(u64::MAX), any::<u64>()];
    let length = prop_oneof![Just(0_u32), Just(1), Just(512), Just(4096), Just(32 << 20), any::<u32>()];
    let flags = prop_oneof![8 => Just(0_u16), 3 => 0_u16..32, 1 => any::<u16>()];
    prop_oneof![
        5 => (flags, kind, any::<u64>(), place, length)
            .prop_map(|(flags, kind, cookie, offset, length)| request(flags, kind, cookie, offset, length)),
        3 => (0_u16..3, any::<u64>(), prop_oneof![Just(0_u64), Just(4096), Just(1 << 30)], 0_usize..6000)
            .prop_map(|(flags, cookie, offset, length)| write(flags, cookie, offset, &vec![0x25; length])),
    ]
}

/// A session, in segments of which each but the first comes through TLS.
fn session() -> impl Strategy<Value = (Tls, Vec<Vec<u8>>)> {
    let tls = prop_oneof![Just(Tls::Off), Just(Tls::Offered), Just(Tls::Required)];
    let hello = prop_oneof![9 => Just(FIXED | NO_ZEROES), 1 => 0_u32..5].prop_map(flags);
    let options = || proptest::collection::vec(an_option(), 0..5);
    let requests = proptest::collection::vec(a_request(), 0..40);
    (tls, hello, options(), any::<bool>(), options(), choice(), requests, any::<bool>()).prop_map(
        |(tls, hello, before, starts, behind, choice, requests, says_goodbye)| {
            let goodbye = if says_goodbye { request(0, DISC, 0, 0, 0) } else { Vec::new() };
            let mut first = [hello, before.concat()].concat();
            let rest = [behind.concat(), choice, requests.concat(), goodbye].concat();
            if tls != Tls::Off && starts {
                first.extend(option(STARTTLS, &[]));
                (tls, vec![first, rest])
            } else {
                (tls, vec![[first, rest].concat()])
            }
        },
    )
}

/// A server that was told the segments in pieces of up to `most` bytes.
fn told(tls: Tls, segments: &[Vec<u8>], hold: usize, most: usize, dice: &mut Dice) -> Server {
    let mut server = Server::new(exports(), tls);
    server.hold = hold;
    for segment in segments {
        let mut rest = &segment[..];
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at((1 + dice.index(most)).min(rest.len()));
            server.feed(piece);
            rest = behind;
        }
    }
    server.end();
    server
}

fn assert_same(one: &Server, other: &Server) {
    assert_eq!(one.out, other.out);
    assert_eq!(one.data, other.data);
    assert_eq!(one.events, other.events);
    assert_eq!(one.connection.in_flight(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn sessions_are_the_same_in_any_pieces((tls, segments) in session(), seed: u64, hold in 0_usize..20) {
        let mut dice = Dice(seed);
        let whole = told(tls, &segments, hold, usize::MAX >> 1, &mut dice);
        for most in [1, 3, 40, 5000] {
            assert_same(&whole, &told(tls, &segments, hold, most, &mut dice));
        }
    }

    #[test]
    fn damaged_sessions_are_the_same_in_any_pieces(
        (_, segments) in session(), seed: u64, hits in 1_usize..6, hold in 0_usize..4,
    ) {
        // Without TLS, where a cut behind STARTTLS makes no difference.
        let mut dice = Dice(seed);
        let mut bytes = segments.concat();
        for _ in 0..hits {
            let at = dice.index(bytes.len());
            bytes[at] ^= 1 << dice.below(8);
        }
        let segments = [bytes];
        let whole = told(Tls::Off, &segments, hold, usize::MAX >> 1, &mut dice);
        for most in [1, 7, 100] {
            assert_same(&whole, &told(Tls::Off, &segments, hold, most, &mut dice));
        }
    }
}
