//! The temperature of a modelled card during a run.

use serde::{Deserialize, Serialize};

/// The heat of a modelled card in the measured time; of several cards, that of the hottest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThermalReport {
    /// The highest temperature of the measured time.
    pub highest_celsius: f64,
    /// Temperature at the end.
    pub end_celsius: f64,
    /// Mean power of the measured time.
    pub mean_watts: f64,
    /// Seconds of light throttling.
    pub light_s: f64,
    /// Seconds of heavy throttling.
    pub heavy_s: f64,
    /// Seconds of critical throttling.
    pub critical_s: f64,
    /// Temperature at the end of each second.
    pub series: Vec<f64>,
}

impl ThermalReport {
    /// Seconds of throttling at any level.
    pub fn throttled_s(&self) -> f64 {
        self.light_s + self.heavy_s + self.critical_s
    }

    /// Share of a measured time of `seconds` in which the card was throttled.
    pub fn throttled_share(&self, seconds: f64) -> f64 {
        self.throttled_s() / seconds.max(f64::MIN_POSITIVE)
    }
}
