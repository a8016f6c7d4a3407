//! Programs of PVM, compiled by the system's `cc`: each call, what the paper leaves out, and misuse.

use crate::support::{Made, text};

const STRICT: [&str; 5] = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1"];

/// Compiles these programs, runs the first one, and gives what it prints. It must end well.
fn run(options: &[&str], programs: &[(&str, &str)]) -> String {
    let made = Made::new("pvm");
    for (name, source) in programs {
        made.compile(name, source, &STRICT);
    }
    let out = made.pvm(options, programs[0].0, &[]);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    text(&out.stdout)
}

/// Spawn and parent; every packing call there and back, with strides; packf; what stands in bufinfo.
#[test]
fn every_type_comes_back_as_it_was() {
    const ECHO: &str = r#"
#include <pvm3.h>
int main(void) {
    char bytes[4096];
    int length, tag, from, buffer = pvm_recv(pvm_parent(), -1);
    while (pvm_bufinfo(buffer, &length, &tag, &from) == 0 && tag != 99) {
        pvm_upkbyte(bytes, length, 1);
        pvm_initsend(PvmDataDefault);
        pvm_pkbyte(bytes, length, 1);
        pvm_send(from, tag + 1);
        buffer = pvm_recv(pvm_parent(), -1);
    }
    return pvm_exit();
}
"#;
    const TYPES: &str = r#"
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(what) do if (!(what)) printf("line %d: %s\n", __LINE__, #what), exit(1); while (0)
#define TYPE(name, type, n) { \
    type out[24], in[24]; \
    for (int i = 0; i < 24; i++) out[i] = (type)(i * 5 + 1), in[i] = 0; \
    CHECK(pvm_initsend(PvmDataRaw) > 0 && pvm_pk##name(out, 6, 2) == 0 && pvm_pk##name(out, 3, 1) == 0); \
    CHECK(pvm_send(echo, 7) == 0 && pvm_recv(echo, 8) > 0); \
    CHECK(pvm_upk##name(in, 6, 2) == 0); \
    for (int i = 0; i < 12 * n; i++) CHECK(in[i] == (i / n % 2 ? 0 : out[i])); \
    CHECK(pvm_upk##name(in, 3, 1) == 0 && !memcmp(in, out, 3 * n * sizeof(type))); \
    CHECK(pvm_upk##name(in, 1, 1) == PvmNoData); \
}
int main(void) {
    int echo, bytes, tag, from;
    CHECK(pvm_mytid() > 0 && pvm_parent() == PvmNoParent);
    CHECK(pvm_spawn("echo", NULL, PvmTaskDefault, "", 1, &echo) == 1);
    pvm_setopt(PvmAutoErr, 0);
    TYPE(byte, char, 1) TYPE(short, short, 1) TYPE(ushort, unsigned short, 1) TYPE(int, int, 1) TYPE(uint, unsigned, 1)
    TYPE(long, long, 1) TYPE(ulong, unsigned long, 1) TYPE(float, float, 1) TYPE(double, double, 1)
    TYPE(cplx, float, 2) TYPE(dcplx, double, 2)
    char word[20];
    int numbers[4] = {1, 2, 3, 4}, back[4], one;
    double real;
    CHECK(pvm_packf("%+ %s %d %*.*d %lf", PvmDataRaw, "a string", 42, 2, 2, numbers, 0.5) == 0);
    pvm_send(echo, 20);
    int buffer = pvm_recv(echo, 21);
    CHECK(pvm_bufinfo(buffer, &bytes, &tag, &from) == 0 && bytes == 4 + 9 + 4 + 8 + 8 && tag == 21 && from == echo);
    CHECK(pvm_unpackf("%s %d %2d %lf", word, &one, back, &real) == 0);
    CHECK(!strcmp(word, "a string") && one == 42 && back[0] == 1 && back[1] == 3 && real == 0.5);
    CHECK(pvm_upkstr(word) == PvmNoData);
    CHECK(pvm_getrbuf() == buffer && pvm_setrbuf(0) == buffer && pvm_upkint(&one, 1, 1) == PvmNoBuf);
    CHECK(pvm_setrbuf(buffer) == 0 && pvm_freebuf(buffer) == 0 && pvm_freebuf(buffer) == PvmNoSuchBuf);
    int mine = pvm_mkbuf(PvmDataRaw), old = pvm_setsbuf(mine);
    CHECK(pvm_getsbuf() == mine && pvm_pkint(numbers, 4, 1) == 0 && pvm_send(echo, 30) == 0);
    CHECK(pvm_setsbuf(old) == mine && pvm_probe(echo, 1) == 0);
    CHECK(pvm_recv(-1, 31) > 0 && pvm_upkint(back, 4, 1) == 0 && back[3] == 4);
    struct timeval wait = {0, 500}, t0, t1;
    gettimeofday(&t0, NULL);
    CHECK(pvm_trecv(-1, -1, &wait) == 0 && pvm_nrecv(-1, -1) == 0);
    gettimeofday(&t1, NULL);
    CHECK(t1.tv_sec == t0.tv_sec && t1.tv_usec - t0.tv_usec >= 500 && t1.tv_usec - t0.tv_usec < 600);
    CHECK(pvm_send(echo, 99) == 0 && pvm_exit() == 0);
    puts("ok");
    return 0;
}
"#;
    assert_eq!(run(&["--nodes", "2"], &[("types", TYPES), ("echo", ECHO)]), "ok\n");
}

/// Equal tasks without a parent: siblings, a ring, groups, and all that combines.
#[test]
fn groups_combine_and_rings_pass_on() {
    const GROUP: &str = r#"
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do if (!(what)) printf("line %d: %s\n", __LINE__, #what), exit(1); while (0)
static void farthest(int *type, void *x, void *y, int *n, int *info) {
    (void)type;
    for (int i = 0; i < *n; i++) if (abs(((int *)y)[i]) > abs(((int *)x)[i])) ((int *)x)[i] = ((int *)y)[i];
    *info = PvmOk;
}
int main(void) {
    int *tids, n = pvm_siblings(&tids), me = 0, token = 0, data[2], all[10], part[2], from, tag, length;
    double sum = 0.5;
    while (tids[me] != pvm_mytid()) me++;
    CHECK(n == 5);
    if (me > 0) CHECK(pvm_precv(tids[me - 1], 4, &token, 1, PVM_INT, &from, &tag, &length) == 0);
    if (me > 0) CHECK(token == me && from == tids[me - 1] && tag == 4 && length == 4);
    token++;
    CHECK(pvm_psend(tids[(me + 1) % n], 4, &token, 1, PVM_INT) == 0);
    if (me == 0) CHECK(pvm_precv(tids[n - 1], 4, &token, 1, PVM_INT, NULL, NULL, NULL) == 0 && token == n);

    CPcompute(1e4 * me);
    CHECK(pvm_joingroup("five") == me);
    CHECK(pvm_freezegroup("five", n) == 0 && pvm_gsize("five") == n);
    CHECK(pvm_gettid("five", 3) == tids[3] && pvm_getinst("five", tids[4]) == 4);
    data[0] = me - 3, data[1] = me * me;
    CHECK(pvm_reduce(PvmMax, data, 2, PVM_INT, 1, "five", 0) == 0);
    if (me == 0) CHECK(data[0] == 1 && data[1] == 16);
    data[0] = me - 3, data[1] = me + 1;
    CHECK(pvm_reduce(farthest, data, 1, PVM_INT, 1, "five", 2) == 0);
    if (me == 2) CHECK(data[0] == -3);
    CHECK(pvm_reduce(PvmProduct, data + 1, 1, PVM_INT, 2, "five", 1) == 0);
    if (me == 1) CHECK(data[1] == 120);
    CHECK(pvm_reduce(PvmSum, &sum, 1, PVM_DOUBLE, 3, "five", 0) == 0);
    if (me == 0) CHECK(sum == 2.5);
    data[0] = me, data[1] = -me;
    CHECK(pvm_gather(all, data, 2, PVM_INT, 4, "five", 4) == 0);
    if (me == 4) for (int i = 0; i < n; i++) CHECK(all[2 * i] == i && all[2 * i + 1] == -i);
    CHECK(pvm_scatter(part, all, 2, PVM_INT, 5, "five", 4) == 0);
    CHECK(part[0] == me && part[1] == -me);
    CHECK(pvm_barrier("five", -1) == 0);
    pvm_initsend(PvmDataRaw);
    pvm_pkint(&me, 1, 1);
    if (me == 1) CHECK(pvm_bcast("five", 6) == 0);
    else CHECK(pvm_recv(tids[1], 6) > 0 && pvm_upkint(&token, 1, 1) == 0 && token == 1);
    CHECK(pvm_lvgroup("five") == 0);
    pvm_setopt(PvmAutoErr, 0);
    CHECK(pvm_joingroup("") == PvmNullGroup && pvm_gsize("none") == PvmNoGroup);
    CHECK(pvm_reduce(PvmSum, &sum, 1, 77, 3, "five", 0) == PvmBadParam);
    printf("%d is done\n", me);
    return pvm_exit();
}
"#;
    let said = run(&["--nodes", "5", "--tasks", "5"], &[("group", GROUP)]);
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    let others = (2..6).map(|n| format!("[t4000{n}] {} is done", n - 1));
    let expected: Vec<String> = ["0 is done".to_owned()].into_iter().chain(others).collect();
    assert_eq!(lines, expected);
}

/// Fewer nodes than asked for, one spawn, what is not there, a killed task, tasks that are seen.
#[test]
fn what_the_paper_leaves_out_says_so() {
    const LIMITS: &str = r#"
#include <stdio.h>
#include <pvm3.h>
#include <stdlib.h>
#define CHECK(what) do if (!(what)) printf("line %d: %s\n", __LINE__, #what), exit(1); while (0)
int main(void) {
    int tids[5], hosts, archs, count;
    struct pvmhostinfo *host;
    struct pvmtaskinfo *task;
    pvm_setopt(PvmAutoErr, 0);
    CHECK(pvm_config(&hosts, &archs, &host) == 0 && hosts == 1 && archs == 1);
    CHECK(pvm_spawn("sleeper", NULL, 0, "", 0, tids) == PvmBadParam);
    CHECK(pvm_spawn("sleeper", NULL, 0, "", 5, tids) == 2 && tids[2] == PvmNoHost && tids[4] == PvmNoHost);
    CHECK(pvm_spawn("sleeper", NULL, 0, "", 1, tids + 3) == PvmNotImpl);
    CHECK(pvm_tasks(0, &count, &task) == 0 && count == 3 && task[2].ti_tid == tids[1]);
    CHECK(task[1].ti_ptid == pvm_mytid() && pvm_tidtohost(tids[0]) == host->hi_tid);
    CHECK(pvm_pstat(tids[0]) == PvmOk && pvm_kill(tids[0]) == 0);
    pvm_initsend(PvmDataRaw);
    CHECK(pvm_send(tids[1], 1) == 0 && pvm_recv(tids[1], 2) > 0);
    CHECK(pvm_pstat(tids[0]) == PvmNoTask);
    for (int i = 0; i < 10; i++) CHECK(pvm_send(tids[0], 1) == 0);
    CHECK(pvm_newcontext() == PvmNotImpl && pvm_newcontext() == PvmNotImpl);
    CHECK(pvm_addhosts(NULL, 0, NULL) == PvmNotImpl);
    CHECK(pvm_recvf(NULL) == NULL && pvm_getopt(PvmRoute) == PvmAllowDirect && pvm_getcontext() == 0);
    CHECK(pvm_send(tids[1], -2) == PvmBadParam && pvm_send(12345, 1) == PvmBadParam);
    pvm_setopt(PvmAutoErr, 1);
    pvm_freebuf(12345);
    pvm_perror("again");
    puts("ok");
    return pvm_exit();
}
"#;
    const SLEEPER: &str = r#"
#include <pvm3.h>
int main(void) {
    pvm_recv(pvm_parent(), 1);
    pvm_initsend(PvmDataRaw);
    pvm_send(pvm_parent(), 2);
    return pvm_exit();
}
"#;
    let made = Made::new("pvm");
    made.compile("limits", LIMITS, &STRICT);
    made.compile("sleeper", SLEEPER, &STRICT);
    let out = made.pvm(&["--nodes", "3"], "limits", &[]);
    assert_eq!(text(&out.stdout), "ok\n", "{}", text(&out.stderr));
    let said = text(&out.stderr);
    let expected = [
        "libpvm: pvm_newcontext is not on this machine",
        "libpvm: pvm_addhosts is not on this machine",
        "libpvm: pvm_recvf is not on this machine",
        "libpvm [t40001]: pvm_freebuf(): no such buffer",
        "again: no such buffer",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

/// Children's lines go to the parent's stream, whenever they ended; crashes harm nobody.
#[test]
fn output_is_caught_and_a_crash_is_an_end() {
    const PARENT: &str = r#"
#include <stdio.h>
#include <pvm3.h>
int main(void) {
    int tids[2];
    pvm_catchout(stdout);
    pvm_spawn("child", NULL, 0, "", 2, tids);
    puts("spawned");
    pvm_recv(tids[0], 1);
    puts("received");
    pvm_exit();
    puts("the end");
    return 3;
}
"#;
    const CHILD: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <pvm3.h>
int main(void) {
    int *tids;
    printf("one of %d\nand a last line", pvm_siblings(&tids));
    fflush(stdout);
    if (pvm_mytid() == tids[1]) abort();
    CPcompute(50);
    pvm_initsend(PvmDataRaw);
    pvm_send(pvm_parent(), 1);
    return 0;
}
"#;
    let made = Made::new("pvm");
    made.compile("parent", PARENT, &STRICT);
    made.compile("child", CHILD, &STRICT);
    let out = made.pvm(&["--nodes", "3"], "parent", &[]);
    let expected = "spawned\nreceived\n[t40003] one of 2\n[t40003] and a last line\n[t40002] one of 2\n\
                    [t40002] and a last line\nthe end\n";
    assert_eq!(
        (text(&out.stdout).as_str(), out.status.code()),
        (expected, Some(3)),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn hangs_and_bad_starts_are_reported() {
    let made = Made::new("pvm");
    made.compile(
        "waits",
        "#include <pvm3.h>\nint main(void) { return pvm_recv(-1, 5); }\n",
        &STRICT,
    );
    let out = made.pvm(&["--nodes", "2"], "waits", &[]);
    let said = text(&out.stderr);
    assert!(
        said.starts_with("cppacs-pvm: t40001 waits for a message of any task with tag 5, since "),
        "{said}"
    );
    assert_eq!(out.status.code(), Some(1));
    for (options, why) in [
        (
            vec!["--set", "pvm_arena=1"],
            "cppacs-pvm: unknown parameter `pvm_arena`",
        ),
        (
            vec!["--tasks", "9"],
            "cppacs-pvm: --tasks 9: the machine has 4 nodes, each for one task\n",
        ),
        (
            vec!["--nodes", "1024"],
            "cppacs-pvm: 67289152 B of memory for 1024 nodes' areas, 66322432 B are there",
        ),
    ] {
        let out = made.pvm(&options, "waits", &[]);
        assert!(text(&out.stderr).starts_with(why), "{}", text(&out.stderr));
    }
    let out = made.pvm(&[], "nobody", &[]);
    assert!(
        text(&out.stderr).contains("nobody: No such file"),
        "{}",
        text(&out.stderr)
    );
    let alone = std::process::Command::new(made.path("waits")).output().unwrap();
    assert_eq!(text(&alone.stderr), "a program of PVM is started by cppacs-pvm\n");
    assert_eq!(alone.status.code(), Some(2));
}
