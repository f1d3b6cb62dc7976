//! The health of a drive around a review, by its own account.

use serde::{Deserialize, Serialize};

/// A drive before and after a review, and its temperature meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HealthReport {
    /// Its SMART data before anything was written.
    pub before: Option<DriveSmart>,
    /// Its SMART data when the review ended.
    pub after: Option<DriveSmart>,
    /// Temperatures during the review.
    pub temperatures: Vec<Temperature>,
    /// Degrees Celsius from which the drive itself warns.
    pub warning_c: Option<i64>,
}

/// A temperature and its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// Seconds since the review began, or since it went on.
    pub t_s: f64,
    /// Temperature in degrees Celsius.
    pub celsius: i64,
}

/// SMART data of a drive; what it does not say is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveSmart {
    /// `false`: the drive says that it is failing.
    pub passed: Option<bool>,
    /// Its temperature in degrees Celsius.
    pub temperature_c: Option<i64>,
    /// Share of its rated endurance that is used, in percent; it may exceed 100.
    pub used_percent: Option<u64>,
    /// Share of its spare blocks that is left, in percent.
    pub spare_percent: Option<u64>,
    /// Times that it could not give back what it held.
    pub media_errors: Option<u64>,
    /// Hours that it had power.
    pub power_on_hours: Option<u64>,
    /// Bytes that hosts have written to it in its life.
    pub written_bytes: Option<u64>,
    /// Minutes of its life above the temperature from which it warns.
    pub warm_minutes: Option<u64>,
    /// Minutes of its life above its critical temperature.
    pub hot_minutes: Option<u64>,
}
