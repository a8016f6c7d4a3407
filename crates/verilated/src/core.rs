//! The common part of every verilated instance: its model, its context, and the way from a stop of the model to Rust.

use std::cell::OnceCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::slice;

use crate::junk::{self, Stream};
use crate::{Context, Pin, ffi};

/// A port, for code that works by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortInfo {
    pub name: &'static str,
    pub output: bool,
    /// Bits.
    pub width: usize,
    /// Its place in the model, in bytes from the root.
    pub offset: usize,
    pub bytes: usize,
}

/// The functions and ports of a unit. Made by `verilated-build` only.
pub struct UnitInfo {
    pub top: &'static str,
    pub ports: &'static [PortInfo],
    /// Public signals inside.
    pub signals: &'static [PortInfo],
    pub clocks: &'static [&'static str],
    pub new: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void,
    pub root: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
    pub eval: unsafe extern "C" fn(*mut c_void),
    /// `None`: the unit has no code for waves.
    pub trace: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, c_int)>,
    pub save: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    pub restore: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
}

/// The RTL stopped the simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message} in {instance} at {time} ps")]
pub struct Failure {
    /// The source file, as named in the list of units.
    pub file: String,
    pub line: u32,
    pub message: String,
    pub instance: String,
    pub time: u64,
}

/// The instance behind a typed struct.
pub struct Core {
    root: NonNull<c_void>,
    status: NonNull<ffi::rt_status>,
    pub(crate) owner: Rc<Owner>,
}

/// Owns the C++ model; waves keep it alive.
pub(crate) struct Owner {
    pub(crate) model: NonNull<c_void>,
    pub(crate) unit: &'static UnitInfo,
    pub(crate) context: Context,
    pub(crate) name: String,
    /// For [`Verilated::junk`], once it is called.
    streams: OnceCell<Vec<Stream>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: made by `new` of the same unit, and nobody else has it.
        unsafe { (self.unit.free)(self.model.as_ptr()) }
    }
}

impl Core {
    /// An instance of the unit in the context.
    ///
    /// # Safety
    /// `unit` must come from `verilated-build`, for a model linked into this program.
    pub unsafe fn new(context: &Context, name: &str, unit: &'static UnitInfo) -> Self {
        let c_name = CString::new(name).expect("an instance's name has no NUL");
        // SAFETY: the context is alive, and is kept so by `Owner`; the name is copied by the model.
        let model = context.at_time_zero(|| unsafe { (unit.new)(context.raw().cast(), c_name.as_ptr()) });
        let Some(model) = NonNull::new(model) else {
            panic!("{name} cannot be made: {:?}", context.take_failure(name))
        };
        // SAFETY: the model was just made by the same unit.
        let root = NonNull::new(unsafe { (unit.root)(model.as_ptr()) }).expect("a model has a root");
        let owner = Rc::new(Owner {
            model,
            unit,
            context: context.clone(),
            name: name.to_string(),
            streams: OnceCell::new(),
        });
        Self {
            root,
            status: context.status(),
            owner,
        }
    }

    /// The model's memory, where the ports are.
    #[inline(always)]
    pub fn root(&self) -> *mut c_void {
        self.root.as_ptr()
    }

    /// The bytes of an input as they lie in the model.
    pub(crate) fn input(&self, port: &PortInfo) -> &[u8] {
        assert!(!port.output, "{} is no input", port.name);
        // SAFETY: the offsets are the model's own, and a model does not write its inputs; the caller copies at once.
        unsafe { std::slice::from_raw_parts(self.root().cast::<u8>().add(port.offset), port.bytes) }
    }

    /// Puts back bytes that came from [`input`](Self::input) of the same unit.
    pub(crate) fn set_input(&self, port: &PortInfo, bytes: &[u8]) {
        assert!(
            !port.output && bytes.len() == port.bytes,
            "{} is no such input",
            port.name
        );
        // SAFETY: as above; no reference into the ports is ever kept.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.root().cast::<u8>().add(port.offset), port.bytes) }
    }

    /// Sets these clocks, bit `i` for number `i` of the unit's.
    fn set_clocks(&self, clocks: u64, level: u8) {
        let unit = self.owner.unit;
        for (_, name) in unit.clocks.iter().enumerate().filter(|(i, _)| clocks >> i & 1 == 1) {
            let port = unit.ports.iter().find(|port| port.name == *name);
            self.set_input(port.expect("a clock is a port"), &[level]);
        }
    }

    /// Panics if the RTL stopped in the last `eval`.
    #[inline(always)]
    pub fn check(&self) {
        if let Err(failure) = self.outcome() {
            panic!("{failure}");
        }
    }

    /// The stop of the RTL in the last `eval`. `$finish` is no failure: the context notes it.
    #[inline(always)]
    pub(crate) fn outcome(&self) -> Result<(), Failure> {
        // SAFETY: the status lives as long as this thread, which `Core` cannot leave.
        if unsafe { (*self.status.as_ptr()).kind } == 0 {
            return Ok(());
        }
        self.owner.context.take_failure(&self.owner.name)
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.owner.name, self.owner.unit.top)
    }
}

/// A unit with no checkpoints (`savable = false` in the list of units), or a checkpoint of another unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("the unit `{0}` has no checkpoints: write `savable = true` in the list of units")]
    NotSavable(&'static str),
    #[error("the checkpoint is of another unit than `{0}`")]
    OtherUnit(&'static str),
}

/// The state of one instance.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    unit: *const UnitInfo,
    bytes: Vec<u8>,
}

impl Checkpoint {
    /// Size of the state in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// Operations on an instance of any unit.
pub trait Verilated {
    fn core(&self) -> &Core;

    /// Lets the model settle on its inputs. Panics, with file and line, when an assertion of the RTL fails.
    fn eval(&self);

    /// The same, with the failure as a value.
    fn try_eval(&self) -> Result<(), Failure> {
        let core = self.core();
        // SAFETY: the root belongs to this model, which is alive.
        unsafe { (core.owner.unit.eval)(core.root()) };
        core.outcome()
    }

    /// The rising edges of these clocks, with the inputs as they are. Bit `i` stands for number `i` of
    /// [`clocks`](Self::clocks). The unit is evaluated with these clocks low, then with them high, and they stay high.
    /// Panics as `eval`.
    fn rise(&self, clocks: u64) {
        self.core().set_clocks(clocks, 0);
        self.eval();
        self.core().set_clocks(clocks, 1);
        self.eval();
    }

    /// The falling edges of these clocks, which only waves need: [`rise`](Self::rise) leaves them high.
    fn fall(&self, clocks: u64) {
        self.core().set_clocks(clocks, 0);
        self.eval();
    }

    /// Drives random bits on the inputs of each stream with a low `valid`. It does so in a context that is
    /// [random](Context::random) or has [junk](Context::set_junk), and does nothing in any other. Call it before an
    /// evaluation, when all inputs are set. Port names tell the streams: `in_valid_i` says when `in_data_i` and the
    /// other inputs `in_…_i` count, `s_axis_tvalid` when `s_axis_tdata` does. Each bit of a vector counts for its own
    /// part.
    #[inline]
    fn junk(&self) {
        let (core, context) = (self.core(), self.context());
        if context.has_junk() {
            let streams = core.owner.streams.get_or_init(|| junk::streams(core.owner.unit));
            for stream in streams {
                stream.spoil(core.root().cast(), &mut || context.chance());
            }
        }
    }

    fn name(&self) -> &str {
        &self.core().owner.name
    }

    fn context(&self) -> &Context {
        &self.core().owner.context
    }

    fn ports(&self) -> &'static [PortInfo] {
        self.core().owner.unit.ports
    }

    /// The names of the clock inputs, as the list of units gives them.
    fn clocks(&self) -> &'static [&'static str] {
        self.core().owner.unit.clocks
    }

    /// The signals inside that the list of units makes public. Each is named by its path below the top.
    fn signals(&self) -> &'static [PortInfo] {
        self.core().owner.unit.signals
    }

    /// The value of a port, or of a public signal by its path, as 32-bit words, least significant first; `None` when
    /// there is no such one.
    fn peek(&self, name: &str) -> Option<Vec<u32>> {
        let port = self
            .ports()
            .iter()
            .chain(self.signals())
            .find(|port| port.name == name)?;
        let mut words = vec![0u32; port.bytes.div_ceil(4)];
        // SAFETY: the offsets are the model's own. A port narrower than a word fills its low bytes (little-endian,
        // below).
        unsafe {
            let from = self.core().root().cast::<u8>().add(port.offset);
            ptr::copy_nonoverlapping(from, words.as_mut_ptr().cast(), port.bytes);
        }
        const { assert!(cfg!(target_endian = "little")) };
        Some(words)
    }

    /// A port by name, to be read and set; `None` when there is no such port.
    fn pin(&self, name: &str) -> Option<Pin> {
        let info = self.ports().iter().find(|port| port.name == name)?;
        Some(Pin::new(self.core(), info))
    }

    /// Sets a one-bit input that is in [`ports`](Self::ports): it takes effect at the next evaluation.
    /// Panics when it is a port of another unit, an output or wider.
    #[inline]
    fn set_flag(&self, port: &'static PortInfo, on: bool) {
        assert!(
            self.ports().as_ptr_range().contains(&ptr::from_ref(port)) && port.width == 1,
            "{} is no one-bit port of this unit",
            port.name
        );
        self.core().set_input(port, &[on.into()]);
    }

    /// The state, without the context's time and random numbers.
    fn save(&self) -> Result<Checkpoint, CheckpointError> {
        let owner = &self.core().owner;
        let save = owner.unit.save.ok_or(CheckpointError::NotSavable(owner.unit.top))?;
        let mut size = 0;
        // SAFETY: the saver is this thread's, and its bytes are copied before its next use.
        let bytes = unsafe {
            save(owner.model.as_ptr(), ffi::rt_saver_begin());
            let bytes = ffi::rt_saver_end(&mut size);
            std::slice::from_raw_parts(bytes, size as usize).to_vec()
        };
        Ok(Checkpoint {
            unit: owner.unit,
            bytes,
        })
    }

    /// Goes back to a state of this or another instance of the same unit.
    fn restore(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let owner = &self.core().owner;
        let restore = owner.unit.restore.ok_or(CheckpointError::NotSavable(owner.unit.top))?;
        if !ptr::eq(checkpoint.unit, owner.unit) {
            return Err(CheckpointError::OtherUnit(owner.unit.top));
        }
        // SAFETY: the bytes were written by the same unit's `save`.
        unsafe {
            let loader = ffi::rt_loader_begin(checkpoint.bytes.as_ptr(), checkpoint.bytes.len() as u64);
            restore(owner.model.as_ptr(), loader);
        }
        // The bytes hold the context's time as well, which is the caller's.
        owner.context.set_time(owner.context.time());
        self.core().check();
        Ok(())
    }
}

/// A [`Verilated`] that generic code can make, and that shows its ports.
///
/// # Safety
/// `Ports` must be the layout of the model's root. Made by `verilated-build` only.
pub unsafe trait Unit: Verilated + Deref<Target = Self::Ports> + Sized {
    type Ports: 'static;

    fn named(context: &Context, name: &str) -> Self;

    /// The ports as they are now.
    #[inline]
    fn snapshot(&self) -> Snapshot<Self> {
        let mut ports = MaybeUninit::uninit();
        // SAFETY: `Ports` lies over the root, and is plain bytes.
        unsafe { ptr::copy_nonoverlapping(self.core().root().cast(), ports.as_mut_ptr(), 1) };
        Snapshot {
            ports,
            unit: self.core().owner.unit,
        }
    }
}

/// The ports of an instance at one moment: read as the instance's own.
pub struct Snapshot<U: Unit> {
    ports: MaybeUninit<U::Ports>,
    unit: &'static UnitInfo,
}

impl<U: Unit> Snapshot<U> {
    fn port(&self, port: &PortInfo) -> &[u8] {
        // SAFETY: the offsets are those of `Ports`, which was copied whole; a port has no uninitialised bytes.
        unsafe { slice::from_raw_parts(self.ports.as_ptr().cast::<u8>().add(port.offset), port.bytes) }
    }

    fn changed<'a>(&'a self, later: &'a Snapshot<U>) -> impl Iterator<Item = &'static PortInfo> + 'a {
        let outputs = self.unit.ports.iter().filter(|port| port.output);
        outputs.filter(|port| self.port(port) != later.port(port))
    }

    /// Whether all outputs are the same.
    pub fn has_outputs_of(&self, later: &Snapshot<U>) -> bool {
        self.changed(later).next().is_none()
    }

    /// The outputs that differ later, each as `name 0x5, then 0x6`; empty without differences.
    pub fn changes(&self, later: &Snapshot<U>) -> String {
        let hex = |bytes: &[u8]| {
            let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            match digits.trim_start_matches('0') {
                "" => "0".to_owned(),
                digits => format!("0x{digits}"),
            }
        };
        let changes = self.changed(later).map(|port| {
            let [before, after] = [self, later].map(|snapshot| hex(snapshot.port(port)));
            format!("{} {before}, then {after}", port.name)
        });
        changes.collect::<Vec<_>>().join("; ")
    }
}

impl<U: Unit> Deref for Snapshot<U> {
    type Target = U::Ports;

    #[inline(always)]
    fn deref(&self) -> &U::Ports {
        // SAFETY: copied whole.
        unsafe { self.ports.assume_init_ref() }
    }
}
