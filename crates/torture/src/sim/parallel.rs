//! Lives on all cores.

use rayon::ThreadPoolBuilder;
use rayon::iter::{ParallelBridge, ParallelIterator};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many threads, and when to stop.
#[derive(Clone, Copy)]
pub struct Parallel<'a> {
    /// Threads; 0 for as many as there are cores.
    pub threads: usize,
    /// When it says so, no new life is begun.
    pub cancel: &'a (dyn Fn() -> bool + Sync),
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Lives that are over.
    pub done: u64,
    /// All lives of this run.
    pub of: u64,
}

/// Runs `work` for each of the seeds `first..first + count` and returns the results in the order of seeds.
///
/// `stop` looks at each result; after one for which it is true no new seed is begun, and the results end with the first
/// such. The results don't depend on the number of threads, unless the run is cancelled: then they are what was done
/// without a gap.
///
/// `progress` is called after each life, by the thread that ran it.
pub fn run<R: Send>(
    parallel: Parallel<'_>,
    first: u64,
    count: u64,
    work: impl Fn(u64) -> R + Sync,
    stop: impl Fn(&R) -> bool + Sync,
    progress: impl Fn(Progress) + Sync,
) -> Vec<(u64, R)> {
    let (stopped, over) = (AtomicBool::new(false), AtomicU64::new(0));
    let live = |i| {
        let result = work(first + i);
        let stops = stop(&result);
        if stops {
            stopped.store(true, Ordering::Relaxed);
        }
        progress(Progress { done: over.fetch_add(1, Ordering::Relaxed) + 1, of: count });
        (i, stops, result)
    };
    let all = || {
        let begun = (0..count).take_while(|_| !stopped.load(Ordering::Relaxed) && !(parallel.cancel)());
        begun.par_bridge().map(live).collect()
    };
    let pool = ThreadPoolBuilder::new().num_threads(parallel.threads).build();
    let mut done: Vec<(u64, bool, R)> = pool.expect("the system gives a process its threads").install(all);
    done.sort_unstable_by_key(|d| d.0);
    // Seeds are begun in order, and what was begun is finished: before the first that stops there is no gap.
    let mut results = Vec::with_capacity(done.len());
    for (i, stops, result) in done {
        if i != results.len() as u64 {
            break;
        }
        results.push((first + i, result));
        if stops {
            break;
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(threads: usize, stop_at: u64) -> Vec<(u64, u64)> {
        let parallel = Parallel { threads, cancel: &|| false };
        run(parallel, 10, 200, |seed| seed * seed, |&r| r >= stop_at, |_| {})
    }

    #[test]
    fn results_are_in_the_order_of_seeds_and_do_not_depend_on_threads() {
        assert_eq!(squares(1, u64::MAX).len(), 200);
        for threads in 2..8 {
            assert_eq!(squares(threads, u64::MAX), squares(1, u64::MAX));
            assert_eq!(squares(threads, 2500), squares(1, 2500));
        }
        assert_eq!(squares(3, 2500).last(), Some(&(50, 2500)));
    }

    #[test]
    fn nothing_new_is_begun_after_it_was_cancelled() {
        let cancel = AtomicBool::new(false);
        let parallel = Parallel { threads: 2, cancel: &|| cancel.load(Ordering::Relaxed) };
        let progress = |p: Progress| {
            if p.done == 5 {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let results = run(parallel, 0, 1_000_000, |seed| seed, |_| false, progress);
        assert!((4..1_000).contains(&results.len()), "{}", results.len());
        assert!(results.iter().enumerate().all(|(i, r)| r.0 == i as u64));
    }
}
