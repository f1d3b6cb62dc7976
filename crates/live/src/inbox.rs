//! Long writes that clients leave to the card's own thread: a client packs the next one while the last is carried out.

use crate::packing::{self, Packing};
use files::Buffer;
use media::RequestData;
use parking_lot::Mutex;
use session::{ClientId, Request};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A write of so many bytes is long: it takes many times as long as waking a thread does.
pub(crate) const LONG_BYTES: u32 = 128 << 10;
/// Clients carry out writes themselves while so many are posted.
const MOST_POSTED: usize = 64;

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
    /// Packs a write of whole sectors.
    pub fn pack(client: ClientId, request: &Request, memory: Buffer) -> Posted {
        let (since, data) = (Instant::now(), packing::pack(memory, request.bytes));
        Posted { client, request: Request { bytes: &[], ..*request }, data, since }
    }
}

#[derive(Default)]
struct Contents {
    posted: VecDeque<Posted>,
    is_closed: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Inbox {
    contents: Mutex<Contents>,
    /// Writes that were ever posted.
    count: AtomicU64,
    packing: Arc<Packing>,
}

impl Inbox {
    /// An inbox for writes that are packed into this memory.
    pub fn with(packing: Arc<Packing>) -> Inbox {
        Inbox { packing, ..Inbox::default() }
    }

    /// Memory to pack writes into, by their lengths; `None`: there is too little, or so many writes may not be posted.
    pub fn room(&self, writes: impl ExactSizeIterator<Item = usize>) -> Option<Vec<Buffer>> {
        let contents = self.contents.lock();
        if contents.is_closed || contents.posted.len() + writes.len() > MOST_POSTED {
            return None;
        }
        drop(contents);
        writes.map(|bytes| self.packing.take(bytes)).collect()
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
    use media::{Written, payload_crc};

    const WRITE: usize = 1 << 20;

    fn inbox() -> Inbox {
        Inbox::with(Arc::new(Packing::for_bytes(WRITE as u64)))
    }

    fn room(inbox: &Inbox, writes: usize) -> Option<Vec<Buffer>> {
        inbox.room(vec![WRITE; writes].into_iter())
    }

    #[test]
    fn so_many_writes_are_posted_at_most_and_none_when_it_is_closed() {
        let inbox = inbox();
        let short = |writes: usize| inbox.room(vec![4096; writes].into_iter()).is_some();
        assert!(short(MOST_POSTED) && !short(MOST_POSTED + 1));
        let memory = room(&inbox, 1).unwrap().remove(0);
        let bytes = vec![7; WRITE];
        assert!(inbox.post(vec![Posted::pack(ClientId(0), &Request::write(1, 0, &bytes), memory)]));
        assert!(short(MOST_POSTED - 1) && !short(MOST_POSTED));
        assert!(!inbox.close() && inbox.take().is_some());
        assert!(inbox.close() && !short(1) && !inbox.post(Vec::new()));
    }

    #[test]
    fn a_write_lies_in_one_piece_and_its_memory_is_used_again() {
        let inbox = inbox();
        let bytes: Vec<u8> = (0..WRITE).map(|at| (at / 7) as u8).collect();
        let mut kept = Vec::new();
        while let Some(memory) = room(&inbox, 1) {
            let mut data =
                Posted::pack(ClientId(0), &Request::write(1, 0, &bytes), memory.into_iter().next().unwrap()).data;
            let written: Vec<Written> = (0..data.payloads()).map(|sector| data.take_written(sector)).collect();
            assert!(written.iter().flat_map(|written| &*written.payload).eq(&bytes));
            assert!(written.iter().all(|written| written.crc() == payload_crc(&written.payload)));
            let place = |written: &Written| written.payload.as_part().expect("a part of it").as_ptr() as usize;
            assert!(written.windows(2).all(|pair| place(&pair[0]) + 4096 == place(&pair[1])));
            kept.push(written);
        }
        assert!(!kept.is_empty());
        kept.clear();
        assert!(room(&inbox, 1).is_some(), "all of it is back");
    }
}
