//! The spare areas and payloads of several sectors, in a unit or in some blocks.
//!
//! A payload of a real card is one piece of memory that is passed on by reference: from the write buffer into the unit
//! of a stripe, from there into the cells, and from the cells to its reader. A write to a shared payload copies it
//! first. Short payloads, as in simulations, lie one after the other instead, because copying them costs less than
//! counting references.

use crate::payload::Payload;
use format::SPARE_BYTES;
use std::ops::Range;

/// The lengths of payloads that are shared.
const SHARED_BYTES: std::ops::RangeInclusive<usize> = 512..=ZEROES.len();

static ZEROES: [u8; 4096] = [0; 4096];

#[derive(Clone, Debug)]
pub(crate) struct Sectors {
    payload_bytes: usize,
    bytes: Bytes,
}

#[derive(Clone, Debug)]
enum Bytes {
    Short { spares: Vec<u8>, payloads: Vec<u8> },
    Shared(Vec<Sector>),
}

/// The payload and the spare area of a sector stand together, because each cache miss costs as much as a copy.
#[derive(Clone, Debug)]
struct Sector {
    /// The payload; `None` stands for zeroes.
    payload: Option<Payload>,
    spare: [u8; SPARE_BYTES],
}

impl Sectors {
    /// Sectors that are all zeroes.
    pub fn new(sectors: usize, payload_bytes: usize) -> Sectors {
        let bytes = match SHARED_BYTES.contains(&payload_bytes) {
            true => Bytes::Shared(vec![Sector { payload: None, spare: [0; SPARE_BYTES] }; sectors]),
            false => {
                Bytes::Short { spares: vec![0; sectors * SPARE_BYTES], payloads: vec![0; sectors * payload_bytes] }
            }
        };
        Sectors { payload_bytes, bytes }
    }

    pub fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Short { spares, .. } => spares.len() / SPARE_BYTES,
            Bytes::Shared(sectors) => sectors.len(),
        }
    }

    pub fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    #[inline]
    pub fn spare(&self, sector: usize) -> &[u8] {
        match &self.bytes {
            Bytes::Short { spares, .. } => &spares[sector * SPARE_BYTES..][..SPARE_BYTES],
            Bytes::Shared(sectors) => &sectors[sector].spare,
        }
    }

    #[inline]
    pub fn spare_mut(&mut self, sector: usize) -> &mut [u8] {
        match &mut self.bytes {
            Bytes::Short { spares, .. } => &mut spares[sector * SPARE_BYTES..][..SPARE_BYTES],
            Bytes::Shared(sectors) => &mut sectors[sector].spare,
        }
    }

    #[inline]
    pub fn payload(&self, sector: usize) -> &[u8] {
        match &self.bytes {
            Bytes::Short { payloads, .. } => &payloads[sector * self.payload_bytes..][..self.payload_bytes],
            Bytes::Shared(sectors) => sectors[sector].payload.as_deref().unwrap_or(&ZEROES[..self.payload_bytes]),
        }
    }

    /// A payload that is a part of a longer write.
    pub fn part(&self, sector: usize) -> Option<&bytes::Bytes> {
        match &self.bytes {
            Bytes::Short { .. } => None,
            Bytes::Shared(sectors) => sectors[sector].payload.as_ref()?.as_part(),
        }
    }

    /// A payload, to write. It is not shared any more afterwards.
    pub fn payload_mut(&mut self, sector: usize) -> &mut [u8] {
        match &mut self.bytes {
            Bytes::Short { payloads, .. } => &mut payloads[sector * self.payload_bytes..][..self.payload_bytes],
            Bytes::Shared(sectors) => {
                sectors[sector].payload.get_or_insert_with(|| ZEROES[..self.payload_bytes].into()).make_mut()
            }
        }
    }

    /// A share of a payload.
    #[inline]
    pub fn share(&self, sector: usize) -> Payload {
        let shared = match &self.bytes {
            Bytes::Short { .. } => None,
            Bytes::Shared(sectors) => sectors[sector].payload.as_ref(),
        };
        shared.map_or_else(|| self.payload(sector).into(), Payload::clone)
    }

    /// Makes this the payload of a sector.
    ///
    /// # Panics
    /// If the length differs.
    #[inline]
    pub fn set_payload(&mut self, sector: usize, payload: &Payload) {
        assert_eq!(payload.len(), self.payload_bytes, "a payload of another length");
        match &mut self.bytes {
            Bytes::Short { .. } => self.payload_mut(sector).copy_from_slice(payload),
            Bytes::Shared(sectors) => sectors[sector].payload = Some(payload.clone()),
        }
    }

    /// Gives a sector memory of its own to read into, if it has none.
    pub fn provide(&mut self, sector: usize, memory: &mut Vec<Payload>) {
        if let Bytes::Shared(sectors) = &mut self.bytes {
            let payload = &mut sectors[sector].payload;
            if payload.as_mut().and_then(Payload::get_mut).is_none()
                && let Some(memory) = memory.pop()
            {
                *payload = Some(memory);
            }
        }
    }

    /// Copies these bytes into the payload of a sector.
    pub fn write_payload(&mut self, sector: usize, bytes: &[u8]) {
        match &mut self.bytes {
            Bytes::Short { .. } => self.payload_mut(sector).copy_from_slice(bytes),
            Bytes::Shared(sectors) => {
                let payload = &mut sectors[sector].payload;
                match payload.as_mut().and_then(Payload::get_mut) {
                    Some(memory) => memory.copy_from_slice(bytes),
                    None => *payload = Some(bytes.into()),
                }
            }
        }
    }

    /// Makes the payload of a sector all zeroes.
    pub fn zero_payload(&mut self, sector: usize) {
        match &mut self.bytes {
            Bytes::Short { .. } => self.payload_mut(sector).fill(0),
            Bytes::Shared(sectors) => sectors[sector].payload = None,
        }
    }

    /// Copies a sector of other contents.
    #[inline]
    pub fn copy(&mut self, sector: usize, from: &Sectors, of: usize) {
        match (&mut self.bytes, &from.bytes) {
            (Bytes::Shared(to), Bytes::Shared(from)) => to[sector].clone_from(&from[of]),
            _ => {
                self.spare_mut(sector).copy_from_slice(from.spare(of));
                self.payload_mut(sector).copy_from_slice(from.payload(of));
            }
        }
    }

    /// Drops shared payloads, which are undefined afterwards. Appends those without another owner to `freed`.
    pub fn forget(&mut self, sectors: Range<usize>, freed: &mut Vec<Payload>) {
        let Bytes::Shared(all) = &mut self.bytes else { return };
        let sectors = &mut all[sectors];
        // Reading all counts at once overlaps their cache misses, which takes a fraction of the time.
        let counts = sectors.iter().filter_map(|sector| sector.payload.as_ref().map(Payload::owners));
        std::hint::black_box(counts.sum::<usize>());
        let shares = sectors.iter_mut().filter_map(|sector| sector.payload.take());
        freed.extend(shares.filter(Payload::is_reusable));
    }

    /// The crc32c of all spare areas and payloads, sector by sector.
    pub fn crc(&self) -> u32 {
        (0..self.len()).fold(0, |crc, sector| {
            crc32c::crc32c_append(crc32c::crc32c_append(crc, self.spare(sector)), self.payload(sector))
        })
    }
}

impl PartialEq for Sectors {
    fn eq(&self, other: &Sectors) -> bool {
        self.payload_bytes == other.payload_bytes
            && self.len() == other.len()
            && (0..self.len()).all(|sector| {
                self.spare(sector) == other.spare(sector) && self.payload(sector) == other.payload(sector)
            })
    }
}

impl Eq for Sectors {}

/// The memory of payloads that were erased, for payloads that are written. A clone is empty, because memory has one
/// owner.
#[derive(Debug, Default)]
pub(crate) struct Freed(pub Vec<Payload>);

impl Clone for Freed {
    fn clone(&self) -> Freed {
        Freed::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_is_not_changed_for_others() {
        for payload_bytes in [16, 4096] {
            let mut one = Sectors::new(2, payload_bytes);
            one.payload_mut(1).fill(7);
            let share = one.share(1);
            let mut other = Sectors::new(3, payload_bytes);
            other.copy(2, &one, 1);
            let before = one.clone();
            one.payload_mut(1)[3] = 8;
            assert!(other.payload(2).iter().chain(&*share).chain(before.payload(1)).all(|byte| *byte == 7));
            assert_eq!(one.payload(1)[3], 8);
            assert_ne!(one, before);
            other.zero_payload(2);
            assert_eq!(other, Sectors::new(3, payload_bytes));
        }
    }

    #[test]
    fn only_memory_that_nobody_else_has_is_freed() {
        let mut sectors = Sectors::new(3, 4096);
        sectors.payload_mut(0).fill(1);
        sectors.payload_mut(2).fill(3);
        let share = sectors.share(2);
        let mut freed = Vec::new();
        sectors.forget(0..3, &mut freed);
        assert_eq!(freed.iter().map(|payload| payload[0]).collect::<Vec<_>>(), [1]);
        assert_eq!(share[0], 3);
    }
}
