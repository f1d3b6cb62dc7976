//! Everything that happens to the machines of a life, and when.

use super::flaw::Flaw;
use device::Rng;
use std::fmt;

const MS: u64 = 1_000_000;

/// A machine that a fault meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The controller of this number.
    Controller(usize),
    /// The one that owns the array when the fault begins.
    Owner,
}

/// A fault, or a wish of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A controller stands still, as after SIGSTOP.
    Pause(Who),
    /// A controller is killed, and starts again at the end.
    Kill(Who),
    /// The modules on a shelf have no power.
    Power {
        /// The shelf's number.
        shelf: usize,
    },
    /// A controller does not reach these modules, bit by bit.
    Partition(Who, u16),
    /// The connections of a controller to a module are cut.
    Cut(Who, usize),
    /// Commands of these modules take long, bit by bit.
    SlowModules(u16),
    /// Messages of a controller take long.
    SlowNetwork(Who),
    /// The clock of a controller stands still.
    Clock(Who),
    /// The owner does not reach these modules, bit by bit, and all others do not reach the rest.
    Split(u16),
    /// An operator wants a controller to end in order.
    Release(Who),
    /// An operator wants a controller to take over.
    TakeOver(usize),
}

/// A fault with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Nanoseconds from the beginning.
    pub at_ns: u64,
    /// How long it lasts.
    pub for_ns: u64,
    /// The fault itself.
    pub kind: Kind,
}

/// The machines and the faults of a life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of controllers.
    pub controllers: usize,
    /// The number of modules.
    pub modules: usize,
    /// The number of shelves that the modules lie on, in turn.
    pub shelves: usize,
    /// The number of hosts.
    pub hosts: usize,
    /// Writes of a hundred requests.
    pub writes: u64,
    /// In order of time.
    pub faults: Vec<Fault>,
}

/// The longest time for which a clock stands still.
pub const CLOCK_STOPS_NS: u64 = 250 * MS;

impl Plan {
    /// The plan of a life.
    pub fn draw(rng: &mut Rng, flaw: Option<Flaw>) -> Plan {
        let modules = 5 + rng.below(3) as usize;
        let controllers = 2 + rng.below(2) as usize;
        let shelves = if rng.below(3) == 0 { 3 } else { modules };
        let count = [0, 1, 1, 2, 2, 3, 3, 4, 5, 6][rng.below(10) as usize];
        // Faults that belong together come close to each other.
        let mut at_ns = (300 + rng.below(1_500)) * MS;
        let mut faults = Vec::new();
        for _ in 0..count {
            let who = match rng.below(3) {
                0 => Who::Controller(rng.below(controllers as u64) as usize),
                _ => Who::Owner,
            };
            let module = rng.below(modules as u64) as usize;
            let kind = match rng.below(20) {
                0..=4 => Kind::Pause(who),
                5..=6 => Kind::Kill(who),
                7..=8 => Kind::Power { shelf: rng.below(shelves as u64) as usize },
                9..=11 => Kind::Partition(who, rng.below(1 << modules) as u16),
                12 => Kind::Cut(who, module),
                13..=14 => Kind::SlowModules(rng.below(1 << modules) as u16),
                15 => Kind::SlowNetwork(who),
                16 => Kind::Clock(who),
                17..=18 => Kind::Release(Who::Owner),
                _ => Kind::TakeOver(rng.below(controllers as u64) as usize),
            };
            // More than once within a lease would be more than is promised for.
            let is_second = faults.iter().any(|fault: &Fault| matches!(fault.kind, Kind::Clock(_)));
            let kind = if matches!(kind, Kind::Clock(_)) && is_second { Kind::Pause(who) } else { kind };
            let longest = [500, 2_500, 6_000][rng.below(3) as usize];
            let for_ns = match kind {
                Kind::Clock(_) if flaw == Some(Flaw::ClockStops) => 6_000 * MS,
                Kind::Clock(_) => rng.below(CLOCK_STOPS_NS),
                _ => (50 + rng.below(longest)) * MS,
            };
            faults.push(Fault { at_ns, for_ns, kind });
            at_ns += [20, 500, 2_500][rng.below(3) as usize] * MS * (1 + rng.below(100)) / 100;
        }
        let mut writes = 50;
        match rng.below(10) {
            0..=1 => faults = Plan::with_late_writes(rng, modules, controllers),
            2 => faults = Plan::with_short_claim(rng, controllers),
            // An owner that only reads does not find out by a write.
            3 => (faults, writes) = (vec![Plan::split(rng, modules)], rng.below(3)),
            4 => faults = Plan::outage(rng, shelves),
            _ => {}
        }
        Plan { controllers, modules, shelves, hosts: 2 + rng.below(2) as usize, writes, faults }
    }

    /// Writes are on their way for long, and the array changes its owner meanwhile, and again afterwards.
    fn with_late_writes(rng: &mut Rng, modules: usize, controllers: usize) -> Vec<Fault> {
        let slow = Kind::SlowModules(rng.below(1 << modules) as u16 | rng.below(1 << modules) as u16);
        let mut change = |at_ns: u64| {
            let kind = match rng.below(6) {
                0 => Kind::Pause(Who::Owner),
                1..=2 => Kind::Kill(Who::Owner),
                3 => Kind::Partition(Who::Owner, (1 << modules) - 1),
                4 => Kind::Release(Who::Owner),
                _ => Kind::TakeOver(rng.below(controllers as u64) as usize),
            };
            Fault { at_ns, for_ns: (20 + rng.below(500)) * MS, kind }
        };
        let changes = [change(1_100 * MS), change(5_000 * MS)];
        let [first, second] = changes.map(|change| Fault { at_ns: change.at_ns + rng.below(2_500 * MS), ..change });
        vec![Fault { at_ns: 1_000 * MS, for_ns: rng.below(3_000 * MS), kind: slow }, first, second]
    }

    /// A claimant is told to end before it was an owner.
    fn with_short_claim(rng: &mut Rng, controllers: usize) -> Vec<Fault> {
        let at_ns = (1_000 + rng.below(1_000)) * MS;
        let claimant = rng.below(controllers as u64) as usize;
        let slow = Fault { at_ns, for_ns: rng.below(3_000) * MS, kind: Kind::SlowNetwork(Who::Owner) };
        if rng.below(3) == 0 {
            // The answers to renewals wait while it stands still.
            let at_ns = at_ns + rng.below(1_500) * MS;
            return vec![slow, Fault { at_ns, for_ns: (4_000 + rng.below(3_000)) * MS, kind: Kind::Pause(Who::Owner) }];
        }
        let take_over = Fault { at_ns: at_ns + 1, for_ns: 0, kind: Kind::TakeOver(claimant) };
        let release_at = at_ns + 2 + rng.below(400 * MS);
        let release = Fault { at_ns: release_at, for_ns: 0, kind: Kind::Release(Who::Controller(claimant)) };
        if rng.below(2) == 0 { vec![slow, take_over, release] } else { vec![slow, take_over] }
    }

    /// The owner reaches some modules, mostly a single one, and the others the rest.
    fn split(rng: &mut Rng, modules: usize) -> Fault {
        let one = 1 << rng.below(modules as u64);
        let reached = if rng.below(3) > 0 { one } else { rng.below(1 << modules) as u16 };
        let kind = Kind::Split(((1 << modules) - 1) & !reached);
        Fault { at_ns: (1_000 + rng.below(1_000)) * MS, for_ns: (2_000 + rng.below(5_000)) * MS, kind }
    }

    /// Shelves lose their power at about the same time, most of them or all.
    fn outage(rng: &mut Rng, shelves: usize) -> Vec<Fault> {
        let at_ns = (1_000 + rng.below(1_000)) * MS;
        let mut faults: Vec<Fault> = Vec::new();
        for shelf in 0..shelves {
            if rng.below(6) > 0 {
                let at_ns = at_ns + rng.below(20) * MS;
                faults.push(Fault { at_ns, for_ns: (10 + rng.below(600)) * MS, kind: Kind::Power { shelf } });
            }
        }
        faults.sort_by_key(|fault| fault.at_ns);
        faults
    }

    /// The end of the last fault.
    pub fn healed_ns(&self) -> u64 {
        self.faults.iter().map(|fault| fault.at_ns + fault.for_ns).max().unwrap_or(3_000 * MS)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Controller(number) => write!(f, "controller {number}"),
            Who::Owner => f.write_str("the owner"),
        }
    }
}

/// Modules, by their numbers.
fn list(modules: u16) -> String {
    let numbers: Vec<String> =
        (0..16).filter(|number| modules >> number & 1 != 0).map(|number| number.to_string()).collect();
    if numbers.is_empty() { "no modules".to_owned() } else { format!("modules {}", numbers.join(" ")) }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, lasts) = (self.at_ns as f64 / 1e9, self.for_ns as f64 / 1e9);
        write!(f, "{at:.3} s: ")?;
        match self.kind {
            Kind::Pause(who) => write!(f, "{who} stands still for {lasts:.3} s"),
            Kind::Kill(who) => write!(f, "{who} is killed, and starts after {lasts:.3} s"),
            Kind::Power { shelf } => write!(f, "shelf {shelf} has no power for {lasts:.3} s"),
            Kind::Partition(who, modules) => write!(f, "{who} does not reach {} for {lasts:.3} s", list(modules)),
            Kind::Cut(who, module) => write!(f, "the connections of {who} to module {module} are cut"),
            Kind::SlowModules(modules) => write!(f, "{} are slow for {lasts:.3} s", list(modules)),
            Kind::SlowNetwork(who) => write!(f, "the network of {who} is slow for {lasts:.3} s"),
            Kind::Clock(who) => write!(f, "the clock of {who} stands still for {lasts:.3} s"),
            Kind::Split(modules) => {
                write!(f, "the owner does not reach {}, and others not the rest, for {lasts:.3} s", list(modules))
            }
            Kind::Release(who) => write!(f, "{who} ends in order"),
            Kind::TakeOver(number) => write!(f, "controller {number} is told to take over"),
        }
    }
}
