//! The memory that requests and answers of all clients together may take.
//!
//! Half of the budget is divided: each client has a share of its own, so that small requests of one go on whatever others
//! hold. The other half is the pool, from which requests beyond a share are served in the order in which they came. A
//! client holds memory from when a request is taken until its write is answered, or the data of its read were sent.
//! Nobody waits for memory while another waits for him: what is held comes free when the card answers and its client
//! takes the answer, and a client that does not is let go ([`crate::Limits`]).

use crate::client_bell::ClientBell;
use crate::stream::MAX_UNSENT_BYTES;
use crate::wire::MAX_REQUEST_BYTES;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The smallest budget. Its pool has room for the largest request beside the answers that a client may leave.
pub const MIN_MEMORY_BYTES: u64 = 128 << 20;

const _: () = assert!(MIN_MEMORY_BYTES / 2 >= MAX_REQUEST_BYTES as u64 + MAX_UNSENT_BYTES as u64);

/// An eighth of the machine's memory.
pub(crate) fn usual_memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    total.map_or(MIN_MEMORY_BYTES, |kib: u64| kib * 1024 / 8).max(MIN_MEMORY_BYTES)
}

/// A client that waits for bytes of the pool.
struct Waiting {
    client: u64,
    bytes: u64,
    bell: Arc<ClientBell>,
}

struct Pool {
    free: u64,
    /// The clients that wait, in their order.
    waiting: VecDeque<Waiting>,
    /// Bytes of the pool that are set aside for clients that have waited.
    granted: BTreeMap<u64, u64>,
}

impl Pool {
    fn give(&mut self, bytes: u64) {
        self.free += bytes;
        while self.waiting.front().is_some_and(|next| next.bytes <= self.free) {
            let Some(next) = self.waiting.pop_front() else { break };
            self.free -= next.bytes;
            self.granted.insert(next.client, next.bytes);
            next.bell.wake();
        }
    }
}

pub(crate) struct Budget {
    /// The bytes that each client has for itself.
    share: u64,
    pool: Mutex<Pool>,
}

impl Budget {
    /// A budget for at most so many clients; at least [`MIN_MEMORY_BYTES`].
    pub fn new(bytes: u64, clients: usize) -> Arc<Budget> {
        let (bytes, clients) = (bytes.max(MIN_MEMORY_BYTES), clients.max(1) as u64);
        let share = bytes / 2 / clients;
        let pool = Pool { free: bytes - share * clients, waiting: VecDeque::new(), granted: BTreeMap::new() };
        Arc::new(Budget { share, pool: Mutex::new(pool) })
    }

    /// The bytes that each client has for itself.
    pub fn share(&self) -> u64 {
        self.share
    }

    /// Bytes of the pool that nobody has.
    #[cfg(test)]
    fn free(&self) -> u64 {
        self.pool.lock().free
    }
}

/// The memory that a client holds. All of it comes free when the client is gone.
pub(crate) struct Account {
    budget: Arc<Budget>,
    client: u64,
    bell: Arc<ClientBell>,
    held: u64,
    /// The part of `held` that comes from the pool.
    borrowed: u64,
    waits: bool,
}

impl Account {
    pub fn new(budget: &Arc<Budget>, client: u64, bell: &Arc<ClientBell>) -> Account {
        let (budget, bell) = (Arc::clone(budget), Arc::clone(bell));
        Account { budget, client, bell, held: 0, borrowed: 0, waits: false }
    }

    /// Takes bytes for a request. `false`: the client has to wait, and ask again for as many when its bell rings, or
    /// when it has given some back.
    pub fn take(&mut self, bytes: u64) -> bool {
        let beyond = (self.held + bytes).saturating_sub(self.budget.share);
        if self.waits || beyond > self.borrowed {
            let mut pool = self.budget.pool.lock();
            if self.waits {
                self.borrowed += pool.granted.remove(&self.client).unwrap_or(0);
                pool.waiting.retain(|waiting| waiting.client != self.client || beyond > self.borrowed);
            }
            let wanted = beyond.saturating_sub(self.borrowed);
            if wanted > 0 {
                let place = pool.waiting.iter().position(|waiting| waiting.client == self.client);
                let is_next = place.unwrap_or(pool.waiting.len()) == 0;
                if !is_next || pool.free < wanted {
                    match place {
                        // It may want less than before, because it has given some back.
                        Some(place) => pool.waiting[place].bytes = wanted,
                        None => {
                            let bell = Arc::clone(&self.bell);
                            pool.waiting.push_back(Waiting { client: self.client, bytes: wanted, bell });
                        }
                    }
                    self.waits = true;
                    return false;
                }
                if place.is_some() {
                    pool.waiting.pop_front();
                }
                pool.free -= wanted;
                self.borrowed += wanted;
            }
            self.waits = false;
            // The client behind it may be next.
            pool.give(0);
        }
        self.held += bytes;
        self.settle();
        true
    }

    /// Gives bytes back that a request has held.
    pub fn give(&mut self, bytes: u64) {
        self.held -= bytes;
        self.settle();
    }

    /// Gives back to the pool what the share has room for.
    fn settle(&mut self) {
        let beyond = self.held.saturating_sub(self.budget.share);
        if self.borrowed > beyond {
            self.budget.pool.lock().give(self.borrowed - beyond);
            self.borrowed = beyond;
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let mut pool = self.budget.pool.lock();
        pool.waiting.retain(|waiting| waiting.client != self.client);
        let granted = pool.granted.remove(&self.client).unwrap_or(0);
        pool.give(self.borrowed + granted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn account(budget: &Arc<Budget>, client: u64) -> Account {
        Account::new(budget, client, &ClientBell::new().unwrap())
    }

    #[test]
    fn shares_are_always_there_and_the_pool_goes_round_in_order() {
        // Half a MiB each, and 64 MiB for all.
        let budget = Budget::new(128 * MIB, 128);
        assert_eq!((budget.share(), budget.free()), (MIB / 2, 64 * MIB));
        let mut clients: Vec<Account> = (0..5).map(|client| account(&budget, client)).collect();
        assert!(clients[0].take(32 * MIB) && clients[1].take(32 * MIB));
        assert!(!clients[2].take(32 * MIB), "63 MiB are gone");
        assert!(clients[3].take(MIB / 2), "within its share");
        assert!(!clients[3].take(MIB / 2), "there is a MiB, and another was first");
        clients[0].give(32 * MIB);
        assert!(clients[2].take(32 * MIB));
        assert!(clients[3].take(MIB / 2));
        assert!(!clients[4].take(40 * MIB));
        // Nothing is lost when a client goes away while it waits, or while it holds something.
        drop(clients.pop());
        drop(clients);
        assert_eq!(budget.free(), 64 * MIB);
    }

    #[test]
    fn nothing_is_lost_or_had_twice_whatever_is_asked_for() {
        let budget = Budget::new(0, 8);
        let all = budget.free();
        let mut random = 1u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut clients: Vec<(Account, Vec<u64>, Option<u64>)> =
            (0..8).map(|client| (account(&budget, client), Vec::new(), None)).collect();
        for round in 0..20_000 {
            let at = draw(8) as usize;
            let (account, held, wants) = &mut clients[at];
            if !held.is_empty() && draw(2) == 0 {
                account.give(held.swap_remove(0));
            } else if draw(50) == 0 {
                let gone = std::mem::replace(account, self::account(&budget, 100 + round));
                drop(gone);
                (*held, *wants) = (Vec::new(), None);
            } else {
                let most = if draw(3) == 0 { 32 * MIB } else { 64 << 10 };
                let bytes = wants.unwrap_or_else(|| 1 + draw(most));
                *wants = if account.take(bytes) { None } else { Some(bytes) };
                held.extend(wants.is_none().then_some(bytes));
            }
            let borrowed: u64 = clients.iter().map(|(account, ..)| account.borrowed).sum();
            let granted: u64 = budget.pool.lock().granted.values().sum();
            assert_eq!(budget.free() + borrowed + granted, all, "round {round}");
            for (account, held, _) in &clients {
                assert_eq!(account.held, held.iter().sum::<u64>());
                assert!(account.held <= budget.share() + account.borrowed, "more than it was given");
            }
        }
        // All give back what they hold: each that waits gets its turn.
        for _ in 0..8 {
            for (account, held, wants) in &mut clients {
                held.drain(..).for_each(|bytes| account.give(bytes));
                if let Some(bytes) = wants.take_if(|bytes| account.take(*bytes)) {
                    held.push(bytes);
                }
            }
        }
        assert!(clients.iter().all(|(_, _, wants)| wants.is_none()));
    }
}
