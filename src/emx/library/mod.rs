//! The message library and the programs of the measurements, as thread code (paper, 3 and 4).
//!
//! The sources are `*.s`; [`image`] assembles them. Ports, queues, frames and the program's own frame have fixed places
//! in each PE, which stand in [`layout`].

use std::collections::BTreeMap;

use super::asm::{AsmError, Image, Source, assemble};
use super::packet::{Kind, Packet, global};
use super::params::Config;
use super::regs::SIZE_FRAME;

/// Places in the memory of each PE, in words.
pub mod layout {
    /// All of it.
    pub const MEMORY_BITS: u32 = 16;
    /// The system frame, its link first.
    pub const SYSTEM: u32 = 0;
    /// The port.
    pub const PORT: u32 = 0x40;
    /// Frame of the program.
    pub const MAIN: u32 = 0x80;
    /// First of the free frames.
    pub const FREE_LIST: u32 = 0xff;
    /// Heads, tails and waiting frames of word messages, four words a type.
    pub const QUEUES: u32 = 0x100;
    /// Frame of `mem_copyout`.
    pub const COPY: u32 = 0x1c0;
    /// Frames to be allocated.
    pub const FRAMES: std::ops::Range<u32> = 0x200..0x1000;
    pub const CODE: u32 = 0x1000;
    /// Rings of word messages, one a type.
    pub const RINGS: u32 = 0x6000;
    /// Words of a ring: in lex all other PEs may send one before the receiver takes the first.
    pub const RING: u32 = 128;
    /// The programs' blocks.
    pub const BLOCKS: u32 = 0x7000;
}

/// What the library's traps mean, by code.
pub const TRAPS: [(&str, u32, &str); 5] = [
    ("TRAP_FRAMES", 1, "no frame is left"),
    ("TRAP_TYPE", 2, "a message of a type that the port does not have"),
    ("TRAP_QUEUE", 3, "127 word messages of a type wait, and another came"),
    ("TRAP_USER", 4, "a packet of a user's type without a thread"),
    (
        "TRAP_KIND",
        5,
        "a READ asks for an answer of a kind that the handler does not have",
    ),
];

/// The programs' variables in their frame, which the host writes.
mod argument {
    pub const OWN: u32 = 5;
    pub const ME: u32 = 8;
    pub const COUNT: u32 = 9;
    pub const N: u32 = 10;
    pub const SRC: u32 = 11;
    pub const DST: u32 = 12;
    pub const SHIFT: u32 = 13;
    pub const NEXT: u32 = 14;
    pub const PLACE: u32 = 15;
    /// The programs' variables, which begin as 0.
    pub const VARIABLES: std::ops::RangeInclusive<u32> = 16..=20;
    pub const PARTNERS: u32 = 32;
    /// The host's own.
    pub const ARG: u32 = 40;
}

/// Most arguments of the host's own for a thread.
pub const ARGUMENTS: usize = (SIZE_FRAME - argument::ARG) as usize;

/// Entry of a program where the host starts it.
const START: u32 = 2;

/// A program of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    RingPkt,
    RingWord,
    RingBlock,
    Lex,
    Pex,
    Rex,
    /// Rex with half of all blocks in each step.
    RexClassic,
    Wex,
    Lib,
    Reb,
    Reduction,
    Shift,
    Scan,
}

impl Program {
    /// All of them.
    pub const ALL: [Program; 13] = [
        Program::RingPkt,
        Program::RingWord,
        Program::RingBlock,
        Program::Lex,
        Program::Pex,
        Program::Rex,
        Program::RexClassic,
        Program::Wex,
        Program::Lib,
        Program::Reb,
        Program::Reduction,
        Program::Shift,
        Program::Scan,
    ];

    /// Its template in the image.
    pub fn template(self) -> &'static str {
        match self {
            Program::RingPkt => "RING_PKT",
            Program::RingWord => "RING_WORD",
            Program::RingBlock => "RING_BLOCK",
            Program::Lex => "LEX",
            Program::Pex => "PEX",
            Program::Rex => "REX",
            Program::RexClassic => "REX_CLASSIC",
            Program::Wex => "WEX",
            Program::Lib => "LIB",
            Program::Reb => "REB",
            Program::Reduction => "REDUCTION",
            Program::Shift => "SHIFT_RIGHT",
            Program::Scan => "SCAN",
        }
    }

    /// Its steps pair PEs by bits of their numbers.
    pub fn needs_power_of_two(self) -> bool {
        !matches!(
            self,
            Program::RingPkt
                | Program::RingWord
                | Program::RingBlock
                | Program::Lex
                | Program::Lib
                | Program::Shift
                | Program::Scan
        )
    }
}

/// The entries of a port with so many message types of each kind, and traps behind them.
fn entries(messages: u32) -> String {
    let pkt = (0..messages).map(|kind| format!("pkt_entry {kind}\n"));
    let word = (0..messages).map(|kind| format!("word_entry {kind}\n"));
    let trap = |at: u32, end: u32| {
        let trap = (at < end).then(|| format!(".entry {at}\ntrap TRAP_TYPE\n"));
        trap.unwrap_or_default()
    };
    let pkt = pkt.chain([trap(1 + messages, 33)]);
    pkt.chain(word).chain([trap(33 + messages, SIZE_FRAME)]).collect()
}

fn sources(config: &Config) -> Vec<Source> {
    let source = |name: &str, text: &str| Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    vec![
        source("macros.s", include_str!("macros.s")),
        source("system.s", include_str!("system.s")),
        source("entries.s", include_str!("entries.s")),
        source("types.s", &entries(config.messages)),
        source("port.s", include_str!("port.s")),
        source("copyout.s", include_str!("copyout.s")),
        source("programs.s", include_str!("programs.s")),
    ]
}

/// The code, which is the same for all PEs.
///
/// # Errors
/// What the assembler refuses.
pub fn image(config: &Config) -> Result<Image, Vec<AsmError>> {
    image_with(config, &[])
}

/// The same with code of the host's own behind it.
///
/// # Errors
/// As [`image`].
pub fn image_with(config: &Config, own: &[Source]) -> Result<Image, Vec<AsmError>> {
    // Without suspension a counter runs down from more than there is.
    let chunk = if config.chunk == 0 {
        u32::from(u16::MAX)
    } else {
        config.chunk
    };
    let places = [
        ("CODE", layout::CODE),
        ("PORT", layout::PORT),
        ("FREE_LIST", layout::FREE_LIST),
        ("QUEUES", layout::QUEUES),
        ("RING", layout::RING),
        ("COPY", layout::COPY),
        ("CHUNK", chunk),
    ];
    let traps = TRAPS.map(|(name, code, _)| (name, code));
    let equates = places
        .into_iter()
        .chain(traps)
        .map(|(name, value)| (name.to_owned(), value));
    assemble(&[&sources(config), own].concat(), &equates.collect())
}

/// What the host writes into a PE's memory before a thread begins there.
#[derive(Clone, Debug, Default)]
pub struct Thread<'a> {
    pub pe: u32,
    /// PEs that take part.
    pub count: u32,
    /// Words of a block.
    pub words: u32,
    /// Blocks begin so many bits apart.
    pub shift: u32,
    /// Where the block for PE 0 begins, and where the one from PE 0 belongs.
    pub source: u32,
    pub destination: u32,
    /// The host's own arguments.
    pub arguments: &'a [u32],
}

impl Thread<'_> {
    /// The words, beside the code; `template` is the thread's in the image.
    ///
    /// # Panics
    /// More than [`ARGUMENTS`] arguments.
    pub fn setup(&self, image: &Image, template: &str) -> BTreeMap<u32, u32> {
        assert!(self.arguments.len() <= ARGUMENTS, "arguments beyond the frame");
        let symbol = |name: &str| image.symbols[name];
        let mut words = BTreeMap::from([
            (layout::SYSTEM, symbol("SYSTEM")),
            (layout::PORT, symbol("PORT_CODE")),
            (layout::MAIN, symbol(template)),
            (layout::COPY, symbol("COPYOUT")),
        ]);
        let frames: Vec<u32> = layout::FRAMES.step_by(SIZE_FRAME as usize).collect();
        words.insert(layout::FREE_LIST, frames[0]);
        words.extend(frames.windows(2).map(|two| (two[0], two[1])));
        for kind in 0..32 {
            let (queue, ring) = (layout::QUEUES + 4 * kind, layout::RINGS + layout::RING * kind);
            words.extend([(queue, ring), (queue + 1, ring)]);
        }
        let pe = self.pe;
        let arguments = [
            (argument::OWN, global(pe, layout::PORT)),
            (argument::ME, pe),
            (argument::COUNT, self.count),
            (argument::N, self.words),
            (argument::SRC, self.source),
            (argument::DST, self.destination),
            (argument::SHIFT, self.shift),
            (argument::NEXT, global((pe + 1) % self.count, layout::PORT)),
            (argument::PLACE, self.destination + (pe << self.shift)),
        ];
        let variables = argument::VARIABLES
            .chain(argument::PARTNERS..argument::ARG)
            .map(|at| (at, 0));
        let partners = (0u32..).take_while(|step| 1 << step < self.count);
        let partners = partners.map(|step| (argument::PARTNERS + step, global(pe ^ 1 << step, layout::PORT)));
        let own = (argument::ARG..).zip(self.arguments.iter().copied());
        let all = arguments.into_iter().chain(variables).chain(partners).chain(own);
        words.extend(all.map(|(at, value)| (layout::MAIN + at, value)));
        words
    }
}

/// The packet with which the host starts a thread on a PE.
pub fn start() -> Packet {
    Packet::to(Kind::THREAD, global(0, layout::MAIN + START), 0)
}

/// A run of a program on PEs 0 and up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub program: Program,
    /// PEs that take part.
    pub count: u32,
    /// Words of a block.
    pub words: u32,
}

impl Run {
    /// Blocks begin so many bits apart.
    fn shift(&self) -> u32 {
        self.words.max(1).next_power_of_two().ilog2()
    }

    /// Where the block to be sent to a PE begins.
    pub fn source(&self, to: u32) -> u32 {
        layout::BLOCKS + ((self.count + to) << self.shift())
    }

    /// Where the block of a PE belongs.
    pub fn destination(&self, from: u32) -> u32 {
        layout::BLOCKS + (from << self.shift())
    }

    /// What the host writes into a PE's memory before, beside the code.
    pub fn setup(&self, image: &Image, pe: u32) -> BTreeMap<u32, u32> {
        let thread = Thread {
            pe,
            count: self.count,
            words: self.words,
            shift: self.shift(),
            source: self.source(0),
            destination: self.destination(0),
            arguments: &[],
        };
        thread.setup(image, self.program.template())
    }

    /// The packet with which the host starts it on each PE.
    pub fn start(&self) -> Packet {
        start()
    }

    /// The end of its blocks in memory.
    pub fn end(&self) -> u32 {
        self.source(self.count)
    }
}
