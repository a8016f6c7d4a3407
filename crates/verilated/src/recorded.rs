//! A wave of the last cycles before a failure, at the price of periodic checkpoints.

use std::cell::RefCell;
use std::ops::Deref;
use std::path::PathBuf;

use crate::{Checkpoint, Core, Unit, Verilated, Wave};

/// An instance that, when it is dropped in a panic, leaves a wave of its last evaluations.
///
/// It is used as the instance itself. It takes periodic checkpoints, and keeps the inputs of each
/// evaluation. To make the wave, it goes back to the last checkpoint but one and repeats the evaluations. The unit must
/// be savable.
pub struct Recorded<T: Unit> {
    dut: T,
    path: PathBuf,
    every: usize,
    log: RefCell<Vec<Stretch>>,
}

/// The evaluations from one checkpoint to the next.
struct Stretch {
    start: Checkpoint,
    random: [u8; 16],
    times: Vec<u64>,
    /// The inputs of all evaluations, one after the other.
    inputs: Vec<u8>,
}

impl<T: Unit> Recorded<T> {
    /// Records the instance. A panic leaves the wave at `path` (`.fst`, else VCD), of at least the last `every`
    /// evaluations and at most twice as many. Panics when the unit is not savable.
    pub fn new(dut: T, path: impl Into<PathBuf>, every: usize) -> Self {
        assert!(every > 0, "there is something between two checkpoints");
        let recorded = Self {
            dut,
            path: path.into(),
            every,
            log: RefCell::default(),
        };
        recorded.checkpoint();
        recorded
    }

    /// Like the instance's own.
    pub fn eval(&self) {
        {
            let mut log = self.log.borrow_mut();
            let stretch = log.last_mut().expect("there is one from the start");
            stretch.times.push(self.dut.context().time());
            for port in self.dut.ports().iter().filter(|port| !port.output) {
                stretch.inputs.extend_from_slice(self.dut.core().input(port));
            }
        }
        self.dut.eval();
        if self
            .log
            .borrow()
            .last()
            .is_some_and(|stretch| stretch.times.len() == self.every)
        {
            self.checkpoint();
        }
    }

    /// Like the instance's own, always as two evaluations.
    pub fn rise(&self, clocks: u64) {
        Verilated::rise(self, clocks);
    }

    fn checkpoint(&self) {
        let start = self.dut.save().unwrap_or_else(|e| panic!("{e}"));
        let random = self.dut.context().save_random();
        let mut log = self.log.borrow_mut();
        if log.len() == 2 {
            log.remove(0);
        }
        log.push(Stretch {
            start,
            random,
            times: Vec::new(),
            inputs: Vec::new(),
        });
    }

    /// Repeats the recorded evaluations with a wave open. Errors: the file, or the RTL stopping the replay early.
    fn replay(&self) -> Result<(), Box<dyn std::error::Error>> {
        let log = self.log.borrow();
        let first = log.first().expect("there is one from the start");
        self.dut.restore(&first.start)?;
        self.dut.context().restore_random(&first.random);
        let mut wave = Wave::create(&self.path, &[&self.dut])?;
        let replayed = self.replay_into(&mut wave, &log);
        wave.close()?;
        replayed
    }

    fn replay_into(&self, wave: &mut Wave, log: &[Stretch]) -> Result<(), Box<dyn std::error::Error>> {
        for stretch in log {
            let mut inputs = stretch.inputs.as_slice();
            for &time in &stretch.times {
                for port in self.dut.ports().iter().filter(|port| !port.output) {
                    let (bytes, rest) = inputs.split_at(port.bytes);
                    self.dut.core().set_input(port, bytes);
                    inputs = rest;
                }
                self.dut.context().set_time(time);
                let outcome = self.dut.try_eval();
                wave.dump();
                outcome?;
            }
        }
        Ok(())
    }
}

impl<T: Unit> Deref for Recorded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.dut
    }
}

impl<T: Unit> Verilated for Recorded<T> {
    fn core(&self) -> &Core {
        self.dut.core()
    }

    fn eval(&self) {
        self.eval();
    }
}

impl<T: Unit> Drop for Recorded<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // An error of the RTL is the panic's own cause, met again where it should be: at the end of the wave.
            match self.replay() {
                Err(error) if !self.path.is_file() => eprintln!("no wave: {error}"),
                _ => eprintln!("wave of the last cycles: {}", self.path.display()),
            }
        }
    }
}
