//! A checkpoint is the map as it was when it was begun, whatever is written while it is.

use crate::common::{Card, PLAIN};
use device::Rng;
use format::Checkpoint;
use ftl::recover::BAND_KNOWN;
use ftl::{BandId, BandState, Ftl, Lba, Persistence, StreamId};
use std::collections::{BTreeMap, BTreeSet};

const PAYLOAD: usize = 128;
const WRITTEN: Persistence = Persistence { payload_bytes: PAYLOAD as u32, cell_rows: 1, checkpoint_every_bands: 8 };
const CARD: Card = Card {
    bands: 64,
    dies: 4,
    width: 4,
    parity_units: 1,
    pages_per_block: 16,
    u: 0.5,
    persistence: Some(WRITTEN),
    ..PLAIN
};
/// Stripes of 3 sectors of data, 16 a band; 8 entries in a sector of the summary: 14 stripes take data.
const BAND_SECTORS: u64 = 14 * 3;

fn map_of(ftl: &Ftl) -> Vec<u32> {
    let entries = ftl.config().map_entries() as u32;
    (0..entries).map(|entry| ftl.lookup(Lba(entry)).map_or(u32::MAX, |ppa| ppa.0)).collect()
}

/// Bands of whose contents the map tells all: they are full, to their ends, and hold no checkpoint.
fn known_bands(ftl: &Ftl) -> Vec<bool> {
    let is_known = |band| {
        let is_full = matches!(ftl.band_state(band), BandState::Closed | BandState::Victim | BandState::Stale);
        is_full && ftl.has_summary(band) && ftl.opening(band).stream != StreamId::Checkpoint as u8
    };
    (0..ftl.bands()).map(BandId).map(is_known).collect()
}

/// Writes a checkpoint to its end, with other work between two parts; what its parts say together.
fn take(ftl: &mut Ftl, version: u64, owed: &[u32], mut between: impl FnMut(&mut Ftl, u32)) -> Checkpoint {
    ftl.begin_checkpoint(version, owed, PAYLOAD);
    let mut parts = BTreeMap::new();
    for step in 0.. {
        match ftl.next_part() {
            Some((part, payload, _)) => {
                assert_eq!(payload.len(), PAYLOAD);
                assert_eq!(parts.insert(part, payload), None, "part {part} comes once");
                assert!(!parts.contains_key(&0) || part == 0, "part 0 comes last");
            }
            None => ftl.settle_now(),
        }
        between(ftl, step);
        if ftl.finish_checkpoint() {
            break;
        }
    }
    assert!(!ftl.writes_checkpoint() && !ftl.finish_checkpoint());
    assert!(parts.keys().copied().eq(0..parts.len() as u32));
    Checkpoint::decode(&parts.into_values().flatten().collect::<Vec<u8>>()).unwrap()
}

fn used(seed: u64) -> (Ftl, Rng) {
    let mut ftl = CARD.empty();
    let mut rng = Rng::stream(seed, "checkpoints");
    for _ in 0..3 * ftl.user_sectors() {
        work(&mut ftl, &mut rng);
    }
    (ftl, rng)
}

/// One write or trim.
fn work(ftl: &mut Ftl, rng: &mut Rng) {
    let lba = Lba(rng.below(ftl.user_sectors()) as u32);
    if rng.below(8) == 0 { ftl.trim(lba) } else { ftl.write_now(lba).unwrap() }
}

#[test]
fn a_checkpoint_is_the_map_of_the_moment_when_it_was_begun() {
    for seed in 0..4 {
        let (mut ftl, mut rng) = used(seed);
        // Nothing, little or much is written between two parts; the second checkpoint knows bands of the first.
        for (version, work_between) in [(1_000, 0), (2_000, 1), (3_000, 7)] {
            let map = map_of(&ftl);
            let sequence = ftl.last_band_sequence();
            let known = known_bands(&ftl);
            let records: Vec<(u64, u32)> =
                (0..ftl.bands()).map(BandId).map(|band| (ftl.opening(band).sequence, ftl.band_cycles(band))).collect();
            let in_use = |band: &u32| !known[*band as usize] && ftl.band_state(BandId(*band)) != BandState::Free;
            let open = (0..ftl.bands()).filter(in_use).map(|band| ftl.opening(BandId(band)).sequence);
            let replay_from = open.min().unwrap_or(sequence + 1);
            let checkpoint =
                take(&mut ftl, version, &[0, 1], |ftl, _| (0..work_between).for_each(|_| work(ftl, &mut rng)));
            assert!(checkpoint.map == map, "seed {seed} version {version}");
            assert_eq!(checkpoint.owed_segments, [0, 1]);
            let states: Vec<bool> = checkpoint.bands.iter().map(|record| record.state == BAND_KNOWN).collect();
            assert_eq!(states, known);
            assert!(states.contains(&true));
            assert!(checkpoint.bands.iter().map(|record| (record.sequence, record.cycles)).eq(records));
            let head = checkpoint.head;
            assert_eq!((head.id, head.version_start, head.next_version), (version, version, version + 1));
            assert_eq!((head.next_band_sequence, head.replay_from), (sequence + 1, replay_from));
            ftl.check().unwrap();
        }
    }
}

#[test]
fn a_band_that_was_abandoned_and_one_that_is_open_are_not_known_to_a_checkpoint() {
    let (mut ftl, _) = used(9);
    let open = ftl.open_band_of(StreamId::Host).unwrap();
    ftl.abandon_band(StreamId::Host);
    ftl.settle_now();
    assert_eq!(ftl.band_state(open), BandState::Closed);
    let expected = known_bands(&ftl);
    assert!(!expected[open.0 as usize]);
    let checkpoint = take(&mut ftl, 1_000, &[], |_, _| {});
    assert_eq!(checkpoint.bands[open.0 as usize].state, 0);
    assert_eq!(checkpoint.head.replay_from, ftl.opening(open).sequence.min(checkpoint.head.replay_from));
}

#[test]
fn a_head_comes_when_all_that_the_map_points_to_is_on_flash() {
    let (mut ftl, _) = used(1);
    ftl.settle_now();
    // This is a sector of the host, in its buffer.
    ftl.write(Lba(3));
    ftl.begin_checkpoint(1_000, &[], PAYLOAD);
    let parts = Checkpoint::sectors(ftl.config().map_entries() as u32, CARD.bands, 0, PAYLOAD as u32);
    let mut sealed = Vec::new();
    for part in 1..parts {
        assert_eq!(ftl.next_part().unwrap().0, part);
        sealed.extend(std::iter::from_fn(|| ftl.pop_sealed()));
    }
    sealed.extend(std::iter::from_fn(|| ftl.pop_sealed()));
    assert_eq!(ftl.next_part(), None);
    // The stripes in flight end one after the other, in any order.
    for (left, stripe) in (0..sealed.len()).rev().zip(sealed) {
        assert_eq!(ftl.next_part(), None, "{left} stripes are under way");
        ftl.stripe_durable(stripe.stream, stripe.sequence);
    }
    assert!(!ftl.finish_checkpoint());
    assert_eq!(ftl.next_part().unwrap().0, 0);
    assert_eq!(ftl.next_part(), None);
    assert!(!ftl.finish_checkpoint());
    while let Some(stripe) = ftl.pop_sealed() {
        assert!(!ftl.finish_checkpoint());
        ftl.stripe_durable(stripe.stream, stripe.sequence);
    }
    assert!(ftl.finish_checkpoint());
}

#[test]
fn bands_of_a_checkpoint_are_erased_when_the_next_one_is_complete() {
    let (mut ftl, _) = used(2);
    let of_checkpoints = |ftl: &Ftl| -> Vec<BandId> {
        let is_one = |band: &BandId| {
            ftl.opening(*band).stream == StreamId::Checkpoint as u8 && ftl.band_state(*band) != BandState::Free
        };
        (0..ftl.bands()).map(BandId).filter(is_one).collect()
    };
    take(&mut ftl, 1_000, &[], |_, _| {});
    ftl.settle_now();
    let first = of_checkpoints(&ftl);
    let parts = u64::from(Checkpoint::sectors(ftl.config().map_entries() as u32, CARD.bands, 0, PAYLOAD as u32));
    assert_eq!(first.len() as u64, parts.div_ceil(BAND_SECTORS));
    let metadata = ftl.counters().metadata_sectors;
    take(&mut ftl, 2_000, &[], |ftl, _| assert!(first.iter().all(|band| of_checkpoints(ftl).contains(band))));
    ftl.settle_now();
    let second = of_checkpoints(&ftl);
    assert!(second.len() == first.len() && first.iter().all(|band| !second.contains(band)));
    // The parts, and the summary of each band that they fill.
    let filled = parts / BAND_SECTORS;
    assert_eq!(ftl.counters().metadata_sectors - metadata, parts + filled * 2 * 3);
    // One that is given up leaves the one before, and nothing else.
    ftl.begin_checkpoint(3_000, &[], PAYLOAD);
    (0..5).for_each(|_| drop(ftl.next_part()));
    assert!(of_checkpoints(&ftl).len() > second.len());
    ftl.give_up_checkpoint();
    ftl.settle_now();
    assert_eq!(of_checkpoints(&ftl), second);
    assert!(!ftl.writes_checkpoint());
}

#[test]
fn a_checkpoint_is_due_by_the_bands_that_were_opened_since_the_last_one_was_begun() {
    let (mut ftl, _) = used(3);
    take(&mut ftl, 1_000, &[], |_, _| {});
    assert_eq!(ftl.bands_since_checkpoint(), 0);
    let before = ftl.last_band_sequence();
    let mut rng = Rng::stream(3, "due");
    (0..500).for_each(|_| work(&mut ftl, &mut rng));
    assert!(ftl.bands_since_checkpoint() > 3);
    assert_eq!(ftl.bands_since_checkpoint(), ftl.last_band_sequence() - before);
}

#[test]
fn space_that_collection_can_use_leaves_room_for_two_checkpoints() {
    const CARD: Card = Card { bands: 80, ..self::CARD };
    // Bands that are kept, of cards with so many sectors for the host.
    let overhead = CARD.empty().config().overhead_bands();
    let whole = f64::from((CARD.bands - overhead) * CARD.band_sectors());
    let kept = |user_sectors: u32, persistence: Option<Persistence>| {
        let ftl = Card { u: (f64::from(user_sectors) + 0.5) / whole, persistence, ..CARD }.empty();
        assert_eq!(ftl.user_sectors(), u64::from(user_sectors));
        // A band that has no summary holds 48.
        let band = if persistence.is_some() { BAND_SECTORS } else { 48 };
        let usable = ftl.config().resting_sectors(band) / (1.0 - ftl.effective_spare_factor());
        let bands = (ftl.data_sectors() as f64 - usable) / band as f64 - f64::from(overhead);
        (bands.round() as u32, ftl.config().map_entries() as u32)
    };
    let mut seen = BTreeSet::new();
    for user_sectors in 300..2_300 {
        let (bands, entries) = kept(user_sectors, Some(WRITTEN));
        let segments = entries - user_sectors;
        let parts = (80 + 4 * entries + 16 * CARD.bands + 4 * segments).div_ceil(PAYLOAD as u32);
        // Beside the parts, stripes of the body and of the head that are filled up, of four units.
        assert_eq!(bands, 2 * (parts + 2 * 4).div_ceil(BAND_SECTORS as u32), "{user_sectors} sectors");
        seen.insert((bands, segments));
    }
    assert!(seen.len() >= 3, "{seen:?}");
    assert_eq!(kept(1_000, Some(Persistence { checkpoint_every_bands: 1, ..WRITTEN })).0, 4);
    assert_eq!(kept(1_000, Some(Persistence { checkpoint_every_bands: 0, ..WRITTEN })).0, 0);
    assert_eq!(kept(1_000, None).0, 0);
}

#[test]
fn a_checkpoint_in_a_band_that_is_to_be_emptied_is_flawed_until_the_next_one_is_complete() {
    let (mut ftl, _) = used(4);
    take(&mut ftl, 1_000, &[], |_, _| {});
    assert!(!ftl.checkpoint_is_flawed());
    let is_one = |band: &BandId| ftl.opening(*band).stream == StreamId::Checkpoint as u8;
    let band = (0..ftl.bands()).map(BandId).find(is_one).unwrap();
    ftl.evacuate(band);
    assert!(ftl.checkpoint_is_flawed() && !ftl.must_empty());
    take(&mut ftl, 2_000, &[], |ftl, _| assert!(ftl.checkpoint_is_flawed()));
    assert!(!ftl.checkpoint_is_flawed());
}

#[test]
#[should_panic = "payloads of 82 bytes"]
fn an_entry_of_the_map_never_lies_in_two_parts() {
    CARD.empty().begin_checkpoint(1_000, &[], 82);
}

#[test]
#[should_panic = "payloads of 76 bytes"]
fn a_payload_has_room_for_the_head() {
    CARD.empty().begin_checkpoint(1_000, &[], 76);
}
