//! The numbers that are fitted.

/// A number that is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Knob {
    ReadLink,
    WriteLink,
    ReadCommand,
    WriteCommand,
    Latency,
    Read,
    Program,
    Erase,
    Bus,
    Suspend,
    Channels,
    Spare,
    Buffer,
    RelocationSector,
    CleanedAtOnce,
    HostCpu,
    HostContention,
}

impl Knob {
    /// As tables and JSON call it: the key in the card's file.
    pub fn key(self) -> &'static str {
        match self {
            Knob::ReadLink => "link.read_bytes_per_s",
            Knob::WriteLink => "link.write_bytes_per_s",
            Knob::ReadCommand => "link.read_command_ns",
            Knob::WriteCommand => "link.write_command_ns",
            Knob::Latency => "link.latency_ns",
            Knob::Read => "timing.read_ns",
            Knob::Program => "timing.program_ns",
            Knob::Erase => "timing.erase_ns",
            Knob::Bus => "timing.bus_bytes_per_s",
            Knob::Suspend => "timing.suspend_ns",
            Knob::Channels => "geometry.channels_per_module",
            Knob::Spare => "effective spare factor",
            Knob::Buffer => "buffer.bytes",
            Knob::RelocationSector => "relocation.sector_ns",
            Knob::CleanedAtOnce => "bytes cleaned at once",
            Knob::HostCpu => "host CPU time, times",
            Knob::HostContention => "host.contention",
        }
    }

    /// The key that stands in the card's file for it.
    pub fn file_key(self) -> Option<(&'static str, &'static str)> {
        match self {
            Knob::Spare => Some(("geometry", "blocks_per_plane")),
            Knob::CleanedAtOnce => Some(("ftl", "stop_free_bands")),
            Knob::HostCpu | Knob::HostContention => None,
            knob => knob.key().split_once('.'),
        }
    }

    /// Least and most.
    pub fn limits(self) -> (f64, f64) {
        match self {
            Knob::ReadLink | Knob::WriteLink => (10e6, 100e9),
            Knob::ReadCommand | Knob::WriteCommand => (50.0, 500e3),
            Knob::Latency => (200.0, 20e6),
            Knob::Read => (1e3, 5e6),
            Knob::Program => (5e3, 50e6),
            Knob::Erase => (100e3, 100e6),
            Knob::Bus => (10e6, 10e9),
            Knob::Suspend => (500.0, 2e6),
            Knob::Channels => (1.0, 256.0),
            Knob::Spare => (0.02, 0.85),
            Knob::Buffer => (256.0 * 1024.0, 64.0 * 1024.0 * 1024.0),
            Knob::RelocationSector => (100.0, 1e6),
            Knob::CleanedAtOnce => (1024.0 * 1024.0, 16.0 * 1024.0 * 1024.0 * 1024.0),
            Knob::HostCpu => (0.1, 20.0),
            Knob::HostContention => (0.001, 0.9),
        }
    }
}
