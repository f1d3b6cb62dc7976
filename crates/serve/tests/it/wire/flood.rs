//! Hundreds of thousands of random and damaged messages. A separate reader, which knows only the lengths of the
//! protocol's messages, counts the expected replies.

use super::common::client::{
    DISC, EXPORT_NAME, GO, INFO, LIST, LIST_META, SET_META, STARTTLS, STRUCTURED, WRITE, answered_cookies, hello, info,
    option, queries, request, simple, structured, to_be_answered, write,
};
use super::common::server::{Event, Server};
use super::common::{Dice, exports};
use serve::wire::{Close, Tls};

/// Requests in all streams of the test of requests.
const REQUESTS: usize = 1_000_000;
/// Options in all streams of the test of options.
const OPTIONS: usize = 200_000;

fn random_request(dice: &mut Dice) -> Vec<u8> {
    let sizes = [0, 1, 511, 512, 4096, 1 << 20, (1 << 20) + 4096, 32 << 20, (32 << 20) + 1, u32::MAX];
    let kind = if dice.below(8) == 0 { dice.next() as u16 } else { dice.pick(&[0, 0, 1, 1, 3, 4, 5, 6, 7, 7, 8]) };
    let flags = if dice.below(3) == 0 { 1 << dice.below(7) } else { 0 };
    let cookie = dice.below(20);
    let place = dice.next();
    let offset = dice.pick(&[0, 4096, 512, (1 << 30) - 4096, 1 << 30, u64::MAX - 4095, place, place % (1 << 30)]);
    if kind == WRITE {
        let length = dice.pick(&[0, 1, 28, 512, 4096]);
        write(flags, cookie, offset, &vec![0x25; length])
    } else {
        request(flags, kind, cookie, offset, dice.pick(&sizes))
    }
}

/// One of few ways to damage a message, most of which it does not survive.
fn damage(message: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.index(message.len());
    match dice.below(5) {
        0 => message[at] = dice.next() as u8,
        1 => message[at] ^= 1 << dice.below(8),
        2 => message.truncate(at),
        3 => message.insert(at, dice.next() as u8),
        _ => {
            let end = (at + 4).min(message.len());
            message[at..end].fill(dice.pick(&[0, 0xff]));
        }
    }
}

#[test]
fn each_of_very_many_requests_is_answered_once() {
    let mut dice = Dice(11);
    let (mut done, mut answered, mut lost, mut refused) = (0, 0, 0, 0);
    while done < REQUESTS {
        let name = dice.pick(&["card", "card", "sealed", "sectors", "bare"]);
        let handshake = if dice.below(2) == 0 { simple(name) } else { structured(name) };
        let mut server = Server::told(Tls::Off, &handshake);
        server.hold = dice.index(140);
        let mut messages: Vec<Vec<u8>> = (0..1 + dice.index(400)).map(|_| random_request(&mut dice)).collect();
        done += messages.len();
        if dice.below(2) == 0 {
            let which = dice.index(messages.len());
            damage(&mut messages[which], &mut dice);
        }
        if dice.below(4) == 0 {
            messages.push(request(0, DISC, 0, 0, 0));
        }
        let stream = messages.concat();
        for piece in stream.chunks(1 + dice.index(20_000)) {
            server.feed(piece);
        }
        server.end();
        assert_eq!(server.connection.in_flight(), 0);
        let replies = server.replies();
        refused += replies.iter().filter(|reply| reply.errno() != 0).count();
        let cookies = answered_cookies(&replies);
        assert_eq!(cookies, to_be_answered(&stream));
        answered += cookies.values().sum::<usize>();
        lost += usize::from(matches!(server.close_reason(), Some(Close::RequestMagic(_))));
    }
    // The dice have not become blind.
    assert!(answered > REQUESTS / 2 && refused > REQUESTS / 10 && lost > 10, "{answered} {refused} {lost}");
}

fn random_option(dice: &mut Dice) -> Vec<u8> {
    let name = dice.pick(&[&b"card"[..], b"", b"disk", b"\xff\0", b"sectors"]);
    let number = dice.pick(&[LIST, STARTTLS, INFO, GO, STRUCTURED, LIST_META, SET_META, EXPORT_NAME, 2, 4, 11, 99]);
    let data = match number {
        INFO | GO => info(name, &[dice.next() as u16 % 5]),
        LIST_META | SET_META => queries(name, &[dice.pick(&[&b"base:"[..], b"base:allocation", b"", b"a:b"])]),
        EXPORT_NAME => name.to_vec(),
        _ => vec![0x5a; dice.pick(&[0, 0, 0, 1, 300])],
    };
    option(number, &data)
}

#[test]
fn each_of_very_many_options_has_one_final_reply() {
    let mut dice = Dice(12);
    let (mut done, mut chosen, mut encrypted) = (0, 0, 0);
    while done < OPTIONS {
        let tls = dice.pick(&[Tls::Off, Tls::Offered, Tls::Required]);
        let mut server = Server::new(exports(), tls);
        server.feed(&hello());
        for _ in 0..1 + dice.index(40) {
            done += 1;
            let before = server.out.len();
            let mut message = random_option(&mut dice);
            let whole = dice.below(8) != 0;
            if !whole {
                damage(&mut message, &mut dice);
            }
            let events = server.events.len();
            server.feed(&message);
            if server.closed || server.ready_at.is_some() {
                break;
            }
            if whole {
                let replies = super::common::client::option_replies(&server.out[before..]);
                let finals = replies.iter().filter(|reply| reply.1 == 1 || reply.1 >> 31 == 1).count();
                assert_eq!((finals, replies.last().map(|reply| reply.1 == 1 || reply.1 >> 31 == 1)), (1, Some(true)));
                encrypted += server.events.len() - events;
            } else if server.connection.end_of_stream(1) != Close::Aborted {
                break;
            }
        }
        let safe = tls != Tls::Required || server.events.contains(&Event::StartTls);
        assert!(safe || server.ready_at.is_none(), "no export without TLS where it is required");
        let names = [&b"sealed"[..], b"sectors"].iter().any(|name| server.out.windows(name.len()).any(|w| w == *name));
        assert!(safe || !names, "no name without TLS where it is required");
        chosen += usize::from(server.ready_at.is_some());
    }
    assert!(chosen > 1000 && encrypted > 1000, "{chosen} {encrypted}");
}

#[test]
fn noise_is_no_client() {
    let mut dice = Dice(13);
    for _ in 0..20_000 {
        let noise: Vec<u8> = (0..1 + dice.index(200)).map(|_| dice.next() as u8).collect();
        let mut fresh = Server::told(Tls::Off, &noise);
        assert!(fresh.ready_at.is_none());
        fresh.end();
        let mut established = Server::told(Tls::Off, &[structured("card"), noise].concat());
        established.end();
        let asked = established.events.iter().any(|event| matches!(event, Event::Asked { .. }));
        assert!(!asked);
    }
}
