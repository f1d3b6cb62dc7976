//! A start has found sectors in stripes that are not whole: the card rescues them. `contents/rescue.rs` has the
//! invariants.

use crate::card::Card;
use crate::contents::Storage;
use crate::contents::store::Content;
use ftl::Ppa;

impl Card<Storage> {
    /// Something of it is not known to be durable elsewhere.
    pub(crate) fn is_rescuing(&self) -> bool {
        self.contents.rescue.is_some()
    }

    /// Forgets what lies elsewhere by now, and all of it when that is durable.
    pub(crate) fn forget_rescued(&mut self) {
        self.contents.rescue.take_if(|rescue| rescue.forget_moved(&self.core.ftl));
    }

    /// The number of waiting bands that may be erased, as far as the rescue is concerned.
    pub(crate) fn erasable_beside_rescue(&self) -> usize {
        self.contents.rescue.as_ref().map_or(usize::MAX, |rescue| rescue.erasable())
    }

    /// A band is erased.
    pub(crate) fn note_erase_beside_rescue(&mut self) {
        if let Some(rescue) = &mut self.contents.rescue {
            rescue.erase_begins();
        }
    }

    /// Nothing goes on any more unless bands are erased.
    pub(crate) fn rescue_lacks_room(&mut self) {
        if let Some(rescue) = &mut self.contents.rescue {
            rescue.release_erases();
        }
    }

    /// The sector that an address held when the card was started, while it is the newest version.
    pub(crate) fn rescued(&self, ppa: Ppa) -> Option<&Content> {
        let content = self.contents.rescue.as_ref()?.found_at(ppa);
        content.filter(|_| self.core.ftl.is_current(ppa))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::rescue::Rescue;
    use crate::tiny;
    use device::Time;
    use format::Role;
    use ftl::Lba;
    use ftl::recover::Rescued;

    #[test]
    fn what_was_found_holds_erases_back_until_it_is_durable_elsewhere_and_counts_until_it_is_written_over() {
        let mut card = tiny::card();
        tiny::submit(&mut card, Time::ZERO, 0, 4);
        let now = tiny::rest(&mut card, Time::ZERO);
        let ppa = card.core.ftl.lookup(Lba(0)).unwrap();
        let payload = vec![9; tiny::PAYLOAD_BYTES].into();
        let found = vec![Rescued { index: 0, ppa, role: Role::Data, version: 1, payload }];
        assert_eq!(card.erasable_beside_rescue(), usize::MAX);
        card.contents.rescue = Rescue::of(found, 3);
        assert_eq!(card.rescued(ppa).map(|content| content.payload[0]), Some(9));
        assert!(card.rescued(Ppa(ppa.0 + 1)).is_none());
        // Those that held nothing may be erased, one after the other.
        for left in [3, 2, 1, 0, 0] {
            assert_eq!(card.erasable_beside_rescue(), left);
            card.note_erase_beside_rescue();
        }
        let mut without_room = card.clone();
        without_room.rescue_lacks_room();
        assert!(without_room.is_rescuing() && without_room.erasable_beside_rescue() == usize::MAX);
        tiny::submit(&mut card, now, 0, 4);
        while card.core.ftl.lookup(Lba(0)) == Some(ppa) {
            tiny::step(&mut card);
        }
        assert!(card.rescued(ppa).is_none());
        assert!(card.is_rescuing() && card.erasable_beside_rescue() == 0, "it is not durable yet");
        tiny::rest(&mut card, now);
        card.forget_rescued();
        assert!(!card.is_rescuing() && card.erasable_beside_rescue() == usize::MAX);
    }
}
