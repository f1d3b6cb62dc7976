//! The engine's promises to any load. On files in `/var/tmp`, which is on a disk where `/tmp` often is not.

use crate::engine::{Outcome, Span, Told};
use crate::{Drive, DriveError, DriveOptions};
use device::{Request, Time};
use load::{Fileio, FileioConfig, FileioMode, Load, ProcessId, Step};
use results::{HostInfo, TargetInfo, TargetKind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use target::{Progress, Silent};

const SIZE_BYTES: u64 = 4 << 20;

fn drive(options: DriveOptions) -> (tempfile::TempDir, Drive) {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let info = TargetInfo {
        kind: TargetKind::File,
        name: String::new(),
        title: String::new(),
        capacity_bytes: 0,
        sold_bytes: None,
        facts: Vec::new(),
        power_loss_protection: None,
        volatile_write_cache: None,
        profile: None,
    };
    let path = folder.path().join("file");
    let drive = Drive::create_file(path, SIZE_BYTES, info, HostInfo::default(), options).unwrap();
    (folder, drive)
}

fn threads(threads: u32) -> DriveOptions {
    DriveOptions { threads: Some(threads), ..DriveOptions::default() }
}

fn run(drive: &mut Drive, load: impl Load + 'static, span: Span) -> Result<Outcome, DriveError> {
    drive.run_load(Box::new(load), span, 4096, Told::Milliseconds, false, &Silent)
}

fn timed(milliseconds: u64) -> Span {
    Span::Timed { warm_up: Duration::ZERO, measured: Duration::from_millis(milliseconds) }
}

type Log = Arc<Mutex<Vec<(ProcessId, Time, Step)>>>;

/// A load made of a function of (process, how often it was asked before, now).
struct Scripted<F> {
    processes: u32,
    issued: Vec<u64>,
    log: Log,
    step: F,
}

fn scripted<F>(processes: u32, step: F) -> (Scripted<F>, Log)
where
    F: FnMut(u32, u64, Time, &mut Vec<ProcessId>) -> Step + Send,
{
    let log = Log::default();
    (Scripted { processes, issued: vec![0; processes as usize], log: log.clone(), step }, log)
}

impl<F: FnMut(u32, u64, Time, &mut Vec<ProcessId>) -> Step + Send> Load for Scripted<F> {
    fn processes(&self) -> u32 {
        self.processes
    }
    fn step(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        let count = &mut self.issued[process.0 as usize];
        let step = (self.step)(process.0, *count, now, wake);
        *count += 1;
        self.log.lock().unwrap().push((process, now, step));
        step
    }
    fn footprint_bytes(&self) -> u64 {
        SIZE_BYTES
    }
    fn start_measurement(&mut self, _: Time) {}
    fn report(&self, _: Time) -> Option<results::Application> {
        None
    }
}

fn write(offset_bytes: u64) -> Step {
    Step::Io { cpu_ns: 0, request: Request::write(offset_bytes, 4096), due: None }
}

#[test]
fn every_request_of_a_load_that_ends_is_recorded_once() {
    for options in [threads(1), threads(2), DriveOptions { register_buffers: false, ..threads(2) }] {
        let (_folder, mut drive) = drive(options);
        let (load, _) = scripted(7, |process, count, _, _| match count {
            0..100 => write((u64::from(process) * 100 + count) * 4096),
            100 => Step::Io { cpu_ns: 0, request: Request::flush(), due: None },
            101..111 => Step::Io { cpu_ns: 0, request: Request::read(u64::from(process) * 409_600, 4096), due: None },
            _ => Step::End,
        });
        let outcome = run(&mut drive, load, Span::UntilEnd).unwrap();
        let (read, write, sync) = outcome.recorder.classes(outcome.end, false);
        assert_eq!((read.total_ios, write.total_ios, sync.total_ios), (70, 700, 7));
        assert_eq!(outcome.buffers_registered, options.register_buffers);
        assert_eq!(drive.verify(0..700 * 4096, &Silent).unwrap(), 700 * 4096);
    }
}

#[test]
fn the_same_seed_asks_for_the_same_blocks_as_a_load_stepped_by_hand() {
    let config = FileioConfig {
        mode: FileioMode::RndRw,
        block_bytes: 4096,
        threads: 5,
        file_bytes: SIZE_BYTES,
        ..FileioConfig::default()
    };
    for count in [1, 2] {
        let (_folder, mut drive) = drive(threads(count));
        let mut fileio = Fileio::new(config, 77).unwrap();
        let (load, log) = scripted(5, move |process, _, now, wake| fileio.step(ProcessId(process), now, wake));
        run(&mut drive, load, timed(50)).unwrap();
        let mut by_hand = Fileio::new(config, 77).unwrap();
        let log = log.lock().unwrap();
        assert!(log.len() >= 5);
        for process in (0..5).map(ProcessId) {
            for (_, now, step) in log.iter().filter(|(of, ..)| *of == process) {
                assert_eq!(*step, by_hand.step(process, *now, &mut Vec::new()));
            }
        }
    }
}

#[test]
fn a_request_that_was_due_earlier_counts_from_then() {
    let (_folder, mut drive) = drive(threads(1));
    let (load, _) = scripted(1, |_, count, now, _| match count {
        0 => Step::Sleep { until: Time(30_000_000) },
        1 => Step::Io { cpu_ns: 0, request: Request::write(0, 4096), due: Some(Time(1_000_000)) },
        // Due later than it is asked for: nothing is given away.
        2 => Step::Io { cpu_ns: 0, request: Request::read(0, 4096), due: Some(now + 60_000_000_000) },
        _ => Step::End,
    });
    let outcome = run(&mut drive, load, Span::UntilEnd).unwrap();
    let (read, write, _) = outcome.recorder.classes(outcome.end, false);
    assert!(write.lat_ns.min >= 29_000_000, "{:?}", write.lat_ns);
    assert!(read.total_ios == 1 && read.lat_ns.max < 60_000_000_000);
}

#[test]
fn sleepers_and_computing_sessions_go_on_when_their_time_has_come() {
    let (_folder, mut drive) = drive(threads(1));
    let began = Instant::now();
    let (load, log) = scripted(2, |process, count, now, _| match (process, count) {
        (0, 0) => Step::Sleep { until: Time(20_000_000) },
        (1, 0..100) => Step::Cpu { cpu_ns: 200_000 },
        (1, 100) => Step::Io { cpu_ns: 5_000_000, request: Request::write(0, 4096), due: None },
        (0, 1) if now < Time(20_000_000) => panic!("too early"),
        _ => Step::End,
    });
    let outcome = run(&mut drive, load, Span::UntilEnd).unwrap();
    let at = |process| log.lock().unwrap().iter().filter(|(of, ..)| of.0 == process).map(|(_, now, _)| *now).max();
    assert!(at(0) >= Some(Time(20_000_000)));
    assert!(at(1) >= Some(Time(25_000_000)));
    assert!(began.elapsed() >= Duration::from_millis(25));
    assert_eq!(outcome.recorder.bytes(), 4096);
}

#[test]
fn a_woken_process_goes_on_also_on_another_thread() {
    for count in [1, 2] {
        let (_folder, mut drive) = drive(threads(count));
        // The owner of the ball writes, then passes it on and waits for it. Process 0 has it first.
        let mut ball = 0;
        let (load, log) = scripted(2, move |process, _, _, wake| {
            if ball >= 200 {
                wake.push(ProcessId(1 - process));
                return Step::End;
            }
            if ball % 4 != 2 * process && ball % 4 != 2 * process + 1 {
                return Step::Park;
            }
            ball += 1;
            if ball % 2 == 1 {
                return write(u64::from(process) * 4096);
            }
            wake.push(ProcessId(1 - process));
            Step::Park
        });
        let outcome = run(&mut drive, load, Span::UntilEnd).unwrap();
        assert_eq!(outcome.recorder.bytes(), 100 * 4096);
        let parked = log.lock().unwrap().iter().filter(|(_, _, step)| *step == Step::Park).count();
        // Each of the 100 passes, and process 1 once before the first: nobody was woken for nothing.
        assert!((100..=101).contains(&parked), "{parked}");
    }
}

#[test]
fn requests_larger_than_foreseen_get_their_buffers() {
    let (_folder, mut drive) = drive(threads(1));
    let (load, _) = scripted(2, |process, count, _, _| match count {
        0 => Step::Io { cpu_ns: 0, request: Request::write(u64::from(process) << 20, 1 << 20), due: None },
        1 => Step::Io { cpu_ns: 0, request: Request::write((u64::from(process) << 20) + 8192, 16384), due: None },
        _ => Step::End,
    });
    run(&mut drive, load, Span::UntilEnd).unwrap();
    assert_eq!(drive.verify(0..2 << 20, &Silent).unwrap(), 2 << 20);
}

#[test]
fn a_misaligned_request_is_an_error_that_says_what_fits() {
    let (_folder, mut drive) = drive(threads(2));
    drive.align_bytes = 4096;
    let (load, _) = scripted(4, |_, count, _, _| write(if count == 20 { 512 } else { 4096 * count }));
    let error = run(&mut drive, load, timed(10_000)).err().unwrap().to_string();
    assert!(error.ends_with("takes multiples of 4096 bytes, but 4096 bytes at 512 were asked for: use a larger block"));
}

#[test]
fn too_much_memory_is_refused_before_anything_is_asked() {
    let (_folder, mut drive) = drive(threads(1));
    let (load, log) = scripted(1024, |_, _, _, _| Step::End);
    let result = drive.run_load(Box::new(load), timed(10), 64 << 20, Told::Milliseconds, false, &Silent);
    assert!(matches!(result, Err(DriveError::Memory { requests: 1024, .. })));
    assert!(log.lock().unwrap().is_empty());
}

struct StopAfter(Instant, Duration);

impl Progress for StopAfter {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        self.0.elapsed() >= self.1
    }
}

#[test]
fn who_asks_to_stop_is_heard_while_sessions_work_sleep_or_are_parked() {
    let (_folder, mut drive) = drive(threads(2));
    let steps: [fn() -> Step; 3] = [|| write(0), || Step::Sleep { until: Time(3_600_000_000_000) }, || Step::Park];
    for step in steps {
        let (load, _) = scripted(4, move |_, _, _, _| step());
        let progress = StopAfter(Instant::now(), Duration::from_millis(30));
        let result = drive.run_load(Box::new(load), timed(600_000), 4096, Told::Milliseconds, false, &progress);
        assert!(matches!(result, Err(DriveError::Cancelled)));
        // A hundred times what it takes: a busy neighbour is no failure.
        assert!(progress.0.elapsed() < Duration::from_secs(10));
    }
}

#[test]
#[should_panic(expected = "the load panics")]
fn a_panic_in_one_thread_ends_the_others() {
    let (_folder, mut drive) = drive(threads(2));
    let (load, _) = scripted(4, |process, count, _, _| {
        assert!(process != 3 || count < 10, "the load panics");
        write(0)
    });
    let _ = run(&mut drive, load, timed(600_000));
}
