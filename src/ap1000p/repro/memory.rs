//! The memory controller: communication registers, translation, page faults.

use std::cell::Cell as Count;
use std::rc::Rc;

use super::lab::{HARDWARE, Lab, MeasureError, Sim, finish, flag, node, pattern, settle, wrong};
use crate::ap1000p::golden::creg;
use crate::ap1000p::golden::window;
use crate::ap1000p::host::layout::{DEMAND, Layout, PROCESS};
use crate::ap1000p::host::{CommandError, Fault, FaultKind, LIBRARY_REGISTERS, Transfer};
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::backend::EventKind;
use crate::harness::memory::Memory;
use crate::repro::row::{Origin, Spec};
use crate::{Addr, Picos};

pub fn c20(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 1)?;
    present_bits(lab, &mut sim)?;
    remote_registers(lab, &mut sim)?;
    source_registers(lab, &mut sim)
}

/// Every register empty, filled, full and emptied, by its own cell.
fn present_bits(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<(), MeasureError> {
    let bad = Rc::new(Count::new(0));
    let tried = Rc::new(Count::new(0));
    let (wrongs, accesses) = (bad.clone(), tried.clone());
    sim.spawn_checked(node(1), async move |cell| {
        let host = cell.host();
        host.reg_write(window::register(MODE), MODE_FAULT_HOST_MASK).await?;
        for register in 0..creg::WORDS as u8 {
            let (at, word) = (window::creg(register), 0x1234_0000 + u32::from(register));
            // Empty, filled, full, emptied, empty.
            let steps = [
                host.reg_read(at).await.is_err(),
                host.reg_write(at, word).await.is_ok(),
                host.reg_write(at, !word).await.is_err(),
                host.reg_read(at).await == Ok(word),
                host.reg_read(at).await.is_err(),
            ];
            wrongs.set(wrongs.get() + steps.iter().filter(|&&as_it_must| !as_it_must).count() as u32);
            accesses.set(accesses.get() + steps.len() as u32);
        }
        host.reg_write(window::register(MODE), 0).await
    });
    finish(sim)?;
    lab.none(
        "c20.bits",
        "accesses that disagree with the present bits",
        "accesses",
        bad.get(),
    );
    lab.done(
        "c20.tried",
        "accesses of the 128 registers",
        "accesses",
        640,
        tried.get(),
    );
    Ok(())
}

/// Remote accesses: each side waits for the other; a full register stops the words behind it.
fn remote_registers(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<(), MeasureError> {
    let count = u32::from(LIBRARY_REGISTERS);
    let got = Rc::new(Count::new((0, 0)));
    let (late, target) = (got.clone(), sim.cell(node(1)));
    sim.spawn_checked(node(0), async move |cell| {
        for round in 0..2 {
            cell.put_registers(node(1), Addr(0x1000 * round), count, 0, Some(flag(0)))
                .await?;
        }
        Ok::<_, CommandError>(())
    });
    sim.spawn_checked(node(1), async move |cell| {
        for round in 0..2 {
            for register in 0..LIBRARY_REGISTERS {
                let word = cell.register_read(register).await?;
                let (reads, bad) = late.get();
                let expected = pattern(0, 0x1000 * round + 4 * u32::from(register));
                late.set((reads + 1, bad + u32::from(word != expected)));
            }
            // The next words wait in the network meanwhile.
            target.host().delay(Picos::from_ns(3000)).await;
        }
        Ok::<_, CommandError>(())
    });
    finish(sim)?;
    let (reads, bad) = got.get();
    lab.none(
        "c20.remote",
        "words from the other cell that differ from the sent ones",
        "words",
        bad,
    );
    let all = f64::from(2 * count);
    lab.check(
        "c20.read",
        "words read while processor and network wait for each other",
        "words",
        (all, all),
        reads,
    );
    Ok(())
}

/// Registers as the source of a PUT and of a GET, both before the words are there.
fn source_registers(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<(), MeasureError> {
    let count = u32::from(LIBRARY_REGISTERS);
    sim.spawn_checked(node(0), async move |cell| {
        cell.put_from_registers(node(1), 0, count, Addr(0x3_0000), Some(flag(1)))
            .await?;
        cell.get_registers(node(1), 0, count, Addr(0x3_1000), Some(flag(1)))
            .await
    });
    for number in 0..2 {
        sim.spawn_checked(node(number), async move |cell| {
            cell.host().delay(Picos::from_ns(20_000)).await;
            for register in 0..LIBRARY_REGISTERS {
                let word = pattern(number, u32::from(register));
                cell.register_write(register, word).await?;
            }
            Ok::<_, CommandError>(())
        });
    }
    finish(sim)?;
    let mut bad = 0;
    for (from, to, at) in [(0, 1, 0x3_0000), (1, 0, 0x3_1000)] {
        let expected: Vec<u32> = (0..count).map(|register| pattern(from, register)).collect();
        bad += wrong(&sim.cell(node(to)), Addr(at), &expected);
    }
    lab.none(
        "c20.source",
        "words of registers that a PUT or a GET delivered wrong",
        "words",
        bad,
    );
    let flags = [0, 1].map(|number| sim.cell(node(number)).word(flag(1)));
    lab.check(
        "c20.sent",
        "PUTs and GETs of registers counted",
        "transfers",
        (2.0, 2.0),
        flags.iter().sum(),
    );
    Ok(())
}

/// Where the messages of `c25` go.
const DEST: Addr = Addr(0x3_0000);

pub fn c25(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 2)?;
    context_without_tables(lab, &mut sim)?;
    forged_commands(lab, &mut sim)
}

/// A context without tables sends from cell 0. Later it has tables there, but none at the destination. Other contexts
/// send to the same cell.
fn context_without_tables(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<(), MeasureError> {
    const STRANGER: u32 = 9;
    const WORDS: u32 = 200;
    let layout = Layout::new(lab.config()).expect("the system has booted");
    let put = |sim: &Sim, from: usize, dest: Addr| {
        sim.spawn_checked(node(from), async move |cell| {
            let (source, counts) = (Addr(0x1_0000), Some(flag(from as u32)));
            cell.put(node(3), source, WORDS, dest, counts, counts).await
        });
    };
    let (mut changed, mut others, mut counts) = (0, 0, 0);
    let mut faults = Vec::new();
    let place = |from: usize| Addr(DEST.0 + 0x1000 * from as u32);
    for side in 0..2 {
        let host = sim.cell(node(0)).host().clone();
        sim.spawn_checked(node(0), async move |_| {
            host.reg_write(window::register(CONTEXT), STRANGER).await
        });
        settle(sim)?;
        for from in 0..3 {
            put(sim, from, place(from));
        }
        settle(sim)?;
        faults.extend(sim.take_faults());
        let target = sim.cell(node(3));
        let old: Vec<u32> = (0..WORDS).map(|n| pattern(3, DEST.0 + 4 * n)).collect();
        changed += wrong(&target, DEST, &old);
        for from in 1..3 {
            let expected: Vec<u32> = (0..WORDS).map(|n| pattern(from, 0x1_0000 + 4 * n)).collect();
            others += wrong(&target, place(from), &expected);
            counts += target.word(flag(from as u32));
            target.set_words(place(from), &[0; WORDS as usize]);
        }
        counts += 0x100 * target.word(flag(0));
        if side == 0 {
            let own = sim.cell(node(0)).word(layout.context(PROCESS.into()));
            sim.cell(node(0)).set_word(layout.context(STRANGER), own);
        }
    }
    let of_stranger = |unit: usize, at: usize| {
        let is = |fault: &&Fault| {
            let address = matches!(fault.kind, FaultKind::Address { unit: by, context: STRANGER, .. } if by == unit);
            fault.node == node(at) && address
        };
        faults.iter().filter(is).count() as u32
    };
    lab.none(
        "c25.changed",
        "words changed by a context without tables",
        "words",
        changed,
    );
    lab.none(
        "c25.others",
        "words of other contexts that differ from the sent ones",
        "words",
        others,
    );
    lab.check(
        "c25.counts",
        "flags counted for the other contexts and for that one",
        "counts",
        (6.0, 6.0),
        counts,
    );
    // The faults reported to the system, and the range of cells.
    lab.bounds_by(Origin::Public);
    lab.check(
        "c25.sender",
        "faults of that context reported at its sender",
        "faults",
        (1.0, 1.0),
        of_stranger(0, 0),
    );
    lab.check(
        "c25.receiver",
        "faults of that context reported at its destination",
        "faults",
        (1.0, 1.0),
        of_stranger(2, 3),
    );
    Ok(())
}

/// Pages that only hardware writes, and cells that a user may not reach.
fn forged_commands(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<(), MeasureError> {
    let bare = |head: u32, length: u32| [head, length, DEST.0, 0, flag(3).0, 0, 0x1_0000, 0];
    let mut wrongs: Vec<window::Command> = (0..12)
        .map(|bit| bare(0, 1 | 1 << (COMMAND_LENGTH_CONTEXT_SHIFT + bit)))
        .collect();
    wrongs.extend((0..16).map(|bit| bare(1 << (COMMAND_HEAD_KIND_SHIFT + bit), 1)));
    // The range set below contains only the own cell.
    wrongs.extend([(1, 0), (0, 1), (1, 1), (-1, 0)].map(|(dx, dy): (i32, i32)| {
        let part = |distance: i32, shift: u32| (distance as u32 & 0xff) << shift;
        bare(part(dx, COMMAND_HEAD_DX_SHIFT) | part(dy, COMMAND_HEAD_DY_SHIFT), 1)
    }));
    let refused = wrongs.len() as u32;
    let count = Rc::new(Count::new(0));
    let counted = count.clone();
    sim.spawn_checked(node(0), async move |cell| {
        let host = cell.host();
        host.reg_write(window::register(CONTEXT), PROCESS.into()).await?;
        host.reg_write(window::register(ENABLE), 0).await?;
        host.reg_write(window::register(RANGE), 0).await?;
        for word in wrongs.into_iter().chain([bare(0, 1)]).flatten() {
            host.store(window::page(KIND_PUT), 4, word.into()).await?;
        }
        host.delay(Picos::from_ns(2000)).await;
        counted.set(host.reg_read(window::register(REFUSED_COUNT)).await? & REFUSED_COUNT_COUNT_MASK);
        host.reg_write(window::register(CAUSE), u32::MAX).await
    });
    finish(sim)?;
    let all = f64::from(refused);
    lab.check(
        "c25.refused",
        "commands refused: a forged context, a forged kind, a cell outside the range",
        "commands",
        (all, all),
        count.get(),
    );
    let reached: u32 = (1..4).map(|number| sim.cell(node(number)).word(flag(3))).sum();
    lab.none("c25.reached", "of these, executed", "commands", reached);
    let own = sim.cell(node(0)).word(flag(3));
    lab.check(
        "c25.own",
        "commands to the own cell, executed",
        "commands",
        (1.0, 1.0),
        own,
    );
    Ok(())
}

pub fn c26(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const BYTES: u32 = 4 << 20;
    let mut sim = lab.boot_with(2, 1, |config| config.mem_bytes = BYTES)?;
    let layout = Layout::new(&Config {
        mem_bytes: BYTES,
        ..lab.config().clone()
    });
    let layout = layout.expect("a multiple of 512 KB");
    // Two pages that share one of the 256 places for 4 KB pages, the page behind the first, and the page of 16 MB.
    let (first, rival) = (Addr(DEMAND + 0x1_0000), Addr(DEMAND + 0x11_0000));
    let next = Addr(first.0 + 0x1000);
    for addr in [first, rival, next] {
        sim.cell(node(0))
            .memory(|memory| assert!(layout.map(memory, addr.0), "user memory"));
    }
    let mut reads = Vec::new();
    let (mut bad, mut number) = (0, 0);
    let steps = [
        (first, 8),
        (first, 8),
        (rival, 8),
        (first, 8),
        (Addr(first.0 + 0xff0), 8),
        (Addr(0x1000), 8),
        (Addr(0x2000), 8),
    ];
    for (source, words) in steps {
        sim.backend_mut().take_events();
        sim.spawn_checked(node(0), async move |cell| {
            cell.put(node(1), source, words, Addr(0x3_0000), Some(flag(0)), None)
                .await
        });
        finish(&mut sim)?;
        number += 1;
        let events = sim.backend_mut().take_events();
        let of_tables =
            |kind| matches!(kind, EventKind::MemRead { addr, .. } if (layout.tables..layout.words).contains(&addr.0));
        let walks = events.iter().filter(|e| e.node == node(0) && of_tables(e.kind));
        reads.push(walks.count() as u32);
        let from = source.0 % DEMAND;
        let expected = sim.cell(node(0)).words(Addr(from), words);
        let there = sim.cell(node(1));
        bad += wrong(&there, Addr(0x3_0000), &expected) + u32::from(there.word(flag(0)) != number);
    }
    let row = |lab: &mut Lab<'_>, name, what, least, most, n: usize| {
        lab.check(name, what, "reads", (f64::from(least), f64::from(most)), reads[n]);
    };
    // The paper states that translations are kept; levels and places of tables and TLBs are the port's.
    row(lab, "c26.hit", "table words read for the same page again", 0, 0, 1);
    row(
        lab,
        "c26.large_hit",
        "table words read for the page of 256 KB again",
        0,
        0,
        6,
    );
    lab.none(
        "c26.data",
        "received words that differ from the sent ones",
        "words",
        bad,
    );
    lab.bounds_by(Origin::Public);
    row(
        lab,
        "c26.miss",
        "table words read for a new page of 4 KB: context and three levels",
        3,
        4,
        0,
    );
    row(
        lab,
        "c26.rival",
        "table words read for the page 256 further, which evicts it",
        3,
        3,
        2,
    );
    row(lab, "c26.evicted", "table words read for the first page again", 3, 3, 3);
    row(
        lab,
        "c26.crossing",
        "table words read for words that continue in the next page",
        3,
        3,
        4,
    );
    row(lab, "c26.large", "table words read for a new page of 256 KB", 1, 1, 5);
    lab.bounds_by(Origin::Paper);
    large_pages(lab)
}

/// Cells of 64 MB: a PUT between the ends of their user memories; then words of 64 pages of 256 KB, and of one more,
/// which has the place of the first.
fn large_pages(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const BYTES: u32 = 64 << 20;
    const PAGE: u32 = 256 << 10;
    const PLACES: u32 = 64;
    const WORDS: u32 = 16;
    let mut sim = lab.boot_with(2, 1, |config| config.mem_bytes = BYTES)?;
    let layout = Layout::new(&Config {
        mem_bytes: BYTES,
        ..lab.config().clone()
    });
    let layout = layout.expect("a multiple of 512 KB");
    let top = Addr(layout.user_end - 4 * WORDS);
    let numbers: Vec<u32> = (1..=WORDS).collect();
    sim.cell(node(0)).set_words(top, &numbers);
    sim.spawn_checked(node(0), async move |cell| {
        cell.put(node(1), top, WORDS, top, Some(flag(1)), None).await
    });
    finish(&mut sim)?;
    let bad = wrong(&sim.cell(node(1)), top, &numbers);
    lab.none(
        "c26.top",
        "words of a PUT between the ends of two user memories of 64 MB that differ",
        "words",
        bad,
    );
    let word = |page: u32| Addr(PAGE * page + 0x100);
    for page in 0..=PLACES {
        sim.cell(node(0)).set_word(word(page), page + 1);
    }
    let (mut reads, mut bad) = (Vec::new(), 0);
    for page in (0..PLACES).chain(0..PLACES).chain([PLACES, 0]) {
        sim.backend_mut().take_events();
        sim.spawn_checked(node(0), async move |cell| {
            cell.put(node(1), word(page), 1, Addr(0x3_0000), Some(flag(0)), None)
                .await
        });
        finish(&mut sim)?;
        let events = sim.backend_mut().take_events();
        let of_tables =
            |kind| matches!(kind, EventKind::MemRead { addr, .. } if (layout.tables..layout.words).contains(&addr.0));
        reads.push(events.iter().filter(|e| e.node == node(0) && of_tables(e.kind)).count() as u32);
        bad += u32::from(sim.cell(node(1)).word(Addr(0x3_0000)) != page + 1);
    }
    let second = reads[PLACES as usize..2 * PLACES as usize].iter().sum();
    lab.none("c26.large_data", "words of these pages that differ", "words", bad);
    lab.none(
        "c26.large_kept",
        "table words read for 64 pages of 256 KB, a second time in turn",
        "reads",
        second,
    );
    lab.bounds_by(Origin::Ours);
    lab.check(
        "c26.large_evicted",
        "table words read for the first of them again, after the page 64 further",
        "reads",
        (1.0, 1.0),
        reads[2 * PLACES as usize + 1],
    );
    lab.bounds_by(Origin::Paper);
    Ok(())
}

pub fn c27(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const WORDS: u32 = 3000;
    let mut sim = lab.boot(2, 1)?;
    sim.backend_mut().take_events();
    let start = sim.now();
    sim.spawn_checked(node(0), async |cell| {
        let transfer = Transfer {
            words: WORDS,
            source: Addr(DEMAND + 0x1_0ff0),
            source_flag: Some(Addr(DEMAND + flag(1).0)),
            dest: Addr(DEMAND + 0x3_0100),
            dest_flag: Some(Addr(DEMAND + flag(0).0)),
            ..Transfer::default()
        };
        cell.put_stride(node(1), &transfer).await
    });
    let seen = Rc::new(Count::new(Picos::ZERO));
    let (end, host) = (seen.clone(), sim.cell(node(1)).host().clone());
    sim.spawn(node(1), async move |_| {
        let counted = |memory: &Memory| memory.read(flag(0), 4) == Some(&1_u32.to_le_bytes());
        host.watch("the flag", counted).await;
        end.set(host.now());
    });
    finish(&mut sim)?;
    let events = sim.backend_mut().take_events();
    let faults = |number| {
        let up =
            |e: &&crate::harness::backend::Event| e.node == node(number) && e.kind == EventKind::Irq { level: true };
        events.iter().filter(up).count() as u32
    };
    let expected: Vec<u32> = (0..WORDS).map(|n| pattern(0, 0x1_0ff0 + 4 * n)).collect();
    let bad = wrong(&sim.cell(node(1)), Addr(0x3_0100), &expected);
    lab.bounds_by(Origin::Public);
    lab.none(
        "c27.data",
        "received words that differ from the sent ones",
        "words",
        bad,
    );
    let flags = sim.cell(node(1)).word(flag(0)) + 0x100 * sim.cell(node(0)).word(flag(1));
    lab.check(
        "c27.flags",
        "flags counted, each once, behind faults of their own",
        "sum",
        (257.0, 257.0),
        flags,
    );
    let time = Spec::new(
        "c27.took",
        "time to the flag of 3000 words with four unmapped pages on either side",
        "us",
    );
    let software = ["call", "store_cycles", "interrupt", "page_service"];
    lab.row(time.depends(&HARDWARE).depends(&software), (seen.get() - start).as_us());
    lab.tried("c27.sender", "interrupts of the sender", "interrupts", 4, faults(0));
    lab.tried("c27.receiver", "interrupts of the receiver", "interrupts", 4, faults(1));
    Ok(())
}
