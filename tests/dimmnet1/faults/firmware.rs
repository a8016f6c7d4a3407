//! Firmware that does wrong: it never ends a stop, rewrites headers to what cannot be, stores where nothing takes it.

use tsunagi::dimmnet1::firmware::{Tables, image, image_of};
use tsunagi::dimmnet1::golden::packet::get;
use tsunagi::r3000::asm::Source;

use super::*;
use crate::backends::{build, on_both};

on_both! {
    a_firmware_that_runs_away_is_halted_and_the_link_goes_on
    a_processor_that_is_halted_in_a_stop_blocks_nothing
    a_header_that_becomes_another_is_looked_at_anew
    a_header_is_not_to_be_written_while_its_packet_moves
    stores_that_nothing_takes_are_counted
    data_go_to_no_address_that_is_none
}

/// Core cycles of the watchdog.
const WATCHDOG: u32 = 1000;

/// A machine whose processors wait for a stop, and then run this at each.
fn with_handler(kind: Kind, handler: &str) -> Rig {
    let text = format!(
        "        .equ REGISTERS, 0x80000000\n\
         \x20       lui  $gp, REGISTERS >> 16\n\
         wait:   lw   $t0, RX_STOP($gp)\n\
         \x20       nop\n\
         \x20       andi $t0, $t0, RX_STOP_STOPPED_MASK\n\
         \x20       beqz $t0, wait\n\
         \x20       nop\n\
         {handler}\n\
         \x20       nop\n\
         \x20       nop\n\
         \x20       nop\n\
         \x20       b    wait\n\
         \x20       nop\n"
    );
    let source = Source {
        name: "handler.s".into(),
        text,
    };
    let image = image_of(&[source], &Tables::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut config = Config::paper();
    (config.nodes, config.wait_bound, config.watchdog) = (3, Picos::from_ns(400_000), WATCHDOG);
    let sim = Dimmnet1Sim::with_program(build(kind, &config), &config, Some(&image.words));
    Rig::of(sim.unwrap_or_else(|error| panic!("{error}")), config)
}

/// A packet for the processor of B.
fn message() -> Message {
    Message {
        kind: TYPE_INDIRECT,
        ..Message::push(B, Place::new(layout::COMMON, 0x1000))
    }
}

/// Loads the firmware of the library into all processors, and lets them run. Legal traffic needs it.
fn restart(rig: &mut Rig) {
    let image = image(&layout::tables(&rig.config)).unwrap();
    for node in [A, B, C] {
        rig.store(node, [(CONTROL, CONTROL_RECEIVE_MASK)]);
        let words = image.words.chunks(2).map(|pair| {
            let high = pair.get(1).copied().unwrap_or(0);
            u64::from(high) << 32 | u64::from(pair[0])
        });
        rig.store(node, (SRAM..).step_by(8).zip(words).collect::<Vec<_>>());
        rig.store(
            node,
            [(STATUS, u64::MAX), (CONTROL, CONTROL_RUN_MASK | CONTROL_RECEIVE_MASK)],
        );
    }
}

fn a_firmware_that_runs_away_is_halted_and_the_link_goes_on(kind: Kind) {
    let mut rig = with_handler(kind, "away:   b    away\n        nop");
    let before = rig.memories();
    // A packet behind the stop comes through when the watchdog has ended it.
    let behind = rig.sim.spawn(C, async |node| {
        node.compute(Picos::from_ns(3000)).await;
        node.send(&Message::push(B, memory(TO)), Addr(0), 1000).await
    });
    rig.refused(message(), Addr(0), 464, Reason::Timeout);
    let mut behind = behind;
    assert_eq!(behind.take(), Some(Ok(())));
    let status = rig.load(B, STATUS);
    assert!(status & STATUS_FIRED_MASK != 0 && status & STATUS_REFUSED_MASK != 0);
    assert_eq!(rig.load(B, CONTROL) & CONTROL_RUN_MASK, 0, "it is halted");
    assert_eq!(rig.count(B, Some(Reason::Timeout)), 1);
    // From now on nobody serves such a packet.
    rig.refused(message(), Addr(0), 464, Reason::Unserved);
    let after = rig.memories();
    assert!(after[0] == before[0] && after[2] == before[2]);
    // The RDMA engine's stop has the same bound.
    rig.store(A, [(TLB_FLUSH, 1)]);
    let unsent = rig.run(A, async |node| {
        node.send(&Message::push(B, memory(TO)).by(How::Rdma), Addr(0), 8).await
    });
    let (node, reason) = (A, Reason::Timeout);
    assert_eq!(unsent, Err(CommError::Unsent { node, reason }));
    assert!(rig.load(A, STATUS) & STATUS_FIRED_MASK != 0);
    restart(&mut rig);
    rig.unharmed();
}

fn a_processor_that_is_halted_in_a_stop_blocks_nothing(kind: Kind) {
    let mut rig = with_handler(kind, "away:   b    away\n        nop");
    rig.sim.spawn(B, async |node| {
        node.compute(Picos::from_ns(8000)).await;
        node.host()
            .store(CONTROL.into(), 8, CONTROL_RECEIVE_MASK)
            .await
            .unwrap();
    });
    rig.refused(message(), Addr(0), 464, Reason::Timeout);
    restart(&mut rig);
    rig.unharmed();
}

/// Stores of a handler: halves of header words, and then RX_GO.
fn handler(stores: &[(&str, u32)], go: u32) -> String {
    let store = |(at, value): &(&str, u32)| format!("        li   $t1, {value:#x}\n        sw   $t1, {at}($gp)\n");
    let stores: String = stores.iter().map(store).collect();
    format!("{stores}        li   $t1, {go:#x}\n        sw   $t1, RX_GO($gp)\n")
}

fn a_header_that_becomes_another_is_looked_at_anew(kind: Kind) {
    let place = |place: Place| {
        let word = place.word();
        [
            ("RX_HEADER + HDR_W2", word as u32),
            ("RX_HEADER + HDR_W2 + 4", (word >> 32) as u32),
        ]
    };
    let good = place(memory(TO));
    // LENGTH stands above DST in W0's upper half.
    let length = |bytes: u32| ("RX_HEADER + HDR_W0 + 4", bytes << 16 | u32::from(B.0));
    let stamp = ("RX_HEADER + HDR_W1", u32::from(FOREIGN));
    let end = Config::paper().mem_bytes;
    let wrong = [
        (vec![length(0)], good, Reason::Length),
        (vec![length(4097)], good, Reason::Length),
        (vec![length(0xffff)], good, Reason::Length),
        (vec![], place(memory(TO + 4)), Reason::Length),
        (vec![], place(memory(end)), Reason::Range),
        (vec![length(4096)], place(memory(TO + 8)), Reason::Range),
        (
            vec![],
            place(Place::new(layout::COMMON, SIZE_LLCM.into())),
            Reason::Range,
        ),
    ];
    for (mut stores, place, reason) in wrong {
        stores.extend(place);
        let mut rig = with_handler(kind, &handler(&stores, GO_CONTINUE));
        let before = rig.memories();
        rig.refused(message(), Addr(0), 464, reason);
        assert!(rig.memories() == before, "{stores:x?}");
    }
    // A stamp that no card knows stops the receiver anew, for good: the watchdog ends it.
    let mut stores = vec![stamp];
    stores.extend(good);
    let away = format!("{}away:   b    away\n        nop", handler(&stores, GO_CONTINUE));
    let mut rig = with_handler(kind, &away);
    let before = rig.memories();
    rig.refused(message(), Addr(0), 464, Reason::Timeout);
    assert!(rig.memories() == before);
    restart(&mut rig);
    rig.unharmed();
    // Longer or shorter than what came: written as far as both go, and refused.
    for bytes in [472, 8] {
        let mut stores = vec![length(bytes)];
        stores.extend(good);
        let mut rig = with_handler(kind, &handler(&stores, GO_CONTINUE));
        let before = rig.sim.node(B).read(Addr(0), MEMORY);
        rig.refused(message(), Addr(0), 464, Reason::Length);
        let after = rig.sim.node(B).read(Addr(0), MEMORY);
        let within = TO as usize..TO as usize + 464.min(bytes as usize);
        let stays = |at: &usize| within.contains(at) || before[*at] == after[*at];
        assert!((0..MEMORY as usize).all(|at| stays(&at)), "{bytes} bytes");
        restart(&mut rig);
        rig.unharmed();
    }
}

fn a_header_is_not_to_be_written_while_its_packet_moves(kind: Kind) {
    let there = memory(TO).word();
    let (low, high) = (there as u32, (there >> 32) as u32);
    let rewrite = [("RX_HEADER + HDR_W2", low), ("RX_HEADER + HDR_W2 + 4", high)];
    // Behind RX_GO: all words, and another command.
    let late: String = (0..12)
        .map(|half| format!("        sw   $t2, RX_HEADER + {}($gp)\n", 4 * half))
        .collect();
    let text = format!(
        "        li   $t2, -1\n{}{late}        sw   $t1, RX_GO($gp)\n",
        handler(&rewrite, GO_CONTINUE)
    );
    let mut rig = with_handler(kind, &text);
    let sent = rig.run(A, async |node| node.send(&message(), Addr(0), 464).await);
    assert_eq!(sent, Ok(()));
    let data = rig.sim.node(A).read(Addr(0), 464);
    assert!(rig.sim.node(B).read(Addr(TO), 464) == data, "the packet is unharmed");
    assert_eq!(rig.load(B, CPU_ERRORS), 13);
    assert!(rig.load(B, STATUS) & STATUS_CPU_MASK != 0);
    restart(&mut rig);
    rig.unharmed();
}

fn stores_that_nothing_takes_are_counted(kind: Kind) {
    // The user's page, a register that is only read, one that is not there, RDMA's stop while it has none, part of a
    // word, and commands that are none and leave the stop as it is.
    let stores = [
        ("0x1000", 1),
        ("COUNTED", 1),
        ("0x3000", 1),
        ("RDMA_GO", 1),
        ("RX_GO", 7),
        ("RX_GO", 0),
    ];
    let text = format!(
        "        .equ COUNTED, {COUNTS}\n{}        sh   $t1, RX_DMA($gp)\n{}",
        handler(&stores, 6),
        handler(&[], GO_NACK | 9 << RX_GO_REASON_SHIFT)
    );
    let mut rig = with_handler(kind, &text);
    rig.refused(message(), Addr(0), 464, Reason::Firmware);
    assert_eq!(rig.load(B, CPU_ERRORS), 8);
    restart(&mut rig);
    rig.unharmed();
}

fn data_go_to_no_address_that_is_none(kind: Kind) {
    let end = Config::paper().mem_bytes;
    for (addr, reason) in [
        (end, Reason::Bus),
        (0xe000_0000, Reason::Bus),
        (0xf000_0000 + SIZE_LLCM, Reason::Bus),
        (0xffff_f000, Reason::Bus),
        (0xffff_fff8, Reason::Length),
    ] {
        let mut rig = with_handler(kind, &handler(&[("RX_DMA", addr)], GO_DMA));
        let before = (rig.memories(), rig.llcm(B));
        let open = rig.run(A, async |node| node.send(&message(), Addr(0), 464).await);
        // RX_GO DMA answers nobody: that is the firmware's.
        assert!(matches!(open, Err(CommError::Silent { open: 1, .. })), "{open:?}");
        let stop = rig.load(B, RX_STOP);
        assert!(stop & RX_STOP_DONE_MASK != 0);
        let told = Reason::of(get(RX_STOP_DONE_REASON_MASK, stop) as u32);
        assert_eq!(told, Some(reason), "{addr:#x}");
        assert_eq!(rig.count(B, Some(reason)), 1);
        assert!((rig.memories(), rig.llcm(B)) == before, "{addr:#x}");
        restart(&mut rig);
        rig.unharmed();
    }
}
