//! Waves of whole-machine runs: on request, and of the last cycles before a failure.
//!
//! A run is deterministic, so a failing one is simply run again with the wave open over its last microseconds.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{env, fs, io};

use verilated::{Verilated, Wave};

use super::clock::Clock;
use crate::Picos;

/// How much of a failing run its wave shows.
const LAST: Picos = Picos::from_ns(20_000);

/// Where a run writes a wave, and over which span of simulated time. The end of the name gives the format: `.fst`, else
/// VCD.
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

/// Where waves of failures go: `out/waves` of the workspace of the test that runs, else of the current folder.
pub fn folder() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    let root = here
        .ancestors()
        .filter(|folder| folder.join("Cargo.lock").is_file())
        .last();
    root.unwrap_or(&here).join("out/waves")
}

/// What a run is told about waves, and what it tells back.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    request: Option<WaveRequest>,
    has_lanes: bool,
    lanes: Rc<RefCell<Vec<String>>>,
    reached: Rc<Cell<Picos>>,
    opened: Rc<Cell<u32>>,
    error: Rc<RefCell<Option<io::Error>>>,
}

impl Probe {
    pub fn new(request: WaveRequest) -> Probe {
        Probe {
            request: Some(request),
            ..Probe::default()
        }
    }

    /// The same, and lanes of text are to be in the wave.
    pub fn with_lanes(mut self) -> Probe {
        self.has_lanes = true;
        self
    }

    pub fn has_lanes(&self) -> bool {
        self.has_lanes
    }

    /// The paths of the lanes that are in the wave.
    pub fn lanes(&self) -> Vec<String> {
        self.lanes.borrow().clone()
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

    /// How far the run has come.
    pub fn reached(&self) -> Picos {
        self.reached.get()
    }

    /// Opens the wave of `units`, if one is asked for and can be. Each simulation of the run has a file of its own:
    /// behind the first, `run.vcd`, come `run-2.vcd`, `run-3.vcd` and so on.
    pub fn open(&self, units: &[&dyn Verilated]) -> Option<Wave> {
        self.open_with_lanes(units, &[])
    }

    /// The same with lanes of these paths.
    fn open_with_lanes(&self, units: &[&dyn Verilated], lanes: &[String]) -> Option<Wave> {
        let path = &self.request.as_ref()?.path;
        let number = self.opened.get() + 1;
        self.opened.set(number);
        let path = match number {
            1 => path.clone(),
            _ => numbered(path, number),
        };
        *self.lanes.borrow_mut() = lanes.to_vec();
        let names: Vec<&str> = lanes.iter().map(String::as_str).collect();
        let wave = Wave::create_with_lanes(path, units, &names);
        wave.map_err(|error| self.fail(error)).ok()
    }

    /// The run is done with its wave.
    pub fn close(&self, wave: Option<Wave>) {
        if let Err(error) = wave.map_or(Ok(()), Wave::close) {
            self.fail(error);
        }
    }

    /// Whether the wave was written whole; to be asked once, when the machine is gone.
    ///
    /// # Errors
    /// The first of opening and writing the file.
    pub fn written(&self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn fail(&self, error: io::Error) {
        self.error.borrow_mut().get_or_insert(error);
    }
}

/// `run-2.vcd` of `run.vcd`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, end) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{number}")).with_extension(end)
}

/// The wave of a machine, over the span that a [`Probe`] asks for. It draws the falling edges of the clocks, which the
/// machine leaves out.
#[derive(Default)]
pub struct Trace {
    probe: Probe,
    clocks: Vec<(&'static str, Clock)>,
    wave: Option<Wave>,
    /// The span is over.
    over: bool,
    /// Paths of the lanes, and what each shows.
    lanes: Vec<String>,
    shown: Vec<String>,
}

impl Trace {
    /// `clocks`: what drives the units' clock inputs of these names.
    pub fn new(probe: &Probe, clocks: &[(&'static str, Clock)]) -> Trace {
        Trace {
            probe: probe.clone(),
            clocks: clocks.to_vec(),
            wave: None,
            over: false,
            lanes: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// The same with lanes of these paths.
    pub fn with_lanes(mut self, paths: &[String]) -> Trace {
        self.lanes = paths.to_vec();
        self.shown = vec![String::new(); paths.len()];
        self
    }

    /// Every edge is shown, so none may be left out.
    pub fn is_open(&self) -> bool {
        self.wave.is_some()
    }

    /// Before clocks rise at `next`: opens the wave of `units`, which share a context, when its span begins, and closes
    /// it when that has ended. In an open one, the clocks that fall until then do so, each in its time.
    pub fn before<'a>(&mut self, next: Picos, units: impl FnOnce() -> Vec<&'a dyn Verilated>) {
        self.probe.reach(next);
        let Some(request) = self.probe.request() else { return };
        if self.over || next < request.from {
            return;
        }
        if request.to.is_some_and(|to| next > to) {
            self.over = true;
            self.probe.close(self.wave.take());
            return;
        }
        let units = units();
        let Some(wave) = &mut self.wave else {
            self.wave = self.probe.open_with_lanes(&units, &self.lanes);
            self.over = self.wave.is_none();
            fall(&self.clocks, &units, next);
            return;
        };
        let context = units[0].context();
        let last = Picos(context.time());
        let falls = self.clocks.iter().map(|(_, clock)| clock.next_fall(last));
        let mut falls: Vec<Picos> = falls.filter(|at| *at <= next).collect();
        falls.sort_unstable();
        falls.dedup();
        for at in falls {
            fall(&self.clocks, &units, at);
            // With the edge that is to come, there is one picture of the instant.
            if at < next {
                context.set_time(at.0);
                wave.dump();
            }
        }
    }

    /// What the lanes show from that edge on.
    pub fn show(&mut self, texts: &[String]) {
        let Some(wave) = &mut self.wave else { return };
        for (lane, (shown, text)) in self.shown.iter_mut().zip(texts).enumerate() {
            if shown != text {
                wave.set_lane(lane, text);
                shown.clone_from(text);
            }
        }
    }

    /// After that edge.
    pub fn after(&mut self) {
        if let Some(wave) = &mut self.wave {
            wave.dump();
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.probe.close(self.wave.take());
    }
}

/// The clocks of `units` that are low at `at` fall.
fn fall(clocks: &[(&'static str, Clock)], units: &[&dyn Verilated], at: Picos) {
    let is_low = |name: &str| {
        let clock = clocks.iter().find(|(known, _)| *known == name);
        let (_, clock) = clock.unwrap_or_else(|| panic!("nothing drives the clock {name}"));
        !clock.is_high(at)
    };
    for unit in units {
        let names = unit.clocks().iter().enumerate();
        unit.fall(names.map(|(i, name)| u64::from(is_low(name)) << i).sum());
    }
}

/// Runs `body`, a deterministic simulation that gives its [`Probe`] to the machine. With `TSUNAGI_WAVE` set, all of it
/// is written as a wave. Where it panics, it is run again with a wave of its last 20 us, and the file and the line that
/// replays the test are printed. Waves go to the folder of this test under `folder`.
///
/// # Panics
/// With the panic of `body`; when `TSUNAGI_WAVE` has a wrong value; when the folder cannot be made.
pub fn with_waves<T>(folder: &Path, test: &str, replay: &str, body: impl Fn(&Probe) -> T) -> T {
    if verilated::has_mutant() {
        return body(&Probe::default());
    }
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
    let path = |probe: &Probe| probe.request().expect("it asked for a wave").path.display().to_string();
    let panic = match catch_unwind(AssertUnwindSafe(|| body(&first))) {
        Ok(value) => {
            first
                .written()
                .unwrap_or_else(|error| panic!("{}: {error}", path(&first)));
            return value;
        }
        Err(panic) => panic,
    };
    let shown = if first.request().is_some() {
        first.clone()
    } else {
        let again = Probe::new(request("failure", "fst", first.reached.get().saturating_sub(LAST)));
        let _ = catch_unwind(AssertUnwindSafe(|| body(&again)));
        again
    };
    let missing = shown
        .written()
        .map_or_else(|error| format!(", not written: {error}"), |()| String::new());
    eprintln!(
        "{test} failed at {}; wave: {}{missing}",
        first.reached.get(),
        path(&shown)
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
