//! Chance and replay: every random choice of a test comes from one printed seed, and a failure prints the line that
//! repeats it.

use std::cell::Cell;
use std::fmt::{self, Display};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use verilated::{Context, Verilated, Wave};

use super::wave::{Probe, folder, with_waves};
use crate::Picos;

thread_local! {
    /// The seed of what runs [`under`](Seed::under) one.
    static UNDER: Cell<Option<Seed>> = const { Cell::new(None) };
}

/// The seed of a run. `TSUNAGI_SEED` (decimal, or hexadecimal with `0x`) overrides the one that is always used
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// Makes the file that `TSUNAGI_SEED_READ` names: whoever runs many seeds learns by it who reads them.
    ///
    /// Panics when `TSUNAGI_SEED` is not a number.
    pub fn get() -> Seed {
        UNDER.get().unwrap_or_else(|| {
            if let Some(path) = std::env::var_os("TSUNAGI_SEED_READ") {
                std::fs::write(&path, "").unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
            Seed::of("TSUNAGI_SEED")
        })
    }

    /// The seed under which broken twins are run: whether a bench finds one is said of the bench, not of a run.
    /// `TSUNAGI_TWIN_SEED` is another one than the usual.
    ///
    /// Panics when that is not a number.
    pub fn of_twins() -> Seed {
        Seed::of("TSUNAGI_TWIN_SEED")
    }

    /// Runs the body under this seed, in this thread, whatever that of the run is.
    pub fn under<T>(self, body: impl FnOnce() -> T) -> T {
        struct Restore(Option<Seed>);
        impl Drop for Restore {
            fn drop(&mut self) {
                UNDER.set(self.0);
            }
        }
        let _restore = Restore(UNDER.replace(Some(self)));
        body()
    }

    fn of(variable: &str) -> Seed {
        match std::env::var(variable) {
            Err(_) => Seed(1),
            Ok(text) => {
                Seed::parse(&text).unwrap_or_else(|| panic!("{variable} is `{text}`: it must be a 64-bit number"))
            }
        }
    }

    fn parse(text: &str) -> Option<Seed> {
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(Seed),
            None => text.parse().ok().map(Seed),
        }
    }

    /// An independent stream of chance for the thing of this name.
    pub fn stream(self, name: &str) -> Rng {
        // FNV-1a: a fixed hash, so that a replay does not depend on the library's version.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
        });
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..16].copy_from_slice(&hash.to_le_bytes());
        Rng(ChaCha8Rng::from_seed(key))
    }
}

impl Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A stream of random values.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n`; `n` at least 1.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0");
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True `n` times in `of`.
    pub fn chance(&mut self, n: u64, of: u64) -> bool {
        self.below(of) < n
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

/// One run of one test: its name, what it was run with, and its seed.
#[derive(Clone, Debug)]
pub struct Case {
    package: &'static str,
    target: &'static str,
    test: &'static str,
    params: String,
    /// The seed of the run, and that of this case's chance.
    seed: Seed,
    chance: Seed,
}

impl Case {
    /// `target` is the test target of the testbenches, `test` the test function's name, `params` whatever tells this
    /// case from its others.
    pub fn new(target: &'static str, test: &'static str, params: impl Display) -> Case {
        let seed = Seed::get();
        Case {
            package: "testbenches",
            target,
            test,
            params: params.to_string(),
            seed,
            chance: seed,
        }
    }

    /// A case of a property, whose `chance` was generated like its value: it is the same under any seed of the run.
    pub fn generated(package: &'static str, target: &'static str, test: &'static str, chance: Seed) -> Case {
        Case {
            package,
            target,
            test,
            params: format!("chance {chance}"),
            seed: Seed::get(),
            chance,
        }
    }

    /// What this case was run with.
    pub fn params(&self) -> &str {
        &self.params
    }

    /// An independent stream of chance, for this case and name only.
    pub fn rng(&self, name: &str) -> Rng {
        self.chance.stream(&format!("{}/{}/{name}", self.test, self.params))
    }

    /// A simulation in which all that is not reset starts at random.
    pub fn context(&self) -> Context {
        Context::random(self.rng("context").bits())
    }

    /// The one line that repeats this case.
    pub fn replay(&self) -> String {
        let Case {
            package,
            target,
            test,
            params,
            seed,
            ..
        } = self;
        format!("TSUNAGI_SEED={seed} cargo test -p {package} --test {target} -- --exact {test}   # {params}")
    }

    /// Runs the body; when it fails, by its result or by a panic, a wave of its end and the replay line are left
    /// behind. See [`with_waves`].
    pub fn run<E: Display>(&self, body: impl Fn(&Probe) -> Result<(), E>) {
        let clean: String = self
            .params
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let name = format!("{}-{}-{clean}-{}", self.target, self.test.replace("::", "-"), self.seed);
        with_waves(&folder(), &name, &self.replay(), |probe| {
            body(probe).unwrap_or_else(|error| panic!("{error}"))
        });
    }
}

/// The wave of a testbench, if one was asked for.
pub struct Recorder<'a> {
    probe: &'a Probe,
    wave: Option<Wave>,
}

impl<'a> Recorder<'a> {
    pub fn new(probe: &'a Probe, instances: &[&dyn Verilated]) -> Recorder<'a> {
        Recorder {
            probe,
            wave: probe.open(instances),
        }
    }

    /// The run has come to `now` (picoseconds); to be called after each evaluation.
    #[inline]
    pub fn tick(&mut self, now: u64) {
        self.probe.reach(Picos(now));
        if let (Some(wave), Some(request)) = (&mut self.wave, self.probe.request())
            && now >= request.from.0
        {
            wave.dump();
        }
    }

    /// The same for `units` that leave out their clock's falling edge, which only a wave needs: it comes half a period
    /// (picoseconds) later.
    #[inline]
    pub fn tick_up(&mut self, units: &[&dyn Verilated], period: u64) {
        let context = units[0].context();
        let now = context.time();
        self.tick(now);
        if self.wave.is_some() {
            context.set_time(now + period / 2);
            units.iter().for_each(|unit| unit.fall(!0));
            self.tick(context.time());
        }
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        self.probe.close(self.wave.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_name_and_seed() {
        let first = |seed: u64, name: &str| Seed(seed).stream(name).bits();
        assert_eq!(first(1, "source"), first(1, "source"));
        assert_ne!(first(1, "source"), first(1, "sink"));
        assert_ne!(first(1, "source"), first(2, "source"));
    }

    #[test]
    fn numbers_stay_in_range() {
        let mut rng = Seed(7).stream("range");
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[rng.between(3, 7) as usize - 3] += 1;
        }
        assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
    }

    #[test]
    fn seeds_are_read_in_both_bases() {
        assert_eq!(Seed::parse("12"), Some(Seed(12)));
        assert_eq!(Seed::parse("0x1f"), Some(Seed(31)));
        assert_eq!(Seed::parse("one"), None);
    }

    #[test]
    fn a_seed_holds_for_what_runs_under_it() {
        let outside = Seed::get();
        let inside = Seed(77).under(|| {
            (
                Seed::get(),
                Case::new("common", "fifo", "").replay(),
                Seed(78).under(Seed::get),
            )
        });
        assert_eq!((inside.0, inside.2), (Seed(77), Seed(78)));
        assert!(inside.1.starts_with("TSUNAGI_SEED=77 "), "{}", inside.1);
        assert!(std::panic::catch_unwind(|| Seed(79).under(|| panic!("fails"))).is_err());
        assert_eq!(Seed::get(), outside);
    }

    #[test]
    fn a_generated_case_has_its_own_chance() {
        let first = |chance| {
            Case::generated("tsunagi", "model", "agrees", Seed(chance))
                .rng("source")
                .bits()
        };
        assert_eq!(first(5), first(5));
        assert_ne!(first(5), first(6));
    }

    #[test]
    fn a_case_says_how_to_repeat_it() {
        let case = Case::new("common", "fifo", "Depth 3");
        let line = case.replay();
        assert!(line.starts_with("TSUNAGI_SEED="), "{line}");
        assert!(
            line.ends_with("cargo test -p testbenches --test common -- --exact fifo   # Depth 3"),
            "{line}"
        );
    }
}
