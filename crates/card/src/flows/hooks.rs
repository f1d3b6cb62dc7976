//! The hooks of the core's flows, for a card that holds bytes.

use crate::card::{AtBarrier, Card, Contents, Done, ReadBy};
use crate::contents::Storage;
use crate::contents::admission::Room;
use crate::contents::store::{InFlight, ReadPart};
use crate::core::die_op::Work;
use crate::core::dies::Started;
use crate::core::read_run::{ReadRun, Wanted};
use crate::core::stripes::StripeInFlight;
use crate::core::timers::Timer;
use device::{Operation, RequestId, SECTOR_BYTES, Time};
use ftl::canary::{Canary, planted};
use ftl::{BandId, Lba, Ppa, Relocation, SealedStripe, StreamId, StripeId, UnitAddress};
use media::{RequestData, SectorData};

impl Contents for Storage {
    type Data = RequestData;
    type InFlight = InFlight;
    const ANY_BYTES: bool = true;

    fn accepting(card: &mut Card<Self>, now: Time, operation: Operation) {
        if matches!(operation, Operation::Write | Operation::Trim) {
            card.note_risk(now);
        }
        Self::tick(card, now);
        if card.core.host.is_idle() {
            card.contents.life.busy(now);
        }
    }

    fn begin(slot: &mut InFlight, data: RequestData, operation: Operation, first: u32, sectors: usize, edges: bool) {
        let is_read = operation == Operation::Read || (operation == Operation::Write && edges);
        slot.begin(data, first, if is_read { sectors } else { 0 });
    }

    fn end(card: &mut Card<Self>, id: RequestId) -> RequestData {
        let slot = &mut card.core.host[id].owned;
        card.contents.store.keep_list(slot.data.take_written_list());
        std::mem::take(&mut slot.data)
    }

    fn read_hole(card: &mut Card<Self>, id: RequestId, lba: Lba) {
        card.core.host[id].owned.set(lba, SectorData::Zero);
    }

    fn begin_read(card: &mut Card<Self>, now: Time, id: RequestId, run: &ReadRun) -> ReadBy {
        let ReadRun { unit, lba, ppa, sectors } = *run;
        if card.contents.store.buffered(ppa).is_none() {
            if let Some(by) = card.read_from_ahead(Wanted { id, unit, lba, ppa, count: sectors }) {
                return by;
            }
            if card.begin_direct(now, id, run) {
                return ReadBy::Contents;
            }
            card.core.host[id].owned.parts.push(ReadPart { unit, first_lba: lba, first: ppa, sectors });
            return ReadBy::Die;
        }
        let slot = &mut card.core.host[id].owned;
        for i in 0..sectors {
            let content = card.contents.store.buffered(Ppa(ppa.0 + i)).expect("a stripe leaves the buffer as a whole");
            slot.set(Lba(lba.0 + i), content.readable());
        }
        ReadBy::Nobody
    }

    fn host_reads(card: &mut Card<Self>, now: Time, first: u32, sectors: u32) {
        card.read_ahead_of(now, first, sectors);
    }

    fn host_read(card: &mut Card<Self>, now: Time, id: RequestId, at: UnitAddress, done: &mut Done<Self>) -> bool {
        card.host_read_arrived(now, id, at, done)
    }

    fn explain_reads(card: &mut Card<Self>, now: Time, id: RequestId) {
        card.explain_rebuilding(now, id);
    }

    fn merge_edges(card: &mut Card<Self>, id: RequestId) -> bool {
        let request = &mut card.core.host[id];
        if !(request.partial_first || request.partial_last) {
            return true;
        }
        // A payload that stands for a sector may have fewer bytes; so have its parts.
        let payload_bytes = card.contents.store.payload_bytes();
        let scaled = |bytes: u16| usize::from(bytes) * payload_bytes / SECTOR_BYTES as usize;
        let (first, last) = (scaled(request.first_bytes), scaled(request.last_bytes));
        let data = &mut request.owned.data;
        let sectors = data.payloads();
        let mut merged = true;
        if request.partial_first {
            merged &= data.fill(0, 0..first);
        }
        if last < payload_bytes {
            merged &= data.fill(sectors - 1, last..payload_bytes);
        }
        merged
    }

    fn admits(card: &Card<Self>) -> bool {
        card.contents.admission.allows() && card.energy_suffices()
    }

    fn write_waits(card: &mut Card<Self>, now: Time) {
        let has_room = card.core.buffer.free_sectors() > 0 && card.core.ftl.can_write();
        if has_room && !card.contents.admission.allows() {
            let at = card.contents.admission.hold_back(now);
            card.core.timers.set(Timer::Admission, at);
        }
    }

    fn is_hole(card: &Card<Self>, lba: Lba) -> bool {
        card.core.ftl.lookup(lba).is_none()
    }

    fn admitted(card: &mut Card<Self>, id: RequestId, lba: Lba, ppa: Ppa, was_hole: bool) {
        card.put_host_sector(id, lba, ppa);
        card.note_for_log(lba, ppa);
        card.contents.admission.take();
        if was_hole {
            card.written_over_hole(lba);
        }
    }

    fn trimmed(card: &mut Card<Self>, lba: Lba) {
        card.note_trim(lba);
    }

    fn trim_done(card: &mut Card<Self>, now: Time) {
        card.limit_owed_holes(now);
    }

    fn owed_holes_as_of(card: &Card<Self>) -> Option<u64> {
        card.contents.holes.are_owed().then_some(card.contents.store.next_version - 1)
    }

    fn flush_by_log(card: &mut Card<Self>, now: Time, id: RequestId, done: &mut Done<Self>) -> bool {
        card.flush_by_log(now, id, done)
    }

    fn at_barrier(card: &mut Card<Self>, now: Time, id: RequestId) -> AtBarrier {
        if !card.core.ftl.can_write() || !card.has_room_for_owed_holes() {
            // Collection makes room first.
            return AtBarrier::NoRoom;
        }
        let Some(as_of) = card.core.host[id].holes_as_of.take() else { return AtBarrier::Answer };
        if as_of < card.contents.checkpoint.version() {
            // A checkpoint was begun since: what is written now must not look older than it.
            card.core.ftl.seal_for_durability(StreamId::Host);
            card.program_sealed(now);
            card.core.host[id].holes_as_of = Some(card.contents.store.next_version - 1);
        } else {
            card.durable_up_to(as_of);
            card.write_owed_holes(now, as_of);
            card.core.ftl.seal_for_durability(StreamId::Host);
            card.program_sealed(now);
        }
        AtBarrier::WaitAgain
    }

    fn believes_early(card: &Card<Self>, barrier: u64) -> bool {
        let waits = |s: &StripeInFlight| s.stream == StreamId::Host && s.sequence < barrier;
        planted(Canary::StripeBelievedEarly)
            && card.contents.failed.is_empty()
            && card.core.stripes.iter().all(|(_, s)| !waits(s) || s.units_left < 3)
    }

    fn answered(card: &mut Card<Self>, now: Time, operation: Operation, bytes: u32, worked: bool) {
        match operation {
            Operation::Read if worked => card.contents.life.read(bytes),
            Operation::Write if worked => card.contents.life.wrote(bytes),
            _ => {}
        }
        card.save_totals_if_due();
        if card.core.host.is_idle() {
            card.contents.life.idle(now);
        }
    }

    fn enqueuing(card: &mut Card<Self>, die: u32) {
        card.set_pace(die);
    }

    fn began(card: &mut Card<Self>, started: &Started) {
        if started.fresh && card.is_on_slow_medium() {
            card.contents.store.to_begin.push(*started);
        }
    }

    #[inline]
    fn to_program(_: &mut Card<Self>, _: StripeId, units: u64) -> u64 {
        units
    }

    fn takes_longer(card: &mut Card<Self>, now: Time, die: usize) -> bool {
        if let Some(until) = card.unanswered_until(now, die) {
            card.core.timers.set(Timer::Die(die), until);
            return true;
        }
        if card.wait_for_medium(now, die) {
            return true;
        }
        card.set_pace(die as u32);
        // The die may have read something that needs more reads.
        let Some(unit) = card.core.dies.read_to_judge(die) else { return false };
        let retries = card.contents.store.retries(unit);
        card.core.dies.retry(now, die, retries, card.core.timers.of_dies())
    }

    fn stripe_begins(card: &mut Card<Self>, sealed: &SealedStripe, stripe: u32) {
        card.note_stripe(sealed);
        card.contents.store.build(&card.core.ftl, *sealed, stripe);
        if sealed.stream == StreamId::Checkpoint {
            card.contents.checkpoint.stripe_begins();
        }
    }

    fn unit_programmed(card: &mut Card<Self>, now: Time, stripe: u32, unit: UnitAddress) {
        card.program_contents(now, stripe, unit);
    }

    fn stripe_programmed(card: &mut Card<Self>, now: Time, stripe: u32, s: StripeInFlight, done: &mut Done<Self>) {
        if card.stripe_contents_safe(now, stripe, s, done) {
            card.stripe_written(now, s, done);
        }
    }

    fn stripe_is_safe(card: &mut Card<Self>, now: Time, s: &StripeInFlight) {
        card.contents.admission.drained(now, s.host_sectors);
        card.release_log();
        if s.stream == StreamId::Checkpoint {
            card.contents.checkpoint.stripe_ends();
        }
    }

    fn own_work_done(card: &mut Card<Self>, now: Time, work: Work, at: UnitAddress, done: &mut Done<Self>) {
        match work {
            Work::RepairRead(index) => card.repair_read(now, index, at, done),
            Work::RebuildErase => card.rebuild_erased(now, at, done),
            Work::RebuildProgram => card.rebuild_programmed(now, at, done),
            work => unreachable!("{work:?} is work of the core"),
        }
    }

    fn next_erase(card: &mut Card<Self>, now: Time) -> Option<BandId> {
        card.next_band_to_erase(now)
    }

    fn holds_erases(card: &Card<Self>) -> bool {
        card.core.phase.is_halted() || (card.core.phase.is_draining() && !card.drain_lacks_room())
    }

    fn is_left_behind(card: &Card<Self>, band: BandId, die: u32) -> bool {
        card.is_bad_and_not_erased(band, die)
    }

    fn erase_begins(card: &mut Card<Self>, now: Time, band: BandId) {
        card.note_erase(now, band);
    }

    fn die_erased(card: &mut Card<Self>, now: Time, index: usize, die: u32) {
        card.erase_contents(now, index, die);
    }

    fn erase_ends(card: &mut Card<Self>, now: Time) -> bool {
        // A cut may leave some of what is programmed into the band from now on, and none of its erase.
        if !card.contents.store.media.keeps_erases() {
            card.sync_media(now);
            return !card.core.phase.is_halted();
        }
        true
    }

    fn band_erased(card: &mut Card<Self>, band: BandId, dies: &[u32], failed: &[u32]) {
        card.note_erased(band, failed.is_empty());
        card.core.ftl.erased_on_medium(band, |die| dies.contains(&die).then(|| !failed.contains(&die)));
    }

    fn holds_relocation(card: &Card<Self>) -> bool {
        // Stripes that failed go first: free bands are for their sectors, and collection would take them.
        card.core.phase.is_halted() || !card.contents.failed.is_empty()
    }

    #[inline]
    fn read_to_relocate(_: &mut Card<Self>, _: Time, relocation: &Relocation) -> UnitAddress {
        relocation.unit
    }

    fn relocation_read(card: &mut Card<Self>, now: Time, relocation: Relocation, done: &mut Done<Self>) {
        card.core.relocations.begin_filling();
        if card.relocation_arrived(now, relocation, done) {
            card.relocation_complete(now, relocation, done);
        }
    }

    fn has_room_to_move(card: &Card<Self>, relocation: &Relocation) -> bool {
        // Sectors of stripes that failed, or that have yet to notice it, go first: what they replaced can't be erased
        // before.
        let owed = card.contents.store.sectors_to_fail(&card.core.ftl) + card.contents.failed.displaced() as u32;
        card.core.ftl.can_relocate(relocation.sectors() + owed)
    }

    fn relocate(card: &mut Card<Self>, relocation: Relocation) {
        card.relocate_contents(relocation);
    }

    fn use_reserve(card: &mut Card<Self>, now: Time, done: &mut Done<Self>) -> bool {
        // Nothing is under way, so nothing will fail: what waits for room takes some of that which is kept for stripes
        // that do.
        if card.contents.failed.has_displaced() || !card.core.ftl.can_rewrite() {
            return false;
        }
        let Some(relocation) = card.core.relocations.pop_waiting() else { return false };
        card.move_now(now, relocation, done);
        card.unblock(now);
        true
    }

    fn tick(card: &mut Card<Self>, now: Time) {
        card.contents.life.tick(now);
        if card.contents.store.media.reads_beside_programs() {
            let room = Room {
                buffer_free: card.core.buffer.free_sectors(),
                buffer: card.core.buffer.sectors(),
                space_free: card.core.ftl.host_room_sectors(),
                space_aim: card.core.ftl.host_room_aim_sectors(),
            };
            card.contents.admission.tick(now, &room);
        }
    }

    fn begin_on_medium(card: &mut Card<Self>) {
        card.begin_on_slow_medium();
    }

    fn timer(card: &mut Card<Self>, now: Time, timer: Timer, done: &mut Done<Self>) {
        match timer {
            Timer::Rebuild => card.resume_rebuild(now, done),
            Timer::DirectReads => card.direct_reads_are_due(now, done),
            Timer::Admission | Timer::Scrub => card.resume(now, done),
            Timer::Log => card.record_is_due(now, done),
            _ => card.sync_is_due(now, done),
        }
    }

    fn events_done(card: &mut Card<Self>, now: Time, idle: bool) {
        // Sectors and requests that wait for room then wait for ever.
        if idle && card.is_beyond_writing() {
            card.core.phase.halt();
        }
        // Sectors of the log have no room, and nothing older must be read in their place.
        if idle && card.contents.log.has_to_place() {
            card.core.phase.halt();
        }
        if idle && card.contents.failed.has_displaced() {
            card.unblock(now);
            card.stop_without_room();
        }
    }

    fn rests(card: &mut Card<Self>, now: Time) {
        if card.core.phase.is_draining() && card.core.dies.in_flight() == 0 && !card.syncs() {
            card.drain(now);
        }
        card.note_halt();
        card.note_end_of_start();
    }

    fn resume(card: &mut Card<Self>, now: Time, done: &mut Done<Self>) {
        if card.contents.syncs.is_under_way() {
            // A module that was waited for may be gone.
            card.synced(now, done);
        }
        card.settle_rewritten(now, done);
        card.rehome(now);
        if card.core.phase.is_draining() {
            return card.drain(now);
        }
        card.replay_log(now);
        card.advance_rebuild(now);
        card.write_owed_since_start(now);
        card.advance_checkpoint(now);
        card.advance_scrub(now, done);
    }

    fn waits(card: &Card<Self>) -> bool {
        !card.contents.failed.is_empty()
    }

    fn sync_what_is_left(card: &mut Card<Self>, now: Time, done: &mut Done<Self>) {
        card.sync_rest(now, done);
    }

    fn syncs(card: &Card<Self>) -> bool {
        card.syncs()
    }

    fn lacks_room(card: &mut Card<Self>) {
        card.rescue_lacks_room();
    }

    fn has_own_work(card: &Card<Self>, events_to_come: bool) -> bool {
        let looks = card.contents.scrub.as_ref().is_some_and(|scrub| scrub.band().is_some());
        events_to_come && (card.contents.rebuilds.current.is_some() || looks)
    }

    fn turned_read_only(card: &mut Card<Self>) {
        card.save_read_only();
    }
}
