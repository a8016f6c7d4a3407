//! The two ends between which C programs and the simulation take turns.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use tsunagi::cenju3::host::Pe;
use tsunagi::{Addr, NodeId, Picos};

/// What a program asks of the simulation.
pub enum Ask {
    Write {
        src: Addr,
        dest: NodeId,
        to: Addr,
        bytes: u32,
    },
    Fence,
    Barrier,
    Change {
        word: Addr,
        old: u32,
    },
    Compute(Picos),
    /// The program has returned.
    Done,
}

struct Answer {
    now: Picos,
    result: Result<u32, String>,
}

/// The C function and its argument, to be called on another thread. That thread runs only while the caller's waits.
#[derive(Clone, Copy)]
pub struct Program {
    pub function: extern "C" fn(*mut c_void),
    pub argument: *mut c_void,
}

// SAFETY: only one thread runs at a time, and each hands over to the next through a channel.
unsafe impl Send for Program {}

/// The program's end: what its thread knows of its PE.
pub struct Link {
    pub pe: NodeId,
    pub pes: usize,
    /// The PE's memory: good while the machine is, which is longer than the program runs.
    memory: *mut u8,
    memory_end: u32,
    allocated: Cell<u32>,
    now: Cell<Picos>,
    ask: Sender<Ask>,
    answer: Receiver<Answer>,
    refusals: Refusals,
}

/// The first call of any program that was refused.
#[derive(Clone, Default)]
pub struct Refusals(Arc<OnceLock<String>>);

impl Refusals {
    pub fn first(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

// SAFETY: as for `Program`.
unsafe impl Send for Link {}

thread_local! {
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

/// Lets `f` use the link of the program this thread is; `None` on any other thread.
pub fn with_link<R>(f: impl FnOnce(&Link) -> R) -> Option<R> {
    LINK.with_borrow(|link| link.as_ref().map(f))
}

impl Link {
    pub fn now(&self) -> Picos {
        self.now.get()
    }

    /// Notes that a call was refused.
    pub fn refused(&self, call: &str, why: &str) {
        let _ = self.refusals.0.set(format!("{}: {call}: {why}", self.pe));
    }

    /// Hands over to the simulation until it has the answer.
    pub fn ask(&self, ask: Ask) -> Result<u32, String> {
        let sent = self.ask.send(ask);
        match sent.ok().and_then(|()| self.answer.recv().ok()) {
            Some(answer) => {
                self.now.set(answer.now);
                answer.result
            }
            // The machine was given up; a C program cannot be unwound.
            None => loop {
                thread::park();
            },
        }
    }

    /// The simulated address of `bytes` at a pointer of the program's.
    pub fn address<T>(&self, what: &str, pointer: *const T) -> Result<Addr, String> {
        let offset = (pointer as usize).wrapping_sub(self.memory as usize);
        match u32::try_from(offset) {
            Ok(offset) if offset < self.memory_end => Ok(Addr(offset)),
            _ => Err(format!(
                "the {what} {pointer:p} does not lie in memory of CJalloc on this PE"
            )),
        }
    }

    /// The next `bytes` of the PE's memory.
    pub fn alloc(&self, bytes: usize) -> Result<*mut u8, String> {
        let start = self.allocated.get();
        let left = self.memory_end - start;
        match u32::try_from(bytes) {
            Ok(bytes) if bytes <= left => {
                self.allocated
                    .set((start + bytes).next_multiple_of(32).min(self.memory_end));
                // SAFETY: `start` is at most `memory_end`, which lies within the allocation.
                Ok(unsafe { self.memory.add(start as usize) })
            }
            _ => Err(format!("{bytes} B asked for, {left} B left; set mem_bytes")),
        }
    }
}

/// The simulation's end of one program: runs it on a thread of its own, and does on `pe` what it asks for until it returns.
pub async fn run(pe: Pe, program: Program, refusals: Refusals) {
    let (ask, asked) = channel();
    let (answer, answered) = channel();
    let link = Link {
        pe: pe.id(),
        pes: pe.pes(),
        memory: pe.memory(|m| m.as_mut_ptr()),
        memory_end: pe.memory_end(),
        allocated: Cell::new(0),
        now: Cell::new(pe.now()),
        ask,
        answer: answered,
        refusals,
    };
    let thread = thread::Builder::new().name(format!("{}", pe.id())).spawn(move || {
        let program = program;
        LINK.set(Some(link));
        (program.function)(program.argument);
        with_link(|link| link.ask.send(Ask::Done));
    });
    let thread = thread.expect("a thread for each program");
    loop {
        // The only thing that runs now is the program.
        let result = match asked.recv().expect("a program says when it is done") {
            Ask::Write { src, dest, to, bytes } => pe.rmwrite(src, dest, to, bytes).await.map_err(|e| e.to_string()),
            Ask::Fence => {
                pe.fence().await;
                Ok(0)
            }
            Ask::Barrier => {
                pe.barrier().await;
                Ok(0)
            }
            Ask::Change { word, old } => Ok(pe.wait_for_change(word, old).await),
            Ask::Compute(span) => {
                pe.compute(span).await;
                Ok(0)
            }
            Ask::Done => break,
        };
        answer
            .send(Answer { now: pe.now(), result })
            .expect("a program waits for its answer");
    }
    thread.join().expect("a program that has returned");
}
