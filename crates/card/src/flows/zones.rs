//! Commands to zones: writes must be where the zone's write pointer is, a reset waits until what the zone held is erased, and the
//! finish of a zone until its padding is programmed.

use crate::card::{Card, Contents, Done, ModelCard};
use crate::core::host_request::Stage;
use crate::core::zone_commands::{ZoneCommand, ZoneWait};
use device::{Cause, Completion, Operation, Request, RequestError, RequestId, SECTOR_BYTES, Time};
use ftl::{BandId, Lba, ZoneError};

impl ModelCard {
    /// Hands over a command to a zone. It completes as requests do.
    ///
    /// # Panics
    /// When the card has no zones, or not this one.
    pub fn submit_to_zone(
        &mut self,
        now: Time,
        id: RequestId,
        zone: u32,
        command: ZoneCommand,
        done: &mut Vec<Completion>,
    ) {
        let capacity = self.core.ftl.zones().expect("the card has zones").limits().capacity;
        let first_bytes = u64::from(zone) * u64::from(capacity) * SECTOR_BYTES;
        let request = match command {
            ZoneCommand::Append { sectors } => Request::write(first_bytes, sectors * SECTOR_BYTES as u32),
            _ => Request::trim(first_bytes, 0),
        };
        self.core.host.zones.as_mut().expect("the card has zones").begin(id, zone, command);
        self.accept(now, id, request, done);
    }
}

impl<C: Contents> Card<C> {
    /// Time of the command processor that a request to a card with zones takes beyond its operation.
    pub(crate) fn extra_command_ns(&self, id: RequestId) -> u64 {
        let command = self.core.host.zones.as_ref().and_then(|zones| zones.of(id));
        match command {
            Some((_, ZoneCommand::Append { .. })) => self.core.config.model.zone_host.append_ns,
            _ => 0,
        }
    }

    /// A request has reached a card that has zones.
    #[cold]
    #[inline(never)]
    pub(crate) fn arrived_at_zone(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        let command = self.core.host.zones.as_mut().expect("the card has zones").take(id);
        let request = &mut self.core.host[id];
        let written = match (request.operation, command) {
            (Operation::Read | Operation::Flush, _) => return self.go_on(now, id, done),
            (Operation::Trim, None) => return self.complete(now, id, done),
            (Operation::Trim, Some((zone, command))) => return self.manage_zone(now, id, zone, command, done),
            (Operation::Write, Some((zone, _))) => {
                let first = self.core.ftl.begin_zone_append(zone, request.sectors_left);
                first.map(|first| request.sector = first.0)
            }
            (Operation::Write, None) => {
                assert!(!request.partial_first && !request.partial_last, "zones are written in whole sectors");
                self.core.ftl.begin_zone_write(Lba(request.sector), request.sectors_left)
            }
        };
        match written {
            Ok(()) => self.queue_write(now, id, done),
            Err(error) => self.refuse(now, id, error, done),
        }
    }

    fn refuse(&mut self, now: Time, id: RequestId, error: ZoneError, done: &mut Done<C>) {
        let is_worn = matches!(error, ZoneError::Offline | ZoneError::ReadOnly);
        assert!(is_worn, "the host knows the states of zones, and asked for what they refuse: {error}");
        self.fail(now, id, RequestError::ReadOnly, done);
    }

    fn manage_zone(&mut self, now: Time, id: RequestId, zone: u32, command: ZoneCommand, done: &mut Done<C>) {
        let ftl = &mut self.core.ftl;
        let states = ftl.zones_mut().expect("the card has zones");
        let wait = match command {
            ZoneCommand::Append { .. } => unreachable!("an append is a write"),
            ZoneCommand::Open => states.open(zone).map(|()| None),
            ZoneCommand::Close => states.close(zone).map(|()| None),
            ZoneCommand::Finish => ftl.finish_zone(zone).map(|padding| padding.map(ZoneWait::Padding)),
            ZoneCommand::Reset => ftl.reset_zone(zone).map(|reset| {
                self.core.buffer.free(reset.unbuffered_sectors);
                (!reset.bands.is_empty()).then_some(ZoneWait::Erases(reset.bands))
            }),
        };
        match wait {
            Err(error) => self.refuse(now, id, error, done),
            Ok(None) => self.complete(now, id, done),
            Ok(Some(wait)) => {
                self.core.host[id].stage = Stage::Durable;
                if let Some(record) = self.core.account.record(id) {
                    record.wait_since = now;
                }
                self.core.host.zones.as_mut().expect("the card has zones").waiting.push((id, wait));
                self.program_sealed(now);
                self.erase_stale(now);
                self.resume(now, done);
            }
        }
    }

    /// A band of a card with zones was erased.
    #[cold]
    pub(crate) fn band_of_zone_erased(&mut self, now: Time, band: BandId, done: &mut Done<C>) {
        let zones = self.core.host.zones.as_mut().expect("the card has zones");
        let mut is_over = None;
        for (at, (_, wait)) in zones.waiting.iter_mut().enumerate() {
            if let ZoneWait::Erases(bands) = wait
                && let Some(found) = bands.iter().position(|&waited| waited == band)
            {
                bands.swap_remove(found);
                is_over = bands.is_empty().then_some(at);
                break;
            }
        }
        if let Some(at) = is_over {
            let (id, _) = zones.waiting.remove(at);
            self.end_wait(now, id, Cause::DieErase, done);
        }
    }

    /// A stripe of a zone is on flash.
    #[cold]
    pub(crate) fn stripe_of_zone_safe(&mut self, now: Time, done: &mut Done<C>) {
        let ftl = &self.core.ftl;
        let zones = self.core.host.zones.as_mut().expect("the card has zones");
        let is_over = |(_, wait): &(RequestId, ZoneWait)| match wait {
            ZoneWait::Padding(padding) => ftl.zone_is_durable(*padding),
            ZoneWait::Erases(_) => false,
        };
        let Some(at) = zones.waiting.iter().position(is_over) else { return };
        let (id, _) = zones.waiting.remove(at);
        self.end_wait(now, id, Cause::DieHostProgram, done);
        self.stripe_of_zone_safe(now, done);
    }

    fn end_wait(&mut self, now: Time, id: RequestId, cause: Cause, done: &mut Done<C>) {
        if let Some(record) = self.core.account.record(id) {
            let waited = now - record.wait_since;
            record.settled.add(cause, waited);
        }
        self.complete(now, id, done);
    }
}
