//! Parts of a range that hold something, and parts that do not.

/// Joins neighbours that are alike, as (bytes, is written), until there would be more than `most`.
pub(crate) fn joined(pieces: impl Iterator<Item = (u64, bool)>, most: usize) -> Vec<(u64, bool)> {
    let mut extents: Vec<(u64, bool)> = Vec::new();
    for (len, is_written) in pieces {
        let found = extents.len();
        match extents.last_mut() {
            Some((all, last)) if *last == is_written => *all += len,
            _ if found == most => break,
            _ => extents.push((len, is_written)),
        }
    }
    extents
}

/// Cuts a range at the multiples of a size: where each piece begins, and its bytes.
pub(crate) fn cut(offset_bytes: u64, end_bytes: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut at = offset_bytes;
    std::iter::from_fn(move || {
        let from = at;
        (from < end_bytes).then(|| {
            at = ((from / size + 1) * size).min(end_bytes);
            (from, at - from)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_range_are_joined_where_they_are_alike() {
        let pieces: Vec<(u64, u64)> = cut(3, 21, 8).collect();
        assert_eq!(pieces, [(3, 5), (8, 8), (16, 5)]);
        let written = |at: u64| at >= 8;
        let pieces = || cut(3, 21, 8).map(|(at, len)| (len, written(at)));
        assert_eq!(joined(pieces(), 9), [(5, false), (13, true)]);
        assert_eq!(joined(pieces(), 1), [(5, false)]);
        assert_eq!(cut(8, 8, 8).count(), 0);
    }
}
