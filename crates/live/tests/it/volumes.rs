//! Volumes of a live card: each is a disk of its own, and all share the card's room.

use crate::bytes::{Client, SIZE, a_while, is_as};
use crate::files;
use crate::shards::sharded;
use format::CardId;
use live::{Action, Live, ReplyError, Request, VolumeChange, VolumeError};

const MIB: u64 = 1 << 20;
const CARD: CardId = CardId([7; 16]);

fn divided(shards: u32, size_bytes: u64) -> Live {
    let mut live = sharded("tachion-400", shards, size_bytes);
    assert!(live.is_empty() && live.volumes().is_none());
    live.format_volumes(CARD).unwrap();
    live
}

/// The room of a card is that of its volumes and what is free.
fn adds_up(live: &Live) {
    let status = live.volumes().unwrap();
    let allocated: u64 = status.volumes.iter().map(|volume| volume.allocated_bytes).sum();
    let all = live.size_bytes() / status.extent_bytes * status.extent_bytes;
    assert!((all - 2 * status.extent_bytes..=all).contains(&(allocated + status.free_bytes)), "{status:?}");
}

#[test]
fn clients_of_several_volumes_read_what_they_wrote_whatever_the_others_do() {
    for shards in [1, 3] {
        let live = divided(shards, 3 * SIZE);
        let ids: Vec<u32> =
            ["a", "b"].iter().map(|name| live.create_volume(name, SIZE, [name.as_bytes()[0]; 16]).unwrap()).collect();
        for round in 0..2 {
            std::thread::scope(|scope| {
                for id in &ids {
                    let live = &live;
                    scope.spawn(move || {
                        let mut client = Client::of_volume(live, *id);
                        // The second round begins with what it has trimmed: extents go and come.
                        let mut plain = vec![0; SIZE as usize];
                        client.call(Request::trim(0, 0, SIZE as u32)).result.unwrap();
                        a_while(&mut client, &mut plain, u64::from(*id) + round, 2_000);
                        is_as(&mut client, &plain);
                    });
                }
            });
            adds_up(&live);
        }
    }
}

#[test]
fn requests_over_several_extents_and_beyond_the_end_are_answered_as_those_of_a_disk() {
    let live = divided(2, SIZE);
    let id = live.create_volume("a", 6 * MIB + 4096, [1; 16]).unwrap();
    let mut client = Client::of_volume(&live, id);
    assert_eq!(client.read(0, 6 * MIB as u32), vec![0; 6 * MIB as usize]);
    assert_eq!(live.volumes().unwrap().volumes[0].allocated_bytes, 0, "reads take no room");
    let bytes: Vec<u8> = (0..3 * MIB).map(|at| (at / 1000) as u8).collect();
    client.write(MIB + 100, &bytes, true);
    let mut expected = vec![0; 6 * MIB as usize];
    expected[MIB as usize + 100..][..bytes.len()].copy_from_slice(&bytes);
    assert!(client.read(0, 6 * MIB as u32) == expected);
    assert_eq!(live.volumes().unwrap().volumes[0].allocated_bytes, 4 * MIB);
    assert_eq!(client.port.extents(0, 6 * MIB + 4096, 9).first(), Some(&(MIB, false)));
    for (at, len) in [(6 * MIB + 4096, 1), (6 * MIB, 4097), (u64::MAX - 1, 4096)] {
        assert_eq!(client.call(Request::read(0, at, len)).result.unwrap_err(), ReplyError::OutOfRange);
    }
    // Whole extents are given back, the two at the edges stay.
    client.call(Request::trim(0, MIB + 100, 3 * MIB as u32)).result.unwrap();
    assert_eq!(live.volumes().unwrap().volumes[0].allocated_bytes, 2 * MIB);
    assert_eq!(client.read(2 * MIB, 2 * MIB as u32), vec![0; 2 * MIB as usize]);
    client.call(Request::write_zeroes(0, 4 * MIB + 8192, 4096, true)).result.unwrap();
    client.call(Request::write_zeroes(0, 5 * MIB, 4096, false)).result.unwrap();
    client.call(Request::flush(0)).result.unwrap();
    assert_eq!(live.volumes().unwrap().volumes[0].allocated_bytes, 2 * MIB, "zeroes in what has no place take no room");
    client.call(Request::write_zeroes(0, 5 * MIB, 4096, true)).result.unwrap();
    assert_eq!(live.volumes().unwrap().volumes[0].allocated_bytes, 3 * MIB);
}

#[test]
fn a_card_without_room_says_so_and_goes_on_with_what_it_has() {
    let live = divided(1, SIZE);
    let wide = live.create_volume("wide", 4 * SIZE, [1; 16]).unwrap();
    let mut client = Client::of_volume(&live, wide);
    let free = live.volumes().unwrap().free_bytes;
    for at in 0..free / MIB {
        client.write(at * MIB, &[at as u8 | 1; 4096], false);
    }
    let beyond = client.call(Request::write(0, free, &[1; 4096])).result;
    assert_eq!(beyond.unwrap_err(), ReplyError::NoSpace);
    // A write that has room for a part of it only is refused as a whole.
    let beyond = client.call(Request::write(0, free - MIB, &vec![2; 2 * MIB as usize])).result;
    assert_eq!(beyond.unwrap_err(), ReplyError::NoSpace);
    assert_eq!(client.read(free - MIB, 4096), vec![(free / MIB - 1) as u8 | 1; 4096]);
    client.write(0, &[9; 4096], true);
    client.call(Request::trim(0, 0, MIB as u32)).result.unwrap();
    client.write(free, &[3; 8192], true);
    let mut expected = vec![3; 8192];
    expected.resize(2 * MIB as usize, 0);
    assert!(client.read(free, 2 * MIB as u32) == expected, "the room of another part came back as zeroes");
}

#[test]
fn volumes_are_made_grown_and_deleted_while_others_work() {
    let live = divided(1, SIZE);
    let a = live.create_volume("a", 2 * MIB, [1; 16]).unwrap();
    let mut client = Client::of_volume(&live, a);
    client.write(0, &[5; 4096], false);
    assert_eq!(client.call(Request::read(0, 2 * MIB, 1)).result.unwrap_err(), ReplyError::OutOfRange);
    live.grow_volume("a", 3 * MIB).unwrap();
    client.write(2 * MIB, &[6; 4096], false);
    assert_eq!(live.delete_volume("a"), Err(VolumeChange::InUse { name: "a".into(), clients: 1 }));
    drop(client);
    live.delete_volume("a").unwrap();
    assert!(live.volume_port(a, std::sync::Arc::new(Silent)).is_none());
    assert!(matches!(live.delete_volume("a"), Err(VolumeChange::Table(VolumeError::Unknown { .. }))));
    let b = live.create_volume("b", 4 * SIZE, [2; 16]).unwrap();
    assert_ne!(a, b);
    let mut client = Client::of_volume(&live, b);
    let free = live.volumes().unwrap().free_bytes;
    for at in 0..free / MIB {
        client.write(at * MIB + 4096, &[7; 4096], false);
        assert_eq!(client.read(at * MIB, 4096), [0; 4096], "nothing of the one that was deleted");
    }
    let whole = sharded("tachion-400", 1, SIZE);
    assert_eq!(whole.create_volume("a", MIB, [1; 16]), Err(VolumeChange::NotDivided));
}

struct Silent;

impl live::Bell for Silent {
    fn ring(&self) {}
}

/// Each start finds the volumes as they were, on media with a volatile cache as well.
#[test]
fn volumes_in_files_are_there_after_a_power_cut_and_after_an_orderly_end() {
    for shards in [1, 2] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (card, mut live) = files::Card::new(dir.path(), shards);
        live.format_volumes(CARD).unwrap();
        let ids: Vec<u32> = (0..3u8).map(|n| live.create_volume(&format!("v{n}"), 9 * MIB, [n; 16]).unwrap()).collect();
        let write = |live: &Live, fill: u8| {
            for (n, id) in ids.iter().enumerate() {
                let mut client = files::Client::of_volume(live, *id);
                for at in 0..9 {
                    let bytes = vec![fill + n as u8; 64 << 10];
                    client.call(Request::write(0, at * MIB + 8192, &bytes)).result.unwrap();
                }
                client.call(Request::flush(0)).result.unwrap();
            }
        };
        let is_there = |live: &Live, fill: u8| {
            for (n, id) in ids.iter().enumerate() {
                let mut client = files::Client::of_volume(live, *id);
                for at in 0..9 {
                    let read = client.call(Request::read(0, at * MIB, 128 << 10)).result.unwrap().to_vec();
                    assert!(read[8192..][..64 << 10].iter().all(|byte| *byte == fill + n as u8));
                    assert!(read[..8192].iter().all(|byte| *byte == 0));
                }
            }
        };
        write(&live, 1);
        live.act(Action::PowerCut).unwrap();
        live.act(Action::PowerOn).unwrap();
        is_there(&live, 1);
        let mut client = files::Client::of_volume(&live, ids[0]);
        client.call(Request::trim(0, 0, 9 << 20)).result.unwrap();
        drop(client);
        write(&live, 11);
        let before = live.volumes();
        live.shut_down();
        drop(live);
        let mut live = card.open();
        live.load_volumes(CARD).unwrap();
        assert_eq!(live.volumes(), before);
        is_there(&live, 11);
        let foreign = live.load_volumes(CardId([8; 16])).unwrap_err();
        assert!(matches!(foreign, VolumeError::Damaged { page: 0, .. }) && !foreign.is_no_table());
    }
}
