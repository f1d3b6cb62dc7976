//! Failing cases become small and can be run again.

use crate::proof::bugs::first_failure;
use crate::proof::fake::Bug;
use crate::proof::lives::run;
use torture::sim::host;
use torture::sim::shrink::{Reproducer, shrink};

#[test]
fn failing_lives_shrink_to_a_few_requests_that_fail_again() {
    for bug in [
        Bug::FlushIgnored,
        Bug::FuaIgnored,
        Bug::SequenceIgnored,
        Bug::TrimForgotten,
        Bug::BufferLost,
        Bug::StaleTrusted,
        Bug::ShortWrite,
        Bug::ErrorForgotten,
        Bug::RecoveryNotRestartable,
    ] {
        let (case, life) = first_failure(bug).unwrap();
        let shrunk = shrink(&case, 2_000, |case| run(case, Some(bug))).unwrap();
        assert!(shrunk.runs <= 2_000);
        assert!(host::asks(&shrunk.case.steps) <= 5, "{bug:?}: {:?}", shrunk.case);
        assert!(shrunk.case.plan.events.len() <= 2, "{bug:?}: {:?}", shrunk.case.plan);
        assert_eq!(Some(shrunk.failure.kind()), life.failure.map(|f| f.kind()));

        let kept = Reproducer::from_json(&shrunk.reproducer().to_json()).unwrap();
        assert_eq!(kept, shrunk.reproducer());
        assert_eq!(run(&kept.case, Some(bug)).failure, Some(shrunk.failure), "{bug:?}");
        assert!(run(&kept.case, None).failure.is_none(), "{bug:?}");
    }
}

#[test]
fn a_case_that_does_not_fail_does_not_shrink() {
    let (case, _) = first_failure(Bug::BufferLost).unwrap();
    assert!(shrink(&case, 100, |case| run(case, None)).is_none());
}

#[test]
fn the_number_of_runs_is_bounded() {
    let (case, _) = first_failure(Bug::FlushIgnored).unwrap();
    let mut runs = 0;
    let shrunk = shrink(&case, 7, |case| {
        runs += 1;
        run(case, Some(Bug::FlushIgnored))
    });
    assert_eq!((runs, shrunk.unwrap().runs), (7, 7));
}

#[test]
fn unknown_keys_of_a_reproducer_are_errors() {
    let (case, _) = first_failure(Bug::BufferLost).unwrap();
    let json = Reproducer { failure: "older version".into(), case }.to_json();
    assert!(Reproducer::from_json(&json.replacen("\"seed\"", "\"sede\"", 1)).is_err());
    assert!(Reproducer::from_json(&json).is_ok());
}
