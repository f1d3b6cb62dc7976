//! One module, as far as a controller knows of it.

use super::command::{Command, HostId, Report};
use super::key::{Claim, Key};
use device::Time;

/// The last report of a module, and how long it has said the same of the holder.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub holder: Option<(HostId, Key)>,
    /// When the first report of this holder and key had come.
    since: Time,
    /// When the last report of them was asked for.
    until: Time,
}

/// A module whose former holder can do nothing to it any more.
#[derive(Clone, Copy, Debug)]
pub struct Fenced {
    pub at: Time,
    /// It was taken from an owner that had ended in order, or from nobody.
    pub cleared: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The host that this controller is there, and those that it was before, from the last on.
    pub host: HostId,
    pub past: Vec<HostId>,
    pub is_connected: bool,
    /// The command in flight, and when it was sent.
    pub asked: Option<(Command, Time)>,
    pub seen: Option<Seen>,
    /// The highest claim in any report.
    pub highest: Claim,
    /// The holder in the last report before anything was preempted, once the own key is registered.
    pub judged: Option<Option<(HostId, Key)>>,
    /// The command that follows from the last report.
    pub next: Option<Command>,
    /// The module is held with this key.
    pub held: Option<Key>,
    pub fenced: Option<Fenced>,
    /// No command of another host is in flight there, nor one of this controller under another host identifier.
    pub is_clean: bool,
    /// The one who opens the array knows that it may be read and written.
    pub is_told: bool,
    /// Nobody had ever held it when it was about to be acquired.
    pub is_new: bool,
    /// The next command is not sent before.
    pub not_before: Time,
    /// When the last renewal that succeeded was sent.
    pub renewed: Option<Time>,
}

impl Module {
    /// Takes note of a report that was asked for at a time.
    pub fn see(&mut self, report: &Report, sent: Time, now: Time) {
        let claims = report.registrants.iter().map(|(_, key)| key.claim());
        self.highest = claims.fold(self.highest, Claim::max);
        match &mut self.seen {
            Some(seen) if seen.holder == report.holder => seen.until = sent,
            seen => *seen = Some(Seen { holder: report.holder, since: now, until: sent }),
        }
    }

    /// The holder has not moved for so long, or there is none that could.
    pub fn is_quiet(&self, for_ns: u64) -> bool {
        self.seen.is_some_and(|seen| match seen.holder {
            None => true,
            Some((holder, key)) => {
                key.is_released() || self.is_own(&holder) || seen.until.since_ns(seen.since) >= for_ns
            }
        })
    }

    /// A host is this controller, now or before.
    pub fn is_own(&self, host: &HostId) -> bool {
        self.host == *host || self.past.contains(host)
    }

    /// From now on the holder has to stand still for the whole time again.
    pub fn look_afresh(&mut self, now: Time) {
        if let Some(seen) = &mut self.seen {
            (seen.since, seen.until) = (now, now);
        }
    }

    /// Forgets an own claim, and what was in flight for it.
    pub fn forget_claim(&mut self) {
        (self.next, self.held, self.fenced, self.renewed) = (None, None, None, None);
        (self.is_clean, self.is_told, self.judged, self.not_before) = (false, false, None, Time::ZERO);
    }
}
