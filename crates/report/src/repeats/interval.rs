//! A figure of repeats, or the ratio of two, with the interval that holds it in 95 of 100 such comparisons.

use super::student::two_sided;
use crate::devices::positive;

/// The share of intervals that hold what is true.
pub const CONFIDENCE: f64 = 0.95;

/// A ratio or a figure, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The middle: a geometric mean, or the ratio of two.
    pub value: f64,
    /// Ends of its interval of confidence; none where nothing was repeated.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// The lowest and the highest that it may be; itself where nothing was repeated.
    pub fn ends(self) -> (f64, f64) {
        self.interval.unwrap_or((self.value, self.value))
    }

    /// Where the smaller of two figures is the better one, a ratio is the other way round.
    pub fn inverted(self) -> Estimate {
        Estimate { value: 1.0 / self.value, interval: self.interval.map(|(low, high)| (1.0 / high, 1.0 / low)) }
    }

    fn of(mean: f64, error: f64, freedom: f64) -> Estimate {
        // Repeats that are the same to the last digit leave no doubt, and no degrees of freedom either.
        let reach = if error > 0.0 { two_sided(CONFIDENCE, freedom) * error } else { 0.0 };
        Estimate { value: mean.exp(), interval: Some(((mean - reach).exp(), (mean + reach).exp())) }
    }
}

/// Logarithms of a side's figures.
struct Logs {
    n: f64,
    mean: f64,
    /// Variance of the sample; 0 for one figure.
    variance: f64,
}

impl Logs {
    /// None where there is no figure above 0.
    fn of(values: &[f64]) -> Option<Logs> {
        let logs: Vec<f64> = values.iter().filter_map(|&value| positive(value)).map(f64::ln).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let squares = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        let same = logs.windows(2).all(|pair| pair[0] == pair[1]);
        let variance = if same { 0.0 } else { squares / (n - 1.0) };
        (n > 0.0).then_some(Logs { n, mean, variance })
    }
}

/// The geometric mean of the figures above 0; one alone is itself.
pub fn middle(values: &[f64]) -> Option<f64> {
    match values {
        [only] => Some(*only),
        _ => Logs::of(values).map(|logs| logs.mean.exp()),
    }
}

/// How high a side is.
pub fn level(values: &[f64]) -> Option<Estimate> {
    let logs = Logs::of(values)?;
    if logs.n < 2.0 {
        return Some(Estimate { value: middle(values)?, interval: None });
    }
    Some(Estimate::of(logs.mean, (logs.variance / logs.n).sqrt(), logs.n - 1.0))
}

/// How many times the first side's figure the other's is.
pub fn ratio(first: &[f64], other: &[f64]) -> Option<Estimate> {
    let (a, b) = (Logs::of(first)?, Logs::of(other)?);
    let difference = b.mean - a.mean;
    let of_mean = |logs: &Logs| logs.variance / logs.n;
    Some(match (a.n > 1.0, b.n > 1.0) {
        (false, false) => Estimate { value: middle(other)? / middle(first)?, interval: None },
        (true, true) => {
            let (va, vb) = (of_mean(&a), of_mean(&b));
            let freedom = (va + vb).powi(2) / (va * va / (a.n - 1.0) + vb * vb / (b.n - 1.0));
            Estimate::of(difference, (va + vb).sqrt(), freedom)
        }
        (repeated, _) => {
            let of = if repeated { &a } else { &b };
            Estimate::of(difference, (of.variance * (1.0 + 1.0 / of.n)).sqrt(), of.n - 1.0)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Estimate, value: f64, low: f64, high: f64) {
        let ends = found.interval.unwrap();
        for (found, wanted) in [(found.value, value), (ends.0, low), (ends.1, high)] {
            assert!((found / wanted - 1.0).abs() < 1e-6, "{found}, not {wanted}");
        }
    }

    /// Figures whose logarithms are Welch's example of unequal variances, computed by hand: means 1 and 2, variances of
    /// the means 1/3 and 4/3, so 2.94 degrees of freedom.
    #[test]
    fn a_ratio_of_repeats_has_the_interval_of_welch() {
        let exp = |logs: [f64; 3]| logs.map(f64::exp);
        let found = ratio(&exp([0.0, 1.0, 2.0]), &exp([0.0, 2.0, 4.0])).unwrap();
        let freedom = (5.0_f64 / 3.0).powi(2) / ((1.0 / 9.0 + 16.0 / 9.0) / 2.0);
        assert!((freedom - 2.941_176).abs() < 1e-6);
        // The quantile has its own oracle; here it must be that of a little less than 3 degrees of freedom, 3.182.
        let t = two_sided(CONFIDENCE, freedom);
        assert!(t > 3.182 && t < 3.30, "{t}");
        let reach = t * (5.0_f64 / 3.0).sqrt();
        near(found, 1.0_f64.exp(), (1.0 - reach).exp(), (1.0 + reach).exp());
        near(found.inverted(), (-1.0_f64).exp(), (-1.0 - reach).exp(), (reach - 1.0).exp());
    }

    #[test]
    fn a_side_that_was_measured_once_is_taken_to_scatter_as_the_other() {
        let found = ratio(&[0.0, 1.0, 2.0].map(f64::exp), &[3.0_f64.exp()]).unwrap();
        // Variance 1 of three: sqrt(1 + 1/3) = 1.1547, t of 2 degrees of freedom 4.302653.
        let reach = 4.302_652_729_7 * (4.0_f64 / 3.0).sqrt();
        near(found, 2.0_f64.exp(), (2.0 - reach).exp(), (2.0 + reach).exp());
        let other_way = ratio(&[3.0_f64.exp()], &[0.0, 1.0, 2.0].map(f64::exp)).unwrap();
        near(other_way.inverted(), 2.0_f64.exp(), (2.0 - reach).exp(), (2.0 + reach).exp());
    }

    #[test]
    fn without_repeats_there_is_no_interval_and_with_equal_ones_no_doubt() {
        assert_eq!(ratio(&[100.0], &[110.0]).unwrap(), Estimate { value: 1.1, interval: None });
        near(ratio(&[100.0; 3], &[100.0; 3]).unwrap(), 1.0, 1.0, 1.0);
        near(ratio(&[100.0; 3], &[150.0; 2]).unwrap(), 1.5, 1.5, 1.5);
        assert_eq!(ratio(&[], &[1.0]), None);
        assert_eq!(ratio(&[1.0], &[0.0, -1.0, f64::NAN]), None);
        assert_eq!(level(&[5.0]).unwrap(), Estimate { value: 5.0, interval: None });
        near(level(&[5.0; 4]).unwrap(), 5.0, 5.0, 5.0);
    }

    /// The promise of the interval, tried: of many comparisons of equal things, 95 in 100 hold "no difference".
    #[test]
    fn intervals_hold_what_is_true_as_often_as_they_say() {
        let mut state = 7_u64;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        let mut normal = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        for (first, other, scatter) in [(3, 3, 1.0), (5, 5, 1.0), (3, 8, 4.0), (5, 1, 1.0)] {
            let held = (0..4_000)
                .filter(|_| {
                    let a: Vec<f64> = (0..first).map(|_| (0.1 * normal()).exp()).collect();
                    let b: Vec<f64> = (0..other).map(|_| (0.1 * scatter * normal()).exp()).collect();
                    let (low, high) = ratio(&a, &b).unwrap().ends();
                    low <= 1.0 && 1.0 <= high
                })
                .count() as f64
                / 4_000.0;
            assert!((0.935..=0.975).contains(&held), "{first} against {other}: {held}");
        }
    }
}
