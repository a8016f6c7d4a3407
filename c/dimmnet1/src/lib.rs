//! `c/dimmnet1/include/tsunagi_dimmnet1.h`: C programs on a simulated DIMMnet-1.

mod error;
mod llcm;
mod messages;
mod transfer;

use std::cell::RefCell;
use std::ffi::{c_char, c_double, c_int, c_void};
use std::ptr;
use std::thread::LocalKey;

use c_programs::{Program, Refusals, Settings, fail, in_program, run, span, text};
use tsunagi::dimmnet1::host::{Barrier, Dimmnet1Sim, Node};
use tsunagi::dimmnet1::model::ModelMachine;
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::rtl;
use tsunagi::harness::backend::Backend;
use tsunagi::harness::exec::Host;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::wave::Probe;
use tsunagi::{NodeId, Picos};

use crate::error::{Code, Result, code};

struct Dimmnet1;

type Link = c_programs::Link<Dimmnet1>;

thread_local! {
    /// The settings of this thread's next [`DNrun`].
    static SETTINGS: RefCell<Settings<Config>> = RefCell::new(Settings::new(Config::paper()));
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

impl c_programs::Machine for Dimmnet1 {
    const PREFIX: &'static str = "DN";
    const NODE: &'static str = "node";
    const START: u32 = 0;
    type Node = Node;

    fn host(node: &Node) -> &Host {
        node.host()
    }

    fn memory_end(node: &Node) -> u32 {
        node.memory_end()
    }

    fn link() -> &'static LocalKey<RefCell<Option<Link>>> {
        &LINK
    }
}

// ---- before a machine runs

/// The code of a call outside a program; keeps the reason of a failure.
fn status(call: &str, result: Result<()>) -> c_int {
    code(result.inspect_err(|error| fail(call, error)))
}

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn DNbackend(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    let set = name.and_then(|name| SETTINGS.with_borrow_mut(|s| s.set_backend(name)));
    status("DNbackend", set.map_err(|e| Code::Setting.why(e)))
}

/// # Safety
/// `assignment` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn DNset(assignment: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let assignment = unsafe { text(assignment) };
    let set = |text: &str| SETTINGS.with_borrow_mut(|s| s.config.set_assignment(text));
    let set = assignment.and_then(|text| set(text).map_err(|e| e.to_string()));
    status("DNset", set.map_err(|e| Code::Setting.why(e)))
}

#[unsafe(no_mangle)]
pub extern "C" fn DNlimit(us: c_double) -> c_int {
    let set = SETTINGS.with_borrow_mut(|s| s.set_limit(us));
    status("DNlimit", set.map_err(|e| Code::Setting.why(e)))
}

#[unsafe(no_mangle)]
pub extern "C" fn DNrun(nodes: c_int, program: Option<extern "C" fn(*mut c_void)>, arg: *mut c_void) -> c_int {
    let result = SETTINGS.with_borrow(|settings| {
        let program = Program {
            function: program.ok_or_else(|| Code::Setting.why("no program"))?,
            argument: arg,
        };
        let mut config = settings.config.clone();
        let set = config.set("nodes", f64::from(nodes));
        set.map_err(|e| Code::Setting.why(e))?;
        if settings.rtl {
            let machine = rtl::build(&config, &Probe::default()).map_err(|e| Code::Setting.why(e))?;
            simulate(machine, &config, settings.limit, program)
        } else {
            simulate(ModelMachine::new(&config), &config, settings.limit, program)
        }
    });
    status("DNrun", result)
}

fn simulate<B: Backend + 'static>(backend: B, config: &Config, limit: Picos, program: Program) -> Result<()> {
    let mut sim = Dimmnet1Sim::new(backend, config).map_err(|e| Code::Setting.why(e))?;
    let refusals = Refusals::default();
    sim.spawn_all(|node| run::<Dimmnet1>(node, program, refusals.clone()));
    let ran = sim.run(limit);
    ran.map_err(|hang| Code::Hang.why(refusals.explain(hang)))
}

// ---- within a program

/// A program's call, and its code.
fn call(name: &str, f: impl FnOnce(&Link) -> Result<()>) -> c_int {
    code(in_program(name, f))
}

/// The number that a call returns, or its error.
fn number<T: From<i32>>(name: &str, f: impl FnOnce(&Link) -> Result<T>) -> T {
    in_program(name, f).unwrap_or_else(|error| T::from(error.code as i32))
}

/// A node by its number; the library checks that it exists.
fn node(link: &Link, number: c_int) -> Result<NodeId> {
    match u16::try_from(number) {
        Ok(number) => Ok(NodeId(number)),
        Err(_) => Err(Code::Node.why(format!("no node {number}: the machine has {} nodes", link.nodes))),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn DNnode() -> c_int {
    number("DNnode", |link| Ok(c_int::from(link.node.0)))
}

#[unsafe(no_mangle)]
pub extern "C" fn DNnodes() -> c_int {
    number("DNnodes", |link| Ok(link.nodes as c_int))
}

#[unsafe(no_mangle)]
pub extern "C" fn DNalloc(bytes: usize) -> *mut c_void {
    let given = in_program("DNalloc", |link: &Link| {
        link.alloc(bytes).map_err(|e| Code::Pointer.why(e))
    });
    given.map_or(ptr::null_mut(), <*mut u8>::cast)
}

#[unsafe(no_mangle)]
pub extern "C" fn DNalloc_aligned(bytes: usize, alignment: usize) -> *mut c_void {
    let given = in_program("DNalloc_aligned", |link: &Link| {
        link.alloc_aligned(bytes, alignment).map_err(|e| Code::Pointer.why(e))
    });
    given.map_or(ptr::null_mut(), <*mut u8>::cast)
}

#[unsafe(no_mangle)]
pub extern "C" fn DNbarrier(kind: c_int) -> c_int {
    call("DNbarrier", |link| {
        let barrier = match kind {
            0 => Barrier::Hosts,
            1 => Barrier::HostsMulticast,
            2 => Barrier::Processor,
            3 => Barrier::ProcessorMulticast,
            _ => return Err(Code::Kind.why(format!("{kind} is no kind of barrier"))),
        };
        Ok(link.ask(move |node| async move { node.barrier(barrier).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNwait(us: c_double) -> c_int {
    call("DNwait", |link| {
        let span = span(us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| async move { node.compute(span).await });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNtime() -> c_double {
    number("DNtime", |link| Ok(link.now().as_us()))
}

#[unsafe(no_mangle)]
pub extern "C" fn DNerror() -> *const c_char {
    c_programs::error()
}
