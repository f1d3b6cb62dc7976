//! Loads a served card over TCP, by NBD or by NVMe, with the same number of requests outstanding on one connection, and
//! prints how many were answered in how many seconds:
//!
//! ```text
//! load nbd 127.0.0.1:10809 read 4096 16 2
//! load nvme 127.0.0.1:4420 nqn.2014-08.org.nvmexpress:uuid:… write 4096 16 2
//! ```

#[path = "../tests/it/nvme/common/host.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod host;

use host::{Digests, ENABLE};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PLAIN: Digests = Digests { header: false, data: false };
/// The range that is loaded, in bytes.
const RANGE: u64 = 512 << 20;

/// A connection that is ready for requests.
trait Client {
    /// Appends a request with an identifier below the depth.
    fn ask(&mut self, id: u16, offset: u64, out: &mut Vec<u8>);
    /// Takes whole answers from the front of the bytes: their identifiers, and how many bytes they take.
    fn answers(&mut self, bytes: &[u8], ids: &mut Vec<u16>) -> usize;
}

struct Nbd {
    is_read: bool,
    data: Vec<u8>,
}

impl Client for Nbd {
    fn ask(&mut self, id: u16, offset: u64, out: &mut Vec<u8>) {
        out.extend(0x2560_9513u32.to_be_bytes());
        out.extend([0, 0, 0, u8::from(!self.is_read)]);
        out.extend(u64::from(id).to_be_bytes());
        out.extend(offset.to_be_bytes());
        out.extend((self.data.len() as u32).to_be_bytes());
        if !self.is_read {
            out.extend(&self.data);
        }
    }

    fn answers(&mut self, bytes: &[u8], ids: &mut Vec<u16>) -> usize {
        let length = 16 + if self.is_read { self.data.len() } else { 0 };
        for answer in bytes.chunks_exact(length) {
            assert_eq!(answer[..8], [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0], "a simple reply that says success");
            ids.push(u16::from_be_bytes([answer[14], answer[15]]));
        }
        bytes.len() / length * length
    }
}

struct Nvme {
    is_read: bool,
    data: Vec<u8>,
}

impl Client for Nvme {
    fn ask(&mut self, id: u16, offset: u64, out: &mut Vec<u8>) {
        let length = self.data.len() as u32;
        let entry = host::entry(2 - u8::from(!self.is_read), id, 1).blocks(offset / 4096, length / 4096);
        if self.is_read {
            out.extend(host::command(entry.transport(length), &[], PLAIN));
        } else {
            out.extend(host::command(entry.capsule(0, length), &self.data, PLAIN));
        }
    }

    fn answers(&mut self, bytes: &[u8], ids: &mut Vec<u16>) -> usize {
        let mut taken = 0;
        while let Some(header) = bytes.get(taken..taken + 24) {
            let length = u32::from_le_bytes(header[4..8].try_into().unwrap()) as usize;
            if bytes.len() - taken < length {
                break;
            }
            match header[0] {
                // Data that are followed by a response.
                7 => {}
                5 => {
                    assert_eq!(header[22..24], [0, 0], "success");
                    ids.push(u16::from_le_bytes([header[20], header[21]]));
                }
                other => panic!("a PDU of type {other:#x}"),
            }
            taken += length;
        }
        taken
    }
}

/// Sends bytes and takes so many.
fn exchange(stream: &mut TcpStream, bytes: &[u8], answer: usize) -> Vec<u8> {
    stream.write_all(bytes).unwrap();
    let mut taken = vec![0; answer];
    stream.read_exact(&mut taken).unwrap();
    taken
}

fn connect_nbd(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    exchange(&mut stream, &[], 18);
    // The default export, without zeroes behind its size and flags.
    exchange(&mut stream, &[&3u32.to_be_bytes()[..], b"IHAVEOPT", &1u32.to_be_bytes(), &[0; 4]].concat(), 10);
    stream
}

/// An I/O queue, beside its admin queue.
fn connect_nvme(address: &str, nqn: &str, depth: u16) -> (TcpStream, TcpStream) {
    let open = |queue: u16, entries: u16, controller: u16| {
        let mut stream = TcpStream::connect(address).unwrap();
        exchange(&mut stream, &host::initialize(PLAIN), 128);
        let connected = exchange(&mut stream, &host::connect(queue, entries, controller, nqn, PLAIN), 24);
        assert_eq!(connected[22..24], [0, 0], "connected");
        (stream, u16::from_le_bytes([connected[8], connected[9]]))
    };
    let (mut admin, controller) = open(0, 32, 0xFFFF);
    exchange(&mut admin, &host::command(host::property_set(1, 0x14, ENABLE), &[], PLAIN), 24);
    let (io, _) = open(1, (depth + 1).clamp(2, 128), controller);
    (admin, io)
}

fn run(client: &mut dyn Client, stream: &mut TcpStream, block: u64, depth: u16, seconds: f64) -> u64 {
    stream.set_nodelay(true).unwrap();
    let mut random = 1u64;
    let mut place = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % (RANGE / block) * block
    };
    let (mut out, mut ids, mut received, mut done) = (Vec::new(), Vec::new(), Vec::new(), 0);
    (0..depth).for_each(|id| client.ask(id, place(), &mut out));
    let began = Instant::now();
    let mut piece = vec![0; 256 << 10];
    let mut outstanding = depth;
    while outstanding > 0 {
        stream.write_all(&out).unwrap();
        out.clear();
        let more = stream.read(&mut piece).unwrap();
        assert!(more > 0, "the server has ended the connection");
        received.extend_from_slice(&piece[..more]);
        let taken = client.answers(&received, &mut ids);
        received.drain(..taken);
        done += ids.len() as u64;
        outstanding -= ids.len() as u16;
        if began.elapsed() < Duration::from_secs_f64(seconds) {
            outstanding += ids.len() as u16;
            ids.iter().for_each(|id| client.ask(*id, place(), &mut out));
        }
        ids.clear();
    }
    done
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (is_nvme, address, nqn, rest) = match words[..] {
        ["nbd", address, ref rest @ ..] => (false, address, "", rest),
        ["nvme", address, nqn, ref rest @ ..] => (true, address, nqn, rest),
        _ => panic!("load nbd ADDRESS | nvme ADDRESS NQN, then read|write BLOCK DEPTH SECONDS"),
    };
    let &[how, block, depth, seconds] = rest else { panic!("read|write BLOCK DEPTH SECONDS") };
    let (is_read, depth, seconds) = (how == "read", depth.parse().unwrap(), seconds.parse().unwrap());
    let data = vec![0x5A; block.parse().unwrap()];
    let block = data.len() as u64;
    let began = Instant::now();
    let done = if is_nvme {
        let (_admin, mut io) = connect_nvme(address, nqn, depth);
        run(&mut Nvme { is_read, data }, &mut io, block, depth, seconds)
    } else {
        run(&mut Nbd { is_read, data }, &mut connect_nbd(address), block, depth, seconds)
    };
    println!("{done} {:.3}", began.elapsed().as_secs_f64());
}
