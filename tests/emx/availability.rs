//! What one PE can do to the traffic of others: no flood delays a block by more than the page's table says.

use tsunagi::emx::host::{Emx, Place};
use tsunagi::emx::library::layout;
use tsunagi::emx::packet::global;
use tsunagi::emx::params::Config;
use tsunagi::repro::row::BackendKind;

use crate::backends::{on_both, with_code};

on_both!(a_flood_delays_others_within_its_bound a_thread_that_does_not_end_holds_others_until_it_ends);

/// PE 0 sends a block to PE 1 and waits for the answer: it tells how long that took. The others send ARG + 1 packets
/// of kind ARG to word ARG + 2, each with word ARG + 3; or PE 4 runs for ARG + 4 turns.
const CODE: &str = "
        .align  2
        program TRAFFIC
        j       traffic
traffic:
        ld      r3, ME(fp)
        beqz    r3, 1f
        subi    r3, r3, 1
        beqz    r3, 2f
        ld      r4, ARG + 4(fp)
        bnez    r4, 9f
        ld      r4, ARG + 2(fp)
        ld      r5, ARG + 3(fp)
        ld      r6, ARG + 1(fp)
        ld      r7, ARG(fp)
        beqz    r6, 8f
        beqz    r7, 3f
        subi    r7, r7, 1
        beqz    r7, 4f
        subi    r7, r7, 1
        beqz    r7, 5f
        subi    r7, r7, 1
        beqz    r7, 6f
7:      send    8, r4, r5
        subi    r6, r6, 1
        bnez    r6, 7b
        j       8f
3:      send    THREAD, r4, r5
        subi    r6, r6, 1
        bnez    r6, 3b
        j       8f
4:      send    WRITE, r4, r5
        subi    r6, r6, 1
        bnez    r6, 4b
        j       8f
5:      send    READ, r4, r5, WRITE
        subi    r6, r6, 1
        bnez    r6, 5b
        j       8f
6:      send    RIGHT, r4, r5
        subi    r6, r6, 1
        bnez    r6, 6b
8:      done
9:      subi    r4, r4, 1
        bnez    r4, 9b
        done
1:      li      r3, 400                 # the flood is there
0:      subi    r3, r3, 1
        bnez    r3, 0b
        get     r3, TIME
        st      r3, ARG(fp)
        li      r4, 1
        port_of
        call    give
        get     r2, TIME
        ld      r3, ARG(fp)
        sub     r2, r2, r3
        done
2:      call    get_it
        done

        .align  2
        .template SINK
        .entry  1
        nop.end
";

/// Words of the block, and packets of each PE that floods.
const WORDS: u32 = 60;
const PACKETS: u32 = 1200;
/// A frame whose thread ends at once.
const SINK: u32 = 0x7400;

/// What a flood is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Threads,
    Writes,
    Reads,
    Overruns,
    Malformed,
}

impl Of {
    /// Kind, and the word at the receiver.
    fn packet(self) -> (u32, u32) {
        match self {
            Of::Threads => (0, SINK + 1),
            Of::Writes => (1, SINK + 65),
            Of::Reads => (2, SINK + 66),
            Of::Overruns => (3, SINK + 67),
            Of::Malformed => (4, SINK + 68),
        }
    }
}

fn configs() -> [Config; 2] {
    let five = Config {
        row_bits: 0,
        used: 5,
        ..Config::paper()
    };
    let twenty = Config {
        row_bits: 2,
        used: 5,
        ..Config::paper().em_x()
    };
    [five, twenty]
}

/// Cycles of the block from PE 0 to PE 1, while PEs 2 and 3, and PE 4 too unless it is the goal, flood PE `goal`.
fn cycles(config: &Config, kind: BackendKind, flood: Option<(Of, u32)>, turns: u32) -> u32 {
    let mut machine: Emx = with_code(config, kind, CODE);
    let sink = machine.image.symbols["SINK"];
    (0..config.pes()).for_each(|pe| machine.write(pe, SINK, &[sink]).unwrap());
    let (words, source, destination) = (WORDS, layout::BLOCKS, layout::BLOCKS);
    let place = Place {
        words,
        source,
        destination,
    };
    let arguments = |pe: u32| match flood {
        _ if pe == 4 && turns > 0 => vec![0, 0, 0, 0, turns],
        Some((of, goal)) if pe > 1 && pe != goal => {
            let (what, addr) = of.packet();
            vec![what, PACKETS, global(goal, addr), global(pe, SINK + 70), 0]
        }
        _ => vec![0; 5],
    };
    let arguments: Vec<Vec<u32>> = (0..5).map(arguments).collect();
    machine.write(0, source, &[77; WORDS as usize]).unwrap();
    let told = machine.call_at("TRAFFIC", &place, &arguments).unwrap();
    assert_eq!(
        machine.read(1, destination, WORDS as usize).unwrap(),
        [77; WORDS as usize]
    );
    told[0]
}

/// By flood of the block's receiver: how many times as long the block takes at most, on EM-4 and on EM-X. Then the same
/// of a flood of another PE.
const BOUNDS: [(Of, [f64; 2], [f64; 2]); 5] = [
    (Of::Threads, [8.0, 8.0], [1.2, 1.2]),
    (Of::Writes, [1.2, 1.2], [1.2, 1.2]),
    (Of::Reads, [10.0, 20.0], [1.2, 1.2]),
    (Of::Overruns, [8.0, 8.0], [1.2, 1.2]),
    (Of::Malformed, [1.2, 1.2], [1.2, 1.2]),
];

fn a_flood_delays_others_within_its_bound(kind: BackendKind) {
    for (at, config) in configs().into_iter().enumerate() {
        let quiet = f64::from(cycles(&config, kind, None, 0));
        for (of, near, far) in BOUNDS {
            for (goal, most) in [(1, near[at]), (4, far[at])] {
                let factor = f64::from(cycles(&config, kind, Some((of, goal)), 0)) / quiet;
                println!("{of:?} to PE {goal}, {} PEs: {factor:.2} times {quiet}", config.pes());
                assert!(
                    factor <= most,
                    "{of:?} to PE {goal}, {} PEs: {factor:.2} times",
                    config.pes()
                );
            }
        }
    }
}

/// On EM-4 its PE takes no packet in, so those that flood it stand in the network; on EM-X they go to memory.
fn a_thread_that_does_not_end_holds_others_until_it_ends(kind: BackendKind) {
    const TURNS: u32 = 20_000;
    for (config, most) in configs().into_iter().zip([3 * TURNS + 3000, 3000]) {
        let cycles = cycles(&config, kind, Some((Of::Threads, 4)), TURNS);
        println!("{} PEs: {cycles} cycles", config.pes());
        assert!(cycles <= most, "{} PEs: {cycles} cycles", config.pes());
    }
}
