//! Operations of many cells together.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use super::lab::{Lab, MeasureError, finish, flag, node, pattern, wrong};
use crate::ap1000p::bif_regs::BIF_WORDS;
use crate::ap1000p::host::{BusError, Cell, Combine, CommandError, Transfer};
use crate::harness::exec::RegError;
use crate::harness::linear::{Call, Unexplained, explain};
use crate::harness::seed::Seed;
use crate::repro::row::{Origin, Spec};
use crate::{Addr, NodeId, Picos};

pub fn c21(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    // On the RTL each size takes some seconds; on the model the rounds cost little.
    for (columns, rows, name, counted, on_rtl, on_model) in [
        (2, 1, "c21.2", "c21.2_rounds", 1000, 1000),
        (2, 2, "c21.4", "c21.4_rounds", 250, 1000),
        (4, 4, "c21.16", "c21.16_rounds", 50, 1000),
        (8, 8, "c21.64", "c21.64_rounds", 10, 100),
    ] {
        let rounds = lab.volume(on_rtl, on_model, 1000);
        let mut sim = lab.boot(columns, rows)?;
        let cells = sim.cells() as u32;
        let reached = Rc::new(RefCell::new(vec![0_u32; sim.cells()]));
        let bad = Rc::new(Count::new(0));
        let done = Rc::new(Count::new(0));
        for number in 0..sim.cells() {
            let (reached, bad, done) = (reached.clone(), bad.clone(), done.clone());
            let mut rng = Seed::get().stream(&format!("ap1000p C21 cell {number}"));
            let delays: Vec<u64> = (0..rounds).map(|_| 20 * rng.below(200)).collect();
            sim.spawn(node(number), async move |cell| {
                for (round, delay) in (1..).zip(delays) {
                    cell.host().delay(Picos::from_ns(delay)).await;
                    // Each cell adds a value of its own; the expected sum is computed beside it.
                    let value = |number: u32| round * (number * number + 1);
                    let sum = cell.reduce(Combine::Sum, value(number as u32)).await;
                    bad.set(bad.get() + u32::from(sum != Ok((0..cells).map(value).sum())));
                    reached.borrow_mut()[number] = round;
                    let passed = cell.barrier().await;
                    let early = reached.borrow().iter().any(|&r| r < round);
                    bad.set(bad.get() + u32::from(early || passed.is_err()));
                    done.set(done.get() + 1);
                }
            });
        }
        finish(&mut sim)?;
        let what = format!("{cells} cells: wrong sums, and barriers passed before a cell arrived");
        lab.none(name, &what, "times", bad.get());
        let what = format!("{cells} cells: rounds of all cells");
        lab.done(counted, &what, "rounds", rounds * cells, done.get());
    }
    Ok(())
}

/// Calls of an atomic operation, with its two operands.
type Calls = RefCell<Vec<Call<[u32; 2]>>>;

/// The words of C22, all in one cell: bits by fetch-and-or, a counter by compare-and-swap, a lock and its guarded
/// counter.
const HOME: NodeId = NodeId(5);
const WORD: u32 = 0;
const COUNTER: u32 = 1;
const LOCK: u32 = 2;
const GUARDED: u32 = 3;
/// Increments by compare-and-swap of each cell.
const ROUNDS: u32 = 4;

/// A cell sets its bit, counts by compare-and-swap, and counts under a lock.
async fn set_and_count(cell: Cell, number: usize, ops: &Calls, swaps: &Calls) -> Result<(), CommandError> {
    let note = |list: &Calls, called, operation, saw| {
        let (caller, returned) = (number, cell.now());
        list.borrow_mut().push(Call {
            caller,
            called,
            returned,
            operation,
            saw,
        });
    };
    let (called, masks) = (cell.now(), [!0, 1 << number]);
    let old = cell.fetch_op(HOME, flag(WORD), masks[0], masks[1]).await?;
    note(ops, called, masks, old);
    let mut guess = 0;
    for _ in 0..ROUNDS {
        loop {
            let (called, swap) = (cell.now(), [guess, guess + 1]);
            let old = cell.compare_swap(HOME, flag(COUNTER), swap[0], swap[1]).await?;
            note(swaps, called, swap, old);
            if old == guess {
                guess += 1;
                break;
            }
            guess = old;
        }
    }
    cell.lock(HOME, flag(LOCK)).await?;
    cell.get(HOME, flag(GUARDED), 1, Addr(0x100), Some(flag(4)), None)
        .await?;
    cell.wait_flag(flag(4), 1).await?;
    cell.set_word(Addr(0x100), cell.word(Addr(0x100)) + 1);
    let transfer = Transfer {
        words: 1,
        source: Addr(0x100),
        dest: flag(GUARDED),
        ..Default::default()
    };
    cell.ack_put(HOME, &transfer).await?;
    cell.unlock(HOME, flag(LOCK)).await
}

pub fn c22(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const CELLS: usize = 16;
    let mut sim = lab.boot(4, 4)?;
    let ops = Rc::new(Calls::default());
    let swaps = Rc::new(Calls::default());
    for number in 0..CELLS {
        let (ops, swaps) = (ops.clone(), swaps.clone());
        sim.spawn_checked(node(number), async move |cell| {
            set_and_count(cell, number, &ops, &swaps).await
        });
    }
    finish(&mut sim)?;
    let cell = sim.cell(HOME);
    let left =
        |explained: Result<(), Unexplained>| explained.map_or_else(|why| why.calls - why.explained, |()| 0) as u32;
    let (ops, swaps) = (ops.take(), swaps.take());
    lab.none(
        "c22.chain",
        "fetch-and-or results that no order of the operations explains",
        "operations",
        left(explain(&ops, 0, cell.word(flag(WORD)), |[and, or], word| {
            word & and | or
        })),
    );
    let swap = |&[old, new]: &[u32; 2], word| if word == old { new } else { word };
    lab.none(
        "c22.swaps",
        "compare-and-swap results that no order of the operations explains",
        "operations",
        left(explain(&swaps, 0, cell.word(flag(COUNTER)), swap)),
    );
    lab.check(
        "c22.or",
        "bits set by fetch-and-or",
        "bits",
        (16.0, 16.0),
        cell.word(flag(WORD)).count_ones(),
    );
    let all = f64::from(CELLS as u32 * ROUNDS);
    lab.check(
        "c22.count",
        "count of 16 cells by compare-and-swap",
        "counts",
        (all, all),
        cell.word(flag(COUNTER)),
    );
    lab.tried(
        "c22.tries",
        "compare-and-swap tried",
        "tries",
        CELLS as u32 * ROUNDS + 1,
        swaps.len() as u32,
    );
    lab.check(
        "c22.lock",
        "count of 16 cells under a lock",
        "counts",
        (16.0, 16.0),
        cell.word(flag(GUARDED)),
    );
    Ok(())
}

pub fn c29(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const WORDS: u32 = 16;
    lab.bounds_by(Origin::Ours);
    let built = lab.config().lane_words;
    for (side, lane_words, name, counted) in [(4, built, "c29.4x4", "c29.4x4_gets"), (8, 2, "c29.8x8", "c29.8x8_gets")]
    {
        let mut sim = lab.boot_with(side, side, |config| config.lane_words = lane_words)?;
        let cells = sim.cells();
        let source = |asks: usize| Addr(0x1_0000 + 0x40 * asks as u32);
        let dest = |asked: usize| Addr(0x3_0000 + 0x40 * asked as u32);
        for asks in 0..cells {
            sim.spawn_checked(node(asks), async move |cell| {
                for asked in 0..cells {
                    cell.get(node(asked), source(asks), WORDS, dest(asked), Some(flag(0)), None)
                        .await?;
                }
                Ok::<_, CommandError>(())
            });
        }
        finish(&mut sim)?;
        let (mut bad, mut gets) = (0, 0);
        for asks in 0..cells {
            let cell = sim.cell(node(asks));
            for asked in 0..cells {
                let expected: Vec<u32> = (0..WORDS).map(|n| pattern(asked, source(asks).0 + 4 * n)).collect();
                bad += wrong(&cell, dest(asked), &expected);
            }
            gets += cell.word(flag(0));
        }
        lab.none(
            name,
            &format!("{side}x{side}, {lane_words} words per buffer: words that differ from the requested ones"),
            "words",
            bad,
        );
        let all = (cells * cells) as f64;
        lab.check(
            counted,
            &format!("{side}x{side}, {lane_words} words per buffer: GETs done"),
            "GETs",
            (all, all),
            gets,
        );
    }
    Ok(())
}

pub fn c30(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    lab.bounds_by(Origin::Public);
    snet(lab)?;
    bnet(lab)
}

/// Cells arrive at random times, round after round.
fn snet(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const ROUNDS: u32 = 100;
    let mut sim = lab.boot(8, 8)?;
    let cells = sim.cells();
    let reached = Rc::new(RefCell::new(vec![0_u32; cells]));
    let [early, done] = [(); 2].map(|()| Rc::new(Count::new(0)));
    for number in 0..cells {
        let (reached, early, done) = (reached.clone(), early.clone(), done.clone());
        let mut rng = Seed::get().stream(&format!("ap1000p C30 cell {number}"));
        sim.spawn_checked(node(number), async move |cell| {
            for round in 1..=ROUNDS {
                cell.host().delay(Picos::from_ns(20 * rng.below(200))).await;
                reached.borrow_mut()[number] = round;
                cell.barrier_by_snet().await?;
                let passed = reached.borrow().iter().any(|&r| r < round);
                early.set(early.get() + u32::from(passed));
                done.set(done.get() + 1);
            }
            Ok::<_, RegError>(())
        });
    }
    finish(&mut sim)?;
    let what = format!("{cells} cells: barriers of the S-net passed before a cell arrived");
    lab.none("c30.snet", &what, "times", early.get());
    let what = format!("{cells} cells: barriers passed by all cells");
    lab.done("c30.snet_rounds", &what, "times", ROUNDS * cells as u32, done.get());
    Ok(())
}

/// All cells send packets of any length at once, and receive all.
fn bnet(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const PACKETS: usize = 8;
    let mut sim = lab.boot(4, 4)?;
    let cells = sim.cells();
    // The first word is unique.
    let packet = |cell: usize, number: usize| -> Vec<u32> {
        let mut rng = Seed::get().stream(&format!("ap1000p C30 packet {number} of {cell}"));
        let words = rng.between(0, u64::from(BIF_WORDS) - 1);
        let first = (cell * PACKETS + number) as u32;
        std::iter::once(first)
            .chain((0..words).map(|_| rng.bits() as u32))
            .collect()
    };
    let heard = Rc::new(RefCell::new(vec![Vec::new(); cells]));
    let (start, last) = (sim.now(), Rc::new(Count::new(Picos::ZERO)));
    for number in 0..cells {
        let packets: Vec<_> = (0..PACKETS).map(|n| packet(number, n)).collect();
        sim.spawn_checked(node(number), async move |cell| {
            for packet in packets {
                cell.bus_send(&packet).await?;
            }
            Ok::<_, BusError>(())
        });
        let (heard, end) = (heard.clone(), last.clone());
        sim.spawn_checked(node(number), async move |cell| {
            for _ in 0..PACKETS * cells {
                let words = cell.bus_receive().await?;
                heard.borrow_mut()[number].push(words);
            }
            end.set(end.get().max(cell.now()));
            Ok::<_, BusError>(())
        });
    }
    finish(&mut sim)?;
    let heard = heard.borrow();
    let mut sent: Vec<_> = (0..cells)
        .flat_map(|c| (0..PACKETS).map(move |n| (c, n)))
        .map(|(c, n)| packet(c, n))
        .collect();
    sent.sort();
    let others = |packets: &Vec<Vec<u32>>| {
        let mut got = packets.clone();
        got.sort();
        got.iter().zip(&sent).filter(|(got, sent)| got != sent).count()
    };
    lab.none(
        "c30.bnet",
        "packets over the B-net that did not arrive once and whole, all cells",
        "packets",
        heard.iter().map(others).sum::<usize>() as u32,
    );
    lab.bounds_by(Origin::Ours);
    lab.none(
        "c30.order",
        "cells that received them in another order than cell 0",
        "cells",
        heard.iter().filter(|other| **other != heard[0]).count() as u32,
    );
    let bytes = 4 * sent.iter().map(Vec::len).sum::<usize>() as u64;
    let rate = Spec::new("c30.bnet_rate", "rate of the B-net to all cells meanwhile", "MB/s");
    lab.row(
        rate.depends(&["period", "bus_rate", "register_poll"]),
        (last.get() - start).rate_mb_s(bytes),
    );
    let what = format!("packets received by {cells} cells that all send at once");
    let received = heard.iter().map(Vec::len).sum::<usize>() as u32;
    lab.done(
        "c30.packets",
        &what,
        "packets",
        (PACKETS * cells * cells) as u32,
        received,
    );
    Ok(())
}
