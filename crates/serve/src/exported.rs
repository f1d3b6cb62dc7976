//! The exports of a server, which come and go while it runs.

use crate::export::{Backing, Export};
use crate::wire::{self, BlockSizes, ExportsError, Features};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The refusal of NBD clients that choose a card which is not here.
const ELSEWHERE: &str = "another controller has the card: connect to that one";

/// The exports as of some moment.
pub(crate) struct Exported {
    /// Each has its place for as long as the server runs; one that has gone leaves its place empty.
    places: Vec<Option<Place>>,
    /// The exports in the words of NBD.
    pub table: Arc<Table>,
}

#[derive(Clone)]
struct Place {
    export: Export,
    /// The number of times that the card, volume or disk behind the export became another one.
    changes: u64,
}

/// The exports in the words of NBD. A client keeps the table that there was when it came, and nothing of the cards.
pub(crate) struct Table {
    pub exports: Arc<wire::Exports>,
    /// The place of each of these.
    places: Vec<usize>,
}

impl Table {
    /// The place of what an NBD client has chosen.
    pub fn place(&self, chosen: usize) -> usize {
        self.places[chosen]
    }
}

impl Exported {
    pub fn new(exports: Vec<Export>) -> Result<Exported, ExportsError> {
        Exported::of(exports.into_iter().map(|export| Some(Place { export, changes: 0 })).collect())
    }

    fn of(places: Vec<Option<Place>>) -> Result<Exported, ExportsError> {
        let there = || places.iter().enumerate().filter_map(|(at, place)| Some((at, &place.as_ref()?.export)));
        let exports = Arc::new(wire::Exports::new(there().map(|(_, export)| described(export)).collect())?);
        let table = Arc::new(Table { exports, places: there().map(|(at, _)| at).collect() });
        Ok(Exported { places, table })
    }

    /// The exports after a change: known ones keep their places, others come behind.
    pub fn with(&self, mut exports: Vec<Export>) -> Result<Exported, ExportsError> {
        let mut renewed = |place: &Place| {
            let at = exports.iter().position(|export| export.id == place.export.id)?;
            let export = exports.remove(at);
            let is_other = !export.backing.is(&place.export.backing);
            Some(Place { export, changes: place.changes + u64::from(is_other) })
        };
        let mut places: Vec<Option<Place>> = self.places.iter().map(|place| renewed(place.as_ref()?)).collect();
        places.extend(exports.into_iter().map(|export| Some(Place { export, changes: 0 })));
        Exported::of(places)
    }

    /// The export in a place.
    pub fn at(&self, place: usize) -> Option<&Export> {
        Some(&self.places.get(place)?.as_ref()?.export)
    }

    /// The number of times that what is behind the export in a place became another one; `None`: the export has gone.
    pub fn changes(&self, place: usize) -> Option<u64> {
        Some(self.places.get(place)?.as_ref()?.changes)
    }

    /// The first place of the card of which the export in a place is all or a part, and the number of its shards. A raw disk
    /// counts as one shard: its clients have a ring each.
    pub fn card_of(&self, place: usize) -> (usize, usize) {
        let Some(live) = self.at(place).and_then(Export::card) else { return (place, 1) };
        let is_of_it = |(_, export): &(usize, &Export)| export.card().is_some_and(|card| std::ptr::eq(card, live));
        let first = self.there().find(is_of_it).map_or(place, |(first, _)| first);
        (first, live.shards() as usize)
    }

    /// The exports that are there, with their places.
    pub fn there(&self) -> impl Iterator<Item = (usize, &Export)> {
        self.places.iter().enumerate().filter_map(|(at, place)| Some((at, &place.as_ref()?.export)))
    }
}

/// The exports as of now.
pub(crate) struct Current {
    exported: RwLock<Arc<Exported>>,
    version: AtomicU64,
}

impl Current {
    pub fn new(exported: Exported) -> Current {
        Current { exported: RwLock::new(Arc::new(exported)), version: AtomicU64::new(0) }
    }

    pub fn now(&self) -> Arc<Exported> {
        Arc::clone(&self.exported.read())
    }

    pub fn set(&self, exported: Exported) {
        *self.exported.write() = Arc::new(exported);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// The number of times that exports were set.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }
}

fn described(export: &Export) -> wire::Export {
    wire::Export {
        name: export.name.clone(),
        description: export.description.clone(),
        size_bytes: export.size_bytes(),
        read_only: export.read_only,
        blocks: BlockSizes::default(),
        features: Features::ALL,
        refusal: matches!(export.backing, Backing::Elsewhere(_)).then_some(ELSEWHERE),
    }
}
