//! Choices that are no numbers.

use crate::fit::choice::Choices;
use crate::fit::knob::Knob;
use crate::fit::observation::Observation;
use crate::fit::space::Space;

/// Smallest and largest number of pages of a block that are tried.
const PAGES: std::ops::RangeInclusive<u32> = 32..=256;
/// Dies that share the bus of a neutral card's channel, and how many dies there may be.
const DIES_PER_CHANNEL: [u32; 4] = [1, 2, 4, 8];
const DIES: std::ops::RangeInclusive<u32> = 4..=256;

impl Space {
    /// The same parameters with another choice; what only one of them has comes or goes.
    pub fn with(&self, choices: Choices, points: &[Observation], fit_host: bool) -> Space {
        let mut space = self.clone();
        space.choices = choices;
        space.knobs = space.useful(points, fit_host);
        space
    }

    /// Blocks of half and of twice the pages, where the geometry is free. 99th percentiles tell them: they meet erases or
    /// not.
    pub fn other_pages(&self) -> Vec<u32> {
        let now = self.choices.pages_per_block;
        let other = [now / 2, now * 2].into_iter().filter(|pages| PAGES.contains(pages));
        if self.neutral && self.knobs.contains(&Knob::Erase) { other.collect() } else { Vec::new() }
    }

    /// Half and twice as many dies behind a bus, where the geometry is free: ceilings of the buses tell them.
    pub fn other_dies_per_channel(&self) -> Vec<u32> {
        let now = self.choices.dies_per_channel;
        let other = DIES_PER_CHANNEL.into_iter().filter(|dies| dies / now == 2 || now / dies == 2);
        if self.counted { other.collect() } else { Vec::new() }
    }

    /// With parity or without, where the geometry is free.
    pub fn other_parity(&self) -> Option<u32> {
        self.counted.then(|| 1 - self.choices.parity_units.min(1))
    }

    /// Numbers of dies, and how many of them share a bus: powers of two, as packages and boards have them. Empty where the
    /// geometry is the base's.
    pub fn structures(&self) -> Vec<(u32, u32)> {
        if !self.neutral || !self.knobs.contains(&Knob::Channels) {
            return Vec::new();
        }
        let dies = (0..16).map(|power| 1 << power).filter(|dies| DIES.contains(dies));
        dies.flat_map(|dies| DIES_PER_CHANNEL.map(|each| (dies, each))).filter(|(dies, each)| each < dies).collect()
    }

    /// The same parameters with this many dies behind a bus; channels are not refined in it.
    pub fn structured(&self, dies_per_channel: u32, parity_units: u32) -> Space {
        let choices = Choices { dies_per_channel, parity_units, ..self.choices };
        let mut space = self.clone();
        space.choices = choices;
        space.counted = true;
        space
    }
}
