//! Runs independent simulations side by side; the results are the same as in sequence.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `job` on every item, at most `threads` at a time, and returns the results in the items' order. After an error
/// no new job starts. Of several errors, the first in the items' order is returned.
pub fn run<T: Sync, R: Send, E: Send>(
    items: &[T],
    threads: usize,
    job: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    assert!(threads >= 1);
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<Option<Result<R, E>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                while let Some((item, slot)) = next_of(&next, items, &slots) {
                    let result = job(item);
                    if result.is_err() {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                    *slot.lock().expect("no panic under this lock") = Some(result);
                }
            });
        }
    });
    // After an error the remaining jobs never ran; the error stands before or behind their empty slots.
    let ran: Vec<_> = slots
        .into_iter()
        .filter_map(|s| s.into_inner().expect("no panic under this lock"))
        .collect();
    ran.into_iter().collect()
}

fn next_of<'a, T, S>(next: &AtomicUsize, items: &'a [T], slots: &'a [S]) -> Option<(&'a T, &'a S)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((items.get(at)?, slots.get(at)?))
}

/// Number of simulations that this computer runs side by side.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_items_order_whatever_the_threads() {
        let items: Vec<u64> = (0..200).collect();
        for threads in [1, 2, 7] {
            let job = |n: &u64| {
                // Uneven work, so that threads overtake each other.
                let spin = (0..(n * 7919) % 5000).fold(0u64, |a, b| a.wrapping_add(b));
                Ok::<_, ()>((*n, spin))
            };
            let results = run(&items, threads, job);
            let numbers: Vec<u64> = results.unwrap().into_iter().map(|r| r.0).collect();
            assert_eq!(numbers, items);
        }
    }

    #[test]
    fn an_error_stops_what_has_not_begun() {
        let ran = AtomicUsize::new(0);
        let job = |n: &usize| {
            ran.fetch_add(1, Ordering::Relaxed);
            if *n == 3 { Err(format!("item {n}")) } else { Ok(*n) }
        };
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(run(&items, 1, job).unwrap_err(), "item 3");
        assert_eq!(ran.into_inner(), 4);
    }
}
