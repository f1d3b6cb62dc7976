//! Bytes that no honest client sends: each message is answered or ends the connection, and nothing is kept of it.

use super::common::client::{
    ABORT, BLOCK_STATUS, EINVAL, ENOSPC, EXPORT_NAME, GO, INFO, INVALID, LIST, READ, SET_META, STARTTLS, STRUCTURED,
    TOO_BIG, TRIM, UNSUP, WRITE, flags, go, hello, info, option, option_header, queries, request, simple, string,
    structured, write,
};
use super::common::hex;
use super::common::server::Server;
use serve::wire::{Close, MAX_OPTION_BYTES, MAX_OPTIONS, MAX_SKIPPED_OPTION_BYTES, MAX_STRING_BYTES, Tls};

/// How a server stands after hostile bytes.
#[derive(Debug, PartialEq)]
enum End {
    /// Closed with this reason.
    Closed(Close),
    /// Still open; the last reply to an option or a request was this one.
    Reply(u32),
    /// Waiting for the rest, with nothing answered.
    Waiting,
}

fn end(tls: Tls, bytes: &[u8]) -> End {
    let server = Server::told(tls, bytes);
    if let Some(close) = server.close_reason() {
        return End::Closed(close.clone());
    }
    let last = match server.ready_at {
        Some(_) => server.replies().last().map(|reply| reply.errno()),
        None => server.option_replies().last().map(|reply| reply.1),
    };
    last.map_or(End::Waiting, End::Reply)
}

fn closed(close: Close) -> End {
    End::Closed(close)
}

/// An option behind hello.
fn first(number: u32, data: &[u8]) -> Vec<u8> {
    [hello(), option(number, data)].concat()
}

/// The data of `GO` with a name's length that lies.
fn lying_name(length: u32) -> Vec<u8> {
    [&length.to_be_bytes()[..], b"card", &[0, 0]].concat()
}

/// The data of `GO` with a number of information requests that lies.
fn lying_count(count: u16) -> Vec<u8> {
    [string(b"card"), count.to_be_bytes().to_vec(), vec![0, 3]].concat()
}

fn announced(number: u32, length: usize) -> Vec<u8> {
    [hello(), option_header(number, u32::try_from(length).unwrap())].concat()
}

#[test]
fn hostile_handshakes() {
    let long_name = vec![b'x'; MAX_STRING_BYTES + 1];
    let longest = vec![b'x'; MAX_STRING_BYTES];
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let cases: Vec<(&str, Vec<u8>, End)> = vec![
        ("nothing", vec![], End::Waiting),
        ("HTTP", b"GET / HTTP/1.1\r\n\r\n".to_vec(), closed(Close::ClientFlags(0x4745_5420))),
        ("TLS without asking", hex("16030100c8"), closed(Close::ClientFlags(0x1603_0100))),
        ("an unknown client flag", flags(7), closed(Close::ClientFlags(7))),
        ("all client flags", flags(u32::MAX), closed(Close::ClientFlags(u32::MAX))),
        (
            "the greeting sent back",
            [hello(), hex("4e42444d41474943 49484156454f5054")].concat(),
            closed(Close::OptionMagic(0x4e42_444d_4147_4943)),
        ),
        (
            "a reply instead of an option",
            [hello(), hex("0003e889045565a9 00000003 00000001 00000000")].concat(),
            closed(Close::OptionMagic(0x0003_e889_0455_65a9)),
        ),
        ("a request before an export", [hello(), request(0, READ, 0, 0, 1)].concat(), {
            closed(Close::OptionMagic(0x2560_9513_0000_0000))
        }),
        ("lower case magic", [hello(), b"ihaveopt\0\0\0\x03\0\0\0\0".to_vec()].concat(), {
            closed(Close::OptionMagic(u64::from_be_bytes(*b"ihaveopt")))
        }),
        ("an export name too long", first(EXPORT_NAME, &long_name), closed(Close::ExportNameTooLong(4097))),
        (
            "an export name of 4 GiB, announced",
            [hello(), option_header(EXPORT_NAME, u32::MAX)].concat(),
            closed(Close::ExportNameTooLong(u32::MAX)),
        ),
        ("an unknown export of the longest name", first(EXPORT_NAME, &longest), {
            closed(Close::UnknownExport(text(&longest).as_str().into()))
        }),
        ("a path for a name", first(EXPORT_NAME, b"../card"), closed(Close::UnknownExport("../card".into()))),
        ("an export name with a NUL", first(EXPORT_NAME, b"card\0"), closed(Close::ExportNameNotText)),
        ("an export name that is not UTF-8", first(EXPORT_NAME, &[0xc3, 0x28]), closed(Close::ExportNameNotText)),
        ("a surrogate in an export name", first(EXPORT_NAME, &[0xed, 0xa0, 0x80]), closed(Close::ExportNameNotText)),
        ("GO with a name too long", first(GO, &info(&long_name, &[])), End::Reply(TOO_BIG)),
        ("GO with a name that is not UTF-8", first(GO, &info(&[0xff], &[])), End::Reply(INVALID)),
        ("GO with a NUL in the name", first(GO, &info(b"ca\0rd", &[])), End::Reply(INVALID)),
        ("GO without data", first(GO, b""), End::Reply(INVALID)),
        ("GO with half a length", first(GO, &[0, 0]), End::Reply(INVALID)),
        ("GO without a count", first(GO, &string(b"card")), End::Reply(INVALID)),
        ("GO with bytes behind", first(GO, &[info(b"card", &[]), vec![0]].concat()), End::Reply(INVALID)),
        ("GO whose name is longer than its data", first(GO, &lying_name(7)), End::Reply(INVALID)),
        ("GO whose name ends in the count", first(GO, &lying_name(5)), End::Reply(INVALID)),
        ("GO whose name is shorter than it says", first(GO, &lying_name(3)), End::Reply(INVALID)),
        ("GO with a name of 4 GiB", first(GO, &lying_name(u32::MAX)), End::Reply(INVALID)),
        ("GO with fewer requests than it says", first(GO, &lying_count(2)), End::Reply(INVALID)),
        ("GO with more requests than it says", first(GO, &lying_count(0)), End::Reply(INVALID)),
        ("GO with 65535 requests that are not there", first(GO, &lying_count(0xffff)), End::Reply(INVALID)),
        ("INFO with 30000 times the same request", first(INFO, &info(b"card", &[3; 30_000])), End::Reply(1)),
        ("INFO with as much data as may be", first(INFO, &info(b"card", &[3; 32_763])), End::Reply(1)),
        ("GO with too much data", first(GO, &vec![0; MAX_OPTION_BYTES + 1]), End::Reply(TOO_BIG)),
        ("GO with too much data, announced", announced(GO, MAX_SKIPPED_OPTION_BYTES), End::Waiting),
        (
            "GO with far too much data, announced",
            announced(GO, MAX_SKIPPED_OPTION_BYTES + 1),
            closed(Close::OptionTooLong { option: GO, bytes: 1_048_577 }),
        ),
        (
            "an unknown option of 4 GiB, announced",
            [hello(), option_header(4711, u32::MAX)].concat(),
            closed(Close::OptionTooLong { option: 4711, bytes: u32::MAX }),
        ),
        (
            "ABORT with 4 GiB, announced",
            [hello(), option_header(ABORT, u32::MAX)].concat(),
            closed(Close::OptionTooLong { option: ABORT, bytes: u32::MAX }),
        ),
        ("an option that looks like one of the kernel's", first(0x8000_0001, b""), End::Reply(UNSUP)),
        ("LIST with a request in its data", first(LIST, &request(0, READ, 0, 0, 1)), End::Reply(INVALID)),
        ("STRUCTURED with a megabyte", first(STRUCTURED, &vec![0; 1 << 20]), End::Reply(INVALID)),
        ("STARTTLS with STARTTLS in its data", first(STARTTLS, &option(STARTTLS, b"")), End::Reply(INVALID)),
        (
            "SET_META with a count of 4 billion",
            {
                let data = [string(b"card"), vec![0xff; 4]].concat();
                [hello(), option(STRUCTURED, b""), option(SET_META, &data)].concat()
            },
            End::Reply(TOO_BIG),
        ),
        (
            "SET_META with a query of 4 GiB",
            {
                let data = [string(b"card"), vec![0, 0, 0, 1], vec![0xff; 4]].concat();
                [hello(), option(STRUCTURED, b""), option(SET_META, &data)].concat()
            },
            End::Reply(INVALID),
        ),
        (
            "SET_META with a query that is not UTF-8",
            { [hello(), option(STRUCTURED, b""), option(SET_META, &queries(b"card", &[b"base:\xff"]))].concat() },
            End::Reply(INVALID),
        ),
    ];
    for (what, bytes, expected) in cases {
        assert_eq!(end(Tls::Offered, &bytes), expected, "{what}");
    }
}

#[test]
fn hostile_requests() {
    let lost = |magic| closed(Close::RequestMagic(magic));
    let cases: Vec<(&str, Vec<u8>, End)> = vec![
        ("a simple reply", hex("67446698 00000000 0000000000000001 000000000000000000000000"), lost(0x6744_6698)),
        ("a structured reply", hex("668e33ef 0001 0001 0000000000000001 00000208 0000000000001000"), {
            lost(0x668e_33ef)
        }),
        ("an extended request", [hex("21e41c71"), vec![0; 28]].concat(), lost(0x21e4_1c71)),
        ("an option instead of a request", option(GO, &info(b"card", &[3])), lost(0x4948_4156)),
        ("zeroes", vec![0; 28], lost(0)),
        ("magic in the other order", [hex("13956025"), vec![0; 24]].concat(), lost(0x1395_6025)),
        ("a write of 4 GiB", request(0, WRITE, 1, 0, u32::MAX), closed(Close::WriteTooLong(u32::MAX))),
        ("a write beyond what is skipped", request(0, WRITE, 1, 0, (64 << 20) + 1), {
            closed(Close::WriteTooLong((64 << 20) + 1))
        }),
        ("a write that is skipped, announced", request(0, WRITE, 1, 0, 64 << 20), End::Waiting),
        (
            "an unknown command with a payload",
            { [request(0, 12, 1, 0, 512), vec![0x5a; 28]].concat() },
            lost(0x5a5a_5a5a),
        ),
        ("a write whose payload is a request", write(0, 3, u64::MAX, &request(0, READ, 1, 0, 1)), {
            End::Reply(ENOSPC)
        }),
        ("an offset that overflows", request(0, READ, 1, u64::MAX, u32::MAX), End::Reply(EINVAL)),
        ("an offset that overflows to 0", request(0, TRIM, 1, u64::MAX - 511, 512), End::Reply(EINVAL)),
        ("an offset that overflows into the export", request(0, TRIM, 1, u64::MAX - 511, 4096), End::Reply(EINVAL)),
        ("an offset below 0", request(0, READ, 1, 1 << 63, 512), End::Reply(EINVAL)),
        ("block status of nothing that was selected", request(0, BLOCK_STATUS, 1, 0, 512), End::Reply(EINVAL)),
        ("all ones behind the magic", [hex("25609513"), vec![0xff; 24]].concat(), End::Reply(EINVAL)),
        ("the same cookie for all", [request(0, READ, 5, 0, 1), request(0, READ, 5, 0, 1)].concat(), End::Reply(0)),
    ];
    for (what, bytes, expected) in cases {
        assert_eq!(end(Tls::Off, &[simple("card"), bytes].concat()), expected, "{what}");
    }
}

#[test]
fn a_session_that_ends_at_any_byte_is_waited_for_and_then_called_broken() {
    let session = [
        hello(),
        option(LIST, b""),
        option(4711, b"skipped"),
        structured("card")[4..].to_vec(),
        request(0, READ, 1, 0, 512),
        write(0, 2, 0, b"written"),
        write(0, 3, u64::MAX, b"skipped"),
        request(0, BLOCK_STATUS, 4, 0, 8192),
    ];
    let bounds: Vec<usize> = (0..=session.len()).map(|parts| session[..parts].concat().len()).collect();
    let bytes = session.concat();
    let inner: Vec<usize> = structured("card")[4..]
        .windows(8)
        .enumerate()
        .filter(|(_, magic)| *magic == b"IHAVEOPT")
        .map(|(at, _)| at + bounds[3])
        .collect();
    let whole = Server::told(Tls::Off, &bytes);
    for cut in 0..bytes.len() {
        let mut server = Server::told(Tls::Off, &bytes[..cut]);
        assert!(!server.closed, "cut at {cut}");
        assert!(whole.out.starts_with(&server.out), "cut at {cut}");
        server.end();
        let between = bounds.contains(&cut) || inner.contains(&cut);
        match server.close_reason() {
            Some(Close::Vanished { .. }) => assert!(between, "cut at {cut}"),
            Some(Close::Truncated { .. }) => assert!(!between, "cut at {cut}"),
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
}

#[test]
fn a_flood_of_options_ends_the_connection() {
    for flood in [option(LIST, b""), option(4711, b"x"), option(GO, b""), option(STARTTLS, b"x")] {
        for tls in [Tls::Off, Tls::Required] {
            let most = [hello(), flood.repeat(MAX_OPTIONS as usize)].concat();
            let server = Server::told(tls, &most);
            assert!(!server.closed);
            let server = Server::told(tls, &[most, flood.clone()].concat());
            assert_eq!(server.close_reason(), Some(&Close::TooManyOptions));
        }
    }
}

#[test]
fn options_before_tls_count_behind_it() {
    let most = option(LIST, b"").repeat(MAX_OPTIONS as usize - 1);
    let mut server = Server::told(Tls::Required, &[hello(), most, option(STARTTLS, b"")].concat());
    server.feed(&go("card"));
    assert_eq!(server.close_reason(), Some(&Close::TooManyOptions));
}

#[test]
fn nothing_is_heard_behind_the_end() {
    let mut server = Server::told(Tls::Off, &flags(7));
    let sent = server.out.len();
    for _ in 0..2 {
        let step = server.connection.parse(&simple("card"), &mut server.out);
        assert_eq!(step, (0, serve::wire::Step::Close(Close::ClientFlags(7))));
    }
    assert_eq!(server.out.len(), sent);
}

#[test]
fn every_reason_to_close_is_one_line_whatever_the_client_called_its_export() {
    let reasons = [
        Close::Disconnected,
        Close::Aborted,
        Close::Vanished { in_flight: 1 },
        Close::Truncated { in_flight: 1 },
        Close::ClientFlags(7),
        Close::OptionMagic(7),
        Close::OptionTooLong { option: 7, bytes: u32::MAX },
        Close::TooManyOptions,
        Close::NotFixedNewstyle(3),
        Close::TlsRequired,
        Close::PlaintextBehindStartTls(3),
        Close::UnknownExport("\u{1b}[2J\r\nroot logged in \u{202e}".into()),
        Close::UnknownExport("x".repeat(4096).as_str().into()),
        Close::ExportNameTooLong(5000),
        Close::ExportNameNotText,
        Close::ShuttingDown,
        Close::RequestMagic(7),
        Close::WriteTooLong(u32::MAX),
    ];
    for reason in reasons {
        let line = reason.to_string();
        assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line}");
        assert!((10..200).contains(&line.len()), "{line}");
        assert_eq!(reason.is_orderly(), matches!(reason, Close::Disconnected | Close::Aborted));
    }
}
