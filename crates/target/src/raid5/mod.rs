//! Cards in RAID 5 by the host: each row of chunks has one of parity, so one card may be gone.

mod rows;
#[cfg(test)]
mod tests;

use crate::port::Port;
use device::{ByteRange, Cause, Completion, Device, Operation, Parts, Request, RequestError, RequestId, Time};
use rows::{Piece, Plan, Rows};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A card that is gone, and what is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its place among all.
    pub card: usize,
    /// Bytes of a spare card that are rebuilt a second; 0: there is no spare.
    pub rebuild_bytes_per_s: u64,
}

/// Several cards, of which each row has one for parity.
#[derive(Clone, Debug)]
pub struct Raid5<D> {
    /// Those that are there, in order of their places.
    cards: Vec<D>,
    ports: Vec<Port<Job>>,
    rows: Rows,
    gone: Option<Gone>,
    /// Rows that the spare has.
    rebuilt: u64,
    /// When the next row is due; `NEVER` while one is rebuilt, or where nothing is.
    rebuild_at: Time,
    pending: Vec<Option<Pending>>,
    updates: Vec<Update>,
    free_updates: Vec<u32>,
    /// By row: updates that hold a part of it, and behind them those that wait, in order.
    held: FxHashMap<u64, Vec<u32>>,
    explain: bool,
    in_flight: u64,
    submitted: u64,
    finished: u64,
}

#[derive(Clone, Copy, Debug)]
enum Job {
    /// A part of a read, or of a flush.
    Part(u32),
    /// Old data for an update.
    UpdateRead(u32),
    UpdateWrite(u32),
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    submitted: Time,
    parts_left: u32,
    failed: Option<RequestError>,
}

/// A write to a row.
#[derive(Clone, Debug)]
struct Update {
    /// `None`: the rebuilding of a spare.
    request: Option<u32>,
    row: u64,
    /// The part of the row's data that is written.
    part: Range<u64>,
    plan: Plan,
    fua: bool,
    left: usize,
    is_running: bool,
    /// Where the time of its last read went.
    read_parts: Parts,
}

impl Update {
    fn new(request: Option<u32>, row: u64, plan: Plan) -> Update {
        Update { request, row, part: 0..0, plan, fua: false, left: 0, is_running: false, read_parts: Parts::default() }
    }
}

impl<D: Device<Data = ()>> Raid5<D> {
    /// The cards that are there: all, or all but the one that is gone; with a spare, all.
    pub fn new(cards: Vec<D>, chunk_bytes: u64, gone: Option<Gone>, max_requests: u32, explain: bool) -> Raid5<D> {
        let is_absent = gone.is_some_and(|gone| gone.rebuild_bytes_per_s == 0);
        let all = cards.len() + usize::from(is_absent);
        assert!(all >= 3 && gone.is_none_or(|gone| gone.card < all));
        let ports = cards.iter().map(|_| Port::new(Self::depth(max_requests))).collect();
        Raid5 {
            cards,
            ports,
            rows: Rows { cards: all as u64, chunk_bytes },
            gone,
            rebuilt: 0,
            rebuild_at: if gone.is_some() && !is_absent { Time::ZERO } else { Time::NEVER },
            pending: vec![None; max_requests as usize],
            updates: Vec::new(),
            free_updates: Vec::new(),
            held: FxHashMap::default(),
            explain,
            in_flight: 0,
            submitted: 0,
            finished: 0,
        }
    }

    /// Requests that each card has at once, where the host has so many.
    pub fn depth(max_requests: u32) -> u32 {
        2 * max_requests + 16
    }

    /// Returns the cards that are there.
    pub fn cards(&self) -> &[D] {
        &self.cards
    }

    /// The cards, to precondition.
    pub fn cards_mut(&mut self) -> &mut [D] {
        &mut self.cards
    }

    /// Bytes of each card that hold a range from the start of the host's space, parity included.
    pub fn card_bytes(&self, host_bytes: u64) -> u64 {
        host_bytes.div_ceil(self.rows.row_bytes()) * self.rows.chunk_bytes
    }

    /// The spare among the cards, until it has taken over.
    pub fn spare(&self) -> Option<usize> {
        self.gone.filter(|gone| gone.rebuild_bytes_per_s > 0).map(|gone| gone.card)
    }

    /// Rows that a spare has taken over, and all rows.
    pub fn rebuilt(&self) -> (u64, u64) {
        (self.rebuilt, self.row_count())
    }

    fn row_count(&self) -> u64 {
        self.cards.iter().map(|card| card.capacity_bytes() / self.rows.chunk_bytes).min().unwrap_or(0)
    }

    /// Pieces of data and parity that a write to a range writes, with their rows.
    pub(crate) fn written(&self, range: ByteRange) -> Vec<(usize, Range<u64>)> {
        let mut pieces = Vec::new();
        for (row, part) in self.parts(range) {
            for piece in self.rows.plan(row, part, self.gone_from(row)).writes {
                let from = row * self.rows.chunk_bytes;
                pieces.push((self.index(piece.card), from + piece.bytes.start..from + piece.bytes.end));
            }
        }
        pieces
    }

    /// The card whose data of a row are gone.
    fn gone_from(&self, row: u64) -> Option<usize> {
        self.gone.filter(|_| row >= self.rebuilt).map(|gone| gone.card)
    }

    /// The index of a card that is there.
    fn index(&self, card: usize) -> usize {
        let absent = self.gone.is_some_and(|gone| gone.rebuild_bytes_per_s == 0 && card > gone.card);
        card - usize::from(absent)
    }

    fn send(&mut self, now: Time, job: Job, row: u64, piece: &Piece, template: Request) {
        let offset_bytes = row * self.rows.chunk_bytes + piece.bytes.start;
        let range = ByteRange { offset_bytes, len_bytes: (piece.bytes.end - piece.bytes.start) as u32 };
        let at = self.index(piece.card);
        self.ports[at].send(&mut self.cards[at], now, job, Request { range, ..template });
    }

    fn pending(&mut self, id: u32) -> &mut Pending {
        self.pending[id as usize].as_mut().expect("a part belongs to a request")
    }

    /// The rows that a range touches, each with the part of it.
    fn parts(&self, range: ByteRange) -> Vec<(u64, Range<u64>)> {
        let row_bytes = self.rows.row_bytes();
        let last = range.end_bytes().max(range.offset_bytes + 1) - 1;
        let part = |row: u64| {
            let from = row * row_bytes;
            let start = range.offset_bytes.max(from) - from;
            (row, start..range.end_bytes().min(from + row_bytes) - from)
        };
        (range.offset_bytes / row_bytes..=last / row_bytes).map(part).collect()
    }

    fn read(&mut self, now: Time, id: u32, request: Request) {
        for (row, part) in self.parts(request.range) {
            for piece in self.rows.pieces(row, part) {
                let pieces =
                    if self.gone_from(row) == Some(piece.card) { self.rows.others(&piece) } else { vec![piece] };
                for piece in pieces {
                    self.pending(id).parts_left += 1;
                    self.send(now, Job::Part(id), row, &piece, request);
                }
            }
        }
    }

    fn write(&mut self, now: Time, id: u32, request: Request) {
        for (row, part) in self.parts(request.range) {
            let plan = self.rows.plan(row, part.clone(), self.gone_from(row));
            self.pending(id).parts_left += 1;
            self.update(now, Update { part, fua: request.fua, ..Update::new(Some(id), row, plan) });
        }
    }

    /// Begins an update, or lets it wait behind those of the same bytes of its row.
    fn update(&mut self, now: Time, update: Update) {
        let row = update.row;
        let at = match self.free_updates.pop() {
            Some(at) => {
                self.updates[at as usize] = update;
                at
            }
            None => {
                self.updates.push(update);
                self.updates.len() as u32 - 1
            }
        };
        self.held.entry(row).or_default().push(at);
        self.start_updates(now, row);
    }

    /// Begins the updates of a row that wait for no earlier one.
    fn start_updates(&mut self, now: Time, row: u64) {
        let Some(of_row) = self.held.get(&row) else { return };
        let meets = |a: &Range<u64>, b: &Range<u64>| a.start < b.end && b.start < a.end;
        let held = |at: &u32| &self.updates[*at as usize].plan.held;
        let free = |i: usize| of_row[..i].iter().all(|earlier| !meets(held(earlier), held(&of_row[i])));
        let ready: Vec<u32> = (0..of_row.len())
            .filter(|&i| !self.updates[of_row[i] as usize].is_running && free(i))
            .map(|i| of_row[i])
            .collect();
        for at in ready {
            let gone = self.gone_from(row);
            let update = &mut self.updates[at as usize];
            update.is_running = true;
            if update.request.is_some() {
                // The spare may have taken the row over while it waited.
                update.plan = self.rows.plan(row, update.part.clone(), gone);
            }
            let reads = self.updates[at as usize].plan.reads.clone();
            self.updates[at as usize].left = reads.len();
            if reads.is_empty() {
                self.send_writes(now, at);
            }
            for piece in reads {
                self.send(now, Job::UpdateRead(at), row, &piece, Request::read(0, 0));
            }
        }
    }

    fn send_writes(&mut self, now: Time, at: u32) {
        let update = &mut self.updates[at as usize];
        let (row, writes, fua) = (update.row, update.plan.writes.clone(), update.fua);
        update.left = writes.len();
        for piece in writes {
            self.send(now, Job::UpdateWrite(at), row, &piece, Request { fua, ..Request::write(0, 0) });
        }
    }

    fn part_done(&mut self, now: Time, id: u32, part: &Completion, done: &mut Vec<Completion>) {
        let pending = self.pending(id);
        pending.parts_left -= 1;
        if let Err(error) = part.result {
            pending.failed = Some(error);
        }
        if pending.parts_left > 0 {
            return;
        }
        let Pending { submitted, failed, .. } = self.pending[id as usize].take().expect("a part belongs to a request");
        let mut parts = part.parts;
        if self.explain {
            // The part that finished last is the critical path; before it, it waited for its row.
            parts.add(Cause::CommandQueue, (now - submitted).saturating_sub(parts.total_ns()));
        }
        self.in_flight -= 1;
        self.finished += 1;
        done.push(Completion { id: RequestId(id), result: failed.map_or(Ok(()), Err), data: (), parts });
    }

    fn job_done(&mut self, now: Time, job: Job, part: &Completion, done: &mut Vec<Completion>) {
        match job {
            Job::Part(id) => self.part_done(now, id, part, done),
            Job::UpdateRead(at) => {
                let update = &mut self.updates[at as usize];
                update.left -= 1;
                if update.left == 0 {
                    update.read_parts = part.parts;
                    self.send_writes(now, at);
                }
            }
            Job::UpdateWrite(at) => {
                let update = &mut self.updates[at as usize];
                update.left -= 1;
                if update.left > 0 {
                    return;
                }
                let (request, row, mut parts) = (update.request, update.row, update.read_parts);
                parts.merge(&part.parts);
                self.free_updates.push(at);
                let of_row = self.held.get_mut(&row).expect("an update holds its row");
                of_row.retain(|other| *other != at);
                if of_row.is_empty() {
                    self.held.remove(&row);
                }
                match request {
                    Some(id) => self.part_done(now, id, &Completion { parts, ..*part }, done),
                    None => self.row_rebuilt(now, row),
                }
                self.start_updates(now, row);
            }
        }
    }

    fn row_rebuilt(&mut self, now: Time, row: u64) {
        self.rebuilt = row + 1;
        let Some(gone) = self.gone else { return };
        if self.rebuilt == self.row_count() {
            // The spare is a card like the others.
            self.gone = None;
            return;
        }
        let ns = u128::from(self.rebuilt) * u128::from(self.rows.chunk_bytes) * 1_000_000_000;
        self.rebuild_at = Time((ns / u128::from(gone.rebuild_bytes_per_s)) as u64).max(now);
    }

    /// Rebuilds the next row of the spare.
    fn rebuild(&mut self, now: Time) {
        let Some(gone) = self.gone else { return };
        self.rebuild_at = Time::NEVER;
        let chunk = Piece { card: gone.card, bytes: 0..self.rows.chunk_bytes };
        let plan = Plan { reads: self.rows.others(&chunk), held: chunk.bytes.clone(), writes: vec![chunk] };
        self.update(now, Update::new(None, self.rebuilt, plan));
    }

    fn go_on(&mut self, now: Time, done: &mut Vec<Completion>) {
        loop {
            let next = (0..self.cards.len()).find_map(|at| self.ports[at].next_done(&mut self.cards[at], now));
            match next {
                Some((job, part)) => self.job_done(now, job, &part, done),
                None if self.rebuild_at <= now => self.rebuild(now),
                None => break,
            }
        }
        assert_eq!(self.submitted, self.finished + self.in_flight, "a request was lost");
    }
}

impl<D: Device<Data = ()>> Device for Raid5<D> {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        assert!(self.pending[id.0 as usize].is_none(), "request id {} is in use", id.0);
        self.submitted += 1;
        self.in_flight += 1;
        self.pending[id.0 as usize] = Some(Pending { submitted: now, parts_left: 0, failed: None });
        let id = id.0;
        match request.operation {
            Operation::Read => self.read(now, id, request),
            Operation::Write => self.write(now, id, request),
            Operation::Flush => {
                for at in 0..self.cards.len() {
                    self.pending(id).parts_left += 1;
                    self.ports[at].send(&mut self.cards[at], now, Job::Part(id), request);
                }
            }
            // A trim of data alone would leave parity that nothing belongs to; md passes none on unless it is told to.
            Operation::Trim => {
                self.pending(id).parts_left = 1;
                let nothing = Completion { id: RequestId(id), result: Ok(()), data: (), parts: Parts::default() };
                self.part_done(now, id, &nothing, done);
            }
        }
        self.go_on(now, done);
    }

    fn next_event(&self) -> Time {
        self.cards.iter().map(Device::next_event).min().unwrap_or(Time::NEVER).min(self.rebuild_at)
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        for (card, port) in self.cards.iter_mut().zip(&mut self.ports) {
            if card.next_event() <= now {
                card.advance(now, &mut port.done);
            }
        }
        self.go_on(now, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.row_count() * self.rows.row_bytes()
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
