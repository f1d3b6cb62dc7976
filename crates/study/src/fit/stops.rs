//! Cards whose writes stop while collection cleans: what shows them, and how they are modelled.
//!
//! Between two stalls nothing is collected, and writes are as fast as on an empty card. In a stall all writes that are
//! outstanding wait until a burst of bands is clean. So medians say nothing of how full the card is while throughput
//! does, and most of the time that writes wait falls to few of them: no card whose collection is paced looks like that.
//! The bytes that go through between two stalls, and the stalls' length, tell how much is cleaned at once.
//!
//! A burst is thought of in bytes, for dies and pages change what a band holds.

use crate::fit::knob::Knob;
use crate::fit::observe::{Figure, Measured, Observation, RANKS};
use crate::fit::space::Space;
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
/// Free bands at which writes stop where the base does not say. Bands that are kept free count as spare space and the
/// rest follows from the figures, so nothing tells it.
const START_FREE_BANDS: u32 = 4;
/// Bands held free where a base that stops the world does not say.
const TARGET_FREE_BANDS: u32 = 4;
/// Bytes that are cleaned at once where no figure says.
const SOME_BYTES: f64 = 256.0 * 1024.0 * 1024.0;
/// A model cleans no more than this at once, but always a band: of longer bursts it makes several short ones, and what
/// it lacks in length is put back afterwards. That the spare space swings less by it makes it more like a whole card, where
/// a burst is a small part of it.
const MODEL_BYTES: f64 = 128.0 * 1024.0 * 1024.0;
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

impl Space {
    /// Returns whether writes that stop may be what explains the figures, or the base has them.
    pub fn may_stop(&self, points: &[Observation]) -> bool {
        self.base_choices.stops_the_world || show(points)
    }

    /// Bytes that a band holds, of all cards together.
    fn band_bytes(&self, values: &[f64]) -> f64 {
        let geometry = &self.card.nand.geometry;
        let longer = f64::from(self.choices.pages_per_block) / f64::from(geometry.pages_per_block);
        let at = self.knobs.iter().position(|knob| *knob == Knob::Channels);
        let channels = at.map_or_else(|| self.base_value(Knob::Channels), |at| self.whole_channels(values[at].exp()));
        let dies = channels * self.dies_per_channel_row();
        f64::from(geometry.units_per_band()) * longer * self.programmed_at_once(dies)
    }

    /// Returns the bytes that the base cleans at once, where it stops the world.
    pub fn base_cleaned_bytes(&self) -> Option<f64> {
        let GcMode::StopTheWorld { start_free_bands, stop_free_bands } = self.card.ftl.gc else { return None };
        Some(f64::from(stop_free_bands - start_free_bands) * self.band_bytes(&[]))
    }

    /// Bands that are cleaned at once.
    fn bands_cleaned(&self, values: &[f64]) -> u32 {
        let at = self.knobs.iter().position(|knob| *knob == Knob::CleanedAtOnce);
        let bytes = at.map_or(self.cleaned_bytes, |at| values[at].exp());
        (bytes / self.band_bytes(values)).round().max(1.0) as u32
    }

    /// As whole bands hold, in logarithms.
    pub fn realised_cleaned(&self, values: &[f64]) -> f64 {
        (f64::from(self.bands_cleaned(values)) * self.band_bytes(values)).ln()
    }

    /// More or fewer bands cleaned at once, by a band at least: the logarithm of what they hold.
    pub fn other_cleaned(&self, values: &[f64], up: bool, factor: f64) -> f64 {
        let now = f64::from(self.bands_cleaned(values));
        let bands = if up { (now * factor).round().max(now + 1.0) } else { (now / factor).round().min(now - 1.0) };
        (bands.max(1.0) * self.band_bytes(values)).ln()
    }

    /// Returns the settings of collection, as the card's file says them.
    pub fn collection_settings(&self, values: &[f64]) -> Vec<(String, String)> {
        let (stops, did) = (self.choices.stops_the_world, self.base_choices.stops_the_world);
        let start = match self.card.ftl.gc {
            GcMode::StopTheWorld { start_free_bands, .. } => start_free_bands,
            GcMode::Paced { .. } => START_FREE_BANDS,
        };
        let mut out = Vec::new();
        let mut set = |key: &str, value: String| out.push((format!("ftl.{key}"), value));
        if stops && self.knobs.contains(&Knob::CleanedAtOnce) {
            set("stop_free_bands", (start + self.bands_cleaned(values)).to_string());
        }
        match (stops, did) {
            (true, false) => {
                set("start_free_bands", start.to_string());
                set("gc", "stop-the-world".into());
            }
            (false, true) => {
                if !self.says_target_free_bands() {
                    set("target_free_bands", TARGET_FREE_BANDS.to_string());
                }
                set("gc", "paced".into());
            }
            _ => {}
        }
        out
    }

    /// The values of a model that cleans no more at once than one can afford to simulate, and how many times as much the
    /// card cleans.
    pub fn modelled_cleaned(&self, values: &[f64]) -> (Vec<f64>, f64) {
        let mut values = values.to_vec();
        let Some(at) = self.knobs.iter().position(|knob| *knob == Knob::CleanedAtOnce) else { return (values, 1.0) };
        let (bands, band_bytes) = (f64::from(self.bands_cleaned(&values)), self.band_bytes(&values));
        let modelled = bands.min((MODEL_BYTES / band_bytes).floor().max(1.0));
        values[at] = (modelled * band_bytes).ln();
        (values, bands / modelled)
    }
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
    use crate::fit::base::Base;
    use crate::fit::choices::Choices;
    use crate::fit::condition::Condition;
    use crate::fit::simulate::{Candidate, Lab, Seen};
    use load::FileioMode;
    use profile::{Host, Profile};
    use target::Silent;

    /// A neutral card of 32 dies that stops the world for so many bytes.
    fn stopping(bytes: f64) -> (Space, Vec<f64>) {
        let host = Host::builtin("default").unwrap();
        let mut space = Space::new(&Base::neutral(None), &host, false, &[]).unwrap();
        space.choices = Choices { stops_the_world: true, ..space.choices };
        space.knobs = vec![Knob::Channels, Knob::Spare, Knob::CleanedAtOnce];
        (space, vec![8.0_f64.ln(), 0.2_f64.ln(), bytes.ln()])
    }

    fn seen(candidate: &Candidate, conditions: &[&Condition]) -> Vec<Seen> {
        Lab::new(1, &Silent).see(std::slice::from_ref(candidate), conditions).unwrap().remove(0)
    }

    #[test]
    fn a_burst_is_whole_bands_of_any_geometry() {
        let (space, values) = stopping(512e6);
        let device = space.profile(&values).unwrap().lower(1e-9).unwrap();
        let GcMode::StopTheWorld { start_free_bands, stop_free_bands } = device.cards()[0].ftl.gc else {
            panic!("it stops the world")
        };
        // 32 dies of 128 pages of 4 KiB are 16.8 MB.
        assert_eq!((start_free_bands, stop_free_bands - start_free_bands), (START_FREE_BANDS, 31));
        assert_eq!(space.other_cleaned(&values, true, 1.001), (32.0 * space.band_bytes(&values)).ln());
        let tiny = [values[0], values[1], 1e6_f64.ln()];
        assert_eq!(space.bands_cleaned(&tiny), 1);
    }

    #[test]
    fn a_model_with_short_bursts_shows_what_long_ones_do() {
        let (space, values) = stopping(400e6);
        let short = space.candidate(&values).unwrap();
        assert!(short.stretch > 2.5, "{}", short.stretch);
        let profile = space.profile(&values).unwrap();
        let whole = Candidate { device: profile.lower(1.0 / 64.0).unwrap(), stretch: 1.0, ..short.clone() };
        let conditions = [
            Condition::random(FileioMode::RndWr, 16 << 10, 16),
            Condition::random(FileioMode::RndWr, 64 << 10, 64),
            Condition::random(FileioMode::RndRw, 16 << 10, 16),
        ];
        let conditions: Vec<&Condition> = conditions.iter().collect();
        let both = seen(&short, &conditions).into_iter().zip(seen(&whole, &conditions));
        for (condition, (short, whole)) in conditions.iter().zip(both) {
            for (figure, bound) in [
                (Figure::Throughput, 0.06),
                (Figure::WriteP50, 0.05),
                (Figure::WriteP95, 0.1),
                (Figure::WriteLongest, 0.15),
            ] {
                let off = (short.value(figure).unwrap() / whole.value(figure).unwrap()).ln();
                println!("{} {}: {off:.3} {:?}", condition.label(), figure.name(), whole.value(figure));
                assert!(off.abs() < bound, "{}: {} off by {off:.3}", condition.label(), figure.name());
            }
        }
    }

    #[test]
    fn a_base_that_stops_the_world_keeps_its_burst_and_can_be_paced() {
        let name = "tachion-400-preproduction";
        let base = Base::card(name, Profile::builtin_text(name).unwrap());
        let mut space = Space::new(&base, &Host::builtin("default").unwrap(), false, &[]).unwrap();
        assert!(space.choices.stops_the_world && space.may_stop(&[]));
        space.knobs = vec![Knob::Spare, Knob::CleanedAtOnce];
        let gc = |space: &Space| {
            let values = space.base_values();
            space.profile(&values).unwrap().lower(1e-9).unwrap().cards()[0].ftl.gc
        };
        assert_eq!(gc(&space), GcMode::StopTheWorld { start_free_bands: 4, stop_free_bands: 19 });
        space.choices.stops_the_world = false;
        space.knobs = vec![Knob::Spare];
        assert!(matches!(gc(&space), GcMode::Paced { .. }));
    }

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
