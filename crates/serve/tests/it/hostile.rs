//! Clients that mean harm, or are broken: each gets the protocol's error or is let go, and the others notice nothing.

use crate::common::{served, succeeds};
use serve::{Limits, Security};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

pub const SIZE: u64 = 64 << 20;
const IHAVEOPT: &[u8] = b"IHAVEOPT";
const REQUEST: u32 = 0x2560_9513;
const EINVAL: u32 = 22;

/// A client that sends what it likes.
pub struct Raw(pub UnixStream);

impl Raw {
    pub fn connect(socket: &Path) -> Raw {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut raw = Raw(stream);
        assert_eq!(&raw.take(18)[..16], b"NBDMAGICIHAVEOPT");
        raw
    }

    /// Connected to the export `card`, with simple replies.
    pub fn ready(socket: &Path) -> Raw {
        let mut raw = Raw::connect(socket);
        raw.send(&3u32.to_be_bytes());
        raw.option(7, &go("card"));
        loop {
            let (kind, _) = raw.reply();
            match kind {
                1 => return raw,
                3 => {}
                other => panic!("reply {other:#x}"),
            }
        }
    }

    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }

    pub fn option(&mut self, number: u32, data: &[u8]) {
        let mut all = IHAVEOPT.to_vec();
        all.extend(number.to_be_bytes());
        all.extend((data.len() as u32).to_be_bytes());
        all.extend(data);
        self.send(&all);
    }

    pub fn request(&mut self, flags: u16, command: u16, offset: u64, len: u32, payload: &[u8]) -> bool {
        let mut all = REQUEST.to_be_bytes().to_vec();
        all.extend(flags.to_be_bytes());
        all.extend(command.to_be_bytes());
        all.extend(77u64.to_be_bytes());
        all.extend(offset.to_be_bytes());
        all.extend(len.to_be_bytes());
        all.extend(payload);
        self.send(&all)
    }

    pub fn take(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// An option's reply: its kind and data.
    pub fn reply(&mut self) -> (u32, Vec<u8>) {
        let head = self.take(20);
        let len = u32::from_be_bytes(head[16..20].try_into().unwrap());
        (u32::from_be_bytes(head[12..16].try_into().unwrap()), self.take(len as usize))
    }

    /// The error of a simple reply.
    pub fn error(&mut self) -> u32 {
        let head = self.take(16);
        assert_eq!(head[..4], 0x6744_6698u32.to_be_bytes());
        u32::from_be_bytes(head[4..8].try_into().unwrap())
    }

    /// The server lets it go, whatever it says before.
    pub fn is_let_go(&mut self) {
        let mut rest = [0; 4096];
        loop {
            match self.0.read(&mut rest) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    panic!("it is still connected")
                }
                Err(_) => return,
            }
        }
    }

    /// It is still served.
    pub fn works(&mut self) {
        assert!(self.request(0, 1, 0, 4096, &[9; 4096]));
        assert_eq!(self.error(), 0);
        assert!(self.request(0, 0, 0, 4096, &[]));
        assert_eq!(self.error(), 0);
        assert_eq!(self.take(4096), [9; 4096]);
    }
}

pub fn go(name: &str) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name.as_bytes());
    data.extend([0, 0]);
    data
}

/// The name of a hostile client, and its actions.
type Case = (&'static str, fn(&Path));

fn options(socket: &Path, number: u32, data: &[u8], kind: u32) {
    let mut raw = Raw::connect(socket);
    raw.send(&3u32.to_be_bytes());
    raw.option(number, data);
    assert_eq!(raw.reply().0, kind);
    // It may go on.
    raw.option(7, &go("card"));
    while raw.reply().0 != 1 {}
    raw.works();
}

fn goes_on(socket: &Path, flags: u16, command: u16, offset: u64, len: u32, payload: &[u8], error: u32) {
    let mut raw = Raw::ready(socket);
    assert!(raw.request(flags, command, offset, len, payload));
    assert_eq!(raw.error(), error);
    raw.works();
}

fn let_go(socket: &Path, bytes: &[u8]) {
    let mut raw = Raw::ready(socket);
    raw.send(bytes);
    raw.is_let_go();
}

fn let_go_early(socket: &Path, bytes: &[u8]) {
    let mut raw = Raw::connect(socket);
    raw.send(bytes);
    raw.is_let_go();
}

const ERR: u32 = 1 << 31;

const CASES: &[Case] = &[
    ("flags that nobody knows", |s| let_go_early(s, &0xffff_ff00u32.to_be_bytes())),
    ("no flags at all and then garbage", |s| let_go_early(s, &[&0u32.to_be_bytes()[..], &[0x55; 64]].concat())),
    ("an option without its magic", |s| let_go_early(s, &[&3u32.to_be_bytes()[..], b"IHAVEOP!", &[0; 8]].concat())),
    ("an option of four gigabytes", |s| {
        let_go_early(s, &[&3u32.to_be_bytes()[..], IHAVEOPT, &[0, 0, 0, 7], &[0xff; 4]].concat());
    }),
    ("an export's name of two gigabytes", |s| {
        let_go_early(s, &[&3u32.to_be_bytes()[..], IHAVEOPT, &[0, 0, 0, 1], &[0x7f, 0xff, 0xff, 0xff]].concat());
    }),
    ("an export that there is not, in the old way", |s| {
        let mut raw = Raw::connect(s);
        raw.send(&3u32.to_be_bytes());
        raw.option(1, b"nothing");
        raw.is_let_go();
    }),
    ("an export that there is not", |s| options(s, 7, &go("nothing"), ERR | 6)),
    ("a name longer than names may be", |s| options(s, 7, &go(&"x".repeat(5000)), ERR | 9)),
    ("a name longer than the option", |s| options(s, 7, &[0, 0, 0x10, 0, b'c', 0, 0], ERR | 3)),
    ("a name that is no UTF-8", |s| options(s, 7, &[0, 0, 0, 2, 0xff, 0xfe, 0, 0], ERR | 3)),
    ("an empty GO", |s| options(s, 7, &[], ERR | 3)),
    ("more information asked for than there is room", |s| {
        options(s, 6, &[0, 0, 0, 4, b'c', b'a', b'r', b'd', 0xff, 0xff], ERR | 3);
    }),
    ("an option that nobody knows", |s| options(s, 0xdead, &[1; 100], ERR | 1)),
    ("a list with data", |s| options(s, 3, &[1; 4], ERR | 3)),
    ("STARTTLS where there is none", |s| options(s, 5, &[], ERR | 2)),
    ("structured replies with data", |s| options(s, 8, &[0], ERR | 3)),
    ("contexts before structured replies", |s| {
        options(s, 10, &[0, 0, 0, 4, b'c', b'a', b'r', b'd', 0, 0, 0, 0], ERR | 3)
    }),
    ("more queries than bytes", |s| options(s, 10, &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], ERR | 3)),
    ("extended headers", |s| options(s, 11, &[], ERR | 1)),
    ("a flood of options", |s| {
        let mut raw = Raw::connect(s);
        raw.send(&3u32.to_be_bytes());
        let one = [IHAVEOPT, &[0, 0, 0xde, 0xad], &[0; 4]].concat();
        for _ in 0..2000 {
            if !raw.send(&one) {
                return;
            }
        }
        raw.is_let_go();
    }),
    ("ABORT", |s| {
        let mut raw = Raw::connect(s);
        raw.send(&3u32.to_be_bytes());
        raw.option(2, &[]);
        raw.is_let_go();
    }),
    ("gone after the greeting", |s| drop(Raw::connect(s))),
    ("gone in the middle of an option", |s| {
        let mut raw = Raw::connect(s);
        raw.send(&[&3u32.to_be_bytes()[..], b"IHAVE"].concat());
    }),
    ("a request without its magic", |s| let_go(s, &[0x42; 28])),
    ("a reply in place of a request", |s| let_go(s, &[&0x6744_6698u32.to_be_bytes()[..], &[0; 24]].concat())),
    ("an option in place of a request", |s| let_go(s, &[IHAVEOPT, &[0; 20]].concat())),
    ("a command that nobody knows", |s| goes_on(s, 0, 200, 0, 4096, &[], EINVAL)),
    ("flags that a command does not have", |s| goes_on(s, 0x8000, 0, 0, 4096, &[], EINVAL)),
    ("a read of nothing", |s| goes_on(s, 0, 0, 0, 0, &[], EINVAL)),
    ("a read beyond the end", |s| goes_on(s, 0, 0, SIZE, 4096, &[], EINVAL)),
    ("a read across the end", |s| goes_on(s, 0, 0, SIZE - 1, 2, &[], EINVAL)),
    ("a read whose end overflows", |s| goes_on(s, 0, 0, u64::MAX - 1, 4096, &[], EINVAL)),
    ("a read of four gigabytes", |s| goes_on(s, 0, 0, 0, u32::MAX, &[], EINVAL)),
    ("a read of more than the largest block", |s| goes_on(s, 0, 0, 0, (32 << 20) + 1, &[], EINVAL)),
    ("a write beyond the end", |s| goes_on(s, 0, 1, SIZE, 4096, &[1; 4096], 28)),
    ("a write whose end overflows", |s| goes_on(s, 0, 1, u64::MAX - 100, 4096, &[1; 4096], 28)),
    ("a write of four gigabytes", |s| {
        let mut raw = Raw::ready(s);
        raw.request(0, 1, 0, u32::MAX, &[]);
        raw.is_let_go();
    }),
    ("a trim beyond the end", |s| goes_on(s, 0, 4, SIZE - 4096, 8192, &[], EINVAL)),
    ("a trim of nothing", |s| goes_on(s, 0, 4, 0, 0, &[], EINVAL)),
    ("zeroes beyond the end", |s| goes_on(s, 0, 6, SIZE - 4096, 8192, &[], 28)),
    ("a cache beyond the end", |s| goes_on(s, 0, 5, SIZE, 4096, &[], EINVAL)),
    ("block status without a context", |s| goes_on(s, 0, 7, 0, 4096, &[], EINVAL)),
    ("a resize", |s| goes_on(s, 0, 8, 1 << 30, 0, &[], EINVAL)),
    ("a flush with a length", |s| {
        // The document leaves it open; nothing may break.
        let mut raw = Raw::ready(s);
        raw.request(0, 3, 4096, 4096, &[]);
        raw.error();
        raw.works();
    }),
    ("gone in the middle of a header", |s| {
        let mut raw = Raw::ready(s);
        raw.send(&REQUEST.to_be_bytes());
    }),
    ("gone in the middle of a write", |s| {
        let mut raw = Raw::ready(s);
        raw.request(0, 1, 0, 1 << 20, &[7; 1000]);
    }),
    ("gone with answers under way", |s| {
        let mut raw = Raw::ready(s);
        for i in 0..100 {
            raw.request(0, 0, i << 16, 1 << 16, &[]);
        }
    }),
    ("a request a byte at a time", |s| {
        let mut raw = Raw::ready(s);
        let mut bytes = REQUEST.to_be_bytes().to_vec();
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0]);
        for byte in bytes {
            raw.send(&[byte]);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(raw.error(), 0);
        raw.take(4096);
        raw.works();
    }),
    ("more requests at once than the server takes", |s| {
        let mut raw = Raw::ready(s);
        for i in 0..500u64 {
            raw.request(0, 0, i * 4096, 4096, &[]);
        }
        for _ in 0..500 {
            assert_eq!(raw.error(), 0);
            raw.take(4096);
        }
        raw.works();
    }),
    ("more bytes at once than answers may hold", |s| {
        let mut raw = Raw::ready(s);
        for round in 0..20 {
            for i in 0..30u64 {
                raw.request(0, 0, i << 20, 1 << 20, &[]);
            }
            std::thread::sleep(Duration::from_millis(round % 3));
            for _ in 0..30 {
                assert_eq!(raw.error(), 0);
                raw.take(1 << 20);
            }
        }
        raw.works();
    }),
    ("a farewell with requests before it", |s| {
        let mut raw = Raw::ready(s);
        for i in 0..10 {
            raw.request(0, 1, i * 4096, 4096, &[3; 4096]);
        }
        raw.request(0, 2, 0, 0, &[]);
        for _ in 0..10 {
            assert_eq!(raw.error(), 0);
        }
        raw.is_let_go();
    }),
];

#[test]
fn each_gets_its_error_or_is_let_go_and_the_others_notice_nothing() {
    let served = served(SIZE, Security::Plain, Limits::default());
    assert!(CASES.len() >= 40, "{} cases", CASES.len());
    let mut good = Raw::ready(&served.socket());
    for (what, case) in CASES {
        let began = Instant::now();
        eprintln!("{what}");
        case(&served.socket());
        assert!(began.elapsed() < Duration::from_secs(10), "{what}: took {:?}", began.elapsed());
        good.works();
    }
    drop(good);
    // Nobody of them is left.
    let began = Instant::now();
    while !served.server.clients().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", served.server.clients());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn one_that_takes_no_answers_is_let_go_and_holds_little() {
    let limits = Limits { stall: Duration::from_secs(2), ..Limits::default() };
    let served = served(SIZE, Security::Plain, limits);
    let mut raw = Raw::ready(&served.socket());
    for _ in 0..16 {
        raw.request(0, 1, 0, 4 << 20, &vec![5; 4 << 20]);
        assert_eq!(raw.error(), 0);
    }
    let before = resident_bytes();
    raw.0.set_nonblocking(true).unwrap();
    // 4 GB are asked for, and none of it is taken.
    for _ in 0..1000 {
        raw.request(0, 0, 0, 4 << 20, &[]);
    }
    let began = Instant::now();
    while !served.server.clients().is_empty() {
        let held = resident_bytes().saturating_sub(before);
        assert!(held < 160 << 20, "it holds {held} bytes");
        assert!(began.elapsed() < Duration::from_secs(20), "it is still connected");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_hundred_silent_connections_keep_nobody_out() {
    let served = served(SIZE, Security::Plain, Limits { connections: 150, ..Limits::default() });
    let silent: Vec<UnixStream> = (0..200).filter_map(|_| UnixStream::connect(served.socket()).ok()).collect();
    assert!(silent.len() >= 150);
    let began = Instant::now();
    loop {
        let mut stream = UnixStream::connect(served.socket()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        if matches!(stream.read(&mut [0; 18]), Ok(18)) {
            drop(stream);
            succeeds("nbdinfo", "libnbd-bin", &[&served.uri()]);
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(15), "nobody gets through");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn one_that_stops_in_the_middle_of_a_write_is_let_go() {
    let served = served(SIZE, Security::Plain, Limits { stall: Duration::from_secs(1), ..Limits::default() });
    let mut raw = Raw::ready(&served.socket());
    raw.request(0, 1, 0, 1 << 20, &[1; 5000]);
    raw.is_let_go();
    // The bytes that it has sent were no write.
    let mut raw = Raw::ready(&served.socket());
    raw.request(0, 0, 0, 4096, &[]);
    assert_eq!(raw.error(), 0);
    assert_eq!(raw.take(4096), [0; 4096]);
    // One that is only silent is not in the middle of anything.
    std::thread::sleep(Duration::from_millis(1500));
    raw.works();
}

#[test]
fn a_server_that_stops_answers_what_is_under_way() {
    let served = served(SIZE, Security::Plain, Limits::default());
    let mut raw = Raw::ready(&served.socket());
    let mut silent = Raw::ready(&served.socket());
    raw.works();
    served.server.stop();
    raw.is_let_go();
    silent.is_let_go();
    assert!(!served.socket().exists());
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
