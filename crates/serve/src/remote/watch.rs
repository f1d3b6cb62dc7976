//! The word of a card's disks to whoever owns the card.

use crate::remote::address::ModuleAddress;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The reason why disks are not what they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Another host has taken a module.
    Taken,
    /// The connection to a module was lost, with requests that may be carried out later.
    Left(ModuleAddress),
}

type Hears = Box<dyn Fn(Loss) + Send>;

#[derive(Default)]
struct Inner {
    is_lost: AtomicBool,
    hears: Mutex<Option<Hears>>,
}

/// One for all disks of a card. When another host has taken a module, nothing more is sent to any: what this card believes
/// is not so any more, and must not be told to the modules that are left.
#[derive(Clone, Default)]
pub struct Watch(Arc<Inner>);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_lost() { "lost" } else { "held" })
    }
}

impl Watch {
    /// A watch whose owner hears of each loss, on the thread that has found it.
    #[must_use]
    pub fn heard_by(hears: impl Fn(Loss) + Send + 'static) -> Watch {
        Watch(Arc::new(Inner { is_lost: AtomicBool::new(false), hears: Mutex::new(Some(Box::new(hears))) }))
    }

    /// The card is another host's, or may be: no request is sent any more.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.is_lost.load(Ordering::SeqCst)
    }

    /// The card is given up: no request is sent any more.
    pub fn give_up(&self) {
        self.0.is_lost.store(true, Ordering::SeqCst);
    }

    pub(crate) fn tell(&self, loss: Loss) {
        if loss == Loss::Taken {
            self.give_up();
        }
        if let Some(hears) = &*self.0.hears.lock() {
            hears(loss);
        }
    }
}
