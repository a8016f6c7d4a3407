//! C programs on the simulated machine: misuse, and the example. The system's `cc` compiles them with the header and
//! the static library.

use std::fs;

use support::c_program::{Program, text};
use support::root;

const MACHINE: &str = "emx";

fn example() -> Program {
    Program::new(
        &fs::read_to_string(root().join("examples/c/oddeven.c")).unwrap(),
        MACHINE,
    )
}

fn sorts(backend: &str, sizes: &[&str]) {
    let program = example();
    for pes in sizes {
        for machine in ["em4", "emx"] {
            let [first, second] = [(), ()].map(|()| program.run(&[pes, machine, backend]));
            let said = text(&first.stdout);
            assert!(first.status.success(), "{said}{}", text(&first.stderr));
            assert_eq!(said, text(&second.stdout));
            assert!(said.contains(&format!("{pes} words sorted on {machine}")), "{said}");
        }
    }
}

#[test]
fn the_example_sorts_on_the_model_and_always_the_same() {
    sorts("model", &["1", "2", "33", "80"]);
}

#[test]
fn the_example_sorts_on_the_rtl() {
    sorts("rtl", &["7", "80"]);
}

const MISUSE: &str = r#"
#include <stdio.h>
#include <tsunagi_emx.h>

static void say(int result) {
    printf("%d %s\n", result, result == -1 ? EMerror() : "");
}

int main(void) {
    uint32_t words[80] = {0};
    say(EMread(0, 0, words, 1));
    say(EMpes());
    say(EMbackend("fpga"));
    say(EMset("levels=3"));
    say(EMset("read_bypass=1"));
    say(EMopen(NULL));
    say(EMset("read_bypass=0"));
    say(EMopen("  nop\n  ad r1, r2, r3\n"));
    say(EMopen(".align 2\nprogram HALT\ntrap 77\n.align 2\nprogram WAIT\nli r5, 3\ncall pkt_input\ndone\n"));
    say(EMpes());
    say(EMwrite(80, EM_BLOCKS, words, 1));
    say(EMwrite(-1, EM_BLOCKS, words, 1));
    say(EMwrite(0, EM_WORDS, words, 1));
    say(EMwrite(0, EM_BLOCKS, NULL, 1));
    say(EMread(0, EM_BLOCKS, words, -1));
    say(EMcall("NONE", 1, words, 0, NULL));
    say(EMcall("HALT", 81, words, 0, NULL));
    say(EMcall("HALT", 0, words, 0, NULL));
    say(EMcall("HALT", 1, words, EM_ARGUMENTS + 1, NULL));
    say(EMcall("WAIT", 2, NULL, 0, NULL));
    say(EMopen(".align 2\nprogram HALT\ntrap 77\n"));
    say(EMcall("HALT", 2, NULL, 0, NULL));
    return 0;
}
"#;

/// What each call of [`MISUSE`] says, or a part of it.
const SAYS: [&str; 22] = [
    "-1 EMread: no machine: call EMopen first",
    "-1 EMpes: no machine",
    "-1 EMbackend: unknown backend `fpga`; known: model, rtl",
    "-1 EMset: parameter `levels` = 3 levels is outside 1 to 2",
    "0",
    "-1 EMopen: read_bypass needs an output buffer",
    "0",
    "-1 EMopen: host.s:2: `ad` is no instruction",
    "0",
    "80",
    "-1 EMwrite: there is no PE 80: the machine has PEs 0 to 79",
    "-1 EMwrite: there is no PE -1",
    "-1 EMwrite: 1 words from 0x10000 on",
    "-1 EMwrite: no words",
    "-1 EMread: -1 words",
    "-1 EMcall: there is no thread `NONE`",
    "-1 EMcall: threads on 81 PEs: the machine has 80",
    "-1 EMcall: threads on 0 PEs",
    "-1 EMcall: 25 arguments",
    "-1 EMcall: nothing moves after",
    "0",
    "-1 EMcall: PE 0 halted: trap 77 at",
];

#[test]
fn misuse_is_refused_with_its_reason() {
    let out = Program::new(MISUSE, MACHINE).run(&[]);
    let (said, errors) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{said}{errors}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), SAYS.len(), "{said}");
    for (line, begin) in lines.iter().zip(SAYS) {
        assert!(line.starts_with(begin), "`{line}` where `{begin}` belongs");
    }
    // The hang names the place: type 3 of the port.
    assert!(lines[19].contains("PE 0, frame 0x40, offset 4"), "{}", lines[19]);
}
