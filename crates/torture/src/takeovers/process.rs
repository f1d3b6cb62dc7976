//! A controller: the ownership, the array while it owns it, and the connections to modules.

use super::array::{Act, Array};
use super::flaw::Flaw;
use super::met::Met;
use super::words::{Ask, Line, Reply, Request, Set, Told};
use device::Time;
use session::ownership::{Action, Claim, End, HostId, Ownership, Standing, Terms};
use std::collections::VecDeque;

/// The time after which a connection that does not answer is given up.
const TIMEOUT_NS: u64 = 1_000_000_000;

/// Everything that happens to a controller.
#[derive(Clone, Debug)]
pub enum Input {
    Timer,
    Connected { line: Line, module: usize, connection: usize, host: HostId },
    Lost { line: Line, module: usize, connection: usize },
    Told { line: Line, module: usize, connection: usize, id: u32, told: Told },
    Asked(Request),
    ReadDone(Request, u32),
    TakeOver,
    Release,
}

/// Everything that a controller does.
#[derive(Clone, Debug)]
pub enum Effect {
    Send {
        connection: usize,
        id: u32,
        ask: Ask,
    },
    Cut {
        line: Line,
        module: usize,
        connection: usize,
    },
    /// A read takes a while.
    Read(Request, u32),
    Reply(Request, Reply),
    Serves {
        claim: Claim,
        at_once: bool,
    },
    Ended(End),
}

#[derive(Clone, Debug, Default)]
struct Lines {
    connection: Option<usize>,
    /// The requests without an answer, and when they were sent.
    asked: VecDeque<(u32, Time)>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Process {
    hosts: Vec<HostId>,
    pub core: Ownership,
    pub array: Option<Array>,
    reservations: Vec<Lines>,
    data: Vec<Lines>,
    /// Hosts are served, since this claim.
    serves: bool,
    closes: bool,
    /// The array was opened so late that no more waiting was needed, or at once.
    opened: Option<Time>,
    /// Answers that wait for a lease: reads are carried out again.
    held_back: Vec<(Request, bool)>,
    had_lease: bool,
    flaw: Option<Flaw>,
    pub met: Met,
    pub effects: Vec<Effect>,
}

impl Process {
    pub fn new(host: HostId, number: u8, terms: Terms, flaw: Option<Flaw>) -> Process {
        Process {
            hosts: vec![host; terms.modules],
            core: Ownership::new(number, terms),
            array: None,
            reservations: vec![Lines::default(); terms.modules],
            data: vec![Lines::default(); terms.modules],
            serves: false,
            closes: false,
            opened: None,
            held_back: Vec::new(),
            had_lease: false,
            flaw,
            met: Met::default(),
            effects: Vec::new(),
        }
    }

    /// The host that it is at a module.
    pub fn host(&self, module: usize) -> HostId {
        self.hosts[module]
    }

    fn line(&mut self, line: Line, module: usize) -> &mut Lines {
        match line {
            Line::Reservations => &mut self.reservations[module],
            Line::Data => &mut self.data[module],
        }
    }

    /// Takes one event, and does what follows from it.
    pub fn handle(&mut self, now: Time, input: Input) {
        let was_claiming = matches!(self.core.standing(), Standing::Claiming(_));
        match input {
            Input::Timer => self.core.advance(now),
            // It was made as the host that this controller was before.
            Input::Connected { line, module, connection, host } if host != self.hosts[module] => {
                self.effects.push(Effect::Cut { line, module, connection });
            }
            Input::Connected { line, module, connection, .. } => {
                let lines = self.line(line, module);
                (lines.connection, lines.asked) = (Some(connection), VecDeque::new());
                if line == Line::Reservations {
                    self.core.connected(now, module, self.hosts[module]);
                }
            }
            Input::Lost { line, module, connection } => self.lost(now, line, module, connection),
            Input::Told { line, module, connection, id, told } => {
                let lines = self.line(line, module);
                if lines.connection != Some(connection) {
                    return;
                }
                lines.asked.retain(|asked| asked.0 != id);
                match told {
                    Told::Reserved(answer) => self.core.answered(now, module, answer),
                    Told::Conflict => self.core.conflict(),
                    Told::Done => self.done(module, id, None),
                    Told::Contents(contents) => self.done(module, id, Some(contents)),
                }
            }
            Input::Asked(request) => self.asked(request),
            Input::ReadDone(request, value) => {
                let unchecked = self.flaw == Some(Flaw::ReadAfterLease);
                if self.core.may_answer(now) || unchecked && self.serves {
                    self.effects.push(Effect::Reply(request, Reply::Value(value)));
                } else {
                    self.hold_back(request, true);
                }
            }
            Input::TakeOver => self.core.take_over(now),
            Input::Release => self.core.release(now),
        }
        self.work(now);
        if was_claiming && self.core.standing() == Standing::Standby {
            self.met.abandoned += 1;
        }
    }

    fn hold_back(&mut self, request: Request, again: bool) {
        self.met.held_back += 1;
        self.held_back.push((request, again));
    }

    fn lost(&mut self, now: Time, line: Line, module: usize, connection: usize) {
        let lines = self.line(line, module);
        if lines.connection != Some(connection) {
            return;
        }
        (lines.connection, lines.asked) = (None, VecDeque::new());
        match line {
            Line::Reservations => self.core.lost(now, module),
            Line::Data => {
                self.lost_data(module);
                if self.flaw == Some(Flaw::SameHostAgain) {
                    return;
                }
                // Both connections are made again, as another host.
                let times = u32::from_le_bytes([5, 6, 7, 8].map(|at| self.hosts[module][at])) + 1;
                self.hosts[module][5..9].copy_from_slice(&times.to_le_bytes());
                let lines = &mut self.reservations[module];
                if let Some(connection) = lines.connection.take() {
                    lines.asked.clear();
                    self.effects.push(Effect::Cut { line: Line::Reservations, module, connection });
                }
                self.core.left(now, module);
            }
        }
    }

    fn lost_data(&mut self, module: usize) {
        if let Some(array) = &mut self.array {
            array.lost(module, &mut self.met);
        }
    }

    fn done(&mut self, module: usize, id: u32, contents: Option<Box<super::words::Contents>>) {
        if let Some(array) = &mut self.array {
            array.done(module, id, contents, &mut self.met);
        }
    }

    fn asked(&mut self, request: Request) {
        if !self.serves || self.closes {
            self.effects.push(Effect::Reply(request, Reply::NotOwner));
            return;
        }
        let Some(array) = &mut self.array else { return };
        if request.is_write {
            array.write(request, &mut self.met);
        } else {
            self.effects.push(Effect::Read(request, array.read(request.sector)));
        }
    }

    /// Connections that have not answered for too long are cut, and modules that came back are filled.
    pub fn tick(&mut self, now: Time) {
        for line in [Line::Reservations, Line::Data] {
            for module in 0..self.data.len() {
                let lines = self.line(line, module);
                let is_late = lines.asked.front().is_some_and(|(_, sent)| now.since_ns(*sent) > TIMEOUT_NS);
                if let Some(connection) = lines.connection.filter(|_| is_late) {
                    self.effects.push(Effect::Cut { line, module, connection });
                    self.lost(now, line, module, connection);
                }
            }
        }
        for module in 0..self.data.len() {
            let is_back = self.core.holds(module) && self.data[module].connection.is_some() && self.serves;
            if let Some(array) = self.array.as_mut().filter(|_| is_back) {
                array.insert(module, &mut self.met);
            }
        }
        self.work(now);
    }

    /// Carries out what the ownership and the array want, until they want nothing more.
    fn work(&mut self, now: Time) {
        loop {
            let actions: Vec<Action> = self.core.actions().collect();
            let acts = self.array.as_mut().map(|array| std::mem::take(&mut array.acts)).unwrap_or_default();
            if actions.is_empty() && acts.is_empty() {
                break;
            }
            actions.into_iter().for_each(|action| self.act_for_core(now, action));
            acts.into_iter().for_each(|act| self.act_for_array(now, act));
        }
        if self.closes && self.array.as_ref().is_some_and(Array::is_idle) {
            self.core.closed(now);
            let actions: Vec<Action> = self.core.actions().collect();
            actions.into_iter().for_each(|action| self.act_for_core(now, action));
        }
        let has_lease = self.core.may_answer(now);
        if has_lease && !self.had_lease && self.serves && !self.held_back.is_empty() {
            self.met.lapsed += 1;
        }
        self.had_lease = has_lease;
        if has_lease {
            for (request, again) in std::mem::take(&mut self.held_back) {
                let value = match &self.array {
                    Some(array) if again => array.read(request.sector),
                    _ => request.number,
                };
                self.effects.push(Effect::Reply(request, Reply::Value(value)));
            }
        }
    }

    fn act_for_core(&mut self, now: Time, action: Action) {
        match action {
            Action::Ask { module, command } => {
                let lines = &mut self.reservations[module];
                if let Some(connection) = lines.connection {
                    lines.asked.push_back((0, now));
                    self.effects.push(Effect::Send { connection, id: 0, ask: Ask::Reserve(command) });
                }
            }
            Action::Open { claim } => {
                let is_at_hand = |module: &usize| self.core.holds(*module) && self.data[*module].connection.is_some();
                let at_hand: Set = (0..self.data.len()).filter(is_at_hand).map(|module| 1 << module).sum();
                self.opened = Some(now);
                self.array = Some(Array::open(self.data.len(), claim, at_hand, self.flaw));
            }
            Action::Serve => {
                self.serves = true;
                let Standing::Owner(claim) = self.core.standing() else { return };
                let at_once = self.opened.is_some_and(|opened| now.since_ns(opened) < 1_000_000_000);
                self.effects.push(Effect::Serves { claim, at_once });
            }
            Action::Held { .. } => {}
            Action::Close => self.closes = true,
            Action::End(end) => {
                self.serves = false;
                self.effects.push(Effect::Ended(end));
            }
        }
    }

    fn act_for_array(&mut self, now: Time, act: Act) {
        match act {
            Act::Send { module, id, ask } => {
                let lines = &mut self.data[module];
                match lines.connection {
                    Some(connection) => {
                        lines.asked.push_back((id, now));
                        self.effects.push(Effect::Send { connection, id, ask });
                    }
                    None => self.lost_data(module),
                }
            }
            Act::Opened => self.core.opened(now),
            Act::Written(request) if self.core.may_answer(now) => {
                self.effects.push(Effect::Reply(request, Reply::Value(request.number)));
            }
            Act::Written(request) => self.hold_back(request, false),
            Act::Failed => self.core.give_up(),
        }
    }
}
