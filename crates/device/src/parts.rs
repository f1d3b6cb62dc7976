//! Where the time of a request went.

/// One cause of waiting or working. The order is the order of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// Host CPU: waiting for a core, and the driver's work.
    HostCpu,
    /// The request was due, and the session that was to ask for it still waited for another one.
    Late,
    /// Waiting for the card to take the command.
    CommandQueue,
    /// Transfer over the host link, and waiting for it.
    Link,
    /// The write buffer was full of host pages that were being programmed.
    BufferHostProgram,
    /// The write buffer was full because dies relocated pages, or read and programmed those of the map.
    BufferRelocation,
    /// The write buffer was full because dies programmed parity.
    BufferParity,
    /// The write buffer was full because dies erased.
    BufferErase,
    /// Host writes were stopped until garbage collection had freed space.
    GcStall,
    /// Learning where the sectors lie: the map had to be asked for in the host's memory, or read from flash.
    MapLookup,
    /// Waiting for a zone: for the host's earlier writes to it, or until it was reset or finished.
    Zone,
    /// The die was busy with a read of the host.
    DieHostRead,
    /// The die was busy with a program of the host's data.
    DieHostProgram,
    /// The die was busy reading a page to relocate.
    DieRelocationRead,
    /// The die was busy programming a relocated page.
    DieRelocationProgram,
    /// The die was busy programming parity.
    DieParity,
    /// The die was busy erasing.
    DieErase,
    /// The die was busy reading or programming a page of the map.
    DieMap,
    /// Suspending a program or an erase so that the read could go ahead.
    Suspend,
    /// The read of the flash array itself.
    FlashRead,
    /// The channel's bus: transfer, and waiting for it.
    Bus,
    /// Read retries, and rebuilding what can't be read from the rest of its stripe.
    ReadRetry,
    /// Waiting for the write to be on the medium (flush, FUA).
    Durable,
    /// The disk was busy with other requests.
    DiskQueue,
    /// The disk's head moved.
    Seek,
    /// The platter turned.
    Rotation,
    /// Transfer from or to the platter or the disk's cache.
    DiskTransfer,
}

impl Cause {
    /// All causes, in the order of tables.
    pub const ALL: [Cause; Cause::COUNT] = [
        Cause::HostCpu,
        Cause::Late,
        Cause::CommandQueue,
        Cause::Link,
        Cause::BufferHostProgram,
        Cause::BufferRelocation,
        Cause::BufferParity,
        Cause::BufferErase,
        Cause::GcStall,
        Cause::MapLookup,
        Cause::Zone,
        Cause::DieHostRead,
        Cause::DieHostProgram,
        Cause::DieRelocationRead,
        Cause::DieRelocationProgram,
        Cause::DieParity,
        Cause::DieErase,
        Cause::DieMap,
        Cause::Suspend,
        Cause::FlashRead,
        Cause::Bus,
        Cause::ReadRetry,
        Cause::Durable,
        Cause::DiskQueue,
        Cause::Seek,
        Cause::Rotation,
        Cause::DiskTransfer,
    ];
    /// How many causes there are.
    pub const COUNT: usize = 27;

    /// The name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Cause::HostCpu => "host_cpu",
            Cause::Late => "late",
            Cause::CommandQueue => "command_queue",
            Cause::Link => "link",
            Cause::BufferHostProgram => "buffer_full_host_program",
            Cause::BufferRelocation => "buffer_full_relocation",
            Cause::BufferParity => "buffer_full_parity",
            Cause::BufferErase => "buffer_full_erase",
            Cause::GcStall => "gc_stall",
            Cause::MapLookup => "map_lookup",
            Cause::Zone => "zone",
            Cause::DieHostRead => "die_host_read",
            Cause::DieHostProgram => "die_host_program",
            Cause::DieRelocationRead => "die_relocation_read",
            Cause::DieRelocationProgram => "die_relocation_program",
            Cause::DieParity => "die_parity",
            Cause::DieErase => "die_erase",
            Cause::DieMap => "die_map",
            Cause::Suspend => "suspend",
            Cause::FlashRead => "flash_read",
            Cause::Bus => "bus",
            Cause::ReadRetry => "read_retry",
            Cause::Durable => "durable",
            Cause::DiskQueue => "disk_queue",
            Cause::Seek => "seek",
            Cause::Rotation => "rotation",
            Cause::DiskTransfer => "disk_transfer",
        }
    }

    /// The name for people.
    pub fn label(self) -> &'static str {
        match self {
            Cause::HostCpu => "host CPU",
            Cause::Late => "asked late",
            Cause::CommandQueue => "command queue",
            Cause::Link => "host link",
            Cause::BufferHostProgram => "buffer full: host programs",
            Cause::BufferRelocation => "buffer full: relocation",
            Cause::BufferParity => "buffer full: parity",
            Cause::BufferErase => "buffer full: erase",
            Cause::GcStall => "stopped for GC",
            Cause::MapLookup => "map lookup",
            Cause::Zone => "zone",
            Cause::DieHostRead => "die busy: host read",
            Cause::DieHostProgram => "die busy: host program",
            Cause::DieRelocationRead => "die busy: relocation read",
            Cause::DieRelocationProgram => "die busy: relocation program",
            Cause::DieParity => "die busy: parity program",
            Cause::DieErase => "die busy: erase",
            Cause::DieMap => "die busy: map",
            Cause::Suspend => "suspend",
            Cause::FlashRead => "flash read",
            Cause::Bus => "channel bus",
            Cause::ReadRetry => "read retry",
            Cause::Durable => "wait until durable",
            Cause::DiskQueue => "disk queue",
            Cause::Seek => "seek",
            Cause::Rotation => "rotation",
            Cause::DiskTransfer => "disk transfer",
        }
    }
}

/// Nanoseconds by [`Cause`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Parts {
    ns: [u64; Cause::COUNT],
}

impl Parts {
    /// Adds time to a cause.
    pub fn add(&mut self, cause: Cause, ns: u64) {
        self.ns[cause as usize] += ns;
    }
    /// Time of a cause.
    pub fn get(&self, cause: Cause) -> u64 {
        self.ns[cause as usize]
    }
    /// All causes together.
    pub fn total_ns(&self) -> u64 {
        self.ns.iter().sum()
    }
    /// Adds another breakdown.
    pub fn merge(&mut self, other: &Parts) {
        for (a, b) in self.ns.iter_mut().zip(other.ns) {
            *a += b;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_stands_at_its_own_place() {
        for (i, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, i);
        }
    }
}
