//! Lives of an array that controllers share: none goes wrong, and they meet what they are meant to meet.

use torture::campaign::Limits;
use torture::takeovers::Campaign;

const CAMPAIGN: Campaign = Campaign { seed: 1, flaw: None };

fn limits(lives: u64, threads: usize) -> Limits<'static> {
    Limits { first: 0, lives, until: None, threads, cancelled: &|| false, progress: &|_| {} }
}

#[test]
fn no_life_goes_wrong_and_each_event_is_met() {
    let (tally, found) = CAMPAIGN.run(&limits(400, 0));
    assert_eq!(found, None);
    assert_eq!(tally.lives, 400);
    for (what, count) in tally.met.counts() {
        assert!(count > 0, "{what}");
    }
}

#[test]
fn the_same_lives_are_lived_again_on_any_number_of_threads() {
    assert_eq!(CAMPAIGN.run(&limits(40, 1)), CAMPAIGN.run(&limits(40, 3)));
}
