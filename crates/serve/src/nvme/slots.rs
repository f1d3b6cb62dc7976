//! The commands of a queue that are in flight.

use crate::nvme::command::Command;
use crate::nvme::io::Extent;
use crate::nvme::limits::MAX_QUEUE_ENTRIES;
use crate::nvme::status::Status;
use crate::nvme::work::{Operation, Payload, Tag, Work};

/// The data that a command waits for.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// None, or all have come.
    Nothing,
    /// Data for the card: so many bytes of all have come.
    ForCard { received: u32 },
    /// Data that are looked at when all have come.
    ToCollect { length: u32 },
}

/// A command in flight.
#[derive(Debug)]
pub struct Slot {
    pub command: Command,
    pub operation: Operation,
    pub extent: Extent,
    pub fua: bool,
    pub wanted: Wanted,
    /// The requests to the card that are not answered.
    pub outstanding: u32,
    /// More requests will follow without more data.
    pub more: bool,
    pub status: Status,
    /// Bytes of a sector that has come in part, or all that was collected.
    pub kept: Vec<u8>,
    /// The data of a Compare, by the number of the request.
    pub compared: Vec<(u16, Vec<u8>)>,
    next_piece: u16,
}

impl Slot {
    pub fn new(command: Command, operation: Operation, extent: Extent, fua: bool) -> Slot {
        Slot {
            command,
            operation,
            extent,
            fua,
            wanted: Wanted::Nothing,
            outstanding: 0,
            more: false,
            status: Status::SUCCESS,
            kept: Vec::new(),
            compared: Vec::new(),
            next_piece: 0,
        }
    }

    pub fn is_done(&self) -> bool {
        self.outstanding == 0 && !self.more && self.wanted == Wanted::Nothing
    }

    /// The first failure counts.
    pub fn fail(&mut self, status: Status) {
        if self.status == Status::SUCCESS {
            self.status = status;
        }
    }

    /// The request for a part of the command's range.
    pub fn work(&mut self, slot: u8, extent: Extent, payload: Payload) -> Work {
        let piece = self.next_piece;
        self.next_piece = piece.wrapping_add(1);
        self.outstanding += 1;
        Work {
            tag: Tag::new(slot, piece, self.operation, extent.length_bytes),
            namespace: extent.card,
            operation: self.operation,
            offset_bytes: extent.offset_bytes,
            length_bytes: extent.length_bytes,
            fua: self.fua,
            payload,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Slots {
    slots: Vec<Option<Slot>>,
    /// The command identifiers, by slot.
    ids: [u16; MAX_QUEUE_ENTRIES as usize],
    /// The slots that are in flight, one bit each.
    taken: u128,
    /// The highest number of commands.
    most: u32,
}

impl Slots {
    pub fn new() -> Slots {
        Slots { slots: Vec::new(), ids: [0; MAX_QUEUE_ENTRIES as usize], taken: 0, most: 0 }
    }

    /// The queue has so many entries.
    pub fn allow(&mut self, entries: u16) {
        self.most = u32::from(entries.min(MAX_QUEUE_ENTRIES));
        self.slots.resize_with(self.most as usize, || None);
    }

    pub fn in_flight(&self) -> u32 {
        self.taken.count_ones()
    }

    pub fn waiting_for_data(&self) -> u32 {
        let waits = |slot: &&Slot| slot.wanted != Wanted::Nothing;
        self.slots.iter().flatten().filter(waits).count() as u32
    }

    /// No command in flight can end before more data come.
    pub fn all_wait_for_data(&self) -> bool {
        self.slots.iter().flatten().all(|slot| slot.wanted != Wanted::Nothing && slot.outstanding == 0)
    }

    /// Fails commands whose data have not come, and that are not allowed any more. They are answered when the data have.
    pub fn fail_waiting(&mut self, refusal: impl Fn(&Slot) -> Option<Status>) {
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.wanted != Wanted::Nothing) {
            if let Some(status) = refusal(slot) {
                slot.fail(status);
            }
        }
    }

    pub fn is_full(&self) -> bool {
        self.in_flight() >= self.most
    }

    /// A command of this identifier is in flight.
    pub fn has(&self, id: u16) -> bool {
        let mut left = self.taken;
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            if self.ids[slot] == id {
                return true;
            }
            left &= left - 1;
        }
        false
    }

    /// Takes a slot.
    ///
    /// # Panics
    ///
    /// If the queue is full.
    pub fn take(&mut self, slot: Slot) -> u8 {
        let number = self.taken.trailing_ones();
        assert!(number < self.most, "the queue is full");
        self.taken |= 1 << number;
        self.ids[number as usize] = slot.command.id();
        self.slots[number as usize] = Some(slot);
        number as u8
    }

    pub fn get(&mut self, slot: usize) -> Option<&mut Slot> {
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Frees a slot.
    ///
    /// # Panics
    ///
    /// If it is not taken.
    pub fn release(&mut self, slot: usize) -> Slot {
        self.taken &= !(1 << slot);
        self.slots[slot].take().expect("a command is answered once")
    }
}
