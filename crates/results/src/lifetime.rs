//! Lifetime of a card, and its cost.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A card worn out, with several reserves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LifetimeResult {
    /// Kind of the file: always [`LifetimeResult::KIND`].
    pub kind: String,
    /// Version of the format, [`LifetimeResult::SCHEMA`].
    pub schema: u32,
    /// The program and its version.
    pub generator: String,
    /// The card: as a run's `target`, before a reserve changes it.
    pub target: Value,
    /// The written load, as a run's `load`; its threads and its file are those of the run that gave the IOPS.
    pub load: Value,
    /// Share of the user capacity in use.
    pub fill: f64,
    /// Bytes that the host writes a day.
    pub bytes_per_day: f64,
    /// Years that drive writes a day are counted over.
    pub warranty_years: f64,
    /// Root seed of the simulation.
    pub seed: u64,
    /// One for each reserve.
    pub cases: Vec<LifetimeCase>,
    /// Reason why cases are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
}

impl LifetimeResult {
    /// Kind that tells these results from others.
    pub const KIND: &'static str = "flashrig-lifetime";
    /// Version of the schema.
    pub const SCHEMA: u32 = 1;
}

/// The life of a card with one reserve. Years are at the writes a day that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LifetimeCase {
    /// Percent of the capacity sold that is given up.
    pub reserve_percent: f64,
    /// Bytes that remain for the user.
    pub user_bytes: u64,
    /// Bytes of it that are in use.
    pub used_bytes: u64,
    /// Share of the data capacity that collection can use.
    pub effective_spare_factor: f64,
    /// Pages programmed for data over pages that the host wrote, while the card is young.
    pub waf: f64,
    /// The same with parity, summaries and the padding of flushes: bytes of flash used up for a byte of the host.
    pub total_amplification: f64,
    /// Cycles that a block is rated for.
    pub rated_cycles: u32,
    /// Bytes that the host can write if all blocks wear alike and none fails before its rated cycles: the closed form, which takes write
    /// amplification and padding from the simulation.
    pub closed_endurance_bytes: f64,
    /// The same in years.
    pub closed_years: f64,
    /// Years until the first block has its rated cycles, simulated; absent where the spare ends before.
    pub rated_years: Option<f64>,
    /// Years until the spare is used up and the card takes no more writes, simulated; absent where that is beyond three
    /// times the rated cycles.
    pub spare_years: Option<f64>,
    /// Years until as many blocks are retired as there is spare, if all wear alike and write amplification stays what it is
    /// while the card is young: the closed form. Absent where no block is ever retired.
    #[serde(default)]
    pub closed_spare_years: Option<f64>,
    /// Bytes that the host can write until the first of the two.
    pub endurance_bytes: f64,
    /// The same in years.
    pub years: f64,
    /// The same in user capacities a day over the warranty.
    pub drive_writes_per_day: f64,
    /// Wear when the first of the two happened.
    pub wear: LifetimeSpread,
    /// Share of the blocks that were retired by then.
    pub retired_share: f64,
    /// The same by the closed form, if all blocks had the mean wear.
    pub retired_share_closed: f64,
    /// Dollars for 10^9 bytes of user capacity; absent where no price is known.
    pub usd_per_gb: Option<f64>,
    /// Dollars for 10^12 bytes written.
    pub usd_per_tb_written: Option<f64>,
    /// Requests a second in steady state, from a run of the modelled card; absent where none was made.
    pub iops: Option<f64>,
    /// Dollars for each.
    pub usd_per_iops: Option<f64>,
    /// Power, if known.
    pub power_watts: Option<f64>,
    /// The life, rising.
    pub curve: Vec<LifetimePoint>,
    /// The card that was worn out.
    pub model: LifetimeModel,
}

/// Cycles of the blocks that can still be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LifetimeSpread {
    /// P/E cycles of the least worn block.
    pub min: f64,
    /// One in a hundred has no more.
    pub p1: f64,
    /// Mean P/E cycles of all blocks.
    pub mean: f64,
    /// 99 in a hundred have no more.
    pub p99: f64,
    /// P/E cycles of the most worn block.
    pub max: f64,
}

impl LifetimeSpread {
    /// Most less least, as a share of the mean.
    pub fn share_of_mean(&self) -> f64 {
        if self.mean > 0.0 { (self.max - self.min) / self.mean } else { 0.0 }
    }
}

/// A moment of a life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LifetimePoint {
    /// Years since it was new.
    pub years: f64,
    /// Bytes that the host has written.
    pub written_bytes: f64,
    /// Spread of the blocks' wear.
    pub wear: LifetimeSpread,
    /// Share of the blocks that were retired.
    pub retired_share: f64,
    /// Share of the data capacity that collection can still use.
    pub spare_factor: f64,
    /// Write amplification since the point before.
    pub waf: f64,
}

/// The small card that was worn out in the large one's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifetimeModel {
    /// Cycles that its blocks bear.
    pub cycles: u32,
    /// Number of its bands.
    pub bands: u32,
    /// Sectors of data in one.
    pub band_sectors: u32,
    /// Spread of cycles at which cold data move; 0: they never do.
    pub static_wear_spread_cycles: u32,
}
