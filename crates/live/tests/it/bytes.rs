//! Reads of a live card are compared with a plain copy.

use device::Rng;
use live::{Bell, Live, Port, Reply, Request, Start, Timing};
use media::{Flash, Physics};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

struct Rings(SyncSender<()>);

impl Bell for Rings {
    fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

pub(crate) struct Client {
    pub port: Port,
    pub rings: Receiver<()>,
    tag: u64,
}

impl Client {
    pub fn new(live: &Live) -> Client {
        let (sender, rings) = sync_channel(1);
        Client { port: live.port(Arc::new(Rings(sender))), rings, tag: 0 }
    }

    pub fn of_volume(live: &Live, id: u32) -> Client {
        let (sender, rings) = sync_channel(1);
        Client { port: live.volume_port(id, Arc::new(Rings(sender))).expect("it is there"), rings, tag: 0 }
    }

    pub fn call(&mut self, request: Request) -> Reply {
        self.tag += 1;
        let mut replies = Vec::new();
        self.port.submit(&[Request { tag: self.tag, ..request }], &mut replies);
        while replies.is_empty() {
            self.rings.recv_timeout(Duration::from_secs(20)).expect("a reply");
            self.port.replies(&mut replies);
        }
        assert_eq!((replies.len(), replies[0].tag), (1, self.tag));
        replies.pop().expect("one")
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) {
        self.call(Request::write(0, offset, bytes).with_fua(fua)).result.expect("written");
    }

    pub fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        self.call(Request::read(0, offset, len)).result.expect("read").to_vec()
    }
}

pub(crate) const SIZE: u64 = 64 << 20;

pub(crate) fn start(card: &str, timing: Timing) -> Start {
    let config = profile::Profile::builtin(card).unwrap().with_contents(Some(SIZE)).unwrap();
    Start { config, timing, id: Some(format::CardId([7; 16])), seed: 1, explains: true }
}

fn fresh(card: &str, timing: Timing) -> Live {
    let start = start(card, timing);
    let flash = Flash::new(card::shape(&start.config), Physics::IDEAL, 1);
    Live::format(flash, start).unwrap()
}

/// Writes, trims, zeroes and reads of any alignment, twice the card's size in all.
pub(crate) fn a_while(client: &mut Client, plain: &mut [u8], seed: u64, requests: u32) {
    let mut rng = Rng::stream(seed, "requests");
    for i in 0..requests {
        let align = [1, 512, 4096, 4096, 4096][rng.below(5) as usize];
        let len = (rng.below(128 << 10) / align + 1) * align;
        let offset = rng.below((SIZE - len) / align + 1) * align;
        let range = offset as usize..(offset + len) as usize;
        match rng.below(10) {
            0..6 => {
                let bytes: Vec<u8> = (0..len).map(|at| (i as u64 + at * 7) as u8 | 1).collect();
                client.write(offset, &bytes, rng.below(8) == 0);
                plain[range].copy_from_slice(&bytes);
            }
            6 => {
                let keeps_room = rng.below(2) == 0;
                client.call(Request::write_zeroes(0, offset, len as u32, keeps_room)).result.unwrap();
                plain[range].fill(0);
            }
            7 => {
                client.call(Request::trim(0, offset, len as u32)).result.unwrap();
                let whole = offset.next_multiple_of(4096)..(offset + len) / 4096 * 4096;
                if whole.start < whole.end {
                    plain[whole.start as usize..whole.end as usize].fill(0);
                }
            }
            8 => {
                client.call(Request::flush(0)).result.unwrap();
            }
            _ => assert!(client.read(offset, len as u32) == plain[range], "request {i}: {len} bytes at {offset}"),
        }
    }
}

pub(crate) fn is_as(client: &mut Client, plain: &[u8]) {
    for offset in (0..SIZE).step_by(1 << 20) {
        let read = client.read(offset, 1 << 20);
        assert!(read == plain[offset as usize..][..1 << 20], "the MiB at {offset}");
    }
}

#[test]
fn a_live_card_reads_as_what_was_written() {
    for card in ["tachion-400", "iodrive-320-mlc"] {
        let live = fresh(card, Timing::None);
        let mut client = Client::new(&live);
        let mut plain = vec![0; SIZE as usize];
        a_while(&mut client, &mut plain, 1, 8_000);
        is_as(&mut client, &plain);
        assert!(live.status().write_amplification > 1.0, "{:?}", live.status());
    }
}

#[test]
fn disks_read_as_what_was_written_and_take_their_time() {
    let profile = profile::Profile::builtin("sas-raid10-6").unwrap();
    let (config, bytes) = profile.disks_with_contents(Some(SIZE)).unwrap().expect("disks");
    let live = Live::disks(config, bytes, 1).unwrap();
    assert_eq!(live.size_bytes(), SIZE);
    let mut client = Client::new(&live);
    let mut plain = vec![0; SIZE as usize];
    a_while(&mut client, &mut plain, 4, 300);
    is_as(&mut client, &plain);
    let beyond = client.call(Request::read(0, SIZE, 512)).result;
    assert_eq!(beyond.unwrap_err(), live::ReplyError::OutOfRange);
    // The controller takes its time for each.
    let read_ns = live.status().stats.reads.p50_ns;
    assert!(read_ns >= 20_000, "a read took {read_ns} ns, and its controller alone takes 20 us");
    assert!(live.act(live::Action::PowerCut).is_err());
    assert!(live.modules().is_empty());
}

#[test]
fn modelled_time_passes_by_the_clock() {
    let live = fresh("tachion-400", Timing::Model);
    let mut client = Client::new(&live);
    let mut plain = vec![0; SIZE as usize];
    a_while(&mut client, &mut plain, 1, 300);
    is_as(&mut client, &plain);
    // The data written first is on flash, and no more in the buffer.
    for mib in 0..SIZE >> 20 {
        client.write(mib << 20, &[7; 1 << 20], false);
    }
    let began = std::time::Instant::now();
    for at in 0..100 {
        client.read(at * 4096, 4096);
    }
    // Not faster than flash, link and controller are.
    assert!(began.elapsed() >= Duration::from_micros(100 * 40), "{:?}", began.elapsed());
}

#[test]
fn what_was_durable_is_there_after_a_power_cut() {
    // With capacitors everything that was answered is, without what was flushed.
    for (card, answered_is_durable) in [("tachion-400", true), ("iodrive-320-mlc", false)] {
        let mut start = start(card, Timing::Model);
        start.config.power_loss_protection = answered_is_durable;
        let flash = Flash::new(card::shape(&start.config), Physics::IDEAL, 1);
        let live = Live::format(flash, start).unwrap();
        let mut client = Client::new(&live);
        let mut plain = vec![0; SIZE as usize];
        for round in 0..5 {
            a_while(&mut client, &mut plain, round, 60);
            if !answered_is_durable {
                client.call(Request::flush(0)).result.unwrap();
            }
            live.act(live::Action::PowerCut).unwrap();
            assert_eq!(client.call(Request::read(0, 0, 4096)).result.unwrap_err(), live::ReplyError::NoPower);
            live.act(live::Action::PowerOn).unwrap();
            is_as(&mut client, &plain);
        }
    }
}

#[test]
fn a_module_is_pulled_and_put_back_under_load() {
    let live = fresh("tachion-400", Timing::None);
    let mut client = Client::new(&live);
    let mut plain = vec![0; SIZE as usize];
    for (round, new) in [(1, false), (2, true), (3, true)] {
        a_while(&mut client, &mut plain, round, 200);
        let slot = round as u32 * 3;
        live.act(live::Action::Pull { slot, force: false }).unwrap();
        assert!(live.status().degraded);
        a_while(&mut client, &mut plain, round + 10, 200);
        is_as(&mut client, &plain);
        live.act(live::Action::Insert { slot, new }).unwrap();
        a_while(&mut client, &mut plain, round + 20, 200);
        let began = std::time::Instant::now();
        while live.status().degraded {
            assert!(began.elapsed() < Duration::from_secs(60), "{:?}", live.status());
            std::thread::sleep(Duration::from_millis(5));
        }
        is_as(&mut client, &plain);
    }
}

#[test]
fn parts_of_a_sector_written_at_once_do_not_undo_each_other() {
    let live = fresh("tachion-400", Timing::Model);
    let mut client = Client::new(&live);
    for round in 0..20u8 {
        let offset = u64::from(round) * 4096;
        client.write(offset, &[0xee; 4096], false);
        let pieces: Vec<[u8; 512]> = (0..8).map(|piece| [round * 8 + piece; 512]).collect();
        let write = |(i, piece)| Request::write(i, offset + i * 512, piece);
        let requests: Vec<Request> = (0u64..).zip(pieces.iter().map(|piece| &piece[..])).map(write).collect();
        let mut replies = Vec::new();
        client.port.submit(&requests, &mut replies);
        while replies.len() < 8 {
            client.rings.recv_timeout(Duration::from_secs(20)).expect("a reply");
            client.port.replies(&mut replies);
        }
        assert_eq!(client.read(offset, 4096), pieces.concat());
    }
}
