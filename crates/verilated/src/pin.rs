//! Ports found by name.

use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::core::{Core, Owner, PortInfo};
use crate::port::mask;
use crate::{Input, Port};

/// A port of an instance, found by its name: for drivers that fit any unit. It keeps the model alive. The typed ports
/// of the unit's own struct are quicker.
#[derive(Clone)]
pub struct Pin {
    info: &'static PortInfo,
    at: NonNull<u8>,
    model: Rc<Owner>,
}

impl Pin {
    pub(crate) fn new(core: &Core, info: &'static PortInfo) -> Pin {
        let root = NonNull::new(core.root().cast::<u8>()).expect("a model has a root");
        // SAFETY: the offsets are the model's own.
        let at = unsafe { root.add(info.offset) };
        let model = core.owner.clone();
        Pin { info, at, model }
    }

    pub fn info(&self) -> &'static PortInfo {
        self.info
    }

    /// Panics unless the port has these bits.
    fn check(&self, lo: usize, width: usize) {
        assert!(
            width <= 64 && lo + width <= self.info.width,
            "{} of {} has {} bits: there are no {width} from {lo}",
            self.info.name,
            self.model.name,
            self.info.width
        );
    }

    /// The places of the bytes that hold these bits.
    fn bytes(&self, lo: usize, width: usize) -> impl Iterator<Item = *mut u8> {
        // SAFETY: within the port, as was checked; a port's lowest byte is its first.
        (lo / 8..(lo + width).div_ceil(8)).map(|byte| unsafe { self.at.add(byte) }.as_ptr())
    }
}

impl Port for Pin {
    fn width(&self) -> usize {
        self.info.width
    }

    fn get_bits(&self, lo: usize, width: usize) -> u64 {
        self.check(lo, width);
        // SAFETY: the model is alive, of this thread, and not being evaluated.
        let byte = |at: *mut u8| u128::from(unsafe { at.read() });
        let bytes = self.bytes(lo, width).enumerate();
        let value = bytes.fold(0, |value, (index, at)| value | byte(at) << (8 * index));
        (value >> (lo % 8)) as u64 & mask(width)
    }
}

impl Input for Pin {
    fn set_bits(&self, lo: usize, width: usize, value: u64) {
        self.check(lo, width);
        assert!(
            !self.info.output,
            "{} of {} is no input",
            self.info.name, self.model.name
        );
        assert!(value & !mask(width) == 0, "the value is wider than the port");
        let keep = !(u128::from(mask(width)) << (lo % 8));
        let new = u128::from(value) << (lo % 8);
        for (index, at) in self.bytes(lo, width).enumerate() {
            let of = |bits: u128| (bits >> (8 * index)) as u8;
            // SAFETY: as in `get_bits`; no reference into the ports is ever kept.
            unsafe { at.write(at.read() & of(keep) | of(new)) }
        }
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.info.name, self.model.name)
    }
}
