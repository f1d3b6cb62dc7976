//! A card that is divided over shards as a subject of lives.
//!
//! Shards are cards of their own behind the router that a server has. Power and modules are the same for all of them:
//! each has a part of every module. Any other fault strikes one.

use crate::CardUnderTest;
use crate::sim::{
    Activity, Chooser, CutOutcome, Done, Durability, FaultSpec, HostOp, Impact, Lba, LogMet, Lost, NotRecovered, OpId,
    RecoveryReport, Subject, What,
};
use crate::subject::{outcome, payload_of, request_of};
use device::{SECTOR_BYTES, Time};
use media::RequestData;
use session::{Division, Request, Router, ToShard};
use std::collections::{BTreeSet, VecDeque};

/// Shards take turns after so many sectors: a tiny card has some dozens.
const CHUNK_SECTORS: u64 = 8;

/// A part of a request that waits until its shard has room.
#[derive(Clone, Debug)]
struct Part {
    shard: u32,
    /// The request without its bytes.
    request: Request<'static>,
    bytes: Vec<u8>,
}

impl Part {
    fn new((shard, request): ToShard) -> Part {
        Part { shard, request: request.without_bytes(), bytes: request.bytes.to_vec() }
    }

    fn request(&self) -> Request<'_> {
        Request { bytes: &self.bytes, ..self.request }
    }
}

#[derive(Clone, Debug)]
struct Client {
    router: Router<RequestData>,
    /// Nothing else is submitted before these have gone to their shards.
    waiting: VecDeque<Part>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct ShardedUnderTest {
    shards: Vec<CardUnderTest>,
    division: Division,
    clients: Vec<Client>,
    now: Time,
    next_op: u64,
}

impl ShardedUnderTest {
    /// A card of as many sectors as one of its shards could hold alone, shared by so many clients.
    ///
    /// # Panics
    /// When there are no shards.
    pub fn new(shards: Vec<CardUnderTest>, clients: u32) -> ShardedUnderTest {
        let bytes = u64::from(shards[0].sectors()) * SECTOR_BYTES;
        let division = Division::new(shards.len() as u32, CHUNK_SECTORS * SECTOR_BYTES, bytes);
        let shards: Vec<CardUnderTest> = shards.into_iter().map(|shard| shard.shared_by(clients)).collect();
        let client = |_| Client { router: Router::new(division), waiting: VecDeque::new() };
        let clients = (0..clients.max(1)).map(client).collect();
        ShardedUnderTest { shards, division, clients, now: Time::ZERO, next_op: 0 }
    }

    /// The cards that it is divided over, in the order of their addresses.
    pub fn shards(&self) -> &[CardUnderTest] {
        &self.shards
    }

    /// Time is the same in all shards.
    fn tell_time(&mut self) {
        let now = self.now;
        self.shards.iter_mut().for_each(|shard| shard.at_least_at(now));
    }

    /// Hands parts to shards that have room, each client's in their order.
    fn hand_over(&mut self) -> bool {
        self.tell_time();
        let mut some = false;
        for (number, client) in (0..).zip(&mut self.clients) {
            while let Some(part) = client.waiting.front() {
                let shard = &mut self.shards[part.shard as usize];
                if !shard.admits(number) {
                    break;
                }
                shard.submit_request(number, &part.request());
                client.waiting.pop_front();
                some = true;
            }
        }
        some
    }

    /// Tells of requests that have all their replies.
    fn answer(&mut self, shard: usize, done: &mut Vec<Done>) {
        for (client, reply) in self.shards[shard].take_replies() {
            let router = &mut self.clients[client].router;
            let (tag, operation, result, sectors) = if reply.is_part {
                let Some(joined) = router.join(shard as u32, reply.tag, reply.result, reply.data) else { continue };
                let sectors = joined.data.into_iter().flat_map(RequestData::into_sectors).collect();
                (joined.tag, joined.operation, joined.result, sectors)
            } else {
                let result = router.outer(shard as u32, reply.result);
                (reply.tag, reply.operation, result, reply.data.into_sectors())
            };
            done.push(Done { id: OpId(tag), outcome: outcome(operation, result, sectors) });
        }
    }

    /// No request will be answered.
    fn forget_requests(&mut self) {
        for client in &mut self.clients {
            *client = Client { router: Router::new(self.division), waiting: VecDeque::new() };
        }
        self.now = self.shards.iter().map(Subject::now).fold(self.now, Time::max);
    }

    /// The cost of a fault in a shard, to the card.
    fn impact(&self, shard: u32, impact: Impact) -> Impact {
        let sectors = u64::from(self.sectors());
        let outer = |lba: Lba| self.division.outer(shard, u64::from(lba.0) * SECTOR_BYTES) / SECTOR_BYTES;
        let lost = match impact.lost {
            Lost::These(lbas) => {
                let outer: BTreeSet<Lba> =
                    lbas.into_iter().map(outer).filter(|lba| *lba < sectors).map(|lba| Lba(lba as u32)).collect();
                Lost::These(outer)
            }
            lost => lost,
        };
        Impact { lost, ..impact }
    }

    /// Does the same to all shards; the cost of all of it. `None`: not applicable in any of them.
    fn in_all(&mut self, mut act: impl FnMut(&mut CardUnderTest) -> Option<Impact>) -> Option<Impact> {
        self.tell_time();
        let impacts: Vec<Option<Impact>> = self.shards.iter_mut().map(&mut act).collect();
        let impacts = (0..).zip(impacts).filter_map(|(shard, impact)| Some(self.impact(shard, impact?)));
        impacts.reduce(|all, impact| Impact {
            lost: both(all.lost, impact.lost),
            may_refuse: all.may_refuse || impact.may_refuse,
            may_fail: all.may_fail || impact.may_fail,
            may_stop: all.may_stop || impact.may_stop,
        })
    }
}

fn both(one: Lost, other: Lost) -> Lost {
    match (one, other) {
        (Lost::All, _) | (_, Lost::All) => Lost::All,
        (Lost::None, other) | (other, Lost::None) => other,
        (Lost::These(mut all), Lost::These(more)) => {
            all.extend(more);
            Lost::These(all)
        }
    }
}

impl Subject for ShardedUnderTest {
    fn sectors(&self) -> u32 {
        (self.division.size_bytes() / SECTOR_BYTES) as u32
    }

    fn durability(&self) -> Durability {
        self.shards[0].durability()
    }

    fn slots(&self) -> u32 {
        self.shards[0].slots()
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, op: HostOp) -> OpId {
        self.submit_as(0, op)
    }

    fn submit_as(&mut self, client: u32, op: HostOp) -> OpId {
        let id = OpId(self.next_op);
        self.next_op += 1;
        let bytes = payload_of(&op);
        let request = request_of(id.0, &op.ask, &bytes);
        let Client { router, waiting } = &mut self.clients[client as usize];
        let mut parts = Vec::new();
        match router.whole(&request) {
            Some(whole) => parts.push(whole),
            None => router.divide(&request, self.now, &mut parts),
        }
        waiting.extend(parts.into_iter().map(Part::new));
        self.hand_over();
        id
    }

    /// A request whose parts wait would be submitted while others are: they would have no order.
    fn admits(&mut self, _client: u32) -> bool {
        self.clients.iter().all(|client| client.waiting.is_empty())
    }

    fn disconnect(&mut self, client: u32) -> bool {
        for shard in &mut self.shards {
            shard.disconnect(client);
        }
        self.clients[client as usize] = Client { router: Router::new(self.division), waiting: VecDeque::new() };
        true
    }

    fn has_orphans(&self) -> bool {
        self.shards.iter().any(Subject::has_orphans)
    }

    fn trim_sectors(&self) -> u64 {
        self.shards[0].trim_sectors().min(CHUNK_SECTORS)
    }

    fn step(&mut self, until: Time, done: &mut Vec<Done>) -> bool {
        for shard in 0..self.shards.len() {
            if self.shards[shard].step_at(self.now) {
                self.answer(shard, done);
                return true;
            }
        }
        if self.hand_over() {
            return true;
        }
        let due = |(shard, card): (usize, &CardUnderTest)| (card.next_event(), shard);
        let (next, shard) = self.shards.iter().enumerate().map(due).min().expect("there are shards");
        if next > until || next == Time::NEVER {
            if until != Time::NEVER && !self.shards.iter().any(|shard| shard.card().is_none()) {
                self.now = self.now.max(until);
            }
            return false;
        }
        self.now = next;
        self.shards[shard].step_at(next);
        self.answer(shard, done);
        true
    }

    fn idle(&self) -> bool {
        self.clients.iter().all(|client| client.waiting.is_empty()) && self.shards.iter().all(Subject::idle)
    }

    fn activity(&self) -> Activity {
        let activities = self.shards.iter().map(Subject::activity);
        activities.into_iter().find(|activity| *activity != Activity::Idle).unwrap_or(Activity::Idle)
    }

    fn media_ops(&self) -> u64 {
        self.shards.iter().map(Subject::media_ops).sum()
    }

    fn power_cut(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool {
        self.tell_time();
        let Some(first) = (0..self.shards.len()).find(|shard| self.shards[*shard].power_cut(how, chooser)) else {
            return false;
        };
        for (_, shard) in self.shards.iter_mut().enumerate().filter(|(number, _)| *number != first) {
            assert!(shard.power_cut(CutOutcome::Any, chooser), "any cut is possible");
        }
        self.forget_requests();
        true
    }

    fn recover(&mut self, cut_after: Option<u64>, chooser: &mut dyn Chooser) -> Result<RecoveryReport, NotRecovered> {
        let mut all = RecoveryReport::default();
        self.tell_time();
        for number in 0..self.shards.len() {
            let left = cut_after.map(|after| after.saturating_sub(all.media_ops));
            match self.shards[number].recover(left, chooser) {
                Ok(RecoveryReport { media_ops, took_ns }) => {
                    all.media_ops += media_ops;
                    all.took_ns = all.took_ns.max(took_ns);
                }
                Err(error) => {
                    // Those that have started lose their power as well.
                    for shard in &mut self.shards[..number] {
                        assert!(shard.power_cut(CutOutcome::Any, chooser), "any cut is possible");
                    }
                    return Err(error);
                }
            }
        }
        self.now = self.shards.iter().map(Subject::now).fold(self.now, Time::max);
        // The start of some took longer: the others went on meanwhile.
        for shard in &mut self.shards {
            while shard.next_event() <= self.now {
                shard.step_at(shard.next_event());
            }
        }
        Ok(all)
    }

    fn inject(&mut self, fault: &FaultSpec) -> Option<Impact> {
        self.tell_time();
        let shard = fault.chooser("shard").below(self.shards.len() as u64) as u32;
        let impact = self.shards[shard as usize].inject(fault)?;
        Some(self.impact(shard, impact))
    }

    fn pull(&mut self, slot: u32) -> Option<Impact> {
        self.in_all(|shard| shard.pull(slot))
    }

    fn insert(&mut self, slot: u32, what: What) -> Option<Impact> {
        self.in_all(|shard| shard.insert(slot, what))
    }

    fn permute(&mut self, order: &[u32]) -> bool {
        let has_power = self.shards.iter().any(|shard| shard.card().is_some());
        !has_power && self.shards.iter_mut().all(|shard| shard.permute(order))
    }

    fn scrub(&mut self) {
        self.tell_time();
        self.shards.iter_mut().for_each(Subject::scrub);
    }

    fn harmed(&self) -> Vec<u32> {
        let harmed: BTreeSet<u32> = self.shards.iter().flat_map(Subject::harmed).collect();
        harmed.into_iter().collect()
    }

    /// A fault that struck one shard leaves the module to the others, which may need it.
    fn only_harmed(&self) -> Option<u32> {
        let slot = self.shards[0].only_harmed()?;
        self.shards.iter().all(|shard| shard.only_harmed() == Some(slot)).then_some(slot)
    }

    fn log_met(&self) -> LogMet {
        let mut met = LogMet::default();
        self.shards.iter().for_each(|shard| met.add(&shard.log_met()));
        met
    }

    fn trace(&self) -> u64 {
        let turned = |trace: u64, shard: &CardUnderTest| trace.rotate_left(7) ^ shard.trace();
        self.shards.iter().fold(0, turned)
    }
}
