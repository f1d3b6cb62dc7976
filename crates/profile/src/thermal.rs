//! The heat of a modelled card: its powers, its mass, its surroundings, and the temperatures at which it is throttled.

use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use card::{LEVELS, ThermalConfig, Throttle};

const TABLE: &str = "thermal";

/// Keys of the levels, the mildest first.
const KEYS: [(&str, &str); LEVELS] =
    [("light_celsius", "light_percent"), ("heavy_celsius", "heavy_percent"), ("critical_celsius", "critical_percent")];

/// Reads `[thermal]`; `None` where the file says nothing of heat.
pub(crate) fn read(settings: &Settings) -> Result<Option<ThermalConfig>, ProfileError> {
    if !settings.has_table(TABLE) {
        return Ok(None);
    }
    let number = |key| settings.real_if_any(TABLE, key).ok_or_else(|| settings.missing(TABLE, key));
    let throttles = read_throttles(settings)?;
    let hysteresis_kelvin = match settings.real_if_any(TABLE, "hysteresis_kelvin") {
        Some(kelvin) => kelvin,
        None if throttles == [Throttle::NEVER; LEVELS] => 0.0,
        None => return Err(because(settings, "hysteresis_kelvin", "a temperature of throttling", "light_celsius")),
    };
    let ambient_celsius = number("ambient_celsius")?;
    let thermal = ThermalConfig {
        idle_watts: number("idle_watts")?,
        read_watts: number("die_read_watts")?,
        program_watts: number("die_program_watts")?,
        erase_watts: number("die_erase_watts")?,
        nanojoules_per_byte: number("nanojoules_per_byte")?,
        joules_per_kelvin: number("joules_per_kelvin")?,
        kelvin_per_watt: number("kelvin_per_watt")?,
        ambient_celsius,
        start_celsius: settings.real_if_any(TABLE, "start_celsius").unwrap_or(ambient_celsius),
        hysteresis_kelvin,
        throttles,
    };
    check(settings, &thermal)?;
    Ok(Some(thermal))
}

fn because(settings: &Settings, key: &'static str, because: &'static str, at: &'static str) -> ProfileError {
    let problem = Problem::MissingBecause { table: TABLE, key, because };
    match settings.entry(TABLE, at) {
        Some(_) => settings.wrong(TABLE, at, problem),
        None => settings.wrong_table(TABLE, problem),
    }
}

/// Reads the levels: each has both keys or none, and none comes without the one before.
fn read_throttles(settings: &Settings) -> Result<[Throttle; LEVELS], ProfileError> {
    let mut throttles = [Throttle::NEVER; LEVELS];
    for (level, (celsius, percent)) in KEYS.into_iter().enumerate() {
        let found = (settings.real_if_any(TABLE, celsius), settings.count_if_any(TABLE, percent));
        throttles[level] = match found {
            (None, None) => continue,
            (None, Some(_)) => return Err(because(settings, celsius, percent, percent)),
            (Some(_), None) => return Err(because(settings, percent, celsius, celsius)),
            (Some(from_celsius), Some(speed)) => Throttle { from_celsius, speed_percent: speed as u32 },
        };
        let Some(before) = level.checked_sub(1) else { continue };
        if throttles[before] == Throttle::NEVER {
            return Err(because(settings, KEYS[before].0, celsius, celsius));
        }
        if throttles[before].from_celsius > throttles[level].from_celsius {
            return Err(settings.wrong(TABLE, celsius, Problem::OutOfOrder { low: KEYS[before].0, high: celsius }));
        }
        if throttles[before].speed_percent < throttles[level].speed_percent {
            return Err(settings.wrong(TABLE, percent, Problem::OutOfOrder { low: percent, high: KEYS[before].1 }));
        }
    }
    Ok(throttles)
}

/// A card that is throttled while it does nothing would be throttled for ever.
fn check(settings: &Settings, thermal: &ThermalConfig) -> Result<(), ProfileError> {
    let idle_celsius = thermal.ambient_celsius + thermal.idle_watts * thermal.kelvin_per_watt;
    if idle_celsius >= thermal.throttles[0].from_celsius - thermal.hysteresis_kelvin {
        return Err(settings.wrong(TABLE, KEYS[0].0, Problem::ThrottledIdle));
    }
    Ok(())
}
