//! A card that is served to NVMe hosts and to NBD clients at once, as a person sees it.

use crate::common::command;
use crate::common::nbd::Client;
use crate::common::server::{Server, ctl};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A server of a card in memory: its process, where NVMe hosts reach it, and the name of the card for them.
fn served(dir: &Path) -> (Server, String, String) {
    let at = |name: &str| dir.join(name).display().to_string();
    let mut serve = command();
    serve.args(["serve", "tachion-400", "--memory", "--size", "64MiB", "--nbd", &format!("unix:{}", at("nbd.sock"))]);
    serve.args(["--nvme", "127.0.0.1:0", "--control", &at("control.sock")]);
    let said = dir.join("errors.txt");
    let errors = fs::File::create(&said).unwrap();
    let mut server = Server(serve.stdout(Stdio::null()).stderr(errors).spawn().unwrap(), said.clone());
    let began = Instant::now();
    loop {
        let said = fs::read_to_string(&said).unwrap();
        let line = |begin: &str| said.lines().find_map(|line| Some(line.strip_prefix(begin)?.to_owned()));
        if let (Some(address), Some(nqn)) = (line("flashrig: NVMe at "), line("flashrig: tachion-400: nqn.")) {
            return (server, address, format!("nqn.{nqn}"));
        }
        assert!(server.0.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(60), "{said}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a PDU and takes the answer, which has so many bytes.
fn exchange(stream: &mut TcpStream, pdu: &[u8], answer: usize) -> Vec<u8> {
    stream.write_all(pdu).unwrap();
    let mut bytes = vec![0; answer];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// A command capsule: its entry from pairs of an offset and bytes, and its data.
fn capsule(fields: &[(usize, &[u8])], data: &[u8]) -> Vec<u8> {
    let mut pdu = vec![0; 72];
    (pdu[0], pdu[2], pdu[3]) = (4, 72, 72);
    pdu[4..8].copy_from_slice(&(72 + data.len() as u32).to_le_bytes());
    // SGLs, with the data in the capsule.
    (pdu[8 + 1], pdu[8 + 39]) = (0x40, 1);
    pdu[8 + 32..8 + 36].copy_from_slice(&(data.len() as u32).to_le_bytes());
    for (at, field) in fields {
        pdu[8 + at..8 + at + field.len()].copy_from_slice(field);
    }
    [pdu, data.to_vec()].concat()
}

/// Connects a queue: the stream, and the controller.
fn connect(address: &str, nqn: &str, queue: u8, controller: u16) -> (TcpStream, u16) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut initialize = [0; 128];
    (initialize[2], initialize[4]) = (128, 128);
    exchange(&mut stream, &initialize, 128);
    let mut names = vec![0; 1024];
    names[0] = 1;
    names[16..18].copy_from_slice(&controller.to_le_bytes());
    names[256..256 + nqn.len()].copy_from_slice(nqn.as_bytes());
    names[512..521].copy_from_slice(b"nqn.host1");
    let answer = exchange(&mut stream, &capsule(&[(0, &[0x7F]), (4, &[1]), (42, &[queue]), (44, &[31])], &names), 24);
    assert_eq!(answer[22..24], [0, 0], "the queue is connected");
    (stream, u16::from_le_bytes([answer[8], answer[9]]))
}

#[test]
fn nvme_hosts_and_nbd_clients_share_a_card_and_an_operator_sees_both() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, address, nqn) = served(dir.path());
    let (mut admin, controller) = connect(&address, &nqn, 0, 0xFFFF);
    let enable = capsule(&[(0, &[0x7F]), (4, &[0]), (44, &[0x14]), (48, &[1, 0, 0x46])], &[]);
    exchange(&mut admin, &enable, 24);
    let (mut io, _) = connect(&address, &nqn, 1, controller);
    let write = capsule(&[(0, &[1]), (4, &[1]), (40, &[3])], &[9; 4096]);
    assert_eq!(exchange(&mut io, &write, 24)[22..24], [0, 0], "block 3 is written");
    let mut nbd = Client::connect(&dir.path().join("nbd.sock")).unwrap();
    assert_eq!(nbd.read(3 * 4096, 4096).unwrap().unwrap(), [9; 4096]);
    let socket = dir.path().join("control.sock");
    let (ok, json) = ctl(&socket, &["clients", "--json"]);
    assert!(ok, "{json}");
    assert_eq!((json.matches("\"nvme\"").count(), json.matches("\"nbd\"").count()), (2, 1), "{json}");
    let (_, table) = ctl(&socket, &["clients"]);
    assert!(table.contains("NVMe") && table.contains("NBD") && table.contains("nvme+tcp://127.0.0.1:"), "{table}");
    drop(admin);
    let began = Instant::now();
    while ctl(&socket, &["clients", "--json"]).1.contains("\"nvme\"") {
        assert!(began.elapsed() < Duration::from_secs(10), "the controller's queues end with its admin queue");
    }
}
