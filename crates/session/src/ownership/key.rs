//! The reservation key of a controller: its claim, and how often it has renewed it.

use std::fmt;

/// A claim to the array. Claims are ordered: the generation counts first, then the number of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// Above all generations that the claimant has seen; 24 bits.
    pub generation: u32,
    /// The number of the controller.
    pub controller: u8,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generation {} of controller {}", self.generation, self.controller)
    }
}

/// A key, as a module has it.
///
/// ```text
/// 63          40 39        32 31               0
/// ┌─────────────┬────────────┬──────────────────┐
/// │ generation  │ controller │ renewals         │  all ones: released
/// └─────────────┴────────────┴──────────────────┘
/// ```
///
/// Two renewals a second are counted for 68 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

const RELEASED: u32 = u32::MAX;

impl Key {
    /// The first key of a claim.
    #[must_use]
    pub fn of(claim: Claim) -> Key {
        Key(u64::from(claim.generation) << 40 | u64::from(claim.controller) << 32)
    }

    /// The claim that the key carries.
    #[must_use]
    pub fn claim(self) -> Claim {
        Claim { generation: (self.0 >> 40) as u32, controller: (self.0 >> 32) as u8 }
    }

    /// The key of the same claim after one more renewal.
    #[must_use]
    pub fn next(self) -> Key {
        let renewals = (self.0 as u32).saturating_add(1).min(RELEASED - 1);
        Key(self.0 >> 32 << 32 | u64::from(renewals))
    }

    /// The key that says that its owner has ended in order.
    #[must_use]
    pub fn released(self) -> Key {
        Key(self.0 | u64::from(RELEASED))
    }

    /// Its owner has ended in order: it answers nothing any more, and has nothing in flight.
    #[must_use]
    pub fn is_released(self) -> bool {
        self.0 as u32 == RELEASED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_carries_its_claim_whatever_becomes_of_it() {
        let claim = Claim { generation: 0xAB_CDEF, controller: 7 };
        let key = Key::of(claim);
        assert_eq!(key.0, 0xABCD_EF07_0000_0000);
        let last = Key(key.0 | u64::from(RELEASED - 1));
        for key in [key, key.next(), key.next().next(), last.next(), key.released()] {
            assert_eq!(key.claim(), claim);
        }
        assert_ne!(key.next(), key);
        assert!(key.released().is_released());
        assert!(!last.next().is_released());
    }

    #[test]
    fn the_generation_counts_before_the_controller_and_the_controller_before_renewals() {
        let key = |generation, controller| Key::of(Claim { generation, controller });
        assert!(key(2, 1) > key(1, 9).released());
        assert!(key(1, 2) > key(1, 1).released());
        assert!(Claim { generation: 1, controller: 2 } > Claim { generation: 1, controller: 1 });
    }
}
