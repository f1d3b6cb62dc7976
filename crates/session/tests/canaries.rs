//! Bugs of the volume table that are planted one at a time: the lives that are to find each fail.

#[path = "it/volumes.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod volumes;

use session::canary::{Canary, plant};
use std::panic::{catch_unwind, set_hook, take_hook};

#[test]
fn every_planted_bug_is_found() {
    for canary in Canary::OF_VOLUMES {
        plant(Some(canary));
        // They are meant to fail, and say why below.
        set_hook(Box::new(|_| {}));
        let found = catch_unwind(volumes::volumes_keep_what_was_flushed_and_never_read_each_others);
        drop(take_hook());
        plant(None);
        let why = found.expect_err(canary.name());
        println!("{}: {:?}", canary.name(), why.downcast_ref::<String>());
    }
}
