//! A device's ends, read once.

use super::ReadAt;
use std::borrow::Cow;
use std::io;

/// Nearly all marks are within this of one end; the others are read on their own.
const WINDOW: u64 = 1 << 20;
/// After an error the window is read again in pieces of this size, so that a bad sector hides only itself.
const PIECE: usize = 4096;

pub(super) struct Media<'a> {
    reader: &'a dyn ReadAt,
    size: u64,
    head: Vec<u8>,
    tail_at: u64,
    tail: Vec<u8>,
    unreadable: Vec<u64>,
}

impl<'a> Media<'a> {
    pub fn new(reader: &'a dyn ReadAt, size: u64) -> Self {
        let mut media =
            Media { reader, size, head: Vec::new(), tail_at: size, tail: Vec::new(), unreadable: Vec::new() };
        media.head = media.window(0, size.min(WINDOW));
        // Never read twice: a small device has only a head.
        media.tail_at = size.saturating_sub(WINDOW).max(media.head.len() as u64);
        media.tail = media.window(media.tail_at, size - media.tail_at);
        media
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes at an offset; none where the device doesn't reach or can't be read. Unreadable bytes read as zeros in the
    /// windows: they are no mark, and are told apart by `unreadable`.
    pub fn bytes(&mut self, offset: u64, length: usize) -> Option<Cow<'_, [u8]>> {
        let end = offset.checked_add(length as u64)?;
        if end > self.size {
            return None;
        }
        let slice = |window: &'_ [u8], at: u64| -> Option<(usize, usize)> {
            let from = usize::try_from(offset.checked_sub(at)?).ok()?;
            let to = from.checked_add(length)?;
            (to <= window.len()).then_some((from, to))
        };
        if let Some((from, to)) = slice(&self.head, 0) {
            return Some(Cow::Borrowed(&self.head[from..to]));
        }
        if let Some((from, to)) = slice(&self.tail, self.tail_at) {
            return Some(Cow::Borrowed(&self.tail[from..to]));
        }
        let mut buf = vec![0; length];
        match read_full(self.reader, offset, &mut buf) {
            Ok(()) => Some(Cow::Owned(buf)),
            Err(_) => {
                self.mark(offset);
                None
            }
        }
    }

    /// Returns whether these bytes are there.
    pub fn has(&mut self, offset: u64, bytes: &[u8]) -> bool {
        self.bytes(offset, bytes.len()).is_some_and(|found| *found == *bytes)
    }

    pub fn into_unreadable(mut self) -> Vec<u64> {
        self.unreadable.sort_unstable();
        self.unreadable
    }

    fn window(&mut self, at: u64, length: u64) -> Vec<u8> {
        let mut window = vec![0; usize::try_from(length.min(WINDOW)).expect("a window is small")];
        if read_full(self.reader, at, &mut window).is_err() {
            for (index, piece) in window.chunks_mut(PIECE).enumerate() {
                let offset = at + (index * PIECE) as u64;
                if read_full(self.reader, offset, piece).is_err() {
                    piece.fill(0);
                    self.unreadable.push(offset);
                }
            }
        }
        window
    }

    fn mark(&mut self, offset: u64) {
        if !self.unreadable.contains(&offset) {
            self.unreadable.push(offset);
        }
    }
}

fn read_full(reader: &dyn ReadAt, offset: u64, mut buf: &mut [u8]) -> io::Result<()> {
    let mut at = offset;
    while !buf.is_empty() {
        match reader.read_at(at, buf) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            // A reader that claims more than it was asked for lies.
            Ok(read) if read > buf.len() => return Err(io::ErrorKind::InvalidData.into()),
            Ok(read) => {
                at = at.saturating_add(read as u64);
                buf = &mut buf[read..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
