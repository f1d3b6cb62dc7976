//! The queue has a limit, and clients that wait for room get it in turn.

use crate::model::{LIMITS, Pace, Rig};
use proptest::prelude::*;
use session::{ClientId, Request};
use std::collections::VecDeque;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_queue_is_bounded_and_clients_are_admitted_in_the_order_in_which_they_came(
        turns in proptest::collection::vec((0..4usize, 0..3u32), 50..300), seed in any::<u64>(),
    ) {
        let mut rig = Rig::new(Pace::InAnyOrder, seed);
        let clients: Vec<ClientId> = (0..4).map(|_| rig.session.connect()).collect();
        let mut line: VecDeque<ClientId> = VecDeque::new();
        let mut tag = 0;
        for (client, steps) in turns {
            let client = clients[client];
            if rig.session.admits(client) {
                prop_assert!(line.is_empty() || line.front() == Some(&client));
                line.retain(|waiter| *waiter != client);
                rig.session.submit(&mut rig.model, client, &Request::read(tag, 0, 512), rig.now, &mut rig.replies);
                tag += 1;
            } else {
                rig.session.wait_for_room(client);
                if !line.contains(&client) {
                    line.push_back(client);
                }
            }
            prop_assert!(rig.session.waiting() <= LIMITS.max_waiting);
            let has_room = rig.session.waiting() < LIMITS.max_waiting;
            prop_assert_eq!(rig.session.next_waiter(), line.front().copied().filter(|_| has_room));
            (0..steps).for_each(|_| { rig.step(); });
        }
        rig.settle();
        prop_assert_eq!(rig.replies.len() as u64, tag);
    }
}

#[test]
fn a_waiter_that_goes_holds_up_nobody() {
    let mut rig = Rig::new(Pace::InOrder, 1);
    let (first, second) = (rig.session.connect(), rig.session.connect());
    let most = u64::from(LIMITS.max_in_flight) + LIMITS.max_waiting as u64;
    (0..most).for_each(|tag| rig.submit(first, &Request::read(tag, 0, 512)));
    assert!(!rig.session.admits(first) && !rig.session.admits(second));
    rig.session.wait_for_room(first);
    rig.session.wait_for_room(second);
    assert_eq!(rig.session.next_waiter(), None);
    rig.session.disconnect(first);
    rig.step();
    assert_eq!(rig.session.next_waiter(), Some(second));
    assert!(rig.session.admits(second));
}

#[test]
fn requests_of_many_pieces_take_one_place_in_the_queue() {
    let mut rig = Rig::new(Pace::InOrder, 1);
    let client = rig.session.connect();
    for tag in 0..4 {
        rig.submit(client, &Request::write_zeroes(tag, 0, 64 * 4096, true));
    }
    assert_eq!(rig.session.waiting(), 4);
    rig.settle();
    assert_eq!((rig.replies.len(), rig.model.submitted.len()), (4, 4 * 32));
}
