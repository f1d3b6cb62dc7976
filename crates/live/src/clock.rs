//! The card's own thread: sleeps until something is due, or has come from the medium.

use crate::shared::Shared;
use crate::state::State;
use device::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Sleeping costs about as much as this; what is due sooner is waited for awake, if somebody waits for it.
const AWAKE_NS: u64 = 20_000;
/// A thread that has nothing to do looks once more after this time, before it sleeps for longer.
const LINGER_NS: u64 = 1_000_000;
/// A sleep ends after an hour, even if nothing is due.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Runs until the card is told to stop, and shuts it down then.
pub(crate) fn run(shared: &Shared) {
    // Sleeps end when they should. Where the kernel refuses, they end 50 us late.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZero::new(1));
    let mut bell: Option<OwnedFd> = None;
    loop {
        let mut engine = shared.lock();
        engine.listening.card_wakes();
        let posted = shared.inbox.count();
        let may_begin = shared.begin_posted(&mut engine);
        engine.poll();
        if shared.stops.load(Ordering::SeqCst) && engine.is_idle() && shared.inbox.close() {
            engine.shut_down();
            shared.release(engine);
            return;
        }
        if bell.is_none()
            && let State::On(card) = &engine.device.state
            && let Some(rings) = card.medium().bell()
        {
            bell = rings.try_clone_to_owned().ok();
        }
        let (now, due) = (engine.wall_ns(), engine.next_event());
        let left_ns = due.0.saturating_sub(now).min(LONGEST_NS);
        let waited_for = !engine.is_idle();
        let is_far = due == Time::NEVER || left_ns > if waited_for { AWAKE_NS } else { 0 };
        // A card that is idle now is probably asked again at once, and nobody should have to wake this thread for that.
        let until = due.0.min(now + LINGER_NS);
        shared.sleeps_until.store(if is_far { until } else { 0 }, Ordering::SeqCst);
        // In this order: whoever posts a write looks afterwards whether this thread sleeps.
        let sleeps = is_far && !may_begin && shared.inbox.count() == posted;
        let listens = sleeps && engine.listening.card_sleeps();
        shared.release_to_waiter(engine);
        if sleeps {
            let bell = bell.as_ref().filter(|_| listens);
            let asleep_since = Instant::now();
            let early_ns = if waited_for { AWAKE_NS } else { 0 };
            if sleep(shared, bell, (until - now).saturating_sub(early_ns)) == Woken::ByTime {
                sleep_on(shared, bell, || now + asleep_since.elapsed().as_nanos() as u64);
            }
            shared.sleeps_until.store(0, Ordering::SeqCst);
        } else if left_ns > 0 {
            std::hint::spin_loop();
        } else {
            // More is due than is done in one go: let others ask meanwhile.
            std::thread::yield_now();
        }
    }
}

/// Sleeps on while nothing is due after all, and leaves the engine to those who use it: nearly always the sleep was until
/// a read would have been late, and the read has ended long before.
fn sleep_on(shared: &Shared, bell: Option<&OwnedFd>, now_ns: impl Fn() -> u64) {
    let mut lingers = true;
    loop {
        let (now, due) = (now_ns(), shared.due.load(Ordering::SeqCst));
        if due <= now + AWAKE_NS {
            return;
        }
        let until = if lingers { due.min(now + LINGER_NS) } else { due };
        lingers = due <= now + LINGER_NS;
        shared.sleeps_until.store(until, Ordering::SeqCst);
        let due_since = shared.due.load(Ordering::SeqCst);
        if due_since >= until && sleep(shared, bell, (until - now).min(LONGEST_NS) - AWAKE_NS) == Woken::Early {
            return;
        }
    }
}

#[derive(PartialEq)]
enum Woken {
    /// Nothing but the time that is over has ended the sleep.
    ByTime,
    Early,
}

fn sleep(shared: &Shared, bell: Option<&OwnedFd>, ns: u64) -> Woken {
    let mut fds = vec![PollFd::new(&shared.wake, PollFlags::IN)];
    if let Some(bell) = bell {
        fds.push(PollFd::from_borrowed_fd(bell.as_fd(), PollFlags::IN));
    }
    let timeout = Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ };
    // A signal ends it early: then it is slept again.
    let woken = poll(&mut fds, Some(&timeout));
    if fds[0].revents().contains(PollFlags::IN) {
        let _ = rustix::io::read(&shared.wake, &mut [0u8; 8]);
    }
    if woken == Ok(0) { Woken::ByTime } else { Woken::Early }
}
