//! The bytes of a sector, shared by all their users.

use bytes::Bytes;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The bytes of a sector, shared by all their users. They have memory of their own, or are a part of a longer write.
#[derive(Clone)]
pub struct Payload(Memory);

#[derive(Clone)]
enum Memory {
    Own(Arc<[u8]>),
    Part(Bytes),
}

impl Payload {
    /// A part of a longer write, whose memory its owner has again when nobody has any part of it.
    pub fn part(bytes: Bytes) -> Payload {
        Payload(Memory::Part(bytes))
    }

    /// The part of a longer write; `None`: the payload has memory of its own.
    pub fn as_part(&self) -> Option<&Bytes> {
        match &self.0 {
            Memory::Own(_) => None,
            Memory::Part(bytes) => Some(bytes),
        }
    }

    /// The bytes, to write, if they have memory of their own that nobody else has.
    pub fn get_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.0 {
            Memory::Own(bytes) => Arc::get_mut(bytes),
            Memory::Part(_) => None,
        }
    }

    /// The bytes, to write. They are copied first if anybody else has them.
    pub fn make_mut(&mut self) -> &mut [u8] {
        if let Memory::Part(bytes) = &self.0 {
            self.0 = Memory::Own(bytes[..].into());
        }
        match &mut self.0 {
            Memory::Own(bytes) => Arc::make_mut(bytes),
            Memory::Part(_) => unreachable!("it was copied"),
        }
    }

    /// Whether another payload may have this memory: nobody else has it.
    pub fn is_reusable(&self) -> bool {
        self.owners() == 1
    }

    /// Owners of memory of a payload's own; 0: it is a part of a longer write.
    pub(crate) fn owners(&self) -> usize {
        match &self.0 {
            Memory::Own(bytes) => Arc::strong_count(bytes),
            Memory::Part(_) => 0,
        }
    }
}

impl Deref for Payload {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Memory::Own(bytes) => bytes,
            Memory::Part(bytes) => bytes,
        }
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Payload) -> bool {
        **self == **other
    }
}

impl Eq for Payload {}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl From<&[u8]> for Payload {
    fn from(bytes: &[u8]) -> Payload {
        Payload(Memory::Own(bytes.into()))
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        Payload(Memory::Own(bytes.into()))
    }
}

impl From<Box<[u8]>> for Payload {
    fn from(bytes: Box<[u8]>) -> Payload {
        Payload(Memory::Own(bytes.into()))
    }
}

impl<const N: usize> From<[u8; N]> for Payload {
    fn from(bytes: [u8; N]) -> Payload {
        Payload(Memory::Own(bytes.into()))
    }
}

/// A payload with these bytes, in the memory of one that nobody else has, if it has as many.
pub fn payload_in(memory: Option<Payload>, bytes: &[u8]) -> Payload {
    if let Some(mut payload) = memory
        && let Some(memory) = payload.get_mut()
        && memory.len() == bytes.len()
    {
        memory.copy_from_slice(bytes);
        return payload;
    }
    bytes.into()
}

/// Looks at the last payloads of a list, because they are to be used: reading all counts at once overlaps their cache misses,
/// which takes a fraction of the time.
pub fn touch_last(payloads: &[Payload], count: usize) {
    let last = &payloads[payloads.len().saturating_sub(count)..];
    std::hint::black_box(last.iter().map(Payload::owners).sum::<usize>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_longer_write_is_never_written_to_and_its_memory_is_nobody_elses() {
        let write = Bytes::from(vec![7; 8192]);
        let mut part = Payload::part(write.slice(4096..));
        assert!(part.as_part().is_some() && part.get_mut().is_none() && !part.is_reusable());
        let other = part.clone();
        part.make_mut()[0] = 8;
        assert_eq!((part[0], other[0], write[4096]), (8, 7, 7));
        assert!(part.as_part().is_none() && part.is_reusable(), "it has memory of its own now");
        let taken = payload_in(Some(other.clone()), &[9; 4096]);
        assert_eq!((taken[0], other[0]), (9, 7));
    }

    #[test]
    fn memory_is_used_again_when_nobody_else_has_it_and_it_is_as_long() {
        let payload = Payload::from([1; 512]);
        let (place, share) = (payload.as_ptr(), payload.clone());
        assert_ne!(payload_in(Some(payload), &[2; 512]).as_ptr(), place, "it is shared");
        let payload = payload_in(Some(share), &[3; 512]);
        assert_eq!((payload.as_ptr(), payload[0]), (place, 3));
        assert_eq!(payload_in(Some(payload), &[4; 16]).len(), 16);
    }
}
