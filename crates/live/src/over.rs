//! A client of a card of several shards: its requests go to their shards, and come back as one reply each.

use crate::extents::{cut, joined as joined_extents};
use crate::lane::{Lane, Next};
use crate::reply::{ReadData, Reply};
use crate::stats::{Kind, Recorders};
use device::Time;
use parking_lot::Mutex;
use session::{Division, Joined, Request, Router, ToShard};
use std::sync::Arc;
use std::time::Instant;

/// Chunks that are looked at for one answer about extents at most.
const MOST_CHUNKS: usize = 1024;

/// The requests that were divided, of all clients: shards count those that they have alone.
pub(crate) struct Divided {
    began: Instant,
    pub recorders: Mutex<Recorders>,
}

impl Divided {
    pub fn new() -> Divided {
        Divided { began: Instant::now(), recorders: Mutex::new(Recorders::new()) }
    }

    fn now(&self) -> Time {
        Time(self.began.elapsed().as_nanos() as u64)
    }

    fn note<D>(&self, joined: &Joined<D>) {
        let mut recorders = self.recorders.lock();
        if joined.result.is_err() {
            recorders.errors += 1;
            return;
        }
        let ns = self.now().0.saturating_sub(joined.submitted.0);
        recorders.note(Kind::of(joined.operation), ns, u64::from(joined.range.len_bytes));
    }
}

/// See the module.
pub(crate) struct Over {
    router: Router<ReadData>,
    divided: Arc<Divided>,
    /// Replies of shards, on their way to the client.
    came: Vec<Reply>,
    /// The shard that is asked first: clients begin with different ones, and meet less often.
    first: usize,
}

impl Over {
    pub fn new(division: Division, divided: &Arc<Divided>, first: usize) -> Over {
        Over { router: Router::new(division), divided: Arc::clone(divided), came: Vec::new(), first }
    }

    /// Submits requests to their shards, and appends the replies that there are already.
    pub fn submit(&mut self, lanes: &mut [Lane], requests: &[Request], next: Next, replies: &mut Vec<Reply>) {
        let mut parts: Vec<ToShard> = Vec::new();
        for request in requests {
            if self.router.whole(request).is_none() {
                self.router.divide(request, self.divided.now(), &mut parts);
            }
        }
        // A shard that another client has is asked when the others were.
        let mut asked = 0u64;
        for waits in [false, true] {
            for turn in 0..lanes.len() {
                let at = (self.first + turn) % lanes.len();
                if asked & 1 << at != 0 {
                    continue;
                }
                let shard = at as u32;
                let whole = |request| self.router.whole(request);
                let mut mine = requests
                    .iter()
                    .filter_map(whole)
                    .chain(parts.iter().copied())
                    .filter_map(|(of, request)| (of == shard).then_some(request))
                    .peekable();
                if mine.peek().is_none() {
                    asked |= 1 << at;
                    continue;
                }
                if waits {
                    lanes[at].submit(mine, next, &mut self.came);
                } else if !lanes[at].try_submit(mine, next, &mut self.came) {
                    continue;
                }
                asked |= 1 << at;
                self.hand_out(shard, replies);
            }
        }
    }

    /// Handles what has come from the slow medium of a shard.
    pub fn hear(&mut self, lanes: &mut [Lane], shard: usize, replies: &mut Vec<Reply>) {
        lanes[shard].hear(&mut self.came);
        self.hand_out(shard as u32, replies);
    }

    /// Appends the replies that have come since.
    pub fn replies(&mut self, lanes: &mut [Lane], replies: &mut Vec<Reply>) {
        for (shard, lane) in (0..).zip(lanes) {
            lane.replies(&mut self.came);
            self.hand_out(shard, replies);
        }
    }

    /// Hands out what has come from a shard.
    fn hand_out(&mut self, shard: u32, replies: &mut Vec<Reply>) {
        for Reply { tag, result, is_part } in self.came.drain(..) {
            let (result, data) = match result {
                Ok(data) => (Ok(()), data),
                Err(error) => (Err(error), ReadData::default()),
            };
            if !is_part {
                let result = self.router.outer(shard, result).map(|()| data);
                replies.push(Reply { tag, result, is_part });
            } else if let Some(joined) = self.router.join(shard, tag, result, data) {
                self.divided.note(&joined);
                let result = joined.result.map(|()| ReadData::joined(joined.data));
                replies.push(Reply { tag: joined.tag, result, is_part: false });
            }
        }
    }

    /// Finds the parts of a range that hold something, chunk by chunk, as [`crate::Port::extents`] does.
    pub fn extents(&self, lanes: &[Lane], offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        let division = self.router.division();
        let mut found = Vec::new();
        for (at, len) in cut(offset_bytes, offset_bytes + len_bytes, division.chunk_bytes()).take(MOST_CHUNKS) {
            let (shard, inner) = division.inner(at);
            let pieces = lanes[shard as usize].extents(inner, len, most);
            let looked_at: u64 = pieces.iter().map(|(len, _)| len).sum();
            found.extend(pieces);
            if looked_at < len {
                break;
            }
        }
        joined_extents(found.into_iter(), most)
    }
}
