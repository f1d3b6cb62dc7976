//! Messages of the two sides, beside those of `live`.

use card::{Health, PullCost};
use device::SECTOR_BYTES;
use identify::DriveHealth;
use live::{ModuleStatus, Status};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The servers through which hosts read and write a card: the control plane asks them how that stands.
pub trait Frontends: Send + Sync {
    /// As of now. Must not take long.
    fn status(&self) -> Frontend;

    /// Whether another export, of this or another card, has a name.
    fn is_taken(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// The volumes of the card have changed: its exports are to follow.
    fn volumes_changed(&self) {}
}

/// A volume of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Its number, which no other volume of the card will have.
    pub id: u32,
    /// Its name, which is that of its export as well.
    pub name: String,
    /// Bytes that a host sees.
    pub size_bytes: u64,
    /// Bytes that it has on the card, in whole extents.
    pub allocated_bytes: u64,
    /// The UUID by which NVMe hosts know it.
    pub uuid: String,
    /// Clients that are connected to it.
    pub clients: usize,
}

/// The volumes of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volumes {
    /// In the order in which they were made.
    pub volumes: Vec<Volume>,
    /// Bytes of an extent: room is handed out and taken back in such pieces.
    pub extent_bytes: u64,
    /// Bytes that no volume has.
    pub free_bytes: u64,
}

impl From<live::VolumesStatus> for Volumes {
    fn from(status: live::VolumesStatus) -> Volumes {
        let volume = |volume: live::VolumeStatus| Volume {
            id: volume.id,
            name: volume.name,
            size_bytes: volume.size_bytes,
            allocated_bytes: volume.allocated_bytes,
            uuid: format::CardId(volume.uuid).to_string(),
            clients: volume.clients,
        };
        Volumes {
            volumes: status.volumes.into_iter().map(volume).collect(),
            extent_bytes: status.extent_bytes,
            free_bytes: status.free_bytes,
        }
    }
}

/// A volume to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewVolume {
    /// The name that hosts find it by.
    pub name: String,
    /// Bytes that a host sees, whole sectors of 4 KiB.
    pub size_bytes: u64,
}

/// A volume's new size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grow {
    /// Bytes that a host sees, no fewer than before.
    pub size_bytes: u64,
}

/// A frontend that serves a card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frontend {
    /// Names under which it can be asked.
    pub exports: Vec<Export>,
    /// Connections that are open.
    pub clients: Vec<Connection>,
    /// Connections that were turned away, because there were too many.
    #[serde(default)]
    pub turned_away: u64,
}

/// A name under which a card can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// Its name; the default export has none.
    pub name: String,
    /// Bytes that can be asked for.
    pub size_bytes: u64,
    /// It takes no writes.
    pub read_only: bool,
    /// `unix:/run/x.sock` or `127.0.0.1:10809` for NBD, `nvme+tcp://127.0.0.1:4420`, and `/dev/ublkb0`, a disk of the
    /// server's machine.
    pub addresses: Vec<String>,
}

/// Somebody who is connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Number of the connection, counted from the server's start.
    pub number: u64,
    /// Protocol that it speaks: `nbd` or `nvme`.
    #[serde(default = "nbd")]
    pub protocol: String,
    /// Origin of the connection: an address, or the process at the other end of a socket.
    pub peer: String,
    /// Export of the connection; `None` while it is being agreed on.
    pub export: Option<String>,
    /// It came with TLS.
    pub tls: bool,
    /// Since it came.
    pub connected_seconds: f64,
    /// Requests that were answered.
    pub requests: u64,
    /// Requests under way.
    pub in_flight: u64,
    /// Bytes that it read.
    pub read_bytes: u64,
    /// Bytes that it wrote.
    pub written_bytes: u64,
}

/// All clients spoke it before there was a choice.
fn nbd() -> String {
    "nbd".into()
}

/// Status of a card, and the server that answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusReply {
    /// The card's name.
    pub name: String,
    /// The profile it was made from.
    pub card: String,
    /// Version of the server.
    pub version: String,
    /// Clients that were turned away since the server's start, because there were too many.
    #[serde(default)]
    pub clients_turned_away: u64,
    /// Status of the card.
    #[serde(flatten)]
    pub status: Status,
}

/// The drive that the module in a slot lies on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drive {
    /// The number of the slot, from 0 on.
    pub slot: u32,
    /// The path by which the module was opened.
    pub path: PathBuf,
    /// Its name in `/dev/disk/by-id`, which it keeps wherever it is plugged in.
    pub by_id: Option<PathBuf>,
    /// Its health, by its own account.
    pub health: Option<DriveHealth>,
    /// The reason why its health is not known.
    pub unknown: Option<String>,
}

/// A module that is taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pull {
    /// Also when more modules are missing then than parity stands for.
    pub force: bool,
}

/// A slot whose module was taken out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pulled {
    /// The slot, empty now.
    #[serde(flatten)]
    pub module: ModuleStatus,
    /// The price, where more modules are missing now than parity stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond_parity: Option<BeyondParity>,
}

/// More modules are missing than parity stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeyondParity {
    /// Modules that are missing or not wholly rebuilt.
    pub lacking: u32,
    /// Modules that parity stands for.
    pub parity: u32,
    /// Bytes of the host that can't be read any more.
    pub lost_bytes: u64,
}

impl From<PullCost> for BeyondParity {
    fn from(cost: PullCost) -> BeyondParity {
        let PullCost { lacking, parity, lost_sectors } = cost;
        BeyondParity { lacking, parity, lost_bytes: lost_sectors * SECTOR_BYTES }
    }
}

/// A module that is put in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Insert {
    /// A blank one; otherwise the one that was pulled, or that lies at the path.
    pub new: bool,
    /// The image or the file of a module, where the server finds it: an absolute path. A new module is made in a file that
    /// is not there, or of a block device, whose contents are lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

/// A range of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Offset of the first byte.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub len_bytes: u64,
}

/// Latencies since the start: pairs of nanoseconds and how many requests took that long, ascending, exact to 1 %.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// Latencies of reads.
    pub reads: Vec<(u64, u64)>,
    /// Latencies of writes.
    pub writes: Vec<(u64, u64)>,
    /// Latencies of flushes.
    pub flushes: Vec<(u64, u64)>,
    /// Trims, and zeroes that were written.
    pub trims: Vec<(u64, u64)>,
}

/// Conditions that need attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticalWarning {
    /// The byte of the log.
    pub value: u8,
    /// Bit 0: spare blocks run short.
    pub available_spare: bool,
    /// Bit 2: redundancy or media are degraded.
    pub reliability_degraded: bool,
    /// Bit 3: the card takes no writes.
    pub read_only: bool,
}

/// A card's health, with the names and units of the SMART / Health Information log (page 02h) of the NVMe base
/// specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smart {
    /// Conditions that need attention.
    pub critical_warning: CriticalWarning,
    /// Percent of the spare that is left.
    pub available_spare: u8,
    /// Percent; below it there is a warning.
    pub available_spare_threshold: u8,
    /// Percent of the rated cycles; may exceed 100, and stops at 255.
    pub percentage_used: u8,
    /// Thousands of 512 bytes.
    pub data_units_read: u64,
    /// Thousands of 512 bytes.
    pub data_units_written: u64,
    /// Number of read commands of hosts.
    pub host_read_commands: u64,
    /// Number of write commands of hosts.
    pub host_write_commands: u64,
    /// Minutes for which the card was busy.
    pub controller_busy_time: u64,
    /// Number of the card's starts.
    pub power_cycles: u64,
    /// Hours for which the card has run.
    pub power_on_hours: u64,
    /// Starts without having been shut down in order.
    pub unsafe_shutdowns: u64,
    /// Sectors that could not be read.
    pub media_errors: u64,
}

impl From<Health> for Smart {
    fn from(health: Health) -> Smart {
        let warning = health.critical_warning;
        Smart {
            critical_warning: CriticalWarning {
                value: warning.bits(),
                available_spare: warning.spare_below_threshold,
                reliability_degraded: warning.reliability_degraded,
                read_only: warning.read_only,
            },
            available_spare: health.available_spare,
            available_spare_threshold: health.available_spare_threshold,
            percentage_used: health.percentage_used,
            data_units_read: health.data_units_read,
            data_units_written: health.data_units_written,
            host_read_commands: health.host_read_commands,
            host_write_commands: health.host_write_commands,
            controller_busy_time: health.controller_busy_time,
            power_cycles: health.power_cycles,
            power_on_hours: health.power_on_hours,
            unsafe_shutdowns: health.unsafe_shutdowns,
            media_errors: health.media_errors,
        }
    }
}
