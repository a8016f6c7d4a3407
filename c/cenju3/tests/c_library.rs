//! C programs on the simulated machine: misuse, and the example. The system's `cc` compiles it with the header and the
//! static library.

use std::fs;

use support::c_program::{Program, text};
use support::root;

const MACHINE: &str = "cenju3";

#[test]
fn the_example_runs_on_both_backends_and_always_the_same() {
    let source = fs::read_to_string(root().join("examples/c/alltoall.c")).unwrap();
    let program = Program::new(&source, MACHINE);
    for backend in ["model", "rtl"] {
        for (pes, block) in [("8", "1000"), ("3", "33"), ("2", "20000")] {
            let [first, second] = [(), ()].map(|()| program.run(&[pes, block, backend]));
            let said = text(&first.stdout);
            assert!(first.status.success(), "{said}{}", text(&first.stderr));
            assert_eq!(said, text(&second.stdout));
            assert!(said.contains("every byte is right"), "{said}");
            let there_and_back = said
                .split("there and back: ")
                .nth(1)
                .and_then(|s| s.split(' ').next())
                .unwrap();
            let us: f64 = there_and_back.parse().unwrap();
            assert!((62.0..70.0).contains(&us), "{said}");
        }
    }
    for (args, why) in [
        (
            ["1", "4", "model"],
            "CJrun: parameter `pes` = 1 PEs is outside 2 to 256",
        ),
        (
            ["2", "4", "paper"],
            "CJbackend: unknown backend `paper`; known: model, rtl",
        ),
    ] {
        let out = program.run(&args);
        assert_eq!(out.status.code(), Some(1));
        assert!(text(&out.stderr).contains(why), "{}", text(&out.stderr));
    }
}

#[test]
fn the_readme_shows_what_an_example_prints() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, shown) = readme
        .split_once("\n$ make c\n$ out/c/alltoall 8 1000 model\n")
        .expect("the README runs alltoall");
    let source = fs::read_to_string(root().join("examples/c/alltoall.c")).unwrap();
    let out = Program::new(&source, MACHINE).run(&["8", "1000", "model"]);
    assert!(
        shown.starts_with(&(text(&out.stdout) + "```\n")),
        "{}",
        text(&out.stdout)
    );
}

/// The README's own program, compiled by the command that it shows.
#[test]
fn the_readmes_program_prints_what_is_shown() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("```c\n").expect("a program in C");
    let (source, rest) = rest.split_once("```\n").expect("its end");
    let (command, rest) = rest.split_once("\n$ ./hello\n").expect("its output");
    let header = fs::read_to_string(root().join("c/cenju3/include/tsunagi_cenju3.h")).unwrap();
    let (_, cc) = command.split_once("\n$ cc hello.c -o hello ").expect("its command");
    assert!(header.contains(&format!("cc program.c -o program {cc}\n")), "{cc}");
    let output = Program::new(source, MACHINE).run(&[]);
    let shown = rest.split_once("```").expect("the end of the block").0;
    assert_eq!(text(&output.stdout), shown, "{}", text(&output.stderr));
}

const MISUSE: &str = r#"
#include <stdio.h>
#include <tsunagi_cenju3.h>

static void say(int result) {
    printf("%d %s\n", result, result == -1 ? CJerror() : "");
}

static void misuse(void *arg) {
    int *word = CJalloc(4), local = 0;
    (void)arg;
    if (CJpe() != 0) return;
    say(CJrmwrite(word, 2, word, 4));
    say(CJrmwrite(word, -1, word, 4));
    say(CJrmwrite(word, 1, word, 0));
    say(CJrmwrite(word, 1, word, -4));
    say(CJrmwrite(word, 1, word, 2000000000));
    say(CJrmwrite(&local, 1, word, 4));
    say(CJrmwrite(word, 1, &local, 4));
    say(CJalloc(1 << 30) ? 1 : -1);
    say(CJwait(-1));
}

static void stuck(void *arg) {
    CJwaitword(CJalloc(4), *(int *)arg);
}

/* PE 0 is refused what PE 1 waits for, and does not look. */
static void refused(void *arg) {
    int *word = CJalloc(4);
    if (CJpe() == 0) CJrmwrite(word, 7, word, 4);
    else CJwaitword(word, *(int *)arg);
}

int main(void) {
    int zero = 0;
    say(CJpe());
    say(CJset("mem_byte=1"));
    say(CJset("mem_bytes=1048576"));
    say(CJrun(2, misuse, NULL));
    say(CJrun(2, stuck, &zero));
    say(CJrun(2, refused, &zero));
    return 0;
}
"#;

/// A program keeps pointers to texts, fails again, and ends.
const KEPT: &str = r#"
#include <stdio.h>
#include <string.h>
#include <tsunagi_cenju3.h>

static const char *texts[2][50];
static char copies[2][50][100];

static void fail(void *arg) {
    int pe = CJpe();
    (void)arg;
    for (int i = 0; i < 50; i++) {
        CJwait(-1 - i);
        texts[pe][i] = CJerror();
        strcpy(copies[pe][i], texts[pe][i]);
    }
}

int main(void) {
    int same = 0;
    if (*CJerror() || CJrun(2, fail, NULL)) return 1;
    CJset("nothing");
    for (int i = 0; i < 50; i++) same += !strcmp(texts[0][i], copies[0][i]) && texts[0][i] == texts[1][i];
    printf("%d: %s\n", same, texts[1][49]);
    return 0;
}
"#;

#[test]
fn what_cjerror_gave_stays() {
    let out = Program::new(KEPT, MACHINE).run(&[]);
    assert_eq!(text(&out.stdout), "50: CJwait: -50 us is not a time\n");
}

#[test]
fn misuse_and_hangs_are_reported() {
    let out = Program::new(MISUSE, MACHINE).run(&[]);
    let said = text(&out.stdout);
    let expected = [
        "-1 CJpe: called outside a program of CJrun",
        "-1 CJset: unknown parameter `mem_byte`; did you mean `mem_bytes`?",
        "0 ",
        "-1 CJrmwrite: no PE 2: the machine has 2 PEs",
        "-1 CJrmwrite: no PE -1: the machine has 2 PEs",
        "-1 CJrmwrite: a remote write of 0 bytes",
        "-1 CJrmwrite: a remote write of -4 bytes",
        "-1 CJrmwrite: the source of 2000000000 bytes at 0x00000000 leaves the user's memory of 393216 bytes",
        "-1 CJrmwrite: the source 0x",
        "-1 CJrmwrite: the destination 0x",
        "-1 CJalloc: 1073741824 B asked for, 393184 B left; set mem_bytes",
        "-1 CJwait: -1 us is not a time",
        "0 ",
        "-1 CJrun: the machine hangs at ",
        "program of PE 0 waits for something new in its memory",
    ];
    assert!(
        said.contains("\n-1 CJrun: PE 0: CJrmwrite: no PE 7: the machine has 2 PEs; then the machine hangs at "),
        "{said}"
    );
    let mut lines = said.lines();
    for start in expected {
        let line = lines.next().unwrap_or_default();
        assert!(line.starts_with(start), "`{line}` instead of `{start}` in\n{said}");
    }
    assert!(out.status.success());
}
