//! What comes from the network, and fields that are taken away under it.

use tsunagi::cppacs::golden::message::sum;

use super::*;
use crate::backends::on_both;

on_both!(a_stale_right a_field_that_is_destroyed_in_the_middle_of_a_message forged_worms a_worm_whose_sum_is_wrong
    what_a_field_does_not_allow);

fn a_stale_right(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let stale = rig.legal_tcw();
    rig.destroy();
    let before = rig.refused(RECV_FIELD);
    assert_eq!(rig.kick(USER, stale), RESULT_SENT, "A's NIA cannot know");
    assert_eq!(rig.refused(RECV_FIELD), before + 1);
    rig.nothing_came("no field");
    rig.make_again();
    let before = rig.refused(RECV_KEY);
    assert_eq!(rig.kick(USER, stale), RESULT_SENT);
    assert_eq!(rig.refused(RECV_KEY), before + 1, "the field has another key now");
    rig.nothing_came("a stale right");
    rig.legal("a stale right");
}

fn a_field_that_is_destroyed_in_the_middle_of_a_message(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let (area, field) = (rig.parts[1].area.clone(), rig.parts[1].field.clone());
    let (from, right) = (rig.parts[0].area.clone(), rig.parts[0].rights[1].clone());
    let whole = area.all();
    let mut destroyed = rig.sim.spawn(B, async move |node| {
        // Somewhere in the first worm of two.
        node.compute(Picos::from_us(100.0)).await;
        node.destroy_field(field).await?;
        let then = node.read(&whole);
        node.compute(Picos::from_us(1000.0)).await;
        Ok::<_, RdmaError>((then, node.read(&whole)))
    });
    let sent = run(&mut rig.sim, A, async move |node| {
        let sent = node.send(from.all(), &right, 0, How::FLAGGED).await?;
        node.wait_sent(sent).await
    });
    assert_eq!(sent, Ok(()));
    let (then, later) = destroyed.take().expect("it ended").expect("it was there");
    let came = then
        .iter()
        .zip(contents(A))
        .take_while(|(have, sent)| *have == sent)
        .count();
    // The model writes a worm when it has ended.
    assert!(
        (came > 0 || kind == BackendKind::Model) && came < 0x1_0000,
        "{came} bytes came before"
    );
    assert!(then[came + 64..] == contents(B)[came + 64..]);
    assert!(then == later, "nothing is written when destroy_field has returned");
    assert_eq!(
        (rig.refused(RECV_GONE), rig.refused(RECV_FIELD)),
        (1, 1),
        "its worm, and the one behind"
    );
    rig.make_again();
    rig.sim.node(B).write(&area.all(), &contents(B));
    rig.legal("a field that was destroyed");
}

fn forged_worms(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let header = rig.header();
    let data = [1, 2, 3, 4];
    for (what, header, reason) in [
        (
            "another key",
            Header {
                key: header.key ^ 1 << 31,
                ..header
            },
            RECV_KEY,
        ),
        ("no key", Header { key: 0, ..header }, RECV_KEY),
        ("no field", Header { field: 300, ..header }, RECV_FIELD),
        (
            "beyond the field",
            Header {
                offset: BYTES - 8,
                ..header
            },
            RECV_BOUNDS,
        ),
        (
            "an offset that wraps",
            Header {
                offset: 0xffff_fff8,
                ..header
            },
            RECV_BOUNDS,
        ),
        ("an odd offset", Header { offset: 4, ..header }, RECV_FORM),
        ("no length", Header { length: 0, ..header }, RECV_FORM),
        (
            "a REPLY that nobody asked for",
            Header {
                kind: Kind::Reply,
                key: 5,
                ..header
            },
            RECV_KEY,
        ),
        (
            "a GET on the data channel",
            Header {
                kind: Kind::Get,
                ..header
            },
            RECV_FORM,
        ),
    ] {
        let mut words = [header.words(), data.into()].concat();
        words.push(sum(&words));
        rig.is_refused(what, &words, reason);
    }
    rig.is_refused("a header alone", &header.words()[..4], RECV_FORM);
    rig.is_refused("one word", &header.words()[..1], RECV_FORM);
    rig.legal("forged worms");
    // Worms that no exchanger has a way for are drained and counted.
    let before = rig.load(A, DRAINED);
    let mut wrong = header.worm(&data);
    wrong[0] |= 1 << 13 | 1 << 16;
    rig.forge(&wrong);
    rig.rest();
    assert_eq!(rig.load(A, DRAINED), before + 1);
    rig.nothing_came("a broadcast on the acknowledge channel");
    rig.legal("what is drained");
}

fn a_worm_whose_sum_is_wrong(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let header = rig.header();
    let mut worm = header.worm(&[9; 4]);
    *worm.last_mut().expect("a sum") ^= 1 << 7;
    let before = rig.refused(RECV_SUM);
    rig.forge(&worm);
    rig.rest();
    assert_eq!(rig.refused(RECV_SUM), before + 1);
    // What it wrote is inside of the field, which takes no more until it is made again; its process is told.
    let came = rig.sim.node(B).read(&rig.parts[1].area.all());
    assert!(came[16..] == contents(B)[16..]);
    let field = rig.parts[1].field.clone();
    let told = run(&mut rig.sim, B, async move |node| {
        node.wait(&field, 1, Picos::from_us(100.0)).await
    });
    assert!(matches!(error(told), RdmaError::Shut { number: 0, .. }));
    let before = rig.refused(RECV_FIELD);
    rig.forge(&header.worm(&[9; 4]));
    rig.rest();
    assert_eq!(rig.refused(RECV_FIELD), before + 1);
    rig.destroy();
    rig.make_again();
    let area = rig.parts[1].area.all();
    rig.sim.node(B).write(&area, &contents(B));
    rig.legal("a wrong sum");
}

fn what_a_field_does_not_allow(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    rig.destroy();
    let area = rig.parts[1].area.clone();
    let closed = Allow::default();
    let made = run(&mut rig.sim, B, async move |node| {
        node.create_field(&area, 0, BYTES, 0, closed).await
    });
    rig.parts[1].field = made.expect("there is room");
    let right = run(&mut rig.sim, A, async |node| {
        node.get_sendright(To::Node(B), "data", 0, BOUND).await
    });
    let right = right.expect("a right");
    let field = rig.parts[0].field.clone();
    let (own, get, swap) = (rig.parts[0].area.clone(), right.clone(), right.clone());
    let before = rig.refused(RECV_RIGHTS);
    run(&mut rig.sim, A, async move |node| {
        node.send(own.span(0, 64)?, &right, 0, How::default()).await
    })
    .expect("sent");
    let got = run(&mut rig.sim, A, async move |node| {
        node.get(&get, 0, &field, 0, 64).await
    });
    assert!(
        matches!(error(got), RdmaError::Timeout { .. }),
        "a refused request has no answer"
    );
    let swapped = run(&mut rig.sim, A, async move |node| node.swap(&swap, 0, 1).await);
    assert!(matches!(error(swapped), RdmaError::Timeout { .. }));
    rig.rest();
    assert_eq!(rig.refused(RECV_RIGHTS), before + 3);
    rig.nothing_came("what is not allowed");
    rig.destroy();
    rig.make_again();
    rig.legal("what is not allowed");
}
