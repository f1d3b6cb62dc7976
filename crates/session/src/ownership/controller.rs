//! The part of one controller: the answers of modules come in, commands and decisions go out.

use super::command::{Answer, Command, HostId, Report};
use super::key::{Claim, Key};
use super::module::{Fenced, Module};
use super::terms::Terms;
use crate::canary::{Canary, planted};
use device::Time;

/// An act of the one who drives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a command to a module.
    Ask {
        /// The module's number.
        module: usize,
        /// The command to be sent.
        command: Command,
    },
    /// Enough modules are held: open the array with those that [`Ownership::holds`] names, answer nothing yet, and call
    /// [`Ownership::opened`].
    Open {
        /// The claim, which is above those of all owners before.
        claim: Claim,
    },
    /// Hosts may be answered from now on, each time that [`Ownership::may_answer`] says so.
    Serve,
    /// One more module is held, after the array was opened without it.
    Held {
        /// The module's number.
        module: usize,
    },
    /// Answer nothing more, bring what is in flight to its end, and call [`Ownership::closed`].
    Close,
    /// It is over. Answer nothing more; what is in flight does not matter.
    End(End),
}

/// The reason why an owner is none any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Another one has claimed one of its modules.
    Superseded,
    /// The array could not be opened or served, or the driver wanted it to end at once.
    GivenUp,
    /// In order, with keys that say so on a majority.
    Released,
    /// There are no generations left.
    Exhausted,
}

/// The state of a controller, for people and for hosts' paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It looks on.
    Standby,
    /// It takes modules.
    Claiming(Claim),
    /// It holds enough of them, and opens the array or waits for the leases of others.
    Opening(Claim),
    /// It answers while its lease runs.
    Owner(Claim),
    /// It comes to an orderly end.
    Releasing(Claim),
    /// It will do nothing more.
    Ended(End),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Standby,
    /// It registers its key everywhere before it takes anything, to see who else does.
    Claiming {
        begun: Time,
        takes: bool,
    },
    Opening {
        opened: bool,
        serve_at: Time,
    },
    Owner,
    /// The owner is closing the array, or has closed it and marks its keys.
    Releasing {
        closed: bool,
    },
    Ended(End),
}

/// A holder that this claim does not preempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    /// Its generation is higher.
    Newer,
    /// Its generation is the same.
    Equal,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Ownership {
    number: u8,
    terms: Terms,
    modules: Vec<Module>,
    phase: Phase,
    claim: Claim,
    /// An operator wants the array here, whether its owner lives or not.
    is_forced: bool,
    actions: Vec<Action>,
}

impl Ownership {
    /// A controller that looks on.
    #[must_use]
    pub fn new(number: u8, terms: Terms) -> Ownership {
        let modules = vec![Module::default(); terms.modules];
        let claim = Claim::default();
        let (phase, actions) = (Phase::Standby, Vec::new());
        Ownership { number, terms, modules, phase, claim, is_forced: false, actions }
    }

    /// Takes what is to be done, in order.
    pub fn actions(&mut self) -> std::vec::Drain<'_, Action> {
        self.actions.drain(..)
    }

    /// A module can be asked: there is a new connection to it as this host, and nothing is in flight on it. No controller has
    /// had the identifier of a host before, but for this one at this module until it lost a connection for reads and writes.
    pub fn connected(&mut self, now: Time, module: usize, host: HostId) {
        let of = &mut self.modules[module];
        if of.host != host {
            let before = std::mem::replace(&mut of.host, host);
            of.past.push(before);
            (of.is_clean, of.is_told) = (false, false);
        }
        (of.is_connected, of.asked, of.next, of.held) = (true, None, None, None);
        of.not_before = now;
        self.advance(now);
    }

    /// A module can't be asked any more. The commands in flight may be carried out all the same, or later.
    pub fn lost(&mut self, now: Time, module: usize) {
        let of = &mut self.modules[module];
        (of.is_connected, of.asked, of.next, of.held) = (false, None, None, None);
        self.advance(now);
    }

    /// A connection for reads and writes of a module was lost, with commands that may be carried out later. The module is
    /// not held until it was taken again, as another host, from the host before.
    pub fn left(&mut self, now: Time, module: usize) {
        (self.modules[module].is_clean, self.modules[module].is_told) = (false, false);
        self.lost(now, module);
    }

    /// A module has answered its command.
    pub fn answered(&mut self, now: Time, module: usize, answer: Answer) {
        let Some((command, sent)) = self.modules[module].asked.take() else { return };
        match (answer, command) {
            (Answer::Report(report), Command::Report) => {
                self.modules[module].see(&report, sent, now);
                if self.is_claimant() {
                    self.decide(now, module, &report);
                }
            }
            (Answer::Done, command) if self.is_claimant() => self.done(now, module, command, sent),
            (Answer::Failed, _) => self.modules[module].not_before = now + self.terms.look_every_ns,
            // A report tells how it stands.
            _ if self.is_claimant() => (self.modules[module].held, self.modules[module].not_before) = (None, now),
            _ => {}
        }
        self.advance(now);
    }

    /// A read or a write of the array met a Reservation Conflict.
    pub fn conflict(&mut self) {
        if !matches!(self.phase, Phase::Standby | Phase::Ended(_)) {
            self.end(End::Superseded);
        }
    }

    /// The array is open, with all that was there when its modules were taken.
    pub fn opened(&mut self, now: Time) {
        if let Phase::Opening { opened, .. } = &mut self.phase {
            *opened = true;
        }
        self.advance(now);
    }

    /// The array can't be opened or served here. Another controller claims it when the keys have stood still.
    pub fn give_up(&mut self) {
        if !matches!(self.phase, Phase::Ended(_)) {
            self.end(End::GivenUp);
        }
    }

    /// An operator wants the array to be owned here. It is when [`Ownership::standing`] says owner.
    pub fn take_over(&mut self, now: Time) {
        self.is_forced = true;
        self.advance(now);
    }

    /// An operator wants it to end in order. It has when [`Ownership::standing`] says ended.
    pub fn release(&mut self, now: Time) {
        match self.phase {
            Phase::Owner => {
                self.phase = Phase::Releasing { closed: false };
                self.actions.push(Action::Close);
            }
            Phase::Opening { .. } if planted(Canary::ReleasedWhileWaiting) => {
                self.phase = Phase::Releasing { closed: true };
            }
            Phase::Releasing { .. } | Phase::Ended(_) => {}
            // The keys of one that still waits must not say that no lease runs.
            _ => self.end(End::GivenUp),
        }
        self.advance(now);
    }

    /// The array is closed: nothing of it is in flight to any module.
    pub fn closed(&mut self, now: Time) {
        if let Phase::Releasing { closed } = &mut self.phase {
            *closed = true;
            self.modules.iter_mut().for_each(|module| module.not_before = now);
        }
        self.advance(now);
    }

    /// Whether hosts may be given an answer now. This is asked after the answer is known, and before it is sent.
    #[must_use]
    pub fn may_answer(&self, now: Time) -> bool {
        let answers_on = planted(Canary::AnswersAfterRelease) && matches!(self.phase, Phase::Releasing { .. });
        (self.phase == Phase::Owner || answers_on) && (planted(Canary::NoLease) || now < self.lease_end())
    }

    /// The end of the lease, as it is now.
    #[must_use]
    pub fn lease_end(&self) -> Time {
        let mut sent: Vec<Time> = self.modules.iter().filter_map(|module| module.renewed).collect();
        sent.sort_unstable_by(|a, b| b.cmp(a));
        let counted = if planted(Canary::KeptWithoutMajority) { 0 } else { self.terms.majority() - 1 };
        sent.get(counted).map_or(Time::ZERO, |sent| *sent + self.terms.lease_ns)
    }

    /// A module is held, and may be read and written.
    #[must_use]
    pub fn holds(&self, module: usize) -> bool {
        self.is_claimant() && self.modules[module].is_clean
    }

    /// The state of the controller.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.phase {
            Phase::Standby => Standing::Standby,
            Phase::Claiming { .. } => Standing::Claiming(self.claim),
            Phase::Opening { .. } => Standing::Opening(self.claim),
            Phase::Owner => Standing::Owner(self.claim),
            Phase::Releasing { .. } => Standing::Releasing(self.claim),
            Phase::Ended(end) => Standing::Ended(end),
        }
    }

    /// The highest claim that any module was seen with.
    #[must_use]
    pub fn highest_claim(&self) -> Claim {
        self.modules.iter().map(|module| module.highest).max().unwrap_or_default()
    }

    /// When [`Ownership::advance`] has something to do though no module answers.
    #[must_use]
    pub fn next_event(&self) -> Time {
        if let Phase::Ended(_) = self.phase {
            return Time::NEVER;
        }
        let idle = self.modules.iter().filter(|module| module.is_connected && module.asked.is_none());
        let next = idle.map(|module| module.not_before).min().unwrap_or(Time::NEVER);
        match self.phase {
            Phase::Opening { opened: true, serve_at } => next.min(serve_at),
            Phase::Claiming { begun, .. } => {
                let open_at = begun + self.terms.renew_every_ns;
                let open_at = if self.held() >= self.terms.needed() { open_at } else { Time::NEVER };
                next.min(open_at).min(begun + self.patience_ns())
            }
            _ => next,
        }
    }

    /// Does what is due.
    pub fn advance(&mut self, now: Time) {
        match self.phase {
            Phase::Standby => self.claim_if_due(now),
            Phase::Claiming { begun, takes } => {
                let judged = self.modules.iter().filter(|module| module.judged.is_some()).count();
                if !takes && judged >= self.terms.needed() {
                    if !self.is_forced && !self.is_quiet() {
                        return self.abandon(now);
                    }
                    self.phase = Phase::Claiming { begun, takes: true };
                    self.modules.iter_mut().for_each(|module| module.not_before = now);
                }
                // One that was opened without a module would have to fill it later.
                let hoped_for = self.modules.iter().filter(|module| module.is_connected).count();
                let is_all = self.held() >= hoped_for || now >= begun + self.terms.renew_every_ns;
                if self.held() >= self.terms.needed() && is_all {
                    self.open(now);
                } else if now >= begun + self.patience_ns() {
                    self.abandon(now);
                }
            }
            Phase::Opening { opened: true, serve_at } if now >= serve_at && now < self.lease_end() => {
                self.phase = Phase::Owner;
                self.actions.push(Action::Serve);
            }
            Phase::Releasing { closed: true } => {
                let marked = |module: &&Module| module.held.is_some_and(Key::is_released);
                if self.modules.iter().filter(marked).count() >= self.terms.majority() && !self.is_marking() {
                    self.end(End::Released);
                }
            }
            _ => {}
        }
        for module in 0..self.modules.len() {
            self.ask(now, module);
        }
    }

    /// Longer than that a claim does not try: its keys would keep others from claiming.
    fn patience_ns(&self) -> u64 {
        2 * self.terms.silent_for_ns
    }

    fn is_claimant(&self) -> bool {
        !matches!(self.phase, Phase::Standby | Phase::Ended(_))
    }

    fn is_marking(&self) -> bool {
        let marks = |command: Command| matches!(command, Command::Replace { new, .. } if new.is_released());
        self.modules.iter().any(|module| module.asked.is_some_and(|(command, _)| marks(command)))
    }

    fn held(&self) -> usize {
        self.modules.iter().filter(|module| module.held.is_some()).count()
    }

    fn end(&mut self, end: End) {
        self.phase = Phase::Ended(end);
        self.actions.push(Action::End(end));
    }

    fn claim_if_due(&mut self, now: Time) {
        let at_hand = self.modules.iter().filter(|module| module.is_connected && module.seen.is_some()).count();
        if at_hand < self.terms.needed() || !(self.is_forced || self.is_quiet()) {
            return;
        }
        let step = u32::from(!planted(Canary::EqualGeneration));
        let generation = self.highest_claim().generation.max(self.claim.generation) + step;
        if generation >= 1 << 24 {
            return self.end(End::Exhausted);
        }
        self.claim = Claim { generation, controller: self.number };
        self.phase = Phase::Claiming { begun: now, takes: false };
        self.modules.iter_mut().for_each(Module::forget_claim);
    }

    /// The keys on a majority have stood still.
    fn is_quiet(&self) -> bool {
        let quiet = |module: &&Module| module.is_quiet(self.terms.silent_for_ns);
        self.modules.iter().filter(quiet).count() >= self.terms.majority()
    }

    /// Back to looking on. Nothing was opened, so the host identifier may stay.
    fn abandon(&mut self, now: Time) {
        self.phase = Phase::Standby;
        for module in &mut self.modules {
            module.forget_claim();
            module.look_afresh(now);
        }
    }

    fn open(&mut self, now: Time) {
        let fences = self.modules.iter().filter_map(|module| module.fenced);
        let cleared = fences.clone().filter(|fenced| fenced.cleared).count();
        let mut taken: Vec<Time> = fences.map(|fenced| fenced.at).collect();
        taken.sort_unstable();
        let majority = self.terms.majority();
        let serve_at = match cleared >= majority || planted(Canary::NoWait) {
            true => now,
            false => taken[majority - 1] + self.terms.wait_ns,
        };
        self.phase = Phase::Opening { opened: false, serve_at };
        self.modules.iter_mut().for_each(|module| module.is_told = module.is_clean);
        self.actions.push(Action::Open { claim: self.claim });
    }

    /// A claimant's next command, after a report of a module.
    fn decide(&mut self, now: Time, number: usize, report: &Report) {
        let claim = self.claim;
        let first = Key::of(claim);
        let is_forced = self.is_forced;
        let module = &self.modules[number];
        let other = report.holder.filter(|(holder, _)| !module.is_own(holder)).map(|(_, of)| of);
        let was_held = module.fenced.is_some();
        if was_held && (other.is_some() || report.holder.is_none()) {
            return self.superseded(now);
        }
        if let Some(rival) = other.and_then(|of| self.rival(of.claim())) {
            return self.yield_to_rival(now, number, rival);
        }
        let takes = !matches!(self.phase, Phase::Claiming { takes: false, .. });
        let has_moved = module.judged.is_some_and(|judged| judged != report.holder);
        if other.is_some() && takes && has_moved && !is_forced && matches!(self.phase, Phase::Claiming { .. }) {
            // The owner lives after all, or another claimant was faster.
            return self.abandon(now);
        }
        let module = &mut self.modules[number];
        let mine = report.key_of(&module.host);
        let holder = report.holder.map(|(holder, of)| (holder == module.host, of));
        let was_clean = module.is_clean || planted(Canary::LostAnswerBelieved);
        if takes && mine.is_some() {
            module.judged.get_or_insert(report.holder);
        }
        module.held = None;
        module.next = match (holder, mine) {
            // The key of the host that this controller was before must stay another one.
            (Some((false, of)), None) if of.claim() == claim => Some(Command::Register { key: of.next() }),
            (_, None) => Some(Command::Register { key: first }),
            (_, Some(old)) if old.claim() != claim => Some(Command::Replace { old, new: first }),
            _ if !takes => {
                module.judged = Some(report.holder);
                module.not_before = now + self.terms.look_every_ns;
                None
            }
            (Some((false, _)), Some(key)) if planted(Canary::Unfenced) && number == 0 => {
                (module.fenced, module.is_clean) = (Some(Fenced { at: now, cleared: false }), true);
                module.held = Some(key);
                None
            }
            (Some((false, of)), Some(key)) => Some(Command::Preempt { key, of }),
            (None, Some(key)) => {
                // Nobody has ever held it: whoever comes between makes the command fail.
                module.is_new = report.registrants.len() == 1 && report.generation <= 1;
                Some(Command::Acquire { key })
            }
            (Some((true, _)), Some(key)) if !was_clean => Some(Command::Preempt { key, of: key }),
            (Some((true, _)), Some(key)) => {
                match report.registrants.iter().find(|(_, of)| of.claim() < claim) {
                    // Without this, each claimant that ever was would stay registered.
                    Some((_, of)) => Some(Command::Preempt { key, of: *of }),
                    // A module that keeps no reservations would forget its holder.
                    None if !report.persists => {
                        module.not_before = now + self.terms.look_every_ns;
                        None
                    }
                    None => {
                        module.fenced.get_or_insert(Fenced { at: now, cleared: false });
                        (module.is_clean, module.held, module.not_before) = (true, Some(key), now);
                        if !matches!(self.phase, Phase::Claiming { .. })
                            && !std::mem::replace(&mut module.is_told, true)
                        {
                            self.actions.push(Action::Held { module: number });
                        }
                        None
                    }
                }
            }
        };
    }

    /// The holder of a module is not to be preempted by this claim: with a higher generation, or with the same one. Among
    /// claims of one generation the one with the higher number may go on when it holds so many modules that the other can't
    /// have opened the array, and any of them once it has opened the array itself: the others never could.
    fn rival(&self, of: Claim) -> Option<Rival> {
        if of.generation > self.claim.generation {
            return Some(Rival::Newer);
        }
        if of.generation < self.claim.generation || planted(Canary::EqualGeneration) {
            return None;
        }
        if !matches!(self.phase, Phase::Claiming { .. }) {
            return None;
        }
        let spare = self.terms.modules - self.terms.needed();
        let fenced = self.modules.iter().filter(|module| module.fenced.is_some()).count();
        (of.controller >= self.number || fenced <= spare).then_some(Rival::Equal)
    }

    /// Leaves a module to a rival for now, and gives up if that leaves too few.
    fn yield_to_rival(&mut self, now: Time, number: usize, rival: Rival) {
        self.modules[number].not_before = now + self.terms.look_every_ns / 10;
        if !matches!(self.phase, Phase::Claiming { .. }) {
            // A later attempt holds a module that this owner never had. It can do without.
            self.modules[number].not_before = now + self.terms.look_every_ns;
            return;
        }
        let is_theirs = |module: &&Module| {
            let holder = module.seen.and_then(|seen| seen.holder).filter(|(holder, _)| !module.is_own(holder));
            holder.is_some_and(|(_, key)| key.claim().generation >= self.claim.generation)
        };
        let theirs = self.modules.iter().filter(is_theirs).count();
        if rival == Rival::Newer || theirs > self.terms.modules - self.terms.needed() {
            self.abandon(now);
        }
    }

    fn superseded(&mut self, now: Time) {
        match self.phase {
            Phase::Claiming { .. } => self.abandon(now),
            _ => self.end(End::Superseded),
        }
    }

    /// A claimant's command was carried out.
    fn done(&mut self, now: Time, number: usize, command: Command, sent: Time) {
        let module = &mut self.modules[number];
        match command {
            Command::Replace { new, .. } if module.held.is_some() => {
                module.held = Some(new);
                module.renewed = Some(if planted(Canary::LeaseFromAnswer) { now } else { sent });
            }
            Command::Acquire { .. } => module.fenced = Some(Fenced { at: now, cleared: module.is_new }),
            // The host was kept out before, or is so now.
            Command::Preempt { key, of } => {
                module.fenced.get_or_insert(Fenced { at: now, cleared: of.is_released() && of != key });
                module.is_clean = true;
            }
            Command::Register { .. } | Command::Replace { .. } | Command::Report => {}
        }
    }

    /// Sends the next command to a module, if one is due.
    fn ask(&mut self, now: Time, number: usize) {
        let module = &mut self.modules[number];
        if !module.is_connected || module.asked.is_some() || now < module.not_before {
            return;
        }
        let (command, pause_ns) = match self.phase {
            Phase::Ended(_) => return,
            Phase::Standby => (Command::Report, self.terms.look_every_ns),
            _ => match (module.next.take(), module.held) {
                (Some(next), _) => (next, 0),
                (None, None) => (Command::Report, 0),
                (None, Some(old)) if self.phase == (Phase::Releasing { closed: true }) => {
                    if old.is_released() {
                        module.not_before = Time::NEVER;
                        return;
                    }
                    (Command::Replace { old, new: old.released() }, 0)
                }
                (None, Some(old)) => {
                    let next = if planted(Canary::KeyNotRenewed) { old } else { old.next() };
                    (Command::Replace { old, new: next }, self.terms.renew_every_ns)
                }
            },
        };
        module.asked = Some((command, now));
        module.not_before = now + pause_ns;
        self.actions.push(Action::Ask { module: number, command });
    }
}
