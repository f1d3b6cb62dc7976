//! How many requests took how long between two moments.

/// Pairs of nanoseconds and a count, ascending.
pub type Spread = [(u64, u64)];

/// The counts of `now` less those of `before`: what came between the two.
pub fn between(before: &Spread, now: &Spread) -> Vec<(u64, u64)> {
    let mut earlier = before.iter().peekable();
    let came = now.iter().filter_map(|&(ns, count)| {
        while earlier.next_if(|(of, _)| *of < ns).is_some() {}
        let was = earlier.next_if(|(of, _)| *of == ns).map_or(0, |(_, count)| *count);
        let more = count.saturating_sub(was);
        (more > 0).then_some((ns, more))
    });
    came.collect()
}

/// The latencies in nanoseconds that these shares of requests did not exceed; `None` where there are no requests.
pub fn percentiles<const N: usize>(spread: &Spread, shares: [f64; N]) -> Option<[u64; N]> {
    let all: u64 = spread.iter().map(|(_, count)| count).sum();
    (all > 0).then(|| shares.map(|share| percentile(spread, all, share)))
}

fn percentile(spread: &Spread, all: u64, share: f64) -> u64 {
    let rank = ((all as f64 * share).ceil() as u64).clamp(1, all);
    let mut seen = 0;
    let found = spread.iter().find(|(_, count)| {
        seen += count;
        seen >= rank
    });
    found.expect("the counts add up to all").0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_between_counts() {
        let before = [(10, 5), (30, 1)];
        let now = [(10, 5), (20, 2), (30, 4), (90, 1)];
        let came = between(&before, &now);
        assert_eq!(came, [(20, 2), (30, 3), (90, 1)]);
        assert_eq!(percentiles(&came, [0.0, 0.33, 0.5, 0.84, 1.0]), Some([20, 20, 30, 90, 90]));
        assert_eq!(between(&[], &now), now);
        assert_eq!(percentiles(&between(&now, &now), [0.5]), None);
    }
}
