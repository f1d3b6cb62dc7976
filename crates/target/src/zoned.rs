//! A host that writes zones in order: the load's blocks lie where it asks for them, and coming around it resets.
//!
//! The host keeps writes to a zone in the order in which they come. At the write pointer one of them is under way at once, as
//! schedulers of operating systems have it; of appends as many as there are. A write to the start of a zone that holds something
//! waits until all before it have ended, and until the zone was reset. A zone of which the host leaves a part unwritten is
//! finished behind its last write. Zones are active in the device only as many as it allows: others wait.

use crate::Progress;
use crate::error::RunError;
use card::{ModelCard, ZoneCommand, ZoneHost, ZoneWrites};
use device::Time;
use device::{ByteRange, Cause, Completion, Device, Operation, Parts, Request, RequestError, RequestId, SECTOR_BYTES};
use ftl::{Lba, ReadOnly, ZoneLimits};
use std::collections::VecDeque;

/// A card with zones, and the host's layer above it.
#[derive(Clone, Debug)]
pub struct Zoned {
    card: ModelCard,
    limits: ZoneLimits,
    host: ZoneHost,
    /// Sectors of a zone that the host writes.
    written: u32,
    zones: Vec<HostZone>,
    /// Zones that wait until another one is not active any more.
    starved: VecDeque<u32>,
    active: u32,
    pending: Vec<Pending>,
    jobs: Vec<Job>,
    free: Vec<u32>,
    /// Jobs that wait for a free id.
    backlog: VecDeque<(Job, Asked)>,
    in_flight: u64,
    scratch: Vec<Completion>,
}

/// A zone, as the host knows it.
#[derive(Clone, Debug, Default)]
struct HostZone {
    /// The next sector to be written.
    next: u32,
    writes_under_way: u32,
    /// It is reset or finished.
    is_managed: bool,
    is_active: bool,
    waiting: VecDeque<Piece>,
}

/// A part of a write that lies in one zone.
#[derive(Clone, Copy, Debug)]
struct Piece {
    request: u32,
    offset: u32,
    sectors: u32,
    fua: bool,
}

/// A request of the load.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    submitted: Time,
    pieces_left: u32,
    failed: Option<RequestError>,
}

/// The reason for a request to the card.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// A part of a read, or a flush.
    Part {
        request: u32,
        began: Time,
    },
    Write {
        request: u32,
        zone: u32,
        began: Time,
    },
    Reset {
        zone: u32,
    },
    Finish {
        zone: u32,
    },
}

/// A request to the card.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Plain(Request),
    Zone(u32, ZoneCommand),
}

impl Zoned {
    /// A host in front of a new card with zones, which takes [`Zoned::depth`] requests.
    ///
    /// # Panics
    /// When the card has no zones.
    pub fn new(card: ModelCard, max_requests: u32) -> Zoned {
        let limits = card.ftl().zones().expect("the card has zones").limits();
        let host = card.config().model.zone_host;
        let depth = Zoned::depth(max_requests, limits.max_active);
        Zoned {
            card,
            limits,
            host,
            written: host.written_sectors(limits.capacity),
            zones: vec![HostZone::default(); limits.zones as usize],
            starved: VecDeque::new(),
            active: 0,
            pending: vec![Pending::default(); max_requests as usize],
            jobs: vec![Job::Reset { zone: 0 }; depth as usize],
            free: (0..depth).rev().collect(),
            backlog: VecDeque::new(),
            in_flight: 0,
            scratch: Vec::new(),
        }
    }

    /// Requests that the card has at once, where the load has so many: two parts of each and a reset, and zones that are
    /// finished.
    pub fn depth(max_requests: u32, max_active: u32) -> u32 {
        3 * max_requests + max_active
    }

    /// The card under the host.
    pub fn card(&self) -> &ModelCard {
        &self.card
    }

    /// The card, to change it.
    pub fn card_mut(&mut self) -> &mut ModelCard {
        &mut self.card
    }

    /// Bytes of a zone that the host writes.
    pub fn zone_bytes(&self) -> u64 {
        u64::from(self.written) * SECTOR_BYTES
    }

    /// Writes the first zones of the device without time, as many as hold so many bytes.
    pub fn fill_now(&mut self, bytes: u64, progress: &dyn Progress) -> Result<(), RunError> {
        let zones = (bytes.div_ceil(self.zone_bytes()) as u32).min(self.limits.zones);
        progress.begin("fill", zones.into());
        for zone in 0..zones {
            self.fill_zone_now(zone)?;
            progress.at(zone.into());
            if progress.cancelled() {
                return Err(RunError::Cancelled);
            }
        }
        Ok(())
    }

    fn fill_zone_now(&mut self, zone: u32) -> Result<(), ReadOnly> {
        let ftl = self.card.ftl_mut();
        let first = zone * self.limits.capacity;
        (first..first + self.written).try_for_each(|lba| ftl.write_now(Lba(lba)))?;
        ftl.finish_zone(zone).map_err(|_| ReadOnly)?;
        ftl.settle_now();
        self.zones[zone as usize].next = self.written;
        Ok(())
    }

    /// The parts of a range that lie in one zone each: the zone, the first byte within it, and the bytes.
    fn pieces(&self, range: ByteRange) -> impl Iterator<Item = (u32, u64, u64)> + use<> {
        let zone_bytes = self.zone_bytes();
        let (mut from, end) = (range.offset_bytes, range.end_bytes());
        std::iter::from_fn(move || {
            let (zone, within) = (from / zone_bytes, from % zone_bytes);
            let bytes = (end - from).min(zone_bytes - within);
            from += bytes;
            (bytes > 0).then_some((zone as u32, within, bytes))
        })
    }

    fn send(&mut self, now: Time, mut job: Job, asked: Asked) {
        if let Job::Part { began, .. } | Job::Write { began, .. } = &mut job {
            *began = now;
        }
        let Some(id) = self.free.pop() else { return self.backlog.push_back((job, asked)) };
        self.jobs[id as usize] = job;
        let id = RequestId(id);
        match asked {
            Asked::Plain(request) => self.card.submit(now, id, request, &mut self.scratch),
            Asked::Zone(zone, command) => self.card.submit_to_zone(now, id, zone, command, &mut self.scratch),
        }
    }

    fn address(&self, zone: u32, within_bytes: u64) -> u64 {
        u64::from(zone) * u64::from(self.limits.capacity) * SECTOR_BYTES + within_bytes
    }

    /// Sends what may go to a zone.
    fn pump(&mut self, now: Time, zone: u32) {
        loop {
            let of_zone = &mut self.zones[zone as usize];
            let Some(&piece) = of_zone.waiting.front() else { return };
            let is_alone = of_zone.writes_under_way == 0;
            if of_zone.is_managed || !is_alone && self.host.writes == ZoneWrites::AtPointer {
                return;
            }
            let begins_anew = piece.offset == 0 || of_zone.next + piece.sectors > self.written;
            if begins_anew && of_zone.next > 0 {
                if is_alone {
                    of_zone.is_managed = true;
                    self.send(now, Job::Reset { zone }, Asked::Zone(zone, ZoneCommand::Reset));
                }
                return;
            }
            if !of_zone.is_active {
                if self.active == self.limits.max_active {
                    if !self.starved.contains(&zone) {
                        self.starved.push_back(zone);
                    }
                    return;
                }
                of_zone.is_active = true;
                self.active += 1;
            }
            of_zone.waiting.pop_front();
            let first = of_zone.next;
            of_zone.next += piece.sectors;
            of_zone.writes_under_way += 1;
            let job = Job::Write { request: piece.request, zone, began: now };
            let asked = match self.host.writes {
                ZoneWrites::Appended => Asked::Zone(zone, ZoneCommand::Append { sectors: piece.sectors }),
                ZoneWrites::AtPointer => {
                    let at = self.address(zone, u64::from(first) * SECTOR_BYTES);
                    let write = Request::write(at, piece.sectors * SECTOR_BYTES as u32);
                    Asked::Plain(Request { fua: piece.fua, ..write })
                }
            };
            self.send(now, job, asked);
        }
    }

    /// A write of a zone has ended.
    fn written(&mut self, now: Time, zone: u32) {
        let of_zone = &mut self.zones[zone as usize];
        of_zone.writes_under_way -= 1;
        if of_zone.next == self.written && of_zone.writes_under_way == 0 {
            if self.written < self.limits.capacity {
                of_zone.is_managed = true;
                self.send(now, Job::Finish { zone }, Asked::Zone(zone, ZoneCommand::Finish));
            } else {
                self.let_go(now, zone);
            }
        }
        self.pump(now, zone);
    }

    /// A zone is not active any more: one that waited for that may be.
    fn let_go(&mut self, now: Time, zone: u32) {
        if std::mem::take(&mut self.zones[zone as usize].is_active) {
            self.active -= 1;
            if let Some(next) = self.starved.pop_front() {
                self.pump(now, next);
            }
        }
    }

    fn end_piece(&mut self, request: u32, began: Time, completion: &Completion, done: &mut Vec<Completion>) {
        let pending = &mut self.pending[request as usize];
        pending.pieces_left -= 1;
        if let Err(error) = completion.result {
            pending.failed = Some(error);
        }
        if pending.pieces_left == 0 {
            // The piece that ended last is the critical path.
            let mut parts = completion.parts;
            if parts != Parts::default() {
                parts.add(Cause::Zone, began - pending.submitted);
            }
            let result = pending.failed.map_or(Ok(()), Err);
            self.in_flight -= 1;
            done.push(Completion { id: RequestId(request), result, data: (), parts });
        }
    }

    /// Looks at what the card has finished.
    fn collect(&mut self, now: Time, done: &mut Vec<Completion>) {
        let mut next = 0;
        // Later steps may finish more at once.
        while next < self.scratch.len() {
            let completion = self.scratch[next];
            next += 1;
            let id = completion.id.0;
            let job = self.jobs[id as usize];
            self.free.push(id);
            if let Some((job, asked)) = self.backlog.pop_front() {
                self.send(now, job, asked);
            }
            match job {
                Job::Part { request, began } => self.end_piece(request, began, &completion, done),
                Job::Write { request, zone, began } => {
                    self.written(now, zone);
                    self.end_piece(request, began, &completion, done);
                }
                Job::Reset { zone } => {
                    let of_zone = &mut self.zones[zone as usize];
                    of_zone.is_managed = false;
                    of_zone.next = 0;
                    self.let_go(now, zone);
                    self.pump(now, zone);
                }
                Job::Finish { zone } => {
                    self.zones[zone as usize].is_managed = false;
                    self.let_go(now, zone);
                    self.pump(now, zone);
                }
            }
        }
        self.scratch.clear();
    }
}

impl Device for Zoned {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        let pieces: Vec<(u32, u64, u64)> = match request.operation {
            Operation::Read | Operation::Write => self.pieces(request.range).collect(),
            Operation::Flush | Operation::Trim => Vec::new(),
        };
        self.in_flight += 1;
        let pieces_left = pieces.len().max(1) as u32;
        self.pending[id.0 as usize] = Pending { submitted: now, pieces_left, failed: None };
        let request_id = id.0;
        if pieces.is_empty() {
            let whole = Request { range: ByteRange { offset_bytes: 0, len_bytes: 0 }, ..request };
            self.send(now, Job::Part { request: request_id, began: now }, Asked::Plain(whole));
        }
        for (zone, within, bytes) in pieces {
            if request.operation == Operation::Read {
                let range = ByteRange { offset_bytes: self.address(zone, within), len_bytes: bytes as u32 };
                let asked = Asked::Plain(Request { range, ..request });
                self.send(now, Job::Part { request: request_id, began: now }, asked);
                continue;
            }
            let sectors = |bytes: u64| (bytes / SECTOR_BYTES) as u32;
            let piece =
                Piece { request: request_id, offset: sectors(within), sectors: sectors(bytes), fua: request.fua };
            self.zones[zone as usize].waiting.push_back(piece);
            self.pump(now, zone);
        }
        self.collect(now, done);
    }

    fn next_event(&self) -> Time {
        self.card.next_event()
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        self.card.advance(now, &mut self.scratch);
        self.collect(now, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.host.bytes(self.limits)
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
