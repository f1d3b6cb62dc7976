//! Every cut of short scripts.

use crate::proof::fake::{Bug, Fake};
use crate::proof::lives::BOUNDS;
use torture::sim::exhaustive::{CutFailure, Cuts, Limits, cut_everywhere, script, sequences};
use torture::sim::{Ask, Bench, Durability, HostStep, Lba, parallel};

const SECTORS: [Lba; 3] = [Lba(0), Lba(1), Lba(2)];

/// A card on which each sector has a durable version.
fn written(durability: Durability, bug: Option<Bug>) -> Bench<Fake> {
    let mut bench = Bench::new(Fake::new(1, 4, durability, bug), BOUNDS);
    let steps = script(&[Ask::Write { lba: Lba(0), count: 4, fua: false }, Ask::Flush], 1);
    let mut player = torture::sim::player::Player::new(&steps);
    while player.play(&mut bench).unwrap() != torture::sim::player::Played::Over {}
    bench
}

fn all_sequences(
    longest: usize,
    depth: u32,
    durability: Durability,
    bug: Option<Bug>,
) -> Result<Cuts, Box<CutFailure>> {
    let start = written(durability, bug);
    let sequences = sequences(&SECTORS, longest);
    let limits = Limits { nested: 2, steps_after: 8, ..Limits::default() };
    let results = parallel::run(
        parallel::Parallel { threads: 0, cancel: &|| false },
        0,
        sequences.len() as u64,
        |i| cut_everywhere(&start, &script(&sequences[i as usize], depth), &limits),
        |result| result.is_err(),
        |_| {},
    );
    let mut cuts = Cuts::default();
    for (_, result) in results {
        cuts.add(result?);
    }
    Ok(cuts)
}

#[test]
fn a_correct_card_passes_every_cut_of_every_sequence_of_three_requests() {
    for durability in [Durability::OnAck, Durability::OnFlush] {
        for depth in [1, 3] {
            let cuts = all_sequences(3, depth, durability, None).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(cuts.points > 10_000 && cuts.outcomes >= cuts.points && cuts.nested > 10_000, "{cuts:?}");
            assert_eq!(cuts.sampled_points, 0);
        }
    }
}

#[test]
fn wrong_cards_fail_at_some_cut_of_a_short_sequence() {
    for (bug, durability) in [
        (Bug::FlushIgnored, Durability::OnFlush),
        (Bug::FuaIgnored, Durability::OnFlush),
        (Bug::SequenceIgnored, Durability::OnAck),
        (Bug::TrimForgotten, Durability::OnAck),
        (Bug::ZeroesForgotten, Durability::OnAck),
        (Bug::TornTrusted, Durability::OnFlush),
        (Bug::BufferLost, Durability::OnAck),
        (Bug::MirrorsDiffer, Durability::OnFlush),
        (Bug::RecoveryNotRestartable, Durability::OnAck),
        (Bug::RecoveryNotIdempotent, Durability::OnAck),
    ] {
        assert!(all_sequences(2, 1, durability, Some(bug)).is_err(), "{bug:?}");
    }
}

#[test]
fn a_point_with_more_outcomes_than_the_limit_is_sampled_and_counted() {
    let start = written(Durability::OnFlush, None);
    let steps: Vec<HostStep> = script(&[Ask::Write { lba: Lba(0), count: 3, fua: true }], 1);
    let limits = Limits { outcomes: 10, ..Limits::default() };
    let cuts = cut_everywhere(&start, &steps, &limits).unwrap();
    assert!(cuts.sampled_points > 0, "{cuts:?}");
}
