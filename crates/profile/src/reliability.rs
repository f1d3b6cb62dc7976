//! Reliability of a card's flash, and the energy that keeps acknowledged writes when power fails.

use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use card::{Capacitors, CardConfig, PatrolConfig};
use device::SECTOR_BYTES;
use media::{ErrorRates, Physics};

const DAY_NS: u64 = 86_400_000_000_000;
/// Warns at this share of the spare space where the file says nothing: what most drives do.
const SPARE_THRESHOLD_PERCENT: u8 = 10;

/// A key that another one needs.
fn needed<T>(
    settings: &Settings,
    table: &'static str,
    key: &'static str,
    because: (&'static str, &'static str),
    value: Option<T>,
) -> Result<T, ProfileError> {
    value.ok_or_else(|| settings.wrong(table, because.0, Problem::MissingBecause { table, key, because: because.1 }))
}

/// Reads the bytes that the capacitors save; `None` where the file does not limit them.
pub(crate) fn read_capacitors(settings: &Settings) -> Result<Option<Capacitors>, ProfileError> {
    let table = "buffer";
    let (joules, watts) = (settings.real_if_any(table, "capacitor_joules"), settings.real_if_any(table, "drain_watts"));
    if joules.is_none() && watts.is_none() {
        return Ok(None);
    }
    let joules = needed(settings, table, "capacitor_joules", ("drain_watts", "drain_watts"), joules)?;
    let watts = needed(settings, table, "drain_watts", ("capacitor_joules", "capacitor_joules"), watts)?;
    let micro = |amount: f64| (amount * 1e6).round() as u64;
    Ok(Some(Capacitors { energy_uj: micro(joules), drain_uw: micro(watts).max(1) }))
}

/// A stripe at least must be durable before it is on flash.
pub(crate) fn check_capacitors(settings: &Settings, card: &CardConfig, stripe_bytes: u64) -> Result<(), ProfileError> {
    let bytes = u64::from(card.durable_buffer_sectors()) * SECTOR_BYTES;
    if bytes < stripe_bytes {
        let what = "what the capacitors put on flash";
        let problem = Problem::TooSmall { what, bytes, needed_bytes: stripe_bytes };
        return Err(settings.wrong("buffer", "capacitor_joules", problem));
    }
    Ok(())
}

pub(crate) fn read_patrol(settings: &Settings) -> Result<Option<PatrolConfig>, ProfileError> {
    let table = "patrol";
    if !settings.has_table(table) {
        return Ok(None);
    }
    let interval_ns = settings.count(table, "interval_days")? * DAY_NS;
    Ok(Some(PatrolConfig { interval_ns, block_reads: settings.count32(table, "block_reads")? }))
}

pub(crate) fn spare_threshold_percent(settings: &Settings) -> u8 {
    let percent = settings.count_if_any("endurance", "spare_threshold_percent");
    percent.map_or(SPARE_THRESHOLD_PERCENT, |percent| percent as u8)
}

/// Rows of a block that share cells, as far as that matters to the card: with capacitors no cut meets a program.
pub(crate) fn cell_rows(settings: &Settings, power_loss_protection: bool) -> u32 {
    match settings.count_if_any("geometry", "rows_sharing_cells") {
        Some(rows) if !power_loss_protection => rows as u32,
        _ => 1,
    }
}

/// Reads the physics of the flash, for a medium that is to behave like it. Without `[errors]` it never errs.
pub(crate) fn read_physics(settings: &Settings, card: &CardConfig) -> Result<Physics, ProfileError> {
    let endurance = card.nand.endurance;
    let table = "errors";
    let physics = Physics {
        rated_cycles: endurance.rated_cycles,
        factory_bad_ppm: endurance.factory_bad_ppm,
        erase_fail_ppm_at_rated: endurance.erase_fail_ppm_at_rated,
        program_fail_ppm_at_rated: settings.count_if_any("endurance", "program_fail_ppm_at_rated").unwrap_or(0) as u32,
        // A write that is acknowledged too early has to be somewhere until it is lost.
        volatile_cache: card.acknowledge_flush_early,
        ..Physics::IDEAL
    };
    if !settings.has_table(table) {
        return Ok(physics);
    }
    let rate = |key| settings.real_if_any(table, key).ok_or_else(|| settings.missing(table, key));
    let read_retries = settings.count32(table, "read_retries")?;
    let retry_factor = match settings.real_if_any(table, "retry_factor") {
        Some(factor) => factor,
        None if read_retries == 0 => 1.0,
        None => needed(settings, table, "retry_factor", ("read_retries", "read_retries above 0"), None)?,
    };
    let (ecc_bits, refresh_at_bits) =
        (settings.count32(table, "ecc_bits")?, settings.count32(table, "refresh_at_bits")?);
    if refresh_at_bits > ecc_bits {
        let problem = Problem::OutOfOrder { low: "refresh_at_bits", high: "ecc_bits" };
        return Err(settings.wrong(table, "refresh_at_bits", problem));
    }
    Ok(Physics {
        errors: ErrorRates {
            fresh: rate("fresh")?,
            cycles: rate("rated_cycles")?,
            retention_year: rate("retention_year")?,
            disturb_read: rate("disturb_read")?,
        },
        ecc_bits,
        read_retries,
        retry_factor,
        refresh_advised_at_bits: refresh_at_bits,
        ..physics
    })
}
