//! One connection to a controller, as the host has it: from its first PDU to its end.

use crate::nvme::bytes::{put_u16, put_u32, u16_at, u32_at, u64_at};
use crate::nvme::frame::{Allowed, Found, Frame, Sender, find};
use crate::nvme::initiator::arrival::{Arrival, Completion};
use crate::nvme::initiator::broken::Broken;
use crate::nvme::initiator::commands::Ask;
use crate::nvme::limits::{MAX_ADMIN_DATA_BYTES, MAX_DATA_OFFSET, MAX_TRANSFER_BYTES};
use crate::nvme::pdu::{Digests, HostData, kind, put_command, put_host_data, put_initialize};
use crate::nvme::status::Status;
use std::ops::Range;

/// The most commands of a connection in flight. One entry of the queue stays empty.
pub const DEPTH: usize = 127;
/// The longest PDU of a controller that is waited for, in bytes.
pub const MAX_INPUT_BYTES: usize = (MAX_DATA_OFFSET + MAX_TRANSFER_BYTES + 4) as usize;
/// The least that a controller takes in one PDU of data (section 3.6.2.3 of the transport).
const LEAST_DATA_BYTES: u32 = 4096;
/// The bits of a command identifier that say its slot; the others count the uses of the slot.
const SLOT_BITS: u32 = 7;

/// A command in flight.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    id: u16,
    /// The data that the controller sends.
    read_bytes: u32,
    /// The data that it may ask for.
    write_bytes: u32,
    /// The bytes that were received, or were asked for.
    moved: u32,
    /// Some of its data came with a wrong digest.
    is_damaged: bool,
}

/// See the module.
#[derive(Debug)]
pub struct HostQueue {
    initialized: bool,
    digests: Digests,
    /// The alignment of data that the controller wants.
    align: usize,
    /// The most bytes of one PDU of data.
    max_data_bytes: u32,
    /// The most data in a capsule.
    capsule_bytes: u32,
    slots: Vec<Option<InFlight>>,
    uses: Vec<u16>,
    free: Vec<usize>,
}

impl HostQueue {
    /// A connection that begins. Header and data digests are asked for: TCP's own sum misses too much for a module.
    #[must_use]
    pub fn begin(out: &mut Vec<u8>) -> HostQueue {
        let digests = Digests { header: true, data: true };
        put_initialize(digests, out);
        HostQueue {
            initialized: false,
            digests,
            align: 4,
            max_data_bytes: LEAST_DATA_BYTES,
            capsule_bytes: MAX_ADMIN_DATA_BYTES,
            slots: vec![None; DEPTH],
            uses: vec![0; DEPTH],
            free: (0..DEPTH).rev().collect(),
        }
    }

    /// An I/O queue may have so many bytes of data in a capsule; before it is known, as many as the transport promises.
    pub fn set_capsule_bytes(&mut self, bytes: u32) {
        self.capsule_bytes = bytes;
    }

    /// Another command can be sent.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// The number of commands in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        DEPTH - self.free.len()
    }

    /// Appends a command. Data that do not go with it are asked for later, and the caller keeps them until the command has
    /// ended. The slot of the command.
    ///
    /// # Panics
    /// Without room, before the connection is initialized, and when the data are not as long as the command says.
    pub fn send(&mut self, ask: &Ask, data: &[u8], out: &mut Vec<u8>) -> usize {
        assert!(self.initialized, "a command before the connection is initialized");
        assert_eq!(data.len(), ask.write_bytes as usize, "the data of a command");
        let slot = self.free.pop().expect("there is room for a command");
        self.uses[slot] = self.uses[slot].wrapping_add(1);
        let id = slot as u16 | self.uses[slot] << SLOT_BITS;
        let mut entry = ask.entry.0;
        put_u16(&mut entry, 2, id);
        // SGLs, as fabrics want it.
        entry[1] = entry[1] & 0x3F | 0x40;
        let in_capsule = !data.is_empty() && ask.write_bytes <= self.capsule_bytes;
        put_u32(&mut entry, 32, ask.write_bytes.max(ask.read_bytes));
        // In the capsule from offset 0 on, or in data PDUs.
        entry[39] = if in_capsule { 0x01 } else { 0x5A };
        let (data, write_bytes) = if in_capsule { (data, 0) } else { (&[][..], ask.write_bytes) };
        put_command(&entry, data, self.align, self.digests, out);
        let read_bytes = ask.read_bytes;
        self.slots[slot] = Some(InFlight { id, read_bytes, write_bytes, moved: 0, is_damaged: false });
        slot
    }

    /// Appends data that the controller has asked for.
    ///
    /// # Panics
    /// When the command is not in flight.
    pub fn send_data(&mut self, slot: usize, tag: u16, offset: u32, data: &[u8], out: &mut Vec<u8>) {
        let command_id = self.slots[slot].expect("it is in flight").id;
        let most = self.max_data_bytes as usize;
        let mut at = 0;
        while at < data.len() {
            let end = data.len().min(at + most);
            let of = HostData { command_id, tag, offset: offset + at as u32, is_last: end == data.len() };
            put_host_data(of, &data[at..end], self.align, self.digests, out);
            at = end;
        }
    }

    /// Parses received bytes. Returns how many of them are consumed, and what has arrived. The caller passes the bytes
    /// that are not consumed again, with more behind them.
    pub fn parse(&mut self, input: &[u8]) -> Result<(usize, Arrival), Broken> {
        let (initialized, digests) = (self.initialized, self.digests);
        let frame = match find(input, Allowed { sender: Sender::Controller, initialized, is_io: true, digests })? {
            Found::Missing(at_least_bytes) => return Ok((0, Arrival::Missing { at_least_bytes })),
            Found::Whole(frame) => frame,
        };
        let arrival = match frame.kind {
            kind::INITIALIZED => self.initialize(input)?,
            kind::RESPONSE => {
                let (value, id, status) = (u64_at(input, 8), u16_at(input, 20), Status::of_field(u16_at(input, 22)));
                Arrival::Completed(self.complete(id, status, value)?)
            }
            kind::READY => self.wanted(input)?,
            kind::CONTROLLER_DATA => self.data(input, &frame)?,
            _ => return Err(Broken::Terminated { status: u16_at(input, 8), information: u32_at(input, 10) }),
        };
        Ok((frame.bytes, arrival))
    }

    fn initialize(&mut self, input: &[u8]) -> Result<Arrival, Broken> {
        let refused = |offset, value| Err(Broken::Offer { offset, value });
        let (version, alignment, digests) = (u16_at(input, 8), input[10], input[11]);
        self.max_data_bytes = u32_at(input, 12);
        match () {
            () if version != 0 => return refused(8, version.into()),
            () if alignment > 31 => return refused(10, alignment.into()),
            () if digests & 3 != 3 => return Err(Broken::NoDigests),
            () if self.max_data_bytes < LEAST_DATA_BYTES => return refused(12, self.max_data_bytes),
            () => {}
        }
        self.align = (usize::from(alignment) + 1) * 4;
        // Each PDU of data begins where the last one has ended.
        self.max_data_bytes = self.max_data_bytes / 4 * 4;
        self.initialized = true;
        Ok(Arrival::Initialized)
    }

    fn find(&mut self, id: u16) -> Result<(usize, &mut InFlight), Broken> {
        let slot = usize::from(id) & ((1 << SLOT_BITS) - 1);
        let found = self.slots.get_mut(slot).and_then(Option::as_mut).filter(|found| found.id == id);
        Ok((slot, found.ok_or(Broken::Unknown { id })?))
    }

    fn complete(&mut self, id: u16, status: Status, value: u64) -> Result<Completion, Broken> {
        let (slot, command) = self.find(id)?;
        let (moved, bytes) = (command.moved, command.read_bytes.max(command.write_bytes));
        if status == Status::SUCCESS && moved != bytes {
            return Err(Broken::Short { moved, bytes });
        }
        let damaged = status == Status::SUCCESS && command.is_damaged;
        let status = if damaged { Status::TRANSIENT_TRANSPORT_ERROR } else { status };
        self.slots[slot] = None;
        self.free.push(slot);
        Ok(Completion { slot, status, value })
    }

    fn wanted(&mut self, input: &[u8]) -> Result<Arrival, Broken> {
        let (id, tag, offset, length) = (u16_at(input, 8), u16_at(input, 10), u32_at(input, 12), u32_at(input, 16));
        let (slot, command) = self.find(id)?;
        let (bytes, sent) = (command.write_bytes, command.moved);
        // Each byte is asked for once, so that what waits to be sent is bounded by the data of the commands.
        if offset != sent || length == 0 || length > bytes - sent {
            return Err(Broken::Wants { offset, length, bytes, sent });
        }
        command.moved += length;
        Ok(Arrival::Wants { slot, tag, offset, length })
    }

    fn data(&mut self, input: &[u8], frame: &Frame) -> Result<Arrival, Broken> {
        let (id, offset, length) = (u16_at(input, 8), u32_at(input, 12), u32_at(input, 16));
        let range: Range<usize> = frame.data.clone();
        let (slot, command) = self.find(id)?;
        let (expected, received) = (command.read_bytes, command.moved);
        if offset != received || length as usize != range.len() || length > expected - received {
            return Err(Broken::Data { offset, length, expected, received });
        }
        command.moved += length;
        command.is_damaged |= !frame.intact;
        let completion = match frame.success {
            // Only the last data of a command can say that it has ended.
            true if !frame.is_last => return Err(Broken::Short { moved: command.moved, bytes: expected }),
            true => Some(self.complete(id, Status::SUCCESS, 0)?),
            false => None,
        };
        Ok(Arrival::Data { slot, offset: offset as usize, range, completion })
    }
}
