//! The judge: what hosts were told of a sector can be put into one order, or it can't.
//!
//! A sector is a register. Each write has a value of its own, so the judgement is exact and takes `n log n` steps (P. B.
//! Gibbons and E. Korach, *Testing Shared Memories*, SIAM Journal on Computing 26(4), 1997, section 4.2): all that has to
//! do with one value lies together in the order, so two values must not both be needed within the same time.

use std::collections::BTreeMap;

/// The content of a sector that was never written.
pub const NOTHING: u32 = 0;

/// A read or a write of one sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The sector's number.
    pub sector: u8,
    /// It wrote the value; otherwise it read it.
    pub is_write: bool,
    /// The value, which no other write has.
    pub value: u32,
    /// Its number in the order of all calls and returns.
    pub called: u32,
    /// The same for its return. `None`: the host was never told, so a write may take effect at any time from its call on.
    pub returned: Option<u32>,
}

/// The way in which a history has no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disorder {
    /// A read of a value that was not being written by then.
    #[error("sector {sector} read as {value} before that was written")]
    Early {
        /// The sector's number.
        sector: u8,
        /// The value that was read.
        value: u32,
    },
    /// One value was seen, then the other one, and then the first one again.
    #[error("sector {sector} was {first} and {second} in turn")]
    Back {
        /// The sector's number.
        sector: u8,
        /// The value that was seen first.
        first: u32,
        /// The value that can't have its place.
        second: u32,
    },
}

/// All that has to do with a value: the first return, and the last call.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    written: Option<(u32, u32)>,
    first_return: u32,
    last_call: u32,
    first_read_return: u32,
}

/// Judges the history of all sectors.
pub fn judge(history: &[Operation]) -> Result<(), Disorder> {
    let mut sectors: BTreeMap<u8, BTreeMap<u32, Cluster>> = BTreeMap::new();
    for operation in history {
        // A read without a return says nothing.
        if !operation.is_write && operation.returned.is_none() {
            continue;
        }
        let nobody = Cluster { written: None, first_return: u32::MAX, last_call: 0, first_read_return: u32::MAX };
        let values = sectors.entry(operation.sector).or_insert_with(|| {
            let initial = Cluster { written: Some((0, 0)), first_return: 0, ..nobody };
            BTreeMap::from([(NOTHING, initial)])
        });
        let cluster = values.entry(operation.value).or_insert(nobody);
        let returned = operation.returned.unwrap_or(u32::MAX);
        cluster.first_return = cluster.first_return.min(returned);
        cluster.last_call = cluster.last_call.max(operation.called);
        if operation.is_write {
            cluster.written = Some((operation.called, returned));
        } else {
            cluster.first_read_return = cluster.first_read_return.min(returned);
        }
    }
    sectors.into_iter().try_for_each(|(sector, values)| judge_sector(sector, &values))
}

fn judge_sector(sector: u8, values: &BTreeMap<u32, Cluster>) -> Result<(), Disorder> {
    // A value is needed at all times from its first return to its last call, if they come in this order. If not, at one
    // moment between the two.
    let (mut needed, mut moments) = (Vec::new(), Vec::new());
    for (&value, cluster) in values {
        let called = cluster.written.map_or(u32::MAX, |(called, _)| called);
        if cluster.first_read_return < called {
            return Err(Disorder::Early { sector, value });
        }
        if cluster.first_return < cluster.last_call {
            needed.push((cluster.first_return, cluster.last_call, value));
        } else {
            moments.push((cluster.last_call, cluster.first_return, value));
        }
    }
    needed.sort_unstable();
    for pair in needed.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Err(Disorder::Back { sector, first: pair[0].2, second: pair[1].2 });
        }
    }
    for (from, to, value) in moments {
        let around = needed.partition_point(|zone| zone.0 < from);
        if around > 0 && to < needed[around - 1].1 {
            return Err(Disorder::Back { sector, first: needed[around - 1].2, second: value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::Rng;

    /// Tries all orders: each operation in turn first, if none that has returned before its call is left.
    fn has_an_order(left: &[Operation], value: u32) -> bool {
        let earliest = left.iter().filter_map(|one| one.returned).min().unwrap_or(u32::MAX);
        left.iter().all(|one| one.returned.is_none())
            || left.iter().enumerate().any(|(at, one)| {
                if one.called > earliest || !one.is_write && one.value != value {
                    return false;
                }
                let rest: Vec<Operation> = [&left[..at], &left[at + 1..]].concat();
                has_an_order(&rest, one.value)
            })
    }

    #[test]
    fn the_judgement_is_that_of_trying_all_orders() {
        let mut rng = Rng::stream(1, "histories");
        let mut judged = [0, 0];
        for _ in 0..20_000 {
            let count = 2 + rng.below(5) as u32;
            let mut places: Vec<u32> = (1..=2 * count).collect();
            let mut draw = || places.swap_remove(rng.below(places.len() as u64) as usize);
            let times: Vec<(u32, u32)> =
                (0..count).map(|_| (draw(), draw())).map(|(a, b)| (a.min(b), a.max(b))).collect();
            let writes = 1 + rng.below(3) as u32;
            let history: Vec<Operation> = (0..count)
                .zip(times)
                .map(|(number, (called, returned))| {
                    let is_write = number < writes;
                    let value = if is_write { number + 1 } else { rng.below(u64::from(writes) + 1) as u32 };
                    let returned = (rng.below(5) > 0).then_some(returned);
                    Operation { sector: 0, is_write, value, called, returned }
                })
                .filter(|one| one.is_write || one.returned.is_some())
                .collect();
            let expected = has_an_order(&history, NOTHING);
            assert_eq!(judge(&history).is_ok(), expected, "{history:?}");
            judged[usize::from(expected)] += 1;
        }
        assert!(judged.iter().all(|&count| count > 3_000), "{judged:?}");
    }

    #[test]
    fn a_lost_write_and_a_stale_read_have_no_order() {
        let operation = |is_write, value, called, returned| Operation {
            sector: 3,
            is_write,
            value,
            called,
            returned: Some(returned),
        };
        let lost = [operation(true, 7, 1, 2), operation(false, NOTHING, 3, 4)];
        assert_eq!(judge(&lost), Err(Disorder::Back { sector: 3, first: NOTHING, second: 7 }));
        let stale = [operation(true, 7, 1, 2), operation(true, 8, 3, 4), operation(false, 7, 5, 6)];
        assert_eq!(judge(&stale), Err(Disorder::Back { sector: 3, first: 7, second: 8 }));
        let early = [operation(false, 7, 1, 2), operation(true, 7, 3, 4)];
        assert_eq!(judge(&early), Err(Disorder::Early { sector: 3, value: 7 }));
    }
}
