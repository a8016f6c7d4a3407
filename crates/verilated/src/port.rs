//! Ports as they lie in the model's memory.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// A value Verilator stores for a port.
pub trait Word: Copy {
    /// Bits `lo..lo + width`; `width` at most 64.
    fn bits(&self, lo: usize, width: usize) -> u64;
    /// Replaces bits `lo..lo + width`.
    fn set_bits(&mut self, lo: usize, width: usize, value: u64);
    /// Whether all bits from `width` on are zero.
    fn fits(&self, width: usize) -> bool;
}

#[inline(always)]
pub(crate) fn mask(width: usize) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

macro_rules! scalar {
    ($($t:ty),*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn bits(&self, lo: usize, width: usize) -> u64 {
                (*self as u64 >> lo) & mask(width)
            }

            #[inline(always)]
            fn set_bits(&mut self, lo: usize, width: usize, value: u64) {
                *self = (*self as u64 & !(mask(width) << lo) | value << lo) as $t
            }

            #[inline(always)]
            fn fits(&self, width: usize) -> bool {
                *self as u64 & !mask(width) == 0
            }
        }
    )*};
}

scalar!(u8, u16, u32, u64);

impl<const N: usize> Word for [u32; N] {
    #[inline(always)]
    fn bits(&self, lo: usize, width: usize) -> u64 {
        let (word, shift) = (lo / 32, lo % 32);
        let part = |i: usize| if i < N { u64::from(self[i]) } else { 0 };
        let low = part(word) | part(word + 1) << 32;
        // A field that starts on a word's border lies in two words; any other may reach into a third.
        let all = if shift == 0 {
            low
        } else {
            low >> shift | part(word + 2) << (64 - shift)
        };
        all & mask(width)
    }

    #[inline(always)]
    fn set_bits(&mut self, lo: usize, width: usize, value: u64) {
        let (word, shift) = (lo / 32, lo % 32);
        if shift == 0 && width == 64 {
            self[word] = value as u32;
            self[word + 1] = (value >> 32) as u32;
            return;
        }
        let (keep, new) = (!(u128::from(mask(width)) << shift), u128::from(value) << shift);
        for (i, slot) in self.iter_mut().skip(word).take(3).enumerate() {
            *slot = *slot & (keep >> (32 * i)) as u32 | (new >> (32 * i)) as u32;
        }
    }

    #[inline(always)]
    fn fits(&self, width: usize) -> bool {
        width >= 32 * N || u64::from(self[N - 1]) & !mask(width - 32 * (N - 1)) == 0
    }
}

/// A port of any width, for code over all parameter sets of a unit.
pub trait Port {
    /// Bits.
    fn width(&self) -> usize;

    /// Bits `lo..lo + width`, `width` at most 64: one element of a packed array. Panics if the port lacks some of them.
    fn get_bits(&self, lo: usize, width: usize) -> u64;

    /// The value of a port of at most 64 bits. Panics for a wider port.
    #[inline(always)]
    fn get(&self) -> u64 {
        self.get_bits(0, self.width())
    }

    /// Whether a flag is set.
    #[inline(always)]
    fn is_set(&self) -> bool {
        self.get() != 0
    }

    /// Bit `index`.
    #[inline(always)]
    fn bit(&self, index: usize) -> bool {
        self.get_bits(index, 1) == 1
    }
}

/// An input of any width. A new value takes effect at the next `eval`.
pub trait Input: Port {
    /// Sets only bits `lo..lo + width`. Panics if the port lacks some of them, or the value is wider.
    fn set_bits(&self, lo: usize, width: usize, value: u64);

    /// Sets a port of at most 64 bits. Panics for a wider port or value.
    #[inline(always)]
    fn set(&self, value: u64) {
        self.set_bits(0, self.width(), value);
    }

    /// Sets a flag.
    #[inline(always)]
    fn set_bool(&self, value: bool) {
        self.set(u64::from(value));
    }
}

/// An input of `W` bits, stored as `T`.
#[repr(transparent)]
pub struct In<T, const W: usize>(UnsafeCell<T>);

/// An output of `W` bits, stored as `T`: it cannot be set.
#[repr(transparent)]
pub struct Out<T, const W: usize>(UnsafeCell<T>);

/// Other variables of the model between the ports.
#[repr(transparent)]
pub struct Pad<const N: usize>(#[allow(dead_code)] UnsafeCell<MaybeUninit<[u8; N]>>);

impl<T: Word, const W: usize> In<T, W> {
    pub const WIDTH: usize = W;

    /// Takes effect at the next `eval`. Panics when the value is wider than the port.
    #[inline(always)]
    pub fn set(&self, value: T) {
        assert!(value.fits(W), "the value is wider than the port");
        // SAFETY: the model is of this thread and not being evaluated; no reference into the cell is ever given out.
        unsafe { *self.0.get() = value }
    }

    /// The last set value.
    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: as in `set`.
        unsafe { *self.0.get() }
    }

    /// Sets only bits `lo..lo + width`: one element of a packed array. Panics if the port lacks them, or the value is
    /// wider.
    #[inline(always)]
    pub fn set_bits(&self, lo: usize, width: usize, value: u64) {
        assert!(
            width <= 64 && lo + width <= W,
            "bits {lo}..{} of a port of {W}",
            lo + width
        );
        assert!(value & !mask(width) == 0, "the value is wider than the field");
        // SAFETY: as in `set`.
        unsafe { (*self.0.get()).set_bits(lo, width, value) }
    }

    /// Bits `lo..lo + width`, `width` at most 64.
    #[inline(always)]
    pub fn get_bits(&self, lo: usize, width: usize) -> u64 {
        assert!(
            width <= 64 && lo + width <= W,
            "bits {lo}..{} of a port of {W}",
            lo + width
        );
        // SAFETY: as in `get`.
        unsafe { (*self.0.get()).bits(lo, width) }
    }
}

impl<const W: usize> In<u8, W> {
    /// Sets a flag.
    #[inline(always)]
    pub fn set_bool(&self, value: bool) {
        self.set(u8::from(value));
    }

    /// Whether a flag is set.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.get() != 0
    }
}

impl<T: Word, const W: usize> Out<T, W> {
    pub const WIDTH: usize = W;

    /// The value after the last `eval`.
    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: the model is of this thread and not being evaluated; no reference into the cell is ever given out.
        unsafe { *self.0.get() }
    }

    /// Bits `lo..lo + width`, `width` at most 64: one element of a packed array.
    #[inline(always)]
    pub fn get_bits(&self, lo: usize, width: usize) -> u64 {
        assert!(
            width <= 64 && lo + width <= W,
            "bits {lo}..{} of a port of {W}",
            lo + width
        );
        // SAFETY: as in `get`.
        unsafe { (*self.0.get()).bits(lo, width) }
    }

    /// Bit `index`.
    #[inline(always)]
    pub fn bit(&self, index: usize) -> bool {
        self.get_bits(index, 1) == 1
    }
}

impl<const W: usize> Out<u8, W> {
    /// Whether a flag is set.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.get() != 0
    }
}

impl<T: Word, const W: usize> Port for In<T, W> {
    #[inline(always)]
    fn width(&self) -> usize {
        W
    }

    #[inline(always)]
    fn get_bits(&self, lo: usize, width: usize) -> u64 {
        In::get_bits(self, lo, width)
    }
}

impl<T: Word, const W: usize> Input for In<T, W> {
    #[inline(always)]
    fn set_bits(&self, lo: usize, width: usize, value: u64) {
        In::set_bits(self, lo, width, value);
    }
}

impl<T: Word, const W: usize> Port for Out<T, W> {
    #[inline(always)]
    fn width(&self) -> usize {
        W
    }

    #[inline(always)]
    fn get_bits(&self, lo: usize, width: usize) -> u64 {
        Out::get_bits(self, lo, width)
    }
}
