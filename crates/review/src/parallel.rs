//! Independent points on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to every item, on as many threads as there are cores; results come in the items' order. After an
/// error no new item is begun, and the first error in the items' order is returned.
pub fn map<T: Sync, R: Send, E: Send>(items: &[T], work: impl Fn(&T) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(items.len());
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<R, E>>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { return };
                    let result = work(item);
                    if result.is_err() {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                    results.lock().expect("no worker panics with the lock")[i] = Some(result);
                }
            });
        }
    });
    // Items that an error kept from beginning come after it.
    let results = results.into_inner().expect("no worker panics with the lock");
    let mut values = Vec::with_capacity(items.len());
    let mut error = None;
    for result in results.into_iter().flatten() {
        match result {
            Ok(value) => values.push(value),
            Err(e) => error = error.or(Some(e)),
        }
    }
    match error {
        Some(e) => Err(e),
        None => Ok(values),
    }
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
