//! Payloads of a unit that a disk can be given where they lie, because they are parts of long writes.

use crate::sizes::PAGE_BYTES;
use bytes::Bytes;
use media::Unit;

/// A unit with more pieces than this is copied.
const MOST_PIECES: usize = 16;

/// The payloads of a unit, if they are parts of longer writes, lie on pages, and lie in few pieces one after the other.
pub(crate) fn payloads_in_place(unit: &Unit) -> Option<Vec<Bytes>> {
    let (mut pieces, mut next) = (0, 0);
    for sector in 0..unit.sectors() {
        let part = unit.part(sector)?;
        let place = part.as_ptr() as usize;
        if ![place, part.len()].iter().all(|bytes| bytes.is_multiple_of(PAGE_BYTES as usize)) {
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

    const SECTORS: u32 = 18;

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
        let mut memory = crate::Lender::for_bytes(1).take(40 * 4096).unwrap();
        memory.bytes_mut().chunks_mut(4096).zip(0..).for_each(|(page, number)| page.fill(number));
        let write = memory.freeze();
        let of_pages = |page_of: fn(usize) -> usize| {
            let pages: [usize; SECTORS as usize] = std::array::from_fn(page_of);
            (pages, unit(pages.map(|page| page * 4096), &write))
        };
        let in_one_piece = of_pages(|sector| sector + 3);
        let halves_swapped = of_pages(|sector| (sector + 9) % 18);
        let in_pairs = of_pages(|sector| sector / 2 * 3 + sector % 2);
        for (pages, unit) in [&in_one_piece, &halves_swapped, &in_pairs] {
            let found = payloads_in_place(unit).expect("it lies in few pieces");
            assert!(found.iter().zip(pages).all(|(payload, page)| usize::from(payload[17]) == *page), "{pages:?}");
        }
        assert_eq!(payloads_in_place(&of_pages(|sector| 2 * sector).1), None, "it lies in eighteen pieces");
        let between_pages = std::array::from_fn(|sector| sector * 4096 + 512);
        assert_eq!(payloads_in_place(&unit(between_pages, &write)), None);
        let (_, mut with_its_own) = in_one_piece;
        with_its_own.payload_mut(2)[0] = 9;
        assert_eq!(payloads_in_place(&with_its_own), None);
    }
}
