//! A card that is served, and what it is called.

use crate::controller::Controller;
use crate::words::{Frontend, Frontends};
use live::Live;
use std::sync::Arc;

/// A card, and what it is called.
#[derive(Clone)]
pub struct Served {
    /// The card. It is shut down when the last who has it drops it.
    pub live: Arc<Live>,
    /// Name of the card.
    pub name: String,
    /// The profile it was made from.
    pub card: String,
    /// Servers of the card to those who read and write it.
    pub frontends: Option<Arc<dyn Frontends>>,
    /// The controller that this server is of a card that others serve as well; `None`: the card is not shared.
    pub controller: Option<Arc<dyn Controller>>,
}

impl Served {
    pub(crate) fn frontend(&self) -> Frontend {
        self.frontends.as_ref().map(|frontends| frontends.status()).unwrap_or_default()
    }
}
