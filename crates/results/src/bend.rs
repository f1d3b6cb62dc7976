//! Bends of curves against sessions.

/// A machine bends where it first reaches this share of its peak: from there on, more sessions bring no more than what
/// two measurements of the same point may differ by.
const PEAK_SHARE: f64 = 0.98;

/// The x at which a curve bends: on the straight line between the last point below [`PEAK_SHARE`] of the peak and the
/// first that has it. `points`: x and figure, by rising x.
pub fn bend(points: &[(f64, f64)]) -> Option<f64> {
    let peak = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let i = points.iter().position(|p| p.1 >= PEAK_SHARE * peak)?;
    let (x, y) = points[i];
    match i.checked_sub(1).map(|before| points[before]) {
        None => Some(x),
        Some((x0, y0)) => Some(x0 + (x - x0) * (PEAK_SHARE * peak - y0) / (y - y0)),
    }
}

#[cfg(test)]
mod tests {
    use super::bend;

    #[test]
    fn a_curve_bends_where_it_first_reaches_the_share_of_its_peak() {
        // Rises by 1 a session up to 100, then falls.
        let sessions = [1.0, 4.0, 8.0, 12.0, 16.0, 20.0, 25.0, 32.0, 48.0, 64.0, 80.0, 100.0, 128.0, 160.0];
        let points = sessions.map(|n: f64| (n, n.min(100.0) - (n - 100.0).max(0.0) / 4.0));
        assert!((bend(&points).unwrap() - 98.0).abs() < 1e-9, "{:?}", bend(&points));
        assert_eq!(bend(&sessions.map(|n| (n, 7.0))), Some(1.0));
        assert_eq!(bend(&[]), None);
    }
}
