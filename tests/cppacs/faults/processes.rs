//! What a process can write and kick.

use super::*;
use crate::backends::on_both;

on_both!(no_right_a_foreign_one_and_one_that_was_given_back offsets_and_lengths_that_wrap_or_leave
    strides_that_wrap_or_leave a_kick_of_another_processes_tcw a_tcw_that_is_changed_while_it_is_sent
    an_answer_into_anothers_field kicks_without_end);

fn no_right_a_foreign_one_and_one_that_was_given_back(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let tcw = rig.legal_tcw();
    let (index, right) = rig.right_for_b();
    rig.refuses("no right", Tcw { right: 77, ..tcw }, SEND_RIGHT);
    rig.refuses("a right beyond the table", Tcw { right: 0x3ff, ..tcw }, SEND_RIGHT);
    rig.legal("no right");
    // The kernel gives another process a right.
    let foreign = Right { owner: OTHER, ..right };
    for (word, value) in [RIGHT_LIMIT, RIGHT_PLACE]
        .into_iter()
        .zip(foreign.words().into_iter().rev())
    {
        rig.store(A, RIGHTS + 16 * 70 + word, value);
    }
    rig.refuses("a right of another process", Tcw { right: 70, ..tcw }, SEND_OWNER);
    rig.refuses("the kernel's right", Tcw { right: 0, ..tcw }, SEND_OWNER);
    rig.legal("a right of another process");
    let given_back = rig.parts[0].rights[1].clone();
    run(&mut rig.sim, A, async move |node| node.free_right(given_back).await);
    rig.refuses("a right that was given back", Tcw { right: index, ..tcw }, SEND_RIGHT);
    let again = run(&mut rig.sim, A, async |node| {
        node.get_sendright(To::Node(B), "data", 0, BOUND).await
    });
    rig.parts[0].rights[1] = again.expect("a right");
    rig.legal("a right that was given back");
}

fn offsets_and_lengths_that_wrap_or_leave(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let tcw = rig.legal_tcw();
    let area = rig.process(A, USER).area_bytes;
    for (what, tcw, reason) in [
        (
            "an offset that wraps",
            Tcw {
                offset: 0xffff_ff80,
                ..tcw
            },
            SEND_LIMIT,
        ),
        (
            "an offset at the end",
            Tcw {
                offset: BYTES - 248,
                ..tcw
            },
            SEND_LIMIT,
        ),
        (
            "a source that wraps",
            Tcw {
                source: 0xffff_ff80,
                ..tcw
            },
            SEND_AREA,
        ),
        (
            "a source at the end",
            Tcw {
                source: area - 248,
                ..tcw
            },
            SEND_AREA,
        ),
        ("no length", Tcw { length: 0, ..tcw }, SEND_LENGTH),
        ("12 bytes", Tcw { length: 12, ..tcw }, SEND_LENGTH),
        (
            "more than 1 MB",
            Tcw {
                length: 0x10_0008,
                ..tcw
            },
            SEND_LENGTH,
        ),
        (
            "all bytes",
            Tcw {
                length: 0x1f_fff8,
                ..tcw
            },
            SEND_LENGTH,
        ),
        ("an unknown kind", Tcw { kind: 7, ..tcw }, SEND_KIND),
        ("an odd source", Tcw { source: 0x1004, ..tcw }, SEND_SHAPE),
        ("an odd offset", Tcw { offset: 4, ..tcw }, SEND_SHAPE),
        ("a broken one", Tcw { valid: false, ..tcw }, SEND_TCW),
    ] {
        if reason == SEND_TCW {
            // Of such a TCW no flag is known.
            let before = rig.send_refused(reason);
            rig.kick(USER, tcw);
            assert_eq!(rig.send_refused(reason), before + 1, "{what}");
            rig.nothing_came(what);
        } else {
            rig.refuses(what, tcw, reason);
        }
    }
    rig.legal("what wraps or leaves");
}

fn strides_that_wrap_or_leave(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let strided = Tcw {
        strided: true,
        element: 64,
        source_step: 64,
        step: 64,
        ..rig.legal_tcw()
    };
    rig.refuses(
        "an offset that wraps in strides",
        Tcw {
            offset: 0xffff_ff80,
            ..strided
        },
        SEND_LIMIT,
    );
    // These leave, and what is inside of the field and came before stays: B looks at each element.
    for (what, step) in [
        ("steps that leave", 0x1_0000),
        ("steps that wrap", 0xffff_f000),
        ("far steps", 0x7fff_fff8),
    ] {
        let before = rig.refused(RECV_BOUNDS);
        let tcw = Tcw {
            offset: 0x800,
            step,
            ..strided
        };
        assert_eq!(rig.kick(USER, tcw), RESULT_SENT, "{what}");
        assert_eq!(rig.refused(RECV_BOUNDS), before + 1, "{what}");
    }
    // A's own elements that leave its area are not read.
    let before = rig.send_refused(SEND_AREA);
    let tcw = Tcw {
        source_step: 0x7fff_fff8,
        ..strided
    };
    assert_eq!(rig.kick(USER, tcw), RESULT_REFUSED + SEND_AREA);
    assert_eq!(rig.send_refused(SEND_AREA), before + 1);
    let area = rig.parts[B.index()].area.all();
    rig.sim.node(B).write(&area, &contents(B));
    rig.legal("strides that wrap or leave");
}

fn a_kick_of_another_processes_tcw(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    // Another process has a TCW of its own at this number; the kernel gave it a table, an area and a right.
    let (index, right) = rig.right_for_b();
    let tcw = rig.legal_tcw();
    let own = rig.process(A, USER);
    let other = Process {
        tcws: own.area + 0x30_0000,
        area_bytes: own.area_bytes,
        ..own
    };
    let [area, tcws] = other.words();
    rig.store(A, AREA + 16 * OTHER, area);
    rig.store(A, TCWS + 16 * OTHER, tcws);
    let [place, limit] = Right { owner: OTHER, ..right }.words();
    rig.store(A, RIGHTS + 16 * 70 + RIGHT_LIMIT, limit);
    rig.store(A, RIGHTS + 16 * 70 + RIGHT_PLACE, place);
    let foreign: Vec<u8> = Tcw { right: 70, ..tcw }
        .words()
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    rig.sim
        .node(A)
        .host()
        .write(Addr(other.tcws + SIZE_TCW * TCW), &foreign);
    // The user kicks that number: its own TCW there is none.
    let before = rig.send_refused(SEND_TCW);
    rig.store(A, KICK + SIZE_PAGE * USER, TCW.into());
    rig.rest();
    assert_eq!(
        rig.send_refused(SEND_TCW),
        before + 1,
        "the page says whose TCW is meant"
    );
    rig.nothing_came("another process's TCW");
    // Numbers beyond its own table.
    for number in [256, 300, 0xffff] {
        let before = rig.send_refused(SEND_TCW);
        rig.store(A, KICK + SIZE_PAGE * USER, number);
        rig.rest();
        assert_eq!(rig.send_refused(SEND_TCW), before + 1, "TCW {number}");
    }
    rig.nothing_came("a TCW beyond the table");
    // The other process cannot use the user's right, either.
    assert_eq!(
        rig.kick(OTHER, Tcw { right: index, ..tcw }),
        RESULT_REFUSED + SEND_OWNER
    );
    rig.nothing_came("the user's right");
    rig.legal("another process's TCW");
    // It may send its own.
    assert_eq!(rig.kick(OTHER, Tcw { right: 70, ..tcw }), RESULT_SENT);
    assert_eq!(
        rig.load(A, KICKS + SIZE_PAGE * USER) & KICKS_REASON_MASK,
        u64::from(SEND_TCW) << KICKS_REASON_SHIFT
    );
}

fn a_tcw_that_is_changed_while_it_is_sent(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let tcw = Tcw {
        length: BYTES - 0x1000,
        source: 0x1000,
        ..rig.legal_tcw()
    };
    let Process { tcws, area, .. } = rig.process(A, USER);
    let bytes = |tcw: Tcw| -> Vec<u8> { tcw.words().iter().flat_map(|word| word.to_le_bytes()).collect() };
    let (good, bad) = (
        bytes(tcw),
        bytes(Tcw {
            source: 0,
            offset: 0x1_0000,
            right: 0,
            ..tcw
        }),
    );
    let expected: Vec<u8> = rig.sim.node(A).host().read(Addr(area + 0x1000), BYTES - 0x1000);
    let before = rig.arrived(B);
    run(&mut rig.sim, A, async move |node| {
        let at = Addr(tcws + SIZE_TCW * TCW);
        node.host().write(at, &good);
        node.host()
            .store((KICK + SIZE_PAGE * USER).into(), 8, TCW.into())
            .await
            .expect("a kick");
        // By now it is read; from now on it is another one at each microsecond.
        node.compute(Picos::from_us(3.0)).await;
        for _ in 0..100 {
            node.host().write(at, &bad);
            node.compute(Picos::from_us(2.0)).await;
            node.host().write(at, &good);
            node.compute(Picos::from_us(2.0)).await;
        }
        node.compute(Picos::from_us(400.0)).await;
    });
    assert_eq!(rig.arrived(B), before + 1);
    let came = rig.sim.node(B).read(&rig.parts[B.index()].area.all());
    assert!(came[..expected.len()] == expected, "what was kicked came");
    assert!(
        came[expected.len()..] == contents(B)[expected.len()..],
        "and nothing else"
    );
    let area = rig.parts[B.index()].area.all();
    rig.sim.node(B).write(&area, &contents(B));
    rig.legal("a TCW that was changed");
}

fn an_answer_into_anothers_field(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let tcw = Tcw {
        kind: KIND_GET,
        channel: 1,
        length: 64,
        ..rig.legal_tcw()
    };
    // Field 0 of A is its kernel's: nobody else has answers go there.
    rig.refuses("the kernel's field", Tcw { reply_field: 0, ..tcw }, SEND_REPLY);
    rig.refuses(
        "no field",
        Tcw {
            reply_field: 100,
            ..tcw
        },
        SEND_REPLY,
    );
    let own = own_field(&mut rig);
    let wraps = Tcw {
        reply_field: own,
        reply_offset: 0xffff_fff8,
        ..tcw
    };
    rig.refuses("an answer that wraps", wraps, SEND_REPLY);
    rig.legal("answers");
}

/// The first field that A's user has.
fn own_field(rig: &mut Rig) -> u32 {
    let found = (16..80).find(|index| {
        let state = rig.load(A, FIELDS + 32 * index + FIELD_STATE);
        state & FIELD_STATE_ENABLED_MASK != 0
    });
    found.expect("A has a field")
}

fn kicks_without_end(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let tcw = Tcw {
        length: 0x1_0000,
        flagged: false,
        ..rig.legal_tcw()
    };
    rig.kick(USER, tcw);
    let before = rig.send_refused(SEND_QUEUE);
    run(&mut rig.sim, A, async |node| {
        for _ in 0..40 {
            node.host()
                .store((KICK + SIZE_PAGE * USER).into(), 8, TCW.into())
                .await
                .expect("a kick");
        }
    });
    assert!(rig.send_refused(SEND_QUEUE) >= before + 30);
    run(&mut rig.sim, A, async |node| node.compute(Picos::from_us(2000.0)).await);
    // They wrote A's own bytes where A may write.
    let area = rig.parts[B.index()].area.all();
    rig.sim.node(B).write(&area, &contents(B));
    rig.legal("kicks without end");
}
