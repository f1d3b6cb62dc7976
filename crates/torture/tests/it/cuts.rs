//! Every cut of short scripts, on the tiny cards. `SITUATION=name cargo test -p torture --test it cuts -- --ignored` takes
//! one situation.

use crate::common::{Outcome, jobs, run};
use std::collections::BTreeSet;
use torture::situations;

/// Least cuts of a run in all.
const LEAST_CUTS: u64 = 2_000_000;

#[test]
#[ignore = "proof: two million cuts"]
fn no_cut_makes_a_card_lie() {
    let jobs = jobs();
    let Outcome { cuts, sequences, failures } = run(&jobs);
    let situations: BTreeSet<&str> = situations::all().map(|situation| situation.name).collect();
    println!("{} situations, {} scripts, {sequences} sequences of requests", situations.len(), jobs.len());
    println!("{} points, {} of them with outcomes that were drawn", cuts.points, cuts.sampled_points);
    println!("{} outcomes, {} more left nothing that was new", cuts.outcomes, cuts.same);
    println!("{} nested cuts, {} modules lost after them", cuts.nested, cuts.losses);
    println!("{} cuts", cuts.total());
    for failure in &failures {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} scripts failed", failures.len());
    if std::env::var("SITUATION").is_err() {
        assert!(situations.len() >= 50);
        assert!(cuts.total() >= LEAST_CUTS, "{} cuts", cuts.total());
    }
}

#[test]
fn situations_have_names_of_their_own() {
    let names: BTreeSet<&str> = situations::all().map(|situation| situation.name).collect();
    assert_eq!(names.len(), situations::all().count());
    let reasons: BTreeSet<&str> = situations::all().map(|situation| situation.because).collect();
    assert_eq!(reasons.len(), situations::all().count());
}
