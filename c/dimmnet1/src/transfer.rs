//! Transfers from memory to memory: by windows, by RDMA, through a pointer.

use std::ffi::{c_int, c_void};

use tsunagi::Addr;
use tsunagi::dimmnet1::golden::packet::Place;
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{CommError, How, Message, Node};
use tsunagi::dimmnet1::regs::{SIZE_BOTF, TYPE_INDIRECT};

use crate::error::{Code, Result};
use crate::{Link, call, node};

/// Pointers of a node: `DN_POINTERS`.
const POINTERS: u32 = (common::POINTERS_END - common::POINTERS) / 8;

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
        let (to, number, bytes) = (node(link, dest_node)?, pointer(number)?, length(bytes)?);
        let most = SIZE_BOTF;
        if bytes > most {
            return Err(CommError::TooLong { bytes, most }.into());
        }
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
