//! Rounding a sum and its parts so that they still add up on paper.

/// `parts` in whole multiples of `unit`, adding up to the rounded sum: each is rounded down, and what is missing
/// goes to those that lost most.
pub fn parts_that_add_up(parts: &[f64], unit: f64) -> Vec<u64> {
    let scaled: Vec<f64> = parts.iter().map(|part| part.max(0.0) / unit).collect();
    let mut rounded: Vec<u64> = scaled.iter().map(|part| part.floor() as u64).collect();
    let total = scaled.iter().sum::<f64>().round() as u64;
    let missing = total.saturating_sub(rounded.iter().sum());
    let mut by_loss: Vec<usize> = (0..parts.len()).collect();
    by_loss.sort_by(|&a, &b| scaled[b].fract().total_cmp(&scaled[a].fract()));
    for &part in by_loss.iter().take(missing as usize) {
        rounded[part] += 1;
    }
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_rounded_sum() {
        for (parts, expected) in [
            (vec![0.4, 0.4, 0.4], vec![1, 0, 0]),
            (vec![1.6, 1.6, 1.6], vec![2, 2, 1]),
            (vec![2.0, 3.0], vec![2, 3]),
            (vec![], vec![]),
        ] {
            let rounded = parts_that_add_up(&parts, 1.0);
            assert_eq!(rounded, expected, "{parts:?}");
            assert_eq!(rounded.iter().sum::<u64>(), parts.iter().sum::<f64>().round() as u64);
        }
        assert_eq!(parts_that_add_up(&[123_456.0, 544.0], 100.0), [1235, 5]);
    }
}
