//! The memory agent: its timing word by word, its errors, and that leaving out idle edges changes nothing.

use std::collections::VecDeque;

use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, Memory, MemoryAgent, MemoryTiming};
use tsunagi::{Addr, Cycle, Picos};

const PAPER: MemoryTiming = MemoryTiming {
    read_latency: Cycle(25),
    write_latency: Cycle(20),
    overhead: Cycle(8),
    shared_bus: true,
    byte_time: 0,
};

#[derive(Clone, Copy, Debug)]
struct Burst {
    addr: u32,
    beats: u32,
}

/// Plays a NIC that issues all its bursts as early as it can and never waits, and notes when things happened.
#[derive(Default)]
struct Nic {
    reads: VecDeque<Burst>,
    writes: VecDeque<Burst>,
    write_beats: VecDeque<(u64, bool)>,
    /// (edge, word, error) of each word read.
    words: Vec<(u64, u64, bool)>,
    /// Edge of each word written.
    sent: Vec<u64>,
    /// (edge, error) of each response.
    responses: Vec<(u64, bool)>,
    events: Vec<(u64, EventKind)>,
}

impl Nic {
    fn reading(reads: impl IntoIterator<Item = Burst>) -> Nic {
        Nic {
            reads: reads.into_iter().collect(),
            ..Nic::default()
        }
    }

    fn write(&mut self, addr: u32, words: &[u64]) {
        self.writes.push_back(Burst {
            addr,
            beats: words.len() as u32,
        });
        let last = words.len() - 1;
        self.write_beats
            .extend(words.iter().enumerate().map(|(at, &word)| (word, at == last)));
    }

    fn run(&mut self, agent: &mut MemoryAgent, memory: &mut Memory, cycles: std::ops::Range<u64>) {
        for cycle in cycles {
            let from = self.drive();
            let to = *agent.ports();
            agent.step(Cycle(cycle), memory, &from, |event| self.events.push((cycle, event)));
            if from.rd_cmd_valid && to.rd_cmd_ready {
                self.reads.pop_front();
            }
            if from.wr_cmd_valid && to.wr_cmd_ready {
                self.writes.pop_front();
            }
            if to.rd_data_valid {
                self.words.push((cycle, to.rd_data_data, to.rd_data_err));
            }
            if from.wr_data_valid && to.wr_data_ready {
                self.write_beats.pop_front();
                self.sent.push(cycle);
            }
            if to.wr_rsp_valid {
                self.responses.push((cycle, to.wr_rsp_err));
            }
        }
    }

    fn drive(&self) -> MemPortsIn {
        let read = self.reads.front();
        let write = self.writes.front();
        let beat = self.write_beats.front();
        MemPortsIn {
            rd_cmd_valid: read.is_some(),
            rd_cmd_addr: read.map_or(0, |burst| burst.addr),
            rd_cmd_len: read.map_or(0, |burst| (burst.beats - 1) as u8),
            rd_data_ready: true,
            wr_cmd_valid: write.is_some(),
            wr_cmd_addr: write.map_or(0, |burst| burst.addr),
            wr_cmd_len: write.map_or(0, |burst| (burst.beats - 1) as u8),
            wr_data_valid: beat.is_some(),
            wr_data_data: beat.map_or(0, |beat| beat.0),
            wr_data_strb: 0xff,
            wr_data_last: beat.is_some_and(|beat| beat.1),
            wr_rsp_ready: true,
        }
    }
}

fn edges(words: &[(u64, u64, bool)]) -> Vec<u64> {
    words.iter().map(|word| word.0).collect()
}

#[test]
fn read_latency_counts_from_command_to_first_word_and_overhead_follows_each_burst() {
    let mut memory = Memory::new(256);
    let mut nic = Nic::reading([
        Burst { addr: 0, beats: 2 },
        Burst { addr: 32, beats: 2 },
        Burst { addr: 64, beats: 1 },
    ]);
    nic.run(&mut MemoryAgent::new(PAPER, 4), &mut memory, 0..100);
    assert_eq!(
        edges(&nic.words),
        [25, 26, 35, 36, 45],
        "the later latencies overlap; 8 cycles are lost between bursts"
    );
    assert!(nic.events.contains(&(
        0,
        EventKind::MemRead {
            addr: Addr(0),
            bytes: 8
        }
    )));
    assert!(nic.events.contains(&(35, EventKind::MemReadData { addr: Addr(32) })));
}

#[test]
fn a_packet_is_written_in_268_cycles() {
    let mut memory = Memory::new(4096);
    let mut nic = Nic::default();
    let words = |beats: usize| vec![1; beats];
    for packet in 0..2 {
        nic.write(packet * 1024, &words(4));
        (0..16).for_each(|burst| nic.write(packet * 1024 + 32 + burst * 32, &words(8)));
    }
    nic.run(&mut MemoryAgent::new(PAPER, 4), &mut memory, 0..1000);
    assert_eq!(nic.sent[4 + 128] - nic.sent[0], 12 + 16 * 16);
    assert_eq!(
        nic.responses[0].0 - nic.sent[3],
        20,
        "response after the last word of the header"
    );
    assert_eq!(nic.responses.len(), 34);
}

#[test]
fn an_ideal_memory_moves_one_word_per_cycle_each_way_at_once() {
    let mut memory = Memory::new(4096);
    let mut nic = Nic::reading((0..20).map(|at| Burst {
        addr: at * 64,
        beats: 8,
    }));
    (0..20).for_each(|at| nic.write(2048 + at * 64, &[3; 8]));
    nic.run(&mut MemoryAgent::new(MemoryTiming::IDEAL, 8), &mut memory, 0..400);
    assert_eq!(nic.words.last().unwrap().0 - nic.words[0].0, 159);
    assert_eq!(nic.sent.last().unwrap() - nic.sent[0], 159);
}

#[test]
fn a_shared_bus_serves_both_directions_in_turn() {
    let mut memory = Memory::new(4096);
    let mut nic = Nic::reading((0..10).map(|at| Burst {
        addr: at * 32,
        beats: 8,
    }));
    (0..10).for_each(|at| nic.write(2048 + at * 32, &[3; 8]));
    nic.run(&mut MemoryAgent::new(PAPER, 4), &mut memory, 0..1000);
    let overlap = nic
        .sent
        .iter()
        .filter(|edge| nic.words.iter().any(|word| word.0 == **edge))
        .count();
    assert_eq!(overlap, 0, "one bus carries one word at a time");
    assert!(nic.words[79].0 < 350 && nic.sent[79] < 350, "neither direction starves");
}

#[test]
fn the_rate_limit_holds_in_the_long_run() {
    let clock = Picos(20_000);
    let mut memory = Memory::new(1 << 16);
    let mut nic = Nic::reading((0..500).map(|at| Burst {
        addr: at * 64,
        beats: 8,
    }));
    let timing = PAPER.with_rate(150.0, clock);
    nic.run(&mut MemoryAgent::new(timing, 8), &mut memory, 0..20_000);
    let span = nic.words[3999].0 - nic.words[799].0;
    let rate = (clock * span).rate_mb_s(3200 * 8);
    assert!((149.0..151.0).contains(&rate), "{rate} MB/s");
}

#[test]
fn bytes_are_in_memory_when_the_response_is_offered_and_not_before() {
    let mut memory = Memory::new(256);
    memory.poison(0..256);
    let mut agent = MemoryAgent::new(PAPER, 4);
    let mut nic = Nic::default();
    nic.write(8, &[0x0403_0201, 0x0807_0605]);
    let mut landed = None;
    for cycle in 0..100 {
        nic.run(&mut agent, &mut memory, cycle..cycle + 1);
        if landed.is_none() && memory.read(Addr(8), 8) == Some(&[1, 2, 3, 4, 5, 6, 7, 8]) {
            landed = Some(cycle);
        }
    }
    assert_eq!(
        landed,
        Some(nic.responses[0].0 - 1),
        "visible once the response is on the port"
    );
    assert_eq!(memory.read(Addr(7), 1), Some(&[Memory::poison_at(7)][..]));
    assert_eq!(memory.read(Addr(16), 1), Some(&[Memory::poison_at(16)][..]));
}

#[test]
fn only_strobed_bytes_are_written() {
    let mut memory = Memory::new(16);
    let mut agent = MemoryAgent::new(MemoryTiming::IDEAL, 8);
    let write = MemPortsIn {
        wr_cmd_valid: true,
        wr_cmd_addr: 8,
        wr_data_valid: true,
        wr_data_data: 0x0807_0605_0403_0201,
        wr_data_strb: 0b0110_1000,
        wr_data_last: true,
        wr_rsp_ready: true,
        ..MemPortsIn::default()
    };
    agent.step(Cycle(0), &mut memory, &write, |_| {});
    agent.step(
        Cycle(1),
        &mut memory,
        &MemPortsIn {
            wr_cmd_valid: false,
            ..write
        },
        |_| {},
    );
    assert_eq!(memory.read(Addr(8), 8), Some(&[0, 0, 0, 4, 0, 6, 7, 0][..]));
}

#[test]
fn out_of_range_and_injected_ranges_answer_with_an_error_word_by_word() {
    let mut memory = Memory::new(64);
    memory.inject_fault(20..21);
    let mut nic = Nic::reading([Burst { addr: 16, beats: 2 }, Burst { addr: 60, beats: 2 }]);
    nic.write(20, &[7]);
    nic.write(24, &[7]);
    nic.write(64, &[7]);
    nic.run(&mut MemoryAgent::new(PAPER, 4), &mut memory, 0..200);
    let errors: Vec<bool> = nic.words.iter().map(|word| word.2).collect();
    assert_eq!(errors, [false, true, false, true]);
    let errors: Vec<bool> = nic.responses.iter().map(|response| response.1).collect();
    assert_eq!(errors, [true, false, true]);
    assert_eq!(
        memory.read(Addr(20), 5),
        Some(&[0, 0, 0, 0, 7][..]),
        "nothing is written where the bus failed"
    );
}

#[test]
fn leaving_out_idle_edges_changes_nothing() {
    for seed in 0..20 {
        let run = |gated: bool| {
            let mut memory = Memory::new(4096);
            let timing = PAPER.with_rate(60.0, Picos(40_000));
            let mut agent = MemoryAgent::new(timing, 4).with_jitter(seed, Cycle(9), Cycle(3));
            let mut nic = Nic::default();
            for cycle in 0..4000u64 {
                if cycle % (97 + seed) == 0 {
                    nic.reads.push_back(Burst {
                        addr: (cycle % 512) as u32 * 4,
                        beats: 8,
                    });
                    nic.write(2048, &[cycle; 5]);
                }
                let idle = agent.is_idle() && nic.reads.is_empty() && nic.writes.is_empty();
                if !(gated && idle) {
                    nic.run(&mut agent, &mut memory, cycle..cycle + 1);
                }
            }
            (nic.words, nic.sent, nic.responses, nic.events)
        };
        assert_eq!(run(true), run(false), "seed {seed}");
    }
}

#[test]
fn a_reset_forgets_what_was_in_flight() {
    let mut memory = Memory::new(256);
    let mut agent = MemoryAgent::new(PAPER, 4);
    let mut nic = Nic::reading([Burst { addr: 0, beats: 8 }]);
    nic.run(&mut agent, &mut memory, 0..28);
    agent.reset();
    assert!(agent.is_idle());
    let before = nic.words.len();
    nic.run(&mut agent, &mut memory, 28..100);
    assert_eq!(nic.words.len(), before);
}

#[test]
fn a_memory_that_stalls_moves_nothing_until_the_end() {
    let mut memory = Memory::new(256);
    let mut agent = MemoryAgent::new(MemoryTiming::IDEAL, 4);
    let mut nic = Nic::reading([Burst { addr: 0, beats: 4 }]);
    nic.write(64, &[1, 2]);
    nic.run(&mut agent, &mut memory, 1..4);
    let (read, sent) = (nic.words.len(), nic.sent.len());
    agent.stall(Cycle(4), Cycle(20));
    nic.run(&mut agent, &mut memory, 4..60);
    // What was offered before the stall is taken at its first edge.
    let later = |edges: &[u64]| edges.iter().filter(|&&edge| edge > 4).all(|&edge| edge >= 24);
    let [words, responses] = [
        edges(&nic.words),
        nic.responses.iter().map(|response| response.0).collect(),
    ];
    assert!(
        later(&words) && later(&nic.sent) && later(&responses),
        "{words:?} {:?} {responses:?}",
        nic.sent
    );
    assert_eq!((nic.words.len(), nic.sent.len(), nic.responses.len()), (4, 2, 1));
    assert!(read < 4 || sent < 2, "the stall met nothing");
}

#[test]
fn a_memory_that_refuses_takes_no_command_until_the_end() {
    let mut memory = Memory::new(256);
    let mut agent = MemoryAgent::new(MemoryTiming::IDEAL, 4);
    agent.refuse(Cycle(1), Cycle(20));
    assert!(!agent.is_idle(), "its end must be stepped to");
    let mut nic = Nic::reading([Burst { addr: 0, beats: 1 }]);
    nic.run(&mut agent, &mut memory, 1..60);
    let taken = nic
        .events
        .iter()
        .find(|(_, kind)| matches!(kind, EventKind::MemRead { .. }));
    assert!(
        taken.is_some_and(|(edge, _)| *edge > 20 && *edge < 24),
        "{:?}",
        nic.events
    );
    assert!(agent.is_idle());
}

#[test]
fn one_of_two_faults_of_memory_is_lifted() {
    let mut memory = Memory::new(256);
    memory.inject_fault(0..4);
    memory.inject_fault(0..4);
    memory.lift_fault(&(0..4));
    assert!(!memory.bus_ok(Addr(0), 4));
    memory.lift_fault(&(0..4));
    assert!(memory.bus_ok(Addr(0), 4));
}
