//! The connection of a client, whatever it speaks: its bytes in and out, its port to the card, and its time limits.

use crate::budget::Account;
use crate::client_bell::ClientBell;
use crate::deadlines::{Deadlines, TooSlow};
use crate::export::Backing;
use crate::exported::Exported;
use crate::lease::{ASKED_AGAIN, Lease};
use crate::nvme;
use crate::patience::{AWAKE, Patience};
use crate::port::Port;
use crate::registry::Counts;
use crate::reply::Reply;
use crate::shared::{Limits, Shared};
use crate::stream::{MAX_UNSENT_BYTES, Received, Stream, wait};
use crate::wire;
use live::{Bell, Ear, Hearer, WriteMemory};
use rustix::event::{PollFd, PollFlags};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The size of the receive buffer, which has room for a queue of small writes, and for the longest message that has to lie
/// in it as a whole.
const RECEIVE_BYTES: usize = 256 << 10;
/// Beyond the room for the longest message the buffer is moved.
const MIN_ROOM_BYTES: usize =
    if wire::MIN_RECEIVE_BYTES > nvme::MAX_PDU_BYTES { wire::MIN_RECEIVE_BYTES } else { nvme::MAX_PDU_BYTES };
/// Replies that were sent keep their room in the output buffer up to so many bytes.
const MAX_SENT_BYTES: usize = 128 << 10;
/// The highest capacity that the empty output buffer keeps; it is within the client's share of the memory of all.
const MAX_KEPT_BYTES: usize = 4 << 20;

const _: () = assert!(RECEIVE_BYTES >= MIN_ROOM_BYTES);

/// The reason why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{0}")]
    Nbd(wire::Close),
    #[error("{0}")]
    Nvme(nvme::Close),
    #[error("the stream ended")]
    EndOfStream,
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    #[error("chose nothing to be connected to in {0:?}")]
    Handshake(Duration),
    #[error("neither sent nor took anything for {0:?} in the middle of a request")]
    Stalled(Duration),
    #[error("{0}")]
    TooSlow(#[from] TooSlow),
    #[error("the host was silent for {0:?}, its keep alive timer")]
    Silent(Duration),
    #[error("the host has not proved that it knows the secret")]
    Unauthenticated,
    #[error("the volume was deleted")]
    VolumeGone,
    #[error("the server has cut it off")]
    CutOff,
    #[error("its request brought a bug of the server to light")]
    Panicked,
    #[error("another controller has the card now")]
    Elsewhere,
    #[error("the server stops")]
    Stopped,
}

/// A payload that is received straight to its place.
pub(crate) struct Target {
    pub memory: WriteMemory,
    pub received: usize,
}

impl Target {
    pub fn is_whole(&self) -> bool {
        self.received == self.memory.len_bytes()
    }
}

/// The state of a protocol that says what is waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    /// A reply of the card is outstanding.
    pub asked: bool,
    /// A request waits for memory.
    pub held: bool,
    /// A message has begun to arrive, and is not whole.
    pub in_the_middle: bool,
    /// The client has chosen what it is connected to.
    pub is_chosen: bool,
    /// Others than the client and the card may cause work.
    pub has_others: bool,
    /// There is something to do then.
    pub until: Option<Instant>,
}

/// The next thing that a connection does.
pub(crate) enum Look {
    /// There is work already.
    Now,
    Wait(Wait),
}

/// The things that a connection waits for, of which one suffices.
pub(crate) struct Wait {
    /// A reply of the card is outstanding.
    pub asked: bool,
    /// More bytes of the client.
    pub takes: bool,
    /// Room for more bytes to the client.
    pub unsent: bool,
    pub deadline: Option<Instant>,
    is_chosen: bool,
    /// Answers wait for a lease.
    withheld: bool,
    /// There is something to do at the deadline, and nothing was missed.
    until: Option<Instant>,
    /// Nothing is outstanding since.
    idle_since: Option<Instant>,
}

/// The reasons why a wait has ended.
#[derive(Default)]
pub(crate) struct Woken {
    /// The socket has something for a connection that takes it, or is broken.
    pub has_come: bool,
    /// The bell has rung.
    pub rung: bool,
    /// The slow media that have done something.
    pub heard: Vec<usize>,
    /// Nothing but the time that is over has ended it.
    pub is_late: bool,
}

/// See the module.
pub(crate) struct Line {
    pub number: u64,
    pub stream: Stream,
    pub limits: Limits,
    pub server: Arc<Shared>,
    pub bell: Arc<ClientBell>,
    pub port: Option<Port>,
    /// The place of what the client has chosen, and how often what is behind it had become another one.
    chosen: Option<(usize, u64)>,
    /// Other controllers show the same card, so it may go while the client is silent.
    is_shared: bool,
    /// Answers say what the card holds, and need its lease.
    pub needs_lease: bool,
    /// The lease that answers need, where they need one.
    lease: Option<Arc<dyn Lease>>,
    /// The connection's thread, as the card's slow media know it.
    hearer: Hearer,
    /// The slow media of the card's shards.
    pub ears: Vec<Arc<Ear>>,
    /// How often the client has chosen: then its ears are others.
    pub choices: u64,
    /// The connection's thread serves others as well, and waits for all of them.
    is_in_crew: bool,
    /// The client has chosen what it is connected to, as of the last look.
    is_chosen: bool,
    pub input: Vec<u8>,
    /// The part of the input that was not parsed.
    pub begin: usize,
    pub end: usize,
    pub out: Vec<u8>,
    sent: usize,
    /// The memory that this client's requests and answers take.
    pub account: Account,
    /// Answers to reads that are not sent yet: the number of sent bytes with which they are, and the bytes they hold.
    answers: VecDeque<(u64, u64)>,
    /// Bytes that were sent so far.
    sent_bytes: u64,
    /// The most capacity that the empty output buffer keeps.
    kept_bytes: usize,
    pub deadlines: Deadlines,
    /// No more requests are parsed until one was answered.
    pub busy: bool,
    /// The client disconnects when its requests in flight are answered.
    pub drains: bool,
    pub stopping: bool,
    /// The number of requests in the last round.
    pub last_batch: usize,
    pub replies: Vec<Reply>,
    /// The time of the last receive or send.
    pub progress: Instant,
    began: Instant,
    counts: Arc<Counts>,
    patience: Patience,
}

impl Line {
    pub fn new(number: u64, stream: Stream, server: &Arc<Shared>, bell: Arc<ClientBell>) -> Line {
        let Shared { limits, registry, budget, .. } = &**server;
        let now = Instant::now();
        Line {
            number,
            stream,
            limits: *limits,
            server: Arc::clone(server),
            port: None,
            chosen: None,
            is_shared: false,
            needs_lease: true,
            lease: None,
            hearer: Hearer::new(),
            ears: Vec::new(),
            choices: 0,
            is_in_crew: false,
            is_chosen: false,
            input: vec![0; RECEIVE_BYTES],
            begin: 0,
            end: 0,
            out: Vec::new(),
            sent: 0,
            account: Account::new(budget, number, &bell),
            answers: VecDeque::new(),
            sent_bytes: 0,
            kept_bytes: usize::try_from(budget.share()).unwrap_or(usize::MAX).clamp(MAX_SENT_BYTES, MAX_KEPT_BYTES),
            deadlines: Deadlines::new(*limits),
            busy: false,
            drains: false,
            stopping: false,
            last_batch: 0,
            replies: Vec::new(),
            progress: now,
            began: now,
            counts: registry.counts(number),
            patience: Patience::default(),
            bell,
        }
    }

    /// Connects the client to what is in a place now.
    pub fn choose(&mut self, exported: &Exported, place: usize) -> Result<(), Ended> {
        let export = exported.at(place).ok_or(Ended::VolumeGone)?;
        let bell = Arc::clone(&self.bell) as Arc<dyn Bell>;
        self.leave();
        self.port = match export.backing {
            Backing::Elsewhere(_) => None,
            _ => Some(export.port(bell)?.ok_or(Ended::VolumeGone)?),
        };
        self.listen();
        self.chosen = exported.changes(place).map(|changes| (place, changes));
        self.is_shared = export.is_shared();
        self.lease = export.gate().filter(|_| self.needs_lease).cloned();
        let chosen = Some((place, self.is_shared));
        self.server.registry.change(self.number, |client| {
            client.export = Some(export.name.clone());
            client.place = chosen;
        });
        // Those that choose while others are cut off are cut off by these, or end here.
        match export.gate().is_some() && self.server.registry.keeps_off.load(Ordering::SeqCst) {
            true => Err(Ended::CutOff),
            false => Ok(()),
        }
    }

    /// Lets go of the card or disk.
    pub fn leave(&mut self) {
        self.ears.clear();
        self.port = None;
    }

    fn listen(&mut self) {
        let (hearer, gathers) = (self.hearer, self.is_in_crew);
        self.ears = self.port.as_mut().map(|port| port.listen(hearer, gathers)).unwrap_or_default();
        self.choices += 1;
    }

    /// The connection may go to the thread of a crew: nothing of it waits in its own any more. Where the card answers at
    /// once, nobody gains by that.
    pub fn may_join(&self) -> bool {
        self.is_chosen && !self.stopping && !self.drains && !self.ears.is_empty()
    }

    /// The place of what the client has chosen.
    pub fn place(&self) -> usize {
        self.chosen.map_or(0, |(place, _)| place)
    }

    /// The thread of a crew has the connection from now on.
    pub fn join(&mut self, hearer: Hearer) {
        (self.hearer, self.is_in_crew) = (hearer, true);
        self.listen();
    }

    /// The place of what the client has chosen, if what is behind it has become another one. One that has gone altogether
    /// is kept.
    pub fn has_changed(&self, exported: &Exported) -> Option<usize> {
        let (place, changes) = self.chosen?;
        exported.changes(place).is_some_and(|now| now != changes).then_some(place)
    }

    /// Answers that need a lease are not sent. The card is kept until they are: its owner gives the lease up behind that.
    pub fn owes_answers(&self) -> bool {
        self.lease.is_some() && self.unsent() > 0
    }

    /// Other controllers show what the client has chosen.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Answers may be sent now.
    pub fn may_answer(&self) -> bool {
        self.lease.as_ref().is_none_or(|lease| lease.may_answer())
    }

    /// Bytes that are to be sent.
    pub fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// The data of an answer were appended to the output, and hold so many bytes of memory until they are sent.
    pub fn answered(&mut self, held_bytes: u64) {
        self.answers.push_back((self.sent_bytes + self.unsent() as u64, held_bytes));
    }

    /// Counts requests that were answered, for operators.
    pub fn count(&self, answered: u64, read_bytes: u64, written_bytes: u64, in_flight: u32) {
        // Only this thread counts, so the additions need not be atomic.
        let add = |count: &AtomicU64, more: u64| count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        add(&self.counts.requests, answered);
        add(&self.counts.read_bytes, read_bytes);
        add(&self.counts.written_bytes, written_bytes);
        self.counts.in_flight.store(in_flight.into(), Ordering::Relaxed);
    }

    /// Sends what the client takes now.
    pub fn send(&mut self) -> Result<(), Ended> {
        let was_unsent = self.unsent();
        let mut is_withheld = false;
        while self.sent < self.out.len() {
            if !self.may_answer() {
                is_withheld = true;
                break;
            }
            let bytes = self.stream.send(&self.out[self.sent..])?;
            if bytes == 0 {
                break;
            }
            self.sent += bytes;
            self.progress = Instant::now();
        }
        let more = was_unsent - self.unsent();
        if was_unsent > 0 {
            self.deadlines.sent(more, self.unsent(), Instant::now());
            self.sent_bytes += more as u64;
            while let Some(&(end, bytes)) = self.answers.front()
                && end <= self.sent_bytes
            {
                self.answers.pop_front();
                self.account.give(bytes);
            }
            if is_withheld {
                // The client can't take what it does not get.
                self.deadlines.withheld();
                self.progress = Instant::now();
            }
        }
        // Under load the buffer never gets empty, so the part that was sent is removed now and then.
        if self.sent >= MAX_SENT_BYTES && self.sent * 2 >= self.out.len() {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
            if self.out.capacity() > self.kept_bytes {
                self.out = Vec::new();
            }
        }
        Ok(())
    }

    /// Says what is waited for now, if there is no work. Receives bytes that have arrived, where that tells.
    pub fn look(&mut self, waits: Waits, mut target: Option<&mut Target>) -> Result<Look, Ended> {
        if let Some(slow) = self.deadlines.next().and_then(|_| self.deadlines.missed(Instant::now())) {
            return Err(slow.into());
        }
        let Waits { asked, held, in_the_middle, is_chosen, has_others, until } = waits;
        self.is_chosen = is_chosen;
        let has_room = self.busy && !held && self.unsent() < MAX_UNSENT_BYTES;
        if !asked && (has_room || self.drains && self.unsent() == 0) {
            // There is room again for bytes that were received already.
            return Ok(Look::Now);
        }
        let takes = !self.busy && !self.drains && !self.stopping && self.unsent() < MAX_UNSENT_BYTES;
        let may_answer = self.may_answer();
        let tls_unsent = self.stream.has_tls() && (!may_answer || self.stream.has_unsent()?);
        let withheld = !may_answer && (self.unsent() > 0 || tls_unsent);
        let unsent = !withheld && (self.unsent() > 0 || tls_unsent);
        let is_quiet = takes && !asked && !unsent && !withheld && is_chosen && !has_others && !self.is_in_crew;
        // The rest of a message is probably on its way.
        if is_quiet && in_the_middle && self.receive_awake(AWAKE, target.as_deref_mut())? {
            return Ok(Look::Now);
        }
        // Only the client can cause work now, unless it shares its card with other controllers, who may take it.
        let is_idle = is_quiet && !in_the_middle;
        if is_idle && !self.is_shared {
            self.receive_next(target)?;
            return Ok(Look::Now);
        }
        let idle_since = is_idle.then(Instant::now);
        if let Some(since) = idle_since
            && self.receive_awake(self.patience.awake(), target.as_deref_mut())?
        {
            self.patience.asked_after(since.elapsed());
            return Ok(Look::Now);
        }
        // A client with a queue has probably sent more meanwhile. With TLS the socket does not show all received bytes.
        let tries = self.last_batch > 1 && !self.is_in_crew || self.stream.has_tls();
        if takes && tries && self.receive(false, target)? {
            return Ok(Look::Now);
        }
        let deadline = match is_chosen {
            false => Some(self.began + self.limits.handshake),
            true if unsent || in_the_middle && !self.busy => Some(self.progress + self.limits.stall),
            true => None,
        };
        let deadline = deadline.into_iter().chain(self.deadlines.next()).chain(until);
        let deadline = deadline.chain(withheld.then(|| Instant::now() + ASKED_AGAIN)).min();
        Ok(Look::Wait(Wait { asked, takes, unsent, deadline, is_chosen, withheld, until, idle_since }))
    }

    /// Sleeps until one of these things has come.
    pub fn sleep(&self, on: &Wait) -> Result<Woken, Ended> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, on.takes);
        flags.set(PollFlags::OUT, on.unsent);
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.stream.fd(), flags),
            PollFd::from_borrowed_fd(self.bell.fd(), PollFlags::IN),
        ];
        let heard: Vec<usize> = (0..self.ears.len()).filter(|shard| self.ears[*shard].hears()).collect();
        fds.extend(heard.iter().map(|shard| PollFd::new(&*self.ears[*shard], PollFlags::IN)));
        if !wait(&mut fds, on.deadline)? {
            return Ok(Woken { is_late: true, ..Woken::default() });
        }
        // An error shows with the next send or receive.
        let has_come = fds[0].revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
        let is_readable = |fd: &PollFd| fd.revents().contains(PollFlags::IN);
        let has_done = heard.into_iter().zip(&fds[2..]).filter(|(_, fd)| is_readable(fd));
        let heard = has_done.map(|(shard, _)| shard).collect();
        Ok(Woken { has_come, rung: is_readable(&fds[1]), heard, is_late: false })
    }

    /// Takes what has come, and receives the bytes that have arrived.
    pub fn take(&mut self, on: &Wait, woken: Woken, target: Option<&mut Target>) -> Result<(), Ended> {
        if woken.is_late {
            let now = Instant::now();
            if let Some(slow) = self.deadlines.missed(now) {
                return Err(slow.into());
            }
            return match on.is_chosen {
                _ if on.withheld || on.until.is_some_and(|until| now >= until) => Ok(()),
                false => Err(Ended::Handshake(self.limits.handshake)),
                true => Err(Ended::Stalled(self.limits.stall)),
            };
        }
        if woken.rung {
            self.take_replies()?;
        }
        woken.heard.into_iter().for_each(|shard| self.hear(shard));
        if woken.has_come && on.takes {
            self.receive(false, target)?;
            on.idle_since.iter().for_each(|since| self.patience.asked_after(since.elapsed()));
        } else if woken.has_come && !on.unsent && !self.is_in_crew {
            // The client takes no more replies, and its bytes are not wanted now. Only its completions are waited for.
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Takes the replies that the bell has rung for.
    pub fn take_replies(&mut self) -> Result<(), Ended> {
        self.bell.clear();
        if self.counts.is_cut_off.load(Ordering::SeqCst) {
            return Err(Ended::CutOff);
        }
        if let Some(port) = &mut self.port {
            port.replies(&mut self.replies);
        }
        Ok(())
    }

    /// Handles what has come from a slow medium, and hands it what it is owed.
    pub fn hear(&mut self, shard: usize) {
        if let Some(port) = &mut self.port {
            port.hear(shard, &mut self.replies);
        }
    }

    /// Waits for the next request of a client that has all its replies.
    fn receive_next(&mut self, mut target: Option<&mut Target>) -> Result<(), Ended> {
        let began = Instant::now();
        if !self.receive_awake(self.patience.awake(), target.as_deref_mut())? {
            self.receive(true, target)?;
        }
        self.patience.asked_after(began.elapsed());
        Ok(())
    }

    /// Stays awake for the next bytes, at most so long. `true` if some were received.
    fn receive_awake(&mut self, awake: Duration, mut target: Option<&mut Target>) -> Result<bool, Ended> {
        let began = Instant::now();
        while began.elapsed() < awake {
            if self.receive(false, target.as_deref_mut())? {
                return Ok(true);
            }
            std::thread::yield_now();
        }
        Ok(false)
    }

    /// Receives the bytes that have arrived. `true` if there were some.
    fn receive(&mut self, waits: bool, target: Option<&mut Target>) -> Result<bool, Ended> {
        let received = match target {
            Some(target) => {
                let received = self.stream.receive(&mut target.memory.bytes_mut()[target.received..], waits)?;
                if let Received::Bytes(bytes) = received {
                    target.received += bytes;
                }
                received
            }
            None => {
                if self.begin == self.end {
                    (self.begin, self.end) = (0, 0);
                } else if self.begin > 0 && self.input.len() - self.end < MIN_ROOM_BYTES {
                    self.input.copy_within(self.begin..self.end, 0);
                    (self.begin, self.end) = (0, self.end - self.begin);
                }
                let received = self.stream.receive(&mut self.input[self.end..], waits)?;
                if let Received::Bytes(bytes) = received {
                    self.end += bytes;
                }
                received
            }
        };
        match received {
            Received::Bytes(_) => {
                self.progress = Instant::now();
                Ok(true)
            }
            Received::Nothing => Ok(false),
            Received::End if self.server.registry.stops() => Ok(false),
            Received::End => Err(Ended::EndOfStream),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // A client is on the list until nothing of it asks the card any more.
        self.leave();
        self.server.registry.leave(self.number);
    }
}
