//! Distributed shared memory from programs, on the RTL and on the golden model.

use tsunagi::ap1000p::golden::window;
use tsunagi::ap1000p::host::{Ap1000pSim, CommandError, DsmError, FaultKind, Shared};
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::backend::AnyBackend;
use tsunagi::harness::seed::Seed;
use tsunagi::{Addr, NodeId, Picos};

use crate::machines::{self, config};

type Sim = Ap1000pSim<AnyBackend>;

const BOUND: Picos = Picos::from_ns(50_000_000);

/// The machine on both backends.
fn both(columns: u32, rows: u32, change: impl Fn(&mut Config)) -> [Sim; 2] {
    let mut config = config(columns, rows);
    change(&mut config);
    machines::both(&config)
}

fn shared(cell: u16, addr: u32) -> Shared {
    Shared {
        cell: NodeId(cell),
        addr: Addr(addr),
    }
}

/// Room for a local cache at its own size.
const MEMORY: u32 = 8 << 20;
const CACHE: Addr = Addr(2 << 20);
/// The bytes of Write Through Pages.
const THROUGH: std::ops::Range<u32> = 0x1_0000..0x2_0000;

fn write_through(sim: &mut Sim) {
    for number in 0..sim.cells() as u16 {
        sim.spawn_checked(NodeId(number), async |cell| cell.write_through(CACHE, THROUGH).await);
    }
    sim.run(BOUND).unwrap();
}

/// All cells load and store all sizes at once, each its own bytes in every memory. Each load finds the last store.
#[test]
fn loads_and_stores_of_all_sizes_do_what_a_memory_does() {
    does_what_a_memory_does(both(3, 2, |_| ()));
}

/// So it is where each cell works on copies of kilobytes in which all others store, too.
#[test]
fn so_they_do_with_copies() {
    let mut sims = both(3, 2, |config| config.mem_bytes = MEMORY);
    sims.iter_mut().for_each(write_through);
    does_what_a_memory_does(sims);
}

fn does_what_a_memory_does(sims: [Sim; 2]) {
    const BYTES: u32 = 64;
    for mut sim in sims {
        let cells = sim.cells() as u16;
        for from in 0..cells {
            let mut rng = Seed::get().stream(&format!("loads and stores of cell {from}"));
            let base = 0x1_0000 + BYTES * u32::from(from);
            sim.spawn_checked(NodeId(from), async move |cell| {
                let mut memory = vec![[0_u8; BYTES as usize]; cells.into()];
                for _ in 0..60 {
                    let to = rng.below(cells.into()) as u16;
                    let bytes = 1 << rng.below(4);
                    let at = rng.below((BYTES / bytes).into()) as u32 * bytes;
                    let there = &mut memory[usize::from(to)][at as usize..(at + bytes) as usize];
                    let place = shared(to, base + at);
                    if rng.chance(1, 2) {
                        let value = rng.bits();
                        there.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                        cell.store(place, bytes as u8, value).await?;
                    } else {
                        let mut want = [0; 8];
                        want[..bytes as usize].copy_from_slice(there);
                        let got = cell.load(place, bytes as u8).await?;
                        assert_eq!(got, u64::from_le_bytes(want), "{place:?}, {bytes} bytes");
                    }
                }
                cell.fence().await;
                for (to, want) in (0..).zip(&memory) {
                    for (at, &byte) in (0..).zip(want) {
                        assert_eq!(cell.load(shared(to, base + at), 1).await?, u64::from(byte));
                    }
                }
                Ok::<_, DsmError>(())
            });
        }
        sim.run(BOUND).unwrap();
        assert_eq!(sim.take_faults(), []);
    }
}

/// The physical address of another cell's communication register: a store fills the register. A load waits for a word
/// and empties it.
#[test]
fn registers_of_other_cells_have_addresses() {
    for mut sim in both(2, 1, |_| ()) {
        let there = sim.cell(NodeId(1)).torus().cell(1);
        let mut got = sim.spawn(NodeId(0), async move |cell| {
            let host = cell.host();
            host.reg_write(window::remote_creg(there, 5), 55).await.unwrap();
            host.reg_read(window::remote_creg(there, 6)).await
        });
        let mut word = sim.spawn(NodeId(1), async |cell| {
            let word = cell.register_read(5).await;
            cell.host().delay(Picos::from_us(5.0)).await;
            cell.register_write(6, 66).await.unwrap();
            word
        });
        sim.run(BOUND).unwrap();
        assert_eq!((got.take(), word.take()), (Some(Ok(66)), Some(Ok(55))));
        assert_eq!(sim.take_faults(), []);
    }
}

/// The memory of a copy has errors. A load of the copy ends with an exception; a store to it is reported and ends the
/// copy. The other cell has the stored word.
#[test]
fn errors_of_the_local_cache_are_reported() {
    for mut sim in both(2, 1, |config| config.mem_bytes = MEMORY) {
        write_through(&mut sim);
        let place = shared(1, 0x1_0400);
        sim.cell(NodeId(1)).set_word(place.addr, 5);
        sim.spawn_checked(NodeId(0), async move |cell| {
            assert_eq!(cell.load(place, 4).await?, 5);
            cell.memory(|memory| memory.inject_fault(CACHE.0 + 0x1_0400..CACHE.0 + 0x1_0500));
            let failed = DsmError::Exception { at: place, bytes: 4 };
            assert_eq!(cell.load(place, 4).await, Err(failed));
            cell.store(place, 4, 6).await?;
            cell.fence().await;
            Ok::<_, DsmError>(())
        });
        sim.run(BOUND).unwrap();
        sim.pass(Picos::from_ns(100_000)).unwrap();
        assert_eq!(sim.cell(NodeId(1)).word(place.addr), 6);
        let faults = sim.take_faults();
        let told = FaultKind::Other { cause: CAUSE_WORD_MASK };
        assert!(
            faults.len() == 1 && faults[0].kind == told && faults[0].node == NodeId(0),
            "{faults:?}"
        );
        sim.cell(NodeId(0)).memory(|memory| memory.clear_faults());
        sim.spawn_checked(NodeId(0), async move |cell| {
            assert_eq!(cell.load(place, 4).await?, 6);
            Ok::<_, DsmError>(())
        });
        sim.run(BOUND).unwrap();
    }
}

/// A kilobyte that cannot be read at its home, or not be written into the local cache, is no copy. The load ends with
/// an exception; the next load does not, once the error is gone.
#[test]
fn a_copy_that_does_not_come_is_an_exception() {
    for (cell, error) in [(1, 0x1_0500), (0, CACHE.0 + 0x1_0500)] {
        for mut sim in both(2, 1, |config| config.mem_bytes = MEMORY) {
            write_through(&mut sim);
            let place = shared(1, 0x1_0400);
            let [here, there] = [0, 1].map(|cell| sim.cell(NodeId(cell)));
            there.set_word(place.addr, 5);
            let wrong = [&here, &there][cell].clone();
            sim.spawn_checked(NodeId(0), async move |cell| {
                let failed = DsmError::Exception { at: place, bytes: 4 };
                for _ in 0..3 {
                    wrong.memory(|memory| memory.inject_fault(error..error + 4));
                    assert_eq!(cell.load(place, 4).await, Err(failed));
                    wrong.memory(|memory| memory.clear_faults());
                    assert_eq!(cell.load(place, 4).await?, 5);
                    cell.write_through(CACHE, THROUGH).await?;
                }
                // No memory at all.
                cell.write_through(CACHE, 0..2 * MEMORY).await?;
                let at = shared(1, MEMORY + 0x400);
                assert_eq!(cell.load(at, 4).await, Err(DsmError::Exception { at, bytes: 4 }));
                Ok::<_, DsmError>(())
            });
            sim.run(BOUND).unwrap();
        }
    }
}

/// A synchronising write may name a holder twice. One that names a cell outside the machine is refused before it asks
/// any holder.
#[test]
fn holders_are_asked_once_or_not_at_all() {
    for mut sim in both(2, 2, |config| config.mem_bytes = MEMORY) {
        write_through(&mut sim);
        let place = shared(0, 0x1_0400);
        sim.spawn_checked(NodeId(0), async move |cell| {
            let [one, two, far] = [1, 2, 4].map(NodeId);
            let none = DsmError::from(CommandError::NoCell { cell: far, cells: 4 });
            for _ in 0..3 {
                assert_eq!(cell.sync_write(&[place], &[one, far]).await, Err(none));
                cell.sync_write(&[place, place], &[one, two, one, one]).await?;
            }
            Ok::<_, DsmError>(())
        });
        sim.run(BOUND).unwrap();
        assert_eq!(sim.take_faults(), []);
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    for mut sim in both(2, 1, |config| config.mem_bytes = MEMORY) {
        let cells = 2;
        sim.spawn(NodeId(0), async move |cell| {
            let user_end = cell.memory_end();
            for addr in [Addr(1 << 20), Addr(6 << 20), Addr(0xffe0_0000)] {
                let refused = Err(DsmError::Cache { addr, user_end });
                assert_eq!(cell.write_through(addr, 0..0x1000).await, refused);
            }
            for (start, end) in [(0x800, 0x1000), (0, 0x1001), (0, (1 << 25) + 0x1000)] {
                let refused = Err(DsmError::Pages { start, end });
                assert_eq!(cell.write_through(CACHE, start..end).await, refused);
            }
            let load = async |at, bytes| cell.load(at, bytes).await.unwrap_err();
            let far = shared(2, 0);
            assert_eq!(load(far, 4).await, DsmError::NoCell { cell: NodeId(2), cells });
            let addr = Addr(1 << 25);
            assert_eq!(load(shared(1, addr.0), 4).await, DsmError::NotShared { addr });
            assert_eq!(load(shared(1, 0), 3).await, DsmError::Size { bytes: 3 });
            let addr = Addr(0x104);
            let askew = DsmError::Unaligned { addr, bytes: 8 };
            assert_eq!(load(shared(1, addr.0), 8).await, askew);
            assert_eq!(cell.store(shared(1, addr.0), 8, 0).await, Err(askew));

            // What only a program past the library can ask.
            let host = cell.host();
            let there = window::shared(cell.torus().cell(1), 0x100);
            assert!(host.load(1 << 35, 4).await.is_err(), "not the space");
            assert!(host.load(there, 5).await.is_err(), "no size");
            assert!(host.store(there, 0, 1).await.is_err(), "no size");
        });
        sim.run(BOUND).unwrap();
        assert_eq!(sim.take_faults(), [], "none of it reached the hardware");
    }
}

/// A refusal of the hardware is reported to the system, here or there. A load ends with an exception, a store is
/// acknowledged, and all goes on.
#[test]
fn what_cannot_be_done_is_reported_and_harms_nobody() {
    for mut sim in both(2, 1, |_| ()) {
        let memory = sim.cell(NodeId(0)).config().mem_bytes;
        sim.cell(NodeId(1)).set_word(Addr(0x100), 77);
        sim.spawn_checked(NodeId(0), async move |cell| {
            let beyond = tsunagi::net::torus::Cell { x: 2, y: 0 };
            let (host, no_cell) = (cell.host(), window::shared(beyond, 0));
            assert!(host.load(no_cell, 4).await.is_err());
            assert!(host.store(no_cell, 4, 0).await.is_ok(), "a store is not waited for");
            let beyond = shared(1, memory);
            assert_eq!(
                cell.load(beyond, 4).await,
                Err(DsmError::Exception { at: beyond, bytes: 4 })
            );
            cell.store(beyond, 4, 0).await?;
            cell.fence().await;
            assert_eq!(cell.load(shared(1, 0x100), 4).await?, 77);
            Ok::<_, DsmError>(())
        });
        sim.run(BOUND).unwrap();
        sim.pass(Picos::from_ns(100_000)).unwrap();
        let faults = sim.take_faults();
        let here = faults.iter().filter(|f| f.node == NodeId(0));
        assert!(here.clone().count() > 0 && here.clone().all(|f| matches!(f.kind, FaultKind::Refused { .. })));
        let broken = |kind: &FaultKind| matches!(kind, FaultKind::Broken { why, .. } if *why == BROKEN_BUS);
        let there = faults.iter().any(|f| f.node == NodeId(1) && broken(&f.kind));
        assert!(there, "{faults:?}");
    }
}
