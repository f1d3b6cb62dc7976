//! The initiator against the target: modules on shelves of real sockets.

use files::{Buffer, Disks, Done, Io, IoKind, Make};
use serve::nvme::{ReservationKind, Secrets};
use serve::remote::{
    HostName, HostNames, ModuleAddress, ModuleClient, ModuleDisks, RemoteError, RemoteOptions, ShelfAddress, Watch,
    discover,
};
use serve::{Address, Backing, Export, Limits, Protocol, RawDisk, Security, Server, Services, ShelfState};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const BLOCK: u64 = 4096;
const BYTES: u64 = 32 << 20;
const SECRET: &str = "DHHC-1:01:pNtvc8BuOnDA1mQdDh7judViMu9A86KEqiPkn4RC7OnnSErO:";
const OTHER_SECRET: &str = "DHHC-1:00:1fz57fd4r7icdoTxR3W8GtMMM6XhlPwenD9LlUoVcBdurR+O:";
const EXCLUSIVE: ReservationKind = ReservationKind::WriteExclusive;

/// A shelf of files in a folder.
struct Shelf {
    server: Server,
    address: ShelfAddress,
}

fn shelf_at(dir: &Path, modules: u32, listen: &str, secrets: Option<Secrets>) -> Shelf {
    let export = |number: u32| {
        let path = dir.join(format!("m{number}"));
        if !path.exists() {
            std::fs::File::create(&path).unwrap().set_len(BYTES).unwrap();
        }
        let ShelfState { id, reservations } = ShelfState::open(&path.with_extension("shelf")).unwrap();
        let backing = Backing::Disk(Arc::new(RawDisk::open(&path).unwrap()));
        let (name, description) = (format!("m{number}"), "a module".into());
        Export { name, id, reservations: Some(reservations), description, backing, read_only: false, lease: None }
    };
    let exports = (0..modules).map(export).collect();
    let services = Services { nvme: vec![listen.parse().unwrap()], secrets, ..Services::default() };
    let server = Server::start(exports, &services, Security::Plain, Limits::default()).unwrap();
    let Some(Address::Tcp(address)) = server.addresses(Protocol::Nvme).next() else { panic!("no address") };
    let address = address.parse().unwrap();
    Shelf { server, address }
}

fn shelf(dir: &Path, modules: u32) -> Shelf {
    shelf_at(dir, modules, "127.0.0.1:0", None)
}

fn options(host: u8) -> RemoteOptions {
    let (host, hosts) = (HostName::of_id([host; 16]), HostNames::default());
    RemoteOptions { host, hosts, secrets: None, timeout: Duration::from_secs(2) }
}

impl Shelf {
    fn modules(&self) -> Vec<ModuleAddress> {
        discover(&self.address, &options(1)).unwrap().into_iter().map(|found| found.address).collect()
    }
}

fn disks(host: u8) -> (Box<dyn Disks>, Watch) {
    let ownership = Watch::default();
    (ModuleDisks::of_shards(1, &Arc::new(options(host)), &ownership).unwrap().remove(0), ownership)
}

fn pattern(bytes: usize, seed: u64) -> Vec<u8> {
    (0..bytes as u64).map(|at| ((at / 8).wrapping_mul(31) ^ at >> 13 ^ seed) as u8).collect()
}

fn buffer(bytes: &[u8]) -> Buffer {
    let mut buffer = Buffer::new(bytes.len()).unwrap();
    buffer.bytes_mut().copy_from_slice(bytes);
    buffer
}

/// Waits for so many ends, as the card's thread does: on the descriptor.
fn ends(disks: &mut dyn Disks, count: usize) -> Vec<Done> {
    let mut done = Vec::new();
    let began = Instant::now();
    while done.len() < count {
        disks.wait(Some(Duration::from_millis(100))).unwrap();
        disks.reap(&mut done);
        assert!(began.elapsed() < Duration::from_secs(20), "{} of {count}", done.len());
    }
    done
}

fn one(disks: &mut dyn Disks, io: Io) -> Done {
    disks.begin(io);
    ends(disks, 1).remove(0)
}

#[test]
fn a_module_is_read_and_written_as_a_file_is() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path(), 2);
    let found = shelf.modules();
    assert_eq!(found.iter().map(|of| &*of.subsystem).collect::<Vec<_>>(), shelf.server.subsystems());
    let (mut disks, ownership) = disks(1);
    let opened = disks.make(&found[0].to_path(), Make { bytes: BYTES, overwrite: false }).unwrap();
    assert_eq!((opened.bytes, opened.align_bytes, opened.is_zero, opened.can_discard), (BYTES, 4096, true, true));
    let handle = opened.handle;
    // In the capsule, by R2T in one PDU and in several, and longer than a command takes.
    let mut expected = vec![0; BYTES as usize];
    let places = [(0, 4096), (8192, 65536), (1 << 20, 131_072), (2 << 20, 1 << 20), (4 << 20, (3 << 20) + 4096)];
    for (tag, (offset, bytes)) in places.into_iter().enumerate() {
        let data = pattern(bytes, tag as u64);
        expected[offset..offset + bytes].copy_from_slice(&data);
        let kind = IoKind::Write { durable: tag % 2 == 0 };
        let done = one(&mut *disks, Io { tag: tag as u64, handle, kind, offset: offset as u64, buffer: buffer(&data) });
        assert_eq!((done.tag, done.result), (tag as u64, bytes as i32));
    }
    let sync = one(&mut *disks, Io { tag: 50, handle, kind: IoKind::Sync, offset: 0, buffer: Buffer::none() });
    assert_eq!(sync.result, 0);
    let kind = IoKind::Discard { bytes: 1 << 20 };
    assert_eq!(one(&mut *disks, Io { tag: 51, handle, kind, offset: 5 << 20, buffer: Buffer::none() }).result, 0);
    expected[5 << 20..6 << 20].fill(0);
    for (offset, bytes) in places {
        let buffer = Buffer::new(bytes).unwrap();
        let done = one(&mut *disks, Io { tag: 1, handle, kind: IoKind::Read, offset: offset as u64, buffer });
        assert_eq!(done.result, bytes as i32);
        assert!(done.buffer.bytes() == &expected[offset..offset + bytes], "{offset}");
    }
    assert!(std::fs::read(dir.path().join("m0")).unwrap() == expected);
    // Requests that no module can carry out are refused here.
    for (offset, bytes) in [(BYTES, 4096), (BYTES - 4096, 8192), (512, 4096), (0, 512), (u64::MAX - 4095, 4096)] {
        let buffer = Buffer::new(bytes).unwrap();
        assert_eq!(one(&mut *disks, Io { tag: 2, handle, kind: IoKind::Read, offset, buffer }).result, -libc_inval());
    }
    // Two of them, and a file beside them.
    let second = disks.open(&found[1].to_path()).unwrap().handle;
    let file = disks.make(&dir.path().join("file"), Make { bytes: 1 << 20, overwrite: false }).unwrap().handle;
    for (tag, handle) in [handle, second, file].into_iter().cycle().take(600).enumerate() {
        let kind = IoKind::Write { durable: false };
        let data = buffer(&[tag as u8; 4096]);
        disks.begin(Io { tag: tag as u64, handle, kind, offset: tag as u64 / 3 * 4096, buffer: data });
    }
    let mut done = ends(&mut *disks, 600);
    done.sort_by_key(|done| done.tag);
    assert!(done.iter().enumerate().all(|(tag, done)| (done.tag, done.result) == (tag as u64, 4096)));
    for (name, at) in [("m0", 0), ("m1", 1), ("file", 2)] {
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        assert!((0..200).all(|block| bytes[block * 4096..][..4096].iter().all(|byte| *byte == (block * 3 + at) as u8)));
    }
    assert!(!ownership.is_lost());
}

fn libc_inval() -> i32 {
    rustix::io::Errno::INVAL.raw_os_error()
}

#[test]
fn a_module_that_holds_something_is_taken_only_when_it_may_be_destroyed() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path(), 1);
    let path = shelf.modules()[0].to_path();
    drop(shelf);
    let holds = |at: u64| {
        let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("m0")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"x", at).unwrap();
    };
    let port = path.to_str().unwrap().split('/').nth(2).unwrap().to_owned();
    for at in [7, BYTES - 1] {
        holds(at);
        let _shelf = shelf_at(dir.path(), 1, &port, None);
        let (mut disks, _) = disks(1);
        assert!(matches!(
            disks.make(&path, Make { bytes: 4096, overwrite: false }),
            Err(files::FilesError::Device { .. })
        ));
        let small = Make { bytes: BYTES + 1, overwrite: true };
        assert!(matches!(disks.make(&path, small), Err(files::FilesError::NoRoom { .. })));
        assert!(std::fs::read(dir.path().join("m0")).unwrap()[at as usize] == b'x', "nothing was written");
        assert!(disks.make(&path, Make { bytes: BYTES, overwrite: true }).unwrap().is_zero);
        assert!(std::fs::read(dir.path().join("m0")).unwrap().iter().all(|byte| *byte == 0));
    }
}

/// A card goes on while one of its modules is made.
#[test]
fn requests_that_end_while_a_module_is_made_are_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path(), 2);
    let found = shelf.modules();
    let (mut disks, _) = disks(1);
    let first = disks.open(&found[0].to_path()).unwrap().handle;
    let file = disks.make(&dir.path().join("file"), Make { bytes: 1 << 20, overwrite: false }).unwrap().handle;
    for (tag, handle) in [(1, first), (2, file)] {
        disks.begin(Io { tag, handle, kind: IoKind::Read, offset: 0, buffer: Buffer::new(4096).unwrap() });
    }
    disks.submit().unwrap();
    disks.make(&found[1].to_path(), Make { bytes: BYTES, overwrite: true }).unwrap();
    let mut tags: Vec<u64> = ends(&mut *disks, 2).into_iter().map(|done| done.tag).collect();
    tags.sort_unstable();
    assert_eq!(tags, [1, 2]);
}

/// A claim needs all of it, and finds it again after a shelf was ended and started again.
#[test]
fn reservations_are_registered_replaced_preempted_reported_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path(), 1);
    let address = shelf.modules().remove(0);
    let client = |host: u8| ModuleClient::connect(&address, &options(host)).unwrap();
    let (mut one, mut two) = (client(1), client(2));
    let report = two.report().unwrap();
    assert_eq!((report.held, report.registered.len(), report.holder()), (None, 0, None));
    one.register(17).unwrap();
    one.register(17).unwrap();
    assert!(matches!(one.register(18), Err(RemoteError::Conflict)), "it has a key");
    one.acquire(17, EXCLUSIVE).unwrap();
    let generation = one.report().unwrap().generation;
    one.replace(17, 18).unwrap();
    assert!(matches!(one.replace(17, 19), Err(RemoteError::Conflict)), "the old key is another one");
    let report = two.report().unwrap();
    let holder = *report.holder().unwrap();
    assert_eq!((holder.host, holder.key, report.held, report.persists), ([1; 16], 18, Some(EXCLUSIVE), true));
    assert_ne!(report.generation, generation, "a new key is seen");
    // The second host writes only when it has taken the module, and then the first does not.
    let path = address.to_path();
    let (mut of_one, lost) = disks(1);
    let handle = of_one.open(&path).unwrap().handle;
    let write = |disks: &mut dyn Disks| {
        let kind = IoKind::Write { durable: true };
        one_result(disks, Io { tag: 1, handle, kind, offset: 0, buffer: buffer(&[9; 4096]) })
    };
    assert_eq!(write(&mut *of_one), 4096);
    let (mut of_two, _) = disks(2);
    assert!(matches!(of_two.open(&path), Err(files::FilesError::InUse { .. })));
    two.register(33).unwrap();
    assert!(matches!(two.preempt_and_abort(33, 17, EXCLUSIVE), Err(RemoteError::Conflict)), "nobody has this key");
    two.preempt_and_abort(33, 18, EXCLUSIVE).unwrap();
    assert!(!lost.is_lost());
    assert_eq!(write(&mut *of_one), -rustix::io::Errno::BADE.raw_os_error());
    assert!(lost.is_lost(), "whoever owns the disks can ask for it");
    assert!(matches!(one.replace(18, 19), Err(RemoteError::Conflict)));
    let before = two.report().unwrap();
    drop((one, two, of_one, of_two));
    let port = address.shelf.to_string();
    drop(shelf);
    let _shelf = shelf_at(dir.path(), 1, &port, None);
    let mut two = client(2);
    let after = two.report().unwrap();
    let kept = |report: &serve::nvme::initiator::Report| {
        let of = |one: &serve::nvme::initiator::Registered| (one.host, one.key, one.holds);
        (report.generation, report.held, report.registered.iter().map(of).collect::<Vec<_>>())
    };
    assert_eq!(kept(&after).1, kept(&before).1);
    assert_eq!(kept(&after).0, kept(&before).0);
    assert!(after.registered.iter().any(|one| (one.host, one.key, one.holds) == ([2; 16], 33, true)));
    assert_eq!(client(1).report().unwrap().holder().unwrap().key, 33);
    two.release(33, EXCLUSIVE).unwrap();
    assert_eq!(two.report().unwrap().held, None);
    two.unregister(33).unwrap();
    assert!(two.report().unwrap().registered.is_empty());
}

fn one_result(disks: &mut dyn Disks, io: Io) -> i32 {
    one(disks, io).result
}

#[test]
fn both_sides_prove_themselves_where_there_are_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let secrets = |host: &str, controller: Option<&str>| {
        let controller = controller.map(|text| text.parse().unwrap());
        Some(Secrets { host: host.parse().unwrap(), controller })
    };
    let shelf = shelf_at(dir.path(), 1, "127.0.0.1:0", secrets(SECRET, Some(OTHER_SECRET)));
    let address = shelf.modules().remove(0);
    let connect = |secrets| ModuleClient::connect(&address, &RemoteOptions { secrets, ..options(1) });
    assert!(connect(secrets(SECRET, None)).is_ok());
    assert!(connect(secrets(SECRET, Some(OTHER_SECRET))).is_ok());
    assert!(matches!(connect(None), Err(RemoteError::NoSecret)));
    assert!(matches!(connect(secrets(OTHER_SECRET, None)), Err(RemoteError::Chap(_))));
    assert!(matches!(connect(secrets(SECRET, Some(SECRET))), Err(RemoteError::Chap(_))));
    drop(shelf);
    let open = self::shelf(dir.path(), 1);
    let address = open.modules().remove(0);
    let with = RemoteOptions { secrets: secrets(SECRET, None), ..options(1) };
    assert!(matches!(ModuleClient::connect(&address, &with), Err(RemoteError::SecretUnused)));
}

#[test]
fn a_shelf_that_is_gone_or_silent_fails_requests_within_the_timeout() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path(), 1);
    let address = shelf.modules().remove(0);
    let proxy = Proxy::new(address.shelf.to_string());
    let path = ModuleAddress { shelf: proxy.address.to_string().parse().unwrap(), ..address }.to_path();
    for silent in [true, false] {
        let (mut disks, _) = disks(1);
        let handle = disks.open(&path).unwrap().handle;
        let read = |offset| Io { tag: 1, handle, kind: IoKind::Read, offset, buffer: Buffer::new(4096).unwrap() };
        assert_eq!(one(&mut *disks, read(0)).result, 4096);
        let began = Instant::now();
        if silent {
            proxy.hold(true);
        } else {
            proxy.cut();
        }
        let done = one(&mut *disks, read(4096));
        assert_eq!(done.result, -rustix::io::Errno::IO.raw_os_error());
        let limit = options(1).timeout.mul_f64(1.5) + Duration::from_secs(1);
        assert!(began.elapsed() < limit, "{:?}", began.elapsed());
        assert!(!silent || began.elapsed() >= Duration::from_millis(900), "a slow drive is waited for");
        // Later ones fail at once, and it comes back by being opened again.
        let began = Instant::now();
        assert_eq!(one(&mut *disks, read(0)).result, -rustix::io::Errno::IO.raw_os_error());
        assert!(began.elapsed() < Duration::from_millis(500));
        proxy.hold(false);
        disks.close(handle);
        let handle = disks.open(&path).unwrap().handle;
        let again = Io { tag: 3, handle, kind: IoKind::Read, offset: 0, buffer: Buffer::new(4096).unwrap() };
        assert_eq!(one(&mut *disks, again).result, 4096);
    }
}

/// A wire that can be cut, or can hold what it carries.
struct Proxy {
    address: SocketAddr,
    state: Arc<(std::sync::atomic::AtomicBool, std::sync::Mutex<Vec<TcpStream>>)>,
}

impl Proxy {
    fn new(to: String) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state: Arc<(std::sync::atomic::AtomicBool, std::sync::Mutex<Vec<TcpStream>>)> = Arc::default();
        let of_thread = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&to)) else { return };
                of_thread.1.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                for (mut from, mut to) in [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
                {
                    let state = Arc::clone(&of_thread);
                    std::thread::spawn(move || {
                        let mut bytes = vec![0; 1 << 16];
                        while let Ok(count @ 1..) = from.read(&mut bytes) {
                            while state.0.load(std::sync::atomic::Ordering::SeqCst) {
                                std::thread::sleep(Duration::from_millis(5));
                            }
                            if to.write_all(&bytes[..count]).is_err() {
                                break;
                            }
                        }
                        let _ = to.shutdown(std::net::Shutdown::Both);
                    });
                }
            }
        });
        Proxy { address, state }
    }

    fn hold(&self, holds: bool) {
        self.state.0.store(holds, std::sync::atomic::Ordering::SeqCst);
    }

    fn cut(&self) {
        self.state.1.lock().unwrap().drain(..).for_each(|of| drop(of.shutdown(std::net::Shutdown::Both)));
    }
}

/// Targets that answer anything: an error in bounded time, and no panic.
#[test]
fn hostile_targets_are_refused() {
    let initialized = {
        let mut bytes = vec![0u8; 128];
        (bytes[0], bytes[2], bytes[4], bytes[11]) = (1, 128, 128, 3);
        bytes[12..16].copy_from_slice(&(128u32 << 10).to_le_bytes());
        bytes
    };
    let changed = |at: usize, value: u8| {
        let mut bytes = initialized.clone();
        bytes[at] = value;
        bytes
    };
    let then = |more: &[u8]| [&initialized[..], more].concat();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", vec![]),
        ("another protocol", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
        ("another version", changed(8, 1)),
        ("an alignment of 8 KiB", changed(10, 255)),
        ("no digests", changed(11, 0)),
        ("no room for data", [&changed(12, 0)[..13], &[0; 115]].concat()),
        ("a header of another length", changed(2, 24)),
        ("two of them", then(&initialized)),
        ("a response to nothing", then(&[5, 1, 24, 0, 28, 0, 0, 0])),
        ("a PDU of 4 GiB", then(&[7, 3, 24, 28, 255, 255, 255, 255])),
        ("a request for data", then(&[9, 1, 24, 0, 28, 0, 0, 0])),
        ("a termination", then(&[3, 0, 24, 0, 24, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        ("zeroes", vec![0; 100_000]),
        ("ones", vec![255; 100_000]),
    ];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for (name, bytes) in cases {
        let began = Instant::now();
        let target = listener.try_clone().unwrap();
        let answer = std::thread::spawn(move || {
            let (mut stream, _) = target.accept().unwrap();
            let _ = stream.write_all(&bytes);
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        });
        let options = RemoteOptions { timeout: Duration::from_millis(300), ..options(1) };
        let found = discover(&address.to_string().parse().unwrap(), &options);
        let error = found.expect_err(name).to_string();
        assert!(!error.contains('\n') && began.elapsed() < Duration::from_secs(2), "{name}: {error}");
        answer.join().unwrap();
    }
    drop(listener);
    let refused = discover(&address.to_string().parse().unwrap(), &options(1)).unwrap_err();
    assert!(matches!(refused, RemoteError::Connect { .. }), "{refused}");
}

#[test]
fn names_that_a_shelf_does_not_have_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path(), 1);
    let address = ModuleAddress { shelf: shelf.address.clone(), subsystem: "nqn.2014-08.org.example:none".into() };
    assert!(matches!(ModuleClient::connect(&address, &options(1)), Err(RemoteError::NoModule)));
    let (mut disks, _) = disks(1);
    for path in [address.to_path(), PathBuf::from("nvme://nowhere"), PathBuf::from("nvme://127.0.0.1:1/nqn.x")] {
        let error = disks.open(&path).unwrap_err().to_string();
        assert!(error.starts_with(path.to_str().unwrap()) && !error.contains('\n'), "{error}");
    }
    let mut client = ModuleClient::connect(&shelf.modules()[0], &options(1)).unwrap();
    assert_eq!(client.size(), (BYTES / BLOCK, 4096));
    assert!(client.read(0, 1).unwrap().iter().all(|byte| *byte == 0));
}
