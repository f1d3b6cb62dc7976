//! The crews of a server: threads that share its clients when these are many.
//!
//! Clients of one card share few threads: these take turns at each shard, and one that waits for its turn serves nobody.

use crate::conversation::Conversation;
use crate::crew::{Crew, Left};
use crate::crew_bell::CrewBell;
use crate::line::Ended;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::thread::Builder;

/// The threads that share the clients of one shard of a card.
const FOR_EACH_SHARD: usize = 2;
/// The bell of a crew rings for this place when clients wait to be taken.
const NEWCOMERS: usize = usize::MAX;

/// Ends the connection of a client.
type Ends = dyn Fn(Left) + Send + Sync;

struct Place {
    bell: Arc<CrewBell>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    newcomers: Vec<Box<dyn Conversation>>,
    /// The clients that it has, newcomers included.
    clients: usize,
    /// Its thread runs. It ends when it has no client left.
    runs: bool,
}

/// See the module.
pub(crate) struct Crews {
    places: Vec<Arc<Place>>,
    ends: Arc<Ends>,
}

impl Crews {
    /// Has this number of crews. `ends` is called for each client that leaves one, in a thread in which it may wait.
    pub fn new(crews: usize, ends: impl Fn(Left) + Send + Sync + 'static) -> io::Result<Crews> {
        let place = |_| Ok(Arc::new(Place { bell: CrewBell::new()?, inner: Mutex::default() }));
        let places = (0..crews).map(place).collect::<io::Result<_>>()?;
        Ok(Crews { places, ends: Arc::new(ends) })
    }

    /// A client joins, of those crews that serve what it has chosen, the one with the fewest clients. It comes back if there
    /// can't be a thread. `first` is the place of what it has chosen, which has so many shards.
    pub fn join(
        &self,
        conversation: Box<dyn Conversation>,
        first: usize,
        shards: usize,
    ) -> Result<(), Box<dyn Conversation>> {
        let of_card = (0..self.places.len().min(shards * FOR_EACH_SHARD)).map(|at| (first + at) % self.places.len());
        let fewest = of_card.map(|at| &self.places[at]).min_by_key(|place| place.inner.lock().clients);
        let Some(place) = fewest else { return Err(conversation) };
        let mut inner = place.inner.lock();
        if !inner.runs {
            let (for_thread, ends) = (Arc::clone(place), Arc::clone(&self.ends));
            if let Err(error) = Builder::new().name("crew".into()).spawn(move || run(&for_thread, &ends)) {
                tracing::warn!(%error, "no thread for several clients: each keeps its own");
                return Err(conversation);
            }
            inner.runs = true;
        }
        inner.clients += 1;
        inner.newcomers.push(conversation);
        drop(inner);
        place.bell.ring(NEWCOMERS);
        Ok(())
    }
}

/// A thread that ends in whatever way runs no longer, and its clients are let go.
struct Runs<'a>(&'a Place);

impl Drop for Runs<'_> {
    fn drop(&mut self) {
        *self.0.inner.lock() = Inner::default();
    }
}

fn run(place: &Place, ends: &Arc<Ends>) {
    let runs = Runs(place);
    let mut left = Vec::new();
    let mut crew = match Crew::new(&place.bell) {
        Ok(crew) => crew,
        Err(error) => {
            tracing::error!(%error, "clients can't be waited for together");
            let newcomers = std::mem::take(&mut place.inner.lock().newcomers);
            newcomers.into_iter().for_each(|client| end((client, broken(&error)), ends));
            return;
        }
    };
    while take_newcomers(place, &mut crew, &mut left) {
        if let Err(error) = crew.turn(&mut left) {
            tracing::error!(%error, "clients can't be waited for together");
            left.extend(crew.take_all().into_iter().map(|client| (client, broken(&error))));
        }
        if !left.is_empty() {
            place.inner.lock().clients -= left.len();
            left.drain(..).for_each(|client| end(client, ends));
        }
    }
    // The last look at newcomers has said that the thread runs no longer, and another one may run already.
    std::mem::forget(runs);
}

/// Has a crew take the clients that have come. False: it has none, and its thread is to end.
fn take_newcomers(place: &Place, crew: &mut Crew, left: &mut Vec<Left>) -> bool {
    let mut inner = place.inner.lock();
    let newcomers = std::mem::take(&mut inner.newcomers);
    if newcomers.is_empty() && crew.is_empty() && left.is_empty() {
        inner.runs = false;
        return false;
    }
    drop(inner);
    left.extend(newcomers.into_iter().filter_map(|client| crew.take(client).err()));
    true
}

fn broken(error: &io::Error) -> Ended {
    Ended::Broken(error.kind().into())
}

/// Ends a connection in a thread of its own: a client that takes its last bytes slowly keeps nobody waiting.
fn end(client: Left, ends: &Arc<Ends>) {
    let for_thread = Arc::clone(ends);
    let client = Arc::new(Mutex::new(Some(client)));
    let of_thread = Arc::clone(&client);
    let ends_it = move || {
        if let Some(client) = of_thread.lock().take() {
            for_thread(client);
        }
    };
    if Builder::new().name("farewell".into()).spawn(ends_it).is_err()
        && let Some(client) = client.lock().take()
    {
        ends(client);
    }
}
