//! The choice of the next victim.
//!
//! Bands are kept in groups of about the square root of their number. A group knows the fewest valid sectors and the
//! oldest closing time among its closed bands. Counts of closed bands only fall, so an overwrite keeps a group's
//! minimum exact with one comparison, and a victim is found by looking at the groups and into one (greedy) or few
//! (cost-benefit) of them instead of at all bands.

use crate::config::VictimPolicy;
use crate::layout::BandId;
use device::Rng;
use std::collections::VecDeque;

const NOT_CLOSED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Group {
    /// The lowest number of valid sectors among the group's closed bands; `u32::MAX` if there are none.
    fewest: u32,
    /// The earliest closing time among the group's closed bands; `u64::MAX` if there are none.
    oldest: u64,
}

const EMPTY: Group = Group { fewest: u32::MAX, oldest: u64::MAX };

/// The closed bands of a card, from which victims are chosen.
#[derive(Clone, Debug)]
pub struct Victims {
    policy: VictimPolicy,
    shift: u32,
    groups: Vec<Group>,
    /// Index of each band in `closed`; [`NOT_CLOSED`] if it is not there.
    place: Vec<u32>,
    closed: Vec<BandId>,
    closed_at: Vec<u64>,
    /// Sectors that a band holds less than one without bad blocks. They count as valid.
    missing: Vec<u32>,
    /// The highest `missing` that there ever was.
    max_missing: u32,
    /// Bands in the order of closing, including bands that have left since; used by FIFO only.
    order: VecDeque<(BandId, u64)>,
    rng: Rng,
}

impl Victims {
    /// A set without closed bands.
    pub fn new(policy: VictimPolicy, bands: u32, seed: u64) -> Victims {
        let shift = (u32::BITS - bands.leading_zeros()) / 2;
        Victims {
            policy,
            shift,
            groups: vec![EMPTY; (bands as usize >> shift) + 1],
            place: vec![NOT_CLOSED; bands as usize],
            closed: Vec::with_capacity(bands as usize),
            closed_at: vec![0; bands as usize],
            missing: vec![0; bands as usize],
            max_missing: 0,
            order: VecDeque::new(),
            rng: Rng::stream(seed, "victims"),
        }
    }

    /// Whether the band is among the closed ones.
    pub fn contains(&self, band: BandId) -> bool {
        self.place[band.0 as usize] != NOT_CLOSED
    }

    /// The closed bands, in no particular order.
    pub fn closed(&self) -> &[BandId] {
        &self.closed
    }

    /// Adds a band that was closed at `now` (of any clock that never runs backwards). Bad blocks take `missing` sectors
    /// off it; these count as valid, because cleaning them gains nothing.
    pub fn insert(&mut self, band: BandId, valid: u32, missing: u32, now: u64) {
        let b = band.0 as usize;
        assert_eq!(self.place[b], NOT_CLOSED, "band {b} is closed already");
        self.place[b] = self.closed.len() as u32;
        self.closed.push(band);
        self.closed_at[b] = now;
        self.missing[b] = missing;
        self.max_missing = self.max_missing.max(missing);
        let group = &mut self.groups[b >> self.shift];
        group.fewest = group.fewest.min(valid + missing);
        group.oldest = group.oldest.min(now);
        if self.policy == VictimPolicy::Fifo {
            self.order.push_back((band, now));
        }
    }

    /// Reports that the valid count of a band fell. Bands that are not closed may be named too; their count matters
    /// when they close.
    #[inline]
    pub fn lowered(&mut self, band: BandId, valid: u32) {
        let b = band.0 as usize;
        let group = &mut self.groups[b >> self.shift];
        let valid = valid + self.missing[b];
        if valid < group.fewest && self.place[b] != NOT_CLOSED {
            group.fewest = valid;
        }
    }

    /// Removes a band that is no longer closed.
    pub fn remove(&mut self, band: BandId, valid: &[u32]) {
        let b = band.0 as usize;
        let place = self.place[b] as usize;
        assert_ne!(place as u32, NOT_CLOSED, "band {b} is not closed");
        self.place[b] = NOT_CLOSED;
        self.closed.swap_remove(place);
        if let Some(&moved) = self.closed.get(place) {
            self.place[moved.0 as usize] = place as u32;
        }
        let g = b >> self.shift;
        let mut group = EMPTY;
        for member in self.members(g) {
            group.fewest = group.fewest.min(valid[member] + self.missing[member]);
            group.oldest = group.oldest.min(self.closed_at[member]);
        }
        self.groups[g] = group;
    }

    /// The closed bands of a group.
    fn members(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        let start = group << self.shift;
        let end = (start + (1 << self.shift)).min(self.place.len());
        (start..end).filter(|&b| self.place[b] != NOT_CLOSED)
    }

    /// The band to clean next; `None` if no band is closed. `data_sectors` is the capacity of a full band.
    pub fn choose(&mut self, valid: &[u32], data_sectors: u32, now: u64) -> Option<BandId> {
        if self.closed.is_empty() {
            return None;
        }
        match self.policy {
            VictimPolicy::Greedy => self.cheapest(valid),
            VictimPolicy::CostBenefit => self.best_cost_benefit(valid, data_sectors, now),
            VictimPolicy::Fifo => loop {
                let &(band, at) = self.order.front()?;
                let b = band.0 as usize;
                if self.place[b] != NOT_CLOSED && self.closed_at[b] == at {
                    return Some(band);
                }
                self.order.pop_front();
            },
            VictimPolicy::RandomD(d) => {
                let n = self.closed.len() as u64;
                (0..d.max(1))
                    .map(|_| self.closed[self.rng.below(n) as usize])
                    .min_by_key(|b| (valid[b.0 as usize] + self.missing[b.0 as usize], b.0))
            }
        }
    }

    /// The closed band with the fewest valid sectors, where missing sectors count as valid.
    fn cheapest(&self, valid: &[u32]) -> Option<BandId> {
        if self.closed.is_empty() {
            return None;
        }
        let (g, group) = self.groups.iter().enumerate().min_by_key(|&(_, g)| g.fewest)?;
        let band =
            self.members(g).find(|&b| valid[b] + self.missing[b] == group.fewest).expect("a group's minimum is exact");
        Some(BandId(band as u32))
    }

    /// A lower bound of the valid sectors of closed bands. Reads the groups alone, so it may be too low where there are
    /// bad blocks.
    pub fn min_valid_bound(&self) -> u32 {
        let fewest = self.groups.iter().map(|group| group.fewest).min().unwrap_or(u32::MAX);
        if fewest == u32::MAX { fewest } else { fewest.saturating_sub(self.max_missing) }
    }

    /// Whether [`Victims::choose`] changes nothing that later choices depend on.
    pub fn chooses_without_trace(&self) -> bool {
        !matches!(self.policy, VictimPolicy::RandomD(_))
    }

    /// The closed band with the fewest valid sectors, whatever the policy and however narrow the band is. Scans all
    /// closed bands; used when there is no room for the band that the policy chose.
    pub fn emptiest(&self, valid: &[u32]) -> Option<BandId> {
        self.closed.iter().copied().min_by_key(|band| (valid[band.0 as usize], *band))
    }

    fn best_cost_benefit(&self, valid: &[u32], data_sectors: u32, now: u64) -> Option<BandId> {
        // Rosenblum and Ousterhout 1992: benefit / cost = (1 - u) * age / (1 + u).
        let score = |valid: u32, closed_at: u64| {
            let u = f64::from(valid.min(data_sectors)) / f64::from(data_sectors);
            (1.0 - u) / (1.0 + u) * (now - closed_at + 1) as f64
        };
        let mut best: Option<(f64, usize)> = None;
        for (g, group) in self.groups.iter().enumerate() {
            // No member can beat the score of the group's emptiest and oldest together.
            if group.oldest == u64::MAX || best.is_some_and(|(s, _)| score(group.fewest, group.oldest) <= s) {
                continue;
            }
            for b in self.members(g) {
                let s = score(valid[b] + self.missing[b], self.closed_at[b]);
                if best.is_none_or(|(bs, _)| s > bs) {
                    best = Some((s, b));
                }
            }
        }
        best.map(|(_, b)| BandId(b as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random closing, overwriting and removing; the choice must be what a scan of all bands finds.
    fn agrees_with_scan(policy: VictimPolicy, best: impl Fn(&[u32], &[u64], &[usize], u64) -> usize) {
        const BANDS: u32 = 300;
        let mut rng = Rng::stream(5, "test");
        let mut victims = Victims::new(policy, BANDS, 1);
        let mut valid = vec![100u32; BANDS as usize];
        let mut at = vec![0u64; BANDS as usize];
        let mut closed: Vec<usize> = Vec::new();
        for now in 1..20_000u64 {
            let b = rng.below(u64::from(BANDS)) as usize;
            if !closed.contains(&b) {
                valid[b] = 50 + rng.below(50) as u32;
                at[b] = now;
                victims.insert(BandId(b as u32), valid[b], 0, now);
                closed.push(b);
            } else if valid[b] > 0 {
                valid[b] -= 1;
                victims.lowered(BandId(b as u32), valid[b]);
            }
            if closed.len() > 250 {
                let chosen = victims.choose(&valid, 100, now).unwrap();
                let expected = best(&valid, &at, &closed, now);
                assert_eq!(chosen.0 as usize, expected, "{policy:?}");
                victims.remove(chosen, &valid);
                closed.retain(|&c| c != expected);
            }
        }
    }

    #[test]
    fn greedy_finds_the_fewest_valid() {
        agrees_with_scan(VictimPolicy::Greedy, |valid, _, closed, _| {
            // Ties: the first group that has the minimum, then the lowest band.
            let fewest = closed.iter().map(|&b| valid[b]).min().unwrap();
            closed.iter().copied().filter(|&b| valid[b] == fewest).min().unwrap()
        });
    }

    #[test]
    fn fifo_finds_the_first_closed() {
        agrees_with_scan(VictimPolicy::Fifo, |_, at, closed, _| closed.iter().copied().min_by_key(|&b| at[b]).unwrap());
    }

    #[test]
    fn cost_benefit_finds_the_best_score() {
        agrees_with_scan(VictimPolicy::CostBenefit, |valid, at, closed, now| {
            let score = |b: usize| {
                let u = f64::from(valid[b]) / 100.0;
                (1.0 - u) / (1.0 + u) * (now - at[b] + 1) as f64
            };
            let mut sorted = closed.to_vec();
            sorted.sort_unstable();
            sorted.into_iter().reduce(|a, b| if score(b) > score(a) { b } else { a }).unwrap()
        });
    }

    #[test]
    fn random_d_with_many_draws_is_close_to_greedy_and_with_one_is_uniform() {
        let valid: Vec<u32> = (0..100).map(|b| b + 10).collect();
        let mut many = Victims::new(VictimPolicy::RandomD(1_000), 100, 1);
        let mut one = Victims::new(VictimPolicy::RandomD(1), 100, 1);
        for b in 0..100 {
            many.insert(BandId(b), valid[b as usize], 0, 1);
            one.insert(BandId(b), valid[b as usize], 0, 1);
        }
        assert_eq!(many.choose(&valid, 200, 1), Some(BandId(0)));
        let mean: f64 = (0..10_000).map(|_| f64::from(one.choose(&valid, 200, 1).unwrap().0)).sum::<f64>() / 1e4;
        assert!((mean - 49.5).abs() < 1.0, "{mean}");
    }

    #[test]
    fn a_full_narrow_band_is_no_better_than_a_full_wide_one() {
        for policy in [VictimPolicy::Greedy, VictimPolicy::CostBenefit, VictimPolicy::RandomD(100)] {
            let mut victims = Victims::new(policy, 3, 1);
            let valid = [100, 20, 70];
            [0, 80, 0].into_iter().enumerate().for_each(|(b, missing)| {
                victims.insert(BandId(b as u32), valid[b], missing, 1);
            });
            assert_eq!(victims.choose(&valid, 100, 2), Some(BandId(2)), "{policy:?}");
        }
    }
}
