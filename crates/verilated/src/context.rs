//! Time and randomness, shared by the instances of one simulation.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::rc::Rc;

use crate::{Failure, ffi};

/// Time and randomness, shared by the instances of one simulation. Clones are the same context.
#[derive(Clone)]
pub struct Context(Rc<Inner>);

struct Inner {
    raw: NonNull<ffi::rt_context>,
    status: NonNull<ffi::rt_status>,
    time: Cell<u64>,
    finished: Cell<bool>,
    /// The state of the junk generator; 0: there is no junk.
    chance: Cell<u64>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: made by `rt_context_new`; every model keeps a clone, so none is left.
        unsafe { ffi::rt_context_free(self.raw.as_ptr()) }
    }
}

impl Context {
    /// Every register without reset starts as zero.
    pub fn new() -> Self {
        Self::make(1, 0)
    }

    /// Registers without reset start at random, in units built with `random`. `$urandom` and
    /// [`junk`](crate::Verilated::junk) follow the seed, too.
    pub fn random(seed: u64) -> Self {
        // Verilator's seeds are 1 .. 2^31-1; mix, so that seeds that differ only in high bits differ.
        let mixed = (seed ^ seed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let context = Self::make((mixed as i32).max(1), 2);
        context.set_junk(seed);
        context
    }

    /// From now on [`junk`](crate::Verilated::junk) drives junk, from this seed.
    pub fn set_junk(&self, seed: u64) {
        self.0.chance.set(seed | 1);
    }

    fn make(seed: i32, reset: i32) -> Self {
        // SAFETY: plain constructors; the status is this thread's, which `Rc` cannot leave.
        let (raw, status) = unsafe { (ffi::rt_context_new(seed, reset), ffi::rt_thread_status()) };
        let raw = NonNull::new(raw).expect("C++ new gives a context or throws");
        let status = NonNull::new(status).expect("a thread has a status");
        Self(Rc::new(Inner {
            raw,
            status,
            time: Cell::new(0),
            finished: Cell::new(false),
            chance: Cell::new(0),
        }))
    }

    /// Simulated time in picoseconds.
    #[inline(always)]
    pub fn time(&self) -> u64 {
        self.0.time.get()
    }

    /// Sets the time, for `$time`, failures and waves.
    #[inline(always)]
    pub fn set_time(&self, picoseconds: u64) {
        self.0.time.set(picoseconds);
        // SAFETY: the context is alive.
        unsafe { ffi::rt_context_set_time(self.0.raw.as_ptr(), picoseconds) }
    }

    /// Verilator refuses to add a model later than at time zero.
    pub(crate) fn at_time_zero<T>(&self, make: impl FnOnce() -> T) -> T {
        // SAFETY: the context is alive.
        unsafe { ffi::rt_context_set_time(self.raw(), 0) };
        let made = make();
        self.set_time(self.time());
        made
    }

    #[inline(always)]
    pub(crate) fn has_junk(&self) -> bool {
        self.0.chance.get() != 0
    }

    /// Random bits (xorshift64*), where there is junk.
    pub(crate) fn chance(&self) -> u64 {
        let mut state = self.0.chance.get();
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.0.chance.set(state);
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Whether an instance has reached `$finish`.
    pub fn finished(&self) -> bool {
        self.0.finished.get()
    }

    /// The state of `$urandom` in this thread, for a checkpoint.
    pub fn save_random(&self) -> [u8; 16] {
        let mut state = [0; 16];
        // SAFETY: 16 bytes, as the header says.
        unsafe { ffi::rt_random_save(state.as_mut_ptr()) };
        state
    }

    /// Goes back to a state of `$urandom`.
    pub fn restore_random(&self, state: &[u8; 16]) {
        // SAFETY: 16 bytes, as the header says.
        unsafe { ffi::rt_random_restore(state.as_ptr()) }
    }

    /// The stop of the RTL in the last call. `$finish` is no failure, but noted.
    #[cold]
    pub(crate) fn take_failure(&self, instance: &str) -> Result<(), Failure> {
        // SAFETY: the status lives as long as this thread, which `Rc` cannot leave. The hooks leave both texts
        // terminated.
        let status = unsafe { &mut *self.0.status.as_ptr() };
        let text = |chars: &[c_char]| unsafe { CStr::from_ptr(chars.as_ptr()) }.to_string_lossy().into_owned();
        let (file, message) = (text(&status.file), text(&status.message));
        let (kind, line) = (status.kind, status.line);
        *status = ffi::rt_status {
            kind: 0,
            line: 0,
            file: [0; 256],
            message: [0; 512],
        };
        match kind {
            0 => Ok(()),
            1 => {
                self.0.finished.set(true);
                Ok(())
            }
            _ => Err(Failure {
                file,
                line,
                message,
                instance: instance.to_string(),
                time: self.time(),
            }),
        }
    }

    pub(crate) fn raw(&self) -> *mut ffi::rt_context {
        self.0.raw.as_ptr()
    }

    pub(crate) fn status(&self) -> NonNull<ffi::rt_status> {
        self.0.status
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}
