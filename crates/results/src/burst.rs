//! Writing front to back as fast as a device takes it, from empty on and again after pauses: where a cache of faster
//! cells shows, how much it holds, and how fast it comes free.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bursts of sequential writes, the first into an emptied device. Amounts and times are those of a whole device: a smaller
/// model's are multiplied by what the device is larger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BurstReport {
    /// Title of the phase that wrote the bursts.
    pub title: String,
    /// Parameters of the load, each under its own name.
    pub load: Value,
    /// In the order in which they were written.
    pub bursts: Vec<Burst>,
}

impl BurstReport {
    /// The first one, into an emptied device.
    pub fn first(&self) -> Option<&Burst> {
        self.bursts.first()
    }

    /// Returns the pace of one of its bursts, fast and after that, held against the first one that fell.
    ///
    /// A burst after a pause may be over, or fall, before there are rows enough to find a cliff in it: what counts as fast
    /// is known from the others.
    pub fn pace(&self, burst: &Burst) -> Pace {
        let Some(known) = self.bursts.iter().find_map(|burst| burst.cliff) else {
            return Pace { fast_bytes: burst.bytes, fast_bw_bytes: Some(burst.bw_bytes()), slow_bw_bytes: None };
        };
        // In the middle of both levels, on the scale on which one is a multiple of the other.
        let border = (known.before_bw_bytes * known.after_bw_bytes).sqrt();
        if let Some(cliff) = burst.cliff.filter(|cliff| cliff.before_bw_bytes > border) {
            let (fast, slow) = (cliff.before_bw_bytes, cliff.after_bw_bytes);
            return Pace { fast_bytes: cliff.bytes, fast_bw_bytes: Some(fast), slow_bw_bytes: Some(slow) };
        }
        if burst.bw_bytes() > border {
            return Pace { fast_bytes: burst.bytes, fast_bw_bytes: Some(burst.bw_bytes()), slow_bw_bytes: None };
        }
        let fast = burst.rows.iter().take_while(|row| row.bw_bytes > border).count();
        let mean = |from: usize, to: usize| {
            let bytes_at = |row: usize| row.checked_sub(1).map_or(0.0, |last| burst.rows[last].bytes as f64);
            let seconds = |row: usize| (bytes_at(row + 1) - bytes_at(row)) / burst.rows[row].bw_bytes;
            (from < to).then(|| (bytes_at(to) - bytes_at(from)) / (from..to).map(seconds).sum::<f64>())
        };
        let fast_bytes = fast.checked_sub(1).map_or(0, |last| burst.rows[last].bytes);
        Pace { fast_bytes, fast_bw_bytes: mean(0, fast), slow_bw_bytes: mean(fast, burst.rows.len()) }
    }
}

/// The pace of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Bytes that went fast: all, where throughput never fell.
    pub fast_bytes: u64,
    /// Bytes a second of those, where there are any.
    pub fast_bw_bytes: Option<f64>,
    /// Bytes a second of the others, where there are any.
    pub slow_bw_bytes: Option<f64>,
}

/// Figures of one burst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// Seconds before it in which nothing was asked; 0: the device had been emptied.
    pub idle_s: f64,
    /// Bytes that the burst has written.
    pub bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Throughput against bytes written.
    pub rows: Vec<BurstRow>,
    /// Point at which throughput fell and stayed low; absent where it did not.
    pub cliff: Option<Cliff>,
}

impl Burst {
    /// Bytes a second over all of it.
    pub fn bw_bytes(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }
}

/// A part of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BurstRow {
    /// Bytes written since the burst began, at the row's end.
    pub bytes: u64,
    /// Bytes a second in the row.
    pub bw_bytes: f64,
}

/// The point at which throughput fell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// Bytes written fast until then.
    pub bytes: u64,
    /// Bytes a second before.
    pub before_bw_bytes: f64,
    /// Bytes a second after.
    pub after_bw_bytes: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A burst in rows of a gigabyte, so many of them at 2 GB/s and the rest at a tenth of that.
    fn burst(fast: u64, rows: u64, cliff: bool) -> Burst {
        let bw = |i: u64| if i <= fast { 2e9 } else { 2e8 };
        let rows: Vec<BurstRow> = (1..=rows).map(|i| BurstRow { bytes: i << 30, bw_bytes: bw(i) }).collect();
        let bytes = rows.last().unwrap().bytes;
        let seconds = rows.iter().map(|row| (1u64 << 30) as f64 / row.bw_bytes).sum();
        let cliff = cliff.then_some(Cliff { bytes: fast << 30, before_bw_bytes: 2e9, after_bw_bytes: 2e8 });
        Burst { idle_s: 1.0, bytes, seconds, rows, cliff }
    }

    #[test]
    fn what_is_fast_after_a_pause_is_known_from_the_burst_that_fell() {
        let report = |bursts: &[Burst]| BurstReport { bursts: bursts.to_vec(), ..BurstReport::default() };
        let first = burst(30, 100, true);
        let (nothing, little, much) = (burst(0, 50, false), burst(2, 50, false), burst(20, 20, false));
        let all = report(&[first.clone(), nothing.clone(), little.clone(), much.clone()]);
        let near = |found: Option<f64>, bw: f64| (found.unwrap() / bw - 1.0).abs() < 1e-6;
        let pace = all.pace(&first);
        assert!(pace.fast_bytes == 30 << 30 && near(pace.fast_bw_bytes, 2e9) && near(pace.slow_bw_bytes, 2e8));
        let pace = all.pace(&nothing);
        assert!(pace.fast_bytes == 0 && pace.fast_bw_bytes.is_none() && near(pace.slow_bw_bytes, 2e8), "{pace:?}");
        let pace = all.pace(&little);
        assert!(pace.fast_bytes == 2 << 30 && near(pace.fast_bw_bytes, 2e9) && near(pace.slow_bw_bytes, 2e8));
        let pace = all.pace(&much);
        assert!(pace.fast_bytes == 20 << 30 && near(pace.fast_bw_bytes, 2e9) && pace.slow_bw_bytes.is_none());
        // Without any that fell, even a slow one is as fast as it gets.
        let pace = report(std::slice::from_ref(&nothing)).pace(&nothing);
        assert!(pace.fast_bytes == 50 << 30 && near(pace.fast_bw_bytes, 2e8) && pace.slow_bw_bytes.is_none());
    }
}
