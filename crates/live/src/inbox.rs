//! Long writes that clients leave to the card's own thread: a client packs the next one while the last is carried out.

use media::{Payload, RequestData, Written, payload_in, touch_last};
use parking_lot::Mutex;
use session::{ClientId, Request};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A write of so many bytes is long: it takes many times as long as waking a thread does.
pub(crate) const LONG_BYTES: u32 = 128 << 10;
/// Clients carry out writes themselves while so many are posted.
const MOST_POSTED: usize = 64;
/// Payloads that are kept for clients to pack into: 8 MiB.
const MOST_SPARE: usize = 2048;

/// A write that a client has packed.
pub(crate) struct Posted {
    pub client: ClientId,
    /// The write, whose bytes are in `data`.
    pub request: Request<'static>,
    pub data: RequestData,
    /// When the client asked for it.
    pub since: Instant,
}

impl Posted {
    /// Packs a write of whole sectors, into memory of `spare` as far as there is some.
    pub fn pack(client: ClientId, request: &Request, sector_bytes: usize, spare: &mut Vec<Payload>) -> Posted {
        let (since, bytes) = (Instant::now(), request.bytes);
        touch_last(spare, bytes.len() / sector_bytes);
        let written_of = |bytes: &[u8]| Written::checked(payload_in(spare.pop(), bytes));
        let data = RequestData::of_write(Vec::new(), sector_bytes, 0, bytes, written_of);
        Posted { client, request: Request { bytes: &[], ..*request }, data, since }
    }
}

#[derive(Default)]
struct Contents {
    posted: VecDeque<Posted>,
    spare: Vec<Payload>,
    is_closed: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Inbox {
    contents: Mutex<Contents>,
    /// Writes that were ever posted.
    count: AtomicU64,
}

impl Inbox {
    /// Memory to pack writes of so many sectors into, as far as there is some; `None`: so many writes may not be posted.
    pub fn room(&self, writes: usize, sectors: usize) -> Option<Vec<Payload>> {
        let mut contents = self.contents.lock();
        if contents.is_closed || contents.posted.len() + writes > MOST_POSTED {
            return None;
        }
        let kept = contents.spare.len().saturating_sub(sectors);
        Some(contents.spare.split_off(kept))
    }

    /// Posts writes; false: nobody will take them any more.
    pub fn post(&self, posted: Vec<Posted>) -> bool {
        let mut contents = self.contents.lock();
        if contents.is_closed {
            return false;
        }
        self.count.fetch_add(posted.len() as u64, Ordering::SeqCst);
        contents.posted.extend(posted);
        true
    }

    /// Writes that were ever posted.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Nothing is posted.
    pub fn is_empty(&self) -> bool {
        self.contents.lock().posted.is_empty()
    }

    /// The client of the write that was posted first.
    pub fn first_client(&self) -> Option<ClientId> {
        self.contents.lock().posted.front().map(|posted| posted.client)
    }

    /// The clients of all writes that are posted.
    pub fn clients(&self) -> Vec<ClientId> {
        self.contents.lock().posted.iter().map(|posted| posted.client).collect()
    }

    /// Takes the write that was posted first.
    pub fn take(&self) -> Option<Posted> {
        self.contents.lock().posted.pop_front()
    }

    /// Takes all that a client has posted.
    pub fn take_of(&self, client: ClientId) -> VecDeque<Posted> {
        let mut contents = self.contents.lock();
        let (of_client, others) = std::mem::take(&mut contents.posted).into_iter().partition(|p| p.client == client);
        contents.posted = others;
        of_client
    }

    /// Has `lend` append at most so many payloads to the memory that clients pack into.
    pub fn refill(&self, most: usize, lend: impl FnOnce(usize, &mut Vec<Payload>)) {
        let spare = &mut self.contents.lock().spare;
        lend(most.min(MOST_SPARE.saturating_sub(spare.len())), spare);
    }

    /// Takes no more, if nothing is posted; false: something is.
    pub fn close(&self) -> bool {
        let mut contents = self.contents.lock();
        contents.is_closed = contents.posted.is_empty();
        contents.is_closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_memory_for_what_they_post_and_keep_no_more() {
        let inbox = Inbox::default();
        let payload = || Payload::from([0; 4]);
        inbox.refill(MOST_SPARE + 1, |most, spare| spare.extend((0..most).map(|_| payload())));
        inbox.refill(1, |most, _| assert_eq!(most, 0, "there is as much as is kept"));
        assert_eq!(inbox.room(1, 300).map(|spare| spare.len()), Some(300));
        assert_eq!(inbox.room(1, MOST_SPARE).map(|spare| spare.len()), Some(MOST_SPARE - 300));
        assert_eq!(inbox.room(MOST_POSTED, 1).map(|spare| spare.len()), Some(0), "none is left");
        assert!(inbox.room(MOST_POSTED + 1, 1).is_none());
        assert!(inbox.close() && inbox.room(1, 1).is_none() && !inbox.post(Vec::new()));
    }
}
