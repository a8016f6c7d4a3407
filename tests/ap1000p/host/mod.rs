//! Host software on the RTL: transfers, flags, acknowledged PUTs, atomics, locks, barriers, reductions, pages on
//! demand, bad input.

mod dsm;
mod refill;
mod ring;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tsunagi::ap1000p::bif_regs::BIF_RECEIVE;
use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::golden::window;
use tsunagi::ap1000p::host::layout::DEMAND;
use tsunagi::ap1000p::host::{
    Along, Ap1000pSim, BootError, By, Cell, Combine, CommandError, DsmError, FaultKind, Shared, Stride, Transfer,
};
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::{self, Machine, of_cells};
use tsunagi::harness::backend::{AnyBackend, Backend};
use tsunagi::harness::exec::{RegError, SimError};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, NodeId, Picos};

use crate::machines::{both, config};

const BOUND: Picos = Picos::from_ns(20_000_000);
const FLAG: Addr = Addr(0x6_0000);
const OTHER_FLAG: Addr = Addr(0x6_0004);

type Sim = Ap1000pSim<AnyBackend>;

fn boot(config: Config) -> Sim {
    let machine = rtl::build(&config, &Probe::default()).expect("built");
    Ap1000pSim::new(machine, config).expect("boots")
}

/// Leaves the spill region so many units of 8 KB.
async fn limit_region(cell: &Cell, units: u32) -> Result<(), RegError> {
    let region = cell.host().reg_read(window::register(SPILL_REGION)).await? & SPILL_REGION_BASE_MASK;
    cell.host()
        .reg_write(
            window::register(SPILL_REGION),
            region | units << SPILL_REGION_LIMIT_SHIFT,
        )
        .await
}

fn quiet(sim: &mut Sim) {
    assert_eq!(sim.take_faults(), []);
}

fn only_a_full_region_was_reported(sim: &mut Sim) {
    let full = FaultKind::Other { cause: CAUSE_FULL_MASK };
    let faults = sim.take_faults();
    assert!(
        !faults.is_empty() && faults.iter().all(|fault| fault.kind == full),
        "{faults:?}"
    );
}

fn data(seed: u64, words: u32) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..words).map(|_| rng.next_u32()).collect()
}

#[test]
fn put_and_get_with_strides_and_flags() {
    let mut sim = boot(config(3, 2));
    let words = data(1, 4096);
    let (here, there) = (NodeId(1), NodeId(5));
    sim.cell(here).set_words(Addr(0), &words);
    let transfer = Transfer {
        words: 100,
        source: Addr(0x40),
        source_stride: Stride { item: 3, gap: 2 },
        source_flag: Some(OTHER_FLAG),
        dest: Addr(0x2_0000),
        dest_stride: Stride { item: 7, gap: 1 },
        dest_flag: Some(FLAG),
    };
    sim.spawn_checked(here, async move |cell| {
        cell.put_stride(there, &transfer).await?;
        cell.wait_flag(OTHER_FLAG, 1).await
    });
    sim.spawn_checked(there, async move |cell| cell.wait_flag(FLAG, 1).await);
    sim.run(BOUND).unwrap();
    let at = |addr: Addr, stride: Stride| places(addr.0, stride.word().unwrap(), transfer.words);
    let expected: Vec<u32> = at(transfer.source, transfer.source_stride)
        .map(|a| words[a as usize / 4])
        .collect();
    let got = |sim: &Sim, cell, addr, stride| -> Vec<u32> {
        at(addr, stride).map(|a| sim.cell(cell).word(Addr(a))).collect()
    };
    assert_eq!(got(&sim, there, transfer.dest, transfer.dest_stride), expected);

    // And back, to another place.
    let back = Transfer {
        source: transfer.dest,
        source_stride: transfer.dest_stride,
        dest: Addr(0x3_0000),
        ..transfer
    };
    sim.spawn_checked(here, async move |cell| {
        cell.get_stride(there, &back).await?;
        cell.wait_flag(FLAG, 1).await
    });
    sim.run(BOUND).unwrap();
    assert_eq!(got(&sim, here, back.dest, back.dest_stride), expected);
    assert_eq!(sim.cell(there).word(OTHER_FLAG), 1, "the flag of the side that sent");
    quiet(&mut sim);
}

#[test]
fn an_acknowledged_put_is_in_memory_whatever_others_do() {
    let mut sim = boot(config(2, 2));
    let target = NodeId(3);
    for noisy in [1, 2] {
        sim.spawn_checked(NodeId(noisy), async move |cell| {
            for round in 0..30 {
                let dest = Addr(0x4_0000 + 0x4000 * u32::from(noisy));
                cell.put(target, Addr(0), 20 + 13 * round % 40, dest, None, None)
                    .await?;
            }
            Ok::<_, CommandError>(())
        });
    }
    let words = data(2, 64);
    let expected = words.clone();
    let watched = sim.cell(target);
    sim.spawn_checked(NodeId(0), async move |cell| {
        for round in 0..40_u32 {
            let length = 1 + round * 7 % 60;
            cell.set_words(Addr(0), &words[..length as usize]);
            watched.set_words(Addr(0x2_0000), &[0; 64]);
            let transfer = Transfer {
                words: length,
                dest: Addr(0x2_0000),
                ..Transfer::default()
            };
            cell.ack_put(target, &transfer).await?;
            let got = watched.words(Addr(0x2_0000), length);
            assert_eq!(got, expected[..length as usize], "round {round}");
        }
        Ok::<_, CommandError>(())
    });
    sim.run(BOUND).unwrap();
    quiet(&mut sim);
}

/// One program's PUT waits for a page there; another's, to another cell, is acknowledged meanwhile.
#[test]
fn an_acknowledgement_is_its_own_programs() {
    let mut sim = boot(config(2, 2));
    let (far, near) = (NodeId(3), NodeId(1));
    sim.cell(NodeId(0)).set_words(Addr(0), &[7; 8]);
    let there = sim.cell(far);
    sim.spawn_checked(NodeId(0), async move |cell| {
        let transfer = Transfer {
            words: 8,
            dest: Addr(DEMAND + 0x2_0000),
            ..Transfer::default()
        };
        cell.ack_put(far, &transfer).await?;
        assert_eq!(there.words(Addr(0x2_0000), 8), [7; 8]);
        Ok::<_, CommandError>(())
    });
    sim.spawn_checked(NodeId(0), async move |cell| {
        cell.host().delay(Picos::from_us(1.0)).await;
        let transfer = Transfer {
            words: 8,
            dest: Addr(0x2_0000),
            ..Transfer::default()
        };
        cell.ack_put(near, &transfer).await
    });
    sim.run(BOUND).unwrap();
    quiet(&mut sim);
}

#[test]
fn barriers_hold_everybody_back() {
    for (columns, rows) in [(2, 1), (2, 2), (4, 4)] {
        for by_flags in [false, true] {
            let mut sim = boot(config(columns, rows));
            let cells = sim.cells();
            let done = std::rc::Rc::new(std::cell::RefCell::new(vec![0_u32; cells]));
            let counts = done.clone();
            let joins = sim.spawn_all(move |cell| {
                let counts = counts.clone();
                async move {
                    let me = cell.id().index();
                    for round in 1..=6_u32 {
                        // Each is late in turn.
                        cell.host()
                            .delay(Picos::from_ns(3000 * ((me as u64 + u64::from(round)) % 3)))
                            .await;
                        counts.borrow_mut()[me] = round;
                        if by_flags {
                            cell.barrier_by_flags().await.unwrap();
                        } else {
                            cell.barrier().await.unwrap();
                        }
                        let least = *counts.borrow().iter().min().expect("there are cells");
                        assert!(
                            least >= round,
                            "cell {me} left barrier {round} before a cell came to it"
                        );
                    }
                }
            });
            sim.run(BOUND).unwrap();
            drop(joins);
            assert_eq!(*done.borrow(), vec![6; cells]);
            quiet(&mut sim);
        }
    }
}

#[test]
fn a_barrier_by_flags_takes_any_number_of_cells() {
    let mut sim = boot(config(3, 2));
    sim.spawn_all(async |cell| {
        for _ in 0..3 {
            cell.barrier_by_flags().await.unwrap();
        }
    });
    sim.run(BOUND).unwrap();
    quiet(&mut sim);
}

#[test]
fn reductions_lose_and_double_nothing() {
    let mut sim = boot(config(4, 2));
    let values: Vec<Vec<u32>> = (0..8).map(|cell| data(cell, 20)).collect();
    let all = values.clone();
    let joins = sim.spawn_all(move |cell| {
        let mine = values[cell.id().index()].clone();
        async move {
            let mut results = Vec::new();
            for (round, value) in mine.into_iter().enumerate() {
                let combine = [Combine::Sum, Combine::Max, Combine::Min, Combine::And, Combine::Or][round % 5];
                results.push(cell.reduce(combine, value).await.unwrap());
            }
            results
        }
    });
    sim.run(BOUND).unwrap();
    let expected: Vec<u32> = (0..20)
        .map(|round| {
            let of = all.iter().map(|values| values[round]);
            match round % 5 {
                0 => of.fold(0, u32::wrapping_add),
                1 => of.max().unwrap(),
                2 => of.min().unwrap(),
                3 => of.fold(!0, |a, b| a & b),
                _ => of.fold(0, |a, b| a | b),
            }
        })
        .collect();
    for mut join in joins {
        assert_eq!(join.take(), Some(expected.clone()));
    }
    quiet(&mut sim);
}

#[test]
fn a_lock_has_one_holder() {
    let mut sim = boot(config(2, 2));
    let (home, lock, counter) = (NodeId(2), FLAG, Addr(0x5_0000));
    sim.spawn_all(move |cell| async move {
        for _ in 0..5 {
            cell.lock(home, lock).await.unwrap();
            // Read, add, write: only a lock makes this a count.
            cell.get(home, counter, 1, Addr(0x100), Some(OTHER_FLAG), None)
                .await
                .unwrap();
            let turn = cell.word(Addr(0x200)) + 1;
            cell.set_word(Addr(0x200), turn);
            cell.wait_flag(OTHER_FLAG, turn).await.unwrap();
            cell.set_word(Addr(0x100), cell.word(Addr(0x100)) + 1);
            let transfer = Transfer {
                words: 1,
                source: Addr(0x100),
                dest: counter,
                ..Transfer::default()
            };
            cell.ack_put(home, &transfer).await.unwrap();
            cell.unlock(home, lock).await.unwrap();
        }
    });
    sim.run(BOUND).unwrap();
    assert_eq!(sim.cell(home).word(counter), 20);
    quiet(&mut sim);
}

#[test]
fn a_broadcast_reaches_a_row_a_column_or_all() {
    let mut sim = boot(config(3, 3));
    sim.cell(NodeId(4)).set_words(Addr(0), &[7, 8]);
    sim.spawn_checked(NodeId(4), async |cell| {
        let kinds = [(Along::Row, 0), (Along::Column, 4), (Along::All, 8)];
        for (along, offset) in kinds {
            let transfer = Transfer {
                words: 2,
                source_flag: Some(Addr(FLAG.0 + 0x10)),
                dest: Addr(0x2_0000 + 2 * offset),
                dest_flag: Some(Addr(FLAG.0 + offset)),
                ..Transfer::default()
            };
            cell.broadcast(along, &transfer).await?;
        }
        Ok::<_, CommandError>(())
    });
    sim.run(BOUND).unwrap();
    sim.pass(Picos::from_us(20.0)).unwrap();
    for number in 0..9 {
        let cell = sim.cell(NodeId(number));
        for (offset, is_in) in [(0, number / 3 == 1), (4, number % 3 == 1), (8, true)] {
            assert_eq!(cell.word(Addr(FLAG.0 + offset)), u32::from(is_in), "{number}, {offset}");
            let got = cell.words(Addr(0x2_0000 + 2 * offset), 2);
            assert_eq!(got == [7, 8], is_in, "{number}, {offset}");
        }
    }
    // The sender's flag counts once for each.
    assert_eq!(sim.cell(NodeId(4)).word(Addr(FLAG.0 + 0x10)), 3);
    quiet(&mut sim);
}

#[test]
fn pages_are_mapped_when_they_are_used_on_both_sides() {
    let mut sim = boot(config(2, 1));
    let words = data(3, 3000);
    sim.cell(NodeId(0)).set_words(Addr(0x1_0ff0), &words);
    sim.spawn_checked(NodeId(0), async |cell| {
        let transfer = Transfer {
            words: 3000,
            source: Addr(DEMAND + 0x1_0ff0),
            dest: Addr(DEMAND + 0x2_0100),
            dest_flag: Some(FLAG),
            ..Transfer::default()
        };
        cell.put_stride(NodeId(1), &transfer).await
    });
    sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(FLAG, 1).await);
    sim.run(BOUND).unwrap();
    assert_eq!(sim.cell(NodeId(1)).words(Addr(0x2_0100), 3000), words);
    quiet(&mut sim);
}

#[test]
fn an_address_without_a_page_is_a_fault_and_harms_nobody() {
    let mut sim = boot(config(2, 1));
    let nowhere = Addr(0x2000_0000);
    sim.spawn_checked(NodeId(0), async move |cell| {
        cell.put(NodeId(1), Addr(0), 4, nowhere, Some(FLAG), None).await?;
        cell.put(NodeId(1), Addr(0), 4, Addr(0x2_0000), Some(OTHER_FLAG), None)
            .await
    });
    sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(OTHER_FLAG, 1).await);
    sim.run(BOUND).unwrap();
    assert_eq!(sim.cell(NodeId(1)).word(FLAG), 0);
    let faults = sim.take_faults();
    let addr = |kind| matches!(kind, FaultKind::Address { reason: FAULT_PAGE, addr, .. } if addr == nowhere.0);
    assert!(faults.iter().any(|f| f.node == NodeId(1) && addr(f.kind)), "{faults:?}");
    // The one that was given up is told as broken too.
    assert!(faults.iter().all(|f| f.node == NodeId(1)), "{faults:?}");
}

#[test]
fn the_system_sends_between_words_of_the_user() {
    let mut sim = boot(config(2, 1));
    sim.cell(NodeId(0)).set_words(Addr(0), &[5, 6]);
    sim.spawn_checked(NodeId(0), async |cell| {
        let half = [1 << COMMAND_HEAD_DX_SHIFT, 1, 0x2_0000, 0, FLAG.0, 0, 4, 0];
        for word in &half[..5] {
            cell.host().store(window::page(KIND_PUT), 4, u64::from(*word)).await?;
        }
        let transfer = Transfer {
            words: 1,
            dest: Addr(0x2_0004),
            dest_flag: Some(FLAG),
            ..Transfer::default()
        };
        cell.put_by(By::System, NodeId(1), &transfer).await?;
        for word in &half[5..] {
            cell.host().store(window::page(KIND_PUT), 4, u64::from(*word)).await?;
        }
        Ok::<_, CommandError>(())
    });
    sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(FLAG, 2).await);
    sim.run(BOUND).unwrap();
    assert_eq!(sim.cell(NodeId(1)).words(Addr(0x2_0000), 2), [6, 5]);
    quiet(&mut sim);
}

/// Leaving out what has nothing to do changes nothing: the same events at the same instants.
#[test]
fn idle_cells_cost_nothing_and_change_nothing() {
    let run = |gated: bool| {
        let config = config(3, 2);
        let machine: Machine = of_cells(&config).expect("built");
        let mut machine = if gated { machine } else { machine.ungated() };
        machine.record(true);
        let mut sim = Ap1000pSim::new(machine, config).expect("boots");
        sim.spawn_checked(NodeId(1), async |cell| {
            cell.host().delay(Picos::from_us(7.013)).await;
            cell.put(NodeId(5), Addr(0), 300, Addr(DEMAND + 0xff0), Some(FLAG), None)
                .await?;
            cell.get(NodeId(3), Addr(0), 40, Addr(0x1000), Some(FLAG), None).await?;
            cell.wait_flag(FLAG, 1).await
        });
        sim.spawn_checked(NodeId(5), async |cell| cell.wait_flag(FLAG, 1).await);
        sim.run(BOUND).unwrap();
        sim.pass(Picos::from_us(5.0)).unwrap();
        let events = sim.backend_mut().take_events();
        (sim.now(), events)
    };
    let (gated, all) = (run(true), run(false));
    assert!(gated.1.len() > 100, "{}", gated.1.len());
    assert_eq!(gated, all);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let mut sim = boot(config(2, 2));
    sim.spawn_checked(NodeId(0), async |cell| {
        let put = |to, words, dest| Transfer {
            words,
            dest: Addr(dest),
            source_flag: (to == NodeId(1)).then_some(Addr(0)),
            ..Transfer::default()
        };
        let refused = async |to, words, dest| cell.put_stride(to, &put(to, words, dest)).await.unwrap_err();
        let outside = refused(NodeId(4), 1, 0).await;
        assert_eq!(
            outside,
            CommandError::NoCell {
                cell: NodeId(4),
                cells: 4
            }
        );
        assert_eq!(
            outside.to_string(),
            "cell 4 is not in the torus: it has 4 cells, numbered from 0"
        );
        assert_eq!(
            refused(NodeId(0), 1 << 20, 0).await,
            CommandError::TooLong { words: 1 << 20 }
        );
        assert_eq!(
            refused(NodeId(0), 1, 2).await,
            CommandError::Unaligned { addr: Addr(2) }
        );
        assert_eq!(refused(NodeId(1), 1, 0).await, CommandError::FlagAtZero);
        let end = cell.config().mem_bytes;
        for addr in [Addr(end), Addr(0xffff_fffc)] {
            let outside = CommandError::Outside { addr, end };
            assert_eq!(cell.wait_flag(addr, 1).await, Err(outside));
        }
        let stride = |item, gap| Stride { item, gap }.word();
        assert_eq!(stride(0, 0), Err(CommandError::Item { words: 0 }));
        assert_eq!(stride(257, 0), Err(CommandError::Item { words: 257 }));
        assert_eq!(stride(1, 1 << 23), Err(CommandError::Gap { words: 1 << 23 }));
        assert_eq!(Stride::NONE.word(), Ok(0));
        assert_eq!(
            cell.register_read(128).await,
            Err(CommandError::NoRegister { register: 128 })
        );
        let far = cell.put_registers(NodeId(1), Addr(0), 2, 127, None).await;
        assert_eq!(far, Err(CommandError::NoRegister { register: 127 }));
        let beyond = [window::register(ID), window::creg(127), window::bif(BIF_RECEIVE)].map(|last| last + 4);
        for addr in beyond.into_iter().chain([window::page(0) - 4, 0x8_0000_0000, 1 << 36]) {
            assert!(cell.host().reg_read(addr).await.is_err(), "{addr:#x}");
        }
        assert!(
            cell.host().reg_read(window::page(0)).await.is_err(),
            "pages cannot be read"
        );
        Ok::<_, CommandError>(())
    });
    sim.run(BOUND).unwrap();
    quiet(&mut sim);
}

#[test]
fn an_unknown_page_is_reported_to_the_system() {
    let mut sim = boot(config(2, 1));
    sim.spawn_checked(NodeId(0), async |cell| cell.host().store(window::page(3), 4, 1).await);
    sim.run(BOUND).unwrap();
    sim.pass(Picos::from_us(10.0)).unwrap();
    let kinds: Vec<FaultKind> = sim.take_faults().into_iter().map(|f| f.kind).collect();
    let refused = FaultKind::Refused {
        count: 1,
        page: 3,
        cause: REFUSED_PAGE,
    };
    assert_eq!(kinds, [refused]);
}

/// A region taken away while words are in it: the system copies all of them back, from where they are.
#[test]
fn a_region_that_is_taken_away_is_refilled_by_software() {
    let config = Config {
        hardware_refill: false,
        ..config(2, 1)
    };
    let mut sim = boot(config);
    let words = data(2, 60);
    sim.cell(NodeId(0)).set_words(Addr(0x1_0000), &words);
    sim.spawn_checked(NodeId(0), async |cell| {
        let host = cell.host();
        // Nobody copies back before the region is taken away.
        let enabled = host.reg_read(window::register(ENABLE)).await?;
        host.reg_write(window::register(ENABLE), 0).await?;
        // It waits for its page, and all others for it.
        let held = Transfer {
            words: 1,
            source: Addr(DEMAND),
            dest: Addr(0x3_0000),
            ..Transfer::default()
        };
        cell.put_stride(NodeId(1), &held).await?;
        for number in 0..60 {
            let transfer = Transfer {
                words: 1,
                source: Addr(0x1_0000 + 4 * number),
                dest: Addr(0x2_0000 + 4 * number),
                dest_flag: Some(FLAG),
                ..Transfer::default()
            };
            cell.put_stride(NodeId(1), &transfer).await?;
        }
        assert_ne!(host.reg_read(window::register(HELD)).await?, 0, "nothing was spilled");
        limit_region(&cell, 0).await?;
        host.reg_write(window::register(ENABLE), enabled).await?;
        Ok::<_, CommandError>(())
    });
    sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(FLAG, 60).await);
    sim.run(BOUND).unwrap();
    assert_eq!(sim.cell(NodeId(1)).words(Addr(0x2_0000), 60), words);
    quiet(&mut sim);
}

/// A program stores commands faster than they go, until its half of the spill region is full. Software empties the
/// region, and needs the processor for that.
#[test]
fn a_full_region_does_not_stop_who_empties_it() {
    const PUTS: u32 = 400;
    // 8 KB each.
    const LIMIT: u32 = 4;
    let config = Config {
        hardware_refill: false,
        ..config(2, 1)
    };
    for mut sim in both(&config) {
        sim.spawn_checked(NodeId(0), async |cell| {
            limit_region(&cell, LIMIT).await?;
            for _ in 0..PUTS {
                cell.put(NodeId(1), Addr(0), 400, Addr(0x2_0000), Some(FLAG), None)
                    .await?;
            }
            Ok::<_, CommandError>(())
        });
        sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(FLAG, PUTS).await);
        sim.run(Picos::from_us(100_000.0)).unwrap();
        only_a_full_region_was_reported(&mut sim);
    }
}

/// So it is with commands by system calls, and with remote stores.
#[test]
fn no_program_fills_a_region_that_its_processor_empties() {
    const PUTS: u32 = 400;
    const STORES: u32 = 1000;
    // 8 KB each.
    const LIMIT: u32 = 2;
    let config = Config {
        columns: 2,
        rows: 1,
        hardware_refill: false,
        ..Config::paper()
    };
    for stores in [false, true] {
        let mut sim = boot(config.clone());
        sim.spawn_checked(NodeId(0), async move |cell| {
            limit_region(&cell, LIMIT).await?;
            // All that follows waits for this register.
            cell.put_from_registers(NodeId(1), 5, 1, Addr(0x3_0000), None).await?;
            if stores {
                let at = Shared {
                    cell: NodeId(1),
                    addr: FLAG,
                };
                for number in 1..=STORES {
                    cell.store(at, 8, number.into()).await?;
                }
                cell.fence().await;
            } else {
                let put = Transfer {
                    words: 400,
                    dest: Addr(0x2_0000),
                    dest_flag: Some(FLAG),
                    ..Transfer::default()
                };
                for _ in 0..PUTS {
                    cell.put_by(By::System, NodeId(1), &put).await?;
                }
            }
            Ok::<_, DsmError>(())
        });
        let count = if stores { STORES } else { PUTS };
        sim.spawn_checked(NodeId(1), async move |cell| {
            cell.compute(Picos::from_us(5_000.0)).await;
            cell.put_registers(NodeId(0), Addr(0), 1, 5, None).await?;
            cell.wait_flag(FLAG, count).await
        });
        sim.run(Picos::from_us(100_000.0)).unwrap();
        only_a_full_region_was_reported(&mut sim);
    }
}

/// Remote stores fill their queue faster than they go, and the following words spill. Only the processor could copy
/// them back, and it waits for its load.
#[test]
fn a_load_does_not_wait_for_words_that_its_processor_copies_back() {
    const STORES: u32 = 60;
    let config = Config {
        columns: 2,
        rows: 1,
        hardware_refill: false,
        ..Config::paper()
    };
    for mut sim in both(&config) {
        sim.spawn_checked(NodeId(0), async |cell| {
            let at = |number: u32| Shared {
                cell: NodeId(1),
                addr: Addr(0x2_0000 + 8 * number),
            };
            let mut spilled = 0;
            for burst in 1..=STORES {
                for number in 0..burst {
                    cell.store(at(number), 8, u64::from(burst + number)).await?;
                }
                spilled |= cell.host().reg_read(window::register(STATUS)).await? & STATUS_SPILLED_MASK;
                let last = burst - 1;
                assert_eq!(cell.load(at(last), 8).await?, u64::from(burst + last));
            }
            assert_ne!(spilled, 0, "nothing was spilled");
            Ok::<_, DsmError>(())
        });
        sim.run(BOUND).unwrap();
        assert_eq!(sim.take_faults(), []);
    }
}

/// A register holds the replies of many GETs, until they fill the spill region amid a reply. Software, which empties
/// the region, does not wait for the end of that reply.
#[test]
fn a_region_full_of_replies_is_emptied_by_software() {
    const GETS: u32 = 1200;
    // 8 KB each: 1024 replies.
    const LIMIT: u32 = 1;
    let config = Config {
        hardware_refill: false,
        ..config(2, 1)
    };
    for mut sim in both(&config) {
        sim.spawn_checked(NodeId(0), async |cell| {
            cell.get_registers(NodeId(1), 5, 1, Addr(0x3_0000), None).await?;
            for _ in 0..GETS {
                cell.get(NodeId(1), Addr(0), 0, Addr(0), Some(FLAG), None).await?;
            }
            cell.wait_flag(FLAG, GETS).await?;
            Ok::<_, CommandError>(())
        });
        sim.spawn_checked(NodeId(1), async |cell| {
            limit_region(&cell, LIMIT).await?;
            cell.compute(Picos::from_us(3_000.0)).await;
            let held = cell.host().reg_read(window::register(HELD)).await?;
            assert!(held >= SPILL_UNIT - 1, "{held} elements");
            cell.register_write(5, 1).await
        });
        sim.run(Picos::from_us(100_000.0)).unwrap();
    }
}

/// Two messages are refused one after the other. The last one is reported, whatever the system does when it comes.
#[test]
fn what_is_reported_during_an_interrupt_is_reported() {
    let mut sim = boot(config(2, 1));
    let beyond = Shared {
        cell: NodeId(1),
        addr: Addr(sim.cell(NodeId(1)).config().mem_bytes),
    };
    let mut between = 0;
    // The interrupt takes 2 us to begin, and some registers are read.
    for moment in 0..60 {
        sim.spawn_checked(NodeId(0), async move |cell| {
            cell.store(beyond, 4, 0).await?;
            cell.host().delay(Picos::from_ns(1_400 + 20 * moment)).await;
            // Registers 127 and 128.
            let word = 1 << COMMAND_HEAD_DX_SHIFT;
            for word in [word, 2, 4 * 127, 0, 0, 0, 0, 0] {
                cell.store_to_page(KIND_PUT | PAGE_AS_RECEIVE_MASK, word).await?;
            }
            Ok::<_, DsmError>(())
        });
        sim.run(BOUND).unwrap();
        sim.pass(Picos::from_us(60.0)).unwrap();
        // The word unit tells of the first one, too.
        let whys = sim.take_faults().into_iter().filter_map(|fault| match fault.kind {
            FaultKind::Broken { why, .. } => Some(why),
            _ => None,
        });
        let whys: Vec<u32> = whys.collect();
        assert_eq!(whys.last(), Some(&BROKEN_ADDRESS), "{moment}: {whys:?}");
        between += usize::from(whys.len() == 2);
    }
    assert!((1..60).contains(&between), "the moments are all alike: {between}");
}

/// Software that maps no page: the transfer waits, and so does who waits for it, but not for ever.
#[test]
fn a_fault_that_is_never_served_is_a_bounded_hang() {
    for (deaf, source, dest) in [(0, DEMAND, 0x2_0000), (1, 0, DEMAND + 0x2_0000)] {
        let mut sim = boot(config(2, 1));
        let host = sim.cell(NodeId(deaf)).host().clone();
        sim.spawn_checked(NodeId(deaf), async move |_| {
            host.reg_write(window::register(ENABLE), 0).await
        });
        sim.run(BOUND).unwrap();
        sim.spawn_checked(NodeId(0), async move |cell| {
            cell.put(NodeId(1), Addr(source), 4, Addr(dest), Some(FLAG), None).await
        });
        sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(FLAG, 1).await);
        let hang = sim.run(Picos::from_us(200.0)).unwrap_err();
        assert!(matches!(hang, SimError::Hang { .. }));
        assert!(hang.to_string().contains(&format!("PE {deaf}: busy")), "{hang}");
    }
}

#[test]
fn a_word_that_never_comes_is_a_bounded_hang() {
    let mut sim = boot(config(2, 1));
    sim.spawn_checked(NodeId(0), async |cell| cell.register_read(5).await.map(drop));
    let hang = sim.run(Picos::from_us(50.0)).unwrap_err();
    assert!(matches!(hang, SimError::Hang { .. }));
    assert!(hang.to_string().contains("0xb00000014"), "{hang}");
}

#[test]
fn settings_that_are_no_machine_are_refused() {
    let odd = Config {
        link_rate: 66.6,
        ..Config::paper()
    };
    let build = |config: &Config| rtl::build(config, &Probe::default());
    let error = build(&odd).err().expect("not built");
    assert!(error.to_string().contains("link_rate = 66.6 MB/s"), "{error}");
    let small = Config {
        mem_bytes: 1_048_576 + 4096,
        ..Config::paper()
    };
    let refused = Ap1000pSim::new(build(&small).unwrap(), small)
        .err()
        .expect("no such memory");
    assert!(matches!(refused, BootError::Memory { bytes: 1_052_672 }), "{refused}");
    let other = Ap1000pSim::new(build(&Config::paper()).unwrap(), config(3, 1));
    assert!(matches!(other.err(), Some(BootError::Cells { cells: 4, .. })));
}
