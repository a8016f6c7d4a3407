//! Strides: the addresses of a transfer's words.

use crate::ap1000p::regs::*;

/// Words of an item, from a stride word; 0 means 256.
pub fn item(stride: u32) -> u32 {
    match stride >> STRIDE_ITEM_SHIFT {
        0 => 256,
        item => item,
    }
}

/// Words skipped after each item, signed, 24 bits.
pub fn gap(stride: u32) -> i32 {
    let above = STRIDE_GAP_MASK.leading_zeros();
    (stride << above) as i32 >> above
}

/// Byte addresses of the words of a transfer, modulo 2^32.
pub fn places(addr: u32, stride: u32, words: u32) -> impl Iterator<Item = u32> {
    let (item, gap) = (item(stride), gap(stride));
    (0..words).map(move |word| {
        let skipped = (word / item).wrapping_mul(gap as u32);
        addr.wrapping_add(word.wrapping_add(skipped).wrapping_mul(4))
    })
}
