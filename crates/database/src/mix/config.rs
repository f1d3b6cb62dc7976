//! The parameters of the mix.

use crate::parameters::{whole_number, within};

/// Parameters of the mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixConfig {
    /// Transactions that select, percent.
    pub select_percent: u32,
    /// Transactions that insert, percent; the rest updates.
    pub insert_percent: u32,
    /// Range scans of a selecting transaction.
    pub scans: u32,
    /// Rows that a scan returns, each on a page of its own.
    pub rows: u32,
    /// Sleep of a session after each transaction, microseconds.
    pub think_us: u64,
}

impl Default for MixConfig {
    /// The modelled load's: eight pages of a select are a leaf of the index and seven pages of rows.
    fn default() -> MixConfig {
        MixConfig { select_percent: 80, insert_percent: 10, scans: 1, rows: 7, think_us: 0 }
    }
}

impl MixConfig {
    const KEYS: &str = "SELECT_PCT, INSERT_PCT, SCANS, ROWS, THINK_US";

    /// Sets a parameter by its name.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number: u32 = whole_number(key, value)?;
        match key {
            "SELECT_PCT" => self.select_percent = number,
            "INSERT_PCT" => self.insert_percent = number,
            "SCANS" => self.scans = number,
            "ROWS" => self.rows = number,
            "THINK_US" => self.think_us = number.into(),
            _ => return Err(format!("{key}: the mix has {}", MixConfig::KEYS)),
        }
        Ok(())
    }

    pub(crate) fn validate(&self) -> Result<(), String> {
        within("SELECT_PCT", self.select_percent.into(), 0, 100)?;
        within("INSERT_PCT", self.insert_percent.into(), 0, u64::from(100 - self.select_percent))?;
        within("SCANS", self.scans.into(), 1, 100)?;
        within("ROWS", self.rows.into(), 1, 1_000)?;
        within("THINK_US", self.think_us, 0, 60_000_000)
    }

    /// Kinds with a share, in the order of the scripts.
    pub(crate) fn kinds(&self) -> Vec<(&'static str, u32)> {
        let update_percent = 100 - self.select_percent - self.insert_percent;
        [("select", self.select_percent), ("insert", self.insert_percent), ("update", update_percent)]
            .into_iter()
            .filter(|(_, percent)| *percent > 0)
            .collect()
    }

    /// pgbench's script of a kind.
    pub(crate) fn script(&self, kind: &str) -> String {
        let keys = super::KEYS;
        let mut script = String::new();
        match kind {
            "select" => {
                for scan in 0..self.scans {
                    script += &format!("\\set k{scan} random(0, {})\n", keys - 1);
                    let rows = self.rows;
                    script += &format!("SELECT id, v, pad FROM mix WHERE k >= :k{scan} ORDER BY k LIMIT {rows};\n");
                }
            }
            "insert" => {
                script += &format!("\\set k random(0, {})\n", keys - 1);
                script += "INSERT INTO mix (k, v, pad) VALUES (:k, 0, repeat(md5(:k::text), 6));\n";
            }
            _ => {
                script += "\\set id random(1, :rows)\n";
                script += "UPDATE mix SET v = v + 1 WHERE id = :id;\n";
            }
        }
        if self.think_us > 0 {
            script += &format!("\\sleep {} us\n", self.think_us);
        }
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_set_by_name_and_checked() {
        let mut mix = MixConfig::default();
        mix.set("THINK_US", "1500").unwrap();
        mix.set("SCANS", "6").unwrap();
        assert_eq!((mix.think_us, mix.scans), (1500, 6));
        assert!(mix.set("ROW", "1").unwrap_err().contains("ROWS"));
        assert_eq!(mix.set("ROWS", "x").unwrap_err(), "ROWS=x: no whole number");
        mix.set("INSERT_PCT", "30").unwrap();
        assert_eq!(mix.validate().unwrap_err(), "INSERT_PCT is 30: must be 0 to 20");
    }

    #[test]
    fn the_default_is_eighty_to_twenty_of_the_models_pages() {
        let (mix, model) = (MixConfig::default(), load::OltpConfig::default());
        assert_eq!(f64::from(mix.select_percent), model.select_percent);
        assert_eq!(f64::from(mix.insert_percent), model.insert_percent);
        assert_eq!(mix.scans * (mix.rows + 1), model.pages_per_select);
        assert_eq!(mix.think_us * 1_000, model.think_ns);
        assert_eq!(mix.kinds(), [("select", 80), ("insert", 10), ("update", 10)]);
    }
}
