//! The points that choices are judged by, and how two cards are compared.

use crate::fit::observation::Observation;

/// Points, as all choices are held against them.
pub(crate) struct Chooser<'a> {
    pub points: &'a [&'a Observation],
    pub owned: &'a [Observation],
    pub fit_host: bool,
}

/// Returns how much less likely a card with one loss is than one with another: twice the difference of the logarithms.
pub(crate) fn difference(of: f64, than: f64, figures: usize) -> f64 {
    let n = figures as f64;
    let twice = |loss: f64| if loss < n { loss } else { n + n * (loss / n).ln() };
    twice(of) - twice(than)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_loss_counts_less_where_nothing_fits() {
        assert_eq!(difference(30.0, 20.0, 40), 10.0);
        assert!((difference(80.0, 40.0, 40) - 40.0 * 2.0_f64.ln()).abs() < 1e-12);
        assert!(difference(410.0, 400.0, 40) < 1.0);
        assert!(difference(45.0, 35.0, 40) > 9.0);
    }
}
