//! Throughput of a device as it fills up, against the emptiest point.

use results::Sweep;

/// Throughput at a share in use over that of the emptiest measured point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Wanted share in use, percent.
    pub wanted: f64,
    /// Share at which it was measured; the same as `wanted` where it is interpolated.
    pub x: f64,
    /// Bytes a second.
    pub bw_bytes: f64,
    /// Over the emptiest point.
    pub ratio: f64,
    /// Between two measured points, not measured.
    pub interpolated: bool,
}

/// Shares that reviewers look at: a third, half, two thirds, full.
pub const WANTED: [f64; 4] = [100.0 / 3.0, 50.0, 200.0 / 3.0, 100.0];

/// A measured point this near to the wanted one stands for it, percentage points.
const NEAR: f64 = 2.0;

/// The emptiest point's share in use, and the ratios that the sweep can give; none without two points.
pub fn ratios(sweep: &Sweep) -> Option<(f64, Vec<Ratio>)> {
    let mut points: Vec<(f64, f64)> = sweep.points.iter().map(|p| (p.x, p.bw_bytes())).collect();
    points.retain(|(x, bw)| x.is_finite() && bw.is_finite());
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let &(emptiest, base) = points.first().filter(|_| points.len() > 1)?;
    if base <= 0.0 {
        return None;
    }
    let ratios = WANTED.iter().filter_map(|&wanted| {
        let nearest = points.iter().min_by(|a, b| (a.0 - wanted).abs().total_cmp(&(b.0 - wanted).abs()))?;
        let (x, bw_bytes, interpolated) = if (nearest.0 - wanted).abs() < NEAR {
            (nearest.0, nearest.1, false)
        } else {
            let pair = points.windows(2).find(|p| p[0].0 <= wanted && wanted <= p[1].0)?;
            let share = (wanted - pair[0].0) / (pair[1].0 - pair[0].0);
            (wanted, pair[0].1 + share * (pair[1].1 - pair[0].1), true)
        };
        Some(Ratio { wanted, x, bw_bytes, ratio: bw_bytes / base, interpolated })
    });
    Some((emptiest, ratios.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::{Axis, IoClass, Point};

    fn sweep(points: &[(f64, f64)]) -> Sweep {
        let point = |&(x, bw_bytes): &(f64, f64)| Point {
            x,
            write: IoClass { bw_bytes, ..IoClass::default() },
            ..Point::default()
        };
        Sweep {
            name: "fill".into(),
            phase: "fill".into(),
            title: String::new(),
            note: String::new(),
            axis: Axis::FillPercent,
            points: points.iter().map(point).collect(),
        }
    }

    #[test]
    fn near_points_are_taken_and_others_interpolated_never_extrapolated() {
        let (emptiest, ratios) =
            ratios(&sweep(&[(20.0, 1000.0), (32.0, 900.0), (60.0, 600.0), (90.0, 300.0)])).unwrap();
        assert_eq!(emptiest, 20.0);
        assert_eq!(ratios.len(), 3, "full is beyond the last point");
        assert_eq!((ratios[0].x, ratios[0].ratio, ratios[0].interpolated), (32.0, 0.9, false));
        assert!(ratios[1].interpolated && (ratios[1].bw_bytes - (900.0 - 300.0 * 18.0 / 28.0)).abs() < 1e-9);
        assert!(ratios[2].interpolated);
    }

    #[test]
    fn one_point_or_none_gives_no_ratio() {
        assert_eq!(ratios(&sweep(&[])), None);
        assert_eq!(ratios(&sweep(&[(20.0, 1.0)])), None);
        assert_eq!(ratios(&sweep(&[(20.0, 0.0), (100.0, 1.0)])), None);
    }
}
