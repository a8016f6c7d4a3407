//! C programs on a simulated machine: the part that the C libraries of all machines share.
//!
//! Each program has a thread for its stack, but only one thread ever runs. A program that calls something simulated
//! hands over the work and sleeps. The simulation does the work within an ordinary host program, and sleeps while a
//! program runs.

mod calls;

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::fmt::Display;
use std::ops::Range;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, LocalKey};

use tsunagi::harness::exec::{Host, SimError};
use tsunagi::{Addr, NodeId, Picos};

pub use crate::calls::{Settings, error, fail, span, text};

/// A machine that has a C library.
pub trait Machine: Sized + 'static {
    /// Prefix of the library's calls.
    const PREFIX: &'static str;
    /// The machine's word for a node.
    const NODE: &'static str;
    /// First address of a program's memory.
    const START: u32;
    /// A node as host programs see it.
    type Node: Clone + 'static;

    fn host(node: &Self::Node) -> &Host;
    /// End of a program's memory.
    fn memory_end(node: &Self::Node) -> u32;
    /// The link of the thread of a program.
    fn link() -> &'static LocalKey<RefCell<Option<Link<Self>>>>;
}

/// The C function and its argument, to be called on another thread. That thread runs only while the caller's waits.
#[derive(Clone, Copy)]
pub struct Program {
    pub function: extern "C" fn(*mut c_void),
    pub argument: *mut c_void,
}

// SAFETY: only one thread runs at a time, and each hands over to the next through a channel.
unsafe impl Send for Program {}

/// A job for the simulation on a node.
type Job<M> = Box<dyn FnOnce(<M as Machine>::Node) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// The program's end of a link: its thread's view of its node.
pub struct Link<M: Machine> {
    pub node: NodeId,
    pub nodes: usize,
    /// The node's memory. It is valid while the machine exists, which is longer than the program runs.
    memory: *mut u8,
    start: u32,
    end: u32,
    allocated: Cell<u32>,
    now: Cell<Picos>,
    jobs: Sender<Job<M>>,
    refusals: Refusals,
}

// SAFETY: as for `Program`.
unsafe impl<M: Machine> Send for Link<M> {}

/// The first call of any program that was refused.
#[derive(Clone, Default)]
pub struct Refusals(Arc<OnceLock<String>>);

impl Refusals {
    /// The report of a hang. A program may hang only because a refused call did nothing, so the first refusal comes
    /// first.
    pub fn explain(&self, hang: SimError) -> String {
        match self.0.get() {
            Some(refusal) => format!("{refusal}; then {hang}"),
            None => hang.to_string(),
        }
    }
}

/// A call outside a program that only a program can make.
pub struct Outside {
    prefix: &'static str,
}

impl From<Outside> for String {
    fn from(outside: Outside) -> String {
        format!("called outside a program of {}run", outside.prefix)
    }
}

/// Makes a call that only a program can make. Keeps the reason of a failure for [`error`], and with the program's
/// refusals.
///
/// # Errors
/// The errors of `f`; [`Outside`] on a thread without a program.
pub fn in_program<M: Machine, T, E: From<Outside> + Display>(
    call: &str,
    f: impl FnOnce(&Link<M>) -> Result<T, E>,
) -> Result<T, E> {
    let result = M::link().with_borrow(|link| match link {
        Some(link) => f(link).inspect_err(|why| {
            let _ = link
                .refusals
                .0
                .set(format!("{} {}: {call}: {why}", M::NODE, link.node.0));
        }),
        None => Err(Outside { prefix: M::PREFIX }.into()),
    });
    result.inspect_err(|why| fail(call, why))
}

impl<M: Machine> Link<M> {
    pub fn now(&self) -> Picos {
        self.now.get()
    }

    /// Hands `f` over to the simulation and waits until it has run on the node.
    pub fn ask<T, F>(&self, f: impl FnOnce(M::Node) -> F + Send + 'static) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + 'static,
    {
        let (done, result) = channel();
        let job = move |node: M::Node| async move {
            let host = M::host(&node).clone();
            let result = f(node).await;
            let sent = done.send((host.now(), result));
            assert!(sent.is_ok(), "a program waits for its result");
        };
        let asked = self.jobs.send(Box::new(move |node| Box::pin(job(node))));
        match asked.ok().and_then(|()| result.recv().ok()) {
            Some((now, result)) => {
                self.now.set(now);
                result
            }
            // The machine was abandoned; a C program cannot be unwound.
            None => loop {
                thread::park();
            },
        }
    }

    /// The simulated address of a pointer into the program's memory.
    ///
    /// # Errors
    /// The pointer lies elsewhere.
    pub fn address<T>(&self, what: &str, pointer: *const T) -> Result<Addr, String> {
        let offset = (pointer as usize).wrapping_sub(self.memory as usize);
        match u32::try_from(offset) {
            Ok(offset) if (self.start..self.end).contains(&offset) => Ok(Addr(offset)),
            _ => Err(format!(
                "the {what} {pointer:p} does not lie in memory of {}alloc on this {}",
                M::PREFIX,
                M::NODE
            )),
        }
    }

    /// End of the program's memory.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Whether the program's memory contains all of these addresses.
    pub fn holds(&self, addresses: Range<i64>) -> bool {
        addresses.start >= self.start.into() && addresses.end <= self.end.into()
    }

    /// The next `bytes` of the node's memory, at a multiple of 32 bytes.
    ///
    /// # Errors
    /// Too little memory is left.
    pub fn alloc(&self, bytes: usize) -> Result<*mut u8, String> {
        self.alloc_aligned(bytes, 32)
    }

    /// The same at a multiple of `alignment` bytes of the node's addresses.
    ///
    /// # Errors
    /// Too little memory is left; `alignment` is no power of two.
    pub fn alloc_aligned(&self, bytes: usize, alignment: usize) -> Result<*mut u8, String> {
        if !alignment.is_power_of_two() {
            return Err(format!(
                "memory at a multiple of {alignment} B: the alignment must be a power of two"
            ));
        }
        let allocated = self.allocated.get();
        let start = (allocated as usize).next_multiple_of(alignment.max(32));
        match start.checked_add(bytes).and_then(|end| u32::try_from(end).ok()) {
            Some(end) if end <= self.end => {
                self.allocated.set(end.next_multiple_of(32).min(self.end));
                // SAFETY: `start` is at most `end`, which lies within the allocation.
                Ok(unsafe { self.memory.add(start) })
            }
            _ => Err(format!(
                "{bytes} B asked for, {} B left; set mem_bytes",
                self.end.saturating_sub(u32::try_from(start).unwrap_or(self.end))
            )),
        }
    }
}

/// The simulation's end of one program. It runs the program on a thread of its own, and runs the program's jobs on
/// `node` until the program returns.
pub async fn run<M: Machine>(node: M::Node, program: Program, refusals: Refusals) {
    let host = M::host(&node);
    let (jobs, asked) = channel::<Job<M>>();
    let link = Link {
        node: host.node(),
        nodes: host.nodes(),
        memory: host.memory(|m| m.as_mut_ptr()),
        start: M::START,
        end: M::memory_end(&node),
        allocated: Cell::new(M::START),
        now: Cell::new(host.now()),
        jobs,
        refusals,
    };
    let thread = thread::Builder::new().name(format!("{} {}", M::NODE, host.node().0));
    let thread = thread.spawn(move || {
        let program = program;
        M::link().set(Some(link));
        (program.function)(program.argument);
        // Dropping the link closes the channel, which reports the program's return.
        M::link().set(None);
    });
    let thread = thread.expect("a thread for each program");
    // While this waits for a job, the only thing that runs is the program.
    while let Ok(job) = asked.recv() {
        job(node.clone()).await;
    }
    thread.join().expect("a program that has returned");
}
