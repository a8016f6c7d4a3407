//! Whether one order of all operations on a word explains what their callers saw.

use std::collections::HashSet;

use thiserror::Error;

use crate::Picos;

/// An operation on the word. Its caller has one under way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<O> {
    pub caller: usize,
    pub called: Picos,
    pub returned: Picos,
    pub operation: O,
    /// The word before it, as the caller was told.
    pub saw: u32,
}

/// No order does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an order was found for {explained} of {calls} operations, none for all")]
pub struct Unexplained {
    /// As many as any order does.
    pub explained: usize,
    pub calls: usize,
}

/// Looks for an order in which every operation takes effect between its call and its return, sees what its caller saw,
/// and which leads from the word `first` to `last`. `apply` gives the word after an operation.
///
/// # Errors
/// There is no such order: the operations were not atomic.
pub fn explain<O>(calls: &[Call<O>], first: u32, last: u32, apply: impl Fn(&O, u32) -> u32) -> Result<(), Unexplained> {
    let callers = calls.iter().map(|call| call.caller + 1).max().unwrap_or(0);
    let mut of: Vec<Vec<&Call<O>>> = (0..callers).map(|_| Vec::new()).collect();
    for call in calls {
        of[call.caller].push(call);
    }
    for calls in &mut of {
        calls.sort_by_key(|call| call.called);
    }
    // How many of each caller's are explained, and the word after them.
    let mut open = vec![(vec![0; callers], first)];
    let mut seen = HashSet::new();
    let mut explained = 0;
    while let Some((done, word)) = open.pop() {
        let sum = done.iter().sum();
        explained = explained.max(sum);
        if sum == calls.len() && word == last {
            return Ok(());
        }
        let next = |caller: usize| of[caller].get(done[caller]);
        // One that was called after another's return comes after it.
        let returned = (0..callers).filter_map(next).map(|call| call.returned).min();
        let ready = |caller: &usize| {
            next(*caller)
                .is_some_and(|call| call.saw == word && returned.is_none_or(|returned| call.called <= returned))
        };
        let mut ready: Vec<usize> = (0..callers).filter(ready).collect();
        let after = |caller: usize| next(caller).map_or(word, |call| apply(&call.operation, word));
        // One that leaves the word as it is can go first: nobody minds.
        if let Some(&idle) = ready.iter().find(|&&caller| after(caller) == word) {
            ready = vec![idle];
        }
        for caller in ready {
            let word = after(caller);
            let mut done = done.clone();
            done[caller] += 1;
            if seen.insert((done.clone(), word)) {
                open.push((done, word));
            }
        }
    }
    let calls = calls.len();
    Err(Unexplained { explained, calls })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Caller, from, to, what is added, what was seen.
    fn add(calls: &[(usize, u64, u64, u32, u32)], last: u32) -> Result<(), Unexplained> {
        let call = |&(caller, called, returned, operation, saw)| Call {
            caller,
            called: Picos(called),
            returned: Picos(returned),
            operation,
            saw,
        };
        let calls: Vec<_> = calls.iter().map(call).collect();
        explain(&calls, 0, last, |add, word| word + add)
    }

    #[test]
    fn an_order_is_found_whatever_the_order_of_returns() {
        assert_eq!(add(&[], 0), Ok(()));
        assert_eq!(add(&[(0, 0, 9, 1, 2), (1, 1, 8, 2, 0), (1, 8, 9, 4, 3)], 7), Ok(()));
    }

    #[test]
    fn what_was_lost_doubled_or_late_is_not_explained() {
        // Both saw the word as it was.
        let twice = add(&[(0, 0, 9, 1, 0), (1, 0, 9, 1, 0)], 1);
        assert_eq!(twice, Err(Unexplained { explained: 1, calls: 2 }));
        // The word at the end is another.
        assert!(add(&[(0, 0, 9, 1, 0)], 2).is_err());
        // The second was called when the first had returned, and did not see it.
        assert!(add(&[(0, 0, 3, 1, 1), (1, 4, 9, 1, 0)], 2).is_err());
        assert_eq!(add(&[(0, 0, 5, 1, 1), (1, 4, 9, 1, 0)], 2), Ok(()));
    }
}
