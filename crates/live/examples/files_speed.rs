//! Random 16 KiB writes to a card in files, asked within the process: what the card itself takes, without a way in between.
//! Half of the card is used, after all of its flash was written once.
//!
//! For each line with a number of seconds on its standard input it runs so long, and answers with one line of JSON.
//!
//! `cargo run --profile dist -p live --example files_speed -- FOLDER [CARD] [MEBIBYTES] [DEPTH] [SETTING]…`

use files::{Files, Options};
use live::{Bell, Live, Port, Reply, Request, Start, Status, Timing, on_files};
use media::Medium;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

const WRITE_BYTES: u32 = 16 << 10;

struct Rings(SyncSender<()>);

impl Bell for Rings {
    fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

/// Keeps so many writes in flight.
struct Client {
    port: Port,
    rings: Receiver<()>,
    payloads: Vec<Vec<u8>>,
}

impl Client {
    fn new(live: &Live, depth: usize) -> Client {
        let (sender, rings) = sync_channel(1);
        let mut bytes = device::Rng::stream(1, "payloads");
        let mut payload = || (0..WRITE_BYTES).map(|_| bytes.below(256) as u8).collect();
        Client { port: live.port(Arc::new(Rings(sender))), rings, payloads: (0..depth).map(|_| payload()).collect() }
    }

    /// Writes until it is enough; how many there were.
    fn write(&mut self, mut place: impl FnMut() -> u64, mut is_enough: impl FnMut(u64) -> bool) -> u64 {
        let mut replies: Vec<Reply> = Vec::new();
        let mut free: Vec<u64> = (0..self.payloads.len() as u64).collect();
        let mut written = 0;
        loop {
            let goes_on = !is_enough(written);
            if !goes_on && free.len() == self.payloads.len() {
                return written;
            }
            let write = |tag: u64| Request::write(tag, place() * u64::from(WRITE_BYTES), &self.payloads[tag as usize]);
            if goes_on {
                let requests: Vec<Request> = free.drain(..).map(write).collect();
                self.port.submit(&requests, &mut replies);
            }
            if replies.is_empty() {
                self.rings.recv().expect("the card is there");
                self.port.replies(&mut replies);
            }
            for Reply { tag, result, .. } in replies.drain(..) {
                result.expect("it writes");
                written += 1;
                free.push(tag);
            }
        }
    }
}

/// CPU seconds of this process.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn report(before: &Status, after: &Status, writes: u64, seconds: f64, cpu: f64) {
    let of = |sectors: fn(&Status) -> u64| (sectors(after) - sectors(before)) as f64;
    let (host, moved) = (of(|status| status.host_sectors), of(|status| status.relocated_sectors));
    let parity = of(|status| status.parity_sectors);
    println!(
        "{{\"bytes_per_second\":{:.0},\"write_amplification\":{:.4},\"parity\":{:.4},\"cpu_us_each\":{:.2}}}",
        writes as f64 * f64::from(WRITE_BYTES) / seconds,
        (host + moved) / host,
        (host + moved + parity) / (host + moved),
        cpu * 1e6 / writes as f64,
    );
}

fn main() {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().expect("a folder"));
    let card = words.next().unwrap_or_else(|| "drive-array-16".into());
    let mut number = |otherwise: u64| words.next().map_or(otherwise, |word| word.parse().expect("a number"));
    let (size, depth) = (number(2048) << 20, number(64) as usize);
    let mut profile = profile::Profile::builtin(&card).expect("a card");
    for setting in words {
        profile.set(&setting).unwrap_or_else(|error| panic!("{error}"));
    }
    let config = on_files(&profile.with_contents(Some(size)).expect("of that size"));
    let shape = card::shape(&config);
    let paths: Vec<PathBuf> = (0..shape.modules).map(|slot| folder.join(format!("module-{slot:02}"))).collect();
    let files = Files::create(shape, &paths, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1 };
    let live = Live::format(Medium::Outside(Box::new(files)), start).unwrap();
    let mut client = Client::new(&live, depth);
    let places = size / 2 / u64::from(WRITE_BYTES);
    let mut next = 0..;
    client.write(|| next.next().expect("without end") % places, |written| written >= places);
    let mut rng = device::Rng::stream(1, "places");
    client.write(|| rng.below(places), |written| written >= 3 * places);
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).expect("standard input") > 0 {
        let seconds: f64 = line.trim().parse().expect("seconds");
        line.clear();
        let (before, cpu, began) = (live.status(), cpu_seconds(), Instant::now());
        let writes = client.write(|| rng.below(places), |_| began.elapsed() >= Duration::from_secs_f64(seconds));
        report(&before, &live.status(), writes, began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    }
    drop((client, live));
    paths.iter().for_each(|path| drop(std::fs::remove_file(path)));
}
