//! The array's work on its disks for one request: a read, a write, a flush.
//!
//! An operation has one or two steps. All commands of a step start together, and the last one to end is the step's
//! critical path. A RAID 5 write of less than a row has two steps: read old data and old parity, then write both
//! (Patterson, Gibson and Katz, "A case for redundant arrays of inexpensive disks", SIGMOD 1988). A write of whole rows
//! computes parity from the new data and reads nothing.
//!
//! Invariant: a step has at most one command for each disk.

use crate::disk::Kind;
use crate::mapping::Mapping;
use crate::span::Span;
use crate::spent::Spent;
use device::{RequestId, Time};
use std::ops::Range;

/// Operations that one host request is cut into at most: RAID 5 rows in part at both ends, whole rows between.
pub(crate) const OPS_PER_REQUEST: usize = 3;

/// The waiter for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A request of the host.
    Host(RequestId),
    /// The controller's cache, for this part of the array.
    Cache(Span),
}

/// Commands for the disks.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Disk and range on it.
    pub commands: Vec<(usize, Span)>,
    /// The same ranges are read before they are written.
    pub read_first: bool,
    /// Rows that no other write may touch meanwhile, because of their parity; empty: no rows.
    pub rows: Range<u64>,
}

impl Plan {
    /// Writes `needs` to all disks of each set.
    pub fn write_sets(mapping: &Mapping, needs: &[Span]) -> Plan {
        let each = needs.iter().enumerate().filter(|(_, need)| !need.is_empty());
        let commands = each.flat_map(|(set, &need)| mapping.members(set).map(move |disk| (disk, need))).collect();
        Plan { commands, read_first: false, rows: 0..0 }
    }

    /// Writes whole rows with their parity.
    pub fn write_rows(mapping: &Mapping, rows: Range<u64>) -> Plan {
        let place = mapping.rows_on_disk(rows.clone());
        let commands = (0..mapping.sets()).map(|disk| (disk, place)).collect();
        Plan { commands, read_first: false, rows }
    }

    /// Writes a part of a row: `needs` of the data disks, and the parity at the same addresses.
    pub fn write_in_row(mapping: &Mapping, row: u64, needs: &[Span]) -> Plan {
        let parity = needs.iter().fold(Span::EMPTY, |hull, &need| hull.hull(need));
        let mut commands: Vec<(usize, Span)> =
            needs.iter().copied().enumerate().filter(|(_, need)| !need.is_empty()).collect();
        commands.push((mapping.parity_set(row), parity));
        Plan { commands, read_first: true, rows: row..row + 1 }
    }

    /// Plans the writing of a range of the array: at most [`OPS_PER_REQUEST`] plans.
    pub fn write(mapping: &Mapping, span: Span) -> Vec<Plan> {
        let spread = |span| {
            let mut needs = vec![Span::EMPTY; mapping.sets()];
            mapping.spread(span, &mut needs);
            needs
        };
        if !mapping.has_parity() {
            return vec![Plan::write_sets(mapping, &spread(span))];
        }
        let row_blocks = mapping.row_blocks();
        let whole = span.start.div_ceil(row_blocks)..span.end / row_blocks;
        // Within one row, or over one row's end with less than a row on either side, there is no whole row: the first
        // part ends at the row's end, and the second part is the rest.
        let first_end = (whole.start * row_blocks).min(span.end);
        let mut plans = Vec::new();
        if span.start < first_end {
            let row = mapping.row_of(span.start);
            plans.push(Plan::write_in_row(mapping, row, &spread(Span::new(span.start, first_end))));
        }
        let mut rest = first_end;
        if whole.start < whole.end {
            rest = whole.end * row_blocks;
            plans.push(Plan::write_rows(mapping, whole));
        }
        if rest < span.end {
            plans.push(Plan::write_in_row(mapping, mapping.row_of(rest), &spread(Span::new(rest, span.end))));
        }
        plans
    }
}

/// An operation that is going on.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub owner: Owner,
    pub plan: Plan,
    /// Kind of its last step.
    pub kind: Kind,
    /// Its writes end on the medium.
    pub durable: bool,
    /// Commands of this step that have not ended.
    pub outstanding: u32,
    /// Since when it has waited for its rows.
    pub since: Time,
    pub spent: Spent,
}

/// Operations by number.
#[derive(Clone, Debug)]
pub(crate) struct Ops {
    limit: usize,
    slots: Vec<Option<Op>>,
    free: Vec<u32>,
}

impl Ops {
    /// At most `limit` at a time.
    pub fn new(limit: usize) -> Ops {
        Ops { limit, slots: Vec::new(), free: Vec::new() }
    }

    pub fn add(&mut self, op: Op) -> u32 {
        if let Some(number) = self.free.pop() {
            self.slots[number as usize] = Some(op);
            return number;
        }
        assert!(self.slots.len() < self.limit, "an array was given more than {} operations", self.limit);
        self.slots.push(Some(op));
        (self.slots.len() - 1) as u32
    }

    pub fn of(&mut self, number: u32) -> &mut Op {
        self.slots[number as usize].as_mut().expect("a command belongs to an operation that goes on")
    }

    pub fn end(&mut self, number: u32) -> Op {
        self.free.push(number);
        self.slots[number as usize].take().expect("an operation ends once")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::disk_15k;
    use crate::{ArrayConfig, RaidLevel};

    /// 4 disks, chunks of 4 blocks: rows of 12.
    fn raid5() -> Mapping {
        Mapping::new(&ArrayConfig {
            disk: disk_15k(),
            disks: 4,
            level: RaidLevel::Raid5,
            chunk_bytes: 2048,
            controller_cache_bytes: 0,
            controller_ns: 0,
        })
    }

    #[test]
    fn a_small_write_touches_its_disk_and_the_parity() {
        let plans = Plan::write(&raid5(), Span::new(5, 7));
        assert_eq!(plans.len(), 1);
        assert!(plans[0].read_first);
        // Row 0: parity on disk 3, data on disks 0, 1, 2.
        assert_eq!(plans[0].commands, [(1, Span::new(1, 3)), (3, Span::new(1, 3))]);
    }

    #[test]
    fn whole_rows_are_written_without_reading() {
        let plans = Plan::write(&raid5(), Span::new(6, 40));
        assert_eq!(plans.iter().map(|p| p.read_first).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(plans.iter().map(|p| p.rows.clone()).collect::<Vec<_>>(), [0..1, 1..3, 3..4]);
        assert!(plans[1].commands.iter().all(|&(_, place)| place == Span::new(4, 12)));
    }

    #[test]
    fn a_write_over_a_row_end_is_two_small_ones() {
        let plans = Plan::write(&raid5(), Span::new(11, 13));
        assert_eq!(plans.iter().map(|p| p.rows.clone()).collect::<Vec<_>>(), [0..1, 1..2]);
        assert!(plans.iter().all(|p| p.read_first && p.commands.len() == 2));
    }
}
