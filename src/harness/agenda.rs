//! What is due when, of a timed model.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Things due, in order of time, then of being put there: so one run is like the other.
pub struct Agenda<T, D> {
    entries: BinaryHeap<Reverse<Entry<T, D>>>,
    order: u64,
}

struct Entry<T, D> {
    at: T,
    order: u64,
    due: D,
}

impl<T: Ord + Copy, D> Agenda<T, D> {
    /// Puts a thing that is due at this instant.
    pub fn put(&mut self, at: T, due: D) {
        self.order += 1;
        let order = self.order;
        self.entries.push(Reverse(Entry { at, order, due }));
    }

    /// When something is due next.
    pub fn next(&self) -> Option<T> {
        self.entries.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes the next thing, if it is due at this instant or before, and says when it is.
    pub fn take(&mut self, until: T) -> Option<(T, D)> {
        if self.next()? > until {
            return None;
        }
        let Reverse(entry) = self.entries.pop()?;
        Some((entry.at, entry.due))
    }
}

impl<T: Ord, D> Default for Agenda<T, D> {
    fn default() -> Agenda<T, D> {
        Agenda {
            entries: BinaryHeap::new(),
            order: 0,
        }
    }
}

impl<T: Ord, D> Ord for Entry<T, D> {
    fn cmp(&self, other: &Entry<T, D>) -> Ordering {
        (&self.at, self.order).cmp(&(&other.at, other.order))
    }
}

impl<T: Ord, D> PartialOrd for Entry<T, D> {
    fn partial_cmp(&self, other: &Entry<T, D>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord, D> PartialEq for Entry<T, D> {
    fn eq(&self, other: &Entry<T, D>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: Ord, D> Eq for Entry<T, D> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_time_and_then_as_they_were_put() {
        let mut agenda = Agenda::default();
        for (at, due) in [(3, 'd'), (1, 'a'), (2, 'c'), (1, 'b')] {
            agenda.put(at, due);
        }
        assert_eq!(agenda.next(), Some(1));
        let taken: Vec<_> = std::iter::from_fn(|| agenda.take(2)).collect();
        assert_eq!(taken, [(1, 'a'), (1, 'b'), (2, 'c')]);
        assert_eq!((agenda.take(2), agenda.next()), (None, Some(3)));
    }
}
