//! Metadata contexts: listed, selected, and for which export.

use super::common::client::{
    ACK, BLOCK_STATUS, EINVAL, EXPORT_NAME, INVALID, LIST_META, REP_META, SET_META, STRUCTURED, TOO_BIG, UNKNOWN, go,
    hello, option, option_replies, queries, request, string,
};
use super::common::hex;
use super::common::server::{Event, Server};
use serve::wire::{Command, MAX_META_QUERIES, Tls};

fn answer(bytes: &[u8]) -> Vec<u8> {
    Server::told(Tls::Off, &[hello(), bytes.to_vec()].concat()).out[18..].to_vec()
}

/// Kinds of the replies to an option behind `STRUCTURED_REPLY`.
fn kinds(number: u32, data: &[u8]) -> Vec<u32> {
    let replies = option_replies(&answer(&[option(STRUCTURED, &[]), option(number, data)].concat()));
    replies[1..].iter().map(|reply| reply.1).collect()
}

#[test]
fn the_context_is_listed_with_no_id_and_selected_with_one() {
    let structured = hex("49484156454f5054 00000008 00000000");
    let data = "00000004 63617264 00000001 0000000f 626173653a616c6c6f636174696f6e";
    let list = answer(&[structured.clone(), hex("49484156454f5054 00000009 0000001f"), hex(data)].concat());
    let name = "626173653a616c6c6f636174696f6e";
    let listed = "0003e889045565a9 00000009 00000004 00000013 00000000";
    let ack = "0003e889045565a9 00000009 00000001 00000000";
    assert_eq!(list[20..], hex(&[listed, name, ack].concat()));
    let set = answer(&[structured, hex("49484156454f5054 0000000a 0000001f"), hex(data)].concat());
    let selected = "0003e889045565a9 0000000a 00000004 00000013 00000001";
    let ack = "0003e889045565a9 0000000a 00000001 00000000";
    assert_eq!(set[20..], hex(&[selected, name, ack].concat()));
}

#[test]
fn queries_find_what_the_document_says() {
    let all: [(&[&[u8]], bool, bool); 8] = [
        (&[], true, false),
        (&[b"base:"], true, false),
        (&[b"base:allocation"], true, true),
        (&[b"base:allocation", b"base:allocation"], true, true),
        (&[b"qemu:dirty-bitmap:x", b"base:allocation"], true, true),
        (&[b"qemu:"], false, false),
        (&[b"base:other"], false, false),
        (&[b"BASE:allocation"], false, false),
    ];
    for (asked, listed, selected) in all {
        for (number, found) in [(LIST_META, listed), (SET_META, selected)] {
            let expected = if found { vec![REP_META, ACK] } else { vec![ACK] };
            assert_eq!(kinds(number, &queries(b"card", asked)), expected, "{number} {asked:?}");
        }
    }
}

#[test]
fn what_is_malformed_is_invalid() {
    let trailing = [queries(b"card", &[b"base:"]), vec![0]].concat();
    let short = queries(b"card", &[b"base:"])[..14].to_vec();
    let beyond = [string(b"card"), hex("00000001 ffffffff")].concat();
    let many = [string(b"card"), hex("00000002"), string(b"base:")].concat();
    let no_count = string(b"card");
    let cases =
        [trailing, short, beyond, many, no_count, vec![], queries(b"card", &[b"base"]), queries(b"card", &[b""])];
    for data in cases {
        for number in [LIST_META, SET_META] {
            assert_eq!(kinds(number, &data), [INVALID], "{data:?}");
        }
    }
}

#[test]
fn too_many_queries_and_too_long_ones_are_too_big() {
    let most = vec![&b"x-a:b"[..]; MAX_META_QUERIES as usize];
    assert_eq!(kinds(LIST_META, &queries(b"card", &most)), [ACK]);
    let more = vec![&b"x-a:b"[..]; MAX_META_QUERIES as usize + 1];
    assert_eq!(kinds(LIST_META, &queries(b"card", &more)), [TOO_BIG]);
    let long = [b"x:".to_vec(), vec![b'y'; 4095]].concat();
    assert_eq!(kinds(SET_META, &queries(b"card", &[&long])), [TOO_BIG]);
    assert_eq!(kinds(SET_META, &queries(b"card", &[&long[..4096]])), [ACK]);
}

#[test]
fn contexts_need_structured_replies_and_an_export() {
    for number in [LIST_META, SET_META] {
        let data = queries(b"card", &[b"base:allocation"]);
        assert_eq!(option_replies(&answer(&option(number, &data)))[0].1, INVALID);
        assert_eq!(kinds(number, &queries(b"disk", &[b"base:allocation"])), [UNKNOWN]);
        // An export that can't tell has no context.
        assert_eq!(kinds(number, &queries(b"bare", &[b"base:allocation"])), [ACK]);
    }
}

/// Whether block status requests are answered after these options.
fn is_selected(options: &[u8]) -> bool {
    let ask = request(0, BLOCK_STATUS, 7, 0, 4096);
    let server = Server::told(Tls::Off, &[hello(), option(STRUCTURED, &[]), options.to_vec(), ask].concat());
    let asked = server.events.iter().any(|event| matches!(event, Event::Asked { command: Command::BlockStatus, .. }));
    assert_eq!(asked, server.replies()[0].errno() == 0);
    assert!(asked || server.replies()[0].errno() == EINVAL);
    asked
}

#[test]
fn a_selection_counts_for_its_export_until_the_next_one_even_if_that_fails() {
    let set = |name: &[u8], query: &[u8]| option(SET_META, &queries(name, &[query]));
    let good = set(b"card", b"base:allocation");
    assert!(is_selected(&[good.clone(), go("card")].concat()));
    assert!(is_selected(&[good.clone(), go("")].concat()), "the default export is the same one");
    assert!(is_selected(&[good.clone(), option(EXPORT_NAME, b"card")].concat()));
    assert!(is_selected(&[good.clone(), good.clone(), go("card")].concat()));
    assert!(is_selected(&[good.clone(), go("disk"), go("card")].concat()));
    assert!(!is_selected(&go("card")));
    assert!(!is_selected(&[good.clone(), go("sealed")].concat()), "another export");
    for (what, next) in [
        ("selects nothing", set(b"card", b"base:")),
        ("unknown export", set(b"disk", b"base:allocation")),
        ("malformed", option(SET_META, &[1, 2])),
        ("too big", option(SET_META, &vec![0; (64 << 10) + 1])),
    ] {
        assert!(!is_selected(&[good.clone(), next, go("card")].concat()), "{what}");
    }
    let list = option(LIST_META, &queries(b"card", &[]));
    assert!(is_selected(&[good, list, go("card")].concat()), "listing selects nothing and unselects nothing");
}
