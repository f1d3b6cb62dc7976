//! Independent points on all cores.

use rayon::iter::{ParallelBridge, ParallelIterator};
use std::sync::atomic::{AtomicBool, Ordering};

/// Applies `work` to every item, on as many threads as there are cores; results come in the items' order. Items are begun
/// in their order, and after an error no new one is: the error that is returned is the first in that order.
pub fn map<T: Sync, R: Send, E: Send>(items: &[T], work: impl Fn(&T) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    let failed = AtomicBool::new(false);
    let mut results: Vec<(usize, Result<R, E>)> = items
        .iter()
        .enumerate()
        .take_while(|_| !failed.load(Ordering::Relaxed))
        .par_bridge()
        .map(|(i, item)| (i, work(item).inspect_err(|_| failed.store(true, Ordering::Relaxed))))
        .collect();
    results.sort_unstable_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_keep_the_order_of_items() {
        let items: Vec<u64> = (0..100).collect();
        let squares = map(&items, |&i| Ok::<_, ()>(i * i)).unwrap();
        assert_eq!(squares, items.iter().map(|i| i * i).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_is_returned() {
        let items: Vec<u64> = (0..100).collect();
        assert_eq!(map(&items, |&i| if i == 40 { Err(i) } else { Ok(i) }), Err(40));
    }
}
