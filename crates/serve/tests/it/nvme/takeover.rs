//! A card that comes and goes between two servers, under hosts and clients that are connected all the time.

use super::common::host::{self, Digests, Entry, Pdu, entry};
use super::common::wire::Wire;
use crate::common::{client, export, limits, new_card};
use crate::hostile::{Raw, go};
use live::Live;
use serve::{Address, Backing, Elsewhere, Export, Lease, Limits, Protocol, Security, Server, Services};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PLAIN: Digests = Digests { header: false, data: false };
const OK: (u8, u8, bool) = (0, 0, false);
const INACCESSIBLE: (u8, u8, bool) = (3, 2, false);
const TRANSITION: (u8, u8, bool) = (3, 3, false);
const SIZE: u64 = 64 << 20;
const BLOCK: usize = 4096;
/// Longer than anything takes here, and shorter than the patience of a test.
const SOON: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Switch(AtomicBool);

impl Switch {
    fn set(&self, may_answer: bool) {
        self.0.store(may_answer, Ordering::SeqCst);
    }
}

impl Lease for Switch {
    fn may_answer(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A server that shares a card with others.
struct Controller {
    server: Server,
    lease: Arc<Switch>,
    dir: tempfile::TempDir,
}

impl Controller {
    fn new(number: u8) -> Controller {
        let (dir, lease) = (tempfile::tempdir().unwrap(), Arc::new(Switch::default()));
        lease.set(true);
        let services = Services {
            nbd: vec![Address::Unix(dir.path().join("nbd.sock"))],
            nvme: vec![Address::Tcp("127.0.0.1:0".into())],
            controller_number: Some(number),
            ..Services::default()
        };
        let exports = vec![Controller::export(&lease, elsewhere(false))];
        let server = Server::start(exports, &services, Security::Plain, limits()).unwrap();
        Controller { server, lease, dir }
    }

    fn export(lease: &Arc<Switch>, backing: Backing) -> Export {
        let lease = Some(Arc::clone(lease) as Arc<dyn Lease>);
        let (name, description) = ("card".into(), "a card".into());
        Export { name, id: [7; 16], reservations: None, description, backing, read_only: false, lease }
    }

    fn set(&self, backing: Backing) {
        self.server.set_exports(vec![Controller::export(&self.lease, backing)]).unwrap();
    }

    fn has(&self, live: &Arc<Live>) {
        self.set(Backing::Card { live: Arc::clone(live), volume: None });
    }

    /// Gives the card away in order: when this returns, no connection of this server can ask it. `owners` have it besides.
    fn gives_up(&self, live: &Arc<Live>, owners: usize) {
        self.set(elsewhere(false));
        is_let_go(live, owners);
    }

    fn address(&self) -> SocketAddr {
        let Some(Address::Tcp(address)) = self.server.addresses(Protocol::Nvme).next() else { panic!("no address") };
        address.parse().unwrap()
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("nbd.sock")
    }

    /// An admin queue and an I/O queue.
    fn pair(&self) -> (Wire, Wire) {
        let (admin, controller) = Wire::admin(self.address(), host::SUBSYSTEM, PLAIN);
        (admin, Wire::io(self.address(), host::SUBSYSTEM, controller, 1, PLAIN))
    }
}

fn elsewhere(is_changing: bool) -> Backing {
    Backing::Elsewhere(Elsewhere { size_bytes: SIZE, has_volatile_cache: false, is_changing })
}

fn is_let_go(live: &Arc<Live>, owners: usize) {
    let began = Instant::now();
    while Arc::strong_count(live) > owners {
        assert!(began.elapsed() < SOON, "{} owners", Arc::strong_count(live));
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn read(id: u16, first: u64, count: u32) -> Entry {
    entry(2, id, 1).blocks(first, count).transport(count * BLOCK as u32)
}

fn write(id: u16, first: u64, count: u32) -> Entry {
    entry(1, id, 1).blocks(first, count).capsule(0, count * BLOCK as u32)
}

fn writes(io: &mut Wire, first: u64, byte: u8) -> (u8, u8, bool) {
    io.one(&host::command(write(1, first, 1), &[byte; BLOCK], PLAIN)).status
}

/// The state of the group, and the number of its changes.
fn group(admin: &mut Wire) -> (u8, u64) {
    let page = admin.get(entry(2, 9, 0).dword(10, 0x0C | 12 << 16).transport(52)).unwrap();
    (page[32], u64::from_le_bytes(page[..8].try_into().unwrap()))
}

/// Two hosts with a queue to each of two servers write and read while the card goes to and fro: each command is carried out
/// or refused for its path, and what was written last is read through either server.
#[test]
fn hosts_follow_a_card_between_two_servers_under_load() {
    let live = new_card(SIZE);
    let controllers = [Controller::new(0), Controller::new(1)];
    controllers[0].has(&live);
    let stops = AtomicBool::new(false);
    let (carried_out, refused, takeovers) = (AtomicU64::new(0), AtomicU64::new(0), 200);
    std::thread::scope(|scope| {
        for number in 0..2u64 {
            let (stops, carried_out, refused, controllers) = (&stops, &carried_out, &refused, &controllers);
            let mut queues = [0, 1].map(|at: usize| controllers[at].pair());
            scope.spawn(move || {
                let mut last = [0u8; 64];
                let mut at = 0;
                for round in 0u64.. {
                    if stops.load(Ordering::SeqCst) {
                        break;
                    }
                    let (slot, byte) = ((round % 64) as usize, (round % 251) as u8);
                    let block = number * 64 + slot as u64;
                    // Another path is tried until one carries it out.
                    loop {
                        let (_, io) = &mut queues[at];
                        match writes(io, block, byte) {
                            OK => break,
                            INACCESSIBLE | TRANSITION => refused.fetch_add(1, Ordering::SeqCst),
                            other => panic!("{other:?}"),
                        };
                        at = 1 - at;
                    }
                    last[slot] = byte;
                    let slot = (round * 7 % 64) as usize;
                    let bytes = loop {
                        match queues[at].1.get(read(2, number * 64 + slot as u64, 1)) {
                            Ok(bytes) => break bytes,
                            Err(response) if [INACCESSIBLE, TRANSITION].contains(&response.status) => at = 1 - at,
                            Err(other) => panic!("{other:?}"),
                        }
                    };
                    assert_eq!(bytes, [last[slot]; BLOCK], "block {slot} of host {number} in round {round}");
                    carried_out.fetch_add(2, Ordering::SeqCst);
                }
            });
        }
        for takeover in 0..takeovers {
            let (from, to) = (&controllers[takeover % 2], &controllers[1 - takeover % 2]);
            from.gives_up(&live, 1);
            // All that was carried out is answered: nothing waits for a lease that does not come back.
            from.lease.set(false);
            to.lease.set(true);
            to.set(elsewhere(true));
            let before = carried_out.load(Ordering::SeqCst);
            to.has(&live);
            let began = Instant::now();
            while carried_out.load(Ordering::SeqCst) < before + 8 {
                assert!(began.elapsed() < SOON, "hosts do not go on");
                std::thread::yield_now();
            }
        }
        stops.store(true, Ordering::SeqCst);
    });
    let refused = refused.load(Ordering::SeqCst);
    assert!(refused >= takeovers as u64 / 2, "{refused} commands were refused");
}

#[test]
fn silent_hosts_let_go_of_the_card_and_hear_of_it() {
    let live = new_card(SIZE);
    let controller = Controller::new(3);
    let (mut admin, mut io) = controller.pair();
    let (_idle_admin, _idle) = controller.pair();
    assert_eq!(group(&mut admin), (3, 0));
    // Events of asymmetric access are wanted, and asked for twice.
    assert_eq!(admin.ask(entry(9, 1, 0).dword(10, 0x0B).dword(11, 1 << 11)).status, OK);
    for id in [100, 101] {
        assert!(admin.send(&host::command(entry(0x0C, id, 0), &[], PLAIN)));
    }
    let event = |admin: &mut Wire| match admin.pdu() {
        Some(Pdu::Response(response)) if response.id >= 100 => response.value,
        other => panic!("{other:?}"),
    };
    assert_eq!(writes(&mut io, 0, 1), INACCESSIBLE);
    assert_eq!(io.ask(entry(0, 1, u32::MAX)).status, INACCESSIBLE);
    controller.set(elsewhere(true));
    assert_eq!(writes(&mut io, 0, 1), TRANSITION);
    assert_eq!(group(&mut admin), (15, 1));
    controller.has(&live);
    assert_eq!(event(&mut admin), 0x0C_03_02);
    assert_eq!(group(&mut admin), (1, 2));
    assert_eq!(writes(&mut io, 0, 1), OK);
    // Nobody asks for anything, and the card is let go all the same.
    std::thread::sleep(Duration::from_millis(50));
    controller.gives_up(&live, 1);
    assert_eq!(event(&mut admin), 0x0C_03_02);
    assert_eq!(group(&mut admin), (3, 3));
    assert_eq!(io.get(read(1, 0, 1)).unwrap_err().status, INACCESSIBLE);
    controller.has(&live);
    assert_eq!(io.get(read(1, 0, 1)).unwrap(), [1; BLOCK]);
}

/// A write whose data are on their way is refused when they have come: a part of it may lie in the card of before.
#[test]
fn a_write_that_was_begun_before_the_card_went_fails_behind_it() {
    let live = new_card(SIZE);
    let controller = Controller::new(0);
    controller.has(&live);
    let (_admin, mut io) = controller.pair();
    for back_again in [false, true] {
        let data = vec![7; 2 * BLOCK];
        let entry = entry(1, 5, 1).blocks(8, 2).transport(data.len() as u32);
        assert!(io.send(&host::command(entry, &[], PLAIN)));
        let Some(Pdu::Ready { tag, .. }) = io.pdu() else { panic!("it is not asked for data") };
        assert!(io.send(&host::data(5, tag, 0, &data[..BLOCK], false, PLAIN)));
        // The first block is written when the next command is answered.
        assert_eq!(io.get(read(6, 0, 1)).unwrap(), [0; BLOCK]);
        controller.gives_up(&live, 1);
        if back_again {
            controller.has(&live);
        }
        assert!(io.send(&host::data(5, tag, BLOCK as u32, &data[BLOCK..], true, PLAIN)));
        let Some(Pdu::Response(response)) = io.pdu() else { panic!("no response") };
        assert_eq!((response.id, response.status.0, response.status.2), (5, 3, false));
        controller.has(&live);
        assert_eq!(io.get(read(6, 9, 1)).unwrap(), [0; BLOCK], "its second block was never written");
    }
}

#[test]
fn answers_are_withheld_while_there_is_no_lease() {
    let live = new_card(SIZE);
    let controller = Controller::new(0);
    controller.has(&live);
    let (mut admin, mut io) = controller.pair();
    let mut nbd = Raw::ready(&controller.socket());
    assert_eq!(writes(&mut io, 0, 1), OK);
    assert!(nbd.request(0, 1, 4096, 4096, &[2; BLOCK]));
    assert_eq!(nbd.error(), 0);
    for round in 0..3u8 {
        controller.lease.set(false);
        assert!(io.send(&host::command(write(1, 0, 1), &[round; BLOCK], PLAIN)));
        assert!(io.send(&host::command(read(2, 1, 1), &[], PLAIN)));
        assert!(io.send(&host::command(entry(0, 3, 1), &[], PLAIN)));
        assert!(nbd.request(0, 0, 4096, 4096, &[]));
        assert!(nbd.request(0, 3, 0, 0, &[]));
        io.stream.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
        nbd.0.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
        let nothing = |result: std::io::Result<usize>| {
            let kind = result.expect_err("it is answered without a lease").kind();
            assert!(matches!(kind, std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut), "{kind:?}");
        };
        nothing(std::io::Read::read(&mut io.stream, &mut [0; 1]));
        nothing(std::io::Read::read(&mut nbd.0, &mut [0; 1]));
        // The admin queue needs no lease.
        assert_eq!(admin.ask(entry(0x18, 3, 0)).status, OK);
        assert_eq!(group(&mut admin).0, 1);
        io.stream.set_read_timeout(Some(SOON)).unwrap();
        nbd.0.set_read_timeout(Some(SOON)).unwrap();
        controller.lease.set(true);
        // The read and its data, and two more answers.
        let answers: Vec<Pdu> = (0..4).map(|_| io.pdu().expect("it is answered")).collect();
        let data = |pdu: &&Pdu| matches!(pdu, Pdu::Data { id: 2, data, .. } if *data == [2; BLOCK]);
        assert_eq!(answers.iter().filter(data).count(), 1);
        assert!(answers.iter().all(|pdu| matches!(pdu, Pdu::Data { .. } | Pdu::Response(_))));
        assert_eq!(nbd.error(), 0);
        assert_eq!(nbd.take(BLOCK), [2; BLOCK]);
        assert_eq!(nbd.error(), 0);
    }
    // The owner of the server has lost the card: what was withheld is never sent.
    controller.lease.set(false);
    assert!(io.send(&host::command(read(2, 1, 1), &[], PLAIN)));
    assert!(nbd.request(0, 0, 0, 4096, &[]));
    std::thread::sleep(Duration::from_millis(50));
    controller.server.cut_off_clients();
    controller.gives_up(&live, 1);
    controller.lease.set(true);
    assert!(io.pdu().is_none());
    assert!(admin.pdu().is_none());
    assert!(!matches!(std::io::Read::read(&mut nbd.0, &mut [0; 1]), Ok(1..)));
}

/// The owner gives up its lease when nobody has the card any more: all answers have been sent by then.
#[test]
fn a_card_is_kept_until_the_last_answer_is_sent() {
    let live = new_card(SIZE);
    let controller = Controller::new(0);
    controller.has(&live);
    let (_admin, mut io) = controller.pair();
    // More answers than the sockets hold, of a host that takes none yet.
    (0..16).for_each(|id| assert!(io.send(&host::command(read(id, 0, 256), &[], PLAIN))));
    std::thread::sleep(Duration::from_millis(100));
    controller.set(elsewhere(false));
    std::thread::sleep(Duration::from_millis(50));
    assert!(Arc::strong_count(&live) > 1, "answers are not sent");
    // Those that were carried out are answered, and those that were not taken any more are refused.
    let (mut bytes, mut carried_out, mut refused) = (0, 0, 0);
    while carried_out + refused < 16 {
        match io.pdu() {
            Some(Pdu::Data { data, .. }) => bytes += data.len(),
            Some(Pdu::Response(response)) if response.status == OK => carried_out += 1,
            Some(Pdu::Response(response)) if response.status == INACCESSIBLE => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(carried_out > 0 && bytes == carried_out * 256 * BLOCK, "{carried_out} of {bytes} bytes");
    is_let_go(&live, 1);
    controller.lease.set(false);
    assert_eq!(writes(&mut io, 0, 1), INACCESSIBLE);
}

/// Answers that wait for a lease when the card goes are never sent: their host hears of that at once, and asks elsewhere.
#[test]
fn connections_end_whose_lease_ended_before_the_card_went() {
    let live = new_card(SIZE);
    let controller = Controller::new(0);
    controller.has(&live);
    let (mut admin, mut io) = controller.pair();
    let mut nbd = Raw::ready(&controller.socket());
    controller.lease.set(false);
    (0..16).for_each(|id| assert!(io.send(&host::command(write(id, 1, 1), &[5; BLOCK], PLAIN))));
    assert!(nbd.request(0, 1, 0, 4096, &[3; BLOCK]));
    std::thread::sleep(Duration::from_millis(50));
    controller.gives_up(&live, 1);
    assert!(io.pdu().is_none());
    assert!(!matches!(std::io::Read::read(&mut nbd.0, &mut [0; 1]), Ok(1..)));
    assert_eq!(group(&mut admin).0, 3, "the controller goes on");
}

/// A connection ends at once whatever it waits for when its card is lost, and leaves nothing of the card behind.
#[test]
fn connections_end_at_once_when_they_are_cut_off() {
    let live = new_card(SIZE);
    let controller = Controller::new(0);
    for is_told_first in [false, true] {
        controller.lease.set(true);
        controller.has(&live);
        let (mut flooded, mut slow) = (Raw::ready(&controller.socket()), Raw::ready(&controller.socket()));
        let (_admin, mut io) = controller.pair();
        controller.lease.set(false);
        // More answers than are kept for a client that takes none.
        for _ in 0..400 {
            assert!(flooded.request(0, 0, 0, 64 << 10, &[]));
        }
        (0..12).for_each(|id| assert!(io.send(&host::command(read(id, 0, 256), &[], PLAIN))));
        // Half of a write.
        assert!(slow.request(0, 1, 0, 2 * BLOCK as u32, &[1; BLOCK]));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(controller.server.clients().len(), 4);
        let began = Instant::now();
        if is_told_first {
            controller.set(elsewhere(false));
            std::thread::sleep(Duration::from_millis(50));
        }
        controller.server.cut_off_clients();
        while !controller.server.clients().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(1), "{:?}", controller.server.clients());
            std::thread::sleep(Duration::from_millis(1));
        }
        if !is_told_first {
            // Nobody comes in between: the card has no clients until it is said where it is.
            let mut late = Raw::connect(&controller.socket());
            assert!(late.send(&3u32.to_be_bytes()));
            late.option(1, b"card");
            assert_eq!(std::io::Read::read_to_end(&mut late.0, &mut Vec::new()).unwrap_or(0), 0);
            let mut late = Wire::initialized(controller.address(), PLAIN);
            assert!(late.send(&host::connect(0, 32, 0xFFFF, host::SUBSYSTEM, PLAIN)));
            assert!(late.pdu().is_none());
        }
        controller.gives_up(&live, 1);
    }
}

#[test]
fn nbd_clients_are_refused_and_let_go_where_the_card_is_not() {
    let live = new_card(SIZE);
    let controller = Controller::new(0);
    let uri = format!("nbd+unix:///card?socket={}", controller.socket().display());
    let info = || client("nbdinfo", "libnbd-bin", &["--size", &uri]);
    assert!(!info().status.success());
    for option in [6, 7] {
        let mut raw = Raw::connect(&controller.socket());
        assert!(raw.send(&3u32.to_be_bytes()));
        raw.option(option, &go("card"));
        let (kind, text) = raw.reply();
        assert_eq!(kind, 0x8000_0006, "the export is not available");
        assert_eq!(text, b"another controller has the card: connect to that one");
    }
    // An option that can't be refused ends the connection.
    let mut raw = Raw::connect(&controller.socket());
    assert!(raw.send(&3u32.to_be_bytes()));
    raw.option(1, b"card");
    assert!(std::io::Read::read(&mut raw.0, &mut [0; 1]).is_ok_and(|bytes| bytes == 0));
    controller.has(&live);
    assert!(info().status.success());
    let (idle, mut busy) = (Raw::ready(&controller.socket()), Raw::ready(&controller.socket()));
    // Requests that have come are answered before their client is let go.
    for block in 0..16u64 {
        assert!(busy.request(0, 1, block * 4096, 4096, &[3; BLOCK]));
    }
    (0..16).for_each(|_| assert_eq!(busy.error(), 0));
    controller.gives_up(&live, 1);
    for mut raw in [idle, busy] {
        assert!(std::io::Read::read(&mut raw.0, &mut [0; 1]).is_ok_and(|bytes| bytes == 0));
    }
    assert!(!info().status.success());
}

#[test]
fn clients_of_a_card_that_was_not_shared_are_cut_off_when_it_goes() {
    let live = new_card(SIZE);
    let controller = Controller::new(0);
    let alone = Export { lease: None, ..export("card", &live, false) };
    controller.server.set_exports(vec![alone]).unwrap();
    let (_admin, mut io) = controller.pair();
    assert_eq!(writes(&mut io, 0, 1), OK);
    std::thread::sleep(Duration::from_millis(20));
    controller.gives_up(&live, 1);
    assert!(io.pdu().is_none());
}

#[test]
fn discovery_tells_of_the_ports_of_all_servers_that_share_a_card() {
    let lease = Arc::new(Switch::default());
    let server = |peers: Vec<Address>| {
        let alone = Export { lease: None, ..export("alone", &new_card(SIZE), true) };
        let exports = vec![Controller::export(&lease, elsewhere(false)), alone];
        let nvme = vec![Address::Tcp("127.0.0.1:0".into())];
        let services = Services { nvme, peers, ..Services::default() };
        let server = Server::start(exports, &services, Security::Plain, limits()).unwrap();
        let address = server.addresses(Protocol::Nvme).next().unwrap().clone();
        let at: SocketAddr = address.to_string().parse().unwrap();
        (at, address, server)
    };
    let (first_at, first, _first) = server(vec![]);
    // Its own address among those of all is known for what it is, once it is known.
    let (second_at, _, _second) = server(vec![first, Address::Tcp("[::ffff:10.0.0.9]:4420".into())]);
    let entries = |at: SocketAddr| {
        let (mut discovery, _) = Wire::admin(at, host::DISCOVERY, PLAIN);
        let page = discovery.get(entry(2, 1, 0).dword(10, 0x70 | 1535 << 16).transport(6144)).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().trim_end_matches(['\0', ' ']).to_owned();
        let entry = |entry: &[u8]| {
            (text(&entry[256..512]), format!("{}:{}", text(&entry[512..768]), text(&entry[32..64])), entry[4])
        };
        let count = page[8] as usize;
        page[1024..].chunks(1024).take(count).map(entry).collect::<Vec<_>>()
    };
    let found = entries(second_at);
    let mut addresses = [first_at.to_string(), second_at.to_string()];
    if first_at > second_at {
        addresses.reverse();
    }
    let shared: Vec<_> = found.iter().filter(|(nqn, ..)| nqn == host::SUBSYSTEM).collect();
    let ports: Vec<(&str, u8)> = shared.iter().map(|(_, address, port)| (&**address, *port)).collect();
    assert_eq!(ports, [("10.0.0.9:4420", 1), (&*addresses[0], 2), (&*addresses[1], 3)]);
    // A card that no other server has is found here only.
    assert_eq!(found.len(), 4);
    assert_eq!((&*found[3].1, found[3].2), (&*second_at.to_string(), 1));
    let services = Services { peers: vec!["unix:/nowhere".parse().unwrap()], ..Services::default() };
    assert!(Server::start(vec![], &services, Security::Plain, Limits::default()).is_err());
}

#[test]
fn servers_that_share_a_card_give_identifiers_of_their_number() {
    for (number, first) in [(0, 1), (1, 256), (255, 0xFF00)] {
        let controller = Controller::new(number);
        let mut ids: Vec<u16> = Vec::new();
        let mut connected = Vec::new();
        for _ in 0..3 {
            let (wire, id) = Wire::admin(controller.address(), host::SUBSYSTEM, PLAIN);
            connected.push(wire);
            ids.push(id);
        }
        assert_eq!(ids, [first, first + 1, first + 2]);
    }
}
