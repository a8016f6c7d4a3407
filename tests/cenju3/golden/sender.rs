//! The golden Sender in lock step takes a legal stream of events, and refuses each mutated twin of it, one event
//! different.

use proptest::prelude::*;
use support::property::holds;
use support::this_test;
use tsunagi::Addr;
use tsunagi::cenju3::golden::lockstep::Mismatch;
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader, Status, split};
use tsunagi::cenju3::golden::sender::{SendEvent, SendModel, Window};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::memory::Memory;

const NODE: u8 = 6;
const MEMORY: usize = 1 << 18;

const QUEUES: [u32; 2] = [0x0000, 0x2000];

/// A memory with these parcels queued, and filled bodies.
fn queued(queues: [&[ParcelHeader]; 2]) -> Memory {
    let mut memory = Memory::new(MEMORY);
    let bodies: Vec<u8> = (0..MEMORY - 0x4000).map(|i| (i * 13 + i / 251) as u8).collect();
    assert!(memory.write(Addr(0x4000), &bodies));
    for (q, parcels) in queues.iter().enumerate() {
        for (i, parcel) in parcels.iter().enumerate() {
            assert!(memory.write(Addr(QUEUES[q] + 32 * i as u32), &parcel.encode()));
        }
    }
    memory
}

fn sender_setup(queues: [&[ParcelHeader]; 2]) -> Vec<SendEvent> {
    let reg = |offset, value| SendEvent::Register { offset, value };
    vec![
        reg(SQ0_BASE, QUEUES[0]),
        reg(SQ1_BASE, QUEUES[1]),
        reg(SQ0_PUT, queues[0].len() as u32),
        reg(SQ1_PUT, queues[1].len() as u32),
    ]
}

/// What a Sender shows that sends queue 0, then queue 1, without prefetch.
fn sent(queues: [&[ParcelHeader]; 2], memory: &Memory) -> Vec<SendEvent> {
    let mut events = sender_setup(queues);
    for (q, parcels) in queues.iter().enumerate() {
        for (i, parcel) in parcels.iter().enumerate() {
            events.push(SendEvent::Read {
                addr: Addr(QUEUES[q] + 32 * i as u32),
                bytes: 32,
            });
            for plan in split(*parcel, NODE, q as u8, i as u8) {
                for at in (0..plan.header.bytes).step_by(32) {
                    let bytes = (plan.header.bytes - at).min(32).next_multiple_of(4);
                    events.push(SendEvent::Read {
                        addr: plan.body.offset(at),
                        bytes,
                    });
                }
                let body = memory.read(plan.body, plan.header.bytes as usize).unwrap();
                events.push(SendEvent::Packet {
                    flits: plan.with_body(body).flits(),
                });
            }
            events.push(SendEvent::Get {
                queue: q,
                value: i as u8 + 1,
            });
        }
    }
    events
}

fn watch(events: impl IntoIterator<Item = SendEvent>, memory: &Memory) -> Result<SendModel, Mismatch> {
    let mut model = SendModel::new(NODE, 4, Window::UNIT);
    for event in events {
        model.observe(event, memory)?;
    }
    model.finished()?;
    Ok(model)
}

fn outgoing(kind: Kind, bytes: u32, body: u32) -> ParcelHeader {
    ParcelHeader {
        kind,
        arr: false,
        end: true,
        dst: 2,
        bytes,
        body: Addr(body),
        dest: Addr(0x8000),
        soft: [1, 2],
    }
}

fn packets(events: &[SendEvent]) -> Vec<usize> {
    (0..events.len())
        .filter(|&i| matches!(events[i], SendEvent::Packet { .. }))
        .collect()
}

#[test]
fn sender_twins_are_refused() {
    let queues: [&[ParcelHeader]; 2] = [
        &[outgoing(Kind::Dma, 1500, 0x4000), outgoing(Kind::Msg0, 9, 0x5000)],
        &[outgoing(Kind::Dma, 700, 0x6000)],
    ];
    let memory = queued(queues);
    let legal = sent(queues, &memory);
    let model = watch(legal.clone(), &memory).unwrap();
    assert_eq!(model.stat(), 0x0003_0006);
    let refused = |field: &str, twin: &dyn Fn(&mut Vec<SendEvent>)| {
        let mut events = legal.clone();
        twin(&mut events);
        let mismatch = watch(events, &memory).expect_err("the twin must be refused");
        assert!(mismatch.to_string().contains(field), "{mismatch}");
    };
    let flip = |packet: usize, flit: usize, bit: u16| {
        move |e: &mut Vec<SendEvent>| {
            let at = packets(e)[packet];
            let SendEvent::Packet { flits } = &mut e[at] else {
                unreachable!()
            };
            flits[flit] ^= bit;
        }
    };
    refused("route flit", &flip(0, 0, 0x1000));
    refused("packet header", &flip(2, 1, 0x0200));
    refused("packet header", &flip(1, 5, 0x0200));
    refused("body", &flip(1, 100, 1));
    refused("packet length", &|e| {
        let at = packets(e)[3];
        let SendEvent::Packet { flits } = &mut e[at] else {
            unreachable!()
        };
        flits.pop();
    });
    refused("packet header", &|e| {
        let p = packets(e);
        e.swap(p[0], p[1]);
    });
    refused("GET", &|e| {
        let at = packets(e)[2];
        e.remove(at);
    });
    refused("GET", &|e| {
        let at = packets(e)[2];
        e.swap(at, at + 1);
    });
    refused("read", &|e| {
        e[4] = SendEvent::Read {
            addr: Addr(32),
            bytes: 32,
        }
    });
    refused("read", &|e| {
        e.push(SendEvent::Read {
            addr: Addr(64),
            bytes: 32,
        })
    });
    refused("read", &|e| {
        e[5] = SendEvent::Read {
            addr: Addr(0x4000 + 1488),
            bytes: 32,
        }
    });
    refused("write", &|e| {
        e.push(SendEvent::Write {
            addr: Addr(24),
            value: 1,
        })
    });
    refused("interrupt", &|e| e.push(SendEvent::Error));
    refused("queue 1 at the end", &|e| {
        e.pop();
    });
    refused("queue 0 at the end", &|e| {
        let last = |event: &SendEvent| matches!(event, SendEvent::Get { queue: 0, value: 2 });
        e.retain(|event| !last(event));
    });
}

#[test]
fn queue_0_goes_first_at_a_packet_boundary() {
    let queues: [&[ParcelHeader]; 2] = [&[outgoing(Kind::Msg0, 8, 0x5000)], &[outgoing(Kind::Dma, 4096, 0x6000)]];
    let memory = queued(queues);
    let events = sent(queues, &memory);
    let high: Vec<_> = events[4..8].to_vec();
    let low = &events[8..];
    let p = packets(low);
    // The header of queue 0 comes after three packets of queue 1; `late` more of those pass before its packet.
    for (late, legal) in [(0, true), (2, true), (3, false)] {
        let mut all = sender_setup(queues);
        all.extend_from_slice(&low[..=p[2]]);
        all.push(high[0].clone());
        all.extend_from_slice(&low[p[2] + 1..=p[2 + late]]);
        all.extend_from_slice(&high[1..]);
        all.extend_from_slice(&low[p[2 + late] + 1..]);
        assert_eq!(watch(all, &memory).is_ok(), legal, "{late} packets late");
    }
}

#[test]
fn a_bad_parcel_stops_its_queue_only() {
    let bad = ParcelHeader {
        dest: Addr(4),
        ..outgoing(Kind::Dma, 64, 0x5000)
    };
    let good = outgoing(Kind::Dma, 64, 0x6000);
    let memory = queued([&[bad, good], &[good]]);
    let header = |i: u32| SendEvent::Read {
        addr: Addr(32 * i),
        bytes: 32,
    };
    let status = |value| SendEvent::Write { addr: Addr(24), value };
    let mut legal = sender_setup([&[bad, good], &[good]]);
    legal.extend([header(0), status(STATUS_DEST_MISALIGNED), SendEvent::Error]);
    legal.extend(sent([&[], &[good]], &memory).split_off(4));
    let halted = watch(legal.clone(), &memory).unwrap();
    assert_eq!(
        halted.stat(),
        0x0001_060c,
        "queue 0 halted with error 6, one parcel sent"
    );
    let mut resumed = legal.clone();
    resumed.push(SendEvent::Register {
        offset: S_CTRL,
        value: S_CTRL_RESUME0_MASK,
    });
    resumed.push(SendEvent::Get { queue: 0, value: 1 });
    resumed.push(header(1));
    let plan = split(good, NODE, 0, 1).next().unwrap();
    resumed.push(SendEvent::Packet {
        flits: plan.with_body(memory.read(good.body, 64).unwrap()).flits(),
    });
    resumed.push(SendEvent::Get { queue: 0, value: 2 });
    watch(resumed.clone(), &memory).unwrap();

    let refused = |twin: &dyn Fn(&mut Vec<SendEvent>)| {
        let mut events = resumed.clone();
        twin(&mut events);
        watch(events, &memory).expect_err("the twin must be refused")
    };
    assert_eq!(refused(&|e| e[5] = status(STATUS_BODY_MISALIGNED)).field, "status");
    assert_eq!(
        refused(&|e| e[5] = SendEvent::Write {
            addr: Addr(56),
            value: 6
        })
        .field,
        "write"
    );
    assert_eq!(refused(&|e| e[6] = header(1)).field, "read");
    refused(&|e| {
        e.remove(6);
    });
    refused(&|e| {
        e.swap(5, 6);
    });

    // The host goes on although the parcel before the bad one has not left.
    let memory = queued([&[good, bad], &[]]);
    let mut early = sender_setup([&[good, bad], &[]]);
    early.extend([header(0), header(1)]);
    early.push(SendEvent::Write {
        addr: Addr(56),
        value: STATUS_DEST_MISALIGNED,
    });
    early.extend([SendEvent::Error, resumed[resumed.len() - 5].clone()]);
    assert_eq!(watch(early, &memory).expect_err("not yet").field, "halt");
}

#[test]
fn a_bus_error_cuts_the_packet_short() {
    let parcels = [outgoing(Kind::Dma, 1024, 0x6000)];
    let mut memory = queued([&parcels, &[]]);
    let mut events = sent([&parcels, &[]], &memory);
    memory.inject_fault(0x6000 + 512 + 100..0x6000 + 512 + 104);
    watch(events.clone(), &memory).expect_err("a whole packet from memory that refused a word");
    events.pop();
    let at = packets(&events)[1];
    let with = |flits: usize| {
        let mut cut = events.clone();
        let SendEvent::Packet { flits: all } = &mut cut[at] else {
            unreachable!()
        };
        all.truncate(flits);
        cut.push(SendEvent::Write {
            addr: Addr(24),
            value: Status::BodyBusError.code(),
        });
        cut.push(SendEvent::Error);
        watch(cut, &memory)
    };
    assert_eq!(with(9 + 50).unwrap().sent(), 0);
    with(9 + 52).unwrap();
    with(9 + 53).expect_err("flits beyond the refused word");
    with(8).expect_err("less than a header");

    let mut early = events.clone();
    let SendEvent::Packet { flits } = &mut early[at] else {
        unreachable!()
    };
    flits.truncate(59);
    let packet = early.remove(at);
    early.push(SendEvent::Write {
        addr: Addr(24),
        value: 8,
    });
    early.push(SendEvent::Error);
    watch(early.clone(), &memory).expect_err("the cut packet never came");
    early.push(packet);
    watch(early, &memory).expect("the status may be seen before the packet");
}

prop_compose! {
    fn any_parcel()(
        kind in proptest::sample::select(&Kind::ALL[..]), len in 1..3000u32, at in 0..500u32, arr: bool, end: bool,
    ) -> ParcelHeader {
        let bytes = if kind == Kind::Dma { len } else { len.min(512) };
        ParcelHeader { arr, end, ..outgoing(kind, bytes, 0x4000 + 32 * at) }
    }
}

#[test]
fn any_legal_sending_is_taken_and_no_packet_can_be_left_out() {
    let test = this_test!();
    let queue = |least| prop::collection::vec(any_parcel(), least..4);
    let strategy = (queue(0), queue(1), any::<prop::sample::Index>());
    holds(
        test,
        "tests/cenju3/regressions/sender.txt",
        256,
        strategy,
        |_, (high, low, left_out), _| {
            let queues: [&[ParcelHeader]; 2] = [high, low];
            let memory = queued(queues);
            let mut events = sent(queues, &memory);
            let model = watch(events.clone(), &memory).map_err(|e| e.to_string())?;
            if usize::from(model.sent()) != high.len() + low.len() {
                return Err(format!("{} parcels counted", model.sent()));
            }
            let all = packets(&events);
            let left_out = events.remove(all[left_out.index(all.len())]);
            match watch(events, &memory) {
                Ok(_) => Err(format!("{left_out:x?} can be left out")),
                Err(_) => Ok(()),
            }
        },
    );
}
