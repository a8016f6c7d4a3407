//! Everything that a packet, a thread or a host can do wrong: it is told with its place, and legal packets go on.

use tsunagi::emx::asm::Source;
use tsunagi::emx::backend::{RunError, Waiting};
use tsunagi::emx::golden::execute::{Cause, Fault};
use tsunagi::emx::host::{Emx, HostError};
use tsunagi::emx::library::{Program, Run, layout};
use tsunagi::emx::packet::{Kind, Packet, global};
use tsunagi::emx::params::Config;
use tsunagi::emx::regs::{
    FAULT_CAUSE_CODE, REASON_NOWHERE, REASON_OVERRUN, REASON_RANGE, REASON_TYPE, TYPE_CALL, TYPE_READ, TYPE_WRITE,
};
use tsunagi::repro::row::BackendKind;

use crate::backends::{both_machines, machine, on_both, with_code};

on_both!(bad_packets_are_counted_and_legal_ones_go_on an_operand_that_never_comes_is_named
    packet_4097_is_fatal_and_named a_thread_that_runs_off_its_code_halts frames_are_exhausted
    a_far_access_outside_memory_is_refused a_host_is_told_what_is_wrong a_reset_mends_what_has_stopped);

fn to(kind: u32, pe: u32, addr: u32, data: u32) -> Packet {
    Packet::to(Kind::of(kind), global(pe, addr), data)
}

/// The host gives PE 0 packets one after the other; each is handled before the next one comes.
fn give(machine: &mut Emx, packets: &[Packet]) -> Result<(), RunError> {
    for packet in packets {
        machine.machine.inject(0, *packet);
        match machine.machine.run(1, 100_000) {
            Err(RunError::Hang { .. }) => (),
            Err(other) => return Err(other),
            Ok(told) => panic!("nothing tells a result here, and {told:?} was told"),
        }
    }
    Ok(())
}

/// PE 0's threads send these words.
const SENDS: &str = "
        .align  2
        program SENDS
        ld      r4, ARG(fp)             # global address
        ld      r5, ARG + 1(fp)         # data
        ld      r6, ARG + 2(fp)         # 0: WRITE; 1: a READ that comes back as a WRITE; 2: unknown; 3: right operand
        beqz    r6, 1f
        subi    r6, r6, 1
        beqz    r6, 2f
        subi    r6, r6, 1
        beqz    r6, 3f
        send    RIGHT, r4, r5
        j       4f
1:      send    WRITE, r4, r5
        j       4f
2:      send    READ, r4, r5, WRITE
        j       4f
3:      send    9, r4, r5
4:      done
";

fn refused(machine: &mut Emx, pe: u32) -> [u64; 4] {
    let refused = machine.machine.counts(pe).refused;
    [REASON_TYPE, REASON_RANGE, REASON_OVERRUN, REASON_NOWHERE].map(|reason| refused[reason as usize])
}

fn bad_packets_are_counted_and_legal_ones_go_on(kind: BackendKind) {
    for config in both_machines() {
        let mut machine = with_code(&config, kind, SENDS);
        let far = 7;
        let send = |machine: &mut Emx, addr: u32, data: u32, what: u32| {
            machine.call("SENDS", &[vec![addr, data, what]]).unwrap();
            // What is under way arrives.
            give(machine, &[to(TYPE_WRITE, 0, 0x7fff, 1)]).unwrap();
        };
        send(&mut machine, global(far, 0x41), 0, 2);
        assert_eq!(refused(&mut machine, far), [1, 0, 0, 0]);
        send(&mut machine, global(far, layout::PORT + 5), 1, 3);
        send(&mut machine, global(far, layout::PORT + 5), 2, 3);
        assert_eq!(refused(&mut machine, far), [1, 0, 1, 0], "the port was overrun");
        assert_eq!(
            machine.read(far, layout::PORT + 5, 1).unwrap(),
            [1],
            "the first operand is unharmed"
        );
        for nobody in [80, 1023] {
            send(&mut machine, global(nobody, 0x7000), 0, 0);
        }
        assert_eq!(refused(&mut machine, 0), [0, 0, 0, 2], "there is no such PE");
        send(&mut machine, global(far, 0x7000), 77, 0);
        assert_eq!(machine.read(far, 0x7000, 1).unwrap(), [77]);
    }
}

fn a_far_access_outside_memory_is_refused(kind: BackendKind) {
    for config in both_machines() {
        let mut machine = with_code(&config, kind, SENDS);
        let far = 79;
        // Beyond memory, and among the packets that are spilled.
        for (what, addr) in [(0, 0x1_0000), (0, 0x2000), (1, 0x3f_ffff), (1, 0x2001)] {
            machine
                .call("SENDS", &[vec![global(far, addr), global(0, 0x7001), what]])
                .unwrap();
            give(&mut machine, &[to(TYPE_WRITE, 0, 0x7fff, 1)]).unwrap();
        }
        assert_eq!(refused(&mut machine, far), [0, 4, 0, 0]);
        assert_eq!(
            machine.read(0, 0x7001, 1).unwrap(),
            [0],
            "a READ outside memory has no answer"
        );
        machine.write(far, 0x7000, &[5]).unwrap();
        machine
            .call("SENDS", &[vec![global(far, 0x7000), global(0, 0x7001), 1]])
            .unwrap();
        give(&mut machine, &[to(TYPE_WRITE, 0, 0x7fff, 1)]).unwrap();
        assert_eq!(machine.read(0, 0x7001, 1).unwrap(), [5]);
    }
}

fn an_operand_that_never_comes_is_named(kind: BackendKind) {
    let waits = "
        .align  2
        program WAITS
        ld      r5, ARG(fp)
        call    pkt_input
        done
";
    for config in both_machines() {
        let mut machine = with_code(&config, kind, waits);
        let hang = machine.call("WAITS", &[vec![3], vec![16]]).unwrap_err();
        let HostError::Run(RunError::Hang { pes, waiting, .. }) = &hang else {
            panic!("{hang}")
        };
        assert_eq!(*pes, [0, 1]);
        let half = |pe, kind: u32| Waiting {
            pe,
            frame: layout::PORT,
            offset: 1 + kind,
        };
        assert_eq!(*waiting, [half(0, 3), half(1, 16)]);
        let text = hang.to_string();
        let said = "2 operands wait (PE 0, frame 0x40, offset 4; PE 1, frame 0x40, offset 17)";
        assert!(text.ends_with(said), "{text}");
    }
}

fn packet_4097_is_fatal_and_named(kind: BackendKind) {
    // PE 0 runs for ever; the others send it more packets than memory holds.
    let flood = "
        .align  2
        program FLOOD
        ld      r3, ME(fp)
        bnez    r3, 2f
        get     r4, TIME
        li      r5, 0x20000
        add     r5, r4, r5
1:      get     r4, TIME
        blt     r4, r5, 1b
        done
2:      li      r4, PORT + 34           # word message of type 1
        ld      r6, ARG(fp)
3:      send    THREAD, r4, r6
        subi    r6, r6, 1
        bnez    r6, 3b
        done
";
    // On EM-X packets are taken in while a thread runs; on EM-4 they stand in the network until it ends.
    let mut machine = with_code(&Config::paper().em_x(), kind, flood);
    let enough = vec![vec![1400]; 4];
    let fatal = machine.call("FLOOD", &enough).unwrap_err();
    let HostError::Run(RunError::Fatal { pe, packets }) = fatal else {
        panic!("{fatal}")
    };
    assert_eq!((pe, packets), (0, 4096));
    // Less than memory and buffers hold is no error.
    let mut machine = with_code(&Config::paper().em_x(), kind, flood);
    let run = machine.call("FLOOD", &vec![vec![1300]; 4]);
    // All words of type 1 go to a ring of 63: the library says so, as PE 0 handles them.
    assert!(
        matches!(run, Ok(_) | Err(HostError::Run(RunError::Fault { pe: 0, .. }))),
        "{run:?}"
    );
}

fn a_thread_that_runs_off_its_code_halts(kind: BackendKind) {
    for config in both_machines() {
        let mut machine = with_code(&config, kind, ".align 2\nprogram OFF\nnop\nnop\n.word 0");
        let off = machine.image.symbols["OFF"] + 8 + 2;
        let halted = machine.call("OFF", &[vec![], vec![]]).unwrap_err();
        let HostError::Run(RunError::Fault { pe: 0, fault }) = halted else {
            panic!("{halted}")
        };
        let Fault { pc, frame, cause } = fault;
        assert_eq!((pc, frame, cause.code()), (off, layout::MAIN, FAULT_CAUSE_CODE));
    }
}

fn frames_are_exhausted(kind: BackendKind) {
    let mut machine = machine(&Config::paper(), kind);
    machine.call("REDUCTION", &[vec![]]).unwrap();
    // Each call's frame comes as a word message of type 3, of which 63 fit.
    let call = to(TYPE_CALL, 0, layout::CODE, global(1, layout::PORT + 33 + 3));
    let frames = layout::FRAMES.len() / 64;
    give(&mut machine, &vec![call; frames]).unwrap();
    let Err(RunError::Fault { pe: 0, fault }) = give(&mut machine, &[call]) else {
        panic!("there was a frame more")
    };
    assert_eq!(fault.cause, Cause::Trap { code: 1 });
}

/// A PE that has halted, one whose memory is full of packets, and operands that wait: behind a reset all is as ever.
fn a_reset_mends_what_has_stopped(kind: BackendKind) {
    let stops = "
        .align  2
        program STOPS
        ld      r3, ME(fp)
        ld      r5, ARG(fp)
        beqz    r5, 1f
        subi    r5, r5, 1
        beqz    r5, 2f
        bnez    r3, 3f
0:      j       0b                      # it never ends, and the others send
1:      bnez    r3, 4f
        trap    99
2:      call    pkt_input               # nobody sends
4:      done
3:      li      r4, PORT + 34
        li      r6, 1400
5:      send    THREAD, r4, r6
        subi    r6, r6, 1
        bnez    r6, 5b
        done
";
    for config in both_machines() {
        let mut machine = with_code(&config, kind, stops);
        // On EM-4 the packets stand in the network, where nothing fails.
        let ends: &[u32] = if config.code_port { &[0, 1, 2] } else { &[0, 1] };
        for what in ends {
            let error = machine.call("STOPS", &vec![vec![*what]; 5]).unwrap_err();
            let HostError::Run(error) = &error else {
                panic!("{error}")
            };
            let is_it = match what {
                0 => matches!(error, RunError::Fault { pe: 0, fault } if fault.cause == Cause::Trap { code: 99 }),
                1 => matches!(error, RunError::Hang { waiting, .. } if waiting.len() == 5),
                _ => matches!(error, RunError::Fatal { pe: 0, packets: 4096 }),
            };
            assert!(is_it, "{error}");
            machine.reset(0).expect("both can be reset");
            let all = vec![vec![]; 16];
            assert_eq!(
                machine.call("REDUCTION", &all).unwrap(),
                vec![120; 16],
                "behind {error}"
            );
        }
    }
}

fn a_host_is_told_what_is_wrong(kind: BackendKind) {
    let mut rows = Config::paper();
    rows.row_bits = 3;
    let mut used = Config::paper();
    (used.row_bits, used.used) = (0, 6);
    let mut memory = Config::paper();
    memory.memory_bits = 15;
    let mut output = Config::paper();
    output.read_bypass = true;
    for (config, says) in [
        (rows, "row_bits = 3"),
        (used, "5 PEs"),
        (memory, "memory_bits"),
        (output, "output_packets"),
    ] {
        let refused = Emx::new(&config, kind).err().expect(says).to_string();
        assert!(refused.contains(says), "{refused}");
    }
    let code = Source {
        name: "own.s".into(),
        text: "nop\nsend 200, r1, r2".into(),
    };
    let refused = Emx::with_code(&Config::paper(), kind, &[code])
        .err()
        .expect("an error")
        .to_string();
    assert!(refused.starts_with("own.s:2: kind 200 does not fit"), "{refused}");
    let mut machine = machine(&Config::paper(), kind);
    let long = Run {
        program: Program::Pex,
        count: 64,
        words: 300,
    };
    let odd = Run {
        count: 63,
        words: 1,
        ..long
    };
    for (error, says) in [
        (machine.call("NONE", &[vec![]]).unwrap_err(), "no thread `NONE`"),
        (
            machine.call("REB", &vec![vec![]; 81]).unwrap_err(),
            "the machine has 80",
        ),
        (machine.call("REB", &[vec![0; 25]]).unwrap_err(), "25 arguments"),
        (machine.read(80, 0, 1).unwrap_err(), "no PE 80"),
        (machine.write(0, 0xffff, &[0, 0]).unwrap_err(), "0x10000 words"),
        (machine.run(&long).unwrap_err(), "do not fit"),
        (machine.run(&odd).unwrap_err(), "and not 63"),
    ] {
        assert!(error.to_string().contains(says), "{error}");
    }
    let fits = Run {
        program: Program::RingPkt,
        count: 80,
        words: 0,
    };
    machine.run(&fits).unwrap();
}

/// Without the handler of WRITE there would be no answer to a READ on EM-4.
#[test]
fn the_host_reads_far_memory_through_the_machine() {
    for config in both_machines() {
        let mut machine = machine(&config, BackendKind::Model);
        machine.call("REDUCTION", &[vec![], vec![]]).unwrap();
        machine.write(0, 0x7000, &[99]).unwrap();
        let read = Packet {
            tag: TYPE_WRITE as u8,
            ..to(TYPE_READ, 0, 0x7000, global(79, 0x7001))
        };
        give(&mut machine, &[read]).unwrap();
        assert_eq!(machine.read(79, 0x7001, 1).unwrap(), [99]);
    }
}
