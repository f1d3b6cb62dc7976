//! A trace, line by line: what all formats share.
//!
//! The first request is at time 0. Time that runs backwards ends the reading, or, where broken lines are skipped, is taken
//! as the time of the request before.

use crate::Given;
use crate::trace::compression::{Compression, unpacked};
use crate::trace::error::{Bad, Problem, TraceError};
use crate::trace::format::Format;
use crate::trace::lines::{Lines, Next};
use crate::trace::said::{Line, Said};
use crate::trace::volumes::Volumes;
use crate::trace::{Record, SPAN_LIMIT_NS};
use device::Operation;
use std::io::{self, BufRead, Read};

/// Options of reading a trace.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its format; `None`: as its content says.
    pub format: Option<Format>,
    /// Skips and counts broken lines.
    pub skip_bad: bool,
    /// Only requests of this volume.
    pub volume: Option<String>,
}

/// Counts of the lines so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Number of all lines.
    pub lines: u64,
    /// Lines that ask nothing: headers, other events, files that are opened.
    pub other: u64,
    /// Broken lines that were skipped.
    pub bad: u64,
    /// Requests whose time was before that of the one above, and was taken as that.
    pub backwards: u64,
    /// Requests of volumes that were not asked for.
    pub other_volumes: u64,
    /// Volumes of the requests, at most [`VOLUMES_LIMIT`](crate::trace::VOLUMES_LIMIT).
    pub volumes: u64,
}

/// Reads a trace.
pub struct Reader<'a> {
    file: String,
    lines: Lines<Box<dyn Read + Send + 'a>>,
    compression: Compression,
    format: Format,
    skip_bad: bool,
    volume: Option<String>,
    clock: Clock,
    counts: LineCounts,
    volumes: Volumes,
    requests: u64,
    over: bool,
}

/// The trace's time.
#[derive(Debug, Default)]
struct Clock {
    /// The first request, by the trace's own clock.
    began_ns: Option<u64>,
    /// The last one, since then.
    last_ns: u64,
}

impl<'a> Reader<'a> {
    /// Begins to read a stream; `file` is what messages call it.
    pub fn new(file: &str, source: impl BufRead + Send + 'a, options: Options) -> Result<Reader<'a>, TraceError> {
        let error = |problem| TraceError { file: file.into(), line: None, column: None, problem: Box::new(problem) };
        let (compression, source) = unpacked(source).map_err(|source| error(Problem::Unreadable { source }))?;
        let mut lines = Lines::new(source);
        let head = lines.head().map_err(|source| error(unreadable(compression, source)))?;
        let format = match options.format.or_else(|| Format::of(head)) {
            Some(format) => format,
            None if head.trim_ascii().is_empty() => return Err(error(Problem::Empty { volume: None })),
            None => return Err(error(Problem::Unrecognised)),
        };
        Ok(Reader {
            file: file.to_owned(),
            lines,
            compression,
            format,
            skip_bad: options.skip_bad,
            volume: options.volume,
            clock: Clock::default(),
            counts: LineCounts::default(),
            volumes: Volumes::default(),
            requests: 0,
            over: false,
        })
    }

    /// Returns the trace's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the trace's compression.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the counts of the lines so far.
    pub fn counts(&self) -> LineCounts {
        LineCounts { lines: self.lines.number(), volumes: self.volumes.count(), ..self.counts }
    }

    /// Appends the next requests, until there are at least `enough` in `out` (one line may hold two); returns whether
    /// more may follow. Records that were appended before an error count.
    pub fn read(&mut self, enough: usize, out: &mut Vec<Record>) -> Result<bool, TraceError> {
        while !self.over && out.len() < enough {
            self.read_line(out)?;
        }
        if self.over && self.requests == 0 {
            let volume = self.volume.clone().map(Given::from);
            let no_issues = self.format == Format::Blkparse && self.counts.other > 0 && self.counts.other_volumes == 0;
            return Err(self.error(None, if no_issues { Problem::NoIssues } else { Problem::Empty { volume } }));
        }
        Ok(!self.over)
    }

    fn read_line(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let clock = &mut self.clock;
        let counts = &mut self.counts;
        let bad = match self.lines.next() {
            Err(source) => {
                let problem = Box::new(unreadable(self.compression, source));
                let line = Some(self.lines.number() + 1);
                return Err(TraceError { file: self.file.clone().into(), line, column: None, problem });
            }
            Ok(Next::End) => {
                self.over = true;
                return Ok(());
            }
            Ok(Next::TooLong) => {
                Some(Bad { column: crate::trace::LINE_BYTES_LIMIT + 1, problem: Problem::LineTooLong })
            }
            Ok(Next::Line(line)) => match self.format.parse(line) {
                Err(_) if line.trim_ascii().is_empty() => {
                    counts.other += 1;
                    None
                }
                Err(bad) => Some(bad),
                Ok(Line::Other) => {
                    counts.other += 1;
                    None
                }
                Ok(Line::End) => {
                    self.over = true;
                    counts.other += 1;
                    None
                }
                Ok(Line::Wait(ns, column)) => {
                    counts.other += 1;
                    clock.wait(ns).err().map(|problem| Bad { column, problem })
                }
                Ok(Line::Request(said) | Line::Flushed(said))
                    if self.volume.as_ref().is_some_and(|volume| volume.as_bytes() != said.volume) =>
                {
                    counts.other_volumes += 1;
                    None
                }
                Ok(Line::Request(said)) => match clock.time_of(&said, self.skip_bad, counts) {
                    Ok(at_ns) => {
                        self.volumes.note(said.volume);
                        self.requests += 1;
                        out.push(record(&said, at_ns));
                        None
                    }
                    Err(bad) => Some(bad),
                },
                Ok(Line::Flushed(said)) => match clock.time_of(&said, self.skip_bad, counts) {
                    Ok(at_ns) => {
                        self.volumes.note(said.volume);
                        self.requests += 2;
                        out.push(Record { at_ns, op: Operation::Flush, fua: false, offset_bytes: 0, len_bytes: 0 });
                        out.push(record(&said, at_ns));
                        None
                    }
                    Err(bad) => Some(bad),
                },
            },
        };
        match bad {
            None => {}
            Some(_) if self.skip_bad => self.counts.bad += 1,
            Some(bad) => return Err(self.error(Some(bad.column), bad.problem)),
        }
        Ok(())
    }

    /// A problem of the line that was read last; of the file where there is no column.
    fn error(&self, column: Option<usize>, problem: Problem) -> TraceError {
        TraceError {
            file: self.file.clone().into(),
            line: column.map(|_| self.lines.number()),
            column,
            problem: Box::new(problem),
        }
    }
}

impl Clock {
    /// When a request was asked.
    #[inline]
    fn time_of(&mut self, said: &Said, clamp: bool, counts: &mut LineCounts) -> Result<u64, Bad> {
        let Some((stamp_ns, column)) = said.stamp else { return Ok(self.last_ns) };
        let began_ns = *self.began_ns.get_or_insert(stamp_ns);
        let at_ns = stamp_ns.saturating_sub(began_ns);
        let now_ns = began_ns + self.last_ns;
        if stamp_ns < now_ns {
            if !clamp {
                return Err(Bad { column, problem: Problem::Backwards { by_ns: now_ns - stamp_ns } });
            }
            counts.backwards += 1;
            return Ok(self.last_ns);
        }
        if at_ns > SPAN_LIMIT_NS {
            return Err(Bad { column, problem: Problem::TooLate });
        }
        self.last_ns = at_ns;
        Ok(at_ns)
    }

    fn wait(&mut self, ns: u64) -> Result<(), Problem> {
        let at_ns = self.last_ns.checked_add(ns).filter(|&at_ns| at_ns <= SPAN_LIMIT_NS).ok_or(Problem::TooLate)?;
        self.last_ns = at_ns;
        Ok(())
    }
}

fn record(said: &Said, at_ns: u64) -> Record {
    let Said { op, fua, offset_bytes, len_bytes, .. } = *said;
    Record { at_ns, op, fua, offset_bytes, len_bytes }
}

/// Errors of a decoder say that the data are broken; those of the system, that they can't be read.
fn unreadable(compression: Compression, source: io::Error) -> Problem {
    match (compression, source.kind()) {
        (Compression::Plain, _) => Problem::Unreadable { source },
        (
            _,
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::Other,
        ) => Problem::Broken { what: compression.name(), source },
        _ => Problem::Unreadable { source },
    }
}
