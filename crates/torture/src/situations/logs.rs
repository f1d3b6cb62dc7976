//! Situations of a card whose modules have a write-ahead log.

use super::situation::{Past, Situation};
use super::words::{FLUSH, fua, read, trim, write, zero_fua};
use crate::Kind;
use crate::sim::plan::Metadata;
use crate::sim::{FaultKind, HostStep, What};
use HostStep::Depth;
use Past::{Asked, Asks, Cut, Fault, Inserted, Pulled, Recovered, Rested, Scrubs, Started, Steps, Use};

const fn of(
    name: &'static str,
    because: &'static str,
    past: &'static [Past],
    script: &'static [HostStep],
    steps_after: u32,
) -> Situation {
    Situation { name, because, kinds: &[Kind::Logged], past, script, steps_after }
}

/// All of them.
pub(super) static SITUATIONS: &[Situation] = &[
    of(
        "a first record",
        "power goes between its copies, with an older version in a stripe",
        &[Asked(&[write(0, 4), FLUSH]), Rested],
        &[fua(0, 1)],
        64,
    ),
    of(
        "a record over a record",
        "the older one is needed until the newer one is whole",
        &[Asked(&[fua(0, 1)])],
        &[fua(0, 1), fua(1, 1)],
        64,
    ),
    of(
        "the log is used again",
        "records are overwritten whose sectors are in stripes",
        &[Asked(&[fua(0, 1), fua(1, 1), fua(2, 1)])],
        &[fua(3, 1), fua(4, 1), fua(5, 1), fua(0, 1)],
        64,
    ),
    of(
        "the log is used again after days",
        "no later record says that the others are not needed, so headers do",
        &[Asked(&[fua(0, 1), fua(1, 1), fua(2, 1), fua(3, 1)]), Rested],
        &[fua(4, 1), fua(5, 1)],
        64,
    ),
    of(
        "the log is full",
        "a flush pads its stripe behind records that are needed",
        &[],
        &[Depth(2), fua(0, 1), fua(1, 1), fua(2, 1), fua(3, 1), fua(4, 1), fua(5, 1)],
        64,
    ),
    of(
        "flushes of several clients",
        "those that come while a record is written go with the next one",
        &[],
        &[Depth(6), write(0, 1), FLUSH, fua(1, 1), write(2, 1), FLUSH, fua(3, 1)],
        64,
    ),
    of(
        "a flush over what is not synced",
        "the record holds what a stripe has that was programmed",
        &[Asked(&[fua(0, 1), fua(1, 1), write(2, 2)]), Steps(3)],
        &[FLUSH],
        64,
    ),
    of(
        "a flush over much that is not synced",
        "it is more than a stripe, which is synced",
        &[Asked(&[write(0, 8), write(8, 1)])],
        &[FLUSH, fua(9, 1)],
        64,
    ),
    of(
        "a sector is trimmed before its record is written",
        "the write is durable when it is answered, and the trim is not",
        &[Asked(&[write(0, 4), FLUSH]), Rested],
        &[Depth(3), fua(0, 1), fua(1, 1), trim(1, 1), read(2, 1)],
        64,
    ),
    of(
        "a sector of the log is trimmed",
        "its record must not bring it back",
        &[Asked(&[fua(0, 1), fua(1, 1)])],
        &[trim(0, 1), FLUSH, read(0, 2)],
        64,
    ),
    of(
        "a sector of the log is zeroed and written",
        "a hole lies between two records of it",
        &[Asked(&[fua(0, 1), fua(1, 1)])],
        &[zero_fua(0, 1), fua(0, 1), fua(0, 1)],
        64,
    ),
    of(
        "a sector of the log is overwritten",
        "the newer version is in the buffer only",
        &[Asked(&[fua(0, 1), fua(1, 1)])],
        &[write(0, 1), read(0, 1), write(1, 1), FLUSH],
        64,
    ),
    of(
        "the log is replayed",
        "all that it holds goes to stripes with its versions",
        &[Asked(&[write(0, 4), FLUSH, fua(0, 1), fua(1, 1)]), Cut(1), Started],
        &[fua(0, 1), fua(2, 1)],
        64,
    ),
    of(
        "the replay is cut",
        "the log is replayed again beside stripes of the first replay",
        &[Asked(&[fua(0, 1), fua(1, 1)]), Cut(1), Recovered(&[30]), Started],
        &[fua(2, 1)],
        64,
    ),
    of(
        "a module goes while a record is written",
        "the record goes to another pair, with the flushes that wait for it",
        &[Asked(&[fua(0, 1)]), Asks(&[Depth(2), fua(1, 1), fua(2, 1)]), Steps(3), Pulled(1)],
        &[fua(0, 1), read(0, 3)],
        64,
    ),
    of(
        "a module goes that has a record",
        "one copy is left",
        &[Asked(&[fua(0, 1), fua(1, 1)]), Pulled(2)],
        &[fua(2, 1), fua(0, 1)],
        64,
    ),
    of(
        "the log is replayed without a module",
        "each record has a copy on one of the others",
        &[Asked(&[fua(0, 1), fua(1, 1), fua(2, 1)]), Cut(1), Pulled(0), Started],
        &[fua(3, 1)],
        64,
    ),
    of(
        "a rebuild waits for a record",
        "the module counts when the record is not needed any more",
        &[Use { asks: 100, seed: 3 }, Rested, Asked(&[fua(0, 1)]), Inserted(1, What::Blank)],
        &[fua(1, 1)],
        400,
    ),
    of(
        "a module comes back to an older log",
        "records that it has and nobody has seen count no more",
        &[
            Asked(&[write(0, 4), FLUSH]),
            Rested,
            Asks(&[fua(0, 1)]),
            Steps(2),
            Cut(5),
            Pulled(1),
            Started,
            Asked(&[read(0, 4)]),
            Cut(6),
            Inserted(1, What::Same),
            Started,
        ],
        &[read(0, 4), fua(1, 1)],
        200,
    ),
    of(
        "a copy of a record is damaged",
        "the other one counts",
        &[Asked(&[fua(0, 1), fua(1, 1), fua(2, 1)]), Fault(FaultKind::Damaged(Metadata::Log), 1)],
        &[fua(3, 1)],
        64,
    ),
    of(
        "a scrub beside the log",
        "stripes are read and written while records are",
        &[Asked(&[write(0, 8), FLUSH]), Rested, Scrubs],
        &[fua(0, 1), fua(1, 1)],
        64,
    ),
];
