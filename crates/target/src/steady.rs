//! When is a device in steady state?

use results::SteadyState;

/// The rule of the SNIA Solid State Storage Performance Test Specification: over the last five rounds, the range is at
/// most 20 % of their mean, and the line fitted through them rises or falls by at most 10 % of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyRule {
    /// Rounds that are looked at.
    pub window: usize,
    /// Largest range over mean.
    pub max_range: f64,
    /// Largest excursion of the fitted line over mean.
    pub max_slope: f64,
    /// Rounds after which it is given up.
    pub max_rounds: usize,
}

impl SteadyRule {
    /// SNIA's numbers.
    pub const SNIA: SteadyRule = SteadyRule { window: 5, max_range: 0.20, max_slope: 0.10, max_rounds: 25 };
}

/// Applies the rule to the rounds so far. Fewer rounds than the window never attain it.
pub fn steady_state(rounds: &[f64], rule: &SteadyRule) -> SteadyState {
    let last = &rounds[rounds.len().saturating_sub(rule.window)..];
    let n = last.len() as f64;
    let mean = last.iter().sum::<f64>() / n;
    let (range, slope) = if last.len() < 2 || mean <= 0.0 {
        (0.0, 0.0)
    } else {
        let max = last.iter().copied().fold(f64::MIN, f64::max);
        let min = last.iter().copied().fold(f64::MAX, f64::min);
        let mean_x = (n - 1.0) / 2.0;
        let covariance: f64 = last.iter().enumerate().map(|(x, y)| (x as f64 - mean_x) * (y - mean)).sum();
        let variance: f64 = (0..last.len()).map(|x| (x as f64 - mean_x).powi(2)).sum();
        ((max - min) / mean, (covariance / variance).abs() * (n - 1.0) / mean)
    };
    let attained = last.len() == rule.window && mean > 0.0 && range <= rule.max_range && slope <= rule.max_slope;
    SteadyState { rounds: rounds.to_vec(), range, slope, attained }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_looks_at_range_and_slope_of_the_last_five() {
        let rule = SteadyRule::SNIA;
        assert!(!steady_state(&[100.0; 4], &rule).attained);
        assert!(steady_state(&[500.0, 100.0, 101.0, 99.0, 100.0, 100.0], &rule).attained);
        // A steady fall of 3 % a round: range 12 %, excursion of the line 12 %.
        let falling = steady_state(&[106.0, 103.0, 100.0, 97.0, 94.0], &rule);
        assert!((falling.range - 0.12).abs() < 1e-12 && (falling.slope - 0.12).abs() < 1e-12);
        assert!(!falling.attained);
        // A range of 24 % without slope.
        assert!(!steady_state(&[100.0, 112.0, 88.0, 112.0, 100.0], &rule).attained);
        assert!(!steady_state(&[0.0; 5], &rule).attained);
    }
}
