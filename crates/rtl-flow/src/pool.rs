//! Runs several tools at a time.

use std::sync::Mutex;
use std::thread;

/// Calls `f` with every item from `workers` threads; the results are in the order of the items.
pub fn each<T: Send, R: Send>(workers: usize, items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = Mutex::new(items.into_iter().enumerate());
    thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                loop {
                    let Some((index, item)) = next.lock().expect("no panic under this lock").next() else {
                        break;
                    };
                    let result = f(item);
                    *results[index].lock().expect("no panic under this lock") = Some(result);
                }
            });
        }
    });
    let taken = results
        .into_iter()
        .map(|result| result.into_inner().expect("no panic under this lock"));
    taken.map(|result| result.expect("every item was worked on")).collect()
}
