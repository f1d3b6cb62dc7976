//! Plays a host's script, one thing at a time, so that whoever plays it can cut in between.

use crate::sim::{Bench, Failure, HostStep, Subject};
use device::Time;

/// The one thing that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Played {
    /// A request was submitted.
    Submitted,
    /// The card had an event.
    Stepped,
    /// Time passed, or the script went on.
    Waited,
    /// The script is over, and nothing is in flight.
    Over,
}

/// Where a script is.
#[derive(Clone, Debug)]
pub struct Player<'a> {
    steps: &'a [HostStep],
    depth: usize,
    pause_until: Option<Time>,
    asks: u32,
    client: u32,
}

impl<'a> Player<'a> {
    /// At its begin.
    pub fn new(steps: &'a [HostStep]) -> Player<'a> {
        Player { steps, depth: 1, pause_until: None, asks: 0, client: 0 }
    }

    /// Requests that were submitted.
    pub fn asks(&self) -> u32 {
        self.asks
    }

    /// Does one thing of the script, or lets the card do one.
    pub fn play<S: Subject>(&mut self, bench: &mut Bench<S>) -> Result<Played, Failure> {
        if let Some(until) = self.pause_until {
            let stepped = bench.step(until)?;
            if !stepped || bench.subject.now() >= until {
                self.pause_until = None;
            }
            return Ok(if stepped { Played::Stepped } else { Played::Waited });
        }
        let waits = match self.steps.first() {
            Some(HostStep::Ask(_)) => bench.in_flight() >= self.depth,
            Some(HostStep::Settle) | None => bench.in_flight() > 0,
            _ => false,
        };
        if waits {
            bench.step(Time::NEVER)?;
            return Ok(Played::Stepped);
        }
        if let Some(HostStep::Ask(_)) = self.steps.first()
            && !bench.subject.admits(self.client)
        {
            if !bench.step(Time::NEVER)? {
                return Err(Failure::Lost { in_flight: bench.in_flight() });
            }
            return Ok(Played::Stepped);
        }
        let Some((step, rest)) = self.steps.split_first() else { return Ok(Played::Over) };
        self.steps = rest;
        match step {
            HostStep::Ask(ask) => {
                bench.submit_as(self.client, ask)?;
                self.asks += 1;
                return Ok(Played::Submitted);
            }
            HostStep::Depth(depth) => self.depth = (*depth).max(1) as usize,
            HostStep::Settle => {}
            HostStep::Client(client) => self.client = *client,
            HostStep::Disconnect(client) => bench.disconnect(*client),
            HostStep::Scrub => bench.subject.scrub(),
            HostStep::Pause { ns } => self.pause_until = Some(bench.subject.now() + *ns),
        }
        Ok(Played::Waited)
    }
}
