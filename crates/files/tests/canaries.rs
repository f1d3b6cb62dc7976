//! Bugs that are planted one at a time: the test that is to find each fails.

#[path = "it/card.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod card;
#[path = "it/common/mod.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod common;
#[path = "it/fallen.rs"]
mod fallen;

use files::canary::{Canary, plant};
use std::panic::{catch_unwind, set_hook, take_hook};

/// The test that is to find a planted bug.
fn finds(canary: Canary) -> fn() {
    match canary {
        Canary::FallenIgnored => {
            fallen::a_place_that_fell_back_in_all_modules_is_an_error_or_a_refusal_and_never_an_older_version
        }
        Canary::SparesReadAgain => card::what_was_flushed_is_there_after_a_cut_at_any_request_and_without_any_module,
    }
}

#[test]
fn every_planted_bug_is_found() {
    for canary in Canary::ALL {
        plant(Some(canary));
        // It is meant to fail, and says why below.
        set_hook(Box::new(|_| {}));
        let found = catch_unwind(finds(canary));
        drop(take_hook());
        plant(None);
        let why = found.expect_err(canary.name());
        println!("{}: {}", canary.name(), why.downcast_ref::<String>().expect("an assertion with a text"));
    }
}
