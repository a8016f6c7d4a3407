//! `include/tsunagi_cenju3.h`: C programs on a simulated Cenju-3.
//!
//! Each program has a thread for its stack, but only one thread ever runs: a program that calls something simulated hands over what it asks
//! for and sleeps; the simulation takes it up as an ordinary host program, and sleeps in turn while it lets a program run.

mod programs;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::ptr;

use tsunagi::cenju3::host::Cenju3Sim;
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::{Composed, NicUnit, RtlMachine};
use tsunagi::harness::backend::Backend;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use tsunagi::{NodeId, Picos};

use crate::programs::{Ask, Program, Refusals, run, with_link};

/// What the next [`CJrun`] of this thread is to be.
struct Settings {
    rtl: bool,
    config: Config,
    limit: Picos,
}

thread_local! {
    static SETTINGS: RefCell<Settings> =
        RefCell::new(Settings { rtl: false, config: Config::paper(), limit: Picos::from_us(1e7) });
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps the text for [`CJerror`] and gives what a failing call returns.
fn fail<T>(call: &str, why: impl ToString, returned: T) -> T {
    let text = format!("{call}: {}", why.to_string()).replace('\0', " ");
    ERROR.set(CString::new(text).expect("no zero byte"));
    returned
}

/// A call that only a program can make.
fn in_program<T>(call: &str, failed: T, f: impl FnOnce(&programs::Link) -> Result<T, String>) -> T {
    let result = with_link(|link| f(link).inspect_err(|why| link.refused(call, why)));
    let result = result.unwrap_or_else(|| Err("called outside a program of CJrun".into()));
    result.unwrap_or_else(|why| fail(call, why, failed))
}

/// # Safety
/// `text` is NULL or a C string.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, String> {
    if text.is_null() {
        return Err("no text".into());
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| "not UTF-8".into())
}

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CJbackend(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let rtl = match unsafe { text(name) } {
        Ok("model") => false,
        Ok("rtl") => true,
        Ok(other) => {
            return fail(
                "CJbackend",
                format!("unknown backend `{other}`; known are: model, rtl"),
                -1,
            );
        }
        Err(why) => return fail("CJbackend", why, -1),
    };
    SETTINGS.with_borrow_mut(|s| s.rtl = rtl);
    0
}

/// # Safety
/// `assignment` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CJset(assignment: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let set = unsafe { text(assignment) }.and_then(|text| {
        SETTINGS
            .with_borrow_mut(|s| s.config.set_assignment(text))
            .map_err(|e| e.to_string())
    });
    set.map_or_else(|why| fail("CJset", why, -1), |()| 0)
}

#[unsafe(no_mangle)]
pub extern "C" fn CJlimit(us: c_double) -> c_int {
    if !(us > 0.0 && us <= 1e12) {
        return fail("CJlimit", format!("{us} us is not a time"), -1);
    }
    SETTINGS.with_borrow_mut(|s| s.limit = Picos::from_us(us));
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn CJrun(pes: c_int, program: Option<extern "C" fn(*mut c_void)>, arg: *mut c_void) -> c_int {
    let Some(function) = program else {
        return fail("CJrun", "no program", -1);
    };
    let program = Program {
        function,
        argument: arg,
    };
    let result = SETTINGS.with_borrow(|settings| {
        let mut config = settings.config.clone();
        config.set("pes", f64::from(pes)).map_err(|e| e.to_string())?;
        let limit = settings.limit;
        match (settings.rtl, config.bus_bytes) {
            (false, _) => simulate(ModelMachine::new(&config), config, limit, program),
            (true, 4) => verilated::<Cenju3Nic>(config, limit, program),
            (true, _) => verilated::<Cenju3NicWide>(config, limit, program),
        }
    });
    result.map_or_else(|why| fail("CJrun", why, -1), |()| 0)
}

fn verilated<N: NicUnit + 'static>(config: Config, limit: Picos, program: Program) -> Result<(), String> {
    let machine = RtlMachine::<Composed<N>>::build(&config).map_err(|e| e.to_string())?;
    simulate(machine, config, limit, program)
}

fn simulate<B: Backend + 'static>(backend: B, config: Config, limit: Picos, program: Program) -> Result<(), String> {
    let mut sim = Cenju3Sim::new(backend, config).map_err(|e| e.to_string())?;
    let refusals = Refusals::default();
    sim.spawn_all(|pe| run(pe, program, refusals.clone()));
    // Who waits for what a refused call did not do hangs as a consequence: the first refusal comes first.
    sim.run(limit).map_err(|hang| match refusals.first() {
        Some(refusal) => format!("{refusal}; then {hang}"),
        None => hang.to_string(),
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJpe() -> c_int {
    in_program("CJpe", -1, |link| Ok(c_int::from(link.pe.0)))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJnpes() -> c_int {
    in_program("CJnpes", -1, |link| Ok(link.pes as c_int))
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
        let node = u16::try_from(dest_pe).map_err(|_| format!("no PE {dest_pe}: the machine has {} PEs", link.pes))?;
        let bytes = u32::try_from(bytes).map_err(|_| format!("a remote write of {bytes} bytes"))?;
        link.ask(Ask::Write {
            src,
            dest: NodeId(node),
            to,
            bytes,
        })
        .map(|written| written as c_int)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJfence() -> c_int {
    in_program("CJfence", -1, |link| link.ask(Ask::Fence).map(|_| 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJbarrier() -> c_int {
    in_program("CJbarrier", -1, |link| link.ask(Ask::Barrier).map(|_| 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJwaitword(word: *const c_int, old: c_int) -> c_int {
    in_program("CJwaitword", 0, |link| {
        let word = link.address("word", word)?;
        link.ask(Ask::Change { word, old: old as u32 })
            .map(|value| value as c_int)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJwait(us: c_double) -> c_int {
    in_program("CJwait", -1, |link| {
        if !(0.0..=1e12).contains(&us) {
            return Err(format!("{us} us is not a time"));
        }
        link.ask(Ask::Compute(Picos::from_us(us))).map(|_| 0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CJgettmr2() -> c_double {
    in_program("CJgettmr2", -1.0, |link| Ok(link.now().as_us()))
}

#[unsafe(no_mangle)]
pub extern "C" fn CJerror() -> *const c_char {
    ERROR.with_borrow(|text| text.as_ptr())
}
