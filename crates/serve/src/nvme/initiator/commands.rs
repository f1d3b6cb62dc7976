//! Commands that a host asks (NVMe Base 2.0, sections 5 to 7; NVM Command Set 1.0, section 3).

use crate::nvme::bytes::{put, put_u16, put_u32, put_u64, short};
use crate::nvme::command::{COMMAND_BYTES, Command, admin, fabrics, io};
use crate::nvme::reservations::Kind;

/// The property that enables a controller (`CC`).
pub const PROPERTY_CONFIGURATION: u32 = 0x14;
/// The property that says whether it is ready (`CSTS`).
pub const PROPERTY_STATUS: u32 = 0x1C;

/// Force Unit Access, in dword 12.
const FUA: u32 = 1 << 30;
/// Deallocate, in dword 12 of Write Zeroes.
const DEALLOCATE: u32 = 1 << 25;
/// A registration survives a loss of power of the module (`CPTPL`).
const PERSISTS: u32 = 3 << 30;

/// The names of both sides of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The host identifier, to which reservations belong.
    pub host_id: [u8; 16],
    /// The NQN of the host.
    pub host: Box<str>,
    /// The NQN of the subsystem.
    pub subsystem: Box<str>,
}

/// A command, with the number of its data that go in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The command without identifier and place of the data.
    pub entry: Command,
    /// Bytes that the controller sends.
    pub read_bytes: u32,
    /// Bytes that the host sends.
    pub write_bytes: u32,
}

impl Ask {
    fn new(opcode: u8, namespace: u32) -> Ask {
        let mut entry = [0; COMMAND_BYTES];
        entry[0] = opcode;
        put_u32(&mut entry, 4, namespace);
        Ask { entry: Command(entry), read_bytes: 0, write_bytes: 0 }
    }

    fn of_fabrics(kind: u8) -> Ask {
        let mut ask = Ask::new(fabrics::OPCODE, 0);
        ask.entry.0[4] = kind;
        ask
    }

    fn dword(mut self, number: usize, value: u32) -> Ask {
        put_u32(&mut self.entry.0, number * 4, value);
        self
    }

    fn blocks(mut self, first: u64, count: u32) -> Ask {
        put_u64(&mut self.entry.0, 40, first);
        self.dword(12, count - 1)
    }

    fn reads(self, read_bytes: u32) -> Ask {
        Ask { read_bytes, ..self }
    }

    fn writes(self, write_bytes: u32) -> Ask {
        Ask { write_bytes, ..self }
    }

    /// Connect, with its data: a queue of a controller, or a new controller (`0xFFFF`) with its admin queue.
    #[must_use]
    pub fn connect(names: &Names, controller: u16, queue: u16, entries: u16, keep_alive_ms: u32) -> (Ask, Vec<u8>) {
        let mut data = vec![0; 1024];
        put(&mut data, 0, &names.host_id);
        put_u16(&mut data, 16, controller);
        let fits = |name: &str| name.len().min(255);
        put(&mut data, 256, &names.subsystem.as_bytes()[..fits(&names.subsystem)]);
        put(&mut data, 512, &names.host.as_bytes()[..fits(&names.host)]);
        let mut ask = Ask::of_fabrics(fabrics::CONNECT).writes(short(data.len()));
        put_u16(&mut ask.entry.0, 42, queue);
        put_u16(&mut ask.entry.0, 44, entries - 1);
        // Without flow control of the submission queue, no response has to say where its head is.
        ask.entry.0[46] = 1 << 2;
        (ask.dword(12, keep_alive_ms), data)
    }

    /// The value of a property of 4 bytes.
    #[must_use]
    pub fn property(offset: u32) -> Ask {
        Ask::of_fabrics(fabrics::PROPERTY_GET).dword(11, offset)
    }

    /// Sets a property of 4 bytes.
    #[must_use]
    pub fn set_property(offset: u32, value: u32) -> Ask {
        Ask::of_fabrics(fabrics::PROPERTY_SET).dword(11, offset).dword(12, value)
    }

    /// A message of an authentication.
    #[must_use]
    pub fn authentication_send(bytes: u32) -> Ask {
        Ask::of_fabrics(fabrics::AUTHENTICATION_SEND).dword(10, 0xE9_01_01_00).dword(11, bytes).writes(bytes)
    }

    /// The next message of an authentication.
    #[must_use]
    pub fn authentication_receive(bytes: u32) -> Ask {
        Ask::of_fabrics(fabrics::AUTHENTICATION_RECEIVE).dword(10, 0xE9_01_01_00).dword(11, bytes).reads(bytes)
    }

    /// Asks the controller for its properties.
    #[must_use]
    pub fn identify_controller() -> Ask {
        Ask::new(admin::IDENTIFY, 0).dword(10, 1).reads(4096)
    }

    /// Asks for the properties of a namespace.
    #[must_use]
    pub fn identify_namespace(namespace: u32) -> Ask {
        Ask::new(admin::IDENTIFY, namespace).dword(10, 0).reads(4096)
    }

    /// Asks for the list of namespaces.
    #[must_use]
    pub fn namespaces() -> Ask {
        Ask::new(admin::IDENTIFY, 0).dword(10, 2).reads(4096)
    }

    /// Asks for one I/O queue.
    #[must_use]
    pub fn one_queue() -> Ask {
        Ask::new(admin::SET_FEATURES, 0).dword(10, 7).dword(11, 0)
    }

    /// A part of the discovery log page.
    #[must_use]
    pub fn discovery(offset: u64, bytes: u32) -> Ask {
        let dwords = bytes / 4 - 1;
        let ask = Ask::new(admin::GET_LOG_PAGE, 0).dword(10, 0x70 | dwords << 16).dword(11, dwords >> 16);
        ask.dword(12, offset as u32).dword(13, (offset >> 32) as u32).reads(bytes)
    }

    /// The log page of asymmetric access, without the namespaces of each group.
    #[must_use]
    pub fn asymmetric_access(bytes: u32) -> Ask {
        Ask::new(admin::GET_LOG_PAGE, 0).dword(10, 0x0C | 1 << 8 | (bytes / 4 - 1) << 16).reads(bytes)
    }

    /// A sign of life.
    #[must_use]
    pub fn keep_alive() -> Ask {
        Ask::new(admin::KEEP_ALIVE, 0)
    }

    /// Reads a range of blocks.
    #[must_use]
    pub fn read(namespace: u32, first: u64, count: u32, block_bytes: u32) -> Ask {
        Ask::new(io::READ, namespace).blocks(first, count).reads(count * block_bytes)
    }

    /// Writes blocks, which are durable at the end if that is asked for.
    #[must_use]
    pub fn write(namespace: u32, first: u64, count: u32, block_bytes: u32, durable: bool) -> Ask {
        let ask = Ask::new(io::WRITE, namespace).blocks(first, count).writes(count * block_bytes);
        ask.dword(12, (count - 1) | if durable { FUA } else { 0 })
    }

    /// Makes durable what was answered before.
    #[must_use]
    pub fn flush(namespace: u32) -> Ask {
        Ask::new(io::FLUSH, namespace)
    }

    /// Makes blocks read as zeroes, and gives their room back. Dataset Management is advice, which leaves open what is read
    /// afterwards; a module has to read as zeroes.
    #[must_use]
    pub fn zero(namespace: u32, first: u64, count: u32) -> Ask {
        Ask::new(io::WRITE_ZEROES, namespace).blocks(first, count).dword(12, (count - 1) | DEALLOCATE)
    }

    /// Declares blocks unused, with the range that is the command's data: advice, for whoever does not care what is read
    /// there afterwards.
    #[must_use]
    pub fn deallocate(namespace: u32, first: u64, count: u32) -> (Ask, Vec<u8>) {
        let mut data = vec![0; 16];
        put_u32(&mut data, 4, count);
        put_u64(&mut data, 8, first);
        (Ask::new(io::DATASET_MANAGEMENT, namespace).dword(10, 0).dword(11, 1 << 2).writes(16), data)
    }

    fn with_keys(opcode: u8, namespace: u32, dword: u32, keys: &[u64]) -> (Ask, Vec<u8>) {
        let data: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        (Ask::new(opcode, namespace).dword(10, dword).writes(short(data.len())), data)
    }

    /// Registers this host with a key. All registrations are to survive a loss of power.
    #[must_use]
    pub fn register(namespace: u32, key: u64) -> (Ask, Vec<u8>) {
        Ask::with_keys(io::RESERVATION_REGISTER, namespace, PERSISTS, &[0, key])
    }

    /// Ends the registration of this host, which has this key.
    #[must_use]
    pub fn unregister(namespace: u32, key: u64) -> (Ask, Vec<u8>) {
        Ask::with_keys(io::RESERVATION_REGISTER, namespace, 1, &[key, 0])
    }

    /// Replaces the key of this host.
    #[must_use]
    pub fn replace(namespace: u32, old: u64, new: u64) -> (Ask, Vec<u8>) {
        Ask::with_keys(io::RESERVATION_REGISTER, namespace, PERSISTS | 2, &[old, new])
    }

    /// Takes the reservation, if nobody holds it.
    #[must_use]
    pub fn acquire(namespace: u32, key: u64, kind: Kind) -> (Ask, Vec<u8>) {
        Ask::with_keys(io::RESERVATION_ACQUIRE, namespace, (kind as u32) << 8, &[key, 0])
    }

    /// Takes registration and reservation from those with the key `preempted`, and waits for their commands to end.
    #[must_use]
    pub fn preempt_and_abort(namespace: u32, key: u64, preempted: u64, kind: Kind) -> (Ask, Vec<u8>) {
        Ask::with_keys(io::RESERVATION_ACQUIRE, namespace, 2 | (kind as u32) << 8, &[key, preempted])
    }

    /// Releases the reservation.
    #[must_use]
    pub fn release(namespace: u32, key: u64, kind: Kind) -> (Ask, Vec<u8>) {
        Ask::with_keys(io::RESERVATION_RELEASE, namespace, (kind as u32) << 8, &[key])
    }

    /// Reports registrations and the reservation, in the extended form.
    #[must_use]
    pub fn report(namespace: u32, bytes: u32) -> Ask {
        Ask::new(io::RESERVATION_REPORT, namespace).dword(10, bytes / 4 - 1).dword(11, 1).reads(bytes)
    }
}
