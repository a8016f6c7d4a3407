//! Faults of a node and of its surroundings, injected at instants of simulated time: its memory, its links, its NIC,
//! its neighbours, its software.
//!
//! An [`Injection`] can be written by hand:
//!
//! ```text
//! 12000ns 3 memory-stalls 400ns
//! 15000ns 0 memory-fails 0x20000 64 2000ns
//! ```

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::{Addr, NodeId, Picos};

/// A fault of one node or its surroundings. Each ends by itself, after its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The memory moves no word and gives no response.
    MemoryStalls(Picos),
    /// The memory takes no command.
    MemoryRefuses(Picos),
    /// The memory answers with a bus error where a NIC touches these bytes.
    MemoryFails { from: Addr, bytes: u32, span: Picos },
    /// The node's links stand still, both ways.
    LinkStalls(Picos),
    /// The NIC is held in reset, together with its end of the memory bus. A packet that it was sending ends early.
    NicResets(Picos),
    /// A neighbour sends this packet on the node's link into the network, a word a flit, between two of the node's own.
    Packet(Vec<u64>),
    /// The operating system takes these bytes' pages from a user, and gives them back.
    PagesGone { from: Addr, bytes: u32, span: Picos },
    /// Software does not look at the NIC.
    SoftwareSleeps(Picos),
    /// The processor takes no interrupts.
    InterruptsMasked(Picos),
}

impl Fault {
    /// Names of all kinds, as they are written.
    pub const NAMES: [&str; 9] = [
        "memory-stalls",
        "memory-refuses",
        "memory-fails",
        "link-stalls",
        "nic-resets",
        "packet",
        "pages-gone",
        "software-sleeps",
        "interrupts-masked",
    ];

    /// The name of its kind.
    pub fn name(&self) -> &'static str {
        let at = match self {
            Fault::MemoryStalls(_) => 0,
            Fault::MemoryRefuses(_) => 1,
            Fault::MemoryFails { .. } => 2,
            Fault::LinkStalls(_) => 3,
            Fault::NicResets(_) => 4,
            Fault::Packet(_) => 5,
            Fault::PagesGone { .. } => 6,
            Fault::SoftwareSleeps(_) => 7,
            Fault::InterruptsMasked(_) => 8,
        };
        Fault::NAMES[at]
    }

    /// How long it lasts; nothing for a packet.
    pub fn span(&self) -> Picos {
        match *self {
            Fault::MemoryStalls(span)
            | Fault::MemoryRefuses(span)
            | Fault::MemoryFails { span, .. }
            | Fault::LinkStalls(span)
            | Fault::NicResets(span)
            | Fault::PagesGone { span, .. }
            | Fault::SoftwareSleeps(span)
            | Fault::InterruptsMasked(span) => span,
            Fault::Packet(_) => Picos::ZERO,
        }
    }
}

/// A fault, with its place and its instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    pub at: Picos,
    pub node: NodeId,
    pub fault: Fault,
}

/// Why a line is no injection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    #[error("`{0}`: an injection is an instant, a node, a kind and a span, as `12000ns 3 memory-stalls 400ns`")]
    Line(String),
    #[error("`{kind}` is no kind of fault; known: {}", Fault::NAMES.join(", "))]
    Kind { kind: String },
    #[error("`{0}` is no time in whole nanoseconds, as `400ns`")]
    Time(String),
    #[error("`{0}` is no number of 32 bits, or of 64 in a packet")]
    Number(String),
    #[error("{bytes} bytes from {from:#x}: a range has at least one byte, and ends within 4 GiB")]
    Range { from: u32, bytes: u32 },
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Injection { at, node, fault } = self;
        write!(f, "{}ns {} {}", at.0 / 1000, node.0, fault.name())?;
        match fault {
            Fault::Packet(words) => return words.iter().try_for_each(|word| write!(f, " {word:#x}")),
            Fault::MemoryFails { from, bytes, .. } | Fault::PagesGone { from, bytes, .. } => {
                write!(f, " {:#x} {bytes}", from.0)?;
            }
            _ => {}
        }
        write!(f, " {}ns", fault.span().0 / 1000)
    }
}

impl FromStr for Injection {
    type Err = PlanError;

    fn from_str(line: &str) -> Result<Injection, PlanError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [at, node, kind, ref rest @ ..] = words[..] else {
            return Err(PlanError::Line(line.into()));
        };
        let span = || rest.last().map_or(Err(PlanError::Line(line.into())), |word| time(word));
        let fault = match (kind, rest) {
            ("memory-fails" | "pages-gone", [from, bytes, _]) => {
                let (from, bytes, span) = (address(from)?, address(bytes)?, span()?);
                if bytes == 0 || from.checked_add(bytes).is_none() {
                    return Err(PlanError::Range { from, bytes });
                }
                let from = Addr(from);
                match kind {
                    "memory-fails" => Fault::MemoryFails { from, bytes, span },
                    _ => Fault::PagesGone { from, bytes, span },
                }
            }
            ("packet", [_, ..]) => Fault::Packet(rest.iter().map(|word| number(word)).collect::<Result<_, _>>()?),
            ("nic-resets", [_]) => Fault::NicResets(span()?),
            ("memory-stalls", [_]) => Fault::MemoryStalls(span()?),
            ("memory-refuses", [_]) => Fault::MemoryRefuses(span()?),
            ("link-stalls", [_]) => Fault::LinkStalls(span()?),
            ("software-sleeps", [_]) => Fault::SoftwareSleeps(span()?),
            ("interrupts-masked", [_]) => Fault::InterruptsMasked(span()?),
            (kind, _) if Fault::NAMES.contains(&kind) => return Err(PlanError::Line(line.into())),
            (kind, _) => return Err(PlanError::Kind { kind: kind.into() }),
        };
        let node = node.parse().map_err(|_| PlanError::Number(node.into()))?;
        Ok(Injection {
            at: time(at)?,
            node: NodeId(node),
            fault,
        })
    }
}

fn time(word: &str) -> Result<Picos, PlanError> {
    let ns = word.strip_suffix("ns").and_then(|ns| ns.parse::<u32>().ok());
    ns.map(|ns| Picos::from_ns(ns.into()))
        .ok_or_else(|| PlanError::Time(word.into()))
}

fn address(word: &str) -> Result<u32, PlanError> {
    number(word).and_then(|number| u32::try_from(number).map_err(|_| PlanError::Number(word.into())))
}

fn number(word: &str) -> Result<u64, PlanError> {
    let parsed = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => word.parse(),
    };
    parsed.map_err(|_| PlanError::Number(word.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_injection_is_read_as_it_is_written() {
        let span = Picos::from_ns(400);
        let fails = Fault::MemoryFails {
            from: Addr(0x2_0000),
            bytes: 64,
            span,
        };
        let gone = Fault::PagesGone {
            from: Addr(0x3000),
            bytes: 4096,
            span,
        };
        let all = [
            Fault::MemoryStalls(span),
            Fault::MemoryRefuses(span),
            fails,
            Fault::LinkStalls(span),
            Fault::NicResets(span),
            Fault::Packet(vec![0x12, 0xffff_ffff_ffff_ffff]),
            gone,
            Fault::SoftwareSleeps(span),
            Fault::InterruptsMasked(span),
        ];
        assert_eq!(all.each_ref().map(Fault::name), Fault::NAMES);
        for fault in all {
            let injection = Injection {
                at: Picos::from_ns(12_000),
                node: NodeId(3),
                fault,
            };
            assert_eq!(injection.to_string().parse(), Ok(injection));
        }
    }

    #[test]
    fn a_wrong_line_is_named_with_its_mend() {
        let error = |line: &str| line.parse::<Injection>().unwrap_err().to_string();
        assert!(error("12ns 3").contains("`12ns 3`: an injection is"));
        assert!(error("12ns 3 memory-naps 4ns").contains("known: memory-stalls, "));
        assert!(error("12 3 link-stalls 4ns").contains("`12` is no time"));
        assert!(error("12ns x link-stalls 4ns").contains("`x` is no number"));
        assert!(error("12ns 1 memory-fails 4ns").contains("an injection is"));
        assert!(error("12ns 1 packet").contains("an injection is"));
        assert!(error("12ns 1 memory-fails 0xffffffff 2 4ns").contains("2 bytes from 0xffffffff"));
        assert!(error("12ns 1 memory-fails 8 0 4ns").contains("at least one byte"));
        assert!(error("12ns 1 pages-gone 0x1ffffffff 4 4ns").contains("`0x1ffffffff` is no number"));
    }
}
