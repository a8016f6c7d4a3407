//! What a neighbour sends on a link: forged stamps, places, numbers, answers, and packets of every wrong length.

use super::*;
use crate::backends::on_both;

on_both! {
    a_forged_stamp_reaches_nothing
    a_place_that_is_none_reaches_nothing
    numbers_with_gaps_and_repeated_ones_change_nothing
    forged_and_repeated_answers_are_strays
    a_lost_answer_is_named_and_the_next_send_is_whole
    a_packet_of_every_wrong_length_is_refused
    types_that_must_not_come_are_refused
}

/// Sends packets to B, each of which is refused for this reason and changes nothing.
fn change_nothing(rig: &mut Rig, reason: Reason, packets: impl IntoIterator<Item = Packet>) {
    let packets: Vec<Packet> = packets.into_iter().collect();
    let sent = packets.len() as u64;
    let before = (rig.memories(), rig.llcm(B));
    let counts = |rig: &mut Rig| [None, Some(reason)].map(|reason| rig.count(B, reason));
    let [accepted, refused] = counts(rig);
    rig.forge(A, packets);
    assert_eq!(counts(rig), [accepted, refused + sent], "{reason:?}");
    assert!((rig.memories(), rig.llcm(B)) == before, "{reason:?}: something changed");
    assert!(rig.load(B, STATUS) & STATUS_REFUSED_MASK != 0);
}

/// Packets of every type that has a place, short and long.
fn of_all_types(place: Place, pgid: u16) -> Vec<Header> {
    let kinds = [
        TYPE_PUSH,
        TYPE_PULL_REPLY,
        TYPE_INDIRECT,
        TYPE_MESSAGE,
        TYPE_BARRIER,
        TYPE_SOFT,
    ];
    let long = kinds.map(|kind| Header {
        kind,
        pgid,
        ..push(A, B, place, 64)
    });
    let short = [TYPE_PUSH, TYPE_OTF, TYPE_INDIRECT].map(|kind| Header {
        kind,
        flags: HDR_W0_ACK_REQ_MASK | HDR_W0_OTF_MASK,
        length: 8,
        pgid,
        ..push(A, B, place, 8)
    });
    long.into_iter().chain(short).collect()
}

fn a_forged_stamp_reaches_nothing(kind: Kind) {
    let mut rig = Rig::new(kind);
    for region in [layout::MEMORY, layout::COMMON] {
        let place = Place::new(region, 0x100);
        let packets: Vec<Packet> = of_all_types(place, FOREIGN).iter().map(filled).collect();
        change_nothing(&mut rig, Reason::Rights, packets);
    }
    // A read is refused by the engine that would answer it: no data leave, and the requester is told.
    let pull = Header {
        kind: TYPE_PULL,
        flags: HDR_W0_OTF_MASK,
        pgid: FOREIGN,
        ..push(A, B, memory(0x100), 64)
    };
    let (strays, before) = (rig.load(A, STRAYS), rig.memories());
    rig.forge(A, [Packet::new(&pull, &memory(0x200).word().to_le_bytes())]);
    assert_eq!(rig.load(A, STRAYS), strays + 1);
    assert!(rig.memories() == before);
    rig.unharmed();
}

fn a_place_that_is_none_reaches_nothing(kind: Kind) {
    let mut rig = Rig::new(kind);
    let write = |place, length| filled(&push(A, B, place, length));
    let end = u64::from(rig.config.mem_bytes);
    let pgid = layout::PGID;
    let nowhere = of_all_types(Place::new(77, 0x100), pgid);
    change_nothing(&mut rig, Reason::Rights, nowhere.iter().map(filled));
    let at = |offset| Place::new(layout::MEMORY, offset);
    let llcm = |offset| Place::new(layout::COMMON, offset);
    let beyond = [
        write(at(end), 8),
        write(at(end - 8), 16),
        write(at(HDR_W2_OFFSET_MASK - 7), 8),
        write(at(0xff8), 16),
        write(at(0x10_0000_0000), 8),
        // Beyond LLCM.
        write(llcm(SIZE_LLCM.into()), 8),
        write(llcm(u64::from(SIZE_LLCM) - 8), 16),
    ];
    change_nothing(&mut rig, Reason::Range, beyond);
    let otf = |place| Header {
        kind: TYPE_OTF,
        flags: HDR_W0_OTF_MASK,
        length: 8,
        ..push(A, B, place, 8)
    };
    change_nothing(&mut rig, Reason::Range, [filled(&otf(llcm(SIZE_LLCM.into())))]);
    // Memory takes no words of AOTF, whatever its rights.
    change_nothing(&mut rig, Reason::Rights, [filled(&otf(at(0x100)))]);
    rig.unharmed();
}

fn numbers_with_gaps_and_repeated_ones_change_nothing(kind: Kind) {
    let mut rig = Rig::new(kind);
    let place = memory(TO);
    let send = |f_seq| {
        async move |node: Node| {
            let message = Message::push(B, place).numbered(f_seq);
            node.send(&message, Addr(0), 1000).await.unwrap();
        }
    };
    rig.run(A, send(true));
    // Three packets have gone, so number 3 is expected.
    let numbered = |seq: u32| {
        let header = push(A, B, memory(0x9000), 8);
        let flags = header.flags | HDR_W0_F_SEQ_MASK | HDR_W0_RESEND_MASK;
        filled(&Header { flags, seq, ..header })
    };
    let strays = rig.load(A, STRAYS);
    let wrong = [4, 5, 1000, 3 + (1 << 31), 2, 0, u32::MAX, 3 + (1 << 31) + 1];
    change_nothing(&mut rig, Reason::Sequence, wrong.map(numbered));
    assert_eq!(rig.load(A, STRAYS), strays + 8, "each is answered");
    // A node beyond the table of numbers has none.
    let header = push(NodeId(64), B, memory(0x9000), 8);
    let flags = header.flags | HDR_W0_F_SEQ_MASK;
    change_nothing(&mut rig, Reason::Sequence, [filled(&Header { flags, ..header })]);
    rig.run(A, send(true));
    rig.unharmed();
}

/// An answer of B to A.
fn answer(kind: u32, src: NodeId, tag: u16, reason: u64) -> Packet {
    let header = Header {
        kind,
        flags: HDR_W0_OTF_MASK,
        src: src.0,
        dst: A.0,
        tag,
        place: Place::of(reason),
        ..Header::default()
    };
    filled(&header)
}

fn forged_and_repeated_answers_are_strays(kind: Kind) {
    let mut rig = Rig::with(kind, |config| config.wait_bound = Picos::from_ns(2_000_000));
    // B does not receive, so that a packet of A stays open.
    rig.store(B, [(CONTROL, CONTROL_RUN_MASK)]);
    let mut sent = rig.sim.spawn(A, async |node| {
        node.send(&Message::push(B, memory(TO)), Addr(0), 8).await
    });
    let host = rig.sim.node(B).host().clone();
    rig.sim.spawn(B, async move |node| {
        node.compute(REST).await;
        let wrong = (1 << 4) | u16::from(layout::SLOT_BOTF);
        let other_slot = u16::from(layout::SLOT_RDMA);
        for kind in [TYPE_ACK, TYPE_NACK] {
            for (src, tag) in [(C, 0), (B, wrong), (B, other_slot), (NodeId(999), 0)] {
                let packet = answer(kind, src, tag, REASON_RANGE.into());
                assert!(host.inject(&Fault::Packet(packet.words)));
            }
        }
        node.compute(REST).await;
        host.store(CONTROL.into(), 8, CONTROL_RUN_MASK | CONTROL_RECEIVE_MASK)
            .await
            .unwrap();
    });
    rig.sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sent.take().unwrap(), Ok(()));
    assert_eq!(rig.load(A, STRAYS), 8);
    assert!(rig.load(A, STATUS) & STATUS_STRAY_MASK != 0);
    // The true answer again.
    rig.forge(B, [TYPE_ACK, TYPE_NACK].map(|kind| answer(kind, B, 0, 0)));
    assert_eq!((rig.load(A, STRAYS), rig.slot(A, 0)), (10, Slot::default()));
    // An answer that carries data or asks for an answer is none.
    let mut long = answer(TYPE_ACK, B, 0, 0);
    long.words.push(1);
    let header = |flags, length| Header {
        kind: TYPE_ACK,
        flags,
        length,
        ..push(B, A, Place::default(), 0)
    };
    let malformed = [long, filled(&header(HDR_W0_OTF_MASK, 8)), filled(&header(0, 8))];
    let refused = rig.count(A, Some(Reason::Length));
    rig.forge(B, malformed);
    assert_eq!(rig.count(A, Some(Reason::Length)), refused + 3);
    rig.unharmed();
}

/// B's answers name another node while its card has that number, so A's card takes none of them.
fn a_lost_answer_is_named_and_the_next_send_is_whole(kind: Kind) {
    for f_seq in [false, true] {
        let mut rig = Rig::new(kind);
        let send = |from: u32| {
            async move |node: Node| {
                let message = Message::push(B, memory(TO)).numbered(f_seq);
                node.send(&message, Addr(from), 1000).await
            }
        };
        assert_eq!(rig.run(A, send(0)), Ok(()));
        rig.store(B, [(NODE, 7)]);
        let silent = CommError::Silent {
            node: A,
            dst: B,
            open: 3,
        };
        assert_eq!(rig.run(A, send(0x1000)), Err(silent));
        assert_eq!(rig.slot(A, 0).open, 0, "the credit is back");
        rig.store(B, [(NODE, B.0.into())]);
        // Numbers that B took and A does not know must not make A's next packets look like repeated ones.
        assert_eq!(rig.run(A, send(0x2000)), Ok(()));
        let data = rig.sim.node(A).read(Addr(0x2000), 1000);
        assert!(rig.sim.node(B).read(Addr(TO), 1000) == data, "f_seq {f_seq}");
        rig.unharmed();
    }
}

fn a_packet_of_every_wrong_length_is_refused(kind: Kind) {
    let mut rig = Rig::new(kind);
    let long = push(A, B, memory(TO), 64);
    let short = |kind, length| Header {
        kind,
        flags: HDR_W0_ACK_REQ_MASK | HDR_W0_OTF_MASK,
        length,
        ..push(A, B, Place::new(layout::COMMON, 0x400), 8)
    };
    let cut = |header: &Header, words: usize| {
        let mut packet = filled(header);
        packet.words.resize(words, 0x5a5a);
        packet
    };
    // Long packets that end within their header, or behind it.
    let mut packets: Vec<Packet> = (1..=6).map(|words| cut(&long, words)).collect();
    let kinds = [TYPE_INDIRECT, TYPE_PULL_REPLY, TYPE_SOFT, TYPE_BARRIER];
    packets.extend(kinds.map(|kind| cut(&Header { kind, ..long }, 6)));
    // LENGTH that no packet has, or its type not.
    packets.extend([0, 4097, 8192, 0xffff].map(|length| cut(&Header { length, ..long }, 14)));
    for kind in [TYPE_OTF, TYPE_PUSH, TYPE_INDIRECT] {
        packets.extend([9, 64, 0xffff].map(|length| cut(&short(kind, length), 4)));
        packets.extend([1, 2, 3, 5, 6, 70].map(|words| cut(&short(kind, 8), words)));
        packets.push(cut(&short(kind, 0), 4));
    }
    packets.push(cut(&short(TYPE_OTF, 0), 3));
    packets.push(cut(&short(TYPE_PUSH, 0), 3));
    // Data in short packets only, or in long ones only; places that are not aligned.
    packets.push(cut(&Header { kind: TYPE_OTF, ..long }, 14));
    packets.push(cut(
        &Header {
            kind: TYPE_PULL,
            ..long
        },
        14,
    ));
    packets.push(filled(&push(A, B, memory(TO + 4), 64)));
    let crossing = Header {
        place: Place::new(layout::COMMON, 0x404),
        ..short(TYPE_OTF, 8)
    };
    packets.push(filled(&crossing));
    let pull = short(TYPE_PULL, 64);
    packets.extend([3, 5, 9].map(|words| cut(&pull, words)));
    packets.extend([0, 4097].map(|length| cut(&Header { length, ..pull }, 4)));
    change_nothing(&mut rig, Reason::Length, packets);

    // Too few or too many data behind a good header: what is within LENGTH may be written, and nothing else is.
    for words in [7, 13, 15, 40, 600] {
        let before = rig.memories();
        let refused = rig.count(B, Some(Reason::Length));
        rig.forge(A, [cut(&long, words)]);
        assert_eq!(rig.count(B, Some(Reason::Length)), refused + 1, "{words} words");
        let after = rig.memories();
        let within = TO as usize..TO as usize + 64;
        let differ = (0..MEMORY as usize).filter(|at| before[B.index()][*at] != after[B.index()][*at]);
        assert!(differ.into_iter().all(|at| within.contains(&at)), "{words} words");
        assert!(before[A.index()] == after[A.index()] && before[C.index()] == after[C.index()]);
    }
    rig.unharmed();
}

fn types_that_must_not_come_are_refused(kind: Kind) {
    let mut rig = Rig::new(kind);
    // Types that nobody has; the firmware refuses those that it does not know.
    let of = |kind| Header {
        kind,
        ..push(A, B, memory(TO), 64)
    };
    let kinds = [0, 6, 7, 9, 15, 21, 64, 255];
    change_nothing(&mut rig, Reason::Type, kinds.map(|kind| filled(&of(kind))));
    // A chain whose commands are not in LLCM.
    change_nothing(&mut rig, Reason::Rights, [filled(&of(TYPE_CHAIN))]);
    // Packets to nodes and groups that are not there end in the switch.
    let away = [3, 5, 8, 63, 64, 0xffff].map(|dst| Header { dst, ..of(TYPE_PUSH) });
    let flags = HDR_W0_MULTICAST_MASK;
    let groups = [1, 15, 16, 0xffff].map(|dst| Header {
        dst,
        flags,
        ..of(TYPE_PUSH)
    });
    let before = rig.memories();
    rig.forge(A, away.iter().chain(&groups).map(filled));
    // A multicast that is too long is refused by the switch.
    let long = Header {
        flags,
        dst: layout::EVERYBODY,
        ..push(A, B, memory(TO), 600)
    };
    rig.forge(A, [filled(&long)]);
    assert!(rig.memories() == before);
    rig.unharmed();
}
