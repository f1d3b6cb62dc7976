//! The connection of a client, whatever it speaks: its bytes in and out, its port to the card, and its time limits.

use crate::budget::Account;
use crate::deadlines::{Deadlines, TooSlow};
use crate::export::Backing;
use crate::exported::Exported;
use crate::lease::{ASKED_AGAIN, Lease};
use crate::nvme;
use crate::patience::{AWAKE, Patience};
use crate::port::Port;
use crate::registry::{Counts, Registry};
use crate::reply::Reply;
use crate::shared::{Limits, Shared};
use crate::stream::{MAX_UNSENT_BYTES, Received, Stream, wait};
use crate::waker::Waker;
use crate::wire;
use live::{Bell, WriteMemory};
use rustix::event::{PollFd, PollFlags};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
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

/// See the module.
pub(crate) struct Line<'a> {
    pub number: u64,
    pub stream: Stream,
    pub limits: Limits,
    pub registry: &'a Registry,
    pub waker: Arc<Waker>,
    pub port: Option<Port>,
    /// The place of what the client has chosen, and how often what is behind it had become another one.
    chosen: Option<(usize, u64)>,
    /// Other controllers show the same card, so it may go while the client is silent.
    is_shared: bool,
    /// Answers say what the card holds, and need its lease.
    pub needs_lease: bool,
    /// The lease that answers need, where they need one.
    lease: Option<Arc<dyn Lease>>,
    /// The slow media of the card's shards; each becomes readable when it has done something.
    media: Vec<OwnedFd>,
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

impl<'a> Line<'a> {
    pub fn new(number: u64, stream: Stream, server: &'a Shared, waker: Arc<Waker>) -> Line<'a> {
        let Shared { limits, registry, budget, .. } = server;
        let now = Instant::now();
        Line {
            number,
            stream,
            limits: *limits,
            registry,
            port: None,
            chosen: None,
            is_shared: false,
            needs_lease: true,
            lease: None,
            media: Vec::new(),
            input: vec![0; RECEIVE_BYTES],
            begin: 0,
            end: 0,
            out: Vec::new(),
            sent: 0,
            account: Account::new(budget, number, &waker),
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
            waker,
        }
    }

    /// Connects the client to what is in a place now.
    pub fn choose(&mut self, exported: &Exported, place: usize) -> Result<(), Ended> {
        let export = exported.at(place).ok_or(Ended::VolumeGone)?;
        let bell = Arc::clone(&self.waker) as Arc<dyn Bell>;
        self.leave();
        self.port = match export.backing {
            Backing::Elsewhere(_) => None,
            _ => Some(export.port(bell)?.ok_or(Ended::VolumeGone)?),
        };
        self.media = self.port.as_mut().map(Port::listen).unwrap_or_default();
        self.chosen = exported.changes(place).map(|changes| (place, changes));
        self.is_shared = export.is_shared();
        self.lease = export.gate().filter(|_| self.needs_lease).cloned();
        let chosen = Some((place, self.is_shared));
        self.registry.change(self.number, |client| {
            client.export = Some(export.name.clone());
            client.place = chosen;
        });
        // Those that choose while others are cut off are cut off by these, or end here.
        match export.gate().is_some() && self.registry.keeps_off.load(Ordering::SeqCst) {
            true => Err(Ended::CutOff),
            false => Ok(()),
        }
    }

    /// Lets go of the card or disk.
    pub fn leave(&mut self) {
        self.media.clear();
        self.port = None;
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

    /// Waits until there is work, and receives the bytes that have arrived.
    pub fn wait_and_receive(&mut self, waits: Waits, mut target: Option<&mut Target>) -> Result<(), Ended> {
        if let Some(slow) = self.deadlines.next().and_then(|_| self.deadlines.missed(Instant::now())) {
            return Err(slow.into());
        }
        let Waits { asked, held, in_the_middle, is_chosen, has_others, until } = waits;
        let has_room = self.busy && !held && self.unsent() < MAX_UNSENT_BYTES;
        if !asked && (has_room || self.drains && self.unsent() == 0) {
            // There is room again for bytes that were received already.
            return Ok(());
        }
        let takes = !self.busy && !self.drains && !self.stopping && self.unsent() < MAX_UNSENT_BYTES;
        let may_answer = self.may_answer();
        let tls_unsent = self.stream.has_tls() && (!may_answer || self.stream.has_unsent()?);
        let withheld = !may_answer && (self.unsent() > 0 || tls_unsent);
        let unsent = !withheld && (self.unsent() > 0 || tls_unsent);
        let is_quiet = takes && !asked && !unsent && !withheld && is_chosen && !has_others;
        // The rest of a message is probably on its way.
        if is_quiet && in_the_middle && self.receive_awake(AWAKE, target.as_deref_mut())? {
            return Ok(());
        }
        // Only the client can cause work now, unless it shares its card with other controllers, who may take it.
        let is_idle = is_quiet && !in_the_middle;
        if is_idle && !self.is_shared {
            return self.receive_next(target);
        }
        let idle_since = is_idle.then(Instant::now);
        if let Some(since) = idle_since
            && self.receive_awake(self.patience.awake(), target.as_deref_mut())?
        {
            self.patience.asked_after(since.elapsed());
            return Ok(());
        }
        // A client with a queue has probably sent more meanwhile. With TLS the socket does not show all received bytes.
        if takes && (self.last_batch > 1 || self.stream.has_tls()) && self.receive(false, target.as_deref_mut())? {
            return Ok(());
        }
        let deadline = match is_chosen {
            false => Some(self.began + self.limits.handshake),
            true if unsent || in_the_middle && !self.busy => Some(self.progress + self.limits.stall),
            true => None,
        };
        let deadline = deadline.into_iter().chain(self.deadlines.next()).chain(until);
        let deadline = deadline.chain(withheld.then(|| Instant::now() + ASKED_AGAIN)).min();
        let waker = Arc::clone(&self.waker);
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, takes);
        flags.set(PollFlags::OUT, unsent);
        let (has_come, rung, ended) = {
            let mut fds = vec![
                PollFd::from_borrowed_fd(self.stream.fd(), flags),
                PollFd::from_borrowed_fd(waker.fd(), PollFlags::IN),
            ];
            let hears = |shard: &usize| self.port.as_ref().is_some_and(|port| port.hears(*shard));
            let heard: Vec<usize> = (0..self.media.len()).filter(hears).collect();
            fds.extend(heard.iter().map(|shard| PollFd::from_borrowed_fd(self.media[*shard].as_fd(), PollFlags::IN)));
            if !wait(&mut fds, deadline)? {
                let now = Instant::now();
                if let Some(slow) = self.deadlines.missed(now) {
                    return Err(slow.into());
                }
                return match is_chosen {
                    _ if withheld || until.is_some_and(|until| now >= until) => Ok(()),
                    false => Err(Ended::Handshake(self.limits.handshake)),
                    true => Err(Ended::Stalled(self.limits.stall)),
                };
            }
            let socket = fds[0].revents();
            // An error shows with the next send or receive.
            let has_come = socket.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
            let has_ended = |(_, fd): &(usize, &PollFd)| fd.revents().contains(PollFlags::IN);
            let ended: Vec<usize> =
                heard.into_iter().zip(&fds[2..]).filter(has_ended).map(|(shard, _)| shard).collect();
            (has_come, fds[1].revents().contains(PollFlags::IN), ended)
        };
        if rung {
            waker.clear();
            if self.counts.is_cut_off.load(Ordering::SeqCst) {
                return Err(Ended::CutOff);
            }
            if let Some(port) = &mut self.port {
                port.replies(&mut self.replies);
            }
        }
        if let Some(port) = &mut self.port {
            ended.into_iter().for_each(|shard| port.hear(shard, &mut self.replies));
        }
        if has_come && takes {
            self.receive(false, target)?;
            idle_since.iter().for_each(|since| self.patience.asked_after(since.elapsed()));
        } else if has_come && !takes && !unsent {
            // The client takes no more replies, and its bytes are not wanted now. Only its completions are waited for.
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
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
            Received::End if self.registry.stops() => Ok(false),
            Received::End => Err(Ended::EndOfStream),
        }
    }
}
