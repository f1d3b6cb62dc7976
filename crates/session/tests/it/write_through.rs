//! Where writes go through, nothing that could be lost is seen.

use crate::model::{Pace, Rig, acts, any_kind, any_pace};
use device::{Operation, SECTOR_BYTES};
use proptest::prelude::*;
use session::Request;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn changes_are_durable_when_they_are_acknowledged_and_reads_wait_for_them(
        acts in acts(any_kind(), 512, 4), pace in any_pace(), seed in any::<u64>(),
    ) {
        let mut rig = Rig::new(pace, seed);
        rig.session.write_through();
        let clients = [rig.session.connect(), rig.session.connect(), rig.session.connect()];
        for (tag, act) in (0u64..).zip(&acts) {
            rig.submit(clients[act.client], &act.request(tag, &act.bytes(tag)));
            prop_assert!(!rig.model.reads_what_changes());
            for _ in 0..act.steps {
                rig.step();
                prop_assert!(!rig.model.reads_what_changes());
            }
        }
        while rig.step() {
            prop_assert!(!rig.model.reads_what_changes());
        }
        rig.settle();
        prop_assert_eq!(rig.replies.len(), acts.len());
        let changes = rig.model.submitted.iter().filter(|request| request.operation != Operation::Read);
        let mut changes = changes.filter(|request| request.operation != Operation::Flush);
        prop_assert!(changes.all(|request| request.fua));
    }
}

#[test]
fn a_read_waits_for_the_write_of_its_sector_and_only_there() {
    for goes_through in [false, true] {
        let mut rig = Rig::new(Pace::InOrder, 1);
        if goes_through {
            rig.session.write_through();
        }
        let client = rig.session.connect();
        let bytes = [7; SECTOR_BYTES as usize];
        rig.submit(client, &Request::write(1, 0, &bytes));
        rig.submit(client, &Request::read(2, 0, SECTOR_BYTES as u32));
        assert_eq!(rig.model.reads_what_changes(), !goes_through);
        assert_eq!(rig.session.waiting(), usize::from(goes_through));
        rig.settle();
        assert_eq!(rig.replies.iter().map(|reply| reply.tag).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(rig.replies[1].data, bytes);
        assert_eq!(rig.model.submitted[0].fua, goes_through);
    }
}
