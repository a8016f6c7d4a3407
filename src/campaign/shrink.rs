//! A smaller case that breaks the same clause.

use super::{Broken, Case};

/// Runs at most.
const MOST: usize = 300;

/// Leaves out faults, commands and then nodes as long as `broken` says that the rest breaks the same clause. `fewer`
/// gives the case on smaller machines. Gives the smallest case found, and what it breaks.
pub fn shrink(
    case: &Case,
    found: Broken,
    fewer: impl Fn(&Case) -> Vec<Case>,
    broken: impl Fn(&Case) -> Option<Broken>,
) -> (Case, Broken) {
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
    let clause = found.clause;
    let still = |smaller: Case| Some((broken(&smaller).filter(|other| other.clause == clause)?, smaller));
    while let Some((other, smaller)) = fewer(&best).into_iter().find_map(still) {
        (best, found) = (smaller, other);
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
    use crate::campaign::{Clause, on_first_nodes};

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
        let fewer = |case: &Case| {
            let nodes = case.programs.len();
            let smaller = (nodes > 1).then(|| on_first_nodes(case, nodes, nodes - 1, &[]));
            smaller.flatten().into_iter().collect()
        };
        let (small, found) = shrink(&case, broken(&case).unwrap(), fewer, broken);
        assert_eq!((small.size(), found.clause), (2, Clause::Order), "{small}");
        assert_eq!(small.programs.len(), 2, "the second node has a command: {small}");
        let (small, _) = shrink(&case, broken(&case).unwrap(), fewer, |case| {
            let first = case.programs[0].contains(&"a".into());
            first.then(|| Broken::new(Clause::Order, "a"))
        });
        assert_eq!(small.to_string(), "chance 0\nprogram a\n");
    }
}
