//! Each request gets one reply.

use crate::model::{LIMITS, Pace, Rig, SIZE_BYTES, acts, any_kind, any_pace};
use device::SECTOR_BYTES;
use proptest::prelude::*;
use session::{Condition, ReplyError, Request};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_request_is_replied_to_once_and_by_its_own_tag(
        acts in acts(any_kind(), 512, 16), pace in any_pace(), seed in any::<u64>(),
    ) {
        let mut rig = Rig::new(pace, seed);
        let clients = [rig.session.connect(), rig.session.connect(), rig.session.connect()];
        for (tag, act) in (0u64..).zip(&acts) {
            rig.submit(clients[act.client], &act.request(tag, &act.bytes(tag)));
            (0..act.steps).for_each(|_| { rig.step(); });
        }
        rig.settle();
        prop_assert_eq!(rig.replies.len(), acts.len());
        prop_assert_eq!(rig.model.finished as usize, acts.len());
        for (tag, act) in (0u64..).zip(&acts) {
            let reply = rig.replies.iter().find(|reply| reply.tag == tag).expect("it has a reply");
            prop_assert_eq!(reply.client, clients[act.client]);
            prop_assert_eq!(reply.result, Ok(()));
            let request = act.request(tag, &[]);
            prop_assert_eq!(reply.operation, request.operation);
            let is_read = request.operation == device::Operation::Read;
            prop_assert_eq!(reply.data.len(), if is_read { act.len_bytes as usize } else { 0 });
        }
    }

    #[test]
    fn a_device_that_stops_leaves_no_request_without_a_reply(
        acts in acts(any_kind(), 512, 16), seed in any::<u64>(), is_halt in any::<bool>(),
    ) {
        let mut rig = Rig::new(Pace::InAnyOrder, seed);
        let client = rig.session.connect();
        for (tag, act) in (0u64..).zip(&acts) {
            rig.submit(client, &act.request(tag, &act.bytes(tag)));
        }
        let error = if is_halt { ReplyError::Halted } else { ReplyError::NoPower };
        rig.model.condition = if is_halt { Condition::Halted } else { Condition::NoPower };
        if !is_halt {
            rig.session.give_up(&mut rig.model, error, &mut rig.replies);
        }
        while rig.session.step(&mut rig.model, rig.now, &mut rig.replies) {}
        rig.submit(client, &Request::flush(1_000));
        prop_assert!(rig.session.is_idle());
        let mut tags: Vec<u64> = rig.replies.iter().map(|reply| reply.tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..acts.len() as u64).chain([1_000]).collect::<Vec<u64>>());
        prop_assert_eq!(rig.replies.last().map(|reply| reply.result), Some(Err(error)));
    }
}

#[test]
fn what_lies_beyond_the_end_is_refused_at_once() {
    let mut rig = Rig::new(Pace::InOrder, 1);
    let client = rig.session.connect();
    for (tag, offset, len) in [(0, SIZE_BYTES, 1), (1, SIZE_BYTES - 511, 512), (2, u64::MAX, 512)] {
        rig.submit(client, &Request::read(tag, offset, len));
        rig.submit(client, &Request::trim(tag, offset, len));
    }
    assert_eq!(rig.replies.len(), 6);
    assert!(rig.replies.iter().all(|reply| reply.result == Err(ReplyError::OutOfRange)));
    assert!(rig.model.submitted.is_empty());
}

#[test]
fn nothing_reaches_a_device_before_it_is_ready_and_all_of_it_does_then() {
    let mut rig = Rig::new(Pace::InOrder, 1);
    rig.model.is_ready = false;
    let client = rig.session.connect();
    let bytes = vec![7; SECTOR_BYTES as usize];
    (0..LIMITS.max_waiting as u64).for_each(|tag| rig.submit(client, &Request::write(tag, 0, &bytes)));
    assert!(!rig.step() && rig.model.submitted.is_empty());
    rig.model.is_ready = true;
    rig.settle();
    assert_eq!(rig.replies.len(), LIMITS.max_waiting);
    // A device that starts again is waited for again.
    rig.session.starts();
    rig.model.is_ready = false;
    rig.submit(client, &Request::flush(99));
    assert!(!rig.step() && !rig.is_answered(99));
}
