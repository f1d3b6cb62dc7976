//! Requests a second of a live card in memory, without a way in between: what the engine itself costs, and what several
//! clients get from several shards.
//!
//! `cargo run --release -p live --example engine_speed -- MIB TIMES SHARDS CLIENTS CARD DEPTH [own]`
//!
//! With `own` each client keeps to the chunks of one shard, whose state then stays in the caches of one processor.

use device::Rng;
use live::{Bell, CHUNK_BYTES, Live, Request, Start, Timing};
use media::{Flash, Medium, Physics};
use std::sync::Arc;
use std::time::Instant;

struct Silent;

impl Bell for Silent {
    fn ring(&self) {}
}

struct Clients {
    count: u64,
    /// Requests that each submits together.
    depth: usize,
    /// The distance of the chunks that one keeps to; 1: it asks for all.
    step: u64,
}

/// The place in the chunks of this client that lies at a place of the whole card.
fn of_client(at: u64, client: u64, step: u64, size: u64) -> u64 {
    (at / CHUNK_BYTES / step * step + client % step) * CHUNK_BYTES % size + at % CHUNK_BYTES
}

/// All clients ask at the same time, and each takes its share of the requests.
fn run(
    live: &Live,
    clients: &Clients,
    name: &str,
    requests: u64,
    write: bool,
    place: impl Fn(u64, &mut Rng) -> u64 + Sync,
) {
    let began = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..clients.count {
            let place = &place;
            scope.spawn(move || {
                let mut port = live.port(Arc::new(Silent));
                let payload: Vec<u8> = (0..4096).map(|at| at as u8).collect();
                let mut rng = Rng::stream(client, name);
                let mut done = Vec::new();
                let mut numbers = (client..requests).step_by(clients.count as usize);
                let mut batch = Vec::with_capacity(clients.depth);
                loop {
                    batch.clear();
                    batch.extend(numbers.by_ref().take(clients.depth).map(|number| {
                        let at = of_client(place(number, &mut rng) * 4096, client, clients.step, live.size_bytes());
                        if write { Request::write(number, at, &payload) } else { Request::read(number, at, 4096) }
                    }));
                    if batch.is_empty() {
                        break;
                    }
                    port.submit(&batch, &mut done);
                    done.clear();
                }
            });
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{name}: {:.0} requests a second, {:.2} us each",
        requests as f64 / seconds,
        seconds / requests as f64 * 1e6
    );
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, usual: u64| args.get(at).map_or(usual, |text| text.parse().expect("a number"));
    let (size, times, shards) = (number(1, 1024) << 20, number(2, 2), number(3, 1) as u32);
    let step = match args.get(7).map(String::as_str) {
        None => 1,
        Some("own") => u64::from(shards),
        Some(other) => panic!("'{other}' is not own"),
    };
    let clients = Clients { count: number(4, 1), depth: number(6, 1) as usize, step };
    let of_shard = Live::shard_bytes(size, shards);
    let config = profile::Profile::builtin(args.get(5).map_or("tachion-400", String::as_str))
        .unwrap()
        .with_contents(Some(of_shard))
        .unwrap();
    let flash = |seed: u32| Medium::from(Flash::new(card::shape(&config), Physics::IDEAL, seed.into()).without_trace());
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
    let live = Live::format_shards((1..=shards).map(flash).collect(), &start, size).unwrap();
    let sectors = size / 4096;
    run(&live, &clients, "fill", sectors, true, |number, _| number);
    run(&live, &clients, "random writes", times * sectors, true, |_, rng| rng.below(sectors));
    run(&live, &clients, "random reads", sectors, false, |_, rng| rng.below(sectors));
    println!("write amplification {:.2}", live.status().write_amplification);
}
