//! Bad input of PVM, each with the answer that the contract names.

use crate::support::{Made, text};

const STRICT: [&str; 5] = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1"];

/// Compiles these programs, and runs the first one: how it ended, and what it printed on both streams.
fn run(options: &[&str], programs: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let made = Made::new("pvm");
    for (name, source) in programs {
        made.compile(name, source, &STRICT);
    }
    let out = made.pvm(options, programs[0].0, &[]);
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// Two tasks wait for each other; the report names each, with source, tag and since when.
#[test]
fn a_receive_that_nobody_sends_to_is_a_hang() {
    const PARENT: &str = r#"
#include <pvm3.h>
#include <stddef.h>
int main(void) {
    int child;
    pvm_spawn("child", NULL, 0, "", 1, &child);
    CPcompute(5000);
    pvm_recv(child, 77);
    return pvm_exit();
}
"#;
    const CHILD: &str = r#"
#include <pvm3.h>
int main(void) {
    pvm_initsend(PvmDataRaw);
    pvm_send(pvm_parent(), 76);
    pvm_recv(pvm_parent(), 78);
    return pvm_exit();
}
"#;
    let (status, _, said) = run(&["--nodes", "2"], &[("parent", PARENT), ("child", CHILD)]);
    let lines: Vec<&str> = said.lines().collect();
    let starts = [
        "cppacs-pvm: t40001 waits for a message of t40002 with tag 77, since ",
        "t40002 waits for a message of t40001 with tag 78, since ",
        "the machine hangs at ",
    ];
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "`{line}` instead of `{start}` in\n{said}");
    }
    assert_eq!((status, lines.len() >= starts.len()), (Some(1), true), "{said}");
}

/// A task that asks again and again for what nobody sends ends with the simulated time that it was given.
#[test]
fn a_loop_of_probes_ends_with_the_limit() {
    const ASKS: &str = r#"
#include <pvm3.h>
int main(void) {
    while (pvm_nrecv(-1, 5) == 0) continue;
    return pvm_exit();
}
"#;
    let (status, _, said) = run(&["--nodes", "2", "--limit", "1e5"], &[("asks", ASKS)]);
    assert!(said.contains("the time allowed is over"), "{said}");
    assert_eq!(status, Some(1), "{said}");
}

/// What does not fit into the message or the node is refused, and changes nothing.
#[test]
fn messages_have_their_bounds() {
    const BOUNDS: &str = r#"
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do if (!(what)) printf("line %d: %s\n", __LINE__, #what), exit(1); while (0)
int main(void) {
    int child, numbers[3] = {1, 2, 3}, got[4] = {0};
    char *big = calloc(1, 7 << 19), word[8] = "as it is";
    pvm_setopt(PvmAutoErr, 0);
    CHECK(pvm_spawn("child", NULL, 0, "", 1, &child) == 1);
    pvm_initsend(PvmDataRaw);
    CHECK(pvm_pkbyte(big, 7 << 19, 1) == PvmNoMem);
    CHECK(pvm_pkint(numbers, 3, 1) == 0 && pvm_pkbyte(big, 7 << 19, 1) == PvmNoMem);
    CHECK(pvm_send(child, 1) == 0 && pvm_recv(child, 2) > 0);
    CHECK(pvm_upkint(got, 4, 1) == PvmNoData && got[0] == 0);
    CHECK(pvm_upkint(got, 2, 2) == 0 && got[0] == 1 && got[2] == 2);
    CHECK(pvm_upkdouble((double *)word, 1, 1) == PvmNoData && word[0] == 'a');
    CHECK(pvm_upkint(got, 1, 1) == 0 && got[0] == 3);
    CHECK(pvm_upkbyte(word, 1, 1) == PvmNoData && pvm_upkstr(word) == PvmNoData);
    puts("ok");
    return pvm_exit();
}
"#;
    const CHILD: &str = r#"
#include <pvm3.h>
int main(void) {
    int numbers[3];
    pvm_recv(pvm_parent(), 1);
    pvm_upkint(numbers, 3, 1);
    pvm_initsend(PvmDataRaw);
    pvm_pkint(numbers, 3, 1);
    pvm_send(pvm_parent(), 2);
    return pvm_exit();
}
"#;
    let options = ["--nodes", "2", "--set", "mem_bytes=4194304"];
    let (status, said, why) = run(&options, &[("bounds", BOUNDS), ("child", CHILD)]);
    assert_eq!((status, said.as_str()), (Some(0), "ok\n"), "{why}");
}

/// A message of 3 MB fits; and so do as many as the node has memory for, one after the other.
#[test]
fn a_message_may_fill_the_memory() {
    const FILLS: &str = r#"
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int bytes = 3 << 20, child;
    char *big = calloc(1, bytes);
    pvm_spawn("child", NULL, 0, "", 1, &child);
    for (int i = 0; i < 3; i++) {
        pvm_initsend(PvmDataRaw);
        big[bytes - 1] = 'a' + i;
        if (pvm_pkbyte(big, bytes, 1) < 0 || pvm_send(child, 1) < 0 || pvm_recv(child, 2) < 0) return 1;
        pvm_upkbyte(big, 1, 1);
        putchar(big[0]);
    }
    puts("");
    return pvm_exit();
}
"#;
    const CHILD: &str = r#"
#include <pvm3.h>
#include <stdlib.h>
int main(void) {
    char *big = malloc(3 << 20);
    for (int i = 0; i < 3; i++) {
        pvm_recv(pvm_parent(), 1);
        pvm_upkbyte(big, 3 << 20, 1);
        pvm_initsend(PvmDataRaw);
        pvm_pkbyte(big + (3 << 20) - 1, 1, 1);
        pvm_send(pvm_parent(), 2);
    }
    return pvm_exit();
}
"#;
    let (status, said, why) = run(&["--nodes", "2"], &[("fills", FILLS), ("child", CHILD)]);
    assert_eq!((status, said.as_str()), (Some(0), "abc\n"), "{why}");
}

/// Each function that is not there says so once, and returns PvmNotImpl; the program goes on.
#[test]
fn functions_that_are_not_there_are_named() {
    const CALLS: &str = r#"
#include <pvm3.h>
#include <stdio.h>
int main(void) {
    int none[4] = {0};
    char *hosts[1] = {"far"};
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < 2; i++)
        if (pvm_addhosts(hosts, 1, none) != PvmNotImpl || pvm_delhosts(hosts, 1, none) != PvmNotImpl ||
            pvm_halt() != PvmNotImpl || pvm_notify(PvmTaskExit, 1, 1, none) != PvmNotImpl ||
            pvm_putinfo("name", 1, 0) != PvmNotImpl || pvm_recvinfo("name", 0, 0) != PvmNotImpl ||
            pvm_newcontext() != PvmNotImpl || pvm_mstat("far") != PvmNotImpl || pvm_sendsig(1, 9) != PvmNotImpl)
            return 1;
    puts("ok");
    return pvm_exit();
}
"#;
    let (status, said, why) = run(&["--nodes", "2"], &[("calls", CALLS)]);
    assert_eq!((status, said.as_str()), (Some(0), "ok\n"), "{why}");
    let names = [
        "addhosts",
        "delhosts",
        "halt",
        "notify",
        "putinfo",
        "recvinfo",
        "newcontext",
        "mstat",
        "sendsig",
    ];
    let expected = names.map(|name| format!("libpvm: pvm_{name} is not on this machine"));
    assert_eq!(why.lines().collect::<Vec<_>>(), expected);
}

/// A second spawn, and one by a child: the machine's PVM spawns once.
#[test]
fn a_second_spawn_is_not_there() {
    const PARENT: &str = r#"
#include <pvm3.h>
#include <stdio.h>
int main(void) {
    int tids[2], said;
    pvm_setopt(PvmAutoErr, 0);
    if (pvm_spawn("child", NULL, 0, "", 1, tids) != 1) return 1;
    if (pvm_spawn("child", NULL, 0, "", 1, tids + 1) != PvmNotImpl) return 1;
    pvm_recv(tids[0], 1);
    pvm_upkint(&said, 1, 1);
    printf("%d\n", said == PvmNotImpl);
    return pvm_exit();
}
"#;
    const CHILD: &str = r#"
#include <pvm3.h>
#include <stddef.h>
int main(void) {
    int tid, said;
    pvm_setopt(PvmAutoErr, 0);
    said = pvm_spawn("child", NULL, 0, "", 1, &tid);
    pvm_initsend(PvmDataRaw);
    pvm_pkint(&said, 1, 1);
    pvm_send(pvm_parent(), 1);
    return pvm_exit();
}
"#;
    let (status, said, why) = run(&["--nodes", "4"], &[("parent", PARENT), ("child", CHILD)]);
    assert_eq!((status, said.as_str()), (Some(0), "1\n"), "{why}");
}
