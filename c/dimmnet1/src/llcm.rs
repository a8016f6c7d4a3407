//! Words in the low-latency common memory, of this node and of others.

use std::ffi::{c_int, c_ulonglong};

use tsunagi::dimmnet1::host::layout::common;
use tsunagi::dimmnet1::regs::SIZE_PAGE;

use crate::error::{Code, Result};
use crate::{Link, call, node};

/// Bytes of LLCM that are the program's: `DN_LLCM_BYTES`.
const BYTES: u32 = SIZE_PAGE - common::USER;

/// Where `bytes` within a word of the program's LLCM are.
fn place(offset: c_int, bytes: c_int) -> Result<(u32, u8)> {
    if ![1, 2, 4, 8].contains(&bytes) {
        return Err(Code::Size.why(format!("{bytes} bytes: a store has 1, 2, 4 or 8")));
    }
    match u32::try_from(offset) {
        Ok(at) if at < BYTES && at % 8 + bytes as u32 <= 8 => Ok((common::USER + at, bytes as u8)),
        _ => Err(Code::Llcm.why(format!(
            "{bytes} bytes at offset {offset} are not within a word of the program's {BYTES} bytes of LLCM"
        ))),
    }
}

fn word(offset: c_int) -> Result<u32> {
    place(offset, 8).map(|(at, _)| at)
}

#[unsafe(no_mangle)]
pub extern "C" fn DNaotf_write(dest_node: c_int, offset: c_int, bytes: c_int, value: c_ulonglong) -> c_int {
    call("DNaotf_write", |link| {
        let (to, (at, bytes)) = (node(link, dest_node)?, place(offset, bytes)?);
        Ok(link.ask(move |node| async move { node.aotf_write(to, at, bytes, value).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNaotf_write_all(offset: c_int, bytes: c_int, value: c_ulonglong) -> c_int {
    call("DNaotf_write_all", |link| {
        let (at, bytes) = place(offset, bytes)?;
        Ok(link.ask(move |node| async move { node.aotf_write_all(at, bytes, value).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn DNllcm_store(offset: c_int, value: c_ulonglong) -> c_int {
    call("DNllcm_store", |link| {
        let at = word(offset)?;
        Ok(link.ask(move |node| async move { node.store_common(at, value).await })?)
    })
}

/// A call that stores a word at `to`, unless `to` is NULL.
///
/// # Safety
/// `to` is NULL or good for a write.
unsafe fn gives(name: &str, to: *mut c_ulonglong, f: impl FnOnce(&Link) -> Result<u64>) -> c_int {
    call(name, |link| {
        let value = f(link)?;
        if !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { to.write(value) };
        }
        Ok(())
    })
}

/// # Safety
/// `value` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn DNllcm_load(offset: c_int, value: *mut c_ulonglong) -> c_int {
    let f = |link: &Link| {
        let at = word(offset)?;
        Ok(link.ask(move |node| async move { node.load_common(at).await })?)
    };
    // SAFETY: the caller's promise.
    unsafe { gives("DNllcm_load", value, f) }
}

/// # Safety
/// `value` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn DNllcm_wait(offset: c_int, old: c_ulonglong, value: *mut c_ulonglong) -> c_int {
    let f = |link: &Link| {
        let at = word(offset)?;
        Ok(link.ask(move |node| async move { node.wait_common(at, old).await })?)
    };
    // SAFETY: the caller's promise.
    unsafe { gives("DNllcm_wait", value, f) }
}
