//! What a program stores at its card: forged headers in a window, wrong lengths, wrong places, nodes that are not
//! there, accesses that nothing takes.

use tsunagi::dimmnet1::golden::packet::{get, header_entry, put, word};

use super::*;
use crate::backends::on_both;

on_both! {
    a_window_cannot_forge_stamp_or_source
    a_window_of_a_wrong_length_or_type_sends_nothing
    a_window_that_is_sent_takes_no_store
    numbers_that_a_program_makes_up_change_nothing
    a_slot_that_was_cleared_takes_no_late_answer
    a_send_that_leaves_a_region_or_a_page_is_refused
    rdma_of_nothing_or_beyond_a_region_is_refused
    stores_of_aotf_that_are_none_are_refused
    a_store_that_finds_no_room_is_lost_and_counted
    a_node_that_is_not_there_takes_nothing
    accesses_that_nothing_takes_are_counted
}

/// The slot of packets that do not come from the library.
const SLOT: u8 = 5;

/// Fills window 0 and kicks it, and waits until it has left.
fn window(rig: &mut Rig, header: &Header, data: &[u8]) {
    let words = header.encode().into_iter();
    let data = data.chunks(8).map(word);
    let stores = (WINDOW0..).step_by(8).zip(words.chain(data));
    rig.store(A, stores.chain([(KICK0, 1)]).collect::<Vec<_>>());
    rig.rest();
}

/// A remote write to B, as a program would write it into a window.
fn written(place: Place, length: u32) -> Header {
    Header {
        src: 0,
        pgid: 0,
        tag: SLOT.into(),
        ..push(A, B, place, length)
    }
}

fn error_of_window(rig: &mut Rig) -> Option<Reason> {
    let windows = rig.load(A, WINDOWS);
    assert_eq!(windows & (WINDOWS_BUSY0_MASK | WINDOWS_BUSY1_MASK), 0);
    Reason::of(get(WINDOWS_ERROR0_MASK, windows) as u32)
}

/// Answers that a slot of A counted, and clears it.
fn nacks(rig: &mut Rig) -> (u16, Option<Reason>) {
    let Slot {
        open, nacks, reason, ..
    } = rig.slot(A, SLOT);
    assert_eq!(open, 0);
    rig.store(A, [(SLOTS + 8 * u32::from(SLOT), 0)]);
    (nacks, reason)
}

fn a_window_cannot_forge_stamp_or_source(kind: Kind) {
    let mut rig = Rig::new(kind);
    // B has a group with the same region number, elsewhere.
    let region = Region {
        pgid: FOREIGN,
        ..layout::regions(&rig.config)[usize::from(layout::MEMORY)]
    };
    let pages = [(0xe, 0xe), (0x8, 0xe)].map(|(page, frame)| PageEntry {
        pgid: FOREIGN,
        page,
        frame,
    });
    rig.store(B, region_words(&region).chain(pages.iter().flat_map(page_words)));
    let data = bytes(64, 9);
    let forged = Header {
        src: C.0,
        pgid: FOREIGN,
        tag: 0xabc0 | u16::from(SLOT),
        flags: HDR_W0_ACK_REQ_MASK | HDR_W0_OTF_MASK,
        ..written(memory(TO), 64)
    };
    let before = rig.sim.node(B).read(Addr(0xe000), 0x1000);
    window(&mut rig, &forged, &data);
    assert_eq!(nacks(&mut rig), (0, None), "A got the answer");
    assert_eq!(rig.sim.node(B).read(Addr(TO), 64), data, "the stamp is A's own");
    assert!(rig.sim.node(B).read(Addr(0xe000), 0x1000) == before);
    rig.unharmed();
}

fn a_window_of_a_wrong_length_or_type_sends_nothing(kind: Kind) {
    let mut rig = Rig::new(kind);
    let to = memory(TO);
    let before = (rig.memories(), rig.count(B, None));
    for length in [0, 465, 512, 0xffff] {
        window(&mut rig, &written(to, length), &[1; 464]);
        assert_eq!(error_of_window(&mut rig), Some(Reason::Length), "{length} bytes");
    }
    for kind in [
        TYPE_CLOSED,
        TYPE_PULL,
        TYPE_PULL_REPLY,
        TYPE_ACK,
        TYPE_NACK,
        TYPE_OTF,
        15,
    ] {
        // A wrong length, too: the type is told.
        for length in [8, 0] {
            let header = Header {
                kind,
                ..written(to, length)
            };
            window(&mut rig, &header, &[1; 8]);
            assert_eq!(error_of_window(&mut rig), Some(Reason::Type), "type {kind}");
        }
    }
    let group = Header {
        flags: HDR_W0_ACK_REQ_MASK | HDR_W0_MULTICAST_MASK,
        dst: layout::EVERYBODY,
        ..written(to, 8)
    };
    window(&mut rig, &group, &[1; 8]);
    assert_eq!(error_of_window(&mut rig), Some(Reason::Type));
    assert_eq!(nacks(&mut rig), (0, None));
    assert!((rig.memories(), rig.count(B, None)) == before);
    // The library refuses such types before they take a number.
    for how in [How::Botf, How::Rdma] {
        let kind = TYPE_ACK;
        let message = Message {
            kind,
            ..Message::push(B, to).by(how).numbered(true)
        };
        let sent = rig.run(A, async move |node| node.send(&message, Addr(0), 8).await);
        let (node, reason) = (A, Reason::Type);
        assert_eq!(sent, Err(CommError::Unsent { node, reason }));
    }
    // It cuts a long send, and refuses one of nothing.
    let empty = rig.run(A, async move |node| node.send(&Message::push(B, to), Addr(0), 0).await);
    assert_eq!(empty, Err(CommError::Empty));
    rig.run(A, async move |node| {
        node.send(&Message::push(B, to), Addr(0), 465).await.unwrap()
    });
    let data = rig.sim.node(A).read(Addr(0), 465);
    assert!(rig.sim.node(B).read(Addr(TO), 465) == data);
    rig.unharmed();
}

fn a_window_that_is_sent_takes_no_store(kind: Kind) {
    let mut rig = Rig::new(kind);
    // B does not receive, so windows of A stay busy when the network is full.
    rig.store(B, [(CONTROL, 0)]);
    let header = Header {
        flags: 0,
        ..written(memory(TO), 464)
    };
    let data = bytes(464, 9);
    let fill = |base: u32| {
        let data = data.chunks(8).map(word);
        let words = header.encode().into_iter().chain(data);
        (base..).step_by(8).zip(words).collect::<Vec<_>>()
    };
    let (first, kicks) = (fill(WINDOW0), [(KICK0, 1)]);
    for _ in 0..20 {
        if rig.load(A, WINDOWS) & WINDOWS_BUSY0_MASK != 0 {
            break;
        }
        rig.store(A, first.iter().copied().chain(kicks));
        rig.rest();
    }
    assert!(rig.load(A, WINDOWS) & WINDOWS_BUSY0_MASK != 0, "the network is full");
    let before = rig.load(A, HOST_ERRORS);
    let overwrite = (WINDOW0..WINDOW0 + SIZE_WINDOW).step_by(8).map(|at| (at, u64::MAX));
    rig.store(A, overwrite.chain([(KICK0, 1)]).collect::<Vec<_>>());
    assert_eq!(rig.load(A, HOST_ERRORS), before + 65);
    assert!(rig.load(A, STATUS) & STATUS_HOST_MASK != 0);
    rig.store(B, [(CONTROL, CONTROL_RUN_MASK | CONTROL_RECEIVE_MASK)]);
    rig.rest();
    assert!(rig.sim.node(B).read(Addr(TO), 464) == data, "the packet is unharmed");
    assert_eq!(rig.count(B, Some(Reason::Length)), 0);
    rig.unharmed();
}

fn numbers_that_a_program_makes_up_change_nothing(kind: Kind) {
    let mut rig = Rig::new(kind);
    rig.run(A, async |node| {
        let message = Message::push(B, memory(0x9000)).numbered(true);
        node.send(&message, Addr(0), 1000).await.unwrap();
    });
    let before = rig.memories();
    let flags = HDR_W0_ACK_REQ_MASK | HDR_W0_F_SEQ_MASK | HDR_W0_RESEND_MASK;
    // Three packets have gone. A number ahead is refused, one behind is taken for a repeated one.
    for (seq, reason) in [
        (4, Some(Reason::Sequence)),
        (1 << 31, Some(Reason::Sequence)),
        (2, None),
        (u32::MAX, None),
    ] {
        let header = Header {
            flags,
            seq,
            ..written(memory(TO), 8)
        };
        window(&mut rig, &header, &[1; 8]);
        let expected = if reason.is_some() { 3 } else { 0 };
        assert_eq!(rig.slot(A, SLOT).seq, expected, "number {seq}");
        assert_eq!(nacks(&mut rig), (reason.is_some().into(), reason), "number {seq}");
    }
    assert_eq!(rig.count(B, Some(Reason::Sequence)), 4);
    assert!(rig.memories() == before);
    rig.unharmed();
}

fn a_slot_that_was_cleared_takes_no_late_answer(kind: Kind) {
    let mut rig = Rig::new(kind);
    rig.store(B, [(CONTROL, CONTROL_RUN_MASK)]);
    window(&mut rig, &written(memory(TO), 8), &[1; 8]);
    assert_eq!(rig.slot(A, SLOT).open, 1);
    rig.store(A, [(SLOTS + 8 * u32::from(SLOT), 0)]);
    assert_eq!(rig.slot(A, SLOT), Slot::default());
    // The slot is used again before the answer comes.
    window(&mut rig, &written(memory(TO), 8), &[2; 8]);
    assert_eq!(rig.slot(A, SLOT).open, 1);
    rig.store(B, [(CONTROL, CONTROL_RUN_MASK | CONTROL_RECEIVE_MASK)]);
    rig.rest();
    assert_eq!((rig.load(A, STRAYS), nacks(&mut rig)), (1, (0, None)));
    rig.unharmed();
}

fn a_send_that_leaves_a_region_or_a_page_is_refused(kind: Kind) {
    let mut rig = Rig::new(kind);
    let end = rig.config.mem_bytes;
    let before = rig.memories();
    for (place, reason) in [
        (memory(end), Reason::Range),
        (Place::new(layout::COMMON, SIZE_LLCM.into()), Reason::Range),
        (Place::new(77, 0), Reason::Rights),
        (Place::new(0xfe00, 0), Reason::Rights),
    ] {
        rig.refused(Message::push(B, place), Addr(0), 1000, reason);
        rig.refused(Message::push(B, place).numbered(true), Addr(0), 1000, reason);
        rig.refused(Message::push(B, place).by(How::Rdma), Addr(0), 1000, reason);
        let pull = rig.run(A, async move |node| node.pull(B, place, Addr(TO), 1000).await);
        let (node, dst) = (A, B);
        assert_eq!(pull, Err(CommError::Refused { node, dst, reason }));
    }
    // A packet of a window that crosses a page, which the library never makes.
    window(&mut rig, &written(memory(0x8ff8), 16), &[1; 16]);
    assert_eq!(nacks(&mut rig), (1, Some(Reason::Range)));
    // An address that is not aligned.
    window(&mut rig, &written(memory(TO + 4), 8), &[1; 8]);
    assert_eq!(nacks(&mut rig), (1, Some(Reason::Length)));
    assert!(rig.memories() == before);
    rig.unharmed();
}

/// Starts a descriptor, and gives RDMA.ERROR when it has ended.
fn descriptor(rig: &mut Rig, what: &Header, local: Place, remote: Place, bytes: u64) -> Option<Reason> {
    let stores = [
        (RDMA_WHAT, what.encode()[0]),
        (RDMA_LOCAL, local.word()),
        (RDMA_REMOTE, remote.word()),
        (RDMA_LENGTH, bytes | put(RDMA_LENGTH_SLOT_MASK, SLOT.into())),
    ];
    rig.store(A, stores);
    rig.rest();
    let state = rig.load(A, RDMA);
    assert_eq!(state & (RDMA_BUSY_MASK | RDMA_STOPPED_MASK), 0);
    Reason::of(get(RDMA_ERROR_MASK, state) as u32)
}

fn rdma_of_nothing_or_beyond_a_region_is_refused(kind: Kind) {
    let mut rig = Rig::new(kind);
    let (end, before) = (rig.config.mem_bytes, rig.memories());
    let what = |kind, flags| Header {
        kind,
        flags,
        dst: B.0,
        ..Header::default()
    };
    let write = what(TYPE_PUSH, HDR_W0_ACK_REQ_MASK);
    let read = what(TYPE_PULL, HDR_W0_OTF_MASK);
    let (here, there) = (memory(0), memory(TO));
    let group = HDR_W0_ACK_REQ_MASK | HDR_W0_MULTICAST_MASK;
    let wrong = [
        (write, here, there, 0, Reason::Length),
        (read, here, there, 0, Reason::Length),
        (write, memory(4), there, 8, Reason::Length),
        (read, here, memory(TO + 1), 8, Reason::Length),
        (what(TYPE_ACK, 0), here, there, 8, Reason::Type),
        (what(TYPE_OTF, 0), here, there, 0, Reason::Type),
        (what(TYPE_PULL_REPLY, 0), here, there, 8, Reason::Type),
        (what(TYPE_PUSH, group), here, there, 8, Reason::Type),
        (write, memory(end), there, 8, Reason::Range),
        (write, Place::new(77, 0), there, 8, Reason::Rights),
        (write, Place::new(layout::INDIRECT_REGION, 0), there, 8, Reason::Range),
    ];
    for (what, local, remote, bytes, reason) in wrong {
        let ended = descriptor(&mut rig, &what, local, remote, bytes);
        assert_eq!(ended, Some(reason), "{what:?} {local:?} {remote:?} {bytes}");
        assert_eq!(nacks(&mut rig), (0, None));
    }
    assert!(rig.memories() == before);
    // The packet before the end of the own region has left when the end is seen.
    let ended = descriptor(&mut rig, &write, memory(end - 8), there, 16);
    assert_eq!((ended, nacks(&mut rig)), (Some(Reason::Range), (0, None)));
    // Beyond the receiver's region: what is within arrives, and the rest is refused.
    let source = rig.sim.node(A).read(Addr(0), 0x1000);
    let last = memory(end - 0x1000);
    assert_eq!(descriptor(&mut rig, &write, here, last, 0x2000), None);
    assert_eq!(nacks(&mut rig), (1, Some(Reason::Range)));
    assert!(rig.sim.node(B).read(Addr(end - 0x1000), 0x1000) == source);
    assert_eq!(descriptor(&mut rig, &read, there, last, 0x2000), None);
    assert_eq!(nacks(&mut rig), (1, Some(Reason::Range)));
    assert!(rig.sim.node(A).read(Addr(TO), 0x1000) == source);
    // LLCM ends, too.
    let llcm = Place::new(layout::COMMON, u64::from(SIZE_LLCM) - 8);
    assert_eq!(descriptor(&mut rig, &write, here, llcm, 16), None);
    assert_eq!(nacks(&mut rig), (1, Some(Reason::Range)));
    rig.unharmed();
}

/// Opens a page of AOTF.
fn open(rig: &mut Rig, page: u32, header: &Header) {
    rig.store(A, (HEADER_TLB + 32 * page..).step_by(8).zip(header_entry(header)));
}

fn stores_of_aotf_that_are_none_are_refused(kind: Kind) {
    let mut rig = Rig::new(kind);
    let wrong = rig.run(A, async |node| {
        let mut results = Vec::new();
        let places = [
            (0, 0),
            (0, 9),
            (0, 3),
            (4, 8),
            (1, 8),
            (7, 2),
            (SIZE_PAGE - 4, 8),
            (SIZE_PAGE, 4),
        ];
        for (offset, bytes) in places {
            results.push(node.aotf_write(B, common::USER + offset, bytes, 1).await);
        }
        results.push(node.aotf_write(NodeId(3), common::USER, 8, 1).await);
        results
    });
    let (last, others) = wrong.split_last().expect("there are some");
    let refused = |result: &Result<(), CommError>| matches!(result, Err(CommError::NoWord { .. }));
    assert!(others.iter().all(refused), "{others:?}");
    assert!(matches!(last, Err(CommError::NoNode { .. })));
    // The bus has no access across a word, and none of 0 or 9 bytes.
    let page = u64::from(AOTF + SIZE_PAGE * layout::words_of(B));
    let across = rig.run(A, async move |node| {
        let mut errors = 0;
        for (addr, bytes) in [
            (page + 4, 8),
            (page + 7, 2),
            (page + SIZE_PAGE as u64 - 2, 4),
            (page, 0),
            (page, 9),
        ] {
            errors += u32::from(node.host().store(addr, bytes, 1).await.is_err());
        }
        errors
    });
    assert_eq!((across, rig.load(A, AOTF_LOST)), (5, 0));
    // A closed page; one that asks a group for an answer.
    let (closed, group) = (62, 63);
    let header = Header {
        kind: TYPE_OTF,
        flags: HDR_W0_ACK_REQ_MASK | HDR_W0_MULTICAST_MASK,
        pgid: layout::PGID,
        ..Header::default()
    };
    open(&mut rig, group, &header);
    let before = rig.llcm(B);
    rig.store(A, [closed, group].map(|page| (AOTF + SIZE_PAGE * page, 1)));
    rig.rest();
    assert_eq!(rig.load(A, AOTF_LOST), 2);
    assert!(rig.load(A, STATUS) & STATUS_LOST_MASK != 0);
    // Pages that lead beyond LLCM, to memory, to a foreign group.
    let otf = |pgid, place| Header {
        kind: TYPE_OTF,
        pgid,
        dst: B.0,
        place,
        ..Header::default()
    };
    let beyond = Place::new(layout::COMMON, u64::from(SIZE_LLCM) - 8);
    for (pgid, place, reason) in [
        (layout::PGID, beyond, Reason::Range),
        (layout::PGID, memory(0), Reason::Rights),
        (FOREIGN, Place::new(layout::COMMON, 0), Reason::Rights),
    ] {
        let refused = rig.count(B, Some(reason));
        open(&mut rig, group, &otf(pgid, place));
        rig.store(A, [(AOTF + SIZE_PAGE * group + 8, u64::MAX)]);
        rig.rest();
        assert_eq!(rig.count(B, Some(reason)), refused + 1, "{place:?}");
    }
    assert!(rig.llcm(B) == before);
    rig.unharmed();
}

fn a_store_that_finds_no_room_is_lost_and_counted(kind: Kind) {
    const STORES: u32 = 300;
    let mut rig = Rig::with(kind, |config| config.patience = 100);
    rig.store(B, [(CONTROL, 0)]);
    let page = AOTF + SIZE_PAGE * layout::words_of(B) + common::USER;
    rig.store(A, (0..STORES).map(|at| (page + 8 * at, 1 + u64::from(at))));
    rig.store(B, [(CONTROL, CONTROL_RUN_MASK | CONTROL_RECEIVE_MASK)]);
    rig.rest();
    let lost = rig.load(A, AOTF_LOST);
    let llcm = rig.llcm(B);
    let first = common::USER as usize / 8;
    let came: Vec<u64> = llcm[first..first + STORES as usize].to_vec();
    let kept = came.iter().filter(|word| **word != 0).count() as u64;
    assert!(
        lost > 100 && lost + kept == u64::from(STORES),
        "{lost} lost, {kept} came"
    );
    let fits = came.iter().zip(1..).all(|(word, own)| *word == 0 || *word == own);
    assert!(fits && came[..16].iter().all(|word| *word != 0));
    rig.unharmed();
}

fn a_node_that_is_not_there_takes_nothing(kind: Kind) {
    let mut rig = Rig::new(kind);
    let missing = rig.run(A, async |node| {
        let dst = NodeId(3);
        let message = Message::push(dst, memory(TO));
        [
            node.send(&message, Addr(0), 8).await,
            node.send(&message.by(How::Rdma), Addr(0), 8).await,
            node.pull(dst, memory(0), Addr(TO), 8).await,
            node.send_message(dst, Addr(0), 8).await,
        ]
    });
    let no_node = |result: &Result<(), CommError>| matches!(result, Err(CommError::NoNode { nodes: 3, .. }));
    assert!(missing.iter().all(no_node), "{missing:?}");
    // Packets past the library. No answer comes, and the credit is back when the slot is cleared: more than there is.
    let before = rig.memories();
    for dst in [3, 5, 8, 63, 64, 0xffff].repeat(7) {
        let header = Header {
            dst,
            ..written(memory(TO), 8)
        };
        window(&mut rig, &header, &[1; 8]);
        assert_eq!(rig.slot(A, SLOT).open, 1, "node {dst}");
        rig.store(A, [(SLOTS + 8 * u32::from(SLOT), 0)]);
    }
    let what = Header {
        kind: TYPE_PUSH,
        dst: 9,
        ..Header::default()
    };
    assert_eq!(descriptor(&mut rig, &what, memory(0), memory(TO), 10_000), None);
    let header = Header {
        kind: TYPE_OTF,
        pgid: layout::PGID,
        dst: 40,
        ..Header::default()
    };
    open(&mut rig, 63, &header);
    rig.store(A, [(AOTF + SIZE_PAGE * 63, 1)]);
    rig.rest();
    assert!(rig.memories() == before);
    rig.unharmed();
}

fn accesses_that_nothing_takes_are_counted(kind: Kind) {
    let mut rig = Rig::new(kind);
    let before = rig.load(A, HOST_ERRORS);
    // Registers that are only read, that are not there, the SRAM of a processor that runs, stops that are none.
    let stores = [
        WINDOWS, RDMA, TIME, COUNTS, STRAYS, 0x400, 0x1048, 0x3000, 0xf_0000, SRAM, RX_GO, RX_HEADER, RDMA_GO,
    ];
    rig.store(A, stores.map(|offset| (offset, 1)));
    let loads = rig.run(A, async |node| {
        let mut errors = 0;
        for offset in [WINDOW0, KICK0, HEADER_TLB, RVATLB, SRAM, AOTF, 0x400, 0x3000] {
            errors += u64::from(node.host().load(offset.into(), 8).await.is_err());
        }
        // Parts of a register.
        for bytes in [1, 2, 4] {
            node.host().store(NODE.into(), bytes, 0x55).await.unwrap();
        }
        errors
    });
    assert_eq!(loads, 8);
    assert_eq!(rig.load(A, HOST_ERRORS), before + stores.len() as u64 + 8 + 3);
    assert!(rig.load(A, STATUS) & STATUS_HOST_MASK != 0);
    rig.unharmed();
}
