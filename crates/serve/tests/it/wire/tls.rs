//! TLS: when it is had, and that nothing gets around it.

use super::common::client::{
    ABORT, ACK, BLOCK_STATUS, EINVAL, EXPORT_NAME, FIXED, GO, INFO, INVALID, LIST, LIST_META, POLICY, READ, SET_META,
    STARTTLS, STRUCTURED, TLS_REQD, TOO_BIG, flags, go, hello, info, option, option_header, queries, request,
};
use super::common::server::{Event, Server};
use super::common::{exports, hex};
use serve::wire::{Close, Connection, Step, Tls};

fn starttls() -> Vec<u8> {
    option(STARTTLS, &[])
}

#[test]
fn starttls_is_acknowledged_where_there_is_tls() {
    for tls in [Tls::Offered, Tls::Required] {
        let server = Server::told(tls, &[hello(), hex("49484156454f5054 00000005 00000000")].concat());
        assert_eq!(server.out[18..], hex("0003e889045565a9 00000005 00000001 00000000"));
        assert_eq!(server.events, [Event::StartTls]);
    }
}

#[test]
fn starttls_is_against_policy_where_there_is_none_and_nothing_asks_for_it() {
    let server = Server::told(Tls::Off, &[hello(), starttls(), option(LIST, &[]), go("card")].concat());
    let kinds: Vec<u32> = server.option_replies().iter().map(|reply| reply.1).collect();
    assert_eq!(kinds[0], POLICY);
    assert!(!kinds.contains(&TLS_REQD));
    assert_eq!(server.events, [Event::Ready(0)]);
}

#[test]
fn starttls_with_data_or_a_second_time_is_invalid() {
    let server = Server::told(Tls::Required, &[hello(), option(STARTTLS, &[0])].concat());
    assert_eq!(server.option_replies()[0].1, INVALID);
    assert_eq!(server.events, []);
    for tls in [Tls::Offered, Tls::Required] {
        let mut server = Server::told(tls, &[hello(), starttls()].concat());
        server.feed(&starttls());
        assert_eq!(server.option_replies()[1].1, INVALID);
        assert_eq!(server.events, [Event::StartTls]);
    }
}

#[test]
fn before_required_tls_every_option_but_starttls_and_abort_is_refused_and_no_name_is_said() {
    let options = [
        option(LIST, b"junk"),
        option(LIST, &[]),
        option(INFO, &info(b"card", &[1, 2, 3])),
        option(INFO, &info(b"disk", &[])),
        option(GO, &info(b"card", &[])),
        option(GO, b"malformed"),
        option(STRUCTURED, &[]),
        option(LIST_META, &queries(b"card", &[])),
        option(SET_META, &queries(b"card", &[b"base:allocation"])),
        option(4711, b"?"),
        option(GO, &vec![0; 1 << 20]),
    ];
    for bytes in &options {
        let server = Server::told(Tls::Required, &[hello(), bytes.clone()].concat());
        let replies = server.option_replies();
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0].1, TLS_REQD);
        assert_eq!(replies[0].2, b"this server requires TLS", "the same for all");
        assert_eq!(server.events, []);
    }
    let server = Server::told(Tls::Required, &[hello(), option(ABORT, &[])].concat());
    assert_eq!(server.option_replies(), [(ABORT, ACK, vec![])]);
}

#[test]
fn export_name_before_required_tls_ends_the_connection_whether_the_export_is_there_or_not() {
    for client in [hello(), flags(0)] {
        for name in [&b"card"[..], b"disk", b"", &[0xff], &[b'x'; 5000]] {
            let server = Server::told(Tls::Required, &[client.clone(), option(EXPORT_NAME, name)].concat());
            assert_eq!(server.events, [Event::Closed(Close::TlsRequired)]);
            assert_eq!(server.out.len(), 18, "nothing is answered");
        }
    }
}

#[test]
fn a_client_that_hides_fixed_newstyle_gets_no_tls_and_nothing_without_it() {
    let server = Server::told(Tls::Required, &[flags(0), starttls()].concat());
    assert_eq!(server.events, [Event::Closed(Close::NotFixedNewstyle(STARTTLS))]);
}

#[test]
fn behind_tls_everything_is_to_be_had_and_tls_is_never_asked_for_again() {
    let mut server = Server::told(Tls::Required, &[flags(FIXED), starttls()].concat());
    server.feed(&[option(LIST, &[]), option(INFO, &info(b"disk", &[])), option(GO, &vec![0; 70_000])].concat());
    server.feed(&go("card"));
    let kinds: Vec<u32> = server.option_replies().iter().map(|reply| reply.1).collect();
    assert!(!kinds.contains(&TLS_REQD) && kinds.contains(&TOO_BIG));
    assert_eq!(server.events, [Event::StartTls, Event::Ready(0)]);
}

#[test]
fn what_was_negotiated_in_plaintext_is_forgotten() {
    let set = option(SET_META, &queries(b"card", &[b"base:allocation"]));
    let mut server = Server::told(Tls::Offered, &[hello(), option(STRUCTURED, &[]), set.clone(), starttls()].concat());
    // Structured replies are gone, so contexts can't be selected; block status is not to be had.
    server.feed(&[set, go("card"), request(0, READ, 1, 0, 512), request(0, BLOCK_STATUS, 2, 0, 512)].concat());
    assert!(server.option_replies().iter().any(|reply| (reply.0, reply.1) == (SET_META, INVALID)));
    let replies = server.replies();
    assert!(!server.connection.is_structured());
    assert_eq!(replies[0], super::common::client::Reply::Simple { cookie: 1, errno: 0 });
    assert_eq!(replies[1], super::common::client::Reply::Simple { cookie: 2, errno: EINVAL });
    // The selection alone is forgotten too.
    let mut server = Server::told(
        Tls::Offered,
        &[hello(), option(STRUCTURED, &[]), option(SET_META, &queries(b"card", &[b"base:allocation"])), starttls()]
            .concat(),
    );
    server.feed(&[option(STRUCTURED, &[]), go("card"), request(0, BLOCK_STATUS, 2, 0, 512)].concat());
    assert_eq!(server.replies()[0].errno(), EINVAL);
}

#[test]
fn plaintext_behind_starttls_ends_the_connection_before_anything_is_answered() {
    for (count, behind) in [(1, vec![0x16]), (16, option(LIST, &[])), (26, go("card"))] {
        for tls in [Tls::Offered, Tls::Required] {
            let server = Server::told(tls, &[hello(), starttls(), behind.clone()].concat());
            assert_eq!(server.events, [Event::Closed(Close::PlaintextBehindStartTls(count))]);
            assert_eq!(server.out.len(), 18, "nothing is answered");
        }
    }
}

#[test]
fn refused_starttls_lets_what_is_behind_it_be_heard() {
    // There is no TLS to be smuggled into.
    let server = Server::told(Tls::Off, &[hello(), starttls(), go("card")].concat());
    assert_eq!(server.events, [Event::Ready(0)]);
}

#[test]
fn half_a_starttls_is_answered_only_when_the_other_half_came() {
    let bytes = [hello(), option_header(STARTTLS, 0)].concat();
    for cut in 0..bytes.len() {
        let mut server = Server::told(Tls::Required, &bytes[..cut]);
        assert_eq!((server.out.len(), server.events.len()), (18, 0));
        server.feed(&bytes[cut..]);
        assert_eq!(server.events, [Event::StartTls]);
    }
}

#[test]
#[should_panic(expected = "while TLS is negotiated")]
fn nothing_is_parsed_while_tls_is_negotiated() {
    let mut out = Vec::new();
    let mut connection = Connection::new(exports(), Tls::Offered, &mut out);
    let (_, step) = connection.parse(&[hello(), starttls()].concat(), &mut out);
    assert_eq!(step, Step::StartTls);
    let _ = connection.parse(&option(LIST, &[]), &mut out);
}

#[test]
#[should_panic(expected = "TLS was not asked for")]
fn tls_does_not_start_unasked() {
    Connection::new(exports(), Tls::Offered, &mut Vec::new()).tls_started();
}
