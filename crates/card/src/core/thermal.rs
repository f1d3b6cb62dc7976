//! The heat of a modelled card, and how it is throttled.
//!
//! The card is one mass with one way out for its heat:
//!
//! ```text
//! C dT/dt = P - (T - Ta) / R
//! ```
//!
//! The power is constant over a step, for which the solution is exact: `T` nears `Ta + P R` by `exp(-dt / R C)`. A step is a
//! millisecond, as operations are; the heat of a card changes over seconds and minutes.
//!
//! Thresholds have hysteresis, as firmware has: a level of throttling begins at its temperature and ends some kelvins
//! below it. A throttled card does everything more slowly by the same factor: commands, transfers, operations of dies.
//! Firmware gets the same effect from pauses and lower clocks. An operation takes the same energy all the same.

use super::die_op::{DieOp, Work};
use device::Time;
use media::nand::Timing;

/// Length of a step.
pub const STEP_NS: u64 = 1_000_000;

const SECOND_NS: u64 = 1_000_000_000;

/// Levels of throttling: light, heavy, critical.
pub const LEVELS: usize = 3;

/// The powers of a card, its mass, and its thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThermalConfig {
    /// Power that the card takes whatever it does.
    pub idle_watts: f64,
    /// Power of a die while its array is read, beside that.
    pub read_watts: f64,
    /// Power of a die that programs.
    pub program_watts: f64,
    /// Power of a die that erases.
    pub erase_watts: f64,
    /// Energy for a byte between die and host: bus, error correction, memory, link.
    pub nanojoules_per_byte: f64,
    /// Heat that warms the card by a kelvin.
    pub joules_per_kelvin: f64,
    /// Kelvins above its surroundings for each watt that it gives off.
    pub kelvin_per_watt: f64,
    /// Temperature of the surroundings.
    pub ambient_celsius: f64,
    /// Temperature of the card at first.
    pub start_celsius: f64,
    /// A level ends so far below the temperature at which it begins.
    pub hysteresis_kelvin: f64,
    /// The levels of throttling, the first one the mildest.
    pub throttles: [Throttle; LEVELS],
}

/// One level of throttling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttle {
    /// It begins at this temperature.
    pub from_celsius: f64,
    /// Speed of the card in percent of its full one.
    pub speed_percent: u32,
}

impl Throttle {
    /// A level that no temperature reaches.
    pub const NEVER: Throttle = Throttle { from_celsius: f64::INFINITY, speed_percent: 100 };
}

/// Energies that operations of dies have turned into heat.
#[derive(Clone, Debug)]
pub struct Heat {
    timing: Timing,
    config: ThermalConfig,
    joules: f64,
}

impl Heat {
    /// No heat yet.
    pub fn new(config: ThermalConfig, timing: Timing) -> Heat {
        Heat { timing, config, joules: 0.0 }
    }

    /// A die has finished an operation, at a pace in percent of its times. It heats by what its data sheet's time takes.
    pub fn finished(&mut self, op: &DieOp, pace_percent: u32) {
        let times = self.timing.of(op.mode);
        let (watts, ns) = match op.work {
            Work::HostRead(_) | Work::MapRead(_) | Work::RelocationRead(_) | Work::RepairRead(_) => {
                let sensed_ns = if op.is_in_register { 0 } else { times.read_ns };
                let retried_ns = op.retry_ns.unwrap_or(0) * 100 / u64::from(pace_percent);
                (self.config.read_watts, sensed_ns + retried_ns)
            }
            Work::Program { .. } | Work::RebuildProgram => (self.config.program_watts, times.program_ns),
            Work::Erase(_) | Work::RebuildErase => (self.config.erase_watts, times.erase_ns),
        };
        self.joules += watts * ns as f64 * 1e-9 + f64::from(op.bytes) * self.config.nanojoules_per_byte * 1e-9;
    }

    /// The heat since it was taken last.
    pub fn take(&mut self) -> f64 {
        std::mem::take(&mut self.joules)
    }

    /// The heat since it was taken last, which stays.
    pub fn joules(&self) -> f64 {
        self.joules
    }
}

/// The temperature of a card, and its account of heat.
#[derive(Clone, Debug)]
pub struct Thermal {
    config: ThermalConfig,
    settled_at: Time,
    celsius: f64,
    /// The level of throttling; 0: none.
    level: usize,
    account: ThermalAccount,
}

/// The heat of a card from a moment on.
#[derive(Clone, Debug, PartialEq)]
pub struct ThermalAccount {
    /// The moment at which the account began.
    pub since: Time,
    /// Temperature at that moment.
    pub from_celsius: f64,
    /// Temperature when heat was settled last.
    pub celsius: f64,
    /// The highest temperature meanwhile.
    pub highest_celsius: f64,
    /// Energy that became heat.
    pub taken_joules: f64,
    /// Heat that the surroundings took.
    pub given_off_joules: f64,
    /// Time at each level of throttling.
    pub throttled_ns: [u64; LEVELS],
    /// Temperature at the end of each second.
    pub seconds: Vec<f64>,
}

impl ThermalAccount {
    fn new(since: Time, celsius: f64) -> ThermalAccount {
        ThermalAccount {
            since,
            from_celsius: celsius,
            celsius,
            highest_celsius: celsius,
            taken_joules: 0.0,
            given_off_joules: 0.0,
            throttled_ns: [0; LEVELS],
            seconds: Vec::new(),
        }
    }
}

impl Thermal {
    /// A card at the temperature at which it begins.
    pub fn new(config: ThermalConfig) -> Thermal {
        let celsius = config.start_celsius;
        let account = ThermalAccount::new(Time::ZERO, celsius);
        let mut thermal = Thermal { config, settled_at: Time::ZERO, celsius, level: 0, account };
        thermal.choose_level();
        thermal
    }

    /// The speed of the card now, in percent.
    pub fn speed_percent(&self) -> u32 {
        self.level.checked_sub(1).map_or(100, |i| self.config.throttles[i].speed_percent)
    }

    /// Some level of throttling is on.
    pub fn is_throttled(&self) -> bool {
        self.level > 0
    }

    pub fn account(&self) -> &ThermalAccount {
        &self.account
    }

    /// Begins a new account. Time until now has been settled.
    pub fn begin_account(&mut self) {
        self.account = ThermalAccount::new(self.settled_at, self.celsius);
    }

    /// Time has passed until now, in which the work of the card took so much energy; true when its speed changes.
    pub fn settle(&mut self, now: Time, joules: f64) -> bool {
        let dt_ns = now.since_ns(self.settled_at);
        if dt_ns == 0 {
            // Energy without time: what ended at this moment belongs to the step that it ends.
            self.warm_at_once(joules);
        } else {
            let watts = self.config.idle_watts + joules / (dt_ns as f64 * 1e-9);
            let mut left_ns = dt_ns;
            while left_ns > 0 {
                let in_account = self.settled_at - self.account.since;
                let step_ns = left_ns.min(SECOND_NS - in_account % SECOND_NS);
                self.step(step_ns, watts);
                left_ns -= step_ns;
                if (in_account + step_ns).is_multiple_of(SECOND_NS) {
                    self.account.seconds.push(self.celsius);
                }
            }
        }
        self.check();
        let before = self.level;
        self.choose_level();
        self.level != before
    }

    /// A step of constant power.
    fn step(&mut self, step_ns: u64, watts: f64) {
        let ThermalConfig { joules_per_kelvin, kelvin_per_watt, ambient_celsius, .. } = self.config;
        let (seconds, constant) = (step_ns as f64 * 1e-9, joules_per_kelvin * kelvin_per_watt);
        let goal = ambient_celsius + watts * kelvin_per_watt;
        let away = self.celsius - goal;
        let fallen = -(-seconds / constant).exp_m1();
        self.celsius = goal + away * (1.0 - fallen);
        let account = &mut self.account;
        account.taken_joules += watts * seconds;
        account.given_off_joules += ((goal - ambient_celsius) * seconds + away * constant * fallen) / kelvin_per_watt;
        if self.level > 0 {
            account.throttled_ns[self.level - 1] += step_ns;
        }
        self.note();
        self.settled_at += step_ns;
    }

    fn warm_at_once(&mut self, joules: f64) {
        self.celsius += joules / self.config.joules_per_kelvin;
        self.account.taken_joules += joules;
        self.note();
    }

    fn note(&mut self) {
        self.account.celsius = self.celsius;
        self.account.highest_celsius = self.account.highest_celsius.max(self.celsius);
    }

    /// No heat is lost or made: what was taken is stored or was given off.
    fn check(&self) {
        let account = &self.account;
        let stored = (account.celsius - account.from_celsius) * self.config.joules_per_kelvin;
        let lost = account.taken_joules - account.given_off_joules - stored;
        let scale = account.taken_joules + account.given_off_joules.abs() + stored.abs() + 1.0;
        debug_assert!(lost.abs() < 1e-6 * scale, "heat was lost: {lost} J in {account:?}");
    }

    fn choose_level(&mut self) {
        let ThermalConfig { throttles, hysteresis_kelvin, .. } = &self.config;
        while self.level < LEVELS && self.celsius >= throttles[self.level].from_celsius {
            self.level += 1;
        }
        while self.level > 0 && self.celsius < throttles[self.level - 1].from_celsius - hysteresis_kelvin {
            self.level -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: ThermalConfig = ThermalConfig {
        idle_watts: 1.0,
        read_watts: 0.0,
        program_watts: 0.0,
        erase_watts: 0.0,
        nanojoules_per_byte: 0.0,
        joules_per_kelvin: 10.0,
        kelvin_per_watt: 8.0,
        ambient_celsius: 25.0,
        start_celsius: 25.0,
        hysteresis_kelvin: 2.0,
        throttles: [Throttle::NEVER; LEVELS],
    };

    /// Warms a card at 5 W in all, step by step; when it is first throttled.
    fn until_throttled(thermal: &mut Thermal, limit: Time) -> Option<Time> {
        let mut now = thermal.settled_at;
        while now < limit {
            now += STEP_NS;
            if thermal.settle(now, 4.0 * STEP_NS as f64 * 1e-9) {
                return Some(now);
            }
        }
        None
    }

    #[test]
    fn a_threshold_is_reached_when_the_closed_form_says() {
        let light = Throttle { from_celsius: 50.0, speed_percent: 50 };
        let mut thermal =
            Thermal::new(ThermalConfig { throttles: [light, Throttle::NEVER, Throttle::NEVER], ..CONFIG });
        let at = until_throttled(&mut thermal, Time(1_000 * SECOND_NS)).expect("40 K above 25 °C is above 50 °C");
        // 25 K of 40 K: R C ln(40 / 15).
        let expected_s = 80.0 * (40.0_f64 / 15.0).ln();
        assert!((at.0 as f64 * 1e-9 - expected_s).abs() < 0.002, "{at:?}, expected {expected_s} s");
        assert_eq!(thermal.speed_percent(), 50);
    }

    #[test]
    fn long_steps_and_short_ones_give_the_same() {
        let (mut short, mut long) = (Thermal::new(CONFIG), Thermal::new(CONFIG));
        assert_eq!(until_throttled(&mut short, Time(100 * SECOND_NS)), None);
        long.settle(Time(100 * SECOND_NS), 400.0);
        let (short, long) = (short.account, long.account);
        assert!((short.celsius - long.celsius).abs() < 1e-9, "{} {}", short.celsius, long.celsius);
        assert!((short.given_off_joules - long.given_off_joules).abs() < 1e-6);
        assert_eq!((short.seconds.len(), long.seconds.len()), (100, 100));
        assert!((long.celsius - (65.0 - 40.0 * (-100.0_f64 / 80.0).exp())).abs() < 1e-9, "{}", long.celsius);
    }

    #[test]
    fn levels_begin_at_their_temperature_and_end_below_it() {
        let level = |from_celsius, speed_percent| Throttle { from_celsius, speed_percent };
        let throttles = [level(40.0, 60), level(50.0, 20), level(60.0, 1)];
        let config = ThermalConfig { throttles, ..CONFIG };
        let at = |thermal: &mut Thermal, celsius: f64| {
            thermal.celsius = celsius;
            thermal.choose_level();
            thermal.speed_percent()
        };
        let mut thermal = Thermal::new(config);
        for (celsius, percent) in [
            (39.9, 100),
            (40.0, 60),
            (38.1, 60),
            (37.9, 100),
            (55.0, 20),
            (48.1, 20),
            (47.9, 60),
            (61.0, 1),
            (20.0, 100),
        ] {
            assert_eq!(at(&mut thermal, celsius), percent, "{celsius} °C");
        }
        assert_eq!(Thermal::new(ThermalConfig { start_celsius: 52.0, ..config }).speed_percent(), 20);
    }
}
