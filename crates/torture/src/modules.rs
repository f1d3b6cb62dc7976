//! Modules that are pulled, swapped and put elsewhere.

use crate::CardUnderTest;
use card::{Card, shape};
use format::CardId;
use media::{CutOutcome as End, Flash, Media, Module, UnderWay};
use sim::{Impact, What};

const ANOTHER_CARD: CardId = CardId(*b"another card    ");

impl CardUnderTest {
    /// Pulls a module. What is under way on it stays partly done.
    pub(crate) fn pull_module(&mut self, slot: u32) -> Option<Impact> {
        let under_way = self.card.as_ref().map(|card| card.under_way()).unwrap_or_default();
        let media = self.flash_mut();
        media.module(slot)?;
        for operation in &under_way {
            let module = match operation {
                UnderWay::Program { at, .. } => at.block.module,
                UnderWay::Erase { at } => at.module,
            };
            if module == slot {
                media.settle(operation, End::Garbage { spoil_earlier: false });
            }
        }
        self.parked[slot as usize] = self.flash_mut().pull(slot);
        Some(Impact::default())
    }

    /// Puts a module into a slot while there is no power.
    pub(crate) fn insert_module(&mut self, slot: u32, what: What) -> Option<Impact> {
        let index = slot as usize;
        let config = *self.config();
        let media = self.media.as_mut()?;
        let shape_of_card = shape(&config);
        let module: Module = match what {
            What::Same => match self.parked[index].take() {
                Some(module) => module,
                None => return Some(Impact::default()),
            },
            What::Stale => Module::clone(self.earlier[index].as_ref()?),
            What::Blank => Module::blank(&shape_of_card, media.physics(), media.trace()),
            What::Foreign => {
                let flash = Flash::new(shape_of_card, *media.physics(), 77);
                let card = Card::format(&config, flash, ANOTHER_CARD, 1, 77).ok()?;
                card.into_media()?.pull(slot)?
            }
            What::Cloned => media.module((slot + 1) % media.shape().modules)?.clone(),
        };
        let out = media.pull(slot);
        media.insert(slot, module);
        // What was pulled before stays where it is.
        if what != What::Same && out.is_some() {
            self.parked[index] = out;
        }
        Some(Impact { may_refuse: matches!(what, What::Foreign | What::Cloned), ..Impact::default() })
    }

    /// Puts the module of slot `i` into slot `order[i]`, while there is no power.
    pub(crate) fn permute_modules(&mut self, order: &[u32]) -> bool {
        let Some(media) = &mut self.media else { return false };
        let modules: Vec<Option<Module>> = (0..order.len() as u32).map(|slot| media.pull(slot)).collect();
        for (module, &to) in modules.into_iter().zip(order) {
            if let Some(module) = module {
                media.insert(to, module);
            }
        }
        permute(&mut self.parked, order);
        permute(&mut self.earlier, order);
        true
    }
}

/// What is in place `i` goes to place `order[i]`.
fn permute<T: Clone>(places: &mut [T], order: &[u32]) {
    let before = places.to_vec();
    for (what, &to) in before.into_iter().zip(order) {
        places[to as usize] = what;
    }
}
