//! Writes to parts of a sector take effect in the order of their submission.

use crate::model::{Kind, Rig, acts, any_pace};
use device::SECTOR_BYTES;
use proptest::prelude::*;

fn any_change() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => Just(Kind::Write),
        1 => Just(Kind::Trim),
        1 => Just(Kind::Zeroes { keeps_room: false }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn overlapping_writes_to_parts_of_sectors_keep_their_order(
        acts in acts(any_change(), 512, 4), pace in any_pace(), seed in any::<u64>(),
    ) {
        let mut rig = Rig::new(pace, seed);
        let clients = [rig.session.connect(), rig.session.connect(), rig.session.connect()];
        let mut plain = rig.model.bytes.clone();
        for (tag, act) in (0u64..).zip(&acts) {
            let mut act = act.clone();
            // Two writes of whole sectors may take effect in either order: each write here covers a part of one.
            let is_whole = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
            if is_whole(act.offset_bytes) && is_whole(act.offset_bytes + u64::from(act.len_bytes)) {
                act.len_bytes -= 512;
            }
            rig.submit(clients[act.client], &act.request(tag, &act.bytes(tag)));
            act.apply(tag, &mut plain);
            (0..act.steps).for_each(|_| { rig.step(); });
        }
        rig.settle();
        prop_assert!(rig.model.bytes == plain);
    }
}
