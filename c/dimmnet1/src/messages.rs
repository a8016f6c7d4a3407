//! Messages, whose place the receiver's on-chip processor finds.

use std::ffi::{c_int, c_void};

use tsunagi::Addr;
use tsunagi::dimmnet1::host::{CommError, Node};
use tsunagi::dimmnet1::regs::{SIZE_BOTF, SIZE_PAGE};

use crate::error::{Code, Result};
use crate::transfer::{aligned, length, place};
use crate::{Link, call, node, number};

/// The number of bytes that a place has room for.
fn room(bytes: c_int) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| Code::Size.why(format!("room for {bytes} bytes")))
}

/// The area for the first packet of a message.
fn area(link: &Link, pointer: *const c_void) -> Result<Addr> {
    let area = aligned(link, "next destination", pointer, SIZE_BOTF)?;
    if area.0 % SIZE_PAGE + SIZE_BOTF <= SIZE_PAGE {
        Ok(area)
    } else {
        Err(Code::Align.why(format!(
            "the next destination {pointer:p} of {SIZE_BOTF} bytes crosses a page"
        )))
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn DNsend_message(dest_node: c_int, src: *const c_void, bytes: c_int) -> c_int {
    call("DNsend_message", |link| {
        let (to, bytes) = (node(link, dest_node)?, length(bytes)?);
        let src = place(link, "source", src, bytes)?;
        Ok(link.ask(move |node| async move { node.send_message(to, src, bytes).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNrecv(source_node: c_int, dest: *mut c_void, bytes: c_int, next: *mut c_void) -> c_int {
    number("DNrecv", |link: &Link| {
        let (from, room) = (node(link, source_node)?, room(bytes)?);
        let dest = place(link, "destination", dest, room)?;
        let next = (!next.is_null()).then(|| area(link, next)).transpose()?;
        let receive = move |node: Node| async move {
            let bytes = node.message_bytes(from).await?;
            if bytes <= room {
                let data = node.receive_and_post(from, next).await?;
                node.write(dest, &data);
            }
            Ok::<u32, CommError>(bytes)
        };
        let bytes = link.ask(receive)?;
        if bytes <= room {
            Ok(bytes as c_int)
        } else {
            Err(Code::Size.why(format!(
                "the next message has {bytes} bytes, and there is room for {room}"
            )))
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNpost_soft(source_node: c_int, dest: *mut c_void, bytes: c_int) -> c_int {
    call("DNpost_soft", |link| {
        let (from, room) = (node(link, source_node)?, room(bytes)?);
        let dest = aligned(link, "destination", dest, room)?;
        Ok(link.ask(move |node| async move { node.post_soft(from, dest, room).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNsend_soft(dest_node: c_int, src: *const c_void, bytes: c_int) -> c_int {
    call("DNsend_soft", |link| {
        let (to, bytes) = (node(link, dest_node)?, length(bytes)?);
        let src = place(link, "source", src, bytes)?;
        let send = move |node: Node| async move {
            let message = node.soft_message(to).numbered(node.config().f_seq);
            node.send(&message, src, bytes).await
        };
        Ok(link.ask(send)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNwait_soft(source_node: c_int) -> c_int {
    number("DNwait_soft", |link| {
        let from = node(link, source_node)?;
        let bytes = link.ask(move |node| async move { node.wait_soft(from).await })?;
        Ok(bytes as c_int)
    })
}
