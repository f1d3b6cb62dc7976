//! Time of the arm's movement.
//!
//! A short seek is dominated by acceleration and takes `a + b * sqrt(distance)`; a long one coasts at full speed and
//! takes `c + d * distance` (Ruemmler and Wilkes 1994). The two meet at a third of the stroke, where
//! data sheets state their average: a third of the stroke is the mean distance between two random tracks.
//!
//! Invariants: the curve goes through the three stated points, and a longer seek never takes less time.

/// The seek curve of a disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeekCurve {
    track_ns: f64,
    root_ns: f64,
    knee_tracks: f64,
    average_ns: f64,
    linear_ns: f64,
}

impl SeekCurve {
    /// Through `track_ns` at one track, `average_ns` at a third of `stroke_tracks`, `full_ns` at all of it.
    pub fn new(track_ns: u64, average_ns: u64, full_ns: u64, stroke_tracks: u64) -> SeekCurve {
        // A disk of a few tracks has no third of a stroke worth the name; 2 keeps the fit finite.
        let knee_tracks = (stroke_tracks as f64 / 3.0).max(2.0);
        let long_tracks = (stroke_tracks as f64 - knee_tracks).max(1.0);
        SeekCurve {
            track_ns: track_ns as f64,
            root_ns: (average_ns - track_ns) as f64 / (knee_tracks.sqrt() - 1.0),
            knee_tracks,
            average_ns: average_ns as f64,
            linear_ns: (full_ns - average_ns) as f64 / long_tracks,
        }
    }

    /// Time to move over `tracks`; 0 for none. Only IEEE operations: the same on every platform.
    #[inline]
    pub fn ns(&self, tracks: u64) -> u64 {
        if tracks == 0 {
            return 0;
        }
        let tracks = tracks as f64;
        let ns = if tracks <= self.knee_tracks {
            self.track_ns + self.root_ns * (tracks.sqrt() - 1.0)
        } else {
            self.average_ns + self.linear_ns * (tracks - self.knee_tracks)
        };
        ns.round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_through_the_data_sheet() {
        let curve = SeekCurve::new(200_000, 3_500_000, 7_000_000, 300_000);
        assert_eq!(curve.ns(0), 0);
        assert_eq!(curve.ns(1), 200_000);
        assert_eq!(curve.ns(100_000), 3_500_000);
        assert_eq!(curve.ns(300_000), 7_000_000);
    }

    #[test]
    fn a_longer_seek_never_takes_less() {
        for stroke in [1, 2, 5, 100, 300_000] {
            let curve = SeekCurve::new(200_000, 3_500_000, 7_000_000, stroke);
            let step = (stroke / 1_000).max(1);
            let times: Vec<u64> = (0..=stroke).step_by(step as usize).map(|d| curve.ns(d)).collect();
            assert!(times.is_sorted(), "stroke {stroke}");
        }
    }
}
