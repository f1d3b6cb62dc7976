//! A server of real sockets, with an initiator of our own: all commands, hostile hosts, and the ends of controllers.

use super::common::host::{self, Digests, Entry, HOST_ID, Pdu, entry, names};
use super::common::wire::Wire;
use crate::common::{Served, export, limits, new_card, served};
use serve::{Address, Backing, Export, KeptError, Limits, Protocol, Security, ServeError, Server, Services};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PLAIN: Digests = Digests { header: false, data: false };
const BOTH: Digests = Digests { header: true, data: true };
const OK: (u8, u8, bool) = (0, 0, false);
const SIZE: u64 = 64 << 20;
const BLOCK: usize = 4096;

fn start(limits: Limits) -> (Served, SocketAddr) {
    let served = served(SIZE, Security::Plain, limits);
    let Some(Address::Tcp(address)) = served.server.addresses(Protocol::Nvme).next() else { panic!("no address") };
    let address = address.parse().unwrap();
    (served, address)
}

fn read(id: u16, first: u64, count: u32) -> Entry {
    entry(2, id, 1).blocks(first, count).transport(count * BLOCK as u32)
}

fn write(id: u16, first: u64, count: u32) -> Entry {
    entry(1, id, 1).blocks(first, count).capsule(0, count * BLOCK as u32)
}

/// An admin and an I/O queue of the card.
fn pair(address: SocketAddr, digests: Digests) -> (Wire, Wire) {
    let (admin, controller) = Wire::admin(address, host::SUBSYSTEM, digests);
    (admin, Wire::io(address, host::SUBSYSTEM, controller, 1, digests))
}

/// It is still served.
fn works(io: &mut Wire, block: u64) {
    let data: Vec<u8> = (0..BLOCK).map(|at| (at as u64 * 7 + block) as u8).collect();
    let bytes = host::command(write(1, block, 1), &data, io.digests);
    assert_eq!(io.one(&bytes).status, OK);
    assert_eq!(io.get(read(2, block, 1)).unwrap(), data);
}

#[test]
fn a_host_finds_a_card_writes_it_and_reads_it_with_all_commands() {
    let (served, address) = start(Limits::default());
    for digests in [PLAIN, BOTH] {
        let (mut discovery, _) = Wire::admin(address, host::DISCOVERY, digests);
        let page = discovery.get(entry(2, 1, 0).dword(10, 0x70 | 767 << 16).transport(3072)).unwrap();
        assert_eq!(page[8], 2, "the card, and the same card that takes no writes");
        assert_eq!(&page[1024 + 512..1024 + 521], b"127.0.0.1");
        assert_eq!(page[1024 + 256..1024 + 256 + host::SUBSYSTEM.len()], *host::SUBSYSTEM.as_bytes());
        let (mut admin, mut io) = pair(address, digests);
        let page = admin.get(entry(6, 1, 1).dword(10, 0).transport(4096)).unwrap();
        assert_eq!(page[..8], (SIZE / 4096).to_le_bytes());
        let health = admin.get(entry(2, 1, u32::MAX).dword(10, 2 | 127 << 16).transport(512)).unwrap();
        assert_eq!(health[3], 100, "all of the spare is there");
        works(&mut io, 3);
        let data: Vec<u8> = (0..1u32 << 20).map(|at| (at >> 3) as u8).collect();
        for piece in [128 << 10, 100_000, 4096] {
            assert_eq!(io.put(entry(1, 7, 1).blocks(256, 256), &data, piece).status, OK);
            assert!(io.get(read(8, 256, 256)).unwrap() == data);
            assert_eq!(io.put(entry(5, 7, 1).blocks(256, 256), &data, piece).status, OK);
        }
        let mut other = data.clone();
        other[700_000] ^= 1;
        assert_eq!(io.put(entry(5, 7, 1).blocks(256, 256), &other, 128 << 10).status, (2, 0x85, true));
        assert_eq!(io.ask(entry(0, 9, 1)).status, OK);
        assert_eq!(io.ask(entry(8, 9, 1).blocks(300, 4)).status, OK);
        let list = [&[0; 4][..], &8u32.to_le_bytes(), &400u64.to_le_bytes()].concat();
        let trim = entry(9, 10, 1).dword(10, 0).dword(11, 4);
        assert_eq!(io.one(&host::command(trim.capsule(0, 16), &list, digests)).status, OK);
        assert_eq!(io.put(trim, &list, 16).status, OK);
        let found = io.get(read(11, 256, 256)).unwrap();
        let zero = |block: usize| found[(block - 256) * BLOCK..][..BLOCK].iter().all(|byte| *byte == 0);
        assert_eq!(
            (256..512).filter(|block| zero(*block)).collect::<Vec<_>>(),
            Vec::from_iter((300..304).chain(400..408))
        );
        let forced = host::command(write(12, 9, 1).byte(51, 0x40), &[5; BLOCK], digests);
        assert_eq!(io.one(&forced).status, OK);
        let shut_down = admin.ask(host::property_set(20, 0x14, host::ENABLE | 1 << 14));
        assert_eq!(shut_down.status, OK);
        let began = Instant::now();
        while admin.ask(host::property_get(21, 0x1C, false)).value != 1 | 2 << 2 {
            assert!(began.elapsed() < Duration::from_secs(10), "the shutdown is never complete");
        }
    }
    let clients = served.server.clients();
    assert!(clients.iter().all(|client| client.protocol == Protocol::Nvme));
}

#[test]
fn a_card_that_takes_no_writes_says_so() {
    let (served, address) = start(Limits::default());
    let sealed = &served.server.subsystems()[1];
    let (_admin, controller) = Wire::admin(address, sealed, PLAIN);
    let mut io = Wire::io(address, sealed, controller, 1, PLAIN);
    let refused = host::command(write(1, 0, 1), &[1; BLOCK], PLAIN);
    assert_eq!(io.one(&refused).status, (0, 0x20, true));
    io.get(read(2, 0, 1)).unwrap();
}

#[test]
fn commands_in_a_queue_are_all_answered_in_any_order() {
    let (_served, address) = start(Limits::default());
    let (_admin, mut io) = pair(address, PLAIN);
    for id in 0..500u16 {
        let block = vec![id as u8; BLOCK];
        assert!(io.send(&host::command(write(id, id.into(), 1), &block, PLAIN)));
    }
    let mut ids: Vec<u16> = (0..500)
        .map(|_| match io.pdu() {
            Some(Pdu::Response(response)) if response.status == OK => response.id,
            other => panic!("{other:?}"),
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..500).collect::<Vec<_>>());
    (0..500u16).for_each(|id| assert!(io.send(&host::command(read(id, id.into(), 1), &[], PLAIN))));
    for _ in 0..500 {
        let Some(Pdu::Data { id, data, .. }) = io.pdu() else { panic!("no data") };
        assert!(data.iter().all(|byte| *byte == id as u8));
        assert!(matches!(io.pdu(), Some(Pdu::Response(_))));
    }
}

/// The name of a hostile host, and its actions.
type Case = (&'static str, fn(SocketAddr));

fn let_go(address: SocketAddr, bytes: &[u8]) {
    let (_admin, mut io) = pair(address, PLAIN);
    io.send(bytes);
    io.is_let_go();
}

fn let_go_early(address: SocketAddr, bytes: &[u8]) {
    let mut wire = Wire::open(address);
    wire.send(bytes);
    wire.is_let_go();
}

const CASES: &[Case] = &[
    ("garbage at once", |a| let_go_early(a, &[0x55; 200])),
    ("an NBD client", |a| let_go_early(a, b"IHAVEOPT\0\0\0\x07\0\0\0\0")),
    ("a web browser", |a| let_go_early(a, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")),
    ("gone before anything", |a| drop(Wire::open(a))),
    ("half an ICReq", |a| {
        Wire::open(a).send(&host::initialize(PLAIN)[..60]);
    }),
    ("a command before the ICReq", |a| let_go_early(a, &host::command(read(1, 0, 1), &[], PLAIN))),
    ("two ICReqs", |a| let_go_early(a, &[host::initialize(PLAIN), host::initialize(PLAIN)].concat())),
    ("a command before Connect", |a| {
        let mut wire = Wire::initialized(a, PLAIN);
        assert_eq!(wire.ask(read(1, 0, 1)).status, (0, 0x0C, true));
    }),
    ("an I/O queue of a controller that there is not", |a| {
        let mut wire = Wire::initialized(a, PLAIN);
        let response = wire.one(&host::connect(1, 32, 0xABCD, host::SUBSYSTEM, PLAIN));
        assert_eq!(response.status, (1, 0x82, true));
    }),
    ("the controller of another host", |a| {
        let (_admin, controller) = Wire::admin(a, host::SUBSYSTEM, PLAIN);
        let mut data = names(controller, host::SUBSYSTEM, host::HOST);
        data[..16].copy_from_slice(&HOST_ID.map(|byte| byte ^ 1));
        let mut wire = Wire::initialized(a, PLAIN);
        let response = wire.one(&host::command(host::connect_entry(1, 32), &data, PLAIN));
        assert_eq!((response.status, response.value), ((1, 0x82, true), 1 << 16));
    }),
    ("half a command, and gone", |a| {
        pair(a, PLAIN).1.send(&host::command(write(1, 0, 1), &[1; BLOCK], PLAIN)[..2000]);
    }),
    ("a write whose data never come, and gone", |a| {
        pair(a, PLAIN).1.send(&host::command(entry(1, 1, 1).blocks(0, 256).transport(1 << 20), &[], PLAIN));
    }),
    ("a queue of writes whose data come only in part", |a| {
        let (_admin, mut io) = pair(a, PLAIN);
        for id in 0..100 {
            io.send(&host::command(entry(1, id, 1).blocks(0, 256).transport(1 << 20), &[], PLAIN));
        }
        for id in 0..100 {
            let Some(Pdu::Ready { tag, .. }) = io.pdu() else { panic!("not asked for data") };
            io.send(&host::data(id, tag, 0, &[7; 100], false, PLAIN));
        }
    }),
    ("a PDU of four gigabytes", |a| let_go(a, &[4, 0, 72, 72, 0xFF, 0xFF, 0xFF, 0xFF])),
    ("a PDU of nothing", |a| let_go(a, &[4, 0, 72, 0, 0, 0, 0, 0])),
    ("a PDU of the controller", |a| {
        let_go(a, &[5, 0, 24, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }),
    ("data that nobody asked for", |a| let_go(a, &host::data(1, 3, 0, &[1; 512], true, PLAIN))),
    ("data of another command", |a| {
        let (_admin, mut io) = pair(a, PLAIN);
        io.send(&host::command(entry(1, 1, 1).blocks(0, 1).transport(4096), &[], PLAIN));
        let Some(Pdu::Ready { tag, .. }) = io.pdu() else { panic!("not asked for data") };
        io.send(&host::data(2, tag, 0, &[1; BLOCK], true, PLAIN));
        assert!(matches!(io.pdu(), Some(Pdu::Terminated { status: 1, information: 8, .. })));
        io.is_let_go();
    }),
    ("a wrong header digest", |a| {
        let (_admin, mut io) = pair(a, BOTH);
        let mut bytes = host::command(read(1, 0, 1), &[], BOTH);
        bytes[72] ^= 1;
        io.send(&bytes);
        assert!(matches!(io.pdu(), Some(Pdu::Terminated { status: 3, .. })));
        io.is_let_go();
    }),
    ("a wrong data digest", |a| {
        let (_admin, mut io) = pair(a, BOTH);
        let mut bytes = host::command(write(1, 0, 1), &[1; BLOCK], BOTH);
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(io.one(&bytes).status, (0, 0x22, false));
        works(&mut io, 50);
    }),
    ("all opcodes with nothing right in them", |a| {
        let (mut admin, mut io) = pair(a, PLAIN);
        for opcode in (0..=255u8).filter(|opcode| ![0x0C, 0x18].contains(opcode)) {
            for wire in [&mut admin, &mut io] {
                let garbage = Entry([opcode; 64]).byte(1, 0xFF).byte(4, 0xFF);
                assert_ne!(wire.ask(garbage).status, OK, "{opcode:#x}");
            }
        }
        works(&mut io, 51);
    }),
    ("more event requests than there may be", |a| {
        let (mut admin, _io) = pair(a, PLAIN);
        for id in 0..100 {
            admin.send(&host::command(entry(0x0C, id, 0), &[], PLAIN));
        }
        for _ in 4..100 {
            assert!(matches!(admin.pdu(), Some(Pdu::Response(response)) if response.status == (1, 5, true)));
        }
    }),
    ("more commands than entries", |a| {
        let (_admin, mut io) = pair(a, PLAIN);
        (0..1000u16).for_each(|id| assert!(io.send(&host::command(read(id, 0, 1), &[], PLAIN))));
        for _ in 0..1000 {
            assert!(matches!(io.pdu(), Some(Pdu::Data { .. })));
            assert!(matches!(io.pdu(), Some(Pdu::Response(_))));
        }
    }),
    ("a command a byte at a time", |a| {
        let (_admin, mut io) = pair(a, PLAIN);
        for byte in host::command(read(1, 0, 1), &[], PLAIN) {
            io.send(&[byte]);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(matches!(io.pdu(), Some(Pdu::Data { .. })));
    }),
    ("a host that resets with commands in flight", |a| {
        let (mut admin, mut io) = pair(a, PLAIN);
        (0..100u16).for_each(|id| assert!(io.send(&host::command(read(id, 0, 16), &[], PLAIN))));
        assert_eq!(admin.ask(host::property_set(1, 0x14, 0)).status, OK);
        io.is_let_go();
        assert_eq!(admin.ask(host::property_get(2, 0x1C, false)).value, 0);
    }),
    ("a host that goes with commands in flight", |a| {
        let (_admin, mut io) = pair(a, PLAIN);
        (0..100u16).for_each(|id| assert!(io.send(&host::command(read(id, 0, 16), &[], PLAIN))));
    }),
];

#[test]
fn each_gets_its_error_or_is_let_go_and_the_others_notice_nothing() {
    let (served, address) = start(Limits::default());
    let (_admin, mut good) = pair(address, PLAIN);
    for (number, (what, case)) in CASES.iter().enumerate() {
        let began = Instant::now();
        eprintln!("{what}");
        case(address);
        assert!(began.elapsed() < Duration::from_secs(10), "{what}: took {:?}", began.elapsed());
        works(&mut good, 1000 + number as u64);
    }
    drop((good, _admin));
    let began = Instant::now();
    while !served.server.clients().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", served.server.clients());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_silent_host_loses_its_controller_and_one_that_speaks_on_any_queue_does_not() {
    let (served, address) = start(Limits::default());
    let mut silent = pair(address, PLAIN);
    let mut speaks = pair(address, PLAIN);
    for (admin, _) in [&mut silent, &mut speaks] {
        // One second.
        assert_eq!(admin.ask(entry(9, 1, 0).dword(10, 0x0F).dword(11, 1000)).status, OK);
    }
    for _ in 0..15 {
        std::thread::sleep(Duration::from_millis(200));
        works(&mut speaks.1, 5);
    }
    silent.0.is_let_go();
    silent.1.is_let_go();
    assert_eq!(speaks.0.ask(entry(0x18, 2, 0)).status, OK);
    assert_eq!(served.server.clients().len(), 2);
}

#[test]
fn the_end_of_an_admin_queue_ends_all_queues_of_its_controller() {
    let (_served, address) = start(Limits::default());
    let (admin, controller) = Wire::admin(address, host::SUBSYSTEM, PLAIN);
    let mut queues: Vec<Wire> =
        (1..=8).map(|queue| Wire::io(address, host::SUBSYSTEM, controller, queue, PLAIN)).collect();
    let (_other, mut io) = pair(address, PLAIN);
    drop(admin);
    queues.iter_mut().for_each(Wire::is_let_go);
    works(&mut io, 6);
}

#[test]
fn hosts_beyond_the_limit_are_turned_away_and_slow_ones_let_go() {
    let limits = Limits {
        connections: 6,
        handshake: Duration::from_millis(500),
        stall: Duration::from_millis(500),
        request: Duration::from_millis(500),
        ..Limits::default()
    };
    let (served, address) = start(limits);
    let (_admin, mut good) = pair(address, PLAIN);
    // One that says nothing, one that connects no queue, one that sends half a command, and one that owes data.
    let mut mute = Wire::open(address);
    let mut unconnected = Wire::initialized(address, PLAIN);
    mute.is_let_go();
    unconnected.is_let_go();
    for half in [
        host::command(write(1, 0, 1), &[1; BLOCK], PLAIN)[..1000].to_vec(),
        host::command(entry(1, 1, 1).blocks(0, 256).transport(1 << 20), &[], PLAIN),
    ] {
        let (_admin, mut io) = pair(address, PLAIN);
        io.send(&half);
        let began = Instant::now();
        io.is_let_go();
        assert!(began.elapsed() < Duration::from_secs(10));
        works(&mut good, 7);
    }
    let mut many: Vec<Wire> = (0..8).map(|_| Wire::open(address)).collect();
    std::thread::sleep(Duration::from_millis(100));
    assert!(served.server.turned_away() >= 2, "{}", served.server.turned_away());
    many.iter_mut().for_each(Wire::is_let_go);
    works(&mut good, 8);
}

#[test]
fn memory_is_bounded_whatever_hosts_ask_for() {
    let limits = Limits { memory_bytes: 128 << 20, connections: 64, ..Limits::default() };
    let (_served, address) = start(limits);
    // Twenty hosts that ask for 120 MiB each, and take nothing; one that is served beside them.
    let mut greedy = Vec::new();
    for _ in 0..20 {
        let (admin, mut io) = pair(address, PLAIN);
        (0..120u16).for_each(|id| assert!(io.send(&host::command(read(id, 0, 256), &[], PLAIN))));
        greedy.push((admin, io));
    }
    let (_admin, mut good) = pair(address, PLAIN);
    (0..20).for_each(|block| works(&mut good, block));
    // One that takes its answers gets them all, when the others are gone.
    let (_greedy_admin, mut io) = greedy.swap_remove(7);
    drop(greedy);
    for _ in 0..120 {
        assert!(matches!(io.pdu(), Some(Pdu::Data { data, .. }) if data.len() == 1 << 20));
        assert!(matches!(io.pdu(), Some(Pdu::Response(_))));
    }
}

#[test]
fn without_authentication_only_this_machine_is_served() {
    let served = served(SIZE, Security::Plain, Limits::default());
    let everywhere = |port: &str| vec![Address::Tcp(format!("0.0.0.0:{port}"))];
    let start = |nbd: Vec<Address>, nvme: Vec<Address>, insecure| {
        let export = crate::common::export("card", &served.live, false);
        Server::start(
            vec![export],
            &Services { nbd, nvme, insecure, ..Services::default() },
            Security::Plain,
            Limits::default(),
        )
    };
    for (nbd, nvme, protocol) in [(everywhere("0"), vec![], Protocol::Nbd), (vec![], everywhere("0"), Protocol::Nvme)] {
        let refused = start(nbd.clone(), nvme.clone(), false).err();
        let Some(error @ ServeError::Unprotected { .. }) = refused else { panic!("{refused:?}") };
        assert!(error.to_string().starts_with(&protocol.to_string()), "{error}");
        assert!(error.to_string().contains("--insecure"));
        assert!(start(nbd, nvme, true).is_ok());
    }
    let unix = vec![Address::Unix("/nowhere/x".into())];
    assert!(matches!(start(vec![], unix, true), Err(ServeError::NotTcp { .. })));
    let twice = || crate::common::export("card", &served.live, false);
    let services = Services { nvme: vec![Address::Tcp("127.0.0.1:0".into())], ..Services::default() };
    let mut second = twice();
    second.name = "copy".into();
    let refused = Server::start(vec![twice(), second], &services, Security::Plain, Limits::default()).err();
    assert!(matches!(refused, Some(ServeError::SameCard { .. })), "{refused:?}");
}

/// An admin and an I/O queue of a host of its own.
fn host_of(address: SocketAddr, number: u8) -> (Wire, Wire) {
    let connect = |controller, queue| {
        let mut data = names(controller, host::SUBSYSTEM, host::HOST);
        data[15] = number;
        host::command(host::connect_entry(queue, 128), &data, PLAIN)
    };
    let mut admin = Wire::initialized(address, PLAIN);
    let controller = admin.one(&connect(0xFFFF, 0)).value as u16;
    assert_eq!(admin.ask(host::property_set(1, 0x14, host::ENABLE)).status, OK);
    let mut io = Wire::initialized(address, PLAIN);
    assert_eq!(io.one(&connect(controller, 1)).status, OK);
    (admin, io)
}

/// A reservation command: its opcode, dword 10, and keys.
fn reserve(io: &mut Wire, opcode: u8, dword: u32, keys: [u64; 2]) -> (u8, u8, bool) {
    let data = keys.map(u64::to_le_bytes).concat();
    io.one(&host::command(entry(opcode, 900, 1).dword(10, dword).capsule(0, 16), &data, PLAIN)).status
}

#[test]
fn a_preempted_host_writes_nothing_after_the_preemption_is_answered() {
    let (_served, address) = start(Limits::default());
    let (_admin_a, mut a) = host_of(address, 1);
    let (_admin_b, mut b) = host_of(address, 2);
    let mut refused = 0;
    for round in 0..20u8 {
        assert_eq!(reserve(&mut a, 0x0D, 0, [0, 0xA]), OK);
        assert_eq!(reserve(&mut b, 0x0D, 0, [0, 0xB]), OK);
        assert_eq!(reserve(&mut a, 0x11, 1 << 8, [0xA, 0]), OK);
        // A queue of writes to one block, and a write whose data come later.
        let mine = vec![1; BLOCK];
        assert!(a.send(&host::command(entry(1, 500, 1).blocks(5, 1).transport(4096), &[], PLAIN)));
        let Some(Pdu::Ready { tag, .. }) = a.pdu() else { panic!("not asked for data") };
        (0..100u16).for_each(|id| assert!(a.send(&host::command(write(id, 5, 1), &mine, PLAIN))));
        // Preempt and abort.
        assert_eq!(reserve(&mut b, 0x11, 2 | 1 << 8, [0xB, 0xA]), OK);
        let other = vec![100 + round; BLOCK];
        assert_eq!(b.one(&host::command(write(1, 5, 1), &other, PLAIN)).status, OK);
        assert!(a.send(&host::data(500, tag, 0, &mine, true, PLAIN)));
        let mut late = None;
        for _ in 0..101 {
            let Some(Pdu::Response(response)) = a.pdu() else { panic!("no response") };
            assert!(response.status == OK || response.status == (0, 0x83, true), "{:?}", response.status);
            refused += u32::from(response.status != OK);
            late = late.or((response.id == 500).then_some(response.status));
        }
        assert_eq!(late, Some((0, 0x83, true)), "its data came behind the preemption");
        assert_eq!(b.get(read(2, 5, 1)).unwrap(), other);
        assert_eq!(reserve(&mut b, 0x15, 1, [0xB, 0]), OK);
    }
    assert!(refused >= 20);
}

#[test]
fn reservations_survive_the_server_in_the_folder_of_the_card() {
    let served = served(SIZE, Security::Plain, Limits::default());
    let path = served.file("reservations");
    let again = || {
        let mut export = crate::common::export("card", &served.live, false);
        export.reservations = Some(path.clone());
        let services = Services { nvme: vec![Address::Tcp("127.0.0.1:0".into())], ..Services::default() };
        Server::start(vec![export], &services, Security::Plain, limits())
    };
    let address = |server: &Server| match server.addresses(Protocol::Nvme).next() {
        Some(Address::Tcp(address)) => address.parse().unwrap(),
        other => panic!("{other:?}"),
    };
    let server = again().unwrap();
    let (_admin, mut a) = host_of(address(&server), 1);
    // With persistence through a loss of power.
    assert_eq!(reserve(&mut a, 0x0D, 3 << 30, [0, 0xA]), OK);
    assert_eq!(reserve(&mut a, 0x11, 2 << 8, [0xA, 0]), OK);
    drop(server);
    let server = again().unwrap();
    let (_admin, mut b) = host_of(address(&server), 2);
    assert_eq!(b.get(read(1, 0, 1)).unwrap_err().status, (0, 0x83, true));
    let (_admin, mut a) = host_of(address(&server), 1);
    works(&mut a, 3);
    drop(server);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let refused = again().err();
    assert!(matches!(refused, Some(ServeError::Kept(KeptError::Damaged { .. }))), "{refused:?}");
}

#[test]
fn five_hundred_connections_are_served_side_by_side() {
    let (served, address) = start(Limits { connections: 504, memory_bytes: 128 << 20, ..Limits::default() });
    let mut hosts: Vec<(Wire, Vec<Wire>)> = (0..100)
        .map(|_| {
            let (admin, controller) = Wire::admin(address, host::SUBSYSTEM, PLAIN);
            let io = |queue| Wire::io(address, host::SUBSYSTEM, controller, queue, PLAIN);
            (admin, (1..=4).map(io).collect())
        })
        .collect();
    assert_eq!(served.server.clients().len(), 500);
    // All ask before any is answered, and each gets its own.
    for (number, (_, queues)) in hosts.iter_mut().enumerate() {
        for (queue, io) in queues.iter_mut().enumerate() {
            let block = (number * 4 + queue) as u64;
            assert!(io.send(&host::command(write(1, block, 1), &[block as u8; BLOCK], PLAIN)));
        }
    }
    for (number, (admin, queues)) in hosts.iter_mut().enumerate() {
        for (queue, io) in queues.iter_mut().enumerate() {
            assert!(matches!(io.pdu(), Some(Pdu::Response(response)) if response.status == OK));
            let block = (number * 4 + queue) as u64;
            assert_eq!(io.get(read(2, block, 1)).unwrap(), [block as u8; BLOCK]);
        }
        assert_eq!(admin.ask(entry(0x18, 3, 0)).status, OK);
    }
    // The last four are turned away behind the limit, and no controller loses anything by it.
    let mut more: Vec<Wire> = (0..8).map(|_| Wire::open(address)).collect();
    more[4..].iter_mut().for_each(Wire::is_let_go);
    works(&mut hosts[99].1[3], 7);
}

/// Volumes are made, grown and deleted while hosts are connected to others.
#[test]
fn exports_come_and_go_while_the_server_runs() {
    let (served, address) = start(Limits::default());
    let mut live = Arc::into_inner(new_card(SIZE)).expect("nobody else has it");
    live.format_volumes(format::CardId([9; 16])).unwrap();
    let live = Arc::new(live);
    let volume = |name: &str| {
        let id = [name.as_bytes()[0]; 16];
        let volume = Some(live.create_volume(name, 2 << 20, id).unwrap());
        let backing = Backing::Card { live: Arc::clone(&live), volume };
        Export { id, backing, ..export(name, &live, false) }
    };
    let (a, b) = (volume("a"), volume("b"));
    let known = [export("card", &served.live, false), export("looked-at", &served.live, true)];
    let set = |more: &[&Export]| {
        let more = more.iter().map(|export| (*export).clone());
        served.server.set_exports(known.iter().cloned().chain(more).collect()).unwrap();
    };
    set(&[&a, &b]);
    let names = served.server.subsystems();
    assert_eq!(names.len(), known.len() + 2);
    let pair = |nqn: &str| {
        let (admin, controller) = Wire::admin(address, nqn, PLAIN);
        (admin, Wire::io(address, nqn, controller, 1, PLAIN))
    };
    let (_admin_a, mut io_a) = pair(&names[2]);
    let (_admin_b, mut io_b) = pair(&names[3]);
    assert_eq!(io_a.one(&host::command(write(1, 3, 1), &[1; BLOCK], PLAIN)).status, OK);
    assert_eq!(io_b.one(&host::command(write(1, 3, 1), &[2; BLOCK], PLAIN)).status, OK);
    assert_eq!(io_a.get(read(2, 3, 1)).unwrap(), [1; BLOCK]);
    let beyond = io_a.one(&host::command(write(3, 512, 1), &[3; BLOCK], PLAIN));
    assert_eq!(beyond.status, (0, 0x80, true));
    live.grow_volume("a", 4 << 20).unwrap();
    set(&[&a, &b]);
    assert_eq!(io_a.one(&host::command(write(4, 512, 1), &[3; BLOCK], PLAIN)).status, OK);
    // A volume that has hosts stays; one that has gone is not found, and its place is nobody else's.
    assert!(live.delete_volume("b").is_err());
    drop((_admin_b, io_b));
    let began = Instant::now();
    while live.delete_volume("b").is_err() {
        assert!(began.elapsed() < Duration::from_secs(10), "its hosts never leave");
        std::thread::sleep(Duration::from_millis(5));
    }
    let c = volume("c");
    set(&[&a, &c]);
    assert_eq!(served.server.subsystems().len(), known.len() + 2);
    assert!(!served.server.subsystems().contains(&names[3]));
    let (_admin_c, mut io_c) = pair(&served.server.subsystems()[3]);
    assert_eq!(io_c.get(read(5, 3, 1)).unwrap(), [0; BLOCK]);
    assert_eq!(io_a.get(read(6, 512, 1)).unwrap(), [3; BLOCK]);
}
