//! The numbers that all controllers of an array must agree on.

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Modules of the array, those that are missing as well.
    pub modules: usize,
    /// Modules without which the array can't be served: all but those that parity stands for.
    pub serves_with: usize,
    /// How often an owner renews its key.
    pub renew_every_ns: u64,
    /// How long an owner answers after it has sent a renewal that a majority answered.
    pub lease_ns: u64,
    /// How long a new owner waits after it has taken a majority.
    pub wait_ns: u64,
    /// How often a standby looks at the modules.
    pub look_every_ns: u64,
    /// How long the key of an owner stands still before a standby claims.
    pub silent_for_ns: u64,
}

const MILLISECOND_NS: u64 = 1_000_000;

impl Terms {
    /// The usual numbers for so many modules, of which so many may be missing. A controller of a higher number looks on for
    /// a little longer, so that standbys seldom claim at once.
    #[must_use]
    pub fn usual(modules: usize, parity: usize, controller: u8) -> Terms {
        Terms {
            modules,
            serves_with: modules - parity,
            renew_every_ns: 500 * MILLISECOND_NS,
            lease_ns: 1_500 * MILLISECOND_NS,
            wait_ns: 2_000 * MILLISECOND_NS,
            look_every_ns: 250 * MILLISECOND_NS,
            silent_for_ns: (1_500 + u64::from(controller % 8) * 60) * MILLISECOND_NS,
        }
    }

    /// The smallest number of modules that is more than half of them.
    #[must_use]
    pub fn majority(&self) -> usize {
        self.modules / 2 + 1
    }

    /// The modules that a claim has to hold before the array is opened.
    #[must_use]
    pub fn needed(&self) -> usize {
        self.majority().max(self.serves_with)
    }
}
