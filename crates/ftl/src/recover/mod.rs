//! Recovery: finds a card on its media again after power was lost at any moment.
//!
//! [`assemble()`] finds the modules, and [`scan()`] finds what lies on them. [`read_sector`], [`check()`] and [`Rebuild`]
//! read and verify sectors, for the scan and for a running card alike. Recovery writes nothing, and the same media give
//! the same result.
//!
//! # The copy that counts
//!
//! For each LBA, recovery takes the copy with the highest version, wherever that copy lies. Copies with the same
//! version have the same contents. Among these, recovery prefers a copy in a whole stripe to one in a stripe that has
//! lost a member, that one to a copy in a stripe that has lost more members than parity can restore, and any of them to
//! a copy that can't be read. Among copies that are still equal, recovery takes the one in the band that was opened
//! last: the place that this copy came from has been stale since the copy was made, and a rebuild may have skipped it.
//!
//! An LBA is a hole if the newest list of holes of its segment names it and that list is not older than the copy.
//!
//! Recovery knows a filled band from its summary if every unit of the band's last row can be read, those of missing
//! modules excepted. The units of a die are programmed in order, so a readable last row proves that everything before
//! it was programmed. Recovery reads every other band completely. Where one member of a stripe can't be read and all
//! others can, recovery rebuilds that member.
//!
//! Files and drives keep spare areas apart from payloads, and there recovery reads the spare areas alone where they tell
//! enough: all members of a stripe that answer are good, or none is written. A payload that is damaged then is found by
//! whoever reads it, as in a band that is known from its summary: its place is known, and nothing older counts.
//!
//! # Lost sectors, and whether they were durable
//!
//! When a stripe has lost more members than parity can restore, recovery does not know which LBAs the lost members
//! held. If those members were durable, an older version must not be taken for the newest, and the card must not start.
//! If they were not durable, they count as never written, and the members that can be read are copies like others (of
//! versions that were issued later). Recovery looks for the answer in the following order, for each sector number of
//! the stripe:
//!
//! 1. **A unit was never programmed.** A stripe is durable only when all of its units are programmed. A member that
//!    reads erased, with nothing after it on the same block, was not programmed since the last erase of that block. So
//!    either the stripe was never durable, or the block was erased later, which happens only when everything that made
//!    the band's sectors stale is durable elsewhere. In both cases nothing of the stripe is needed. Four cases differ:
//!    - If something follows the erased member on its block, a program was reported and never happened. Such a member
//!      proves nothing.
//!    - Media with a volatile cache lose any subset of the programs that were not synced. There an erased member counts
//!      in any place, and so does a member of an earlier opening of the band.
//!    - If the unit is found elsewhere on its die, it was programmed and went astray, and proves nothing. Recovery
//!      looks for strays only where a module is gone, or was gone when a rebuild gave up a unit of the stripe.
//!      Elsewhere a stripe gets into this state without a second fault.
//!    - *With power-loss protection*, everything that was acknowledged is on flash after a cut. A unit of the host's
//!      stream that is absent is then a broken promise and proves nothing. Relocated sectors may be cut: the places
//!      that they came from still hold them.
//! 2. **A program failed.** A block that is marked bad while its band holds sectors had a failed program, and nothing
//!    was programmed into it later. The contents of the stripe were written elsewhere before any of them counted as
//!    durable.
//! 3. **A program was in flight** (never with power-loss protection). A die programs one unit at a time. So a cut tears
//!    at most one unit of a die, the last one programmed, and where that unit is not all good it may have spoiled the
//!    units that share cells with it; a stripe counts as durable only when all stripes that share cells with it are
//!    programmed. A member that can't be read and lies in such a place was torn, or decayed later. Nothing tells the
//!    two apart, so recovery takes the member as torn, except in two cases:
//!    - The die has begun to program a band of the same stream that was opened later. A die programs the units of a
//!      stream in the order in which they were filled, so the die had finished with this band. Only a good sector in
//!      the later band shows this, because a sector that can't be read may be left of an erase that was cut. A power
//!      cut between the two openings would spoil the conclusion. So each scan begins a new epoch of band sequences, and
//!      recovery compares only bands of one epoch.
//!    - A rebuild has given up a unit of the stripe. A rebuild programs a unit without spare areas in the place of a
//!      unit that it can't restore and that something points to.
//! 4. **The band's summary names the lost sectors.** The map then points to them, and their LBAs answer with errors.
//! 5. **An erase was cut.** The blocks that were being erased hold nothing that can be read. The band was being erased
//!    if two things hold. First, the losses outside such blocks are within the redundancy (units that may never have
//!    been programmed, because the band was not filled, are not counted). Second, nothing that can still be read in the
//!    band is current, since a band is erased only when nothing in it is current. Where another stripe of the same dies
//!    shows that the band was being erased, recovery tolerates as many more unreadable units of other blocks as parity
//!    stands for: these decayed before the erase. In files an erase happens at once or not at all, so a block on which
//!    something can't be read was not erased.
//! 6. Otherwise the card does not start: [`ScanError::BeyondRedundancy`].
//!
//! The module headers hold a durable watermark ([`DurableWatermark`]): how far each stream was durable when the header
//! was written, which bands held durable sectors, and whether anything was erased since. For a stripe below the
//! watermark only a failed program (2), the summary (4) or a cut erase (5) can explain a loss. Even a cut erase is no
//! explanation where nothing was erased since, or where the band held durable sectors and was not being erased.
//! Recovery must find every such band, and in the newest band of each stream every stripe below the watermark: on the
//! only die that is left, nothing else tells of programs that went astray.
//!
//! # Losses that recovery can't recognise
//!
//! - Two members of the last stripe that a die programmed before a cut, both lost after that cut, look like a torn
//!   stripe, unless a header that was written since says more.
//! - A band that was written since the last header looks like a band that was being erased if whole blocks of it are
//!   lost and nothing else in it is current, or if nothing in it can be read at all. If all other blocks of such a band
//!   read as erased, a block that is marked bad tells nothing: it may hold what an erase has left.
//! - The newest record of the log, both copies of which are lost, looks like a write that a cut ended.
//! - A whole card that was restored from an older copy looks like that card.
//!
//! Files tell more: a program that was cut reads as erased there, so a unit that can't be read was durable once, and a unit
//! that was synced and is not there any more can't be read ([`Media::take_fallen`](media::Media::take_fallen)). So the first
//! of these losses is recognised in files, and so is a place that fell back in time in all modules.
//!
//! # The write-ahead log
//!
//! On media with a volatile cache, a flush may be answered when its sectors lie in a record of the log, on two modules.
//! Recovery takes such a record for a copy of its sectors: see `recover/log.rs`. Sectors that are durable in the log only
//! are in [`Found::logged`], and are written to stripes, with their versions, before the card serves. Records name those that
//! are needed beside them; where one can't be found the card does not start: [`ScanError::LogRecord`].
//!
//! # Rules for the writer
//!
//! - One program at a time is in flight on a die, and the programs of one stream come in the order of its stripes.
//! - A block whose program failed is marked bad on the medium at once, before the contents of its stripe count as
//!   durable.
//! - A band that recovery found is not written again until it is erased. Its erase begins only when everything that
//!   made its sectors stale is durable: newer versions, copies, lists of holes.
//! - A band that recovery found free is erased again before it is opened, because its last erase may have been cut. On
//!   media with a volatile cache the erase is synced before the band is opened: a cut could otherwise keep some of the
//!   later programs and lose the erase.
//! - The erase of a band includes its bad blocks, as far as they take it. Once nothing shows any more that the other
//!   blocks were erased, the contents of a bad block would tell of a band in use.
//! - Bands opened after a scan get sequences above [`Found::last_band_sequence`], and writes get versions from
//!   [`Found::next_version`] on.
//! - Sectors that [`Found::rescue`] names are written elsewhere, because they lie in stripes that are not whole. Until
//!   they are durable elsewhere, no band that held sectors is erased: it may hold the last durable versions. The
//!   contents in [`Found::rescued`] count even if the sectors can't be read any more.
//! - Before a band that held sectors is erased, new headers are written. Their watermark covers everything that is
//!   durable and says where it lies; they no longer list the band, and no longer say that no band was erased. No header
//!   says that no band was erased while blocks that could not be erased hold what is left of a band.
//! - Sectors that [`Found::logged`] names are written to stripes. Until they are durable there, no record of the log is
//!   overwritten. A record is overwritten only when everything that was written before it is durable in stripes, and a later
//!   record on two modules, or both copies of the headers, say so.
//! - A module is rebuilt with the first row of each band that it belongs to, whether anybody needs that or not: the band is
//!   known from it when the others are gone. Everything else that is not needed may be left out.
//! - A host gets no answer while anything that was found lies in a stripe that is not whole, or the headers do not say
//!   yet that it is durable elsewhere: the loss of one more module must not take away data that a host has read.
//! - Headers are written as [`assemble()`] needs it: a new generation goes to one copy of every module (the copy that is
//!   older, or can't be read), then to the other copy of every module, and only then is anything else written.
//!
//! # Checkpoints
//!
//! A checkpoint is the map as it was at a moment T. A checkpoint counts only when everything that its map points to is
//! durable (part 0 is programmed last), and recovery may use any complete one, not only the newest. Its version `V` was
//! given to nothing else: writes before T have lower versions, and writes after T have higher ones. A band is *known*
//! if it was full at T, with its summary, and if its first row still tells of the same opening on two dies (one die
//! alone may have been away meanwhile). Recovery reads all other bands. Then, for each LBA, the first of these counts
//! that applies:
//!
//! 1. *The newest copy above `V`.* It was written after T, and everything that the checkpoint knew is older.
//! 2. *The address p in the checkpoint's map, if the band of p is known.* p held the newest version below `V`, and
//!    other copies below `V` are the same or older. But the band of p may be about to be erased, and half of it may be
//!    gone. In that case p was copied after T, and the copy lies in a band that was open at T or opened later, so
//!    recovery has found the copy. Therefore, whenever recovery finds a copy below `V` of an LBA whose address is in a
//!    known band, it reads that band too, and counts only those sectors of the band that lie where the checkpoint's map
//!    says.
//! 3. *The newest copy below `V`, if the band of p was opened again.* That band was erased only when the contents of p
//!    were durable elsewhere, as a copy in a band that recovery reads, or were made stale by something newer.
//!
//! If the checkpoint's map has no address for an LBA, the LBA was a hole at T, and copies below `V` are stale. The map
//! has all holes that were made before T, so a list of holes counts only if it is as of `V` or later; the writer makes
//! sure that a list that is written after T is. An LBA that the checkpoint's map had and recovery finds nowhere must be
//! a hole by such a list. If it is not, recovery does not use the checkpoint and reads everything. Holes that no list
//! named at T are written to lists before the card serves ([`Found::owed_segments`]): if the checkpoint is damaged
//! later, the sectors that these holes removed must not come back.
//!
//! Media with a volatile cache lose any subset of what was not synced. All that a checkpoint points to, and all stripes
//! of known bands, were synced before part 0 was programmed, and a known band is erased only when what made its sectors
//! stale is synced too. So the rules hold there as well; only bands that are not known are read in full, for their
//! summaries prove nothing, unless the headers say that all of the band was durable. A sector of the log with a version below `V` adds nothing: it was in a stripe at T, or was made
//! stale by what the checkpoint knows.

mod assemble;
mod assemble_error;
mod band;
mod check;
mod checkpoint;
mod doubt;
mod error;
mod found;
mod holes;
mod identify;
mod join;
mod log;
mod member;
mod newest;
mod place;
mod reader;
mod rebuild;
mod rescue;
mod scan;
mod sector;
mod stray;
mod stripe;
mod summary;
mod watermark;

pub use crate::opening::Opening;
pub use assemble::{Assembly, assemble, can_do_without, spared_modules};
pub use assemble_error::AssembleError;
pub use check::{Place, Rejection, check, check_place, check_spare};
pub use checkpoint::BAND_KNOWN;
pub use error::ScanError;
pub use found::{
    Found, FoundBand, FoundState, Logged, Rescued, SEQUENCE_EPOCH_BITS, ScanReport, StartReads, VERSION_GAP,
};
pub use identify::{BandIdentity, identify};
pub use join::{JoinError, Joins, join};
pub use member::{Member, MemberState};
pub use place::{Card, layout_of, unit_at};
pub use rebuild::{Rebuild, RebuildError, Rebuilt};
pub use scan::scan;
pub use sector::{Scratch, SectorAt, SectorError, SectorRead, read_sector};
pub use watermark::DurableWatermark;
