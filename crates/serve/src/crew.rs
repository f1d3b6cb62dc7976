//! A thread that serves several clients: it waits for all of them at once.
//!
//! A client of a slow medium that has a thread for itself is best off while there are few. When there are many, most requests
//! would cost several changes of threads: to the one that takes it, to the one that hears the medium, to the one that
//! answers. A crew takes what has come from all of its clients, hands the medium all of their requests together, and answers
//! what the medium has done for any of them.

use crate::client_bell::ClientBell;
use crate::conversation::Conversation;
use crate::crew_bell::CrewBell;
use crate::line::{Ended, Look, Wait, Woken};
use crate::patience::Patience;
use live::{Ear, Hearer};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use slab::Slab;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ready descriptors that are taken at once.
const MAX_EVENTS: usize = 256;
/// A slow medium is handed what so many clients have asked for, and works on it while the next ones are looked at.
const HANDED_OVER: usize = 8;

/// Names of descriptors: the kind in the lowest bits, and above them the place.
const KINDS: u64 = 4;
const OF_CREW: u64 = 0;
const OF_SOCKET: u64 = 1;
const OF_BELL: u64 = 2;
const OF_EAR: u64 = 3;

/// A client of the crew.
struct Member {
    conversation: Box<dyn Conversation>,
    bell: Arc<ClientBell>,
    on: Option<Wait>,
    woken: Woken,
    /// It is among those that are looked at next.
    is_next: bool,
    /// The events of its socket that the kernel tells of.
    told: EventFlags,
    /// The choice whose ears the crew knows.
    choices: u64,
}

/// A slow medium, and the clients that use it.
struct Medium {
    ear: Arc<Ear>,
    /// The places of clients, and the shard that it is of their card.
    clients: Vec<(usize, usize)>,
    is_watched: bool,
}

/// See the module.
pub(crate) struct Crew {
    epoll: OwnedFd,
    bell: Arc<CrewBell>,
    hearer: Hearer,
    members: Slab<Member>,
    media: Slab<Medium>,
    /// The places of those that are looked at next.
    next: Vec<usize>,
    rung: Vec<usize>,
    /// The clients with a reply of a card outstanding.
    asked: usize,
    /// The deadlines of clients, with their places.
    deadlines: BTreeSet<(Instant, usize)>,
    patience: Patience,
}

/// A client that has left, and why.
pub(crate) type Left = (Box<dyn Conversation>, Ended);

impl Crew {
    pub fn new(bell: &Arc<CrewBell>) -> io::Result<Crew> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, bell.fd(), EventData::new_u64(OF_CREW), EventFlags::IN)?;
        bell.is_awake();
        Ok(Crew {
            epoll,
            bell: Arc::clone(bell),
            hearer: Hearer::new(),
            members: Slab::new(),
            media: Slab::new(),
            next: Vec::new(),
            rung: Vec::new(),
            asked: 0,
            deadlines: BTreeSet::new(),
            patience: Patience::default(),
        })
    }

    /// It has no clients.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Takes a client, unless the kernel refuses.
    pub fn take(&mut self, mut conversation: Box<dyn Conversation>) -> Result<(), Left> {
        let line = conversation.line();
        let bell = Arc::clone(&line.bell);
        line.join(self.hearer);
        let entry = self.members.vacant_entry();
        let place = entry.key();
        if let Err(error) = epoll::add(&self.epoll, bell.fd(), name(OF_BELL, place), EventFlags::IN) {
            return Err((conversation, Ended::Broken(error.into())));
        }
        bell.join(&self.bell, place);
        let (woken, told) = (Woken { rung: true, ..Woken::default() }, EventFlags::empty());
        entry.insert(Member { conversation, bell, on: None, woken, is_next: false, told, choices: 0 });
        self.look_at(place);
        Ok(())
    }

    /// Waits until there is something to do, and does it. Appends the clients that leave.
    pub fn turn(&mut self, left: &mut Vec<Left>) -> io::Result<()> {
        self.wait()?;
        self.take_rung();
        let next = std::mem::take(&mut self.next);
        for (at, place) in next.iter().enumerate() {
            let Some(member) = self.members.get_mut(*place) else { continue };
            member.is_next = false;
            // A client whose requests bring a bug to light takes no other one along.
            let went_on = catch_unwind(AssertUnwindSafe(|| member.go_on())).unwrap_or(Err(Ended::Panicked));
            let goes_on = went_on.and_then(|look| self.waits(*place, look).map_err(Ended::Broken));
            if let Err(ended) = goes_on {
                left.push((self.remove(*place), ended));
            }
            if (at + 1) % HANDED_OVER == 0 {
                self.hand_over();
            }
        }
        self.hand_over();
        self.watch_media()
    }

    /// Takes all clients, as when the crew can't go on.
    pub fn take_all(&mut self) -> Vec<Box<dyn Conversation>> {
        let places: Vec<usize> = self.members.iter().map(|(place, _)| place).collect();
        places.into_iter().map(|place| self.remove(place)).collect()
    }

    fn look_at(&mut self, place: usize) {
        if let Some(member) = self.members.get_mut(place)
            && !std::mem::replace(&mut member.is_next, true)
        {
            self.next.push(place);
        }
    }

    /// Waits for the descriptors, the bell, or the first deadline, and marks the clients that have to be looked at.
    fn wait(&mut self) -> io::Result<()> {
        debug_assert!(!self.media.iter().any(|(_, medium)| medium.ear.owes()), "a medium would wait for this thread");
        let mut events: Vec<Event> = Vec::with_capacity(MAX_EVENTS);
        if !self.next.is_empty() {
            self.poll(&mut events, Some(Duration::ZERO))?;
        } else if self.asked > 0 {
            self.sleep(&mut events)?;
        } else {
            // Only clients can cause work now.
            let idle_since = Instant::now();
            while events.is_empty() && !self.bell.has_rung() && idle_since.elapsed() < self.patience.awake() {
                self.poll(&mut events, Some(Duration::ZERO))?;
                std::thread::yield_now();
            }
            if events.is_empty() {
                self.sleep(&mut events)?;
            }
            self.patience.asked_after(idle_since.elapsed());
        }
        for event in &events {
            let (kind, place) = (event.data.u64() % KINDS, (event.data.u64() / KINDS) as usize);
            match kind {
                OF_CREW => self.bell.clear(),
                OF_SOCKET => {
                    let flags = event.flags;
                    self.members[place].woken.has_come |=
                        flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR);
                    self.look_at(place);
                }
                OF_BELL => {
                    self.members[place].bell.clear_fd();
                    self.members[place].woken.rung = true;
                    self.look_at(place);
                }
                _ => self.hear(place),
            }
        }
        let now = Instant::now();
        let late: Vec<usize> =
            self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now).map(|(_, place)| *place).collect();
        for place in late {
            let woken = &mut self.members[place].woken;
            woken.is_late = !woken.has_come && !woken.rung;
            self.look_at(place);
        }
        Ok(())
    }

    fn sleep(&self, events: &mut Vec<Event>) -> io::Result<()> {
        let deadline = self.deadlines.first();
        let timeout = match self.bell.may_sleep() {
            true => deadline.map(|(deadline, _)| deadline.saturating_duration_since(Instant::now())),
            false => Some(Duration::ZERO),
        };
        self.poll(events, timeout)?;
        self.bell.is_awake();
        Ok(())
    }

    fn poll(&self, events: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs().min(i32::MAX as u64) as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        });
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Marks the clients that the bell has rung for.
    fn take_rung(&mut self) {
        let mut rung = std::mem::take(&mut self.rung);
        self.bell.take(&mut rung);
        for place in rung.drain(..) {
            if let Some(member) = self.members.get_mut(place) {
                (member.woken.rung, member.woken.is_late) = (true, false);
                self.look_at(place);
            }
        }
        self.rung = rung;
    }

    /// Handles what a slow medium has done, and hands it what it is owed. Any of its clients can.
    fn hear(&mut self, medium: usize) {
        let Some(&(place, shard)) = self.media.get(medium).and_then(|medium| medium.clients.first()) else { return };
        self.members[place].conversation.line().hear(shard);
        self.look_at(place);
    }

    fn hand_over(&mut self) {
        let owing: Vec<usize> = self.media.iter().filter(|(_, medium)| medium.ear.owes()).map(|(at, _)| at).collect();
        owing.into_iter().for_each(|medium| self.hear(medium));
    }

    /// A client waits for something else from now on.
    fn waits(&mut self, place: usize, look: Look) -> io::Result<()> {
        match look {
            Look::Wait(on) => {
                self.set_on(place, Some(on));
                self.watch(place)?;
            }
            Look::Now => {
                self.set_on(place, None);
                self.look_at(place);
            }
        }
        self.take_ears(place);
        Ok(())
    }

    fn set_on(&mut self, place: usize, on: Option<Wait>) {
        let before = std::mem::replace(&mut self.members[place].on, on);
        let on = &self.members[place].on;
        let (was, is) = (before.as_ref(), on.as_ref());
        let asks = |on: Option<&Wait>| usize::from(on.is_some_and(|on| on.asked));
        self.asked = self.asked + asks(is) - asks(was);
        let deadline = |on: Option<&Wait>| on.and_then(|on| on.deadline);
        if deadline(was) != deadline(is) {
            deadline(was).iter().for_each(|was| _ = self.deadlines.remove(&(*was, place)));
            deadline(is).iter().for_each(|is| _ = self.deadlines.insert((*is, place)));
        }
    }

    /// Has the kernel tell what a client waits for, and nothing else.
    fn watch(&mut self, place: usize) -> io::Result<()> {
        let member = &mut self.members[place];
        let Some(on) = &member.on else { return Ok(()) };
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, on.takes);
        flags.set(EventFlags::OUT, on.unsent);
        if flags != member.told {
            let socket = member.conversation.line().stream.fd();
            // A socket of which nothing is waited for would tell that it is broken, again and again.
            match (member.told.is_empty(), flags.is_empty()) {
                (true, _) => epoll::add(&self.epoll, socket, name(OF_SOCKET, place), flags)?,
                (false, false) => epoll::modify(&self.epoll, socket, name(OF_SOCKET, place), flags)?,
                (false, true) => epoll::delete(&self.epoll, socket)?,
            }
            member.told = flags;
        }
        Ok(())
    }

    /// Hears the media of what a client has chosen.
    fn take_ears(&mut self, place: usize) {
        let member = &mut self.members[place];
        let line = member.conversation.line();
        if line.choices != member.choices {
            member.choices = line.choices;
            let ears = line.ears.clone();
            self.forget_ears(place);
            ears.into_iter().enumerate().for_each(|(shard, ear)| self.add_ear(place, shard, ear));
        }
    }

    fn add_ear(&mut self, place: usize, shard: usize, ear: Arc<Ear>) {
        match self.media.iter_mut().find(|(_, medium)| Arc::ptr_eq(&medium.ear, &ear)) {
            Some((_, medium)) => medium.clients.push((place, shard)),
            None => {
                self.media.insert(Medium { ear, clients: vec![(place, shard)], is_watched: false });
            }
        }
    }

    fn forget_ears(&mut self, place: usize) {
        let epoll = &self.epoll;
        self.media.retain(|_, medium| {
            medium.clients.retain(|(client, _)| *client != place);
            let is_used = !medium.clients.is_empty();
            if !is_used && medium.is_watched {
                // The descriptor is open still, so the kernel knows it.
                let _ = epoll::delete(epoll, medium.ear.as_fd());
            }
            is_used
        });
    }

    /// Has the kernel tell of the media that this thread hears.
    fn watch_media(&mut self) -> io::Result<()> {
        for (at, medium) in &mut self.media {
            let hears = medium.ear.hears();
            if hears != medium.is_watched {
                match hears {
                    true => epoll::add(&self.epoll, medium.ear.as_fd(), name(OF_EAR, at), EventFlags::IN)?,
                    false => epoll::delete(&self.epoll, medium.ear.as_fd())?,
                }
                medium.is_watched = hears;
            }
        }
        Ok(())
    }

    fn remove(&mut self, place: usize) -> Box<dyn Conversation> {
        self.set_on(place, None);
        self.forget_ears(place);
        let mut member = self.members.remove(place);
        if !member.told.is_empty() {
            let _ = epoll::delete(&self.epoll, member.conversation.line().stream.fd());
        }
        let _ = epoll::delete(&self.epoll, member.bell.fd());
        member.conversation
    }
}

impl Member {
    /// Takes what has come, and goes on; what it waits for then.
    fn go_on(&mut self) -> Result<Look, Ended> {
        let woken = std::mem::take(&mut self.woken);
        match &self.on {
            Some(on) => self.conversation.take(on, woken)?,
            None if woken.rung => self.conversation.line().take_replies()?,
            None => {}
        }
        self.conversation.go_on()?;
        self.conversation.look()
    }
}

fn name(kind: u64, place: usize) -> EventData {
    EventData::new_u64(place as u64 * KINDS + kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Line, Waits};
    use crate::shared::Shared;
    use crate::stream::Stream;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    /// Answers bytes with themselves, and stumbles over a zero.
    struct Echo(Line);

    impl Conversation for Echo {
        fn line(&mut self) -> &mut Line {
            &mut self.0
        }

        fn look(&mut self) -> Result<Look, Ended> {
            self.0.send()?;
            self.0.look(Waits { is_chosen: true, ..Waits::default() }, None)
        }

        fn take(&mut self, on: &Wait, woken: Woken) -> Result<(), Ended> {
            self.0.take(on, woken, None)
        }

        fn go_on(&mut self) -> Result<(), Ended> {
            let bytes = self.0.input[self.0.begin..self.0.end].to_vec();
            assert!(!bytes.contains(&0), "a zero");
            self.0.begin = self.0.end;
            self.0.out.extend(bytes);
            Ok(())
        }

        fn end(&mut self, ended: Ended) -> Ended {
            ended
        }
    }

    #[test]
    fn a_client_that_makes_its_thread_stumble_takes_no_other_one_along() {
        let server = Arc::new(Shared::for_tests());
        let mut crew = Crew::new(&CrewBell::new().unwrap()).unwrap();
        let mut clients = Vec::new();
        for number in 0..3 {
            let (client, server_side) = UnixStream::pair().unwrap();
            let stream = Stream::new(Arc::new(server_side.into()));
            let line = Line::new(number, stream, &server, ClientBell::new().unwrap());
            assert!(crew.take(Box::new(Echo(line))).is_ok());
            clients.push(client);
        }
        let mut left = Vec::new();
        for (client, byte) in [(0, 3), (1, 4), (2, 0), (1, 5), (0, 6)] {
            clients[client].write_all(&[byte]).unwrap();
            clients[client].set_nonblocking(true).unwrap();
            let mut answer = [0];
            while byte != 0 && clients[client].read_exact(&mut answer).is_err() || byte == 0 && left.is_empty() {
                crew.turn(&mut left).unwrap();
            }
            assert_eq!(answer[0], byte);
        }
        assert!(left.len() == 1 && matches!(&left[0], (_, Ended::Panicked)) && crew.members.len() == 2);
    }
}
