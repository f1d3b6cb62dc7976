//! The rules of ownership, one at a time, on modules that answer at once. `torture` tries them all together.

use device::Time;
use session::ownership::{Action, Answer, Claim, Command, End, HostId, Key, Ownership, Report, Standing, Terms};

const SECOND: u64 = 1_000_000_000;
const MODULES: usize = 5;

/// The reservations of a module, as NVMe has them.
#[derive(Default)]
struct Module(Report);

impl Module {
    fn carry_out(&mut self, host: HostId, command: Command) -> Answer {
        let report = &mut self.0;
        report.persists = true;
        let mine = report.key_of(&host);
        match command {
            Command::Report => return Answer::Report(report.clone()),
            Command::Register { key } if mine.is_none() => report.registrants.push((host, key)),
            Command::Replace { old, new } if mine == Some(old) => self.rename(host, new),
            Command::Acquire { key } if mine == Some(key) && report.holder.is_none() => {
                report.holder = Some((host, key))
            }
            Command::Preempt { key, of } if mine == Some(key) && report.registrants.iter().any(|one| one.1 == of) => {
                report.registrants.retain(|one| one.0 == host || one.1 != of);
                if report.holder.is_some_and(|holder| holder.1 == of) {
                    report.holder = Some((host, key));
                }
            }
            _ => return Answer::Conflict,
        }
        self.0.generation += 1;
        Answer::Done
    }

    fn rename(&mut self, host: HostId, new: Key) {
        let own = self.0.registrants.iter_mut().chain(&mut self.0.holder).filter(|one| one.0 == host);
        own.for_each(|one| one.1 = new);
    }
}

/// A controller with its modules at hand.
struct Controller {
    core: Ownership,
    /// The host that it is at each module.
    hosts: [HostId; MODULES],
    told: Vec<Action>,
}

impl Controller {
    fn new(number: u8, now: Time) -> Controller {
        let mut core = Ownership::new(number, Terms::usual(MODULES, 1, number));
        let host = [number + 1; 16];
        (0..MODULES).for_each(|module| core.connected(now, module, host));
        Controller { core, hosts: [host; MODULES], told: Vec::new() }
    }

    /// Lets modules answer until nothing more is asked for now.
    fn settle(&mut self, now: Time, modules: &mut [Module]) {
        self.core.advance(now);
        loop {
            let actions: Vec<Action> = self.core.actions().collect();
            if actions.is_empty() {
                return;
            }
            for action in actions {
                match action {
                    Action::Ask { module, command } => {
                        let answer = modules[module].carry_out(self.hosts[module], command);
                        self.core.answered(now, module, answer);
                    }
                    other => self.told.push(other),
                }
            }
        }
    }

    /// The same, every twentieth of a second.
    fn run(&mut self, from: Time, for_ns: u64, modules: &mut [Module]) -> Time {
        let mut now = from;
        while now < from + for_ns {
            now += SECOND / 20;
            self.settle(now, modules);
        }
        now
    }

    fn own(&mut self, now: Time, modules: &mut [Module]) {
        self.settle(now, modules);
        assert!(matches!(self.told.last(), Some(Action::Open { .. })), "{:?}", self.told);
        self.core.opened(now);
        self.settle(now, modules);
    }
}

fn modules() -> Vec<Module> {
    (0..MODULES).map(|_| Module::default()).collect()
}

fn claim(generation: u32, controller: u8) -> Claim {
    Claim { generation, controller }
}

const START: Time = Time(100 * SECOND);

#[test]
fn modules_that_nobody_held_are_owned_at_once() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    assert_eq!(one.told, [Action::Open { claim: claim(1, 0) }, Action::Serve]);
    assert_eq!(one.core.standing(), Standing::Owner(claim(1, 0)));
    assert!(one.core.may_answer(START) && (0..MODULES).all(|module| one.core.holds(module)));
    for module in &modules {
        assert_eq!(module.0.holder.unwrap().0, one.hosts[0]);
    }
}

#[test]
fn a_lease_runs_from_the_sending_of_a_renewal_that_a_majority_answered() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    let sent = START + SECOND / 2;
    one.core.advance(sent);
    let renewals: Vec<Action> = one.core.actions().collect();
    assert_eq!(renewals.len(), MODULES);
    let answered = sent + SECOND;
    for (count, renewal) in renewals.into_iter().enumerate() {
        let Action::Ask { module, command } = renewal else { panic!("{renewal:?}") };
        let answer = modules[module].carry_out(one.hosts[module], command);
        one.core.answered(answered, module, answer);
        let expected = if count < 2 { START } else { sent };
        assert_eq!(one.core.lease_end(), expected + SECOND * 3 / 2, "after {count}");
    }
    assert!(one.core.may_answer(sent + (SECOND * 3 / 2 - 1)));
    assert!(!one.core.may_answer(sent + SECOND * 3 / 2));
}

#[test]
fn a_standby_leaves_an_owner_alone_that_renews_and_follows_one_that_does_not() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    let mut two = Controller::new(1, START);
    let mut now = START;
    for _ in 0..100 {
        now += SECOND / 10;
        one.settle(now, &mut modules);
        two.settle(now, &mut modules);
    }
    assert_eq!((two.core.standing(), two.told.len()), (Standing::Standby, 0));
    let silent = now;
    let now = two.run(now, 2 * SECOND, &mut modules);
    assert_eq!(two.told, [Action::Open { claim: claim(2, 1) }]);
    two.core.opened(now);
    let now = two.run(now, SECOND, &mut modules);
    assert!(!two.core.may_answer(now), "a lease could still run");
    let now = two.run(now, SECOND * 3 / 2, &mut modules);
    assert!(two.core.may_answer(now) && now < silent + 5 * SECOND);
    assert!(!one.core.may_answer(silent + SECOND * 3 / 2));
    one.settle(now, &mut modules);
    assert_eq!(one.core.standing(), Standing::Ended(End::Superseded));
}

#[test]
fn after_an_orderly_release_the_next_owner_does_not_wait_and_no_module_is_free() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    one.core.release(START);
    one.settle(START, &mut modules);
    assert_eq!(one.told.last(), Some(&Action::Close));
    assert!(!one.core.may_answer(START));
    assert!(modules.iter().all(|module| !module.0.holder.unwrap().1.is_released()));
    one.core.closed(START);
    one.settle(START, &mut modules);
    assert_eq!(one.core.standing(), Standing::Ended(End::Released));
    assert!(modules.iter().all(|module| module.0.holder.unwrap().1.is_released()));
    let mut two = Controller::new(1, START);
    two.own(START, &mut modules);
    assert!(two.core.may_answer(START));
    // The key of the last owner is gone, so that registrations do not pile up.
    assert!(modules.iter().all(|module| module.0.registrants.len() == 1));
}

#[test]
fn one_that_still_waits_does_not_mark_its_keys_as_released() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    let mut two = Controller::new(1, START);
    two.run(START, 2 * SECOND, &mut modules);
    assert!(matches!(two.core.standing(), Standing::Opening(_)));
    two.core.release(START + 2 * SECOND);
    two.settle(START + 2 * SECOND, &mut modules);
    assert_eq!(two.core.standing(), Standing::Ended(End::GivenUp));
    assert!(modules.iter().all(|module| !module.0.holder.unwrap().1.is_released()));
}

#[test]
fn an_operator_takes_over_from_an_owner_that_lives() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    let mut two = Controller::new(1, START);
    two.settle(START, &mut modules);
    two.core.take_over(START);
    two.settle(START, &mut modules);
    assert_eq!(two.core.standing(), Standing::Opening(claim(2, 1)));
    one.run(START, SECOND, &mut modules);
    assert_eq!(one.core.standing(), Standing::Ended(End::Superseded));
}

#[test]
fn a_conflict_ends_an_owner_at_once() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    one.core.conflict();
    assert!(!one.core.may_answer(START) && !one.core.holds(0));
    assert_eq!(one.core.actions().collect::<Vec<_>>(), [Action::End(End::Superseded)]);
    assert_eq!(one.core.next_event(), Time::NEVER);
}

#[test]
fn a_module_is_taken_again_as_another_host_after_its_connection_was_lost() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.own(START, &mut modules);
    one.core.left(START, 3);
    assert!(!one.core.holds(3) && one.core.holds(2));
    let host = [77; 16];
    one.core.connected(START, 3, host);
    let before = std::mem::replace(&mut one.hosts[3], host);
    // Only the fourth module is asked: the others have been renewed just now.
    one.settle(START, &mut modules);
    assert!(one.core.holds(3) && one.core.may_answer(START));
    assert_eq!(modules[3].0.holder.unwrap().0, host);
    assert_eq!(modules[2].0.holder.unwrap().0, before);
    assert_eq!(modules[3].0.registrants.len(), 1);
}

#[test]
fn a_module_that_another_claimant_of_the_generation_was_faster_to_take_is_owned_after_all() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    let (rival, mut now) = (([9; 16], Key::of(claim(1, 3))), START);
    let mut has_come = false;
    one.core.advance(now);
    while now < START + 4 * SECOND {
        for action in one.core.actions().collect::<Vec<_>>() {
            let Action::Ask { module, command } = action else {
                one.told.push(action);
                one.core.opened(now);
                continue;
            };
            // It comes between the look and the reservation, takes this module alone, and gives up.
            if module == 0 && matches!(command, Command::Acquire { .. }) && !std::mem::replace(&mut has_come, true) {
                modules[0].0.registrants.push(rival);
                modules[0].0.holder = Some(rival);
            }
            let answer = modules[module].carry_out(one.hosts[module], command);
            one.core.answered(now, module, answer);
        }
        now += SECOND / 20;
        one.core.advance(now);
    }
    assert!(has_come);
    let serves = [Action::Open { claim: claim(1, 0) }, Action::Serve];
    assert!(serves.iter().all(|action| one.told.contains(action)), "{:?}", one.told);
    assert!(one.told.contains(&Action::Held { module: 0 }), "{:?}", one.told);
    assert!((0..MODULES).all(|module| one.core.holds(module)));
    assert_eq!(modules[0].0.holder.unwrap().0, one.hosts[0]);
}

#[test]
fn fewer_modules_than_parity_needs_are_not_claimed() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.core.lost(START, 0);
    one.core.lost(START, 1);
    one.settle(START, &mut modules);
    assert_eq!((one.core.standing(), one.told.len()), (Standing::Standby, 0));
    one.core.connected(START, 1, one.hosts[0]);
    one.own(START, &mut modules);
    assert!(one.core.may_answer(START) && !one.core.holds(0));
}

#[test]
fn a_module_that_comes_later_or_again_is_told_of_once() {
    let (mut modules, mut one) = (modules(), Controller::new(0, START));
    one.core.lost(START, 4);
    let mut now = one.run(START, SECOND, &mut modules);
    assert_eq!(one.told, [Action::Open { claim: claim(1, 0) }]);
    assert!(!one.core.holds(4));
    one.core.opened(now);
    now = one.run(now, SECOND, &mut modules);
    one.told.clear();
    // It was not there when the array was opened.
    one.core.connected(now, 4, one.hosts[4]);
    now = one.run(now, SECOND, &mut modules);
    assert_eq!(one.told, [Action::Held { module: 4 }]);
    assert!(one.core.holds(4));
    // A connection for requests is lost, and it comes back as another host.
    for times in 2..4 {
        one.core.left(now, 2);
        now = one.run(now, SECOND, &mut modules);
        assert!(!one.core.holds(2) && one.told.len() == times - 1);
        one.hosts[2] = [100 + times as u8; 16];
        one.core.connected(now, 2, one.hosts[2]);
        now = one.run(now, SECOND, &mut modules);
        assert_eq!(one.told.last(), Some(&Action::Held { module: 2 }));
        assert_eq!((one.told.len(), one.core.holds(2)), (times, true));
    }
    assert!(one.core.may_answer(now));
}
