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
    /// The numbers of SNIA's rule.
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
    SteadyState { rounds: rounds.to_vec(), range, slope, attained, overwriting: None }
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

    #[test]
    fn at_its_borders_the_rule_holds_and_beyond_them_it_does_not() {
        let attained = |rounds: [f64; 5]| steady_state(&rounds, &SteadyRule::SNIA).attained;
        // A range of exactly 20 % of the mean, without slope, and a hair more.
        assert!(attained([110.0, 90.0, 100.0, 90.0, 110.0]));
        assert!(!attained([110.001, 90.0, 99.999, 90.0, 110.0]));
        // A line that rises by exactly 10 % of the mean over the window, and a hair more.
        assert!(attained([95.0, 97.5, 100.0, 102.5, 105.0]));
        assert!(!attained([94.999, 97.5, 100.0, 102.5, 105.001]));
        // Falling is as bad as rising, and the order of rounds decides about the slope only.
        assert!(!attained([105.001, 102.5, 100.0, 97.5, 94.999]));
        assert!(attained([105.001, 94.999, 100.0, 97.5, 102.5]));
        // The scale of what is measured changes nothing.
        for factor in [1e-9, 1.0, 1e12] {
            assert!(attained([110.0, 90.0, 100.0, 90.0, 110.0].map(|x| x * factor)));
            assert!(!attained([111.0, 90.0, 100.0, 90.0, 110.0].map(|x| x * factor)));
        }
    }

    #[test]
    fn only_the_last_five_rounds_count_and_fewer_never_do() {
        let rule = SteadyRule::SNIA;
        for n in 0..5 {
            assert!(!steady_state(&vec![100.0; n], &rule).attained, "{n} rounds");
        }
        let rounds: Vec<f64> = (0..20).map(|i| 1000.0 - 40.0 * f64::from(i)).chain([100.0; 5]).collect();
        assert!(steady_state(&rounds, &rule).attained);
        assert!(!steady_state(&rounds[..rounds.len() - 1], &rule).attained);
    }

    /// fio's `steadystate=iops:20%`: no value of the window is further than 20 % from its mean.
    fn fio_mean_deviation(window: &[f64], limit: f64) -> bool {
        let mean = window.iter().sum::<f64>() / window.len() as f64;
        window.iter().all(|x| (x - mean).abs() <= limit * mean)
    }

    #[test]
    fn a_drive_that_still_gets_faster_is_not_steady_whatever_another_rule_says() {
        // Requests a second of a drive on its way up. Each is within 20 % of the mean, so fio would stop here; the range
        // is 30 % of the mean, and so is the rise of the line.
        let iops = [46_110.0, 48_031.0, 56_068.0, 56_529.0, 62_172.0];
        assert!(fio_mean_deviation(&iops, 0.20));
        let state = steady_state(&iops, &SteadyRule::SNIA);
        assert!(!state.attained);
        assert!((state.range - 0.2987).abs() < 1e-4, "{}", state.range);
        assert!((state.slope - 0.3021).abs() < 1e-4, "{}", state.slope);
    }
}
