//! From the settings of a disk array to its configuration, and what must hold between the numbers.

use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use device::SECTOR_BYTES;
use disk::{ArrayConfig, DiskConfig, RaidLevel};

const FLASH_TABLES: [&str; 16] = [
    "geometry",
    "timing",
    "endurance",
    "ftl",
    "link",
    "fabric",
    "fibre_channel",
    "iscsi",
    "infiniband",
    "buffer",
    "relocation",
    "slc_cache",
    "placement",
    "compression",
    "thermal",
    "cache",
];

const FLASH_KEYS: [&str; 9] = [
    "count",
    "host_stripe_bytes",
    "host_layout",
    "dead_cards",
    "rebuild_bytes_per_s",
    "power_loss_protection",
    "acknowledge_flush_early",
    "reads_first",
    "missing_module",
];

/// Reads and checks everything.
pub(crate) fn read(settings: &Settings) -> Result<ArrayConfig, ProfileError> {
    refuse_foreign(settings, "disks", &["volume"], "capacity_bytes in [disk] with level in [array]")?;
    let array = ArrayConfig {
        disk: read_disk(settings)?,
        disks: settings.count32("array", "disks")?,
        level: read_level(settings)?,
        chunk_bytes: settings.count("array", "chunk_bytes")?,
        controller_cache_bytes: settings.count("array", "controller_cache_bytes")?,
        controller_ns: settings.count("array", "controller_ns")?,
    };
    check(settings, &array)?;
    Ok(array)
}

/// Refuses tables and keys of flash, and tables of `others`, in the file of another kind of device, whose capacity is said
/// elsewhere.
pub(crate) fn refuse_foreign(
    settings: &Settings,
    kind: &'static str,
    others: &[&'static str],
    capacity: &'static str,
) -> Result<(), ProfileError> {
    for &table in FLASH_TABLES.iter().chain(others) {
        if settings.has_table(table) {
            return Err(settings.wrong_table(table, Problem::ForeignTable { table, kind }));
        }
    }
    for key in ["user_bytes", "user_gb"] {
        if settings.entry("card", key).is_some() {
            return Err(settings.wrong("card", key, Problem::SaidTwice { first: key, second: capacity }));
        }
    }
    for key in FLASH_KEYS {
        if settings.entry("card", key).is_some() {
            return Err(settings.wrong("card", key, Problem::ForeignKey { table: "card", key, kind }));
        }
    }
    Ok(())
}

fn read_disk(settings: &Settings) -> Result<DiskConfig, ProfileError> {
    let number = |key| settings.count("disk", key);
    let number32 = |key| settings.count32("disk", key);
    Ok(DiskConfig {
        capacity_bytes: number("capacity_bytes")?,
        rpm: number32("rpm")?,
        track_seek_ns: number("track_seek_ns")?,
        average_seek_ns: number("average_seek_ns")?,
        full_seek_ns: number("full_seek_ns")?,
        write_settle_ns: number("write_settle_ns")?,
        outer_bytes_per_s: number("outer_bytes_per_s")?,
        inner_bytes_per_s: number("inner_bytes_per_s")?,
        interface_bytes_per_s: number("interface_bytes_per_s")?,
        command_ns: number("command_ns")?,
        queue_depth: number32("queue_depth")?,
        write_cache_bytes: number("write_cache_bytes")?,
    })
}

fn read_level(settings: &Settings) -> Result<RaidLevel, ProfileError> {
    Ok(match settings.text("array", "level")? {
        "raid0" => RaidLevel::Raid0,
        "raid1" => RaidLevel::Raid1,
        "raid10" => RaidLevel::Raid10,
        _ => RaidLevel::Raid5,
    })
}

fn check(settings: &Settings, array: &ArrayConfig) -> Result<(), ProfileError> {
    let disk = &array.disk;
    for (table, key, what, bytes) in [
        ("disk", "capacity_bytes", "capacity_bytes", disk.capacity_bytes),
        ("array", "chunk_bytes", "chunk_bytes", array.chunk_bytes),
    ] {
        if !bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(settings.wrong(table, key, Problem::NotAMultiple { what, bytes, multiple: SECTOR_BYTES }));
        }
    }
    if array.chunk_bytes > disk.capacity_bytes {
        let problem = Problem::OutOfOrder { low: "chunk_bytes", high: "capacity_bytes" };
        return Err(settings.wrong("array", "chunk_bytes", problem));
    }
    for (low, high, in_order) in [
        ("track_seek_ns", "average_seek_ns", disk.track_seek_ns <= disk.average_seek_ns),
        ("average_seek_ns", "full_seek_ns", disk.average_seek_ns <= disk.full_seek_ns),
        ("inner_bytes_per_s", "outer_bytes_per_s", disk.inner_bytes_per_s <= disk.outer_bytes_per_s),
    ] {
        if !in_order {
            return Err(settings.wrong("disk", low, Problem::OutOfOrder { low, high }));
        }
    }
    let disks = array.disks;
    let (level, needed, right) = match array.level {
        RaidLevel::Raid0 => ("raid0", "1 or more", true),
        RaidLevel::Raid1 => ("raid1", "2 or more", disks >= 2),
        RaidLevel::Raid10 => ("raid10", "an even number of", disks >= 2 && disks.is_multiple_of(2)),
        RaidLevel::Raid5 => ("raid5", "3 or more", disks >= 3),
    };
    if !right {
        return Err(settings.wrong("array", "disks", Problem::WrongDisks { level, needed, disks }));
    }
    Ok(())
}

/// Bytes that the host can address.
pub(crate) fn user_bytes(array: &ArrayConfig) -> u64 {
    let disks = u64::from(array.disks);
    let data_disks = match array.level {
        RaidLevel::Raid0 => disks,
        RaidLevel::Raid1 => 1,
        RaidLevel::Raid10 => disks / 2,
        RaidLevel::Raid5 => disks - 1,
    };
    array.disk.capacity_bytes * data_disks
}
