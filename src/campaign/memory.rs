//! What a memory may hold at the end of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::{Broken, Clause};

/// The values of the bytes that commands may have changed.
#[derive(Debug, Default)]
pub struct Allowed(BTreeMap<u32, BTreeSet<u8>>);

impl Allowed {
    /// The byte at an address has one of these values.
    pub fn only(&mut self, at: u32, values: impl IntoIterator<Item = u8>) {
        self.0.insert(at, values.into_iter().collect());
    }

    /// Or it has one of these. It was `before`, which is allowed as long as nothing else is.
    pub fn or(&mut self, at: u32, before: u8, values: impl IntoIterator<Item = u8>) {
        self.0.entry(at).or_insert_with(|| [before].into()).extend(values);
    }

    /// Compares the bytes from address 0 on, as they are now and were before. Other bytes than the allowed ones changed
    /// only if they are `free`.
    ///
    /// # Errors
    /// The first byte that has another value, of `whose` memory.
    pub fn judge(&self, whose: &str, now: &[u8], before: &[u8], free: impl Fn(u32) -> bool) -> Result<(), Broken> {
        let mut allowed = self.0.iter().peekable();
        for (at, (&is, &was)) in (0..).zip(now.iter().zip(before)) {
            let values = allowed.next_if(|(next, _)| **next == at).map(|(_, values)| values);
            let fits = match values {
                Some(values) => values.contains(&is),
                None => is == was || free(at),
            };
            if !fits {
                let what = format!("{whose}: {at:#x} holds {is:#x}, was {was:#x}, may hold {values:x?}");
                return Err(Broken::new(Clause::Memory, what));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_as_it_was_or_as_allowed() {
        let before = [10, 11, 12, 13];
        let mut allowed = Allowed::default();
        allowed.or(1, before[1], [20, 21]);
        allowed.or(2, before[2], [22]);
        allowed.only(2, [23]);
        let free = |at| at == 3;
        let first_wrong = |now: [u8; 4]| allowed.judge("PE 0", &now, &before, free).map_err(|broken| broken.what);
        for now in [[10, 11, 23, 13], [10, 20, 23, 99], [10, 21, 23, 0]] {
            assert_eq!(first_wrong(now), Ok(()), "{now:?}");
        }
        for (now, at) in [([9, 11, 12, 13], 0), ([10, 22, 23, 13], 1), ([10, 11, 22, 13], 2)] {
            let what = first_wrong(now).expect_err("a wrong byte");
            assert!(what.starts_with(&format!("PE 0: {at:#x} holds")), "{what}");
        }
    }
}
