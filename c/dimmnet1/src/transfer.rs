//! Transfers from memory to memory: by windows, by RDMA, through a pointer or a chain.

use std::ffi::{c_int, c_void};

use tsunagi::Addr;
use tsunagi::dimmnet1::firmware::COMMAND_BYTES;
use tsunagi::dimmnet1::golden::packet::Place;
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{CommError, Command, How, Message, Node};
use tsunagi::dimmnet1::regs::{SIZE_BOTF, SIZE_PAGE, TYPE_INDIRECT};

use crate::error::{Code, Result};
use crate::{Link, call, node};

/// Pointers of a node, `DN_POINTERS`, and the receive commands that have room there: `DN_COMMANDS`.
const POINTERS: u32 = (common::POINTERS_END - common::POINTERS) / 8;
const COMMANDS: u32 = (common::POINTERS_END - common::POINTERS) / COMMAND_BYTES;

/// The number of bytes of a transfer.
pub fn length(bytes: c_int) -> Result<u32> {
    match u32::try_from(bytes) {
        Ok(length) if length > 0 => Ok(length),
        _ => Err(Code::Size.why(format!("a transfer of {bytes} bytes"))),
    }
}

/// A place in the program's memory, the same on every node.
pub fn place(link: &Link, what: &str, pointer: *const c_void, bytes: u32) -> Result<Addr> {
    let at = link.address(what, pointer).map_err(|e| Code::Pointer.why(e))?;
    if link.holds(at.0.into()..i64::from(at.0) + i64::from(bytes)) {
        Ok(at)
    } else {
        Err(Code::Pointer.why(format!(
            "the {what} of {bytes} bytes at {pointer:p} leaves the memory of DNalloc"
        )))
    }
}

/// The same at a multiple of 8.
pub fn aligned(link: &Link, what: &str, pointer: *const c_void, bytes: u32) -> Result<Addr> {
    let at = place(link, what, pointer, bytes)?;
    if at.0.is_multiple_of(8) {
        Ok(at)
    } else {
        Err(Code::Align.why(format!("the {what} {pointer:p} is no multiple of 8")))
    }
}

/// A place as the cards name it.
fn remote(at: Addr) -> Place {
    Place::new(layout::MEMORY, at.0.into())
}

/// Source, destination and length of a transfer.
fn both(link: &Link, src: *const c_void, dest: *const c_void, bytes: c_int) -> Result<(Addr, Addr, u32)> {
    let length = length(bytes)?;
    let src = place(link, "source", src, length)?;
    Ok((src, place(link, "destination", dest, length)?, length))
}

#[unsafe(no_mangle)]
pub extern "C" fn DNbotf_send(dest_node: c_int, src: *const c_void, dest: *mut c_void, bytes: c_int) -> c_int {
    call("DNbotf_send", |link| {
        let (to, (src, dest, bytes)) = (node(link, dest_node)?, both(link, src, dest, bytes)?);
        Ok(link.ask(move |node| async move { node.botf_send(to, remote(dest), src, bytes).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNbotf_wait() -> c_int {
    call("DNbotf_wait", |link| {
        Ok(link.ask(|node| async move { node.botf_wait().await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNsend(dest_node: c_int, src: *const c_void, dest: *mut c_void, bytes: c_int) -> c_int {
    call("DNsend", |link| {
        let (to, (src, dest, bytes)) = (node(link, dest_node)?, both(link, src, dest, bytes)?);
        let send = move |node: Node| async move {
            let message = Message::push(to, remote(dest)).numbered(node.config().f_seq);
            node.send(&message, src, bytes).await
        };
        Ok(link.ask(send)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNrdma_push(dest_node: c_int, src: *const c_void, dest: *mut c_void, bytes: c_int) -> c_int {
    call("DNrdma_push", |link| {
        let (to, (src, dest, bytes)) = (node(link, dest_node)?, both(link, src, dest, bytes)?);
        let message = Message::push(to, remote(dest)).by(How::Rdma);
        Ok(link.ask(move |node| async move { node.send(&message, src, bytes).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNrdma_pull(source_node: c_int, src: *const c_void, dest: *mut c_void, bytes: c_int) -> c_int {
    call("DNrdma_pull", |link| {
        let (from, (src, dest, bytes)) = (node(link, source_node)?, both(link, src, dest, bytes)?);
        Ok(link.ask(move |node| async move { node.pull(from, remote(src), dest, bytes).await })?)
    })
}

/// The number of bytes of a packet from a window.
fn packet(bytes: c_int) -> Result<u32> {
    let (bytes, most) = (length(bytes)?, SIZE_BOTF);
    if bytes <= most {
        Ok(bytes)
    } else {
        Err(CommError::TooLong { bytes, most }.into())
    }
}

/// Where a pointer lies in LLCM.
fn pointer(number: c_int) -> Result<u32> {
    match u32::try_from(number) {
        Ok(number) if number < POINTERS => Ok(number),
        _ => Err(Code::Llcm.why(format!("no pointer {number}: a node has {POINTERS}"))),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn DNset_pointer(number: c_int, dest: *mut c_void) -> c_int {
    call("DNset_pointer", |link| {
        let (number, to) = (pointer(number)?, aligned(link, "destination", dest, 8)?);
        Ok(link.ask(move |node| async move { node.set_pointer(number, to).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNsend_indirect(dest_node: c_int, src: *const c_void, number: c_int, bytes: c_int) -> c_int {
    call("DNsend_indirect", |link| {
        let (to, number, bytes) = (node(link, dest_node)?, pointer(number)?, packet(bytes)?);
        let src = place(link, "source", src, bytes)?;
        let named = Place::new(layout::COMMON, (common::POINTERS + 8 * number).into());
        let send = move |node: Node| async move {
            let message = Message {
                kind: TYPE_INDIRECT,
                ..Message::push(to, named).numbered(node.config().f_seq)
            };
            node.send(&message, src, bytes).await
        };
        Ok(link.ask(send)?)
    })
}

/// The number of a receive command.
fn command(number: c_int) -> Result<u32> {
    match u32::try_from(number) {
        Ok(number) if number < COMMANDS => Ok(number),
        _ => Err(Code::Llcm.why(format!("no receive command {number}: a node has {COMMANDS}"))),
    }
}

/// A receive command whose blocks are all in the program's memory, at multiples of 8.
fn blocks(link: &Link, dest: *const c_void, length: c_int, count: c_int, stride: c_int) -> Result<Command> {
    let bytes = match u16::try_from(length) {
        Ok(bytes) if (1..=SIZE_PAGE).contains(&bytes.into()) => bytes,
        _ => return Err(Code::Size.why(format!("blocks of {length} bytes: a block has 8 to {SIZE_PAGE}"))),
    };
    let count = match u8::try_from(count) {
        Ok(count) if count > 0 => count,
        _ => return Err(Code::Size.why(format!("{count} blocks: a command has 1 to {}", u8::MAX))),
    };
    if length % 8 != 0 || stride % 8 != 0 {
        let why = format!("blocks of {length} bytes, {stride} apart: both must be multiples of 8");
        return Err(Code::Align.why(why));
    }
    let to = aligned(link, "destination", dest, bytes.into())?;
    let last = i64::from(to.0) + i64::from(stride) * i64::from(count - 1);
    if !link.holds(last..last + i64::from(bytes)) {
        let why = format!("block {count} of {length} bytes leaves the memory of DNalloc");
        return Err(Code::Pointer.why(why));
    }
    Ok(Command {
        to,
        length: bytes,
        count,
        stride: stride as u32,
        next: None,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNset_command(
    number: c_int,
    dest: *mut c_void,
    length: c_int,
    count: c_int,
    stride: c_int,
    next: c_int,
) -> c_int {
    call("DNset_command", |link| {
        let number = command(number)?;
        let next = (next != -1).then(|| command(next)).transpose()?;
        let blocks = blocks(link, dest, length, count, stride)?;
        let set = Command { next, ..blocks };
        Ok(link.ask(move |node| async move { node.set_command(number, set).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNsend_chain(dest_node: c_int, src: *const c_void, number: c_int, bytes: c_int) -> c_int {
    call("DNsend_chain", |link| {
        let (to, number, bytes) = (node(link, dest_node)?, command(number)?, packet(bytes)?);
        let src = place(link, "source", src, bytes)?;
        let send = move |node: Node| async move {
            let message = node.chain_message(to, number).numbered(node.config().f_seq);
            node.send(&message, src, bytes).await
        };
        Ok(link.ask(send)?)
    })
}
