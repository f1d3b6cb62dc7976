//! Each option and its answer, byte by byte.

use super::common::client::{
    ABORT, ACK, EXPORT_NAME, EXTENDED, FIXED, GO, INFO, INVALID, LIST, NO_ZEROES, REP_INFO, REP_SERVER, SHUTDOWN,
    STRUCTURED, UNKNOWN, UNSUP, flags, go, hello, info, option, option_replies, string,
};
use super::common::server::{Event, Server};
use super::common::{SIZE, exports, hex};
use serve::wire::{Close, Connection, Tls};

/// The bytes that are sent behind the greeting to a client that says hello and then `bytes`.
fn answer(bytes: &[u8]) -> Vec<u8> {
    Server::told(Tls::Off, &[hello(), bytes.to_vec()].concat()).out[18..].to_vec()
}

#[test]
fn the_greeting_is_fixed_newstyle_without_zeroes() {
    let mut out = Vec::new();
    let _ = Connection::new(exports(), Tls::Off, &mut out);
    assert_eq!(out, hex("4e42444d41474943 49484156454f5054 0003"));
}

#[test]
fn export_name_is_answered_with_size_and_flags_and_zeroes_only_where_they_were_not_given_up() {
    let option = hex("49484156454f5054 00000001 00000004 63617264");
    let flags_of_card = "0000000040000000 0d6d";
    for (client, zeroes) in [("00000003", 0), ("00000001", 124), ("00000002", 0), ("00000000", 124)] {
        let server = Server::told(Tls::Off, &[hex(client), option.clone()].concat());
        assert_eq!(server.out[18..], [hex(flags_of_card), vec![0; zeroes]].concat(), "client flags {client}");
        assert_eq!(server.events, [Event::Ready(0)]);
    }
}

#[test]
fn abort_is_acknowledged_with_or_without_data() {
    for data in ["", "00ff00"] {
        let server = Server::told(Tls::Off, &[hello(), option(ABORT, &hex(data))].concat());
        assert_eq!(server.out[18..], hex("0003e889045565a9 00000002 00000001 00000000"));
        assert_eq!(server.events, [Event::Closed(Close::Aborted)]);
    }
}

#[test]
fn list_names_every_export_with_its_description() {
    let out = answer(&hex("49484156454f5054 00000003 00000000"));
    let first = "0003e889045565a9 00000003 00000002 0000000e 00000004 63617264 412063617264";
    assert_eq!(out[..34], hex(first));
    let replies = option_replies(&out);
    let names: Vec<_> = replies.iter().filter(|reply| reply.1 == REP_SERVER).map(|reply| &reply.2[4..]).collect();
    assert_eq!(names, [&b"cardA card"[..], b"sealed", b"sectors", b"bare"]);
    assert_eq!(replies.last(), Some(&(LIST, ACK, vec![])));
}

#[test]
fn list_with_data_is_invalid() {
    assert_eq!(option_replies(&answer(&option(LIST, b"x")))[0].1, INVALID);
}

#[test]
fn structured_reply_is_acknowledged_and_refused_with_data() {
    assert_eq!(answer(&hex("49484156454f5054 00000008 00000000")), hex("0003e889045565a9 00000008 00000001 00000000"));
    assert_eq!(option_replies(&answer(&option(STRUCTURED, &[0])))[0].1, INVALID);
}

#[test]
fn info_tells_what_was_asked_and_size_and_flags_in_any_case() {
    let export = "0003e889045565a9 00000006 00000003 0000000c 0000 0000000040000000 0d6d";
    let name = "0003e889045565a9 00000006 00000003 00000006 0001 63617264";
    let description = "0003e889045565a9 00000006 00000003 00000008 0002 412063617264";
    let sizes = "0003e889045565a9 00000006 00000003 0000000e 0003 00000001 00001000 02000000";
    let ack = "0003e889045565a9 00000006 00000001 00000000";
    let cases: [(&[u16], &[&str]); 6] = [
        (&[], &[export, ack]),
        (&[0], &[export, ack]),
        (&[1], &[export, name, ack]),
        (&[2, 0], &[export, description, ack]),
        (&[3, 99, 3], &[export, sizes, ack]),
        (&[3, 2, 1, 0], &[export, name, description, sizes, ack]),
    ];
    for (kinds, expected) in cases {
        assert_eq!(answer(&option(INFO, &info(b"card", kinds))), hex(&expected.concat()), "{kinds:?}");
    }
}

#[test]
fn info_leaves_out_a_description_that_is_not_there() {
    let replies = option_replies(&answer(&option(INFO, &info(b"sealed", &[2]))));
    assert_eq!(replies.len(), 2, "the export and the acknowledgement");
}

#[test]
fn go_says_the_same_as_info_and_transmission_begins() {
    let named = |option_number: u32| {
        let replies = option_replies(&answer(&option(option_number, &info(b"sectors", &[1, 3]))));
        replies.into_iter().map(|(_, kind, data)| (kind, data)).collect::<Vec<_>>()
    };
    assert_eq!(named(INFO), named(GO));
    assert_eq!(Server::told(Tls::Off, &[hello(), go("sectors")].concat()).events, [Event::Ready(2)]);
    assert_eq!(Server::told(Tls::Off, &[hello(), option(INFO, &info(b"sectors", &[]))].concat()).events, []);
}

#[test]
fn the_empty_name_is_the_first_export_and_its_own_name_is_told() {
    for choose in [option(EXPORT_NAME, b""), go("")] {
        assert_eq!(Server::told(Tls::Off, &[hello(), choose].concat()).events, [Event::Ready(0)]);
    }
    let replies = option_replies(&answer(&option(INFO, &info(b"", &[1]))));
    assert_eq!(replies[1], (INFO, REP_INFO, b"\0\x01card".to_vec()));
}

#[test]
fn an_unknown_export_is_refused_and_another_may_be_chosen() {
    let server = Server::told(Tls::Off, &[hello(), go("disk"), go("card")].concat());
    assert_eq!(server.option_replies()[0].1, UNKNOWN);
    assert_eq!(server.events, [Event::Ready(0)]);
}

#[test]
fn options_of_other_times_and_servers_are_not_supported_and_do_not_end_the_connection() {
    for (number, data) in [(0, 0), (4, 0), (EXTENDED, 0), (12, 300), (u32::MAX, 1 << 20)] {
        let bytes = [hello(), option(number, &vec![0x5a; data]), go("card")].concat();
        let server = Server::told(Tls::Off, &bytes);
        assert_eq!(server.option_replies()[0].1, UNSUP, "option {number}");
        assert_eq!(server.events, [Event::Ready(0)]);
    }
}

#[test]
fn transmission_flags_say_what_the_export_can_do() {
    let flags_of = |name: &str, structured: bool| {
        let ask = if structured { option(STRUCTURED, &[]) } else { Vec::new() };
        let replies = option_replies(&answer(&[ask, option(INFO, &info(name.as_bytes(), &[]))].concat()));
        let data = &replies.iter().find(|reply| reply.1 == REP_INFO).unwrap().2;
        assert_eq!(data[2..10], SIZE.to_be_bytes());
        u16::from_be_bytes([data[10], data[11]])
    };
    // Flags, flush, FUA, trim, zeroes, several connections, cache, fast zeroes.
    assert_eq!(flags_of("card", false), 0b1101_0110_1101);
    // And unfragmented reads.
    assert_eq!(flags_of("card", true), 0b1101_1110_1101);
    // Read-only: nothing that only writes make use of.
    assert_eq!(flags_of("sealed", false), 0b0101_0000_0111);
    assert_eq!(flags_of("bare", false), 1);
    assert_eq!(flags_of("bare", true), 0b1000_0001);
}

#[test]
fn a_client_without_fixed_newstyle_can_choose_an_export_and_nothing_else() {
    for flag in [0, NO_ZEROES] {
        let server = Server::told(Tls::Offered, &[flags(flag), option(EXPORT_NAME, b"card")].concat());
        assert_eq!(server.events, [Event::Ready(0)]);
        for other in [ABORT, LIST, 5, GO, 77] {
            let server = Server::told(Tls::Offered, &[flags(flag), option(other, b"")].concat());
            assert_eq!(server.events, [Event::Closed(Close::NotFixedNewstyle(other))]);
            assert_eq!(server.out.len(), 18, "nothing is answered");
        }
    }
}

#[test]
fn a_server_that_ends_says_so_to_every_option_but_abort() {
    let mut server = Server::new(exports(), Tls::Off);
    server.feed(&flags(FIXED));
    server.connection.shut_down();
    for other in [LIST, INFO, GO, STRUCTURED, 77] {
        server.feed(&option(other, &string(b"card")));
        assert_eq!(server.option_replies().last().unwrap().1, SHUTDOWN, "option {other}");
    }
    server.feed(&option(ABORT, &[]));
    assert_eq!(server.close_reason(), Some(&Close::Aborted));

    let mut server = Server::new(exports(), Tls::Off);
    server.connection.shut_down();
    server.feed(&[hello(), option(EXPORT_NAME, b"card")].concat());
    assert_eq!(server.close_reason(), Some(&Close::ShuttingDown));
}

#[test]
fn a_new_table_counts_for_who_chooses_from_it() {
    let mut larger = exports().all().to_vec();
    larger[0].size_bytes = 2 * SIZE;
    let mut server = Server::new(exports(), Tls::Off);
    server.feed(&hello());
    server.connection.renew(std::sync::Arc::new(serve::wire::Exports::new(larger).unwrap()));
    server.feed(&go("card"));
    assert_eq!(server.option_replies()[0].2[2..10], (2 * SIZE).to_be_bytes());
}
