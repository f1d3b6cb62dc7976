//! The settings of a card that can be changed, their limits, and the effect of a change on its file.
//!
//! Parameters are logarithms: times and rates differ by factors. Whole numbers and spare space are rounded (`realised`):
//! spare space to steps of 2.5 %, so that states of flash management can be used again.

use crate::fit::base::Base;
use crate::fit::cache_choice::{CacheChoice, CacheTimes};
use crate::fit::candidate::Candidate;
use crate::fit::choice::Choices;
use crate::fit::error::FitError;
use crate::fit::knob::Knob;
use crate::fit::observation::Observation;
use crate::fit::stops;
use card::{CardConfig, RelocationPath};
use device::HostConfig;
use profile::{Host, Profile, ProfileError};

/// Bands of a card in the model, at least; small spare space needs more, and profiles see to that.
const MODEL_BANDS: f64 = 36.0;
/// Sectors of a card in the model, at least: many times what its buffer and relocation hold.
const MODEL_SECTORS: f64 = 200_000.0;
/// Blocks of a plane while nothing is known of the spare space: more than any card has.
const PLENTY_OF_BLOCKS: u32 = 1 << 22;
const SECTOR_BYTES: f64 = device::SECTOR_BYTES as f64;
/// Steps of the logarithm of spare space.
const SPARE_STEP: f64 = 0.025;

/// The parameters of one fit.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    profile: Profile,
    pub card: CardConfig,
    user_sectors: f64,
    host: HostConfig,
    /// No card in particular: geometry may be changed freely.
    pub neutral: bool,
    /// The number of channels was chosen among all that there may be, and is no longer refined.
    pub counted: bool,
    pub knobs: Vec<Knob>,
    pub choices: Choices,
    /// Choices of the base.
    pub base_choices: Choices,
    pub cache: CacheChoice,
    /// Bytes that are cleaned at once, before anything is fitted.
    pub cleaned_bytes: f64,
}

impl Space {
    pub fn new(base: &Base, host: &Host, fit_host: bool, points: &[Observation]) -> Result<Space, FitError> {
        let profile = base.profile()?;
        let device = profile.lower(1e-9)?;
        let Some(card) = device.cards().first().copied() else {
            return Err(FitError::Disks { card: base.name.as_str().into() });
        };
        let figures = profile.figures()?.expect("flash has figures");
        let victim = match card.ftl.victim {
            ftl::VictimPolicy::Greedy => "greedy",
            ftl::VictimPolicy::CostBenefit => "cost-benefit",
            ftl::VictimPolicy::Fifo => "fifo",
            ftl::VictimPolicy::RandomD(_) => "random-d",
        };
        let choices = Choices {
            victim,
            through_host: matches!(card.relocation_path, RelocationPath::Host { .. }),
            suspends: card.nand.timing.suspend_ns.is_some(),
            reads_first: card.reads_first,
            pages_per_block: card.nand.geometry.pages_per_block,
            dies_per_channel: card.nand.geometry.dies_per_channel,
            parity_units: card.ftl.parity_units,
            stops_the_world: matches!(card.ftl.gc, ftl::GcMode::StopTheWorld { .. }),
        };
        let mut space = Space {
            user_sectors: figures.capacities.user_bytes as f64 / SECTOR_BYTES,
            profile,
            card,
            host: host.config(),
            neutral: base.neutral,
            counted: false,
            knobs: Vec::new(),
            choices: Choices { stops_the_world: choices.stops_the_world || stops::show(points), ..choices },
            base_choices: choices,
            cache: CacheChoice::AsBase,
            cleaned_bytes: stops::cleaned_bytes(points),
        };
        space.cleaned_bytes = space.base_cleaned_bytes().unwrap_or(space.cleaned_bytes);
        space.knobs = space.useful(points, fit_host);
        Ok(space)
    }

    /// Parameters that the points can say anything of.
    pub fn useful(&self, points: &[Observation], fit_host: bool) -> Vec<Knob> {
        let any = |test: &dyn Fn(&Observation) -> bool| points.iter().any(test);
        let reads = any(&|p| p.condition.mode.reads());
        let writes = any(&|p| p.condition.mode.writes());
        let random_writes = any(&|p| p.condition.mode.writes() && !p.condition.mode.is_sequential());
        let mixed = any(&|p| p.condition.mode.writes() && p.condition.mode.reads());
        let latencies = any(&|p| p.measured.len() > 1);
        let tails = any(&|p| p.measured.iter().any(|m| m.figure.is_tail()));
        let wanted = [
            (Knob::ReadLink, reads),
            (Knob::WriteLink, writes),
            (Knob::ReadCommand, reads),
            (Knob::WriteCommand, writes),
            (Knob::Latency, latencies),
            (Knob::Read, reads),
            (Knob::Program, writes),
            (Knob::Erase, tails && writes),
            (Knob::Bus, reads),
            (Knob::Suspend, mixed && tails && self.choices.suspends),
            (Knob::Channels, reads),
            (Knob::Spare, random_writes),
            (Knob::Buffer, tails && writes && self.neutral),
            (Knob::RelocationSector, random_writes && self.choices.through_host),
            (Knob::CleanedAtOnce, random_writes && self.choices.stops_the_world),
            (Knob::HostCpu, fit_host),
            (Knob::HostContention, fit_host),
        ];
        wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(knob, _)| knob).collect()
    }

    /// Returns the base's values, as logarithms within the limits.
    pub fn base_values(&self) -> Vec<f64> {
        self.knobs
            .iter()
            .map(|&knob| {
                let (low, high) = knob.limits();
                self.base_value(knob).clamp(low, high).ln()
            })
            .collect()
    }

    /// Returns the base's value.
    pub fn base_value(&self, knob: Knob) -> f64 {
        let (link, timing) = (&self.card.link, &self.card.nand.timing);
        match knob {
            Knob::ReadLink => link.read_bytes_per_s as f64,
            Knob::WriteLink => link.write_bytes_per_s as f64,
            Knob::ReadCommand => link.read_command_ns as f64,
            Knob::WriteCommand => link.write_command_ns as f64,
            Knob::Latency => link.latency_ns as f64,
            Knob::Read => timing.native.read_ns as f64,
            Knob::Program => timing.native.program_ns as f64,
            Knob::Erase => timing.native.erase_ns as f64,
            Knob::Bus => timing.bus_bytes_per_s as f64,
            Knob::Suspend => timing.suspend_ns.unwrap_or(20_000) as f64,
            Knob::Channels => f64::from(self.card.nand.geometry.channels_per_module),
            Knob::Spare => self.base_spare(),
            Knob::Buffer => f64::from(self.card.buffer_sectors) * SECTOR_BYTES,
            Knob::RelocationSector => match self.card.relocation_path {
                RelocationPath::Host { sector_ns } => sector_ns as f64,
                RelocationPath::Internal => 5_000.0,
            },
            Knob::CleanedAtOnce => self.cleaned_bytes,
            Knob::HostCpu => 1.0,
            Knob::HostContention => self.host.contention,
        }
    }

    fn base_spare(&self) -> f64 {
        let figures = self.profile.figures().ok().flatten();
        figures.map_or(0.2, |figures| figures.capacities.effective_spare_factor)
    }

    /// Geometry of the base: dies behind one channel, modules, bytes of a page.
    pub fn dies_per_channel_row(&self) -> f64 {
        let g = &self.card.nand.geometry;
        f64::from(g.modules) * f64::from(self.choices.dies_per_channel) * self.cards()
    }

    pub fn cards(&self) -> f64 {
        self.profile.figures().ok().flatten().map_or(1.0, |figures| f64::from(figures.cards))
    }

    /// Bytes of the unit that a die programs or reads at once.
    pub fn page_bytes(&self) -> f64 {
        f64::from(self.card.nand.geometry.page_bytes)
    }

    /// Bytes of a unit that is programmed at once: pages of all planes.
    pub fn unit_bytes(&self) -> f64 {
        f64::from(self.card.nand.geometry.sectors_per_unit()) * SECTOR_BYTES
    }

    /// Dies of all cards together.
    pub fn dies(&self, values: &[f64]) -> f64 {
        self.value(values, Knob::Channels) * self.dies_per_channel_row()
    }

    /// Share of programs that hold data and no parity, on so many dies.
    pub fn data_share(&self, dies: f64) -> f64 {
        let width = if self.has_own_stripes() { stripe_width(dies.round() as u32) } else { self.card.ftl.stripe_width };
        1.0 - f64::from(self.choices.parity_units) / f64::from(width)
    }

    /// Bytes of data that so many dies program at once.
    pub fn programmed_at_once(&self, dies: f64) -> f64 {
        dies * self.unit_bytes() * self.data_share(dies)
    }

    /// Stripes are as wide as the number of dies has it, not as the base's are.
    fn has_own_stripes(&self) -> bool {
        self.neutral && self.knobs.contains(&Knob::Channels)
    }

    /// The base's file.
    pub fn base_profile(&self) -> &Profile {
        &self.profile
    }

    /// The base's cache of faster cells.
    pub fn base_cache(&self) -> Option<ftl::SlcCache> {
        self.card.ftl.slc_cache
    }

    pub fn base_slc_times(&self) -> CacheTimes {
        let slc = &self.card.nand.timing.slc;
        CacheTimes { read_ns: slc.read_ns as f64, erase_ns: slc.erase_ns as f64 }
    }

    /// Bytes that the host can address.
    pub fn user_bytes(&self) -> f64 {
        self.user_sectors * SECTOR_BYTES
    }

    pub fn host(&self) -> &HostConfig {
        &self.host
    }

    /// Returns whether the base's file says how many bands paced collection holds free.
    pub fn says_target_free_bands(&self) -> bool {
        let mut paced = self.profile.clone();
        paced.set("ftl.gc=paced").and_then(|()| paced.figures()).is_ok()
    }

    /// Keeps values within their limits.
    pub fn clamp(&self, values: &mut [f64]) {
        for (value, knob) in values.iter_mut().zip(&self.knobs) {
            let (low, high) = knob.limits();
            *value = value.clamp(low.ln(), high.ln());
        }
    }

    /// Returns the values as a card realises them: whole numbers, steps of spare space.
    pub fn realised(&self, values: &[f64]) -> Vec<f64> {
        let round = |(value, knob): (&f64, &Knob)| match knob {
            Knob::Channels => self.whole_channels(value.exp()).ln(),
            Knob::Spare => (value / SPARE_STEP).round() * SPARE_STEP,
            Knob::CleanedAtOnce => self.realised_cleaned(values),
            _ => *value,
        };
        values.iter().zip(&self.knobs).map(round).collect()
    }

    /// Rounds to whole channels.
    pub fn whole_channels(&self, channels: f64) -> f64 {
        if self.neutral { self.even_channels(channels) } else { channels.round().max(1.0) }
    }

    /// Channels of a neutral card, so that its stripes are as wide as those of cards that are: a full buffer gives room back
    /// a stripe at a time, and that is what slow writes wait for. Counted ones are powers of two.
    fn even_channels(&self, channels: f64) -> f64 {
        match channels {
            n if self.counted => n.max(1.0).log2().round().exp2(),
            n if n < 1.5 => 1.0,
            n if n < 7.0 => 2.0 * (n / 2.0).round().max(1.0),
            n => 4.0 * (n / 4.0).round().max(2.0),
        }
    }

    /// The next logarithm of a number of channels that makes another card.
    pub fn other_channels(&self, value: f64, up: bool, factor: f64) -> f64 {
        let round = |n: f64| self.whole_channels(n);
        let now = round(value.exp());
        let wanted = round(if up { now * factor } else { now / factor });
        if wanted != now {
            return wanted.ln();
        }
        let step = if up { 1.0 } else { -1.0 };
        let steps = (1..=64).map(|i| round((now + step * f64::from(i)).max(1.0)));
        steps.into_iter().find(|n| *n != now).unwrap_or(now).ln()
    }

    /// A value of a parameter, in its unit.
    pub fn value(&self, values: &[f64], knob: Knob) -> f64 {
        let at = self.knobs.iter().position(|k| *k == knob);
        at.map_or_else(|| self.base_value(knob), |i| self.realised(values)[i].exp())
    }

    /// Settings of the card's file that the values stand for, in an order in which they can be made.
    pub fn settings(&self, values: &[f64]) -> Result<Vec<(String, String)>, ProfileError> {
        let mut out: Vec<(String, String)> = Vec::new();
        let mut set = |key: &str, value: String| out.push((key.to_string(), value));
        for knob in &self.knobs {
            let value = self.value(values, *knob);
            match knob {
                Knob::Spare | Knob::CleanedAtOnce | Knob::HostCpu | Knob::HostContention => {}
                Knob::Buffer => {
                    let sectors = (value / SECTOR_BYTES).round() as u64;
                    set("buffer.bytes", (sectors * device::SECTOR_BYTES).to_string());
                    set("relocation.sectors_under_way", (2 * sectors).max(4096).to_string());
                }
                knob => set(knob.key(), format!("{}", value.round() as u64)),
            }
        }
        if self.has_own_stripes() {
            let dies = self.value(values, Knob::Channels).round() as u32 * self.choices.dies_per_channel;
            set("ftl.stripe_width", stripe_width(dies).to_string());
        }
        let (now, was) = (self.choices, self.base_choices);
        if now.dies_per_channel != was.dies_per_channel {
            set("geometry.dies_per_channel", now.dies_per_channel.to_string());
        }
        if now.parity_units != was.parity_units {
            set("ftl.parity_units", now.parity_units.to_string());
        }
        if now.pages_per_block != was.pages_per_block {
            set("geometry.pages_per_block", now.pages_per_block.to_string());
        }
        if now.victim != was.victim {
            set("ftl.victim", now.victim.into());
            if now.victim == "random-d" {
                set("ftl.d", "8".into());
            }
        }
        if now.through_host != was.through_host {
            set("relocation.path", if now.through_host { "host" } else { "internal" }.into());
        }
        if was.suspends && !now.suspends {
            set("timing.suspend_ns", "none".into());
        }
        if now.reads_first != was.reads_first {
            set("card.reads_first", now.reads_first.to_string());
        }
        out.extend(self.collection_settings(values));
        // Blocks follow from spare space and from how much a band of this geometry holds.
        if self.knobs.contains(&Knob::Spare) || self.knobs.contains(&Knob::Channels) {
            let mut profile = self.profile.clone();
            profile.set(&format!("geometry.blocks_per_plane={PLENTY_OF_BLOCKS}"))?;
            for (key, value) in &out {
                profile.set(&format!("{key}={value}"))?;
            }
            let c = profile.figures()?.expect("flash has figures").capacities;
            let used = 1.0 - self.value(values, Knob::Spare);
            let bands = self.user_sectors / used / c.data_sectors_per_band as f64;
            let blocks = bands.ceil() as u64 + u64::from(c.overhead_bands);
            out.push(("geometry.blocks_per_plane".into(), blocks.to_string()));
        }
        self.cache_settings(values, &mut out)?;
        Ok(out)
    }

    /// The card's profile at some values.
    pub fn profile(&self, values: &[f64]) -> Result<Profile, ProfileError> {
        let mut profile = self.profile.clone();
        for (key, value) in self.settings(values)? {
            profile.set(&format!("{key}={value}"))?;
        }
        Ok(profile)
    }

    /// The card at some values as it is modelled, and the host in front of it.
    pub fn candidate(&self, values: &[f64]) -> Result<Candidate, ProfileError> {
        let (values, stretch) = self.modelled_cleaned(values);
        let profile = self.profile(&values)?;
        let c = profile.figures()?.expect("flash has figures").capacities;
        let wanted = MODEL_BANDS.max(MODEL_SECTORS / c.data_sectors_per_band as f64);
        let device = profile.lower((wanted / f64::from(c.bands)).min(1.0))?;
        Ok(Candidate { device, host: self.host_at(&values), stretch })
    }

    /// The host at some values.
    pub fn host_at(&self, values: &[f64]) -> HostConfig {
        let times = self.value(values, Knob::HostCpu);
        let scaled = |ns: u64| (ns as f64 * times).round() as u64;
        HostConfig {
            session_ns: scaled(self.host.session_ns),
            submit_ns: scaled(self.host.submit_ns),
            complete_ns: scaled(self.host.complete_ns),
            contention: self.value(values, Knob::HostContention),
            ..self.host
        }
    }
}

/// Units of a stripe: as many as divide the dies, sixteen at most.
fn stripe_width(dies: u32) -> u32 {
    [16, 8, 4, 2].into_iter().find(|width| dies.is_multiple_of(*width)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structure_is_a_card_with_as_many_dies_and_the_spare_space_that_was_asked_for() {
        let host = Host::builtin("default").unwrap();
        let mut space = Space::new(&Base::neutral(None), &host, false, &[]).unwrap();
        space.knobs = vec![Knob::Channels, Knob::Spare];
        let structures = space.structures();
        assert!(structures.contains(&(8, 2)) && structures.contains(&(256, 8)));
        for (dies, each) in structures {
            for parity in [0, 1] {
                let space = space.structured(each, parity);
                let values = [f64::from(dies / each).ln(), 0.2_f64.ln()];
                let profile = space.profile(&values).unwrap();
                let card = profile.lower(1e-9).unwrap().cards()[0];
                assert_eq!((card.nand.geometry.dies(), card.ftl.parity_units), (dies, parity));
                let data = 1.0 - f64::from(parity) / f64::from(card.ftl.stripe_width);
                assert_eq!(space.data_share(space.dies(&values)), data, "{dies} {each} {parity}");
                let spare = profile.figures().unwrap().unwrap().capacities.effective_spare_factor;
                assert!((spare / 0.2 - 1.0).abs() < 0.03, "{dies} {each} {parity}: {spare}");
            }
        }
    }
}
