//! A shelf of real sockets: raw files as namespaces, and what a host finds again after the shelf has ended.

use super::common::host::{self, Digests, Entry, entry, names};
use super::common::wire::Wire;
use crate::common::limits;
use serve::{Address, Backing, Export, Protocol, RawDisk, RawDiskError, Security, Server, Services, ShelfState};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

const BOTH: Digests = Digests { header: true, data: true };
const OK: (u8, u8, bool) = (0, 0, false);
const CONFLICT: (u8, u8, bool) = (0, 0x83, true);
const BLOCK: usize = 4096;
const BLOCKS: u64 = 1024;

fn shelf(path: &Path) -> (Server, SocketAddr, String) {
    let ShelfState { id, reservations } = ShelfState::open(&path.with_extension("shelf")).unwrap();
    let export = Export {
        name: "m".into(),
        id,
        reservations: Some(reservations),
        description: "a module".into(),
        backing: Backing::Disk(Arc::new(RawDisk::open(path).unwrap())),
        read_only: false,
        lease: None,
    };
    let services = Services { nvme: vec![Address::Tcp("127.0.0.1:0".into())], ..Services::default() };
    let server = Server::start(vec![export], &services, Security::Plain, limits()).unwrap();
    let Some(Address::Tcp(address)) = server.addresses(Protocol::Nvme).next() else { panic!("no address") };
    let address = address.parse().unwrap();
    let nqn = server.subsystems().remove(0);
    (server, address, nqn)
}

/// An admin and an I/O queue of a host of its own.
fn host_of(address: SocketAddr, nqn: &str, number: u8) -> (Wire, Wire) {
    let connect = |controller, queue| {
        let mut data = names(controller, nqn, host::HOST);
        data[15] = number;
        host::command(host::connect_entry(queue, 128), &data, BOTH)
    };
    let mut admin = Wire::initialized(address, BOTH);
    let controller = admin.one(&connect(0xFFFF, 0)).value as u16;
    assert_eq!(admin.ask(host::property_set(1, 0x14, host::ENABLE)).status, OK);
    let mut io = Wire::initialized(address, BOTH);
    assert_eq!(io.one(&connect(controller, 1)).status, OK);
    (admin, io)
}

fn reserve(io: &mut Wire, opcode: u8, dword: u32, keys: [u64; 2]) -> (u8, u8, bool) {
    let data = keys.map(u64::to_le_bytes).concat();
    io.one(&host::command(entry(opcode, 900, 1).dword(10, dword).capsule(0, 16), &data, BOTH)).status
}

fn read(first: u64, count: u32) -> Entry {
    entry(2, 2, 1).blocks(first, count).transport(count * BLOCK as u32)
}

fn write(io: &mut Wire, first: u64, data: &[u8], flags: u8) -> (u8, u8, bool) {
    let command = entry(1, 1, 1).blocks(first, (data.len() / BLOCK) as u32).byte(51, flags);
    match data.len() {
        ..=65_536 => io.one(&host::command(command.capsule(0, data.len() as u32), data, BOTH)).status,
        _ => io.put(command, data, 128 << 10).status,
    }
}

fn pattern(blocks: usize, seed: usize) -> Vec<u8> {
    (0..blocks * BLOCK).map(|at| (at / 8 * 31 + seed) as u8).collect()
}

fn file(dir: &Path) -> std::path::PathBuf {
    let path = dir.join("m.img");
    std::fs::File::create(&path).unwrap().set_len(BLOCKS * BLOCK as u64 + 100).unwrap();
    path
}

#[test]
fn what_a_host_writes_lies_in_the_file_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path());
    let (_shelf, address, nqn) = shelf(&path);
    let (mut admin, mut io) = host_of(address, &nqn, 1);
    let page = admin.get(entry(6, 1, 1).dword(10, 0).transport(4096)).unwrap();
    assert_eq!(page[..8], BLOCKS.to_le_bytes(), "what is no whole block is left out");
    let mut expected = vec![0; (BLOCKS * BLOCK as u64) as usize];
    let place = |first: u64, blocks: usize| first as usize * BLOCK..(first as usize + blocks) * BLOCK;
    for (first, blocks, fua) in [(0, 1, 0), (5, 16, 0x40), (100, 256, 0), (1023, 1, 0x40), (6, 2, 0)] {
        let data = pattern(blocks, first as usize);
        expected[place(first, blocks)].copy_from_slice(&data);
        assert_eq!(write(&mut io, first, &data, fua), OK);
        assert!(io.get(read(first, blocks as u32)).unwrap() == data);
    }
    assert_eq!(io.ask(entry(0, 3, 1)).status, OK);
    assert_eq!(write(&mut io, BLOCKS, &pattern(1, 0), 0), (0, 0x80, true));
    // Zeroes that give the room back, that keep it, and a trim.
    assert_eq!(io.ask(entry(8, 9, 1).blocks(6, 4).byte(51, 0x02)).status, OK);
    assert_eq!(io.ask(entry(8, 9, 1).blocks(100, 256).byte(51, 0x40)).status, OK);
    let list = [&[0; 4][..], &8u32.to_le_bytes(), &16u64.to_le_bytes()].concat();
    let trim = entry(9, 10, 1).dword(10, 0).dword(11, 4);
    assert_eq!(io.one(&host::command(trim.capsule(0, 16), &list, BOTH)).status, OK);
    for (first, blocks) in [(6, 4), (100, 256), (16, 8)] {
        expected[place(first, blocks)].fill(0);
    }
    for (first, count) in [(0, 256), (256, 256), (512, 256), (768, 256)] {
        assert!(io.get(read(first, count)).unwrap() == expected[place(first, count as usize)]);
    }
    assert!(std::fs::read(&path).unwrap()[..expected.len()] == expected[..]);
}

#[test]
fn a_queue_of_commands_is_answered_and_each_gets_its_own_data() {
    let dir = tempfile::tempdir().unwrap();
    let (_shelf, address, nqn) = shelf(&file(dir.path()));
    let (_admin, mut io) = host_of(address, &nqn, 1);
    for id in 0..120u16 {
        let command = entry(1, id, 1).blocks(id.into(), 1).capsule(0, BLOCK as u32);
        assert!(io.send(&host::command(command, &vec![id as u8; BLOCK], BOTH)));
    }
    (0..120).for_each(|_| assert!(matches!(io.pdu(), Some(host::Pdu::Response(of)) if of.status == OK)));
    (0..120u16).for_each(|id| {
        let command = entry(2, id, 1).blocks(id.into(), 1).transport(BLOCK as u32);
        assert!(io.send(&host::command(command, &[], BOTH)));
    });
    for _ in 0..120 {
        let Some(host::Pdu::Data { id, data, .. }) = io.pdu() else { panic!("no data") };
        assert!(data.iter().all(|byte| *byte == id as u8));
        assert!(matches!(io.pdu(), Some(host::Pdu::Response(_))));
    }
}

/// A second start finds the name and the reservations, and the one that held it before still keeps others out.
#[test]
fn a_module_has_its_name_and_its_reservations_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path());
    let (server, address, nqn) = shelf(&path);
    let (_admin, mut io) = host_of(address, &nqn, 1);
    // Registered so that it survives; the second holds nothing.
    assert_eq!(reserve(&mut io, 0x0D, 3 << 30, [0, 17]), OK);
    assert_eq!(reserve(&mut io, 0x11, 1 << 8, [17, 0]), OK);
    let (_other_admin, mut other) = host_of(address, &nqn, 2);
    assert_eq!(write(&mut other, 0, &pattern(1, 1), 0), CONFLICT);
    drop((io, other));
    drop(server);
    let (_server, address, again) = shelf(&path);
    assert_eq!(again, nqn);
    let (_other_admin, mut other) = host_of(address, &nqn, 2);
    assert_eq!(write(&mut other, 0, &pattern(1, 1), 0), CONFLICT);
    // Preempt and abort, by a registered host.
    assert_eq!(reserve(&mut other, 0x0D, 3 << 30, [0, 18]), OK);
    assert_eq!(reserve(&mut other, 0x11, 2 | 1 << 8, [18, 17]), OK);
    assert_eq!(write(&mut other, 0, &pattern(1, 1), 0), OK);
}

#[test]
fn what_can_not_be_exported_is_refused_and_nothing_of_it_is_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path());
    let first = RawDisk::open(&path).unwrap();
    let refused = RawDisk::open(&path).unwrap_err();
    assert!(refused.to_string().contains("in use"), "{refused}");
    drop(first);
    std::fs::write(&path, [7; 4095]).unwrap();
    assert!(matches!(RawDisk::open(&path), Err(RawDiskError::Empty { bytes: 4095, .. })));
    assert_eq!(std::fs::read(&path).unwrap(), [7; 4095]);
    for not_there in [dir.path().join("none"), dir.path().into()] {
        assert!(matches!(RawDisk::open(&not_there), Err(RawDiskError::File(_))));
    }
}
