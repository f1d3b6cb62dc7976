//! Expected write amplification: analytic models that share no code and no idea with the flash management.
//!
//! All are mean-field limits (many erase blocks) for a device without parity where single pages are overwritten at
//! random. `u` is the used share of the data capacity, valid pages / all pages, and `b` the pages of an erase block.
//! WAF is pages programmed for data / pages written by the host.
//!
//! One argument carries all of them. While one block is collected the host writes `h` pages, so WAF = b / h. A block
//! is written, loses valid pages one by one, and is collected. Let S(k) be the share of blocks with at most `k` valid
//! pages and V(k) the chance that a victim has at most `k`. In steady state as many blocks fall from `k + 1` to `k`
//! valid pages as are collected at `k` or below. A host write hits a given block with `k + 1` valid pages with
//! probability (k + 1) / (u b N), hence for 0 <= k < b
//!
//! ```text
//! h (k + 1) (S(k+1) - S(k)) / (u b) = V(k)                                                                      (1)
//! S(b) = 1,  h = V(0) + ... + V(b-1)        (the victim's mean number of invalid pages)
//! ```
//!
//! The policy is the function that makes V of S.
//!
//! Where relocated pages go: the models put them into the block that takes host writes too. Separate open blocks
//! change nothing in (1) when traffic is uniform, for a page's chance to be overwritten next does not depend on
//! its history: a block that was filled with relocated pages and one filled with host pages both start with `b` valid
//! ones and lose them at the same rate. The difference is of the order of 1 / N: one more block is open and partly
//! empty, and a block that fills slowly has lost more pages by the time it is closed. Under skewed traffic the two
//! differ a great deal, because relocated pages are colder than the mean.
//!
//! Free blocks are not part of the models: `u` refers to the blocks that hold data. A device that keeps `f` of `N`
//! blocks erased runs at u N / (N - f).
//!
//! Sources:
//! - W. Bux, I. Iliadis, "Performance of greedy garbage collection in flash-based solid-state drives", Performance
//!   Evaluation 67 (2010);
//! - P. Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012;
//! - B. Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state drives",
//!   SIGMETRICS 2013 and Queueing Systems 77 (2014);
//! - B. Van Houdt, "Performance of garbage collection algorithms for flash-based solid state drives with hot/cold
//!   data", Performance Evaluation 70 (2013);
//! - J. Menon, "A performance comparison of RAID-5 and log-structured arrays", HPDC 1995 (the FIFO equation).

// Every test binary uses a part of it.
#![allow(dead_code)]

pub mod brute;
pub mod mean_field;

/// Overwrites that prefer some pages: a share `hot_rate` of them goes to a share `hot_share` of the pages, uniformly
/// within each of the two.
#[derive(Clone, Copy, Debug)]
pub struct HotCold {
    pub hot_share: f64,
    pub hot_rate: f64,
}

impl HotCold {
    /// (share of pages, share of writes) of the hot and of the cold pages.
    fn classes(self) -> [(f64, f64); 2] {
        [(self.hot_share, self.hot_rate), (1.0 - self.hot_share, 1.0 - self.hot_rate)]
    }
}

/// Random victim: the victim is a mean block, which has `u b` valid pages. Equation (1) with V = S.
pub fn random(u: f64) -> f64 {
    1.0 / (1.0 - u)
}

/// The block that was written first is the victim (FIFO, LRU, a circular log).
///
/// A block waits for N h host writes, through which a page stays valid with probability v = exp(-h / (u b)), and
/// h = b (1 - v). So v = exp(-(1 - v) / u), whose root below 1 is v = -u W0(-exp(-1/u) / u) with Lambert's W. It does
/// not depend on `b`.
pub fn fifo(u: f64) -> f64 {
    1.0 / (1.0 + u * lambert_w0(-(-1.0 / u).exp() / u))
}

/// The block with the fewest valid pages is the victim.
///
/// In steady state there is a number of pages `j` that no block falls far below: a victim has `j - 1` valid pages
/// with some probability `p` and `j` otherwise, V(k) = 0 below `j - 1`, V(j-1) = p, V(k) = 1 from `j` on. By (1) the
/// share of blocks is u b p / (h j) with `j` valid pages and u b / (h k) with each `k > j`. These sum to 1, and
/// h = b - j + p, so
///
/// ```text
/// u b (p / j + 1 / (j+1) + ... + 1 / b) = b - j + p,   0 <= p < 1
/// ```
///
/// The left side less the right one is linear in `p` for each `j` and joins up from one `j` to the next below. It
/// is 0 at j = b, p = 0 (nothing is ever cleaned), falls while `j` is above `u b`, then rises: the crossing is sought.
pub fn greedy(u: f64, b: u32) -> f64 {
    let pages = f64::from(b);
    let mut sum = 1.0 / pages;
    for j in (1..b).rev() {
        let level = f64::from(j);
        let at_0 = u * pages * sum - (pages - level);
        let slope = u * pages / level - 1.0;
        if at_0 + slope >= 0.0 {
            return pages / (pages - level - at_0 / slope);
        }
        sum += 1.0 / level;
    }
    // No block with a valid page needs to be cleaned.
    1.0
}

/// The victim has the fewest valid pages among `d` blocks drawn at random: V(k) = 1 - (1 - S(k))^d.
///
/// With c = u b / h, (1) reads S(k) + c / (k+1) (1 - (1 - S(k))^d) = S(k+1), which from S(b) = 1 gives all S(k)
/// downward, each as the root of a rising function. Every S(k) falls when `c` grows, so the mean number of valid pages,
/// b - S(0) - ... - S(b-1), rises from 0 to b: bisection finds the `c` where it is u b. Then WAF = b / h = c / u.
pub fn d_choices(u: f64, b: u32, d: u32) -> f64 {
    let used_share = |c: f64| {
        let mut share = 1.0;
        let mut sum = 0.0;
        for k in (0..b).rev() {
            let rate = c / f64::from(k + 1);
            share = bisect(0.0, share, |s| s - rate * (f64::from(d) * (-s).ln_1p()).exp_m1() - share);
            sum += share;
        }
        1.0 - sum / f64::from(b)
    };
    // WAF lies between 1 and that of a random victim.
    bisect(1.0, random(u) + 1e-9, |waf| used_share(waf * u) - u)
}

/// FIFO under skewed traffic.
///
/// All blocks are written over in the time of `t` host writes per page of capacity. Through it a page of class `i`,
/// with share f_i of the used pages and r_i of the writes, stays valid with probability e_i = exp(-t r_i / (u f_i)).
/// Pages of the class are written r_i by the host and e_i of what was written before by collection, together
/// r_i / (1 - e_i) for each host write. The sum is WAF, and t WAF = 1. Where relocated pages go does not matter: a
/// page's age alone decides when it is visited again.
pub fn fifo_hot_cold(u: f64, traffic: HotCold) -> f64 {
    let waf = |t: f64| -> f64 {
        traffic.classes().iter().map(|&(pages, writes)| -writes / (-t * writes / (u * pages)).exp_m1()).sum()
    };
    // t WAF(t) rises from u at 0.
    1.0 / bisect(1e-12, 1.0, |t| t * waf(t) - 1.0)
}

/// Hot and cold pages on two devices of their own, with a share `hot_space` of the flash for the hot ones: within each
/// traffic is uniform, `waf` is the model of its policy, and the writes weigh the two.
pub fn separated(u: f64, traffic: HotCold, hot_space: f64, waf: impl Fn(f64) -> f64) -> f64 {
    let [hot, cold] = traffic.classes();
    hot.1 * waf(u * hot.0 / hot_space) + cold.1 * waf(u * cold.0 / (1.0 - hot_space))
}

/// [`separated`] with the best share of the flash: what no way to tell hot from cold can better, for a given policy
/// within each.
pub fn separated_best(u: f64, traffic: HotCold, waf: impl Fn(f64) -> f64) -> f64 {
    // Both ends leave one side without spare. Convex between: golden section.
    let (mut low, mut high) = (u * traffic.hot_share + 1e-6, 1.0 - u * (1.0 - traffic.hot_share) - 1e-6);
    let at = |space| separated(u, traffic, space, &waf);
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    for _ in 0..60 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        if at(left) < at(right) { high = right } else { low = left }
    }
    at((low + high) / 2.0)
}

/// Lambert's W, the branch through 0: w exp(w) = z for -1/e <= z. Halley's iteration from the series around the
/// branch point (Corless et al. 1996).
pub fn lambert_w0(z: f64) -> f64 {
    let p = (2.0 * (std::f64::consts::E * z + 1.0)).max(0.0).sqrt();
    let mut w = if z < 1.0 { -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p } else { z.ln() };
    for _ in 0..50 {
        let (e, f) = (w.exp(), w * w.exp() - z);
        let step = f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
        if !step.is_finite() {
            break;
        }
        w -= step;
        if step.abs() < 1e-15 {
            break;
        }
    }
    w
}

/// Root of a function that rises from below 0 at `low` to above 0 at `high`.
fn bisect(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let mid = (low + high) / 2.0;
        if f(mid) < 0.0 { low = mid } else { high = mid }
    }
    (low + high) / 2.0
}
