//! Distributed shared memory: remote loads and stores, and when they are done.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use super::lab::{HARDWARE, Lab, MeasureError, finish, flag, node, pattern};
use crate::ap1000p::host::{DsmError, Shared};
use crate::ap1000p::regs::*;
use crate::harness::seed::Seed;
use crate::repro::row::Spec;
use crate::{Addr, Picos};

fn shared(cell: usize, addr: u32) -> Shared {
    Shared {
        cell: node(cell),
        addr: Addr(addr),
    }
}

/// Eight bytes of a cell's memory as they were at first.
fn double(cell: usize, addr: u32) -> u64 {
    u64::from(pattern(cell, addr)) | u64::from(pattern(cell, addr + 4)) << 32
}

/// Cycles a load, and a store, of a word takes the processor; the cell is a neighbour.
fn cycles(lab: &Lab<'_>) -> Result<(f64, f64), MeasureError> {
    const TIMES: u32 = 8;
    let mut sim = lab.boot(2, 1)?;
    let took = Rc::new(Count::new((0.0, 0.0)));
    let (times, period) = (took.clone(), lab.config().period);
    sim.spawn_checked(node(0), async move |cell| {
        let cycles = |start: Picos| (cell.now() - start).0 as f64 / period.0 as f64;
        let (mut load, mut store) = (0.0, f64::INFINITY);
        for n in 0..TIMES {
            let start = cell.now();
            cell.load(shared(1, 4 * n), 4).await?;
            load = f64::max(load, cycles(start));
            cell.host().delay(Picos::from_ns(5000)).await;
            let start = cell.now();
            cell.store(shared(1, 4 * n), 4, 0).await?;
            store = f64::min(store, cycles(start));
            cell.host().delay(Picos::from_ns(5000)).await;
        }
        times.set((load, store));
        Ok::<_, DsmError>(())
    });
    finish(&mut sim)?;
    Ok(took.get())
}

pub fn c15(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 2)?;
    let bad = Rc::new(Count::new(0));
    let done = Rc::new(Count::new(0));
    for from in 0..4 {
        let (bad, done) = (bad.clone(), done.clone());
        sim.spawn_checked(node(from), async move |cell| {
            for (n, to) in (0..).zip([0, 1, 2, 3, 1, 0, 3, 2]) {
                // Words that no other cell stores to.
                let addr = 0x400 * from as u32 + 4 * n;
                let got = cell.load(shared(to, addr), 4).await?;
                cell.store(shared(to, addr), 4, !got).await?;
                let again = cell.load(shared(to, addr), 4).await?;
                let as_it_must = got == u64::from(pattern(to, addr)) && again == !got & 0xffff_ffff;
                bad.set(bad.get() + u32::from(!as_it_must));
                done.set(done.get() + 1);
            }
            Ok::<_, DsmError>(())
        });
    }
    finish(&mut sim)?;
    lab.none("c15.data", "words loaded that are not those stored", "words", bad.get());
    lab.check(
        "c15.tried",
        "words loaded, stored and loaded",
        "words",
        (32.0, 32.0),
        done.get(),
    );
    let (load, store) = cycles(lab)?;
    let spec = |row: &str, what: &str| Spec::new(row, what, "cycles").depends(&HARDWARE);
    // The message and its answer are seven words, and pass two routers each.
    let least = 7.0 * f64::from(lab.config().link_cycles);
    lab.row(
        spec(
            "c15.load",
            "a load of a neighbour's word: the processor waits for the answer",
        )
        .within(least, f64::INFINITY),
        load,
    );
    lab.row(
        spec("c15.store", "a store there: the processor goes on").within(0.0, 8.0),
        store,
    );
    Ok(())
}

pub fn c16(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const BASE: u32 = 0x1_0000;
    let mut sim = lab.boot(2, 1)?;
    let bad = Rc::new(Count::new(0));
    let done = Rc::new(Count::new(0));
    let (wrong, count) = (bad.clone(), done.clone());
    sim.spawn_checked(node(0), async move |cell| {
        for (block, bytes) in (0..).zip([1, 2, 4, 8_u8]) {
            for place in 0..8 / u32::from(bytes) {
                let addr = BASE + 0x80 * block + 8 * place + place * u32::from(bytes);
                let word = addr & !7;
                let (shift, mask) = (8 * (addr % 8), u64::MAX >> (64 - 8 * u32::from(bytes)));
                let before = double(1, word);
                let got = cell.load(shared(1, addr), bytes).await?;
                let value = 0x8765_4321_0fed_cba9_u64.rotate_left(8 * place) & mask;
                // What is above is not stored.
                cell.store(shared(1, addr), bytes, value | !mask).await?;
                let after = cell.load(shared(1, word), 8).await?;
                let want = before & !(mask << shift) | value << shift;
                wrong.set(wrong.get() + u32::from(got != before >> shift & mask || after != want));
                count.set(count.get() + 1);
            }
        }
        Ok::<_, DsmError>(())
    });
    finish(&mut sim)?;
    lab.none(
        "c16.bytes",
        "accesses of 1, 2, 4 and 8 bytes that touched others, or not theirs",
        "accesses",
        bad.get(),
    );
    lab.check(
        "c16.tried",
        "places within 8 bytes, of all sizes",
        "places",
        (15.0, 15.0),
        done.get(),
    );
    // What no load can be: at no multiple of its size, beyond the cell's memory.
    let memory = lab.config().mem_bytes;
    let refused = Rc::new(Count::new((0, 0)));
    let count = refused.clone();
    sim.spawn_checked(node(0), async move |cell| {
        let askew = cell.load(shared(1, BASE + 2), 4).await;
        let beyond = cell.load(shared(1, memory), 4).await;
        let host = cell.host();
        let at = crate::ap1000p::dsm::place(cell.torus().cell(1), BASE);
        let odd = host.load(at + 4, 8).await.is_err();
        let kept = cell.load(shared(1, BASE), 8).await?;
        let errors = [askew.is_err(), beyond.is_err(), odd]
            .iter()
            .filter(|&&error| error)
            .count();
        count.set((errors as u32, u32::from(kept == double(1, BASE) & !0xff | 0xa9)));
        Ok::<_, DsmError>(())
    });
    super::lab::settle(&mut sim)?;
    let told = sim.take_faults().len() as u32;
    let (errors, kept) = refused.get();
    lab.check(
        "c16.refused",
        "of three loads that cannot be, exceptions",
        "loads",
        (3.0, 3.0),
        errors,
    );
    // The one at no multiple to the own; of the one beyond memory, message and word to the other.
    lab.check(
        "c16.told",
        "what the systems were told of them",
        "faults",
        (3.0, 3.0),
        told,
    );
    lab.check("c16.after", "loads as ever after them", "loads", (1.0, 1.0), kept);
    Ok(())
}

pub fn c17(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const WORDS: u32 = 32;
    let mut waits = Vec::new();
    let mut left = Vec::new();
    let mut bad = 0;
    for queued in [0, 8, 32, 48] {
        let mut sim = lab.boot(2, 1)?;
        let (took, open) = (Rc::new(Count::new(0.0)), Rc::new(Count::new(0)));
        let (time, ahead, period) = (took.clone(), open.clone(), lab.config().period);
        let there = sim.cell(node(1));
        sim.spawn_checked(node(0), async move |cell| {
            // Stored as fast as the processor can, so that the queue is full of them.
            let command = [
                1 << COMMAND_HEAD_DX_SHIFT,
                WORDS,
                0x3_0000,
                0,
                flag(0).0,
                0,
                0x1_0000,
                0,
            ];
            for _ in 0..queued {
                for word in command {
                    cell.host()
                        .reg_write(crate::ap1000p::window::page(KIND_PUT), word)
                        .await?;
                }
            }
            let start = cell.now();
            let got = cell
                .host()
                .load(crate::ap1000p::dsm::place(cell.torus().cell(1), 0x100), 4)
                .await?;
            time.set(if got == u64::from(pattern(1, 0x100)) {
                (cell.now() - start).0 as f64 / period.0 as f64
            } else {
                f64::NAN
            });
            ahead.set(queued - there.word(flag(0)));
            Ok::<_, crate::harness::exec::RegError>(())
        });
        finish(&mut sim)?;
        bad += u32::from(sim.cell(node(1)).word(flag(0)) != queued);
        waits.push(took.get());
        left.push(open.get());
    }
    lab.none("c17.done", "runs in which not every PUT was done once", "runs", bad);
    lab.tried(
        "c17.overtaken",
        "PUTs of 48 stored before a load and done after it",
        "PUTs",
        32,
        left[3],
    );
    let spec = |row: &str, what: String| Spec::new(row, what, "cycles").depends(&HARDWARE);
    // In the cell one goes out, one is being read, one was chosen; another is in the routers. Six words before the data.
    let most = 4.0 * f64::from((WORDS + 6) * lab.config().link_cycles);
    for (n, queued) in [(1, 8), (2, 32), (3, 48)] {
        lab.row(
            spec(
                &format!("c17.behind_{queued}"),
                format!("what a load waits longer behind {queued} PUTs of {WORDS} words: four of them at most"),
            )
            .within(0.0, most),
            waits[n] - waits[0],
        );
    }
    lab.row(
        spec(
            "c17.depth",
            "what it waits longer behind 48 than behind 32: the queue's depth does not count".into(),
        )
        .within(-most / 4.0, most / 4.0),
        waits[3] - waits[2],
    );
    Ok(())
}

pub fn c18(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const STORES: u32 = 40;
    let mut sim = lab.boot(2, 2)?;
    // The count after each store, when the last was not yet acknowledged and when all were.
    let seen = Rc::new(RefCell::new(Vec::new()));
    let early = Rc::new(Count::new(0));
    let stale = Rc::new(Count::new(0));
    let mut rng = Seed::get().stream("ap1000p C18");
    let plan: Vec<(usize, u32, u64)> = (0..STORES)
        .map(|n| (1 + rng.below(3) as usize, 0x1_0000 + 4 * n, 20 * rng.below(400)))
        .collect();
    let others: Vec<_> = (0..4).map(|number| sim.cell(node(number))).collect();
    let (counts, too_early, old) = (seen.clone(), early.clone(), stale.clone());
    sim.spawn_checked(node(0), async move |cell| {
        let acks = async || {
            cell.host()
                .reg_read(ACKS)
                .await
                .map_or(0, |word| word & ACKS_COUNT_MASK)
        };
        // Back to back, no answer can have come.
        for n in 0..4 {
            cell.store(shared(3, 0x1_8000 + 4 * n), 4, n.into()).await?;
        }
        let after_four = acks().await;
        cell.fence().await;
        let after_fence = acks().await;
        counts.borrow_mut().extend([after_four, after_fence]);
        let missing = |done: &[(usize, u32, u64)]| {
            let there = |&&(to, addr, _): &&(usize, u32, u64)| others[to].word(Addr(addr)) != addr;
            done.iter().filter(there).count() as u32
        };
        for (n, &(to, addr, pause)) in plan.iter().enumerate() {
            cell.store(shared(to, addr), 4, addr.into()).await?;
            cell.host().delay(Picos::from_ns(pause)).await;
            if acks().await == 0 {
                too_early.set(too_early.get() + missing(&plan[..=n]));
            }
        }
        cell.fence().await;
        too_early.set(too_early.get() + missing(&plan));
        for (to, addr, _) in plan {
            let got = cell.load(shared(to, addr), 4).await?;
            old.set(old.get() + u32::from(got != u64::from(addr)));
        }
        Ok::<_, DsmError>(())
    });
    finish(&mut sim)?;
    let seen = seen.take();
    lab.check(
        "c18.exact",
        "counted after 4 stores of which none can be acknowledged",
        "stores",
        (4.0, 4.0),
        seen[0],
    );
    lab.none("c18.fence", "counted after a fence", "stores", seen[1]);
    lab.none(
        "c18.early",
        "stores that were not performed when the counter was 0",
        "stores",
        early.get(),
    );
    lab.none(
        "c18.stale",
        "loads after a fence that found the old word",
        "loads",
        stale.get(),
    );
    lab.row(
        Spec::new("c18.tried", "stores at random times to three cells", "stores")
            .within(f64::from(STORES), f64::from(STORES))
            .depends(&HARDWARE),
        f64::from(STORES),
    );
    Ok(())
}

/// M3: what the processor waits for a load, beside a budget, which nobody measured.
pub fn m3(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut points = Vec::new();
    let bad = Rc::new(Count::new(0));
    for (columns, rows, to, hops) in [(2, 1, 1, 1), (4, 1, 2, 2), (4, 4, 10, 4)] {
        let mut sim = lab.boot(columns, rows)?;
        let took = Rc::new(Count::new([0.0; 2]));
        let (times, wrong) = (took.clone(), bad.clone());
        sim.spawn_checked(node(0), async move |cell| {
            let mut us = [0.0; 2];
            let (word, double) = (pattern(to, 0x100).into(), double(to, 0x100));
            for (us, (bytes, want)) in us.iter_mut().zip([(4, word), (8, double)]) {
                let start = cell.now();
                let got = cell.load(shared(to, 0x100), bytes).await?;
                wrong.set(wrong.get() + u32::from(got != want));
                *us = (cell.now() - start).as_us();
                cell.host().delay(Picos::from_ns(5000)).await;
            }
            times.set(us);
            Ok::<_, DsmError>(())
        });
        finish(&mut sim)?;
        points.push((hops, took.get()));
    }
    lab.none("m3.data", "loads that did not give what is there", "loads", bad.get());
    let neighbour = points[0].1[0];
    lab.row(
        Spec::new(
            "m3.load",
            "load of a neighbour's word (compared with a budget of 114 cycles, worked out from the machine's rates, not with a measurement)",
            "us",
        )
        .paper(2.28)
        .within(2.28 * 0.75, 2.28 * 1.25)
        .depends(&HARDWARE),
        neighbour,
    );
    let mut row = |name: String, what: String, us: f64| lab.row(Spec::new(name, what, "us").depends(&HARDWARE), us);
    for (hops, [word, double]) in points {
        row(
            format!("m3.{hops}_hops"),
            format!("load of a word, {hops} links away"),
            word,
        );
        row(
            format!("m3.{hops}_hops_8B"),
            format!("load of 8 bytes, {hops} links away"),
            double,
        );
    }
    Ok(())
}
