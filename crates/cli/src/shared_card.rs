//! A card whose modules lie on shelves, and which several controllers serve: one at a time.

use crate::card_dir::CardDir;
use crate::error::{CardFailure, Failure, ServeFailure};
use live::{Live, Start};
use serve::remote::{Claim, Contender, Decision, ModuleAddress};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// The time after which an owner that was killed is known to be gone, and more for shelves that are slow.
const LONGEST_HOLD: Duration = Duration::from_secs(10);

/// See the module.
pub struct SharedCard {
    /// The card in its folder.
    pub dir: CardDir,
    addresses: Vec<ModuleAddress>,
    may_be_gone: usize,
    number: u8,
}

impl SharedCard {
    /// Refuses a card that others can't reach.
    pub fn new(dir: CardDir, number: u8) -> Result<SharedCard, Failure> {
        let address = |place: &std::path::PathBuf| {
            ModuleAddress::of_path(place).ok_or_else(|| ServeFailure::NotOnShelf { place: place.clone() })
        };
        let addresses = dir.modules.iter().map(address).collect::<Result<Vec<_>, _>>()?;
        let may_be_gone = may_be_gone(&dir, &addresses);
        Ok(SharedCard { dir, addresses, may_be_gone, number })
    }

    /// The number of its modules.
    pub fn modules(&self) -> u32 {
        self.addresses.len() as u32
    }

    /// Contends for it, under a name of this host that none had before. Its decisions come from the receiver.
    pub fn contend(&mut self) -> Result<(Contender, Receiver<Decision>), Failure> {
        let started = Contender::start(&self.addresses, self.may_be_gone, self.number, &self.dir.shelves);
        let (contender, decisions) = started.map_err(|source| ServeFailure::Contend { source })?;
        self.dir.watch = contender.watch();
        Ok((contender, decisions))
    }

    /// Owns it without answering anybody, for those who look at its modules, until the contender is dropped. Waits as long
    /// as a controller that was killed may be thought to live.
    pub fn hold(&mut self) -> Result<Contender, Failure> {
        let (contender, decisions) = self.contend()?;
        if let Ok(Decision::Open { .. }) = decisions.recv_timeout(LONGEST_HOLD) {
            return Ok(contender);
        }
        let (status, dir) = (contender.status(), self.dir.dir.clone());
        let reaches_most = status.reached + self.may_be_gone >= self.addresses.len();
        Err(match reaches_most && status.highest != Claim::default() {
            true => ServeFailure::OwnedElsewhere { dir, owner: status.highest },
            false => ServeFailure::OutOfReach { dir, modules: self.modules(), reached: status.reached },
        }
        .into())
    }

    /// Opens it without some modules. All that it acknowledges is durable.
    pub fn open(&mut self, start: Start, discards: bool, without: &[u32]) -> Result<Arc<Live>, Failure> {
        let name = self.dir.dir.display().to_string();
        let id = start.id.expect("a card in a folder has a name");
        let mut live = self.dir.run(start, discards, without, |note| eprintln!("flashrig: {name}: {note}"))?;
        live.write_through();
        // It may have been divided from another host, whose folder alone says so. Hosts must not write over a table that is
        // there and can't be read.
        if !self.dir.has_volumes {
            match live.load_volumes(id) {
                Ok(()) => self.dir.divide()?,
                Err(error) if error.is_no_table() => {}
                Err(source) => {
                    return Err(CardFailure::Volumes { dir: self.dir.dir.clone(), source: source.into() }.into());
                }
            }
        }
        Ok(Arc::new(live))
    }

    /// Puts a module into its slot that was away.
    pub fn insert(&self, live: &Live, module: usize) -> Result<(), Failure> {
        let slot = module as u32;
        // A shard that has it still would be in the way.
        let _ = live.act(live::Action::Pull { slot, force: true });
        let path = self.addresses[module].to_path();
        live.insert_file(slot, &path)
            .map_err(|source| CardFailure::NotInserted { slot, place: path, source: Box::new(source) }.into())
    }
}

/// The modules that a card can be opened without: those of one shelf where stripes allow that, or else those that parity
/// stands for.
fn may_be_gone(dir: &CardDir, addresses: &[ModuleAddress]) -> usize {
    let mut shelves: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (slot, address) in (0..).zip(addresses) {
        shelves.entry(address.shelf.to_string()).or_default().push(slot);
    }
    let can_go = |of_shelf: &&Vec<u32>| card::can_do_without(&dir.config, |slot| of_shelf.contains(&slot));
    let most = shelves.values().filter(can_go).map(Vec::len).max().unwrap_or(0);
    most.max(card::spared_modules(&dir.config) as usize)
}
