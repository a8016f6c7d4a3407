//! Wave files, VCD and FST, of any number of instances.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::rc::Rc;

use crate::core::Owner;
use crate::{Context, Verilated, ffi};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Vcd,
    Fst,
}

impl Format {
    /// By the end of the file's name: `.fst`, else VCD.
    pub fn of(path: &Path) -> Self {
        if path.extension().is_some_and(|e| e == "fst") {
            Self::Fst
        } else {
            Self::Vcd
        }
    }
}

/// An open wave file, in picoseconds. Closed when dropped.
pub struct Wave {
    raw: NonNull<ffi::rt_wave>,
    path: PathBuf,
    context: Context,
    last: Option<u64>,
    // After `raw` is closed: it reads the models.
    _models: Vec<Rc<Owner>>,
}

impl Wave {
    /// Opens a file of the format its name ends in, for instances of one context. Each instance's name is its scope.
    pub fn create(path: impl Into<PathBuf>, instances: &[&dyn Verilated]) -> io::Result<Self> {
        let path = path.into();
        let first = instances
            .first()
            .ok_or(io::Error::new(io::ErrorKind::InvalidInput, "a wave needs an instance"))?;
        let fst = i32::from(Format::of(&path) == Format::Fst);
        let models: Vec<Rc<Owner>> = instances.iter().map(|i| i.core().owner.clone()).collect();
        let name = CString::new(path.as_os_str().as_encoded_bytes())?;
        // Verilator reports a file that cannot be made only as "not open": find out why first.
        drop(std::fs::File::create(&path)?);
        // SAFETY: the models live in `models` until the file is closed; the tracer is of the format told.
        let raw = unsafe {
            let raw = NonNull::new(ffi::rt_wave_new(fst)).expect("C++ new gives a wave or throws");
            for owner in &models {
                (owner.unit.trace)(owner.model.as_ptr(), ffi::rt_wave_tracer(raw.as_ptr()), fst);
            }
            raw
        };
        let wave = Self {
            raw,
            path,
            context: first.context().clone(),
            last: None,
            _models: models,
        };
        // SAFETY: not opened yet.
        match unsafe { ffi::rt_wave_open(wave.raw.as_ptr(), name.as_ptr()) } {
            0 => Err(io::Error::other(format!(
                "{} cannot be opened as a wave",
                wave.path.display()
            ))),
            _ => Ok(wave),
        }
    }

    /// Writes what changed, at the context's time; once for each instant.
    pub fn dump(&mut self) {
        let now = self.context.time();
        if self.last.is_none_or(|last| now > last) {
            self.last = Some(now);
            // SAFETY: open.
            unsafe { ffi::rt_wave_dump(self.raw.as_ptr(), now) }
        }
    }

    pub fn flush(&mut self) {
        // SAFETY: open.
        unsafe { ffi::rt_wave_flush(self.raw.as_ptr()) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Wave {
    fn drop(&mut self) {
        // SAFETY: made by `rt_wave_new`; the models are still alive.
        unsafe { ffi::rt_wave_free(self.raw.as_ptr()) }
    }
}
