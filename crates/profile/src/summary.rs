//! A card in one line.

use crate::text::{COLUMNS, short};
use results::words::grouped;
use std::fmt;

/// A row of the list of cards.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Name under which the device is found.
    pub name: String,
    /// Title of the device.
    pub title: String,
    /// Bytes that the host can address.
    pub user_bytes: u64,
    /// 1 - user / data capacity; `None` for disks.
    pub spare_factor: Option<f64>,
    /// Price of the whole device, if known.
    pub price_usd: Option<f64>,
}

const NAME: usize = 25;

impl Summary {
    /// The line above the rows.
    pub fn header() -> String {
        format!("{:<NAME$} {:>5} {:>7} {:>6}  {}", "card", "GB", "spare", "$/GB", "").trim_end().to_string()
    }

    /// Price a gigabyte of user capacity.
    pub fn usd_per_gb(&self) -> Option<f64> {
        self.price_usd.map(|p| p / (self.user_bytes as f64 / 1e9))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gb = grouped((self.user_bytes as f64 / 1e9).round() as u64);
        let spare = self.spare_factor.map_or("-".to_string(), |s| format!("{:.1} %", s * 100.0));
        let per_gb = self.usd_per_gb().map_or("-".to_string(), short);
        let left = format!("{:<NAME$} {gb:>5} {spare:>7} {per_gb:>6}  ", self.name);
        let room = COLUMNS.saturating_sub(left.chars().count());
        let title: String = if self.title.chars().count() <= room {
            self.title.clone()
        } else {
            self.title.chars().take(room.saturating_sub(1)).chain(['…']).collect()
        };
        f.write_str(format!("{left}{title}").trim_end())
    }
}
