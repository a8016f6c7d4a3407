//! AXI4 as a testbench sees it: what the two sides of its five channels drive, cycle by cycle, the rules that both must
//! keep, and both sides themselves. AXI4-Lite is the same with bursts of one whole word and ID 0. Words have at most 8
//! bytes.
//!
//! Source: AMBA AXI and ACE protocol specification, ARM IHI 0022.

mod master;
mod memory;
mod rules;

pub use master::{AxiMaster, Taken};
pub use memory::{AxiMemory, AxiTiming, WriteOrder};
pub use rules::{Broken, Rule, Rules};

/// How a burst's address goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Fixed,
    Incr,
    Wrap,
    /// Not allowed.
    Reserved,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Fixed, Kind::Incr, Kind::Wrap, Kind::Reserved];

    /// From `AxBURST`; panics above 3.
    pub fn from_bits(bits: u8) -> Kind {
        Kind::ALL[usize::from(bits)]
    }

    pub fn bits(self) -> u8 {
        self as u8
    }
}

/// An answer, as in `RRESP` and `BRESP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resp {
    Okay,
    /// An exclusive access succeeded.
    ExOkay,
    SlvErr,
    DecErr,
}

impl Resp {
    /// Panics above 3.
    pub fn from_bits(bits: u8) -> Resp {
        [Resp::Okay, Resp::ExOkay, Resp::SlvErr, Resp::DecErr][usize::from(bits)]
    }

    pub fn bits(self) -> u8 {
        self as u8
    }
}

/// A word of an address channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    pub id: u32,
    pub addr: u32,
    /// Beats - 1.
    pub len: u8,
    /// log2 of the bytes of a beat.
    pub size: u8,
    pub kind: Kind,
    /// An exclusive access.
    pub lock: bool,
    /// `AxCACHE` and `AxPROT`.
    pub cache: u8,
    pub prot: u8,
}

/// Where one beat of a burst goes: its address, and a bit for each byte of the bus word that it may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub addr: u32,
    pub lanes: u8,
}

impl Burst {
    /// Normal memory, neither cached nor buffered.
    pub const UNCACHED: u8 = 0b0010;

    /// Whole words of a bus of `bus` bytes.
    pub fn words(addr: u32, beats: u32, bus: u32) -> Burst {
        Burst {
            id: 0,
            addr,
            len: u8::try_from(beats - 1).expect("a burst has 1 to 256 beats"),
            size: bus.ilog2() as u8,
            kind: Kind::Incr,
            lock: false,
            cache: Burst::UNCACHED,
            prot: 0,
        }
    }

    pub fn beats(&self) -> u32 {
        u32::from(self.len) + 1
    }

    /// Bytes of a beat.
    pub fn beat_bytes(&self) -> u32 {
        1 << self.size
    }

    /// Beat number `beat` on a bus of `bus` bytes (A3.4.1 of the specification). A burst that breaks the rules goes on
    /// like INCR, its beats no wider than the bus.
    pub fn place(&self, beat: u32, bus: u32) -> Place {
        let bytes = self.beat_bytes().min(bus);
        let (aligned, total) = (self.addr / bytes * bytes, bytes * self.beats());
        let addr = match self.kind {
            _ if beat == 0 => self.addr,
            Kind::Fixed => self.addr,
            Kind::Incr | Kind::Reserved => aligned.wrapping_add(beat * bytes),
            Kind::Wrap => {
                let boundary = self.addr / total * total;
                boundary + (aligned - boundary + beat * bytes) % total
            }
        };
        let first = addr % bus;
        let end = first / bytes * bytes + bytes;
        let lanes = (first..end).fold(0, |lanes, lane| lanes | 1 << lane);
        Place { addr, lanes }
    }

    /// Why the burst may not stand on a bus of `bus` bytes.
    pub fn fault(&self, bus: u32) -> Option<&'static str> {
        let (bytes, beats) = (self.beat_bytes(), self.beats());
        let first = self.addr / bytes * bytes % 4096;
        if bytes > bus {
            Some("its beats are wider than the bus")
        } else if self.kind == Kind::Reserved {
            Some("its kind is reserved")
        } else if self.kind == Kind::Wrap && !matches!(beats, 2 | 4 | 8 | 16) {
            Some("it wraps over other than 2, 4, 8 or 16 beats")
        } else if self.kind == Kind::Wrap && !self.addr.is_multiple_of(bytes) {
            Some("it wraps from an unaligned address")
        } else if self.kind == Kind::Fixed && beats > 16 {
            Some("it has more than 16 beats at one address")
        } else if self.kind == Kind::Incr && first + beats * bytes > 4096 {
            Some("it crosses a multiple of 4 KB")
        } else {
            None
        }
    }
}

/// A word of the write data channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBeat {
    pub data: u64,
    /// A bit for each byte.
    pub strb: u8,
    pub last: bool,
}

/// A word of the read data channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBeat {
    pub id: u32,
    pub data: u64,
    pub resp: Resp,
    pub last: bool,
}

/// A word of the write response channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteEnd {
    pub id: u32,
    pub resp: Resp,
}

/// What a master drives before an edge: valid words, and whether it is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromMaster {
    pub aw: Option<Burst>,
    pub w: Option<WriteBeat>,
    pub b_ready: bool,
    pub ar: Option<Burst>,
    pub r_ready: bool,
}

impl FromMaster {
    /// What is asked for is data in normal memory that nobody caches or buffers, unprivileged, and not exclusively.
    pub fn is_plain(&self) -> bool {
        let plain = |burst: &Burst| !burst.lock && burst.cache == Burst::UNCACHED && burst.prot == 0;
        self.aw.iter().chain(&self.ar).all(plain)
    }
}

/// What a slave drives before an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromSlave {
    pub aw_ready: bool,
    pub w_ready: bool,
    pub b: Option<WriteEnd>,
    pub ar_ready: bool,
    pub r: Option<ReadBeat>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(kind: Kind, addr: u32, beats: u32, size: u8) -> Burst {
        Burst {
            kind,
            size,
            ..Burst::words(addr, beats, 4)
        }
    }

    /// Addresses and lanes of all beats on a bus of 4 bytes.
    fn places(burst: Burst) -> Vec<(u32, u8)> {
        let place = |beat| burst.place(beat, 4);
        (0..burst.beats()).map(|i| (place(i).addr, place(i).lanes)).collect()
    }

    #[test]
    fn addresses_and_lanes_are_those_of_the_specification() {
        // Figures A3-8 and A3-9: narrow transfers, an unaligned start, a wrapping burst.
        assert_eq!(places(burst(Kind::Incr, 0, 3, 0)), [(0, 1), (1, 2), (2, 4)]);
        assert_eq!(places(burst(Kind::Incr, 7, 3, 2)), [(7, 8), (8, 15), (12, 15)]);
        assert_eq!(places(burst(Kind::Incr, 1, 3, 1)), [(1, 2), (2, 12), (4, 3)]);
        assert_eq!(places(burst(Kind::Fixed, 6, 2, 1)), [(6, 12), (6, 12)]);
        assert_eq!(places(burst(Kind::Fixed, 5, 2, 2)), [(5, 14), (5, 14)]);
        let wrapped = [(0x18, 15), (0x1c, 15), (0x10, 15), (0x14, 15)];
        assert_eq!(places(burst(Kind::Wrap, 0x18, 4, 2)), wrapped);
        assert_eq!(places(burst(Kind::Wrap, 0x1e, 2, 1)), [(0x1e, 12), (0x1c, 3)]);
    }

    #[test]
    fn what_the_specification_forbids_is_named() {
        let fault = |kind, addr, beats, size| burst(kind, addr, beats, size).fault(4).unwrap_or("");
        assert_eq!(fault(Kind::Incr, 0xc00, 256, 2), "");
        assert!(fault(Kind::Incr, 0xc04, 256, 2).contains("4 KB"));
        assert_eq!(fault(Kind::Incr, 0xfff, 1, 2), "");
        assert!(fault(Kind::Incr, 0xfff, 2, 2).contains("4 KB"));
        assert!(fault(Kind::Incr, 0, 1, 3).contains("wider"));
        assert!(fault(Kind::Reserved, 0, 1, 2).contains("reserved"));
        assert!(fault(Kind::Wrap, 0, 3, 2).contains("other than"));
        assert!(fault(Kind::Wrap, 2, 4, 2).contains("unaligned"));
        assert!(fault(Kind::Fixed, 0, 17, 2).contains("16 beats"));
        assert_eq!(fault(Kind::Fixed, 0xffc, 16, 2), "");
    }
}
