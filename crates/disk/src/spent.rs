//! Time of a command, by the causes that disks know.

use device::{Cause, Parts};

/// Nanoseconds by cause. Stages follow each other without gaps, so they add up to the time from start to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub command_queue_ns: u64,
    pub disk_queue_ns: u64,
    pub seek_ns: u64,
    pub rotation_ns: u64,
    pub transfer_ns: u64,
    pub durable_ns: u64,
}

impl Spent {
    /// Adds a later stage.
    pub fn then(&mut self, next: &Spent) {
        self.command_queue_ns += next.command_queue_ns;
        self.disk_queue_ns += next.disk_queue_ns;
        self.seek_ns += next.seek_ns;
        self.rotation_ns += next.rotation_ns;
        self.transfer_ns += next.transfer_ns;
        self.durable_ns += next.durable_ns;
    }

    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        parts.add(Cause::CommandQueue, self.command_queue_ns);
        parts.add(Cause::DiskQueue, self.disk_queue_ns);
        parts.add(Cause::Seek, self.seek_ns);
        parts.add(Cause::Rotation, self.rotation_ns);
        parts.add(Cause::DiskTransfer, self.transfer_ns);
        parts.add(Cause::Durable, self.durable_ns);
        parts
    }
}
