//! `send` and `recv`: order, rings that miss and that are full, large messages, and what makes no sense.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use tsunagi::ap1000p::golden::ring::WORDS_MOST_IN_ANY;
use tsunagi::ap1000p::host::{Message, Received, RingError, RingSize, Served};

const RING: Addr = Addr(0x2_0000);

fn word(cell: u16, at: u32) -> u32 {
    u32::from(cell) << 24 | at
}

type Sim = Ap1000pSim<AnyBackend>;

/// The test on the RTL and on the model: cells whose first 32 K words all differ.
fn on_both(config: Config, test: impl Fn(&mut Sim)) {
    for mut sim in super::both(&config) {
        for cell in 0..sim.cells() as u16 {
            let words: Vec<u32> = (0..0x8000).map(|at| word(cell, at)).collect();
            sim.cell(NodeId(cell)).set_words(Addr(0), &words);
        }
        test(&mut sim);
    }
}

/// Every message goes through the ring whole.
fn by_ring(columns: u32, rows: u32) -> Config {
    Config {
        rendezvous_words: WORDS_MOST_IN_ANY,
        ..config(columns, rows)
    }
}

fn no_faults(sim: &mut Sim) {
    assert_eq!(sim.take_faults(), []);
}

/// Runs until nothing goes on by itself.
fn settle(sim: &mut Sim) {
    sim.run(BOUND).unwrap();
    while sim.moves() {
        sim.pass(Picos::from_us(20.0)).unwrap();
    }
}

/// The next messages of a cell, this many.
fn received(sim: &mut Sim, cell: u16, messages: usize) -> Vec<Received> {
    let mut came = sim.spawn(NodeId(cell), async move |cell| {
        let mut came = Vec::new();
        for _ in 0..messages {
            came.push(cell.recv().await.unwrap());
        }
        came
    });
    sim.run(BOUND).unwrap();
    came.take().unwrap()
}

fn expected(from: u16, tag: u32, at: u32, words: u32) -> Received {
    Received {
        from: NodeId(from),
        tag,
        words: (at..at + words).map(|at| word(from, at)).collect(),
    }
}

#[test]
fn all_send_to_all() {
    // Some through the rings, some in their descriptors' wake; and all through the rings.
    for config in [config(2, 2), by_ring(2, 2)] {
        on_both(config, |sim| {
            let joins = sim.spawn_all(|cell| async move {
                cell.open_ring(RING, RingSize::K128).await.unwrap();
                cell.barrier_by_snet().await.unwrap();
                for round in 0..6 {
                    for to in 0..4 {
                        let words = 13 * round + u32::from(to);
                        cell.send(NodeId(to), round, Addr(0x100 * round), words, Some(FLAG))
                            .await
                            .unwrap();
                    }
                }
                let mut came = Vec::new();
                for _ in 0..24 {
                    came.push(cell.recv().await.unwrap());
                }
                cell.wait_flag(FLAG, 24).await.unwrap();
                came
            });
            sim.run(BOUND).unwrap();
            for (to, mut join) in (0..).zip(joins) {
                let came = join.take().unwrap();
                for from in 0..4 {
                    let of: Vec<&Received> = came.iter().filter(|message| message.from == NodeId(from)).collect();
                    let want: Vec<Received> = (0..6)
                        .map(|round| expected(from, round, 0x40 * round, 13 * round + to))
                        .collect();
                    assert_eq!(of, want.iter().collect::<Vec<_>>(), "from {from} to {to}");
                }
                let served = sim.cell(NodeId(to as u16)).rings_served();
                assert_eq!(served, Served { misses: 1, full: 0 });
            }
            no_faults(sim);
        });
    }
}

/// The system takes what is in a full ring, again and again, and the program finds all of it in order.
#[test]
fn a_full_ring_loses_nothing() {
    // A ring is 32768 words, a message 1008: 32 and a half.
    let config = Config {
        overflow_bytes: 393_216,
        ..by_ring(2, 1)
    };
    on_both(config, |sim| {
        sim.spawn_checked(NodeId(1), async |cell| cell.open_ring(RING, RingSize::K128).await);
        sim.run(BOUND).unwrap();
        let mut tag = 0;
        let mut took = 0;
        // All at once, so that two times all is taken out; then read but a part, and again.
        for (send, take) in [(80, 10), (40, 90), (50, 70)] {
            sim.spawn_checked(NodeId(0), async move |cell| {
                for tag in tag..tag + send {
                    cell.send(NodeId(1), tag, Addr(4 * tag), 1000, None).await?;
                }
                Ok::<_, CommandError>(())
            });
            tag += send;
            settle(sim);
            for message in received(sim, 1, take) {
                assert_eq!(message, expected(0, took, took, 1000));
                took += 1;
            }
        }
        assert_eq!(took, tag);
        assert_eq!(sim.cell(NodeId(1)).rings_served(), Served { misses: 1, full: 5 });
        no_faults(sim);
    });
}

/// What a full ring held is in the cell's memory, and copying it takes the processor's time.
#[test]
fn what_a_full_ring_held_is_in_memory_and_was_copied() {
    let times: Vec<Picos> = [400, 4000]
        .map(|ns| {
            let config = Config {
                overflow_slot: Picos::from_ns(ns),
                ..by_ring(2, 1)
            };
            let took = Rc::new(std::cell::Cell::new(Picos::ZERO));
            let into = took.clone();
            on_both(config, move |sim| {
                sim.spawn_checked(NodeId(1), async |cell| cell.open_ring(RING, RingSize::K128).await);
                sim.run(BOUND).unwrap();
                let top = sim.cell(NodeId(1)).memory(|memory| memory.size()) as u32;
                let start = sim.now();
                sim.spawn_checked(NodeId(0), async |cell| {
                    for tag in 0..33 {
                        cell.send(NodeId(1), tag, Addr(4 * tag), 1000, None).await?;
                    }
                    cell.send(NodeId(1), 33, Addr(0), 1, None).await?;
                    Ok::<_, CommandError>(())
                });
                sim.spawn_checked(NodeId(1), async |cell| {
                    cell.host().delay(Picos::from_us(3000.0)).await;
                    Ok::<_, CommandError>(())
                });
                settle(sim);
                into.set(sim.now() - start);
                // The first block is the first of the 256 KB at the top: header, tag, and the words of cell 0.
                assert_eq!(
                    sim.cell(NodeId(1)).words(Addr(top - 0x4_0000), 4),
                    [1000, 0, word(0, 0), word(0, 1)]
                );
                no_faults(sim);
            });
            took.get()
        })
        .into();
    // 32 whole messages were copied, 126 slots each, for 3.6 us more a slot.
    let more = (times[1] - times[0]).as_us();
    assert!(more > 10_000.0, "{more} us");
}

/// Where the system's memory for it ends, a message is given up and told, and the others are as they should be.
#[test]
fn a_full_ring_and_no_memory_is_reported() {
    for (blocks, kept) in [(0, 32), (200, 83)] {
        // 126 slots a message, and 32 a block: 4032 slots of the ring's 4095 are full messages.
        let config = Config {
            overflow_bytes: blocks * 1024,
            ..by_ring(2, 1)
        };
        on_both(config, |sim| {
            sim.spawn_checked(NodeId(1), async |cell| cell.open_ring(RING, RingSize::K128).await);
            sim.run(BOUND).unwrap();
            sim.spawn_checked(NodeId(0), async move |cell| {
                for tag in 0..kept + 2 {
                    cell.send(NodeId(1), tag, Addr(4 * tag), 1000, None).await?;
                }
                Ok::<_, CommandError>(())
            });
            settle(sim);
            let faults: Vec<FaultKind> = sim.take_faults().into_iter().map(|f| f.kind).collect();
            let full = FaultKind::RingFull { context: 1, slots: 126 };
            let told = faults.iter().filter(|kind| **kind == full).count();
            assert_eq!(told, 2, "{faults:?}");
            assert!(full.to_string().contains("set overflow_bytes higher"), "{full}");
            for (tag, message) in (0..).zip(received(sim, 1, kept as usize)) {
                assert_eq!(message, expected(0, tag, tag, 1000));
            }
            // There is room again.
            sim.spawn_checked(NodeId(0), async |cell| {
                cell.send(NodeId(1), 500, Addr(0), 1000, None).await
            });
            assert_eq!(received(sim, 1, 1), [expected(0, 500, 0, 1000)]);
            no_faults(sim);
        });
    }
}

#[test]
fn a_message_that_no_ring_takes_is_reported_and_harms_nobody() {
    on_both(by_ring(2, 1), |sim| {
        sim.spawn_checked(NodeId(0), async |cell| {
            cell.send(NodeId(1), 1, Addr(0), 6, Some(FLAG)).await?;
            cell.put(NodeId(1), Addr(0), 4, Addr(0x5_0000), Some(OTHER_FLAG), None)
                .await?;
            cell.wait_flag(FLAG, 1).await
        });
        sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(OTHER_FLAG, 1).await);
        settle(sim);
        let kinds = |sim: &mut Sim| -> Vec<FaultKind> { sim.take_faults().into_iter().map(|f| f.kind).collect() };
        let told = |why| FaultKind::Broken {
            x: 0,
            y: 0,
            kind: PAGE_SEND_MASK,
            why,
        };
        assert_eq!(
            kinds(sim),
            [FaultKind::NoRing { context: 1, slots: 1 }, told(BROKEN_RING)]
        );
        // Longer than the ring, which the library does not send: told, not waited for.
        let mut came = sim.spawn(NodeId(1), async |cell| {
            cell.open_ring(RING, RingSize::K128).await.unwrap();
            cell.recv().await
        });
        sim.spawn_checked(NodeId(0), async |cell| {
            cell.host().delay(Picos::from_us(20.0)).await;
            let words = WORDS_MOST_IN_ANY + 1;
            for word in [1 << COMMAND_HEAD_DX_SHIFT, words, 0, 0, 0, 0, words, 2] {
                cell.store_to_page(KIND_PUT | PAGE_SEND_MASK, word).await?;
            }
            cell.send(NodeId(1), 3, Addr(0), 6, None).await
        });
        sim.run(BOUND).unwrap();
        assert_eq!(came.take().unwrap().unwrap(), expected(0, 3, 0, 6));
        assert_eq!(kinds(sim), [told(BROKEN_RING_SIZE)]);
    });
}

const THRESHOLD: u32 = 32;

/// Around the threshold and far from it, into vectors and into memory: the words are the same. Only messages through
/// the ring take slots.
#[test]
fn large_messages_are_fetched_by_their_receiver() {
    const LENGTHS: [u32; 9] = [
        0,
        THRESHOLD - 1,
        THRESHOLD,
        THRESHOLD + 1,
        2047,
        2048,
        2049,
        9000,
        32_000,
    ];
    // Slots of the first four, then one each.
    const SLOTS: u32 = 1 + 5 + 5 + 6;
    on_both(config(2, 1), |sim| {
        sim.spawn_checked(NodeId(1), async |cell| cell.open_ring(RING, RingSize::K128).await);
        sim.run(BOUND).unwrap();
        for into in [false, true] {
            sim.spawn_checked(NodeId(0), async |cell| {
                for (tag, words) in (0..).zip(LENGTHS) {
                    cell.send(NodeId(1), tag, Addr(4 * tag), words, Some(FLAG)).await?;
                }
                Ok::<_, CommandError>(())
            });
            settle(sim);
            // The receiver is late: what is large has not been read.
            let rounds = 1 + u32::from(into);
            assert_eq!(sim.cell(NodeId(0)).word(FLAG), (rounds - 1) * LENGTHS.len() as u32 + 3);
            let came = sim.spawn(NodeId(1), async move |cell| {
                let mut came = Vec::new();
                for _ in LENGTHS {
                    came.push(if into {
                        let Message { from, tag, words } = cell.recv_into(Addr(0x4_0000), 0x8000).await.unwrap();
                        Received {
                            from,
                            tag,
                            words: cell.words(Addr(0x4_0000), words),
                        }
                    } else {
                        cell.recv().await.unwrap()
                    });
                }
                came
            });
            settle(sim);
            let mut came = came;
            for ((tag, words), message) in (0..).zip(LENGTHS).zip(came.take().unwrap()) {
                assert_eq!(message, expected(0, tag, tag, words));
            }
            assert_eq!(sim.cell(NodeId(0)).word(FLAG), rounds * LENGTHS.len() as u32);
            let mut slot = sim.spawn(NodeId(1), async |cell| {
                cell.host().reg_read(window::register(RING0_WRITE)).await.unwrap()
            });
            sim.run(BOUND).unwrap();
            // Those of 33 words and more are a descriptor.
            let moved = rounds * (SLOTS - 6 + LENGTHS.len() as u32 - 3);
            assert_eq!(slot.take(), Some(RING.0 / RING_BYTES + moved));
        }
        no_faults(sim);
    });
}

/// Many more than there are descriptors, of both cells to each other at once, to receivers that are late.
#[test]
fn many_large_messages_in_both_directions() {
    const MESSAGES: u32 = 40;
    on_both(config(2, 1), |sim| {
        let order = Rc::new(RefCell::new(Vec::new()));
        let joins = sim.spawn_all(|cell| {
            let order = order.clone();
            async move {
                let other = NodeId(1 - cell.id().0);
                cell.open_ring(RING, RingSize::K128).await.unwrap();
                cell.barrier_by_snet().await.unwrap();
                for tag in 0..MESSAGES {
                    let words = THRESHOLD - 1 + tag % 3 + 200 * (tag % 2);
                    cell.send(other, tag, Addr(4 * tag), words, Some(FLAG)).await.unwrap();
                }
                order.borrow_mut().push("sent");
                cell.host().delay(Picos::from_us(300.0)).await;
                let mut came = Vec::new();
                for _ in 0..MESSAGES {
                    came.push(cell.recv().await.unwrap());
                }
                cell.wait_flag(FLAG, MESSAGES).await.unwrap();
                order.borrow_mut().push("received");
                came
            }
        });
        settle(sim);
        // Nobody had to receive so that the other could send.
        assert_eq!(*order.borrow(), ["sent", "sent", "received", "received"]);
        for (to, mut join) in (0..2_u16).zip(joins) {
            for (tag, message) in (0..).zip(join.take().unwrap()) {
                let words = THRESHOLD - 1 + tag % 3 + 200 * (tag % 2);
                assert_eq!(message, expected(1 - to, tag, tag, words));
            }
        }
        no_faults(sim);
    });
}

/// Programs of one cell that receive at once get all messages, each one; and one that only looks takes its share.
#[test]
fn programs_share_a_ring() {
    on_both(config(2, 1), |sim| {
        sim.spawn_checked(NodeId(1), async |cell| cell.open_ring(RING, RingSize::K128).await);
        sim.run(BOUND).unwrap();
        let tags = Rc::new(RefCell::new(Vec::new()));
        let receive = |cell: Cell, tags: Rc<RefCell<Vec<u32>>>, messages: u32| async move {
            for _ in 0..messages {
                let message = cell.recv().await.unwrap();
                assert_eq!(message, expected(0, message.tag, 0, 30 + message.tag));
                tags.borrow_mut().push(message.tag);
            }
        };
        for messages in [3, 5] {
            let tags = tags.clone();
            sim.spawn(NodeId(1), |cell| receive(cell, tags, messages));
        }
        let looked = tags.clone();
        sim.spawn(NodeId(1), async move |cell| {
            loop {
                cell.host().delay(Picos::from_us(1.0)).await;
                if let Some(message) = cell.recv_of(1).await.unwrap() {
                    looked.borrow_mut().push(message.tag);
                    break;
                }
            }
        });
        sim.spawn_checked(NodeId(0), async |cell| {
            for tag in 0..9 {
                cell.send(NodeId(1), tag, Addr(0), 30 + tag, None).await?;
            }
            Ok::<_, CommandError>(())
        });
        settle(sim);
        let mut tags = tags.take();
        tags.sort_unstable();
        assert_eq!(tags, (0..9).collect::<Vec<_>>());
        no_faults(sim);
    });
}

/// A header that is none of the library's: no such cell, no such words.
#[test]
fn a_forged_descriptor_is_refused() {
    on_both(config(2, 1), |sim| {
        sim.spawn_checked(NodeId(1), async |cell| cell.open_ring(RING, RingSize::K128).await);
        sim.run(BOUND).unwrap();
        sim.spawn_checked(NodeId(0), async |cell| {
            cell.set_words(Addr(0x100), &[0x2001, 0]);
            let large = 1 << 31 | 5;
            for (words, header) in [(2, large | 9 << 20), (2, large), (0, large)] {
                for word in [1 << COMMAND_HEAD_DX_SHIFT, words, 0, 0, 0x100, 0, header, 7] {
                    cell.store_to_page(KIND_PUT | PAGE_SEND_MASK, word).await?;
                }
            }
            Ok::<_, CommandError>(())
        });
        settle(sim);
        let mut came = sim.spawn(NodeId(1), async |cell| {
            let next = async || cell.recv_of(1).await;
            (next().await, next().await, next().await, next().await)
        });
        settle(sim);
        let (no_cell, unaligned, empty, none) = came.take().unwrap();
        let cell = NodeId(9);
        assert_eq!(
            no_cell,
            Err(RingError::Command(CommandError::NoCell { cell, cells: 2 }))
        );
        let addr = Addr(0x2001);
        assert_eq!(unaligned, Err(RingError::Command(CommandError::Unaligned { addr })));
        // A descriptor without words has those that were in the ring.
        assert!(matches!(empty, Ok(Some(_)) | Err(RingError::Command(_))), "{empty:?}");
        assert_eq!(none, Ok(None));
        no_faults(sim);
    });
}

#[test]
fn rings_that_make_no_sense_are_refused_by_name() {
    let mut sim = boot(config(2, 1));
    sim.spawn_checked(NodeId(0), async |cell| {
        let odd = cell.open_ring(Addr(0x1_0000), RingSize::K128).await.unwrap_err();
        assert_eq!(
            odd.to_string(),
            "a ring buffer of 131072 B begins at a multiple of that, not at 0x00010000"
        );
        let far = cell.open_ring(Addr(0x6_0000), RingSize::K128).await.unwrap_err();
        assert!(matches!(far, RingError::Outside { end: 0x7_0000, .. }), "{far}");
        let large = cell.open_ring(Addr(0), RingSize::M8).await.unwrap_err();
        assert!(large.to_string().contains("mem_bytes"), "{large}");
        assert_eq!(cell.recv().await, Err(RingError::None { context: 1 }));
        cell.open_ring(RING, RingSize::K128).await?;
        assert_eq!(
            cell.open_ring(RING, RingSize::K128).await,
            Err(RingError::Twice { context: 1 })
        );
        assert_eq!(cell.recv_of(1).await, Ok(None));
        let words = 1 << 20;
        let long = cell.send(NodeId(1), 0, Addr(0), words, None).await;
        assert_eq!(long, Err(CommandError::TooLong { words }));
        let odd = cell.send(NodeId(1), 0, Addr(2), 1, None).await;
        assert_eq!(odd, Err(CommandError::Unaligned { addr: Addr(2) }));
        let far = cell.recv_into(Addr(0x6_fff0), 5).await.unwrap_err();
        assert_eq!(
            far.to_string(),
            "no room for 5 words at 0x0006fff0: user memory ends at 0x70000"
        );
        let odd = cell.recv_into(Addr(0x102), 5).await;
        assert_eq!(odd, Err(CommandError::Unaligned { addr: Addr(0x102) }.into()));
        // What there is no room for stays.
        for (words, room) in [(6, 5), (100, 99)] {
            cell.send(NodeId(0), 0, Addr(0), words, None).await?;
            let refused = cell.recv_into(Addr(0x1000), room).await;
            assert_eq!(refused, Err(RingError::Room { words, room }));
            assert_eq!(cell.recv_into(Addr(0x1000), words).await?.words, words);
        }
        Ok::<_, RingError>(())
    });
    sim.run(BOUND).unwrap();
    quiet(&mut sim);
}

#[test]
fn a_ring_that_is_never_served_is_a_bounded_hang() {
    let mut sim = boot(config(2, 1));
    sim.spawn_checked(NodeId(1), async |cell| {
        // The system is told nothing.
        cell.host().reg_write(window::register(ENABLE), 0).await?;
        cell.open_ring(RING, RingSize::K128).await?;
        cell.recv().await.map(drop)
    });
    sim.spawn_checked(NodeId(0), async |cell| {
        cell.host().delay(Picos::from_us(20.0)).await;
        cell.send(NodeId(1), 1, Addr(0), 6, None).await
    });
    let hang = sim.run(Picos::from_us(200.0)).unwrap_err();
    assert!(matches!(hang, SimError::Hang { .. }));
    assert!(hang.to_string().contains("a flag"), "{hang}");
}
