//! The fault campaign on machines with a broken unit: it must find each of them.

use tsunagi::campaign::{self, Broken, Campaign, Case, CaseError, Clause, On, Ran};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::wave::Probe;

/// Seeds within which a twin is found.
const SEEDS: u64 = 200;

/// A machine's campaign on its RTL with another unit.
pub struct Planted {
    pub draw: fn(&mut Rng) -> Case,
    pub play: fn(&Case, On) -> Result<Ran, Broken>,
}

impl Campaign for Planted {
    fn draw(&self, rng: &mut Rng) -> Case {
        (self.draw)(rng)
    }

    fn accepts(&self, _case: &Case) -> Result<(), CaseError> {
        Ok(())
    }

    fn fewer(&self, _case: &Case) -> Vec<Case> {
        Vec::new()
    }

    fn run(&self, case: &Case, on: On, _probe: &Probe) -> Result<Ran, Broken> {
        match on {
            On::Model => Ok(Ran::default()),
            on => (self.play)(case, on),
        }
    }
}

impl Planted {
    fn broken(&self, seed: u64) -> Option<Broken> {
        campaign::check(self, &campaign::case(self, seed)).err()
    }

    /// # Panics
    /// One of the first seeds finds something in a sound unit.
    pub fn passes(&self) {
        for seed in 1..=8 {
            if let Some(broken) = self.broken(seed) {
                panic!("seed {seed}: {broken}");
            }
        }
    }

    /// # Panics
    /// No seed finds the twin, or the first that finds it breaks none of these clauses.
    pub fn is_found(&self, clauses: &[Clause]) {
        let found = (1..=SEEDS).find_map(|seed| self.broken(seed).map(|broken| (seed, broken)));
        let (seed, broken) = found.unwrap_or_else(|| panic!("not found by {SEEDS} seeds"));
        println!("seed {seed}: {broken}");
        assert!(clauses.contains(&broken.clause), "seed {seed}: {broken}");
    }

    /// # Panics
    /// No seed finds that the twin breaks this clause.
    pub fn breaks(&self, clause: Clause) {
        // Only every eighth seed runs without gating, too.
        let step = if clause == Clause::Gate { 8 } else { 1 };
        let seeds = (1..=SEEDS).map(|number| step * number);
        let mut all = seeds.filter_map(|seed| self.broken(seed).map(|broken| (seed, broken)));
        let found = all.find(|(_, broken)| broken.clause == clause);
        let (seed, broken) = found.unwrap_or_else(|| panic!("no seed of {SEEDS} breaks {clause:?}"));
        println!("seed {seed}: {broken}");
    }
}
