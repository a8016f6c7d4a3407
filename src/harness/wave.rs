//! Waves of whole-machine runs: on request, and of the last cycles before a failure.
//!
//! A run is deterministic, so a failing one is simply run again with the wave open over its last microseconds.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{env, fs};

use verilated::{Verilated, Wave};

use crate::Picos;

/// How much of a failing run its wave shows.
const LAST: Picos = Picos::from_ns(20_000);

/// Where a run writes a wave, and over which span of simulated time. The end of the name gives the format: `.fst`, else VCD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveRequest {
    pub path: PathBuf,
    pub from: Picos,
    /// `None`: to the end of the run.
    pub to: Option<Picos>,
}

/// The variable that asks for waves of every run has a value that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("TSUNAGI_WAVE={value}: it must be vcd or fst")]
pub struct BadFormat {
    value: String,
}

/// What `TSUNAGI_WAVE` asks for: the end of the wave files' names.
///
/// # Errors
/// A value other than `vcd` or `fst`.
pub fn requested() -> Result<Option<&'static str>, BadFormat> {
    match env::var("TSUNAGI_WAVE") {
        Err(_) => Ok(None),
        Ok(value) => match value.as_str() {
            "vcd" => Ok(Some("vcd")),
            "fst" => Ok(Some("fst")),
            _ => Err(BadFormat { value }),
        },
    }
}

/// What a run is told about waves, and what it tells back.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    request: Option<WaveRequest>,
    reached: Rc<Cell<Picos>>,
}

impl Probe {
    pub fn new(request: WaveRequest) -> Probe {
        Probe {
            request: Some(request),
            reached: Rc::default(),
        }
    }

    /// The wave the run should write, if any.
    pub fn request(&self) -> Option<&WaveRequest> {
        self.request.as_ref()
    }

    /// The run has come to `now`.
    #[inline]
    pub fn reach(&self, now: Picos) {
        self.reached.set(now);
    }
}

/// The wave of a machine, over the span that a [`Probe`] asks for.
#[derive(Default)]
pub struct Trace {
    probe: Probe,
    wave: Option<Wave>,
}

impl Trace {
    pub fn new(probe: &Probe) -> Trace {
        let probe = probe.clone();
        Trace { probe, wave: None }
    }

    /// Every edge is shown, so none may be left out.
    pub fn is_open(&self) -> bool {
        self.wave.is_some()
    }

    /// Before clocks rise at `next`: opens the wave of `units`, which share a context, when its span begins, and closes it when that has
    /// ended. In an open one, all clocks have been low since half way from the last edge; of a unit that is then left out they stay so.
    ///
    /// # Panics
    /// The file cannot be made.
    pub fn before<'a>(&mut self, next: Picos, units: impl FnOnce() -> Vec<&'a dyn Verilated>) {
        self.probe.reach(next);
        let Some(request) = self.probe.request() else { return };
        if next < request.from || request.to.is_some_and(|to| next > to) {
            self.wave = None;
            return;
        }
        let units = units();
        if let Some(wave) = &mut self.wave {
            units.iter().for_each(|unit| unit.fall());
            let context = units[0].context();
            context.set_time(context.time().midpoint(next.0));
            wave.dump();
        } else {
            let opened = Wave::create(&request.path, &units);
            self.wave = Some(opened.unwrap_or_else(|error| panic!("{}: {error}", request.path.display())));
        }
    }

    /// After that edge.
    pub fn after(&mut self) {
        if let Some(wave) = &mut self.wave {
            wave.dump();
        }
    }
}

/// Runs `body`, a deterministic simulation that gives its [`Probe`] to the machine. With `TSUNAGI_WAVE` set, all of it is written as a wave.
/// Where it panics, it is run again with a wave of its last 20 us, and the file and the line that replays the test are printed.
/// Waves go to the folder of this test under `folder`.
///
/// # Panics
/// With the panic of `body`; when `TSUNAGI_WAVE` has a wrong value; when the folder cannot be made.
pub fn with_waves<T>(folder: &Path, test: &str, replay: &str, body: impl Fn(&Probe) -> T) -> T {
    let asked = requested().unwrap_or_else(|error| panic!("{error}"));
    let folder = folder.join(test);
    let request = |name: &str, format: &str, from| {
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        WaveRequest {
            path: folder.join(name).with_extension(format),
            from,
            to: None,
        }
    };
    let first = asked.map_or_else(Probe::default, |format| Probe::new(request("run", format, Picos::ZERO)));
    let panic = match catch_unwind(AssertUnwindSafe(|| body(&first))) {
        Ok(value) => return value,
        Err(panic) => panic,
    };
    let shown = first.request().cloned().unwrap_or_else(|| {
        let again = Probe::new(request("failure", "fst", first.reached.get().saturating_sub(LAST)));
        let _ = catch_unwind(AssertUnwindSafe(|| body(&again)));
        again.request.expect("just given")
    });
    eprintln!(
        "{test} failed at {}; wave: {}",
        first.reached.get(),
        shown.path.display()
    );
    eprintln!("replay: {replay}");
    resume_unwind(panic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_failing_run_is_run_again_with_a_wave_of_its_end_and_fails_as_before() {
        let folder = env::temp_dir().join(format!("tsunagi-wave-{}", std::process::id()));
        let asked = RefCell::new(Vec::new());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            with_waves(&folder, "fails", "cargo test fails", |probe| {
                asked.borrow_mut().push(probe.request().cloned());
                probe.reach(Picos::from_ns(50_000));
                panic!("the reason");
            })
        }));
        assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"the reason"));
        let asked = asked.into_inner();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0], None);
        assert_eq!(asked[1].as_ref().unwrap().from, Picos::from_ns(30_000));
        assert!(asked[1].as_ref().unwrap().path.starts_with(folder.join("fails")));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_run_that_succeeds_runs_once() {
        let runs = Cell::new(0);
        let value = with_waves(&env::temp_dir(), "tsunagi-works", "", |_| {
            runs.set(runs.get() + 1);
            7
        });
        assert_eq!((value, runs.get()), (7, 1));
    }
}
