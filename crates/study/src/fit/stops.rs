//! Cards whose writes stop while collection cleans: what shows them, and how they are modelled.
//!
//! Between two stalls nothing is collected, and writes are as fast as on an empty card. In a stall all writes that are
//! outstanding wait until a burst of bands is clean. So medians say nothing of how full the card is while throughput
//! does, and most of the time that writes wait falls to few of them: no card whose collection is paced looks like that.
//! The bytes that go through between two stalls, and the stalls' length, tell how much is cleaned at once.
//!
//! A burst is thought of in bytes, for dies and pages change what a band holds.

use crate::fit::observation::{Figure, Measured, Observation, RANKS};
use card::CardConfig;
use ftl::GcMode;
use results::IoClass;

/// Writes wait for stalls where the longest takes so many times as long as one of these percentiles …
const LONGER: f64 = 10.0;
const AT_RANKS: [f64; 2] = [95.0, 99.0];
/// … and so much of all the time that writes wait falls to those beyond it. Collection that is paced and overrun now and
/// then, as with 10 % of spare space, comes to 0.3 with many threads.
const SHARE_OF_SLOWEST: f64 = 0.35;
/// Loads of random writes that show it, at least, and of all of them one in so many: the longest of one load may have
/// waited for something that has nothing to do with flash, and collection that is paced is overrun under some where there
/// is little spare space (7 and 6 of 17 with 8 and 9 %; on cards that stop the world it is 13 to 15).
const MIN_LOADS: usize = 2;
const ONE_IN: usize = 2;
/// Noise of a longest write where that is a stall: one standard deviation, in logarithms. Stalls differ by what their
/// victims hold, and by how full the buffer is when they begin.
const LONGEST_NOISE: f64 = 0.1;
/// Bytes that are cleaned at once where no figure says.
const SOME_BYTES: f64 = 256.0 * 1024.0 * 1024.0;
/// Writes that take so much of the longest's time wait for a stall.
const PART_OF_LONGEST: f64 = 1.0 / 3.0;

/// The longest write, where it is a stall that many writes share.
pub(crate) fn longest(class: &IoClass) -> Option<Measured> {
    let lat = &class.lat_ns;
    let longest = lat.max as f64;
    let is_stall = |rank: &f64| {
        let ns = lat.at(*rank) as f64;
        ns > 0.0
            && longest >= LONGER * ns
            && lat.mean > 0.0
            && 1.0 - waited(class, *rank) / lat.mean >= SHARE_OF_SLOWEST
    };
    let measured = Measured { figure: Figure::WriteLongest, value: longest, noise: LONGEST_NOISE };
    AT_RANKS.iter().any(is_stall).then_some(measured)
}

/// Returns the part that requests below a percentile add to the mean: latency rises evenly from one known percentile to
/// the next.
fn waited(class: &IoClass, most: f64) -> f64 {
    let mut sum = 0.0;
    let mut last = (0.0, class.lat_ns.min as f64);
    for rank in RANKS.into_iter().filter(|rank| *rank <= most) {
        let ns = class.lat_ns.at(rank) as f64;
        sum += (rank - last.0) / 100.0 * (ns + last.1) / 2.0;
        last = (rank, ns);
    }
    sum
}

fn writes_at_random(point: &Observation) -> bool {
    point.condition.mode.writes() && !point.condition.mode.is_sequential()
}

/// Drops the longest writes of a device that shows stalls under a few loads only.
pub(crate) fn forget_what_is_rare(points: &mut [Observation]) {
    let random = points.iter().filter(|point| writes_at_random(point));
    let (all, stalled) = random.fold((0, 0), |(all, stalled), point| {
        (all + 1, stalled + usize::from(point.value(Figure::WriteLongest).is_some()))
    });
    if stalled < MIN_LOADS || stalled * ONE_IN < all {
        points.iter_mut().for_each(|point| point.measured.retain(|m| m.figure != Figure::WriteLongest));
    }
}

/// Returns whether the points show writes that wait for stalls.
pub(crate) fn show(points: &[Observation]) -> bool {
    points.iter().any(|point| writes_at_random(point) && point.value(Figure::WriteLongest).is_some())
}

/// Returns the bytes that are cleaned at once, from those that are written from one stall to the next: the stalls'
/// length over their share of time.
pub(crate) fn cleaned_bytes(points: &[Observation]) -> f64 {
    let of = |point: &Observation| {
        let condition = &point.condition;
        let longest = point.value(Figure::WriteLongest)?;
        let (rate, median) = (point.value(Figure::Throughput)?, point.value(Figure::WriteP50)?);
        let running = rate * median / 1e9 / (f64::from(condition.outstanding()) * f64::from(condition.block_bytes));
        let stalled = (1.0 - running).clamp(0.1, 0.9);
        (!condition.mode.reads() && writes_at_random(point)).then_some(rate * longest / 1e9 / stalled)
    };
    let mut all: Vec<f64> = points.iter().filter_map(of).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(SOME_BYTES)
}

/// Sectors that are cleaned at once, and written from one stall to the next, at least; 0 where there are no stalls.
pub(crate) fn cycle_sectors(card: &CardConfig) -> f64 {
    let GcMode::StopTheWorld { start_free_bands, stop_free_bands } = card.ftl.gc else { return 0.0 };
    let geometry = &card.nand.geometry;
    let units = f64::from(geometry.dies()) * f64::from(geometry.units_per_band());
    let data = 1.0 - f64::from(card.ftl.parity_units) / f64::from(card.ftl.stripe_width);
    f64::from(stop_free_bands - start_free_bands) * units * f64::from(geometry.sectors_per_unit()) * data
}

/// Percentiles of writes, of which `times` are the model's, on a card whose stalls are `stretch` times as long and as rare.
pub(crate) fn stretched(class: &IoClass, stretch: f64, times: [f64; RANKS.len()]) -> [f64; RANKS.len()] {
    let Some(histogram) = class.histogram.as_ref().filter(|_| stretch > 1.0) else { return times };
    let least = class.lat_ns.max as f64 * PART_OF_LONGEST;
    let stalled: u64 =
        histogram.upper_ns.iter().zip(&histogram.counts).filter(|(ns, _)| **ns as f64 > least).map(|(_, n)| n).sum();
    let in_model = stalled as f64 / histogram.total().max(1) as f64;
    let on_card = in_model / stretch / (1.0 - in_model + in_model / stretch);
    let at = |share: f64| histogram.percentile_ns(100.0 * share) as f64;
    std::array::from_fn(|i| {
        let share = RANKS[i] / 100.0;
        if share <= 1.0 - on_card {
            let of_model = share * (1.0 - in_model) / (1.0 - on_card);
            // Buckets of the histogram are wide, and what the model has at this rank is exact.
            if times[i] > least { at(of_model) } else { times[i] * at(of_model) / at(share).max(1.0) }
        } else {
            let of_stalls = (share - (1.0 - on_card)) / on_card;
            at(1.0 - in_model + in_model * of_stalls) * stretch
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::condition::Condition;
    use load::FileioMode;

    #[test]
    fn stalls_under_less_than_half_of_the_loads_are_those_of_a_paced_card_with_little_spare_space() {
        let shows = |stalled: usize| {
            let point = |i: usize| {
                let longest = Measured { figure: Figure::WriteLongest, value: 50e6, noise: LONGEST_NOISE };
                Observation {
                    file: "review".into(),
                    sweep: "writes".into(),
                    condition: Condition::random(FileioMode::RndWr, 16 << 10, 16),
                    measured: if i < stalled { vec![longest] } else { Vec::new() },
                }
            };
            let mut points: Vec<Observation> = (0..17).map(point).collect();
            forget_what_is_rare(&mut points);
            show(&points)
        };
        assert!(!shows(7), "8 % of spare space, paced");
        assert!(shows(13), "writes stop");
    }

    #[test]
    fn few_very_slow_writes_are_stalls_and_a_slow_tenth_is_none() {
        let class = |slow: u64, slow_ns: u64| {
            let mut latency = results::LatencyRecorder::new();
            (0..10_000).for_each(|i| latency.record(if i < slow { slow_ns } else { 100_000 }));
            IoClass { total_ios: 10_000, lat_ns: latency.summary(), ..IoClass::default() }
        };
        assert_eq!(longest(&class(20, 100_000_000)).map(|m| m.value), Some(100e6));
        assert!(longest(&class(1_000, 500_000)).is_none());
        // One that waited for something else takes next to no share of the time.
        assert!(longest(&class(1, 20_000_000)).is_none());
        assert!(longest(&IoClass::default()).is_none());
    }
}
