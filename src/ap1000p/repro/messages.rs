//! Commands, PUT and GET.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use super::lab::{FLAGS, HARDWARE, Lab, MeasureError, Sim, finish, flag, node, pattern, settle, wrong};
use super::path;
use crate::ap1000p::golden::address_runs::places;
use crate::ap1000p::golden::page::Page;
use crate::ap1000p::golden::window;
use crate::ap1000p::host::{Along, By, Cell, CommandError, Stride, Transfer};
use crate::ap1000p::regs::*;
use crate::harness::backend::EventKind;
use crate::harness::memory::Memory;
use crate::harness::seed::Seed;
use crate::repro::row::{Origin, Spec};
use crate::{Addr, Picos};

/// The initial words of a cell's memory.
fn words(cell: usize, at: u32, count: u32) -> Vec<u32> {
    (0..count).map(|n| pattern(cell, at + 4 * n)).collect()
}

pub fn c1(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const LENGTHS: [u32; 7] = [0, 1, 2, 255, 256, 257, 1000];
    let (mut bad, mut flags, mut moved) = (0, 0, 0);
    let mut sim = lab.boot(2, 2)?;
    for to in 0..4 {
        let place = |n: u32| 0x3_0000 + 0x1000 * n + 4 * n;
        sim.spawn_checked(node(1), async move |cell| {
            for (n, words) in (0..).zip(LENGTHS) {
                let (source, receives, sends) = (Addr(0x1_0004 + 0x1000 * n), flag(2 * n), flag(2 * n + 1));
                cell.put(node(to), source, words, Addr(place(n)), Some(receives), Some(sends))
                    .await?;
            }
            Ok::<_, CommandError>(())
        });
        finish(&mut sim)?;
        let (here, there) = (sim.cell(node(1)), sim.cell(node(to)));
        for (n, length) in (0..).zip(LENGTHS) {
            bad += wrong(&there, Addr(place(n)), &words(1, 0x1_0004 + 0x1000 * n, length));
            moved += length;
            flags += u32::from(there.word(flag(2 * n)) != 1) + u32::from(here.word(flag(2 * n + 1)) != 1);
            for cell in [&here, &there] {
                cell.set_words(flag(2 * n), &[0, 0]);
            }
        }
    }
    lab.none("c1.data", "received words that differ from the sent ones", "words", bad);
    lab.none("c1.flags", "flags that did not count exactly once", "flags", flags);
    lab.tried("c1.moved", "words sent", "words", 4 * 1771, moved);
    Ok(())
}

/// The command of a PUT of one word from address 0 of cell 0 to its neighbour, cell 1; it counts the first flag.
fn bare(source: u32, dest: u32) -> window::Command {
    [1 << COMMAND_HEAD_DX_SHIFT, 1, dest, 0, flag(0).0, 0, source, 0]
}

async fn store(cell: &Cell, words: &[u32]) -> Result<(), CommandError> {
    for &word in words {
        cell.store_to_page(KIND_PUT, word).await?;
    }
    Ok(())
}

pub fn c2(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 1)?;
    let command = bare(0, 0x3_0000);
    sim.spawn_checked(node(0), async move |cell| store(&cell, &command[..7]).await);
    sim.run(super::lab::bound(&sim))?;
    sim.pass(Picos::from_ns(20_000))?;
    let early = sim.cell(node(1)).word(flag(0));
    sim.spawn_checked(node(0), async move |cell| store(&cell, &command[7..]).await);
    finish(&mut sim)?;
    let late = sim.cell(node(1)).word(flag(0));
    lab.none("c2.seven", "PUTs executed after seven words", "PUTs", early);
    lab.check(
        "c2.eight",
        "PUTs executed after the eighth word",
        "PUTs",
        (1.0, 1.0),
        late,
    );
    Ok(())
}

/// Checks a word after every event, and counts how often it changed and how often it fell.
pub(super) fn follow(seen: &Rc<RefCell<(u32, u32, u32)>>, at: Addr) -> impl FnMut(&Memory) -> bool + use<> {
    let seen = seen.clone();
    move |memory| {
        let bytes = memory.read(at, 4).expect("in memory");
        let now = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let (last, changes, back) = *seen.borrow();
        if now != last {
            *seen.borrow_mut() = (now, changes + 1, back + u32::from(now < last));
        }
        false
    }
}

pub fn c3(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const COMMANDS: u32 = 40;
    let dest = Addr(0x3_0000);
    let mut sim = lab.boot(2, 1)?;
    let numbers: Vec<u32> = (1..=COMMANDS).collect();
    sim.cell(node(0)).set_words(Addr(0), &numbers);
    sim.cell(node(1)).set_word(dest, 0);
    let seen = Rc::new(RefCell::new((0, 0, 0)));
    let looks = follow(&seen, dest);
    let host = sim.cell(node(1)).host().clone();
    host.clone()
        .spawn_daemon("a check of each word", async move { host.watch("no end", looks).await });
    // The PUTs that the queue holds, and all PUTs.
    const FIT: u32 = 8;
    let took = Rc::new(Count::new([Picos::ZERO; 2]));
    let time = took.clone();
    sim.spawn_checked(node(0), async move |cell| {
        let mut start = Picos::ZERO;
        for number in 0..COMMANDS {
            store(&cell, &bare(4 * number, dest.0)).await?;
            match number {
                // From the end of one PUT to the end of another.
                0 => start = cell.now(),
                FIT => time.set([cell.now() - start; 2]),
                _ => {}
            }
        }
        time.set([time.get()[0], cell.now() - start]);
        Ok::<_, CommandError>(())
    });
    finish(&mut sim)?;
    let (last, changes, back) = *seen.borrow();
    lab.check(
        "c3.all",
        "PUTs executed",
        "PUTs",
        (40.0, 40.0),
        sim.cell(node(1)).word(flag(0)),
    );
    lab.check(
        "c3.seen",
        "values that arrived in order",
        "values",
        (40.0, 40.0),
        changes,
    );
    lab.none(
        "c3.order",
        "values that arrived after a later one",
        "values",
        back + u32::from(last != COMMANDS),
    );
    let cycles = |time: Picos, commands| time.as_us() / lab.config().period.as_us() / f64::from(commands);
    let [first, all] = [cycles(took.get()[0], FIT), cycles(took.get()[1], COMMANDS - 1)];
    let spec = |name, what, on: &[&'static str]| {
        Spec::new(name, what, "cycles")
            .depends(&["store_cycles", "period"])
            .depends(on)
    };
    let stores = f64::from(COMMAND_WORDS * lab.config().store_cycles);
    let never = spec(
        "c3.rate",
        "stores of a command while the queue has room: the processor never waits",
        &[],
    );
    lab.row(
        never.by_formula(stores, stores, "eight stores of store_cycles").says(),
        first,
    );
    // Without bounds: the memory takes a spilled word in more than two cycles.
    lab.row(
        spec(
            "c3.spilling",
            "stores of a command, of all 40, most of them spilled",
            &HARDWARE,
        ),
        all,
    );
    Ok(())
}

pub fn c4(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let (mut amid, mut after, mut bad) = (0, 0, 0);
    for stored in 1..8 {
        let mut sim = lab.boot(2, 1)?;
        let user = bare(0x100, 0x3_0000);
        let system = Transfer {
            words: 2,
            source: Addr(0x200),
            dest: Addr(0x4_0000),
            dest_flag: Some(flag(1)),
            ..Transfer::default()
        };
        sim.spawn_checked(node(0), async move |cell| {
            store(&cell, &user[..stored]).await?;
            cell.put_by(By::System, node(1), &system).await
        });
        settle(&mut sim)?;
        let there = sim.cell(node(1));
        amid += there.word(flag(1));
        after += there.word(flag(0));
        sim.spawn_checked(node(0), async move |cell| store(&cell, &user[stored..]).await);
        finish(&mut sim)?;
        amid += 0x100 * there.word(flag(0));
        bad += wrong(&there, Addr(0x3_0000), &words(0, 0x100, 1));
        bad += wrong(&there, Addr(0x4_0000), &words(0, 0x200, 2));
    }
    lab.check(
        "c4.system",
        "commands of the system executed within a command of the user",
        "PUTs",
        (7.0, 7.0),
        amid % 0x100,
    );
    lab.none(
        "c4.early",
        "commands of the user executed before their last word",
        "PUTs",
        after,
    );
    lab.check(
        "c4.user",
        "commands of the user executed with their last word",
        "PUTs",
        (7.0, 7.0),
        amid / 0x100,
    );
    lab.none("c4.data", "received words that differ from the sent ones", "words", bad);
    Ok(())
}

pub fn c5(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 1)?;
    let counts = Rc::new(Count::new((0, 0)));
    let found = counts.clone();
    sim.spawn_checked(node(0), async move |cell| {
        let host = cell.host();
        host.reg_write(window::register(ENABLE), 0).await?;
        let mut before = 0;
        for code in 0..PAGE_END_MASK {
            host.store(window::page(code), 4, 0).await?;
            // The count comes a little later.
            host.delay(Picos::from_ns(200)).await;
            let now = host.reg_read(window::register(REFUSED_COUNT)).await? & REFUSED_COUNT_COUNT_MASK;
            let (refused, differ) = found.get();
            let meant = u32::from(Page::decode(code as u16).is_none());
            found.set((refused + now - before, differ + u32::from(now - before != meant)));
            before = now;
            // The word to a defined page began a command.
            host.reg_write(window::register(DROP), DROP_USER_MASK | DROP_SYSTEM_MASK)
                .await?;
        }
        Ok::<_, CommandError>(())
    });
    finish(&mut sim)?;
    let (refused, differ) = counts.get();
    lab.bounds_by(Origin::Public);
    lab.none(
        "c5.differ",
        "page codes accepted or refused in conflict with the table of formats",
        "codes",
        differ,
    );
    // Which codes are undefined is our reading. Each class keeps 14 of PUT, 7 of SEND, and 4 each of GET, CSI and FOP.
    let others = f64::from(PAGE_END_MASK) - 54.0;
    lab.bounds_by(Origin::Ours);
    lab.check(
        "c5.refused",
        "codes refused and reported",
        "codes",
        (others, others),
        refused,
    );
    Ok(())
}

pub fn c6(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const WORDS: u32 = 480;
    const DEST: u32 = 0x3_4000;
    let strides: Vec<Stride> = [1, 3, 255, 256]
        .into_iter()
        .flat_map(|item| [0, 1, 100].map(|gap| Stride { item, gap }))
        .collect();
    let mut pairs: Vec<(Stride, Stride)> = strides.iter().map(|&s| (s, Stride::NONE)).collect();
    pairs.extend(strides.iter().map(|&s| (Stride::NONE, s)));
    pairs.extend(strides.iter().zip(strides.iter().skip(4)).map(|(&a, &b)| (a, b)));
    let (mut bad, mut moved) = (0, 0);
    let mut sim = lab.boot(2, 1)?;
    for (number, (source_stride, dest_stride)) in (1..).zip(pairs) {
        // The words between the items must not change.
        let mut expected: Vec<u32> = (0..(FLAGS - DEST) / 4).collect();
        let there = sim.cell(node(1));
        there.set_words(Addr(DEST), &expected);
        let transfer = Transfer {
            words: WORDS,
            source: Addr(4),
            source_stride,
            dest: Addr(DEST),
            dest_stride,
            dest_flag: Some(flag(0)),
            source_flag: None,
        };
        sim.spawn_checked(node(0), async move |cell| cell.put_stride(node(1), &transfer).await);
        finish(&mut sim)?;
        let at = |addr: Addr, stride: Stride| {
            let word = stride.word().expect("a stride of the list");
            places(addr.0, word, WORDS)
        };
        for (from, to) in at(transfer.source, source_stride).zip(at(transfer.dest, dest_stride)) {
            expected[((to - DEST) / 4) as usize] = pattern(0, from);
        }
        bad += wrong(&there, Addr(DEST), &expected) + u32::from(there.word(flag(0)) != number);
        moved += WORDS;
    }
    lab.none(
        "c6.data",
        "words in a wrong place or changed between items",
        "words",
        bad,
    );
    lab.tried("c6.moved", "words sent", "words", 30 * WORDS, moved);
    Ok(())
}

/// Waits until a flag has counted once, exact to the event.
async fn counted(cell: &Cell, at: Addr) {
    let once = move |memory: &Memory| memory.read(at, 4).is_some_and(|bytes| bytes == 1_u32.to_le_bytes());
    cell.host().watch("a flag", once).await;
}

pub fn c7(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const LENGTHS: [u32; 6] = [1, 2, 100, 256, 1000, 3000];
    const SOURCE: u32 = 0x1_0000;
    const DEST: u32 = 0x4_0000;
    let early = Rc::new(Count::new(0));
    let (mut kept, mut flags) = (0, 0);
    let mut sim = lab.boot(2, 1)?;
    // A PUT sends from the cell that stores the command, a GET from the other one.
    let transfers: Vec<(u32, bool)> = LENGTHS.iter().flat_map(|&n| [(n, false), (n, true)]).collect();
    for (number, (length, is_get)) in (0..).zip(transfers) {
        let (sends, receives) = (flag(2 * number), flag(2 * number + 1));
        let (from, to) = if is_get { (1, 0) } else { (0, 1) };
        let expected = words(from, SOURCE, length);
        let [source, dest] = [from, to].map(|number| sim.cell(node(number)));
        source.set_words(Addr(SOURCE), &expected);
        dest.set_words(Addr(DEST), &vec![!0; length as usize]);
        sim.spawn_checked(node(0), async move |cell| {
            let (dest, receives, sends) = (Addr(DEST), Some(receives), Some(sends));
            if is_get {
                cell.get(node(1), Addr(SOURCE), length, dest, receives, sends).await
            } else {
                cell.put(node(1), Addr(SOURCE), length, dest, receives, sends).await
            }
        });
        sim.spawn(node(from), async move |cell: Cell| {
            counted(&cell, sends).await;
            cell.set_words(Addr(SOURCE), &vec![0xdead_dead; length as usize]);
        });
        let (late, came) = (early.clone(), expected.clone());
        sim.spawn(node(to), async move |cell: Cell| {
            counted(&cell, receives).await;
            late.set(late.get() + wrong(&cell, Addr(DEST), &came));
        });
        finish(&mut sim)?;
        kept += wrong(&dest, Addr(DEST), &expected);
        flags += source.word(sends) + dest.word(receives);
    }
    lab.none(
        "c7.send",
        "words that arrived with a value stored after the send flag counted",
        "words",
        kept,
    );
    lab.none(
        "c7.receive",
        "words missing in memory when the receive flag counted",
        "words",
        early.get(),
    );
    lab.check("c7.flags", "flags of 12 PUTs and GETs", "flags", (24.0, 24.0), flags);
    Ok(())
}

pub fn c8(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const EACH: u32 = 12;
    let mut sim = lab.boot(3, 3)?;
    for from in 0..9 {
        sim.spawn_checked(node(from), async move |cell| {
            for round in 0..EACH {
                let dest = Addr(0x3_0000 + 0x1000 * from as u32 + 0x40 * round);
                cell.put(node(4), Addr(0x40 * round), 9, dest, Some(flag(0)), None)
                    .await?;
            }
            Ok::<_, CommandError>(())
        });
    }
    finish(&mut sim)?;
    let there = sim.cell(node(4));
    let all = f64::from(9 * EACH);
    lab.check(
        "c8.count",
        "count of one flag after 108 PUTs",
        "counts",
        (all, all),
        there.word(flag(0)),
    );
    let mut bad = 0;
    for from in 0..9 {
        for round in 0..EACH {
            let dest = Addr(0x3_0000 + 0x1000 * from as u32 + 0x40 * round);
            bad += wrong(&there, dest, &words(from, 0x40 * round, 9));
        }
    }
    lab.none("c8.data", "received words that differ from the sent ones", "words", bad);
    Ok(())
}

pub fn c9(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 1)?;
    sim.spawn_checked(node(0), async move |cell| {
        for to in 0..2 {
            cell.put(node(to), Addr(0x100), 8, Addr(0x3_0000), None, None).await?;
            cell.get(node(to), Addr(0x100), 8, Addr(0x3_1000), None, None).await?;
        }
        Ok::<_, CommandError>(())
    });
    finish(&mut sim)?;
    let mut changed = 0;
    for number in 0..2 {
        changed += wrong(&sim.cell(node(number)), Addr(0), &words(number, 0, 16));
    }
    lab.bounds_by(Origin::Public);
    lab.none("c9.zero", "words changed at address 0 and after it", "words", changed);
    let moved = wrong(&sim.cell(node(1)), Addr(0x3_0000), &words(1, 0x3_0000, 8));
    lab.tried("c9.moved", "words that arrived", "words", 8, moved);
    Ok(())
}

pub fn c10(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(3, 2)?;
    let (mut bad, mut flags, mut active) = (0, 0, 0);
    for to in 0..6 {
        let transfer = Transfer {
            words: 300,
            source: Addr(0x1_0000),
            source_stride: Stride { item: 16, gap: 48 },
            source_flag: Some(flag(1)),
            dest: Addr(0x4_0000),
            dest_stride: Stride { item: 7, gap: 3 },
            dest_flag: Some(flag(0)),
        };
        let before = [sim.cell(node(4)).word(flag(0)), sim.cell(node(to)).word(flag(1))];
        sim.backend_mut().take_events();
        sim.spawn_checked(node(4), async move |cell| cell.get_stride(node(to), &transfer).await);
        finish(&mut sim)?;
        let events = sim.backend_mut().take_events();
        let of_processor = |kind| matches!(kind, EventKind::RegWrite { .. } | EventKind::Irq { .. });
        let at_target = events.iter().filter(|e| e.node == node(to) && of_processor(e.kind));
        // The own cell's processor stores the command.
        active += if to == 4 { 0 } else { at_target.count() as u32 };
        let at = |addr: Addr, stride: Stride| places(addr.0, stride.word().expect("it is one"), 300);
        let here = sim.cell(node(4));
        for (from, dest) in at(transfer.source, transfer.source_stride).zip(at(transfer.dest, transfer.dest_stride)) {
            bad += u32::from(here.word(Addr(dest)) != pattern(to, from));
            here.set_word(Addr(dest), 0);
        }
        let after = [here.word(flag(0)), sim.cell(node(to)).word(flag(1))];
        flags += u32::from(after != before.map(|count| count + 1));
    }
    lab.none("c10.data", "words that differ from the requested ones", "words", bad);
    lab.none(
        "c10.flags",
        "GETs with a flag that did not count exactly once",
        "GETs",
        flags,
    );
    lab.none(
        "c10.processor",
        "interrupts and register writes at the other cell",
        "events",
        active,
    );
    path::trace(lab, path::Message::Get)
}

pub fn c11(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    /// PUTs of one run.
    const TRIALS: u32 = 250;
    /// Other PUTs that a cell has under way.
    const AHEAD: u32 = 3;
    let runs = lab.volume(2, 80, 400);
    let mut sim = lab.boot(2, 2)?;
    let bad = Rc::new(Count::new(0));
    let tried = Rc::new(Count::new(0));
    let sent = flag(0);
    for run in 0..runs {
        let mut rng = Seed::get().stream(&format!("ap1000p C11 run {run}"));
        let trials: Vec<[u32; 2]> = (0..TRIALS)
            .map(|_| [rng.between(1, 100) as u32, 4 * rng.below(4096) as u32])
            .collect();
        let end = TRIALS * (run + 1);
        for other in [1, 2] {
            let (tried, noise) = (tried.clone(), trials.clone());
            sim.spawn_checked(node(other), async move |cell| {
                let before = cell.word(sent);
                for ([words, _], number) in noise.into_iter().cycle().zip(1..) {
                    if tried.get() == end {
                        break;
                    }
                    let dest = Addr(0x4_0000 + 0x4000 * other as u32);
                    cell.put(node(3), Addr(0), words, dest, None, Some(sent)).await?;
                    cell.wait_flag(sent, (before + number).saturating_sub(AHEAD)).await?;
                }
                Ok::<_, CommandError>(())
            });
        }
        let (late, count, target) = (bad.clone(), tried.clone(), sim.cell(node(3)));
        sim.spawn_checked(node(0), async move |cell| {
            for [length, source] in trials {
                target.set_words(Addr(0x3_0000), &[0; 100]);
                let transfer = Transfer {
                    words: length,
                    source: Addr(source),
                    dest: Addr(0x3_0000),
                    ..Transfer::default()
                };
                cell.ack_put(node(3), &transfer).await?;
                let missing = wrong(&target, Addr(0x3_0000), &words(0, source, length));
                late.set(late.get() + u32::from(missing > 0));
                count.set(count.get() + 1);
            }
            Ok::<_, CommandError>(())
        });
        finish(&mut sim)?;
    }
    lab.none(
        "c11.early",
        "PUTs acknowledged before their data reached memory",
        "PUTs",
        bad.get(),
    );
    lab.tried(
        "c11.trials",
        "PUTs acknowledged, beside others at the same cell",
        "PUTs",
        TRIALS * runs,
        tried.get(),
    );
    Ok(())
}

pub fn c12(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const CELLS: usize = 9;
    const EACH: u32 = 40;
    let mut sim = lab.boot(3, 3)?;
    let slot = |from: usize| Addr(0x3_0000 + 4 * from as u32);
    let mut pairs = Vec::new();
    for to in 0..CELLS {
        let cell = sim.cell(node(to));
        for from in 0..CELLS {
            cell.set_word(slot(from), 0);
            let seen = Rc::new(RefCell::new((0, 0, 0)));
            let (looks, host) = (follow(&seen, slot(from)), cell.host().clone());
            host.clone()
                .spawn_daemon("a check of each word", async move { host.watch("no end", looks).await });
            pairs.push(seen);
        }
    }
    for from in 0..CELLS {
        let mut rng = Seed::get().stream(&format!("ap1000p C12 cell {from}"));
        let aims: Vec<usize> = (0..EACH).map(|_| rng.below(CELLS as u64) as usize).collect();
        let numbers: Vec<u32> = (1..=EACH).collect();
        sim.cell(node(from)).set_words(Addr(0), &numbers);
        sim.spawn_checked(node(from), async move |cell| {
            for (number, to) in (0..EACH).zip(aims) {
                cell.put(node(to), Addr(4 * number), 1, slot(from), Some(flag(0)), None)
                    .await?;
                // Replies go the same ways.
                let noise = Addr(0x4_0000 + 0x400 * number);
                cell.get(node(to), Addr(0x1_0000), 1 + number, noise, Some(flag(1)), None)
                    .await?;
            }
            Ok::<_, CommandError>(())
        });
    }
    finish(&mut sim)?;
    let total = |flag| (0..CELLS).map(|number| sim.cell(node(number)).word(flag)).sum::<u32>();
    let all = f64::from(EACH) * CELLS as f64;
    lab.none(
        "c12.order",
        "messages that arrived after a later one of the same pair",
        "messages",
        pairs.iter().map(|seen| seen.borrow().2).sum(),
    );
    let seen = pairs.iter().map(|seen| seen.borrow().1).sum();
    lab.check("c12.seen", "PUTs that arrived", "PUTs", (all, all), seen);
    lab.check("c12.counted", "PUTs counted", "PUTs", (all, all), total(flag(0)));
    lab.check("c12.gets", "GETs counted meanwhile", "GETs", (all, all), total(flag(1)));
    Ok(())
}

pub fn c13(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 1)?;
    sim.backend_mut().take_events();
    sim.spawn_checked(node(0), async move |cell| {
        cell.put(node(0), Addr(0x1000), 100, Addr(0x3_0000), Some(flag(0)), None)
            .await?;
        cell.get(node(0), Addr(0x2000), 100, Addr(0x3_1000), Some(flag(0)), None)
            .await
    });
    finish(&mut sim)?;
    let events = sim.backend_mut().take_events();
    let packets = events.iter().filter(|e| matches!(e.kind, EventKind::TxFirst { .. }));
    lab.none(
        "c13.packets",
        "packets on the network",
        "packets",
        packets.count() as u32,
    );
    let cell = sim.cell(node(0));
    let bad =
        wrong(&cell, Addr(0x3_0000), &words(0, 0x1000, 100)) + wrong(&cell, Addr(0x3_1000), &words(0, 0x2000, 100));
    lab.none(
        "c13.data",
        "received words that differ from the sent ones",
        "words",
        bad,
    );
    lab.check(
        "c13.flags",
        "transfers counted",
        "transfers",
        (2.0, 2.0),
        cell.word(flag(0)),
    );
    let spec = Spec::new(
        "c13.copy",
        "a further word of a PUT to the own cell: a fast memory copy",
        "cycles",
    );
    let spec = spec.by_formula(
        0.0,
        4.0,
        "a word read and written over one bus, and as much again for its latency",
    );
    let took = copy(&mut sim, 1100)? - copy(&mut sim, 100)?;
    lab.row(
        spec.says().depends(&HARDWARE),
        took.as_us() / 1000.0 / lab.config().period.as_us(),
    );
    Ok(())
}

/// Time from the command of a PUT to the own cell until its flag counts.
fn copy(sim: &mut Sim, words: u32) -> Result<Picos, MeasureError> {
    const COPIED: u32 = 9;
    let (start, end) = (sim.now(), Rc::new(Count::new(Picos::ZERO)));
    let seen = end.clone();
    sim.cell(node(0)).set_word(flag(COPIED), 0);
    sim.spawn_checked(node(0), async move |cell| {
        cell.put(node(0), Addr(0x1000), words, Addr(0x3_0000), Some(flag(COPIED)), None)
            .await?;
        let host = cell.host();
        let counted = |memory: &Memory| memory.read(flag(COPIED), 4) == Some(&1_u32.to_le_bytes());
        host.watch("the flag of the copy", counted).await;
        seen.set(host.now());
        Ok::<_, CommandError>(())
    });
    finish(sim)?;
    Ok(end.get() - start)
}

pub fn c28(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let (columns, rows) = (4, 3);
    let mut sim = lab.boot(columns, rows)?;
    let cells = (columns * rows) as usize;
    let dest = |number: usize, along: u32| Addr(0x2_0000 + 0x1_0000 * along + 0x400 * number as u32);
    for from in 0..cells {
        sim.spawn_checked(node(from), async move |cell| {
            for (number, along) in (0..).zip([Along::Row, Along::Column, Along::All]) {
                let transfer = Transfer {
                    words: 40,
                    source: Addr(0x1_0000),
                    dest: dest(from, number),
                    dest_flag: Some(flag(3 * from as u32 + number)),
                    ..Transfer::default()
                };
                cell.broadcast(along, &transfer).await?;
            }
            Ok::<_, CommandError>(())
        });
    }
    finish(&mut sim)?;
    let (mut counted, mut bad, mut copies) = (0, 0, 0);
    for from in 0..cells {
        for to in 0..cells {
            let cell = sim.cell(node(to));
            let same = [from / 4 == to / 4, from % 4 == to % 4, true];
            for (along, same) in (0..).zip(same) {
                let count = cell.word(flag(3 * from as u32 + along));
                counted += u32::from(count != u32::from(same));
                copies += count;
                let at = dest(from, along);
                let expected = if same {
                    words(from, 0x1_0000, 40)
                } else {
                    words(to, at.0, 40)
                };
                bad += wrong(&cell, at, &expected);
            }
        }
    }
    lab.bounds_by(Origin::Public);
    lab.none(
        "c28.once",
        "cells with a wrong number of copies: one in the row or column, none elsewhere",
        "cells",
        counted,
    );
    lab.none(
        "c28.data",
        "received words that differ from the sent ones",
        "words",
        bad,
    );
    let all = f64::from(12 * (4 + 3 + 12));
    lab.check("c28.copies", "copies of 36 broadcasts", "copies", (all, all), copies);
    Ok(())
}
