//! Clients come and go.

use crate::model::{Pace, Rig, acts, any_kind, any_pace};
use proptest::prelude::*;
use session::{ClientId, Request};
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_client_that_goes_takes_no_other_clients_request_with_it(
        acts in acts(any_kind(), 512, 16),
        leaves in proptest::collection::btree_set(0..60usize, 0..6),
        pace in any_pace(),
        seed in any::<u64>(),
    ) {
        let mut rig = Rig::new(pace, seed);
        let mut clients = [rig.session.connect(), rig.session.connect(), rig.session.connect()];
        let mut all: BTreeSet<ClientId> = clients.into();
        let (mut gone, mut due) = (BTreeSet::new(), BTreeSet::new());
        for (at, act) in acts.iter().enumerate() {
            let tag = at as u64;
            rig.submit(clients[act.client], &act.request(tag, &act.bytes(tag)));
            due.insert((clients[act.client], tag));
            (0..act.steps).for_each(|_| { rig.step(); });
            if leaves.contains(&at) {
                let leaver = clients[act.client];
                let replied: BTreeSet<u64> = rig.replies.iter().map(|reply| reply.tag).collect();
                due.retain(|(client, tag)| *client != leaver || replied.contains(tag));
                rig.session.disconnect(leaver);
                gone.insert(leaver);
                clients[act.client] = rig.session.connect();
                prop_assert!(all.insert(clients[act.client]), "an id was given twice");
            }
        }
        rig.settle();
        let replied: BTreeSet<(ClientId, u64)> = rig.replies.iter().map(|reply| (reply.client, reply.tag)).collect();
        prop_assert_eq!(replied, due);
        // Requests that a client has submitted before it went are carried out.
        prop_assert_eq!(rig.model.finished as usize, acts.len());
        prop_assert_eq!(rig.session.clients(), 3);
    }
}

#[test]
fn a_write_of_a_client_that_is_gone_takes_effect() {
    let mut rig = Rig::new(Pace::InOrder, 1);
    let client = rig.session.connect();
    rig.submit(client, &Request::write(0, 100, &[9; 50]));
    rig.session.disconnect(client);
    rig.settle();
    assert!(rig.replies.is_empty());
    assert_eq!(rig.model.bytes[99..151], [&[0xee][..], &[9; 50], &[0xee]].concat());
}

#[test]
#[should_panic(expected = "not connected")]
fn a_client_that_is_gone_can_not_submit() {
    let mut rig = Rig::new(Pace::AtOnce, 1);
    let client = rig.session.connect();
    rig.session.disconnect(client);
    rig.submit(client, &Request::flush(0));
}
