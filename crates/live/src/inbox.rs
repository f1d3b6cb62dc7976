//! Long writes that clients leave to the card's own thread: a client packs the next one while the last is carried out.

use crate::packing::Packing;
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

    /// Memory for a write of so many bytes, if there is enough.
    pub fn memory(&self, bytes: usize) -> Option<Buffer> {
        self.packing.take(bytes)
    }

    /// Packs writes of a client to be posted; `None`: there is too little memory, or so many writes may not be posted.
    pub fn pack<'a>(
        &self,
        client: ClientId,
        writes: impl ExactSizeIterator<Item = &'a Request<'a>>,
    ) -> Option<Vec<Posted>> {
        let contents = self.contents.lock();
        if contents.is_closed || contents.posted.len() + writes.len() > MOST_POSTED {
            return None;
        }
        drop(contents);
        let posted = |request: &Request| {
            let (since, data) = (Instant::now(), self.packing.pack(request)?);
            Some(Posted { client, request: request.without_bytes(), data, since })
        };
        writes.map(posted).collect()
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

    fn pack(inbox: &Inbox, write: &Request, writes: usize) -> Option<Vec<Posted>> {
        inbox.pack(ClientId(0), vec![write; writes].into_iter())
    }

    #[test]
    fn so_many_writes_are_posted_at_most_and_none_when_it_is_closed() {
        let (inbox, bytes) = (inbox(), vec![7; 4096]);
        let write = Request::write(1, 0, &bytes);
        assert!(pack(&inbox, &write, MOST_POSTED + 1).is_none());
        assert!(inbox.post(pack(&inbox, &write, MOST_POSTED).unwrap()));
        assert!(pack(&inbox, &write, 1).is_none());
        assert!(inbox.take().is_some() && pack(&inbox, &write, 1).is_some());
        assert!(!inbox.close() && inbox.take_of(ClientId(0)).len() == MOST_POSTED - 1);
        assert!(inbox.close() && pack(&inbox, &write, 1).is_none() && !inbox.post(Vec::new()));
    }

    /// The payloads of a write that was packed, which lie one after the other.
    fn payloads_of(mut packed: Vec<Posted>) -> Vec<Written> {
        let data = &mut packed[0].data;
        let written: Vec<Written> = (0..data.payloads()).map(|sector| data.take_written(sector)).collect();
        let place = |written: &Written| written.payload.as_part().expect("a part of it").as_ptr().addr();
        assert!(written.windows(2).all(|pair| place(&pair[0]) + 4096 == place(&pair[1])));
        assert!(written.iter().all(|written| written.crc() == payload_crc(&written.payload)));
        written
    }

    #[test]
    fn a_write_lies_in_one_piece_and_its_memory_is_used_again() {
        let inbox = inbox();
        let bytes: Vec<u8> = (0..WRITE).map(|at| (at / 7) as u8).collect();
        let write = Request::write(1, 0, &bytes);
        let mut kept = Vec::new();
        while let Some(packed) = pack(&inbox, &write, 1) {
            let written = payloads_of(packed);
            assert!(written.iter().flat_map(|written| &*written.payload).eq(&bytes));
            kept.push(written);
        }
        assert!(!kept.is_empty());
        kept.clear();
        assert!(pack(&inbox, &write, 1).is_some(), "all of it is back");
    }

    #[test]
    fn bytes_that_lie_on_pages_of_memory_that_may_be_kept_are_not_copied() {
        let inbox = inbox();
        let mut memory = inbox.packing.take(WRITE + 4096).unwrap();
        memory.bytes_mut().iter_mut().zip(0u32..).for_each(|(byte, at)| *byte = (at / 5) as u8);
        let memory = memory.freeze();
        for (from, is_kept) in [(0, true), (4096, true), (512, false)] {
            // A part of a request that was divided.
            let bytes = &memory[from..from + WRITE];
            let part = Request { shared: Some(&memory), ..Request::write(1, 0, bytes) };
            let written = payloads_of(pack(&inbox, &part, 1).unwrap());
            assert!(written.iter().flat_map(|written| &*written.payload).eq(part.bytes));
            assert_eq!(written[0].payload.as_ptr() == part.bytes.as_ptr(), is_kept, "from {from}");
        }
    }
}
