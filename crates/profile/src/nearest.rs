//! The known name that is most like what was typed.

/// The candidate nearest to `name`; the first of equals. Panics without candidates, which only a bug can cause.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> &'a str {
    // Distances need time in the product of the lengths: no known name is nearly as long as the limit.
    let typed: String = name.chars().take(64).flat_map(char::to_lowercase).collect();
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        // Edit distance finds slips, Jaro-Winkler finds names that begin alike (`erase` for `erase_ns`).
        let likeness =
            strsim::normalized_damerau_levenshtein(&typed, candidate) + 0.5 * strsim::jaro_winkler(&typed, candidate);
        if best.is_none_or(|(b, _)| likeness > b) {
            best = Some((likeness, candidate));
        }
    }
    best.expect("every list of known names has entries").1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_beginnings_find_their_name() {
        let keys = ["read_ns", "program_ns", "erase_ns", "slc_erase_ns", "bus_bytes_per_s", "max_suspends"];
        for (typed, expected) in [
            ("raed_ns", "read_ns"),
            ("erase", "erase_ns"),
            ("ERASE_NS", "erase_ns"),
            ("bus_mb_per_s", "bus_bytes_per_s"),
            ("suspends", "max_suspends"),
        ] {
            assert_eq!(nearest(typed, keys), expected, "{typed}");
        }
    }

    #[test]
    fn any_text_has_a_nearest_name() {
        assert_eq!(nearest("", ["a", "b"]), "a");
        nearest(&"x".repeat(1 << 20), ["a", "b"]);
    }
}
