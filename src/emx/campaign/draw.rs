//! The commands of programs, and how programs and faults are drawn.

use super::{
    ANSWER, ANSWERS, COMMANDS, GUARD, HALVES, MOST_PES, READ, READS, SERVE, SOURCE, SOURCES, TYPES, WINDOW, WINDOWS,
};
use crate::emx::backend::Forged;
use crate::emx::library::layout;
use crate::emx::packet::{Kind, Packet, global};
use crate::emx::regs::{PKT_W0_ADDR_MASK, PKT_W0_PE_MASK, PKT_W0_PE_SHIFT, SIZE_CHANNELS};
use crate::harness::faults::{Fault, Injection};
use crate::harness::seed::Rng;
use crate::{NodeId, Picos};

/// Most packets of a command.
const PACKETS: u32 = 24;
const LONGEST_SPIN: u32 = 4000;
/// Faults begin within so many cycles.
const HORIZON: u64 = 3000;
/// Numbers of PEs that a packet can name.
const NUMBERS: u64 = (PKT_W0_PE_MASK >> PKT_W0_PE_SHIFT) + 1;

/// Packets that a receiver refuses for their form, by name, and the code that sends one.
const FORMS: [(&str, &str); 5] = [
    ("type-8", "soak_type_8"),
    ("type-15", "soak_type_15"),
    ("side", "soak_side"),
    ("match", "soak_match"),
    ("tag", "soak_tag"),
];

/// A command of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// `write TO AT VALUE`: a word of the sender's window.
    Write { to: u32, at: u32, value: u32 },
    /// `block TO WORDS FROM AT`: from the sources to the sender's window.
    Block { to: u32, words: u32, from: u32, at: u32 },
    /// `read OF FROM AT`, `reads OF PACKETS FROM AT`: a word of another's sources, once or oftener, to AT of its reads.
    Read { of: u32, packets: u32, from: u32, at: u32 },
    /// `add TO PACKETS VALUE`, `urgent TO PACKETS VALUE`: so many packets, each of which adds the value.
    Add {
        to: u32,
        packets: u32,
        value: u32,
        urgent: bool,
    },
    /// `word TO VALUE`: a word message of the sender's type.
    Word { to: u32, value: u32 },
    /// `ask TO VALUE AT`: two operands meet there, and their thread answers.
    Ask { to: u32, value: u32, at: u32 },
    /// `call TO VALUE AT`: a frame is taken there, a function runs in it, and frees it.
    Call { to: u32, value: u32, at: u32 },
    /// `spin TURNS`: a thread that does not end for so long.
    Spin(u32),
    /// `nowhere PE`: a word to a PE that is not there.
    Nowhere(u32),
    /// `form TO NAME`: a packet of a form that is none.
    Form { to: u32, form: usize },
    /// `beyond TO ADDR`, `beyond-read TO ADDR`: a word outside of memory.
    Beyond { to: u32, addr: u32, read: bool },
    /// `half TO VALUE`: an operand whose partner never comes; a second one is too many.
    Half { to: u32, value: u32 },
}

impl Command {
    /// `None` for a text that is no command.
    pub(super) fn parse(text: &str) -> Option<Command> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().ok();
        let pe = |word: &str| number(word).filter(|pe| *pe < MOST_PES);
        let below = |word: &str, end: u32| number(word).filter(|value| *value < end);
        let packets = |word: &str| number(word).filter(|packets| (1..=PACKETS).contains(packets));
        Some(match words[..] {
            ["write", to, at, value] => Command::Write {
                to: pe(to)?,
                at: below(at, WINDOW)?,
                value: number(value)?,
            },
            ["block", to, words, from, at] => {
                let (words, from, at) = (packets(words)?, below(from, SOURCES)?, below(at, WINDOW)?);
                let fits = from + words <= SOURCES && at + words <= WINDOW;
                let to = pe(to)?;
                fits.then_some(Command::Block { to, words, from, at })?
            }
            ["read", of, from, at] => Command::Read {
                of: pe(of)?,
                packets: 1,
                from: below(from, SOURCES)?,
                at: below(at, READ)?,
            },
            ["reads", of, count, from, at] => Command::Read {
                of: pe(of)?,
                packets: packets(count)?,
                from: below(from, SOURCES)?,
                at: below(at, READ)?,
            },
            [how @ ("add" | "urgent"), to, count, value] => Command::Add {
                to: pe(to)?,
                packets: packets(count)?,
                value: below(value, 1 << 16)?,
                urgent: how == "urgent",
            },
            ["word", to, value] => Command::Word {
                to: pe(to)?,
                value: below(value, 1 << 16)?,
            },
            ["ask", to, value, at] => Command::Ask {
                to: pe(to)?,
                value: number(value)?,
                at: below(at, ANSWER)?,
            },
            ["call", to, value, at] => Command::Call {
                to: pe(to)?,
                value: number(value)?,
                at: below(at, ANSWER)?,
            },
            ["spin", turns] => Command::Spin(number(turns).filter(|turns| (1..=LONGEST_SPIN).contains(turns))?),
            ["nowhere", to] => Command::Nowhere(below(to, NUMBERS as u32)?),
            ["form", to, name] => Command::Form {
                to: pe(to)?,
                form: FORMS.iter().position(|form| form.0 == name)?,
            },
            [how @ ("beyond" | "beyond-read"), to, addr] => Command::Beyond {
                to: pe(to)?,
                addr: number(addr).filter(|addr| is_beyond(*addr))?,
                read: how == "beyond-read",
            },
            ["half", to, value] => Command::Half {
                to: pe(to)?,
                value: number(value)?,
            },
            _ => return None,
        })
    }

    /// Whether a machine of so many PEs, of which these have programs, has all that it names.
    pub(super) fn is_there(&self, pes: u32, used: u32) -> bool {
        match *self {
            Command::Spin(_) => true,
            Command::Nowhere(to) => to >= pes,
            Command::Write { to, .. }
            | Command::Block { to, .. }
            | Command::Read { of: to, .. }
            | Command::Add { to, .. }
            | Command::Word { to, .. }
            | Command::Ask { to, .. }
            | Command::Call { to, .. }
            | Command::Form { to, .. }
            | Command::Beyond { to, .. }
            | Command::Half { to, .. } => to < used,
        }
    }

    /// Its words in the memory of PE `own`: the symbol of its code, r4 to r6, and where a result goes.
    pub(super) fn code(&self, own: u32, function: u32) -> (&'static str, [u32; 4]) {
        let window = WINDOWS + WINDOW * own;
        let word = global(own, layout::PORT + 33 + TYPES);
        match *self {
            Command::Write { to, at, value } => ("soak_write", [global(to, window + at), value, 0, 0]),
            Command::Block { to, words, from, at } => {
                ("soak_block", [SOURCE + from, global(to, window + at), words, 0])
            }
            Command::Read { of, packets, from, at } => {
                let (word, answer) = (global(of, SOURCE + from), global(own, READS + at));
                ("soak_read", [word, answer, packets, 0])
            }
            Command::Add {
                to,
                packets,
                value,
                urgent,
            } => {
                let code = if urgent { "soak_urgent" } else { "soak_add" };
                (code, [global(to, SERVE + 1), own << 24 | value, packets, 0])
            }
            Command::Word { to, value } => (
                "soak_word",
                [global(to, layout::PORT), own % TYPES, own << 16 | value, 0],
            ),
            Command::Ask { to, value, at } => {
                let answer = global(own, layout::PORT + 1);
                ("soak_ask", [global(to, SERVE + 8 + own), value, answer, ANSWERS + at])
            }
            Command::Call { to, value, at } => ("soak_call", [global(to, function), word, value, ANSWERS + at]),
            Command::Spin(turns) => ("soak_spin", [turns, 0, 0, 0]),
            Command::Nowhere(to) => ("soak_write", [global(to, GUARD), 0, 0, 0]),
            Command::Form { to, form } => (FORMS[form].1, [global(to, GUARD + 1), 1, 0, 0]),
            Command::Beyond { to, addr, read } => {
                let code = if read { "soak_read" } else { "soak_write" };
                (code, [global(to, addr), global(own, GUARD + 2), 1, 0])
            }
            Command::Half { to, value } => ("soak_right", [global(to, HALVES + 1 + own), value, 0, 0]),
        }
    }
}

/// Beyond memory, or where packets of either machine are spilled.
fn is_beyond(addr: u32) -> bool {
    (0x1_0000..=PKT_W0_ADDR_MASK as u32).contains(&addr) || (0x2000..0x4000).contains(&addr)
}

/// The commands of a random program.
pub(super) fn program(rng: &mut Rng, pes: u64, used: u64) -> Vec<String> {
    let command = |rng: &mut Rng| {
        // Many of them have the same receiver.
        let to = if rng.chance(1, 3) { 0 } else { rng.below(used) };
        let value = rng.below(1 << 16);
        match rng.below(16) {
            0 | 1 => format!("write {to} {} {}", rng.below(WINDOW.into()), rng.below(1 << 32)),
            2 | 3 => {
                let words = rng.between(1, PACKETS.into());
                let from = rng.below(u64::from(SOURCES) - words + 1);
                format!("block {to} {words} {from} {}", rng.below(u64::from(WINDOW) - words + 1))
            }
            4 => format!("read {to} {} {}", rng.below(SOURCES.into()), rng.below(READ.into())),
            5 => {
                let (packets, from) = (rng.between(1, PACKETS.into()), rng.below(SOURCES.into()));
                format!("reads {to} {packets} {from} {}", rng.below(READ.into()))
            }
            6 => format!("add {to} {} {value}", rng.between(1, PACKETS.into())),
            7 => format!("urgent {to} {} {value}", rng.between(1, PACKETS.into())),
            8 => format!("word {to} {value}"),
            9 | 10 => format!("ask {to} {value} {}", rng.below(ANSWER.into())),
            11 => format!("call {to} {value} {}", rng.below(ANSWER.into())),
            12 => {
                let longest = [10, 200, u64::from(LONGEST_SPIN)][rng.below(3) as usize];
                format!("spin {}", rng.between(1, longest))
            }
            13 => format!("half {to} {value}"),
            14 => format!("nowhere {}", rng.between(pes, NUMBERS - 1)),
            _ => match rng.below(3) {
                0 => format!("form {to} {}", FORMS[rng.below(FORMS.len() as u64) as usize].0),
                1 => format!("beyond {to} {}", 0x2000 + rng.below(0x2000)),
                _ => format!("beyond-read {to} {}", rng.between(0x1_0000, PKT_W0_ADDR_MASK)),
            },
        }
    };
    (0..rng.below(COMMANDS as u64 + 1)).map(|_| command(rng)).collect()
}

/// A program that floods PE 0, or that of PE 0, which sends all the while.
pub(super) fn storm(rng: &mut Rng, own: u64, used: u64) -> Vec<String> {
    let command = |rng: &mut Rng| {
        let to = if own == 0 { rng.below(used) } else { 0 };
        let value = rng.below(1 << 16);
        match rng.below(4) {
            0 | 1 => format!(
                "reads {to} {PACKETS} {} {}",
                rng.below(SOURCES.into()),
                rng.below(READ.into())
            ),
            2 => format!("urgent {to} {PACKETS} {value}"),
            _ => format!("add {to} {PACKETS} {value}"),
        }
    };
    (0..COMMANDS).map(|_| command(rng)).collect()
}

/// A packet of a neighbour as it stands in a case: two words, then its input and channel.
fn forged(rng: &mut Rng) -> Fault {
    // A word of memory as often as one beyond.
    let words = [1 << 16, 1 << 22][rng.below(2) as usize];
    let mut packet = Packet {
        kind: Kind(rng.below(128) as u8),
        pe: rng.below(NUMBERS) as u16,
        addr: rng.below(words) as u32,
        tag: rng.below(128) as u8,
        data: rng.bits() as u32,
    };
    if !packet.is_malformed() {
        packet.addr |= 0x10_0000;
    }
    let [w0, w1] = packet.words();
    Fault::Packet(vec![w0, w1, rng.below(2), rng.below(SIZE_CHANNELS.into())])
}

/// `None`: no packet that each receiver must refuse.
pub(super) fn read_forged(words: &[u64]) -> Option<Forged> {
    let &[w0, w1, input, channel] = words else { return None };
    let packet = Packet::of([w0, w1]);
    let whole = w0 >> 39 == 0 && w1 >> 39 == 0;
    let refused = packet.is_malformed() || packet.addr >= 0x1_0000;
    let there = input < 2 && channel < SIZE_CHANNELS.into();
    (whole && refused && there).then_some(Forged {
        input: input as u8,
        channel: channel as u8,
        words: [w0, w1],
    })
}

pub(super) fn fault(rng: &mut Rng, pes: u64, period: Picos) -> Injection {
    let longest = [20, 200, 2000][rng.below(3) as usize];
    let span = period * rng.between(1, longest);
    let fault = match rng.below(9) {
        0 | 1 => Fault::LinkStalls(span),
        2 | 3 => Fault::MemoryStalls(span),
        4 | 5 => Fault::SoftwareSleeps(span),
        6 | 7 => forged(rng),
        _ => Fault::NicResets(span),
    };
    // Most programs have ended by then.
    let within = [HORIZON / 10, HORIZON / 3, HORIZON][rng.below(3) as usize];
    Injection {
        at: period * rng.below(within),
        node: NodeId(rng.below(pes) as u16),
        fault,
    }
}
