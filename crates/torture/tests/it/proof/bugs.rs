//! Each wrong card is found out.

use crate::proof::fake::{Bug, Fake};
use crate::proof::lives::{SECTORS, case, kinds, run};
use torture::sim::{Case, Contract, CutOutcome, Durability, Event, FaultKind, FaultSpec, When};

/// The first life of a wrong card that fails.
pub fn first_failure(bug: Bug) -> Option<(Case, torture::sim::Life)> {
    (0..100).find_map(|seed| {
        let mut case = case(seed, 1_000, kinds());
        let event = |at, kind, contract| Event { when: When::HostOp(at), fault: FaultSpec { kind, seed }, contract };
        match bug {
            Bug::ErrorForgotten => {
                case.plan.events = vec![event(100, FaultKind::DeadModule, None)];
                case.plan.events.extend((0..20).map(|i| event(300 + i, FaultKind::LatentError, None)));
                case.plan.events.push(event(330, FaultKind::Cut(CutOutcome::Any), None));
            }
            Bug::FailedWriteReturns => {
                let eio = FaultKind::Host { error: torture::sim::plan::HostError::Eio, lasting: false };
                case.plan.events.extend((1..9).map(|i| event(100 * i, eio, Some(Contract::Error))));
            }
            _ => {}
        }
        let life = run(&case, Some(bug));
        life.failure.is_some().then_some((case, life))
    })
}

fn kind_of(bug: Bug) -> &'static str {
    first_failure(bug).and_then(|(_, life)| life.failure).map_or("nothing", |f| f.kind())
}

macro_rules! is_found_out {
    ($($name:ident: $bug:ident => $kinds:pat,)*) => {$(
        #[test]
        fn $name() {
            let kind = kind_of(Bug::$bug);
            assert!(matches!(kind, $kinds), "{kind}");
        }
    )*};
}

is_found_out! {
    a_skipped_flush_is_found_out: FlushIgnored => "older version",
    a_flush_that_covers_too_little_is_found_out: FlushCoversOne => "older version",
    fua_that_is_not_durable_is_found_out: FuaIgnored => "older version",
    ignored_sequence_numbers_are_found_out: SequenceIgnored => "older version",
    a_forgotten_trim_is_found_out: TrimForgotten => "older version",
    forgotten_zeroes_are_found_out: ZeroesForgotten => "older version",
    two_versions_mixed_in_one_sector_are_found_out: TornTrusted => "never written",
    another_sectors_data_is_found_out: NeighbourRelocated => "another sector's data" | "older version",
    a_lost_acknowledged_write_is_found_out: BufferLost => "older version",
    an_error_that_turns_into_old_data_is_found_out: ErrorForgotten => "older version" | "version came back",
    a_trusted_stale_module_is_found_out: StaleTrusted => "older version",
    a_recovery_that_goes_back_is_found_out: MirrorsDiffer => "older version" | "version came back",
    a_recovery_that_can_not_be_cut_is_found_out: RecoveryNotRestartable => "older version",
    a_recovery_that_is_not_idempotent_is_found_out: RecoveryNotIdempotent => "older version",
    an_early_erase_is_found_out: ErasedEarly => "older version" | "unexplained error",
    reads_past_the_write_buffer_are_found_out: BufferNotRead => "older version",
    a_card_without_rest_is_found_out: NeverRests => "no rest" | "stalled",
    a_lost_answer_is_found_out: AnswerLost => "lost request" | "stalled",
    an_error_without_a_fault_is_found_out: SpuriousError => "unexplained error",
    a_refusal_without_a_fault_is_found_out: SpuriousRefusal => "unexplained refusal",
    a_half_stored_write_is_found_out: ShortWrite => "older version",
    believed_bit_flips_are_found_out: FlipsBelieved => "never written",
    a_failed_write_that_supersedes_a_later_one_is_found_out: FailedWriteReturns => "older version",
}

#[test]
fn a_panic_is_a_failure_of_its_life() {
    let failing = (0..10).find_map(|seed| {
        let case = case(seed, 1_000, vec![]);
        let build = || Fake::new(seed, SECTORS, Durability::OnAck, Some(Bug::Panics));
        torture::sim::life::run_guarded(build, &case).failure
    });
    assert_eq!(failing.map(|f| f.to_string()), Some("panic: too long".into()));
}

#[test]
fn a_message_says_what_was_read_what_was_allowed_and_what_happened_to_the_sector() {
    let (_, life) = first_failure(Bug::BufferLost).unwrap();
    let message = life.failure.unwrap().to_string();
    for words in ["LBA ", "reads as", "allowed: ", "\n  version ", "acknowledged by", "durable"] {
        assert!(message.contains(words), "{message}");
    }
}
