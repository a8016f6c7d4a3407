//! `c/cenju3/include/tsunagi_cenju3.h`: C programs on a simulated Cenju-3.

use std::cell::RefCell;
use std::ffi::{c_char, c_double, c_int, c_void};
use std::ptr;
use std::thread::LocalKey;

use c_programs::{Program, Refusals, Settings, fail, run, span, text};
use tsunagi::cenju3::host::{Cenju3Sim, Pe};
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl;
use tsunagi::harness::backend::Backend;
use tsunagi::harness::exec::Host;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::wave::Probe;
use tsunagi::{NodeId, Picos};

struct Cenju3;

type Link = c_programs::Link<Cenju3>;

thread_local! {
    /// The settings of this thread's next [`CJrun`].
    static SETTINGS: RefCell<Settings<Config>> = RefCell::new(Settings::new(Config::paper()));
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

impl c_programs::Machine for Cenju3 {
    const PREFIX: &'static str = "CJ";
    const NODE: &'static str = "PE";
    const START: u32 = 0;
    type Node = Pe;

    fn host(pe: &Pe) -> &Host {
        pe.host()
    }

    fn memory_end(pe: &Pe) -> u32 {
        pe.memory_end()
    }

    fn link() -> &'static LocalKey<RefCell<Option<Link>>> {
        &LINK
    }
}

/// 0, or -1.
fn status(call: &str, result: Result<(), String>) -> c_int {
    result.map_or_else(
        |why| {
            fail(call, why);
            -1
        },
        |()| 0,
    )
}

/// A call that only a program can make; it returns `failed` on failure.
fn in_program<T>(call: &str, failed: T, f: impl FnOnce(&Link) -> Result<T, String>) -> T {
    c_programs::in_program(call, f).unwrap_or(failed)
}

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CJbackend(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    let set = name.and_then(|name| SETTINGS.with_borrow_mut(|s| s.set_backend(name)));
    status("CJbackend", set)
}

/// # Safety
/// `assignment` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CJset(assignment: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let assignment = unsafe { text(assignment) };
    let set = |text: &str| SETTINGS.with_borrow_mut(|s| s.config.set_assignment(text));
    status(
        "CJset",
        assignment.and_then(|text| set(text).map_err(|e| e.to_string())),
    )
}

#[unsafe(no_mangle)]
pub extern "C" fn CJlimit(us: c_double) -> c_int {
    status("CJlimit", SETTINGS.with_borrow_mut(|s| s.set_limit(us)))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJrun(pes: c_int, program: Option<extern "C" fn(*mut c_void)>, arg: *mut c_void) -> c_int {
    let result = SETTINGS.with_borrow(|settings| {
        let program = Program {
            function: program.ok_or("no program")?,
            argument: arg,
        };
        let mut config = settings.config.clone();
        config.set("pes", f64::from(pes)).map_err(|e| e.to_string())?;
        let limit = settings.limit;
        if settings.rtl {
            let machine = rtl::build(&config, &Probe::default()).map_err(|e| e.to_string())?;
            simulate(machine, config, limit, program)
        } else {
            simulate(ModelMachine::new(&config), config, limit, program)
        }
    });
    status("CJrun", result)
}

fn simulate<B: Backend + 'static>(backend: B, config: Config, limit: Picos, program: Program) -> Result<(), String> {
    let mut sim = Cenju3Sim::new(backend, config).map_err(|e| e.to_string())?;
    let refusals = Refusals::default();
    sim.spawn_all(|pe| run::<Cenju3>(pe, program, refusals.clone()));
    sim.run(limit).map_err(|hang| refusals.explain(hang))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJpe() -> c_int {
    in_program("CJpe", -1, |link| Ok(c_int::from(link.node.0)))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJnpes() -> c_int {
    in_program("CJnpes", -1, |link| Ok(link.nodes as c_int))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJalloc(bytes: usize) -> *mut c_void {
    in_program("CJalloc", ptr::null_mut(), |link| {
        link.alloc(bytes).map(<*mut u8>::cast)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJrmwrite(src: *const c_void, dest_pe: c_int, dest: *mut c_void, bytes: c_int) -> c_int {
    in_program("CJrmwrite", -1, |link| {
        let src = link.address("source", src)?;
        let to = link.address("destination", dest)?;
        let node =
            u16::try_from(dest_pe).map_err(|_| format!("no PE {dest_pe}: the machine has {} PEs", link.nodes))?;
        let bytes = u32::try_from(bytes).map_err(|_| format!("a remote write of {bytes} bytes"))?;
        let written = link.ask(move |pe| async move { pe.rmwrite(src, NodeId(node), to, bytes).await });
        written.map(|bytes| bytes as c_int).map_err(|e| e.to_string())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJfence() -> c_int {
    in_program("CJfence", -1, |link| {
        link.ask(|pe| async move { pe.fence().await });
        Ok(0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJbarrier() -> c_int {
    in_program("CJbarrier", -1, |link| {
        link.ask(|pe| async move { pe.barrier().await });
        Ok(0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJwaitword(word: *const c_int, old: c_int) -> c_int {
    in_program("CJwaitword", 0, |link| {
        let word = link.address("word", word)?;
        let value = link.ask(move |pe| async move { pe.wait_for_change(word, old as u32).await });
        Ok(value as c_int)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJwait(us: c_double) -> c_int {
    in_program("CJwait", -1, |link| {
        let span = span(us)?;
        link.ask(move |pe| async move { pe.compute(span).await });
        Ok(0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJgettmr2() -> c_double {
    in_program("CJgettmr2", -1.0, |link| Ok(link.now().as_us()))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJerror() -> *const c_char {
    c_programs::error()
}
