//! Host programs: they start a thread on each PE, with arguments, and wait for its result.
//!
//! Threads are those of the library or of the program's own code, which may call the library: `pkt_output`,
//! `word_send`, `mem_copyout` and others. A thread begins at entry 2 of its template, in a frame at a fixed place.
//! There it finds its number, the number of PEs and its arguments, from word `ARG` on. It ends with `done`, which tells
//! the host register 2. The macro `program NAME` begins such a template.

use thiserror::Error;

use super::asm::{AsmError, Image, Source};
use super::backend::{Backend, RunError, build};
use super::library::{self, ARGUMENTS, Run, Thread, layout};
use super::params::{Config, Unsound};
use super::regs::SIZE_FRAME;
use super::rtl::NotBuilt;
use crate::Picos;
use crate::harness::backend::Doing;
use crate::harness::wave::Probe;
use crate::repro::row::BackendKind;

/// Why the machine does not do what a host program asks.
#[derive(Debug, Error)]
pub enum HostError {
    #[error(transparent)]
    Unsound(#[from] Unsound),
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Assembler(Vec<AsmError>),
    #[error("there is no PE {pe}: the machine has PEs 0 to {}", pes - 1)]
    NoPe { pe: u32, pes: u32 },
    #[error("{words} words from {addr:#x} on: a PE has {:#x} words", 1 << layout::MEMORY_BITS)]
    Beyond { addr: u32, words: usize },
    #[error("there is no thread `{0}`")]
    NoThread(String),
    #[error("threads on {0} PEs: the machine has {1}")]
    Count(usize, u32),
    #[error("{0} arguments: a thread takes at most {ARGUMENTS}")]
    Arguments(usize),
    #[error("{} pairs PEs bit by bit: it takes 2, 4, 8, .. of them, and not {}", .0.program.template(), .0.count)]
    Pairs(Run),
    #[error("blocks of {} words for {} PEs do not fit into memory: set fewer", .0.words, .0.count)]
    TooLong(Run),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// First words of a frame in which operands of a function may wait.
const SLOTS: u32 = 8;

/// A machine with the library on all PEs.
pub struct Emx {
    pub machine: Box<dyn Backend>,
    pub image: Image,
    config: Config,
    cycles: u64,
    /// Cycles after which a call counts as hung.
    pub limit: u64,
}

impl Emx {
    /// A machine whose PEs have the library.
    ///
    /// # Errors
    /// `config` is no machine, or RTL that was not built.
    pub fn new(config: &Config, kind: BackendKind) -> Result<Emx, HostError> {
        Emx::with_code(config, kind, &[])
    }

    /// The same with code of the host's own, in the assembler's language.
    ///
    /// # Errors
    /// As of [`new`](Emx::new), or what the assembler refuses, by file and line.
    pub fn with_code(config: &Config, kind: BackendKind, own: &[Source]) -> Result<Emx, HostError> {
        Emx::made(config, kind, own, &Probe::default())
    }

    /// As [`new`](Emx::new); the RTL writes the wave of `probe`.
    ///
    /// # Errors
    /// As of [`new`](Emx::new).
    pub fn probed(config: &Config, kind: BackendKind, probe: &Probe) -> Result<Emx, HostError> {
        Emx::made(config, kind, &[], probe)
    }

    fn made(config: &Config, kind: BackendKind, own: &[Source], probe: &Probe) -> Result<Emx, HostError> {
        config.check()?;
        let mut machine = build(config, kind)?;
        machine.probe(config.clock_period, probe);
        Emx::on(config, machine, own)
    }

    /// Loads a machine that was made otherwise.
    ///
    /// # Errors
    /// What the assembler refuses, by file and line.
    pub fn on(config: &Config, machine: Box<dyn Backend>, own: &[Source]) -> Result<Emx, HostError> {
        let image = library::image_with(config, own).map_err(HostError::Assembler)?;
        let mut emx = Emx {
            machine,
            image,
            config: config.clone(),
            cycles: 0,
            limit: 100_000_000,
        };
        emx.load();
        Ok(emx)
    }

    /// Puts the code and an idle thread's frame into all PEs.
    fn load(&mut self) {
        let (machine, image, config) = (&mut self.machine, &self.image, &self.config);
        for pe in 0..config.pes() {
            let quiet = Thread {
                pe,
                count: config.pes(),
                ..Thread::default()
            };
            let words = image.load().chain(quiet.setup(image, "PORT_CODE"));
            words.for_each(|(addr, word)| machine.set_word(pe, addr, word));
        }
    }

    /// Resets all PEs, and loads them again: no operand of theirs waits any more. Gives what this PE was doing; none:
    /// the machine has no reset.
    pub fn reset(&mut self, pe: u32) -> Option<Doing> {
        let doing = self.machine.reset(pe)?;
        for pe in 0..self.config.pes() {
            let frames = layout::FRAMES.step_by(SIZE_FRAME as usize);
            let slots = frames.flat_map(|frame| frame..frame + SLOTS);
            let slots = slots.chain(layout::PORT..layout::MAIN);
            slots.for_each(|addr| self.machine.set_word(pe, addr, 0));
        }
        self.load();
        Some(doing)
    }

    /// The parameters of the machine.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Cycles for which threads have run.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The same as time.
    pub fn now(&self) -> Picos {
        self.config.clock_period * self.cycles
    }

    /// Writes words of a PE's memory.
    ///
    /// # Errors
    /// No such PE, or no such words.
    pub fn write(&mut self, pe: u32, addr: u32, words: &[u32]) -> Result<(), HostError> {
        self.check(pe, addr, words.len())?;
        (addr..)
            .zip(words)
            .for_each(|(addr, word)| self.machine.set_word(pe, addr, *word));
        Ok(())
    }

    /// Reads words of a PE's memory.
    ///
    /// # Errors
    /// As of [`write`](Emx::write).
    pub fn read(&mut self, pe: u32, addr: u32, words: usize) -> Result<Vec<u32>, HostError> {
        self.check(pe, addr, words)?;
        Ok(self.machine.words(pe, addr, words as u32))
    }

    fn check(&self, pe: u32, addr: u32, words: usize) -> Result<(), HostError> {
        let pes = self.config.pes();
        if pe >= pes {
            return Err(HostError::NoPe { pe, pes });
        }
        match (addr as usize).checked_add(words) {
            Some(end) if end <= 1 << layout::MEMORY_BITS => Ok(()),
            _ => Err(HostError::Beyond { addr, words }),
        }
    }

    /// Starts a thread on PE 0 and the following ones, on each with its arguments, and waits for the results.
    ///
    /// # Errors
    /// No such thread, too many of something, or how the run ended.
    pub fn call(&mut self, thread: &str, arguments: &[Vec<u32>]) -> Result<Vec<u32>, HostError> {
        let blocks = layout::BLOCKS;
        let place = Place {
            words: 0,
            source: blocks,
            destination: blocks,
        };
        self.call_at(thread, &place, arguments)
    }

    /// The same, with words for the library's threads.
    ///
    /// # Errors
    /// As of [`call`](Emx::call).
    pub fn call_at(&mut self, thread: &str, place: &Place, arguments: &[Vec<u32>]) -> Result<Vec<u32>, HostError> {
        if !self.image.symbols.contains_key(thread) {
            return Err(HostError::NoThread(thread.into()));
        }
        let count = arguments.len();
        if count == 0 || count > self.config.pes() as usize {
            return Err(HostError::Count(count, self.config.pes()));
        }
        if let Some(many) = arguments.iter().map(Vec::len).find(|many| *many > ARGUMENTS) {
            return Err(HostError::Arguments(many));
        }
        for (pe, arguments) in (0..).zip(arguments) {
            let setup = Thread {
                pe,
                count: count as u32,
                words: place.words,
                shift: 0,
                source: place.source,
                destination: place.destination,
                arguments,
            };
            for (addr, word) in setup.setup(&self.image, thread) {
                self.machine.set_word(pe, addr, word);
            }
            self.machine.inject(pe, library::start());
        }
        self.finish(count as u32)
    }

    /// Runs a program of the library, whose blocks are in memory.
    ///
    /// # Errors
    /// A number of PEs or of words that the program does not take, or how the run ended.
    pub fn run(&mut self, run: &Run) -> Result<Vec<u32>, HostError> {
        self.fits(run)?;
        for pe in 0..run.count {
            for (addr, word) in run.setup(&self.image, pe) {
                self.machine.set_word(pe, addr, word);
            }
            self.machine.inject(pe, run.start());
        }
        self.finish(run.count)
    }

    /// # Errors
    /// A number of PEs or of words that the program does not take.
    pub fn fits(&self, run: &Run) -> Result<(), HostError> {
        if run.count > self.config.pes() {
            return Err(HostError::Count(run.count as usize, self.config.pes()));
        }
        if run.program.needs_power_of_two() && !run.count.is_power_of_two() {
            return Err(HostError::Pairs(*run));
        }
        if run.words > 1 << layout::MEMORY_BITS || run.end() > 1 << layout::MEMORY_BITS {
            return Err(HostError::TooLong(*run));
        }
        Ok(())
    }

    fn finish(&mut self, count: u32) -> Result<Vec<u32>, HostError> {
        let told = self.machine.run(count, self.limit)?;
        self.cycles += told.cycles;
        Ok(told.values)
    }
}

/// What a thread of the library works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Words of a block.
    pub words: u32,
    pub source: u32,
    pub destination: u32,
}
