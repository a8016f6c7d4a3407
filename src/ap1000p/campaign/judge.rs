//! The specification: what memories, flags, rings and reports may show at the end of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::forged::Told;
use super::software::Notes;
use super::{
    ATOMIC, Command, END, FLAGS, FORGED, Play, SOURCE, get_flag, get_window, guest, put_flag, put_window, remote_window,
};
use crate::ap1000p::host::FaultKind;
use crate::ap1000p::regs::*;
use crate::campaign::memory::Allowed;
use crate::campaign::{Broken, Clause};
use crate::harness::faults::Fault;
use crate::harness::linear::explain;
use crate::{Addr, NodeId};

impl Play<'_> {
    /// All flags, by cell and address.
    pub(super) fn flags(&self) -> BTreeMap<(usize, u32), u32> {
        let mut flags = BTreeMap::new();
        for number in 0..self.sim.cells() {
            let cell = self.sim.cell(NodeId(number as u16));
            for other in 0..self.sim.cells() {
                for flag in [put_flag(other), get_flag(other)] {
                    flags.insert((number, flag.0), cell.word(flag));
                }
            }
        }
        flags
    }

    fn memory_failed(&self) -> bool {
        let fails = |fault: &Fault| matches!(fault, Fault::MemoryFails { .. });
        self.case.faults.iter().any(|injection| fails(&injection.fault))
    }

    /// Checks everything; gives the number of messages that were lost.
    pub(super) fn judge(&mut self) -> Result<u64, Broken> {
        let told = self.counts()?;
        let notes = self.notes.borrow();
        let mut due: BTreeMap<(usize, u32), u32> = self.flags().into_keys().map(|key| (key, 0)).collect();
        for (issuer, command) in &notes.issued {
            if let Some((key, true)) = flag_of(*issuer, command) {
                *due.entry(key).or_default() += 1;
            }
        }
        let (mut lost, mut complete) = (0, BTreeSet::new());
        for (key, count) in self.flags() {
            let due = due[&key];
            if count > due || (count < due && !self.memory_failed()) {
                let what = format!("cell {}: the flag at {:#x} is {count}, not {due}", key.0, key.1);
                return Err(Broken::new(Clause::Loss, what));
            }
            lost += u64::from(due - count);
            if count == due {
                complete.insert(key);
            }
        }
        let full = self.full_rings();
        lost += self.judge_rings(&notes, &full)?;
        self.judge_reports(&notes, lost, &told)?;
        for number in 0..self.sim.cells() {
            self.judge_memory(&notes, number, &complete)?;
            if self.tables_of(number) != self.tables[number] {
                let what = format!("cell {number}: the tables of the guests have changed");
                return Err(Broken::new(Clause::Memory, what));
            }
        }
        if self.has_guests()
            && let Some((cell, at, word)) =
                guest::leak(&self.before, |cell| self.sim.cell(cell).host().read(Addr(0), END))
        {
            let what = format!("cell {cell}: a guest has {word:#x} at {at:#x}, a word of others");
            return Err(Broken::new(Clause::Memory, what));
        }
        for (home, calls) in &notes.calls {
            let last = self.sim.cell(NodeId(*home as u16)).word(ATOMIC);
            let apply = |operation: &[u32; 2], word: u32| word & operation[0] | operation[1];
            let explained = explain(calls, 0, last, apply);
            explained.map_err(|why| Broken::new(Clause::Order, format!("atomics of cell {home}: {why}; {calls:?}")))?;
        }
        Ok(lost)
    }

    /// By cell: messages that were given up, for which ring and overflow had no room.
    fn full_rings(&self) -> Vec<u32> {
        let mut full = vec![0; self.sim.cells()];
        for fault in &self.reported {
            full[fault.node.index()] += u32::from(matches!(fault.kind, FaultKind::RingFull { .. }));
        }
        full
    }

    /// Messages were taken in their order, each once and whole; gives the number of those that were not taken.
    fn judge_rings(&self, notes: &Notes, full: &[u32]) -> Result<u64, Broken> {
        let mut missing = vec![0; self.sim.cells()];
        for (&(from, to), sent) in &notes.sent {
            missing[to] += sent.len() as u32;
            let mut next = 0;
            for (number, words) in notes.taken.get(&(from, to)).into_iter().flatten() {
                let message = format!("message {number} of cell {from} to cell {to}");
                let Some(&(count, at)) = sent.get(*number as usize).filter(|_| *number >= next) else {
                    let what = format!(
                        "{message} was taken where number {next} or a later one of {} may be",
                        sent.len()
                    );
                    return Err(Broken::new(Clause::Order, what));
                };
                next = number + 1;
                missing[to] -= 1;
                let source = (SOURCE.start + at) as usize;
                let data = &self.before[from][source..source + 4 * count as usize];
                if data != words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>() {
                    return Err(Broken::new(
                        Clause::Memory,
                        format!("{message} has other words than were sent"),
                    ));
                }
            }
        }
        if let Some(stranger) = notes.taken.keys().find(|pair| !notes.sent.contains_key(pair)) {
            let what = format!(
                "cell {} took a message of cell {}, which sent none",
                stranger.1, stranger.0
            );
            return Err(Broken::new(Clause::Order, what));
        }
        for (cell, (&missing, &full)) in missing.iter().zip(full).enumerate() {
            if missing < full || (missing > full && !self.memory_failed()) {
                let what =
                    format!("cell {cell}: {missing} messages did not come, and {full} were given up by a full ring");
                return Err(Broken::new(Clause::Loss, what));
            }
        }
        Ok(missing.iter().map(|&missing| u64::from(missing)).sum())
    }

    /// Each loss and each refusal is reported, and nothing else.
    fn judge_reports(&self, notes: &Notes, lost: u64, told: &Told) -> Result<(), Broken> {
        let wrong = |what: String| Err(Broken::new(Clause::Report, what));
        // Each report has the cell's count until then.
        let (mut refused, mut others) = (vec![0; self.sim.cells()], vec![0_u64; self.sim.cells()]);
        for fault in &self.reported {
            match fault.kind {
                FaultKind::Refused { count, .. } => refused[fault.node.index()] = count,
                // Only a state of the spill region.
                FaultKind::Other { cause: CAUSE_FULL_MASK } => {}
                _ => others[fault.node.index()] += 1,
            }
        }
        if refused != notes.refused {
            let due = &notes.refused;
            return wrong(format!(
                "by cell, {due:?} stores and commands to be refused, {refused:?} reported"
            ));
        }
        let mut due = self.due();
        let full = self.full_rings();
        due.broken.iter_mut().zip(&full).for_each(|(due, full)| *due += full);
        let whole = !self.memory_failed();
        let fits = |due: &[u32], is: &[u32], exactly: bool| {
            due.iter()
                .zip(is)
                .all(|(due, is)| if exactly { due == is } else { due <= is })
        };
        // Memory may lose an answer on its way.
        let sound = fits(&due.broken, &told.broken, whole && !self.has_guests())
            && (!whole || due.stray == told.stray && due.drained == told.drained);
        if !sound {
            return wrong(format!(
                "forged packets are to be told as {due:?}, and the cells count {told:?}"
            ));
        }
        for (number, &others) in others.iter().enumerate() {
            if others == 0 && (told.broken[number] > 0 || told.stray[number] > 0) {
                return wrong(format!(
                    "cell {number} counts broken or stray messages, and reports none: {told:?}"
                ));
            }
        }
        let others: u64 = others.iter().sum();
        let expected = !whole || self.has_guests() || due != Told::new(self.sim.cells());
        if (others > 0 && !expected) || (others == 0 && lost > 0) {
            return wrong(format!(
                "{lost} messages lost, {others} faults reported: {:?}",
                self.reported
            ));
        }
        Ok(())
    }

    /// Reports of the forged packets.
    fn due(&self) -> Told {
        let mut due = Told::new(self.sim.cells());
        let torus = self.sim.cell(NodeId(0)).torus();
        for injection in &self.case.faults {
            match &injection.fault {
                Fault::Packet(words) if self.forges && injection.node.index() < self.sim.cells() => {
                    due.add(torus, injection.node.index(), words);
                }
                _ => {}
            }
        }
        due
    }

    /// No byte has changed but those that may. The flags of `complete` have counted all messages that count them.
    fn judge_memory(&self, notes: &Notes, number: usize, complete: &BTreeSet<(usize, u32)>) -> Result<(), Broken> {
        let now = self.sim.cell(NodeId(number as u16)).host().read(Addr(0), END);
        let before = &self.before[number];
        let whole = !self.memory_failed();
        let guests = self.has_guests();
        let mut may = Allowed::default();
        for (issuer, command) in &notes.issued {
            let (from, at, transfer) = match *command {
                Command::Put { to, transfer, .. } if to == number => (*issuer, put_window(*issuer), transfer),
                Command::Get { of, transfer, .. } if *issuer == number => (of, get_window(of), transfer),
                _ => continue,
            };
            let counted = flag_of(*issuer, command).is_some_and(|(place, counts)| counts && complete.contains(&place));
            let source = (SOURCE.start + transfer.from) as usize;
            let data = &self.before[from][source..source + 4 * transfer.words as usize];
            for (at, &byte) in (at + transfer.at..).zip(data) {
                // Messages of a pair come in their order; one that failed may have left anything of its own.
                if whole || counted {
                    may.only(at, [byte]);
                } else {
                    may.or(at, before[at as usize], [byte]);
                }
            }
        }
        let here = notes.remote.iter().filter(|((_, to), _)| *to == number);
        for ((issuer, _), window) in here {
            for (at, &byte) in (remote_window(*issuer)..).zip(window) {
                may.only(at, [byte]);
            }
        }
        may.judge(&format!("cell {number}"), &now, before, |at| {
            (FLAGS..FLAGS + 0x104).contains(&at)
                // No flag of a forged packet.
                || (self.forges && (FORGED..FORGED + 0xff0).contains(&at))
                || (guests && (0..guest::GUESTS).any(|guest| guest::own(guest).contains(&at)))
        })
    }
}

/// The cell and the address of the flag of a command's kind and cells, and whether the command counts it. Messages of
/// one such place come in their order.
pub(super) fn flag_of(issuer: usize, command: &Command) -> Option<((usize, u32), bool)> {
    match *command {
        Command::Put { to, flag, .. } => Some(((to, put_flag(issuer).0), flag)),
        Command::Get { of, .. } => Some(((issuer, get_flag(of).0), true)),
        _ => None,
    }
}
