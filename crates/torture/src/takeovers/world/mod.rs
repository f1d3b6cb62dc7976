//! The machines of a life, the network between them, and the order in which things happen.

use crate::takeovers::clock::{Clock, MOST};
use crate::takeovers::flaw::Flaw;
use crate::takeovers::history::{Disorder, Operation, judge};
use crate::takeovers::met::Met;
use crate::takeovers::plan::Plan;
use crate::takeovers::process::{Effect, Input, Process};
use crate::takeovers::shelf::{Answered, Shelf};
use crate::takeovers::words::{Ask, Line, Reply, Request, SECTORS, Told};
use device::{Rng, Time};
use session::ownership::{Claim, End, Terms};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

mod hosts;
mod strikes;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// How often a controller looks after its connections.
const TICK_NS: u64 = 100 * MS;
/// Hosts wait so long for an answer, some of them or others.
const PATIENCE_NS: [u64; 3] = [1_500 * MS, 1_500 * MS, 9_000 * MS];
/// Without any fault, an owner stays from then on.
const SETTLED_NS: u64 = 1_000 * MS;
/// After the last fault, the array is served within this time.
const RECOVERED_NS: u64 = 40_000 * MS;

/// The way in which a life was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// The answers that hosts got have no order.
    #[error("{0}")]
    Disorder(#[from] Disorder),
    /// Two controllers could answer at once.
    #[error("two controllers could answer at once")]
    TwoOwners,
    /// An owner has a claim that is not above all before.
    #[error("an owner has a claim that is not above that of the last one")]
    NotAbove,
    /// Long after the last fault the array is not served.
    #[error("the array is not served, long after the last fault")]
    NotServed,
    /// The owner changed although nothing had happened.
    #[error("the owner changed although nothing had happened")]
    Unasked,
}

#[derive(Debug)]
enum Event {
    /// A message reaches a module: its number on its connection says whether a cut was before it.
    ToModule {
        connection: usize,
        number: u32,
        id: u32,
        ask: Ask,
    },
    /// The end of a connection reaches its module.
    Closed {
        connection: usize,
    },
    ToController {
        controller: usize,
        start: u32,
        input: Input,
    },
    /// An answer of a module, which is lost when its connection is.
    Answer {
        connection: usize,
        id: u32,
        told: Told,
    },
    Tick {
        controller: usize,
        start: u32,
    },
    Connect {
        controller: usize,
        start: u32,
        module: usize,
        line: Line,
    },
    Resume {
        controller: usize,
    },
    Start {
        controller: usize,
    },
    CommandEnds {
        module: usize,
        boot: u32,
        number: u64,
    },
    Power {
        module: usize,
    },
    Fault {
        number: usize,
    },
    HostGoes {
        host: usize,
    },
    HostGivesUp {
        host: usize,
        number: u32,
    },
    ToHost {
        host: usize,
        number: u32,
        reply: Reply,
    },
}

/// An event with its time; those of one time in the order in which they were planned.
#[derive(Debug)]
struct Due {
    at: Time,
    order: u64,
    event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.order == other.order
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

#[derive(Debug)]
struct Connection {
    controller: usize,
    start: u32,
    host: [u8; 16],
    module: usize,
    line: Line,
    boot: u32,
    /// The controller still listens.
    is_open: bool,
    sent: u32,
    arrived: u32,
    /// Messages from this one on were lost in a cut.
    lost_from: u32,
    /// Order is kept in each direction.
    last_there: Time,
    last_back: Time,
}

#[derive(Debug)]
struct Machine {
    process: Option<Process>,
    /// The starts so far.
    start: u32,
    clock: Clock,
    paused_until: Time,
    /// It stood still when these came.
    inbox: Vec<Input>,
    slow_until: Time,
    /// The modules that it does not reach, until when.
    blocked: Vec<Time>,
    timer: Time,
}

#[derive(Debug, Default)]
struct Host {
    /// The request in flight, with the place in the history.
    asked: Option<(Request, usize)>,
    believes: usize,
    /// Sectors that were read since everything was healed.
    seen: u32,
}

/// See the module.
pub struct World {
    plan: Plan,
    flaw: Option<Flaw>,
    rng: Rng,
    now: Time,
    order: u64,
    due: BinaryHeap<Reverse<Due>>,
    machines: Vec<Machine>,
    modules: Vec<Shelf>,
    boots: Vec<u32>,
    slow_modules: Vec<Time>,
    connections: Vec<Connection>,
    hosts: Vec<Host>,
    history: Vec<Operation>,
    /// Calls and returns so far.
    moments: u32,
    last_owner: Option<Claim>,
    owner: Option<usize>,
    healed: Time,
    hot_until: Time,
    wrong: Option<Wrong>,
    pub met: Met,
    pub events: u64,
}

impl World {
    pub fn new(plan: &Plan, mut rng: Rng, flaw: Option<Flaw>) -> World {
        let machine = |rng: &mut Rng| Machine {
            process: None,
            start: 0,
            clock: Clock::new(rng.below(2 * MOST + 1), Time(rng.below(1 << 40))),
            paused_until: Time::ZERO,
            inbox: Vec::new(),
            slow_until: Time::ZERO,
            blocked: vec![Time::ZERO; plan.modules],
            timer: Time::NEVER,
        };
        let machines = (0..plan.controllers).map(|_| machine(&mut rng)).collect();
        let mut world = World {
            plan: plan.clone(),
            flaw,
            rng,
            now: Time::ZERO,
            order: 0,
            due: BinaryHeap::new(),
            machines,
            modules: (0..plan.modules).map(|_| Shelf::new()).collect(),
            boots: vec![0; plan.modules],
            slow_modules: vec![Time::ZERO; plan.modules],
            connections: Vec::new(),
            hosts: (0..plan.hosts).map(|_| Host::default()).collect(),
            history: Vec::new(),
            moments: 0,
            last_owner: None,
            owner: None,
            healed: Time(plan.healed_ns()),
            hot_until: Time(200 * MS),
            wrong: None,
            met: Met::default(),
            events: 0,
        };
        for controller in 0..plan.controllers {
            let delay = world.rng.below(3 * MS);
            world.after(delay, Event::Start { controller });
        }
        for host in 0..plan.hosts {
            world.after(5 * MS, Event::HostGoes { host });
        }
        for (number, fault) in plan.faults.iter().enumerate() {
            world.after(fault.at_ns, Event::Fault { number });
        }
        world
    }

    /// Lives until all hosts have read everything after the last fault, and judges.
    pub fn live(&mut self) -> Result<(), Wrong> {
        while let Some(Reverse(due)) = self.due.pop() {
            self.now = due.at;
            self.events += 1;
            self.happen(due.event);
            if let Some(wrong) = self.wrong {
                return Err(wrong);
            }
            if self.now > self.healed && self.hosts.iter().all(|host| host.seen == (1 << SECTORS) - 1) {
                break;
            }
            if self.now > self.healed + RECOVERED_NS {
                return Err(Wrong::NotServed);
            }
        }
        for machine in 0..self.machines.len() {
            self.take_counts(machine);
        }
        for module in &self.modules {
            self.met.waited += module.waited;
            self.met.kept_out += module.kept_out;
            self.met.carried_out_late += module.carried_out_late;
        }
        let unanswered = self.history.iter().filter(|operation| operation.returned.is_none()).count() as u64;
        self.met.unanswered += unanswered - self.met.turned_away;
        self.met.answered += self.history.len() as u64 - unanswered;
        judge(&self.history)?;
        Ok(())
    }

    fn take_counts(&mut self, machine: usize) {
        if let Some(process) = &mut self.machines[machine].process {
            self.met.add(&std::mem::take(&mut process.met));
        }
    }

    fn at(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.due.push(Reverse(Due { at, order: self.order, event }));
    }

    fn after(&mut self, ns: u64, event: Event) {
        self.at(self.now + ns, event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::ToModule { connection, number, id, ask } => self.reach_module(connection, number, id, ask),
            Event::Closed { connection } => {
                let of = &self.connections[connection];
                if of.boot == self.boots[of.module] {
                    self.modules[of.module].close(connection);
                }
            }
            Event::ToController { controller, start, input } => self.reach_controller(controller, start, input),
            Event::Answer { connection, id, told } => {
                let of = &self.connections[connection];
                if of.is_open {
                    let (controller, start, module, line) = (of.controller, of.start, of.module, of.line);
                    let input = Input::Told { line, module, connection, id, told };
                    self.reach_controller(controller, start, input);
                }
            }
            Event::Tick { controller, start } => self.tick(controller, start),
            Event::Connect { controller, start, module, line } => self.connect(controller, start, module, line),
            Event::Resume { controller } => {
                if self.now >= self.machines[controller].paused_until {
                    let start = self.machines[controller].start;
                    for input in std::mem::take(&mut self.machines[controller].inbox) {
                        self.reach_controller(controller, start, input);
                    }
                }
            }
            Event::Start { controller } => self.start(controller),
            Event::CommandEnds { module, boot, number } => {
                if boot == self.boots[module] {
                    let answers = self.modules[module].end(number);
                    answers.into_iter().for_each(|Answered { connection, request, told }| {
                        self.answer(connection, request, told);
                    });
                }
            }
            Event::Power { module } => self.modules[module].is_powered = true,
            Event::Fault { number } => self.strike(self.plan.faults[number]),
            Event::HostGoes { host } => self.host_goes(host),
            Event::HostGivesUp { host, number } => {
                if self.hosts[host].asked.is_some_and(|(request, _)| request.number == number) {
                    self.hosts[host].asked = None;
                    self.look_elsewhere(host);
                }
            }
            Event::ToHost { host, number, reply } => self.reach_host(host, number, reply),
        }
    }

    /// The time of a message on its way; mostly short.
    fn delay_ns(&mut self, is_slow: bool) -> u64 {
        match self.rng.below(200) {
            _ if is_slow => self.rng.below(800 * MS),
            0 => self.rng.below(60 * MS),
            _ => 30 * US + self.rng.below(300 * US),
        }
    }

    fn reach_module(&mut self, connection: usize, number: u32, id: u32, ask: Ask) {
        let of = &mut self.connections[connection];
        if number >= of.lost_from || of.boot != self.boots[of.module] {
            return;
        }
        of.arrived = number + 1;
        let (module, host) = (of.module, of.host);
        let shelf = &mut self.modules[module];
        let told = shelf.arrive(connection, host, id, ask, self.flaw);
        if let Some(number) = shelf.accepted.take() {
            let is_slow = self.now < self.slow_modules[module];
            let takes = match self.rng.below(100) {
                0..30 if is_slow => self.rng.below(2_000 * MS),
                30..50 if is_slow => self.rng.below(8_000 * MS),
                0 => self.rng.below(300 * MS),
                _ => 40 * US + self.rng.below(200 * US),
            };
            let boot = self.boots[module];
            self.after(takes, Event::CommandEnds { module, boot, number });
        }
        if let Some(told) = told {
            self.answer(connection, id, told);
        }
    }

    fn answer(&mut self, connection: usize, id: u32, told: Told) {
        let (controller, module) = (self.connections[connection].controller, self.connections[connection].module);
        let machine = &self.machines[controller];
        let (slow, blocked) = (self.now < machine.slow_until, machine.blocked[module]);
        let at = self.now.max(blocked) + self.delay_ns(slow);
        let of = &mut self.connections[connection];
        of.last_back = at.max(of.last_back + 1);
        let at = of.last_back;
        self.at(at, Event::Answer { connection, id, told });
    }

    fn send(&mut self, connection: usize, id: u32, ask: Ask) {
        let (controller, module) = (self.connections[connection].controller, self.connections[connection].module);
        let machine = &self.machines[controller];
        let (slow, blocked) = (self.now < machine.slow_until, machine.blocked[module]);
        let at = self.now.max(blocked) + self.delay_ns(slow);
        let of = &mut self.connections[connection];
        if !of.is_open {
            return;
        }
        of.last_there = at.max(of.last_there + 1);
        let (at, number) = (of.last_there, of.sent);
        of.sent += 1;
        self.at(at, Event::ToModule { connection, number, id, ask });
    }

    /// The controller ends a connection, or has ended itself: what it has sent may arrive, up to some message.
    fn cut(&mut self, connection: usize) {
        let of = &mut self.connections[connection];
        if !of.is_open {
            return;
        }
        of.is_open = false;
        let on_the_way = u64::from(of.sent - of.arrived);
        of.lost_from = of.arrived + self.rng.below(on_the_way + 1) as u32;
        let at = of.last_there.max(self.now) + 1;
        self.at(at, Event::Closed { connection });
    }

    fn start(&mut self, controller: usize) {
        if self.machines[controller].process.is_some() {
            return;
        }
        let machine = &mut self.machines[controller];
        machine.start += 1;
        machine.inbox.clear();
        machine.timer = Time::NEVER;
        let start = machine.start;
        let mut host = [0; 16];
        host[0] = controller as u8 + 1;
        if self.flaw != Some(Flaw::SameHost) {
            host[1..5].copy_from_slice(&start.to_le_bytes());
        }
        let terms = Terms::usual(self.plan.modules, 1, controller as u8);
        machine.process = Some(Process::new(host, controller as u8, terms, self.flaw));
        for module in 0..self.plan.modules {
            for line in [Line::Reservations, Line::Data] {
                let delay = self.rng.below(2 * MS);
                self.after(delay, Event::Connect { controller, start, module, line });
            }
        }
        self.after(TICK_NS, Event::Tick { controller, start });
    }

    fn connect(&mut self, controller: usize, start: u32, module: usize, line: Line) {
        let machine = &self.machines[controller];
        let Some(process) = machine.process.as_ref().filter(|_| machine.start == start) else { return };
        if !self.modules[module].is_powered || self.now < machine.blocked[module] || self.now < machine.paused_until {
            let delay = 50 * MS + self.rng.below(100 * MS);
            return self.after(delay, Event::Connect { controller, start, module, line });
        }
        let host = process.host(module);
        let connection = self.connections.len();
        self.connections.push(Connection {
            controller,
            start,
            host,
            module,
            line,
            boot: self.boots[module],
            is_open: true,
            sent: 0,
            arrived: 0,
            lost_from: u32::MAX,
            last_there: Time::ZERO,
            last_back: Time::ZERO,
        });
        let input = Input::Connected { line, module, connection, host };
        self.after(200 * US, Event::ToController { controller, start, input });
    }

    /// A connection ends without the controller's doing: it hears of it.
    fn tell_of_end(&mut self, connection: usize, within_ns: u64) {
        self.cut(connection);
        let of = &self.connections[connection];
        let (controller, start, line, module) = (of.controller, of.start, of.line, of.module);
        let delay = 1 + self.rng.below(within_ns);
        let input = Input::Lost { line, module, connection };
        self.after(delay, Event::ToController { controller, start, input });
    }

    fn open_connections(&self, is_meant: impl Fn(&Connection) -> bool) -> Vec<usize> {
        let all = self.connections.iter().enumerate();
        all.filter(|(_, of)| of.is_open && is_meant(of)).map(|(number, _)| number).collect()
    }

    fn tick(&mut self, controller: usize, start: u32) {
        let machine = &mut self.machines[controller];
        if machine.start != start || machine.process.is_none() {
            return;
        }
        if self.now >= machine.paused_until {
            let shown = machine.clock.at(self.now);
            machine.process.as_mut().expect("it was just there").tick(shown);
            self.carry_out(controller);
        }
        self.after(TICK_NS, Event::Tick { controller, start });
    }

    fn reach_controller(&mut self, controller: usize, start: u32, input: Input) {
        let machine = &mut self.machines[controller];
        if machine.start != start {
            return;
        }
        if self.now < machine.paused_until {
            return machine.inbox.push(input);
        }
        let Some(process) = &mut machine.process else { return };
        if let Input::Timer = input {
            machine.timer = Time::NEVER;
        }
        // A connection that ends without the controller's doing is made again.
        let again = match input {
            Input::Lost { line, module, .. } => Some((line, module)),
            _ => None,
        };
        process.handle(machine.clock.at(self.now), input);
        if let Some((line, module)) = again {
            let delay = 1 + self.rng.below(300 * MS);
            self.after(delay, Event::Connect { controller, start, module, line });
        }
        self.carry_out(controller);
    }

    fn carry_out(&mut self, controller: usize) {
        let machine = &mut self.machines[controller];
        let Some(process) = &mut machine.process else { return };
        let start = machine.start;
        let effects = std::mem::take(&mut process.effects);
        let next = process.core.next_event();
        if next < machine.timer {
            machine.timer = next;
            let at = machine.clock.when(next, self.now);
            self.at(at, Event::ToController { controller, start, input: Input::Timer });
        }
        for effect in effects {
            match effect {
                Effect::Send { connection, id, ask } => self.send(connection, id, ask),
                Effect::Cut { line, module, connection } => {
                    self.cut(connection);
                    let delay = 1 + self.rng.below(300 * MS);
                    self.after(delay, Event::Connect { controller, start, module, line });
                }
                Effect::Read(request, value) => {
                    let delay = if self.rng.below(5) == 0 { self.rng.below(80 * MS) } else { self.rng.below(200 * US) };
                    let input = Input::ReadDone(request, value);
                    self.after(delay, Event::ToController { controller, start, input });
                }
                Effect::Reply(request, reply) => {
                    let slow = self.now < self.machines[controller].slow_until;
                    let delay = self.delay_ns(slow);
                    let (host, number) = (usize::from(request.host), request.number);
                    self.after(delay, Event::ToHost { host, number, reply });
                }
                Effect::Serves { claim, at_once } => self.serves(controller, claim, at_once),
                Effect::Ended(end) => self.ended(controller, end),
            }
        }
    }

    fn serves(&mut self, controller: usize, claim: Claim, at_once: bool) {
        self.met.owners += 1;
        self.met.at_once += u64::from(at_once && self.met.owners > 1);
        self.heat();
        self.owner = Some(controller);
        if self.last_owner.is_some_and(|last| claim <= last) {
            self.wrong = Some(Wrong::NotAbove);
        }
        self.last_owner = Some(claim);
        for (number, machine) in self.machines.iter().enumerate() {
            let may_answer =
                |process: &Process| number != controller && process.core.may_answer(machine.clock.at(self.now));
            if machine.process.as_ref().is_some_and(may_answer) {
                self.wrong = Some(Wrong::TwoOwners);
            }
        }
    }

    fn ended(&mut self, controller: usize, end: End) {
        // Those that start at once may get in each other's way.
        if self.plan.faults.is_empty() && self.now > Time(SETTLED_NS) {
            self.wrong = Some(Wrong::Unasked);
        }
        match end {
            End::Superseded => self.met.superseded += 1,
            End::Released => self.met.released += 1,
            End::GivenUp | End::Exhausted => {}
        }
        let delay = 20 * MS + self.rng.below(500 * MS);
        self.kill(controller, delay);
    }

    /// The process is gone, and another one starts later.
    fn kill(&mut self, controller: usize, for_ns: u64) {
        self.take_counts(controller);
        self.machines[controller].process = None;
        for connection in self.open_connections(|of| of.controller == controller) {
            self.cut(connection);
        }
        self.after(for_ns, Event::Start { controller });
    }

    fn heat(&mut self) {
        self.hot_until = self.hot_until.max(self.now + 4_500 * MS);
    }
}
