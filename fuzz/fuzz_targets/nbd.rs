//! Any bytes as an NBD client's: each request is answered once, in whatever pieces it comes, and nothing is said before
//! TLS where it is required.
#![no_main]

#[path = "../../crates/wire/tests/common/mod.rs"]
mod common;

use common::client::{answered_cookies, hello, simple, structured, to_be_answered};
use common::exports;
use common::server::{Event, Server};
use libfuzzer_sys::fuzz_target;
use wire::Tls;

fuzz_target!(|data: &[u8]| {
    let Some(([how, hold, most], stream)) = data.split_first_chunk() else { return };
    let tls = [Tls::Off, Tls::Offered, Tls::Required][usize::from(how % 3)];
    // Most streams begin where chance alone seldom gets.
    let begin = match how / 3 % 4 {
        0 => Vec::new(),
        1 => hello(),
        2 => simple("sectors"),
        _ => structured("card"),
    };
    let mut whole = Server::new(exports(), tls);
    let mut pieces = Server::new(exports(), tls);
    for server in [&mut whole, &mut pieces] {
        server.hold = usize::from(hold % 150);
        server.feed(&begin);
    }
    let established = whole.ready_at.is_some();
    assert!(!(established && tls == Tls::Required), "no export without TLS where it is required");
    whole.feed(stream);
    stream.chunks(1 + usize::from(*most)).for_each(|piece| pieces.feed(piece));
    for server in [&mut whole, &mut pieces] {
        server.end();
        assert_eq!(server.connection.in_flight(), 0);
        if server.ready_at.is_some() {
            let answered = answered_cookies(&server.replies());
            assert!(!established || answered == to_be_answered(stream));
        }
        let safe = tls != Tls::Required || server.events.contains(&Event::StartTls);
        assert!(safe || server.ready_at.is_none(), "no export without TLS where it is required");
    }
    // With TLS it matters what is there already behind STARTTLS.
    if tls == Tls::Off {
        assert_eq!(whole.events, pieces.events);
        assert_eq!(whole.out, pieces.out);
        assert_eq!(whole.data, pieces.data);
    }
});
