//! Cards whose writes stop while collection cleans, as parameters and as settings of a card's file.

use crate::fit::knob::Knob;
use crate::fit::observation::Observation;
use crate::fit::space::Space;
use crate::fit::stops::show;
use ftl::GcMode;

/// Free bands at which writes stop where the base does not say. Bands that are kept free count as spare space and the
/// rest follows from the figures, so nothing tells it.
const START_FREE_BANDS: u32 = 4;
/// Bands held free where a base that stops the world does not say.
const TARGET_FREE_BANDS: u32 = 4;
/// A model cleans no more than this at once, but always a band: of longer bursts it makes several short ones, and what
/// it lacks in length is put back afterwards. That the spare space swings less by it makes it more like a whole card, where
/// a burst is a small part of it.
const MODEL_BYTES: f64 = 128.0 * 1024.0 * 1024.0;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::base::Base;
    use crate::fit::candidate::Candidate;
    use crate::fit::choice::Choices;
    use crate::fit::condition::Condition;
    use crate::fit::observation::Figure;
    use crate::fit::simulate::{Lab, Seen};
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
        Lab::new(1, &Silent, None).see(std::slice::from_ref(candidate), conditions).unwrap().remove(0)
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
}
