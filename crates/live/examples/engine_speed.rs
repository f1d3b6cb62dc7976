//! Requests a second of a live card in memory, without a way in between: what the engine itself costs.

use live::{Bell, Live, Request, Start, Timing};
use media::{Flash, Physics};
use std::sync::Arc;
use std::time::Instant;

struct Silent;

impl Bell for Silent {
    fn ring(&self) {}
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let size: u64 = args.get(1).map_or(1 << 30, |mib| mib.parse::<u64>().expect("MiB") << 20);
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(size)).unwrap();
    let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1).without_trace();
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1 };
    let live = Live::format(flash, start).unwrap();
    let mut port = live.port(Arc::new(Silent));
    let payload: Vec<u8> = (0..4096).map(|at| at as u8).collect();
    let mut rng = device::Rng::stream(1, "speed");
    let sectors = size / 4096;
    let mut done = Vec::new();
    let mut run = |name: &str, requests: u64, write: bool, mut place: Box<dyn FnMut(u64) -> u64>| {
        let began = Instant::now();
        for tag in 0..requests {
            let at = place(tag) * 4096;
            let request = if write { Request::write(tag, at, &payload) } else { Request::read(tag, at, 4096) };
            port.submit(&[request], &mut done);
            done.clear();
        }
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{name}: {:.0} requests a second, {:.2} us each",
            requests as f64 / seconds,
            seconds / requests as f64 * 1e6
        );
    };
    run("fill", sectors, true, Box::new(|tag| tag));
    let mut second = device::Rng::stream(2, "speed");
    let times: u64 = args.get(2).map_or(2, |times| times.parse().expect("a number"));
    run("random writes", times * sectors, true, Box::new(move |_| rng.below(sectors)));
    run("random reads", sectors, false, Box::new(move |_| second.below(sectors)));
    println!("write amplification {:.2}", live.status().write_amplification);
}
