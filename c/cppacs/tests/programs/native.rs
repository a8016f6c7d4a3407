//! The native library in C: data arrive, misuse has its code, a hang is reported.

use std::process::Command;

use crate::support::{Made, text};

const CALLS: &str = r#"
#include <stdio.h>
#include <string.h>
#include <tsunagi_cppacs.h>

static void say(int result) {
    printf("%d %s\n", result, result < 0 ? CPerror() : "");
}

/* Node 0 sends two elements of four to node 1, which sends them back in one piece. */
static void good(void *arg) {
    const int me = CPnode();
    char *area = CPobject("area", 64);
    int field = CPfield_create(area + 32, 32, 3), right = CPright_get(1 - me, "area", 3, 1e6);
    (void)arg;
    if (me == 0) {
        memcpy(area, "elementsnothing.of four.", 24);
        CPwait_sent(CPsend_strided(area, 8, 2, 16, right, 0, 8));
        printf("%d %d\n", CPwait(field, 1, 1e6), CPnodes());
        printf("%.16s\n", area + 32);
    } else {
        CPwait(field, 1, 1e6);
        CPwait_sent(CPsend(area + 32, 16, right, 0));
    }
}

static void bad(void *arg) {
    char *area = CPobject("area", 64), local[8];
    int right, sent;
    (void)arg;
    CPfield_create(area, 64, 0);
    if (CPnode() != 0) return;
    right = CPright_get(1, "area", 0, 1e6);
    say(right < 0);
    say(CPcompute(-1));
    say(CPobject("area", 64) ? 0 : -1);
    say(CPobject("big", 1 << 30) ? 0 : -1);
    say(CPfield_create(area + 32, 64, 1));
    say(CPfield_create(local, 8, 1));
    say(CPright_get(2, "area", 0, 1e3));
    say(CPright_get(1, "nothing", 0, 1e3));
    say(CPsend(area, 12, right, 0));
    say(CPsend(area, 64, right, 8));
    say(CPsend(local, 8, right, 0));
    say(CPsend(area, 8, 77, 0));
    say(CPwait(77, 1, 1e3));
    say(CPwait(0, 1, 1e3));
    sent = CPsend(area, 8, right, 0);
    say(sent < 0);
    say(CPwait_sent(sent));
    say(CPwait_sent(-3));
}

static void stuck(void *arg) {
    (void)arg;
    CPwait(CPfield_create(CPobject("area", 8), 8, 0), 1, 1e9);
}

int main(void) {
    say(CPnode());
    say(CPbackend("paper"));
    say(CPset("arena=1"));
    say(CPrun(2, 0, 1, good, NULL));
    say(CPrun(2, 1, 1, NULL, NULL));
    say(CPrun(2, 1, 1, good, NULL));
    say(CPrun(2, 1, 1, bad, NULL));
    say(CPlimit(1e5));
    say(CPrun(2, 1, 1, stuck, NULL));
    return 0;
}
"#;

#[test]
fn data_arrive_and_misuse_has_its_code() {
    let made = Made::new("pvm");
    made.compile_native("calls", CALLS);
    let out = Command::new(made.path("calls")).output().unwrap();
    let said = text(&out.stdout);
    println!("{said}");
    let expected = [
        "-1 CPnode: called outside a program of CPrun",
        "-2 CPbackend: unknown backend `paper`; known: model, rtl",
        "-2 CPset: unknown parameter `arena`",
        "-2 CPrun: parameter `y` = 0 nodes is outside",
        "-2 CPrun: no program",
        "0 2",
        "elementsof four.",
        "0 ",
        "0 ",
        "-2 CPcompute: -1 us is not a time",
        "-1 CPobject: ",
        "-1 CPobject: ",
        "-6 CPfield_create: ",
        "-3 CPfield_create: the field 0x",
        "-5 CPright_get: no node 2: the machine has 2 nodes",
        "-11 CPright_get: ",
        "-6 CPsend: ",
        "-6 CPsend: ",
        "-3 CPsend: the source 0x",
        "-9 CPsend: no right 77",
        "-8 CPwait: no field 77",
        "-11 CPwait: field 0: 0 of 1 transfers came within 1000.000 us",
        "0 ",
        "0 ",
        "-9 CPwait_sent: no transfer -3",
        "0 ",
        "0 ",
        "-13 CPrun: ",
    ];
    let lines: Vec<&str> = said.lines().collect();
    for (line, start) in lines.iter().zip(expected) {
        assert!(line.starts_with(start), "`{line}` instead of `{start}` in\n{said}");
    }
    assert!(lines.len() >= expected.len(), "{said}");
    assert!(out.status.success());
}
