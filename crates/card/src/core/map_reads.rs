//! Pages of the map that dies read, and the requests that wait for them.

use device::RequestId;
use std::collections::BTreeMap;

/// The reads of pages of the map.
#[derive(Clone, Debug, Default)]
pub struct MapReads {
    under_way: usize,
    waiting: BTreeMap<u32, Vec<RequestId>>,
}

impl MapReads {
    /// A die was given a page to read.
    pub fn begin(&mut self) {
        self.under_way += 1;
    }

    /// A page was read: the requests that waited for it, in their order.
    pub fn end(&mut self, page: u32) -> Vec<RequestId> {
        self.under_way -= 1;
        self.waiting.remove(&page).unwrap_or_default()
    }

    /// A request waits for a page that is being read.
    pub fn wait(&mut self, page: u32, id: RequestId) {
        self.waiting.entry(page).or_default().push(id);
    }

    /// Whether a page is being read.
    pub fn are_under_way(&self) -> bool {
        self.under_way > 0
    }
}
