//! Faults, and the wishes of operators.

use super::{Event, MS, World};
use crate::takeovers::plan::{Fault, Kind, Who};
use crate::takeovers::process::Input;
use device::Time;

impl World {
    fn block(&mut self, controller: usize, modules: u16, until: Time) {
        for (module, blocked) in self.machines[controller].blocked.iter_mut().enumerate() {
            if modules >> module & 1 != 0 {
                *blocked = (*blocked).max(until);
            }
        }
    }

    pub(super) fn strike(&mut self, fault: Fault) {
        self.heat();
        let Fault { for_ns, kind, .. } = fault;
        let until = self.now + for_ns;
        let controller = |who: Who| match who {
            Who::Controller(number) => number,
            Who::Owner => self.owner.unwrap_or(0),
        };
        match kind {
            Kind::Pause(who) => {
                let controller = controller(who);
                let machine = &mut self.machines[controller];
                machine.paused_until = machine.paused_until.max(until);
                self.at(until, Event::Resume { controller });
            }
            Kind::Kill(who) => self.kill(controller(who), for_ns),
            Kind::Power { shelf } => {
                for module in (shelf..self.plan.modules).step_by(self.plan.shelves) {
                    let rng = &mut self.rng;
                    self.modules[module].cut(|| rng.below(2) == 0, self.flaw);
                    self.boots[module] += 1;
                    for connection in self.open_connections(|of| of.module == module) {
                        self.tell_of_end(connection, 1_000 * MS);
                    }
                    self.at(until, Event::Power { module });
                }
            }
            Kind::Partition(who, modules) => self.block(controller(who), modules, until),
            Kind::Split(modules) => {
                let owner = controller(Who::Owner);
                for number in 0..self.machines.len() {
                    self.block(number, if number == owner { modules } else { !modules }, until);
                }
            }
            Kind::Cut(who, module) => {
                let controller = controller(who);
                for connection in self.open_connections(|of| of.controller == controller && of.module == module) {
                    self.tell_of_end(connection, 5 * MS);
                }
            }
            Kind::SlowModules(modules) => {
                for module in (0..self.plan.modules).filter(|module| modules >> module & 1 != 0) {
                    self.slow_modules[module] = until;
                }
            }
            Kind::SlowNetwork(who) => self.machines[controller(who)].slow_until = until,
            Kind::Clock(who) => {
                let (controller, now) = (controller(who), self.now);
                self.machines[controller].clock.stop(now, for_ns);
            }
            Kind::Release(who) => {
                let controller = controller(who);
                let start = self.machines[controller].start;
                self.reach_controller(controller, start, Input::Release);
            }
            Kind::TakeOver(controller) => {
                self.met.forced += 1;
                let start = self.machines[controller].start;
                self.reach_controller(controller, start, Input::TakeOver);
            }
        }
    }
}
