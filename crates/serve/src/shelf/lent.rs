//! Memory for direct I/O that goes back to its pool when the reply is sent.

use files::Buffer;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;

/// The most bytes that a pool keeps: those of a queue of small requests.
const MAX_KEPT_BYTES: usize = 2 << 20;
/// Buffers have these sizes, so that one that has come back serves most others.
const SIZES: [usize; 3] = [4 << 10, 64 << 10, 1 << 20];

/// The free buffers of a connection. Mapping pages anew would cost more than a request does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lending(Arc<Mutex<Vec<Buffer>>>);

impl Lending {
    /// A buffer with arbitrary contents.
    pub fn take(&self, len: usize) -> io::Result<Buffer> {
        let size = SIZES.into_iter().find(|size| *size >= len).unwrap_or(len);
        let mut free = self.0.lock();
        let fits = free.iter().rposition(|buffer| buffer.capacity() >= len && buffer.capacity() <= size);
        let mut buffer = match fits {
            Some(at) => free.swap_remove(at),
            None => {
                drop(free);
                Buffer::new(size)?
            }
        };
        buffer.set_len(len);
        Ok(buffer)
    }

    pub fn give(&self, buffer: Buffer) {
        let mut free = self.0.lock();
        let kept: usize = free.iter().map(Buffer::capacity).sum();
        if buffer.capacity() > 0 && kept + buffer.capacity() <= MAX_KEPT_BYTES {
            free.push(buffer);
        }
    }

    /// The bytes of a read, until they are sent.
    pub fn lend(&self, buffer: Buffer) -> Lent {
        Lent { buffer, home: self.clone() }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Lent {
    buffer: Buffer,
    home: Lending,
}

impl Lent {
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.home.give(std::mem::replace(&mut self.buffer, Buffer::none()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_when_its_reply_is_dropped_and_the_pool_is_bounded() {
        let lending = Lending::default();
        let first = lending.take(4096).unwrap();
        let place = first.bytes().as_ptr();
        drop(lending.lend(first));
        let again = lending.take(100).unwrap();
        assert_eq!((again.bytes().len(), again.bytes().as_ptr()), (100, place));
        let many: Vec<Buffer> = (0..8).map(|_| lending.take(1 << 20).unwrap()).collect();
        many.into_iter().for_each(|buffer| lending.give(buffer));
        assert_eq!(lending.0.lock().len(), 2);
        // A small request does not take the memory of a large one.
        assert_eq!(lending.take(4096).unwrap().capacity(), 4096);
    }
}
