//! Takes any bytes as those of an NBD client, in any pieces: each request is answered once, and where TLS is required the
//! client learns nothing before it.
#![no_main]

#[path = "../../crates/serve/tests/it/wire/common/mod.rs"]
mod common;
mod counted;

use common::client::{
    answered_cookies, hello, info, option, queries, request, simple, structured, to_be_answered, write,
};
use common::exports;
use common::server::{Event, Server};
use libfuzzer_sys::fuzz_target;
use serve::wire::Tls;

/// Makes messages, most of them well formed, from a few bytes each, because chance alone seldom does.
fn messages(bytes: &[u8]) -> Vec<u8> {
    let name = |byte: u8| [&b"card"[..], b"", b"sealed", b"sectors", b"\xff"][usize::from(byte % 5)];
    let place = |byte: u8| u64::from(byte >> 4) << [0, 9, 12, 26, 30, 60][usize::from(byte & 15) % 6];
    let length = |byte: u8| u32::from(byte >> 4) << [0, 9, 12, 21, 28][usize::from(byte & 15) % 5];
    let message = |part: &[u8]| {
        let &[kind, a, b, c, d] = part else { return part.to_vec() };
        match kind % 8 {
            0 => option(u32::from(a % 16), &vec![b; usize::from(c) * usize::from(d % 3)]),
            1 => option(6 + u32::from(a % 2), &info(name(b), &[u16::from(c), u16::from(d)])),
            2 => option(9 + u32::from(a % 2), &queries(name(b), &[&b"base:allocation"[..usize::from(c % 16)]])),
            3 => option([1, 5, 8][usize::from(a % 3)], if a % 3 == 0 { name(b) } else { b"" }),
            4 => write(u16::from(a % 4), u64::from(b), place(c), &vec![0x25; usize::from(d) * 3]),
            5 => part.to_vec(),
            _ => request(u16::from(a >> 3), u16::from(a % 10), u64::from(b), place(c), length(d)),
        }
    };
    bytes.chunks(5).map(message).collect::<Vec<_>>().concat()
}

fuzz_target!(|data: &[u8]| {
    let Some(([how, hold, most], stream)) = data.split_first_chunk() else { return };
    let tls = [Tls::Off, Tls::Offered, Tls::Required][usize::from(how % 3)];
    let begin = match how / 3 % 4 {
        0 => Vec::new(),
        1 => hello(),
        2 => simple("sectors"),
        _ => structured("card"),
    };
    let stream = if how / 12 % 2 == 0 { stream.to_vec() } else { messages(stream) };
    let mut whole = Server::new(exports(), tls);
    let mut pieces = Server::new(exports(), tls);
    for server in [&mut whole, &mut pieces] {
        server.hold = usize::from(hold % 150);
        server.feed(&begin);
    }
    let established = whole.ready_at.is_some();
    assert!(!(established && tls == Tls::Required), "no export without TLS where it is required");
    whole.feed(&stream);
    stream.chunks(1 + usize::from(*most)).for_each(|piece| pieces.feed(piece));
    counted::parsed(2 * stream.len());
    for server in [&mut whole, &mut pieces] {
        server.end();
        assert_eq!(server.connection.in_flight(), 0);
        if server.ready_at.is_some() {
            let answered = answered_cookies(&server.replies());
            assert!(!established || answered == to_be_answered(&stream));
        }
        let safe = tls != Tls::Required || server.events.contains(&Event::StartTls);
        assert!(safe || server.ready_at.is_none(), "no export without TLS where it is required");
    }
    // With TLS, the bytes that have already arrived behind STARTTLS matter.
    if tls == Tls::Off {
        assert_eq!(whole.events, pieces.events);
        assert_eq!(whole.out, pieces.out);
        assert_eq!(whole.data, pieces.data);
    }
});
