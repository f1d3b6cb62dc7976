//! Payloads of a unit that a disk can be given where they lie, because they are parts of long writes.

use bytes::Bytes;
use media::Unit;

/// A unit with more pieces than this is copied.
const MOST_PIECES: usize = 4;
/// Pieces begin on pages, and are so many pages long.
const GRAIN_BYTES: usize = 4096;

/// The payloads of a unit, if they are parts of longer writes that lie in few pieces one after the other.
pub(crate) fn payloads_in_place(unit: &Unit) -> Option<Vec<Bytes>> {
    let (mut pieces, mut next) = (0, 0);
    for sector in 0..unit.sectors() {
        let part = unit.part(sector)?;
        let place = part.as_ptr() as usize;
        if !place.is_multiple_of(GRAIN_BYTES) || !part.len().is_multiple_of(GRAIN_BYTES) {
            return None;
        }
        pieces += usize::from(place != next);
        if pieces > MOST_PIECES {
            return None;
        }
        next = place + part.len();
    }
    (0..unit.sectors()).map(|sector| unit.part(sector).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use media::{Payload, Shape, payload_crc};

    const SECTORS: u32 = 6;

    fn unit(places: [usize; SECTORS as usize], write: &Bytes) -> Unit {
        let shape = Shape {
            modules: 1,
            dies_per_module: 1,
            blocks_per_die: 1,
            rows_per_block: 1,
            unit_sectors: SECTORS,
            payload_bytes: 4096,
            rows_sharing_cells: 1,
        };
        let mut unit = Unit::new(&shape);
        for (sector, place) in places.into_iter().enumerate() {
            let payload = Payload::part(write.slice(place..place + 4096));
            unit.set_payload(sector, &payload, payload_crc(&payload));
        }
        unit
    }

    #[test]
    fn payloads_are_taken_from_where_they_lie_if_that_is_few_pieces_of_whole_pages() {
        let mut lender = crate::Lender::for_bytes(1);
        let mut memory = lender.take(20 * 4096).unwrap();
        memory.bytes_mut().chunks_mut(4096).zip(0..).for_each(|(page, number)| page.fill(number));
        let write = memory.freeze();
        let pages = |pages: [usize; SECTORS as usize]| unit(pages.map(|page| page * 4096), &write);
        for in_place in [[3, 4, 5, 6, 7, 8], [9, 10, 11, 3, 4, 5], [0, 1, 3, 4, 6, 8]] {
            let found = payloads_in_place(&pages(in_place)).expect("it lies in few pieces");
            assert!(found.iter().map(|payload| usize::from(payload[17])).eq(in_place), "{in_place:?}");
        }
        assert_eq!(payloads_in_place(&pages([0, 2, 4, 6, 8, 9])), None, "it lies in five pieces");
        let between_pages = [0, 4096, 8192, 12_288, 16_384 + 512, 24_576];
        assert_eq!(payloads_in_place(&unit(between_pages, &write)), None);
        let mut with_its_own = pages([3, 4, 5, 6, 7, 8]);
        with_its_own.payload_mut(2)[0] = 9;
        assert_eq!(payloads_in_place(&with_its_own), None);
    }
}
