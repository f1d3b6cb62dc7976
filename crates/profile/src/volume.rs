//! From the settings of a volume of a cloud to its configuration, and what must hold between the numbers.

use crate::disks;
use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use device::SECTOR_BYTES;
use disk::{Limit, VolumeConfig};

const BURST: [&str; 4] = ["burst_iops", "burst_bytes_per_s", "burst_s", "full_at_start"];

/// Reads and checks everything.
pub(crate) fn read(settings: &Settings) -> Result<VolumeConfig, ProfileError> {
    disks::refuse_foreign(settings, "volume", &["disk", "array"], "capacity_bytes in [volume]")?;
    let number = |key| settings.count("volume", key);
    let bursts = BURST.iter().any(|key| settings.entry("volume", key).is_some());
    let limit = |key, burst| -> Result<Limit, ProfileError> {
        let sustained = number(key)?;
        let limit = Limit { sustained, burst: if bursts { number(burst)? } else { sustained } };
        if limit.burst < sustained {
            return Err(settings.wrong("volume", burst, Problem::OutOfOrder { low: key, high: burst }));
        }
        Ok(limit)
    };
    let capacity_bytes = number("capacity_bytes")?;
    if !capacity_bytes.is_multiple_of(SECTOR_BYTES) {
        let problem = Problem::NotAMultiple { what: "capacity_bytes", bytes: capacity_bytes, multiple: SECTOR_BYTES };
        return Err(settings.wrong("volume", "capacity_bytes", problem));
    }
    Ok(VolumeConfig {
        capacity_bytes,
        iops: limit("iops", "burst_iops")?,
        bytes_per_s: limit("bytes_per_s", "burst_bytes_per_s")?,
        io_bytes: number("io_bytes")?,
        read_ns: number("read_ns")?,
        write_ns: number("write_ns")?,
        spread_ns: number("spread_ns")?,
        burst_s: if bursts { number("burst_s")? } else { 0 },
        full_at_start: bursts && settings.flag("volume", "full_at_start")?,
    })
}
