//! Power cuts, as hosts see them.

use super::*;
use crate::engine::Start;
use crate::reply::Reply;
use crate::timing::Timing;
use media::Flash;
use session::{ClientId, Request};

const WRITE_BYTES: u32 = 64 << 10;

/// A card without capacitors, on flash that takes its time.
fn engine() -> Engine {
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(64 << 20)).unwrap();
    let config = card::CardConfig { power_loss_protection: false, ..config };
    let start = Start { config, timing: Timing::Model, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
    let flash = Flash::new(card::shape(&start.config), Physics::IDEAL, 1);
    Engine::around(Engine::format(flash.into(), &start).unwrap(), start, None)
}

struct Silent;

impl crate::Bell for Silent {
    fn ring(&self) {}
}

/// A client of an engine.
struct Host {
    engine: Engine,
    client: ClientId,
    replies: Vec<Reply>,
}

impl Host {
    fn new() -> Host {
        let mut engine = engine();
        let client = engine.connect(std::sync::Arc::new(Silent));
        Host { engine, client, replies: Vec::new() }
    }

    fn submit(&mut self, request: &Request) {
        self.engine.submit(self.client, request, 0, &mut self.replies);
    }

    /// The next thing that is due happens.
    fn step(&mut self) {
        let next = self.engine.next_event();
        assert_ne!(next, Time::NEVER);
        self.engine.advance(next.0, Some(self.client), &mut self.replies);
    }
}

fn card(engine: &Engine) -> &card::StorageCard {
    let State::On(card) = &engine.device.state else { panic!("it has power") };
    card
}

#[test]
fn after_a_cut_hosts_wait_until_what_was_found_is_whole_again() {
    let mut host = Host::new();
    let mut waited = 0;
    for round in 0..20 {
        let bytes = vec![round as u8; WRITE_BYTES as usize];
        host.replies.clear();
        (0..8).for_each(|tag| host.submit(&Request::write(tag, 0, &bytes)));
        host.submit(&Request::flush(8));
        while !host.replies.iter().any(|reply| reply.tag == 8) {
            host.step();
        }
        // Some of what came after is on its way to flash.
        (10..18).for_each(|tag| host.submit(&Request::write(tag, 0, &bytes)));
        (0..=30 * round).for_each(|_| {
            if host.engine.next_event() != Time::NEVER {
                host.step();
            }
        });
        host.engine.power_cut().unwrap();
        host.engine.power_on().unwrap();
        host.replies.clear();
        waited += u32::from(!card(&host.engine).is_ready());
        host.submit(&Request::read(20, 0, WRITE_BYTES));
        while host.replies.is_empty() {
            let is_ready = card(&host.engine).is_ready();
            assert!(is_ready || card(&host.engine).in_flight() == 0, "it reached the card");
            host.step();
        }
        let read = host.replies.pop().unwrap().result.unwrap().to_vec();
        assert!(read.iter().all(|byte| *byte == round as u8));
    }
    assert!(waited > 5, "{waited} of the starts had something to make whole");
}
