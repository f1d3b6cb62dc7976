//! The exports of a server, which come and go while it runs.

use crate::export::Export;
use crate::wire::{self, BlockSizes, ExportsError, Features};
use parking_lot::RwLock;
use std::sync::Arc;

/// The exports as of some moment. A client keeps the ones that there were when it came.
pub(crate) struct Exported {
    /// Each has its place for as long as the server runs; one that has gone leaves its place empty.
    pub places: Vec<Option<Export>>,
    /// The exports in the words of NBD.
    pub wire: Arc<wire::Exports>,
    /// The place of each of these.
    of_wire: Vec<usize>,
}

impl Exported {
    pub fn new(places: Vec<Option<Export>>) -> Result<Exported, ExportsError> {
        let there = || places.iter().enumerate().filter_map(|(at, export)| Some((at, export.as_ref()?)));
        let wire = Arc::new(wire::Exports::new(there().map(|(_, export)| described(export)).collect())?);
        let of_wire = there().map(|(at, _)| at).collect();
        Ok(Exported { places, wire, of_wire })
    }

    /// The export that an NBD client has chosen.
    pub fn chosen(&self, of_wire: usize) -> Option<&Export> {
        self.at(*self.of_wire.get(of_wire)?)
    }

    /// The export in a place.
    pub fn at(&self, place: usize) -> Option<&Export> {
        self.places.get(place)?.as_ref()
    }

    /// The exports that are there, with their places.
    pub fn there(&self) -> impl Iterator<Item = (usize, &Export)> {
        self.places.iter().enumerate().filter_map(|(at, export)| Some((at, export.as_ref()?)))
    }

    /// The places when these are the exports: known ones keep theirs, others come behind.
    pub fn places_of(&self, mut exports: Vec<Export>) -> Vec<Option<Export>> {
        let mut take = |id: [u8; 16]| {
            let at = exports.iter().position(|export| export.id == id)?;
            Some(exports.remove(at))
        };
        let mut places: Vec<Option<Export>> = self.places.iter().map(|export| take(export.as_ref()?.id)).collect();
        places.extend(exports.into_iter().map(Some));
        places
    }
}

/// The exports as of now.
pub(crate) struct Current(RwLock<Arc<Exported>>);

impl Current {
    pub fn new(exported: Exported) -> Current {
        Current(RwLock::new(Arc::new(exported)))
    }

    pub fn now(&self) -> Arc<Exported> {
        Arc::clone(&self.0.read())
    }

    pub fn set(&self, exported: Exported) {
        *self.0.write() = Arc::new(exported);
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
    }
}
