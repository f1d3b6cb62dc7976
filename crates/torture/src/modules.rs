//! Modules that are pulled, swapped and put elsewhere.

use crate::CardUnderTest;
use crate::sim::{Impact, Lost, What};
use card::{StorageCard, shape};
use format::CardId;
use media::{CutOutcome as End, Flash, Media, Module, UnderWay};

const ANOTHER_CARD: CardId = CardId(*b"another card    ");

impl CardUnderTest {
    /// Pulls a module. Operations under way on it stay partly done.
    pub(crate) fn pull_module(&mut self, slot: u32) -> Option<Impact> {
        let under_way = self.card.as_ref().map(|card| card.under_way()).unwrap_or_default();
        let media = self.flash_mut();
        media.module(slot)?;
        for operation in &under_way {
            let module = match operation {
                UnderWay::Program { at, .. } => at.block.module,
                UnderWay::Erase { at } => at.module,
                UnderWay::Log { module, .. } => *module,
            };
            if module == slot {
                media.settle(operation, End::Garbage { spoil_earlier: false });
            }
        }
        let lost = self.beyond_redundancy(|die| self.card.as_ref().and_then(|card| card.slot_of(die)) == Some(slot));
        self.parked[slot as usize] = self.flash_mut().pull(slot);
        Some(Impact { lost: Lost::These(lost), may_refuse: true, may_fail: true, may_stop: false })
    }

    /// Puts a module into a slot, with or without power.
    pub(crate) fn insert_module(&mut self, slot: u32, what: What) -> Option<Impact> {
        let index = slot as usize;
        let module: Module = match what {
            What::Same => match self.parked[index].take() {
                Some(module) => module,
                None if self.card.is_none() => return Some(Impact::default()),
                None => {
                    self.pull_module(slot)?;
                    self.parked[index].take().expect("it was pulled")
                }
            },
            What::Stale => Module::clone(self.earlier[index].as_ref()?),
            What::Blank => {
                let media = self.flash();
                Module::blank(&shape(self.config()), media.physics(), media.trace())
            }
            What::Foreign => {
                let (physics, config) = (*self.flash().physics(), *self.config());
                let flash = Flash::new(shape(&config), physics, 77);
                let card = StorageCard::format(&config, flash, ANOTHER_CARD, 1, 77).ok()?;
                card.into_media()?.pull(slot)?
            }
            What::Cloned => self.flash().module((slot + 1) % self.flash().shape().modules)?.clone(),
        };
        if self.card.is_some() {
            return Some(self.insert_at_work(slot, what, module));
        }
        let media = self.flash_mut();
        let out = media.pull(slot);
        media.insert(slot, module);
        if what != What::Same {
            self.parked[index] = out.or(self.parked[index].take());
        }
        Some(Impact { may_refuse: matches!(what, What::Foreign | What::Cloned), ..Impact::default() })
    }

    /// The card at work refuses what does not belong to it: then the slot stays empty.
    fn insert_at_work(&mut self, slot: u32, what: What, module: Module) -> Impact {
        let before = self.parked[slot as usize].take();
        self.pull_module(slot);
        if self.parked[slot as usize].is_none() {
            self.parked[slot as usize] = before;
        }
        let card = self.card.as_mut().expect("it is at work");
        match card.insert_module(self.now, slot, module, &mut self.completions) {
            Ok(_) => {
                let refused = matches!(what, What::Foreign | What::Cloned);
                assert!(!refused, "{what:?} module was taken");
            }
            Err(refused) if what == What::Same => self.parked[slot as usize] = Some(refused.1),
            Err(_) => {}
        }
        Impact::default()
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

/// Moves the item in place `i` to place `order[i]`.
fn permute<T: Clone>(places: &mut [T], order: &[u32]) {
    let before = places.to_vec();
    for (what, &to) in before.into_iter().zip(order) {
        places[to as usize] = what;
    }
}
