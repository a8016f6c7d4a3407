//! Messages through ring buffers, and over the B-net.

use std::ffi::{c_int, c_uint, c_void};
use std::{ptr, slice};

use c_programs::in_program;
use tsunagi::Addr;
use tsunagi::ap1000p::bif_regs::BIF_WORDS;
use tsunagi::ap1000p::host::{BusError, Cell, CommandError, Message, RingError, RingSize};

use crate::error::{Code, Result};
use crate::transfer::Sides;
use crate::{Link, call, cell, word};

#[unsafe(no_mangle)]
pub extern "C" fn APopen_ring(ring: *mut c_void, bytes: usize) -> c_int {
    call("APopen_ring", |link| {
        let sizes = [RingSize::K128, RingSize::K512, RingSize::M2, RingSize::M8];
        let Some(size) = sizes.into_iter().find(|size| size.bytes() as usize == bytes) else {
            return Err(Code::Size.why(format!(
                "a ring buffer of {bytes} B: the sizes are 128 KB, 512 KB, 2 MB and 8 MB"
            )));
        };
        let at = link.address("ring buffer", ring).map_err(|e| Code::Pointer.why(e))?;
        Ok(link.ask(move |cell| async move { cell.open_ring(at, size).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APsend(
    dest_cell: c_int,
    tag: c_int,
    source_addr: *const c_void,
    size: c_int,
    source_flag: *mut c_int,
) -> c_int {
    call("APsend", |link| {
        let sides = Sides::plain(source_addr, size, ptr::null_mut(), ptr::null_mut(), source_flag);
        let (to, from) = (cell(dest_cell)?, sides.source(link)?);
        let send = move |cell: Cell| async move {
            cell.send(to, tag as u32, from.source, from.words, from.source_flag)
                .await
        };
        Ok(link.ask(send)?)
    })
}

/// The destination of a message, and the number of words that it has room for.
fn room(link: &Link, dest_addr: *mut c_void, room: c_int) -> Result<(Addr, u32)> {
    let Ok(words) = u32::try_from(room) else {
        return Err(Code::Size.why(format!("room for {room} words")));
    };
    if words == 0 {
        return Ok((Addr(0), 0));
    }
    let at = word(link, "destination", dest_addr.cast())?;
    if link.holds(at.0.into()..i64::from(at.0) + 4 * i64::from(words)) {
        Ok((at, words))
    } else {
        Err(RingError::Place {
            at,
            words,
            end: link.end(),
        }
        .into())
    }
}

/// Stores a message's sender and tag; returns its number of words.
///
/// # Safety
/// Each pointer is NULL or good for a write.
unsafe fn tell(message: Message, source_cell: *mut c_int, tag: *mut c_int) -> c_int {
    for (to, value) in [(source_cell, c_int::from(message.from.0)), (tag, message.tag as c_int)] {
        if !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { to.write(value) };
        }
    }
    message.words as c_int
}

/// The number that a call returns, or its error.
fn counted(name: &str, f: impl FnOnce(&Link) -> Result<c_int>) -> c_int {
    in_program(name, f).unwrap_or_else(|error| error.code as c_int)
}

/// # Safety
/// `source_cell` and `tag` are NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APrecv(
    dest_addr: *mut c_void,
    words: c_int,
    source_cell: *mut c_int,
    tag: *mut c_int,
) -> c_int {
    counted("APrecv", |link| {
        let (at, room) = room(link, dest_addr, words)?;
        let message = link.ask(move |cell| async move { cell.recv_into(at, room).await })?;
        // SAFETY: the caller's promise.
        Ok(unsafe { tell(message, source_cell, tag) })
    })
}

/// # Safety
/// `source_cell` and `tag` are NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APtry_recv(
    dest_addr: *mut c_void,
    words: c_int,
    source_cell: *mut c_int,
    tag: *mut c_int,
) -> c_int {
    counted("APtry_recv", |link| {
        let (at, room) = room(link, dest_addr, words)?;
        match link.ask(move |cell| async move { cell.try_recv_into(at, room).await })? {
            // SAFETY: the caller's promise.
            Some(message) => Ok(unsafe { tell(message, source_cell, tag) }),
            None => Ok(Code::Nothing as c_int),
        }
    })
}

/// # Safety
/// `misses` and `full` are NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APrings_served(misses: *mut c_int, full: *mut c_int) -> c_int {
    call("APrings_served", |link| {
        let served = link.ask(|cell| async move { cell.rings_served() });
        for (to, value) in [(misses, served.misses), (full, served.full)] {
            if !to.is_null() {
                // SAFETY: the caller's promise.
                unsafe { to.write(value as c_int) };
            }
        }
        Ok(())
    })
}

/// # Safety
/// `words` is NULL or good for reads of `size` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APbus_send(words: *const c_uint, size: c_int) -> c_int {
    call("APbus_send", |link| {
        let count = usize::try_from(size).unwrap_or(0);
        if count == 0 || count > BIF_WORDS as usize {
            return Err(Code::Size.why(format!("a packet on the B-net has 1 to {BIF_WORDS} words, not {size}")));
        }
        if words.is_null() {
            return Err(Code::Pointer.why("no words to send"));
        }
        // SAFETY: the caller's promise.
        let words = unsafe { slice::from_raw_parts(words, count) }.to_vec();
        let sent: std::result::Result<(), BusError> = link.ask(move |cell| async move { cell.bus_send(&words).await });
        Ok(sent?)
    })
}

/// # Safety
/// `words` is NULL or good for writes of 32 words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APbus_receive(words: *mut c_uint) -> c_int {
    counted("APbus_receive", |link| {
        if words.is_null() {
            return Err(Code::Pointer.why(format!("no place for the {BIF_WORDS} words of a packet")));
        }
        let packet = link.ask(|cell| async move { cell.bus_receive().await });
        let packet = packet.map_err(CommandError::from)?;
        // SAFETY: the caller's promise; no packet is longer.
        unsafe { ptr::copy_nonoverlapping(packet.as_ptr(), words, packet.len()) };
        Ok(packet.len() as c_int)
    })
}
