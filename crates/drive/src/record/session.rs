//! One recording: two programs, a pipe between them, and their end.

use crate::record::system::Found;
use crate::record::{RecordError, System};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The signal on which blktrace ends in order. SIGINT would do, but programs that a shell starts in the background
/// ignore it.
const ENDS: Signal = Signal::TERM;
/// Time between two looks at the clock, the programs and the person.
const LOOK: Duration = Duration::from_millis(50);
/// Time that the programs have to end when they were asked to.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that are kept of what a program says.
const SAID_BYTES: u64 = 64 << 10;

/// A recording that ended in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// How long it took.
    pub took: Duration,
    /// Whether it was stopped before its time.
    pub stopped: bool,
}

/// Records what a device is asked, into a file: for so long, or until `stop` says so.
pub fn record(
    system: &System,
    device: &Path,
    out: &Path,
    how_long: Option<Duration>,
    stop: &dyn Fn() -> bool,
) -> Result<Recording, RecordError> {
    let found = system.check(device)?;
    let beside = Beside::new(out)?;
    let mut session = Session::start(&found, device, &beside)?;
    let began = Instant::now();
    let stopped = loop {
        session.must_run()?;
        if stop() {
            break true;
        }
        let left = how_long.map_or(LOOK, |how_long| how_long.saturating_sub(began.elapsed()));
        if left.is_zero() {
            break false;
        }
        std::thread::sleep(left.min(LOOK));
    };
    let took = began.elapsed();
    session.end()?;
    beside.put_in_place(out)?;
    Ok(Recording { took, stopped })
}

/// The file while it is being written.
struct Beside {
    path: PathBuf,
    done: bool,
}

impl Beside {
    fn new(out: &Path) -> Result<Beside, RecordError> {
        let unwritable = |source| RecordError::Unwritable { path: out.to_owned(), source };
        if out.is_dir() {
            return Err(unwritable(io::ErrorKind::IsADirectory.into()));
        }
        let name = out.file_name().ok_or_else(|| unwritable(io::ErrorKind::InvalidFilename.into()))?;
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}.tmp", std::process::id()));
        let path = out.with_file_name(beside);
        File::create_new(&path).map_err(unwritable)?;
        Ok(Beside { path, done: false })
    }

    fn put_in_place(mut self, out: &Path) -> Result<(), RecordError> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        let placed = synced.and_then(|()| fs::rename(&self.path, out));
        placed.map_err(|source| RecordError::Unwritable { path: out.to_owned(), source })?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.done {
            // The failure that made this necessary is the one to report.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A program that runs, and what it says.
struct Program {
    name: &'static str,
    child: Child,
    said: Option<JoinHandle<String>>,
}

impl Program {
    fn start(name: &'static str, command: &mut Command) -> Result<Program, RecordError> {
        // A group of their own: Ctrl-C reaches this process only, which ends them in their order.
        let command = command.stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|source| RecordError::Program { program: name, source })?;
        let mut stderr = child.stderr.take().expect("it was piped");
        let said = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // All is read, so that the program never waits; its beginning is kept.
            let _ = (&mut stderr).take(SAID_BYTES).read_to_end(&mut bytes);
            let _ = io::copy(&mut stderr, &mut io::sink());
            String::from_utf8_lossy(&bytes).trim().lines().last().unwrap_or("it said nothing").to_owned()
        });
        Ok(Program { name, child, said: Some(said) })
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>, RecordError> {
        self.child.try_wait().map_err(|source| RecordError::Program { program: self.name, source })
    }

    /// It ended before it was asked to, or badly.
    fn failure(&mut self) -> RecordError {
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        RecordError::Ended { program: self.name, said: said.into() }
    }

    fn signal(&mut self, signal: Signal) {
        // Once it was waited for, its number may be somebody else's.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended meanwhile, which was the aim.
            let _ = kill_process(pid, signal);
        }
    }

    /// Waits for its end, for a limited time.
    fn wait(&mut self, until: Instant) -> Result<Option<ExitStatus>, RecordError> {
        loop {
            match self.ended()? {
                None if Instant::now() < until => std::thread::sleep(LOOK / 5),
                ended => return Ok(ended),
            }
        }
    }
}

struct Session {
    tracer: Program,
    parser: Program,
    found: Found,
    device: PathBuf,
    over: bool,
}

impl Session {
    fn start(found: &Found, device: &Path, beside: &Beside) -> Result<Session, RecordError> {
        let unwritable = |source| RecordError::Unwritable { path: beside.path.clone(), source };
        let out = File::options().write(true).open(&beside.path).map_err(unwritable)?;
        let mut tracer = Command::new(&found.blktrace);
        tracer.arg("-d").arg(device).arg("-r").arg(&found.debugfs).args(["-a", "issue", "-o", "-"]);
        let mut tracer = Program::start("blktrace", tracer.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let pipe = tracer.child.stdout.take().expect("it was piped");
        let mut parser = Command::new(&found.blkparse);
        let parser = Program::start("blkparse", parser.args(["-i", "-"]).stdin(pipe).stdout(out));
        let (found, device) = (found.clone(), device.to_owned());
        match parser {
            Ok(parser) => Ok(Session { tracer, parser, found, device, over: false }),
            Err(error) => {
                tracer.signal(ENDS);
                let _ = tracer.wait(Instant::now() + PATIENCE);
                untrace(&found, &device, &mut tracer);
                Err(error)
            }
        }
    }

    /// Neither may end by itself.
    fn must_run(&mut self) -> Result<(), RecordError> {
        for program in [&mut self.tracer, &mut self.parser] {
            if program.ended()?.is_some() {
                return Err(program.failure());
            }
        }
        Ok(())
    }

    /// Ends in order: the tracer first, which hands over what it has; then the parser has read all.
    fn end(mut self) -> Result<(), RecordError> {
        self.tracer.signal(ENDS);
        for program in [&mut self.tracer, &mut self.parser] {
            let status = program.wait(Instant::now() + PATIENCE)?;
            // blktrace ends with success when it is asked to; a shell would say 130.
            if !status.is_some_and(|status| status.success()) {
                return Err(program.failure_or_hang(status.is_some()));
            }
        }
        self.over = true;
        Ok(())
    }
}

impl Program {
    fn failure_or_hang(&mut self, ended: bool) -> RecordError {
        if ended {
            return self.failure();
        }
        RecordError::Ended { program: self.name, said: format!("it did not end in {} s", PATIENCE.as_secs()).into() }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        self.tracer.signal(ENDS);
        let _ = self.tracer.wait(Instant::now() + PATIENCE / 10);
        untrace(&self.found, &self.device, &mut self.tracer);
        self.parser.signal(Signal::KILL);
        let _ = self.parser.child.wait();
    }
}

/// Ends the tracer for good, and the kernel's tracing, which outlives a tracer that was killed.
fn untrace(found: &Found, device: &Path, tracer: &mut Program) {
    let ended = matches!(tracer.ended(), Ok(Some(status)) if status.success());
    tracer.signal(Signal::KILL);
    let _ = tracer.child.wait();
    if !ended {
        let mut command = Command::new(&found.blktrace);
        command.arg("-d").arg(device).arg("-r").arg(&found.debugfs).arg("-k");
        // It says so when there is nothing to end.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}
