//! Choices that are no numbers, or change by doubling: which victim is collected, which way relocation takes, how large
//! blocks are.
//!
//! Choices and numbers make up for each other, so each choice is judged with the numbers that suit it best. Alternatives
//! to the best combination are tried one choice at a time until none is better; so two that are good only together are
//! found as long as one of them helps alone.
//!
//! The gain that counts as better depends on how well the model fits at all. With n figures of unknown scatter the
//! logarithm of the likelihood is -n/2 ln(loss / n), and where the loss is below n the noise is known and the loss
//! itself counts. A difference of 4 in twice that is considerable, and a parameter more is worth 2 (Akaike's criterion;
//! Burnham and Anderson, "Model Selection and Multimodel Inference", 2nd edition, section 2.6).

use crate::fit::bounds::FIGURES_APART;
use crate::fit::choice::{Choices, VICTIMS};
use crate::fit::chooser::{Chooser, difference};
use crate::fit::error::FitError;
use crate::fit::first::{self, OF_READS, first};
use crate::fit::knob::Knob;
use crate::fit::observation::{Figure, Observation};
use crate::fit::outcome::Status;
use crate::fit::refine::{Problem, State};
use crate::fit::simulate::Lab;
use crate::fit::space::Space;
use crate::fit::start::{over_other_buses, starts};

/// Steps from each of the best starts, steps to the end, and steps after another choice.
const FIRST_STEPS: usize = 4;
const STEPS: usize = 8;
const CHOICE_STEPS: usize = 2;
/// Steps of what reads say, after another number of dies behind a bus.
const READ_STEPS: usize = 4;
/// Starts that are followed.
const FOLLOWED: usize = 2;
/// An alternative is taken when it explains the figures so much better.
const BETTER: f64 = 4.0;
/// A choice is determined when all others explain them so much worse: as three standard deviations of one figure.
const TOLD: f64 = 9.0;
/// A choice that is worse by this is not refined.
const FAR: f64 = 60.0;
/// A choice that is worse by this is not tried again.
const HOPELESS: f64 = 300.0;
/// Worth of a parameter more.
const PARAMETER: f64 = 2.0;
/// Throughput of random writes that is off by so many standard deviations (root of the mean square) is not explained: it
/// may take another way of relocation.
const UNEXPLAINED: f64 = 1.5;
/// Cost of relocating a sector through the host, tried beside what the figures suggest.
const HOST_SECTOR_NS: [f64; 3] = [3e3, 10e3, 30e3];

/// The best card, with what is known of its choices.
pub(crate) struct Chosen {
    pub space: Space,
    pub best: State,
    pub told: Told,
    /// Numbers of other combinations of choices that explain the figures nearly as well.
    pub rivals: Vec<Numbers>,
}

/// Parameters in their units.
pub(crate) type Numbers = Vec<(Knob, f64)>;

/// Determination of each choice by the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub victim: Status,
    pub path: Status,
    pub suspends: Status,
    pub reads_first: Status,
    pub pages_per_block: Status,
    pub dies_per_channel: Status,
    pub parity_units: Status,
    pub stops_the_world: Status,
}

/// A combination of choices, with the numbers that suit it best.
struct Tried {
    choices: Choices,
    cost: f64,
    numbers: Numbers,
    /// Cost that the best then had, whose numbers it began with.
    from: f64,
}

impl Tried {
    fn of(space: &Space, state: &State, from: f64) -> Tried {
        let numbers = space.knobs.iter().map(|knob| (*knob, space.value(&state.values, *knob))).collect();
        Tried { choices: space.choices, cost: state.cost, numbers, from }
    }
}

impl Chooser<'_> {
    /// Points that will be simulated, about.
    pub fn expected_points(&self, space: &Space) -> u64 {
        let each = space.knobs.len() + 3;
        // About every second step takes slopes anew, and loads that a parameter can't matter to are not simulated.
        let alternatives = self.alternatives(&space.choices, space).len();
        let first = first::expected_points(self, space);
        let states = if first > 0 {
            // Two numbers of dies are refined, and choices change once or twice.
            STEPS * each + 12 * alternatives
        } else {
            (FOLLOWED * FIRST_STEPS + STEPS) / 3 * each + 8 * alternatives
        };
        first + ((states + space.knobs.len() + 12) * self.points.len()) as u64
    }

    pub fn best(&self, lab: &mut Lab, space: Space) -> Result<Chosen, FitError> {
        lab.progress().step("first guesses");
        // A base that is no card says why by its own error.
        space.candidate(&space.base_values())?;
        let mut begun = first(lab, self, &space)?;
        if begun.is_empty() {
            let first = Problem::new(&space, self.points);
            let all = starts(&space, self.points);
            let state = follow(&first, lab, all, FOLLOWED, FIRST_STEPS)?.expect("the base is among the starts");
            begun.push((space, state));
        }
        // To the end first: another choice must not win because it was refined for longer.
        lab.progress().step("refine");
        let mut refined = Vec::new();
        for (space, state) in begun {
            let state = Problem::new(&space, self.points).refine(lab, state, STEPS)?;
            refined.push((space, state));
        }
        let best = refined.into_iter().min_by(|a, b| a.1.cost.total_cmp(&b.1.cost));
        let (mut space, mut best) = best.expect("there is one at least");
        let mut tried = vec![Tried::of(&space, &best, best.cost)];
        loop {
            lab.progress().step("other flash management");
            let slopes = Problem::new(&space, self.points).slopes(lab, &best)?;
            let mut winner: Option<(Space, State)> = None;
            let unexplained = self.writes_unexplained(&best);
            for choices in self.alternatives(&space.choices, &space) {
                if space.counted && choices.through_host && !space.choices.through_host && !unexplained {
                    continue;
                }
                // Choices that were tried with numbers that have come nearer since are tried again: choices hang on
                // them.
                let figures = best.residuals.len();
                let settled = |t: &Tried| {
                    difference(t.from, best.cost, figures) <= BETTER || difference(t.cost, t.from, figures) > HOPELESS
                };
                if tried.iter().any(|t| t.choices == choices && settled(t)) {
                    continue;
                }
                let other = space.with(choices, self.owned, self.fit_host);
                let same_way = choices.through_host == space.choices.through_host
                    && choices.stops_the_world == space.choices.stops_the_world;
                let state = if same_way {
                    self.carried_on(lab, (&space, &best, &slopes), &other)?
                } else {
                    self.begun_anew(lab, (&space, &best), &other)?
                };
                let Some(state) = state else { continue };
                let now = Tried::of(&other, &state, best.cost);
                let (than, by) = match &winner {
                    Some((space, state)) => (Tried::of(space, state, best.cost), 0.0),
                    None => (Tried::of(&space, &best, best.cost), BETTER),
                };
                if self.ahead(&now, &than) > by {
                    winner = Some((other, state));
                }
                match tried.iter_mut().find(|t| t.choices == choices) {
                    Some(before) if before.cost < now.cost => before.from = now.from,
                    Some(before) => *before = now,
                    None => tried.push(now),
                }
            }
            let Some((other, state)) = winner else { break };
            best = Problem::new(&other, self.points).refine(lab, state, STEPS)?;
            space = other;
            tried.retain(|t| t.choices != space.choices);
            tried.push(Tried::of(&space, &best, best.cost));
        }
        let told = self.told(&space, &tried);
        let rivals = self.rivals(&space, tried);
        Ok(Chosen { space, best, told, rivals })
    }

    /// Returns whether random writes are as fast as they are for a reason that the card so far does not have.
    fn writes_unexplained(&self, best: &State) -> bool {
        let rows = self.points.iter().flat_map(|p| p.measured.iter().map(move |m| (p, m)));
        let of_writes = rows.zip(&best.residuals).filter(|((p, m), _)| {
            p.condition.mode.writes() && !p.condition.mode.is_sequential() && m.figure == Figure::Throughput
        });
        let (count, sum) = of_writes.fold((0.0, 0.0), |(n, sum), (_, r)| (n + 1.0, sum + r * r));
        count == 0.0 || sum > UNEXPLAINED * UNEXPLAINED * count
    }

    /// Another choice, from the numbers that were best with the first: first by the slopes that are known, and if that comes
    /// near, by its own.
    fn carried_on(
        &self,
        lab: &mut Lab,
        (space, best, slopes): (&Space, &State, &[Vec<f64>]),
        other: &Space,
    ) -> Result<Option<State>, FitError> {
        let mut values = carried(space, &best.values, other);
        if other.choices.dies_per_channel != space.choices.dies_per_channel {
            // Reads, the link and the bus all mean something else now, and loads that only read say what.
            let read_only = |p: &&&Observation| p.condition.mode.reads() && !p.condition.mode.writes();
            let reads: Vec<&Observation> = self.points.iter().filter(read_only).copied().collect();
            let problem = Problem::new(other, &reads).only(OF_READS);
            if let Some(state) = problem.states(lab, std::slice::from_ref(&values))?.pop().flatten() {
                values = problem.refine(lab, state, READ_STEPS)?.values;
            }
        }
        let problem = Problem::new(other, self.points);
        let Some(state) = problem.states(lab, &[values])?.pop().flatten() else { return Ok(None) };
        let column = |knob: &Knob| {
            let at = space.knobs.iter().position(|k| k == knob);
            at.map_or_else(|| vec![0.0; best.residuals.len()], |at| slopes[at].clone())
        };
        let slopes: Vec<Vec<f64>> = other.knobs.iter().map(column).collect();
        if difference(state.cost, best.cost, best.residuals.len()) > FAR {
            return Ok(Some(state));
        }
        Ok(Some(problem.chord(lab, state, slopes, CHOICE_STEPS)?))
    }

    /// Another way of relocation, or writes that stop for it, change what all numbers of writing mean.
    fn begun_anew(
        &self,
        lab: &mut Lab,
        (space, best): (&Space, &State),
        other: &Space,
    ) -> Result<Option<State>, FitError> {
        let problem = Problem::new(other, self.points);
        let values = carried(space, &best.values, other);
        let mut all = vec![values.clone()];
        if let Some(at) = other.knobs.iter().position(|knob| *knob == Knob::RelocationSector) {
            all.extend(HOST_SECTOR_NS.map(|ns| {
                let mut values = values.clone();
                values[at] = ns.ln();
                values
            }));
        }
        // Another way can only do as well where there is nothing left to explain; where dies were counted, the rest is
        // near.
        let near = space.counted || best.cost < best.residuals.len() as f64;
        if !near {
            all.extend(starts(other, self.points));
        }
        let followed = if near { 1 } else { FOLLOWED };
        follow(&problem, lab, all, followed, CHOICE_STEPS)
    }

    /// Returns how much better one explains the figures than another.
    fn ahead(&self, one: &Tried, other: &Tried) -> f64 {
        let figures = self.points.iter().map(|point| point.measured.len()).sum();
        difference(other.cost, one.cost, figures) + PARAMETER * (other.numbers.len() as f64 - one.numbers.len() as f64)
    }

    /// Numbers of those that are not so much worse that they can be ruled out.
    fn rivals(&self, space: &Space, tried: Vec<Tried>) -> Vec<Numbers> {
        let (best, others): (Vec<Tried>, Vec<Tried>) = tried.into_iter().partition(|t| t.choices == space.choices);
        let best = best.first().expect("the best was tried");
        let figures: usize = self.points.iter().map(|point| point.measured.len()).sum();
        let apart = (FIGURES_APART * self.points.len() as f64 / figures as f64).min(1.0);
        let is_rival = |other: &Tried| {
            // Neither parity nor the dies that share a bus are ever told.
            let is_never_told = other.choices.dies_per_channel != best.choices.dies_per_channel
                || other.choices.parity_units != best.choices.parity_units;
            self.ahead(best, other) * apart <= if is_never_told { FAR } else { TOLD }
        };
        let same_rate = self.with_other_parity(space, best);
        others.into_iter().filter(is_rival).map(|other| other.numbers).chain(same_rate).collect()
    }

    /// Programs that are as many bytes a second of data with parity as without, and the other way round: what a combination
    /// that was refined in a few steps only may not have come to.
    fn with_other_parity(&self, space: &Space, best: &Tried) -> Option<Numbers> {
        let other =
            space.with(Choices { parity_units: space.other_parity()?, ..best.choices }, self.owned, self.fit_host);
        let of = |knob| best.numbers.iter().find(|(k, _)| *k == knob).map(|(_, value)| *value);
        let dies = of(Knob::Channels)? * space.dies_per_channel_row();
        Some(vec![(Knob::Program, of(Knob::Program)? * other.data_share(dies) / space.data_share(dies))])
    }

    fn told(&self, space: &Space, tried: &[Tried]) -> Told {
        let now = space.choices;
        let best = tried.iter().find(|t| t.choices == now).expect("the best was tried");
        let status = |same: &dyn Fn(&Choices) -> Choices, kept: bool| {
            // Those that differ from the best in this choice alone.
            let others: Vec<&Tried> = tried.iter().filter(|t| t.choices != now && same(&t.choices) == now).collect();
            let told = !others.is_empty() && others.iter().all(|other| self.ahead(best, other) > TOLD);
            match (told, kept) {
                (true, _) => Status::Determined,
                (false, true) => Status::Undetermined,
                // Better than the base's, and not much better than another.
                (false, false) => Status::Together,
            }
        };
        let base = space.base_choices;
        // All loads that are fitted ask for blocks evenly. Greedy, cost-benefit and FIFO then come to the same with large bands:
        // one that fits better does so together with how wide stripes and how large blocks are.
        let with_others = |told| if told == Status::Determined { Status::Together } else { told };
        Told {
            victim: with_others(status(&|t| Choices { victim: now.victim, ..*t }, now.victim == base.victim)),
            path: status(&|t| Choices { through_host: now.through_host, ..*t }, now.through_host == base.through_host),
            suspends: status(&|t| Choices { suspends: now.suspends, ..*t }, now.suspends == base.suspends),
            reads_first: status(
                &|t| Choices { reads_first: now.reads_first, ..*t },
                now.reads_first == base.reads_first,
            ),
            // And how large blocks are hangs on how near the other numbers have come.
            pages_per_block: with_others(status(
                &|t| Choices { pages_per_block: now.pages_per_block, ..*t },
                now.pages_per_block == base.pages_per_block,
            )),
            // Read time, bus and link make up for what shares a bus.
            dies_per_channel: with_others(status(
                &|t| Choices { dies_per_channel: now.dies_per_channel, ..*t },
                now.dies_per_channel == base.dies_per_channel,
            )),
            // A unit of parity in sixteen is a program that takes a sixteenth longer, nearly.
            parity_units: with_others(status(
                &|t| Choices { parity_units: now.parity_units, ..*t },
                now.parity_units == base.parity_units,
            )),
            stops_the_world: status(
                &|t| Choices { stops_the_world: now.stops_the_world, ..*t },
                now.stops_the_world == base.stops_the_world,
            ),
        }
    }

    /// Other choices, one changed at a time, as far as the points can tell.
    fn alternatives(&self, now: &Choices, space: &Space) -> Vec<Choices> {
        let now = *now;
        let random_writes = self.owned.iter().any(|p| p.condition.mode.writes() && !p.condition.mode.is_sequential());
        let mixed = self.owned.iter().any(|p| p.condition.mode.writes() && p.condition.mode.reads());
        let latencies = self.owned.iter().any(|p| p.measured.len() > 1);
        let mut out = Vec::new();
        if mixed && latencies {
            out.push(Choices { reads_first: !now.reads_first, ..now });
            out.push(Choices { suspends: !now.suspends, ..now });
        }
        out.extend(
            space.other_dies_per_channel().into_iter().map(|dies_per_channel| Choices { dies_per_channel, ..now }),
        );
        if random_writes {
            out.extend(space.other_parity().map(|parity_units| Choices { parity_units, ..now }));
            out.push(Choices { through_host: !now.through_host, ..now });
            if space.may_stop(self.owned) {
                out.push(Choices { stops_the_world: !now.stops_the_world, ..now });
            }
            out.extend(space.other_pages().into_iter().map(|pages_per_block| Choices { pages_per_block, ..now }));
            // A choice among a few at random is greedy, nearly: where all else is open too, it is one too many.
            let victims = VICTIMS.into_iter().filter(|v| *v != now.victim && !(space.counted && *v == "random-d"));
            out.extend(victims.map(|victim| Choices { victim, ..now }));
        }
        // A choice that the base can't do is not tried: it has no times for it.
        out.retain(|choices| space.base_choices.suspends || !choices.suspends);
        out
    }
}

/// The best of several starts, after some steps from the best of them.
fn follow(
    problem: &Problem,
    lab: &mut Lab,
    all: Vec<Vec<f64>>,
    followed: usize,
    steps: usize,
) -> Result<Option<State>, FitError> {
    let mut states: Vec<State> = problem.states(lab, &all)?.into_iter().flatten().collect();
    states.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let mut best: Option<State> = None;
    for state in states.into_iter().take(followed) {
        let state = problem.refine(lab, state, steps)?;
        if best.as_ref().is_none_or(|best| state.cost < best.cost) {
            best = Some(state);
        }
    }
    Ok(best)
}

/// Values of the parameters that both have; the base's for the others.
fn carried(from: &Space, values: &[f64], to: &Space) -> Vec<f64> {
    let base = to.base_values();
    let buses = to.dies_per_channel_row() / from.dies_per_channel_row();
    let (bus, read_ns) = over_other_buses(from, values, buses);
    let dies = from.dies(values);
    let value = |(i, knob): (usize, &Knob)| {
        let Some(at) = from.knobs.iter().position(|k| k == knob) else { return base[i] };
        match knob {
            // The other choice has as many dies, and as many bytes a second that they program.
            Knob::Channels => values[at] + (from.dies_per_channel_row() / to.dies_per_channel_row()).ln(),
            Knob::Bus => bus.ln(),
            Knob::Read => read_ns.ln(),
            Knob::Program => values[at] + (to.data_share(dies) / from.data_share(dies)).ln(),
            _ => values[at],
        }
    };
    to.knobs.iter().enumerate().map(value).collect()
}
