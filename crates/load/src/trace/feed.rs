//! A trace that is read ahead on a thread of its own, in batches of a limited number and size: whoever replays it need not
//! wait for the parser, and the parser never runs far ahead.

use crate::trace::reader::{LineCounts, Options, Reader};
use crate::trace::{BATCH_RECORDS, Compression, Format, Problem, Record, TraceError};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// Batches that wait to be taken.
const BATCHES_AHEAD: usize = 8;
/// Bytes that are read from the file at once.
const READ_BYTES: usize = 256 << 10;

/// Some requests, in the trace's order.
#[derive(Debug)]
pub struct Batch {
    /// The requests; may be none.
    pub records: Vec<Record>,
    /// Counts of all lines up to here.
    pub counts: LineCounts,
}

/// A trace that is being read.
pub struct Feed {
    format: Format,
    compression: Compression,
    size_bytes: u64,
    bytes_read: Arc<AtomicU64>,
    /// `None` after the end.
    batches: Option<Receiver<Result<Batch, TraceError>>>,
    thread: Option<JoinHandle<()>>,
}

impl Feed {
    /// Opens a file, `-` for standard input, and begins to read ahead.
    pub fn open(path: &Path, options: Options) -> Result<Feed, TraceError> {
        let file = path.display().to_string();
        let unreadable = |source| TraceError {
            file: path.to_owned(),
            line: None,
            column: None,
            problem: Box::new(Problem::Unreadable { source }),
        };
        if path == Path::new("-") {
            return Feed::new("standard input", io::stdin(), 0, options);
        }
        let opened = File::open(path).map_err(unreadable)?;
        let metadata = opened.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(unreadable(io::ErrorKind::IsADirectory.into()));
        }
        Feed::new(&file, opened, if metadata.is_file() { metadata.len() } else { 0 }, options)
    }

    /// The same for a stream of so many bytes; 0: nobody knows how many.
    pub fn new(
        file: &str,
        source: impl Read + Send + 'static,
        size_bytes: u64,
        options: Options,
    ) -> Result<Feed, TraceError> {
        let bytes_read = Arc::new(AtomicU64::new(0));
        let counted = Counted { source, bytes: bytes_read.clone() };
        let mut reader = Reader::new(file, BufReader::with_capacity(READ_BYTES, counted), options)?;
        let (format, compression) = (reader.format(), reader.compression());
        let (sender, batches) = sync_channel(BATCHES_AHEAD);
        let thread = std::thread::spawn(move || {
            loop {
                let mut records = Vec::with_capacity(BATCH_RECORDS + 1);
                let read = reader.read(BATCH_RECORDS, &mut records);
                let more = matches!(read, Ok(true));
                // Records before a broken line are handed on.
                let batch = Ok(Batch { records, counts: reader.counts() });
                let sent = sender.send(batch).is_ok() && read.map_or_else(|e| sender.send(Err(e)).is_ok(), |_| true);
                if !more || !sent {
                    return;
                }
            }
        });
        Ok(Feed { format, compression, size_bytes, bytes_read, batches: Some(batches), thread: Some(thread) })
    }

    /// Returns the trace's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the trace's compression.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Bytes of the file; 0 when nobody knows.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Bytes of the file that were read so far; it grows while the feed is used.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        self.bytes_read.clone()
    }

    /// The next requests; `None` after the last. After an error nothing comes.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, TraceError> {
        let Some(received) = self.batches.as_ref().and_then(|batches| batches.recv().ok()) else {
            self.join();
            return Ok(None);
        };
        if received.is_err() {
            self.join();
        }
        received.map(Some)
    }

    /// The thread ends when nobody takes its batches.
    fn join(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take()
            && let Err(panic) = thread.join()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.batches = None;
        // A thread that waits for standard input can't be asked to end; it ends with the process.
        drop(self.thread.take());
    }
}

/// Counts what is read.
struct Counted<R> {
    source: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
