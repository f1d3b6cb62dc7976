//! The capacitors that keep a card alive when power fails.

/// The energy of a card without power, and how fast the card spends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacitors {
    /// Energy that can be used, in microjoules.
    pub energy_uj: u64,
    /// Power of the card while it puts its buffer on flash, in microwatts.
    pub drain_uw: u64,
}

impl Capacitors {
    /// Time that the energy lasts.
    pub fn hold_up_ns(&self) -> u64 {
        let ns = u128::from(self.energy_uj) * 1_000_000_000 / u128::from(self.drain_uw.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}
