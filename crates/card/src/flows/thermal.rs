//! The temperature of a modelled card as time passes: it is settled step by step while the card works or is throttled.

use crate::card::{Card, Contents};
use crate::core::Core;
use crate::core::thermal::{STEP_NS, Thermal, ThermalAccount, ThermalConfig};
use crate::core::timers::Timer;
use device::Time;

impl<I> Core<I> {
    /// The card has a temperature from now on, which is the beginning.
    pub(crate) fn warm(&mut self, config: ThermalConfig) {
        self.dies.count_heat(config);
        self.notes_pauses = true;
        let thermal = Thermal::new(config);
        self.set_speed(thermal.speed_percent());
        self.thermal = Some(Box::new(thermal));
    }

    fn set_speed(&mut self, percent: u32) {
        self.dies.set_pace_of_all(10_000 / percent);
        self.link.set_speed(percent);
    }

    /// Settles the heat until now.
    fn settle_heat(&mut self, now: Time) {
        let Some(thermal) = &mut self.thermal else { return };
        let joules = self.dies.heat().map_or(0.0, |heat| heat.take());
        if thermal.settle(now, joules) {
            let percent = thermal.speed_percent();
            self.set_speed(percent);
        }
    }
}

impl<C: Contents> Card<C> {
    /// The first request after a pause: the card has cooled meanwhile, and its steps begin again.
    pub(crate) fn warm_from(&mut self, now: Time) {
        if self.core.thermal.is_some() && !self.core.timers.is_set(Timer::Thermal) {
            self.core.settle_heat(now);
            self.core.timers.set(Timer::Thermal, now + STEP_NS);
        }
    }

    /// A step is over. Another one follows if there is more to come than steps: a card without other events waits for its host
    /// or has lost a request, and no event of its own must hide that.
    pub(crate) fn warm_step(&mut self, now: Time) {
        self.core.settle_heat(now);
        self.core.timers.clear(Timer::Thermal);
        let is_throttled = self.core.thermal.as_ref().is_some_and(|thermal| thermal.is_throttled());
        if is_throttled || !self.core.timers.are_over() {
            self.core.timers.set(Timer::Thermal, now + STEP_NS);
        }
    }

    /// Begins a new account of heat.
    pub fn begin_thermal_account(&mut self, now: Time) {
        self.core.settle_heat(now);
        if let Some(thermal) = &mut self.core.thermal {
            thermal.begin_account();
        }
    }

    /// The heat since the account began, until now; `None` for a card without a temperature.
    pub fn thermal_account(&self, now: Time) -> Option<ThermalAccount> {
        let mut thermal = self.core.thermal.clone()?;
        thermal.settle(now, self.core.dies.untaken_joules());
        Some(thermal.account().clone())
    }
}
