//! A card and the oracle that watches it.

use crate::sim::met::Met;
use crate::sim::oracle::Wrong;
use crate::sim::panic_message::PanicMessage;
use crate::sim::{
    Activity, Ask, Chooser, CutOutcome, Done, Lba, NotRecovered, Oracle, Outcome, RecoveryReport, Refusal, Sector,
    Subject, Violation,
};
use device::Time;
use serde::{Deserialize, Serialize};

/// Sectors that one request of a read-back asks for, at most.
const READ_BACK_SECTORS: u32 = 32;

/// Limits on the steps and the time of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Steps between two answers while something is in flight.
    pub answer_steps: u64,
    /// Virtual time between two answers while something is in flight.
    pub answer_ns: u64,
    /// Steps from the last answer to rest.
    pub rest_steps: u64,
    /// Virtual time from the last answer to rest.
    pub rest_ns: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { answer_steps: 100_000, answer_ns: 60_000_000_000, rest_steps: 1_000_000, rest_ns: 3_600_000_000_000 }
    }
}

/// Why a life failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The contract was broken.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// Requests are in flight, and nothing will ever happen.
    #[error("{in_flight} requests are in flight, and nothing will ever happen")]
    Lost {
        /// Requests that are in flight.
        in_flight: usize,
    },
    /// Requests are in flight for too long.
    #[error("no answer in {steps} steps and {ns} ns, with {in_flight} requests in flight")]
    Stalled {
        /// Requests that are in flight.
        in_flight: usize,
        /// Steps since the last answer.
        steps: u64,
        /// Virtual time since the last answer.
        ns: u64,
    },
    /// Nothing is in flight, and the card goes on.
    #[error("does not come to rest: {activity} after {steps} steps and {ns} ns")]
    NoRest {
        /// The activity that does not end.
        activity: Activity,
        /// Steps since the last answer.
        steps: u64,
        /// Virtual time since the last answer.
        ns: u64,
    },
    /// The card found that it is wrong.
    #[error("panic: {message}")]
    Panicked {
        /// The message of its panic.
        message: PanicMessage,
    },
}

impl Failure {
    /// A word for each kind of failure: shrinking keeps it.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Violation(Violation::Sector(sector)) => match sector.wrong {
                Wrong::Older => "older version",
                Wrong::Returned => "version came back",
                Wrong::AnotherSector(_) => "another sector's data",
                Wrong::NeverWritten => "never written",
                Wrong::UnexplainedError => "unexplained error",
            },
            Failure::Violation(Violation::Failed { .. }) => "unexplained failure",
            Failure::Violation(Violation::Refused(_)) => "unexplained refusal",
            Failure::Violation(_) => "unfit answer",
            Failure::Lost { .. } => "lost request",
            Failure::Stalled { .. } => "stalled",
            Failure::NoRest { .. } => "no rest",
            Failure::Panicked { .. } => "panic",
        }
    }
}

/// Does something that may panic, which is a failure then. The process's panic hook still prints it. Nothing of what a
/// panic leaves half done may be used again.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    caught.map_err(|payload| Failure::Panicked { message: payload.into() })
}

/// A card under test, with its oracle.
#[derive(Clone, Debug)]
pub struct Bench<S> {
    /// The card under test.
    pub subject: S,
    /// The judge of its answers.
    pub oracle: Oracle,
    bounds: Bounds,
    done: Vec<Done>,
    trace: Trace,
    steps_since_answer: u64,
    answered: Time,
    sectors_read: u64,
    met: Met,
}

impl<S: Subject> Bench<S> {
    /// A card that was just formatted and started.
    pub fn new(subject: S, bounds: Bounds) -> Bench<S> {
        let oracle = Oracle::new(subject.sectors(), subject.durability());
        let answered = subject.now();
        let trace = Trace::default();
        Bench {
            subject,
            oracle,
            bounds,
            done: Vec::new(),
            trace,
            steps_since_answer: 0,
            answered,
            sectors_read: 0,
            met: Met::default(),
        }
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.oracle.in_flight()
    }

    /// Sectors whose contents were checked.
    pub fn sectors_read(&self) -> u64 {
        self.sectors_read
    }

    /// A hash of everything that the host and the card did.
    pub fn trace(&self) -> u64 {
        let mut trace = self.trace;
        trace.mix(self.subject.trace());
        trace.0
    }

    /// Submits a request of the first client.
    pub fn submit(&mut self, ask: &Ask) -> Result<(), Failure> {
        self.submit_as(0, ask)
    }

    /// Submits a request.
    pub fn submit_as(&mut self, client: u32, ask: &Ask) -> Result<(), Failure> {
        self.met.count(ask, self.subject.trim_sectors());
        if self.in_flight() == 0 {
            self.answered();
        }
        let op = self.oracle.stamped(ask);
        let id = self.subject.submit_as(client, op.clone());
        self.trace.mix(id.0);
        Ok(self.oracle.submitted_by(client, id, &op)?)
    }

    /// A client goes, and another one comes in its place.
    pub fn disconnect(&mut self, client: u32) {
        if self.subject.disconnect(client) {
            self.trace.mix(u64::MAX - 3);
            let before = self.in_flight();
            self.oracle.disconnected(client);
            self.met.disconnects += u64::from(self.in_flight() < before);
        }
    }

    /// Counts of the events among clients.
    pub fn met(&self) -> Met {
        Met { cross_flushes: self.oracle.cross_flushes(), ..self.met }
    }

    /// The bounds for coming to rest count from now on.
    pub fn rest_from_now(&mut self) {
        self.answered();
    }

    fn answered(&mut self) {
        self.steps_since_answer = 0;
        self.answered = self.subject.now();
    }

    /// The card's next event, due at `until` or before. `false`: there was none.
    pub fn step(&mut self, until: Time) -> Result<bool, Failure> {
        let stepped = self.subject.step(until, &mut self.done);
        self.steps_since_answer += 1;
        if !self.done.is_empty() {
            self.answered();
        }
        let now = self.subject.now();
        for done in std::mem::take(&mut self.done) {
            self.trace.mix(now.0);
            self.trace.done(&done);
            if let Outcome::Values(values) = &done.outcome {
                self.sectors_read += values.len() as u64;
            }
            self.oracle.done(&done)?;
        }
        if self.oracle.has_orphans() && !self.subject.has_orphans() {
            self.oracle.orphans_ended();
        }
        let in_flight = self.in_flight();
        if in_flight == 0 {
            return Ok(stepped);
        }
        if !stepped && until == Time::NEVER {
            return Err(Failure::Lost { in_flight });
        }
        let (steps, ns) = (self.steps_since_answer, now.since_ns(self.answered));
        if steps > self.bounds.answer_steps || ns > self.bounds.answer_ns {
            return Err(Failure::Stalled { in_flight, steps, ns });
        }
        Ok(stepped)
    }

    /// Whether the card is at rest; an error when it should have been long ago.
    pub fn at_rest(&self) -> Result<bool, Failure> {
        if self.subject.idle() {
            return Ok(true);
        }
        let (steps, ns) = (self.steps_since_answer, self.subject.now().since_ns(self.answered));
        if steps > self.bounds.rest_steps || ns > self.bounds.rest_ns {
            return Err(Failure::NoRest { activity: self.subject.activity(), steps, ns });
        }
        Ok(false)
    }

    /// Cuts the power, if something is under way that can end so.
    pub fn cut(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool {
        let cut = self.subject.power_cut(how, chooser);
        if cut {
            self.trace.mix(u64::MAX);
            self.oracle.cut();
        }
        cut
    }

    /// Cuts the power within the next event, as [`Subject::cut_within`] does.
    pub fn cut_within(&mut self, after: u64, chooser: &mut dyn Chooser) -> bool {
        let cut = self.subject.cut_within(after, chooser);
        if cut {
            self.trace.mix(u64::MAX);
            self.oracle.cut();
        }
        cut
    }

    /// Starts the card after a cut. A refusal that no fault accounts for is a failure.
    pub fn recover(&mut self, cut_after: Option<u64>, chooser: &mut dyn Chooser) -> Result<Recovered, Failure> {
        let recovered = match self.subject.recover(cut_after, chooser) {
            Ok(report) => {
                self.trace.mix(report.media_ops);
                self.answered();
                self.oracle.started();
                Recovered::Serves(report)
            }
            Err(NotRecovered::Cut) => {
                self.trace.mix(u64::MAX - 1);
                self.oracle.cut();
                Recovered::CutAgain
            }
            Err(NotRecovered::Refused(refusal)) => {
                self.trace.mix(u64::MAX - 2);
                self.oracle.refused(refusal)?;
                Recovered::Refuses(refusal)
            }
        };
        Ok(recovered)
    }

    /// The requests that read every sector once.
    pub fn read_back_asks(&self) -> impl Iterator<Item = Ask> + use<S> {
        let sectors = self.subject.sectors();
        (0..sectors.div_ceil(READ_BACK_SECTORS)).map(move |i| {
            let lba = i * READ_BACK_SECTORS;
            Ask::Read { lba: Lba(lba), count: READ_BACK_SECTORS.min(sectors - lba) }
        })
    }

    /// Reads every sector, one request after the other.
    pub fn read_back(&mut self) -> Result<(), Failure> {
        for ask in self.read_back_asks() {
            self.submit(&ask)?;
            while self.in_flight() > 0 {
                self.step(Time::NEVER)?;
            }
        }
        Ok(())
    }
}

/// How a start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// The card serves.
    Serves(RecoveryReport),
    /// The power was cut again.
    CutAgain,
    /// The card refuses, and may.
    Refuses(Refusal),
}

/// A running hash (FNV-1a over words).
#[derive(Clone, Copy, Debug)]
struct Trace(u64);

impl Default for Trace {
    fn default() -> Trace {
        Trace(0xcbf2_9ce4_8422_2325)
    }
}

impl Trace {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x0100_0000_01b3);
    }

    fn done(&mut self, done: &Done) {
        self.mix(done.id.0);
        match &done.outcome {
            Outcome::Ok => self.mix(1),
            Outcome::Failed(error) => self.mix(2 + *error as u64),
            Outcome::Values(values) => values.iter().for_each(|v| {
                self.mix(match v {
                    Sector::Value(stamp) => stamp.0,
                    Sector::Zero => 0,
                    Sector::Error => 1,
                    Sector::Mixed => 2,
                    Sector::Parts(parts) => parts.iter().fold(3, |all, part| all.rotate_left(7) ^ part),
                });
            }),
        }
    }
}
