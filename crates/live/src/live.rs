//! A live card as its owner sees it: its shards, each with an engine and a thread.

use crate::clock;
use crate::engine::{Engine, Start};
use crate::inside::Inside;
use crate::lane::Lane;
use crate::over::{Divided, Over};
use crate::port::{CardPort, Port};
use crate::reply::Bell;
use crate::shared::Shared;
use crate::volumes::Volumes;
use card::OpenError;
use device::Device;
use disk::{ArrayConfig, DiskError};
use files::MAX_SHARDS;
use format::CardId;
use media::Medium;
use session::{Backend, CHUNK_BYTES, Condition, Division};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// A card that runs by the clock. Its own threads end, and the card is shut down in order, when it is dropped or
/// [`Live::shut_down`] is called.
pub struct Live {
    pub(crate) shards: Vec<Shard>,
    pub(crate) division: Division,
    pub(crate) divided: Arc<Divided>,
    /// The volumes that the card is divided into, if it is.
    pub(crate) volumes: Option<Arc<Volumes>>,
    /// Clients that were connected so far.
    clients: AtomicUsize,
}

/// A part of a card that is a card of its own.
pub(crate) struct Shard {
    pub shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The name of a shard of the card of this name.
pub fn id_of_shard(CardId(mut bytes): CardId, shard: u32) -> CardId {
    bytes.iter_mut().rev().zip(shard.to_le_bytes()).for_each(|(byte, of_shard)| *byte ^= of_shard);
    CardId(bytes)
}

/// The parameters with which a shard is started: each has its own name, so that none is taken for another.
fn start_of_shard(start: &Start, shard: u32) -> Start {
    Start {
        id: start.id.map(|id| id_of_shard(id, shard)),
        seed: start.seed.wrapping_add(shard.into()),
        ..start.clone()
    }
}

impl Live {
    /// Makes a card on a medium whose contents are lost.
    pub fn format(medium: impl Into<Medium>, start: Start) -> Result<Live, LiveError> {
        let card = Engine::format(medium.into(), &start)?;
        Live::run(Engine::around(card, start, None))
    }

    /// Makes a card of so many bytes that is divided over shards, each on a medium whose contents are lost. `start` has
    /// the configuration of a shard, which holds at least [`Live::shard_bytes`].
    ///
    /// # Panics
    /// When there are no media, or more than [`MAX_SHARDS`].
    pub fn format_shards(media: Vec<Medium>, start: &Start, size_bytes: u64) -> Result<Live, LiveError> {
        let division = Division::new(media.len() as u32, CHUNK_BYTES, size_bytes);
        assert!(division.shards() <= MAX_SHARDS, "{} shards", division.shards());
        let engine = |(shard, medium)| {
            let start = start_of_shard(start, shard);
            let card = Engine::format(medium, &start)?;
            assert!(card.capacity_bytes() >= division.shard_bytes(shard), "shard {shard} is too small");
            Ok(Engine::around(card, start, None))
        };
        let engines = (0..).zip(media).map(engine).collect::<Result<_, OpenError>>()?;
        Live::run_shards(engines, division)
    }

    /// Starts the card of so many bytes that lies on media, one for each of its shards. `start` has the configuration of a
    /// shard, as with [`Live::format_shards`].
    ///
    /// # Panics
    /// When there are no media, or more than [`MAX_SHARDS`].
    pub fn open_shards(media: Vec<Medium>, start: &Start, size_bytes: u64) -> Result<Live, LiveError> {
        let division = Division::new(media.len() as u32, CHUNK_BYTES, size_bytes);
        assert!(division.shards() <= MAX_SHARDS, "{} shards", division.shards());
        let open = |shard, medium| {
            let start = start_of_shard(start, shard);
            let (card, report) = Engine::open(medium, &start).map_err(|failed| LiveError::Open(failed.0))?;
            let (shard_bytes, bytes) = (division.shard_bytes(shard), card.capacity_bytes());
            match bytes < shard_bytes {
                true => Err(LiveError::ShardSize { shard, bytes, shard_bytes }),
                false => Ok(Engine::around(card, start, Some(report))),
            }
        };
        // A start reads much, and no shard waits for another.
        let engines: Vec<Result<Engine, LiveError>> = std::thread::scope(|scope| {
            let begun: Vec<_> =
                (0..).zip(media).map(|(shard, medium)| scope.spawn(move || open(shard, medium))).collect();
            begun.into_iter().map(|opened| opened.join().expect("a start does not panic")).collect()
        });
        Live::run_shards(engines.into_iter().collect::<Result<_, _>>()?, division)
    }

    /// Bytes of the largest of the shards that a card of so many bytes is divided over.
    pub fn shard_bytes(size_bytes: u64, shards: u32) -> u64 {
        Division::new(shards, CHUNK_BYTES, size_bytes).shard_bytes(0)
    }

    /// Starts the card that lies on a medium.
    pub fn open(medium: impl Into<Medium>, start: Start) -> Result<Live, LiveError> {
        let (card, report) = Engine::open(medium.into(), &start).map_err(|failed| LiveError::Open(failed.0))?;
        Live::run(Engine::around(card, start, Some(report)))
    }

    /// Disks that hold so many bytes in memory, and take as long as disks do.
    pub fn disks(config: ArrayConfig, size_bytes: u64, seed: u64) -> Result<Live, LiveError> {
        Live::run(Engine::around_disks(config, size_bytes, seed)?)
    }

    fn run(engine: Engine) -> Result<Live, LiveError> {
        let division = Division::new(1, CHUNK_BYTES, engine.device.size_bytes);
        Live::run_shards(vec![engine], division)
    }

    fn run_shards(engines: Vec<Engine>, division: Division) -> Result<Live, LiveError> {
        let (divided, clients) = (Arc::new(Divided::new()), AtomicUsize::new(0));
        let mut live = Live { shards: Vec::new(), division, divided, volumes: None, clients };
        for engine in engines {
            let shared = Arc::new(Shared::new(engine)?);
            let for_thread = Arc::clone(&shared);
            let thread = std::thread::Builder::new().name("card".into()).spawn(move || clock::run(&for_thread))?;
            live.shards.push(Shard { shared, thread: Some(thread) });
        }
        Ok(live)
    }

    /// From now on each change is durable when it is acknowledged, and reads see durable bytes only: whoever starts the card
    /// next, and on whatever machine, finds all that anybody was told of.
    pub fn write_through(&self) {
        self.shards.iter().for_each(|shard| shard.shared.lock().session.write_through());
    }

    /// Connects a client. `bell` rings when there are replies that [`Port::submit`] has not handed out.
    pub fn port(&self, bell: Arc<dyn Bell>) -> Port {
        let lanes: Vec<Lane> = self.shards.iter().map(|shard| Lane::new(&shard.shared, Arc::clone(&bell))).collect();
        let number = self.clients.fetch_add(1, Ordering::Relaxed);
        let over = (lanes.len() > 1).then(|| Over::new(self.division, &self.divided, number % lanes.len()));
        Port { card: CardPort { lanes, over }, inside: None }
    }

    /// Connects a client to a volume; `None`: there is none of this number.
    pub fn volume_port(&self, id: u32, bell: Arc<dyn Bell>) -> Option<Port> {
        let volumes = self.volumes.as_ref()?;
        // It may not be deleted between the two: clients are counted under the table's lock.
        let table = volumes.read();
        table.size_bytes(id)?;
        let inside = Inside::new(Arc::clone(volumes), id);
        drop(table);
        Some(Port { inside: Some(inside), ..self.port(bell) })
    }

    /// More is gone than parity stands for, in some shard: what it has is answered with errors.
    pub fn has_stopped(&self) -> bool {
        let has_stopped = |shard: &Shard| shard.shared.lock().device.condition() == Condition::Halted;
        self.shards.iter().any(has_stopped)
    }

    /// Bytes that a client can address.
    pub fn size_bytes(&self) -> u64 {
        self.division.size_bytes()
    }

    /// The number of shards that the card is divided over.
    pub fn shards(&self) -> u32 {
        self.division.shards()
    }

    /// Writes what is only in the buffer, and ends. Requests are refused from now on.
    pub fn shut_down(&mut self) {
        let runs = self.shards.iter().any(|shard| shard.thread.is_some());
        if let Some(volumes) = self.volumes.as_ref().filter(|_| runs) {
            // A card that takes no more writes finds these extents in use when it starts again, and trimmed.
            drop(volumes.settled());
        }
        for shard in &self.shards {
            shard.shared.stops.store(true, Ordering::SeqCst);
            shard.shared.wake();
        }
        for shard in &mut self.shards {
            // A panic of the thread is its own message.
            let _ = shard.thread.take().map(JoinHandle::join);
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Why a card was not started.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// It can't be made of, or found on, its medium.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A shard is smaller than its part of the card.
    #[error(
        "shard {shard} has {bytes} bytes, and its part of the card {shard_bytes}: the card was made with another size"
    )]
    ShardSize {
        /// The number of the shard.
        shard: u32,
        /// The bytes that it holds.
        bytes: u64,
        /// The bytes that it is asked for.
        shard_bytes: u64,
    },
    /// There are no such disks.
    #[error(transparent)]
    Disks(#[from] DiskError),
    /// The system refuses a thread or a descriptor.
    #[error("the system refuses what a card needs to run: {0}")]
    System(#[from] io::Error),
}
