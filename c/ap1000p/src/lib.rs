//! `c/ap1000p/include/tsunagi_ap1000p.h`: C programs on a simulated AP1000+.

mod error;
mod messages;
mod shared;
mod transfer;

use std::cell::RefCell;
use std::ffi::{c_char, c_double, c_int, c_uint, c_void};
use std::ptr;
use std::thread::LocalKey;

use c_programs::{Program, Refusals, Settings, fail, in_program, run, span, text};
use tsunagi::ap1000p::host::{
    Along, Ap1000pSim, By, Cell, Combine, CommandError, FaultKind, LIBRARY_REGISTERS, Transfer,
};
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::CAUSE_FULL_MASK;
use tsunagi::ap1000p::rtl;
use tsunagi::harness::backend::Backend;
use tsunagi::harness::exec::Host;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, NodeId, Picos};

use crate::error::{Code, Result, code};
use crate::transfer::{ON_DEMAND, Sides, Stride};

struct Ap1000p;

type Link = c_programs::Link<Ap1000p>;

thread_local! {
    /// The settings of this thread's next [`APrun`].
    static SETTINGS: RefCell<Settings<Config>> = RefCell::new(Settings::new(Config::paper()));
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

impl c_programs::Machine for Ap1000p {
    const PREFIX: &'static str = "AP";
    const NODE: &'static str = "cell";
    /// The first bytes are left out, because no flag can be at 0.
    const START: u32 = 32;
    type Node = Cell;

    fn host(cell: &Cell) -> &Host {
        cell.host()
    }

    fn memory_end(cell: &Cell) -> u32 {
        cell.memory_end()
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
pub unsafe extern "C" fn APbackend(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    let set = name.and_then(|name| SETTINGS.with_borrow_mut(|s| s.set_backend(name)));
    status("APbackend", set.map_err(|e| Code::Setting.why(e)))
}

/// # Safety
/// `assignment` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APset(assignment: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let assignment = unsafe { text(assignment) };
    let set = |text: &str| SETTINGS.with_borrow_mut(|s| s.config.set_assignment(text));
    let set = assignment.and_then(|text| set(text).map_err(|e| e.to_string()));
    status("APset", set.map_err(|e| Code::Setting.why(e)))
}

#[unsafe(no_mangle)]
pub extern "C" fn APlimit(us: c_double) -> c_int {
    let set = SETTINGS.with_borrow_mut(|s| s.set_limit(us));
    status("APlimit", set.map_err(|e| Code::Setting.why(e)))
}

#[unsafe(no_mangle)]
pub extern "C" fn APrun(
    columns: c_int,
    rows: c_int,
    program: Option<extern "C" fn(*mut c_void)>,
    arg: *mut c_void,
) -> c_int {
    let result = SETTINGS.with_borrow(|settings| {
        let program = Program {
            function: program.ok_or_else(|| Code::Setting.why("no program"))?,
            argument: arg,
        };
        let mut config = settings.config.clone();
        for (name, cells) in [("columns", columns), ("rows", rows)] {
            let set = config.set(name, f64::from(cells));
            set.map_err(|e| Code::Setting.why(e))?;
        }
        if settings.rtl {
            let machine = rtl::build(&config, &Probe::default()).map_err(|e| Code::Setting.why(e))?;
            simulate(machine, config, settings.limit, program)
        } else {
            simulate(ModelMachine::new(&config), config, settings.limit, program)
        }
    });
    status("APrun", result)
}

fn simulate<B: Backend + 'static>(backend: B, config: Config, limit: Picos, program: Program) -> Result<()> {
    let mut sim = Ap1000pSim::new(backend, config).map_err(|e| Code::Setting.why(e))?;
    let refusals = Refusals::default();
    sim.spawn_all(|cell| run::<Ap1000p>(cell, program, refusals.clone()));
    sim.run(limit).map_err(|hang| Code::Hang.why(refusals.explain(hang)))?;
    // A nearly full spill region did no harm.
    let full = FaultKind::Other { cause: CAUSE_FULL_MASK };
    match sim.take_faults().iter().find(|fault| fault.kind != full) {
        Some(fault) => Err(Code::Refused.why(fault)),
        None => Ok(()),
    }
}

// ---- within a program

/// A program's call, and its code.
fn call(name: &str, f: impl FnOnce(&Link) -> Result<()>) -> c_int {
    code(in_program(name, f))
}

/// A request of a program to its own link.
fn number<T: From<i32>>(name: &str, f: impl FnOnce(&Link) -> T) -> T {
    in_program(name, |link| Result::Ok(f(link))).unwrap_or_else(|error| T::from(error.code as i32))
}

/// A call that starts a transfer between this cell and another, or ends with it.
fn transfers<F: Future<Output = std::result::Result<(), CommandError>> + 'static>(
    name: &str,
    other: c_int,
    sides: Sides,
    f: impl FnOnce(Cell, NodeId, Transfer) -> F + Send + 'static,
) -> c_int {
    call(name, |link| {
        let (other, transfer) = (cell(other)?, sides.transfer(link)?);
        Ok(link.ask(move |cell| f(cell, other, transfer))?)
    })
}

/// The same for a call that stores a number at `to`, unless `to` is NULL.
///
/// # Safety
/// `to` is NULL or good for a write.
unsafe fn gives<T>(name: &str, to: *mut T, f: impl FnOnce(&Link) -> Result<T>) -> c_int {
    call(name, |link| {
        let value = f(link)?;
        if !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { to.write(value) };
        }
        Ok(())
    })
}

/// A cell by its number; the library checks that it exists.
fn cell(number: c_int) -> Result<NodeId> {
    match u16::try_from(number) {
        Ok(number) => Ok(NodeId(number)),
        Err(_) => Err(Code::Cell.why(format!("cell {number} is not in the torus: cells are numbered from 0"))),
    }
}

/// A word of the program's memory for hardware: a flag, a lock.
fn word(link: &Link, what: &str, pointer: *const c_int) -> Result<Addr> {
    let addr = link.address(what, pointer).map_err(|e| Code::Pointer.why(e))?;
    if addr.0.is_multiple_of(4) {
        Ok(addr)
    } else {
        Err(CommandError::Unaligned { addr }.into())
    }
}

/// One of the program's communication registers.
fn register(number: c_int) -> Result<u8> {
    match u8::try_from(number) {
        Ok(number) if number < LIBRARY_REGISTERS => Ok(number),
        _ => Err(Code::Register.why(format!(
            "communication register {number}: 0 to {} are the program's",
            LIBRARY_REGISTERS - 1
        ))),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn APcell() -> c_int {
    number("APcell", |link| c_int::from(link.node.0))
}

#[unsafe(no_mangle)]
pub extern "C" fn APcells() -> c_int {
    number("APcells", |link| link.nodes as c_int)
}

#[unsafe(no_mangle)]
pub extern "C" fn APalloc(bytes: usize) -> *mut c_void {
    let given = in_program("APalloc", |link: &Link| {
        link.alloc(bytes).map_err(|e| Code::Pointer.why(e))
    });
    given.map_or(ptr::null_mut(), <*mut u8>::cast)
}

#[unsafe(no_mangle)]
pub extern "C" fn APalloc_aligned(bytes: usize, alignment: usize) -> *mut c_void {
    let given = in_program("APalloc_aligned", |link: &Link| {
        link.alloc_aligned(bytes, alignment).map_err(|e| Code::Pointer.why(e))
    });
    given.map_or(ptr::null_mut(), <*mut u8>::cast)
}

#[unsafe(no_mangle)]
pub extern "C" fn APon_demand(on: c_int) -> c_int {
    call("APon_demand", |_| {
        ON_DEMAND.set(on != 0);
        Ok(())
    })
}

/// Calls with a parameter of their own, followed by those of PUT and GET: each without and with strides.
macro_rules! calls {
    ($($plain:ident, $strided:ident($first:ident) => $call:expr;)+) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $plain(
            $first: c_int,
            source_addr: *const c_void,
            size: c_int,
            dest_addr: *mut c_void,
            dest_flag: *mut c_int,
            source_flag: *mut c_int,
        ) -> c_int {
            let sides = Sides::plain(source_addr, size, dest_addr, dest_flag, source_flag);
            $call(stringify!($plain), $first, sides)
        }

        /// # Safety
        /// Each stride is NULL or good for a read.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $strided(
            $first: c_int,
            source_addr: *const c_void,
            source_stride: *const Stride,
            size: c_int,
            dest_addr: *mut c_void,
            dest_stride: *const Stride,
            dest_flag: *mut c_int,
            source_flag: *mut c_int,
        ) -> c_int {
            // SAFETY: the caller's promise.
            let strides = unsafe { (source_stride.as_ref(), dest_stride.as_ref()) };
            let sides = Sides::plain(source_addr, size, dest_addr, dest_flag, source_flag).with(strides);
            $call(stringify!($strided), $first, sides)
        }
    )+};
}

calls! {
    APput, APput_stride(dest_cell) => put;
    APput_system, APput_system_stride(dest_cell) => put_system;
    APget, APget_stride(source_cell) => get;
    APack_put, APack_put_stride(dest_cell) => ack_put;
    APbroadcast, APbroadcast_stride(along) => broadcast;
}

fn put(name: &str, to: c_int, sides: Sides) -> c_int {
    transfers(name, to, sides, |cell, to, transfer| async move {
        cell.put_stride(to, &transfer).await
    })
}

fn put_system(name: &str, to: c_int, sides: Sides) -> c_int {
    transfers(name, to, sides, |cell, to, transfer| async move {
        cell.put_by(By::System, to, &transfer).await
    })
}

fn get(name: &str, from: c_int, sides: Sides) -> c_int {
    transfers(name, from, sides, |cell, from, transfer| async move {
        cell.get_stride(from, &transfer).await
    })
}

fn ack_put(name: &str, to: c_int, sides: Sides) -> c_int {
    transfers(name, to, sides, |cell, to, transfer| async move {
        cell.ack_put(to, &transfer).await
    })
}

fn broadcast(name: &str, along: c_int, sides: Sides) -> c_int {
    call(name, |link| {
        let along = match along {
            0 => Along::Row,
            1 => Along::Column,
            2 => Along::All,
            _ => return Err(Code::Operation.why(format!("{along} is neither AP_ROW, AP_COLUMN nor AP_ALL"))),
        };
        let transfer = sides.transfer(link)?;
        Ok(link.ask(move |cell| async move { cell.broadcast(along, &transfer).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APwait_flag(flag: *const c_int, value: c_int) -> c_int {
    call("APwait_flag", |link| {
        let flag = word(link, "flag", flag)?;
        Ok(link.ask(move |cell| async move { cell.wait_flag(flag, value as u32).await })?)
    })
}

/// # Safety
/// `was` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APfetch_op(
    dest_cell: c_int,
    dest_addr: *mut c_int,
    and: c_uint,
    or: c_uint,
    was: *mut c_uint,
) -> c_int {
    let f = |link: &Link| {
        let (to, addr) = (cell(dest_cell)?, word(link, "word", dest_addr)?);
        Ok(link.ask(move |cell| async move { cell.fetch_op(to, addr, and, or).await })?)
    };
    // SAFETY: the caller's promise.
    unsafe { gives("APfetch_op", was, f) }
}

/// # Safety
/// `was` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APcompare_swap(
    dest_cell: c_int,
    dest_addr: *mut c_int,
    old: c_uint,
    new: c_uint,
    was: *mut c_uint,
) -> c_int {
    let f = |link: &Link| {
        let (to, addr) = (cell(dest_cell)?, word(link, "word", dest_addr)?);
        Ok(link.ask(move |cell| async move { cell.compare_swap(to, addr, old, new).await })?)
    };
    // SAFETY: the caller's promise.
    unsafe { gives("APcompare_swap", was, f) }
}

#[unsafe(no_mangle)]
pub extern "C" fn APlock(lock_cell: c_int, lock: *mut c_int) -> c_int {
    call("APlock", |link| {
        let (to, addr) = (cell(lock_cell)?, word(link, "lock", lock)?);
        Ok(link.ask(move |cell| async move { cell.lock(to, addr).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APunlock(lock_cell: c_int, lock: *mut c_int) -> c_int {
    call("APunlock", |link| {
        let (to, addr) = (cell(lock_cell)?, word(link, "lock", lock)?);
        Ok(link.ask(move |cell| async move { cell.unlock(to, addr).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APput_registers(
    dest_cell: c_int,
    source_addr: *const c_void,
    size: c_int,
    first: c_int,
    source_flag: *mut c_int,
) -> c_int {
    call("APput_registers", |link| {
        let sides = Sides::plain(source_addr, size, ptr::null_mut(), ptr::null_mut(), source_flag);
        let (to, source) = (cell(dest_cell)?, sides.source(link)?);
        let first = registers(first, source.words)?;
        let put = move |cell: Cell| async move {
            let (words, flag) = (source.words, source.source_flag);
            cell.put_registers(to, source.source, words, first, flag).await
        };
        Ok(link.ask(put)?)
    })
}

/// A range of communication registers from `first` on; the last one must be the program's, too.
fn registers(first: c_int, words: u32) -> Result<u8> {
    let number = register(first)?;
    let last = i64::from(first) + i64::from(words).max(1) - 1;
    register(c_int::try_from(last).unwrap_or(c_int::MAX))?;
    Ok(number)
}

#[unsafe(no_mangle)]
pub extern "C" fn APput_from_registers(
    dest_cell: c_int,
    first: c_int,
    size: c_int,
    dest_addr: *mut c_void,
    dest_flag: *mut c_int,
) -> c_int {
    call("APput_from_registers", |link| {
        let sides = Sides::plain(ptr::null(), size, dest_addr, dest_flag, ptr::null_mut());
        let (to, dest) = (cell(dest_cell)?, sides.dest(link)?);
        let first = registers(first, dest.words)?;
        let put = move |cell: Cell| async move {
            cell.put_from_registers(to, first, dest.words, dest.dest, dest.dest_flag)
                .await
        };
        Ok(link.ask(put)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APget_registers(
    source_cell: c_int,
    first: c_int,
    size: c_int,
    dest_addr: *mut c_void,
    dest_flag: *mut c_int,
) -> c_int {
    call("APget_registers", |link| {
        let sides = Sides::plain(ptr::null(), size, dest_addr, dest_flag, ptr::null_mut());
        let (from, dest) = (cell(source_cell)?, sides.dest(link)?);
        let first = registers(first, dest.words)?;
        let get = move |cell: Cell| async move {
            cell.get_registers(from, first, dest.words, dest.dest, dest.dest_flag)
                .await
        };
        Ok(link.ask(get)?)
    })
}

/// # Safety
/// `value` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APregister_read(number: c_int, value: *mut c_uint) -> c_int {
    let f = |link: &Link| {
        let register = register(number)?;
        Ok(link.ask(move |cell| async move { cell.register_read(register).await })?)
    };
    // SAFETY: the caller's promise.
    unsafe { gives("APregister_read", value, f) }
}

#[unsafe(no_mangle)]
pub extern "C" fn APregister_write(number: c_int, value: c_uint) -> c_int {
    call("APregister_write", |link| {
        let register = register(number)?;
        Ok(link.ask(move |cell| async move { cell.register_write(register, value).await })?)
    })
}

/// # Safety
/// `result` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APreduce(operation: c_int, value: c_uint, result: *mut c_uint) -> c_int {
    let f = |link: &Link| {
        let combine = match operation {
            0 => Combine::Sum,
            1 => Combine::Min,
            2 => Combine::Max,
            3 => Combine::And,
            4 => Combine::Or,
            _ => return Err(Code::Operation.why(format!("{operation} is no operation of a reduction"))),
        };
        Ok(link.ask(move |cell| async move { cell.reduce(combine, value).await })?)
    };
    // SAFETY: the caller's promise.
    unsafe { gives("APreduce", result, f) }
}

#[unsafe(no_mangle)]
pub extern "C" fn APbarrier() -> c_int {
    call("APbarrier", |link| {
        Ok(link.ask(|cell| async move { cell.barrier().await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APbarrier_by_flags() -> c_int {
    call("APbarrier_by_flags", |link| {
        Ok(link.ask(|cell| async move { cell.barrier_by_flags().await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APbarrier_by_snet() -> c_int {
    call("APbarrier_by_snet", |link| {
        let done = link.ask(|cell| async move { cell.barrier_by_snet().await });
        Ok(done.map_err(CommandError::from)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APwait(us: c_double) -> c_int {
    call("APwait", |link| {
        let span = span(us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |cell| async move { cell.compute(span).await });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APtime() -> c_double {
    number("APtime", |link| link.now().as_us())
}

#[unsafe(no_mangle)]
pub extern "C" fn APerror() -> *const c_char {
    c_programs::error()
}
