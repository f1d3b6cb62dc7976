//! Pacing: each host write earns a number of relocations.
//!
//! Cleaning a victim with `v` valid sectors in a band of `n` gains `n - v` sectors of free space, so in steady state
//! each host sector must pay for `v / (n - v)` relocations. The pace is this number times a proportional control around
//! the target of free space: the control is 2 when free space is at half of the target, and 0 when it is half above.
//! Free space is counted smoothly (room of open bands, progress in the victim), so a band that comes free all at once
//! does not jerk the pace.

/// The relocations that host writes have earned.
#[derive(Clone, Debug)]
pub struct Pacing {
    target_bands: f64,
    /// The number of sectors that may be relocated now.
    credit: f64,
    /// The credit that each host sector earns.
    rate: f64,
    /// A sector, in what credit counts: 1, or its granules.
    sector: f64,
}

/// The control's gain: pace = 1 + GAIN * (target - free) / target. 2 brings free space back within about half the
/// target's worth of host writes without overshooting, since what it controls (free space) integrates the pace.
const GAIN: f64 = 2.0;
/// The pace never exceeds this multiple of what the steady state needs.
const MAX_PACE: f64 = 4.0;

impl Pacing {
    /// A control that holds this many bands free, and counts a sector as so much.
    pub fn new(target_bands: u32, sector: u32) -> Pacing {
        Pacing { target_bands: f64::from(target_bands), credit: 0.0, rate: 0.0, sector: f64::from(sector) }
    }

    /// Adds the credit of a host sector that was written.
    #[inline]
    pub fn earn(&mut self) {
        self.credit += self.rate;
    }

    /// Adds the credit of padding, which takes free space as sectors of the host do, or of so many granules of the host.
    #[inline]
    pub fn earn_by(&mut self, sectors: u32) {
        self.credit += self.rate * f64::from(sectors);
    }

    /// Takes off the credit of sectors that are relocated.
    #[inline]
    pub fn spend(&mut self, sectors: u32) {
        self.credit -= f64::from(sectors);
    }

    /// Whether a relocation is due.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.credit >= self.sector
    }

    /// Sets the pace for a victim of `valid` sectors whose cleaning gains `gain` sectors, while `free_bands` are free.
    pub fn adjust(&mut self, valid: u32, gain: u32, free_bands: f64) {
        let pace = 1.0 + GAIN * (self.target_bands - free_bands) / self.target_bands;
        // An empty victim needs no relocation; one sector keeps the scan through it moving.
        self.rate = pace.clamp(0.0, MAX_PACE) * f64::from(valid).max(self.sector) / f64::from(gain).max(self.sector);
        // The control makes up for credit that was not worked off; a later burst would cost latency.
        let most = f64::from(valid).max(64.0 * self.sector);
        self.credit = self.credit.clamp(-most, most);
    }

    /// The free space that the control aims at, in bands.
    pub fn target_bands(&self) -> f64 {
        self.target_bands
    }

    /// The free space at which cleaning stops, in bands.
    pub fn ceiling_bands(&self) -> f64 {
        self.target_bands * (1.0 + 1.0 / GAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_what_the_steady_state_needs_at_the_target_and_nothing_at_the_ceiling() {
        let mut pacing = Pacing::new(4, 1);
        pacing.adjust(58, 42, 4.0);
        assert!((pacing.rate - 58.0 / 42.0).abs() < 1e-12);
        pacing.adjust(58, 42, 2.0);
        assert!((pacing.rate - 2.0 * 58.0 / 42.0).abs() < 1e-12);
        pacing.adjust(58, 42, pacing.ceiling_bands());
        assert_eq!(pacing.rate, 0.0);
    }
}
