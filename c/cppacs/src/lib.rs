//! `c/cppacs/include/tsunagi_cppacs.h`: C programs with the native library on a simulated CP-PACS.

mod error;

use std::cell::RefCell;
use std::ffi::{c_char, c_double, c_int, c_uint, c_void};
use std::ptr;
use std::rc::Rc;
use std::slice;
use std::thread::LocalKey;

use c_programs::{Program, Refusals, Settings, fail, in_program, run, span, text};
use tsunagi::cppacs::host::transport::Strided;
use tsunagi::cppacs::host::{
    Allow, Area, Change, CppacsSim, Field, How, Node as Library, Right, Sent, Span, Steps, Strided as Elements, TcwId,
    To, Transfer, layout,
};
use tsunagi::cppacs::model::ModelMachine;
use tsunagi::cppacs::params::Config;
use tsunagi::cppacs::rtl;
use tsunagi::harness::backend::Backend;
use tsunagi::harness::exec::Host;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::wave::Probe;
use tsunagi::net::hyper::Channel;
use tsunagi::{Addr, NodeId, Picos};

use crate::error::{Code, Error, Result, code};

struct Cppacs;

type Link = c_programs::Link<Cppacs>;

/// A node, and what its program has descriptors for.
#[derive(Clone)]
struct Node {
    library: Library,
    has: Rc<RefCell<Descriptors>>,
}

/// By number; `None`: it was given back.
#[derive(Default)]
struct Descriptors {
    areas: Vec<Area>,
    /// With the transfers that were waited for.
    fields: Vec<Option<(Field, u32)>>,
    rights: Vec<Option<Right>>,
    tcws: Vec<Option<Rc<TcwId>>>,
    sent: Vec<Sent>,
}

thread_local! {
    /// The settings of this thread's next [`CPrun`].
    static SETTINGS: RefCell<Settings<Config>> = RefCell::new(Settings::new(Config::paper()));
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

impl c_programs::Machine for Cppacs {
    const PREFIX: &'static str = "CP";
    const NODE: &'static str = "node";
    const START: u32 = layout::AREA;
    type Node = Node;

    fn host(node: &Node) -> &Host {
        node.library.host()
    }

    fn memory_end(node: &Node) -> u32 {
        node.library.config().mem_bytes
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
pub unsafe extern "C" fn CPbackend(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    let set = name.and_then(|name| SETTINGS.with_borrow_mut(|s| s.set_backend(name)));
    status("CPbackend", set.map_err(|e| Code::Setting.why(e)))
}

/// # Safety
/// `assignment` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CPset(assignment: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let assignment = unsafe { text(assignment) };
    let set = |text: &str| SETTINGS.with_borrow_mut(|s| s.config.set_assignment(text));
    let set = assignment.and_then(|text| set(text).map_err(|e| e.to_string()));
    status("CPset", set.map_err(|e| Code::Setting.why(e)))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPlimit(us: c_double) -> c_int {
    let set = SETTINGS.with_borrow_mut(|s| s.set_limit(us));
    status("CPlimit", set.map_err(|e| Code::Setting.why(e)))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPrun(
    x: c_int,
    y: c_int,
    z: c_int,
    program: Option<extern "C" fn(*mut c_void)>,
    arg: *mut c_void,
) -> c_int {
    let result = SETTINGS.with_borrow(|settings| {
        let program = Program {
            function: program.ok_or_else(|| Code::Setting.why("no program"))?,
            argument: arg,
        };
        let mut config = settings.config.clone();
        for (name, nodes) in [("x", x), ("y", y), ("z", z)] {
            let set = config.set(name, f64::from(nodes));
            set.map_err(|e| Code::Setting.why(e))?;
        }
        if settings.rtl {
            let machine = rtl::build(&config, &Probe::default()).map_err(|e| Code::Setting.why(e))?;
            simulate(machine, &config, settings.limit, program)
        } else {
            simulate(ModelMachine::new(&config), &config, settings.limit, program)
        }
    });
    status("CPrun", result)
}

fn simulate<B: Backend + 'static>(backend: B, config: &Config, limit: Picos, program: Program) -> Result<()> {
    let mut sim = CppacsSim::new(backend, config).map_err(|e| Code::Setting.why(e))?;
    let refusals = Refusals::default();
    sim.spawn_all(|library| {
        let has = Rc::default();
        run::<Cppacs>(Node { library, has }, program, refusals.clone())
    });
    let ran = sim.run(limit);
    ran.map_err(|hang| Code::Hang.why(refusals.explain(hang)))
}

// ---- within a program

/// A program's call, and its code.
fn call(name: &str, f: impl FnOnce(&Link) -> Result<()>) -> c_int {
    code(in_program(name, f))
}

/// The number that a call returns, or its error.
fn number(name: &str, f: impl FnOnce(&Link) -> Result<c_int>) -> c_int {
    in_program(name, f).unwrap_or_else(|error: Error| error.code as c_int)
}

/// A count of bytes of the node.
fn bytes(what: &str, bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| Code::Length.why(format!("{what} of {bytes} B")))
}

/// `bits` of `how` or `allow`, if there are no others.
fn bits(what: &str, given: c_int, known: c_int) -> Result<c_int> {
    let is_known = given & !known == 0;
    is_known
        .then_some(given)
        .ok_or_else(|| Code::Setting.why(format!("{what} {given:#x}: the bits are {known:#x}")))
}

const ACK: c_int = 1;
const NOTIFY: c_int = 2;
const FLAG: c_int = 4;

fn how(how: c_int) -> Result<How> {
    let how = bits("how", how, ACK | NOTIFY | FLAG)?;
    Ok(How {
        channel: if how & ACK == 0 { Channel::Data } else { Channel::Ack },
        notify: how & NOTIFY != 0,
        flagged: how & FLAG != 0,
    })
}

/// CP_WRITE, CP_READ and CP_ATOMIC.
fn allow(allow: c_int) -> Result<Allow> {
    let allow = bits("allow", allow, 7)?;
    Ok(Allow {
        write: allow & 1 != 0,
        read: allow & 2 != 0,
        atomic: allow & 4 != 0,
    })
}

/// The thing that a descriptor stands for.
fn found<T: Clone>(list: &[Option<T>], what: &str, number: c_int, none: Code) -> Result<T> {
    let found = usize::try_from(number).ok().and_then(|i| list.get(i)?.clone());
    found.ok_or_else(|| none.why(format!("no {what} {number}")))
}

impl Descriptors {
    fn field(&self, field: c_int) -> Result<(Field, u32)> {
        found(&self.fields, "field", field, Code::Field)
    }

    fn right(&self, right: c_int) -> Result<Right> {
        found(&self.rights, "right", right, Code::Right)
    }

    fn tcw(&self, tcw: c_int) -> Result<Rc<TcwId>> {
        found(&self.tcws, "TCW", tcw, Code::Tcw)
    }

    /// So many more transfers of a field were waited for.
    fn take(&mut self, field: c_int, count: u32) {
        let (_, taken) = self.fields[field as usize].as_mut().expect("it was found");
        *taken = taken.wrapping_add(count);
    }
}

/// Keeps a thing, and gives the descriptor.
fn keep<T>(list: &mut Vec<T>, thing: T) -> c_int {
    list.push(thing);
    (list.len() - 1) as c_int
}

/// The address of a pointer at a multiple of 8 bytes.
fn address(link: &Link, what: &str, at: *const c_void) -> Result<Addr> {
    let addr = link.address(what, at).map_err(|e| Code::Pointer.why(e))?;
    let is_aligned = addr.0.is_multiple_of(8);
    is_aligned
        .then_some(addr)
        .ok_or_else(|| Code::Align.why(format!("the {what} at {addr} is at no multiple of 8")))
}

/// What is sent from there.
fn source(library: &Library, addr: Addr, bytes: u32) -> Result<Span> {
    library.span_at(addr, bytes).map_err(|e| Code::Pointer.why(e))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPnode() -> c_int {
    number("CPnode", |link| Ok(c_int::from(link.node.0)))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPnodes() -> c_int {
    number("CPnodes", |link| Ok(link.nodes as c_int))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPtime() -> c_double {
    let now = in_program("CPtime", |link: &Link| Ok::<_, Error>(link.now().as_us()));
    now.unwrap_or_else(|error| f64::from(error.code as c_int))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPcompute(us: c_double) -> c_int {
    call("CPcompute", |link| {
        let span = span(us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| async move { node.library.compute(span).await });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPerror() -> *const c_char {
    c_programs::error()
}

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CPobject(name: *const c_char, size: usize) -> *mut c_void {
    let at = in_program("CPobject", |link: &Link| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name) }.map_err(|e| Code::Memory.why(e))?.to_owned();
        let size = bytes("an object", size)?;
        let made = link.ask(move |node| async move {
            node.library.compute(node.library.config().syscall).await;
            let area = node.library.object(&name, size)?;
            let memory = node.library.host().memory(|m| m.as_mut_ptr() as usize);
            let at = memory + area.all().addr().0 as usize;
            node.has.borrow_mut().areas.push(area);
            Ok::<_, Error>(at)
        });
        Ok::<_, Error>(made? as *mut c_void)
    });
    at.unwrap_or(ptr::null_mut())
}

#[unsafe(no_mangle)]
pub extern "C" fn CPfield_create(at: *mut c_void, size: usize, number: c_int, allow: c_int) -> c_int {
    self::number("CPfield_create", |link| {
        let at = address(link, "field", at)?;
        let (size, allow) = (bytes("a field", size)?, self::allow(allow)?);
        let named = u16::try_from(number).map_err(|_| Code::Field.why(format!("number {number}")))?;
        link.ask(move |node| async move {
            let holds = |a: &&Area| (a.all().addr().0..a.all().addr().0 + a.bytes()).contains(&at.0);
            let area = node.has.borrow().areas.iter().find(holds).cloned();
            let area = area.ok_or_else(|| Code::Pointer.why("the field does not lie in memory of CPobject"))?;
            let offset = at.0 - area.all().addr().0;
            let field = node.library.create_field(&area, offset, size, named, allow).await?;
            Ok(keep(&mut node.has.borrow_mut().fields, Some((field, 0))))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPfield_destroy(field: c_int) -> c_int {
    call("CPfield_destroy", |link| {
        link.ask(move |node| async move {
            let (gone, _) = node.has.borrow().field(field)?;
            node.has.borrow_mut().fields[field as usize] = None;
            Ok(node.library.destroy_field(gone).await?)
        })
    })
}

/// Bits of CPright_get's node that name lines of nodes: X, then Y and Z.
const ALL_SHIFT: u32 = 16;

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CPright_get(node: c_int, name: *const c_char, number: c_int, wait_us: c_double) -> c_int {
    self::number("CPright_get", |link| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name) }.map_err(|e| Code::Field.why(e))?.to_owned();
        let mask = u32::try_from(node >> ALL_SHIFT).ok().filter(|mask| *mask < 8);
        let mask = mask.ok_or_else(|| Code::Node.why(format!("no node {node}")))?;
        let at = NodeId(node as u16);
        let to = if mask == 0 {
            To::Node(at)
        } else {
            To::Broadcast(mask, at)
        };
        let number = u16::try_from(number).map_err(|_| Code::Field.why(format!("number {number}")))?;
        let wait = span(wait_us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| async move {
            let right = node.library.get_sendright(to, &name, number, wait).await?;
            Ok(keep(&mut node.has.borrow_mut().rights, Some(right)))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPright_free(right: c_int) -> c_int {
    call("CPright_free", |link| {
        link.ask(move |node| async move {
            let gone = node.has.borrow().right(right)?;
            node.has.borrow_mut().rights[right as usize] = None;
            node.library.free_right(gone).await;
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPsend(from: *const c_void, size: usize, right: c_int, offset: usize, how: c_int) -> c_int {
    number("CPsend", |link| send(link, from, [size, 1, 0, 0], right, offset, how))
}

#[expect(clippy::too_many_arguments, reason = "as the header has it")]
#[unsafe(no_mangle)]
pub extern "C" fn CPsend_strided(
    from: *const c_void,
    element: usize,
    count: usize,
    from_step: usize,
    right: c_int,
    offset: usize,
    step: usize,
    how: c_int,
) -> c_int {
    let shape = [element, count, from_step, step];
    number("CPsend_strided", |link| send(link, from, shape, right, offset, how))
}

fn send(link: &Link, from: *const c_void, shape: [usize; 4], right: c_int, offset: usize, how: c_int) -> Result<c_int> {
    let addr = address(link, "source", from)?;
    let [element, count, from_step, step] = shape;
    if !(from_step | step).is_multiple_of(8) {
        let why = format!("steps of {from_step} and {step} B: they are multiples of 8");
        return Err(Code::Stride.why(why));
    }
    let from = Strided {
        addr,
        element: bytes("an element", element)?,
        count: bytes("a count", count)?,
        steps: (bytes("a step", from_step)?, bytes("a step", step)?),
    };
    let last = i128::from(addr.0) + count.saturating_sub(1) as i128 * from_step as i128 + element as i128;
    if last > link.end().into() {
        return Err(Code::Pointer.why("the source leaves the node's memory"));
    }
    let (offset, how) = (bytes("an offset", offset)?, self::how(how)?);
    link.ask(move |node| async move {
        let (library, right) = (&node.library, node.has.borrow().right(right)?);
        let mut sent = None;
        for (part, at) in from.transfers() {
            let (first, offset) = (source(library, part.addr, part.element)?, offset.saturating_add(at));
            sent = Some(if part.count == 1 {
                library.send(first, &right, offset, how).await?
            } else {
                let (count, (step, there)) = (part.count, part.steps);
                let from = Elements { first, count, step };
                library
                    .stride_send(from, &right, Steps { offset, step: there }, how)
                    .await?
            });
        }
        let sent = sent.ok_or_else(|| Code::Length.why("no element"))?;
        Ok(keep(&mut node.has.borrow_mut().sent, sent))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPtransfers(element: usize, count: usize) -> c_uint {
    let (Ok(element), Ok(count)) = (u32::try_from(element), u32::try_from(count)) else {
        return 0;
    };
    let shape = Strided {
        count,
        ..Strided::whole(Addr(0), element)
    };
    shape.transfers().len() as c_uint
}

#[unsafe(no_mangle)]
pub extern "C" fn CPget(right: c_int, offset: usize, field: c_int, at: usize, size: usize) -> c_int {
    call("CPget", |link| {
        let (offset, at, size) = (
            bytes("an offset", offset)?,
            bytes("an offset", at)?,
            bytes("a length", size)?,
        );
        link.ask(move |node| async move {
            let right = node.has.borrow().right(right)?;
            let (into, _) = node.has.borrow().field(field)?;
            node.library.get(&right, offset, &into, at, size).await?;
            node.has.borrow_mut().take(field, 1);
            Ok(())
        })
    })
}

/// # Safety
/// `value` is NULL or points to 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CPswap(right: c_int, offset: usize, value: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    call("CPswap", |link| unsafe { atomic(link, right, offset, None, value) })
}

/// # Safety
/// `value` is NULL or points to 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CPcswap(right: c_int, offset: usize, compare: u64, value: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    call("CPcswap", |link| unsafe {
        atomic(link, right, offset, Some(compare), value)
    })
}

/// # Safety
/// `value` is NULL or points to 8 bytes.
unsafe fn atomic(link: &Link, right: c_int, offset: usize, compare: Option<u64>, value: *mut u64) -> Result<()> {
    // SAFETY: the caller's promise.
    let value = unsafe { value.as_mut() }.ok_or_else(|| Code::Pointer.why("no value"))?;
    let (offset, new) = (bytes("an offset", offset)?, *value);
    *value = link.ask(move |node| async move {
        let right = node.has.borrow().right(right)?;
        let old = match compare {
            None => node.library.swap(&right, offset, new).await?,
            Some(compare) => node.library.cswap(&right, offset, compare, new).await?,
        };
        Ok::<_, Error>(old)
    })?;
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn CPtcw_make(from: *const c_void, size: usize, right: c_int, offset: usize, how: c_int) -> c_int {
    number("CPtcw_make", |link| {
        let (addr, size) = (address(link, "source", from)?, bytes("a source", size)?);
        let (offset, how) = (bytes("an offset", offset)?, self::how(how)?);
        link.ask(move |node| async move {
            let right = node.has.borrow().right(right)?;
            let from = source(&node.library, addr, size)?;
            let transfer = Transfer {
                from,
                right,
                offset,
                how,
            };
            let tcw = node.library.make_tcw(&transfer).await?;
            Ok(keep(&mut node.has.borrow_mut().tcws, Some(Rc::new(tcw))))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPtcw_modify(tcw: c_int, from: *const c_void, size: usize, offset: usize) -> c_int {
    call("CPtcw_modify", |link| {
        let (addr, size) = (address(link, "source", from)?, bytes("a source", size)?);
        let offset = bytes("an offset", offset)?;
        link.ask(move |node| async move {
            let tcw = node.has.borrow().tcw(tcw)?;
            let change = Change {
                from: Some(source(&node.library, addr, size)?),
                offset: Some(offset),
            };
            Ok(node.library.modify_tcw(&tcw, change).await?)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPtcw_free(tcw: c_int) -> c_int {
    call("CPtcw_free", |link| {
        link.ask(move |node| async move {
            node.has.borrow().tcw(tcw)?;
            let gone = node.has.borrow_mut().tcws[tcw as usize].take().and_then(Rc::into_inner);
            node.library.free_tcw(gone.expect("nobody else has it"));
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPkick(tcw: c_int) -> c_int {
    number("CPkick", |link| kick(link, tcw, true))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPkick_fast(tcw: c_int) -> c_int {
    number("CPkick_fast", |link| kick(link, tcw, false))
}

fn kick(link: &Link, tcw: c_int, by_kernel: bool) -> Result<c_int> {
    link.ask(move |node| async move {
        let tcw = node.has.borrow().tcw(tcw)?;
        let sent = match by_kernel {
            true => node.library.kick(&tcw).await?,
            false => node.library.kick_fast(&tcw).await?,
        };
        Ok(keep(&mut node.has.borrow_mut().sent, sent))
    })
}

fn sent(node: &Node, sent: c_int) -> Result<Sent> {
    let found = usize::try_from(sent).ok();
    let found = found.and_then(|i| node.has.borrow().sent.get(i).copied());
    found.ok_or_else(|| Code::Tcw.why(format!("no transfer {sent}")))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPcheck_sent(transfer: c_int) -> c_int {
    number("CPcheck_sent", |link| {
        link.ask(move |node| async move {
            let transfer = sent(&node, transfer)?;
            Ok(c_int::from(node.library.check_sent(transfer).await?))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPwait_sent(transfer: c_int) -> c_int {
    call("CPwait_sent", |link| {
        link.ask(move |node| async move {
            let transfer = sent(&node, transfer)?;
            Ok(node.library.wait_sent(transfer).await?)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPwait(field: c_int, count: c_uint, bound_us: c_double) -> c_int {
    call("CPwait", |link| {
        let bound = span(bound_us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| async move {
            let (waits, taken) = node.has.borrow().field(field)?;
            node.library.wait(&waits, taken.wrapping_add(count), bound).await?;
            node.has.borrow_mut().take(field, count);
            Ok(())
        })
    })
}

/// # Safety
/// `fields` is NULL or points to so many numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CPwait_any(fields: *const c_int, n: c_int, bound_us: c_double) -> c_int {
    number("CPwait_any", |link| {
        let n = usize::try_from(n).ok().filter(|n| *n > 0 && !fields.is_null());
        let n = n.ok_or_else(|| Code::Field.why("no fields"))?;
        // SAFETY: the caller's promise.
        let fields = unsafe { slice::from_raw_parts(fields, n) }.to_vec();
        let bound = span(bound_us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| async move {
            let waits = fields.iter().map(|&field| node.has.borrow().field(field));
            let waits = waits.collect::<Result<Vec<_>>>()?;
            let waits: Vec<(&Field, u32)> = waits.iter().map(|(field, taken)| (field, *taken)).collect();
            let (at, _) = node.library.wait_any(&waits, bound).await?;
            node.has.borrow_mut().take(fields[at], 1);
            Ok(at as c_int)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPbarrier(bound_us: c_double) -> c_int {
    call("CPbarrier", |link| {
        let bound = span(bound_us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| async move { Ok(node.library.barrier(bound).await?) })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPpurge(at: *mut c_void, size: usize) -> c_int {
    call("CPpurge", |link| {
        let addr = link.address("memory", at).map_err(|e| Code::Pointer.why(e))?;
        let is_there = u64::from(addr.0) + size as u64 <= link.end().into();
        is_there
            .then_some(())
            .ok_or_else(|| Code::Length.why(format!("{size} B leave the node's memory")))
    })
}
