//! The golden Receiver in lock step takes a legal stream of events, and refuses each mutated twin of it, one event
//! different.

use proptest::prelude::*;
use support::property::holds;
use support::this_test;
use tsunagi::Addr;
use tsunagi::cenju3::golden::lockstep::Mismatch;
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader, split};
use tsunagi::cenju3::golden::receiver::{Inside, Internal, RecvEvent, RecvModel};
use tsunagi::cenju3::golden::receiver_state::{Cause, RingId};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::memory::Memory;

const REGRESSIONS: &str = "tests/cenju3/regressions/receiver.txt";
const NODE: u8 = 6;
const MEMORY: usize = 1 << 18;

const HEADERS: [u32; 2] = [0x1000, 0x2000];
const BODIES: [u32; 2] = [0x4000, 0x8000];
const RING: u32 = 8;

fn body(parcel: &ParcelHeader) -> Vec<u8> {
    (0..parcel.bytes).map(|i| (i * 7 + parcel.soft[1]) as u8).collect()
}

fn packet_flits(parcel: &ParcelHeader) -> Vec<u16> {
    let body = body(parcel);
    split(*parcel, 3, 1, 0)
        .next()
        .expect("one packet")
        .with_body(&body)
        .flits()
}

fn parcel(kind: Kind, bytes: u32, arr: bool, end: bool) -> ParcelHeader {
    ParcelHeader {
        kind,
        arr,
        end,
        dst: NODE,
        bytes,
        body: Addr(0),
        dest: Addr(0x1_0000),
        soft: [5, 9],
    }
}

fn setup(ctrl: u32) -> Vec<RecvEvent> {
    let reg = |offset, value| RecvEvent::Register { offset, value };
    vec![
        reg(MHB_BASE, HEADERS[0]),
        reg(MHB_SIZE, RING),
        reg(DHB_BASE, HEADERS[1]),
        reg(DHB_SIZE, RING),
        reg(MBB0_BASE, BODIES[0]),
        reg(MBB0_SIZE, RING),
        reg(MBB1_BASE, BODIES[1]),
        reg(MBB1_SIZE, RING),
        reg(NODE_ID, u32::from(NODE)),
        reg(R_CTRL, R_CTRL_RUN_MASK | ctrl),
    ]
}

/// The events of a Receiver with 4-byte words and 8-beat bursts for these parcels, one after the other. The host
/// empties the rings at once.
fn legal(parcels: &[ParcelHeader]) -> Vec<RecvEvent> {
    let (mut events, mut puts) = (setup(0), [0u32; 4]);
    for parcel in parcels {
        let (head, body) = RingId::of(parcel.kind);
        let head_at = HEADERS[head as usize] + 16 * puts[head as usize];
        let body_at = match parcel.kind.buffer() {
            Some(b) => BODIES[b] + 512 * puts[2 + b],
            None => parcel.dest.0,
        };
        events.push(RecvEvent::Arrives {
            flits: packet_flits(parcel),
        });
        events.push(RecvEvent::Write {
            addr: Addr(head_at),
            bytes: 16,
        });
        events.push(RecvEvent::Written { ok: true });
        if parcel.arr {
            events.push(RecvEvent::Internal(Internal::Raised(Cause::Arrival)));
        }
        for at in (0..parcel.bytes).step_by(32) {
            let bytes = (parcel.bytes - at).min(32).next_multiple_of(4);
            events.push(RecvEvent::Write {
                addr: Addr(body_at + at),
                bytes,
            });
        }
        events.extend((0..parcel.bytes).step_by(32).map(|_| RecvEvent::Written { ok: true }));
        for ring in [Some(head), body].into_iter().flatten() {
            let put = &mut puts[ring as usize];
            *put = (*put + 1) % RING;
            events.push(RecvEvent::Internal(Internal::Put { ring, value: *put }));
            events.push(RecvEvent::Register {
                offset: ring.registers() + 12,
                value: *put,
            });
        }
        if parcel.end {
            events.push(RecvEvent::Internal(Internal::Raised(Cause::End)));
        }
    }
    events
}

fn receiver(inside: Inside) -> RecvModel {
    RecvModel::new(4, 8, inside, Memory::new(MEMORY))
}

fn run(events: impl IntoIterator<Item = RecvEvent>) -> Result<RecvModel, Mismatch> {
    let mut model = receiver(Inside::Shown);
    for event in events {
        model.observe(event)?;
    }
    model.finished()?;
    Ok(model)
}

fn three() -> Vec<ParcelHeader> {
    vec![
        parcel(Kind::Msg0, 100, true, true),
        parcel(Kind::Dma, 512, false, true),
        parcel(Kind::Msg1, 7, false, true),
    ]
}

/// The legal stream of [`three`], changed by `twin`, is refused, and the report names the field.
fn refused(field: &str, twin: impl FnOnce(&mut Vec<RecvEvent>)) {
    let mut events = legal(&three());
    run(events.clone()).expect("the untouched stream is legal");
    twin(&mut events);
    let mismatch = run(events).expect_err("the twin must be refused");
    assert!(mismatch.to_string().contains(field), "{mismatch}");
}

fn position(events: &[RecvEvent], wanted: impl Fn(&RecvEvent) -> bool) -> usize {
    events.iter().position(wanted).expect("the stream has such an event")
}

fn is_raised(cause: Cause) -> impl Fn(&RecvEvent) -> bool {
    move |e| *e == RecvEvent::Internal(Internal::Raised(cause))
}

fn is_write(event: &RecvEvent) -> bool {
    matches!(event, RecvEvent::Write { .. })
}

#[test]
fn receiver_twins_are_refused() {
    refused("Header", |e| {
        let at = position(e, is_write);
        e[at] = RecvEvent::Write {
            addr: Addr(HEADERS[0] + 16),
            bytes: 16,
        };
    });
    refused("Body", |e| {
        let at = position(e, is_write) + 3;
        e[at] = RecvEvent::Write {
            addr: Addr(BODIES[0] + 512),
            bytes: 32,
        };
    });
    refused("write", |e| {
        let at = position(e, |w| matches!(w, RecvEvent::Write { bytes: 4, .. }));
        e[at] = RecvEvent::Write {
            addr: Addr(BODIES[0] + 96),
            bytes: 8,
        };
    });
    refused("inside", |e| {
        let at = position(e, |w| matches!(w, RecvEvent::Write { bytes: 4, .. }));
        e.remove(at);
        e.remove(at);
    });
    refused("internal events at the end", |e| {
        e.pop();
    });
    refused("writes without response at the end", |e| {
        let last = e.iter().rposition(|w| matches!(w, RecvEvent::Written { .. }));
        e.truncate(last.expect("the stream has such an event"));
    });
    refused("write at the end", |e| {
        let last = e.iter().rposition(is_write);
        e.truncate(last.expect("the stream has such an event"));
    });
    refused("inside", |e| {
        let at = position(e, is_raised(Cause::End));
        e.remove(at);
    });
    refused("inside", |e| {
        let (end, last) = (
            position(e, is_raised(Cause::End)),
            position(e, |w| matches!(w, RecvEvent::Internal(Internal::Put { .. }))),
        );
        e.swap(end, last);
    });
    refused("write", |e| {
        let at = position(e, is_raised(Cause::Arrival));
        e.swap(at, at + 1);
    });
    refused("inside", |e| {
        let at = position(e, is_raised(Cause::Arrival));
        e.swap(at - 1, at);
    });
    refused("inside", |e| {
        let at = position(e, |w| matches!(w, RecvEvent::Internal(Internal::Put { .. })));
        e[at] = RecvEvent::Internal(Internal::Put {
            ring: RingId::DmaHeader,
            value: 1,
        });
    });
    refused("write", |e| {
        e.push(RecvEvent::Write {
            addr: Addr(0x9000),
            bytes: 4,
        })
    });
    refused("write response", |e| e.push(RecvEvent::Written { ok: true }));
    refused("write", |e| {
        let at = position(e, |w| matches!(w, RecvEvent::Arrives { .. }));
        let flits = packet_flits(&parcel(Kind::Msg1, 100, true, true));
        e[at] = RecvEvent::Arrives { flits };
    });
}

#[test]
fn receiver_report_names_packet_and_events() {
    let mut events = legal(&three());
    events.push(RecvEvent::Written { ok: true });
    let mismatch = run(events).unwrap_err();
    assert_eq!((mismatch.packet, mismatch.field), (3, "write response"));
    assert_eq!(mismatch.last.len(), 8);
    assert!(mismatch.last[7].contains("Written"), "{mismatch}");
}

#[test]
fn a_wrong_byte_in_memory_is_found() {
    let model = run(legal(&three())).unwrap();
    let mut memory = Memory::new(MEMORY);
    let all = three();
    let put = |memory: &mut Memory, at: u32, p: &ParcelHeader| assert!(memory.write(Addr(at), &body(p)));
    for (i, at) in [BODIES[0], 0x1_0000, BODIES[1]].into_iter().enumerate() {
        put(&mut memory, at, &all[i]);
        let flits = packet_flits(&all[i]);
        let header: Vec<u8> = flits[1..9].iter().flat_map(|f| f.to_le_bytes()).collect();
        assert!(memory.write(Addr([HEADERS[0], HEADERS[1], HEADERS[0] + 16][i]), &header));
    }
    model.check_memory(&memory).unwrap();
    assert!(memory.write(Addr(BODIES[1] + 7), &[1]), "one byte beyond the last body");
    assert_eq!(model.check_memory(&memory).unwrap_err().field, "memory");
}

fn raised(cause: Cause) -> RecvEvent {
    RecvEvent::Internal(Internal::Raised(cause))
}

fn restart(ctrl: u32) -> RecvEvent {
    RecvEvent::Register {
        offset: R_CTRL,
        value: R_CTRL_RUN_MASK | R_CTRL_RESTART_MASK | ctrl,
    }
}

#[test]
fn a_halt_holds_until_the_restart() {
    let ctrl = R_CTRL_HALT_ARRIVAL_MASK | R_CTRL_HALT_END_MSG_MASK;
    let mut events = legal(&[parcel(Kind::Msg0, 20, true, true), parcel(Kind::Dma, 4, false, false)]);
    events[9] = RecvEvent::Register {
        offset: R_CTRL,
        value: R_CTRL_RUN_MASK | ctrl,
    };
    let halted = RecvEvent::Internal(Internal::Halted);
    for cause in [Cause::Arrival, Cause::End] {
        let at = position(&events, is_raised(cause)) + 1;
        events.splice(at..at, [halted.clone(), restart(ctrl)]);
    }
    run(events.clone()).unwrap();
    for missing in [halted, restart(ctrl)] {
        for nth in 0..2 {
            let mut twin = events.clone();
            let at = twin
                .iter()
                .enumerate()
                .filter(|(_, e)| **e == missing)
                .nth(nth)
                .unwrap()
                .0;
            twin.remove(at);
            run(twin).expect_err("a halt or its restart left out");
        }
    }
}

#[test]
fn a_full_ring_halts_and_loses_nothing() {
    let mut model = receiver(Inside::Shown);
    let mut events = legal(&[parcel(Kind::Msg0, 4, false, true); 8]);
    events.retain(|e| !matches!(e, RecvEvent::Register { offset, .. } if offset % 16 == 12 && *offset < R_CTRL));
    let eighth = events
        .iter()
        .rposition(|e| matches!(e, RecvEvent::Arrives { .. }))
        .unwrap();
    let rest = events.split_off(eighth + 1);
    for event in events {
        model.observe(event).unwrap();
    }
    let mut twin = model.clone();
    twin.observe(rest[0].clone())
        .expect_err("no write while the ring is full");
    assert_eq!(model.possible(), [Internal::Raised(Cause::Overflow)]);
    model.observe(raised(Cause::Overflow)).unwrap();
    model.observe(RecvEvent::Internal(Internal::Halted)).unwrap();
    for ring in [RingId::MessageHeader, RingId::Body0] {
        model
            .observe(RecvEvent::Register {
                offset: ring.registers() + 12,
                value: 3,
            })
            .unwrap();
    }
    model
        .clone()
        .observe(rest[0].clone())
        .expect_err("no write before the restart");
    model.observe(restart(0)).unwrap();
    for event in rest {
        model.observe(event).unwrap();
    }
    model.finished().unwrap();
}

#[test]
fn faulty_packets_are_dropped_and_the_next_is_unharmed() {
    let good = parcel(Kind::Dma, 40, false, true);
    let whole = packet_flits(&good);
    let mut other_node = whole.clone();
    other_node[0] ^= 1;
    let cases: [(Vec<u16>, Cause, u32); 5] = [
        (whole[..7].to_vec(), Cause::Truncated, 0),
        (other_node, Cause::BadHeader, 0),
        ([&whole[..5], &[1], &whole[6..]].concat(), Cause::BadHeader, 0),
        (whole[..28].to_vec(), Cause::Truncated, 38),
        ([&whole[..], &[0, 0]].concat(), Cause::Overlong, 40),
    ];
    for (flits, cause, stored) in cases {
        let mut events = setup(0);
        events.push(RecvEvent::Arrives { flits });
        let writes = if stored > 0 {
            vec![(HEADERS[1], 16), (0x1_0000, 32), (0x1_0020, 8)]
        } else {
            vec![]
        };
        for (addr, bytes) in writes {
            events.push(RecvEvent::Write {
                addr: Addr(addr),
                bytes,
            });
            events.push(RecvEvent::Written { ok: true });
        }
        events.push(raised(cause));
        events.extend(legal(&[good]).split_off(10));
        let model = run(events.clone()).unwrap();
        assert_eq!(
            (model.regs.drops, model.regs.pending),
            (1, cause.stat_mask() | R_STAT_END_MASK)
        );
        events.retain(|e| *e != raised(cause));
        run(events).expect_err("a drop that nobody is told of");
    }
}

#[test]
fn a_refused_write_is_not_published() {
    let (first, second) = (parcel(Kind::Dma, 64, false, true), parcel(Kind::Msg0, 8, false, true));
    let mut events = legal(&[first]);
    let at = position(&events, |e| matches!(e, RecvEvent::Written { .. })) + 3;
    events[at] = RecvEvent::Written { ok: false };
    run(events.clone()).expect_err("published all the same");
    events.truncate(at + 2);
    events.push(raised(Cause::BusError));
    events.extend(legal(&[second]).split_off(10));
    let model = run(events).unwrap();
    assert_eq!(
        (model.regs.drops, model.regs.rings[1].put, model.regs.rings[0].put),
        (1, 0, 1)
    );
}

fn write(addr: u32, bytes: u32) -> RecvEvent {
    let addr = Addr(addr);
    RecvEvent::Write { addr, bytes }
}

const OK: RecvEvent = RecvEvent::Written { ok: true };
const REFUSED: RecvEvent = RecvEvent::Written { ok: false };

fn put(ring: RingId, value: u32) -> RecvEvent {
    RecvEvent::Internal(Internal::Put { ring, value })
}

/// Two DMA packets of one burst each, the second behind the first.
fn behind() -> Vec<RecvEvent> {
    let (first, second) = (parcel(Kind::Dma, 32, false, false), parcel(Kind::Dma, 32, false, false));
    let second = ParcelHeader {
        dest: Addr(0x2_0000),
        ..second
    };
    let mut events = setup(0);
    events.extend([first, second].map(|p| RecvEvent::Arrives {
        flits: packet_flits(&p),
    }));
    events.extend([write(HEADERS[1], 16), write(0x1_0000, 32)]);
    events.extend([write(HEADERS[1] + 16, 16), write(0x2_0000, 32)]);
    events
}

/// Takes the events, then refuses each of the wrong ones.
fn only(mut events: Vec<RecvEvent>, wrong: &[RecvEvent], right: &[RecvEvent]) {
    let mut model = receiver(Inside::Shown);
    for event in events.drain(..) {
        model.observe(event).unwrap();
    }
    for event in wrong {
        let taken = model.clone().observe(event.clone());
        assert!(taken.is_err(), "{event:x?} was taken");
    }
    for event in right {
        model.observe(event.clone()).unwrap();
    }
    model.finished().unwrap();
}

#[test]
fn behind_a_refused_packet_the_header_is_written_once_more() {
    let dma = RingId::DmaHeader;
    // Both are delivered: nothing is written again.
    let again = write(HEADERS[1], 16);
    let delivered = [vec![OK, OK, put(dma, 1)], vec![OK, OK, put(dma, 2)]].concat();
    only(behind(), std::slice::from_ref(&again), &delivered);
    // The first is refused: the second is not published before its header is where the first one's was.
    let told = [vec![OK, REFUSED, raised(Cause::BusError)]].concat();
    let after = [OK, OK, again.clone(), OK, put(dma, 1)];
    let wrong = [
        put(dma, 1),
        put(dma, 2),
        write(HEADERS[1] + 16, 16),
        write(HEADERS[1] + 32, 16),
    ];
    only([behind(), told.clone()].concat(), &wrong, &after);
    only([behind(), told.clone(), vec![OK, OK]].concat(), &wrong, &after[2..]);
    only(
        [behind(), told.clone(), vec![OK, OK, again.clone(), OK]].concat(),
        &[put(dma, 2), again.clone()],
        &after[4..],
    );
    // A refused write of the second counts also where it was written again.
    let both = [REFUSED, OK, again.clone(), OK, raised(Cause::BusError)];
    only([behind(), told.clone()].concat(), &[], &both);
    // Its body comes first.
    let body = behind().pop().unwrap();
    let until_body = [behind()[..behind().len() - 1].to_vec(), told].concat();
    only(
        until_body,
        std::slice::from_ref(&again),
        &[&[body][..], &after].concat(),
    );
}

#[test]
fn a_refusal_that_was_not_known_yet_is_made_good_and_a_known_one_is_not() {
    let dma = RingId::DmaHeader;
    let told = [OK, REFUSED, raised(Cause::BusError)];
    let all = behind();
    let (begun, second) = all.split_at(all.len() - 2);
    let again = write(HEADERS[1], 16);
    // Begun before the hardware knew: as if the first were under way.
    let late = [begun, &told, second].concat();
    only(
        late,
        &[put(dma, 2), put(dma, 1)],
        &[again.clone(), OK, OK, OK, put(dma, 1)],
    );
    // Begun after: in the place of the first, and that is all.
    let early = [begun, &told, &[again.clone(), second[1].clone()]].concat();
    only(early, &[again.clone(), second[0].clone()], &[OK, OK, put(dma, 1)]);
    // It had not arrived: it cannot have been begun.
    let mut then = [begun, &told].concat();
    let arrival = position(&then, |e| matches!(e, RecvEvent::Arrives { .. })) + 1;
    let arrival = then.remove(arrival);
    then.push(arrival);
    only(then, &second[..1], &[again, second[1].clone(), OK, OK, put(dma, 1)]);
}

#[test]
fn only_a_dma_packet_begins_behind_another_and_no_third() {
    let mut events = behind();
    let third = |kind, arr| RecvEvent::Arrives {
        flits: packet_flits(&parcel(kind, 4, arr, false)),
    };
    events.insert(12, third(Kind::Dma, false));
    let head = write(HEADERS[1] + 32, 16);
    let rest = [OK, OK, put(RingId::DmaHeader, 1), head.clone(), write(0x1_0000, 4)];
    let end = [OK, OK, put(RingId::DmaHeader, 2), OK, OK, put(RingId::DmaHeader, 3)];
    only(events, &[head], &[&rest[..], &end].concat());
    for (kind, arr) in [(Kind::Msg0, false), (Kind::Dma, true)] {
        let mut events = behind();
        events.truncate(14);
        events[11] = third(kind, arr);
        let at = [HEADERS[0], HEADERS[1] + 16][usize::from(kind == Kind::Dma)];
        let mut model = receiver(Inside::Shown);
        for event in events {
            model.observe(event).unwrap();
        }
        model
            .clone()
            .observe(write(at, 16))
            .expect_err("begun while another is under way");
        for event in [OK, OK, put(RingId::DmaHeader, 1), write(at, 16)] {
            model.observe(event).unwrap();
        }
    }
}

prop_compose! {
    fn any_packet()(
        kind in proptest::sample::select(&Kind::ALL[..]), bytes in 1..=512u32, arr: bool, end: bool, at in 0..64u32,
        soft: [u32; 2],
    ) -> ParcelHeader {
        ParcelHeader { dest: Addr(0x1_0000 + 512 * at), soft, ..parcel(kind, bytes, arr, end) }
    }
}

#[test]
fn any_legal_stream_is_taken_and_no_event_can_be_left_out() {
    let test = this_test!();
    let strategy = (prop::collection::vec(any_packet(), 1..12), any::<prop::sample::Index>());
    holds(test, REGRESSIONS, 256, strategy, |_, (parcels, left_out), _| {
        let mut events = legal(parcels);
        let model = run(events.clone()).map_err(|e| e.to_string())?;
        if let Some(p) = parcels.iter().rev().find(|p| p.kind == Kind::Dma) {
            let mut image = model.clone();
            if image.memory().read(p.dest, p.bytes as usize) != Some(&body(p)) {
                return Err("the model's memory has another body".into());
            }
        }
        let at = 10 + left_out.index(events.len() - 10);
        let event = events.remove(at);
        if matches!(event, RecvEvent::Register { .. }) || run(events).is_err() {
            Ok(())
        } else {
            Err(format!("{event:x?} can be left out"))
        }
    });
}

#[test]
fn without_the_inside_the_model_comes_to_the_same_registers() {
    let test = this_test!();
    let strategy = prop::collection::vec(any_packet(), 1..12);
    holds(test, REGRESSIONS, 256, strategy, |_, parcels, _| {
        let shown = run(legal(parcels)).map_err(|e| e.to_string())?;
        let mut assumed = receiver(Inside::Assumed);
        for event in legal(parcels)
            .into_iter()
            .filter(|e| !matches!(e, RecvEvent::Internal(_)))
        {
            assumed.observe(event).map_err(|e| e.to_string())?;
        }
        assumed.finished().map_err(|e| e.to_string())?;
        if assumed.regs == shown.regs {
            Ok(())
        } else {
            Err(format!("{:x?}, not {:x?}", assumed.regs, shown.regs))
        }
    });
}
