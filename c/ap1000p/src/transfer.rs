//! A program's transfers, checked against its memory: the machine maps more memory than the program's.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use tsunagi::Addr;
use tsunagi::ap1000p::host::layout::{DEMAND, DEMAND_BYTES};
use tsunagi::ap1000p::host::{CommandError, Stride as Words, Transfer};
use tsunagi::ap1000p::regs::COMMAND_LENGTH_WORDS_MASK;

use crate::error::{Code, Result};
use crate::{Link, word};

thread_local! {
    /// Whether the pages that this thread's program names are mapped on first use.
    pub static ON_DEMAND: Cell<bool> = const { Cell::new(false) };
}

/// `APstride` of the header.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Stride {
    item: c_int,
    gap: c_int,
}

impl Stride {
    const NONE: Stride = Stride { item: 256, gap: 0 };

    /// Refuses a stride that no command can express.
    fn words(self) -> Result<Words> {
        let words = Words {
            item: u32::try_from(self.item).unwrap_or(0),
            gap: self.gap,
        };
        words.word()?;
        Ok(words)
    }
}

/// The arguments of a PUT or a GET.
#[derive(Clone, Copy)]
pub struct Sides {
    source: (*const c_void, Stride),
    dest: (*const c_void, Stride),
    size: c_int,
    source_flag: *mut c_int,
    dest_flag: *mut c_int,
}

impl Sides {
    /// The arguments in the order of the paper, without strides.
    pub fn plain(
        source: *const c_void,
        size: c_int,
        dest: *mut c_void,
        dest_flag: *mut c_int,
        source_flag: *mut c_int,
    ) -> Sides {
        Sides {
            source: (source, Stride::NONE),
            dest: (dest, Stride::NONE),
            size,
            source_flag,
            dest_flag,
        }
    }

    /// The same with the given strides of source and destination.
    pub fn with(mut self, (source, dest): (Option<&Stride>, Option<&Stride>)) -> Sides {
        self.source.1 = source.copied().unwrap_or(Stride::NONE);
        self.dest.1 = dest.copied().unwrap_or(Stride::NONE);
        self
    }

    /// The number of words.
    pub fn words(self) -> Result<u32> {
        let Ok(words) = u32::try_from(self.size) else {
            return Err(Code::Size.why(format!("{} words to transfer", self.size)));
        };
        if words > COMMAND_LENGTH_WORDS_MASK {
            return Err(CommandError::TooLong { words }.into());
        }
        Ok(words)
    }

    /// The source side, for a transfer whose destination is not memory.
    pub fn source(self, link: &Link) -> Result<Transfer> {
        let words = self.words()?;
        let (source, source_stride) = side(link, "source", self.source, words)?;
        Ok(Transfer {
            words,
            source,
            source_stride,
            source_flag: flag(link, "source flag", self.source_flag)?,
            ..Transfer::default()
        })
    }

    /// The destination side.
    pub fn dest(self, link: &Link) -> Result<Transfer> {
        let words = self.words()?;
        let (dest, dest_stride) = side(link, "destination", self.dest, words)?;
        Ok(Transfer {
            words,
            dest,
            dest_stride,
            dest_flag: flag(link, "destination flag", self.dest_flag)?,
            ..Transfer::default()
        })
    }

    /// The arguments in the library's form. Every cell has the same addresses, so the other cell's are checked like
    /// this cell's.
    pub fn transfer(self, link: &Link) -> Result<Transfer> {
        let (source, dest) = (self.source(link)?, self.dest(link)?);
        Ok(Transfer {
            source: source.source,
            source_stride: source.source_stride,
            source_flag: source.source_flag,
            ..dest
        })
    }
}

fn flag(link: &Link, what: &str, flag: *mut c_int) -> Result<Option<Addr>> {
    (!flag.is_null()).then(|| word(link, what, flag)).transpose()
}

/// One side. All of its words must be in the program's memory; a side without words may lie anywhere.
fn side(link: &Link, what: &str, (pointer, stride): (*const c_void, Stride), words: u32) -> Result<(Addr, Words)> {
    let stride = stride.words()?;
    if words == 0 {
        return Ok((Addr(0), stride));
    }
    let addr = word(link, what, pointer.cast())?;
    let (item, step) = (i64::from(stride.item), i64::from(stride.item) + i64::from(stride.gap));
    // Items lie on a line. So the first or the last begins first; the first, the last or the one before ends last.
    let last = i64::from(words - 1) / item;
    let begin = |number: i64| i64::from(addr.0) + 4 * number * step;
    let end = |number: i64| begin(number) + 4 * item.min(i64::from(words) - number * item);
    let range = begin(0).min(begin(last))..end(0).max(end(last)).max(end((last - 1).max(0)));
    if !link.holds(range.clone()) {
        return Err(Code::Pointer.why(format!(
            "the {what} of {words} words at {pointer:p} leaves the memory of APalloc"
        )));
    }
    if !ON_DEMAND.get() {
        return Ok((addr, stride));
    }
    if range.end > DEMAND_BYTES.into() {
        return Err(Code::Pointer.why(format!(
            "the {what} of {words} words at {pointer:p} is not in the first {DEMAND_BYTES} B, \
             the only pages on demand: call APon_demand(0) first"
        )));
    }
    Ok((Addr(DEMAND + addr.0), stride))
}
