//! The shared address space: loads, stores, and Write Through Pages.

use std::ffi::{c_int, c_ulonglong, c_void};

use tsunagi::ap1000p::golden::wtp::{CACHE, LINE};
use tsunagi::ap1000p::host::{CommandError, Shared};
use tsunagi::{Addr, NodeId};

use crate::error::{Code, Result};
use crate::{Link, call, cell, gives};

/// A byte of any cell's memory, and the size of the access.
fn shared(link: &Link, number: c_int, addr: *const c_void, bytes: c_int) -> Result<(Shared, u8)> {
    let at = link.address("place", addr).map_err(|e| Code::Pointer.why(e))?;
    let cell = cell(number)?;
    // The library refuses other sizes and alignments; an aligned access that begins in the memory ends there.
    Ok((Shared { cell, addr: at }, u8::try_from(bytes).unwrap_or(0)))
}

/// # Safety
/// `value` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APload(
    source_cell: c_int,
    source_addr: *const c_void,
    bytes: c_int,
    value: *mut c_ulonglong,
) -> c_int {
    let f = |link: &Link| {
        let (at, bytes) = shared(link, source_cell, source_addr, bytes)?;
        Ok(link.ask(move |cell| async move { cell.load(at, bytes).await })?)
    };
    // SAFETY: the caller's promise.
    unsafe { gives("APload", value, f) }
}

#[unsafe(no_mangle)]
pub extern "C" fn APstore(dest_cell: c_int, dest_addr: *mut c_void, bytes: c_int, value: c_ulonglong) -> c_int {
    call("APstore", |link| {
        let (at, bytes) = shared(link, dest_cell, dest_addr, bytes)?;
        Ok(link.ask(move |cell| async move { cell.store(at, bytes, value).await })?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn APfence() -> c_int {
    call("APfence", |link| {
        link.ask(|cell| async move { cell.fence().await });
        Ok(())
    })
}

/// A range of the program's memory; an empty range may lie anywhere.
fn bytes_at(link: &Link, what: &str, at: *const c_void, bytes: usize) -> Result<u32> {
    if bytes == 0 {
        return Ok(0);
    }
    let addr = link.address(what, at).map_err(|e| Code::Pointer.why(e))?.0;
    let end = i64::try_from(bytes).unwrap_or(i64::MAX).saturating_add(addr.into());
    if link.holds(addr.into()..end) {
        Ok(addr)
    } else {
        Err(Code::Pointer.why(format!(
            "the {what} of {bytes} B at {at:p} leaves the memory of APalloc"
        )))
    }
}

/// A cell of the machine.
fn cell_of(link: &Link, number: c_int) -> Result<NodeId> {
    let (cell, cells) = (cell(number)?, link.nodes);
    if cell.index() >= cells {
        return Err(CommandError::NoCell { cell, cells }.into());
    }
    Ok(cell)
}

#[unsafe(no_mangle)]
pub extern "C" fn APwrite_through(cache: *mut c_void, first: *const c_void, bytes: usize) -> c_int {
    call("APwrite_through", |link| {
        let cache = Addr(bytes_at(link, "local cache", cache, CACHE as usize)?);
        let start = bytes_at(link, "shared place", first, bytes)?;
        // The range lies in memory, so its length fits.
        let pages = start..start + bytes as u32;
        Ok(link.ask(move |cell| async move { cell.write_through(cache, pages).await })?)
    })
}

/// # Safety
/// `holders` is NULL or good for reads of `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn APsync_write(
    dest_cell: c_int,
    dest_addr: *const c_void,
    bytes: usize,
    holders: *const c_int,
    count: c_int,
) -> c_int {
    call("APsync_write", |link| {
        let to = cell_of(link, dest_cell)?;
        let start = bytes_at(link, "written place", dest_addr, bytes)?;
        let Ok(count) = usize::try_from(count) else {
            return Err(Code::Size.why(format!("{count} cells that hold copies")));
        };
        if count > link.nodes {
            return Err(Code::Size.why(format!(
                "{count} cells that hold copies: there are {} cells",
                link.nodes
            )));
        }
        if holders.is_null() && count > 0 {
            return Err(Code::Pointer.why("no numbers of the cells that hold copies"));
        }
        // SAFETY: the caller's promise.
        let holders = (0..count).map(|n| cell_of(link, unsafe { *holders.add(n) }));
        let holders: Vec<NodeId> = holders.collect::<Result<_>>()?;
        let lines = (start & !(LINE - 1)..start + bytes as u32).step_by(LINE as usize);
        let written: Vec<Shared> = lines
            .map(|addr| Shared {
                cell: to,
                addr: Addr(addr),
            })
            .collect();
        Ok(link.ask(move |cell| async move { cell.sync_write(&written, &holders).await })?)
    })
}
