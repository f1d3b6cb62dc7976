//! The card: a core and, where it holds bytes, contents.
//!
//! The flows of the core (`flows/`) call the hooks of [`Contents`]; those of a card without contents do nothing and cost
//! nothing.

use crate::core::Core;
use crate::core::die_op::{NOBODY, Work};
use crate::core::dies::Started;
use crate::core::read_run::ReadRun;
use crate::core::stripes::StripeInFlight;
use crate::core::timers::Timer;
use device::{Completion, Operation, RequestId, Time};
use ftl::{BandId, Lba, Ppa, Relocation, SealedStripe, StripeId, UnitAddress};
use std::fmt::Debug;

/// Without requests for so long, a card makes room in its SLC cache. Pauses between the requests of a busy host are
/// shorter.
pub const IDLE_NS: u64 = 10_000_000;

/// A card in virtual time.
#[derive(Clone, Debug)]
pub struct Card<C: Contents> {
    pub(crate) core: Core<C::InFlight>,
    pub(crate) contents: C,
}

/// A card that has places, times and amounts of everything, and no bytes.
pub type ModelCard = Card<NoContents>;

/// Requests that have completed.
pub type Done<C> = Vec<Completion<<C as Contents>::Data>>;

/// The part of the card that reads sectors for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBy {
    /// They are there, or need not be read.
    Nobody,
    /// Their die is to be asked.
    Die,
    /// The contents have begun the read, and tell the request when it has ended.
    Contents,
}

/// The next step of a request that waits for durability, once its barrier is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtBarrier {
    /// It is answered.
    Answer,
    /// It waits for another barrier, and has queued itself again.
    WaitAgain,
    /// It stays the first, until collection has made room.
    NoRoom,
}

/// The contents of a card, as the flows of its core see them: each hook says when it is called.
pub trait Contents: Clone + Debug + Sized {
    /// The data that a request brings and takes back.
    type Data;
    /// The state that the card keeps for a request in flight.
    type InFlight: Clone + Debug + Default;
    /// Offsets and lengths may be any bytes, not only multiples of 512.
    const ANY_BYTES: bool;

    // The way of a request.

    /// A request is about to be taken.
    fn accepting(card: &mut Card<Self>, now: Time, operation: Operation);
    /// A request takes its slot.
    fn begin(
        slot: &mut Self::InFlight,
        data: Self::Data,
        operation: Operation,
        first: u32,
        sectors: usize,
        edges: bool,
    );
    /// A request leaves its slot: what it takes back.
    fn end(card: &mut Card<Self>, id: RequestId) -> Self::Data;
    /// A sector of a read was never written.
    fn read_hole(card: &mut Card<Self>, id: RequestId, lba: Lba);
    /// Sectors are to be read.
    fn begin_read(card: &mut Card<Self>, now: Time, id: RequestId, run: &ReadRun) -> ReadBy;
    /// A host has begun to read so many sectors.
    fn host_reads(card: &mut Card<Self>, now: Time, first: u32, sectors: u32);
    /// A die has read for a request; false when more has to be read first.
    fn host_read(card: &mut Card<Self>, now: Time, id: RequestId, at: UnitAddress, done: &mut Done<Self>) -> bool;
    /// All reads of a request that is explained are done; the time that no die accounts for is the contents' own.
    fn explain_reads(card: &mut Card<Self>, now: Time, id: RequestId);
    /// The sectors that a write covers in part get the rest of what they held; false: that can't be read.
    fn merge_edges(card: &mut Card<Self>, id: RequestId) -> bool;
    /// One more sector of the host may be taken into the buffer, which has room.
    fn admits(card: &Card<Self>) -> bool;
    /// A write waits for room, space or leave.
    fn write_waits(card: &mut Card<Self>, now: Time);
    /// A sector is about to be written.
    fn is_hole(card: &Card<Self>, lba: Lba) -> bool;
    /// A sector of a write was given its place.
    fn admitted(card: &mut Card<Self>, id: RequestId, lba: Lba, ppa: Ppa, was_hole: bool);
    /// A sector that held something was trimmed.
    fn trimmed(card: &mut Card<Self>, lba: Lba);
    /// All sectors of a trim are done.
    fn trim_done(card: &mut Card<Self>, now: Time);
    /// Trims that a flush has to make durable beside what was written: as of which version.
    fn owed_holes_as_of(card: &Card<Self>) -> Option<u64>;
    /// A flush is to be made durable: true when a log does that, and answers it.
    fn flush_by_log(card: &mut Card<Self>, now: Time, id: RequestId, done: &mut Done<Self>) -> bool;
    /// The barrier of a flush that owes holes is durable.
    fn at_barrier(card: &mut Card<Self>, now: Time, id: RequestId) -> AtBarrier;
    /// A planted bug: the barrier counts as durable already.
    fn believes_early(card: &Card<Self>, barrier: u64) -> bool;
    /// A request was answered; `worked` says how.
    fn answered(card: &mut Card<Self>, now: Time, operation: Operation, bytes: u32, worked: bool);

    // Hooks on the work of dies and stripes.

    /// The units of a stripe that are programmed, of those that hold something.
    fn to_program(card: &mut Card<Self>, stripe: StripeId, units: u64) -> u64;
    /// A die is about to be given work.
    fn enqueuing(card: &mut Card<Self>, die: u32);
    /// A die has begun something.
    fn began(card: &mut Card<Self>, started: &Started);
    /// The time of a die's operation is over; true when it goes on all the same.
    fn takes_longer(card: &mut Card<Self>, now: Time, die: usize) -> bool;
    /// A stripe is about to be programmed.
    fn stripe_begins(card: &mut Card<Self>, sealed: &SealedStripe, stripe: u32);
    /// A die has programmed a unit of a stripe.
    fn unit_programmed(card: &mut Card<Self>, now: Time, stripe: u32, unit: UnitAddress);
    /// All units of a stripe were programmed, or failed. It leads to `stripe_safe`, now or later.
    fn stripe_programmed(card: &mut Card<Self>, now: Time, stripe: u32, s: StripeInFlight, done: &mut Done<Self>);
    /// A stripe is safe.
    fn stripe_is_safe(card: &mut Card<Self>, now: Time, s: &StripeInFlight);
    /// A die has done work of the contents' own.
    fn own_work_done(card: &mut Card<Self>, now: Time, work: Work, at: UnitAddress, done: &mut Done<Self>);

    // Erases.

    /// A band that may be erased now.
    fn next_erase(card: &mut Card<Self>, now: Time) -> Option<BandId>;
    /// No band is erased for now.
    fn holds_erases(card: &Card<Self>) -> bool;
    /// A bad block that still holds what nobody has erased.
    fn is_left_behind(card: &Card<Self>, band: BandId, die: u32) -> bool;
    /// A band is about to be erased.
    fn erase_begins(card: &mut Card<Self>, now: Time, band: BandId);
    /// A die has erased its share of the band that is `erasing[index]`.
    fn die_erased(card: &mut Card<Self>, now: Time, index: usize, die: u32);
    /// All dies have erased their share; false when the card can't go on.
    fn erase_ends(card: &mut Card<Self>, now: Time) -> bool;
    /// A band was erased: tells flash management.
    fn band_erased(card: &mut Card<Self>, band: BandId, dies: &[u32], failed: &[u32]);

    // Relocation.

    /// Nothing more may be relocated for now.
    fn holds_relocation(card: &Card<Self>) -> bool;
    /// A die has read sectors to relocate. It leads to `relocation_came`, now or later.
    fn relocation_read(card: &mut Card<Self>, now: Time, relocation: Relocation, done: &mut Done<Self>);
    /// The unit that is read for a relocation.
    fn read_to_relocate(card: &mut Card<Self>, now: Time, relocation: &Relocation) -> UnitAddress;
    /// There is room for a relocation's sectors.
    fn has_room_to_move(card: &Card<Self>, relocation: &Relocation) -> bool;
    /// Gives a relocation's sectors their new places.
    fn relocate(card: &mut Card<Self>, relocation: Relocation);
    /// Nothing is under way, and writes wait: takes room that is kept for failures. False: there is none.
    fn use_reserve(card: &mut Card<Self>, now: Time, done: &mut Done<Self>) -> bool;

    // The event loop.

    /// Time has come to `now`.
    fn tick(card: &mut Card<Self>, now: Time);
    /// Operations that have begun on dies may begin on the medium.
    fn begin_on_medium(card: &mut Card<Self>);
    /// A timer of the contents.
    fn timer(card: &mut Card<Self>, now: Time, timer: Timer, done: &mut Done<Self>);
    /// No event is due; `idle`: none will ever be.
    fn events_done(card: &mut Card<Self>, now: Time, idle: bool);
    /// After `events_done`, and after the card has looked whether anything waits for ever.
    fn rests(card: &mut Card<Self>, now: Time);
    /// Space or buffer came free, before the core goes on with what waits.
    fn resume(card: &mut Card<Self>, now: Time, done: &mut Done<Self>);
    /// Something of the contents waits, beside the requests that the core has waiting.
    fn waits(card: &Card<Self>) -> bool;
    /// Writes, or the contents, wait for stripes: those that are written may have to be synced first.
    fn sync_what_is_left(card: &mut Card<Self>, now: Time, done: &mut Done<Self>);
    /// Stripes are written, and not known to be durable.
    fn syncs(card: &Card<Self>) -> bool;
    /// Nothing goes on any more unless bands are erased.
    fn lacks_room(card: &mut Card<Self>);
    /// Work of the contents' own is under way, or to come while other events are (`events_to_come`), that may make room.
    fn has_own_work(card: &Card<Self>, events_to_come: bool) -> bool;
    /// The spare is used up, for good.
    fn turned_read_only(card: &mut Card<Self>);
}

/// The contents of a card that has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContents;

impl Contents for NoContents {
    type Data = ();
    type InFlight = ();
    const ANY_BYTES: bool = false;

    #[inline]
    fn accepting(_: &mut Card<Self>, _: Time, _: Operation) {}
    #[inline]
    fn begin(_: &mut (), _: (), _: Operation, _: u32, _: usize, _: bool) {}
    #[inline]
    fn end(_: &mut Card<Self>, _: RequestId) {}
    #[inline]
    fn read_hole(_: &mut Card<Self>, _: RequestId, _: Lba) {}
    #[inline]
    fn begin_read(card: &mut Card<Self>, now: Time, id: RequestId, run: &ReadRun) -> ReadBy {
        if !card.core.ftl.is_programmed(run.unit) {
            return ReadBy::Nobody;
        }
        if card.is_gone(run.unit.die) {
            card.read_rest(now, id, run.unit, run.sectors);
            return ReadBy::Nobody;
        }
        ReadBy::Die
    }
    #[inline]
    fn host_reads(_: &mut Card<Self>, _: Time, _: u32, _: u32) {}
    #[inline]
    fn host_read(card: &mut Card<Self>, now: Time, id: RequestId, at: UnitAddress, _: &mut Done<Self>) -> bool {
        card.rebuild_what_is_unreadable(now, id, at);
        true
    }
    #[inline]
    fn explain_reads(card: &mut Card<Self>, now: Time, id: RequestId) {
        card.explain_rebuilding(now, id);
    }
    #[inline]
    fn merge_edges(_: &mut Card<Self>, _: RequestId) -> bool {
        true
    }
    #[inline]
    fn admits(_: &Card<Self>) -> bool {
        // No stripe is narrower than the size of the buffer counts with.
        true
    }
    #[inline]
    fn write_waits(_: &mut Card<Self>, _: Time) {}
    #[inline]
    fn is_hole(_: &Card<Self>, _: Lba) -> bool {
        false
    }
    #[inline]
    fn admitted(_: &mut Card<Self>, _: RequestId, _: Lba, _: Ppa, _: bool) {}
    #[inline]
    fn trimmed(_: &mut Card<Self>, _: Lba) {}
    #[inline]
    fn trim_done(_: &mut Card<Self>, _: Time) {}
    #[inline]
    fn owed_holes_as_of(_: &Card<Self>) -> Option<u64> {
        None
    }
    #[inline]
    fn flush_by_log(_: &mut Card<Self>, _: Time, _: RequestId, _: &mut Done<Self>) -> bool {
        false
    }
    #[inline]
    fn at_barrier(_: &mut Card<Self>, _: Time, _: RequestId) -> AtBarrier {
        AtBarrier::Answer
    }
    #[inline]
    fn believes_early(_: &Card<Self>, _: u64) -> bool {
        false
    }
    #[inline]
    fn answered(_: &mut Card<Self>, _: Time, _: Operation, _: u32, _: bool) {}
    #[inline]
    fn to_program(card: &mut Card<Self>, stripe: StripeId, units: u64) -> u64 {
        card.without_gone_units(stripe, units)
    }
    #[inline]
    fn enqueuing(_: &mut Card<Self>, _: u32) {}
    #[inline]
    fn began(card: &mut Card<Self>, started: &Started) {
        if matches!(started.work, Work::HostRead(_) | Work::MapRead(_) | Work::RelocationRead(_)) {
            card.core.ftl.blocks().read(started.unit.band.0, started.unit.die, started.unit.row);
        }
    }
    #[inline]
    fn takes_longer(card: &mut Card<Self>, now: Time, die: usize) -> bool {
        let Some(physics) = &card.core.config.model.physics else { return false };
        let most = physics.read_retries;
        let Some(unit) = card.core.dies.read_to_judge(die) else { return false };
        let retries = card.retries(unit).unwrap_or(most);
        card.core.dies.retry(now, die, retries, card.core.timers.of_dies())
    }
    #[inline]
    fn stripe_begins(_: &mut Card<Self>, _: &SealedStripe, _: u32) {}
    #[inline]
    fn unit_programmed(card: &mut Card<Self>, _: Time, _: u32, unit: UnitAddress) {
        card.core.ftl.unit_programmed(unit);
    }
    #[inline]
    fn stripe_programmed(card: &mut Card<Self>, now: Time, _: u32, s: StripeInFlight, done: &mut Done<Self>) {
        card.stripe_safe(now, s, done);
    }
    #[inline]
    fn stripe_is_safe(_: &mut Card<Self>, _: Time, _: &StripeInFlight) {}
    fn own_work_done(_: &mut Card<Self>, _: Time, work: Work, _: UnitAddress, _: &mut Done<Self>) {
        assert_eq!(work, Work::RepairRead(NOBODY), "other work is of contents");
    }
    #[inline]
    fn next_erase(card: &mut Card<Self>, _: Time) -> Option<BandId> {
        card.core.ftl.next_erase()
    }
    #[inline]
    fn holds_erases(_: &Card<Self>) -> bool {
        false
    }
    #[inline]
    fn is_left_behind(_: &Card<Self>, _: BandId, _: u32) -> bool {
        false
    }
    #[inline]
    fn erase_begins(_: &mut Card<Self>, _: Time, _: BandId) {}
    #[inline]
    fn die_erased(_: &mut Card<Self>, _: Time, _: usize, _: u32) {}
    #[inline]
    fn erase_ends(_: &mut Card<Self>, _: Time) -> bool {
        true
    }
    #[inline]
    fn band_erased(card: &mut Card<Self>, band: BandId, _: &[u32], _: &[u32]) {
        card.core.ftl.erased(band);
    }
    #[inline]
    fn holds_relocation(_: &Card<Self>) -> bool {
        false
    }
    #[inline]
    fn relocation_read(card: &mut Card<Self>, now: Time, relocation: Relocation, done: &mut Done<Self>) {
        card.relocation_came(now, relocation, done);
    }
    #[inline]
    fn read_to_relocate(card: &mut Card<Self>, now: Time, relocation: &Relocation) -> UnitAddress {
        card.read_to_relocate(now, relocation)
    }
    #[inline]
    fn has_room_to_move(_: &Card<Self>, _: &Relocation) -> bool {
        true
    }
    #[inline]
    fn relocate(card: &mut Card<Self>, relocation: Relocation) {
        card.core.ftl.relocate(relocation, |_, _| {});
    }
    #[inline]
    fn use_reserve(_: &mut Card<Self>, _: Time, _: &mut Done<Self>) -> bool {
        false
    }
    #[inline]
    fn tick(_: &mut Card<Self>, _: Time) {}
    #[inline]
    fn begin_on_medium(_: &mut Card<Self>) {}
    fn timer(_: &mut Card<Self>, _: Time, timer: Timer, _: &mut Done<Self>) {
        unreachable!("{timer:?} is a timer of contents");
    }
    #[inline]
    fn events_done(_: &mut Card<Self>, _: Time, _: bool) {}
    #[inline]
    fn rests(_: &mut Card<Self>, _: Time) {}
    #[inline]
    fn resume(_: &mut Card<Self>, _: Time, _: &mut Done<Self>) {}
    #[inline]
    fn waits(_: &Card<Self>) -> bool {
        false
    }
    #[inline]
    fn sync_what_is_left(_: &mut Card<Self>, _: Time, _: &mut Done<Self>) {}
    #[inline]
    fn syncs(_: &Card<Self>) -> bool {
        false
    }
    #[inline]
    fn lacks_room(_: &mut Card<Self>) {}
    #[inline]
    fn has_own_work(_: &Card<Self>, _: bool) -> bool {
        false
    }
    #[inline]
    fn turned_read_only(_: &mut Card<Self>) {}
}
