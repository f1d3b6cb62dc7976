//! A drive's health around a review: SMART data before and after, its temperature meanwhile.

use identify::{Identity, Thermometer};
use results::{DriveSmart, HealthReport, Temperature};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two looks at the thermometer.
const EVERY: Duration = Duration::from_secs(5);
/// Most temperatures that a result holds: of a longer review every second one is dropped.
const MOST: usize = 1_000;

/// A watch over a drive.
pub struct DriveWatch {
    node: PathBuf,
    before: Option<DriveSmart>,
    warning_c: Option<i64>,
    end: Sender<()>,
    samples: JoinHandle<Vec<Temperature>>,
}

impl DriveWatch {
    /// Begins to watch the one disk below a target; none where there are several, or none.
    pub fn begin(identity: &Identity) -> Option<DriveWatch> {
        let disk = identity.disk()?;
        let node = disk.node();
        let thermometer = Thermometer::of(disk);
        let (end, ended) = mpsc::channel();
        let began = Instant::now();
        Some(DriveWatch {
            before: identify::drive_smart(&node).ok(),
            warning_c: thermometer.as_ref().and_then(Thermometer::warning_c),
            node,
            end,
            samples: thread::spawn(move || {
                let mut samples = Vec::new();
                let mut every = EVERY;
                let Some(thermometer) = thermometer else { return samples };
                loop {
                    let t_s = began.elapsed().as_secs_f64();
                    samples.extend(thermometer.celsius().map(|celsius| Temperature { t_s, celsius }));
                    if samples.len() > MOST {
                        samples = thinned(samples);
                        every *= 2;
                    }
                    if ended.recv_timeout(every) != Err(RecvTimeoutError::Timeout) {
                        return samples;
                    }
                }
            }),
        })
    }

    /// Ends the watch; none where the drive said nothing at all.
    pub fn end(self) -> Option<HealthReport> {
        drop(self.end);
        let temperatures = self.samples.join().unwrap_or_default();
        let report = HealthReport {
            before: self.before,
            after: identify::drive_smart(&self.node).ok(),
            temperatures,
            warning_c: self.warning_c,
        };
        (report != HealthReport::default()).then_some(report)
    }
}

/// Keeps the higher of each two temperatures, so that no peak is lost.
fn thinned(samples: Vec<Temperature>) -> Vec<Temperature> {
    let higher = |pair: &[Temperature]| pair.iter().copied().max_by_key(|sample| sample.celsius);
    samples.chunks(2).filter_map(higher).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_temperatures_keep_their_peaks_and_their_order() {
        let samples =
            [40, 41, 90, 42, 43].into_iter().zip(0..).map(|(celsius, t)| Temperature { t_s: f64::from(t), celsius });
        let left: Vec<(f64, i64)> = thinned(samples.collect()).into_iter().map(|s| (s.t_s, s.celsius)).collect();
        assert_eq!(left, [(1.0, 41), (2.0, 90), (4.0, 43)]);
    }
}
