//! Lives of cards that are divided over shards.

use torture::Kind;
use torture::campaign::{Campaign, Limits};

#[test]
fn no_fault_makes_a_card_of_shards_lie() {
    for beyond in [false, true] {
        let campaign = Campaign { seed: 3, cards: Kind::ALL.into(), operations: 600, beyond };
        let sharded = (0..1_400).filter(|number| campaign.trial(*number).case.shards > 1);
        for number in sharded {
            let life = campaign.trial(number).run();
            assert_eq!(life.failure, None, "life {number}, beyond: {beyond}");
        }
    }
}

/// Every shard has the same power and the same modules.
#[test]
fn lives_of_shards_are_the_same_each_time() {
    let campaign = Campaign { seed: 4, cards: vec![Kind::Logged], operations: 300, beyond: false };
    let trial = (0..).map(|number| campaign.trial(number)).find(|trial| trial.case.shards > 1).unwrap();
    assert_eq!(trial.run().trace, trial.run().trace);
    let quiet = Limits { first: 0, lives: 8, until: None, threads: 1, cancelled: &|| false, progress: &|_| {} };
    assert!(campaign.run(&quiet).1.is_none());
}
