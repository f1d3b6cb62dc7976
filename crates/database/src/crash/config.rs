//! Parameters of the power cuts.

/// Complaints that are kept of a cycle.
pub(super) const MAX_COMPLAINTS: usize = 10;

/// Parameters of the power cuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrashConfig {
    /// Number of power cuts.
    pub cycles: u32,
    /// Number of committing sessions.
    pub sessions: u32,
    /// Rows that each session changes at random.
    pub rows: u32,
    /// Seconds of load before each cut.
    pub load_s: f64,
}

impl Default for CrashConfig {
    fn default() -> CrashConfig {
        CrashConfig { cycles: 3, sessions: 8, rows: 4_000, load_s: 10.0 }
    }
}

impl CrashConfig {
    /// Returns the bytes of data on the device, with room for old versions.
    pub(crate) fn data_bytes(&self) -> u64 {
        u64::from(self.sessions) * u64::from(self.rows) * 3 * 1_200 + (64 << 20)
    }

    pub(crate) fn validate(&self) -> Result<(), String> {
        if self.cycles == 0 || self.cycles > 1_000 {
            return Err(format!("--cycles {}: must be 1 to 1000", self.cycles));
        }
        Ok(())
    }
}
