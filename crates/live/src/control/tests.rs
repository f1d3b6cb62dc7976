//! What hosts see of power cuts.

use super::*;
use crate::ask::{Ask, Done, Op};
use crate::engine::Start;
use crate::timing::Timing;
use media::Flash;

const PORT: u64 = 0;
const WRITE_BYTES: u32 = 64 << 10;

/// A card without capacitors, on flash that takes its time.
fn engine() -> Engine {
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(64 << 20)).unwrap();
    let config = card::CardConfig { power_loss_protection: false, ..config };
    let start = Start { config, timing: Timing::Model, id: Some(format::CardId([7; 16])), seed: 1 };
    let flash = Flash::new(card::shape(&start.config), Physics::IDEAL, 1);
    Engine::around(Engine::format(flash.into(), &start).unwrap(), start, None)
}

fn ask(engine: &mut Engine, tag: u64, op: Op, done: &mut Vec<Done>) {
    let len_bytes = if op == Op::Flush { 0 } else { WRITE_BYTES };
    let ask = Ask { tag, op, fua: false, offset_bytes: 0, len_bytes };
    engine.take(PORT, &ask, 0, done);
}

/// The next thing that is due happens.
fn step(engine: &mut Engine, done: &mut Vec<Done>) {
    let next = engine.next_event();
    assert_ne!(next, Time::NEVER);
    engine.go_on(next.0, Some(PORT), done);
}

fn card(engine: &Engine) -> &card::StorageCard {
    let State::On(card) = &engine.state else { panic!("it has power") };
    card
}

#[test]
fn after_a_cut_hosts_wait_until_what_was_found_is_whole_again() {
    let (mut engine, mut done) = (engine(), Vec::new());
    let mut waited = 0;
    for round in 0..20 {
        let bytes = vec![round as u8; WRITE_BYTES as usize];
        done.clear();
        for tag in 0..8 {
            ask(&mut engine, tag, Op::Write(&bytes), &mut done);
        }
        ask(&mut engine, 8, Op::Flush, &mut done);
        while !done.iter().any(|done| done.tag == 8) {
            step(&mut engine, &mut done);
        }
        // Some of what came after is on its way to flash.
        (10..18).for_each(|tag| ask(&mut engine, tag, Op::Write(&bytes), &mut done));
        (0..=30 * round).for_each(|_| {
            if engine.next_event() != Time::NEVER {
                step(&mut engine, &mut done);
            }
        });
        engine.power_cut().unwrap();
        engine.power_on().unwrap();
        done.clear();
        let begins_ready = card(&engine).is_ready();
        waited += u32::from(!begins_ready);
        ask(&mut engine, 20, Op::Read, &mut done);
        while done.is_empty() {
            let is_ready = card(&engine).is_ready();
            assert!(is_ready || card(&engine).in_flight() == 0, "it reached the card");
            step(&mut engine, &mut done);
        }
        let read = done.pop().unwrap().result.unwrap().to_vec();
        assert!(read.iter().all(|byte| *byte == round as u8));
    }
    assert!(waited > 5, "{waited} of the starts had something to make whole");
}
