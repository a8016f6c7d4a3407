//! What must come of a case, and whether it has.

use std::collections::{BTreeMap, BTreeSet};

use super::draw::Command;
use super::{
    ANSWERS, END, HALVES, Loaded, MEMORY, MOST_PES, PROGRAM, READS, SERVE, SOURCE, SUMS, TYPES, WINDOW, WINDOWS,
};
use crate::campaign::{Broken, Case, Clause};
use crate::emx::backend::{Counts, Forged};
use crate::emx::golden::route::{Path, Place, Shape, channel_beyond};
use crate::emx::library::layout;
use crate::emx::packet::Packet;
use crate::emx::params::Config;
use crate::emx::regs::{REASON_NOWHERE, REASON_OVERRUN, REASON_RANGE, REASON_TYPE};
use crate::harness::seed::Seed;

/// Reasons that are judged.
const REASONS: [u32; 4] = [REASON_TYPE, REASON_RANGE, REASON_OVERRUN, REASON_NOWHERE];

/// Where a neighbour's packet ends: `None` if a switch throws it away.
fn goal(shape: Shape, pe: u32, forged: &Forged) -> Option<u32> {
    let (mut at, mut channel) = (shape.place(pe)?, u32::from(forged.channel));
    let mut path = Path(Packet::of(forged.words).pe);
    while path != Path::HERE {
        let (output, rest) = path.next()?;
        channel = channel_beyond(at.column, channel)?;
        at = shape.link(at, output).0;
        path = rest;
    }
    let is_at = |place: Place| place == at;
    (0..shape.pes()).find(|pe| shape.place(*pe).is_some_and(is_at))
}

/// The programs of a case, and what must come of them.
pub(super) struct Expected {
    pub(super) programs: Vec<Vec<Command>>,
    pub(super) before: Vec<Vec<u32>>,
    /// By PE: what words may hold that may change.
    pub(super) words: Vec<BTreeMap<u32, BTreeSet<u32>>>,
    /// By PE and reason.
    pub(super) refused: Vec<[u64; REASONS.len()]>,
    /// By receiver and sender: word messages in their order.
    messages: Vec<Vec<Vec<u32>>>,
    /// Neighbours' packets that arrive.
    forged: u64,
}

impl Expected {
    pub(super) fn new(case: &Case, config: &Config) -> Expected {
        let pes = config.pes() as usize;
        let words = |pe| {
            let mut rng = Seed(case.chance).stream(&format!("memory {pe}"));
            (MEMORY..END).map(|_| rng.bits() as u32).collect()
        };
        let parsed = |program: &Vec<String>| program.iter().filter_map(|text| Command::parse(text)).collect();
        let mut programs: Vec<Vec<Command>> = case.programs.iter().map(parsed).collect();
        programs.resize(config.used as usize, Vec::new());
        let mut expected = Expected {
            programs: programs.clone(),
            before: (0..pes).map(words).collect(),
            words: vec![BTreeMap::new(); pes],
            refused: vec![[0; REASONS.len()]; pes],
            messages: vec![vec![Vec::new(); MOST_PES as usize]; pes],
            forged: 0,
        };
        for (own, program) in (0..).zip(&programs) {
            program.iter().for_each(|command| expected.add(own, command));
        }
        expected
    }

    fn before(&self, pe: u32, addr: u32) -> u32 {
        self.before[pe as usize][(addr - MEMORY) as usize]
    }

    fn is(&mut self, pe: u32, addr: u32, value: u32) {
        self.words[pe as usize].insert(addr, [value].into());
    }

    fn refuses(&mut self, pe: u32, reason: u32) {
        let at = REASONS.iter().position(|other| *other == reason).expect("it is judged");
        self.refused[pe as usize][at] += 1;
    }

    /// What a command does that is legal, or not.
    pub(super) fn add(&mut self, own: u32, command: &Command) {
        let window = WINDOWS + WINDOW * own;
        match *command {
            Command::Spin(_) => (),
            Command::Write { to, at, value } => self.is(to, window + at, value),
            Command::Block { to, words, from, at } => (0..words).for_each(|word| {
                let value = self.before(own, SOURCE + from + word);
                self.is(to, window + at + word, value);
            }),
            // Answers from several PEs may come in any order.
            Command::Read { of, from, at, .. } => {
                let value = self.before(of, SOURCE + from);
                self.words[own as usize].entry(READS + at).or_default().insert(value);
            }
            Command::Add { to, packets, value, .. } => {
                let addr = SUMS + own;
                let sum = self.words[to as usize]
                    .get(&addr)
                    .and_then(|values| values.first().copied());
                let sum = sum.unwrap_or_else(|| self.before(to, addr));
                self.is(to, addr, sum.wrapping_add(value * packets));
            }
            Command::Word { to, value } => self.messages[to as usize][own as usize].push(own << 16 | value),
            Command::Ask { to, value, at } => {
                // The first operand waited in its slot.
                self.is(to, SERVE + 8 + own, value);
                self.is(own, ANSWERS + at, value.wrapping_mul(2).wrapping_add(1));
            }
            Command::Call { value, at, .. } => self.is(own, ANSWERS + at, value.wrapping_mul(3).wrapping_add(7)),
            Command::Nowhere(_) => self.refuses(own, REASON_NOWHERE),
            Command::Form { to, .. } => self.refuses(to, REASON_TYPE),
            Command::Beyond { to, .. } => self.refuses(to, REASON_RANGE),
            Command::Half { to, value } => {
                let addr = HALVES + 1 + own;
                if self.words[to as usize].contains_key(&addr) {
                    self.refuses(to, REASON_OVERRUN);
                } else {
                    self.is(to, addr, value);
                }
            }
        }
    }

    /// A neighbour's packet that comes to a PE.
    pub(super) fn comes(&mut self, shape: Shape, pe: u32, forged: &Forged) {
        if let Some(goal) = goal(shape, pe, forged) {
            let malformed = Packet::of(forged.words).is_malformed();
            self.refuses(goal, if malformed { REASON_TYPE } else { REASON_RANGE });
            self.forged += 1;
        }
    }
}

/// Judges results, memories, messages and counts.
pub(super) fn judge(machine: &mut Loaded, expected: &Expected, told: &[u32]) -> Result<(), Broken> {
    let done: Vec<u32> = expected.programs.iter().map(|program| program.len() as u32).collect();
    if *told != done[..told.len()] {
        let what = format!("programs of {done:?} commands told that they did {told:?}");
        return Err(Broken::new(Clause::Report, what));
    }
    let mut all = Counts::default();
    let used = machine.machine.words_of_all(MEMORY, PROGRAM - MEMORY);
    let halves = machine.machine.words_of_all(HALVES + 1, MOST_PES);
    for (pe, now) in (0..).zip(used.iter().zip(&halves)) {
        memory(expected, pe, now)?;
        messages(machine, expected, pe)?;
        let counts = machine.machine.counts(pe);
        let refused = REASONS.map(|reason| counts.refused[reason as usize]);
        if refused != expected.refused[pe as usize] {
            let what = format!("PE {pe} refused {refused:?} packets by TYPE, RANGE, OVERRUN and NOWHERE");
            let what = format!("{what}, and not {:?}", expected.refused[pe as usize]);
            return Err(Broken::new(Clause::Report, what));
        }
        all.sent += counts.sent;
        all.received += counts.received;
        all.refused[REASON_NOWHERE as usize] += counts.refused[REASON_NOWHERE as usize];
    }
    let left = all.sent - all.refused[REASON_NOWHERE as usize] + expected.forged;
    if all.received < left {
        let what = format!(
            "{} packets arrived, of {left} that PEs and neighbours sent",
            all.received
        );
        return Err(Broken::new(Clause::Loss, what));
    }
    Ok(())
}

/// The words of a PE as they are now: those that programs use, and operands that never meet.
fn memory(expected: &Expected, pe: u32, (used, halves): (&Vec<u32>, &Vec<u32>)) -> Result<(), Broken> {
    let used = (MEMORY..).zip(used).filter(|(addr, _)| *addr != SERVE);
    let now = used.chain((HALVES + 1..).zip(halves));
    for (addr, &is) in now {
        let was = if addr < MEMORY { 0 } else { expected.before(pe, addr) };
        let fits = match expected.words[pe as usize].get(&addr) {
            Some(values) => values.contains(&is),
            None => is == was,
        };
        if !fits {
            let may = expected.words[pe as usize].get(&addr);
            let what = format!("PE {pe}: {addr:#x} holds {is:#x}, was {was:#x}, may hold {may:x?}");
            return Err(Broken::new(Clause::Memory, what));
        }
    }
    Ok(())
}

/// Word messages stand in the rings of their types, those of a sender in their order.
fn messages(machine: &mut Loaded, expected: &Expected, pe: u32) -> Result<(), Broken> {
    let mut left = expected.messages[pe as usize].clone();
    left.iter_mut().for_each(|words| words.reverse());
    for kind in 0..TYPES {
        if left
            .iter()
            .skip(kind as usize)
            .step_by(TYPES as usize)
            .all(Vec::is_empty)
        {
            continue;
        }
        let (ring, tail) = (
            layout::RINGS + layout::RING * kind,
            machine.machine.word(pe, layout::QUEUES + 4 * kind + 1),
        );
        let count = tail.saturating_sub(ring).min(layout::RING);
        for word in machine.machine.words(pe, ring, count) {
            let from = word >> 16;
            let next = left.get_mut(from as usize).and_then(Vec::pop);
            if next != Some(word) {
                let what = format!("PE {pe} got the word message {word:#x}, and not {next:x?} of PE {from}");
                return Err(Broken::new(Clause::Order, what));
            }
        }
    }
    match left.iter().position(|words| !words.is_empty()) {
        None => Ok(()),
        Some(from) => {
            let what = format!("PE {pe}: {} word messages of PE {from} did not come", left[from].len());
            Err(Broken::new(Clause::Loss, what))
        }
    }
}
