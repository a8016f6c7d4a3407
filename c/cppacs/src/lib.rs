//! `c/cppacs/include/tsunagi_cppacs.h`: C programs with the native library on a simulated CP-PACS.

mod error;

use std::cell::RefCell;
use std::ffi::{c_char, c_double, c_int, c_uint, c_void};
use std::ptr;
use std::rc::Rc;
use std::thread::LocalKey;

use c_programs::{Program, Refusals, Settings, fail, in_program, run, span, text};
use tsunagi::cppacs::host::transport::{Area, Channel, Strided, Transport};
use tsunagi::cppacs::host::{CppacsSim, Field, Node as Library, Right, Sent, layout};
use tsunagi::cppacs::model::ModelMachine;
use tsunagi::cppacs::params::Config;
use tsunagi::cppacs::rtl;
use tsunagi::harness::backend::Backend;
use tsunagi::harness::exec::{First, Host, race};
use tsunagi::harness::params::Table as _;
use tsunagi::harness::wave::Probe;
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

#[derive(Default)]
struct Descriptors {
    areas: Vec<Area>,
    /// With the transfers that were waited for.
    fields: Vec<(Field, u32)>,
    rights: Vec<Right>,
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

impl Descriptors {
    fn field(&self, field: c_int) -> Result<(Field, u32)> {
        let found = usize::try_from(field).ok().and_then(|i| self.fields.get(i));
        found
            .cloned()
            .ok_or_else(|| Code::Field.why(format!("no field {field}")))
    }

    fn right(&self, right: c_int) -> Result<Right> {
        let found = usize::try_from(right).ok().and_then(|i| self.rights.get(i));
        found
            .cloned()
            .ok_or_else(|| Code::Right.why(format!("no right {right}")))
    }
}

/// Keeps a thing, and gives the descriptor.
fn keep<T>(list: &mut Vec<T>, thing: T) -> c_int {
    list.push(thing);
    (list.len() - 1) as c_int
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
        link.ask(move |node| async move { node.library.work(span).await });
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
            let area = Transport::object(&node.library, &name, size).await?;
            node.has.borrow_mut().areas.push(area);
            let memory = node.library.host().memory(|m| m.as_mut_ptr() as usize);
            Ok::<_, Error>(memory + area.addr.0 as usize)
        });
        Ok::<_, Error>(made? as *mut c_void)
    });
    at.unwrap_or(ptr::null_mut())
}

#[unsafe(no_mangle)]
pub extern "C" fn CPfield_create(at: *mut c_void, size: usize, number: c_int) -> c_int {
    self::number("CPfield_create", |link| {
        let at = link.address("field", at).map_err(|e| Code::Pointer.why(e))?;
        let size = bytes("a field", size)?;
        let named = u16::try_from(number).map_err(|_| Code::Field.why(format!("number {number}")))?;
        link.ask(move |node| async move {
            let holds = |a: &Area| (a.addr.0..a.addr.0 + a.bytes).contains(&at.0);
            let area = node.has.borrow().areas.iter().copied().find(holds);
            let area = area.ok_or_else(|| Code::Pointer.why("the field does not lie in memory of CPobject"))?;
            let field = Transport::create_field(&node.library, &area, at.0 - area.addr.0, size, named).await?;
            Ok(keep(&mut node.has.borrow_mut().fields, (field, 0)))
        })
    })
}

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CPright_get(node: c_int, name: *const c_char, number: c_int, wait_us: c_double) -> c_int {
    self::number("CPright_get", |link| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name) }.map_err(|e| Code::Field.why(e))?.to_owned();
        let to = u16::try_from(node).map_err(|_| Code::Node.why(format!("no node {node}")))?;
        let number = u16::try_from(number).map_err(|_| Code::Field.why(format!("number {number}")))?;
        let wait = span(wait_us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| async move {
            let right = Transport::get_sendright(&node.library, NodeId(to), &name, number, wait).await?;
            Ok(keep(&mut node.has.borrow_mut().rights, right))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPsend(from: *const c_void, size: usize, right: c_int, offset: usize) -> c_int {
    number("CPsend", |link| send(link, from, [size, 1, 0, 0], right, offset))
}

#[unsafe(no_mangle)]
pub extern "C" fn CPsend_strided(
    from: *const c_void,
    element: usize,
    count: usize,
    from_step: usize,
    right: c_int,
    offset: usize,
    step: usize,
) -> c_int {
    let shape = [element, count, from_step, step];
    number("CPsend_strided", |link| send(link, from, shape, right, offset))
}

fn send(link: &Link, from: *const c_void, shape: [usize; 4], right: c_int, offset: usize) -> Result<c_int> {
    let addr = link.address("source", from).map_err(|e| Code::Pointer.why(e))?;
    let [element, count, from_step, step] = shape;
    let from = Strided {
        addr,
        element: bytes("an element", element)?,
        count: bytes("a count", count)?,
        steps: (bytes("a step", from_step)?, bytes("a step", step)?),
    };
    let last = i64::from(addr.0) + (count.saturating_sub(1) * from_step + element) as i64;
    if !link.holds(addr.0.into()..last) {
        return Err(Code::Pointer.why("the source leaves the node's memory"));
    }
    let offset = bytes("an offset", offset)?;
    link.ask(move |node| async move {
        let right = node.has.borrow().right(right)?;
        let mut sent = None;
        for (part, at) in from.transfers() {
            let offset = offset.saturating_add(at);
            sent = Some(Transport::send(&node.library, part, &right, offset, Channel::Data).await?);
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
pub extern "C" fn CPwait_sent(sent: c_int) -> c_int {
    call("CPwait_sent", |link| {
        link.ask(move |node| async move {
            let found = usize::try_from(sent)
                .ok()
                .and_then(|i| node.has.borrow().sent.get(i).cloned());
            let sent = found.ok_or_else(|| Code::Right.why(format!("no transfer {sent}")))?;
            Transport::wait_sent(&node.library, &sent).await;
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn CPwait(field: c_int, count: c_uint, bound_us: c_double) -> c_int {
    call("CPwait", |link| {
        let bound = span(bound_us).map_err(|e| Code::Setting.why(e))?;
        link.ask(move |node| wait(node, field, count, bound))
    })
}

async fn wait(node: Node, field: c_int, count: u32, bound: Picos) -> Result<()> {
    let library = &node.library;
    let (waits, taken) = node.has.borrow().field(field)?;
    let end = taken.wrapping_add(count);
    let come = async {
        while library.count(&waits).wrapping_sub(taken) < count {
            library.changed().await;
        }
    };
    if race(come, library.host().delay(bound)).await == First::Right(()) {
        let come = library.count(&waits).wrapping_sub(taken);
        let why = format!("field {field}: {come} of {count} transfers came within {bound}");
        return Err(Code::Timeout.why(why));
    }
    node.has.borrow_mut().fields[field as usize].1 = end;
    library.work(library.config().receive_poll).await;
    Ok(())
}
