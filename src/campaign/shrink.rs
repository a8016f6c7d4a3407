//! A smaller case that breaks the same clause.

use super::{Broken, Case};

/// Runs at most.
const MOST: usize = 300;

/// Leaves out faults and commands as long as `broken` says that the rest breaks the same clause. Gives the smallest
/// case found, and what it breaks.
pub fn shrink(case: &Case, found: Broken, broken: impl Fn(&Case) -> Option<Broken>) -> (Case, Broken) {
    let (mut best, mut found, mut runs) = (case.clone(), found, 0);
    let mut part = best.size().div_ceil(2);
    while part > 0 && runs < MOST {
        let mut at = 0;
        while at < best.size() && runs < MOST {
            let smaller = without(&best, at, part);
            runs += 1;
            match broken(&smaller).filter(|other| other.clause == found.clause) {
                Some(other) => (best, found) = (smaller, other),
                None => at += part,
            }
        }
        part /= 2;
    }
    (best, found)
}

/// The case without `count` of its parts, faults first, from number `at` on.
fn without(case: &Case, at: usize, count: usize) -> Case {
    let mut number = 0;
    let mut keeps = || {
        number += 1;
        !(at..at + count).contains(&(number - 1))
    };
    let mut smaller = case.clone();
    smaller.faults.retain(|_| keeps());
    for program in &mut smaller.programs {
        program.retain(|_| keeps());
    }
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Clause;

    #[test]
    fn only_what_breaks_the_clause_stays() {
        let fault = |node: u16| format!("fault 12ns {node} link-stalls 400ns\n");
        let text = format!(
            "program a; b; c; d\nprogram e; f; g\n{}{}{}",
            fault(0),
            fault(1),
            fault(2)
        );
        let case: Case = text.parse().unwrap();
        let broken = |case: &Case| {
            let text = case.to_string();
            let both = text.contains('f') && text.contains("; g") | text.contains(" g") && text.contains("12ns 1");
            both.then(|| Broken::new(Clause::Order, "f, g and the fault of node 1"))
        };
        let (small, found) = shrink(&case, broken(&case).unwrap(), broken);
        assert_eq!((small.size(), found.clause), (2, Clause::Order), "{small}");
    }
}
