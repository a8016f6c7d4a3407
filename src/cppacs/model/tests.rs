//! Machines without software: registers and tables by hand.

use super::*;
use crate::cppacs::golden::entry::node_word;
use crate::cppacs::golden::tcw::Tcw;

const AREA_AT: u32 = 0x1_0000;
const AREA_BYTES: u32 = 0x40_0000;
const TCWS_AT: u32 = 0x8000;
/// Fields are the area's upper half; the flag is in front of the area.
const FIELD_AT: u32 = AREA_AT + AREA_BYTES / 2;
const FLAG_AT: u32 = 0x400;
const SEND_FLAG: u32 = AREA_BYTES / 2 - 8;

struct Board {
    m: ModelMachine,
    grid: Grid,
}

impl Board {
    /// Each node has field 1, which allows all, and right 1 for field 1 of the next node.
    fn new(x: u32, y: u32, z: u32) -> Board {
        let config = Config {
            x,
            y,
            z,
            mem_bytes: 0x80_0000,
            ..Config::paper()
        };
        let (m, grid) = (ModelMachine::new(&config), config.grid());
        let mut board = Board { m, grid };
        for node in 0..grid.nodes() {
            board.set(node, NODE, node_word(grid, grid.place(node)));
            board.set(node, CONTROL, CONTROL_SEND_MASK);
            let process = Process {
                area: AREA_AT,
                area_bytes: AREA_BYTES,
                tcws: TCWS_AT,
                tcw_count: 16,
            };
            let [area, tcws] = process.words();
            board.set(node, AREA + 16, area);
            board.set(node, TCWS + 16, tcws);
            board.field(
                node,
                Field {
                    enabled: true,
                    write: true,
                    read: true,
                    atomic: true,
                    flagged: true,
                    ..field()
                },
            );
            board.right(
                node,
                Right {
                    place: grid.place((node + 1) % grid.nodes()),
                    ..right()
                },
            );
        }
        board
    }

    fn access(&mut self, node: u32, offset: u32, write: Option<u64>) -> HostRsp {
        let node = NodeId(node as u16);
        let req = HostReq {
            addr: offset.into(),
            bytes: 8,
            write,
        };
        self.m.host_start(node, req);
        loop {
            let next = self.m.next_event().expect("an answer is to come");
            self.m.advance(next);
            if let Some(rsp) = self.m.host_take(node) {
                return rsp;
            }
        }
    }

    fn set(&mut self, node: u32, offset: u32, value: u64) {
        assert!(!self.access(node, offset, Some(value)).error, "{offset:#x}");
    }

    fn get(&mut self, node: u32, offset: u32) -> u64 {
        let rsp = self.access(node, offset, None);
        assert!(!rsp.error, "{offset:#x}");
        rsp.value
    }

    fn field(&mut self, node: u32, field: Field) {
        let [state, extent, flag] = field.words();
        self.set(node, FIELDS + 32 + FIELD_EXTENT, extent);
        self.set(node, FIELDS + 32 + FIELD_FLAG, flag);
        self.set(node, FIELDS + 32 + FIELD_STATE, state);
    }

    fn right(&mut self, node: u32, right: Right) {
        let [place, limit] = right.words();
        self.set(node, RIGHTS + 16, place);
        self.set(node, RIGHTS + 24, limit);
    }

    fn memory(&mut self, node: u32) -> &mut Memory {
        self.m.memory(NodeId(node as u16))
    }

    fn words(&mut self, node: u32, addr: u32, words: u32) -> Vec<u32> {
        words::read(self.memory(node), addr, words).expect("memory")
    }

    fn put(&mut self, node: u32, addr: u32, words: &[u32]) {
        words::write(self.memory(node), addr, words).expect("memory");
    }

    /// Kicks TCW 3 of process 1.
    fn kick(&mut self, node: u32, tcw: Tcw) {
        self.put(node, TCWS_AT + 3 * SIZE_TCW, &tcw.words());
        self.set(node, KICK + SIZE_PAGE, 3 | u64::from(tcw.channel) << KICK_CHANNEL_SHIFT);
    }

    /// Runs until nothing happens any more; gives the cycles.
    fn rest(&mut self) -> u64 {
        let begin = self.m.now;
        let mut last = begin;
        while let Some(next) = self.m.next_event() {
            self.m.advance(next);
            last = self.m.now;
        }
        last - begin
    }

    /// Sends, and gives the cycles from the kick until all is over.
    fn send(&mut self, node: u32, tcw: Tcw) -> u64 {
        let begin = self.m.now;
        self.kick(node, tcw);
        self.rest();
        self.m.now - begin
    }
}

fn field() -> Field {
    Field {
        owner: 1,
        key: 7,
        base: FIELD_AT,
        size: AREA_BYTES / 2,
        flag: FLAG_AT,
        ..Field::default()
    }
}

fn right() -> Right {
    Right {
        field: 1,
        owner: 1,
        valid: true,
        key: 7,
        size: AREA_BYTES / 2,
        ..Right::default()
    }
}

fn write(length: u32) -> Tcw {
    Tcw {
        valid: true,
        right: 1,
        length,
        ..Tcw::default()
    }
}

fn data(words: u32) -> Vec<u32> {
    (0..words).map(|word| word.wrapping_mul(0x9e37_79b1) ^ 0x5a).collect()
}

#[test]
fn eight_bytes_arrive_in_3_us() {
    for (x, y, z) in [(2, 1, 1), (2, 2, 1), (2, 2, 2)] {
        let mut board = Board::new(x, y, z);
        let last = board.grid.nodes() - 1;
        board.right(
            0,
            Right {
                place: board.grid.place(last),
                ..right()
            },
        );
        board.put(0, AREA_AT, &[1, 2]);
        let cycles = board.send(0, write(8));
        assert_eq!(board.words(last, FIELD_AT, 2), [1, 2]);
        assert_eq!(board.words(last, FLAG_AT, 2), [0, 1]);
        let us = (Config::paper().clock_period * cycles).as_us();
        assert!((2.8..3.25).contains(&us), "{us} us");
    }
}

#[test]
fn a_node_sends_to_itself() {
    let mut board = Board::new(1, 1, 1);
    board.put(0, AREA_AT, &data(100));
    board.send(0, write(400));
    assert_eq!(board.words(0, FIELD_AT, 100), data(100));
}

#[test]
fn a_megabyte_goes_at_the_links_rate() {
    let mut board = Board::new(2, 1, 1);
    board.put(0, AREA_AT, &data(1 << 18));
    let cycles = board.send(
        0,
        Tcw {
            flagged: true,
            send_flag: SEND_FLAG,
            ..write(1 << 20)
        },
    );
    assert_eq!(board.words(1, FIELD_AT, 1 << 18), data(1 << 18));
    assert_eq!(board.words(0, AREA_AT + SEND_FLAG, 2), [3, RESULT_SENT]);
    assert_eq!(board.get(0, COUNTS), 16);
    assert_eq!(board.words(1, FLAG_AT, 2), [0, 1]);
    assert!((1 << 18..(1 << 18) + 500).contains(&cycles), "{cycles}");
}

#[test]
fn a_stride_moves_elements() {
    let mut board = Board::new(2, 1, 1);
    board.put(0, AREA_AT, &data(4096));
    let tcw = Tcw {
        strided: true,
        element: 8,
        source_step: 64,
        step: 16,
        ..write(1024)
    };
    board.send(0, tcw);
    for element in 0..128 {
        let expected = board.words(0, AREA_AT + 64 * element, 2);
        assert_eq!(board.words(1, FIELD_AT + 16 * element, 2), expected);
    }
}

#[test]
fn requests_are_answered() {
    let mut board = Board::new(2, 2, 1);
    board.put(1, FIELD_AT, &data(64));
    let get = Tcw {
        kind: KIND_GET,
        channel: 1,
        reply_field: 1,
        reply_offset: 512,
        ..write(256)
    };
    board.send(0, get);
    assert_eq!(board.words(0, FIELD_AT + 512, 64), data(64));
    assert_eq!(board.words(0, FLAG_AT, 2), [1, 1]);
    let swap = Tcw {
        kind: KIND_SWAP,
        operand: 5 << 32 | 4,
        ..get
    };
    board.send(0, Tcw { length: 8, ..swap });
    assert_eq!(
        (board.words(0, FIELD_AT + 512, 2), board.words(1, FIELD_AT, 2)),
        (data(2), vec![4, 5])
    );
    let cswap = Tcw {
        kind: KIND_CSWAP,
        length: 8,
        operand: 9,
        compare: 5 << 32 | 4,
        ..get
    };
    for (left, old) in [([9, 0], [4, 5]), ([9, 0], [9, 0])] {
        board.send(0, cswap);
        assert_eq!(board.words(0, FIELD_AT + 512, 2), old);
        assert_eq!(board.words(1, FIELD_AT, 2), left);
    }
    board.send(
        0,
        Tcw {
            channel: 1,
            offset: 64,
            ..write(32)
        },
    );
    assert_eq!(board.words(1, FIELD_AT + 64, 8), [0; 8]);
    assert_eq!(board.get(1, COUNTS + 8 * COUNT_ANSWERED), 4);
}

#[test]
fn what_a_sender_must_not_is_refused() {
    let mut board = Board::new(2, 1, 1);
    let flagged = Tcw {
        flagged: true,
        send_flag: SEND_FLAG,
        ..write(64)
    };
    board.send(
        0,
        Tcw {
            offset: AREA_BYTES / 2,
            ..flagged
        },
    );
    assert_eq!(board.words(0, AREA_AT + SEND_FLAG, 2), [3, RESULT_REFUSED + SEND_LIMIT]);
    assert_eq!(board.get(0, SEND_REFUSALS + 8 * SEND_LIMIT), 1);
    assert_eq!(board.get(0, SEND_FIRST), 3 | 1 << 16 | u64::from(SEND_LIMIT) << 24);
    // Five kicks of which nothing is fetched while SEND is clear: one does not fit.
    board.set(0, CONTROL, 0);
    for _ in 0..5 {
        board.kick(0, flagged);
    }
    assert_eq!(board.get(0, SEND_REFUSALS), 1);
    assert_eq!(board.get(0, KICK + SIZE_PAGE + 8) & 0xffff, 4 << 8);
    assert!(board.access(0, KICK, None).error && board.access(0, 0x60, None).error);
    assert_eq!(board.get(0, HOST_ERRORS), 2);
}

#[test]
fn what_a_receiver_does_not_allow_is_refused() {
    let mut board = Board::new(2, 1, 1);
    let refused = |board: &mut Board, reason: RecvReason| board.get(1, RECEIVE_REFUSALS + 8 * reason as u32);
    board.put(0, AREA_AT, &data(16));
    for (right, reason) in [
        (Right { key: 8, ..right() }, RecvReason::Key),
        (Right { field: 2, ..right() }, RecvReason::Field),
        (
            Right {
                size: u32::MAX,
                ..right()
            },
            RecvReason::Bounds,
        ),
    ] {
        board.right(
            0,
            Right {
                place: board.grid.place(1),
                ..right
            },
        );
        let offset = if reason == RecvReason::Bounds {
            AREA_BYTES / 2
        } else {
            0
        };
        board.send(0, Tcw { offset, ..write(64) });
        assert_eq!(refused(&mut board, reason), 1, "{reason:?}");
    }
    assert_eq!(board.words(1, FIELD_AT, 16), [0; 16]);
    assert_eq!(board.words(1, FLAG_AT, 2), [0, 0]);
}

#[test]
fn a_wrong_sum_shuts_the_field() {
    let mut board = Board::new(2, 1, 1);
    board.right(
        0,
        Right {
            place: board.grid.place(1),
            ..right()
        },
    );
    let header = crate::cppacs::golden::message::Header {
        to: board.grid.place(1),
        mask: 0,
        channel: Channel::Data,
        kind: Kind::Write,
        last: true,
        notify: false,
        src: board.grid.place(0),
        field: 1,
        key: 7,
        offset: 0,
        length: 8,
        worm: 0,
        stride: None,
    };
    let mut worm = header.worm(&[1, 2]);
    let forged = |worm: &[u32]| Fault::Packet(worm.iter().map(|&word| word.into()).collect());
    assert!(board.m.inject(NodeId(0), &forged(&worm)));
    board.rest();
    assert_eq!(board.words(1, FLAG_AT, 2), [0, 1]);
    worm[7] ^= 1;
    board.m.inject(NodeId(0), &forged(&worm));
    board.rest();
    assert_eq!(board.get(1, RECEIVE_REFUSALS + 8 * RECV_SUM), 1);
    assert_eq!(board.get(1, FIELDS + 32) & FIELD_STATE_ENABLED_MASK, 0);
    assert_eq!(board.get(1, CAUSE) & CAUSE_SHUT_MASK, CAUSE_SHUT_MASK);
    board.send(0, write(64));
    assert_eq!(board.get(1, RECEIVE_REFUSALS + 8 * RECV_FIELD), 1);
}

#[test]
fn a_field_that_is_destroyed_meanwhile_is_gone() {
    let mut board = Board::new(2, 1, 1);
    board.put(0, AREA_AT, &data(1 << 14));
    board.kick(0, write(1 << 16));
    for _ in 0..400 {
        board.get(1, STATUS);
    }
    let status = board.get(1, STATUS);
    assert_eq!(status & STATUS_RECEIVING_MASK, STATUS_RECEIVING_MASK);
    assert_eq!((status & STATUS_FIELD_MASK) >> STATUS_FIELD_SHIFT, 1);
    board.set(1, FIELDS + 32, 0);
    board.rest();
    assert_eq!(board.get(1, RECEIVE_REFUSALS + 8 * RECV_GONE), 1);
    assert_eq!(board.words(1, FLAG_AT, 2), [0, 0]);
}

#[test]
fn messages_of_normal_mode_go_round_a_ring() {
    let mut board = Board::new(2, 1, 1);
    let state = Field {
        enabled: true,
        write: true,
        ..field()
    };
    let [state, extent, _] = Field {
        base: FIELD_AT,
        size: 1 << 14,
        ..state
    }
    .words();
    board.set(1, FIELDS + FIELD_EXTENT, extent);
    board.set(1, FIELDS + FIELD_STATE, state);
    board.set(1, RING, 12 << RING_SLOT_LOG_SHIFT | 2 << RING_SLOTS_LOG_SHIFT);
    board.right(
        0,
        Right {
            place: board.grid.place(1),
            field: 0,
            ..right()
        },
    );
    for message in 0..6 {
        board.put(0, AREA_AT, &[message + 1, 0]);
        board.send(
            0,
            Tcw {
                notify: true,
                ..write(8)
            },
        );
    }
    let slots: Vec<u32> = (0..4)
        .map(|slot| board.words(1, FIELD_AT + 0x1000 * slot, 1)[0])
        .collect();
    assert_eq!(slots, [1, 2, 3, 4]);
    assert_eq!(board.get(1, RECEIVE_REFUSALS + 8 * RECV_FULL), 2);
    board.send(0, write(0x1008));
    assert_eq!(board.get(1, RECEIVE_REFUSALS + 8 * RECV_FULL), 3);
    board.set(1, RING, 3 | 12 << RING_SLOT_LOG_SHIFT | 2 << RING_SLOTS_LOG_SHIFT);
    board.send(0, write(0x1008));
    assert_eq!(board.get(1, RECEIVE_REFUSALS + 8 * RECV_BOUNDS), 1);
    board.set(1, MASK, CAUSE_NOTIFY_MASK);
    assert!(board.m.irq(NodeId(1)));
    board.set(1, CAUSE, CAUSE_NOTIFY_MASK);
    assert!(!board.m.irq(NodeId(1)));
}

#[test]
fn a_broadcast_reaches_all_in_the_time_of_one() {
    let mut board = Board::new(3, 3, 2);
    let mut times = Vec::new();
    for mask in [0, 7] {
        let place = board.grid.place(board.grid.nodes() - 1);
        board.right(0, Right { place, mask, ..right() });
        board.put(0, AREA_AT, &data(248));
        times.push(board.send(0, write(992)));
    }
    assert_eq!(times[0], times[1]);
    for node in 0..board.grid.nodes() {
        assert_eq!(board.words(node, FIELD_AT, 248), data(248));
    }
}

#[test]
fn the_barrier_waits_for_all_members() {
    let mut board = Board::new(2, 2, 1);
    for node in 0..4 {
        board.set(node, BARRIER, BARRIER_MEMBER_MASK);
    }
    for node in 0..4 {
        assert_eq!(board.get(0, BARRIER) >> BARRIER_COUNT_SHIFT, 0);
        board.set(node, BARRIER, BARRIER_MEMBER_MASK | BARRIER_ARRIVE_MASK);
    }
    board.rest();
    for node in 0..4 {
        assert_eq!(board.get(node, BARRIER), 1 << BARRIER_COUNT_SHIFT | BARRIER_MEMBER_MASK);
    }
    board.set(0, BARRIER, BARRIER_MEMBER_MASK | BARRIER_ARRIVE_MASK);
    assert!(
        board
            .access(0, BARRIER, Some(BARRIER_MEMBER_MASK | BARRIER_ARRIVE_MASK))
            .error
    );
}

/// All nodes of the full machine send to all others' neighbours at once: no conflict, and the model takes no long.
#[test]
fn two_thousand_nodes_at_once() {
    let config = Config {
        x: 8,
        y: 16,
        z: 16,
        mem_bytes: 0x10_0000,
        ..Config::paper()
    };
    let (grid, mut network) = (config.grid(), Network::<u32>::new(&config));
    for shift in 1..=8 {
        for node in 0..grid.nodes() {
            let f0 = grid.place((node + 37 * shift) % grid.nodes()).word();
            let parcel = Parcel {
                f0,
                words: 16_390,
                drain: 16_390,
                worm: Rc::new(node),
            };
            let now = u64::from(shift) * 20_000;
            network.send(now, node as usize, Channel::of(f0), parcel, now);
        }
        let mut ends = 0;
        while let Some((_, signal)) = network.take(u64::MAX) {
            ends += u32::from(matches!(signal, Signal::Ended { .. }));
        }
        assert_eq!(ends, grid.nodes());
    }
    assert_eq!(network.stalled, 0);
}
