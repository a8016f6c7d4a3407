//! Wave files, VCD and FST, of any number of instances.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
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

/// Bytes of a lane's text.
const LANE_BYTES: usize = ffi::rt_lane_bytes as usize;

/// The variables of a run of `rtl-flow mutants`. Its models have no code for waves.
const MUTANTS: [&str; 2] = ["VERILATED_MUTANT", "VERILATED_MUTANTS_SEEN"];

/// An open wave file, in picoseconds. Closed when dropped, but only [`close`](Wave::close) tells whether it is whole.
pub struct Wave {
    /// None once closed, and of models with mutants, whose waves stay empty.
    raw: Option<NonNull<ffi::rt_wave>>,
    path: PathBuf,
    context: Context,
    last: Option<u64>,
    lanes: usize,
    // After `raw` is closed: it reads the models.
    _models: Vec<Rc<Owner>>,
}

impl Wave {
    /// Opens a file of the format its name ends in, for instances of one context. Each instance's name is its scope.
    pub fn create(path: impl Into<PathBuf>, instances: &[&dyn Verilated]) -> io::Result<Self> {
        Self::create_with_lanes(path, instances, &[])
    }

    /// The same with lanes, each of which shows a [text](Self::set_lane) at each time: vectors of 32 bytes, for viewers
    /// to show as ASCII. A lane's path is its scopes and its name: `packets.link_out`.
    pub fn create_with_lanes(
        path: impl Into<PathBuf>,
        instances: &[&dyn Verilated],
        lanes: &[&str],
    ) -> io::Result<Self> {
        let path = path.into();
        let first = instances
            .first()
            .ok_or(io::Error::new(io::ErrorKind::InvalidInput, "a wave needs an instance"))?;
        let fst = i32::from(Format::of(&path) == Format::Fst);
        let models: Vec<Rc<Owner>> = instances.iter().map(|i| i.core().owner.clone()).collect();
        let name = CString::new(path.as_os_str().as_encoded_bytes())?;
        let lane_names = lanes.iter().map(|lane| CString::new(*lane));
        let lane_names = lane_names.collect::<Result<Vec<_>, _>>()?;
        if let Some(without) = models.iter().find(|owner| owner.unit.trace.is_none()) {
            if MUTANTS.iter().any(|name| std::env::var_os(name).is_some()) {
                File::create(&path)?;
                return Ok(Self {
                    raw: None,
                    path,
                    context: first.context().clone(),
                    last: None,
                    lanes: lanes.len(),
                    _models: Vec::new(),
                });
            }
            let message = format!("{} is a broken twin, which has no waves", without.name);
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        // Verilator reports a file that cannot be made only as "not open": find out why first.
        drop(File::create(&path)?);
        // SAFETY: the models live in `models` until the file is closed; the tracer has the given format.
        let raw = unsafe {
            let raw = NonNull::new(ffi::rt_wave_new(fst)).expect("C++ new gives a wave or throws");
            for owner in &models {
                let trace = owner.unit.trace.expect("looked for above");
                trace(owner.model.as_ptr(), ffi::rt_wave_tracer(raw.as_ptr()), fst);
            }
            for lane in &lane_names {
                ffi::rt_wave_lane(raw.as_ptr(), lane.as_ptr());
            }
            raw
        };
        let wave = Self {
            raw: Some(raw),
            path,
            context: first.context().clone(),
            last: None,
            lanes: lanes.len(),
            _models: models,
        };
        // SAFETY: not opened yet.
        match unsafe { ffi::rt_wave_open(wave.raw(), name.as_ptr()) } {
            0 => Err(io::Error::other(format!(
                "{} cannot be opened as a wave",
                wave.path.display()
            ))),
            _ => Ok(wave),
        }
    }

    /// Lane number `lane`, in the order of its creation, shows this text from the next [dump](Self::dump) on; empty:
    /// nothing. A text of more than 32 bytes is cut, and ends in `~`; a sign outside ASCII is `?`.
    ///
    /// # Panics
    /// There is no such lane.
    pub fn set_lane(&mut self, lane: usize, text: &str) {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        let sign = |sign: char| {
            if sign.is_ascii_graphic() || sign == ' ' {
                sign as u8
            } else {
                b'?'
            }
        };
        let mut bytes: Vec<u8> = text.chars().map(sign).collect();
        if bytes.len() > LANE_BYTES {
            bytes.truncate(LANE_BYTES - 1);
            bytes.push(b'~');
        }
        if let Some(raw) = self.raw {
            // SAFETY: open, and it has this lane; the text is copied.
            unsafe { ffi::rt_wave_text(raw.as_ptr(), lane as u32, bytes.as_ptr(), bytes.len() as u32) }
        }
    }

    /// Writes the changes at the context's time; once for each instant.
    pub fn dump(&mut self) {
        let now = self.context.time();
        if self.last.is_none_or(|last| now > last) {
            self.last = Some(now);
            if let Some(raw) = self.raw {
                // SAFETY: open.
                unsafe { ffi::rt_wave_dump(raw.as_ptr(), now) }
            }
        }
    }

    pub fn flush(&mut self) {
        if let Some(raw) = self.raw {
            // SAFETY: open.
            unsafe { ffi::rt_wave_flush(raw.as_ptr()) }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the rest and closes. A file that could not be written whole is removed.
    ///
    /// # Errors
    /// The first error of its writes.
    pub fn close(mut self) -> io::Result<()> {
        if self.raw.is_none() {
            return Ok(());
        }
        let written = self.finish().and_then(|()| match Format::of(&self.path) {
            Format::Fst => check_fst(&self.path),
            Format::Vcd => Ok(()),
        });
        if written.is_err() && self.path.is_file() {
            fs::remove_file(&self.path)?;
        }
        written
    }

    fn raw(&self) -> *mut ffi::rt_wave {
        self.raw.expect("only `finish` takes it").as_ptr()
    }

    fn finish(&mut self) -> io::Result<()> {
        let Some(raw) = self.raw.take() else { return Ok(()) };
        // SAFETY: made by `rt_wave_new`; the models are still alive.
        match unsafe { ffi::rt_wave_close(raw.as_ptr()) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl Drop for Wave {
    fn drop(&mut self) {
        // A caller that only drops the wave does not want the error.
        let _ = self.finish();
    }
}

/// Verilator's writer of FST hides its errors. It writes the header last, and nothing after an error. If the header is
/// missing, more is written to the file, to learn the error.
fn check_fst(path: &Path) -> io::Result<()> {
    /// A block of type 0 of 329 bytes.
    const HEADER: [u8; 9] = [0, 0, 0, 0, 0, 0, 0, 1, 73];
    let mut begin = [0xff; HEADER.len()];
    let whole = File::open(path)?.read_exact(&mut begin).is_ok() && begin == HEADER;
    if whole {
        return Ok(());
    }
    File::options().append(true).open(path)?.write_all(&[0; 1 << 16])?;
    Err(io::Error::other("it was not written whole"))
}
