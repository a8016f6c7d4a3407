//! `c/emx/include/tsunagi_emx.h`: C programs on the host of a simulated EM-4 or EM-X.

use std::cell::RefCell;
use std::ffi::{c_char, c_double, c_int};
use std::slice;

use c_programs::{Settings, fail, text};
use tsunagi::emx::asm::Source;
use tsunagi::emx::host::Emx;
use tsunagi::emx::params::Config;
use tsunagi::harness::params::Table as _;
use tsunagi::repro::row::BackendKind;

thread_local! {
    /// The settings of this thread's next [`EMopen`].
    static SETTINGS: RefCell<Settings<Config>> = RefCell::new(Settings::new(Config::paper()));
    static MACHINE: RefCell<Option<Emx>> = const { RefCell::new(None) };
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

/// A call that needs the machine.
fn on_machine<T>(f: impl FnOnce(&mut Emx) -> Result<T, String>) -> Result<T, String> {
    MACHINE.with_borrow_mut(|machine| f(machine.as_mut().ok_or("no machine: call EMopen first")?))
}

/// A count from C.
fn count(what: &str, count: c_int) -> Result<usize, String> {
    usize::try_from(count).map_err(|_| format!("{count} {what}"))
}

/// The number of a PE; one that there is not is refused by the machine.
fn pe(pe: c_int) -> Result<u32, String> {
    u32::try_from(pe).map_err(|_| format!("there is no PE {pe}"))
}

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EMbackend(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    let set = name.and_then(|name| SETTINGS.with_borrow_mut(|s| s.set_backend(name)));
    status("EMbackend", set)
}

/// # Safety
/// `assignment` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EMset(assignment: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let assignment = unsafe { text(assignment) };
    let set = |text: &str| SETTINGS.with_borrow_mut(|s| s.config.set_assignment(text));
    status(
        "EMset",
        assignment.and_then(|text| set(text).map_err(|e| e.to_string())),
    )
}

#[unsafe(no_mangle)]
pub extern "C" fn EMx() -> c_int {
    SETTINGS.with_borrow_mut(|s| s.config = s.config.em_x());
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn EMlimit(us: c_double) -> c_int {
    status("EMlimit", SETTINGS.with_borrow_mut(|s| s.set_limit(us)))
}

/// # Safety
/// `code` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EMopen(code: *const c_char) -> c_int {
    let own = if code.is_null() {
        Ok(Vec::new())
    } else {
        // SAFETY: the caller's promise.
        unsafe { text(code) }.map(|code| {
            vec![Source {
                name: "host.s".into(),
                text: code.into(),
            }]
        })
    };
    let opened = own.and_then(|own| {
        SETTINGS.with_borrow(|settings| {
            let kind = if settings.rtl {
                BackendKind::Rtl
            } else {
                BackendKind::Model
            };
            let mut machine = Emx::with_code(&settings.config, kind, &own).map_err(|e| e.to_string())?;
            machine.limit = settings.limit.0 / settings.config.clock_period.0;
            MACHINE.set(Some(machine));
            Ok(())
        })
    });
    status("EMopen", opened)
}

#[unsafe(no_mangle)]
pub extern "C" fn EMpes() -> c_int {
    let pes = on_machine(|machine| Ok(machine.config().pes() as c_int));
    pes.unwrap_or_else(|why| {
        fail("EMpes", why);
        -1
    })
}

/// # Safety
/// `words` points to `many` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EMwrite(to: c_int, addr: u32, words: *const u32, many: c_int) -> c_int {
    let written = on_machine(|machine| {
        let many = count("words", many)?;
        if many == 0 {
            return Ok(());
        }
        if words.is_null() {
            return Err("no words: NULL".into());
        }
        // SAFETY: the caller's promise.
        let words = unsafe { slice::from_raw_parts(words, many) };
        machine.write(pe(to)?, addr, words).map_err(|e| e.to_string())
    });
    status("EMwrite", written)
}

/// # Safety
/// `words` has room for `many` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EMread(from: c_int, addr: u32, words: *mut u32, many: c_int) -> c_int {
    let read = on_machine(|machine| {
        let many = count("words", many)?;
        let got = machine.read(pe(from)?, addr, many).map_err(|e| e.to_string())?;
        if many == 0 {
            return Ok(());
        }
        if words.is_null() {
            return Err("no room for words: NULL".into());
        }
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts_mut(words, many) }.copy_from_slice(&got);
        Ok(())
    });
    status("EMread", read)
}

/// # Safety
/// `thread` is NULL or a C string; `arguments` points to `pes * each` words; `results` is NULL or has room for `pes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EMcall(
    thread: *const c_char,
    pes: c_int,
    arguments: *const u32,
    each: c_int,
    results: *mut u32,
) -> c_int {
    let called = on_machine(|machine| {
        // SAFETY: the caller's promise.
        let thread = unsafe { text(thread) }?;
        let (pes, each) = (count("PEs", pes)?, count("arguments", each)?);
        if pes > machine.config().pes() as usize {
            return Err(format!(
                "threads on {pes} PEs: the machine has {}",
                machine.config().pes()
            ));
        }
        if each > 0 && arguments.is_null() {
            return Err("no arguments: NULL".into());
        }
        let of = |pe: usize| match each {
            0 => Vec::new(),
            // SAFETY: the caller's promise.
            _ => unsafe { slice::from_raw_parts(arguments.add(pe * each), each) }.to_vec(),
        };
        let arguments: Vec<Vec<u32>> = (0..pes).map(of).collect();
        let told = machine.call(thread, &arguments).map_err(|e| e.to_string())?;
        if !results.is_null() {
            // SAFETY: the caller's promise; there is a result of each PE.
            unsafe { slice::from_raw_parts_mut(results, pes) }.copy_from_slice(&told);
        }
        Ok(())
    });
    status("EMcall", called)
}

#[unsafe(no_mangle)]
pub extern "C" fn EMtime() -> c_double {
    let time = on_machine(|machine| Ok(machine.now().as_us()));
    time.unwrap_or_else(|why| {
        fail("EMtime", why);
        -1.0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn EMerror() -> *const c_char {
    c_programs::error()
}
