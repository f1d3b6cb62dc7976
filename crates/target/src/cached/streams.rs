//! Sequential streams among the requests, as bcache finds them: a request that begins where one of the most recent ones
//! ended goes on with its stream.

/// Streams that are remembered, as many as bcache's `RECENT_IO`.
const STREAMS: usize = 128;

/// The most recent streams: where each ends, and its bytes so far.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    cutoff_bytes: u64,
    /// The most recent one first.
    recent: Vec<(u64, u64)>,
}

impl Streams {
    /// Streams pass by from `cutoff_bytes` on; 0: never.
    pub fn new(cutoff_bytes: u64) -> Streams {
        Streams { cutoff_bytes, recent: Vec::with_capacity(STREAMS) }
    }

    /// Notes a request; returns whether it passes the cache by.
    pub fn pass_by(&mut self, offset_bytes: u64, len_bytes: u64) -> bool {
        if self.cutoff_bytes == 0 {
            return false;
        }
        let at = self.recent.iter().position(|&(end, _)| end == offset_bytes);
        let so_far = at.map_or(0, |at| self.recent[at].1) + len_bytes;
        let at = at.unwrap_or_else(|| {
            if self.recent.len() < STREAMS {
                self.recent.push((0, 0));
            }
            self.recent.len() - 1
        });
        self.recent[at] = (offset_bytes + len_bytes, so_far);
        self.recent[..=at].rotate_right(1);
        so_far >= self.cutoff_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_passes_by_once_it_is_long_whatever_comes_between() {
        let mut streams = Streams::new(64 << 10);
        for i in 0..32 {
            assert_eq!(streams.pass_by(i * 4096, 4096), i >= 15, "{i}");
            assert!(!streams.pass_by((1 << 40) + i * 9_000_000, 4096));
        }
        // A stream that 128 others have pushed out begins anew.
        (0..128).for_each(|i| assert!(!streams.pass_by((1 << 50) + i * 9_000_000, 4096)));
        assert!(!streams.pass_by(32 * 4096, 4096));
        assert!(!Streams::new(0).pass_by(0, 1 << 30));
    }
}
