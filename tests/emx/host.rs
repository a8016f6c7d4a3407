//! Host programs: threads with arguments, their results, the library's calls, and memory.

use tsunagi::emx::params::Config;
use tsunagi::repro::row::BackendKind;

use crate::backends::{both_machines, machine, on_both, with_code};

on_both!(threads_get_arguments_and_give_results calls_go_on_one_behind_the_other blocks_and_words_reach_their_places);

fn threads_get_arguments_and_give_results(kind: BackendKind) {
    let sums = "
        .align  2
        program SUMS
        ld      r6, ARG(fp)
        ld      r5, ARG + 23(fp)
        add     r6, r6, r5
        call    reduce
        done
";
    for config in both_machines() {
        let mut machine = with_code(&config, kind, sums);
        for count in [1, 2, 8, 64] {
            let arguments: Vec<Vec<u32>> = (0..count)
                .map(|pe| {
                    let mut words = vec![0; 24];
                    (words[0], words[23]) = (100 + pe, 7);
                    words
                })
                .collect();
            let sum = (0..count).map(|pe| 107 + pe).sum::<u32>();
            assert_eq!(machine.call("SUMS", &arguments).unwrap(), vec![sum; count as usize]);
        }
        assert!(machine.now() > tsunagi::Picos::ZERO);
    }
}

fn calls_go_on_one_behind_the_other(kind: BackendKind) {
    let mut machine = machine(&Config::paper(), kind);
    let before = machine.cycles();
    let all = vec![vec![]; 16];
    let first = machine.call("REDUCTION", &all).unwrap();
    let took = machine.cycles() - before;
    let second = machine.call("REDUCTION", &all).unwrap();
    assert_eq!((first, second), (vec![120; 16], vec![120; 16]));
    // The phase of what is shared may differ, and no more.
    let again = machine.cycles() - before - took;
    assert!(again.abs_diff(took) <= 4, "{took} and {again}");
}

fn blocks_and_words_reach_their_places(kind: BackendKind) {
    let gather = "
        .align  2
        program GATHER                  # each PE writes its ARG words from 0x7000 to PE 0, and tells it by a word
        ld      r3, ME(fp)
        beqz    r3, 2f
        slli    r5, r3, 4
        li      r4, 0x7800
        add     r5, r5, r4
        li      r4, 0x7000
        ld      r6, ARG(fp)
        call    mem_copyout
        li      r4, PORT
        li      r5, 16
        ld      r6, ME(fp)
        call    word_send
        j       4f
2:      st      r0, SUM(fp)
        ld      r10, COUNT(fp)
        subi    r10, r10, 1
3:      st      r10, K(fp)
        li      r5, 16
        call    word_recv
        ld      r3, SUM(fp)
        add     r3, r3, r2
        st      r3, SUM(fp)
        ld      r10, K(fp)
        subi    r10, r10, 1
        bnez    r10, 3b
4:      ld      r2, SUM(fp)
        done
";
    for config in both_machines() {
        let mut machine = with_code(&config, kind, gather);
        let count = 31;
        for pe in 0..count {
            machine.write(pe, 0x7000, &[pe + 1; 16]).unwrap();
        }
        let words: Vec<Vec<u32>> = (0..count).map(|pe| vec![1 + pe % 16]).collect();
        let told = machine.call("GATHER", &words).unwrap();
        assert_eq!(told[0], (1..count).sum::<u32>());
        for pe in 1..count {
            let got = machine.read(0, 0x7800 + 16 * pe, 16).unwrap();
            let sent = 1 + pe % 16;
            let expected: Vec<u32> = (0..16).map(|at| if at < sent { pe + 1 } else { 0 }).collect();
            assert_eq!(got, expected, "of PE {pe}");
        }
    }
}
