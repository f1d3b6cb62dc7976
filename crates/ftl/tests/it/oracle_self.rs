//! The models that write amplification is held against, held against published figures, their own limits and a
//! plain experiment.

use crate::oracle::brute::{self, Policy, Setup};
use crate::oracle::{HotCold, d_choices, fifo, fifo_hot_cold, greedy, lambert_w0, random, separated_best};

fn assert_close(what: &str, got: f64, expected: f64, share: f64) {
    assert!((got / expected - 1.0).abs() <= share, "{what}: {got}, expected {expected}");
}

fn experiment(u: f64, pages_per_block: usize, policy: Policy) -> f64 {
    let setup = Setup { blocks: 600, pages_per_block, u, policy, traffic: None, separate: false };
    brute::waf(setup, 8, 16)
}

#[test]
fn greedy_gives_the_known_values() {
    for (u, waf) in [(0.70, 1.86), (0.776, 2.40), (0.93, 6.98)] {
        assert_close("greedy", greedy(u, 128), waf, 0.03);
    }
}

#[test]
fn fifo_gives_the_known_values() {
    for (u, waf) in [(0.70, 1.88), (0.80, 2.70), (0.90, 5.20)] {
        assert_close("FIFO", fifo(u), waf, 0.005);
    }
}

#[test]
fn lamberts_w_inverts_w_exp_w() {
    for w in [-0.999, -0.9, -0.5, -0.1, -1e-6, 0.3, 1.0, 5.0] {
        let w: f64 = w;
        assert!((lambert_w0(w * w.exp()) - w).abs() < 1e-7, "{w}");
    }
}

#[test]
fn one_choice_is_a_random_victim() {
    for b in [1, 32, 128] {
        for u in [0.3, 0.5, 0.7, 0.9] {
            assert_close("d = 1", d_choices(u, b, 1), random(u), 1e-6);
        }
    }
}

#[test]
fn many_choices_are_greedy() {
    for b in [16, 128] {
        for u in [0.5, 0.7, 0.9] {
            assert_close("d = 10^6", d_choices(u, b, 1_000_000), greedy(u, b), 1e-3);
        }
    }
}

#[test]
fn greedy_on_large_blocks_is_fifo_and_better_on_small_ones() {
    for u in [0.3, 0.5, 0.7, 0.8, 0.9, 0.95] {
        assert_close("large blocks", greedy(u, 1 << 20), fifo(u), 1e-4);
        let by_size: Vec<f64> = [1, 4, 16, 64, 256, 1024].map(|b| greedy(u, b)).into();
        assert!(by_size.is_sorted() && by_size[5] < fifo(u), "{by_size:?}");
    }
}

#[test]
fn a_block_of_one_page_never_relocates() {
    assert_eq!(greedy(0.9, 1), 1.0);
}

#[test]
fn policies_are_ordered_at_every_fill() {
    for u in [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95] {
        let by_d: Vec<f64> = [1, 2, 4, 10, 100].map(|d| d_choices(u, 64, d)).into();
        assert!(by_d.is_sorted_by(|a, b| a > b), "{by_d:?}");
        assert!(greedy(u, 64) <= by_d[4], "{by_d:?}");
    }
}

/// The stationary equations put back into the process they came from: blocks step down one page at a time, victims
/// start anew, until nothing moves.
#[test]
fn the_fixed_point_is_where_the_process_comes_to_rest() {
    let (u, b, d) = (0.7, 16usize, 3);
    let mut share = vec![0.0; b + 1];
    // Full blocks and empty ones.
    share[b] = u;
    share[0] = 1.0 - u;
    let mut waf = 0.0;
    for _ in 0..200_000 {
        let tail = |k: usize| -> f64 { share[k..].iter().sum::<f64>().min(1.0) };
        let victim: Vec<f64> =
            (0..=b).map(|k| tail(k).powi(d) - if k < b { tail(k + 1).powi(d) } else { 0.0 }).collect();
        let invalid: f64 = victim.iter().enumerate().map(|(k, v)| v * (b - k) as f64).sum();
        waf = b as f64 / invalid;
        // One of a thousand blocks is collected in each step.
        let step = 1e-3;
        let fall = |k: usize| if k <= b { step * invalid * k as f64 * share[k] / (u * b as f64) } else { 0.0 };
        let next: Vec<f64> = (0..=b)
            .map(|k| share[k] + fall(k + 1) - fall(k) - step * victim[k] + if k == b { step } else { 0.0 })
            .collect();
        share = next;
    }
    assert_close("fixed point", waf, d_choices(u, b as u32, d as u32), 1e-6);
}

#[test]
fn uniform_traffic_has_no_hot_side() {
    let uniform = HotCold { hot_share: 0.2, hot_rate: 0.2 };
    for u in [0.5, 0.8, 0.9] {
        assert_close("mixed", fifo_hot_cold(u, uniform), fifo(u), 1e-6);
        // Separation can't help where there is nothing to separate.
        assert_close("separated", separated_best(u, uniform, fifo), fifo(u), 1e-4);
    }
}

#[test]
fn separation_pays_and_skew_alone_costs() {
    let traffic = HotCold { hot_share: 0.2, hot_rate: 0.8 };
    for u in [0.6, 0.7, 0.8, 0.9] {
        let (apart, mixed) = (separated_best(u, traffic, fifo), fifo_hot_cold(u, traffic));
        assert!(apart < fifo(u) && fifo(u) < mixed, "{apart} {} {mixed}", fifo(u));
    }
}

#[test]
fn an_experiment_agrees_with_greedy() {
    assert_close("greedy", experiment(0.7, 32, Policy::Greedy), greedy(0.7, 32), 0.015);
    assert_close("greedy", experiment(0.85, 64, Policy::Greedy), greedy(0.85, 64), 0.015);
}

#[test]
fn an_experiment_agrees_with_fifo() {
    assert_close("FIFO", experiment(0.8, 32, Policy::Fifo), fifo(0.8), 0.015);
}

#[test]
fn an_experiment_agrees_with_random_choices() {
    assert_close("d = 1", experiment(0.6, 32, Policy::RandomD(1)), random(0.6), 0.015);
    assert_close("d = 4", experiment(0.8, 32, Policy::RandomD(4)), d_choices(0.8, 32, 4), 0.015);
}

#[test]
fn an_experiment_agrees_with_fifo_under_skew_wherever_relocated_pages_go() {
    let traffic = HotCold { hot_share: 0.2, hot_rate: 0.8 };
    for separate in [false, true] {
        let setup =
            Setup { blocks: 600, pages_per_block: 32, u: 0.75, policy: Policy::Fifo, traffic: Some(traffic), separate };
        assert_close("FIFO", brute::waf(setup, 16, 16), fifo_hot_cold(0.75, traffic), 0.02);
    }
}

#[test]
fn an_experiment_does_not_care_where_relocated_pages_go_under_uniform_traffic() {
    let setup =
        |separate| Setup { blocks: 600, pages_per_block: 32, u: 0.8, policy: Policy::Greedy, traffic: None, separate };
    assert_close("separate", brute::waf(setup(true), 8, 16), brute::waf(setup(false), 8, 16), 0.02);
}
