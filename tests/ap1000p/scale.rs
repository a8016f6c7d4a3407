//! The AP1000+ with 64 and 256 cells, and the nets that join all cells at once, S-net and B-net. The same programs run
//! on the RTL and on the golden model.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use tsunagi::ap1000p::bif_regs::*;
use tsunagi::ap1000p::golden::window::bif;
use tsunagi::ap1000p::host::{Ap1000pSim, BusError, Cell, Combine};
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::rtl::{self, NotBuilt};
use tsunagi::harness::backend::Backend;
use tsunagi::harness::exec::SimError;
use tsunagi::harness::seed::Seed;
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, NodeId, Picos};

use crate::machines::config;

const BOUND: Picos = Picos::from_ns(100_000_000);
const FLAG: Addr = Addr(0x6_0000);

type Sim = Ap1000pSim<Box<dyn Backend>>;

/// The machine on both backends, one after the other; a test's time and cycles are printed.
fn both(columns: u32, rows: u32, test: impl Fn(&mut Sim)) {
    let config = config(columns, rows);
    let backends: [(&str, Box<dyn Backend>); 2] = [
        ("RTL", rtl::build(&config, &Probe::default()).expect("built")),
        ("model", Box::new(ModelMachine::new(&config))),
    ];
    for (name, backend) in backends {
        let mut sim = Ap1000pSim::new(backend, config.clone()).expect("boots");
        let start = Instant::now();
        test(&mut sim);
        assert_eq!(sim.take_faults(), [], "{name}");
        let cycles = sim.now().0 / config.period.0;
        println!("{columns}x{rows} on {name}: {cycles} cycles in {:.1?}", start.elapsed());
    }
}

/// A word of a cell's memory before anything is sent.
fn word(cell: usize, number: usize) -> u32 {
    (cell << 20 | number) as u32 ^ 0x5a5a_1234
}

/// GETs of all from all, 16 words each, then a barrier, then what came is summed up over all cells.
async fn exchange(cell: Cell) -> u32 {
    const WORDS: usize = 16;
    let (me, cells) = (cell.id().index(), cell.cells());
    let to = |asked: usize| Addr(0x3_0000 + 0x40 * asked as u32);
    for turn in 0..cells {
        let asked = (me + turn) % cells;
        let source = Addr(0x40 * me as u32);
        let node = NodeId(asked as u16);
        cell.get(node, source, WORDS as u32, to(asked), Some(FLAG), None)
            .await
            .unwrap();
    }
    cell.wait_flag(FLAG, cells as u32).await.unwrap();
    let mut sum = 0_u32;
    for asked in 0..cells {
        let got = cell.words(to(asked), WORDS as u32);
        let expected: Vec<u32> = (0..WORDS).map(|n| word(asked, WORDS * me + n)).collect();
        assert_eq!(got, expected, "cell {me} from {asked}");
        sum = got.into_iter().fold(sum, u32::wrapping_add);
    }
    cell.barrier().await.unwrap();
    let total = cell.reduce(Combine::Sum, sum).await.unwrap();
    cell.barrier_by_flags().await.unwrap();
    cell.barrier_by_snet().await.unwrap();
    total
}

#[test]
fn all_of_64_cells_ask_all_and_sum_up() {
    both(8, 8, |sim| {
        let cells = sim.cells();
        for number in 0..cells {
            let words: Vec<u32> = (0..16 * cells).map(|n| word(number, n)).collect();
            sim.cell(NodeId(number as u16)).set_words(Addr(0), &words);
        }
        let joins = sim.spawn_all(exchange);
        sim.run(BOUND).unwrap();
        let all = (0..cells).flat_map(|cell| (0..16 * cells).map(move |n| word(cell, n)));
        let total = all.fold(0, u32::wrapping_add);
        for mut join in joins {
            assert_eq!(join.take(), Some(total));
        }
    });
}

#[test]
fn machines_of_256_cells_boot_and_pass_barriers() {
    both(16, 16, |sim| {
        let reached = Rc::new(RefCell::new(vec![0; sim.cells()]));
        sim.spawn_all(|cell| {
            let reached = reached.clone();
            async move {
                let me = cell.id().index();
                for round in 1..=3 {
                    cell.host().delay(Picos::from_ns(20 * ((me as u64 * 37) % 101))).await;
                    reached.borrow_mut()[me] = round;
                    match round {
                        1 => cell.barrier_by_snet().await.unwrap(),
                        2 => cell.barrier().await.unwrap(),
                        _ => cell.barrier_by_flags().await.unwrap(),
                    }
                    let least = *reached.borrow().iter().min().expect("there are cells");
                    assert!(
                        least >= round,
                        "cell {me} left barrier {round} before a cell came to it"
                    );
                }
            }
        });
        sim.run(BOUND).unwrap();
        assert_eq!(*reached.borrow(), vec![3; sim.cells()]);
    });
}

#[test]
fn reductions_and_barriers_take_any_number_of_cells() {
    for (columns, rows) in [(1, 1), (3, 1), (3, 2), (7, 1), (3, 3), (5, 4)] {
        both(columns, rows, |sim| {
            let cells = sim.cells() as u32;
            let rounds = 5;
            let reached = Rc::new(RefCell::new(vec![0; sim.cells()]));
            sim.spawn_all(|cell| {
                let reached = reached.clone();
                let mut rng = Seed::get().stream(&format!("late {}", cell.id()));
                async move {
                    let me = u32::from(cell.id().0);
                    for round in 1..=rounds {
                        cell.host().delay(Picos::from_ns(20 * rng.below(400))).await;
                        let value = |me: u32| (me * me + 7).wrapping_mul(round * 0x0101_0101);
                        let all = || (0..cells).map(value);
                        for (combine, expected) in [
                            (Combine::Sum, all().fold(0, u32::wrapping_add)),
                            (Combine::Max, all().max().unwrap()),
                            (Combine::Min, all().min().unwrap()),
                            (Combine::Or, all().fold(0, |a, b| a | b)),
                        ] {
                            assert_eq!(cell.reduce(combine, value(me)).await, Ok(expected), "{combine:?}");
                        }
                        reached.borrow_mut()[me as usize] = round;
                        cell.barrier().await.unwrap();
                        assert!(reached.borrow().iter().all(|&r| r >= round), "cell {me}, {round}");
                    }
                }
            });
            sim.run(BOUND).unwrap();
            assert_eq!(*reached.borrow(), vec![rounds; sim.cells()]);
        });
    }
}

/// All cells send at once; every cell gets every packet whole, once, and in the same order.
#[test]
fn all_cells_hear_the_same_over_the_bnet() {
    const PACKETS: usize = 6;
    for (columns, rows) in [(1, 1), (3, 2), (4, 4)] {
        both(columns, rows, |sim| {
            let cells = sim.cells();
            // A number that is nobody else's, then more.
            let packet = move |cell: usize, number: usize| -> Vec<u32> {
                let mut rng = Seed::get().stream(&format!("packet {number} of {cell}"));
                let words = [1, 2, 31, 32][rng.below(4) as usize];
                (0..words).map(|n| (cell << 24 | number << 16 | n) as u32).collect()
            };
            let heard = Rc::new(RefCell::new(vec![Vec::new(); cells]));
            for number in 0..cells {
                let node = NodeId(number as u16);
                sim.spawn_checked(node, async move |cell| {
                    for n in 0..PACKETS {
                        cell.bus_send(&packet(number, n)).await?;
                    }
                    Ok::<_, BusError>(())
                });
                let heard = heard.clone();
                sim.spawn_checked(node, async move |cell| {
                    for n in 0..PACKETS * cells {
                        // Some are slow: the bus waits for them.
                        if (n + number) % 5 == 0 {
                            cell.host().delay(Picos::from_ns(4000)).await;
                        }
                        let words = cell.bus_receive().await?;
                        heard.borrow_mut()[number].push(words);
                    }
                    Ok::<_, BusError>(())
                });
            }
            sim.run(BOUND).unwrap();
            let heard = heard.borrow();
            assert!(heard.iter().all(|other| *other == heard[0]), "not the same everywhere");
            let mut all: Vec<Vec<u32>> = (0..cells)
                .flat_map(|c| (0..PACKETS).map(move |n| packet(c, n)))
                .collect();
            let mut got = heard[0].clone();
            let of = |cell: usize| {
                got.iter()
                    .filter(|p| p[0] as usize >> 24 == cell)
                    .cloned()
                    .collect::<Vec<_>>()
            };
            for cell in 0..cells {
                let sent: Vec<_> = (0..PACKETS).map(|n| packet(cell, n)).collect();
                assert_eq!(of(cell), sent, "in the order in which cell {cell} sent them");
            }
            got.sort();
            all.sort();
            assert_eq!(got, all);
        });
    }
}

#[test]
fn what_the_nets_cannot_do_is_refused() {
    both(2, 1, |sim| {
        sim.spawn_checked(NodeId(0), async |cell| {
            let host = cell.host();
            for words in [0, 33] {
                assert_eq!(cell.bus_send(&vec![1; words]).await, Err(BusError::Length { words }));
            }
            for offset in [BIF_STATE, BIF_RECEIVE, BIF_RECEIVE + 4] {
                assert!(host.reg_write(bif(offset), 1).await.is_err(), "{offset:#x}");
            }
            assert!(host.reg_read(bif(BIF_RECEIVE)).await.is_err(), "there is no word");
            // A packet that would be too long can still be completed.
            for word in 0..31 {
                host.reg_write(bif(BIF_SEND), word).await?;
            }
            assert!(host.reg_write(bif(BIF_SEND), 31).await.is_err(), "the last place");
            host.reg_write(bif(BIF_SEND_LAST), 31).await?;
            assert_eq!(cell.bus_receive().await?, (0..32).collect::<Vec<_>>());
            // A cell that does not listen does not stop the bus; a stranger's arrival is none.
            host.reg_write(bif(BIF_MODE), 0).await?;
            host.reg_write(bif(BIF_MEMBER), 0).await?;
            host.reg_write(bif(BIF_ARRIVE), 3).await?;
            assert_eq!(host.reg_read(bif(BIF_STATE)).await? & BIF_STATE_WAITING_MASK, 0);
            Ok::<_, BusError>(())
        });
        sim.spawn_checked(NodeId(1), async |cell| {
            assert_eq!(cell.bus_receive().await?.len(), 32);
            cell.host().delay(Picos::from_us(50.0)).await;
            cell.bus_send(&[5]).await?;
            assert_eq!(cell.bus_receive().await?, [5]);
            // The only member that is left.
            Ok::<_, BusError>(cell.barrier_by_snet().await?)
        });
        sim.run(BOUND).unwrap();
    });
    let many = rtl::build(&config(32, 32), &Probe::default()).err();
    assert_eq!(many, Some(NotBuilt::Cells { cells: 1024 }));
}

/// A cell that does not come is a hang, told with what everybody waits for; one that does not receive, too.
#[test]
fn who_does_not_come_is_a_bounded_hang() {
    both(2, 1, |sim| {
        sim.spawn(NodeId(0), async |cell| cell.barrier_by_snet().await);
        let hang = sim.run(Picos::from_us(100.0)).unwrap_err();
        assert!(matches!(hang, SimError::Hang { .. }), "{hang}");
    });
    both(2, 1, |sim| {
        sim.spawn_checked(NodeId(0), async |cell| {
            for _ in 0..3 {
                cell.bus_send(&[7; 32]).await?;
                cell.bus_receive().await?;
            }
            Ok::<_, BusError>(())
        });
        let hang = sim.run(Picos::from_us(500.0)).unwrap_err();
        assert!(hang.to_string().contains("B-net"), "{hang}");
    });
}
