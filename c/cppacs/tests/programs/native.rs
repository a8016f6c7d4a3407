//! The native library in C: data arrive, misuse has its code, a hang is reported.

use std::process::Command;

use crate::support::{Made, package, text};

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
    int field = CPfield_create(area + 32, 32, 3, CP_WRITE), right = CPright_get(1 - me, "area", 3, 1e6);
    (void)arg;
    if (me == 0) {
        memcpy(area, "elementsnothing.of four.", 24);
        CPwait_sent(CPsend_strided(area, 8, 2, 16, right, 0, 8, CP_FLAG));
        printf("%d %d\n", CPwait(field, 1, 1e6), CPnodes());
        printf("%.16s\n", area + 32);
    } else {
        CPwait(field, 1, 1e6);
        CPwait_sent(CPsend(area + 32, 16, right, 0, CP_FLAG));
    }
}

static void bad(void *arg) {
    char *area = CPobject("area", 64), local[8];
    int right, sent;
    (void)arg;
    CPfield_create(area, 64, 0, CP_WRITE);
    if (CPnode() != 0) return;
    right = CPright_get(1, "area", 0, 1e6);
    say(right < 0);
    say(CPcompute(-1));
    say(CPobject("area", 64) ? 0 : -1);
    say(CPobject("big", 1 << 30) ? 0 : -1);
    say(CPfield_create(area + 32, 64, 1, CP_WRITE));
    say(CPfield_create(local, 8, 1, CP_WRITE));
    say(CPright_get(2, "area", 0, 1e3));
    say(CPright_get(1, "nothing", 0, 1e3));
    say(CPsend(area, 12, right, 0, 0));
    say(CPsend(area, 64, right, 8, 0));
    say(CPsend(local, 8, right, 0, 0));
    say(CPsend(area, 8, 77, 0, 0));
    say(CPwait(77, 1, 1e3));
    say(CPwait(0, 1, 1e3));
    sent = CPsend(area, 8, right, 0, CP_FLAG);
    say(sent < 0);
    say(CPwait_sent(sent));
    say(CPwait_sent(-3));
}

static void stuck(void *arg) {
    (void)arg;
    CPwait(CPfield_create(CPobject("area", 8), 8, 0, 0), 1, 1e9);
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

/// Compiles a program, runs it, and gives what it prints. It must end well.
fn run(source: &str) -> String {
    let made = Made::new("pvm");
    made.compile_native("program", source);
    let out = Command::new(made.path("program")).output().unwrap();
    let said = text(&out.stdout);
    assert!(out.status.success(), "{said}{}", text(&out.stderr));
    said
}

/// Each line that was printed begins as it should.
fn begin(said: &str, expected: &[&str]) {
    let lines: Vec<&str> = said.lines().collect();
    for (line, start) in lines.iter().zip(expected) {
        assert!(line.starts_with(start), "`{line}` instead of `{start}` in\n{said}");
    }
    assert!(lines.len() >= expected.len(), "{said}");
}

#[test]
fn data_arrive_and_misuse_has_its_code() {
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
        "-11 CPwait: PE 0: field 0 of `area` has 0 of 1 transfers",
        "0 ",
        "0 ",
        "-10 CPwait_sent: no transfer -3",
        "0 ",
        "0 ",
        "-13 CPrun: ",
    ];
    begin(&run(CALLS), &expected);
}

/// Node 0 has what the others use: a field to read and one for atomics, and a broadcast from node 3.
const ALL_CALLS: &str = r#"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_cppacs.h>

static void check(int holds, int line, const char *what) {
    if (holds) return;
    printf("node %d, line %d: %s: %s\n", CPnode(), line, what, CPerror());
    exit(1);
}
#define CHECK(what) check(what, __LINE__, #what)

static void program(void *arg) {
    const int me = CPnode(), nodes = CPnodes(), next = (me + 1) % nodes;
    char *in = CPobject("in", 256), *out = CPobject("out", 256), *all = CPobject("all:data", 64);
    uint64_t *count = CPobject("count", 16), value = 0;
    int fields[2], got, right, sent, tcw, ready, everyone;
    (void)arg;
    for (int i = 0; i < 2; i++) CHECK((fields[i] = CPfield_create(in + 64 * i, 64, i, CP_WRITE)) >= 0);
    CHECK((got = CPfield_create(in + 128, 64, 2, CP_WRITE)) >= 0);
    CHECK((ready = CPfield_create(all, 64, 5, CP_WRITE)) >= 0);
    CHECK(CPfield_create(out, 256, 3, CP_READ) >= 0 && CPfield_create(count, 16, 4, CP_ATOMIC) >= 0);
    snprintf(out, 64, "from node %d", me);
    CHECK(CPbarrier(1e6) == CP_OK);

    /* A prepared transfer around the ring, into either field. */
    CHECK((right = CPright_get(next, "in", 1, 1e6)) >= 0);
    CHECK((tcw = CPtcw_make(out, 16, right, 0, CP_FLAG)) >= 0);
    CHECK((sent = CPkick(tcw)) >= 0 && CPwait_sent(sent) == CP_OK && CPcheck_sent(sent) == 1);
    CHECK(CPwait_any(fields, 2, 1e6) == 1);
    CHECK(atoi(in + 64 + 10) == (me + nodes - 1) % nodes);
    CHECK(CPtcw_modify(tcw, out + 8, 8, 32) == CP_OK && (sent = CPkick_fast(tcw)) >= 0);
    while ((value = CPcheck_sent(sent)) == 0) CPcompute(1);
    CHECK(value == 1 && CPwait(fields[1], 1, 1e6) == CP_OK && in[64 + 34] == in[64 + 10]);
    CHECK(CPtcw_free(tcw) == CP_OK && CPright_free(right) == CP_OK);
    CHECK(CPpurge(in, 256) == CP_OK);

    /* Short messages and interrupts. */
    CHECK((right = CPright_get(next, "in", 0, 1e6)) >= 0);
    CHECK(CPsend(out, 32, right, 0, CP_ACK) >= 0 && CPsend(out, 32, right, 32, CP_NOTIFY) >= 0);
    CHECK(CPwait(fields[0], 2, 1e6) == CP_OK && !memcmp(in, in + 32, 32));

    /* All read from node 0, and count there; node 0 does so from node 1. */
    const int to = me == 0 ? 1 : 0;
    CHECK((right = CPright_get(to, "out", 3, 1e6)) >= 0);
    CHECK(CPget(right, 0, got, 8, 16) == CP_OK && atoi(in + 136 + 10) == to);
    CHECK((right = CPright_get(to, "count", 4, 1e6)) >= 0);
    for (uint64_t old = 0;; old = value) {
        value = old + 1;
        CHECK(CPcswap(right, 0, old, &value) == CP_OK);
        if (value == old) break;
    }
    value = me + 100;
    CHECK(CPswap(right, 8, &value) == CP_OK);
    CHECK(CPbarrier(1e6) == CP_OK);
    if (me == 0) CHECK(count[0] == (uint64_t)nodes - 1);
    CHECK(CPbarrier(1e6) == CP_OK);

    /* To all, from the last node. */
    if (me == nodes - 1) {
        CHECK((everyone = CPright_get(me | CP_ALL_X | CP_ALL_Y, "all:data", 5, 1e6)) >= 0);
        CHECK(CPsend(out, 16, everyone, 0, 0) >= 0);
    }
    CHECK(CPwait(ready, 1, 1e6) == CP_OK && atoi(all + 10) == nodes - 1);

    /* What is taken away is not there. */
    CHECK(CPfield_destroy(fields[0]) == CP_OK && CPfield_destroy(fields[0]) == CP_FIELD);
    CHECK(CPwait(fields[0], 1, 1) == CP_FIELD && CPwait_any(fields, 2, 1) == CP_FIELD);
    CHECK(CPright_free(right) == CP_OK && CPright_free(right) == CP_RIGHT && CPsend(out, 8, right, 0, 0) == CP_RIGHT);
    CHECK(CPkick(tcw) == CP_TCW && CPtcw_free(tcw) == CP_TCW);
    CHECK(CPbarrier(1e6) == CP_OK);
    if (me == 0) printf("ok after %.0f us\n", CPtime());
}

int main(int argc, char **argv) {
    if (argc > 1) CPbackend(argv[1]);
    if (CPrun(2, 2, 1, program, NULL) < 0) printf("%s\n", CPerror());
    return 0;
}
"#;

#[test]
fn every_call_does_what_it_says() {
    let said = run(ALL_CALLS);
    assert!(said.starts_with("ok after "), "{said}");
}

const REFUSED: &str = r#"
#include <stdio.h>
#include <tsunagi_cppacs.h>

static void say(int result) {
    printf("%d %s\n", result, result < 0 ? CPerror() : "");
}

static void program(void *arg) {
    char *area = CPobject("area", 4 << 20), *plain = CPobject("plain", 64);
    int field, right, tcw, sent;
    uint64_t value = 1;
    (void)arg;
    field = CPfield_create(area, 4 << 20, 0, CP_WRITE);
    CPfield_create(plain, 64, 0, CP_WRITE);
    if (CPnode() == 0) {
        right = CPright_get(1, "area", 0, 1e6);
        say(CPfield_create(area, 64, 1, 8));
        say(CPfield_create(area + 4, 64, 1, CP_READ));
        say(CPfield_create(area, 8 << 20, 1, CP_READ));
        say(CPsend(area, 8, right, 0, 8));
        say(CPsend(area + 4, 8, right, 0, 0));
        say(CPsend(area, 8, right, 4, 0));
        say(CPsend(area, 0, right, 0, 0));
        say(CPsend(area, 40, right, 0, CP_ACK));
        say(CPsend_strided(area, 8, 4, 12, right, 0, 8, 0));
        say(CPsend_strided(area, 8, 1 << 30, 1 << 30, right, 0, 8, 0));
        say(CPget(right, 0, field, 0, 8));
        say(CPget(right, 0, field, 0, 1 << 20));
        say(CPswap(right, 0, &value));
        say(CPswap(right, 0, NULL));
        say(CPright_get(-1, "area", 0, 1e3));
        say(CPright_get(1 | 0x80000, "area", 0, 1e3));
        say(CPtcw_make(area, (1 << 20) + 8, right, 0, 0));
        say(CPtcw_modify(9, area, 8, 0));
        say(CPkick(-1));
        tcw = CPtcw_make(area, 8, right, 0, 0);
        sent = CPkick(tcw);
        say(CPwait_sent(sent));
        say(CPcheck_sent(sent));
        say(CPwait_any(NULL, 0, 1));
        say(CPwait_any(&field, 1, 100));
        say(CPbarrier(100));
        say(CPpurge(area, (size_t)1 << 32));
        say(CPsend(area, 3 << 20, right, 0, 0) < 0);
        /* The right is gone when the transfer is kicked. */
        tcw = CPtcw_make(area, 8, right, 0, CP_FLAG);
        CPright_free(right);
        say(CPwait_sent(CPkick(tcw)));
    } else {
        CPcompute(5e4);
        say(CPwait(field, 3, 1e6));
    }
    CPbarrier(1e8);
    say(CPtime() < 0);
}

int main(void) {
    CPset("wait_bound=1000");
    CPlimit(1e9);
    CPset("mem_bytes=8388608");
    say(CPrun(2, 1, 1, program, NULL));
    return 0;
}
"#;

#[test]
fn what_cannot_be_is_refused_by_name() {
    let expected = [
        "-2 CPfield_create: allow 0x8: the bits are 0x7",
        "-4 CPfield_create: the field at ",
        "-6 CPfield_create: ",
        "-2 CPsend: how 0x8: the bits are 0x7",
        "-4 CPsend: the source at ",
        "-4 CPsend: 4100 and 8: offsets",
        "-6 CPsend: ",
        "-6 CPsend: 40 bytes: a TCW has at most 1048576, one of the acknowledge channel 32",
        "-7 CPsend_strided: steps of 12 and 8 B: they are multiples of 8",
        "-3 CPsend_strided: the source leaves",
        "-11 CPget: PE 0: field 0 of `area` has 0 of 1 transfers",
        "-6 CPget: ",
        "-11 CPswap: PE 0: field 0 of `library:reply` has 0 of 1 transfers",
        "-3 CPswap: no value",
        "-5 CPright_get: no node -1",
        "-5 CPright_get: no node 524289",
        "-6 CPtcw_make: ",
        "-10 CPtcw_modify: no TCW 9",
        "-10 CPkick: no TCW -1",
        "-10 CPwait_sent: PE 0: a send was started without a flag",
        "-10 CPcheck_sent: PE 0: a send was started without a flag",
        "-8 CPwait_any: no fields",
        "-11 CPwait_any: PE 0: field 0 of `area` has 0 of 1 transfers",
        "-11 CPbarrier: PE 0: the barrier is not released",
        "-6 CPpurge: ",
        "0 ",
        "-12 CPwait_sent: PE 0: the NIA refused a TCW, result ",
        "0 ",
        "0 ",
        "0 ",
        "0 ",
    ];
    begin(&run(REFUSED), &expected);
}

/// The example of the page.
#[test]
fn the_example_gives_what_a_serial_program_gives() {
    let example = package().join("../../examples/c/heat.c");
    let said = run(&std::fs::read_to_string(example).unwrap());
    assert!(said.starts_with("50 steps of 512 points on 8 nodes: "), "{said}");
}
