//! The closed form, as a check on the simulation.

/// Bytes that the host can write until the rated cycles are used up, if all blocks wear alike: every cycle of every block
/// programs its data once, and `waf` of what is programmed serves one of the host. Parity and summaries have no part of
/// `data_bytes`, so they are paid for.
pub fn endurance_bytes(rated_cycles: f64, data_bytes: f64, waf: f64) -> f64 {
    rated_cycles * data_bytes / waf
}

/// Share of the blocks that were retired after `wear` of the rated cycles. The chance that a cycle retires a block is
/// `fail_at_rated` times the fourth power of its wear, so the hazard adds up to
/// `fail_at_rated * rated_cycles * wear^5 / 5`.
pub fn retired_share(fail_at_rated: f64, rated_cycles: f64, wear: f64) -> f64 {
    1.0 - (-fail_at_rated * rated_cycles * wear.powi(5) / 5.0).exp()
}

/// Wear, as a share of the rated cycles, at which so large a share of the blocks is retired: [`retired_share`] turned
/// round. None: no block ever is.
pub fn wear_at_retired(fail_at_rated: f64, rated_cycles: f64, share: f64) -> Option<f64> {
    let whole_life = fail_at_rated * rated_cycles / 5.0;
    (whole_life > 0.0 && share < 1.0).then(|| (-(-share.max(0.0)).ln_1p() / whole_life).powf(0.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endurance_is_what_the_cycles_program_less_what_the_card_writes_for_itself() {
        assert_eq!(endurance_bytes(1_000.0, 1e12, 1.0), 1e15);
        assert_eq!(endurance_bytes(1_000.0, 1e12, 2.5), 4e14);
    }

    #[test]
    fn blocks_are_retired_as_the_sum_over_all_cycles_says() {
        // 1,000 cycles, 1 % at the rated ones: block by block.
        let survives: f64 = (1..=800).map(|c| 1.0 - 0.01 * (f64::from(c) / 1_000.0).powi(4)).product();
        assert!((retired_share(0.01, 1_000.0, 0.8) - (1.0 - survives)).abs() < 5e-3);
        assert_eq!(retired_share(0.0, 1_000.0, 1.0), 0.0);
    }

    #[test]
    fn the_wear_at_which_blocks_are_retired_is_that_of_their_share() {
        for (fail, cycles, share) in [(0.01, 1_000.0, 0.3), (14e-6, 7_000.0, 0.02), (2e-4, 100_000.0, 0.9)] {
            let wear = wear_at_retired(fail, cycles, share).unwrap();
            assert!((retired_share(fail, cycles, wear) - share).abs() < 1e-12, "{wear}");
        }
        assert_eq!(wear_at_retired(0.0, 1_000.0, 0.5), None);
    }
}
