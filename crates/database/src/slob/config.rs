//! The parameters of SLOB, under the names that they are known by.

use crate::activity::BLOCK_BYTES;
use crate::parameters::{whole_number, within};
use std::collections::BTreeMap;

/// Parameters of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlobConfig {
    /// Executions that update, percent.
    pub update_pct: u32,
    /// Measured seconds; None: those of the other parts' points.
    pub run_time_s: Option<u32>,
    /// Blocks of an execution.
    pub work_unit: u32,
    /// Sessions that share a table.
    pub threads_per_schema: u32,
    /// Blocks of a table.
    pub scale_blocks: u64,
    /// Nobody asked for so many: there are fewer where they would not fit.
    pub scale_fits: bool,
    /// Some blocks are touched more often.
    pub do_hotspot: bool,
    /// Share of the executions that go to the hot spot, percent.
    pub hotspot_pct: u32,
    /// Size of the hot spot, MiB.
    pub hotspot_mb: u64,
    /// Offset of the hot spot, MiB.
    pub hotspot_offset_mb: u64,
    /// Buffer cache, MiB; None: small against the tables of a few sessions.
    pub buffers_mb: Option<u64>,
}

impl Default for SlobConfig {
    fn default() -> SlobConfig {
        SlobConfig {
            update_pct: 25,
            run_time_s: None,
            work_unit: 64,
            threads_per_schema: 1,
            scale_blocks: USUAL_BLOCKS,
            scale_fits: true,
            do_hotspot: false,
            hotspot_pct: 10,
            hotspot_mb: 8,
            hotspot_offset_mb: 16,
            buffers_mb: None,
        }
    }
}

/// Blocks of a table when nobody says how many, and the fewest that are measured in their place.
const USUAL_BLOCKS: u64 = 10_000;
const FEWEST_BLOCKS: u64 = 1_000;
/// Sessions pin some blocks each.
const LEAST_BUFFERS_MB: u64 = 8;

impl SlobConfig {
    /// The tables of so many sessions in so many bytes, if that is possible and nobody asked for others.
    pub(crate) fn fitted(mut self, sessions: u32, bytes: u64) -> SlobConfig {
        let blocks = bytes / (u64::from(self.tables(sessions)) * BLOCK_BYTES);
        if self.scale_fits && !self.do_hotspot && blocks >= FEWEST_BLOCKS.max(self.work_unit.into()) {
            self.scale_blocks = self.scale_blocks.min(blocks);
        }
        self
    }

    /// The buffer cache that so many MiB are for tables of the usual size: it stays small against smaller ones.
    pub(crate) fn buffers_of(&self, usual_mb: u64) -> u64 {
        (usual_mb * self.scale_blocks.min(USUAL_BLOCKS) / USUAL_BLOCKS).max(LEAST_BUFFERS_MB.min(usual_mb))
    }

    const KEYS: &str = "UPDATE_PCT, RUN_TIME, WORK_UNIT, THREADS_PER_SCHEMA, SCALE, DO_HOTSPOT, HOTSPOT_PCT, \
                        HOTSPOT_MB, HOTSPOT_OFFSET_MB, BUFFERS_MB";

    /// Sets a parameter by its name. SCALE is blocks, or a size as `80M`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = || whole_number::<u32>(key, value);
        match key {
            "UPDATE_PCT" => self.update_pct = number()?,
            "RUN_TIME" => self.run_time_s = Some(number()?),
            "WORK_UNIT" => self.work_unit = number()?,
            "THREADS_PER_SCHEMA" => self.threads_per_schema = number()?,
            "SCALE" => {
                self.scale_fits = false;
                self.scale_blocks =
                    blocks(value).ok_or_else(|| format!("{key}={value}: no number of blocks, and no size as 80M"))?
            }
            "DO_HOTSPOT" => {
                self.do_hotspot = match value.to_ascii_uppercase().as_str() {
                    "TRUE" | "1" => true,
                    "FALSE" | "0" => false,
                    _ => return Err(format!("{key}={value}: TRUE or FALSE")),
                };
            }
            "HOTSPOT_PCT" => self.hotspot_pct = number()?,
            "HOTSPOT_MB" => self.hotspot_mb = number()?.into(),
            "HOTSPOT_OFFSET_MB" => self.hotspot_offset_mb = number()?.into(),
            "BUFFERS_MB" => self.buffers_mb = Some(number()?.into()),
            _ => return Err(format!("{key}: SLOB has {}", SlobConfig::KEYS)),
        }
        Ok(())
    }

    pub(crate) fn validate(&self) -> Result<(), String> {
        within("UPDATE_PCT", self.update_pct.into(), 0, 100)?;
        within("RUN_TIME", self.run_time_s.unwrap_or(1).into(), 1, 86_400)?;
        within("SCALE", self.scale_blocks, 100, 1 << 27)?;
        within("WORK_UNIT", self.work_unit.into(), 1, self.scale_blocks.min(10_000))?;
        within("THREADS_PER_SCHEMA", self.threads_per_schema.into(), 1, 1_000)?;
        within("BUFFERS_MB", self.buffers_mb.unwrap_or(1), 1, 1 << 20)?;
        if self.do_hotspot {
            within("HOTSPOT_PCT", self.hotspot_pct.into(), 0, 100)?;
            let hot = self.hotspot();
            if hot.1 < u64::from(self.work_unit) || hot.0 + hot.1 > self.scale_blocks {
                return Err(format!(
                    "HOTSPOT_MB={} at HOTSPOT_OFFSET_MB={} does not lie within a table of {} blocks of 8 KiB",
                    self.hotspot_mb, self.hotspot_offset_mb, self.scale_blocks
                ));
            }
        }
        Ok(())
    }

    /// First block of the hot spot, and how many.
    pub(crate) fn hotspot(&self) -> (u64, u64) {
        let blocks = |mb: u64| mb * (1 << 20) / BLOCK_BYTES;
        (blocks(self.hotspot_offset_mb), blocks(self.hotspot_mb))
    }

    /// Tables of so many sessions.
    pub(crate) fn tables(&self, sessions: u32) -> u32 {
        sessions.div_ceil(self.threads_per_schema)
    }

    /// Bytes of their blocks.
    pub(crate) fn data_bytes(&self, sessions: u32) -> u64 {
        u64::from(self.tables(sessions)) * self.scale_blocks * BLOCK_BYTES
    }

    /// By name, for the result.
    pub(crate) fn parameters(&self, run_time_s: f64, buffers_mb: u64) -> BTreeMap<String, u64> {
        let mut all = vec![
            ("UPDATE_PCT", self.update_pct.into()),
            ("RUN_TIME", run_time_s.round() as u64),
            ("WORK_UNIT", self.work_unit.into()),
            ("THREADS_PER_SCHEMA", self.threads_per_schema.into()),
            ("SCALE", self.scale_blocks),
            ("DO_HOTSPOT", self.do_hotspot.into()),
            ("BUFFERS_MB", buffers_mb),
        ];
        if self.do_hotspot {
            all.extend([
                ("HOTSPOT_PCT", self.hotspot_pct.into()),
                ("HOTSPOT_MB", self.hotspot_mb),
                ("HOTSPOT_OFFSET_MB", self.hotspot_offset_mb),
            ]);
        }
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// `10000`, `80M`, `1G`.
fn blocks(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => return Some(number),
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    Some(number.checked_mul(unit)? / BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_slobs_names() {
        let mut slob = SlobConfig::default();
        for (key, value) in [("SCALE", "80M"), ("DO_HOTSPOT", "true"), ("THREADS_PER_SCHEMA", "2"), ("RUN_TIME", "3")] {
            slob.set(key, value).unwrap();
        }
        assert_eq!((slob.scale_blocks, slob.do_hotspot, slob.tables(5)), (10_240, true, 3));
        slob.validate().unwrap();
        slob.set("HOTSPOT_OFFSET_MB", "79").unwrap();
        assert!(slob.validate().unwrap_err().contains("does not lie within a table of 10240 blocks"));
        assert!(slob.set("SCALE", "80X").is_err());
        assert!(slob.set("UPDATE", "1").unwrap_err().contains("UPDATE_PCT"));
        slob.set("WORK_UNIT", "0").unwrap();
        assert_eq!(slob.validate().unwrap_err(), "WORK_UNIT is 0: must be 1 to 10000");
    }
}
