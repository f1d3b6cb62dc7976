//! Changes of a card from one second to the next that a person wants to be told of.

use super::standing::{Standing, State};
use live::{ModuleState, ModuleStatus};
use serde::Serialize;

/// Something that happened to a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Happening {
    /// When it was seen, in milliseconds of the Unix epoch.
    pub t: u64,
    /// The card's place among those that are served.
    pub card: usize,
    pub weight: Weight,
    pub text: String,
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Weight {
    /// It is worse than before.
    Bad,
    /// It is well again.
    Good,
    Plain,
}

/// The changes between two moments of a card.
pub(crate) fn changes(before: &Standing, now: &Standing) -> Vec<(Weight, String)> {
    let mut found = Vec::new();
    state(before, now, &mut found);
    for (was, is) in before.slots.iter().zip(&now.slots) {
        slot(was, is, now.state, &mut found);
    }
    works(before, now, &mut found);
    clients(before, now, &mut found);
    found
}

fn state(before: &Standing, now: &Standing, found: &mut Vec<(Weight, String)>) {
    let (was, is) = (before.state, now.state);
    if was == is {
        return;
    }
    if was == State::NoPower {
        found.push((Weight::Good, "the power is back".into()));
    }
    let text = match is {
        State::NoPower => "the power was cut",
        State::Stopped => "the card has stopped: more is gone than parity stands for",
        State::ReadOnly => "the card takes no writes any more",
        State::Degraded => "degraded: a module is missing or being rebuilt",
        State::Well if was == State::NoPower => return,
        State::Well => "well again",
    };
    found.push((if is == State::Well { Weight::Good } else { Weight::Bad }, text.into()));
}

fn slot(was: &ModuleStatus, is: &ModuleStatus, state: State, found: &mut Vec<(Weight, String)>) {
    let slot = is.slot;
    if was.present && !is.present {
        found.push((Weight::Bad, format!("slot {slot}: the module was pulled")));
    } else if is.present && !was.present {
        found.push((Weight::Plain, format!("slot {slot}: a module was inserted")));
    }
    let moved_on = was.state != is.state && is.present && state != State::NoPower;
    match is.state {
        ModuleState::Rebuilding if moved_on => {
            found.push((Weight::Plain, format!("slot {slot}: being rebuilt")));
        }
        ModuleState::Active if moved_on && was.state != ModuleState::NoPower => {
            found.push((Weight::Good, format!("slot {slot}: in service")));
        }
        ModuleState::Missing if moved_on => {
            found.push((Weight::Bad, format!("slot {slot}: the module does not count any more")));
        }
        _ => {}
    }
}

fn works(before: &Standing, now: &Standing, found: &mut Vec<(Weight, String)>) {
    match (before.scrub, now.scrub) {
        (None, Some(_)) => found.push((Weight::Plain, "a scrub began".into())),
        (Some(_), None) => found.push((Weight::Plain, "the scrub has ended".into())),
        _ => {}
    }
    let (was, is) = (&before.collection, &now.collection);
    if was.stops_host != is.stops_host {
        let how = if is.stops_host { "stops the host's writes" } else { "goes on beside the host's writes" };
        found.push((Weight::Plain, format!("settings: garbage collection {how}")));
    }
    if was.target_free_bands != is.target_free_bands {
        found.push((Weight::Plain, format!("settings: the target of free bands is {}", is.target_free_bands)));
    }
    if before.behind_ns.is_none() && now.behind_ns.is_some() {
        found.push((Weight::Bad, "this machine is too slow for the card: its events are late".into()));
    }
    if now.errors > before.errors {
        found.push((Weight::Bad, format!("{} of the host's requests failed", now.errors - before.errors)));
    }
}

fn clients(before: &Standing, now: &Standing, found: &mut Vec<(Weight, String)>) {
    let is_in = |number: u64, of: &Standing| of.clients.iter().any(|client| client.number == number);
    // It can't be told who came and who went where not all are listed.
    let all_listed = |of: &Standing| of.clients.len() == of.connected;
    if all_listed(before) && all_listed(now) {
        for client in now.clients.iter().filter(|client| !is_in(client.number, before)) {
            found.push((Weight::Plain, format!("client {} came: {}", client.number, client.peer)));
        }
        for client in before.clients.iter().filter(|client| !is_in(client.number, now)) {
            found.push((Weight::Plain, format!("client {} is gone: {}", client.number, client.peer)));
        }
    }
    if now.turned_away > before.turned_away {
        let many = now.turned_away - before.turned_away;
        found.push((Weight::Bad, format!("{many} clients were turned away, because there were too many")));
    }
}
