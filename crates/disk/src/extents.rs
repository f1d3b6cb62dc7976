//! A set of blocks, kept as ranges.
//!
//! Invariant: ranges neither overlap nor touch; [`Extents::blocks`] is their sum.

use crate::span::Span;
use std::collections::BTreeMap;

/// A set of blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extents {
    /// End by start.
    ends: BTreeMap<u64, u64>,
    blocks: u64,
}

impl Extents {
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    pub fn is_empty(&self) -> bool {
        self.blocks == 0
    }

    /// Adds a range, joining it with what it overlaps and touches.
    pub fn insert(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        let mut whole = span;
        // From the right, the last range that starts at or before our end, as long as it reaches our start.
        while let Some((&start, &end)) = self.ends.range(..=whole.end).next_back() {
            if end < whole.start {
                break;
            }
            whole = Span::new(start.min(whole.start), end.max(whole.end));
            self.ends.remove(&start);
            self.blocks -= end - start;
        }
        self.ends.insert(whole.start, whole.end);
        self.blocks += whole.blocks();
    }

    /// Takes a range out.
    pub fn remove(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        while let Some((&start, &end)) = self.ends.range(..span.end).next_back() {
            if end <= span.start {
                break;
            }
            self.ends.remove(&start);
            self.blocks -= end - start;
            for rest in [Span { start, end: span.start }, Span { start: span.end, end }] {
                if rest.start < rest.end {
                    self.ends.insert(rest.start, rest.end);
                    self.blocks += rest.blocks();
                }
            }
        }
    }

    /// The end of the range that holds `lba`; `lba` itself when none does.
    pub fn covered_until(&self, lba: u64) -> u64 {
        match self.ends.range(..=lba).next_back() {
            Some((_, &end)) if end > lba => end,
            _ => lba,
        }
    }

    /// The ranges from `lba` on in order; the first one may hold `lba` and is cut there.
    pub fn from(&self, lba: u64) -> impl Iterator<Item = Span> {
        let held = Span::new(lba, self.covered_until(lba));
        let rest = self.ends.range(lba..).map(|(&start, &end)| Span { start, end }).filter(move |s| s.start > lba);
        (!held.is_empty()).then_some(held).into_iter().chain(rest)
    }

    /// The parts of `span` that are in the set.
    pub fn within(&self, span: Span) -> impl Iterator<Item = Span> {
        self.from(span.start).take_while(move |s| s.start < span.end).map(move |s| s.and(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::Rng;

    #[test]
    fn extents_hold_what_a_plain_set_holds() {
        let mut rng = Rng::stream(3, "extents");
        let mut extents = Extents::default();
        let mut plain = [false; 100];
        for _ in 0..20_000 {
            let start = rng.below(100);
            let span = Span::new(start, (start + rng.below(12)).min(100));
            let put = rng.below(2) == 0;
            if put {
                extents.insert(span)
            } else {
                extents.remove(span)
            }
            plain[span.start as usize..span.end as usize].fill(put);

            assert_eq!(extents.blocks(), plain.iter().filter(|&&b| b).count() as u64);
            let spans: Vec<Span> = extents.from(0).collect();
            assert!(spans.windows(2).all(|w| w[0].end < w[1].start), "{spans:?}");
            assert!(spans.iter().all(|s| (s.start..s.end).all(|b| plain[b as usize])));
            let at = rng.below(100);
            let until = (at..100).find(|&b| !plain[b as usize]).unwrap_or(100);
            assert_eq!(extents.covered_until(at), until);
            let within: u64 = extents.within(span).map(Span::blocks).sum();
            assert_eq!(within, (span.start..span.end).filter(|&b| plain[b as usize]).count() as u64);
        }
    }
}
