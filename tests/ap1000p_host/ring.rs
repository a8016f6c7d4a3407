//! `send` and `recv`: order, rings that miss and that are full, and what makes no sense.

use super::*;
use tsunagi::ap1000p::host::{Received, RingError, RingSize, Served};

const RING: Addr = Addr(0x2_0000);

fn word(cell: u16, at: u32) -> u32 {
    u32::from(cell) << 24 | at
}

/// Cells whose first 32 K words all differ.
fn filled(columns: u32, rows: u32) -> Ap1000pSim<Machine> {
    let sim = boot(config(columns, rows));
    for cell in 0..sim.cells() as u16 {
        let words: Vec<u32> = (0..0x8000).map(|at| word(cell, at)).collect();
        sim.cell(NodeId(cell)).set_words(Addr(0), &words);
    }
    sim
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
    let mut sim = filled(2, 2);
    let joins = sim.spawn_all(|cell| async move {
        cell.open_ring(RING, RingSize::K128).await.unwrap();
        cell.barrier().await.unwrap();
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
        assert_eq!(
            sim.cell(NodeId(to as u16)).rings_served(),
            Served { misses: 1, full: 0 }
        );
    }
    quiet(&mut sim);
}

/// The system takes what is in a full ring, and the program finds all of it in order.
#[test]
fn a_full_ring_loses_nothing() {
    let mut sim = filled(2, 1);
    let there = sim.cell(NodeId(1));
    sim.spawn_checked(NodeId(1), async |cell| cell.open_ring(RING, RingSize::K128).await);
    sim.run(BOUND).unwrap();
    // A ring is 32768 words, a message 1008.
    sim.spawn_checked(NodeId(0), async |cell| {
        for tag in 0..40 {
            cell.send(NodeId(1), tag, Addr(4 * tag), 1000, None).await?;
        }
        Ok::<_, CommandError>(())
    });
    sim.run(BOUND).unwrap();
    sim.pass(Picos::from_us(2000.0)).unwrap();
    assert_eq!(there.rings_served(), Served { misses: 1, full: 1 });
    let mut came = sim.spawn(NodeId(1), async |cell| {
        let mut came = Vec::new();
        for _ in 0..40 {
            came.push(cell.recv().await.unwrap());
        }
        came
    });
    sim.run(BOUND).unwrap();
    let came = came.take().unwrap();
    for (tag, message) in (0..).zip(came) {
        assert_eq!(message, expected(0, tag, tag, 1000));
    }
    quiet(&mut sim);
}

#[test]
fn a_message_that_no_ring_takes_is_told_and_harms_nobody() {
    let mut sim = filled(2, 1);
    sim.spawn_checked(NodeId(0), async |cell| {
        cell.send(NodeId(1), 1, Addr(0), 6, Some(FLAG)).await?;
        cell.put(NodeId(1), Addr(0), 4, Addr(0x5_0000), Some(OTHER_FLAG), None)
            .await?;
        cell.wait_flag(FLAG, 1).await
    });
    sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(OTHER_FLAG, 1).await);
    sim.run(BOUND).unwrap();
    sim.pass(Picos::from_us(20.0)).unwrap();
    let kinds =
        |sim: &mut Ap1000pSim<Machine>| -> Vec<FaultKind> { sim.take_faults().into_iter().map(|f| f.kind).collect() };
    let told = |why| FaultKind::Broken {
        x: 0,
        y: 0,
        kind: PAGE_SEND_MASK,
        why,
    };
    assert_eq!(
        kinds(&mut sim),
        [FaultKind::NoRing { context: 1, slots: 1 }, told(BROKEN_RING)]
    );
    // Longer than the ring: told, not waited for.
    let mut came = sim.spawn(NodeId(1), async |cell| {
        cell.open_ring(RING, RingSize::K128).await.unwrap();
        cell.recv().await
    });
    sim.spawn_checked(NodeId(0), async |cell| {
        cell.host().delay(Picos::from_us(20.0)).await;
        cell.send(NodeId(1), 2, Addr(0), 32_759, None).await?;
        cell.send(NodeId(1), 3, Addr(0), 6, None).await
    });
    sim.run(BOUND).unwrap();
    assert_eq!(came.take().unwrap().unwrap(), expected(0, 3, 0, 6));
    assert_eq!(kinds(&mut sim), [told(BROKEN_RING_SIZE)]);
}

#[test]
fn rings_that_make_no_sense_are_refused_by_name() {
    let mut sim = filled(2, 1);
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
        let words = (1 << 20) - 2;
        let long = cell.send(NodeId(1), 0, Addr(0), words, None).await;
        assert_eq!(long, Err(CommandError::TooLong { words }));
        let odd = cell.send(NodeId(1), 0, Addr(2), 1, None).await;
        assert_eq!(odd, Err(CommandError::Unaligned { addr: Addr(2) }));
        Ok::<_, RingError>(())
    });
    sim.run(BOUND).unwrap();
    quiet(&mut sim);
}

#[test]
fn a_ring_that_is_never_served_is_a_bounded_hang() {
    let mut sim = filled(2, 1);
    sim.spawn_checked(NodeId(1), async |cell| {
        // The system is told nothing.
        cell.host().reg_write(ENABLE, 0).await?;
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
