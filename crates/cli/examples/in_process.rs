//! A card in a folder, asked within the process: what the card itself gives, without a way in between.
//!
//! Each line on standard input is a run in JSON, and is answered with one line of JSON. `{}` asks how the card stands:
//!
//! ```text
//! {"work":"write","random":true,"block_bytes":16384,"depth":64,"span_bytes":2147483648,"seconds":3}
//! ```
//!
//! `cargo run --profile dist -p flashrig --example in_process -- FOLDER`

use cli::card_dir::CardDir;
use hdrhistogram::Histogram;
use live::{Bell, Ear, Hearer, Live, Port, Reply, Request, Status};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Random bytes, from which every write takes a part that begins elsewhere: nothing in it can be compressed.
const PAYLOAD_BYTES: usize = 16 << 20;
/// The highest number of bytes of a request.
const MAX_BLOCK_BYTES: u32 = 8 << 20;
/// The highest number of requests in flight.
const MAX_DEPTH: usize = 4096;

/// The highest latency that is told from higher ones: an hour.
const MAX_LATENCY_NS: u64 = 3_600_000_000_000;

/// The kind of the requests of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Work {
    Read,
    Write,
    /// Reads and writes, in the proportion of `reads_percent`.
    Mixed,
    /// A flush follows each write, and the next write follows the flush.
    Flushed,
    Trim,
}

/// A run: so many requests in flight, from one thread, until the time is over or the bytes have all been asked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    work: Work,
    #[serde(default)]
    reads_percent: u64,
    #[serde(default)]
    random: bool,
    block_bytes: u32,
    depth: usize,
    /// The part of the card that is asked, from its start.
    span_bytes: u64,
    seconds: Option<f64>,
    total_bytes: Option<u64>,
}

/// Latencies of one kind of request, in nanoseconds.
#[derive(Debug, Serialize)]
struct Latencies {
    requests: u64,
    mean_ns: f64,
    p50_ns: u64,
    p99_ns: u64,
    p999_ns: u64,
    max_ns: u64,
}

#[derive(Debug, Serialize)]
struct Answer {
    seconds: f64,
    bytes: u64,
    read: Latencies,
    write: Latencies,
    flush: Latencies,
}

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("no such run: {0}")]
    Json(#[from] serde_json::Error),
    #[error("standard input, or a descriptor: {0}")]
    Stream(#[from] std::io::Error),
    #[error("blocks of 1 byte to {MAX_BLOCK_BYTES}, depths of 1 to {MAX_DEPTH}, within the {size_bytes} of the card")]
    Bounds { size_bytes: u64 },
    #[error("a run ends by seconds or total_bytes")]
    NoEnd,
    #[error("the card failed a request: {0}")]
    Card(#[from] live::ReplyError),
}

/// Becomes readable when the card has replies.
struct Rings(OwnedFd);

impl Bell for Rings {
    fn ring(&self) {
        // The counter is far from full, because each read sets it back.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

/// The kind of a request in flight, and the moment when it was submitted.
#[derive(Clone, Copy)]
struct InFlight {
    does: Work,
    began: Instant,
}

struct Client {
    port: Port,
    rings: Arc<Rings>,
    /// The media of the shards; each becomes readable when it has done something. While this client waits, it hears them
    /// itself.
    media: Vec<Arc<Ear>>,
    payload: Vec<u8>,
    rng: device::Rng,
    size_bytes: u64,
}

impl Client {
    fn new(live: &Live) -> std::io::Result<Client> {
        let rings = Arc::new(Rings(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?));
        let bell: Arc<dyn Bell> = Arc::clone(&rings) as _;
        let mut port = live.port(bell);
        let media = port.listen(Hearer::new());
        let mut rng = device::Rng::stream(1, "in-process");
        let payload = (0..PAYLOAD_BYTES / 8).flat_map(|_| rng.bits().to_le_bytes()).collect();
        Ok(Client { port, rings, media, payload, rng, size_bytes: live.size_bytes() })
    }

    /// Waits until there are replies, or until the medium has done something.
    fn wait(&mut self, replies: &mut Vec<Reply>) -> std::io::Result<()> {
        let heard: Vec<usize> = (0..self.media.len()).filter(|shard| self.media[*shard].hears()).collect();
        let mut fds = vec![PollFd::new(&self.rings.0, PollFlags::IN)];
        fds.extend(heard.iter().map(|shard| PollFd::new(&*self.media[*shard], PollFlags::IN)));
        while let Err(error) = poll(&mut fds, None) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        let is_readable: Vec<bool> = fds.iter().map(|fd| fd.revents().contains(PollFlags::IN)).collect();
        if is_readable[0] {
            rustix::io::read(&self.rings.0, &mut [0u8; 8])?;
            self.port.replies(replies);
        }
        for (shard, _) in heard.into_iter().zip(&is_readable[1..]).filter(|(_, is_readable)| **is_readable) {
            self.port.hear(shard, replies);
        }
        Ok(())
    }

    fn run(&mut self, run: &Run) -> Result<Answer, RunError> {
        let block = u64::from(run.block_bytes);
        let fits = (1..=MAX_BLOCK_BYTES).contains(&run.block_bytes) && (1..=MAX_DEPTH).contains(&run.depth);
        if !fits || run.span_bytes > self.size_bytes || run.span_bytes < block {
            return Err(RunError::Bounds { size_bytes: self.size_bytes });
        }
        if run.seconds.is_none() && run.total_bytes.is_none() {
            return Err(RunError::NoEnd);
        }
        let places = run.span_bytes / block;
        let new = || Histogram::<u64>::new_with_bounds(1, MAX_LATENCY_NS, 3).expect("three digits within the bounds");
        let (mut reads, mut writes, mut flushes) = (new(), new(), new());
        let began = Instant::now();
        let mut in_flight = vec![InFlight { does: run.work, began }; run.depth];
        let mut free: Vec<u64> = (0..run.depth as u64).collect();
        let mut to_flush: Vec<u64> = Vec::new();
        let (mut asked, mut next_place) = (0u64, 0u64);
        let mut replies: Vec<Reply> = Vec::new();
        loop {
            let now = Instant::now();
            let is_over = run.seconds.is_some_and(|seconds| (now - began).as_secs_f64() >= seconds);
            let mut requests: Vec<Request> = Vec::new();
            for tag in to_flush.drain(..) {
                in_flight[tag as usize] = InFlight { does: Work::Flushed, began: now };
                requests.push(Request::flush(tag));
            }
            while !is_over && run.total_bytes.is_none_or(|total| asked + block <= total) {
                let Some(tag) = free.pop() else { break };
                let place = match run.random {
                    true => self.rng.below(places),
                    false => next_place % places,
                };
                next_place += 1;
                asked += block;
                let does = match run.work {
                    Work::Mixed if self.rng.below(100) < run.reads_percent => Work::Read,
                    Work::Mixed | Work::Flushed => Work::Write,
                    other => other,
                };
                in_flight[tag as usize] = InFlight { does, began: now };
                requests.push(match does {
                    Work::Read => Request::read(tag, place * block, run.block_bytes),
                    Work::Trim => Request::trim(tag, place * block, run.block_bytes),
                    _ => {
                        let from = self.rng.below((PAYLOAD_BYTES as u64 - block) / 8) as usize * 8;
                        Request::write(tag, place * block, &self.payload[from..from + block as usize])
                    }
                });
            }
            if requests.is_empty() && free.len() == run.depth {
                break;
            }
            if !requests.is_empty() {
                self.port.submit(&requests, &mut replies);
            }
            if replies.is_empty() {
                self.wait(&mut replies)?;
            }
            let now = Instant::now();
            for Reply { tag, result, .. } in replies.drain(..) {
                result?;
                let InFlight { does, began } = in_flight[tag as usize];
                let histogram = match does {
                    Work::Read => &mut reads,
                    Work::Flushed => &mut flushes,
                    _ => &mut writes,
                };
                histogram.saturating_record((now - began).as_nanos() as u64);
                match (run.work, does) {
                    (Work::Flushed, Work::Write) => to_flush.push(tag),
                    _ => free.push(tag),
                }
            }
        }
        let (seconds, bytes) = (began.elapsed().as_secs_f64(), (reads.len() + writes.len()) * block);
        Ok(Answer { seconds, bytes, read: latencies(&reads), write: latencies(&writes), flush: latencies(&flushes) })
    }
}

fn latencies(of: &Histogram<u64>) -> Latencies {
    Latencies {
        requests: of.len(),
        mean_ns: of.mean(),
        p50_ns: of.value_at_quantile(0.5),
        p99_ns: of.value_at_quantile(0.99),
        p999_ns: of.value_at_quantile(0.999),
        max_ns: of.max(),
    }
}

fn answer(live: &Live, client: &mut Client, line: &str) -> Result<String, RunError> {
    let asked: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line)?;
    if asked.is_empty() {
        let status: Status = live.status();
        return Ok(serde_json::to_string(&status)?);
    }
    let run: Run = serde_json::from_value(asked.into())?;
    Ok(serde_json::to_string(&client.run(&run)?)?)
}

fn serve_lines(live: &Live) -> Result<(), RunError> {
    let mut client = Client::new(live)?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", answer(live, &mut client, &line?)?)?;
        out.flush()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1) else {
        eprintln!("in_process FOLDER");
        return ExitCode::from(2);
    };
    let note = |note| eprintln!("in_process: {note}");
    let live = CardDir::open(Path::new(&dir)).and_then(|card| card.run(card.start(1), true, &[], note));
    // A signal ends the client that asks, and the end of its lines ends the card in order.
    let done = match &live {
        Ok(live) => serve_lines(live).map_err(|error| error.to_string()),
        Err(failure) => Err(failure.to_string()),
    };
    drop(live);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("in_process: {error}");
            ExitCode::from(2)
        }
    }
}
