//! Finds a card on its media again after power was lost at any moment.
//!
//! [`assemble`] finds the modules; [`scan`] finds what is on them; [`read_sector`], [`check`] and [`Rebuild`] are what
//! both the scan and a running card read with. Nothing here writes, and the same media give the same result.
//!
//! # What counts
//!
//! Of each LBA the copy with the highest version, wherever it lies. Copies with the same version hold the same: one in
//! a stripe that is whole is taken before one in a stripe that has lost a member, before one in a stripe that has lost
//! more, before one that can't be read; then the one in the band that was opened last: what it was
//! copied from was stale since then, and a rebuild may have passed over it. An LBA is a hole if the newest
//! list of holes of its segment says so and is not older than the copy.
//!
//! A band that was filled is known from its summary if all of its last row can be read (but for missing modules): units
//! of a die are programmed in order, so all that comes before was programmed. Of other bands everything is read. Where
//! one member of a stripe can't be read and all others can, it is rebuilt.
//!
//! # What is lost
//!
//! When more members of a stripe are lost than parity stands for, their LBAs are not known. Was any of them durable? If
//! so, an older version must not be taken for the newest, and the card must not start; if not, they are as if they had
//! never been written, and the members that can be read are copies like others (versions that were issued later). The
//! answer is sought in this order, for each number of a sector in the stripe:
//!
//! 1. **A unit was never programmed.** A stripe is durable when all of its units are programmed. A member that reads
//!    erased, with nothing after it on the same block, was not programmed since the block's erase. So either the stripe
//!    was never durable, or the block was erased since, which happens only when what made the band's sectors stale is
//!    durable elsewhere. Nothing of it is needed. (Something after it on the block: a program was reported and never
//!    happened. That says nothing. On media with a volatile cache, which lose any subset of what was not synced, an
//!    erased member counts in any place, and so does one of an earlier opening of the band.) But not if the unit is found
//!    elsewhere on its die: it was programmed, and went astray. That is looked for where a module is gone, or was when a
//!    rebuild gave up a unit of the stripe; else it takes no second fault for a stripe to be so.
//!    *With power-loss protection* what was acknowledged is on flash after a cut, so a unit of the host's stream that
//!    is not there is a broken promise and no such proof; relocated sectors may be cut, they still lie where they came
//!    from.
//! 2. **A program failed.** A block that is marked bad while its band holds sectors had a failed program, and
//!    nothing was programmed into it later. Contents of the stripe were written elsewhere before any of it counted.
//! 3. **A program was under way** (not with power-loss protection). A die programs one unit at a time. So of each die
//!    one unit can be torn, the last one programmed, and where that is not all good what shares cells with it; a stripe
//!    counts as durable only when all that share cells with it do. A member that can't be read and lies there may be torn. Whether it is, or
//!    decayed later, nobody can tell: it is taken as torn. But not if the die has begun to program a band of the same
//!    stream that was opened later (something good of it lies there: what can't be read may be what an erase that
//!    was cut has left): a die programs a stream's units in the order in which they were filled, so it had
//!    ended here. Power cuts between the two openings spoil that conclusion; so each scan begins a new epoch of band
//!    sequences, and only bands of one epoch are compared. And not if a rebuild has given up a unit of the stripe: it
//!    leaves a unit without spare areas in place of what it can't make and something points to.
//! 4. **The band's summary tells** what is lost. The map points there: these LBAs answer with errors.
//! 5. **An erase was cut.** Blocks that were being erased hold nothing that can be read. If what is lost beside such
//!    blocks (and beside units that may never have been programmed, for the band was not filled) is within the
//!    redundancy, and of what can still be read in the band nothing is current (a band is erased only when nothing in
//!    it is), the band was being erased.
//!    Units of other blocks that can't be read, as many as parity stands for, are let pass where another stripe of the same
//!    dies shows that the band was being erased: they decayed before.
//! 6. Else the card does not start: [`ScanError::BeyondRedundancy`].
//!
//! The headers say how far the streams were durable when they were written, which bands held something of it, and whether
//! anything was erased since ([`Noted`]). Of a stripe that was durable then only a failed program (2), the summary (4) and
//! an erase (5) can be the reason; where nothing was erased since, or the band held something and was not being erased, not
//! even that. Such a band must be found, and of the newest one every stripe that was durable: nothing tells otherwise of
//! programs that went astray on the only die that was left.
//!
//! What can't be told from a torn stripe, and is taken for one: two members of the last stripe that a die programmed
//! before a cut, both lost after that cut, if no header was written since that says more. And a band that was written
//! since, of which whole blocks are lost, nothing else of it being current, or nothing of which can be read at all, is taken
//! for one that was being erased. Of such a band, if all of its other blocks read as erased, one that is marked bad tells
//! nothing: it may hold what an erase has left.
//!
//! # What whoever writes must keep
//!
//! - One program at a time is under way on a die, and those of one stream come in the order of its stripes.
//! - A block whose program failed is marked bad on the medium at once, before its stripe's contents count as durable.
//! - A band that was found is never written again until it is erased, and its erase begins only when everything that
//!   made its sectors stale is durable: newer versions, copies, lists of holes.
//! - Bands that were found free are erased again before they are opened: the last erase may have been cut. On media with
//!   a volatile cache an erase is synced before the band is opened: of what is programmed then a cut may leave some, and
//!   none of the erase.
//! - With a band its bad blocks are erased too, as far as they take it: what they held would tell of a band in use when
//!   nobody can say any more that the others were erased.
//! - Bands opened after a scan get sequences above [`Found::last_band_sequence`], versions from [`Found::next_version`]
//!   on.
//! - What [`Found::rescue`] names is written elsewhere: it lies in stripes that are not whole. Until that is durable no band
//!   is erased that held sectors: they may be the last durable versions. What [`Found::rescued`] has of it counts even if
//!   it can't be read any more.
//! - Before a band that held sectors is erased, the headers say how far all is durable and where it lies, not in that band
//!   any more, and no more that no band was erased.
//!   Nor do they say that none was while blocks that could not be erased hold what is left of a band.
//! - A host gets no answers before what was found is durable elsewhere and the headers say so: what it has read must not go
//!   with one module more.
//! - Headers are written as [`assemble`] needs it: a new generation to one copy of every module (to the one that is
//!   older, or can't be read), then to the other copy of every module, then everything else.
//!
//! # Checkpoints
//!
//! A checkpoint is the map as it was at a moment T. It counts only when all that the map points to is durable (part 0 is
//! programmed last), and any that is complete may be used, not only the newest. `V`, its version, was given to nothing
//! else: what was written before T has a lower one, what came later a higher one. A band is *known* if it was full at T,
//! with its summary, and its first row still tells of the same opening on two dies (one alone may have been away
//! meanwhile). All others are read. Then of each LBA counts:
//!
//! 1. *The newest copy above `V`.* It was written after T; all that the map knew is older.
//! 2. *The place p of the map, in a known band.* It held the newest version below `V`, and copies below `V` that turn up
//!    elsewhere are the same or older. But the band may be on its way to its erase (half of it may be gone): then p was
//!    copied after T, and the copy lies in a band that was open at T or opened later, so it was found. So whenever a
//!    copy below `V` is found of an LBA whose place is in a known band, that band is read too, and of it only that
//!    counts which lies where the map says.
//! 3. *The newest copy below `V` when p's band was opened again.* The band was erased only when what p held was durable
//!    elsewhere, as a copy in a band that is read, or made stale by something newer.
//!
//! If the map had no place, the LBA was a hole at T, and copies below `V` are stale. Holes that were made before T are in
//! the map, so lists of holes count only if they are as of `V` or later; whoever writes them sees to it that a list
//! that is written after T is. What the map had and is found nowhere must be a hole by such a list: if one is not, the
//! checkpoint is not used, and everything is read. Holes that no list told of at T are told of again before the card
//! serves ([`Found::owed_segments`]): should the checkpoint be damaged later, what they took away must not come back.
//!
//! Media with a volatile cache lose any part of what was not synced: there checkpoints are not used.

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
mod newest;
mod noted;
mod place;
mod reader;
mod rebuild;
mod rescue;
mod scan;
mod sector;
mod stray;
mod stripe;
mod summary;

pub use assemble::{Assembly, Member, MemberState, assemble};
pub use assemble_error::AssembleError;
pub use check::{Opening, Place, Why, check, check_place};
pub use checkpoint::BAND_KNOWN;
pub use error::ScanError;
pub use found::{Found, FoundBand, FoundState, SEQUENCE_EPOCH_BITS, ScanReport, VERSION_GAP};
pub use identify::{BandIdentity, identify};
pub use join::{JoinError, Joins, join};
pub use noted::Noted;
pub use place::{Card, layout_of, unit_at};
pub use rebuild::{Rebuild, RebuildError, Rebuilt};
pub use rescue::Rescued;
pub use scan::scan;
pub use sector::{Scratch, SectorAt, SectorError, SectorRead, read_sector};
