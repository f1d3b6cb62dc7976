//! The hosts: each has one request in flight, and tries another path when it gets no answer.

use super::{Event, MS, PATIENCE_NS, World};
use crate::takeovers::history::Operation;
use crate::takeovers::process::Input;
use crate::takeovers::words::{Reply, Request, SECTORS};
use device::Time;

impl World {
    pub(super) fn host_goes(&mut self, host: usize) {
        if self.hosts[host].asked.is_some() {
            return;
        }
        self.moments += 1;
        let number = self.moments;
        let healed = self.now > self.healed;
        let seen = self.hosts[host].seen;
        // In the end each host reads everything.
        let sector = match healed {
            true => (0..SECTORS as u32).find(|sector| seen >> sector & 1 == 0).unwrap_or(0) as u8,
            false => self.rng.below(SECTORS as u64) as u8,
        };
        let is_write = !healed && self.rng.below(100) < self.plan.writes;
        let request = Request { host: host as u8, number, sector, is_write };
        let value = if is_write { number } else { 0 };
        self.history.push(Operation { sector, is_write, value, called: number, returned: None });
        self.hosts[host].asked = Some((request, self.history.len() - 1));
        // Paths may be tried that others believe to be dead.
        let controller = match self.rng.below(4) {
            0 => self.rng.below(self.machines.len() as u64) as usize,
            _ => self.hosts[host].believes,
        };
        self.hosts[host].believes = controller;
        let start = self.machines[controller].start;
        let slow = self.now < self.machines[controller].slow_until;
        let delay = self.delay_ns(slow);
        if self.machines[controller].process.is_none() {
            return self.after(delay, Event::ToHost { host, number, reply: Reply::NotOwner });
        }
        self.after(delay, Event::ToController { controller, start, input: Input::Asked(request) });
        let patience = PATIENCE_NS[self.rng.below(3) as usize];
        self.after(patience, Event::HostGivesUp { host, number });
    }

    pub(super) fn look_elsewhere(&mut self, host: usize) {
        self.hosts[host].believes = self.rng.below(self.machines.len() as u64) as usize;
        let delay = self.rng.below(if self.now < self.hot_until { 60 * MS } else { 200 * MS });
        self.after(delay, Event::HostGoes { host });
    }

    pub(super) fn reach_host(&mut self, host: usize, number: u32, reply: Reply) {
        let Some((request, place)) = self.hosts[host].asked.take_if(|(request, _)| request.number == number) else {
            return;
        };
        match reply {
            // The request was not begun: it never was.
            Reply::NotOwner => {
                let operation = &mut self.history[place];
                (operation.is_write, operation.returned) = (false, None);
                self.met.turned_away += 1;
                self.look_elsewhere(host);
            }
            Reply::Value(value) => {
                self.moments += 1;
                let operation = &mut self.history[place];
                (operation.value, operation.returned) = (value, Some(self.moments));
                if self.now > self.healed && Time(0) < self.healed && request.number > 0 && !request.is_write {
                    self.hosts[host].seen |= 1 << request.sector;
                }
                let mean_ns = if self.now < self.hot_until { 12.0 } else { 150.0 } * MS as f64;
                let thinks = self.rng.exponential(mean_ns) as u64;
                let thinks = if self.now > self.healed { thinks / 20 } else { thinks };
                self.after(thinks, Event::HostGoes { host });
            }
        }
    }
}
